//! Round marks given by judges: each side's mark, the penalties for fouls and for audience help,
//! and the turning round. Computed from the event log, in hundredths of a point.
use super::body::{Body, Foul, ReplyKind};
use super::event::{Cue, Position};
use super::format::{Role, Side};
use super::ledger::is_new_evidence;
use super::plan::find_called_listener;
use super::state::Debate;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Penalty for a foul called by a judge: two points of ten.
pub const FOUL_PENALTY: u32 = 200;
/// Maximum penalty for help that was granted: one point of ten, multiplied by the share of the
/// side's calls for help so far that were granted.
pub const MAX_RELIANCE_PENALTY: u32 = 100;

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
    /// The mark of one side.
    pub fn for_side(&self, side: Side) -> SideMark {
        match side {
            Side::Pro => self.pro,
            Side::Con => self.con,
        }
    }
}

/// Marks of every scored round, in order.
pub fn round_marks(debate: &Debate) -> Vec<RoundMarks> {
    let mut stands: Vec<Position> = score_sheets(debate)
        .map(|(cue, ..)| cue.position())
        .filter(|stand| stand.round > 0)
        .collect();
    stands.dedup();
    stands
        .into_iter()
        .map(|at| RoundMarks {
            round: at.round,
            pro: side_mark(debate, at, Side::Pro),
            con: side_mark(debate, at, Side::Con),
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

fn side_mark(debate: &Debate, at: Position, side: Side) -> SideMark {
    let own: Vec<RoundScoreSheet<'_>> =
        score_sheets(debate).filter(|(cue, ..)| cue.position() == at).collect();
    let judges = own.len().max(1) as u32;
    let nth = usize::from(side == Side::Con);
    let mean = |marks: &BTreeMap<String, u8>| {
        let sum: u32 = marks.values().map(|tenths| u32::from(*tenths) * 10).sum();
        sum / (marks.len().max(1) as u32)
    };
    let given = own.iter().map(|(_, marks, _)| mean(marks[nth])).sum::<u32>() / judges;
    let called: usize =
        own.iter().map(|(_, _, fouls)| fouls.iter().filter(|foul| foul.side == side).count()).sum();
    let fouls = called as u32 * FOUL_PENALTY / judges;
    let reliance = reliance_penalty(debate, at, side);
    // A side that did not speak gets 0, whatever the judges scored.
    let spoke = debate.replies_in(..).any(|(cue, body)| {
        let own = debate.seat(cue).role.side() == Some(side);
        cue.position() == at && own && body.kind() == ReplyKind::Speech
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
    let mut now = false;
    let asks = debate.replies_in(..).filter(|(cue, body)| {
        cue.position() <= through
            && debate.seat(*cue).role.side() == Some(side)
            && body.help_request().is_some()
    });
    for (cue, _) in asks {
        help.asked += 1;
        let granted = find_helped_debater(debate, cue.position()) == Some(cue.seat);
        help.granted += u32::from(granted);
        now |= granted && cue.position() == through;
    }
    (help, now)
}

/// Seat index of the debater whose call for help was granted in a round: the first who called the
/// listener that spoke. A listener who petitioned for the other side, or was admitted and did not
/// speak, does not count.
fn find_helped_debater(debate: &Debate, at: Position) -> Option<u8> {
    let round = || debate.replies_in(..).filter(move |(cue, _)| cue.position() == at);
    let spoke =
        |nth: u8| round().any(|(cue, body)| cue.seat == nth && body.kind() == ReplyKind::Speech);
    let wanted = |nth: u8| {
        round().find_map(|(cue, body)| match body {
            Body::Petition { supports, .. } if cue.seat == nth => *supports,
            _ => None,
        })
    };
    round().find_map(|(cue, body)| {
        let seat = find_called_listener(debate, cue, body.help_request()?)?;
        let own = debate.seat(cue).role.side();
        (spoke(seat) && wanted(seat).is_none_or(|side| Some(side) == own)).then_some(cue.seat)
    })
}

fn reliance_penalty(debate: &Debate, at: Position, side: Side) -> u32 {
    match help_calls(debate, at, side) {
        (help, true) => MAX_RELIANCE_PENALTY * help.granted / help.asked.max(1),
        (_, false) => 0,
    }
}

/// The round in which the debate turned for the winner: the last in which the winner took the lead
/// for good. If the winner led throughout, or does not lead at the end, it is the round with the
/// largest gain, then the one with more newly verified citations for the winner, then the earlier
/// one.
pub fn turning_round(debate: &Debate, winner: Side) -> Option<u8> {
    let rounds = round_marks(debate);
    let gain = |round: &RoundMarks| {
        i64::from(round.for_side(winner).counts) - i64::from(round.for_side(winner.other()).counts)
    };
    let mut lead = 0;
    let mut behind = false;
    let mut turned = None;
    for round in &rounds {
        let before = lead;
        lead += gain(round);
        if before <= 0 && lead > 0 {
            turned = Some(round.round);
        }
        behind |= lead <= 0;
    }
    if lead > 0 && behind {
        return turned;
    }
    let key = |round: &&RoundMarks| {
        let found = count_new_evidence(debate, round.round, winner);
        (gain(round), found, std::cmp::Reverse(round.round))
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
    let round = || debate.replies_in(..cue).filter(|(past, _)| past.position() == cue.position());
    let asked = round().find_map(|(past, body)| match body {
        Body::Petition { supports, .. } if past.seat == cue.seat => *supports,
        _ => None,
    });
    asked.or_else(|| {
        round().find_map(|(past, body)| {
            let side = debate.seat(past).role.side()?;
            (find_called_listener(debate, past, body.help_request()?) == Some(cue.seat))
                .then_some(side)
        })
    })
}
