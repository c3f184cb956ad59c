//! What a seat can say, already parsed: text becomes a body elsewhere, or the turn has failed.
//!
//! Eight kinds carry five formats. A report, a digest and the insights of a dialogue are all
//! sections; a rule says which sections, so a new report is a row and not a new stored type.
use super::format::Side;
use super::proposed::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod ruling;

pub use ruling::{
    Agreement, BlindSpot, Changed, Check, Disagreement, Level, Quality, Rubric, Ruling, Scores,
};

/// A reply, by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// Said aloud. A turn without a claims block is still a turn: its lists are empty.
    Speech {
        /// Without the claims block.
        text: String,
        /// What it asserts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        claims: Vec<Claim>,
        /// What of the other side it accepts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        concedes: Vec<Concession>,
        /// Concerns of one's own, by claim, that the other side has put to rest.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        resolves: Vec<Resolution>,
        /// Whom it asks for help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<Help>,
        /// Why the claims block could not be read, or that there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unstructured: Option<String>,
    },
    /// Marks in tenths, by dimension, because 7.5 must survive being stored and compared.
    Score {
        /// Of the side for.
        pro: BTreeMap<String, u8>,
        /// Of the side against.
        con: BTreeMap<String, u8>,
        /// Who broke which rule.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fouls: Vec<Foul>,
        /// The judge's note.
        comment: String,
    },
    /// An audience seat asks for the floor, or says that it does not.
    Petition {
        /// The side it would speak for; none if it does not ask.
        supports: Option<Side>,
        /// What it would say.
        claim: String,
        /// Whether that is new.
        #[serde(default)]
        novelty: Novelty,
        /// In hundredths.
        #[serde(default)]
        confidence: u8,
    },
    /// Which listener has the floor this round, by name.
    Ruling {
        /// Nobody, if none.
        admits: Option<String>,
        /// What was asked about whoever is let in.
        #[serde(default)]
        grounds: Grounds,
        /// Why.
        because: String,
    },
    /// One voice of the audience.
    Vote {
        /// For whom.
        side: Side,
        /// In hundredths.
        confidence: u8,
        /// Why.
        because: String,
    },
    /// Each factual claim found, with its tag.
    Audit {
        /// In the order they were found.
        facts: Vec<Fact>,
    },
    /// A judge's ruling on the whole.
    Verdict(Box<Ruling>),
    /// A text in named parts.
    Sections {
        /// In order.
        sections: Vec<Section>,
    },
}

/// A reply contract: which kind of body a phase asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each names the body of the same name")]
pub enum Kind {
    Speech,
    Score,
    Petition,
    Ruling,
    Vote,
    Audit,
    Verdict,
    Sections,
}

/// Something asserted, with what is offered for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The side's own name for it, kept from round to round.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// Paths with lines, quotes, commits, documents, benchmarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The opposing claims this one answers, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// What it is there for, where a format tells its claims apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// In hundredths, as the speaker says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
    /// What it rests on, as the speaker says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How grave it is, as the speaker says it, where a change is reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

/// What a claim is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// One of the arguments a stance rests on.
    Argument,
    /// Where another stance is weak.
    Weakness,
    /// What another stance will say, and the answer to it.
    Counter,
    /// An answer to an argument.
    Rebuttal,
    /// Against the weakest assumption of the others.
    Premise,
    /// Something new against the others.
    Attack,
}

/// What an argument is said to rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they say it")]
pub enum Source {
    OfficialDocs,
    CommunityFeedback,
    PersonalBlog,
    AcademicPaper,
}

/// What a judge is asked about a listener who wants the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grounds {
    /// Does it bring something that was not said?
    pub new_information: bool,
    /// Or does it say again what was?
    pub avoids_repetition: bool,
    /// Would it break the balance there is?
    pub shifts_balance: bool,
}

/// An opposing claim accepted, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Concession {
    /// The opposing claim, by id.
    pub claim: String,
    /// Its words.
    pub quote: String,
}

/// A concern of one's own that has been put to rest, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// One's own claim, by id.
    pub claim: String,
    /// What convinced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// A call for an audience seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Help {
    /// `technical`, `ethical` or `practical`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The audience seat asked, by name.
    pub from: String,
    /// Why.
    pub because: String,
}

/// A broken rule of conduct, as the judge saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Foul {
    /// Whose.
    pub side: Side,
    /// Which.
    pub kind: String,
    /// How.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A factual claim an auditor found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What is claimed.
    pub claim: String,
    /// What it rests on: `official-docs`, `no-source` and the like.
    pub tag: String,
    /// Who claims it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Under which id, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// Whether a petition brings something new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// It does.
    New,
    /// It strengthens what was said.
    #[default]
    Reinforcement,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What stands under it.
    pub text: String,
}

impl Source {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Source::OfficialDocs => "official-docs",
            Source::CommunityFeedback => "community-feedback",
            Source::PersonalBlog => "personal-blog",
            Source::AcademicPaper => "academic-paper",
        }
    }
}

impl Body {
    /// Which contract it fulfils.
    pub fn kind(&self) -> Kind {
        match self {
            Body::Speech { .. } => Kind::Speech,
            Body::Score { .. } => Kind::Score,
            Body::Petition { .. } => Kind::Petition,
            Body::Ruling { .. } => Kind::Ruling,
            Body::Vote { .. } => Kind::Vote,
            Body::Audit { .. } => Kind::Audit,
            Body::Verdict(_) => Kind::Verdict,
            Body::Sections { .. } => Kind::Sections,
        }
    }

    /// A speech with nothing but text, which is therefore unstructured.
    pub fn prose(text: impl Into<String>) -> Body {
        Body::Speech {
            text: text.into(),
            claims: vec![],
            concedes: vec![],
            resolves: vec![],
            help: None,
            unstructured: Some("there is no claims block".into()),
        }
    }

    /// A speech with nothing but one claim.
    pub fn claiming(claim: Claim) -> Body {
        Body::Speech {
            text: String::new(),
            claims: vec![claim],
            concedes: vec![],
            resolves: vec![],
            help: None,
            unstructured: None,
        }
    }

    /// What it asserts.
    pub fn claims(&self) -> &[Claim] {
        match self {
            Body::Speech { claims, .. } => claims,
            _ => &[],
        }
    }

    /// What it accepts of the other side.
    pub fn concedes(&self) -> &[Concession] {
        match self {
            Body::Speech { concedes, .. } => concedes,
            _ => &[],
        }
    }

    /// Which concerns of its own it takes back.
    pub fn resolves(&self) -> &[Resolution] {
        match self {
            Body::Speech { resolves, .. } => resolves,
            _ => &[],
        }
    }

    /// Whether there was a claims block to read, so that rules about it can be asked.
    pub fn structured(&self) -> bool {
        matches!(self, Body::Speech { unstructured: None, .. })
    }

    /// Asked whether it wants the floor, it does not.
    pub fn declines(&self) -> bool {
        matches!(self, Body::Petition { supports: None, .. })
    }

    /// Whom it asks for help.
    pub fn help(&self) -> Option<&Help> {
        match self {
            Body::Speech { help, .. } => help.as_ref(),
            _ => None,
        }
    }

    /// What a reader is shown of it: prose, or the nearest thing to it.
    pub fn text(&self) -> String {
        match self {
            Body::Speech { text, .. } => text.clone(),
            Body::Score { comment, .. } => comment.clone(),
            Body::Petition { claim, .. } => claim.clone(),
            Body::Ruling { because, .. } | Body::Vote { because, .. } => because.clone(),
            Body::Audit { facts } => {
                let line = |fact: &Fact| {
                    let id =
                        if fact.id.is_empty() { String::new() } else { format!(" {}", fact.id) };
                    let by = if fact.by.is_empty() { "" } else { fact.by.as_str() };
                    match format!("{by}{id}").trim() {
                        "" => format!("- [{}] {}", fact.tag, fact.claim),
                        who => format!("- [{}] {} ({who})", fact.tag, fact.claim),
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
