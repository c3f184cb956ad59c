//! What is asked of a text in parts.
use super::ruling::{HEDGES, hedge};
use crate::debate::body::{Body, Section};
use crate::debate::digest;
use crate::debate::event::Cue;
use crate::debate::language;
use crate::debate::nine;
use crate::debate::state::Debate;

/// A summary keeps every concession word for word and names every disagreement still open.
pub(super) fn keeps_record(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let lost = digest::left_out(debate, cue, &body.text());
    (!lost.is_empty()).then(|| lost.join("; "))
}

/// The report has nine parts, in their order, under their headings, none of them empty.
pub(super) fn nine_sections(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    let full = sections.iter().filter(|section| !section.text.trim().is_empty()).count();
    if full != nine::COUNT || sections.len() != nine::COUNT {
        return Some(format!("{full} sections; the report has nine"));
    }
    let headings = nine::headings(language::of(debate.topic(cue)));
    if let Some(headings) = headings {
        let mut pairs = sections.iter().zip(headings);
        if let Some((_, wanted)) = pairs.find(|(section, wanted)| !titled(section, wanted)) {
            return Some(format!("the heading `## {wanted}` is missing or not in its place"));
        }
    }
    None
}

/// One part of the report is a table, and the last is one sentence.
pub(super) fn tabulates(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    if sections.len() != nine::COUNT {
        return None;
    }
    if !table(&sections.get(nine::MATRIX)?.text) {
        return Some("the scenario matrix is no table of three columns with a row".into());
    }
    let summary = sections.get(nine::SUMMARY)?.text.trim();
    (summary.lines().count() > 1 || sentences(summary) > 1)
        .then(|| "the summary must be one sentence on one line".into())
}

/// A number before it, and how it is set, do not make it another heading.
fn titled(section: &Section, wanted: &str) -> bool {
    let bare = |text: &str| -> String {
        let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    bare(&section.title) == bare(wanted)
}

/// Whether there is a table of three columns: a heading, a rule and a row. What stands before and
/// after it does not matter, and a bar behind a backslash is none.
fn table(text: &str) -> bool {
    let cells = |line: &str| line.replace("\\|", " ").trim().trim_matches('|').split('|').count();
    let rule = |line: &str| line.contains("--") && line.chars().all(|c| "|-: \t".contains(c));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.windows(3).any(|three| {
        rule(three[1]) && three.iter().all(|line| line.contains('|') && cells(line) == 3)
    })
}

/// A full stop ends a sentence where another begins: at the end, or before a capital.
fn sentences(text: &str) -> usize {
    let wide = |c: char| "\u{3002}\u{ff01}\u{ff1f}".contains(c);
    let chars: Vec<char> = text.trim().chars().collect();
    let stops = (0..chars.len()).filter(|at| {
        let rest = &chars[at + 1..];
        let next = rest.iter().find(|c| !c.is_whitespace());
        let apart = rest.first().is_none_or(|c| c.is_whitespace());
        let begins = next.is_none_or(|c| c.is_uppercase());
        wide(chars[*at]) || (".!?".contains(chars[*at]) && apart && begins)
    });
    // What ends without a stop is a sentence all the same.
    let open = chars.last().is_some_and(|c| !wide(*c) && !".!?".contains(*c));
    stops.count() + usize::from(open)
}

/// A recommendation gives a direction.
pub(super) fn directs(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    let advice = sections.get(nine::RECOMMENDATION)?;
    hedge(&advice.text, HEDGES).map(|phrase| format!("`{phrase}` recommends nothing"))
}

/// A dialogue comes to consensus, to some of it, or to a disagreement, and to something learned.
pub(super) fn states_outcome(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    if crate::debate::insights::end(sections).is_none() {
        return Some(
            "the section `## Outcome` must begin with consensus, partial or disagreement".into(),
        );
    }
    crate::debate::insights::learned(sections)
        .is_none()
        .then(|| "the section `## Key Insights` is missing or empty".into())
}
