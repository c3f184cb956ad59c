//! GitLab Code Quality report, as JSON.
use super::limits::MAX_RESULTS;
use super::location::{line_range, repo_path};
use super::phrases::finding_line;
use super::sanitize::to_safe_json;
use super::sarif::RULE_ID;
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

pub(super) fn render_gitlab(review: &Review) -> String {
    let issues = review.findings.iter();
    let issues =
        issues.filter_map(|finding| Some(issue_json(finding, repo_path(finding.place.as_ref())?)));
    to_safe_json(&issues.take(MAX_RESULTS).collect::<Vec<Value>>())
}

fn issue_json(finding: &Finding, file: &str) -> Value {
    let severity = match finding.severity {
        Severity::High => "critical",
        Severity::Medium => "major",
        Severity::Low => "minor",
    };
    // The schema requires a line number, so a finding without one gets line 1.
    let begin = line_range(finding.place.as_ref()).map_or(1, |(first, _)| first);
    json!({
        "description": finding_line(finding),
        "check_name": RULE_ID,
        "fingerprint": finding.fingerprint,
        "severity": severity,
        "location": {"path": file, "lines": {"begin": begin}},
    })
}
