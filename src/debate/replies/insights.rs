//! Parses the conclusion of a dialogue: how far the participants agree, and the key insights.
use crate::debate::record::body::{Body, Section};
use crate::debate::record::state::Debate;
use crate::debate::setup::format::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the participants of a dialogue agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "End")]
pub enum DialogueOutcome {
    /// Full agreement.
    Consensus,
    /// Partial agreement.
    Partial,
    /// No agreement.
    Disagreement,
}

impl DialogueOutcome {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            DialogueOutcome::Consensus => "consensus",
            DialogueOutcome::Partial => "partial",
            DialogueOutcome::Disagreement => "disagreement",
        }
    }
}

const OUTCOME_HEADING: &str = "outcome";
const INSIGHTS_HEADING: &str = "key insights";

fn section_text<'a>(sections: &'a [Section], title: &str) -> Option<&'a str> {
    let has_title = |section: &&Section| section.title.trim().to_lowercase() == title;
    let text = sections.iter().find(has_title)?.text.trim();
    (!text.is_empty()).then_some(text)
}

/// Words that negate the outcome.
const NEGATIONS: &[&str] = &["not", "no", "never", "without", "没有", "未"];

/// Parses the outcome from its section: the first word of the text. None if the rest of the line
/// negates it or names another outcome.
pub fn parse_outcome(sections: &[Section]) -> Option<DialogueOutcome> {
    let line = section_text(sections, OUTCOME_HEADING)?.lines().next()?.to_lowercase();
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let outcomes =
        [DialogueOutcome::Consensus, DialogueOutcome::Partial, DialogueOutcome::Disagreement];
    let first = words.next()?;
    let outcome = outcomes.into_iter().find(|outcome| outcome.as_str() == first)?;
    let contradicts = |word: &str| {
        NEGATIONS.contains(&word) || outcomes.iter().any(|other| other.as_str() == word)
    };
    (!words.any(contradicts)).then_some(outcome)
}

/// Returns the text of the key insights section.
pub fn key_insights(sections: &[Section]) -> Option<&str> {
    section_text(sections, INSIGHTS_HEADING)
}

/// Returns the concluding sections written by the lead of a dialogue.
pub fn concluding_sections(debate: &Debate) -> Option<&[Section]> {
    let ending = debate.setup().ending_act();
    debate.replies_in(..).rev().find_map(|(cue, body)| match body {
        Body::Sections { sections } if cue.act == ending && debate.seat(cue).role == Role::Lead => {
            Some(sections.as_slice())
        }
        _ => None,
    })
}
