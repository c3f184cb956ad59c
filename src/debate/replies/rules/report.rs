//! Rules for replies in sections: digests, reports and the insights of a dialogue.
use super::verdict::{HEDGE_PHRASES, find_hedge};
use crate::debate::prompts::digest;
use crate::debate::record::body::{Body, Section};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::report_sections;
use crate::debate::text::language;

/// A digest quotes every concession verbatim and names every open disagreement.
pub(super) fn keeps_record(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let omissions = digest::find_omissions(debate, cue, &body.to_text());
    (!omissions.is_empty()).then(|| omissions.join("; "))
}

/// The report has nine non-empty sections under the expected headings, in order.
pub(super) fn nine_sections(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    let non_empty = sections.iter().filter(|section| !section.text.trim().is_empty()).count();
    if non_empty != report_sections::SECTION_COUNT
        || sections.len() != report_sections::SECTION_COUNT
    {
        return Some(format!("{non_empty} sections; the report has nine"));
    }
    let headings = report_sections::headings(language::detect(debate.topic_at(cue)));
    if let Some(headings) = headings {
        let mut pairs = sections.iter().zip(headings);
        if let Some((_, heading)) = pairs.find(|(section, heading)| !has_heading(section, heading))
        {
            return Some(format!("the heading `## {heading}` is missing or not in its place"));
        }
    }
    None
}

/// The scenario matrix is a table, and the summary is one sentence.
pub(super) fn tabulates(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    if sections.len() != report_sections::SECTION_COUNT {
        return None;
    }
    if !has_three_column_table(&sections.get(report_sections::SCENARIO_MATRIX_INDEX)?.text) {
        return Some("the scenario matrix is no table of three columns with a row".into());
    }
    let summary = sections.get(report_sections::SUMMARY_INDEX)?.text.trim();
    (summary.lines().count() > 1 || count_sentences(summary) > 1)
        .then(|| "the summary must be one sentence on one line".into())
}

/// Compares headings, ignoring leading numbers, punctuation and case.
fn has_heading(section: &Section, heading: &str) -> bool {
    let normalize = |text: &str| -> String {
        let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    normalize(&section.title) == normalize(heading)
}

/// Whether the text contains a Markdown table of three columns: header, delimiter row and a body
/// row. Text around it is ignored, and `\|` is an escaped bar.
fn has_three_column_table(text: &str) -> bool {
    let count_cells =
        |line: &str| line.replace("\\|", " ").trim().trim_matches('|').split('|').count();
    let is_delimiter_row =
        |line: &str| line.contains("--") && line.chars().all(|c| "|-: \t".contains(c));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.windows(3).any(|rows| {
        is_delimiter_row(rows[1])
            && rows.iter().all(|line| line.contains('|') && count_cells(line) == 3)
    })
}

/// Counts sentences. `.`, `!` and `?` end one only at the end of the text or before a capital
/// letter, their full-width forms always do.
fn count_sentences(text: &str) -> usize {
    let is_full_width_stop = |c: char| "\u{3002}\u{ff01}\u{ff1f}".contains(c);
    let chars: Vec<char> = text.trim().chars().collect();
    let sentence_ends = (0..chars.len()).filter(|index| {
        let rest = &chars[index + 1..];
        let next = rest.iter().find(|c| !c.is_whitespace());
        let before_space = rest.first().is_none_or(|c| c.is_whitespace());
        let before_capital = next.is_none_or(|c| c.is_uppercase());
        is_full_width_stop(chars[*index])
            || (".!?".contains(chars[*index]) && before_space && before_capital)
    });
    // Text without final punctuation counts as one more sentence.
    let is_unterminated =
        chars.last().is_some_and(|c| !is_full_width_stop(*c) && !".!?".contains(*c));
    sentence_ends.count() + usize::from(is_unterminated)
}

/// The recommendation does not hedge.
pub(super) fn directs(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    let advice = sections.get(report_sections::RECOMMENDATION_INDEX)?;
    find_hedge(&advice.text, HEDGE_PHRASES).map(|phrase| format!("`{phrase}` recommends nothing"))
}

/// The insights state an outcome (consensus, partial or disagreement) and what was learned.
pub(super) fn states_outcome(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    if crate::debate::replies::insights::parse_outcome(sections).is_none() {
        return Some(
            "the section `## Outcome` must begin with consensus, partial or disagreement".into(),
        );
    }
    crate::debate::replies::insights::key_insights(sections)
        .is_none()
        .then(|| "the section `## Key Insights` is missing or empty".into())
}
