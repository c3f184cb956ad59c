//! The use-cases every door calls: open, take up, read, find, take in.
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
use crate::debate::{Debate, Event, Failure, Flaw, Role, Seat, Trouble, Unfit, Voice, next};
use crate::redact::Secrets;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, mpsc};

/// Where debates are opened and taken up.
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
    /// Whom this process works for, in words.
    who: Arc<Mutex<String>>,
}

/// What a desk is made of.
pub struct Parts {
    /// Keeps debates.
    pub archive: Arc<dyn Archive>,
    /// Gives seats their voices.
    pub voices: Arc<dyn Voices>,
    /// Gathers what debaters are given.
    pub briefs: Arc<dyn Briefs>,
    /// Looks up what they cite.
    pub evidence: Arc<dyn Evidence>,
    /// What must not be kept or sent.
    pub secrets: Secrets,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The formats, and their words.
    pub catalogue: Catalogue,
}

/// Why something could not be done.
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
    #[error("`{voice}` does not answer ({}): {}", failure.trouble.word(), failure.note)]
    Silent { voice: String, failure: Box<Failure>, others: Vec<String> },
    #[error(transparent)]
    Unfit(#[from] Unfit),
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
    /// Whether it is that nobody can be asked.
    pub fn deserted(&self) -> bool {
        let login =
            |failure: &Failure| matches!(failure.trouble, Trouble::NotFound | Trouble::NotLoggedIn);
        match self {
            DeskError::Vacant(_) | DeskError::Deserted(..) | DeskError::Unplayable(_) => true,
            DeskError::Silent { failure, .. } => login(failure),
            _ => false,
        }
    }
}

impl Desk {
    /// A desk with everything it needs.
    pub fn new(parts: Parts) -> Desk {
        let Parts { archive, voices, briefs, evidence, secrets, clock, catalogue } = parts;
        let (catalogue, answered, who) = (Arc::new(catalogue), Arc::default(), Arc::default());
        Desk { archive, voices, briefs, evidence, secrets, clock, catalogue, answered, who }
    }

    /// Says whom this process works for: others who find a debate held by it are told, and so is
    /// the record, where a user changes something through it.
    pub fn announce(&self, who: &str) {
        self.archive.announce(who);
        who.clone_into(&mut self.who.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whom this process works for.
    pub(super) fn who(&self) -> String {
        let who = self.who.lock().unwrap_or_else(PoisonError::into_inner);
        if who.is_empty() { "a program".into() } else { who.clone() }
    }

    /// The time, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The archive, for those who only read.
    pub fn archive(&self) -> &dyn Archive {
        &*self.archive
    }

    /// Opens a debate and plays it.
    pub fn open(&self, opening: &Opening, place: &Place) -> Result<Job, DeskError> {
        let setup = opening.setup(&self.catalogue, String::new(), String::new(), 0)?;
        setup.check()?;
        self.sits_well(&setup.seats)?;
        self.begin(opening, place)
    }

    /// Opens a debate between bots that have come by themselves, and plays it. They are not sent away
    /// because nobody could judge them just now: then that is what the record says.
    pub fn host(&self, opening: &Opening, place: &Place) -> Result<Job, DeskError> {
        opening.setup(&self.catalogue, String::new(), String::new(), 0)?.check()?;
        self.begin(opening, place)
    }

    /// Whether everybody named could play here.
    pub fn playable(&self, voices: &[&Voice]) -> Result<(), DeskError> {
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

    /// Starts a log, under an id nobody has yet, with what happens to it at once.
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

    /// Takes a debate up where it was left. The wishes are granted before anyone is asked.
    pub fn resume(
        &self,
        id: &str,
        place: &Place,
        claim: Claim,
        wishes: Vec<Command>,
    ) -> Result<Job, DeskError> {
        self.play(self.taken_up(id, place, claim, wishes)?)
    }

    /// Takes a debate up for as long as it takes to grant these wishes. Nobody is fetched.
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
        if let Some(Flaw { seq, why }) = flaw {
            return Err(DeskError::Flawed { id: id.into(), seq, why });
        }
        let (first, fresh, root) = (vec![], Told::new(), place.root.clone());
        Ok(Start { debate, seq, first, log: opened.log, fresh, wishes, root })
    }

    /// Reads a debate, whoever runs it. A flaw says from where on it cannot be believed.
    pub fn read(&self, id: &str) -> Result<(Stored, Debate, Option<Flaw>), DeskError> {
        let stored = self.archive.read(id)?;
        let (debate, flaw) = fold(stored.clone())?;
        Ok((stored, debate, flaw))
    }

    /// The debate that is meant: one named, in full or in part, or the newest of a repository.
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

    /// Whether somebody who is waited for is late.
    pub fn late(&self, debate: &Debate) -> bool {
        let now = self.clock.now();
        next(debate).cues().any(|cue| {
            debate.seat(cue).voice.awaited() && debate.deadline(cue).is_some_and(|at| at <= now)
        })
    }

    /// Whether everyone who may still be asked could play, if they sat like this: in the ending,
    /// only those who speak there.
    pub fn ready(&self, debate: &Debate, seats: &[Seat]) -> Result<(), DeskError> {
        let setup = debate.setup();
        let ending = setup.ending();
        let at_the_end = next(debate).at().is_some_and(|cue| cue.act == ending);
        let speaks_there = |seat: &Seat| {
            let phases = &setup.format.acts[usize::from(ending)].phases;
            phases.iter().any(|phase| phase.speakers.names().contains(&seat.role))
        };
        for seat in seats.iter().filter(|seat| !at_the_end || speaks_there(seat)) {
            self.voices.playable(&seat.voice)?;
        }
        Ok(())
    }

    /// That many rounds, if a format has them.
    pub fn fits(&self, format: &str, rounds: u64) -> Result<u8, DeskError> {
        let offer = &self.catalogue.offered(format)?.offer;
        let fits = u8::try_from(rounds).ok().filter(|rounds| offer.rounds.contains(rounds));
        let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
        fits.ok_or(DeskError::Rounds { asked: rounds, least, most })
    }

    /// Whether the two sides are not the same one twice.
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

    /// Whether these could be the seats of one debate, and could play here.
    pub fn sits_well(&self, seats: &[Seat]) -> Result<(), DeskError> {
        self.sides_differ(seats)?;
        for seat in seats {
            self.voices.playable(&seat.voice)?;
        }
        Ok(())
    }

    /// What is kept, sent and shown of a text.
    pub fn clean(&self, text: &str) -> String {
        self.secrets.within("").redact(text).text.into_owned()
    }

    /// The formats that can be opened here.
    pub fn formats(&self) -> &[Offering] {
        &self.catalogue.offerings
    }

    /// All formats there are, with those that cannot be opened.
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

    /// Everything but playing: whoever is late has lost the turn, and what is wished is recorded.
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
        // Whoever is late by now has lost the turn, whatever else is wished for.
        session.expire()?;
        session.grant(wishes, None)?;
        Ok(Ready { session, handle: Handle::new(sender, live), debate, seq, updates })
    }
}

/// A debate, what was recorded of it at once, and where to write the rest.
pub(super) type Created = (Debate, Vec<Event>, Box<dyn Log>);

/// A debate about to be played, and what was done about it already.
struct Start {
    /// As it is read, or opened.
    debate: Debate,
    /// The number of the last event in it.
    seq: u64,
    /// What was recorded since.
    first: Vec<Event>,
    log: Box<dyn Log>,
    /// Those who have just been recorded as asked.
    fresh: Told,
    wishes: Vec<Command>,
    root: PathBuf,
}

/// A debate that has only to be played.
struct Ready {
    session: Session,
    handle: Handle,
    /// As it was when it was taken up.
    debate: Debate,
    seq: u64,
    updates: broadcast::Receiver<Arc<Update>>,
}

/// A debate of another repository stays there: that is what it is about, and where it is found.
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

/// The debate a stored log comes to, and from where on it cannot be believed.
fn fold(stored: Stored) -> Result<(Debate, Option<Flaw>), DeskError> {
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    let (debate, flaw) = Debate::salvage(stored.setup, events)?;
    let unreadable = stored.unreadable.map(|(seq, why)| Flaw { seq, why });
    Ok((debate, flaw.or(unreadable)))
}

/// `debate-{ISO time}-{four hex digits}`.
pub(super) fn new_id(now: i64) -> Result<String, DeskError> {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(format!("debate-{time:.3}-{}", chance(2)?))
}

/// Chance, in hex digits.
fn chance(bytes: usize) -> Result<String, DeskError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| DeskError::Chance(error.to_string()))?;
    let digits = u128::from_be_bytes(random) >> (8 * (16 - bytes.min(16)));
    Ok(format!("{digits:0width$x}", width = 2 * bytes))
}
