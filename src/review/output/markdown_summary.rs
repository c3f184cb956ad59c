//! Markdown summary of a review, for people.
use super::markdown::{finding_sections, footer, one_line_review, verdict_section};
use super::phrases::has_nothing_to_list;
use super::truncate::fit_sections;
use crate::review::Review;

/// GitHub's size limit of a step summary, in bytes.
pub(crate) const MAX_STEP_SUMMARY_BYTES: usize = 1 << 20;

/// Renders the summary, decision first. Drops whole findings to stay within `max_bytes`.
pub(crate) fn render_summary(review: &Review, max_bytes: usize) -> String {
    if review.skipped.is_some() || has_nothing_to_list(review) {
        return fit_sections(&one_line_review(review), vec![], "", max_bytes, str::to_owned);
    }
    let note = |dropped: &str| format!("\n_{dropped}_\n");
    fit_sections(
        &verdict_section(review),
        finding_sections(review, false),
        &footer(review),
        max_bytes,
        note,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::assert_size_limit;

    #[test]
    fn oversized_summary_is_cut_at_a_whole_finding() {
        assert_eq!(MAX_STEP_SUMMARY_BYTES, 1024 * 1024);
        let note = |dropped: &str| format!("\n_{dropped}_\n");
        assert_size_limit(MAX_STEP_SUMMARY_BYTES, note, |review| {
            render_summary(review, MAX_STEP_SUMMARY_BYTES)
        });
    }
}
