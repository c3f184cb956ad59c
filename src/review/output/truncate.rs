//! Truncates an output to a size limit: drops whole entries and says how many.
use super::phrases::count_with_noun;

/// Entries under a heading.
pub(super) struct OutputSection<'a> {
    /// The heading and its introduction.
    pub heading: String,
    /// Singular noun for an entry.
    pub noun: &'static str,
    /// Number of entries.
    pub count: usize,
    /// Highest severity first. Rendered lazily, only while there is room.
    pub entries: Box<dyn Iterator<Item = String> + 'a>,
}

/// Joins head, sections and tail within `max_bytes`, and adds a note about dropped entries. If
/// head and tail alone do not fit, returns the first line only.
pub(super) fn fit_sections(
    head: &str,
    sections: Vec<OutputSection>,
    tail: &str,
    max_bytes: usize,
    note: impl Fn(&str) -> String,
) -> String {
    let all: Vec<_> = sections.iter().map(|it| (it.count, it.noun)).collect();
    let reserved = head.len() + tail.len() + note(&dropped_note(&all)).len();
    let Some(mut remaining) = max_bytes.checked_sub(reserved) else {
        let first = head.lines().next().unwrap_or_default();
        return if first.len() < max_bytes { format!("{first}\n") } else { String::new() };
    };
    let mut text = head.to_owned();
    let mut dropped = vec![];
    for section in sections {
        let mut pending = section.count;
        // After the first dropped entry all later sections are dropped, because they matter less.
        let entries = section.entries.take(if dropped.is_empty() { section.count } else { 0 });
        for entry in entries {
            let heading = if pending == section.count { section.heading.as_str() } else { "" };
            let Some(rest) = remaining.checked_sub(heading.len() + entry.len()) else { break };
            remaining = rest;
            pending -= 1;
            text.push_str(heading);
            text.push_str(&entry);
        }
        if pending > 0 {
            dropped.push((pending, section.noun));
        }
    }
    if !dropped.is_empty() {
        text.push_str(&note(&dropped_note(&dropped)));
    }
    text.push_str(tail);
    text
}

fn dropped_note(dropped: &[(usize, &str)]) -> String {
    let dropped: Vec<String> =
        dropped.iter().map(|(number, noun)| count_with_noun(*number, noun)).collect();
    format!("Cut to fit: {} not shown here.", dropped.join(", "))
}
