//! Whether a review stops a change. By itself it never does: judges disagree, with each other and
//! with themselves, so that is for a person to ask for.
use super::{Decision, Review};

/// When a review stops a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Every judge ruled, and they agree that the design is to be changed first; and something graver
    /// than a remark rests on evidence that was found, whether it is listed or not.
    Block,
    /// The same where the rulings do not agree, whichever side has it.
    Contested,
    /// Never.
    #[default]
    Never,
}

/// Whether a review stops a change. What rests on nothing that was found never does.
pub fn stops(review: &Review, when: FailOn) -> bool {
    let grave = review.grave > 0;
    let blocks = review.decision == Decision::Change && !review.split;
    let doubted = review.decision != Decision::None && review.split;
    grave
        && match when {
            FailOn::Never => false,
            FailOn::Block => blocks,
            FailOn::Contested => blocks || doubted,
        }
}
