//! The port for commands to a debate that another process runs.
use super::BoxFuture;
use super::archive_error::ArchiveError;
use crate::engine::command::Command;

/// Queue of commands between processes.
pub trait CommandQueue: Send + Sync {
    /// Queues commands for the process that holds a debate's lease, which polls the queue. They
    /// expire after [`COMMAND_TTL_MS`], even if the sender is gone.
    fn enqueue<'a>(
        &'a self,
        id: &'a str,
        commands: &'a [Command],
    ) -> BoxFuture<'a, Result<QueuedCommandId, ArchiveError>>;
    /// Result of queued commands, once the holder has written it. It is read once and then deleted.
    fn take_result(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>>;
    /// Withdraws queued commands so that they never run. Returns their result if it is too late.
    fn withdraw(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>>;
}

/// Id of a batch of queued commands. Opaque and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueuedCommandId(pub i64);

/// Result of queued commands: all were recorded, or the error message.
pub type CommandResult = Result<(), String>;

/// How long a queued command stays valid, in milliseconds.
pub const COMMAND_TTL_MS: i64 = 10_000;
