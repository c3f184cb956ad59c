//! What a judge can say of the whole.
use crate::debate::event::Cue;
use crate::debate::format::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A judge's ruling, with everything a reader is owed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    /// May be missing only until the rule that forbids it has been asked.
    pub side: Option<Side>,
    /// In hundredths, as the judge says it; the margin is the better measure.
    #[serde(default)]
    pub confidence: u8,
    /// Out of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// What the scores are made of, where the format says by which criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
    /// Why.
    pub because: String,
    /// The turns it rests on.
    pub cites: Vec<Cue>,
    /// What the debate itself was worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// What both accept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// Where they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<Disagreement>,
    /// What neither answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
    /// What to do.
    #[serde(default)]
    pub recommendation: String,
    /// The round in which it turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turning_round: Option<u8>,
    /// The claim that decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisive: Option<String>,
    /// What each side did not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<BlindSpot>,
    /// What the debate did to the decision, where both sides had answered before it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// What was answered about single claims before the whole was ruled on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Why it goes to the side for which those answers say less.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub despite: String,
}

/// Narrow questions about one claim: they are answered far more reliably than who has won.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Whose claim.
    pub side: Side,
    /// By id.
    pub claim: String,
    /// Did the other side really answer it?
    pub answered: bool,
    /// Does evidence that was found support it?
    pub supported: bool,
    /// Did the other side concede it?
    pub conceded: bool,
}

impl Check {
    /// Whether the claim stands after all: it was conceded, or it is supported and nobody answered.
    pub fn stands(&self) -> bool {
        self.conceded || (self.supported && !self.answered)
    }
}

/// Whether a debate changed the decision its sealed answers would have led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Or it is the same as without it.
    pub decision: bool,
    /// On what.
    pub because: String,
}

/// Both sides, out of 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the sides")]
pub struct Scores {
    pub pro: u8,
    pub con: u8,
}

/// What each side was given by each criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the sides")]
pub struct Rubric {
    pub pro: BTreeMap<String, u8>,
    pub con: BTreeMap<String, u8>,
}

impl Rubric {
    /// The criteria, and what each counts of a hundred.
    pub const CRITERIA: [(&str, u8); 5] = [
        ("argument_quality", 30),
        ("evidence", 25),
        ("rebuttal", 20),
        ("expression", 15),
        ("overall_logic", 10),
    ];

    /// What they come to.
    pub fn sums(&self) -> Scores {
        let sum =
            |marks: &BTreeMap<String, u8>| marks.values().fold(0, |a: u8, b| a.saturating_add(*b));
        Scores { pro: sum(&self.pro), con: sum(&self.con) }
    }
}

/// Three questions about the debate rather than the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quality {
    /// Did the challenger keep a position of its own?
    pub disagreement: Level,
    /// Did both cite, or argue from generalities?
    pub evidence: Level,
    /// Did the challenges go to the substance?
    pub depth: Level,
}

/// A rating nobody needs decimals for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they say it")]
pub enum Level {
    High,
    Medium,
    Low,
}

/// A point both sides accept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The point.
    pub point: String,
    /// What supports it.
    #[serde(default)]
    pub evidence: String,
}

/// A point on which they differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The point.
    pub point: String,
    /// What the proposer argues.
    pub pro: String,
    /// What the challenger argues.
    pub con: String,
}

/// Something a side did not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlindSpot {
    /// Which side.
    pub side: Side,
    /// What.
    pub text: String,
}

impl Ruling {
    /// How far apart it puts the sides, if it scores them.
    pub fn margin(&self) -> Option<u8> {
        self.scores.map(|scores| scores.pro.abs_diff(scores.con))
    }
}

impl Level {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Level::High => "high",
            Level::Medium => "medium",
            Level::Low => "low",
        }
    }
}
