//! [`App`]: the use cases that the CLI, the MCP server and the web server call.
//!
//! Here are opening, resuming, reading and finding debates. The other files add methods to `App`:
//! preflight, reviews, import, recovery, remote commands.
pub mod casting;
pub mod change_review;
mod discovery;
pub mod draft;
mod error;
pub mod evidence_heuristic;
pub mod format_options;
pub mod import;
pub mod one_shot;
pub mod pairing;
pub mod pinned_file;
pub mod preflight;
pub mod recheck;
pub mod recovery;
pub mod remote_commands;
mod seat_transfer;
mod seating;
pub mod text_check;
pub mod topic_options;
pub mod topic_sides;
pub mod topic_suggestions;
mod transcript;

pub use casting::{Listener, ResearchRole};
pub use discovery::{CostEstimate, UsageEstimate};
pub use draft::DebateDraft;
pub use error::AppError;
pub use one_shot::{OneShotProvider, OneShotReply, OneShotRequest};
pub use remote_commands::CommandOutcome;

use crate::debate::{Debate, Event, LogFlaw, Participant, Role, Seat, next};
use crate::engine::SessionError;
use crate::engine::command::Command;
use crate::engine::format_catalog::{CatalogEntry, FormatCatalog};
use crate::engine::ports::{
    ArchiveError, ArchivePorts, BriefSource, Clock, DebateQuery, DuplicatePolicy, Evidence,
    LeaseMode, Log, Providers, RecordedEvent, StoredDebate, Workspace,
};
use crate::engine::redaction_gate::RedactionGate;
use crate::engine::reply_pipeline::SessionContext;
use crate::engine::run::{DebateRun, RunHandle};
use crate::engine::session::Session;
use crate::engine::turn::PromptsByCue;
use crate::engine::updates::{Update, UpdateBroadcaster};
use crate::redact::Secrets;
use preflight::ProbeCache;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, mpsc};

/// Batches of commands that can wait for one session. More senders wait.
const COMMAND_CHANNEL_CAPACITY: usize = 16;
/// Random bytes of a debate's salt.
const SALT_BYTES: usize = 16;
/// Random bytes in a debate's id, which separate debates opened in the same millisecond.
const ID_BYTES: usize = 2;

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
    pub(in crate::app) probe_cache: Arc<ProbeCache>,
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
}

impl App {
    /// Builds the application from its parts.
    pub fn new(parts: AppParts) -> App {
        let AppParts { archive, providers, briefs, evidence, secrets, clock, catalog } = parts;
        App {
            archive,
            providers,
            briefs,
            evidence,
            secrets,
            clock,
            catalog: Arc::new(catalog),
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

    /// Checks a draft, creates the debate and starts running it.
    pub async fn open(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
    ) -> Result<DebateRun, AppError> {
        let setup = draft.build_setup(&self.catalog, String::new(), String::new(), 0)?;
        setup.validate()?;
        self.check_seats(&setup.seats)?;
        Box::pin(self.create_and_run(draft, workspace)).await
    }

    /// As [`App::open`] for bots that joined an arena room. Providers are not checked: if no judge
    /// is available, the record says so, and the bots are not sent away.
    pub async fn open_for_bots(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
    ) -> Result<DebateRun, AppError> {
        draft.build_setup(&self.catalog, String::new(), String::new(), 0)?.validate()?;
        Box::pin(self.create_and_run(draft, workspace)).await
    }

    /// Checks that all these participants are available.
    pub fn check_available(&self, participants: &[&Participant]) -> Result<(), AppError> {
        Ok(participants
            .iter()
            .try_for_each(|participant| self.providers.check_available(participant))?)
    }

    async fn create_and_run(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
    ) -> Result<DebateRun, AppError> {
        let mut asked_prompts = PromptsByCue::new();
        let (debate, first_events, log) = self
            .create_debate(draft, workspace, |debate| {
                let (events, prompts) = Session::first_events(debate, self.clock.now());
                asked_prompts = prompts;
                events
            })
            .await?;
        let setup = debate.setup();
        tracing::info!(
            debate = %setup.id,
            format = %setup.format.name,
            rounds = setup.rounds,
            seats = setup.seats.len(),
            "debate opened"
        );
        let root = workspace.root.clone();
        self.spawn_run(PendingRun {
            debate,
            seq: 0,
            first_events,
            log,
            asked_prompts,
            commands: vec![],
            root,
        })
        .await
    }

    /// Creates the log of a new debate under a unique id, with its first events.
    pub(crate) async fn create_debate(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
        mut first_events: impl FnMut(&Debate) -> Vec<Event>,
    ) -> Result<CreatedDebate, AppError> {
        loop {
            let now = self.clock.now();
            let setup = draft.build_setup(&self.catalog, new_debate_id(now)?, new_salt()?, now)?;
            let gate = RedactionGate::for_debate(&self.secrets, &setup);
            let debate = Debate::open(gate.redact_value(setup).map_err(SessionError::from)?)?;
            let events = gate.redact_value(first_events(&debate)).map_err(SessionError::from)?;
            let recorded = RecordedEvent::number_events(0, &events, now);
            let duplicates = DuplicatePolicy::RefuseExcept(&draft.supersedes);
            match self.archive.events.create(debate.setup(), &recorded, workspace, duplicates).await
            {
                Ok(log) => return Ok((debate, events, log)),
                Err(ArchiveError::IdTaken(id)) => tracing::debug!(debate = %id, "id is taken"),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes the lease of a debate and continues it. The commands are executed before any request.
    pub async fn resume(
        &self,
        id: &str,
        workspace: &Workspace,
        lease_mode: LeaseMode,
        commands: Vec<Command>,
    ) -> Result<DebateRun, AppError> {
        let pending = self.open_for_writing(id, workspace, lease_mode, commands);
        let pending = Box::pin(pending).await?;
        tracing::info!(
            debate = %id,
            seq = pending.seq,
            lease = ?lease_mode,
            commands = pending.commands.len(),
            "debate resumed"
        );
        Box::pin(self.spawn_run(pending)).await
    }

    /// Takes the lease of a debate only to record these commands. Requests no turn.
    pub(crate) async fn record_commands(
        &self,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        let pending = self.open_for_writing(id, workspace, LeaseMode::IfFree, commands);
        let pending = Box::pin(pending).await?;
        Box::pin(self.prepare_run(pending)).await.map(drop)
    }

    async fn open_for_writing(
        &self,
        id: &str,
        workspace: &Workspace,
        lease_mode: LeaseMode,
        commands: Vec<Command>,
    ) -> Result<PendingRun, AppError> {
        let workspace = &home_workspace(&self.archive.events.read(id).await?, workspace);
        let opened = self.archive.events.open(id, workspace, lease_mode).await?;
        let seq = opened.stored.events.last().map_or(0, |recorded| recorded.seq);
        let (debate, flaw) = replay_stored(opened.stored)?;
        if let Some(LogFlaw { seq, message: why }) = flaw {
            tracing::debug!(debate = %id, seq, "log has an invalid event");
            return Err(AppError::CorruptLog { id: id.into(), seq, why });
        }
        let (first_events, asked_prompts, root) =
            (vec![], PromptsByCue::new(), workspace.root.clone());
        Ok(PendingRun { debate, seq, first_events, log: opened.log, asked_prompts, commands, root })
    }

    /// Reads a debate without its lease. The flaw says from which event on the log is invalid.
    pub async fn read(
        &self,
        id: &str,
    ) -> Result<(StoredDebate, Debate, Option<LogFlaw>), AppError> {
        let stored = self.archive.events.read(id).await?;
        let (debate, flaw) = replay_stored(stored.clone())?;
        Ok((stored, debate, flaw))
    }

    /// Resolves a full or abbreviated id, or finds the newest debate of a repository.
    pub async fn resolve_debate(
        &self,
        id: Option<&str>,
        unfinished: bool,
        root: &Path,
    ) -> Result<String, AppError> {
        if let Some(id) = id.filter(|id| *id != "last") {
            return Ok(self.archive.queries.resolve_id(id).await?);
        }
        let query_root = Some(root.to_owned());
        let query =
            DebateQuery { root: query_root, unfinished, limit: Some(1), ..DebateQuery::default() };
        let newest = self.archive.queries.list(&query).await?.into_iter().next();
        newest
            .map(|card| card.id)
            .ok_or_else(|| AppError::NoDebateHere { unfinished, root: root.display().to_string() })
    }

    /// Whether an awaited turn is past its deadline.
    pub fn is_overdue(&self, debate: &Debate) -> bool {
        let now = self.clock.now();
        next(debate).open_cues().any(|cue| {
            debate.seat(cue).voice.is_awaited() && debate.deadline(cue).is_some_and(|at| at <= now)
        })
    }

    /// Checks that the participants that may still be asked are available. In the final act these
    /// are only the seats that speak there.
    pub fn check_remaining_seats(&self, debate: &Debate, seats: &[Seat]) -> Result<(), AppError> {
        let setup = debate.setup();
        let final_act = setup.ending_act();
        let in_final_act = next(debate).first_cue().is_some_and(|cue| cue.act == final_act);
        let speaks_in_final_act = |seat: &Seat| {
            let phases = &setup.format.acts[usize::from(final_act)].phases;
            phases.iter().any(|phase| phase.speakers.roles().contains(&seat.role))
        };
        for seat in seats.iter().filter(|seat| !in_final_act || speaks_in_final_act(seat)) {
            self.providers.check_available(&seat.voice)?;
        }
        Ok(())
    }

    /// Validates a number of rounds against the format's range.
    pub fn check_rounds(&self, format: &str, rounds: u64) -> Result<u8, AppError> {
        let offer = &self.catalog.find(format)?.offer;
        let valid = u8::try_from(rounds).ok().filter(|rounds| offer.rounds.contains(rounds));
        let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
        valid.ok_or(AppError::RoundsOutOfRange { asked: rounds, least, most })
    }

    /// Checks that the two sides are not the same participant.
    pub(crate) fn check_sides_differ(&self, seats: &[Seat]) -> Result<(), AppError> {
        let side = |role: Role| seats.iter().find(|seat| seat.role == role);
        match (side(Role::Pro), side(Role::Con)) {
            (Some(pro), Some(con)) => {
                let conflict = self.providers.side_conflict(&pro.voice, &con.voice);
                conflict.map_or(Ok(()), |why| Err(AppError::SideConflict(why)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that these participants can sit together and are available.
    pub fn check_seats(&self, seats: &[Seat]) -> Result<(), AppError> {
        self.check_sides_differ(seats)?;
        for seat in seats {
            self.providers.check_available(&seat.voice)?;
        }
        Ok(())
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

    async fn spawn_run(&self, pending: PendingRun) -> Result<DebateRun, AppError> {
        let PreparedRun { mut session, handle, debate, seq, updates } =
            self.prepare_run(pending).await?;
        let idle = session.subscribe_idle();
        let providers = self.providers.clone();
        let id = debate.setup().id.clone();
        let task = tokio::spawn(async move {
            tracing::debug!(debate = %id, "session started");
            let result = session.run(&*providers).await;
            match &result {
                Ok(()) => tracing::debug!(debate = %id, "session ended"),
                Err(error) => tracing::info!(debate = %id, %error, "session stopped"),
            }
            result
        });
        Ok(DebateRun::new(handle, debate, seq, updates, idle, task))
    }

    /// Builds the session without running it: fails overdue turns and executes the commands.
    async fn prepare_run(&self, pending: PendingRun) -> Result<PreparedRun, AppError> {
        let PendingRun { debate, seq, first_events, log, asked_prompts, commands, root } = pending;
        let (sender, requests) = mpsc::channel(COMMAND_CHANNEL_CAPACITY);
        let broadcaster = UpdateBroadcaster::default();
        let id = debate.setup().id.clone();
        self.archive.events.publish_live_text(&id, broadcaster.subscribe());
        let updates = broadcaster.subscribe();
        let mut current = debate.clone();
        for (seq, event) in (seq + 1..).zip(first_events) {
            current.apply(event.clone()).map_err(SessionError::from)?;
            broadcaster.publish(Update::Fact { seq, event });
        }
        let (evidence, secrets) = (self.evidence.clone(), self.secrets.clone());
        let context = SessionContext { root, evidence, secrets };
        let clock = self.clock.clone();
        let mut session =
            Session::new(current, log, requests, broadcaster.clone(), clock, &context);
        session.set_asked_prompts(asked_prompts);
        // An overdue turn has failed, whatever the commands are.
        session.fail_overdue().await?;
        session.execute_all(commands, None).await?;
        Ok(PreparedRun {
            session,
            handle: RunHandle::new(sender, broadcaster),
            debate,
            seq,
            updates,
        })
    }
}

/// A new debate, its first events and its log.
pub(crate) type CreatedDebate = (Debate, Vec<Event>, Box<dyn Log>);

/// A debate to run, before its session exists.
struct PendingRun {
    /// State as read from the log, or as opened.
    debate: Debate,
    /// Sequence number of its last event.
    seq: u64,
    /// Events recorded after that.
    first_events: Vec<Event>,
    log: Box<dyn Log>,
    /// Prompts of the turns just recorded as asked.
    asked_prompts: PromptsByCue,
    commands: Vec<Command>,
    root: PathBuf,
}

/// A session that is ready to run.
struct PreparedRun {
    session: Session,
    handle: RunHandle,
    /// State at the time the lease was taken.
    debate: Debate,
    seq: u64,
    updates: broadcast::Receiver<Arc<Update>>,
}

/// The workspace a stored debate belongs to. A debate of another repository stays in that one,
/// because it is about its files and is listed there.
pub fn home_workspace(stored: &StoredDebate, workspace: &Workspace) -> Workspace {
    let state_files = &stored.state_files;
    let is_here =
        state_files.is_empty() || state_files.iter().any(|(_, root)| *root == workspace.root);
    let home_root =
        state_files.first().map(|(_, root)| root).filter(|root| !is_here && root.is_dir());
    Workspace {
        root: home_root.unwrap_or(&workspace.root).clone(),
        state_file: workspace.state_file.clone().filter(|_| is_here),
        write_record: workspace.write_record,
    }
}

/// Replays a stored log. The flaw says from which event on it is invalid.
fn replay_stored(stored: StoredDebate) -> Result<(Debate, Option<LogFlaw>), AppError> {
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    let (debate, flaw) = Debate::replay_lenient(stored.setup, events)?;
    let unreadable = stored.first_unreadable.map(|(seq, message)| LogFlaw { seq, message });
    Ok((debate, flaw.or(unreadable)))
}

/// New id: `debate-{ISO time}-{four hex digits}`.
pub(crate) fn new_debate_id(now: i64) -> Result<String, AppError> {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(format!("debate-{time:.3}-{}", random_hex(ID_BYTES)?))
}

fn new_salt() -> Result<String, AppError> {
    random_hex(SALT_BYTES)
}

/// Random bytes as hex digits.
fn random_hex(bytes: usize) -> Result<String, AppError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| AppError::NoRandomness(error.to_string()))?;
    let digits = u128::from_be_bytes(random) >> (8 * (16 - bytes.min(16)));
    Ok(format!("{digits:0width$x}", width = 2 * bytes))
}
