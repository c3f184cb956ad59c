//! What a dialogue comes to: no winner, but an end of one of three kinds, and what was learned.
use super::body::{Body, Section};
use super::format::Role;
use super::state::Debate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far those who talked agree in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// They do.
    Consensus,
    /// In part.
    Partial,
    /// They do not.
    Disagreement,
}

impl End {
    /// As it is written.
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

/// What turns a word into its opposite.
const DENIALS: &[&str] = &["not", "no", "never", "without", "没有", "未"];

/// Which of the three ends a text states: the first word under its heading, unless the line goes on to
/// take it back.
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

/// What was learned, as it is written.
pub fn learned(sections: &[Section]) -> Option<&str> {
    part(sections, INSIGHTS)
}

/// The parts in which whoever led a dialogue has put what came of it.
pub fn insights(debate: &Debate) -> Option<&[Section]> {
    let ending = debate.setup().ending();
    debate.spoken(..).rev().find_map(|(cue, body)| match body {
        Body::Sections { sections } if cue.act == ending && debate.seat(cue).role == Role::Lead => {
            Some(sections.as_slice())
        }
        _ => None,
    })
}
