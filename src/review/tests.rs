//! Tests of reviews built from a whole debate.
mod findings;
