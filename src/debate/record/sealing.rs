//! Replies that stay hidden for now, so that they cannot influence seats that have not answered.
use super::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{ReplyKind, Role, Speakers, SpeakingOrder, TranscriptScope};

impl Debate {
    /// Whether a reply must stay hidden for now: sealed answers until all of them are recorded, and
    /// scores, verdicts and votes while the vote of a human, the host or a bot is pending.
    pub fn is_sealed(&self, cue: Cue) -> bool {
        let phase = self.setup().phase(cue);
        if matches!(phase.reply, ReplyKind::Score | ReplyKind::Verdict | ReplyKind::Vote)
            && self.has_pending_votes()
        {
            return true;
        }
        let (TranscriptScope::Nothing, SpeakingOrder::AtOnce, Speakers::Seated(roles)) =
            (phase.hears, phase.order, &phase.speakers)
        else {
            return false;
        };
        let seats = (0u8..).zip(self.seats()).filter(|(_, seat)| roles.contains(&seat.role));
        let mut wave_cues = seats.map(|(seat, _)| Cue { seat, ..cue });
        self.outcome().is_none() && wave_cues.any(|wave_cue| self.turn(wave_cue).is_none())
    }

    /// Whether an audience seat played by a human, the host or a bot has not voted yet. These can
    /// read the record, so other votes could bias them.
    fn has_pending_votes(&self) -> bool {
        let ending = self.setup().ending_act();
        let phases = &self.setup().format.acts[usize::from(ending)].phases;
        let voting_phases = (0u8..).zip(phases).filter(|(_, phase)| phase.reply == ReplyKind::Vote);
        let is_pending = |phase: u8| {
            let seats = (0u8..).zip(self.seats());
            let seats =
                seats.filter(|(_, seat)| seat.role == Role::Audience && seat.voice.is_awaited());
            seats
                .into_iter()
                .any(|(seat, _)| self.turn(Cue { act: ending, round: 0, phase, seat }).is_none())
        };
        self.outcome().is_none() && voting_phases.into_iter().any(|(phase, _)| is_pending(phase))
    }
}
