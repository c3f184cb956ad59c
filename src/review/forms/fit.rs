//! A text of many entries that must not become too long: it loses whole ones, and says which.
use super::words::counted;

/// Entries under a heading.
pub(super) struct Section {
    /// The heading and what is said below it.
    pub heading: String,
    /// What one of them is called.
    pub noun: &'static str,
    /// The gravest first.
    pub entries: Vec<String>,
}

/// All of it, if it takes at most this many bytes, or else as many whole entries as do, and what is
/// left out. The last resort is the first line.
pub(super) fn fitted(
    head: &str,
    sections: &[Section],
    tail: &str,
    most: usize,
    note: impl Fn(&str) -> String,
) -> String {
    let all: Vec<_> = sections.iter().map(|it| (it.entries.len(), it.noun)).collect();
    let kept = head.len() + tail.len() + note(&left_out(&all)).len();
    let Some(mut room) = most.checked_sub(kept) else {
        let first = head.lines().next().unwrap_or_default();
        return if first.len() < most { format!("{first}\n") } else { String::new() };
    };
    let mut text = head.to_owned();
    let mut lost = vec![];
    for section in sections {
        let mut left = section.entries.len();
        for (at, entry) in section.entries.iter().enumerate() {
            let heading = if at == 0 { section.heading.as_str() } else { "" };
            // What comes after the first that does not fit weighs less, and is left out with it.
            let fits = lost.is_empty().then(|| room.checked_sub(heading.len() + entry.len()));
            let Some(rest) = fits.flatten() else { break };
            room = rest;
            left -= 1;
            text.push_str(heading);
            text.push_str(entry);
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
