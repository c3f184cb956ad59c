//! Parsed replies: one variant of [`Body`] per reply kind. The parser is in `reply`.
//!
//! Eight kinds serve all formats. A report, a digest and the insights of a dialogue are all
//! `Sections`. A rule validates which sections are present, so a new kind of report needs no new
//! stored type.
use crate::debate::setup::format::{ReplyKind, Side};
use crate::debate::setup::reviewed_change::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod judge_ruling;

pub use judge_ruling::{
    AgreedPoint, BlindSpot, ClaimCheck, DebateQuality, DecisionChange, DisputedPoint, JudgeRuling,
    QualityLevel, RubricMarks, RulingScores,
};

/// A parsed reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// A spoken turn. Without a valid claims block the lists are empty.
    Speech {
        /// Prose, without the claims block.
        text: String,
        /// Claims made in this turn.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        claims: Vec<Claim>,
        /// Opposing claims that this turn accepts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        concedes: Vec<Concession>,
        /// The speaker's own claims that the other side has resolved.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        resolves: Vec<Resolution>,
        /// Request for help from an audience seat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<HelpRequest>,
        /// Error of the claims block parser, or a note that the block is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unstructured: Option<String>,
    },
    /// Marks of a judge for one round, by dimension. In tenths, so that 7.5 is an integer.
    Score {
        /// Marks of the proposer.
        pro: BTreeMap<String, u8>,
        /// Marks of the challenger.
        con: BTreeMap<String, u8>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fouls: Vec<Foul>,
        comment: String,
    },
    /// Answer of an audience seat to the question whether it wants to speak.
    Petition {
        /// The side it wants to speak for. None: it does not want to speak.
        supports: Option<Side>,
        /// The claim it would make.
        claim: String,
        #[serde(default)]
        novelty: Novelty,
        /// In hundredths.
        #[serde(default)]
        confidence: u8,
    },
    /// Decision of the judge about which audience seat may speak this round.
    Ruling {
        /// Name of the admitted seat. None: no seat is admitted.
        admits: Option<String>,
        /// Criteria for the admission.
        #[serde(default)]
        grounds: AdmissionGrounds,
        /// Reason for the decision.
        because: String,
    },
    /// Vote of one audience seat.
    Vote {
        side: Side,
        /// In hundredths.
        confidence: u8,
        /// Reason for the vote.
        because: String,
    },
    /// Factual claims found by an auditor, each with a source tag.
    Audit { facts: Vec<AuditedFact> },
    /// Final ruling of a judge.
    Verdict(Box<JudgeRuling>),
    /// Text in titled sections: a report, a digest or insights.
    Sections { sections: Vec<Section> },
}

/// A claim with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Id chosen by the side. The same claim keeps it in later rounds.
    pub id: String,
    /// The claim in one sentence.
    pub text: String,
    /// Paths with lines, quotes, commits, documents or benchmarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Ids of the opposing claims that this one answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// Purpose of the claim, in formats that distinguish them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ClaimPurpose>,
    /// Confidence stated by the speaker, in hundredths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
    /// Kind of source stated by the speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ClaimSource>,
    /// Severity stated by the speaker, in a code review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

/// Purpose of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Part")]
pub enum ClaimPurpose {
    /// Supports the speaker's stance.
    Argument,
    /// Names a weakness of another stance.
    Weakness,
    /// Anticipates an argument of another stance and answers it.
    Counter,
    /// Answers an argument.
    Rebuttal,
    /// Attacks the weakest assumption of the other stances.
    Premise,
    /// New argument against the other stances.
    Attack,
}

/// Kind of source that an argument cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
#[schemars(rename = "Source")]
pub enum ClaimSource {
    OfficialDocs,
    CommunityFeedback,
    PersonalBlog,
    AcademicPaper,
}

/// Criteria a judge checks before it admits an audience seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Grounds")]
pub struct AdmissionGrounds {
    /// It brings information that is not yet in the debate.
    pub new_information: bool,
    /// It does not repeat what was said before.
    pub avoids_repetition: bool,
    /// It could change the balance between the sides.
    pub shifts_balance: bool,
}

/// Acceptance of an opposing claim, with a verbatim quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Concession {
    /// Id of the opposing claim.
    pub claim: String,
    /// Verbatim quote of the claim.
    pub quote: String,
}

/// Withdrawal of the speaker's own claim because the other side has resolved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Id of the speaker's own claim.
    pub claim: String,
    /// Evidence that resolved it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// A debater's request for help from an audience seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Help")]
pub struct HelpRequest {
    /// `technical`, `ethical` or `practical`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Name of the audience seat.
    pub from: String,
    /// Reason for the request.
    pub because: String,
}

/// Rule violation reported by the judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Foul {
    /// The side that broke the rule.
    pub side: Side,
    /// Kind of violation, such as `off_topic`.
    pub kind: String,
    /// Details.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Factual claim found by an auditor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fact")]
pub struct AuditedFact {
    pub claim: String,
    /// Source tag: `official-docs`, `no-source` and the like.
    pub tag: String,
    /// Name of the speaker.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Id of the claim, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// Whether a petition adds something new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// Adds a new point.
    New,
    /// Supports a point already made.
    #[default]
    Reinforcement,
}

/// Titled section of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    pub title: String,
    pub text: String,
}

impl ClaimSource {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            ClaimSource::OfficialDocs => "official-docs",
            ClaimSource::CommunityFeedback => "community-feedback",
            ClaimSource::PersonalBlog => "personal-blog",
            ClaimSource::AcademicPaper => "academic-paper",
        }
    }
}

impl Body {
    /// Returns the reply kind of this body.
    pub fn kind(&self) -> ReplyKind {
        match self {
            Body::Speech { .. } => ReplyKind::Speech,
            Body::Score { .. } => ReplyKind::Score,
            Body::Petition { .. } => ReplyKind::Petition,
            Body::Ruling { .. } => ReplyKind::Ruling,
            Body::Vote { .. } => ReplyKind::Vote,
            Body::Audit { .. } => ReplyKind::Audit,
            Body::Verdict(_) => ReplyKind::Verdict,
            Body::Sections { .. } => ReplyKind::Sections,
        }
    }

    /// Builds an unstructured speech: text without a claims block.
    pub fn from_prose(text: impl Into<String>) -> Body {
        Body::Speech {
            text: text.into(),
            claims: vec![],
            concedes: vec![],
            resolves: vec![],
            help: None,
            unstructured: Some("there is no claims block".into()),
        }
    }

    /// Builds a speech that has one claim and no text.
    pub fn from_claim(claim: Claim) -> Body {
        Body::Speech {
            text: String::new(),
            claims: vec![claim],
            concedes: vec![],
            resolves: vec![],
            help: None,
            unstructured: None,
        }
    }

    /// Returns the claims of a speech, and an empty slice for other kinds.
    pub fn claims(&self) -> &[Claim] {
        match self {
            Body::Speech { claims, .. } => claims,
            _ => &[],
        }
    }

    /// Returns the concessions of a speech, and an empty slice for other kinds.
    pub fn concessions(&self) -> &[Concession] {
        match self {
            Body::Speech { concedes, .. } => concedes,
            _ => &[],
        }
    }

    /// Returns the resolutions of a speech, and an empty slice for other kinds.
    pub fn resolutions(&self) -> &[Resolution] {
        match self {
            Body::Speech { resolves, .. } => resolves,
            _ => &[],
        }
    }

    /// Whether this is a speech with a valid claims block. Rules about claims apply only then.
    pub(in crate::debate) fn is_structured(&self) -> bool {
        matches!(self, Body::Speech { unstructured: None, .. })
    }

    /// Whether this is a petition that does not ask to speak.
    pub fn is_declined_petition(&self) -> bool {
        matches!(self, Body::Petition { supports: None, .. })
    }

    /// Returns the help request of a speech.
    pub fn help_request(&self) -> Option<&HelpRequest> {
        match self {
            Body::Speech { help, .. } => help.as_ref(),
            _ => None,
        }
    }

    /// Renders the human-readable text: the prose, the reason, or a Markdown list.
    pub fn to_text(&self) -> String {
        match self {
            Body::Speech { text, .. } => text.clone(),
            Body::Score { comment, .. } => comment.clone(),
            Body::Petition { claim, .. } => claim.clone(),
            Body::Ruling { because, .. } | Body::Vote { because, .. } => because.clone(),
            Body::Audit { facts } => {
                let line = |fact: &AuditedFact| {
                    let id =
                        if fact.id.is_empty() { String::new() } else { format!(" {}", fact.id) };
                    let by = if fact.by.is_empty() { "" } else { fact.by.as_str() };
                    match format!("{by}{id}").trim() {
                        "" => format!("- [{}] {}", fact.tag, fact.claim),
                        attribution => format!("- [{}] {} ({attribution})", fact.tag, fact.claim),
                    }
                };
                facts.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Body::Verdict(ruling) => ruling.because.clone(),
            Body::Sections { sections } => {
                let part = |s: &Section| format!("### {}\n\n{}", s.title, s.text.trim());
                sections.iter().map(part).collect::<Vec<_>>().join("\n\n")
            }
        }
    }
}
