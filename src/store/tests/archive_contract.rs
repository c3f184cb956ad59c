//! Contract of the archive's ports. Each test runs against the SQLite archive and against the
//! archive in memory. A store for another database is added to `contract_tests`.
use crate::debate::{Debate, Event, Setup, Step, formats, next};
use crate::engine::{ArchivePorts, DuplicatePolicy, Log, Workspace};
use crate::store::SqliteArchive;
use crate::test_support::debate_fixture::{Rng, debate_setup, due_cues};
use crate::test_support::manual_clock::ManualClock;
use crate::test_support::memory_archive::MemoryArchive;
use crate::test_support::simulated_players::{ask_due_cues, next_event, reply_event, valid_reply};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// Defines each test once for every archive.
macro_rules! contract_tests {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(super::ContractStore::sqlite()).await;
            })+
        }
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(super::ContractStore::memory()).await;
            })+
        }
    };
}

mod command_queue;
mod debate_queries;
mod event_logs;
mod leases;

/// Clock of most processes.
const START: i64 = 5;

type NewProcess = Box<dyn Fn(Arc<ManualClock>) -> ArchivePorts + Send + Sync>;

/// An empty archive that several processes use.
struct ContractStore {
    new_process: NewProcess,
    /// Folder of the database, deleted with the store.
    _folder: Option<TempDir>,
}

impl ContractStore {
    fn sqlite() -> ContractStore {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        ContractStore {
            new_process: Box::new(move |clock| SqliteArchive::new(&home, clock).into_ports()),
            _folder: Some(folder),
        }
    }

    fn memory() -> ContractStore {
        let archive = MemoryArchive::new(ManualClock::new(START));
        ContractStore {
            new_process: Box::new(move |clock| archive.new_process(clock).into_ports()),
            _folder: None,
        }
    }

    /// A new process whose clock stands still.
    fn process(&self) -> ArchivePorts {
        (self.new_process)(ManualClock::new(START))
    }

    /// A new process with this clock.
    fn process_with(&self, clock: &Arc<ManualClock>) -> ArchivePorts {
        (self.new_process)(clock.clone())
    }
}

/// A workspace without files.
fn workspace(root: &str) -> Workspace {
    Workspace { root: PathBuf::from(root), state_file: None, write_record: false }
}

pub(super) fn setup_with_id(id: &str) -> Setup {
    Setup { id: id.into(), ..debate_setup(formats::duel(), 2) }
}

fn setup_with_topic(id: &str, topic: &str) -> Setup {
    Setup { topic: topic.into(), ..setup_with_id(id) }
}

/// Creates a debate in the repository `/repository`.
async fn create(archive: &ArchivePorts, setup: &Setup) -> Box<dyn Log> {
    let workspace = workspace("/repository");
    archive.events.create(setup, &[], &workspace, DuplicatePolicy::Allow).await.unwrap()
}

fn remark(text: &str) -> Event {
    Event::Interjected { text: text.into() }
}

/// The next event of a debate with well-behaved players.
fn valid_event(debate: &Debate) -> Option<Event> {
    match due_cues(debate).first() {
        _ if next(debate) == Step::Done => None,
        Some(cue) if debate.was_asked(*cue) => {
            reply_event(debate, *cue, valid_reply(debate, *cue)).ok()
        }
        _ => ask_due_cues(debate).or_else(|| next_event(debate, 1, &mut Rng(1))),
    }
}

/// Appends the next event of well-behaved players.
pub(super) async fn append_next_event(log: &mut dyn Log, debate: &mut Debate) -> Option<Event> {
    let event = valid_event(debate)?;
    log.append(std::slice::from_ref(&event)).await.unwrap();
    debate.apply(event.clone()).unwrap();
    Some(event)
}

/// Plays a debate to its end and returns its events.
async fn play_to_end(log: &mut dyn Log, debate: &mut Debate) -> Vec<Event> {
    let mut events = vec![];
    while let Some(event) = append_next_event(log, debate).await {
        events.push(event);
    }
    events
}
