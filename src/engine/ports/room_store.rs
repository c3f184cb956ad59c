//! The port that stores arena rooms.
use super::archive_error::ArchiveError;

/// Storage of arena rooms, which the arena serializes itself.
pub trait RoomStore: Send + Sync {
    /// Every room as it was last saved, the oldest first.
    fn list_rooms(&self) -> Result<Vec<String>, ArchiveError>;
    /// Inserts or replaces a room.
    fn save_room(&self, id: &str, body: &str) -> Result<(), ArchiveError>;
}
