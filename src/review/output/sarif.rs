//! SARIF 2.1.0 for code scanning. A review without findings has an empty result list, which closes
//! the alerts of earlier reviews.
use super::limits::MAX_DOUBTS;
use super::limits::MAX_RESULTS;
use super::location::{line_range, relative_uri, repo_path};
use super::phrases::{ADVISORY_NOTE, count_with_noun, finding_line, notice_lines, omitted_note};
use super::sanitize::{single_line, to_safe_json, truncate_chars};
use crate::debate::Severity;
use crate::review::Review;
use crate::review::finding::Finding;
use serde_json::{Value, json};

/// Rule id of all findings in formats that require one. Severity is not part of it, because a later
/// review may change the severity of the same finding.
pub(super) const RULE_ID: &str = "design/challenge";

/// Size limit of the results, below the upload limit even if they do not compress.
const MAX_RESULT_BYTES: usize = 9_000_000;
/// Bytes by which each line of a result is indented further inside the document.
const RESULT_INDENT_BYTES: usize = 8;
/// Characters of a message.
const MAX_MESSAGE_CHARS: usize = 1000;
/// Characters of a notice, a doubt or the reason of a skipped review.
const MAX_NOTICE_CHARS: usize = 500;

/// Base id of relative URIs: the repository root.
const SRCROOT: &str = "%SRCROOT%";

pub(super) fn render_sarif(review: &Review) -> String {
    let (mut results, mut bytes, mut unlocated, mut dropped) = (vec![], 0, 0, 0);
    for finding in &review.findings {
        let Some(file) = repo_path(finding.place.as_ref()) else {
            unlocated += 1;
            continue;
        };
        let result = result_json(finding, file);
        let text = to_safe_json(&result);
        bytes += text.len() + RESULT_INDENT_BYTES * text.lines().count();
        if results.len() < MAX_RESULTS && bytes <= MAX_RESULT_BYTES {
            results.push(result);
        } else {
            dropped += 1;
        }
    }
    let level = if review.degraded { "warning" } else { "note" };
    let mut notifications: Vec<Value> = notice_lines(review, MAX_NOTICE_CHARS)
        .iter()
        .map(|notice| notification_json(level, notice))
        .collect();
    let skipped = review.skipped.as_ref();
    let skipped =
        skipped.map(|reason| format!("Skipped: {}", single_line(reason, MAX_NOTICE_CHARS)));
    let unlocated = (unlocated > 0).then(|| {
        format!(
            "{} without a place in the files, not among the results.",
            count_with_noun(unlocated, "finding")
        )
    });
    let dropped = (dropped > 0).then(|| {
        format!("{} more than fit, not among the results.", count_with_noun(dropped, "finding"))
    });
    let notes = [skipped, omitted_note(review), unlocated, dropped];
    notifications.extend(notes.iter().flatten().map(|note| notification_json("note", note)));
    for doubt in review.doubts.iter().take(MAX_DOUBTS) {
        let doubt = single_line(doubt, MAX_NOTICE_CHARS);
        notifications.push(notification_json("note", &format!("Contested: {doubt}")));
    }
    to_safe_json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "debate",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": [rule_json()],
            }},
            "automationDetails": {"id": "debate-review/"},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                SRCROOT: {"description": {"text": "The root of the repository."}},
            },
            "invocations": [{
                "executionSuccessful": review.skipped.is_some() || !review.degraded,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    }))
}

fn rule_json() -> Value {
    json!({
        "id": RULE_ID,
        "name": "DesignChallenge",
        "shortDescription": {"text": "A challenge to the design of a change"},
        "fullDescription": {"text": "A challenger found this in the change, and what it rests on \
            was found in the files."},
        "help": {"text": ADVISORY_NOTE},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["design"]},
    })
}

fn result_json(finding: &Finding, file: &str) -> Value {
    let level = match finding.severity {
        Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    };
    let mut location =
        json!({"artifactLocation": {"uri": relative_uri(file), "uriBaseId": SRCROOT}});
    if let Some((first, last)) = line_range(finding.place.as_ref()) {
        location["region"] = json!({"startLine": first, "endLine": last});
    }
    json!({
        "ruleId": RULE_ID,
        "ruleIndex": 0,
        "level": level,
        "message": {"text": escape_message(&finding_line(finding))},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"debateFinding/v1": finding.fingerprint},
    })
}

fn notification_json(level: &str, text: &str) -> Value {
    json!({"level": level, "message": {"text": escape_message(text)}})
}

/// Escapes SARIF message syntax: links (`[text](id)`) and placeholders (`{0}`).
fn escape_message(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut previous = ' ';
    for c in text.chars() {
        if previous == ']' && c == '(' || previous == '{' && c.is_ascii_digit() {
            escaped.push(' ');
        }
        escaped.push(c);
        previous = c;
    }
    let escaped = truncate_chars(&escaped, MAX_MESSAGE_CHARS);
    if escaped.is_empty() { "(no words)".into() } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::{assert_text_limit, finding_with_claim, location_of_file};

    /// Puts a text into a review.
    type TextEdit = fn(&mut Review, &str);

    fn finding_in(file: &str) -> Finding {
        Finding { place: Some(location_of_file(file)), ..finding_with_claim("It grows.") }
    }

    #[test]
    fn size_of_the_results_is_limited() {
        assert_eq!(MAX_RESULT_BYTES, 9_000_000);
        let result_bytes = |file: &str| {
            let text = to_safe_json(&result_json(&finding_in(file), file));
            text.len() + RESULT_INDENT_BYTES * text.lines().count()
        };
        // A long path makes each of 3,000 results as large as its share.
        let count = 3_000;
        let path = "a".repeat(1 + MAX_RESULT_BYTES / count - result_bytes("a"));
        assert_eq!(count * result_bytes(&path), MAX_RESULT_BYTES);
        let mut review = Review { findings: vec![finding_in(&path); count], ..Review::default() };
        let count_results = |review: &Review| {
            let text = render_sarif(review);
            (text.matches("\"ruleIndex\"").count(), text.contains("1 finding more than fit"))
        };
        assert_eq!(count_results(&review), (count, false));
        review.findings[0] = finding_in(&(path + "a"));
        assert_eq!(count_results(&review), (count - 1, true));
    }

    #[test]
    fn texts_in_sarif_are_cut() {
        assert_eq!((MAX_MESSAGE_CHARS, MAX_NOTICE_CHARS), (1_000, 500));
        assert_text_limit(MAX_MESSAGE_CHARS, "", escape_message);
        let cases: [(&str, TextEdit); 3] = [
            ("\"text\": \"", |review, text| review.notices = vec![text.into()]),
            ("\"text\": \"Skipped: ", |review, text| review.skipped = Some(text.into())),
            ("\"text\": \"Contested: ", |review, text| review.doubts = vec![text.into()]),
        ];
        for (prefix, edit) in cases {
            assert_text_limit(MAX_NOTICE_CHARS, prefix, |text| {
                let mut review = Review::default();
                edit(&mut review, text);
                render_sarif(&review)
            });
        }
    }
}
