//! The port that stores arena rooms.
use super::BoxFuture;
use super::archive_error::ArchiveError;

/// Storage of arena rooms, which the arena serializes itself.
pub trait RoomStore: Send + Sync {
    /// Every room as it was last saved, the oldest first.
    fn list_rooms(&self) -> BoxFuture<'_, Result<Vec<String>, ArchiveError>>;
    /// Inserts or replaces a room.
    fn save_room<'a>(
        &'a self,
        id: &'a str,
        body: &'a str,
    ) -> BoxFuture<'a, Result<(), ArchiveError>>;
}
