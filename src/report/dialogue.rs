//! The result of a dialogue: its outcome (`consensus`, `partial` or `disagreement`), the insights
//! and the user's decision. A dialogue has no winner, and its suggestions are never carried out.
use super::sanitize::{demote_headings, one_line};
use super::summary_header::summary_header;
use crate::debate::insights::{DialogueOutcome, concluding_sections, key_insights, parse_outcome};
use crate::debate::{Debate, DebateOutcome, Role, Section};
use std::fmt::Write;

/// Text for a dialogue on which the user has recorded no decision.
pub(super) const NO_DECISION_NOTICE: &str = "None recorded. Silence is not consent: nothing may be changed because \
                             of this dialogue without the user's explicit word.";
/// Notice below every dialogue: suggestions are shown, never carried out.
const SUGGESTIONS_NOTICE: &str =
    "Suggestions made in this dialogue are shown and never carried out by it.";

/// Renders the summary of a dialogue as Markdown.
pub(super) fn dialogue_summary(debate: &Debate) -> String {
    let outcome = format!("Outcome: {}", outcome_text(debate));
    let mut text = summary_header(debate, &[Role::Lead, Role::Partner], &[outcome]);
    if let Some(explanation) = outcome_explanation(debate) {
        let _ = write!(text, "\n{}\n", one_line(&explanation));
    }
    render_conclusion(&mut text, debate);
    text
}

/// Renders insights and decision. The Markdown record ends with the same section.
pub(super) fn render_conclusion(text: &mut String, debate: &Debate) {
    let sections = concluding_sections(debate).unwrap_or_default();
    let insights = key_insights(sections)
        .map_or_else(|| missing_insights_text(debate).to_owned(), demote_headings);
    let _ = write!(text, "\n### Key Insights\n\n{insights}\n");
    for title in ["Common Ground", "Open Disagreement"] {
        if let Some(section_text) = find_section(sections, title) {
            let _ = write!(text, "\n### {title}\n\n{}\n", demote_headings(section_text));
        }
    }
    let decision = debate.decision().map_or_else(|| NO_DECISION_NOTICE.to_owned(), demote_headings);
    let _ = write!(text, "\n### User's Decision\n\n{decision}\n\n> {SUGGESTIONS_NOTICE}\n");
}

fn missing_insights_text(debate: &Debate) -> &'static str {
    match debate.outcome() {
        None => "Not summed up yet.",
        Some(DebateOutcome::Cancelled) => "Cancelled before it was summed up.",
        Some(_) => "[INCOMPLETE] Nobody summed it up.",
    }
}

/// The outcome as one word: `consensus`, `partial` or `disagreement`, or why there is none.
pub(super) fn outcome_text(debate: &Debate) -> &'static str {
    match (dialogue_outcome(debate), debate.outcome()) {
        (Some(outcome), _) => outcome.as_str(),
        (None, None) => "(open)",
        (None, Some(DebateOutcome::Cancelled)) => "cancelled",
        (None, Some(_)) => "not stated",
    }
}

/// How far the participants agree in the end, parsed from the insights.
pub fn dialogue_outcome(debate: &Debate) -> Option<DialogueOutcome> {
    parse_outcome(concluding_sections(debate)?)
}

/// The explanation after the outcome word.
fn outcome_explanation(debate: &Debate) -> Option<String> {
    let section_text = find_section(concluding_sections(debate)?, "Outcome")?;
    let word = section_text.trim_start_matches(|c: char| !c.is_alphabetic());
    let rest = word.trim_start_matches(char::is_alphabetic);
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Finds the text of a section by its title, ignoring case. `None` if it is missing or empty.
pub fn find_section<'a>(sections: &'a [Section], title: &str) -> Option<&'a str> {
    let has_title = |section: &&Section| section.title.trim().eq_ignore_ascii_case(title);
    let text = sections.iter().find(has_title)?.text.trim();
    (!text.is_empty()).then_some(text)
}
