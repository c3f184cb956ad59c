//! The debate engine: runs debates and offers the use cases that the CLI, MCP and web servers call.
//!
//! Entry points: [`App`] (use cases), [`session::Session`] (the event loop of one debate) and
//! [`ports`] (traits for providers, archive, repository and clock). The rules of a debate are in
//! `crate::debate`, which has no I/O.
//!
//! | file                 | content                                                               |
//! |----------------------|-----------------------------------------------------------------------|
//! | `app`                | `App`: open, resume, read and find debates; its errors                |
//! | `session`            | one running debate: redact, check, append, apply, publish, log lines  |
//! | `turn`               | one turn: build the request, fetch the reply, turn it into an event   |
//! | `reply_acceptance`   | accept a reply, reject it and ask once more, or fail the turn         |
//! | `reply_pipeline`     | sanitize a reply and check its citations before it is parsed          |
//! | `redaction_gate`     | redact everything that is stored, published or sent                   |
//! | `command`            | commands to a debate, and session errors                              |
//! | `run`                | handles to a running debate                                           |
//! | `updates`            | broadcast of live updates to subscribers                              |
//! | `ports`              | traits and types that other modules implement                         |
//! | `remote_commands`    | commands to a debate that another process runs, through a queue       |
//! | `draft`              | `DebateDraft`: what the user asks for, validated into a setup         |
//! | `format_catalog`     | the available formats with their prompt templates                     |
//! | `format_options`     | options of a format, parsed and applied to a draft                    |
//! | `topic_options`      | parser for options in plain words around a topic                      |
//! | `topic_sides`        | parser for topics that name their sides and models                    |
//! | `topic_suggestions`  | suggest topics from changed files                                     |
//! | `evidence_heuristic` | does a topic ask for something measurable?                            |
//! | `preflight`          | pin, brief (repository context), seating and probe requests           |
//! | `pairing`            | choose participants for open main seats                               |
//! | `seating`            | the full seating plan, with further roles and audience                |
//! | `casting`            | build the seats of a setup from a draft                               |
//! | `seat_transfer`      | give a seat to another participant                                    |
//! | `change_review`      | debates that review a change                                          |
//! | `recheck`            | changes to cited files since, and citations checked again             |
//! | `pinned_file`        | read a file of the pinned tree                                        |
//! | `text_check`         | check citations and redact texts outside of a debate                  |
//! | `discovery`          | list models, default judge, cost estimate                             |
//! | `price`              | token prices                                                          |
//! | `one_shot`           | a single request outside of any debate                                |
//! | `import`             | import debates from files                                             |
//! | `transcript`         | convert a transcript into events                                      |
//! | `recovery`           | import debates from state files                                       |
//! | `signals`            | wait for SIGTERM or Ctrl-C                                            |
pub mod app;
pub mod casting;
pub mod change_review;
pub mod command;
mod discovery;
pub mod draft;
pub mod evidence_heuristic;
pub mod format_catalog;
pub mod format_options;
pub mod import;
pub mod one_shot;
pub mod pairing;
pub mod pinned_file;
pub mod ports;
pub mod preflight;
pub mod price;
pub mod recheck;
pub mod recovery;
pub mod redaction_gate;
pub mod remote_commands;
mod reply_acceptance;
pub mod reply_pipeline;
pub mod run;
mod seat_transfer;
mod seating;
pub mod session;
pub mod signals;
pub mod text_check;
pub mod topic_options;
pub mod topic_sides;
pub mod topic_suggestions;
mod transcript;
mod turn;
pub mod updates;

pub use crate::debate::{BaseTree, invisible_chars};
pub use app::{App, AppError, AppParts};
pub use casting::{Listener, ResearchRole};
pub use command::{Command, CommandRequest, SessionError};
pub use discovery::{CostEstimate, UsageEstimate};
pub use draft::DebateDraft;
pub use format_catalog::{CatalogEntry, FormatCatalog, InvalidFormatFile};
pub use one_shot::{OneShotProvider, OneShotReply, OneShotRequest};
pub use ports::{
    Archive, ArchiveError, ArchiveHealth, BoxFuture, BriefReaders, BriefRequest, BriefSource,
    COMMAND_TTL_MS, ChangeSelector, ChangeSet, ChangeUnderReview, ChangesSince, ChangesSinceQuery,
    CitationContext, Clock, CommandResult, ContextError, DebateCard, DebateNews, DebateQuery,
    DuplicatePolicy, Evidence, FileChange, ForeignDebate, FoundStateFile, GatheredBrief, LeaseMode,
    LeaseSignal, LiveText, Log, LogError, OmittedFile, OpenedDebate, PinnedTree, ProviderInfo,
    ProviderReply, ProviderUnavailable, Providers, QueuedCommandId, RecordedEvent, ReindexReport,
    RelatedCommit, ReplyStream, SearchHit, SkipReason, SnapshotHandle, SnapshotProvider,
    StoredDebate, Transcript, TranscriptTurn, TurnRequest, Workspace,
};
pub use price::Price;
pub use redaction_gate::RedactionGate;
pub use remote_commands::CommandOutcome;
pub use reply_pipeline::SessionContext;
pub use run::{DebateRun, RunHandle};
pub use updates::{Update, UpdateBroadcaster};
