//! JSON format of a verdict reply, and its conversion to a [`JudgeRuling`].
use super::strict::{Object, Sides, word, word_or_none};
use super::{Fault, WireSide, both, hundred, share};
use crate::debate::body::{
    Agreement, BlindSpot, Changed, Check, Disagreement, Level, Quality, Rubric, Ruling, Scores,
};
use crate::debate::event::Cue;
use crate::debate::format::Role;
use crate::debate::state::Debate;
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
    scores: Option<Sides<f64>>,
    #[serde(default)]
    rubric: Option<Sides<Object<BTreeMap<String, f64>>>>,
    reasoning: String,
    cites: Vec<String>,
    #[serde(default)]
    quality: Option<Object<WireQuality>>,
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
    blind_spots: Vec<Object<WireBlindSpot>>,
    #[serde(default)]
    changed: Option<Object<Changed>>,
    #[serde(default)]
    checks: Vec<Object<WireCheck>>,
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
    disagreement: Level,
    #[serde(deserialize_with = "word")]
    evidence: Level,
    #[serde(deserialize_with = "word")]
    depth: Level,
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
    pub(super) fn ruling(self, debate: &Debate, cue: Cue) -> Result<Ruling, Fault> {
        let role = debate.seat(cue).role;
        let scores = self.scores.map(|scores| {
            let (pro, con) = both(scores.0, role)?;
            Ok(Scores { pro: hundred(pro)?, con: hundred(con)? })
        });
        let scores = scores.transpose()?;
        let rubric = self.rubric.map(|rubric| rubric_of(rubric, role)).transpose()?;
        let disagreement = |said: WireDisagreement| {
            let named = said.sides.into_iter().filter_map(|(name, text)| {
                let side = serde_json::from_value(name.into()).ok()?;
                Some((side, text.as_str()?.to_owned()))
            });
            let (pro, con) = both(named, role)?;
            Ok(Disagreement { point: said.point, pro, con })
        };
        let disagreements = self.disagreements.into_iter().map(disagreement);
        let citable = debate.citable(cue);
        Ok(Ruling {
            side: self.winner.map(|winner| winner.side(role)),
            confidence: share(self.confidence)?,
            scores: scores.or_else(|| rubric.as_ref().map(Rubric::sums)),
            rubric,
            because: self.reasoning,
            cites: self.cites.iter().map(|cite| cited(cite, &citable)).collect::<Result<_, _>>()?,
            quality: self.quality.map(|Object(q)| Quality {
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
                .map(|Object(spot)| BlindSpot { side: spot.side.side(role), text: spot.text })
                .collect(),
            changed: self.changed.map(|Object(changed)| changed),
            checks: self.checks.into_iter().map(|Object(check)| check.read(role)).collect(),
            despite: self.despite,
        })
    }
}

/// Converts the rubric marks of both sides. The criteria are validated by a rule, not by the
/// parser.
fn rubric_of(said: Sides<Object<BTreeMap<String, f64>>>, role: Role) -> Result<Rubric, Fault> {
    let marks = |Object(marks): Object<BTreeMap<String, f64>>| -> Result<_, Fault> {
        marks.into_iter().map(|(name, mark)| Ok((name, hundred(mark)?))).collect()
    };
    let (pro, con) = both(said.0, role)?;
    Ok(Rubric { pro: marks(pro)?, con: marks(con)? })
}

impl WireCheck {
    fn read(self, role: Role) -> Check {
        let WireCheck { side, claim, answered, supported, conceded } = self;
        Check { side: side.side(role), claim, answered, supported, conceded }
    }
}

impl From<WireAgreement> for Agreement {
    fn from(said: WireAgreement) -> Agreement {
        match said {
            WireAgreement::Full { point, evidence } => Agreement { point, evidence },
            WireAgreement::Bare(point) => Agreement { point, evidence: String::new() },
        }
    }
}

/// Resolves a turn number: `T3` is the third turn in the judge's prompt.
fn cited(cite: &str, citable: &[Cue]) -> Result<Cue, Fault> {
    let number = cite.trim().strip_prefix(['T', 't']).and_then(|n| n.parse::<usize>().ok());
    let turn = number.and_then(|n| citable.get(n.checked_sub(1)?));
    turn.copied().ok_or_else(|| {
        let last = citable.len();
        Fault("unknown_turn", format!("`{}` is no turn; they are T1 to T{last}", short(cite)))
    })
}

fn short(text: &str) -> String {
    text.chars().take(20).collect()
}
