//! Round marks given by judges: each side's mark, the penalties for fouls and for audience help,
//! and the turning round. Computed from the event log, in hundredths of a point. A foul here is a
//! violation that a judge reports with its marks (`body::Foul`).
//!
//! Entry points: [`round_marks`], part of the weighted score that decides the winner (`verdict`),
//! and [`turning_round`], for the report (`report::court`). The report, the page and the archive
//! use the marks too.
use crate::debate::claims::ledger::is_new_evidence;
use crate::debate::plan::next_step::find_called_listener;
use crate::debate::record::body::{Body, Foul};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::{Cue, Position};
use crate::debate::setup::format::{ReplyKind, Role, Side};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Penalty per foul: two points of ten, divided by the number of judges. Fouls add up.
const FOUL_PENALTY: u32 = 200;
/// Maximum penalty in a round in which a call for help was granted: one point of ten. Multiplied by
/// the share of the side's calls so far that were granted.
const MAX_RELIANCE_PENALTY: u32 = 100;

/// Marks of both sides for one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the sides")]
pub struct RoundMarks {
    pub round: u8,
    pub pro: SideMark,
    pub con: SideMark,
}

/// A side's mark for one round, in hundredths of a point, 0 to 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Mark")]
pub struct SideMark {
    /// Mean of logic, rebuttal, clarity and evidence over all judges, 0 if the side did not speak.
    pub given: u32,
    /// Penalty for fouls.
    pub fouls: u32,
    /// Penalty for help that was granted.
    pub reliance: u32,
    /// The mark after penalties, at least 0.
    pub counts: u32,
}

impl RoundMarks {
    /// Returns the mark of one side.
    pub fn for_side(&self, side: Side) -> SideMark {
        match side {
            Side::Pro => self.pro,
            Side::Con => self.con,
        }
    }
}

/// Marks of every scored round, in order.
pub fn round_marks(debate: &Debate) -> Vec<RoundMarks> {
    let mut positions: Vec<Position> = score_sheets(debate)
        .map(|(cue, ..)| cue.position())
        .filter(|position| position.round > 0)
        .collect();
    positions.dedup();
    positions
        .into_iter()
        .map(|position| RoundMarks {
            round: position.round,
            pro: side_mark(debate, position, Side::Pro),
            con: side_mark(debate, position, Side::Con),
        })
        .collect()
}

type RoundScoreSheet<'a> = (Cue, [&'a BTreeMap<String, u8>; 2], &'a [Foul]);

fn score_sheets(debate: &Debate) -> impl Iterator<Item = RoundScoreSheet<'_>> {
    debate.replies_in(..).filter_map(|(cue, body)| match body {
        Body::Score { pro, con, fouls, .. } => Some((cue, [pro, con], fouls.as_slice())),
        _ => None,
    })
}

fn side_mark(debate: &Debate, position: Position, side: Side) -> SideMark {
    let own: Vec<RoundScoreSheet<'_>> =
        score_sheets(debate).filter(|(cue, ..)| cue.position() == position).collect();
    let judges = own.len().max(1) as u32;
    let side_index = usize::from(side == Side::Con);
    let mean = |marks: &BTreeMap<String, u8>| {
        let sum: u32 = marks.values().map(|tenths| u32::from(*tenths) * 10).sum();
        sum / (marks.len().max(1) as u32)
    };
    let given = own.iter().map(|(_, marks, _)| mean(marks[side_index])).sum::<u32>() / judges;
    let foul_count: usize =
        own.iter().map(|(_, _, fouls)| fouls.iter().filter(|foul| foul.side == side).count()).sum();
    let fouls = foul_count as u32 * FOUL_PENALTY / judges;
    let reliance = reliance_penalty(debate, position, side);
    // A side that did not speak gets 0, whatever the judges scored.
    let spoke = debate.replies_in(..).any(|(cue, body)| {
        let own = debate.seat(cue).role.side() == Some(side);
        cue.position() == position && own && body.kind() == ReplyKind::Speech
    });
    let given = if spoke { given } else { 0 };
    SideMark { given, fouls, reliance, counts: given.saturating_sub(fouls + reliance) }
}

/// How often a side called for help, and how often help was granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Help")]
pub struct HelpCalls {
    pub asked: u32,
    pub granted: u32,
}

/// Counts a side's calls for help up to and including a round. The flag is true if one was granted
/// in that round.
pub fn help_calls(debate: &Debate, through: Position, side: Side) -> (HelpCalls, bool) {
    let mut help = HelpCalls::default();
    let mut granted_in_round = false;
    let requests = debate.replies_in(..).filter(|(cue, body)| {
        cue.position() <= through
            && debate.seat(*cue).role.side() == Some(side)
            && body.help_request().is_some()
    });
    for (cue, _) in requests {
        help.asked += 1;
        let granted = find_helped_debater(debate, cue.position()) == Some(cue.seat);
        help.granted += u32::from(granted);
        granted_in_round |= granted && cue.position() == through;
    }
    (help, granted_in_round)
}

/// Seat index of the debater whose call for help was granted in a round: the first who called the
/// listener that spoke. A listener who petitioned for the other side, or was admitted and did not
/// speak, does not count.
fn find_helped_debater(debate: &Debate, position: Position) -> Option<u8> {
    let replies = || debate.replies_in(..).filter(move |(cue, _)| cue.position() == position);
    let spoke = |seat_index: u8| {
        replies().any(|(cue, body)| cue.seat == seat_index && body.kind() == ReplyKind::Speech)
    };
    let petitioned_side = |seat_index: u8| {
        replies().find_map(|(cue, body)| match body {
            Body::Petition { supports, .. } if cue.seat == seat_index => *supports,
            _ => None,
        })
    };
    replies().find_map(|(cue, body)| {
        let seat = find_called_listener(debate, cue, body.help_request()?)?;
        let caller_side = debate.seat(cue).role.side();
        (spoke(seat) && petitioned_side(seat).is_none_or(|side| Some(side) == caller_side))
            .then_some(cue.seat)
    })
}

fn reliance_penalty(debate: &Debate, position: Position, side: Side) -> u32 {
    match help_calls(debate, position, side) {
        (help, true) => MAX_RELIANCE_PENALTY * help.granted / help.asked.max(1),
        (_, false) => 0,
    }
}

/// The round in which the debate turned for the winner. The lead is the sum of the winner's marks
/// minus that of the other side. If the winner leads at the end but did not after some round, it is
/// the round in which the winner took the lead for the last time. Otherwise it is the round that
/// added most to the lead, then the one with more newly verified citations for the winner, then the
/// earlier one.
pub fn turning_round(debate: &Debate, winner: Side) -> Option<u8> {
    let rounds = round_marks(debate);
    let gain = |round: &RoundMarks| {
        i64::from(round.for_side(winner).counts) - i64::from(round.for_side(winner.other()).counts)
    };
    let mut lead = 0;
    let mut was_behind = false;
    let mut lead_round = None;
    for round in &rounds {
        let previous_lead = lead;
        lead += gain(round);
        if previous_lead <= 0 && lead > 0 {
            lead_round = Some(round.round);
        }
        was_behind |= lead <= 0;
    }
    if lead > 0 && was_behind {
        return lead_round;
    }
    let key = |round: &&RoundMarks| {
        let new_evidence = count_new_evidence(debate, round.round, winner);
        (gain(round), new_evidence, std::cmp::Reverse(round.round))
    };
    rounds.iter().max_by_key(key).map(|round| round.round)
}

/// Counts newly verified citations for a side in a round: its own, and those of an admitted
/// listener who speaks for it.
fn count_new_evidence(debate: &Debate, round: u8, side: Side) -> usize {
    let speaks_for = |cue: Cue| {
        let seat = debate.seat(cue);
        seat.role.side().or_else(|| {
            (seat.role == Role::Audience).then(|| supported_side(debate, cue)).flatten()
        })
    };
    debate
        .turns()
        .filter(|(cue, _)| cue.round == round && speaks_for(*cue) == Some(side))
        .filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)))
        .flat_map(|(cue, reply)| reply.citations.iter().map(move |citation| (cue, citation)))
        .filter(|(cue, citation)| is_new_evidence(debate, *cue, citation))
        .count()
}

/// The side an audience seat speaks for: the one in its petition, else the one that called it.
pub fn supported_side(debate: &Debate, cue: Cue) -> Option<Side> {
    let replies = || debate.replies_in(..cue).filter(|(past, _)| past.position() == cue.position());
    let petitioned_side = replies().find_map(|(past, body)| match body {
        Body::Petition { supports, .. } if past.seat == cue.seat => *supports,
        _ => None,
    });
    petitioned_side.or_else(|| {
        replies().find_map(|(past, body)| {
            let side = debate.seat(past).role.side()?;
            (find_called_listener(debate, past, body.help_request()?) == Some(cue.seat))
                .then_some(side)
        })
    })
}

#[cfg(test)]
mod tests;
