//! JSON replies other than verdicts: scores, petitions, admission rulings, votes and audits.
//! `reply::parse` deserializes each `Wire…` type and calls its `into_body`. A score also has the
//! judge's fouls (violations by a side).
use super::parse_error::ParseFault;
use super::strict_json::{SideEntries, StrictObject, word, word_or_none};
use super::wire_values::{WireSide, collect_by_side, to_hundredths};
use crate::debate::record::body::{AdmissionGrounds, AuditedFact, Body, Foul, Novelty};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{Role, Side};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireVote {
    /// Optional. Must be the name of the seat that was asked.
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(deserialize_with = "word")]
    vote: WireSide,
    confidence: f64,
    reason: String,
}

impl WireVote {
    pub(super) fn into_body(self, debate: &Debate, cue: Cue) -> Result<Body, ParseFault> {
        let name = &debate.seat(cue).name;
        if self.agent_id.as_ref().is_some_and(|agent_id| agent_id != name) {
            return Err(ParseFault("wrong_shape", format!("`agent_id` must be `{name}`")));
        }
        let side = self.vote.resolve(Role::Audience);
        Ok(Body::Vote { side, confidence: to_hundredths(self.confidence)?, because: self.reason })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WirePetition {
    #[serde(deserialize_with = "word")]
    intent: PetitionIntent,
    #[serde(default)]
    claim: String,
    #[serde(default, deserialize_with = "word_or_none")]
    novelty: Option<Novelty>,
    #[serde(default)]
    confidence: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PetitionIntent {
    SupportPro,
    SupportCon,
    None,
}

impl WirePetition {
    /// Claim, novelty and confidence are required only if the listener requests to speak.
    pub(super) fn into_body(self) -> Result<Body, ParseFault> {
        let supports = match self.intent {
            PetitionIntent::SupportPro => Some(Side::Pro),
            PetitionIntent::SupportCon => Some(Side::Con),
            PetitionIntent::None => None,
        };
        let missing = |name: &str| ParseFault("wrong_shape", format!("missing field `{name}`"));
        if supports.is_some() {
            if self.claim.trim().is_empty() {
                return Err(missing("claim"));
            }
            self.novelty.ok_or_else(|| missing("novelty"))?;
            self.confidence.ok_or_else(|| missing("confidence"))?;
        }
        let confidence = to_hundredths(self.confidence.unwrap_or(0.0))?;
        let novelty = self.novelty.unwrap_or_default();
        Ok(Body::Petition { supports, claim: self.claim, novelty, confidence })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireRuling {
    /// Required. `null` admits no listener.
    #[serde(deserialize_with = "Option::deserialize")]
    admits: Option<String>,
    new_information: bool,
    avoids_repetition: bool,
    shifts_balance: bool,
    #[serde(alias = "reason")]
    because: String,
}

impl WireRuling {
    pub(super) fn into_body(self) -> Body {
        let WireRuling { new_information, avoids_repetition, shifts_balance, .. } = self;
        Body::Ruling {
            admits: self.admits.filter(|name| !name.is_empty()),
            grounds: AdmissionGrounds { new_information, avoids_repetition, shifts_balance },
            because: self.because,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireAudit {
    facts: Vec<StrictObject<WireFact>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFact {
    claim: String,
    #[serde(deserialize_with = "word")]
    tag: WireTag,
    #[serde(default)]
    by: String,
    #[serde(default)]
    id: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireTag {
    OfficialDocs,
    CommunityFeedback,
    PersonalBlog,
    NoSource,
    Exaggerated,
}

impl WireAudit {
    pub(super) fn into_body(self) -> Body {
        let fact = |StrictObject(f): StrictObject<WireFact>| AuditedFact {
            claim: f.claim,
            tag: f.tag.to_text(),
            by: f.by,
            id: f.id,
        };
        Body::Audit { facts: self.facts.into_iter().map(fact).collect() }
    }
}

impl WireTag {
    fn to_text(self) -> String {
        match self {
            WireTag::OfficialDocs => "official-docs",
            WireTag::CommunityFeedback => "community-feedback",
            WireTag::PersonalBlog => "personal-blog",
            WireTag::NoSource => "no-source",
            WireTag::Exaggerated => "exaggerated",
        }
        .into()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireScore {
    round: u8,
    scores: SideEntries<StrictObject<WireMarks>>,
    foul: bool,
    #[serde(default)]
    fouls: Vec<StrictObject<WireFoul>>,
    comment: String,
}

/// Marks of one side for a round, 0 to 10.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireMarks {
    logic: f64,
    rebuttal: f64,
    clarity: f64,
    evidence: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFoul {
    #[serde(deserialize_with = "word")]
    side: WireSide,
    #[serde(deserialize_with = "word")]
    kind: WireFoulKind,
    #[serde(default)]
    note: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireFoulKind {
    AdHominem,
    OffTopic,
    Disruption,
    RuleBroken,
    Other,
}

impl WireFoulKind {
    fn as_str(self) -> &'static str {
        match self {
            WireFoulKind::AdHominem => "ad_hominem",
            WireFoulKind::OffTopic => "off_topic",
            WireFoulKind::Disruption => "disruption",
            WireFoulKind::RuleBroken => "rule_broken",
            WireFoulKind::Other => "other",
        }
    }
}

impl WireScore {
    pub(super) fn into_body(self, debate: &Debate, cue: Cue) -> Result<Body, ParseFault> {
        let (role, round) = (debate.seat(cue).role, cue.round);
        if self.round != round {
            let message = format!("`round` is {}; this is round {round}", self.round);
            return Err(ParseFault("wrong_shape", message));
        }
        if self.foul == self.fouls.is_empty() {
            let message = "`foul` must be true exactly if `fouls` has an entry";
            return Err(ParseFault("wrong_shape", message.into()));
        }
        let foul = |StrictObject(foul): StrictObject<WireFoul>| Foul {
            side: foul.side.resolve(role),
            kind: foul.kind.as_str().into(),
            note: foul.note,
        };
        let (StrictObject(pro), StrictObject(con)) = collect_by_side(self.scores.0, role)?;
        Ok(Body::Score {
            pro: pro.to_tenths()?,
            con: con.to_tenths()?,
            fouls: self.fouls.into_iter().map(foul).collect(),
            comment: self.comment,
        })
    }
}

impl WireMarks {
    #[expect(clippy::cast_sign_loss, reason = "the range is checked")]
    fn to_tenths(&self) -> Result<BTreeMap<String, u8>, ParseFault> {
        let marks = [
            ("logic", self.logic),
            ("rebuttal", self.rebuttal),
            ("clarity", self.clarity),
            ("evidence", self.evidence),
        ];
        let mark = |(name, mark): (&str, f64)| {
            if (0.0..=10.0).contains(&mark) {
                return Ok((name.to_owned(), (mark * 10.0).round() as u8));
            }
            Err(ParseFault("out_of_range", format!("{name} is {mark}; it must be 0 to 10")))
        };
        marks.into_iter().map(mark).collect()
    }
}
