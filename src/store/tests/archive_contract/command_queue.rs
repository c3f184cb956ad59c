//! Contract of `CommandQueue`, and of the holder's side of it in `Log`.
use super::{ContractStore, START, create, remark, setup_with_id, workspace};
use crate::engine::{
    ArchivePorts, COMMAND_TTL_MS, Command, DebateQuery, LeaseMode, LeaseSignal, Log, LogError,
    QueuedCommandId,
};
use crate::test_support::manual_clock::ManualClock;
use std::time::Duration;

contract_tests!(
    command_is_delivered_and_executed_once,
    commands_are_delivered_in_order_and_to_their_debate,
    command_waits_for_the_next_holder,
    dropped_wait_for_a_signal_loses_no_command,
    withdrawn_command_is_not_executed,
    withdrawal_after_execution_returns_the_result,
    refused_command_has_the_message_as_its_result,
    command_of_an_illegal_event_stays_unanswered,
    command_expires_after_10_s,
    abandoned_result_is_deleted_after_60_s,
    old_holder_cannot_execute_a_command,
    concurrent_commands_are_executed_exactly_once,
);

fn interject(text: &str) -> Vec<Command> {
    vec![Command::Interject { text: text.into() }]
}

async fn enqueue(archive: &ArchivePorts, text: &str) -> QueuedCommandId {
    archive.commands.enqueue("debate-one", &interject(text)).await.unwrap()
}

/// Waits for the next commands.
async fn next_commands(log: &dyn Log) -> (QueuedCommandId, Vec<Command>) {
    match tokio::time::timeout(Duration::from_secs(10), log.next_signal()).await.unwrap() {
        LeaseSignal::Commands { id, commands } => (id, commands),
        signal @ LeaseSignal::Lost { .. } => panic!("{signal:?}"),
    }
}

async fn event_count(archive: &ArchivePorts) -> usize {
    archive.events.read("debate-one").await.unwrap().events.len()
}

async fn command_is_delivered_and_executed_once(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let sent = enqueue(&sender, "Mind the locks.").await;
    assert_eq!(sender.commands.take_result(sent).await.unwrap(), None);
    assert_eq!(next_commands(&*log).await, (sent, interject("Mind the locks.")));
    let again = tokio::time::timeout(Duration::from_millis(700), log.next_signal()).await;
    assert!(again.is_err(), "delivered twice: {again:?}");
    let events = [remark("Mind the locks.")];
    assert_eq!(log.append_for_command(sent, &events).await.unwrap(), Some(1));
    assert_eq!(log.append_for_command(sent, &events).await.unwrap(), None);
    assert_eq!(event_count(&holder).await, 1);
    assert_eq!(sender.commands.take_result(sent).await.unwrap(), Some(Ok(())));
    assert_eq!(sender.commands.take_result(sent).await.unwrap(), None, "it is read once");
}

async fn commands_are_delivered_in_order_and_to_their_debate(store: ContractStore) {
    let clock = ManualClock::new(START);
    let (holder, sender) = (store.process(), store.process_with(&clock));
    let log = create(&holder, &setup_with_id("debate-one")).await;
    let _other_log = create(&holder, &setup_with_id("debate-two")).await;
    sender.commands.enqueue("debate-two", &interject("Not here.")).await.unwrap();
    let mut sent = vec![];
    for (number, text) in (1..).zip(["One.", "Two.", "Three."]) {
        clock.set(START + number);
        sent.push((enqueue(&sender, text).await, interject(text)));
    }
    for expected in sent {
        assert_eq!(next_commands(&*log).await, expected);
    }
}

async fn command_waits_for_the_next_holder(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    drop(create(&holder, &setup_with_id("debate-one")).await);
    let sent = enqueue(&sender, "Anybody here?").await;
    let workspace = workspace("/repository");
    let opened = holder.events.open("debate-one", &workspace, LeaseMode::IfFree).await.unwrap();
    assert_eq!(next_commands(&*opened.log).await, (sent, interject("Anybody here?")));
}

async fn dropped_wait_for_a_signal_loses_no_command(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let log = create(&holder, &setup_with_id("debate-one")).await;
    for _ in 0..3 {
        assert!(tokio::time::timeout(Duration::from_millis(5), log.next_signal()).await.is_err());
    }
    let sent = enqueue(&sender, "Now.").await;
    assert_eq!(next_commands(&*log).await.0, sent);
}

async fn withdrawn_command_is_not_executed(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let sent = enqueue(&sender, "Never mind.").await;
    assert_eq!(next_commands(&*log).await.0, sent);
    assert_eq!(sender.commands.withdraw(sent).await.unwrap(), None);
    assert_eq!(log.append_for_command(sent, &[remark("Never mind.")]).await.unwrap(), None);
    log.refuse_command(sent, "too late").await;
    assert_eq!(event_count(&holder).await, 0);
    assert_eq!(sender.commands.take_result(sent).await.unwrap(), None);
}

async fn withdrawal_after_execution_returns_the_result(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let sent = enqueue(&sender, "Done already.").await;
    log.append_for_command(sent, &[remark("Done already.")]).await.unwrap();
    assert_eq!(sender.commands.withdraw(sent).await.unwrap(), Some(Ok(())));
    assert_eq!(sender.commands.withdraw(sent).await.unwrap(), None);
}

async fn refused_command_has_the_message_as_its_result(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let sent = enqueue(&sender, "Not now.").await;
    log.refuse_command(sent, "not possible now").await;
    log.refuse_command(sent, "the first answer counts").await;
    assert_eq!(log.append_for_command(sent, &[remark("Not now.")]).await.unwrap(), None);
    let result = sender.commands.take_result(sent).await.unwrap();
    assert_eq!(result, Some(Err("not possible now".into())));
}

async fn command_of_an_illegal_event_stays_unanswered(store: ContractStore) {
    let (holder, sender) = (store.process(), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let sent = enqueue(&sender, "Keep it.").await;
    let illegal = crate::debate::Event::Kept { keep: true };
    let result = log.append_for_command(sent, &[illegal]).await;
    assert!(matches!(result, Err(LogError::WriteFailed(_))), "{result:?}");
    assert_eq!(sender.commands.take_result(sent).await.unwrap(), None);
    log.refuse_command(sent, "not legal").await;
    let result = sender.commands.take_result(sent).await.unwrap();
    assert_eq!(result, Some(Err("not legal".into())));
}

async fn command_expires_after_10_s(store: ContractStore) {
    let clock = ManualClock::new(START);
    let (holder, sender) = (store.process_with(&clock), store.process());
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let (in_time, late) = (enqueue(&sender, "In time.").await, enqueue(&sender, "Late.").await);
    clock.set(START + COMMAND_TTL_MS);
    assert_eq!(log.append_for_command(in_time, &[remark("In time.")]).await.unwrap(), Some(1));
    clock.set(START + COMMAND_TTL_MS + 1);
    assert_eq!(log.append_for_command(late, &[remark("Late.")]).await.unwrap(), None);
    log.refuse_command(late, "expired").await;
    assert_eq!(sender.commands.take_result(late).await.unwrap(), None);
    assert_eq!(event_count(&holder).await, 1);
}

async fn abandoned_result_is_deleted_after_60_s(store: ContractStore) {
    let clock = ManualClock::new(START);
    let (holder, sender) = (store.process(), store.process_with(&clock));
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let (first, second) = (enqueue(&sender, "One.").await, enqueue(&sender, "Two.").await);
    for sent in [first, second] {
        log.append_for_command(sent, &[remark("Done.")]).await.unwrap();
    }
    clock.set(START + 60_000);
    enqueue(&sender, "Three.").await;
    assert_eq!(sender.commands.take_result(first).await.unwrap(), Some(Ok(())));
    clock.set(START + 60_001);
    enqueue(&sender, "Four.").await;
    assert_eq!(sender.commands.take_result(second).await.unwrap(), None);
}

async fn old_holder_cannot_execute_a_command(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    let mut old_log = create(&first, &setup_with_id("debate-one")).await;
    let sent = enqueue(&second, "For the new one.").await;
    let workspace = workspace("/repository");
    let mut opened =
        second.events.open("debate-one", &workspace, LeaseMode::TakeOver).await.unwrap();
    let events = [remark("For the new one.")];
    let result = old_log.append_for_command(sent, &events).await;
    assert!(matches!(result, Err(LogError::LeaseLost { .. })), "{result:?}");
    // The command stays in the queue for the new holder.
    assert_eq!(next_commands(&*opened.log).await.0, sent);
    assert_eq!(opened.log.append_for_command(sent, &events).await.unwrap(), Some(1));
}

async fn concurrent_commands_are_executed_exactly_once(store: ContractStore) {
    const SENDERS: usize = 3;
    const COMMANDS: usize = 8;
    let holder = store.process();
    let mut log = create(&holder, &setup_with_id("debate-one")).await;
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let archive = store.process();
            tokio::spawn(async move {
                let mut sent = vec![];
                for number in 0..COMMANDS {
                    sent.push(enqueue(&archive, &format!("{sender}.{number}")).await);
                }
                (archive, sent)
            })
        })
        .collect();
    let mut executed = vec![];
    while executed.len() < SENDERS * COMMANDS {
        let (id, commands) = next_commands(&*log).await;
        for command in commands {
            let Command::Interject { text } = command else { panic!("{command:?}") };
            executed.push(text.clone());
            assert!(log.append_for_command(id, &[remark(&text)]).await.unwrap().is_some());
        }
    }
    for sender in senders {
        let (archive, sent) = sender.await.unwrap();
        for id in sent {
            assert_eq!(archive.commands.take_result(id).await.unwrap(), Some(Ok(())));
        }
    }
    assert_eq!(event_count(&holder).await, SENDERS * COMMANDS);
    executed.sort();
    executed.dedup();
    assert_eq!(executed.len(), SENDERS * COMMANDS);
    assert_eq!(holder.queries.list(&DebateQuery::default()).await.unwrap().len(), 1);
}
