//! What only the SQLite archive does: exports, records with unique names, schema version,
//! projections and the interval of live text. The rest is in `archive_contract`.
use super::archive_contract::{append_next_event, setup_with_id};
use crate::debate::{Debate, Event, FailureKind, Step, next};
use crate::engine::{
    ArchiveError, ArchiveMaintenance, DebateQueries, DebateQuery, DuplicatePolicy, EventStore,
    Update, UpdateBroadcaster, Workspace,
};
use crate::store::SqliteArchive;
use crate::test_support::debate_fixture::{Rng, due_cues};
use crate::test_support::manual_clock::ManualClock;
use crate::test_support::simulated_players::{
    ask_due_cues, failed_event, next_event, reply_event, valid_reply,
};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

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

#[tokio::test]
async fn debate_is_exported_to_its_state_file_and_record() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), ManualClock::new(5)).into_ports();
    let workspace = create_workspace(folder.path());
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let create =
        archive.events.create(debate.setup(), &[], &workspace, DuplicatePolicy::Allow).await;
    let mut log = create.unwrap();
    while append_next_event(&mut *log, &mut debate).await.is_some() {}
    let stored = archive.events.read("debate-one").await.unwrap();
    archive.files.flush_exports();
    assert!(workspace.state_file.unwrap().exists() && stored.record_path.unwrap().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn debates_created_concurrently_have_their_own_records() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let workspace = create_workspace(folder.path());
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (home, workspace) = (home.clone(), workspace.clone());
            tokio::spawn(async move {
                let archive = SqliteArchive::new(&home, ManualClock::new(5));
                for number in 0..5 {
                    let setup = setup_with_id(&format!("debate-{writer}-{number}"));
                    drop(archive.create(&setup, &[], &workspace, DuplicatePolicy::Allow).await);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let archive = SqliteArchive::new(&home, ManualClock::new(5));
    let mut records = std::collections::BTreeSet::new();
    for card in archive.list(&DebateQuery::default()).await.unwrap() {
        records.insert(archive.read(&card.id).await.unwrap().record_path.unwrap());
    }
    assert_eq!(records.len(), 20);
}

#[tokio::test]
async fn newer_archive_version_is_refused() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    SqliteArchive::new(&home, ManualClock::new(5)).health().await.unwrap();
    let database = rusqlite::Connection::open(home.join("archive.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    let error =
        SqliteArchive::new(&home, ManualClock::new(5)).list(&DebateQuery::default()).await.err();
    assert!(matches!(error, Some(ArchiveError::SchemaTooNew(99))), "{error:?}");
}

#[tokio::test]
async fn reopen_deletes_dropped_turns_from_projections() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let archive = SqliteArchive::new(&home, ManualClock::new(5));
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

/// Tokio time is paused, so it advances only while the test sleeps.
#[tokio::test(start_paused = true)]
async fn live_text_is_written_every_250_ms() {
    let folder = TempDir::new().unwrap();
    let archive = SqliteArchive::new(&folder.path().join("home"), ManualClock::new(5));
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
