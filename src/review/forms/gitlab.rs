//! GitLab Code Quality report, as JSON.
use super::place::{file, lines};
use super::tame::json;
use super::words::told;
use super::{MOST, RULE};
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

pub(super) fn gitlab(review: &Review) -> String {
    let found = review.findings.iter();
    let found = found.filter_map(|one| Some(entry(one, file(one.place.as_ref())?)));
    json(&found.take(MOST).collect::<Vec<Value>>())
}

fn entry(finding: &Finding, file: &str) -> Value {
    let severity = match finding.severity {
        Severity::High => "critical",
        Severity::Medium => "major",
        Severity::Low => "minor",
    };
    // The schema requires a line number, so a finding without one gets line 1.
    let begin = lines(finding.place.as_ref()).map_or(1, |(first, _)| first);
    json!({
        "description": told(finding),
        "check_name": RULE,
        "fingerprint": finding.fingerprint,
        "severity": severity,
        "location": {"path": file, "lines": {"begin": begin}},
    })
}
