//! GitHub workflow commands (`::error file=…::…`), one per line. Text is escaped so that it cannot
//! start another command.
use super::place::{file, lines};
use super::tame::{calm, hidden};
use super::words::{counted, more, told};
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use std::fmt::Write;

/// Annotations that GitHub shows per step and level. It drops the rest silently.
const MOST: usize = 10;

pub(super) fn annotations(review: &Review) -> String {
    let mut commands: Vec<String> = vec![];
    for (severity, kind) in
        [(Severity::High, "error"), (Severity::Medium, "warning"), (Severity::Low, "notice")]
    {
        let found: Vec<_> = review.findings.iter().filter(|it| it.severity == severity).collect();
        commands.extend(found.iter().take(MOST).map(|finding| command(kind, finding)));
        if let (Some(last), rest @ 1..) = (commands.last_mut(), found.len().saturating_sub(MOST)) {
            let _ = write!(last, " ({} of this kind not shown)", counted(rest, "more finding"));
        }
    }
    if let (Some(last), Some(more)) = (commands.last_mut(), more(review)) {
        let _ = write!(last, " ({more})");
    }
    commands.into_iter().map(|command| command + "\n").collect()
}

fn command(kind: &str, finding: &Finding) -> String {
    let mut properties = String::new();
    // Omit a path with invisible characters or command syntax: the log would show another one.
    let plain = |file: &&str| !file.chars().any(hidden) && calm(file) == *file;
    let file = file(finding.place.as_ref()).filter(plain);
    if let Some(file) = file {
        let _ = write!(properties, "file={},", property(file));
        if let Some((first, last)) = lines(finding.place.as_ref()) {
            let _ = write!(properties, "line={first},endLine={last},");
        }
    }
    let title = format!("Design review ({})", finding.severity.as_str());
    format!("::{kind} {properties}title={}::{}", property(&title), data(&calm(&told(finding))))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
