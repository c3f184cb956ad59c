//! The maintenance port: checks the archive, and rebuilds what is derived from the event logs.
use super::BoxFuture;
use super::archive_error::ArchiveError;
use schemars::JsonSchema;
use serde::Serialize;

/// Integrity check, and rebuild of the projections.
pub trait ArchiveMaintenance: Send + Sync {
    /// Rebuilds every derived table and index from the event logs.
    fn reindex(&self) -> BoxFuture<'_, Result<ReindexReport, ArchiveError>>;
    /// Checks the integrity of the archive.
    fn health(&self) -> BoxFuture<'_, Result<ArchiveHealth, ArchiveError>>;
}

/// Result of rebuilding the index.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reindexed")]
pub struct ReindexReport {
    /// Number of debates read.
    pub debates: usize,
    /// Number of events read.
    pub events: usize,
    /// Number of turns written to the tables.
    pub messages: usize,
    /// Debates with an invalid log, and the error of each.
    pub flawed: Vec<String>,
    /// Ids of the debates, the last updated one last, for exporting them again.
    #[serde(skip)]
    pub ids: Vec<String>,
}

/// Result of the integrity check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub struct ArchiveHealth {
    /// Path of the database.
    pub path: String,
    /// Schema version.
    pub version: i64,
    /// Number of debates.
    pub debates: usize,
    /// Problems found.
    pub problems: Vec<String>,
}
