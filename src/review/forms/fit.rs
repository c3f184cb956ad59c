//! A text of many entries that must not become too long: it loses whole ones, and says which.
use super::words::counted;

/// Entries under a heading.
pub(super) struct Section<'a> {
    /// The heading and what is said below it.
    pub heading: String,
    /// What one of them is called.
    pub noun: &'static str,
    /// How many there are.
    pub count: usize,
    /// The gravest first; written only as long as there is room.
    pub entries: Box<dyn Iterator<Item = String> + 'a>,
}

/// All of it, if it takes at most this many bytes, or else as many whole entries as do, and what is
/// left out. The last resort is the first line.
pub(super) fn fitted(
    head: &str,
    sections: Vec<Section>,
    tail: &str,
    most: usize,
    note: impl Fn(&str) -> String,
) -> String {
    let all: Vec<_> = sections.iter().map(|it| (it.count, it.noun)).collect();
    let kept = head.len() + tail.len() + note(&left_out(&all)).len();
    let Some(mut room) = most.checked_sub(kept) else {
        let first = head.lines().next().unwrap_or_default();
        return if first.len() < most { format!("{first}\n") } else { String::new() };
    };
    let mut text = head.to_owned();
    let mut lost = vec![];
    for section in sections {
        let mut left = section.count;
        // What comes after the first that does not fit weighs less, and is left out with it.
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
        text.push_str(&note(&left_out(&lost)));
    }
    text.push_str(tail);
    text
}

fn left_out(lost: &[(usize, &str)]) -> String {
    let lost: Vec<String> = lost.iter().map(|(number, noun)| counted(*number, noun)).collect();
    format!("Cut to fit: {} not shown here.", lost.join(", "))
}
