//! Which part of the transcript a seat sees in its prompt, and under which labels. The entry point
//! is `Debate::visible_to`.
//!
//! Depends on earlier waves only (a wave is the set of turns open at the same time, see `plan`), so a
//! cue gets the identical prompt before a crash, after it and in an audit of the log.
use crate::debate::record::body::Body;
use crate::debate::record::event::Reply;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{ReplyKind, Role, Side, TranscriptScope};
use crate::debate::setup::seat::Seat;

/// An item of the transcript in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptItem<'a> {
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
    /// Returns the transcript for the prompt of this cue, in order, with the digest first.
    pub fn visible_to(&self, cue: Cue) -> Vec<TranscriptItem<'_>> {
        let horizon = self.wave_start(cue);
        let digest = self.digest_source(cue);
        let items =
            self.turns_in(..horizon).filter(|(past, _)| self.is_visible(cue, *past, digest));
        let items = items.map(|(past, turn)| match turn {
            Ok(reply) => (past, 1, TranscriptItem::Turn(past, reply)),
            Err(_) => (past, 1, TranscriptItem::Missing(past)),
        });
        // A remark comes before the first turn that could see it.
        let remarks = self.remarks().iter().filter(|remark| remark.from <= horizon);
        let remarks = remarks.map(|remark| (remark.from, 0, TranscriptItem::Remark(&remark.text)));
        let mut items: Vec<_> = items.chain(remarks).collect();
        items.sort_by_key(|(position, rank, _)| (*position, *rank));
        let summary = match digest {
            Some(DigestSource::Written(past)) => match self.turn(past) {
                Some(Ok(reply)) => Some(TranscriptItem::Turn(past, reply)),
                _ => None,
            },
            Some(DigestSource::Mechanical(through)) => Some(TranscriptItem::Digest(through)),
            None => None,
        };
        summary.into_iter().chain(items.into_iter().map(|(_, _, item)| item)).collect()
    }

    /// Whether the turn at `past` is in the prompt of `cue` in full.
    fn is_visible(&self, cue: Cue, past: Cue, digest: Option<DigestSource>) -> bool {
        let is_speech = self.setup().phase(past).reply == ReplyKind::Speech;
        match self.setup().phase(cue).hears {
            TranscriptScope::Nothing => false,
            TranscriptScope::Everything => true,
            TranscriptScope::Speeches => is_speech,
            TranscriptScope::OlderRounds => is_speech && past.round + 1 < cue.round,
            TranscriptScope::Digest => {
                is_speech && (digest.is_none() || past.round + 1 >= cue.round)
            }
        }
    }

    /// Returns the source of the digest for this cue: the scribe's reply of this round, or the
    /// mechanical digest.
    fn digest_source(&self, cue: Cue) -> Option<DigestSource> {
        if self.setup().phase(cue).hears != TranscriptScope::Digest {
            return None;
        }
        let mut replies =
            self.replies_before(cue).filter(|(past, _)| past.position() == cue.position());
        let written = replies.find(|(_, body)| matches!(body, Body::Sections { .. }));
        let through = cue.round.saturating_sub(2);
        written
            .map(|(past, _)| DigestSource::Written(past))
            .or((through > 0).then_some(DigestSource::Mechanical(through)))
    }

    /// Returns the label of a side for a blind listener. The mirror gets A and B swapped. The
    /// audience gets Pro and Con, because it votes for one of them.
    pub fn side_label(&self, listener: Cue, side: Side) -> Option<&'static str> {
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
            return self.side_label(listener, side).map(|label| format!("Side {label}"));
        }
        let is_named = matches!(speaker.role, Role::Advocate | Role::Audience);
        (self.is_blind(listener) && is_named).then(|| speaker.name.clone())
    }

    /// Whether the listener must not learn the identity of the speakers.
    pub(in crate::debate) fn is_blind(&self, listener: Cue) -> bool {
        let role = self.seat(listener).role;
        matches!(role, Role::Judge | Role::Mirror | Role::Auditor | Role::Audience)
    }

    /// Returns the turns a judge can cite, in prompt order. The first one is `T1`.
    pub fn citable_turns(&self, listener: Cue) -> Vec<Cue> {
        let speech_cue = |item| match item {
            TranscriptItem::Turn(cue, reply) if reply.body.kind() == ReplyKind::Speech => Some(cue),
            _ => None,
        };
        self.visible_to(listener).into_iter().filter_map(speech_cue).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DigestSource {
    Written(Cue),
    Mechanical(u8),
}

#[cfg(test)]
mod tests;
