//! Final ruling of a judge: winner, scores, reasons and checks of single claims. The main type is
//! [`JudgeRuling`], the content of `Body::Verdict`. `reply::verdict` parses it, `rules::verdict`
//! checks it, and `debate::verdict` combines the rulings of all judges.
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Final ruling of a judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ruling")]
pub struct JudgeRuling {
    /// The winner. Optional here, because a validation rule rejects a ruling without one.
    pub side: Option<Side>,
    /// Confidence stated by the judge, in hundredths. The margin of the scores is more reliable.
    #[serde(default)]
    pub confidence: u8,
    /// Total scores, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<RulingScores>,
    /// Marks by criterion, in formats with a rubric. They add up to the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricMarks>,
    /// Reasons for the decision.
    pub because: String,
    /// Turns that the ruling cites.
    pub cites: Vec<Cue>,
    /// Rating of the debate itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<DebateQuality>,
    /// Points both sides accept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<AgreedPoint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<DisputedPoint>,
    /// Questions that neither side answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
    /// Recommended action.
    #[serde(default)]
    pub recommendation: String,
    /// The round that decided the debate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turning_round: Option<u8>,
    /// Id of the decisive claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisive: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<BlindSpot>,
    /// Whether the debate changed the decision. Only if both sides gave sealed answers first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<DecisionChange>,
    /// Checks of single claims, answered before the ruling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ClaimCheck>,
    /// Reason for a ruling against the side that the checks favor.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub despite: String,
}

/// Yes-or-no questions about one claim. Judges answer these more reliably than who has won.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Check")]
pub struct ClaimCheck {
    /// The side that made the claim.
    pub side: Side,
    /// Id of the claim.
    pub claim: String,
    /// The other side answered it on the merits.
    pub answered: bool,
    /// Verified evidence supports it.
    pub supported: bool,
    /// The other side conceded it.
    pub conceded: bool,
}

impl ClaimCheck {
    /// Whether the claim holds: it was conceded, or it is supported and was not answered.
    pub fn upholds_claim(&self) -> bool {
        self.conceded || (self.supported && !self.answered)
    }
}

/// Whether the debate changed the decision that the sealed answers would have led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Changed")]
pub struct DecisionChange {
    /// True if the decision changed.
    pub decision: bool,
    /// The reason.
    pub because: String,
}

/// Scores of both sides, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the sides")]
#[schemars(rename = "Scores")]
pub struct RulingScores {
    pub pro: u8,
    pub con: u8,
}

/// Marks of both sides, by criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the sides")]
#[schemars(rename = "Rubric")]
pub struct RubricMarks {
    pub pro: BTreeMap<String, u8>,
    pub con: BTreeMap<String, u8>,
}

impl RubricMarks {
    /// Criteria with the maximum mark of each. The maxima add up to 100.
    pub const CRITERIA: [(&str, u8); 5] = [
        ("argument_quality", 30),
        ("evidence", 25),
        ("rebuttal", 20),
        ("expression", 15),
        ("overall_logic", 10),
    ];

    /// Adds up the marks of each side.
    pub fn totals(&self) -> RulingScores {
        let sum =
            |marks: &BTreeMap<String, u8>| marks.values().fold(0, |a: u8, b| a.saturating_add(*b));
        RulingScores { pro: sum(&self.pro), con: sum(&self.con) }
    }
}

/// Rating of the debate, independent of the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Quality")]
pub struct DebateQuality {
    /// Whether the challenger kept a position of its own.
    pub disagreement: QualityLevel,
    /// Whether both sides cited evidence instead of generalities.
    pub evidence: QualityLevel,
    /// Whether the challenges addressed the substance.
    pub depth: QualityLevel,
}

/// Three-level rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
#[schemars(rename = "Level")]
pub enum QualityLevel {
    High,
    Medium,
    Low,
}

/// A point both sides accept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Agreement")]
pub struct AgreedPoint {
    pub point: String,
    /// Evidence for it.
    #[serde(default)]
    pub evidence: String,
}

/// A point on which the sides differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Disagreement")]
pub struct DisputedPoint {
    pub point: String,
    /// Argument of the proposer.
    pub pro: String,
    /// Argument of the challenger.
    pub con: String,
}

/// Something that a side overlooked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlindSpot {
    pub side: Side,
    pub text: String,
}

impl JudgeRuling {
    /// Returns the absolute difference of the scores, if there are any.
    pub fn margin(&self) -> Option<u8> {
        self.scores.map(|scores| scores.pro.abs_diff(scores.con))
    }
}

impl QualityLevel {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            QualityLevel::High => "high",
            QualityLevel::Medium => "medium",
            QualityLevel::Low => "low",
        }
    }
}
