//! The fold of the events, and which event is legal now.
use super::envelope::Spend;
use super::event::{Attempt, Change, Cue, Event, Failure, Outcome, Proof, Reply, Stand};
use super::format::OPEN_LIMIT;
use super::plan::{Pause, Step, next, wave};
use super::rules::Weight;
use super::seat::{Seat, Voice};
use super::setup::{Budget, Hold, LONGEST_TOPIC, Setup, Unfit};
use std::collections::BTreeMap;

mod questions;

/// A debate as it stands. Two logs that come to the same debate are the same debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debate {
    setup: Setup,
    /// What was amended since, and for whom it holds. The last is how things are now.
    eras: Vec<Era>,
    holds: Vec<Hold>,
    terms: BTreeMap<String, String>,
    budget: Budget,
    /// Taken turns, ordered by cue, so a transcript does not depend on who happened to answer first.
    turns: BTreeMap<Cue, Result<Reply, Failure>>,
    /// Who has been told what to answer, and until when.
    asked: BTreeMap<Cue, Option<i64>>,
    refused: BTreeMap<Cue, Attempt>,
    remarks: Vec<Remark>,
    /// Seats that changed hands, in the order they did.
    handed: Vec<Handed>,
    /// The furthest round the user let begin.
    continued: Option<Stand>,
    held: bool,
    concluded: bool,
    /// Why it was concluded, and why it was cancelled, if somebody has said so.
    concluded_because: Option<String>,
    cancelled_because: Option<String>,
    /// Of every take: forgetting a turn does not refund it.
    spent: Spend,
    take: u16,
    outcome: Option<Outcome>,
    decision: Option<String>,
    learned: Option<Lesson>,
    kept: Option<bool>,
}

/// What became of a verdict, and how sure it was thought to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Whether it was right.
    pub proof: Proof,
    /// In hundredths, as it was when this was learned.
    pub confidence: Option<u8>,
    /// What happened.
    pub note: String,
}

/// What the user said, and the first cue that may hear it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The first cue that may hear it.
    pub from: Cue,
    /// In their words.
    pub text: String,
}

/// A seat that was handed to another voice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// By position.
    pub seat: u8,
    /// Who had it.
    pub from: Voice,
    /// Who has it since.
    pub to: Voice,
    /// What was due then.
    pub at: Option<Cue>,
    /// Why, and by whom.
    pub because: String,
}

/// How things are for everyone asked from a cue on. Whoever was asked before is not affected: a
/// prompt that was asked never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Era {
    from: Cue,
    seats: Vec<Seat>,
    rounds: u8,
    topic: String,
}

/// An event that was not due.
#[derive(Debug, thiserror::Error)]
#[error("{} is not due; {} is", event.name(), due.name())]
pub struct Illegal {
    /// What was tried.
    pub event: Box<Event>,
    /// What would have been possible.
    pub due: Step,
}

/// Where a log stops being one this program could have written. What follows is still shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Counted from 1.
    pub seq: u64,
    /// What is wrong with it.
    pub why: String,
}

impl Debate {
    /// A debate of which nothing has been played.
    pub fn open(setup: Setup) -> Result<Debate, Unfit> {
        setup.check()?;
        let first = Era {
            from: Cue { act: 0, round: 0, phase: 0, seat: 0 },
            seats: setup.seats.clone(),
            rounds: setup.rounds,
            topic: setup.topic.clone(),
        };
        Ok(Debate {
            eras: vec![first],
            holds: setup.holds.clone(),
            terms: setup.terms.clone(),
            budget: setup.limits.budget,
            turns: BTreeMap::new(),
            asked: BTreeMap::new(),
            refused: BTreeMap::new(),
            remarks: vec![],
            handed: vec![],
            continued: None,
            held: false,
            concluded: false,
            concluded_because: None,
            cancelled_because: None,
            spent: Spend::default(),
            take: 0,
            outcome: None,
            decision: None,
            learned: None,
            kept: None,
            setup,
        })
    }

    /// Only what [`next`] asked for may happen, and what the user may ask for at this moment.
    /// Checked before an event is written and again when it is read back, so no log can hold a
    /// history this program could not have produced.
    pub fn check(&self, event: &Event) -> Result<(), Illegal> {
        let due = next(self);
        let running = matches!(due, Step::Speak { .. } | Step::Hold { .. });
        let legal = match (event, &due) {
            (Event::Asked { cues, .. }, step) => self.can_ask(cues, step),
            (Event::Refused { cue, .. }, step) => {
                self.is_open(*cue, step)
                    && !self.seat(*cue).voice.awaited()
                    && !self.refused.contains_key(cue)
            }
            (Event::Spoke { cue, reply }, step) => {
                self.is_open(*cue, step) && self.fits(*cue, reply)
            }
            (Event::Failed { cue, .. }, step) => self.is_open(*cue, step),
            (Event::Interjected { text }, _) => running && !text.trim().is_empty(),
            (Event::Held, _) => running && !self.held,
            (Event::Continued { before }, Step::Hold { next, pause: Pause::Asked }) => {
                *before == next.stand()
            }
            (Event::Amended { change, .. }, _) => running && self.can_amend(change),
            (Event::Concluded { .. }, step) => self.can_conclude(step),
            (Event::Cancelled { .. }, step) => *step != Step::Rest,
            (Event::Closed { outcome }, Step::Close(expected)) => outcome == expected,
            (Event::Reopened { from }, Step::Rest | Step::Hold { .. }) => self.can_reopen(*from),
            (Event::Decided { text }, _) => !text.trim().is_empty(),
            (Event::Kept { .. } | Event::Learned { .. }, Step::Rest) => true,
            _ => false,
        };
        if legal { Ok(()) } else { Err(Illegal { event: Box::new(event.clone()), due }) }
    }

    /// Checks, then changes.
    pub fn apply(&mut self, event: Event) -> Result<(), Illegal> {
        self.check(&event)?;
        self.fold(event);
        Ok(())
    }

    fn fold(&mut self, event: Event) {
        match event {
            Event::Asked { cues, deadline, .. } => {
                self.asked.extend(cues.into_iter().map(|cue| (cue, deadline)));
            }
            Event::Refused { cue, attempt } => {
                self.spent += attempt.envelope.spend();
                self.refused.insert(cue, attempt);
            }
            Event::Spoke { cue, reply } => {
                self.spent += reply.envelope.spend();
                self.turns.insert(cue, Ok(reply));
            }
            Event::Failed { cue, failure } => {
                self.spent += failure.envelope.spend();
                self.turns.insert(cue, Err(failure));
            }
            Event::Interjected { text } => {
                let from = self.next_unasked();
                self.remarks.extend(from.map(|from| Remark { from, text }));
            }
            Event::Held => self.held = true,
            Event::Continued { before } => {
                self.continued = self.continued.max(Some(before));
                self.held = false;
            }
            Event::Amended { change, because } => {
                self.handed.extend(self.handing(&change, because));
                self.amend(change);
            }
            Event::Concluded { because } => {
                (self.concluded, self.concluded_because) = (true, because);
            }
            Event::Cancelled { because } => {
                (self.outcome, self.cancelled_because) = (Some(Outcome::Cancelled), because);
            }
            Event::Closed { outcome } => self.outcome = Some(outcome),
            Event::Reopened { from } => {
                self.rewind(from);
                self.take += 1;
            }
            Event::Decided { text } => self.decision = Some(text),
            Event::Learned { proof, confidence, note } => {
                self.learned = Some(Lesson { proof, confidence, note });
            }
            Event::Kept { keep } => self.kept = Some(keep),
        }
    }

    /// The debate these events come to, if every one of them was legal.
    pub fn replay(
        setup: Setup,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<Debate, ReplayError> {
        let mut debate = Debate::open(setup)?;
        events.into_iter().try_for_each(|event| debate.apply(event))?;
        Ok(debate)
    }

    /// As [`Debate::replay`], but a log that does not pass still opens, to be read and not to be
    /// continued: the first event that was not due is named, and what follows is shown as it is.
    pub fn salvage(
        setup: Setup,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<(Debate, Option<Flaw>), Unfit> {
        let mut debate = Debate::open(setup)?;
        let mut flaw = None;
        for (seq, event) in (1..).zip(events) {
            if flaw.is_none()
                && let Err(illegal) = debate.check(&event)
            {
                flaw = Some(Flaw { seq, why: illegal.to_string() });
            }
            if debate.knows(&event) {
                debate.fold(event);
            }
        }
        Ok((debate, flaw))
    }

    /// Whether an event speaks only of acts, phases and seats there are.
    fn knows(&self, event: &Event) -> bool {
        match event {
            Event::Asked { cues, .. } => cues.iter().all(|cue| self.has(*cue)),
            Event::Refused { cue, .. } | Event::Spoke { cue, .. } | Event::Failed { cue, .. } => {
                self.has(*cue)
            }
            Event::Reopened { from } => self.has(*from),
            Event::Amended { change, .. } => self.can_amend(change),
            _ => true,
        }
    }

    /// Whether there is such a turn in this debate.
    pub fn has(&self, cue: Cue) -> bool {
        self.setup.knows(cue)
            && usize::from(cue.seat) < self.seats().len()
            && cue.round <= OPEN_LIMIT
    }

    /// All that is open is asked at once, so that a wave hears the same. A seat that is fetched may
    /// be asked again, because what was under way when a program stopped is lost; one that is
    /// waited for keeps its deadline.
    fn can_ask(&self, cues: &[Cue], due: &Step) -> bool {
        let open: Vec<Cue> = due.cues().collect();
        let unasked = |cue: &Cue| !self.asked.contains_key(cue);
        let may =
            |cue: &Cue| open.contains(cue) && (unasked(cue) || !self.seat(*cue).voice.awaited());
        !cues.is_empty()
            && cues.iter().all(may)
            && open.iter().filter(|cue| unasked(cue)).all(|cue| cues.contains(cue))
    }

    fn is_open(&self, cue: Cue, due: &Step) -> bool {
        self.asked.contains_key(&cue) && due.cues().any(|open| open == cue)
    }

    /// A reply with a fault that must be asked about again cannot be on the record.
    fn fits(&self, cue: Cue, reply: &Reply) -> bool {
        reply.body.kind() == self.setup.phase(cue).reply
            && reply
                .findings
                .iter()
                .all(|finding| !matches!(finding.weight, Weight::Reask | Weight::Mend))
    }

    /// There must be something to conclude from, and an ending that has not begun.
    fn can_conclude(&self, due: &Step) -> bool {
        let begun = due.at().is_none_or(|cue| cue.act >= self.setup.ending());
        !begun && self.spoken(..).next().is_some()
    }

    fn can_amend(&self, change: &Change) -> bool {
        match change {
            Change::Seat { seat, voice } => {
                let now = self.seats().get(usize::from(*seat));
                now.is_some_and(|seat| seat.voice != *voice) && voice.check().is_ok()
            }
            Change::Limit { budget } => !budget.exhausted(self.spent),
            Change::Plan { rounds, seats, holds } => {
                let new = seats.as_ref();
                (rounds.is_some() || new.is_some() || holds.is_some())
                    && rounds.is_none_or(|rounds| self.can_last(rounds))
                    && new.is_none_or(|new| {
                        self.asked.is_empty()
                            && self.turns.is_empty()
                            && self.setup.check_seats(new).is_ok()
                    })
            }
            Change::Terms { .. } => self.asked.is_empty() && self.turns.is_empty(),
            Change::Topic { topic } => {
                !topic.trim().is_empty() && topic.chars().count() <= LONGEST_TOPIC
            }
        }
    }

    /// A round that was played must stay in the act it was played in, no act before it may become
    /// longer, and an ending that has begun goes on.
    fn can_last(&self, rounds: u8) -> bool {
        if !(1..=OPEN_LIMIT).contains(&rounds) {
            return false;
        }
        let spans: Vec<_> = self.setup.format.spans(rounds).collect();
        let now: Vec<_> = self.setup.format.spans(self.rounds()).collect();
        let same =
            |act: usize| spans[act] == now[act] || spans[act].is_empty() && now[act].is_empty();
        self.asked.keys().all(|cue| {
            let act = usize::from(cue.act);
            cue.act < self.setup.ending() && spans[act].contains(&cue.round) && (0..act).all(same)
        })
    }

    fn handing(&self, change: &Change, because: String) -> Option<Handed> {
        let Change::Seat { seat, voice } = change else { return None };
        let from = self.seats()[usize::from(*seat)].voice.clone();
        let (to, at) = (voice.clone(), next(self).at());
        Some(Handed { seat: *seat, from, to, at, because })
    }

    fn amend(&mut self, change: Change) {
        let mut era = self.now().clone();
        era.from = self.next_unasked().unwrap_or(era.from);
        match change {
            Change::Limit { budget } => {
                self.budget = budget;
                return;
            }
            Change::Terms { terms } => {
                self.terms = terms;
                return;
            }
            Change::Seat { seat, voice } => {
                era.seats[usize::from(seat)].voice = voice;
                // A new voice starts afresh: with no attempt behind it and no clock against it.
                let turns = &self.turns;
                let open = |cue: &Cue| cue.seat == seat && !turns.contains_key(cue);
                self.refused.retain(|cue, _| !open(cue));
                self.asked.iter_mut().filter(|(cue, _)| open(cue)).for_each(|(_, at)| *at = None);
            }
            Change::Plan { rounds, seats, holds } => {
                era.rounds = rounds.unwrap_or(era.rounds);
                era.seats = seats.unwrap_or(era.seats);
                self.holds = holds.unwrap_or(std::mem::take(&mut self.holds));
            }
            Change::Topic { topic } => era.topic = topic,
        }
        self.eras.push(era);
        // With other rounds something else may be next, and it hears all there was to hear.
        self.next_unasked().into_iter().for_each(|from| self.bring_forward(from));
    }

    /// Whoever is asked from here on hears all the user said and has all the user changed.
    fn bring_forward(&mut self, from: Cue) {
        let remarks = self.remarks.iter_mut().map(|remark| &mut remark.from);
        remarks
            .chain(self.eras.iter_mut().map(|era| &mut era.from))
            .for_each(|at| *at = from.min(*at));
    }

    /// How things are now.
    fn now(&self) -> &Era {
        &self.eras[self.eras.len() - 1]
    }

    /// How things were when this cue was asked, or would be if it were asked now.
    fn era(&self, cue: Cue) -> &Era {
        let horizon = self.horizon(cue);
        self.eras.iter().rfind(|era| era.from <= horizon).unwrap_or(&self.eras[0])
    }

    /// From a turn that failed, or from where the user stopped it: the cue must then be due.
    fn can_reopen(&self, from: Cue) -> bool {
        let stopped = matches!(self.outcome, Some(Outcome::Cancelled | Outcome::Ended));
        if !self.has(from) || (self.failure(from).is_none() && !stopped) {
            return false;
        }
        let mut rewound = self.clone();
        rewound.rewind(from);
        let due = next(&rewound);
        due.at() == Some(from) || due.cues().any(|cue| cue == from)
    }

    /// Where an ended debate could go on: at the failure that cut it short, where the user stopped
    /// it, or else with the last turn that failed, because what came after an earlier one would be
    /// forgotten.
    pub fn reopens_at(&self) -> Option<Cue> {
        let failed = || self.missing().map(|(cue, _)| cue).filter(|cue| self.can_reopen(*cue));
        let stopped = || {
            let mut on = self.clone();
            on.concluded = false;
            on.outcome = None;
            next(&on).at().filter(|cue| self.can_reopen(*cue))
        };
        let last = || {
            let last = self.horizon(failed().last()?);
            failed().find(|cue| self.horizon(*cue) == last)
        };
        match &self.outcome {
            Some(
                Outcome::Curtailed { at, phase }
                | Outcome::Aborted { at, phase }
                | Outcome::Uncontested { at, phase },
            ) => failed()
                .find(|cue| cue.stand() == *at && self.setup.phase(*cue).name == *phase)
                .or_else(last),
            Some(Outcome::Ended) => {
                failed().find(|cue| cue.act == self.setup.ending()).or_else(stopped)
            }
            Some(Outcome::Cancelled) => stopped().or_else(|| failed().last()),
            _ => last(),
        }
    }

    /// Forgets what came after `from`, and what failed beside it. Nothing the user said is
    /// forgotten: it is heard from here on instead.
    fn rewind(&mut self, from: Cue) {
        let wave = wave(self.setup.phase(from), from);
        self.turns.retain(|cue, turn| cue < wave.start() || (wave.contains(cue) && turn.is_ok()));
        self.asked.retain(|cue, _| self.turns.contains_key(cue));
        self.refused.retain(|cue, _| self.turns.contains_key(cue));
        self.bring_forward(*wave.start());
        self.concluded &= from.act == self.setup.ending();
        self.concluded_because.take_if(|_| !self.concluded);
        (self.outcome, self.cancelled_because) = (None, None);
    }

    /// The first cue that could still hear something: seats already asked must not, because a
    /// prompt that was asked never changes.
    fn next_unasked(&self) -> Option<Cue> {
        let due = next(self);
        let at = due.at()?;
        let wave = wave(self.setup.phase(at), at);
        let after = |end: Cue| Cue { seat: end.seat.saturating_add(1), ..end };
        let asked = due.cues().any(|cue| self.was_asked(cue));
        Some(if asked { after(*wave.end()) } else { *wave.start() })
    }
}

/// Why a log could not be replayed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "they are the errors they carry")]
pub enum ReplayError {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Illegal(#[from] Illegal),
}
