//! Which part of the transcript a seat sees in its prompt, and under which labels. The entry point
//! is `Debate::visible_to`.
//!
//! Depends on earlier waves only, so a cue gets the identical prompt before a crash, after it and
//! in an audit of the log.
use super::body::{Body, Kind};
use super::event::{Cue, Reply};
use super::format::{Hears, Order, Role, Side, Speakers};
use super::plan::wave;
use super::seat::Seat;
use super::state::Debate;

/// An item of the transcript in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// An accepted reply.
    Turn(Cue, &'a Reply),
    /// A failed turn.
    Missing(Cue),
    /// A remark of the user.
    Remark(&'a str),
    /// Mechanical digest of all rounds up to this one.
    Digest(u8),
}

impl Debate {
    /// Returns the first cue of this cue's wave. Only earlier turns are visible to the seat, so
    /// seats of a parallel phase never see each other, in whatever order the replies arrive.
    pub fn horizon(&self, cue: Cue) -> Cue {
        *wave(self.setup().phase(cue), cue).start()
    }

    /// Iterates over all replies before this cue's wave, visible to the seat or not.
    pub fn before(&self, cue: Cue) -> impl DoubleEndedIterator<Item = (Cue, &Body)> {
        self.spoken(..self.horizon(cue))
    }

    /// Whether a reply must stay hidden for now: sealed answers until all of them are recorded, and
    /// scores, verdicts and votes while the vote of a human, the host or a bot is pending.
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

    /// Whether an audience seat played by a human, the host or a bot has not voted yet. These can
    /// read the record, so other votes could bias them.
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

    /// Returns the transcript for the prompt of this cue, in order, with the digest first.
    pub fn heard_by(&self, cue: Cue) -> Vec<Line<'_>> {
        let horizon = self.horizon(cue);
        let digest = self.digest(cue);
        let lines = self.within(..horizon).filter(|(past, _)| self.carries(cue, *past, digest));
        let lines = lines.map(|(past, turn)| match turn {
            Ok(reply) => (past, 1, Line::Turn(past, reply)),
            Err(_) => (past, 1, Line::Missing(past)),
        });
        // A remark comes before the first turn that could see it.
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

    /// Whether the turn at `past` is in the prompt of `cue` in full.
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

    /// Returns the source of the digest for this cue: the scribe's reply of this round, or the
    /// mechanical digest.
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

    /// Returns the label of a side for a blind listener. The mirror gets A and B swapped. The
    /// audience gets Pro and Con, because it votes for one of them.
    pub fn label_for(&self, listener: Cue, side: Side) -> Option<&'static str> {
        match (self.seat(listener).role, side) {
            (Role::Judge, Side::Pro) | (Role::Mirror, Side::Con) => Some("A"),
            (Role::Judge, Side::Con) | (Role::Mirror, Side::Pro) => Some("B"),
            (Role::Audience, Side::Pro) => Some("Pro"),
            (Role::Audience, Side::Con) => Some("Con"),
            _ => None,
        }
    }

    /// Returns the pseudonym of a speaker for a blind listener.
    pub fn alias(&self, listener: Cue, speaker: &Seat) -> Option<String> {
        if let Some(side) = speaker.role.side() {
            return self.label_for(listener, side).map(|label| format!("Side {label}"));
        }
        let named = matches!(speaker.role, Role::Advocate | Role::Audience);
        (self.is_blind(listener) && named).then(|| speaker.name.clone())
    }

    /// Whether the listener must not learn the identity of the speakers.
    pub(super) fn is_blind(&self, listener: Cue) -> bool {
        let role = self.seat(listener).role;
        matches!(role, Role::Judge | Role::Mirror | Role::Auditor | Role::Audience)
    }

    /// Returns the turns a judge can cite, in prompt order. The first one is `T1`.
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
