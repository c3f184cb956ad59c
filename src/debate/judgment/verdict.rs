//! Computes the verdict of a debate from its rulings, round marks and votes. Without a ruling or a
//! vote there is no winner, except by forfeit. Entry point: [`judgment`].
use crate::debate::claims::ledger;
use crate::debate::judgment::round_marks;
use crate::debate::plan::next_step::next;
use crate::debate::plan::step::Step;
use crate::debate::record::body::{Body, JudgeRuling};
use crate::debate::record::event::DebateOutcome;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{Role, Side};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;

/// Verdict of a debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    pub winner: Side,
    /// How the winner was decided.
    pub basis: VerdictBasis,
    /// Weighted total, if there are marks or votes.
    pub weighted_score: Option<WeightedScore>,
    /// Why the verdict is uncertain.
    pub contest_reasons: Vec<ContestReason>,
    /// In percent, from the margin and the agreement of the rulings, never from a judge's own
    /// estimate. `None` on a forfeit.
    pub confidence: Option<u8>,
    /// Votes against the winner.
    pub dissenting_votes: Vec<Cue>,
}

impl Judgment {
    /// Whether there is a reason for doubt.
    pub fn is_contested(&self) -> bool {
        !self.contest_reasons.is_empty()
    }
}

/// Why a verdict is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Contest")]
pub enum ContestReason {
    /// A judge ruled for the other side when the sides were swapped.
    Order,
    /// The judges disagree.
    Panel,
    /// Most rulings went against the winner.
    Rulings,
    /// The margin is small.
    Margin,
}

impl ContestReason {
    /// Explanation for users.
    pub fn describe(self) -> &'static str {
        match self {
            ContestReason::Order => "it depends on the order in which the sides were shown",
            ContestReason::Panel => "the judges do not agree",
            ContestReason::Rulings => "the rulings went the other way",
            ContestReason::Margin => "the margin is small",
        }
    }
}

/// Weighted total of marks, rulings and votes. Values are the proposer's share in ten-thousandths,
/// and the challenger has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Weighed")]
pub struct WeightedScore {
    /// Share of the round marks, after penalties.
    pub rounds: Option<u32>,
    /// Share of the scores in the final rulings, weighted by seat.
    pub rulings: Option<u32>,
    /// Mean of both, or the one there is.
    pub judge: Option<u32>,
    /// Share of the weighted votes.
    pub audience: Option<u32>,
    /// Weight of the judges, in percent.
    pub judge_share: u8,
    /// Weight of the audience, in percent.
    pub audience_share: u8,
    /// Weighted sum of both.
    pub total: u32,
}

/// Scale of reported shares.
const REPORTED_SCALE: u64 = 10_000;
/// Fixed-point scale of the computation, fine enough that rounding never decides.
const FIXED_POINT_SCALE: u64 = 1_000_000_000;
/// Rounding error within which shares are tied.
const ROUNDING_TOLERANCE: u64 = 100;
/// Margin of a ruling below which it is close, in points of 100.
const CLOSE_MARGIN_POINTS: u8 = 10;
/// Difference of the weighted shares below which the result is close, in percent.
const CLOSE_MARGIN_PERCENT: u64 = 5;

/// How the winner was decided. Tie-breaks are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Basis")]
pub enum VerdictBasis {
    /// The other side forfeited.
    Forfeit,
    /// A single ruling.
    Ruling,
    /// All rulings agree, including those with the sides swapped.
    Agreement,
    /// Majority of the rulings by weight.
    Majority,
    /// Weighted total of marks, rulings and votes.
    Weighed,
    /// Tie-break: fewer wrong citations.
    FewerWrongCitations,
    /// Tie-break: fewer opposing claims left unanswered.
    FewerUnanswered,
    /// Tie-break: the ruling with the larger margin.
    LargerMargin,
    /// Default, if every tie-break is even.
    Proposer,
}

impl VerdictBasis {
    /// Explanation for users.
    pub fn describe(self) -> &'static str {
        match self {
            VerdictBasis::Forfeit => "the other side fell silent",
            VerdictBasis::Ruling => "by one ruling",
            VerdictBasis::Agreement => "both rulings, with the sides swapped, agree",
            VerdictBasis::Majority => "by the majority of the rulings",
            VerdictBasis::Weighed => "by marks, rulings and votes, weighed together",
            VerdictBasis::FewerWrongCitations => "tie-break: fewer wrong citations",
            VerdictBasis::FewerUnanswered => "tie-break: fewer opposing claims left unanswered",
            VerdictBasis::LargerMargin => "tie-break: the ruling with the larger margin",
            VerdictBasis::Proposer => {
                "tie-break: nothing else tells the sides apart, so the proposal stands"
            }
        }
    }
}

/// All rulings that pick a side.
pub fn rulings(debate: &Debate) -> impl Iterator<Item = (Cue, Side, &JudgeRuling)> {
    debate.replies_in(..).filter_map(|(cue, body)| match body {
        Body::Verdict(ruling) => Some((cue, ruling.side?, &**ruling)),
        _ => None,
    })
}

/// The ruling quoted as the reasoning of the verdict: the first for the winner, preferably by a
/// judge that saw the sides unswapped.
pub fn leading_ruling(debate: &Debate, winner: Side) -> Option<(Cue, &JudgeRuling)> {
    let candidates: Vec<_> = rulings(debate).filter(|(_, side, _)| *side == winner).collect();
    let unswapped = candidates.iter().find(|(cue, _, _)| debate.seat(*cue).role != Role::Mirror);
    unswapped.or(candidates.first()).map(|(cue, _, ruling)| (*cue, *ruling))
}

/// Computes the verdict. Marks and votes are weighted together with the rulings. Without them the
/// rulings decide alone. An even result goes to the tie-breaks.
pub fn judgment(debate: &Debate) -> Option<Judgment> {
    if let Some(DebateOutcome::Forfeited { by }) = debate.outcome() {
        return Some(Judgment {
            winner: by.other(),
            basis: VerdictBasis::Forfeit,
            weighted_score: None,
            contest_reasons: vec![],
            confidence: None,
            dissenting_votes: vec![],
        });
    }
    let votes: Vec<(Cue, Side)> = debate
        .replies_in(..)
        .filter_map(|(cue, body)| match body {
            Body::Vote { side, .. } => Some((cue, *side)),
            _ => None,
        })
        .collect();
    let ruling_sides: Vec<(Cue, Side)> =
        rulings(debate).map(|(cue, side, _)| (cue, side)).collect();
    if ruling_sides.is_empty() && votes.is_empty() {
        return None;
    }
    let weighted = weighted_score(debate, &votes);
    // There is no winner while votes are still due.
    let is_over = debate.outcome().is_some() || matches!(next(debate), Step::Close(_));
    if weighted.is_some() && !is_over {
        return None;
    }
    let (winner, basis) = match weighted.map(|(_, lead)| lead) {
        Some(Ordering::Greater) => (Side::Pro, VerdictBasis::Weighed),
        Some(Ordering::Less) => (Side::Con, VerdictBasis::Weighed),
        Some(Ordering::Equal) => tie_break(debate),
        None => decide_by_rulings(debate, &ruling_sides),
    };
    let weighted = weighted.map(|(weighted, _)| weighted);
    let margin = smallest_margin(debate, winner);
    let reasons = contest_reasons(debate, &ruling_sides, winner, margin, weighted);
    Some(Judgment {
        winner,
        basis,
        weighted_score: weighted,
        confidence: Some(confidence(&ruling_sides, margin, &reasons)),
        contest_reasons: reasons,
        dissenting_votes: votes.iter().filter(|pick| pick.1 != winner).map(|pick| pick.0).collect(),
    })
}

/// Default weight of the judges, in percent.
const DEFAULT_JUDGE_SHARE: u8 = 50;

/// Weighted total, and the proposer's share compared with one half.
fn weighted_score(debate: &Debate, votes: &[(Cue, Side)]) -> Option<(WeightedScore, Ordering)> {
    let marks = round_marks::round_marks(debate);
    if marks.is_empty() && votes.is_empty() {
        return None;
    }
    let sum =
        |side: Side| marks.iter().map(|round| u64::from(round.for_side(side).counts)).sum::<u64>();
    let rounds = (!marks.is_empty()).then(|| fixed_point_share(sum(Side::Pro), sum(Side::Con)));
    let (mut weight, mut pro) = (0, 0);
    for (cue, side, ruling) in rulings(debate) {
        let own = match ruling.scores {
            Some(scores) => fixed_point_share(scores.pro.into(), scores.con.into()),
            None => fixed_point_share((side == Side::Pro).into(), (side == Side::Con).into()),
        };
        let seat_weight = u64::from(debate.seat(cue).weight);
        weight += seat_weight;
        pro += own * seat_weight;
    }
    let rulings = (weight > 0).then(|| pro / weight);
    let judge = match (rounds, rulings) {
        (Some(rounds), Some(rulings)) => Some(u64::midpoint(rounds, rulings)),
        (one, other) => one.or(other),
    };
    let of = |side: Side| {
        let own = votes.iter().filter(|vote| vote.1 == side);
        own.map(|vote| u64::from(debate.seat(vote.0).weight)).sum::<u64>()
    };
    let audience = (!votes.is_empty()).then(|| fixed_point_share(of(Side::Pro), of(Side::Con)));
    let requested_share = debate.setup().judge_share.unwrap_or(DEFAULT_JUDGE_SHARE).min(100);
    // A group that is absent has no weight.
    let judge_share = match (judge, audience) {
        (Some(_), None) => 100,
        (None, _) => 0,
        _ => requested_share,
    };
    let audience_share = 100 - judge_share;
    let of = |part: Option<u64>, share: u8| part.unwrap_or(0) * u64::from(share);
    let total = (of(judge, judge_share) + of(audience, audience_share)) / 100;
    let lead = if total.abs_diff(FIXED_POINT_SCALE / 2) <= ROUNDING_TOLERANCE {
        Ordering::Equal
    } else {
        total.cmp(&(FIXED_POINT_SCALE / 2))
    };
    let score = WeightedScore {
        rounds: rounds.map(to_ten_thousandths),
        rulings: rulings.map(to_ten_thousandths),
        judge: judge.map(to_ten_thousandths),
        audience: audience.map(to_ten_thousandths),
        judge_share,
        audience_share,
        total: to_ten_thousandths(total),
    };
    Some((score, lead))
}

/// Fixed-point share of the first value in the sum, one half if both are 0.
fn fixed_point_share(part: u64, rest: u64) -> u64 {
    match part + rest {
        0 => FIXED_POINT_SCALE / 2,
        sum => part * FIXED_POINT_SCALE / sum,
    }
}

/// Rounds a fixed-point share to ten-thousandths.
fn to_ten_thousandths(share: u64) -> u32 {
    u32::try_from((share * REPORTED_SCALE + FIXED_POINT_SCALE / 2) / FIXED_POINT_SCALE)
        .unwrap_or(u32::MAX)
}

/// Smallest margin of the rulings for the winner, in points of 100.
fn smallest_margin(debate: &Debate, winner: Side) -> Option<u8> {
    let winner_rulings = rulings(debate).filter(|(_, side, _)| *side == winner);
    winner_rulings.filter_map(|(_, _, ruling)| ruling.margin()).min()
}

fn contest_reasons(
    debate: &Debate,
    ruling_sides: &[(Cue, Side)],
    winner: Side,
    margin: Option<u8>,
    weighted: Option<WeightedScore>,
) -> Vec<ContestReason> {
    let sides_of = |role: Role| -> Vec<Side> {
        let picks = ruling_sides.iter().filter(|pick| debate.seat(pick.0).role == role);
        picks.map(|pick| pick.1).collect()
    };
    let is_split = |sides: &[Side]| sides.iter().any(|side| *side != sides[0]);
    let mut reasons = vec![];
    if has_position_bias(debate, ruling_sides) {
        reasons.push(ContestReason::Order);
    }
    if is_split(&sides_of(Role::Judge)) || is_split(&sides_of(Role::Mirror)) {
        reasons.push(ContestReason::Panel);
    }
    let against_count = ruling_sides.iter().filter(|pick| pick.1 != winner).count();
    if 2 * against_count > ruling_sides.len() {
        reasons.push(ContestReason::Rulings);
    }
    let weighted_margin = weighted.map(|it| 2 * u64::from(it.total).abs_diff(REPORTED_SCALE / 2));
    let is_close = weighted_margin.is_some_and(|weighted_margin| {
        weighted_margin < CLOSE_MARGIN_PERCENT * REPORTED_SCALE / 100
    });
    if is_close || margin.is_some_and(|margin| margin < CLOSE_MARGIN_POINTS) {
        reasons.push(ContestReason::Margin);
    }
    reasons
}

/// Whether a judge changed its ruling when the sides were swapped (position bias).
fn has_position_bias(debate: &Debate, ruling_sides: &[(Cue, Side)]) -> bool {
    let side_of = |seat_index: u8| {
        ruling_sides.iter().find(|pick| pick.0.seat == seat_index).map(|pick| pick.1)
    };
    mirrored_judges(debate).any(|(judge, mirror)| {
        side_of(judge).zip(side_of(mirror)).is_some_and(|(one, other)| one != other)
    })
}

/// Each judge that also rules with the sides swapped, and its mirror seat, by seat index. Mirrors
/// belong to the model judges, in order.
pub fn mirrored_judges(debate: &Debate) -> impl Iterator<Item = (u8, u8)> {
    let seat_indexes = |role: Role| {
        let all = (0u8..).zip(debate.seats());
        all.filter(move |(_, seat)| seat.role == role && !seat.voice.is_awaited())
            .map(|(index, _)| index)
    };
    seat_indexes(Role::Judge).zip(seat_indexes(Role::Mirror))
}

/// Confidence in percent: how often other judges agreed with a ruling of that margin, measured on
/// several thousand rulings. At most 50 (chance) without rulings or if they conflict, and at most
/// 79 for a single ruling.
fn confidence(ruling_sides: &[(Cue, Side)], margin: Option<u8>, reasons: &[ContestReason]) -> u8 {
    let by_margin = match margin {
        None | Some(0..10) => 50,
        Some(10..15) => 61,
        Some(15..20) => 79,
        Some(_) => 92,
    };
    let max = match ruling_sides.len() {
        0 => 50,
        1 => 79,
        _ => 92,
    };
    let is_split = reasons.iter().any(|reason| *reason != ContestReason::Margin);
    if is_split { by_margin.min(50) } else { by_margin.min(max) }
}

/// Decides by the rulings alone.
fn decide_by_rulings(debate: &Debate, ruling_sides: &[(Cue, Side)]) -> (Side, VerdictBasis) {
    let weight_for = |side: Side| -> u32 {
        let picks = ruling_sides.iter().filter(|pick| pick.1 == side);
        picks.map(|pick| u32::from(debate.seat(pick.0).weight)).sum()
    };
    match (ruling_sides, weight_for(Side::Pro).cmp(&weight_for(Side::Con))) {
        ([only], _) => (only.1, VerdictBasis::Ruling),
        ([first, rest @ ..], _) if rest.iter().all(|pick| pick.1 == first.1) => {
            (first.1, VerdictBasis::Agreement)
        }
        (_, Ordering::Greater) => (Side::Pro, VerdictBasis::Majority),
        (_, Ordering::Less) => (Side::Con, VerdictBasis::Majority),
        (_, Ordering::Equal) => tie_break(debate),
    }
}

/// Tie-breaks in order: fewer wrong citations, fewer opposing claims left unanswered, larger
/// margin, proposer.
fn tie_break(debate: &Debate) -> (Side, VerdictBasis) {
    let (pro, con) = (ledger::tally(debate, Side::Pro), ledger::tally(debate, Side::Con));
    let fewer = |pro: usize, con: usize| match pro.cmp(&con) {
        Ordering::Less => Some(Side::Pro),
        Ordering::Greater => Some(Side::Con),
        Ordering::Equal => None,
    };
    let margin = |side: Side| {
        let side_rulings = rulings(debate).filter(|(_, picked, _)| *picked == side);
        side_rulings.filter_map(|(_, _, ruling)| ruling.margin()).max().map_or(0, usize::from)
    };
    fewer(pro.wrong, con.wrong)
        .map(|side| (side, VerdictBasis::FewerWrongCitations))
        .or_else(|| {
            fewer(pro.ignored, con.ignored).map(|side| (side, VerdictBasis::FewerUnanswered))
        })
        .or_else(|| {
            let (pro, con) = (margin(Side::Pro), margin(Side::Con));
            fewer(con, pro).map(|side| (side, VerdictBasis::LargerMargin))
        })
        .unwrap_or((Side::Pro, VerdictBasis::Proposer))
}

#[cfg(test)]
mod tests;
