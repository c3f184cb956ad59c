//! JSON format of a verdict reply, and its conversion to a [`JudgeRuling`]. `reply::parse`
//! deserializes `WireVerdict` and calls `into_ruling`, which resolves sides and turn numbers of the
//! judge's prompt.
use super::parse_error::ParseFault;
use super::strict_json::{SideEntries, StrictObject, word, word_or_none};
use super::wire_values::{WireSide, collect_by_side, to_hundredths, to_score};
use crate::debate::record::body::{
    AgreedPoint, BlindSpot, ClaimCheck, DebateQuality, DecisionChange, DisputedPoint, JudgeRuling,
    QualityLevel, RubricMarks, RulingScores,
};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Role;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireVerdict {
    #[serde(default, deserialize_with = "word_or_none")]
    winner: Option<WireSide>,
    /// Defaults to 0.
    #[serde(default)]
    confidence: f64,
    #[serde(default)]
    scores: Option<SideEntries<f64>>,
    #[serde(default)]
    rubric: Option<SideEntries<StrictObject<BTreeMap<String, f64>>>>,
    reasoning: String,
    cites: Vec<String>,
    #[serde(default)]
    quality: Option<StrictObject<WireQuality>>,
    #[serde(default)]
    agreements: Vec<WireAgreement>,
    #[serde(default)]
    disagreements: Vec<WireDisagreement>,
    #[serde(default)]
    unresolved: Vec<String>,
    #[serde(default)]
    recommendation: String,
    #[serde(default)]
    turning_round: Option<u8>,
    #[serde(default)]
    decisive: Option<String>,
    #[serde(default)]
    blind_spots: Vec<StrictObject<WireBlindSpot>>,
    #[serde(default)]
    changed: Option<StrictObject<DecisionChange>>,
    #[serde(default)]
    checks: Vec<StrictObject<WireCheck>>,
    #[serde(default)]
    despite: String,
}

/// The judge's answers about one claim. All are required.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireCheck {
    #[serde(deserialize_with = "word")]
    side: WireSide,
    claim: String,
    answered: bool,
    supported: bool,
    conceded: bool,
}

#[derive(Deserialize)]
struct WireQuality {
    #[serde(deserialize_with = "word")]
    disagreement: QualityLevel,
    #[serde(deserialize_with = "word")]
    evidence: QualityLevel,
    #[serde(deserialize_with = "word")]
    depth: QualityLevel,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireAgreement {
    Full {
        point: String,
        #[serde(default)]
        evidence: String,
    },
    Bare(String),
}

#[derive(Deserialize)]
struct WireDisagreement {
    point: String,
    #[serde(flatten)]
    sides: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct WireBlindSpot {
    #[serde(deserialize_with = "word")]
    side: WireSide,
    text: String,
}

impl WireVerdict {
    pub(super) fn into_ruling(self, debate: &Debate, cue: Cue) -> Result<JudgeRuling, ParseFault> {
        let role = debate.seat(cue).role;
        let scores = self.scores.map(|scores| {
            let (pro, con) = collect_by_side(scores.0, role)?;
            Ok(RulingScores { pro: to_score(pro)?, con: to_score(con)? })
        });
        let scores = scores.transpose()?;
        let rubric = self.rubric.map(|rubric| to_rubric(rubric, role)).transpose()?;
        let disagreement = |wire: WireDisagreement| {
            let by_side = wire.sides.into_iter().filter_map(|(name, text)| {
                let side = serde_json::from_value(name.into()).ok()?;
                Some((side, text.as_str()?.to_owned()))
            });
            let (pro, con) = collect_by_side(by_side, role)?;
            Ok(DisputedPoint { point: wire.point, pro, con })
        };
        let disagreements = self.disagreements.into_iter().map(disagreement);
        let citable = debate.citable_turns(cue);
        Ok(JudgeRuling {
            side: self.winner.map(|winner| winner.resolve(role)),
            confidence: to_hundredths(self.confidence)?,
            scores: scores.or_else(|| rubric.as_ref().map(RubricMarks::totals)),
            rubric,
            because: self.reasoning,
            cites: self
                .cites
                .iter()
                .map(|cite| resolve_turn_number(cite, &citable))
                .collect::<Result<_, _>>()?,
            quality: self.quality.map(|StrictObject(q)| DebateQuality {
                disagreement: q.disagreement,
                evidence: q.evidence,
                depth: q.depth,
            }),
            agreements: self.agreements.into_iter().map(Into::into).collect(),
            disagreements: disagreements.collect::<Result<_, _>>()?,
            unresolved: self.unresolved,
            recommendation: self.recommendation,
            turning_round: self.turning_round,
            decisive: self.decisive,
            blind_spots: self
                .blind_spots
                .into_iter()
                .map(|StrictObject(spot)| BlindSpot {
                    side: spot.side.resolve(role),
                    text: spot.text,
                })
                .collect(),
            changed: self.changed.map(|StrictObject(changed)| changed),
            checks: self
                .checks
                .into_iter()
                .map(|StrictObject(check)| check.into_check(role))
                .collect(),
            despite: self.despite,
        })
    }
}

/// Converts the rubric marks of both sides. The criteria are validated by a rule, not by the
/// parser.
fn to_rubric(
    entries: SideEntries<StrictObject<BTreeMap<String, f64>>>,
    role: Role,
) -> Result<RubricMarks, ParseFault> {
    let marks =
        |StrictObject(marks): StrictObject<BTreeMap<String, f64>>| -> Result<_, ParseFault> {
            marks.into_iter().map(|(name, mark)| Ok((name, to_score(mark)?))).collect()
        };
    let (pro, con) = collect_by_side(entries.0, role)?;
    Ok(RubricMarks { pro: marks(pro)?, con: marks(con)? })
}

impl WireCheck {
    fn into_check(self, role: Role) -> ClaimCheck {
        let WireCheck { side, claim, answered, supported, conceded } = self;
        ClaimCheck { side: side.resolve(role), claim, answered, supported, conceded }
    }
}

impl From<WireAgreement> for AgreedPoint {
    fn from(wire: WireAgreement) -> AgreedPoint {
        match wire {
            WireAgreement::Full { point, evidence } => AgreedPoint { point, evidence },
            WireAgreement::Bare(point) => AgreedPoint { point, evidence: String::new() },
        }
    }
}

/// Resolves a turn number: `T3` is the third turn in the judge's prompt.
fn resolve_turn_number(cite: &str, citable: &[Cue]) -> Result<Cue, ParseFault> {
    let number = cite.trim().strip_prefix(['T', 't']).and_then(|n| n.parse::<usize>().ok());
    let turn = number.and_then(|n| citable.get(n.checked_sub(1)?));
    turn.copied().ok_or_else(|| {
        let last = citable.len();
        ParseFault(
            "unknown_turn",
            format!("`{}` is no turn; they are T1 to T{last}", truncate(cite)),
        )
    })
}

/// Characters of an invalid turn number that its error message repeats.
const MAX_CITE_CHARS: usize = 20;

fn truncate(text: &str) -> String {
    text.chars().take(MAX_CITE_CHARS).collect()
}
