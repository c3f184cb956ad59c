//! The kinds of output, and what each makes of a review.
