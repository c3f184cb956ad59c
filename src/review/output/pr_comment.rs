//! The comment on a pull request. A later review finds it by its marker and overwrites it.
use super::markdown::{finding_sections, footer, verdict_section};
use super::truncate::fit_sections;
use crate::review::Review;
use crate::review::finding::FindingState;

/// First line of the comment, by which a later review finds it.
pub(crate) const COMMENT_MARKER: &str = "<!-- debate-review -->";

/// GitHub's limit is 65,536 characters. Other hosts count bytes.
const MAX_COMMENT_BYTES: usize = 63_900;

/// Limit of fingerprints in the hidden marker.
const MAX_FINGERPRINTS: usize = 200;
/// Hexadecimal digits of a fingerprint.
const MAX_FINGERPRINT_CHARS: usize = 64;

/// Renders the comment. Empty if there is nothing to post.
pub(super) fn render_comment(review: &Review) -> String {
    if !review.is_worth_posting() {
        return String::new();
    }
    let head =
        format!("{COMMENT_MARKER}\n{}\n{}", fingerprint_marker(review), verdict_section(review));
    let note = |dropped: &str| format!("\n_{dropped}_\n");
    fit_sections(&head, finding_sections(review, true), &footer(review), MAX_COMMENT_BYTES, note)
}

/// Hidden marker with the fingerprints of the findings and of the earlier ones still open.
fn fingerprint_marker(review: &Review) -> String {
    let open = review.earlier.iter().filter(|earlier| earlier.state == FindingState::Open);
    let current = review.findings.iter().map(|finding| &finding.fingerprint);
    let mut fingerprints: Vec<&str> = vec![];
    for fingerprint in
        current.chain(open.map(|earlier| &earlier.noted.fingerprint)).take(MAX_FINGERPRINTS)
    {
        let is_hash = fingerprint.len() <= MAX_FINGERPRINT_CHARS
            && fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash && !fingerprint.is_empty() && !fingerprints.contains(&fingerprint.as_str()) {
            fingerprints.push(fingerprint);
        }
    }
    format!("<!-- debate-review:v1 fp={} -->", fingerprints.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::finding::Finding;
    use crate::review::test_review::{assert_size_limit, finding_with_claim};

    #[test]
    fn oversized_comment_is_cut_at_a_whole_finding() {
        assert_eq!(MAX_COMMENT_BYTES, 63_900);
        let note = |dropped: &str| format!("\n_{dropped}_\n");
        assert_size_limit(MAX_COMMENT_BYTES, note, render_comment);
    }

    fn marker_of(fingerprints: Vec<String>) -> String {
        let finding =
            |fingerprint: String| Finding { fingerprint, ..finding_with_claim("It grows.") };
        let findings = fingerprints.into_iter().map(finding).collect();
        fingerprint_marker(&Review { findings, ..Review::default() })
    }

    #[test]
    fn fingerprints_in_the_marker_are_limited() {
        assert_eq!((MAX_FINGERPRINTS, MAX_FINGERPRINT_CHARS), (200, 64));
        let count_listed = |count: usize| {
            let fingerprints = (0..count).map(|number| format!("{number:064x}")).collect();
            marker_of(fingerprints).split(',').count()
        };
        assert_eq!(count_listed(MAX_FINGERPRINTS), MAX_FINGERPRINTS);
        assert_eq!(count_listed(MAX_FINGERPRINTS + 1), MAX_FINGERPRINTS);
        let longest = "a".repeat(MAX_FINGERPRINT_CHARS);
        let marker = format!("<!-- debate-review:v1 fp={longest} -->");
        assert_eq!(marker_of(vec![longest.clone()]), marker);
        assert_eq!(marker_of(vec![longest + "a"]), "<!-- debate-review:v1 fp= -->");
    }
}
