//! Contract of `EventStore` and `Log` for several processes: leases, epochs and duplicates.
use super::{ContractStore, START, create, play_to_end, remark, setup_with_id, workspace};
use crate::debate::{Debate, ReviewedChange, Setup};
use crate::engine::{
    ArchiveError, ArchivePorts, DebateQuery, DuplicatePolicy, LeaseMode, LeaseSignal, Log,
    LogError, OpenedDebate,
};
use crate::test_support::manual_clock::ManualClock;
use std::time::Duration;

contract_tests!(
    debate_has_one_lease_holder,
    lease_is_taken_over,
    old_holder_does_not_release_the_new_lease,
    lease_of_a_silent_process_expires_after_30_s,
    lease_of_a_dead_process_is_free,
    lost_lease_is_signalled,
    concurrent_take_overs_leave_one_writer,
    concurrent_creates_of_one_id_succeed_once,
    second_debate_about_the_same_is_refused,
    debates_without_a_key_or_elsewhere_are_no_duplicates,
    concurrent_creates_of_one_review_succeed_once,
);

async fn open(archive: &ArchivePorts, lease_mode: LeaseMode) -> Result<OpenedDebate, ArchiveError> {
    archive.events.open("debate-one", &workspace("/repository"), lease_mode).await
}

async fn holder(archive: &ArchivePorts) -> Option<String> {
    archive.events.read("debate-one").await.unwrap().holder
}

async fn debate_has_one_lease_holder(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    let log = create(&first, &setup_with_id("debate-one")).await;
    for archive in [&first, &second] {
        let error = open(archive, LeaseMode::IfFree).await.err();
        assert!(matches!(error, Some(ArchiveError::LeaseHeld { .. })), "{error:?}");
        assert!(holder(archive).await.is_some());
    }
    drop(log);
    assert_eq!(holder(&second).await, None);
    assert!(open(&second, LeaseMode::IfFree).await.is_ok());
}

async fn lease_is_taken_over(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    second.events.set_holder_name("the editor");
    let mut old_log = create(&first, &setup_with_id("debate-one")).await;
    old_log.append(&[remark("One.")]).await.unwrap();
    let mut opened = open(&second, LeaseMode::TakeOver).await.unwrap();
    assert_eq!(opened.stored.events.len(), 1);
    // The epoch of the old holder has passed: nothing of it is written.
    match old_log.append(&[remark("Too late.")]).await {
        Err(LogError::LeaseLost { by }) => assert!(by.starts_with("the editor"), "{by}"),
        result => panic!("{result:?}"),
    }
    assert_eq!(opened.log.append(&[remark("Two.")]).await.unwrap(), 2);
    assert_eq!(first.events.read("debate-one").await.unwrap().events.len(), 2);
    // Also within one process.
    let mut third = open(&second, LeaseMode::TakeOver).await.unwrap();
    assert!(opened.log.append(&[remark("Too late.")]).await.is_err());
    assert_eq!(third.log.append(&[remark("Three.")]).await.unwrap(), 3);
}

async fn old_holder_does_not_release_the_new_lease(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    let old_log = create(&first, &setup_with_id("debate-one")).await;
    let mut opened = open(&second, LeaseMode::TakeOver).await.unwrap();
    drop(old_log);
    assert!(holder(&first).await.is_some());
    assert!(open(&first, LeaseMode::IfFree).await.is_err());
    opened.log.append(&[remark("Still mine.")]).await.unwrap();
}

async fn lease_of_a_silent_process_expires_after_30_s(store: ContractStore) {
    let silent = store.process_with(&ManualClock::new(START));
    let clock = ManualClock::new(START + 30_000);
    let other = store.process_with(&clock);
    let mut old_log = create(&silent, &setup_with_id("debate-one")).await;
    assert!(open(&other, LeaseMode::IfFree).await.is_err());
    assert!(holder(&other).await.is_some());
    clock.set(START + 30_001);
    assert_eq!(holder(&other).await, None);
    let mut opened = open(&other, LeaseMode::IfFree).await.unwrap();
    let result = old_log.append(&[remark("I slept.")]).await;
    assert!(matches!(result, Err(LogError::LeaseLost { .. })), "{result:?}");
    opened.log.append(&[remark("Go on.")]).await.unwrap();
}

async fn lease_of_a_dead_process_is_free(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    // The process ends without releasing the lease.
    std::mem::forget(create(&first, &setup_with_id("debate-one")).await);
    assert!(open(&second, LeaseMode::IfFree).await.is_err());
    drop(first);
    assert_eq!(holder(&second).await, None);
    assert!(open(&second, LeaseMode::IfFree).await.is_ok());
}

async fn lost_lease_is_signalled(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    second.events.set_holder_name("the editor");
    let log = create(&first, &setup_with_id("debate-one")).await;
    let early = tokio::time::timeout(Duration::from_millis(20), log.next_signal()).await;
    assert!(early.is_err(), "{early:?}");
    let _opened = open(&second, LeaseMode::TakeOver).await.unwrap();
    // The signal comes on every call from then on.
    for _ in 0..2 {
        match tokio::time::timeout(Duration::from_secs(10), log.next_signal()).await.unwrap() {
            LeaseSignal::Lost { new_holder } => {
                assert!(new_holder.starts_with("the editor"), "{new_holder}");
            }
            signal @ LeaseSignal::Commands { .. } => panic!("{signal:?}"),
        }
    }
}

async fn concurrent_take_overs_leave_one_writer(store: ContractStore) {
    let first = store.process();
    let mut logs = vec![create(&first, &setup_with_id("debate-one")).await];
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let archive = store.process();
            tokio::spawn(async move {
                let log = open(&archive, LeaseMode::TakeOver).await.unwrap().log;
                (archive, log)
            })
        })
        .collect();
    let mut processes = vec![];
    for task in tasks {
        let (archive, log) = task.await.unwrap();
        processes.push(archive);
        logs.push(log);
    }
    let mut writers = 0;
    for log in &mut logs {
        writers += usize::from(log.append(&[remark("Mine.")]).await.is_ok());
    }
    assert_eq!(writers, 1);
    assert_eq!(first.events.read("debate-one").await.unwrap().events.len(), 1);
}

/// Creates debates at the same time, each in its own process. Returns the results.
async fn create_concurrently(
    store: &ContractStore,
    setups: Vec<Setup>,
) -> Vec<Result<Box<dyn Log>, ArchiveError>> {
    let tasks: Vec<_> = setups
        .into_iter()
        .map(|setup| {
            let archive = store.process();
            tokio::spawn(async move {
                let workspace = workspace("/repository");
                let policy = DuplicatePolicy::RefuseExcept(&[]);
                let created = archive.events.create(&setup, &[], &workspace, policy).await;
                (archive, created)
            })
        })
        .collect();
    let (mut processes, mut results) = (vec![], vec![]);
    for task in tasks {
        let (archive, created) = task.await.unwrap();
        processes.push(archive);
        results.push(created);
    }
    results
}

async fn concurrent_creates_of_one_id_succeed_once(store: ContractStore) {
    let results = create_concurrently(&store, vec![setup_with_id("debate-one"); 4]).await;
    let is_taken = |result: &Result<_, _>| matches!(result, Err(ArchiveError::IdTaken(_)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(results.iter().filter(|result| is_taken(result)).count(), 3);
}

/// The setup of a review, always of the same change.
fn review_setup(id: &str) -> Setup {
    let proposed = ReviewedChange { key: "the same".into(), ..ReviewedChange::default() };
    Setup { proposed: Some(proposed), ..setup_with_id(id) }
}

/// The setup of a game, always the same one of a tournament.
fn game_setup(id: &str) -> Setup {
    let terms = [("tournament", "cup"), ("game", "1")].map(|(k, v)| (k.into(), v.into()));
    Setup { terms: terms.into(), ..setup_with_id(id) }
}

async fn create_unless_known(
    archive: &ArchivePorts,
    setup: &Setup,
    known_ids: &[&str],
) -> Result<(), ArchiveError> {
    let known_ids: Vec<String> = known_ids.iter().map(ToString::to_string).collect();
    let policy = DuplicatePolicy::RefuseExcept(&known_ids);
    archive.events.create(setup, &[], &workspace("/repository"), policy).await.map(drop)
}

async fn second_debate_about_the_same_is_refused(store: ContractStore) {
    let (first, second) = (store.process(), store.process());
    for (kind, setup) in [("review", review_setup as fn(&str) -> Setup), ("game", game_setup)] {
        let id = |number: u8| format!("{kind}-{number}");
        let mut debate = Debate::open(setup(&id(1))).unwrap();
        let mut log = create(&first, debate.setup()).await;
        let second_setup = setup(&id(2));
        for known_ids in [&[][..], &[id(1).as_str()]] {
            let error = create_unless_known(&second, &second_setup, known_ids).await.err();
            assert!(matches!(error, Some(ArchiveError::LeaseHeld { .. })), "{error:?}");
        }
        play_to_end(&mut *log, &mut debate).await;
        drop(log);
        // The first debate has ended and has no holder: its verdict is reused.
        let error = create_unless_known(&second, &second_setup, &[]).await.err();
        assert!(
            matches!(&error, Some(ArchiveError::Duplicate { id: found }) if *found == id(1)),
            "{error:?}"
        );
        // A caller that knows the first debate may open another one, once.
        create_unless_known(&second, &second_setup, &[&id(1)]).await.unwrap();
        let error = create_unless_known(&second, &setup(&id(3)), &[&id(1)]).await.err();
        assert!(matches!(error, Some(ArchiveError::Duplicate { .. })), "{error:?}");
        // An import is always allowed.
        drop(create(&second, &setup(&id(4))).await);
    }
    assert_eq!(second.queries.list(&DebateQuery::default()).await.unwrap().len(), 6);
}

async fn debates_without_a_key_or_elsewhere_are_no_duplicates(store: ContractStore) {
    let archive = store.process();
    let mut fresh_review = review_setup("fresh");
    fresh_review.proposed.as_mut().unwrap().fresh = true;
    for setup in [
        review_setup("first"),
        fresh_review,
        setup_with_id("unkeyed"),
        setup_with_id("unkeyed-too"),
    ] {
        create_unless_known(&archive, &setup, &[]).await.unwrap();
    }
    let policy = DuplicatePolicy::RefuseExcept(&[]);
    let setup = review_setup("elsewhere");
    let created = archive.events.create(&setup, &[], &workspace("/clone"), policy).await;
    assert!(created.is_ok(), "another repository");
}

async fn concurrent_creates_of_one_review_succeed_once(store: ContractStore) {
    let setups = (0..4).map(|number| review_setup(&format!("review-{number}"))).collect();
    let results = create_concurrently(&store, setups).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        assert!(
            matches!(error, ArchiveError::LeaseHeld { .. } | ArchiveError::Duplicate { .. }),
            "{error:?}"
        );
    }
}
