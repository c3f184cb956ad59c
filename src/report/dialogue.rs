//! The result of a dialogue: its outcome (`consensus`, `partial` or `disagreement`), the insights
//! and the user's decision. A dialogue has no winner, and its suggestions are never carried out.
use super::summary::header;
use super::text::{demoted, one_line};
use crate::debate::insights::{DialogueOutcome, concluding_sections, key_insights, parse_outcome};
use crate::debate::{Debate, DebateOutcome, Role, Section};
use std::fmt::Write;

/// Text for a dialogue on which the user has recorded no decision.
pub const UNDECIDED: &str = "None recorded. Silence is not consent: nothing may be changed because \
                             of this dialogue without the user's explicit word.";
/// Notice below every dialogue: suggestions are shown, never carried out.
pub const SUGGESTIONS: &str =
    "Suggestions made in this dialogue are shown and never carried out by it.";

/// Renders the summary of a dialogue as Markdown.
pub(super) fn dialogue(debate: &Debate) -> String {
    let outcome = format!("Outcome: {}", outcome(debate));
    let mut text = header(debate, &[Role::Lead, Role::Partner], &[outcome]);
    if let Some(says) = sentence(debate) {
        let _ = write!(text, "\n{}\n", one_line(&says));
    }
    conclusion(&mut text, debate);
    text
}

/// Renders insights and decision. The Markdown record ends with the same section.
pub(super) fn conclusion(text: &mut String, debate: &Debate) {
    let sections = concluding_sections(debate).unwrap_or_default();
    let learned = key_insights(sections).map_or_else(|| unlearned(debate).to_owned(), demoted);
    let _ = write!(text, "\n### Key Insights\n\n{learned}\n");
    for title in ["Common Ground", "Open Disagreement"] {
        if let Some(said) = part(sections, title) {
            let _ = write!(text, "\n### {title}\n\n{}\n", demoted(said));
        }
    }
    let decision = debate.decision().map_or_else(|| UNDECIDED.to_owned(), demoted);
    let _ = write!(text, "\n### User's Decision\n\n{decision}\n\n> {SUGGESTIONS}\n");
}

fn unlearned(debate: &Debate) -> &'static str {
    match debate.outcome() {
        None => "Not summed up yet.",
        Some(DebateOutcome::Cancelled) => "Cancelled before it was summed up.",
        Some(_) => "[INCOMPLETE] Nobody summed it up.",
    }
}

/// The outcome as one word: `consensus`, `partial` or `disagreement`, or why there is none.
pub(super) fn outcome(debate: &Debate) -> &'static str {
    match (ended(debate), debate.outcome()) {
        (Some(end), _) => end.as_str(),
        (None, None) => "(open)",
        (None, Some(DebateOutcome::Cancelled)) => "cancelled",
        (None, Some(_)) => "not stated",
    }
}

/// How far the participants agree in the end, parsed from the insights.
pub fn ended(debate: &Debate) -> Option<DialogueOutcome> {
    parse_outcome(concluding_sections(debate)?)
}

/// The explanation after the outcome word.
fn sentence(debate: &Debate) -> Option<String> {
    let said = part(concluding_sections(debate)?, "Outcome")?;
    let word = said.trim_start_matches(|c: char| !c.is_alphabetic());
    let rest = word.trim_start_matches(char::is_alphabetic);
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Finds the text of a section by its title, ignoring case. `None` if it is missing or empty.
pub fn part<'a>(sections: &'a [Section], title: &str) -> Option<&'a str> {
    let of = |section: &&Section| section.title.trim().eq_ignore_ascii_case(title);
    let text = sections.iter().find(of)?.text.trim();
    (!text.is_empty()).then_some(text)
}
