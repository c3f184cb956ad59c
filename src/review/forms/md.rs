//! Markdown summary of a review, for people.
use super::fit::fitted;
use super::markdown::{ending, sections, short, verdict};
use super::words::nothing;
use crate::review::Review;

/// GitHub's size limit of a step summary, in bytes.
pub const STEP_SUMMARY: usize = 1 << 20;

/// Renders the summary, decision first. Drops whole findings to stay within `most` bytes.
pub fn summary(review: &Review, most: usize) -> String {
    if review.skipped.is_some() || nothing(review) {
        return fitted(&short(review), vec![], "", most, str::to_owned);
    }
    let note = |lost: &str| format!("\n_{lost}_\n");
    fitted(&verdict(review), sections(review, false), &ending(review), most, note)
}
