//! Reviews for unit tests, and checks of the limits of an output format.
use super::Review;
use super::finding::{EarlierFinding, Finding, FindingEvidence, FindingState};
use crate::debate::{CodeLocation, NotedFinding, Severity};

/// A finding with this claim, without location, evidence and answer.
pub(crate) fn finding_with_claim(claim: &str) -> Finding {
    Finding {
        fingerprint: "0".repeat(64),
        id: "C1".into(),
        turn: "0.1.1.1".into(),
        severity: Severity::High,
        claim: claim.to_owned(),
        place: None,
        evidence: vec![],
        answer: None,
        conceded: false,
        known: false,
    }
}

/// Verified evidence with this quote.
pub(crate) fn evidence_with_quote(quote: &str) -> FindingEvidence {
    FindingEvidence {
        raw: String::new(),
        found: "exact".into(),
        verified: true,
        place: None,
        quote: Some(quote.to_owned()),
    }
}

/// An earlier finding with this claim, which is still open.
pub(crate) fn earlier_with_claim(claim: &str) -> EarlierFinding {
    let noted = NotedFinding {
        fingerprint: "1".repeat(64),
        claim: claim.to_owned(),
        severity: Severity::High,
        place: None,
        rests_on: String::new(),
    };
    EarlierFinding { noted, state: FindingState::Open }
}

/// The location of a whole file.
pub(crate) fn location_of_file(file: &str) -> CodeLocation {
    CodeLocation { file: file.to_owned(), line: None, end_line: None, removed: false }
}

/// A review with one finding.
pub(crate) fn review_with_finding() -> Review {
    Review { findings: vec![finding_with_claim("It grows.")], ..Review::default() }
}

/// Asserts that a text of `max_chars` characters is shown in full after `prefix`, and that a longer
/// one is cut and marked with `…`.
#[track_caller]
pub(crate) fn assert_text_limit(max_chars: usize, prefix: &str, render: impl Fn(&str) -> String) {
    let show = |chars: usize| format!("{prefix}{}", "x".repeat(chars));
    let at_limit = render(&"x".repeat(max_chars));
    assert!(at_limit.contains(&show(max_chars)), "{max_chars} after {prefix:?}: {at_limit}");
    let above = render(&"x".repeat(max_chars + 1));
    assert!(!above.contains(&show(max_chars)), "{max_chars} after {prefix:?}: {above}");
    // The mark has three bytes.
    assert!(above.contains(&show(max_chars - 3)) && above.contains("x…"), "{prefix:?}: {above}");
}

/// Asserts that a whole review is shown up to `max_bytes`, and that with one more byte a finding is
/// dropped. `note` renders the note about dropped findings, for which room is always reserved.
#[track_caller]
pub(crate) fn assert_size_limit(
    max_bytes: usize,
    note: impl Fn(&str) -> String,
    render: impl Fn(&Review) -> String,
) {
    let count = max_bytes / 800;
    let all_dropped = format!(
        "Cut to fit: {count} findings, 0 unverified findings, 0 earlier findings not shown here."
    );
    let max_shown = max_bytes - note(&all_dropped).len();
    let findings = vec![finding_with_claim("x"); count];
    let mut review = Review { findings, ..Review::default() };
    // Claims are made longer until the output has exactly the size that fits.
    let missing = max_shown - render(&review).len();
    for (index, finding) in review.findings.iter_mut().enumerate() {
        let extra = missing / count + usize::from(index < missing % count);
        finding.claim.push_str(&"x".repeat(extra));
    }
    let at_limit = render(&review);
    assert_eq!((at_limit.len(), at_limit.contains("Cut to fit")), (max_shown, false));
    review.findings[0].claim.push('x');
    let above = render(&review);
    assert!(above.contains("Cut to fit: 1 finding not shown here."), "{} bytes", above.len());
    assert!(above.len() <= max_bytes, "{} bytes", above.len());
}
