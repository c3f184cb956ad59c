//! The log port: appends events to one debate ([`Log`]), and what other processes tell its writer.
use super::BoxFuture;
use super::command_queue::QueuedCommandId;
use crate::debate::Event;
use crate::engine::command::Command;
use crate::engine::redaction_gate::RedactionError;

/// The append-only event log of one debate. It exists only while this process holds the debate's
/// lease, so there is a single writer.
pub trait Log: Send {
    /// Appends events in one transaction and returns the sequence number of the last. They are
    /// durable when it returns. If the future is dropped, they may be written or not.
    fn append<'a>(&'a mut self, events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>>;

    /// Waits for the next signal from other processes: the lease was lost, or commands were queued.
    /// A session that waits minutes for a turn listens to it all the time. Cancel-safe: dropping
    /// the future loses no signal.
    fn next_signal(&self) -> BoxFuture<'static, LeaseSignal> {
        Box::pin(std::future::pending())
    }

    /// As [`Log::append`], and marks a queued command as done in the same transaction, so that it
    /// runs at most once. Returns `None` and writes nothing if the command was withdrawn.
    fn append_for_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        events: &'a [Event],
    ) -> BoxFuture<'a, Result<Option<u64>, LogError>> {
        let _ = command_id;
        Box::pin(async move { self.append(events).await.map(Some) })
    }

    /// Marks a queued command as refused, with the error message.
    fn refuse_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        let _ = (command_id, message);
        Box::pin(async {})
    }
}

/// A signal from other processes to the lease holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseSignal {
    /// Another process has taken over the lease.
    Lost {
        /// Name of the new holder.
        new_holder: String,
    },
    /// Another process has queued commands, to be recorded all together or not at all.
    Commands {
        /// Id under which the result is stored.
        id: QueuedCommandId,
        commands: Vec<Command>,
    },
}

/// Error when events could not be written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The lease expired, or another process took it over.
    #[error("{by} has taken this debate over")]
    LeaseLost {
        /// Name of the new holder.
        by: String,
    },
    /// The sender withdrew the queued command before it ran.
    #[error("the command was withdrawn before it was executed")]
    CommandWithdrawn,
    /// Storage or serialization failed.
    #[error("cannot write to the archive: {0}")]
    WriteFailed(String),
}

impl From<RedactionError> for LogError {
    fn from(error: RedactionError) -> LogError {
        LogError::WriteFailed(error.to_string())
    }
}
