//! [`App`]: the use cases that the CLI, the MCP server and the web server call.
//!
//! Here are opening, resuming, reading and finding debates. Other files of `engine` add methods to
//! `App`: preflight, reviews, import, recovery, remote commands.
use super::command::{Command, SessionError};
use super::draft::DebateDraft;
use super::format_catalog::{CatalogEntry, FormatCatalog};
use super::pairing::VacantSeat;
use super::ports::{
    Archive, ArchiveError, BriefSource, Clock, ContextError, DebateQuery, DuplicatePolicy,
    Evidence, LeaseMode, Log, ProviderUnavailable, Providers, RecordedEvent, StoredDebate,
    Workspace,
};
use super::preflight::ProbeCache;
use super::recovery::UnsignedFile;
use super::redaction_gate::RedactionGate;
use super::reply_pipeline::SessionContext;
use super::run::{DebateRun, RunHandle};
use super::session::Session;
use super::turn::PromptsByCue;
use super::updates::{Update, UpdateBroadcaster};
use crate::debate::{
    Debate, Event, FailureKind, LogFlaw, Participant, Role, Seat, SetupError, TurnFailure, next,
};
use crate::redact::Secrets;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, mpsc};

/// The application: all ports and the use cases on them. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub(super) archive: Arc<dyn Archive>,
    pub(super) providers: Arc<dyn Providers>,
    pub(super) briefs: Arc<dyn BriefSource>,
    pub(super) evidence: Arc<dyn Evidence>,
    pub(super) secrets: Secrets,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) catalog: Arc<FormatCatalog>,
    pub(super) probe_cache: Arc<ProbeCache>,
    /// Name of the client this process works for.
    client_name: Arc<Mutex<String>>,
}

/// The implementations an [`App`] is built from.
pub struct AppParts {
    pub archive: Arc<dyn Archive>,
    pub providers: Arc<dyn Providers>,
    pub briefs: Arc<dyn BriefSource>,
    pub evidence: Arc<dyn Evidence>,
    /// Known secrets, which are redacted from everything stored or sent.
    pub secrets: Secrets,
    pub clock: Arc<dyn Clock>,
    pub catalog: FormatCatalog,
}

/// Errors of the use cases.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AppError {
    #[error("unknown format `{name}`; known: {known}")]
    UnknownFormat { name: String, known: String },
    #[error("the format `{name}` in `{file}`: {why}")]
    InvalidFormat { name: String, file: String, why: String },
    #[error("`{voice}` would judge a debate in which it argues as {name}")]
    BiasedJudge { voice: String, name: String },
    #[error("{0}")]
    InvalidOption(String),
    #[error("{asked} rounds were asked for; this format has {least} to {most}")]
    RoundsOutOfRange { asked: u64, least: u8, most: u8 },
    #[error("{0}")]
    SideConflict(String),
    #[error(transparent)]
    ProviderUnavailable(#[from] ProviderUnavailable),
    #[error(transparent)]
    VacantSeat(#[from] VacantSeat),
    #[error("{0}: {1}")]
    NoCandidateLeft(VacantSeat, String),
    #[error("your configuration: {0}")]
    InvalidConfig(String),
    #[error("`{voice}` does not answer ({}): {}", failure.trouble.as_str(), failure.note)]
    ProbeFailed { voice: String, failure: Box<TurnFailure>, alternatives: Vec<String> },
    #[error(transparent)]
    InvalidSetup(#[from] SetupError),
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("there is no {}debate in `{root}`", if *unfinished { "unfinished " } else { "" })]
    NoDebateHere { unfinished: bool, root: String },
    #[error("there is no debate of yours here; `{}` holds one you have not signed: \"{}\", {} turns, said to be by {}", .0.path.display(), .0.topic(), .0.transcript.turns.len(), .0.speakers())]
    OnlyUnsignedFile(Box<UnsignedFile>),
    #[error("there is no seat `{name}`")]
    UnknownSeat { name: String, names: String },
    #[error("debate `{id}` can be read but not continued: event {seq} of its log {why}")]
    CorruptLog { id: String, seq: u64, why: String },
    #[error("the log in this file is not one this program could have written: {0}")]
    InvalidImportedLog(String),
    #[error("{0}")]
    CommandRefused(String),
    #[error("{holder} plays this debate and has not answered; the wish was withdrawn")]
    CommandTimedOut { holder: String },
    #[error("no random numbers: {0}")]
    NoRandomness(String),
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl AppError {
    /// Whether the cause is that no provider is available or logged in.
    pub fn is_provider_missing(&self) -> bool {
        let login = |failure: &TurnFailure| {
            matches!(failure.trouble, FailureKind::NotFound | FailureKind::NotLoggedIn)
        };
        match self {
            AppError::VacantSeat(_)
            | AppError::NoCandidateLeft(..)
            | AppError::ProviderUnavailable(_) => true,
            AppError::ProbeFailed { failure, .. } => login(failure),
            _ => false,
        }
    }
}

impl App {
    /// Builds the application from its parts.
    pub fn new(parts: AppParts) -> App {
        let AppParts { archive, providers, briefs, evidence, secrets, clock, catalog: catalogue } =
            parts;
        let (catalog, probe_cache, client_name) =
            (Arc::new(catalogue), Arc::default(), Arc::default());
        App {
            archive,
            providers,
            briefs,
            evidence,
            secrets,
            clock,
            catalog,
            probe_cache,
            client_name,
        }
    }

    /// Sets the client's name. Other processes see it as the lease holder, and the record names it
    /// in changes made by the user.
    pub fn set_client_name(&self, who: &str) {
        self.archive.set_holder_name(who);
        who.clone_into(&mut self.client_name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Name of the client this process works for.
    pub(super) fn client_name(&self) -> String {
        let who = self.client_name.lock().unwrap_or_else(PoisonError::into_inner);
        if who.is_empty() { "a program".into() } else { who.clone() }
    }

    /// Current time in milliseconds since the Unix epoch.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The archive, for reading.
    pub fn archive(&self) -> &dyn Archive {
        &*self.archive
    }

    /// Checks a draft, creates the debate and starts running it.
    pub fn open(&self, opening: &DebateDraft, place: &Workspace) -> Result<DebateRun, AppError> {
        let setup = opening.build_setup(&self.catalog, String::new(), String::new(), 0)?;
        setup.validate()?;
        self.check_seats(&setup.seats)?;
        self.create_and_run(opening, place)
    }

    /// As [`App::open`] for bots that joined an arena room. Providers are not checked: if no judge
    /// is available, the record says so, and the bots are not sent away.
    pub fn open_for_bots(
        &self,
        opening: &DebateDraft,
        place: &Workspace,
    ) -> Result<DebateRun, AppError> {
        opening.build_setup(&self.catalog, String::new(), String::new(), 0)?.validate()?;
        self.create_and_run(opening, place)
    }

    /// Checks that all these participants are available.
    pub fn check_available(&self, voices: &[&Participant]) -> Result<(), AppError> {
        Ok(voices.iter().try_for_each(|voice| self.providers.check_available(voice))?)
    }

    fn create_and_run(
        &self,
        opening: &DebateDraft,
        place: &Workspace,
    ) -> Result<DebateRun, AppError> {
        let mut fresh = PromptsByCue::new();
        let (debate, first, log) = self.create_debate(opening, place, |debate| {
            let (events, told) = Session::first_events(debate, self.clock.now());
            fresh = told;
            events
        })?;
        let root = place.root.clone();
        self.spawn_run(PendingRun {
            debate,
            seq: 0,
            first_events: first,
            log,
            asked_prompts: fresh,
            commands: vec![],
            root,
        })
    }

    /// Creates the log of a new debate under a unique id, with its first events.
    pub(super) fn create_debate(
        &self,
        opening: &DebateDraft,
        place: &Workspace,
        mut first: impl FnMut(&Debate) -> Vec<Event>,
    ) -> Result<CreatedDebate, AppError> {
        loop {
            let now = self.clock.now();
            let setup =
                opening.build_setup(&self.catalog, new_debate_id(now)?, random_hex(16)?, now)?;
            let gate = RedactionGate::for_debate(&self.secrets, &setup);
            let debate = Debate::open(gate.redact_value(setup).map_err(SessionError::from)?)?;
            let events = gate.redact_value(first(&debate)).map_err(SessionError::from)?;
            let recorded = RecordedEvent::number_events(0, &events, now);
            let duplicates = DuplicatePolicy::RefuseExcept(&opening.supersedes);
            match self.archive.create(debate.setup(), &recorded, place, duplicates) {
                Ok(log) => return Ok((debate, events, log)),
                Err(ArchiveError::IdTaken(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes the lease of a debate and continues it. The commands are executed before any request.
    pub fn resume(
        &self,
        id: &str,
        place: &Workspace,
        claim: LeaseMode,
        wishes: Vec<Command>,
    ) -> Result<DebateRun, AppError> {
        self.spawn_run(self.open_for_writing(id, place, claim, wishes)?)
    }

    /// Takes the lease of a debate only to record these commands. Requests no turn.
    pub(super) fn record_commands(
        &self,
        id: &str,
        place: &Workspace,
        wishes: Vec<Command>,
    ) -> Result<(), AppError> {
        self.prepare_run(self.open_for_writing(id, place, LeaseMode::IfFree, wishes)?).map(drop)
    }

    fn open_for_writing(
        &self,
        id: &str,
        place: &Workspace,
        claim: LeaseMode,
        wishes: Vec<Command>,
    ) -> Result<PendingRun, AppError> {
        let place = &home_workspace(&self.archive.read(id)?, place);
        let opened = self.archive.open(id, place, claim)?;
        let seq = opened.stored.events.last().map_or(0, |recorded| recorded.seq);
        let (debate, flaw) = replay_stored(opened.stored)?;
        if let Some(LogFlaw { seq, message: why }) = flaw {
            return Err(AppError::CorruptLog { id: id.into(), seq, why });
        }
        let (first, fresh, root) = (vec![], PromptsByCue::new(), place.root.clone());
        Ok(PendingRun {
            debate,
            seq,
            first_events: first,
            log: opened.log,
            asked_prompts: fresh,
            commands: wishes,
            root,
        })
    }

    /// Reads a debate without its lease. The flaw says from which event on the log is invalid.
    pub fn read(&self, id: &str) -> Result<(StoredDebate, Debate, Option<LogFlaw>), AppError> {
        let stored = self.archive.read(id)?;
        let (debate, flaw) = replay_stored(stored.clone())?;
        Ok((stored, debate, flaw))
    }

    /// Resolves a full or abbreviated id, or finds the newest debate of a repository.
    pub fn resolve_debate(
        &self,
        id: Option<&str>,
        unfinished: bool,
        root: &Path,
    ) -> Result<String, AppError> {
        if let Some(id) = id.filter(|id| *id != "last") {
            return Ok(self.archive.resolve_id(id)?);
        }
        let here = Some(root.to_owned());
        let query =
            DebateQuery { root: here, unfinished, limit: Some(1), ..DebateQuery::default() };
        let newest = self.archive.list(&query)?.into_iter().next();
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
        let ending = setup.ending_act();
        let at_the_end = next(debate).first_cue().is_some_and(|cue| cue.act == ending);
        let speaks_there = |seat: &Seat| {
            let phases = &setup.format.acts[usize::from(ending)].phases;
            phases.iter().any(|phase| phase.speakers.roles().contains(&seat.role))
        };
        for seat in seats.iter().filter(|seat| !at_the_end || speaks_there(seat)) {
            self.providers.check_available(&seat.voice)?;
        }
        Ok(())
    }

    /// Validates a number of rounds against the format's range.
    pub fn check_rounds(&self, format: &str, rounds: u64) -> Result<u8, AppError> {
        let offer = &self.catalog.find(format)?.offer;
        let fits = u8::try_from(rounds).ok().filter(|rounds| offer.rounds.contains(rounds));
        let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
        fits.ok_or(AppError::RoundsOutOfRange { asked: rounds, least, most })
    }

    /// Checks that the two sides are not the same participant.
    pub(super) fn check_sides_differ(&self, seats: &[Seat]) -> Result<(), AppError> {
        let side = |role: Role| seats.iter().find(|seat| seat.role == role);
        match (side(Role::Pro), side(Role::Con)) {
            (Some(pro), Some(con)) => {
                let clash = self.providers.side_conflict(&pro.voice, &con.voice);
                clash.map_or(Ok(()), |why| Err(AppError::SideConflict(why)))
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

    /// The format catalog, with the invalid format files.
    pub fn catalog(&self) -> &FormatCatalog {
        &self.catalog
    }

    fn spawn_run(&self, start: PendingRun) -> Result<DebateRun, AppError> {
        let PreparedRun { mut session, handle, debate, seq, updates } = self.prepare_run(start)?;
        let idle = session.subscribe_idle();
        let voices = self.providers.clone();
        let task = tokio::spawn(async move { session.run(&*voices).await });
        Ok(DebateRun::new(handle, debate, seq, updates, idle, task))
    }

    /// Builds the session without running it: fails overdue turns and executes the commands.
    fn prepare_run(&self, start: PendingRun) -> Result<PreparedRun, AppError> {
        let PendingRun {
            debate,
            seq,
            first_events: first,
            log,
            asked_prompts: fresh,
            commands: wishes,
            root,
        } = start;
        let (sender, requests) = mpsc::channel(16);
        let live = UpdateBroadcaster::default();
        let id = debate.setup().id.clone();
        self.archive.publish_live_text(&id, live.subscribe());
        let updates = live.subscribe();
        let mut now = debate.clone();
        for (seq, event) in (seq + 1..).zip(first) {
            now.apply(event.clone()).map_err(SessionError::from)?;
            live.publish(Update::Fact { seq, event });
        }
        let (evidence, secrets) = (self.evidence.clone(), self.secrets.clone());
        let around = SessionContext { root, evidence, secrets };
        let clock = self.clock.clone();
        let mut session = Session::new(now, log, requests, live.clone(), clock, &around);
        session.set_asked_prompts(fresh);
        // An overdue turn has failed, whatever the commands are.
        session.fail_overdue()?;
        session.execute_all(wishes, None)?;
        Ok(PreparedRun { session, handle: RunHandle::new(sender, live), debate, seq, updates })
    }
}

/// A new debate, its first events and its log.
pub(super) type CreatedDebate = (Debate, Vec<Event>, Box<dyn Log>);

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
pub fn home_workspace(stored: &StoredDebate, place: &Workspace) -> Workspace {
    let known = &stored.state_files;
    let here = known.is_empty() || known.iter().any(|(_, root)| *root == place.root);
    let home = known.first().map(|(_, root)| root).filter(|root| !here && root.is_dir());
    Workspace {
        root: home.unwrap_or(&place.root).clone(),
        state_file: place.state_file.clone().filter(|_| here),
        write_record: place.write_record,
    }
}

/// Replays a stored log. The flaw says from which event on it is invalid.
fn replay_stored(stored: StoredDebate) -> Result<(Debate, Option<LogFlaw>), AppError> {
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    let (debate, flaw) = Debate::replay_lenient(stored.setup, events)?;
    let unreadable = stored.first_unreadable.map(|(seq, why)| LogFlaw { seq, message: why });
    Ok((debate, flaw.or(unreadable)))
}

/// New id: `debate-{ISO time}-{four hex digits}`.
pub(super) fn new_debate_id(now: i64) -> Result<String, AppError> {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(format!("debate-{time:.3}-{}", random_hex(2)?))
}

/// Random bytes as hex digits.
fn random_hex(bytes: usize) -> Result<String, AppError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| AppError::NoRandomness(error.to_string()))?;
    let digits = u128::from_be_bytes(random) >> (8 * (16 - bytes.min(16)));
    Ok(format!("{digits:0width$x}", width = 2 * bytes))
}
