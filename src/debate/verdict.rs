//! What the verdicts and votes on the record come to. Never a default, never a guess: without a
//! verdict or a vote there is no finding for either side.
use super::body::{Body, Ruling};
use super::event::{Cue, Outcome};
use super::format::{Role, Side};
use super::ledger;
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
    /// Weight times confidence for the proposer.
    pub pro: u32,
    /// The same for the challenger.
    pub con: u32,
    /// The same judge, shown the sides both ways round, did not agree with itself; or judges did
    /// not agree with each other.
    pub contested: bool,
    /// The votes that went the other way: where the audience is split.
    pub dissent: Vec<Cue>,
}

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
    /// Rulings and votes, weighed together.
    Votes,
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
            Basis::Votes => "by rulings and votes together",
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

/// Every verdict and every vote counts its seat's weight, by how sure it is. Where there are no
/// votes the rulings decide by themselves; where they are even, the tie-breaks do.
pub fn judgment(debate: &Debate) -> Option<Judgment> {
    if let Some(Outcome::Forfeited { by }) = debate.outcome() {
        let (winner, basis) = (by.other(), Basis::Forfeit);
        return Some(Judgment { winner, basis, pro: 0, con: 0, contested: false, dissent: vec![] });
    }
    let votes: Vec<(Cue, Side, u32)> = debate
        .spoken(..)
        .filter_map(|(cue, body)| match body {
            Body::Vote { side, confidence, .. } => {
                Some((cue, *side, weight(debate, cue, *confidence)))
            }
            _ => None,
        })
        .collect();
    let bench: Vec<(Cue, Side, u32)> = rulings(debate)
        .map(|(cue, side, r)| (cue, side, weight(debate, cue, r.confidence)))
        .collect();
    let total = |wanted: Side| {
        bench.iter().chain(&votes).filter(|pick| pick.1 == wanted).map(|pick| pick.2).sum::<u32>()
    };
    let (pro, con) = (total(Side::Pro), total(Side::Con));
    let (winner, basis) = match pro.cmp(&con) {
        _ if bench.is_empty() && votes.is_empty() => return None,
        Ordering::Greater if !votes.is_empty() => (Side::Pro, Basis::Votes),
        Ordering::Less if !votes.is_empty() => (Side::Con, Basis::Votes),
        _ if bench.is_empty() => tie_break(debate),
        _ => decide(debate, &bench),
    };
    Some(Judgment {
        winner,
        basis,
        pro,
        con,
        contested: bench.iter().any(|pick| pick.1 != bench[0].1),
        dissent: votes.iter().filter(|pick| pick.1 != winner).map(|pick| pick.0).collect(),
    })
}

fn weight(debate: &Debate, cue: Cue, confidence: u8) -> u32 {
    u32::from(debate.seat(cue).weight) * u32::from(confidence)
}

/// What the bench comes to by itself.
fn decide(debate: &Debate, bench: &[(Cue, Side, u32)]) -> (Side, Basis) {
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
