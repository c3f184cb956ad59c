//! The SQLite archive: one writer per debate by lease, no lost events, and projections that follow
//! the event log.
use crate::players::{ask, dutiful, failed, good, said};
use crate::scene::{Rng, due, setup};
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
struct Set(AtomicI64);

impl Clock for Set {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn at(now: i64) -> Arc<Set> {
    Arc::new(Set(AtomicI64::new(now)))
}

fn place(folder: &Path) -> Workspace {
    let root = folder.join("repository");
    std::fs::create_dir_all(&root).unwrap();
    Workspace {
        state_file: Some(root.join(".claude/debate/last-debate.json")),
        root,
        write_record: true,
    }
}

fn named(id: &str) -> Setup {
    Setup { id: id.into(), ..setup(formats::duel(), 2) }
}

/// Appends the next event of a well-behaved player to the log.
fn advance(log: &mut dyn Log, debate: &mut Debate) -> Option<Event> {
    let event = match due(debate).first() {
        _ if next(debate) == Step::Done => return None,
        Some(cue) if debate.was_asked(*cue) => said(debate, *cue, good(debate, *cue)).ok()?,
        _ => ask(debate).or_else(|| dutiful(debate, 1, &mut Rng(1)))?,
    };
    log.append(std::slice::from_ref(&event)).unwrap();
    debate.apply(event.clone()).unwrap();
    Some(event)
}

#[test]
fn a_debate_is_read_back_as_it_was_written() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), at(5));
    let place = place(folder.path());
    let mut debate = Debate::open(named("debate-one")).unwrap();
    let mut log = archive.create(debate.setup(), &[], &place, DuplicatePolicy::Allow).unwrap();
    let mut events = vec![];
    while let Some(event) = advance(&mut *log, &mut debate) {
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
fn an_id_is_given_once() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), at(5));
    let place = place(folder.path());
    let _log = archive.create(&named("debate-one"), &[], &place, DuplicatePolicy::Allow).unwrap();
    let again = archive.create(&named("debate-one"), &[], &place, DuplicatePolicy::Allow);
    assert!(matches!(again.err(), Some(ArchiveError::IdTaken(_))));
}

/// The setup of a review, always of the same change.
fn review(id: &str) -> Setup {
    let proposed = ReviewedChange { key: "the same".into(), ..ReviewedChange::default() };
    Setup { proposed: Some(proposed), ..named(id) }
}

/// The setup of a game, always the same one of a tournament.
fn game(id: &str) -> Setup {
    let terms = [("tournament", "cup"), ("game", "1")].map(|(k, v)| (k.into(), v.into()));
    Setup { terms: terms.into(), ..named(id) }
}

/// Two processes read the archive, find no review of the change, and both create one.
#[test]
fn create_refuses_a_second_debate_with_the_same_review_key_or_game() {
    for setup in [review, game] {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        let place = place(folder.path());
        let (first, second) = (SqliteArchive::new(&home, at(5)), SqliteArchive::new(&home, at(5)));
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
        while advance(&mut *log, &mut debate).is_some() {}
        drop(log);
        // Ended and without a lease, it is still the result to reuse.
        let refused = create(&rival, &[]).err();
        assert!(
            matches!(&refused, Some(ArchiveError::Duplicate { id }) if id == "debate-one"),
            "{refused:?}"
        );
        // A caller who has seen the first debate may create one more.
        create(&rival, &["debate-one"]).unwrap();
        let refused = create(&setup("debate-three"), &["debate-one"]).err();
        assert!(matches!(refused, Some(ArchiveError::Duplicate { .. })), "{refused:?}");
        assert_eq!(second.list(&DebateQuery::default()).unwrap().len(), 2);
    }
    let folder = TempDir::new().unwrap();
    let place = place(folder.path());
    let archive = SqliteArchive::new(&folder.path().join("home"), at(5));
    let refuse = DuplicatePolicy::RefuseExcept(&[]);
    let mut fresh = review("again");
    fresh.proposed.as_mut().unwrap().fresh = true;
    for setup in [review("first"), fresh, named("unkeyed"), named("unkeyed-too")] {
        let created = archive.create(&setup, &[], &place, refuse);
        assert!(created.is_ok(), "{}", setup.id);
    }
}

#[test]
fn a_debate_has_one_writer_at_a_time() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = place(folder.path());
    let (first, second) = (SqliteArchive::new(&home, at(5)), SqliteArchive::new(&home, at(5)));
    let log = first.create(&named("debate-one"), &[], &place, DuplicatePolicy::Allow).unwrap();
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
fn a_dead_holder_is_followed_at_once_and_a_sleeper_after_a_while() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = place(folder.path());
    let awake = at(1_000);
    let first = SqliteArchive::new(&home, awake.clone());
    let mut debate = Debate::open(named("debate-one")).unwrap();
    let mut slept = first.create(debate.setup(), &[], &place, DuplicatePolicy::Allow).unwrap();
    advance(&mut *slept, &mut debate).unwrap();

    // Before the lease timeout: the holder may still send a heartbeat.
    let second = SqliteArchive::new(&home, at(30_000));
    assert!(second.open("debate-one", &place, LeaseMode::IfFree).is_err());
    let third = SqliteArchive::new(&home, at(32_001));
    let mut taken_over = third.open("debate-one", &place, LeaseMode::IfFree).unwrap();

    // The previous holder has lost its lease and can no longer append.
    let event = said(&debate, due(&debate)[0], good(&debate, due(&debate)[0])).unwrap();
    assert!(matches!(slept.append(std::slice::from_ref(&event)), Err(LogError::LeaseLost { .. })));
    drop(slept);
    taken_over.log.append(std::slice::from_ref(&event)).unwrap();

    // A holder whose presence lock is free is dead, however recent its last heartbeat.
    std::mem::forget(taken_over);
    let fourth = SqliteArchive::new(&home, at(32_001));
    assert!(fourth.open("debate-one", &place, LeaseMode::IfFree).is_err());
    drop(third);
    assert!(fourth.open("debate-one", &place, LeaseMode::IfFree).is_ok());
}

#[test]
fn many_writers_of_many_debates_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let place = place(folder.path());
    let writers: Vec<_> = (0..4)
        .map(|nth| {
            let (home, place) = (home.clone(), place.clone());
            std::thread::spawn(move || {
                let archive = SqliteArchive::new(&home, at(5));
                (0..5)
                    .map(|debate| {
                        let id = format!("debate-{nth}-{debate}");
                        let mut debate = Debate::open(named(&id)).unwrap();
                        let mut log = archive
                            .create(debate.setup(), &[], &place, DuplicatePolicy::Allow)
                            .unwrap();
                        let events = std::iter::from_fn(|| advance(&mut *log, &mut debate));
                        (id, events.count())
                    })
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let archive = SqliteArchive::new(&home, at(5));
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
fn an_archive_of_a_newer_version_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    SqliteArchive::new(&home, at(5)).health().unwrap();
    let file = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    let newer = SqliteArchive::new(&home, at(5)).list(&DebateQuery::default()).err();
    assert!(matches!(newer, Some(ArchiveError::SchemaTooNew(99))), "{newer:?}");
}

#[test]
fn reopening_takes_forgotten_turns_out_of_the_tables() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, at(5));
    let mut debate = Debate::open(named("debate-one")).unwrap();
    let mut log =
        archive.create(debate.setup(), &[], &place(folder.path()), DuplicatePolicy::Allow).unwrap();
    let mut record = |debate: &mut Debate, event: Event| {
        log.append(std::slice::from_ref(&event)).unwrap();
        debate.apply(event).unwrap();
    };
    while next(&debate) != Step::Done {
        let event = match due(&debate).first() {
            Some(cue) if !debate.was_asked(*cue) => ask(&debate).unwrap(),
            Some(cue) if debate.setup().phase(*cue).name == "defend" => {
                failed(&debate, *cue, FailureKind::TimedOut)
            }
            Some(cue) => said(&debate, *cue, good(&debate, *cue)).unwrap(),
            None => dutiful(&debate, 1, &mut Rng(1)).unwrap(),
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
async fn what_is_being_said_can_be_read_by_others() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, at(5));
    let debate = Debate::open(named("debate-one")).unwrap();
    let log =
        archive.create(debate.setup(), &[], &place(folder.path()), DuplicatePolicy::Allow).unwrap();
    let live = UpdateBroadcaster::default();
    archive.publish_live_text("debate-one", live.subscribe());
    let cue = next(&debate).first_cue().unwrap();
    for word in ["Spaces, ", "of course."] {
        live.publish(Update::Delta { cue, text: word.into() });
    }
    let other = SqliteArchive::new(&home, at(5));
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
