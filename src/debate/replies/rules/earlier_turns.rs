//! What was said before a turn, as the rules look it up.
use crate::debate::record::body::{Body, Claim};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;

/// Earlier replies of this seat.
pub(super) fn own_turns(debate: &Debate, cue: Cue) -> impl Iterator<Item = (Cue, &Body)> {
    debate.replies_before(cue).filter(move |(past, _)| past.seat == cue.seat)
}

/// Claims of the other side made before this turn.
pub(super) fn opposing_claims(debate: &Debate, cue: Cue) -> impl Iterator<Item = &Claim> {
    let side = |cue: Cue| debate.seat(cue).role.side();
    let opponent = side(cue).map(Side::other);
    debate
        .replies_before(cue)
        .filter(move |(past, _)| opponent.is_some() && side(*past) == opponent)
        .flat_map(|(_, body)| body.claims())
}
