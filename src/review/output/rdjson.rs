//! Reviewdog Diagnostic Format (rdjson). Messages are escaped as Markdown, because Reviewdog posts
//! them as comments.
use super::escape_markdown::escape_line;
use super::limits::MAX_RESULTS;
use super::location::{line_range, repo_path};
use super::phrases::finding_line;
use super::sanitize::to_safe_json;
use super::sarif::RULE_ID;
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

/// Bytes of a message, escaped.
const MAX_MESSAGE_BYTES: usize = 4_000;

pub(super) fn render_rdjson(review: &Review) -> String {
    let findings = review.findings.iter();
    let findings = findings
        .filter_map(|finding| Some(diagnostic(finding, repo_path(finding.place.as_ref())?)));
    let diagnostics: Vec<Value> = findings.take(MAX_RESULTS).collect();
    to_safe_json(&json!({"source": {"name": "debate"}, "diagnostics": diagnostics}))
}

fn diagnostic(finding: &Finding, file: &str) -> Value {
    let severity = match finding.severity {
        Severity::High => "ERROR",
        Severity::Medium => "WARNING",
        Severity::Low => "INFO",
    };
    let mut location = json!({"path": file});
    if let Some((first, last)) = line_range(finding.place.as_ref()) {
        location["range"] = json!({"start": {"line": first}, "end": {"line": last}});
    }
    let message = escape_line(&finding_line(finding), MAX_MESSAGE_BYTES);
    json!({
        "message": format!("Design review: {message}"),
        "location": location,
        "severity": severity,
        "code": {"value": RULE_ID},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::finding_with_claim;

    #[test]
    fn escaped_message_is_cut() {
        assert_eq!(MAX_MESSAGE_BYTES, 4_000);
        let dollars = "$".repeat(MAX_MESSAGE_BYTES / "<span>$</span>".len());
        let rest = MAX_MESSAGE_BYTES % "<span>$</span>".len();
        let message = |letters: usize| {
            let finding = finding_with_claim(&format!("{dollars}{}", "x".repeat(letters)));
            let json = diagnostic(&finding, "a.rs");
            let text = json["message"].as_str().unwrap();
            text.strip_prefix("Design review: ").unwrap().to_owned()
        };
        let at_limit = message(rest);
        assert_eq!((at_limit.len(), at_limit.ends_with('x')), (MAX_MESSAGE_BYTES, true));
        let above = message(rest + 1);
        assert!(above.len() <= MAX_MESSAGE_BYTES && above.ends_with('…'), "{above}");
    }
}
