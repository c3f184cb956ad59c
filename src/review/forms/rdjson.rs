//! Reviewdog Diagnostic Format (rdjson). Messages are escaped as Markdown, because Reviewdog posts
//! them as comments.
use super::inline::text;
use super::place::{file, lines};
use super::tame::json;
use super::words::told;
use super::{MOST, RULE};
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

pub(super) fn rdjson(review: &Review) -> String {
    let found = review.findings.iter();
    let found = found.filter_map(|one| Some(diagnostic(one, file(one.place.as_ref())?)));
    let diagnostics: Vec<Value> = found.take(MOST).collect();
    json(&json!({"source": {"name": "debate"}, "diagnostics": diagnostics}))
}

fn diagnostic(finding: &Finding, file: &str) -> Value {
    let severity = match finding.severity {
        Severity::High => "ERROR",
        Severity::Medium => "WARNING",
        Severity::Low => "INFO",
    };
    let mut location = json!({"path": file});
    if let Some((first, last)) = lines(finding.place.as_ref()) {
        location["range"] = json!({"start": {"line": first}, "end": {"line": last}});
    }
    json!({
        "message": format!("Design review: {}", text(&told(finding), 4_000)),
        "location": location,
        "severity": severity,
        "code": {"value": RULE},
    })
}
