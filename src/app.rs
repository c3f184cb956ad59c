//! [`App`]: the use cases that the CLI, the MCP server and the web server call.
//!
//! One file per use case, each a request struct in and a typed result out. Front ends parse what
//! the user typed into a request and render the result; they decide nothing.
//!
//! | file                 | content                                                              |
//! |----------------------|----------------------------------------------------------------------|
//! | `start`              | start a debate: `App::start(StartRequest) -> Started`                |
//! | `review`             | review a change: `App::review(ReviewRequest) -> ReviewStarted`       |
//! | `resume`             | take the lease of a debate, record commands, go on                   |
//! | `list`, `read`       | list, search, find and read debates                                  |
//! | `outcome`            | record a decision, and whether a verdict was right                   |
//! | `import`, `recovery` | import debates from files, and from the state files of a repository  |
//! | `recheck`            | changes to cited files since, and citations checked again            |
//! | `remote_commands`    | commands to a debate that another process runs                       |
//! | `seat_transfer`      | give a seat to another participant                                   |
//! | `discovery`          | list models, default judge, suggested topics, cost estimate          |
//! | `text_check`, `pinned_file`, `one_shot` | check a text, read a pinned file, ask a model once |
//! | steps of a start:    |                                                                      |
//! | `request`            | `StartRequest`, and how front ends differ (`StartPolicy`)            |
//! | `plan`               | validates options against the format, fills in defaults              |
//! | `topic_options`, `topic_sides`, `topic_suggestions`, `evidence_heuristic` | parse a topic   |
//! | `preflight`          | pin, brief and seats, before anything is stored                      |
//! | `pairing`, `seating` | choose participants for open seats                                   |
//! | `probe`, `probe_cache` | test prompt to each model                                          |
//! | `spec`, `cast`, `draft` | what is debated, by whom, and both with context: builds the setup |
//! | `casting`            | seats of the setup, from the cast                                    |
//! | `create`             | stores a debate and runs its session                                 |
//! | `checks`             | checks of participants and rounds                                    |
//! | `change_review`, `change_selector` | topic, key and earlier reviews of a change             |
//! | `transcript`, `unsigned_file` | parts of an import                                          |
//! | `error`              | `AppError`                                                           |
pub mod cast;
mod casting;
mod change_review;
mod change_selector;
mod checks;
mod create;
mod discovery;
pub mod draft;
pub mod error;
mod evidence_heuristic;
pub mod import;
pub mod list;
pub mod one_shot;
pub mod outcome;
pub mod pairing;
pub mod pinned_file;
pub mod plan;
pub mod preflight;
pub mod probe;
mod probe_cache;
mod read;
pub mod recheck;
pub mod recovery;
pub mod remote_commands;
pub mod request;
pub mod resume;
pub mod review;
mod seat_transfer;
pub mod seating;
pub mod spec;
pub mod start;
pub mod text_check;
pub mod topic_options;
pub mod topic_sides;
pub mod topic_suggestions;
mod transcript;
pub mod unsigned_file;

pub use cast::{Cast, Listener, ResearchRole};
pub use casting::default_roles;
pub use change_review::summarize_change;
pub use discovery::{CostEstimate, UsageEstimate};
pub use draft::DebateDraft;
pub use error::AppError;
pub use one_shot::{OneShotProvider, OneShotReply, OneShotRequest};
pub use remote_commands::CommandOutcome;
pub use request::{
    FixedSeating, Seating, StartDefaults, StartPolicy, StartProgress, StartRequest, StartStage,
};
pub use review::{ReviewRequest, ReviewStarted, ReviewState};
pub use spec::{DebateContext, DebateSpec};
pub use start::{StartReport, Started};

use crate::engine::format_catalog::{CatalogEntry, FormatCatalog};
use crate::engine::ports::{ArchivePorts, BriefSource, Clock, Evidence, Providers};
use crate::redact::Secrets;
use probe_cache::ProbeCache;
use std::sync::{Arc, Mutex, PoisonError};

/// The application: all ports and the use cases on them. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub(crate) archive: ArchivePorts,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) briefs: Arc<dyn BriefSource>,
    pub(crate) evidence: Arc<dyn Evidence>,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) catalog: Arc<FormatCatalog>,
    pub(crate) defaults: Arc<StartDefaults>,
    probe_cache: Arc<ProbeCache>,
    /// Name of the client this process works for.
    client_name: Arc<Mutex<String>>,
}

/// The implementations an [`App`] is built from.
pub struct AppParts {
    pub archive: ArchivePorts,
    pub providers: Arc<dyn Providers>,
    pub briefs: Arc<dyn BriefSource>,
    pub evidence: Arc<dyn Evidence>,
    /// Known secrets, which are redacted from everything stored or sent.
    pub secrets: Secrets,
    pub clock: Arc<dyn Clock>,
    pub catalog: FormatCatalog,
    /// The user's defaults for new debates.
    pub defaults: StartDefaults,
}

impl App {
    /// Builds the application from its parts.
    pub fn new(parts: AppParts) -> App {
        let AppParts { archive, providers, briefs, evidence, secrets, clock, catalog, defaults } =
            parts;
        App {
            archive,
            providers,
            briefs,
            evidence,
            secrets,
            clock,
            catalog: Arc::new(catalog),
            defaults: Arc::new(defaults),
            probe_cache: Arc::default(),
            client_name: Arc::default(),
        }
    }

    /// Sets the client's name. Other processes see it as the lease holder, and the record names it
    /// in changes made by the user.
    pub fn set_client_name(&self, name: &str) {
        self.archive.events.set_holder_name(name);
        name.clone_into(&mut self.client_name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Name of the client this process works for.
    pub(crate) fn client_name(&self) -> String {
        let name = self.client_name.lock().unwrap_or_else(PoisonError::into_inner);
        if name.is_empty() { "a program".into() } else { name.clone() }
    }

    /// Current time in milliseconds since the Unix epoch.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The ports of the archive.
    pub fn archive(&self) -> &ArchivePorts {
        &self.archive
    }

    /// Redacts the secrets of a text.
    pub fn redact(&self, text: &str) -> String {
        self.secrets.redactor("").redact(text).text.into_owned()
    }

    /// The usable formats.
    pub fn formats(&self) -> &[CatalogEntry] {
        &self.catalog.entries
    }

    /// Finds a format by name. The error lists the known names.
    pub fn find_format(&self, name: &str) -> Result<&CatalogEntry, AppError> {
        Ok(self.catalog.find(name)?)
    }

    /// The format catalog, with the invalid format files.
    pub fn catalog(&self) -> &FormatCatalog {
        &self.catalog
    }
}
