//! The SQLite archive: one writer per debate by lease, no lost events, and projections that follow
//! the event log.
use crate::debate_fixture::{Rng, debate_setup, due_cues};
use crate::simulated_players::{ask_due_cues, failed_event, next_event, reply_event, valid_reply};
use debate_mcp::debate::{
    Debate, Event, FailureKind, ReviewedChange, Setup, Status, Step, formats, next,
};
use debate_mcp::engine::{
    Archive, ArchiveError, Clock, DebateQuery, DuplicatePolicy, LeaseMode, Log, LogError, Update,
    UpdateBroadcaster, Workspace,
};
use debate_mcp::store::SqliteArchive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

/// A clock with a fixed time.
struct FrozenClock(AtomicI64);

impl Clock for FrozenClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn frozen_clock(now: i64) -> Arc<FrozenClock> {
    Arc::new(FrozenClock(AtomicI64::new(now)))
}

fn workspace(folder: &Path) -> Workspace {
    let root = folder.join("repository");
    std::fs::create_dir_all(&root).unwrap();
    Workspace {
        state_file: Some(root.join(".claude/debate/last-debate.json")),
        root,
        write_record: true,
    }
}

fn setup_with_id(id: &str) -> Setup {
    Setup { id: id.into(), ..debate_setup(formats::duel(), 2) }
}

/// Appends the next event of a well-behaved player to the log.
fn append_next_event(log: &mut dyn Log, debate: &mut Debate) -> Option<Event> {
    let event = match due_cues(debate).first() {
        _ if next(debate) == Step::Done => return None,
        Some(cue) if debate.was_asked(*cue) => {
            reply_event(debate, *cue, valid_reply(debate, *cue)).ok()?
        }
        _ => ask_due_cues(debate).or_else(|| next_event(debate, 1, &mut Rng(1)))?,
    };
    log.append(std::slice::from_ref(&event)).unwrap();
    debate.apply(event.clone()).unwrap();
    Some(event)
}

#[test]
fn debate_is_read_back_as_written() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let place = workspace(folder.path());
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = archive.create(debate.setup(), &[], &place, DuplicatePolicy::Allow).unwrap();
    let mut events = vec![];
    while let Some(event) = append_next_event(&mut *log, &mut debate) {
        events.push(event);
    }
    assert!(debate.outcome().is_some() && events.len() > 10);
    let stored = archive.read("debate-one").unwrap();
    assert_eq!(stored.setup, *debate.setup());
    let read: Vec<_> = stored.events.iter().map(|recorded| recorded.event.clone()).collect();
    assert_eq!(read, events);
    assert!(stored.events.iter().map(|recorded| recorded.seq).eq(1..=events.len() as u64));
    let card = archive.list(&DebateQuery::default()).unwrap().remove(0);
    assert_eq!((card.status, card.winner.as_deref()), (Status::Completed, Some("claude")));
    archive.flush_exports();
    assert!(place.state_file.unwrap().exists() && stored.record_path.unwrap().exists());
}

#[test]
fn duplicate_debate_id_is_refused() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let place = workspace(folder.path());
    let _log =
        archive.create(&setup_with_id("debate-one"), &[], &place, DuplicatePolicy::Allow).unwrap();
    let again = archive.create(&setup_with_id("debate-one"), &[], &place, DuplicatePolicy::Allow);
    assert!(matches!(again.err(), Some(ArchiveError::IdTaken(_))));
}

/// The setup of a review, always of the same change.
fn review(id: &str) -> Setup {
    let proposed = ReviewedChange { key: "the same".into(), ..ReviewedChange::default() };
    Setup { proposed: Some(proposed), ..setup_with_id(id) }
}

/// The setup of a game, always the same one of a tournament.
fn game(id: &str) -> Setup {
    let terms = [("tournament", "cup"), ("game", "1")].map(|(k, v)| (k.into(), v.into()));
    Setup { terms: terms.into(), ..setup_with_id(id) }
}

/// Two processes read the archive, find no review of the change, and open one each.
#[test]
fn create_refuses_a_second_debate_with_the_same_review_key_or_game() {
    for setup in [review, game] {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        let place = workspace(folder.path());
        let (first, second) = (
            SqliteArchive::new(&home, frozen_clock(5)),
            SqliteArchive::new(&home, frozen_clock(5)),
        );
        let create = |setup: &Setup, seen: &[&str]| {
            let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
            second.create(setup, &[], &place, DuplicatePolicy::RefuseExcept(&seen)).map(drop)
        };
        let mut debate = Debate::open(setup("debate-one")).unwrap();
        let mut log = first.create(debate.setup(), &[], &place, DuplicatePolicy::Allow).unwrap();
        let rival = setup("debate-two");
        for seen in [&[][..], &["debate-one"]] {
            let refused = create(&rival, seen).err();
            assert!(matches!(refused, Some(ArchiveError::LeaseHeld { .. })), "{refused:?}");
        }
        while append_next_event(&mut *log, &mut debate).is_some() {}
        drop(log);
        // It is over and has no holder: its verdict is the one to use.
        let refused = create(&rival, &[]).err();
        assert!(
            matches!(&refused, Some(ArchiveError::Duplicate { id }) if id == "debate-one"),
            "{refused:?}"
        );
        // A caller that has read it may argue again, once.
        create(&rival, &["debate-one"]).unwrap();
        let refused = create(&setup("debate-three"), &["debate-one"]).err();
        assert!(matches!(refused, Some(ArchiveError::Duplicate { .. })), "{refused:?}");
        assert_eq!(second.list(&DebateQuery::default()).unwrap().len(), 2);
    }
    let folder = TempDir::new().unwrap();
    let place = workspace(folder.path());
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let refuse = DuplicatePolicy::RefuseExcept(&[]);
    let mut fresh = review("again");
    fresh.proposed.as_mut().unwrap().fresh = true;
    for setup in [review("first"), fresh, setup_with_id("unkeyed"), setup_with_id("unkeyed-too")] {
        let created = archive.create(&setup, &[], &place, refuse);
        assert!(created.is_ok(), "{}", setup.id);
    }
}

#[test]
fn debate_has_one_lease_holder() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = workspace(folder.path());
    let (first, second) =
        (SqliteArchive::new(&home, frozen_clock(5)), SqliteArchive::new(&home, frozen_clock(5)));
    let log =
        first.create(&setup_with_id("debate-one"), &[], &place, DuplicatePolicy::Allow).unwrap();
    let busy = second.open("debate-one", &place, LeaseMode::IfFree).err();
    assert!(matches!(busy, Some(ArchiveError::LeaseHeld { .. })), "{busy:?}");
    assert!(
        first.open("debate-one", &place, LeaseMode::IfFree).is_err(),
        "nor twice in one process"
    );
    assert!(second.read("debate-one").unwrap().holder.is_some());
    drop(log);
    assert_eq!(second.read("debate-one").unwrap().holder, None);
    assert!(second.open("debate-one", &place, LeaseMode::IfFree).is_ok());
}

#[test]
fn lease_of_a_dead_or_silent_holder_can_be_taken() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = workspace(folder.path());
    let awake = frozen_clock(1_000);
    let first = SqliteArchive::new(&home, awake.clone());
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut slept = first.create(debate.setup(), &[], &place, DuplicatePolicy::Allow).unwrap();
    append_next_event(&mut *slept, &mut debate).unwrap();

    // Before the lease timeout: the holder may still send a heartbeat.
    let second = SqliteArchive::new(&home, frozen_clock(30_000));
    assert!(second.open("debate-one", &place, LeaseMode::IfFree).is_err());
    let third = SqliteArchive::new(&home, frozen_clock(32_001));
    let mut taken_over = third.open("debate-one", &place, LeaseMode::IfFree).unwrap();

    // The previous holder has lost its lease and can no longer append.
    let event =
        reply_event(&debate, due_cues(&debate)[0], valid_reply(&debate, due_cues(&debate)[0]))
            .unwrap();
    assert!(matches!(slept.append(std::slice::from_ref(&event)), Err(LogError::LeaseLost { .. })));
    drop(slept);
    taken_over.log.append(std::slice::from_ref(&event)).unwrap();

    // A holder whose presence lock is free is dead, however recent its last heartbeat.
    std::mem::forget(taken_over);
    let fourth = SqliteArchive::new(&home, frozen_clock(32_001));
    assert!(fourth.open("debate-one", &place, LeaseMode::IfFree).is_err());
    drop(third);
    assert!(fourth.open("debate-one", &place, LeaseMode::IfFree).is_ok());
}

#[test]
fn concurrent_writers_lose_no_events() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = workspace(folder.path());
    let writers: Vec<_> = (0..4)
        .map(|nth| {
            let (home, place) = (home.clone(), place.clone());
            std::thread::spawn(move || {
                let archive = SqliteArchive::new(&home, frozen_clock(5));
                (0..5)
                    .map(|debate| {
                        let id = format!("debate-{nth}-{debate}");
                        let mut debate = Debate::open(setup_with_id(&id)).unwrap();
                        let mut log = archive
                            .create(debate.setup(), &[], &place, DuplicatePolicy::Allow)
                            .unwrap();
                        let events =
                            std::iter::from_fn(|| append_next_event(&mut *log, &mut debate));
                        (id, events.count())
                    })
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let archive = SqliteArchive::new(&home, frozen_clock(5));
    let written: Vec<_> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    assert_eq!(written.len(), 20);
    for (id, events) in written {
        assert_eq!(archive.read(&id).unwrap().events.len(), events);
    }
    let records: std::collections::BTreeSet<_> = archive
        .list(&DebateQuery::default())
        .unwrap()
        .iter()
        .map(|card| archive.read(&card.id).unwrap().record_path)
        .collect();
    assert_eq!(records.len(), 20, "each has a record of its own");
}

#[test]
fn newer_archive_version_is_refused() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    SqliteArchive::new(&home, frozen_clock(5)).health().unwrap();
    let file = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    let newer = SqliteArchive::new(&home, frozen_clock(5)).list(&DebateQuery::default()).err();
    assert!(matches!(newer, Some(ArchiveError::SchemaTooNew(99))), "{newer:?}");
}

#[test]
fn reopen_deletes_dropped_turns_from_projections() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, frozen_clock(5));
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = archive
        .create(debate.setup(), &[], &workspace(folder.path()), DuplicatePolicy::Allow)
        .unwrap();
    let mut record = |debate: &mut Debate, event: Event| {
        log.append(std::slice::from_ref(&event)).unwrap();
        debate.apply(event).unwrap();
    };
    while next(&debate) != Step::Done {
        let event = match due_cues(&debate).first() {
            Some(cue) if !debate.was_asked(*cue) => ask_due_cues(&debate).unwrap(),
            Some(cue) if debate.setup().phase(*cue).name == "defend" => {
                failed_event(&debate, *cue, FailureKind::TimedOut)
            }
            Some(cue) => reply_event(&debate, *cue, valid_reply(&debate, *cue)).unwrap(),
            None => next_event(&debate, 1, &mut Rng(1)).unwrap(),
        };
        record(&mut debate, event);
    }
    let judged = debate.replies_in(..).count();
    let from = debate.failed_turns().next().unwrap().0;
    record(&mut debate, Event::Reopened { from });
    assert!(debate.replies_in(..).count() < judged, "the rulings are forgotten");
    let file = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(
        count("SELECT count(*) FROM messages"),
        i64::try_from(debate.replies_in(..).count()).unwrap()
    );
}

#[tokio::test]
async fn live_text_is_readable_by_other_processes() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, frozen_clock(5));
    let debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let log = archive
        .create(debate.setup(), &[], &workspace(folder.path()), DuplicatePolicy::Allow)
        .unwrap();
    let live = UpdateBroadcaster::default();
    archive.publish_live_text("debate-one", live.subscribe());
    let cue = next(&debate).first_cue().unwrap();
    for word in ["Spaces, ", "of course."] {
        live.publish(Update::Delta { cue, text: word.into() });
    }
    let other = SqliteArchive::new(&home, frozen_clock(5));
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
    let heard = loop {
        let heard = other.live_texts("debate-one").unwrap();
        if !heard.is_empty() || tokio::time::Instant::now() > deadline {
            break heard;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(heard[0].text, "Spaces, of course.");
    drop(log);
    assert!(other.live_texts("debate-one").unwrap().is_empty(), "it is no part of the truth");
}
