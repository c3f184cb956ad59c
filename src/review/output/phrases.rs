//! Phrases shared by the output formats, so that all of them say the same: headline, confidence,
//! notices, state of a finding, cost. Plain text: each format (`html`, `markdown`, `sarif` and
//! others) escapes it.
use super::location::format_location;
use super::sanitize::{single_line, truncate_chars};
use crate::debate::CodeLocation;
use crate::review::finding::{Finding, FindingEvidence};
use crate::review::{Review, ReviewDecision};

/// Warnings that are shown. The rest is counted.
const MAX_NOTICES: usize = 20;
/// Characters of the result of an evidence check.
const MAX_CHECK_RESULT_CHARS: usize = 40;
/// Characters of a finding on one line.
const MAX_FINDING_CHARS: usize = 1000;
/// Characters of the claim in that line.
const MAX_CLAIM_CHARS: usize = 500;
/// Characters of the quote in that line.
const MAX_QUOTE_CHARS: usize = 300;

/// Disclaimer of every review.
pub(super) const ADVISORY_NOTE: &str =
    "Advisory: models argued this and a model ruled on it. Judges disagree; a person decides.";

/// The disclaimer for the decision of this review.
pub(super) fn advisory_note(review: &Review) -> &'static str {
    match review.decision {
        ReviewDecision::None if review.degraded => {
            "Advisory: models argued this, and nobody ruled on it. A person decides."
        }
        ReviewDecision::None => {
            "Advisory: models argued and weighed this, and picked no side. A person decides."
        }
        _ => ADVISORY_NOTE,
    }
}

/// The decision as a headline. A decision to change without verified findings is marked as such.
pub(super) fn headline(review: &Review) -> &'static str {
    match review.decision {
        ReviewDecision::Change if review.findings.is_empty() && review.more == 0 => {
            "change the design first, says the ruling, but nothing was found that says why"
        }
        ReviewDecision::None if review.degraded => "not finished: nobody ruled",
        ReviewDecision::None => "weighed, and no side picked",
        decision => decision.describe(),
    }
}

/// Introduction to findings without verified evidence.
pub(super) const UNVERIFIED_NOTE: &str = "What these rest on was not found in the files, or proves \
                                     nothing. They neither gate nor annotate.";

/// A number with its noun, in the plural if needed.
pub(super) fn count_with_noun(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Whether the review has no findings at all and does not ask for a change.
pub(super) fn has_nothing_to_list(review: &Review) -> bool {
    let listed = review.findings.len() + review.unverified.len() + review.earlier.len();
    listed + review.more == 0 && review.decision != ReviewDecision::Change
}

/// The confidence as a phrase.
pub(super) fn confidence_text(review: &Review) -> Option<String> {
    review.confidence.map(|confidence| format!("confidence {confidence} of 100"))
}

/// The decision of a review without findings.
pub(super) fn nothing_found_text(review: &Review) -> String {
    if review.decision == ReviewDecision::None && review.degraded {
        return "not finished: nobody ruled. That nothing is listed does not mean that nothing is \
                wrong."
            .into();
    }
    let confidence =
        confidence_text(review).map(|confidence| format!(" ({confidence})")).unwrap_or_default();
    format!("nothing found; {}{confidence}. Advisory: judges disagree.", review.decision.describe())
}

/// The warnings, each truncated to `max_chars` characters.
pub(super) fn notice_lines(review: &Review, max_chars: usize) -> Vec<String> {
    let mut notices: Vec<String> = review
        .notices
        .iter()
        .take(MAX_NOTICES)
        .map(|notice| single_line(notice, max_chars))
        .collect();
    if review.notices.len() > notices.len() {
        notices.push(format!("{} more notices.", review.notices.len() - notices.len()));
    }
    if review.degraded {
        notices.insert(0, "Degraded: this review is incomplete.".into());
    }
    notices
}

/// Files and lines of the change.
pub(super) fn change_size(review: &Review) -> String {
    let change = &review.change;
    let files = count_with_noun(change.files, "file");
    format!("{files}, {} added, {} deleted", count_with_noun(change.added, "line"), change.deleted)
}

/// Location as text, and a suffix for removed lines.
pub(super) fn location_text(location: Option<&CodeLocation>) -> Option<(String, &'static str)> {
    let location = location?;
    Some((format_location(location), if location.removed { " (removed lines)" } else { "" }))
}

/// State of a finding: new or known, and conceded. New is said only if an earlier review exists.
pub(super) fn finding_state_text(review: &Review, finding: &Finding) -> Option<String> {
    let has_earlier = !review.earlier.is_empty() || review.findings.iter().any(|it| it.known);
    let known = if finding.known { "still open from an earlier review" } else { "new" };
    let conceded = finding.conceded.then_some("conceded by the proposer");
    let parts: Vec<&str> = has_earlier.then_some(known).into_iter().chain(conceded).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Result of the evidence check.
pub(super) fn evidence_result(evidence: &FindingEvidence) -> String {
    let result = single_line(&evidence.found.replace('_', " "), MAX_CHECK_RESULT_CHARS);
    format!("{} ({result})", if evidence.verified { "Verified" } else { "Not verified" })
}

/// Turns, tokens and cost.
pub(super) fn cost_text(review: &Review) -> String {
    let spent = &review.spent;
    let tokens = spent.tokens.map(|tokens| format!(", {tokens} tokens"));
    let cost = spent.cost.map(|cost| format!(", cost {:.4}", cost as f64 / 1e6));
    let turns = count_with_noun(spent.turns, "turn");
    format!("{turns}{}{}", tokens.unwrap_or_default(), cost.unwrap_or_default())
}

/// Number of omitted findings, if any.
pub(super) fn omitted_note(review: &Review) -> Option<String> {
    let more = count_with_noun(review.more, "more finding");
    (review.more > 0).then(|| format!("{more} left out of this review."))
}

/// A finding on one line: claim, first verified quote, concession.
pub(super) fn finding_line(finding: &Finding) -> String {
    let mut text = single_line(&finding.claim, MAX_CLAIM_CHARS);
    if let Some(evidence) = finding.evidence.iter().find(|evidence| evidence.verified) {
        let quote = evidence.quote.as_ref().unwrap_or(&evidence.raw);
        let quote = single_line(quote, MAX_QUOTE_CHARS);
        text = format!("{text} {}: {quote}", evidence_result(evidence));
    }
    if finding.conceded {
        text.push_str(" (conceded by the proposer)");
    }
    truncate_chars(&text, MAX_FINDING_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::{assert_text_limit, evidence_with_quote, finding_with_claim};

    #[test]
    fn notices_are_limited() {
        assert_eq!(MAX_NOTICES, 20);
        let count_lines = |count: usize| {
            let notices = vec!["Cut short.".to_owned(); count];
            let lines = notice_lines(&Review { notices, ..Review::default() }, 100);
            (lines.len(), lines.last().is_some_and(|line| line.starts_with("1 more notice")))
        };
        assert_eq!(count_lines(MAX_NOTICES), (MAX_NOTICES, false));
        assert_eq!(count_lines(MAX_NOTICES + 1), (MAX_NOTICES + 1, true));
    }

    #[test]
    fn claim_and_quote_in_one_line_are_cut() {
        assert_eq!((MAX_CLAIM_CHARS, MAX_QUOTE_CHARS), (500, 300));
        assert_text_limit(MAX_CLAIM_CHARS, "", |text| finding_line(&finding_with_claim(text)));
        assert_text_limit(MAX_QUOTE_CHARS, "It grows. Verified (exact): ", |text| {
            let evidence = vec![evidence_with_quote(text)];
            finding_line(&Finding { evidence, ..finding_with_claim("It grows.") })
        });
    }
}
