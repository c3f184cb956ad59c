//! JSON replies other than verdicts: scores, petitions, admission rulings, votes and audits.
use super::strict::{Object, Sides, word, word_or_none};
use super::{Fault, WireSide, both, share};
use crate::debate::body::{Body, Fact, Foul, Grounds, Novelty};
use crate::debate::event::Cue;
use crate::debate::format::{Role, Side};
use crate::debate::state::Debate;
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
    pub(super) fn body(self, debate: &Debate, cue: Cue) -> Result<Body, Fault> {
        let name = &debate.seat(cue).name;
        if self.agent_id.as_ref().is_some_and(|said| said != name) {
            return Err(Fault("wrong_shape", format!("`agent_id` must be `{name}`")));
        }
        let side = self.vote.side(Role::Audience);
        Ok(Body::Vote { side, confidence: share(self.confidence)?, because: self.reason })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WirePetition {
    #[serde(deserialize_with = "word")]
    intent: Intent,
    #[serde(default)]
    claim: String,
    #[serde(default, deserialize_with = "word_or_none")]
    novelty: Option<Novelty>,
    #[serde(default)]
    confidence: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Intent {
    SupportPro,
    SupportCon,
    None,
}

impl WirePetition {
    /// Claim, novelty and confidence are required only if the listener requests to speak.
    pub(super) fn body(self) -> Result<Body, Fault> {
        let supports = match self.intent {
            Intent::SupportPro => Some(Side::Pro),
            Intent::SupportCon => Some(Side::Con),
            Intent::None => None,
        };
        let missing = |name: &str| Fault("wrong_shape", format!("missing field `{name}`"));
        if supports.is_some() {
            if self.claim.trim().is_empty() {
                return Err(missing("claim"));
            }
            self.novelty.ok_or_else(|| missing("novelty"))?;
            self.confidence.ok_or_else(|| missing("confidence"))?;
        }
        let confidence = share(self.confidence.unwrap_or(0.0))?;
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
    pub(super) fn body(self) -> Body {
        let WireRuling { new_information, avoids_repetition, shifts_balance, .. } = self;
        Body::Ruling {
            admits: self.admits.filter(|name| !name.is_empty()),
            grounds: Grounds { new_information, avoids_repetition, shifts_balance },
            because: self.because,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireAudit {
    facts: Vec<Object<WireFact>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFact {
    claim: String,
    #[serde(deserialize_with = "word")]
    tag: Tag,
    #[serde(default)]
    by: String,
    #[serde(default)]
    id: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tag {
    OfficialDocs,
    CommunityFeedback,
    PersonalBlog,
    NoSource,
    Exaggerated,
}

impl WireAudit {
    pub(super) fn body(self) -> Body {
        let fact = |Object(f): Object<WireFact>| Fact {
            claim: f.claim,
            tag: f.tag.word(),
            by: f.by,
            id: f.id,
        };
        Body::Audit { facts: self.facts.into_iter().map(fact).collect() }
    }
}

impl Tag {
    fn word(self) -> String {
        match self {
            Tag::OfficialDocs => "official-docs",
            Tag::CommunityFeedback => "community-feedback",
            Tag::PersonalBlog => "personal-blog",
            Tag::NoSource => "no-source",
            Tag::Exaggerated => "exaggerated",
        }
        .into()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireScore {
    round: u8,
    scores: Sides<Object<Marks>>,
    foul: bool,
    #[serde(default)]
    fouls: Vec<Object<WireFoul>>,
    comment: String,
}

/// Marks of one side for a round, 0 to 10.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Marks {
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
    kind: Misconduct,
    #[serde(default)]
    note: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Misconduct {
    AdHominem,
    OffTopic,
    Disruption,
    RuleBroken,
    Other,
}

impl Misconduct {
    fn word(self) -> &'static str {
        match self {
            Misconduct::AdHominem => "ad_hominem",
            Misconduct::OffTopic => "off_topic",
            Misconduct::Disruption => "disruption",
            Misconduct::RuleBroken => "rule_broken",
            Misconduct::Other => "other",
        }
    }
}

impl WireScore {
    pub(super) fn body(self, debate: &Debate, cue: Cue) -> Result<Body, Fault> {
        let (role, round) = (debate.seat(cue).role, cue.round);
        if self.round != round {
            let says = format!("`round` is {}; this is round {round}", self.round);
            return Err(Fault("wrong_shape", says));
        }
        if self.foul == self.fouls.is_empty() {
            let says = "`foul` must be true exactly if `fouls` has an entry";
            return Err(Fault("wrong_shape", says.into()));
        }
        let foul = |Object(foul): Object<WireFoul>| Foul {
            side: foul.side.side(role),
            kind: foul.kind.word().into(),
            note: foul.note,
        };
        let (Object(pro), Object(con)) = both(self.scores.0, role)?;
        Ok(Body::Score {
            pro: pro.tenths()?,
            con: con.tenths()?,
            fouls: self.fouls.into_iter().map(foul).collect(),
            comment: self.comment,
        })
    }
}

impl Marks {
    #[expect(clippy::cast_sign_loss, reason = "the range is checked")]
    fn tenths(&self) -> Result<BTreeMap<String, u8>, Fault> {
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
            Err(Fault("out_of_range", format!("{name} is {mark}; it must be 0 to 10")))
        };
        marks.into_iter().map(mark).collect()
    }
}
