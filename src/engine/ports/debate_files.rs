//! The port for files: debates are exported to files for people and other programs, and read back
//! from them.
use super::archive_error::ArchiveError;
use super::event_store::RecordedEvent;
use crate::debate::{Setup, Side};
use std::path::{Path, PathBuf};

/// Exported files of debates on this machine: state files, Markdown records and final reports.
pub trait DebateFiles: Send + Sync {
    /// Writes a debate's exports from its log, soon and in the background.
    fn schedule_export(&self, id: &str);
    /// Blocks until all scheduled exports are written.
    fn flush_exports(&self);
    /// Reads and parses those of these state files of a repository that exist. A symlink or other
    /// path that leads out of the repository is an error.
    fn read_state_files(&self, root: &Path, files: &[PathBuf]) -> Vec<FoundStateFile>;
    /// Parses a file from outside and verifies its signature with the user's key, which decides how
    /// far it is trusted.
    fn parse_foreign(&self, text: &str) -> Result<ForeignDebate, ArchiveError>;
}

/// A state file that was found, and its parsed content.
#[derive(Debug)]
pub struct FoundStateFile {
    pub path: PathBuf,
    pub content: Result<ForeignDebate, ArchiveError>,
}

/// The parsed content of a file from outside.
#[derive(Clone, Debug)]
pub enum ForeignDebate {
    /// An event log signed with this user's key. It is trusted and imported as it is.
    OwnLog(Box<Setup>, Vec<RecordedEvent>),
    /// Anything else. Only the text of its turns is used.
    Transcript(Transcript),
}

/// The turns of a debate from another program or user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Id it had there.
    pub id: Option<String>,
    pub topic: String,
    /// Planned number of rounds.
    pub rounds: Option<u8>,
    /// Whether it is a dialogue of a lead and a partner, without a winner.
    pub is_dialogue: bool,
    pub turns: Vec<TranscriptTurn>,
}

/// One turn of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptTurn {
    /// Round number, from 1.
    pub round: u8,
    pub side: Side,
    /// Tool that spoke, according to the file.
    pub tool: String,
    pub text: String,
    /// Duration according to the file.
    pub duration_ms: u64,
}
