//! [`ArchivePorts`]: the ports of the archive together. A store on another machine can implement
//! those for logs, queries, maintenance, commands and rooms, while files and key stay local.
use super::archive_error::ArchiveError;
use super::archive_maintenance::{ArchiveMaintenance, ReindexReport};
use super::command_queue::CommandQueue;
use super::debate_files::DebateFiles;
use super::debate_queries::DebateQueries;
use super::event_store::EventStore;
use super::room_store::RoomStore;
use super::user_key::UserKey;
use std::sync::Arc;

/// The archive: one implementation for each of its concerns.
#[derive(Clone)]
pub struct ArchivePorts {
    pub events: Arc<dyn EventStore>,
    pub queries: Arc<dyn DebateQueries>,
    pub maintenance: Arc<dyn ArchiveMaintenance>,
    pub commands: Arc<dyn CommandQueue>,
    pub rooms: Arc<dyn RoomStore>,
    pub files: Arc<dyn DebateFiles>,
    pub key: Arc<dyn UserKey>,
}

impl ArchivePorts {
    /// Rebuilds everything derived from the event logs, and exports every debate again.
    pub async fn reindex(&self) -> Result<ReindexReport, ArchiveError> {
        let report = self.maintenance.reindex().await?;
        for id in &report.ids {
            self.files.schedule_export(id);
        }
        Ok(report)
    }
}
