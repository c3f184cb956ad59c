//! A review as people read it, in Markdown.
use super::fit::fitted;
use super::markdown::{ending, sections, short, verdict};
use super::words::nothing;
use crate::review::Review;

/// How many bytes GitHub takes for the summary of a step.
pub const STEP_SUMMARY: usize = 1 << 20;

/// The verdict first; at most this many bytes, for which whole findings are left out.
pub fn summary(review: &Review, most: usize) -> String {
    if review.skipped.is_some() || nothing(review) {
        return fitted(&short(review), vec![], "", most, str::to_owned);
    }
    let note = |lost: &str| format!("\n_{lost}_\n");
    fitted(&verdict(review), sections(review, false), &ending(review), most, note)
}
