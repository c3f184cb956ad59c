//! Contract of `EventStore` and `Log` for one process: creating, appending and reading.
use super::{
    ContractStore, START, append_next_event, create, play_to_end, remark, setup_with_id, workspace,
};
use crate::debate::{Debate, Event, Setup, Status, formats, next};
use crate::engine::{
    ArchiveError, DebateQuery, DuplicatePolicy, LeaseMode, LogError, RecordedEvent, Update,
    UpdateBroadcaster, Workspace,
};
use crate::test_support::debate_fixture::debate_setup;
use crate::test_support::manual_clock::ManualClock;
use crate::test_support::simulated_players::ask_due_cues;
use std::time::Duration;

contract_tests!(
    debate_is_read_back_as_written,
    first_events_are_stored_with_the_debate,
    sequence_numbers_continue_after_a_restart,
    taken_id_is_refused,
    unknown_debate_is_an_error,
    invalid_setup_is_refused,
    illegal_event_is_refused_with_all_events_of_its_append,
    events_have_the_time_of_their_append,
    news_are_the_events_after_a_sequence_number,
    state_files_of_every_workspace_are_kept_once,
    live_text_is_readable_by_other_processes,
    live_text_of_a_finished_turn_is_deleted,
    rooms_are_listed_as_last_saved,
    concurrent_appends_lose_no_events,
);

async fn debate_is_read_back_as_written(store: ContractStore) {
    let archive = store.process();
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = create(&archive, debate.setup()).await;
    let events = play_to_end(&mut *log, &mut debate).await;
    assert!(debate.outcome().is_some() && events.len() > 10);
    let stored = archive.events.read("debate-one").await.unwrap();
    assert_eq!(stored.setup, *debate.setup());
    let read_events: Vec<_> = stored.events.iter().map(|recorded| recorded.event.clone()).collect();
    assert_eq!(read_events, events);
    assert!(stored.events.iter().map(|recorded| recorded.seq).eq(1..=events.len() as u64));
    assert_eq!(stored.first_unreadable, None);
    let card = archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!((card.status, card.winner.as_deref()), (Status::Completed, Some("claude")));
}

async fn first_events_are_stored_with_the_debate(store: ContractStore) {
    let archive = store.process();
    let debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let first = [ask_due_cues(&debate).unwrap()];
    let recorded = RecordedEvent::number_events(0, &first, 77);
    let workspace = workspace("/repository");
    let created =
        archive.events.create(debate.setup(), &recorded, &workspace, DuplicatePolicy::Allow).await;
    let mut log = created.unwrap();
    assert_eq!(archive.events.read("debate-one").await.unwrap().events, recorded);
    assert_eq!(log.append(&[remark("Go on.")]).await.unwrap(), 2);
}

async fn sequence_numbers_continue_after_a_restart(store: ContractStore) {
    let archive = store.process();
    let mut log = create(&archive, &setup_with_id("debate-one")).await;
    assert_eq!(log.append(&[remark("One."), remark("Two.")]).await.unwrap(), 2);
    assert_eq!(log.append(&[remark("Three.")]).await.unwrap(), 3);
    drop((log, archive));
    let archive = store.process();
    let workspace = workspace("/repository");
    let opened = archive.events.open("debate-one", &workspace, LeaseMode::IfFree).await;
    let mut opened = opened.unwrap();
    assert_eq!(opened.stored.events.len(), 3);
    assert_eq!(opened.log.append(&[remark("Four.")]).await.unwrap(), 4);
    let events = archive.events.read("debate-one").await.unwrap().events;
    assert!(events.iter().map(|recorded| recorded.seq).eq(1..=4));
}

async fn taken_id_is_refused(store: ContractStore) {
    let archive = store.process();
    let setup = setup_with_id("debate-one");
    let _log = create(&archive, &setup).await;
    let workspace = workspace("/repository");
    let second = archive.events.create(&setup, &[], &workspace, DuplicatePolicy::Allow).await;
    assert!(matches!(second.err(), Some(ArchiveError::IdTaken(id)) if id == "debate-one"));
    assert_eq!(archive.queries.list(&DebateQuery::default()).await.unwrap().len(), 1);
}

async fn unknown_debate_is_an_error(store: ContractStore) {
    let archive = store.process();
    let is_unknown = |error: Option<ArchiveError>| {
        assert!(matches!(error, Some(ArchiveError::UnknownDebate(_))), "{error:?}");
    };
    let workspace = workspace("/repository");
    is_unknown(archive.events.read("none").await.err());
    is_unknown(archive.events.news_since("none", 0).await.err());
    is_unknown(archive.events.open("none", &workspace, LeaseMode::TakeOver).await.err());
    is_unknown(archive.queries.live_texts("none").await.err());
    is_unknown(archive.queries.resolve_id("none").await.err());
    is_unknown(archive.commands.enqueue("none", &[]).await.err());
}

async fn invalid_setup_is_refused(store: ContractStore) {
    let archive = store.process();
    let setup = Setup { seats: vec![], ..setup_with_id("debate-one") };
    let workspace = workspace("/repository");
    let created = archive.events.create(&setup, &[], &workspace, DuplicatePolicy::Allow).await;
    assert!(matches!(created.err(), Some(ArchiveError::Storage(_))));
    let valid_setup = setup_with_id("debate-two");
    let illegal = RecordedEvent::number_events(0, &[Event::Kept { keep: true }], START);
    let created =
        archive.events.create(&valid_setup, &illegal, &workspace, DuplicatePolicy::Allow).await;
    assert!(matches!(created.err(), Some(ArchiveError::Storage(_))));
    assert_eq!(archive.queries.list(&DebateQuery::default()).await.unwrap().len(), 0);
}

async fn illegal_event_is_refused_with_all_events_of_its_append(store: ContractStore) {
    let archive = store.process();
    let mut log = create(&archive, &setup_with_id("debate-one")).await;
    let illegal = Event::Kept { keep: true };
    let result = log.append(&[remark("Lost."), illegal]).await;
    assert!(matches!(result, Err(LogError::WriteFailed(_))), "{result:?}");
    assert!(archive.events.read("debate-one").await.unwrap().events.is_empty());
    assert_eq!(log.append(&[remark("Kept.")]).await.unwrap(), 1);
}

async fn events_have_the_time_of_their_append(store: ContractStore) {
    let clock = ManualClock::new(100);
    let archive = store.process_with(&clock);
    let mut log = create(&archive, &setup_with_id("debate-one")).await;
    for now in [150, 200] {
        clock.set(now);
        log.append(&[remark("Now.")]).await.unwrap();
    }
    let events = archive.events.read("debate-one").await.unwrap().events;
    assert!(events.iter().map(|recorded| recorded.at).eq([150, 200]));
    let card = archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!((card.created_at, card.updated_at), (1_767_225_600_000, 200));
}

async fn news_are_the_events_after_a_sequence_number(store: ContractStore) {
    let (archive, other) = (store.process(), store.process());
    archive.events.set_holder_name("the terminal");
    let mut log = create(&archive, &setup_with_id("debate-one")).await;
    log.append(&[remark("One."), remark("Two."), remark("Three.")]).await.unwrap();
    for (after, expected) in [(0, 3), (1, 2), (3, 0), (u64::MAX >> 1, 0)] {
        let news = other.events.news_since("debate-one", after).await.unwrap();
        assert_eq!(news.events.len(), expected, "after {after}");
        assert!(news.events.iter().all(|recorded| recorded.seq > after));
        let holder = news.holder.unwrap();
        assert!(holder.starts_with("the terminal (process "), "{holder}");
    }
    drop(log);
    assert_eq!(other.events.news_since("debate-one", 0).await.unwrap().holder, None);
}

async fn state_files_of_every_workspace_are_kept_once(store: ContractStore) {
    let archive = store.process();
    let with_state_file = |root: &str| Workspace {
        state_file: Some(workspace(root).root.join("last-debate.json")),
        ..workspace(root)
    };
    let setup = setup_with_id("debate-one");
    let first = with_state_file("/repository");
    let created = archive.events.create(&setup, &[], &first, DuplicatePolicy::Allow).await;
    drop(created.unwrap());
    for root in ["/repository", "/clone", "/clone"] {
        let workspace = with_state_file(root);
        drop(archive.events.open("debate-one", &workspace, LeaseMode::IfFree).await.unwrap());
    }
    let state_files = archive.events.read("debate-one").await.unwrap().state_files;
    let roots: Vec<_> = state_files.iter().map(|(_, root)| root.display().to_string()).collect();
    assert_eq!(roots, ["/repository", "/clone"]);
}

/// Polls until the live texts of `debate-one` are as expected.
async fn wait_for_live_text(archive: &crate::engine::ArchivePorts, expected: &[&str]) {
    for _ in 0..500 {
        let live_texts = archive.queries.live_texts("debate-one").await.unwrap();
        if live_texts.iter().map(|live_text| live_text.text.as_str()).eq(expected.iter().copied()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no such live text: {expected:?}");
}

async fn live_text_is_readable_by_other_processes(store: ContractStore) {
    let (archive, other) = (store.process(), store.process());
    let debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let log = create(&archive, debate.setup()).await;
    let broadcaster = UpdateBroadcaster::default();
    archive.events.publish_live_text("debate-one", broadcaster.subscribe());
    let cue = next(&debate).first_cue().unwrap();
    for word in ["Spaces, ", "of course."] {
        broadcaster.publish(Update::Delta { cue, text: word.into() });
    }
    wait_for_live_text(&other, &["Spaces, of course."]).await;
    let news = other.events.news_since("debate-one", 0).await.unwrap();
    assert_eq!(news.live_texts[0].turn, cue.to_string());
    drop(log);
    wait_for_live_text(&other, &[]).await;
}

async fn live_text_of_a_finished_turn_is_deleted(store: ContractStore) {
    let archive = store.process();
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = create(&archive, debate.setup()).await;
    let broadcaster = UpdateBroadcaster::default();
    archive.events.publish_live_text("debate-one", broadcaster.subscribe());
    append_next_event(&mut *log, &mut debate).await.unwrap();
    let cue = next(&debate).first_cue().unwrap();
    broadcaster.publish(Update::Delta { cue, text: "Spaces".into() });
    wait_for_live_text(&archive, &["Spaces"]).await;
    let event = append_next_event(&mut *log, &mut debate).await.unwrap();
    assert!(matches!(event, Event::Spoke { .. }));
    broadcaster.publish(Update::Fact { seq: 2, event });
    wait_for_live_text(&archive, &[]).await;
}

async fn rooms_are_listed_as_last_saved(store: ContractStore) {
    let (archive, other) = (store.process(), store.process());
    assert!(archive.rooms.list_rooms().await.unwrap().is_empty());
    for (id, body) in [("b", "first"), ("a", "second"), ("b", "changed")] {
        archive.rooms.save_room(id, body).await.unwrap();
    }
    assert_eq!(other.rooms.list_rooms().await.unwrap(), ["changed", "second"]);
}

async fn concurrent_appends_lose_no_events(store: ContractStore) {
    let writers = (0..4).map(|writer| {
        let archive = store.process();
        tokio::spawn(async move {
            let mut written = vec![];
            for number in 0..3 {
                let id = format!("debate-{writer}-{number}");
                let setup = Setup { id: id.clone(), ..debate_setup(formats::duel(), 1) };
                let mut debate = Debate::open(setup).unwrap();
                let mut log = create(&archive, debate.setup()).await;
                written.push((id, play_to_end(&mut *log, &mut debate).await));
            }
            written
        })
    });
    let archive = store.process();
    for writer in writers.collect::<Vec<_>>() {
        for (id, written) in writer.await.unwrap() {
            let events = archive.events.read(&id).await.unwrap().events;
            assert!(events.iter().map(|recorded| &recorded.event).eq(&written), "{id}");
        }
    }
    let query = DebateQuery { status: Some(Status::Completed), ..DebateQuery::default() };
    assert_eq!(archive.queries.list(&query).await.unwrap().len(), 12);
}
