//! SARIF 2.1.0 for code scanning. A review without findings has an empty result list, which closes
//! the alerts of earlier reviews.
use super::place::{file, lines, uri};
use super::tame::{cut, json, line};
use super::words::{ADVISORY, counted, more, notices, told};
use super::{MOST, RULE};
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

/// Size limit of the results, below the upload limit even if they do not compress.
const MOST_BYTES: usize = 9_000_000;

/// Base id of relative URIs: the repository root.
const ROOT: &str = "%SRCROOT%";

pub(super) fn sarif(review: &Review) -> String {
    let (mut results, mut bytes, mut homeless, mut lost) = (vec![], 0, 0, 0);
    for finding in &review.findings {
        let Some(file) = file(finding.place.as_ref()) else {
            homeless += 1;
            continue;
        };
        let result = result(finding, file);
        let text = json(&result);
        // The result is indented further inside the document.
        bytes += text.len() + 8 * text.lines().count();
        if results.len() < MOST && bytes <= MOST_BYTES {
            results.push(result);
        } else {
            lost += 1;
        }
    }
    let level = if review.degraded { "warning" } else { "note" };
    let mut told: Vec<Value> =
        notices(review, 500).iter().map(|notice| notification(level, notice)).collect();
    let skipped = review.skipped.as_ref().map(|why| format!("Skipped: {}", line(why, 500)));
    let homeless = (homeless > 0).then(|| {
        format!(
            "{} without a place in the files, not among the results.",
            counted(homeless, "finding")
        )
    });
    let lost = (lost > 0)
        .then(|| format!("{} more than fit, not among the results.", counted(lost, "finding")));
    let beside = [skipped, more(review), homeless, lost];
    told.extend(beside.iter().flatten().map(|said| notification("note", said)));
    for doubt in review.doubts.iter().take(8) {
        told.push(notification("note", &format!("Contested: {}", line(doubt, 500))));
    }
    json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "debate",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": [rule()],
            }},
            "automationDetails": {"id": "debate-review/"},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                ROOT: {"description": {"text": "The root of the repository."}},
            },
            "invocations": [{
                "executionSuccessful": review.skipped.is_some() || !review.degraded,
                "toolExecutionNotifications": told,
            }],
            "results": results,
        }],
    }))
}

fn rule() -> Value {
    json!({
        "id": RULE,
        "name": "DesignChallenge",
        "shortDescription": {"text": "A challenge to the design of a change"},
        "fullDescription": {"text": "A challenger found this in the change, and what it rests on \
            was found in the files."},
        "help": {"text": ADVISORY},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["design"]},
    })
}

fn result(finding: &Finding, file: &str) -> Value {
    let level = match finding.severity {
        Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    };
    let mut place = json!({"artifactLocation": {"uri": uri(file), "uriBaseId": ROOT}});
    if let Some((first, last)) = lines(finding.place.as_ref()) {
        place["region"] = json!({"startLine": first, "endLine": last});
    }
    json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": level,
        "message": {"text": message(&told(finding))},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"debateFinding/v1": finding.fingerprint},
    })
}

fn notification(level: &str, said: &str) -> Value {
    json!({"level": level, "message": {"text": message(said)}})
}

/// Escapes SARIF message syntax: links (`[text](id)`) and placeholders (`{0}`).
fn message(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if before == ']' && c == '(' || before == '{' && c.is_ascii_digit() {
            done.push(' ');
        }
        done.push(c);
        before = c;
    }
    let done = cut(&done, 1000);
    if done.is_empty() { "(no words)".into() } else { done }
}
