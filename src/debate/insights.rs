//! Parses the conclusion of a dialogue: how far the participants agree, and the key insights.
use super::body::{Body, Section};
use super::format::Role;
use super::state::Debate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the participants of a dialogue agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "End")]
pub enum End {
    Consensus,
    /// Partial agreement.
    Partial,
    Disagreement,
}

impl End {
    /// Returns the serialized name.
    pub fn word(self) -> &'static str {
        match self {
            End::Consensus => "consensus",
            End::Partial => "partial",
            End::Disagreement => "disagreement",
        }
    }
}

const OUTCOME: &str = "outcome";
const INSIGHTS: &str = "key insights";

fn part<'a>(sections: &'a [Section], title: &str) -> Option<&'a str> {
    let of = |section: &&Section| section.title.trim().to_lowercase() == title;
    let text = sections.iter().find(of)?.text.trim();
    (!text.is_empty()).then_some(text)
}

/// Words that negate the outcome.
const DENIALS: &[&str] = &["not", "no", "never", "without", "没有", "未"];

/// Parses the outcome from its section: the first word of the text. None if the rest of the line
/// negates it or names another outcome.
pub fn end(sections: &[Section]) -> Option<End> {
    let line = part(sections, OUTCOME)?.lines().next()?.to_lowercase();
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let ends = [End::Consensus, End::Partial, End::Disagreement];
    let first = words.next()?;
    let end = ends.into_iter().find(|end| end.word() == first)?;
    let denied =
        |word: &str| DENIALS.contains(&word) || ends.iter().any(|other| other.word() == word);
    (!words.any(denied)).then_some(end)
}

/// Returns the text of the key insights section.
pub fn learned(sections: &[Section]) -> Option<&str> {
    part(sections, INSIGHTS)
}

/// Returns the concluding sections written by the lead of a dialogue.
pub fn insights(debate: &Debate) -> Option<&[Section]> {
    let ending = debate.setup().ending();
    debate.spoken(..).rev().find_map(|(cue, body)| match body {
        Body::Sections { sections } if cue.act == ending && debate.seat(cue).role == Role::Lead => {
            Some(sections.as_slice())
        }
        _ => None,
    })
}
