//! The SQLite archive: one writer per debate by lease, no lost events, and projections that follow
//! the event log.
use crate::debate_fixture::{Rng, debate_setup, due_cues};
use crate::simulated_players::{ask_due_cues, failed_event, next_event, reply_event, valid_reply};
use debate_mcp::debate::{
    Debate, Event, FailureKind, ReviewedChange, Setup, Status, Step, formats, next,
};
use debate_mcp::engine::{
    ArchiveError, ArchiveMaintenance, Clock, DebateQueries, DebateQuery, DuplicatePolicy,
    EventStore, LeaseMode, Log, LogError, Update, UpdateBroadcaster, Workspace,
};
use debate_mcp::store::SqliteArchive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
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

/// Creates the repository folder.
fn create_workspace(folder: &Path) -> Workspace {
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
async fn append_next_event(log: &mut dyn Log, debate: &mut Debate) -> Option<Event> {
    let event = match due_cues(debate).first() {
        _ if next(debate) == Step::Done => return None,
        Some(cue) if debate.was_asked(*cue) => {
            reply_event(debate, *cue, valid_reply(debate, *cue)).ok()?
        }
        _ => ask_due_cues(debate).or_else(|| next_event(debate, 1, &mut Rng(1)))?,
    };
    log.append(std::slice::from_ref(&event)).await.unwrap();
    debate.apply(event.clone()).unwrap();
    Some(event)
}

#[tokio::test]
async fn debate_is_read_back_as_written() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5)).into_ports();
    let workspace = create_workspace(folder.path());
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = archive
        .events
        .create(debate.setup(), &[], &workspace, DuplicatePolicy::Allow)
        .await
        .unwrap();
    let mut events = vec![];
    while let Some(event) = append_next_event(&mut *log, &mut debate).await {
        events.push(event);
    }
    assert!(debate.outcome().is_some() && events.len() > 10);
    let stored = archive.events.read("debate-one").await.unwrap();
    assert_eq!(stored.setup, *debate.setup());
    let read_events: Vec<_> = stored.events.iter().map(|recorded| recorded.event.clone()).collect();
    assert_eq!(read_events, events);
    assert!(stored.events.iter().map(|recorded| recorded.seq).eq(1..=events.len() as u64));
    let card = archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!((card.status, card.winner.as_deref()), (Status::Completed, Some("claude")));
    archive.files.flush_exports();
    assert!(workspace.state_file.unwrap().exists() && stored.record_path.unwrap().exists());
}

#[tokio::test]
async fn duplicate_debate_id_is_refused() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let workspace = create_workspace(folder.path());
    let _log = archive
        .create(&setup_with_id("debate-one"), &[], &workspace, DuplicatePolicy::Allow)
        .await
        .unwrap();
    let second =
        archive.create(&setup_with_id("debate-one"), &[], &workspace, DuplicatePolicy::Allow).await;
    assert!(matches!(second.err(), Some(ArchiveError::IdTaken(_))));
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

/// Two processes read the archive, find no review of the change, and open one each.
#[tokio::test]
async fn create_refuses_a_second_debate_with_the_same_review_key_or_game() {
    for setup in [review_setup, game_setup] {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        let workspace = create_workspace(folder.path());
        let (first, second) = (
            SqliteArchive::new(&home, frozen_clock(5)),
            SqliteArchive::new(&home, frozen_clock(5)),
        );
        let create = async |setup: &Setup, known_ids: &[&str]| {
            let known_ids: Vec<String> = known_ids.iter().map(ToString::to_string).collect();
            second
                .create(setup, &[], &workspace, DuplicatePolicy::RefuseExcept(&known_ids))
                .await
                .map(drop)
        };
        let mut debate = Debate::open(setup("debate-one")).unwrap();
        let mut log =
            first.create(debate.setup(), &[], &workspace, DuplicatePolicy::Allow).await.unwrap();
        let second_setup = setup("debate-two");
        for known_ids in [&[][..], &["debate-one"]] {
            let error = create(&second_setup, known_ids).await.err();
            assert!(matches!(error, Some(ArchiveError::LeaseHeld { .. })), "{error:?}");
        }
        while append_next_event(&mut *log, &mut debate).await.is_some() {}
        drop(log);
        // The first debate has ended and has no holder: its verdict is reused.
        let error = create(&second_setup, &[]).await.err();
        assert!(
            matches!(&error, Some(ArchiveError::Duplicate { id }) if id == "debate-one"),
            "{error:?}"
        );
        // A caller that knows the first debate may open another one, once.
        create(&second_setup, &["debate-one"]).await.unwrap();
        let error = create(&setup("debate-three"), &["debate-one"]).await.err();
        assert!(matches!(error, Some(ArchiveError::Duplicate { .. })), "{error:?}");
        assert_eq!(second.list(&DebateQuery::default()).await.unwrap().len(), 2);
    }
    let folder = TempDir::new().unwrap();
    let workspace = create_workspace(folder.path());
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let policy = DuplicatePolicy::RefuseExcept(&[]);
    let mut fresh_review = review_setup("again");
    fresh_review.proposed.as_mut().unwrap().fresh = true;
    for setup in [
        review_setup("first"),
        fresh_review,
        setup_with_id("unkeyed"),
        setup_with_id("unkeyed-too"),
    ] {
        let created = archive.create(&setup, &[], &workspace, policy).await;
        assert!(created.is_ok(), "{}", setup.id);
    }
}

#[tokio::test]
async fn debate_has_one_lease_holder() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let workspace = create_workspace(folder.path());
    let (first, second) =
        (SqliteArchive::new(&home, frozen_clock(5)), SqliteArchive::new(&home, frozen_clock(5)));
    let log = first
        .create(&setup_with_id("debate-one"), &[], &workspace, DuplicatePolicy::Allow)
        .await
        .unwrap();
    let error = second.open("debate-one", &workspace, LeaseMode::IfFree).await.err();
    assert!(matches!(error, Some(ArchiveError::LeaseHeld { .. })), "{error:?}");
    assert!(
        first.open("debate-one", &workspace, LeaseMode::IfFree).await.is_err(),
        "nor by the same process"
    );
    assert!(second.read("debate-one").await.unwrap().holder.is_some());
    drop(log);
    assert_eq!(second.read("debate-one").await.unwrap().holder, None);
    assert!(second.open("debate-one", &workspace, LeaseMode::IfFree).await.is_ok());
}

#[tokio::test]
async fn lease_of_a_dead_or_silent_holder_can_be_taken() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let workspace = create_workspace(folder.path());
    let first_clock = frozen_clock(1_000);
    let first = SqliteArchive::new(&home, first_clock.clone());
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut first_log =
        first.create(debate.setup(), &[], &workspace, DuplicatePolicy::Allow).await.unwrap();
    append_next_event(&mut *first_log, &mut debate).await.unwrap();

    // Before the lease timeout: the holder may still send a heartbeat.
    let second = SqliteArchive::new(&home, frozen_clock(30_000));
    assert!(second.open("debate-one", &workspace, LeaseMode::IfFree).await.is_err());
    let third = SqliteArchive::new(&home, frozen_clock(32_001));
    let mut taken_over = third.open("debate-one", &workspace, LeaseMode::IfFree).await.unwrap();

    // The previous holder has lost its lease and can no longer append.
    let event =
        reply_event(&debate, due_cues(&debate)[0], valid_reply(&debate, due_cues(&debate)[0]))
            .unwrap();
    assert!(matches!(
        first_log.append(std::slice::from_ref(&event)).await,
        Err(LogError::LeaseLost { .. })
    ));
    drop(first_log);
    taken_over.log.append(std::slice::from_ref(&event)).await.unwrap();

    // A holder whose presence lock is free is dead, however recent its last heartbeat.
    std::mem::forget(taken_over);
    let fourth = SqliteArchive::new(&home, frozen_clock(32_001));
    assert!(fourth.open("debate-one", &workspace, LeaseMode::IfFree).await.is_err());
    drop(third);
    assert!(fourth.open("debate-one", &workspace, LeaseMode::IfFree).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_lose_no_events() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let workspace = create_workspace(folder.path());
    let writers: Vec<_> = (0..4)
        .map(|writer_index| {
            let (home, workspace) = (home.clone(), workspace.clone());
            tokio::spawn(async move {
                let archive = SqliteArchive::new(&home, frozen_clock(5));
                let mut written = vec![];
                for debate in 0..5 {
                    let id = format!("debate-{writer_index}-{debate}");
                    let mut debate = Debate::open(setup_with_id(&id)).unwrap();
                    let mut log = archive
                        .create(debate.setup(), &[], &workspace, DuplicatePolicy::Allow)
                        .await
                        .unwrap();
                    let mut events = 0;
                    while append_next_event(&mut *log, &mut debate).await.is_some() {
                        events += 1;
                    }
                    written.push((id, events));
                }
                written
            })
        })
        .collect();
    let archive = SqliteArchive::new(&home, frozen_clock(5));
    let mut written = vec![];
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    assert_eq!(written.len(), 20);
    let mut records = std::collections::BTreeSet::new();
    for (id, events) in written {
        let stored = archive.read(&id).await.unwrap();
        assert_eq!(stored.events.len(), events);
        records.insert(stored.record_path);
    }
    assert_eq!(records.len(), 20, "every debate has its own record file");
}

#[tokio::test]
async fn newer_archive_version_is_refused() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    SqliteArchive::new(&home, frozen_clock(5)).health().await.unwrap();
    let database = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    let error =
        SqliteArchive::new(&home, frozen_clock(5)).list(&DebateQuery::default()).await.err();
    assert!(matches!(error, Some(ArchiveError::SchemaTooNew(99))), "{error:?}");
}

#[tokio::test]
async fn reopen_deletes_dropped_turns_from_projections() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, frozen_clock(5));
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = archive
        .create(debate.setup(), &[], &create_workspace(folder.path()), DuplicatePolicy::Allow)
        .await
        .unwrap();
    let mut append = async |debate: &mut Debate, event: Event| {
        log.append(std::slice::from_ref(&event)).await.unwrap();
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
        append(&mut debate, event).await;
    }
    let reply_count = debate.replies_in(..).count();
    let from = debate.failed_turns().next().unwrap().0;
    append(&mut debate, Event::Reopened { from }).await;
    assert!(debate.replies_in(..).count() < reply_count, "the rulings are dropped");
    let database = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
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
        .create(debate.setup(), &[], &create_workspace(folder.path()), DuplicatePolicy::Allow)
        .await
        .unwrap();
    let broadcaster = UpdateBroadcaster::default();
    archive.publish_live_text("debate-one", broadcaster.subscribe());
    let cue = next(&debate).first_cue().unwrap();
    for word in ["Spaces, ", "of course."] {
        broadcaster.publish(Update::Delta { cue, text: word.into() });
    }
    let other_archive = SqliteArchive::new(&home, frozen_clock(5));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    let live_texts = loop {
        let live_texts = other_archive.live_texts("debate-one").await.unwrap();
        if !live_texts.is_empty() || tokio::time::Instant::now() > deadline {
            break live_texts;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(live_texts[0].text, "Spaces, of course.");
    drop(log);
    assert!(
        other_archive.live_texts("debate-one").await.unwrap().is_empty(),
        "live text is deleted with the lease"
    );
}

/// Tokio time is paused, so it advances only while the test sleeps.
#[tokio::test(start_paused = true)]
async fn live_text_is_written_every_250_ms() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), frozen_clock(5));
    let debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let _log = archive
        .create(debate.setup(), &[], &create_workspace(folder.path()), DuplicatePolicy::Allow)
        .await
        .unwrap();
    let broadcaster = UpdateBroadcaster::default();
    archive.publish_live_text("debate-one", broadcaster.subscribe());
    let live_text = async || -> String {
        let live_texts = archive.live_texts("debate-one").await.unwrap();
        live_texts.into_iter().map(|live_text| live_text.text).collect()
    };
    let cue = next(&debate).first_cue().unwrap();
    // Starts the writer.
    tokio::task::yield_now().await;
    let mut written = String::new();
    for word in ["Spaces, ", "of course."] {
        broadcaster.publish(Update::Delta { cue, text: word.into() });
        tokio::time::sleep(Duration::from_millis(249)).await;
        assert_eq!(live_text().await, written);
        tokio::time::sleep(Duration::from_millis(1)).await;
        tokio::task::yield_now().await;
        written.push_str(word);
        assert_eq!(live_text().await, written);
    }
}
