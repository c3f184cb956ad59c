//! GitHub workflow commands (`::error file=…::…`), one per line. Text is escaped so that it cannot
//! start another command.
use super::location::{line_range, repo_path};
use super::phrases::{count_with_noun, finding_line, omitted_note};
use super::sanitize::break_log_commands;
use crate::debate::Severity;
use crate::debate::invisible_chars::is_invisible;
use crate::review::Review;
use crate::review::finding::Finding;
use std::fmt::Write;

/// Annotations that GitHub shows per step and level. It drops the rest silently.
const MAX_PER_LEVEL: usize = 10;

pub(super) fn render_annotations(review: &Review) -> String {
    let mut commands: Vec<String> = vec![];
    for (severity, kind) in
        [(Severity::High, "error"), (Severity::Medium, "warning"), (Severity::Low, "notice")]
    {
        let findings: Vec<_> =
            review.findings.iter().filter(|it| it.severity == severity).collect();
        commands.extend(
            findings.iter().take(MAX_PER_LEVEL).map(|finding| workflow_command(kind, finding)),
        );
        if let (Some(last), omitted @ 1..) =
            (commands.last_mut(), findings.len().saturating_sub(MAX_PER_LEVEL))
        {
            let _ = write!(
                last,
                " ({} of this kind not shown)",
                count_with_noun(omitted, "more finding")
            );
        }
    }
    if let (Some(last), Some(note)) = (commands.last_mut(), omitted_note(review)) {
        let _ = write!(last, " ({note})");
    }
    commands.into_iter().map(|command| command + "\n").collect()
}

fn workflow_command(kind: &str, finding: &Finding) -> String {
    let mut properties = String::new();
    // Omit a path with invisible characters or command syntax: the log would show another one.
    let is_plain =
        |file: &&str| !file.chars().any(is_invisible) && break_log_commands(file) == *file;
    let file = repo_path(finding.place.as_ref()).filter(is_plain);
    if let Some(file) = file {
        let _ = write!(properties, "file={},", escape_property(file));
        if let Some((first, last)) = line_range(finding.place.as_ref()) {
            let _ = write!(properties, "line={first},endLine={last},");
        }
    }
    let title = format!("Design review ({})", finding.severity.as_str());
    format!(
        "::{kind} {properties}title={}::{}",
        escape_property(&title),
        escape_data(&break_log_commands(&finding_line(finding)))
    )
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::finding_with_claim;

    #[test]
    fn annotations_per_level_are_limited() {
        assert_eq!(MAX_PER_LEVEL, 10);
        let render = |count: usize| {
            let findings = vec![finding_with_claim("It grows."); count];
            render_annotations(&Review { findings, ..Review::default() })
        };
        let at_limit = render(MAX_PER_LEVEL);
        assert_eq!(at_limit.matches("::error ").count(), MAX_PER_LEVEL);
        let above = format!("{} (1 more finding of this kind not shown)\n", at_limit.trim_end());
        assert_eq!(render(MAX_PER_LEVEL + 1), above);
    }
}
