//! What a seat hears, and under which names. A function of earlier waves only, so the same cue gets
//! the same prompt before a crash, after it, and when the log is read in an audit.
use super::body::{Body, Kind};
use super::event::{Cue, Reply};
use super::format::{Hears, Order, Role, Side, Speakers};
use super::plan::wave;
use super::seat::Seat;
use super::state::Debate;

/// One thing heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// What was said at a cue.
    Turn(Cue, &'a Reply),
    /// It was this seat's turn, and nothing came.
    Missing(Cue),
    /// What the user said.
    Remark(&'a str),
    /// All rounds through this one, summed up mechanically because nobody else did.
    Digest(u8),
}

impl Debate {
    /// Where the past of a cue stops: those who speak at once do not have each other in it, in
    /// whatever order their answers arrive.
    pub fn horizon(&self, cue: Cue) -> Cue {
        *wave(self.setup().phase(cue), cue).start()
    }

    /// What had been said when the seat at `cue` was asked, whether or not it hears it.
    pub fn before(&self, cue: Cue) -> impl DoubleEndedIterator<Item = (Cue, &Body)> {
        self.spoken(..self.horizon(cue))
    }

    /// Whether what was said at a cue is not to be seen yet: those who answer at once and hear nobody
    /// must not have each other's answers before all of them are there.
    pub fn sealed(&self, cue: Cue) -> bool {
        let phase = self.setup().phase(cue);
        if matches!(phase.reply, Kind::Score | Kind::Verdict | Kind::Vote) && self.votes_are_due() {
            return true;
        }
        let (Hears::Nothing, Order::AtOnce, Speakers::Seated(roles)) =
            (phase.hears, phase.order, &phase.speakers)
        else {
            return false;
        };
        let seats = (0u8..).zip(self.seats()).filter(|(_, seat)| roles.contains(&seat.role));
        let mut others = seats.map(|(seat, _)| Cue { seat, ..cue });
        self.outcome().is_none() && others.any(|other| self.turn(other).is_none())
    }

    /// Whether somebody who can look over our shoulder, a person or the host, has still to vote: they
    /// are not to see what others made of it.
    fn votes_are_due(&self) -> bool {
        let ending = self.setup().ending();
        let phases = &self.setup().format.acts[usize::from(ending)].phases;
        let voting = (0u8..).zip(phases).filter(|(_, phase)| phase.reply == Kind::Vote);
        let waits = |phase: u8| {
            let seats = (0u8..).zip(self.seats());
            let seats =
                seats.filter(|(_, seat)| seat.role == Role::Audience && seat.voice.awaited());
            seats
                .into_iter()
                .any(|(seat, _)| self.turn(Cue { act: ending, round: 0, phase, seat }).is_none())
        };
        self.outcome().is_none() && voting.into_iter().any(|(phase, _)| waits(phase))
    }

    /// What the seat at `cue` is told of all that.
    pub fn heard_by(&self, cue: Cue) -> Vec<Line<'_>> {
        let horizon = self.horizon(cue);
        let digest = self.digest(cue);
        let lines = self.within(..horizon).filter(|(past, _)| self.carries(cue, *past, digest));
        let lines = lines.map(|(past, turn)| match turn {
            Ok(reply) => (past, 1, Line::Turn(past, reply)),
            Err(_) => (past, 1, Line::Missing(past)),
        });
        // A remark comes before the first turn that could hear it.
        let remarks = self.remarks().iter().filter(|remark| remark.from <= horizon);
        let remarks = remarks.map(|remark| (remark.from, 0, Line::Remark(&remark.text)));
        let mut lines: Vec<_> = lines.chain(remarks).collect();
        lines.sort_by_key(|(position, rank, _)| (*position, *rank));
        let summary = match digest {
            Some(Digest::Said(past)) => match self.turn(past) {
                Some(Ok(reply)) => Some(Line::Turn(past, reply)),
                _ => None,
            },
            Some(Digest::Mechanical(through)) => Some(Line::Digest(through)),
            None => None,
        };
        summary.into_iter().chain(lines.into_iter().map(|(_, _, line)| line)).collect()
    }

    /// Whether what was said at `past` reaches the seat at `cue` in full.
    fn carries(&self, cue: Cue, past: Cue, digest: Option<Digest>) -> bool {
        let aloud = self.setup().phase(past).reply == Kind::Speech;
        match self.setup().phase(cue).hears {
            Hears::Nothing => false,
            Hears::Everything => true,
            Hears::Speeches => aloud,
            Hears::Elder => aloud && past.round + 1 < cue.round,
            Hears::Digest => aloud && (digest.is_none() || past.round + 1 >= cue.round),
        }
    }

    /// What stands for the rounds that are not heard in full: what a scribe made of them this
    /// round, or what the record itself says.
    fn digest(&self, cue: Cue) -> Option<Digest> {
        if self.setup().phase(cue).hears != Hears::Digest {
            return None;
        }
        let mut round = self.before(cue).filter(|(past, _)| past.stand() == cue.stand());
        let said = round.find(|(_, body)| matches!(body, Body::Sections { .. }));
        let through = cue.round.saturating_sub(2);
        said.map(|(past, _)| Digest::Said(past))
            .or((through > 0).then_some(Digest::Mechanical(through)))
    }

    /// Judges and audiences are not told who anyone is. The mirror sees the labels the other way
    /// round; an audience knows what the sides stand for, because it votes for one.
    pub fn label_for(&self, listener: Cue, side: Side) -> Option<&'static str> {
        match (self.seat(listener).role, side) {
            (Role::Judge, Side::Pro) | (Role::Mirror, Side::Con) => Some("A"),
            (Role::Judge, Side::Con) | (Role::Mirror, Side::Pro) => Some("B"),
            (Role::Audience, Side::Pro) => Some("Pro"),
            (Role::Audience, Side::Con) => Some("Con"),
            _ => None,
        }
    }

    /// What somebody is called before those who must not know who they are.
    pub fn alias(&self, listener: Cue, speaker: &Seat) -> Option<String> {
        if let Some(side) = speaker.role.side() {
            return self.label_for(listener, side).map(|label| format!("Side {label}"));
        }
        let named = matches!(speaker.role, Role::Advocate | Role::Audience);
        (self.is_blind(listener) && named).then(|| speaker.name.clone())
    }

    /// Whether somebody must not know who anybody is.
    pub(super) fn is_blind(&self, listener: Cue) -> bool {
        let role = self.seat(listener).role;
        matches!(role, Role::Judge | Role::Mirror | Role::Auditor | Role::Audience)
    }

    /// The turns a judge can cite, in the order it is told of them: the first is `T1`.
    pub fn citable(&self, listener: Cue) -> Vec<Cue> {
        let turn = |line| match line {
            Line::Turn(cue, reply) if reply.body.kind() == Kind::Speech => Some(cue),
            _ => None,
        };
        self.heard_by(listener).into_iter().filter_map(turn).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Digest {
    Said(Cue),
    Mechanical(u8),
}
