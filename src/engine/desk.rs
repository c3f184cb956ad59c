//! [`App`]: the use cases that the CLI, the MCP server and the web server call.
//!
//! Here are opening, resuming, reading and finding debates. Other files of `engine` add methods to
//! `App`: preflight, reviews, import, recovery, remote commands.
use super::catalogue::{Catalogue, Offering};
use super::command::{Command, Error};
use super::gate::Gate;
use super::job::{Handle, Job};
use super::live::{Live, Update};
use super::opening::Opening;
use super::pairing::Vacant;
use super::ports::{
    Archive, ArchiveError, BadContext, Briefs, Claim, Clock, Duplicates, Evidence, Log, Place,
    Query, Recorded, Stored, Unplayable, Voices,
};
use super::preflight::Answered;
use super::recovery::Stranger;
use super::scrutiny::Outside;
use super::session::Session;
use super::turn::Told;
use crate::debate::{
    Debate, Event, FailureKind, LogFlaw, Participant, Role, Seat, SetupError, TurnFailure, next,
};
use crate::redact::Secrets;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, mpsc};

/// The application: all ports and the use cases on them. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    pub(super) archive: Arc<dyn Archive>,
    pub(super) voices: Arc<dyn Voices>,
    pub(super) briefs: Arc<dyn Briefs>,
    pub(super) evidence: Arc<dyn Evidence>,
    pub(super) secrets: Secrets,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) answered: Arc<Answered>,
    /// Name of the client this process works for.
    who: Arc<Mutex<String>>,
}

/// The implementations an [`App`] is built from.
pub struct Parts {
    pub archive: Arc<dyn Archive>,
    pub voices: Arc<dyn Voices>,
    pub briefs: Arc<dyn Briefs>,
    pub evidence: Arc<dyn Evidence>,
    /// Known secrets, which are redacted from everything stored or sent.
    pub secrets: Secrets,
    pub clock: Arc<dyn Clock>,
    pub catalogue: Catalogue,
}

/// Errors of the use cases.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DeskError {
    #[error("unknown format `{name}`; known: {known}")]
    Format { name: String, known: String },
    #[error("the format `{name}` in `{file}`: {why}")]
    BrokenFormat { name: String, file: String, why: String },
    #[error("`{voice}` would judge a debate in which it argues as {name}")]
    Partial { voice: String, name: String },
    #[error("{0}")]
    Cast(String),
    #[error("{asked} rounds were asked for; this format has {least} to {most}")]
    Rounds { asked: u64, least: u8, most: u8 },
    #[error("{0}")]
    Clash(String),
    #[error(transparent)]
    Unplayable(#[from] Unplayable),
    #[error(transparent)]
    Vacant(#[from] Vacant),
    #[error("{0}: {1}")]
    Deserted(Vacant, String),
    #[error("your configuration: {0}")]
    Settings(String),
    #[error("`{voice}` does not answer ({}): {}", failure.trouble.as_str(), failure.note)]
    Silent { voice: String, failure: Box<TurnFailure>, others: Vec<String> },
    #[error(transparent)]
    Unfit(#[from] SetupError),
    #[error(transparent)]
    Context(#[from] BadContext),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("there is no {}debate in `{root}`", if *unfinished { "unfinished " } else { "" })]
    NoneHere { unfinished: bool, root: String },
    #[error("there is no debate of yours here; `{}` holds one you have not signed: \"{}\", {} turns, said to be by {}", .0.path.display(), .0.topic(), .0.transcript.turns.len(), .0.by())]
    Stranger(Box<Stranger>),
    #[error("there is no seat `{name}`")]
    NoSeat { name: String, names: String },
    #[error("debate `{id}` can be read but not continued: event {seq} of its log {why}")]
    Flawed { id: String, seq: u64, why: String },
    #[error("the log in this file is not one this program could have written: {0}")]
    Forged(String),
    #[error("{0}")]
    Refused(String),
    #[error("{holder} plays this debate and has not answered; the wish was withdrawn")]
    Unanswered { holder: String },
    #[error("no random numbers: {0}")]
    Chance(String),
    #[error(transparent)]
    Session(#[from] Error),
}

impl DeskError {
    /// Whether the cause is that no provider is available or logged in.
    pub fn deserted(&self) -> bool {
        let login = |failure: &TurnFailure| {
            matches!(failure.trouble, FailureKind::NotFound | FailureKind::NotLoggedIn)
        };
        match self {
            DeskError::Vacant(_) | DeskError::Deserted(..) | DeskError::Unplayable(_) => true,
            DeskError::Silent { failure, .. } => login(failure),
            _ => false,
        }
    }
}

impl Desk {
    /// Builds the application from its parts.
    pub fn new(parts: Parts) -> Desk {
        let Parts { archive, voices, briefs, evidence, secrets, clock, catalogue } = parts;
        let (catalogue, answered, who) = (Arc::new(catalogue), Arc::default(), Arc::default());
        Desk { archive, voices, briefs, evidence, secrets, clock, catalogue, answered, who }
    }

    /// Sets the client's name. Other processes see it as the lease holder, and the record names it
    /// in changes made by the user.
    pub fn announce(&self, who: &str) {
        self.archive.announce(who);
        who.clone_into(&mut self.who.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Name of the client this process works for.
    pub(super) fn who(&self) -> String {
        let who = self.who.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub fn open(&self, opening: &Opening, place: &Place) -> Result<Job, DeskError> {
        let setup = opening.setup(&self.catalogue, String::new(), String::new(), 0)?;
        setup.validate()?;
        self.sits_well(&setup.seats)?;
        self.begin(opening, place)
    }

    /// As [`App::open`] for bots that joined an arena room. Providers are not checked: if no judge
    /// is available, the record says so, and the bots are not sent away.
    pub fn host(&self, opening: &Opening, place: &Place) -> Result<Job, DeskError> {
        opening.setup(&self.catalogue, String::new(), String::new(), 0)?.validate()?;
        self.begin(opening, place)
    }

    /// Checks that all these participants are available.
    pub fn playable(&self, voices: &[&Participant]) -> Result<(), DeskError> {
        Ok(voices.iter().try_for_each(|voice| self.voices.playable(voice))?)
    }

    fn begin(&self, opening: &Opening, place: &Place) -> Result<Job, DeskError> {
        let mut fresh = Told::new();
        let (debate, first, log) = self.create(opening, place, |debate| {
            let (events, told) = Session::opening(debate, self.clock.now());
            fresh = told;
            events
        })?;
        let root = place.root.clone();
        self.play(Start { debate, seq: 0, first, log, fresh, wishes: vec![], root })
    }

    /// Creates the log of a new debate under a unique id, with its first events.
    pub(super) fn create(
        &self,
        opening: &Opening,
        place: &Place,
        mut first: impl FnMut(&Debate) -> Vec<Event>,
    ) -> Result<Created, DeskError> {
        loop {
            let now = self.clock.now();
            let setup = opening.setup(&self.catalogue, new_id(now)?, chance(16)?, now)?;
            let gate = Gate::of(&self.secrets, &setup);
            let debate = Debate::open(gate.all(setup).map_err(Error::from)?)?;
            let events = gate.all(first(&debate)).map_err(Error::from)?;
            let recorded = Recorded::after(0, &events, now);
            let duplicates = Duplicates::RefusedExcept(&opening.supersedes);
            match self.archive.create(debate.setup(), &recorded, place, duplicates) {
                Ok(log) => return Ok((debate, events, log)),
                Err(ArchiveError::Taken(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes the lease of a debate and continues it. The commands are executed before any request.
    pub fn resume(
        &self,
        id: &str,
        place: &Place,
        claim: Claim,
        wishes: Vec<Command>,
    ) -> Result<Job, DeskError> {
        self.play(self.taken_up(id, place, claim, wishes)?)
    }

    /// Takes the lease of a debate only to record these commands. Requests no turn.
    pub(super) fn note(
        &self,
        id: &str,
        place: &Place,
        wishes: Vec<Command>,
    ) -> Result<(), DeskError> {
        self.readied(self.taken_up(id, place, Claim::Free, wishes)?).map(drop)
    }

    fn taken_up(
        &self,
        id: &str,
        place: &Place,
        claim: Claim,
        wishes: Vec<Command>,
    ) -> Result<Start, DeskError> {
        let place = &at_home(&self.archive.read(id)?, place);
        let opened = self.archive.open(id, place, claim)?;
        let seq = opened.stored.events.last().map_or(0, |recorded| recorded.seq);
        let (debate, flaw) = fold(opened.stored)?;
        if let Some(LogFlaw { seq, message: why }) = flaw {
            return Err(DeskError::Flawed { id: id.into(), seq, why });
        }
        let (first, fresh, root) = (vec![], Told::new(), place.root.clone());
        Ok(Start { debate, seq, first, log: opened.log, fresh, wishes, root })
    }

    /// Reads a debate without its lease. The flaw says from which event on the log is invalid.
    pub fn read(&self, id: &str) -> Result<(Stored, Debate, Option<LogFlaw>), DeskError> {
        let stored = self.archive.read(id)?;
        let (debate, flaw) = fold(stored.clone())?;
        Ok((stored, debate, flaw))
    }

    /// Resolves a full or abbreviated id, or finds the newest debate of a repository.
    pub fn meant(
        &self,
        id: Option<&str>,
        unfinished: bool,
        root: &Path,
    ) -> Result<String, DeskError> {
        if let Some(id) = id.filter(|id| *id != "last") {
            return Ok(self.archive.find(id)?);
        }
        let here = Some(root.to_owned());
        let query = Query { root: here, unfinished, limit: Some(1), ..Query::default() };
        let newest = self.archive.list(&query)?.into_iter().next();
        newest
            .map(|card| card.id)
            .ok_or_else(|| DeskError::NoneHere { unfinished, root: root.display().to_string() })
    }

    /// Whether an awaited turn is past its deadline.
    pub fn late(&self, debate: &Debate) -> bool {
        let now = self.clock.now();
        next(debate).open_cues().any(|cue| {
            debate.seat(cue).voice.is_awaited() && debate.deadline(cue).is_some_and(|at| at <= now)
        })
    }

    /// Checks that the participants that may still be asked are available. In the final act these
    /// are only the seats that speak there.
    pub fn ready(&self, debate: &Debate, seats: &[Seat]) -> Result<(), DeskError> {
        let setup = debate.setup();
        let ending = setup.ending_act();
        let at_the_end = next(debate).first_cue().is_some_and(|cue| cue.act == ending);
        let speaks_there = |seat: &Seat| {
            let phases = &setup.format.acts[usize::from(ending)].phases;
            phases.iter().any(|phase| phase.speakers.roles().contains(&seat.role))
        };
        for seat in seats.iter().filter(|seat| !at_the_end || speaks_there(seat)) {
            self.voices.playable(&seat.voice)?;
        }
        Ok(())
    }

    /// Validates a number of rounds against the format's range.
    pub fn fits(&self, format: &str, rounds: u64) -> Result<u8, DeskError> {
        let offer = &self.catalogue.offered(format)?.offer;
        let fits = u8::try_from(rounds).ok().filter(|rounds| offer.rounds.contains(rounds));
        let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
        fits.ok_or(DeskError::Rounds { asked: rounds, least, most })
    }

    /// Checks that the two sides are not the same participant.
    pub(super) fn sides_differ(&self, seats: &[Seat]) -> Result<(), DeskError> {
        let side = |role: Role| seats.iter().find(|seat| seat.role == role);
        match (side(Role::Pro), side(Role::Con)) {
            (Some(pro), Some(con)) => {
                let clash = self.voices.clash(&pro.voice, &con.voice);
                clash.map_or(Ok(()), |why| Err(DeskError::Clash(why)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that these participants can sit together and are available.
    pub fn sits_well(&self, seats: &[Seat]) -> Result<(), DeskError> {
        self.sides_differ(seats)?;
        for seat in seats {
            self.voices.playable(&seat.voice)?;
        }
        Ok(())
    }

    /// Redacts the secrets of a text.
    pub fn clean(&self, text: &str) -> String {
        self.secrets.within("").redact(text).text.into_owned()
    }

    /// The usable formats.
    pub fn formats(&self) -> &[Offering] {
        &self.catalogue.offerings
    }

    /// The format catalog, with the invalid format files.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn play(&self, start: Start) -> Result<Job, DeskError> {
        let Ready { mut session, handle, debate, seq, updates } = self.readied(start)?;
        let idle = session.idle();
        let voices = self.voices.clone();
        let task = tokio::spawn(async move { session.run(&*voices).await });
        Ok(Job::new(handle, debate, seq, updates, idle, task))
    }

    /// Builds the session without running it: fails overdue turns and executes the commands.
    fn readied(&self, start: Start) -> Result<Ready, DeskError> {
        let Start { debate, seq, first, log, fresh, wishes, root } = start;
        let (sender, requests) = mpsc::channel(16);
        let live = Live::default();
        let id = debate.setup().id.clone();
        self.archive.watch(&id, live.subscribe());
        let updates = live.subscribe();
        let mut now = debate.clone();
        for (seq, event) in (seq + 1..).zip(first) {
            now.apply(event.clone()).map_err(Error::from)?;
            live.tell(Update::Fact { seq, event });
        }
        let (evidence, secrets) = (self.evidence.clone(), self.secrets.clone());
        let around = Outside { root, evidence, secrets };
        let clock = self.clock.clone();
        let mut session = Session::new(now, log, requests, live.clone(), clock, &around);
        session.asked_already(fresh);
        // An overdue turn has failed, whatever the commands are.
        session.expire()?;
        session.grant(wishes, None)?;
        Ok(Ready { session, handle: Handle::new(sender, live), debate, seq, updates })
    }
}

/// A new debate, its first events and its log.
pub(super) type Created = (Debate, Vec<Event>, Box<dyn Log>);

/// A debate to run, before its session exists.
struct Start {
    /// State as read from the log, or as opened.
    debate: Debate,
    /// Sequence number of its last event.
    seq: u64,
    /// Events recorded after that.
    first: Vec<Event>,
    log: Box<dyn Log>,
    /// Prompts of the turns just recorded as asked.
    fresh: Told,
    wishes: Vec<Command>,
    root: PathBuf,
}

/// A session that is ready to run.
struct Ready {
    session: Session,
    handle: Handle,
    /// State at the time the lease was taken.
    debate: Debate,
    seq: u64,
    updates: broadcast::Receiver<Arc<Update>>,
}

/// The workspace a stored debate belongs to. A debate of another repository stays in that one,
/// because it is about its files and is listed there.
pub fn at_home(stored: &Stored, place: &Place) -> Place {
    let known = &stored.state_files;
    let here = known.is_empty() || known.iter().any(|(_, root)| *root == place.root);
    let home = known.first().map(|(_, root)| root).filter(|root| !here && root.is_dir());
    Place {
        root: home.unwrap_or(&place.root).clone(),
        state_file: place.state_file.clone().filter(|_| here),
        record: place.record,
    }
}

/// Replays a stored log. The flaw says from which event on it is invalid.
fn fold(stored: Stored) -> Result<(Debate, Option<LogFlaw>), DeskError> {
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    let (debate, flaw) = Debate::replay_lenient(stored.setup, events)?;
    let unreadable = stored.unreadable.map(|(seq, why)| LogFlaw { seq, message: why });
    Ok((debate, flaw.or(unreadable)))
}

/// New id: `debate-{ISO time}-{four hex digits}`.
pub(super) fn new_id(now: i64) -> Result<String, DeskError> {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(format!("debate-{time:.3}-{}", chance(2)?))
}

/// Random bytes as hex digits.
fn chance(bytes: usize) -> Result<String, DeskError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| DeskError::Chance(error.to_string()))?;
    let digits = u128::from_be_bytes(random) >> (8 * (16 - bytes.min(16)));
    Ok(format!("{digits:0width$x}", width = 2 * bytes))
}
