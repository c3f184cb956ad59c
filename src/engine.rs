//! The debate engine: runs debates and offers the use cases that the CLI, MCP and web servers call.
//!
//! Entry points: [`App`] (use cases), [`session::Session`] (the event loop of one debate) and
//! [`ports`] (traits for providers, archive, repository and clock). The rules of a debate are in
//! `crate::debate`, which has no I/O.
//!
//! | file                 | content                                                               |
//! |----------------------|-----------------------------------------------------------------------|
//! | `app`                | `App`: open, resume, read and find debates                            |
//! | `session`            | one running debate: redact, check, append, apply, publish             |
//! | `turn`               | one turn: build the request, fetch the reply, turn it into an event   |
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
//! | `preflight`          | pin, brief, seating and probe requests before a debate is created     |
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
pub mod cast;
pub mod catalogue;
pub mod command;
mod company;
pub mod dense;
pub mod desk;
pub mod gate;
mod handing;
pub mod inspection;
pub mod job;
pub mod lending;
pub mod live;
pub mod oneline;
pub mod opening;
pub mod pairing;
pub mod particulars;
pub mod ports;
pub mod preflight;
pub mod price;
pub mod recovery;
pub mod reviewing;
pub mod scrutiny;
pub mod session;
pub mod signals;
pub mod since;
pub mod source;
pub mod spoken;
mod survey;
pub mod taking_in;
pub mod topics;
mod transcript;
mod turn;
pub mod wishing;

pub use crate::debate::{BaseTree, invisible_chars};
pub use cast::{Listener, Stance};
pub use catalogue::{Broken, Catalogue, Offering};
pub use command::{Command, Error, Request};
pub use desk::{Desk, DeskError, Parts};
pub use gate::Gate;
pub use job::{Handle, Job};
pub use lending::{Errand, Lender, Lent};
pub use live::{Live, Update};
pub use opening::Opening;
pub use ports::{
    About, Answered, Archive, ArchiveError, Ask, BadContext, Before, Boxed, Briefs, Call, Card,
    Changed, Claim, Clock, Context, Contribution, Duplicates, Evidence, Foreign, Gathered, Health,
    Hit, Idle, Left, Listing, Live as LiveText, Log, LogError, Meant, News, Omitted, Opened,
    Pinned, Place, Proposal, Query, Readers, Recorded, Reindexed, Said, Since, Snapshot, Snapshots,
    Stored, Stream, Touching, Transcript, TranscriptTurn, Unplayable, Voices, WISH_KEEPS, WishId,
};
pub use price::Price;
pub use scrutiny::Outside;
pub use survey::{Estimated, Figures};
pub use wishing::Wished;
