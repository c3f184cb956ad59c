//! The debate engine: runs debates. The use cases on top of it are in `crate::app`, the rules of a
//! debate in `crate::debate`, which has no I/O.
//!
//! Entry points: [`session::Session`] (the event loop of one debate) and [`ports`] (traits for
//! providers, archive, repository and clock).
//!
//! | file                 | content                                                               |
//! |----------------------|-----------------------------------------------------------------------|
//! | `session`            | one running debate: redact, check, append, apply, publish, log lines  |
//! | `turn`               | one turn: build the request, fetch the reply, turn it into an event   |
//! | `reply_acceptance`   | accept a reply, reject it and ask once more, or fail the turn         |
//! | `reply_pipeline`     | sanitize a reply and check its citations before it is parsed          |
//! | `redaction_gate`     | redact everything that is stored, published or sent                   |
//! | `command`            | commands to a debate                                                  |
//! | `session_error`      | errors of commands and of the session                                 |
//! | `run`                | handles to a running debate, and requests to it                       |
//! | `updates`            | broadcast of live updates to subscribers                              |
//! | `exporting_store`    | event store that exports each debate after every append               |
//! | `ports`              | traits and types that other modules implement                         |
//! | `format_catalog`     | the available formats with their prompt templates                     |
//! | `price`              | token prices                                                          |
//! | `signals`            | wait for SIGTERM or Ctrl-C                                            |
pub mod command;
mod exporting_store;
pub mod format_catalog;
pub mod ports;
pub mod price;
pub mod redaction_gate;
mod reply_acceptance;
pub mod reply_pipeline;
pub mod run;
pub mod session;
mod session_error;
pub mod signals;
pub(crate) mod turn;
pub mod updates;

pub use crate::debate::{BaseTree, invisible_chars};
pub use command::Command;
pub use exporting_store::ExportingStore;
pub use format_catalog::{CatalogEntry, FormatCatalog, FormatError, InvalidFormatFile};
pub use ports::{
    ArchiveError, ArchiveHealth, ArchiveMaintenance, ArchivePorts, BoxFuture, BriefReaders,
    BriefRequest, BriefSource, COMMAND_TTL_MS, ChangeSelector, ChangeSet, ChangeUnderReview,
    ChangesSince, ChangesSinceQuery, CitationContext, Clock, CommandQueue, CommandResult,
    ContextError, DebateCard, DebateFiles, DebateNews, DebateQueries, DebateQuery, DuplicatePolicy,
    EventStore, Evidence, FileChange, ForeignDebate, FoundStateFile, GatheredBrief, LeaseMode,
    LeaseSignal, LiveText, Log, LogError, OmittedFile, OpenedDebate, PinnedTree, ProviderInfo,
    ProviderReply, ProviderUnavailable, Providers, QueuedCommandId, RecordedEvent, ReindexReport,
    RelatedCommit, ReplyStream, RoomStore, SearchHit, SkipReason, SnapshotHandle, SnapshotProvider,
    StoredDebate, Transcript, TranscriptTurn, TurnRequest, UserKey, Workspace,
};
pub use price::Price;
pub use redaction_gate::{RedactionError, RedactionGate};
pub use reply_pipeline::SessionContext;
pub use run::{CommandRequest, DebateRun, RunHandle};
pub use session_error::SessionError;
pub use updates::{Update, UpdateBroadcaster};
