//! The verdict as a serializable view, with the real names of the sides. Judges see the sides
//! masked as A and B. `verdict_view` is the entry point.
use super::court::{CourtView, court_view};
use super::ledger::{flag_lines, wrong_citations};
use super::participants::turn_name;
use super::unmask::unmask_sides;
use crate::debate::body::{
    AgreedPoint, BlindSpot, ClaimCheck, DebateQuality, DecisionChange, DisputedPoint,
};
use crate::debate::ledger;
use crate::debate::verdict::{
    Judgment, VerdictBasis, WeightedScore, judgment, leading_ruling, rulings,
};
use crate::debate::{Cue, Debate, JudgeRuling, Role, Side, prompt, status};
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict of a debate, with the names of the sides unmasked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerdictView {
    /// Tool that won, or the side if both sides use the same tool.
    pub winner: String,
    /// The winning side.
    pub side: Side,
    /// Rule that decided the verdict.
    pub basis: VerdictBasis,
    /// The same rule as a phrase.
    pub decided: String,
    /// Whether there are reasons to doubt the verdict.
    pub contested: bool,
    /// Reasons to doubt the verdict.
    pub doubts: Vec<String>,
    /// How marks, rulings and votes were weighed. Missing without marks and votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighed: Option<WeightedScore>,
    /// Reasoning of the leading ruling.
    pub reasoning: String,
    /// Turns the leading ruling cites.
    pub cites: Vec<String>,
    /// Confidence in percent, computed from the margin and the agreement of the rulings.
    pub confidence: Option<u8>,
    /// Confidence in percent, as stated by the judge.
    pub stated: Option<u8>,
    /// Difference between the scores of the sides, out of 100. Missing without scores.
    pub margin: Option<u8>,
    /// The judge's rating of the debate itself.
    pub quality: Option<DebateQuality>,
    /// Points both sides accept.
    pub agreements: Vec<AgreedPoint>,
    /// Points on which the sides differ.
    pub disagreements: Vec<DisputedPoint>,
    /// Questions neither side answered.
    pub unresolved: Vec<String>,
    /// Recommended decision.
    pub recommendation: String,
    /// Claims without evidence, with side and claim id.
    pub unsupported: Vec<String>,
    /// Citations that could not be resolved, with their speaker.
    pub wrong: Vec<String>,
    /// Other problems the checks flagged, with the side they count against.
    pub noticed: Vec<String>,
    /// Whether the debate changed the decision of the sealed answers given before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<DecisionChange>,
    /// The claim that decided the verdict, as named by the leading ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisive: Option<DecisiveClaim>,
    /// What each side overlooked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<BlindSpot>,
    /// The judge's answers to narrow questions about single claims, given before the ruling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ClaimCheck>,
    /// The judge's reason for ruling against the balance of those answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub despite: String,
    /// Court part. Missing if no round was marked and no vote was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub court: Option<CourtView>,
    /// Every ruling.
    pub rulings: Vec<RulingView>,
    /// Names that could not be masked for the judge, because the topic contains them.
    pub unmasked: Vec<String>,
}

/// The claim that decided the verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Decisive")]
pub struct DecisiveClaim {
    /// Claim id.
    pub claim: String,
    /// The side that made the claim. Missing if no claim has this id.
    pub side: Option<Side>,
    /// Text of the claim when it was first made.
    pub text: Option<String>,
}

/// A single ruling.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RulingView {
    /// Name of the judge's seat.
    pub seat: String,
    /// Whether this judge saw the sides swapped.
    pub swapped: bool,
    /// Tool or side the ruling is for.
    pub winner: String,
    /// The judge's reasoning.
    pub reasoning: String,
    /// Recommended decision.
    pub recommendation: String,
    /// The proposer's score, out of 100.
    pub pro_score: Option<u8>,
    /// The challenger's score, out of 100.
    pub con_score: Option<u8>,
    /// Difference between the scores. Missing without scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<u8>,
    /// Confidence in percent, as stated by the judge.
    pub confidence: u8,
}

/// Builds the view of the verdict. `None` if the debate has none.
pub fn verdict_view(debate: &Debate) -> Option<VerdictView> {
    let Judgment { winner, basis, weighted_score, contest_reasons, confidence, .. } =
        judgment(debate)?;
    let no_ruling = JudgeRuling::default();
    let opposing = leading_ruling(debate, winner.other());
    let (cue, ruling) = leading_ruling(debate, winner)
        .or(opposing)
        .map_or((None, &no_ruling), |(cue, ruling)| (Some(cue), ruling));
    let is_for_winner = ruling.side == Some(winner);
    let unmask =
        |text: &str| cue.map_or_else(|| text.to_owned(), |cue| unmask_sides(debate, cue, text));
    let unmask_disputed = |point: &DisputedPoint| DisputedPoint {
        point: unmask(&point.point),
        pro: unmask(&point.pro),
        con: unmask(&point.con),
    };
    let unmask_agreed = |point: &AgreedPoint| AgreedPoint {
        point: unmask(&point.point),
        evidence: unmask(&point.evidence),
    };
    Some(VerdictView {
        winner: status::side_name(debate, winner),
        side: winner,
        basis,
        decided: basis.describe().into(),
        contested: !contest_reasons.is_empty(),
        doubts: contest_reasons.iter().map(|reason| reason.describe().into()).collect(),
        weighed: weighted_score,
        reasoning: match (is_for_winner, cue) {
            (true, _) => unmask(&ruling.because),
            (false, Some(_)) => overruled_text(debate, winner, &unmask(&ruling.because)),
            (false, None) => format!("{}.", no_ruling_reason(basis)),
        },
        cites: ruling.cites.iter().map(|cited| turn_name(debate, *cited)).collect(),
        confidence,
        stated: cue.map(|_| ruling.confidence),
        margin: ruling.margin().filter(|_| is_for_winner),
        quality: ruling.quality,
        agreements: ruling.agreements.iter().map(unmask_agreed).collect(),
        disagreements: ruling.disagreements.iter().map(unmask_disputed).collect(),
        unresolved: ruling.unresolved.iter().map(|text| unmask(text)).collect(),
        recommendation: match (is_for_winner, cue) {
            (false, Some(_)) => overruled_text(debate, winner, &unmask(&ruling.recommendation)),
            _ => unmask(&ruling.recommendation),
        },
        unsupported: unsupported_claims(debate),
        wrong: wrong_citations(debate),
        noticed: flag_lines(debate),
        changed: ruling
            .changed
            .as_ref()
            .map(|it| DecisionChange { decision: it.decision, because: unmask(&it.because) }),
        decisive: ruling
            .decisive
            .as_deref()
            .filter(|_| is_for_winner)
            .map(|id| find_decisive_claim(debate, winner, id)),
        blind_spots: ruling
            .blind_spots
            .iter()
            .map(|spot| BlindSpot { side: spot.side, text: unmask(&spot.text) })
            .collect(),
        checks: ruling.checks.clone(),
        despite: unmask(&ruling.despite),
        court: court_view(debate, winner),
        rulings: rulings(debate).map(|(cue, side, r)| ruling_view(debate, cue, side, r)).collect(),
        unmasked: cue.map(|cue| prompt::render(debate, cue).unmasked).unwrap_or_default(),
    })
}

/// Text of an outvoted judge, marked as an argument for the losing side.
fn overruled_text(debate: &Debate, winner: Side, text: &str) -> String {
    let loser = status::side_name(debate, winner.other());
    format!("Marks and votes outweigh the judge, who ruled for {loser}: {text}")
}

/// Why a side won without any ruling.
fn no_ruling_reason(basis: VerdictBasis) -> &'static str {
    match basis {
        VerdictBasis::Forfeit => "The other side fell silent",
        _ => "Nobody gave a final ruling; marks and votes alone decided",
    }
}

fn ruling_view(debate: &Debate, cue: Cue, side: Side, ruling: &JudgeRuling) -> RulingView {
    let seat = debate.seat(cue);
    RulingView {
        seat: seat.name.clone(),
        swapped: seat.role == Role::Mirror,
        winner: status::side_name(debate, side),
        reasoning: unmask_sides(debate, cue, &ruling.because),
        recommendation: unmask_sides(debate, cue, &ruling.recommendation),
        pro_score: ruling.scores.map(|scores| scores.pro),
        con_score: ruling.scores.map(|scores| scores.con),
        margin: ruling.margin(),
        confidence: ruling.confidence,
    }
}

/// Finds the decisive claim by id, preferring the winner's.
fn find_decisive_claim(debate: &Debate, winner: Side, id: &str) -> DecisiveClaim {
    let entries = ledger::entries(debate, Cue::END);
    let matching = || entries.iter().filter(|entry| entry.claim.id == id);
    let entry = matching().find(|entry| entry.side == winner).or_else(|| matching().next());
    DecisiveClaim {
        claim: id.into(),
        side: entry.map(|entry| entry.side),
        text: entry.map(|entry| entry.claim.text.clone()),
    }
}

/// Claims without evidence, with side and claim id.
pub(super) fn unsupported_claims(debate: &Debate) -> Vec<String> {
    let unsupported =
        ledger::entries(debate, Cue::END).into_iter().filter(ledger::LedgerEntry::is_unsupported);
    unsupported
        .map(|entry| {
            let side = status::side_name(debate, entry.side);
            format!("{side} `{}`: {}", entry.claim.id, entry.claim.text)
        })
        .collect()
}
