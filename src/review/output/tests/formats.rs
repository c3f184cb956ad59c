//! Output formats of a review (Markdown, JSON, SARIF, rdjson, GitLab, annotations, comment, HTML):
//! small, empty, skipped and oversized reviews.
use crate::debate::{ChangeSummary, CodeLocation, NotedFinding, Severity};
use crate::review::finding::{EarlierFinding, Finding, FindingEvidence, FindingState};
use crate::review::output::pr_comment::COMMENT_MARKER;
use crate::review::output::{MAX_STEP_SUMMARY_BYTES, ReviewFormat, render_review, render_summary};
use crate::review::{Review, ReviewCost, ReviewDecision, ReviewParticipant};
use crate::test_support::golden_file::assert_golden;
use crate::test_support::prerequisites::{find_program_or_skip, repo_path};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

pub(super) fn location(file: &str, line: u32, end: u32) -> CodeLocation {
    CodeLocation { file: file.into(), line: Some(line), end_line: Some(end), removed: false }
}

pub(super) fn checked_evidence(
    found: &str,
    verified: bool,
    place: Option<CodeLocation>,
    quote: &str,
) -> FindingEvidence {
    let raw = format!("{found}: {quote}");
    FindingEvidence { raw, found: found.into(), verified, place, quote: Some(quote.into()) }
}

pub(super) fn finding(number: usize, severity: Severity, claim: &str) -> Finding {
    let code_location = location("src/store.rs", 12, 14);
    Finding {
        fingerprint: format!("{number:064x}"),
        id: format!("C{number}"),
        turn: "0.1.1.1".into(),
        severity,
        claim: claim.into(),
        place: Some(code_location.clone()),
        evidence: vec![checked_evidence(
            "exact",
            true,
            Some(code_location),
            "let kept = all.clone();",
        )],
        answer: Some("It is cloned once a day.".into()),
        conceded: false,
        known: false,
    }
}

/// A typical review with two findings, one unverified finding and one fixed finding.
pub(super) fn small_review() -> Review {
    let mut first =
        finding(1, Severity::High, "`load` clones every row, and calls store_all twice.");
    first.conceded = true;
    first.evidence.push(checked_evidence("not_found", false, None, "it is slow"));
    let mut second =
        finding(2, Severity::Low, "The old reader is gone without a word in the docs.");
    let mut removed_location = location("docs/read me.md", 3, 3);
    removed_location.removed = true;
    second.place = Some(removed_location.clone());
    second.evidence =
        vec![checked_evidence("near", true, Some(removed_location), "Reads v1.\nReads v2.")];
    second.answer = None;
    second.known = true;
    let mut unverified = finding(3, Severity::Medium, "It will not scale.");
    unverified.place = None;
    unverified.evidence = vec![];
    unverified.answer = None;
    Review {
        grave: 1,
        split: false,
        debate: Some("20260101-000000-abcd".into()),
        title: "Keep rows in memory".into(),
        change: ChangeSummary {
            says: "main...rows".into(),
            base: Some("a".repeat(40)),
            head: Some("b".repeat(40)),
            files: 2,
            added: 40,
            deleted: 7,
        },
        skipped: None,
        decision: ReviewDecision::Change,
        doubts: vec!["One of three judges would have merged it.".into()],
        confidence: Some(72),
        reasoning: "The copy is not needed.\n\nThe answer does not touch it.".into(),
        recommendation: "Borrow the rows.".into(),
        notices: vec!["Single-model: both sides were played by the same model.".into()],
        degraded: false,
        findings: vec![first, second],
        more: 3,
        unverified: vec![unverified],
        earlier: vec![EarlierFinding {
            noted: NotedFinding {
                rests_on: String::new(),
                fingerprint: format!("{:064x}", 9),
                claim: "Errors were swallowed.".into(),
                severity: Severity::Medium,
                place: Some(location("src/store.rs", 40, 40)),
            },
            state: FindingState::Fixed,
        }],
        seats: vec![
            ReviewParticipant { role: "proposer".into(), voice: "claude:opus".into() },
            ReviewParticipant { role: "challenger".into(), voice: "codex".into() },
        ],
        spent: ReviewCost { turns: 5, tokens: Some(12_345), cost: Some(123_400) },
    }
}

/// A review without findings and without notices.
fn clean_review() -> Review {
    let template = small_review();
    Review {
        decision: ReviewDecision::Merge,
        confidence: Some(90),
        title: template.title,
        change: template.change,
        seats: template.seats,
        ..Review::default()
    }
}

fn skipped_review() -> Review {
    Review { skipped: Some("only documents changed".into()), ..Review::default() }
}

/// A review that exceeds the size limit of every format.
fn huge_review() -> Review {
    let mut review = small_review();
    let long_text = "@all #1 $x 数据库 `code` ".repeat(100);
    let severities = [Severity::High, Severity::Medium, Severity::Low];
    review.findings = (0..10_000)
        .map(|number| {
            let mut entry = finding(number, severities[number % 3], &long_text);
            if number < 500 {
                entry.answer = Some(long_text.clone());
                entry.evidence =
                    vec![checked_evidence("exact", true, entry.place.clone(), &long_text); 20];
            }
            entry
        })
        .collect();
    review.reasoning = long_text.repeat(20);
    review.recommendation = long_text.repeat(20);
    review.doubts = vec![long_text.clone(); 100];
    review.notices = vec![long_text.clone(); 100];
    review.title = long_text;
    review
}

pub(super) fn render_json(review: &Review, format: ReviewFormat) -> Value {
    let text = render_review(review, format);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", format.as_str()))
}

/// `DEBATE_UPDATE=1 cargo test golden_outputs` rewrites the golden files.
#[test]
fn golden_outputs_are_up_to_date() {
    let file_name = |format: ReviewFormat| match format {
        ReviewFormat::Md | ReviewFormat::Comment => format!("{}.md", format.as_str()),
        ReviewFormat::Html => "page.html".into(),
        ReviewFormat::Annotations => "annotations.txt".into(),
        _ => format!("{}.json", format.as_str()),
    };
    for format in ReviewFormat::ALL {
        let path = repo_path("tests/golden/review").join(file_name(format));
        let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
        let text = render_review(&small_review(), format).replace(&version, "\"VERSION\"");
        assert_golden(&path, &text);
    }
}

#[test]
fn output_format_parses_from_its_name() {
    for format in ReviewFormat::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    let error = "pdf".parse::<ReviewFormat>().unwrap_err();
    assert!(error.starts_with("unknown output format `pdf`; known: md, json"), "{error}");
}

#[test]
fn json_output_round_trips_with_version_and_kind() {
    let text = render_review(&small_review(), ReviewFormat::Json);
    assert!(text.starts_with("{\n  \"v\": 1,\n  \"kind\": \"review\",\n"), "{text}");
    assert_eq!(serde_json::from_str::<Review>(&text).unwrap(), small_review());
}

#[test]
fn clean_review_is_one_line_without_a_comment() {
    let expected = "**Design review:** nothing found; merge as designed (confidence 90 of 100). \
                    Advisory: judges disagree.\n";
    assert_eq!(render_review(&clean_review(), ReviewFormat::Md), expected);
    assert_eq!(
        render_review(&skipped_review(), ReviewFormat::Md),
        "**Design review:** skipped: only documents changed\n"
    );
    for review in [clean_review(), skipped_review()] {
        assert_eq!(render_review(&review, ReviewFormat::Comment), "");
        assert_eq!(render_review(&review, ReviewFormat::Annotations), "");
        assert_eq!(render_json(&review, ReviewFormat::Gitlab), json!([]));
        assert_eq!(render_json(&review, ReviewFormat::Rdjson)["diagnostics"], json!([]));
        let run = &render_json(&review, ReviewFormat::Sarif)["runs"][0];
        assert_eq!(run["results"], json!([]));
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        assert!(!render_review(&review, ReviewFormat::Html).contains("<article>"));
    }
    // Notices are still shown.
    let mut contested = clean_review();
    contested.degraded = true;
    contested.doubts = vec!["a coin".into()];
    let markdown = render_review(&contested, ReviewFormat::Md);
    assert!(markdown.contains("**Contested") && markdown.contains("Degraded:"), "{markdown}");
}

#[test]
fn fixed_findings_are_posted_without_new_ones() {
    let fixed = Review { earlier: small_review().earlier, ..clean_review() };
    let comment = render_review(&fixed, ReviewFormat::Comment);
    assert!(comment.contains("- Fixed (medium) at `src/store.rs:40`: Errors"), "{comment}");
    assert!(
        comment.contains("<!-- debate-review:v1 fp= -->"),
        "a fixed finding is no longer listed"
    );
}

#[test]
fn oversized_outputs_are_cut_at_whole_findings() {
    let huge = huge_review();
    let md = render_review(&huge, ReviewFormat::Md);
    assert!(
        md.len() <= MAX_STEP_SUMMARY_BYTES && md.len() > MAX_STEP_SUMMARY_BYTES * 9 / 10,
        "{}",
        md.len()
    );
    for max_bytes in [0, 10, 100, 5_000, 30_000, 100_000] {
        let text = render_summary(&huge, max_bytes);
        assert!(text.len() <= max_bytes, "{max_bytes}: {}", text.len());
    }
    let comment = render_review(&huge, ReviewFormat::Comment);
    assert!(comment.len() < 64_000, "{}", comment.len());
    for text in [&md, &comment] {
        let shown_count = text.matches("\n#### ").count();
        assert!(shown_count > 0, "no finding is shown");
        let (hidden_count, other_parts) =
            (10_000 - shown_count, "1 unverified finding, 1 earlier finding");
        let notice =
            format!("\n_Cut to fit: {hidden_count} findings, {other_parts} not shown here._\n");
        assert!(text.contains(&notice), "{notice}");
        assert!(text.contains("\n3 more findings left out of this review.\n"));
    }
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
    assert!(render_review(&huge, ReviewFormat::Html).len() <= 4_000_000);
    let sarif = render_review(&huge, ReviewFormat::Sarif);
    assert!(sarif.len() < 10_000_000, "{}", sarif.len());
    let run = &render_json(&huge, ReviewFormat::Sarif)["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty() && results.len() <= 5_000);
    for result in results {
        assert!(result["message"]["text"].as_str().unwrap().chars().count() <= 1000);
    }
    let overflow_note = format!("{} findings more than fit", 10_000 - results.len());
    assert!(run["invocations"].to_string().contains(&overflow_note), "{overflow_note}");
    assert_eq!(render_json(&huge, ReviewFormat::Gitlab).as_array().unwrap().len(), 5_000);
    assert_eq!(
        render_json(&huge, ReviewFormat::Rdjson)["diagnostics"].as_array().unwrap().len(),
        5_000
    );
}

#[test]
fn annotations_are_limited_to_ten_per_level() {
    let text = render_review(&huge_review(), ReviewFormat::Annotations);
    let lines_at_level = |level: &str| -> Vec<&str> {
        text.lines().filter(|line| line.starts_with(&format!("::{level} file="))).collect()
    };
    let (errors, warnings, notices) =
        (lines_at_level("error"), lines_at_level("warning"), lines_at_level("notice"));
    assert_eq!(
        [errors.len(), warnings.len(), notices.len(), text.lines().count()],
        [10, 10, 10, 30]
    );
    assert!(errors[9].ends_with("(3324 more findings of this kind not shown)"), "{}", errors[9]);
    assert!(warnings[9].ends_with("(3323 more findings of this kind not shown)"));
    assert!(notices[9].ends_with("not shown) (3 more findings left out of this review.)"));
}

#[test]
fn unverified_findings_are_not_annotated() {
    let review = Review { findings: vec![], more: 0, ..small_review() };
    assert!(!review.unverified.is_empty());
    assert_eq!(render_review(&review, ReviewFormat::Annotations), "");
    assert_eq!(render_json(&review, ReviewFormat::Sarif)["runs"][0]["results"], json!([]));
    assert_eq!(render_json(&review, ReviewFormat::Gitlab), json!([]));
    assert_eq!(render_json(&review, ReviewFormat::Rdjson)["diagnostics"], json!([]));
    assert!(render_review(&review, ReviewFormat::Md).contains("### Not verified (1)"));
}

/// GitLab and rdjson publish no versioned schema, so the expected shape is checked by hand.
#[test]
fn gitlab_and_rdjson_have_the_expected_shape() {
    for entry in render_json(&small_review(), ReviewFormat::Gitlab).as_array().unwrap() {
        let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check_name", "description", "fingerprint", "location", "severity"]);
        assert!(entry["location"]["lines"]["begin"].as_u64().unwrap() > 0);
    }
    let result = render_json(&small_review(), ReviewFormat::Rdjson);
    assert_eq!(result["source"]["name"], "debate");
    let range = json!({"start": {"line": 12}, "end": {"line": 14}});
    let first = &result["diagnostics"][0];
    assert_eq!(first["location"], json!({"path": "src/store.rs", "range": range}));
    assert_eq!(
        (&first["severity"], &first["code"]["value"]),
        (&json!("ERROR"), &json!("design/challenge"))
    );
    // Removed lines keep their line numbers in the base.
    let range = json!({"start": {"line": 3}, "end": {"line": 3}});
    let removed_location = json!({"path": "docs/read me.md", "range": range});
    assert_eq!(result["diagnostics"][1]["location"], removed_location);
}

#[test]
fn html_csp_has_the_hash_of_the_style() {
    let page = render_review(&small_review(), ReviewFormat::Html);
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = Sha256::digest(style.as_bytes());
    let policy = format!("default-src 'none'; style-src 'sha256-{}';", base64(&hash));
    assert!(page.contains(&policy), "{policy}");
    assert!(
        page.starts_with("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
    );
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, index| bits << 8 | u32::from(*chunk.get(index).unwrap_or(&0)));
        for index in 0..4 {
            let letter = alphabet[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[test]
fn comment_starts_with_marker_and_fingerprints() {
    let comment = render_review(&small_review(), ReviewFormat::Comment);
    let mut lines = comment.lines();
    assert_eq!(lines.next(), Some(COMMENT_MARKER));
    let fingerprint_line = format!("<!-- debate-review:v1 fp={:064x},{:064x} -->", 1, 2);
    assert_eq!(lines.next(), Some(fingerprint_line.as_str()));
}

/// Validates against the official SARIF schema from the npm package `@microsoft/jest-sarif`.
pub(super) fn assert_valid_sarif(reviews: &[Review]) {
    let schema =
        "tests/clients/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json";
    let install = "npm ci --prefix tests/clients";
    if find_program_or_skip("node", Path::new("node"), &[repo_path(schema)], install).is_none() {
        return;
    }
    // The schema has an unescaped bracket in a regex, which not every regex engine accepts.
    let schema = fs::read_to_string(repo_path(schema)).unwrap().replace("{2}]?$", r"{2}\\]?$");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    // The schema's own draft does not validate URI references, so it is read as draft 7.
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft7)
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    for review in reviews {
        let sarif = render_json(review, ReviewFormat::Sarif);
        let errors: Vec<String> = validator.iter_errors(&sarif).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?} in {sarif:#}");
    }
    let mut invalid = render_json(&small_review(), ReviewFormat::Sarif);
    invalid["runs"][0]["results"][0]["level"] = json!("grave");
    assert!(!validator.is_valid(&invalid), "the schema accepts an invalid level");
    invalid = render_json(&small_review(), ReviewFormat::Sarif);
    let locations = &mut invalid["runs"][0]["results"][0]["locations"];
    locations[0]["physicalLocation"]["artifactLocation"]["uri"] = json!("a b");
    assert!(!validator.is_valid(&invalid), "the schema accepts an invalid URI");
}

#[test]
fn sarif_matches_its_schema() {
    assert_valid_sarif(&[
        small_review(),
        clean_review(),
        skipped_review(),
        Review::default(),
        huge_review(),
    ]);
}
