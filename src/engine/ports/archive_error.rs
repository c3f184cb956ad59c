//! [`ArchiveError`]: the errors of the archive's ports.

/// Errors of the archive.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    #[error("there is no debate `{0}`")]
    UnknownDebate(String),
    #[error("`{0}` matches {1} debates")]
    AmbiguousId(String, usize),
    #[error("there is a debate `{0}` already")]
    IdTaken(String),
    #[error("debate `{id}` is being run by {holder}")]
    LeaseHeld { id: String, holder: String },
    #[error("debate `{id}` is already about the same change or game")]
    Duplicate { id: String },
    #[error("this file cannot be read as a debate: {0}")]
    UnreadableFile(String),
    #[error("the archive was written by a newer version of this program (schema {0})")]
    SchemaTooNew(i64),
    #[error("the archive failed: {0}")]
    Storage(String),
}
