//! Merge gate: whether a review fails the CI job. Off by default, because judges disagree with each
//! other and with themselves.
use super::{Review, ReviewDecision};

/// When a review blocks the merge (`--fail-on`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// All judges ruled to change the design first, and at least one verified finding, listed or
    /// not, is above low severity.
    Block,
    /// As `Block`, and also if the judges disagree, whichever side won.
    Contested,
    /// Never (default).
    #[default]
    Never,
}

/// Whether a review blocks the merge. Findings without verified evidence never do.
pub(crate) fn blocks_merge(review: &Review, fail_on: FailOn) -> bool {
    let has_grave_finding = review.grave > 0;
    let blocks = review.decision == ReviewDecision::Change && !review.split;
    let is_split = review.decision != ReviewDecision::None && review.split;
    has_grave_finding
        && match fail_on {
            FailOn::Never => false,
            FailOn::Block => blocks,
            FailOn::Contested => blocks || is_split,
        }
}
