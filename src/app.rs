//! [`App`]: the use cases that the CLI, the MCP server and the web server call.
//!
//! Here are opening, resuming, reading and finding debates. The other files add methods to `App`:
//! preflight, reviews, import, recovery, remote commands.
pub mod cast;
mod casting;
mod change_review;
mod change_selector;
mod checks;
mod create;
mod discovery;
pub mod draft;
mod error;
mod evidence_heuristic;
pub mod import;
pub mod one_shot;
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
