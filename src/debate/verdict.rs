//! What the verdicts and votes on the record come to. Never a default, never a guess: without a
//! verdict or a vote there is no finding for either side.
use super::body::{Body, Ruling};
use super::event::{Cue, Outcome};
use super::format::{Role, Side};
use super::ledger;
use super::plan::{Step, next};
use super::points;
use super::state::Debate;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;

/// What it all comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// Who had the better of it.
    pub winner: Side,
    /// What decided that.
    pub basis: Basis,
    /// How marks, rulings and votes were weighed, where there are marks or votes.
    pub weighed: Option<Weighed>,
    /// Why it could as well have come out otherwise.
    pub contests: Vec<Contest>,
    /// How sure one can be, in hundredths: by the margin and by whether the rulings agree, never by
    /// what a judge says of itself. None, where nobody ruled.
    pub confidence: Option<u8>,
    /// The votes that went the other way: where the audience is split.
    pub dissent: Vec<Cue>,
}

impl Judgment {
    /// Whether there is a reason to doubt it.
    pub fn contested(&self) -> bool {
        !self.contests.is_empty()
    }
}

/// Why a verdict could as well have come out otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contest {
    /// The same judge, shown the sides the other way round, ruled for the other side.
    Order,
    /// Judges did not agree with each other.
    Panel,
    /// What the judges ruled went the other way.
    Rulings,
    /// The sides are close.
    Margin,
}

impl Contest {
    /// In a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Contest::Order => "it depends on the order in which the sides were shown",
            Contest::Panel => "the judges do not agree",
            Contest::Rulings => "the rulings went the other way",
            Contest::Margin => "the margin is small",
        }
    }
}

/// How marks, rulings and votes were weighed. Parts are the proposer's, in ten-thousandths; the
/// challenger's is the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Weighed {
    /// Of all points of the rounds, after fouls and reliance.
    pub rounds: Option<u32>,
    /// Of the points of the final rulings, by their weight.
    pub rulings: Option<u32>,
    /// The mean of those two, or the one there is.
    pub judge: Option<u32>,
    /// Of the weight of all votes.
    pub audience: Option<u32>,
    /// What the judge counts, in hundredths.
    pub judge_share: u8,
    /// What the audience counts, in hundredths.
    pub audience_share: u8,
    /// All of it together.
    pub total: u32,
}

/// All of it, as it is told.
const WHOLE: u64 = 10_000;
/// All of it, as it is worked out: fine enough that no rounding decides between the sides.
const FINE: u64 = 1_000_000_000;
/// What rounding may have added up to.
const DUST: u64 = 100;
/// Points of a hundred below which the margin of a ruling is small.
const CLOSE: u8 = 10;
/// Parts of a hundred below which what was weighed together lies close.
const CLOSE_PARTS: u64 = 5;

/// What decided. The tie-breaks are tried in this order, and the one that decided is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The other side fell silent.
    Forfeit,
    /// There was one ruling.
    Ruling,
    /// All rulings agree, among them the one with the sides swapped.
    Agreement,
    /// Most of the weight of the rulings.
    Majority,
    /// Marks, rulings and votes, weighed together.
    Weighed,
    /// Tie-break: fewer wrong citations.
    FewerWrongCitations,
    /// Tie-break: fewer opposing claims left unanswered.
    FewerUnanswered,
    /// Tie-break: the ruling that puts the sides further apart.
    LargerMargin,
    /// Tie-break: nothing else told them apart.
    Proposer,
}

impl Basis {
    /// In a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Basis::Forfeit => "the other side fell silent",
            Basis::Ruling => "by one ruling",
            Basis::Agreement => "both rulings, with the sides swapped, agree",
            Basis::Majority => "by the majority of the rulings",
            Basis::Weighed => "by marks, rulings and votes, weighed together",
            Basis::FewerWrongCitations => "tie-break: fewer wrong citations",
            Basis::FewerUnanswered => "tie-break: fewer opposing claims left unanswered",
            Basis::LargerMargin => "tie-break: the ruling with the larger margin",
            Basis::Proposer => {
                "tie-break: nothing else tells the sides apart, so the proposal stands"
            }
        }
    }
}

/// Every ruling on the record.
pub fn rulings(debate: &Debate) -> impl Iterator<Item = (Cue, Side, &Ruling)> {
    debate.spoken(..).filter_map(|(cue, body)| match body {
        Body::Verdict(ruling) => Some((cue, ruling.side?, &**ruling)),
        _ => None,
    })
}

/// The ruling whose words stand for the judgment: the first that picked the winner, and among
/// those rather one that saw the sides in their own order.
pub fn leading(debate: &Debate, winner: Side) -> Option<(Cue, &Ruling)> {
    let fits: Vec<_> = rulings(debate).filter(|(_, side, _)| *side == winner).collect();
    let straight = fits.iter().find(|(cue, _, _)| debate.seat(*cue).role != Role::Mirror);
    straight.or(fits.first()).map(|(cue, _, ruling)| (*cue, *ruling))
}

/// Where there are marks or votes, they and the rulings are weighed together; elsewhere the rulings
/// decide by themselves. Where that is even, the tie-breaks do.
pub fn judgment(debate: &Debate) -> Option<Judgment> {
    if let Some(Outcome::Forfeited { by }) = debate.outcome() {
        return Some(Judgment {
            winner: by.other(),
            basis: Basis::Forfeit,
            weighed: None,
            contests: vec![],
            confidence: None,
            dissent: vec![],
        });
    }
    let votes: Vec<(Cue, Side)> = debate
        .spoken(..)
        .filter_map(|(cue, body)| match body {
            Body::Vote { side, .. } => Some((cue, *side)),
            _ => None,
        })
        .collect();
    let bench: Vec<(Cue, Side)> = rulings(debate).map(|(cue, side, _)| (cue, side)).collect();
    if bench.is_empty() && votes.is_empty() {
        return None;
    }
    let weighed = weigh(debate, &votes);
    // Before all have voted nobody has won.
    let over = debate.outcome().is_some() || matches!(next(debate), Step::Close(_));
    if weighed.is_some() && !over {
        return None;
    }
    let (winner, basis) = match weighed.map(|(_, lead)| lead) {
        Some(Ordering::Greater) => (Side::Pro, Basis::Weighed),
        Some(Ordering::Less) => (Side::Con, Basis::Weighed),
        Some(Ordering::Equal) => tie_break(debate),
        None => decide(debate, &bench),
    };
    let weighed = weighed.map(|(weighed, _)| weighed);
    let margin = margin(debate, winner);
    let contests = contests(debate, &bench, winner, margin, weighed);
    Some(Judgment {
        winner,
        basis,
        weighed,
        confidence: Some(confidence(&bench, margin, &contests)),
        contests,
        dissent: votes.iter().filter(|pick| pick.1 != winner).map(|pick| pick.0).collect(),
    })
}

/// What the judge counts if nobody says, in hundredths.
pub const JUDGE_SHARE: u8 = 50;

/// How it was weighed, and which way it leans for the proposer.
fn weigh(debate: &Debate, votes: &[(Cue, Side)]) -> Option<(Weighed, Ordering)> {
    let marks = points::rounds(debate);
    if marks.is_empty() && votes.is_empty() {
        return None;
    }
    let sum = |side: Side| marks.iter().map(|round| u64::from(round.of(side).counts)).sum::<u64>();
    let rounds = (!marks.is_empty()).then(|| part(sum(Side::Pro), sum(Side::Con)));
    let (mut weight, mut pro) = (0, 0);
    for (cue, side, ruling) in rulings(debate) {
        let own = match ruling.scores {
            Some(scores) => part(scores.pro.into(), scores.con.into()),
            None => part((side == Side::Pro).into(), (side == Side::Con).into()),
        };
        let counts = u64::from(debate.seat(cue).weight);
        weight += counts;
        pro += own * counts;
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
    let audience = (!votes.is_empty()).then(|| part(of(Side::Pro), of(Side::Con)));
    let wanted = debate.setup().judge_share.unwrap_or(JUDGE_SHARE).min(100);
    // Who is not there counts nothing.
    let judge_share = match (judge, audience) {
        (Some(_), None) => 100,
        (None, _) => 0,
        _ => wanted,
    };
    let audience_share = 100 - judge_share;
    let of = |part: Option<u64>, share: u8| part.unwrap_or(0) * u64::from(share);
    let total = (of(judge, judge_share) + of(audience, audience_share)) / 100;
    let lead =
        if total.abs_diff(FINE / 2) <= DUST { Ordering::Equal } else { total.cmp(&(FINE / 2)) };
    let weighed = Weighed {
        rounds: rounds.map(told),
        rulings: rulings.map(told),
        judge: judge.map(told),
        audience: audience.map(told),
        judge_share,
        audience_share,
        total: told(total),
    };
    Some((weighed, lead))
}

/// The first of two, as a part of both.
fn part(one: u64, other: u64) -> u64 {
    match one + other {
        0 => FINE / 2,
        both => one * FINE / both,
    }
}

/// In ten-thousandths, to the nearest.
fn told(fine: u64) -> u32 {
    u32::try_from((fine * WHOLE + FINE / 2) / FINE).unwrap_or(u32::MAX)
}

/// Points of a hundred between the sides: the smallest of the rulings for the winner.
fn margin(debate: &Debate, winner: Side) -> Option<u8> {
    let own = rulings(debate).filter(|(_, side, _)| *side == winner);
    own.filter_map(|(_, _, ruling)| ruling.margin()).min()
}

fn contests(
    debate: &Debate,
    bench: &[(Cue, Side)],
    winner: Side,
    margin: Option<u8>,
    weighed: Option<Weighed>,
) -> Vec<Contest> {
    let of = |role: Role| -> Vec<Side> {
        let own = bench.iter().filter(|pick| debate.seat(pick.0).role == role);
        own.map(|pick| pick.1).collect()
    };
    let split = |sides: &[Side]| sides.iter().any(|side| *side != sides[0]);
    let mut contests = vec![];
    if turns_with_the_order(debate, bench) {
        contests.push(Contest::Order);
    }
    if split(&of(Role::Judge)) || split(&of(Role::Mirror)) {
        contests.push(Contest::Panel);
    }
    let against = bench.iter().filter(|pick| pick.1 != winner).count();
    if 2 * against > bench.len() {
        contests.push(Contest::Rulings);
    }
    let parts = weighed.map(|it| 2 * u64::from(it.total).abs_diff(WHOLE / 2));
    let close = parts.is_some_and(|parts| parts < CLOSE_PARTS * WHOLE / 100);
    if close || margin.is_some_and(|margin| margin < CLOSE) {
        contests.push(Contest::Margin);
    }
    contests
}

/// Whether a judge ruled otherwise when it was shown the sides the other way round.
fn turns_with_the_order(debate: &Debate, bench: &[(Cue, Side)]) -> bool {
    let ruled = |nth: u8| bench.iter().find(|pick| pick.0.seat == nth).map(|pick| pick.1);
    mirrored(debate).any(|(judge, mirror)| {
        ruled(judge).zip(ruled(mirror)).is_some_and(|(one, other)| one != other)
    })
}

/// Each judge that is also shown the sides the other way round, and the seat it then has, by their
/// numbers. The mirrors are those of the judges that are models, in their order.
pub fn mirrored(debate: &Debate) -> impl Iterator<Item = (u8, u8)> {
    let seats = |role: Role| {
        let all = (0u8..).zip(debate.seats());
        all.filter(move |(_, seat)| seat.role == role && !seat.voice.awaited()).map(|(nth, _)| nth)
    };
    seats(Role::Judge).zip(seats(Role::Mirror))
}

/// How often other judges agreed with a ruling of such a margin, as it was measured on several
/// thousand of them; where the rulings do not agree, or went the other way, no better than chance. A
/// ruling nobody made with the sides swapped is not trusted further than the middle; where nobody
/// ruled, marks and votes are no better than chance.
fn confidence(bench: &[(Cue, Side)], margin: Option<u8>, contests: &[Contest]) -> u8 {
    let by_margin = match margin {
        None | Some(0..10) => 50,
        Some(10..15) => 61,
        Some(15..20) => 79,
        Some(_) => 92,
    };
    let most = match bench.len() {
        0 => 50,
        1 => 79,
        _ => 92,
    };
    let split = contests.iter().any(|why| *why != Contest::Margin);
    if split { by_margin.min(50) } else { by_margin.min(most) }
}

/// What the bench comes to by itself.
fn decide(debate: &Debate, bench: &[(Cue, Side)]) -> (Side, Basis) {
    let of = |wanted: Side| -> u32 {
        let picks = bench.iter().filter(|pick| pick.1 == wanted);
        picks.map(|pick| u32::from(debate.seat(pick.0).weight)).sum()
    };
    match (bench, of(Side::Pro).cmp(&of(Side::Con))) {
        ([only], _) => (only.1, Basis::Ruling),
        ([first, rest @ ..], _) if rest.iter().all(|pick| pick.1 == first.1) => {
            (first.1, Basis::Agreement)
        }
        (_, Ordering::Greater) => (Side::Pro, Basis::Majority),
        (_, Ordering::Less) => (Side::Con, Basis::Majority),
        (_, Ordering::Equal) => tie_break(debate),
    }
}

/// Fewer wrong citations, then fewer opposing claims left unanswered, then the larger margin, then
/// the proposer.
fn tie_break(debate: &Debate) -> (Side, Basis) {
    let (pro, con) = (ledger::tally(debate, Side::Pro), ledger::tally(debate, Side::Con));
    let fewer = |pro: usize, con: usize| match pro.cmp(&con) {
        Ordering::Less => Some(Side::Pro),
        Ordering::Greater => Some(Side::Con),
        Ordering::Equal => None,
    };
    let margin = |side: Side| {
        let own = rulings(debate).filter(|(_, picked, _)| *picked == side);
        own.filter_map(|(_, _, ruling)| ruling.margin()).max().map_or(0, usize::from)
    };
    fewer(pro.wrong, con.wrong)
        .map(|side| (side, Basis::FewerWrongCitations))
        .or_else(|| fewer(pro.ignored, con.ignored).map(|side| (side, Basis::FewerUnanswered)))
        .or_else(|| {
            let (pro, con) = (margin(Side::Pro), margin(Side::Con));
            fewer(con, pro).map(|side| (side, Basis::LargerMargin))
        })
        .unwrap_or((Side::Pro, Basis::Proposer))
}
