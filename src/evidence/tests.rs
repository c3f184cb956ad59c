//! Tests of several files together, through the functions that other modules call.
mod edge_cases;
mod extraction;
mod lookup;
mod quotes;
mod recheck;
