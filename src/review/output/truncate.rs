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

/// Joins head, sections and tail within `most` bytes, and adds a note about dropped entries. If
/// head and tail alone do not fit, returns the first line only.
pub(super) fn fit_sections(
    head: &str,
    sections: Vec<OutputSection>,
    tail: &str,
    most: usize,
    note: impl Fn(&str) -> String,
) -> String {
    let all: Vec<_> = sections.iter().map(|it| (it.count, it.noun)).collect();
    let kept = head.len() + tail.len() + note(&dropped_note(&all)).len();
    let Some(mut room) = most.checked_sub(kept) else {
        let first = head.lines().next().unwrap_or_default();
        return if first.len() < most { format!("{first}\n") } else { String::new() };
    };
    let mut text = head.to_owned();
    let mut lost = vec![];
    for section in sections {
        let mut left = section.count;
        // After the first dropped entry all later sections are dropped, because they matter less.
        let entries = section.entries.take(if lost.is_empty() { section.count } else { 0 });
        for entry in entries {
            let heading = if left == section.count { section.heading.as_str() } else { "" };
            let Some(rest) = room.checked_sub(heading.len() + entry.len()) else { break };
            room = rest;
            left -= 1;
            text.push_str(heading);
            text.push_str(&entry);
        }
        if left > 0 {
            lost.push((left, section.noun));
        }
    }
    if !lost.is_empty() {
        text.push_str(&note(&dropped_note(&lost)));
    }
    text.push_str(tail);
    text
}

fn dropped_note(lost: &[(usize, &str)]) -> String {
    let lost: Vec<String> =
        lost.iter().map(|(number, noun)| count_with_noun(*number, noun)).collect();
    format!("Cut to fit: {} not shown here.", lost.join(", "))
}
