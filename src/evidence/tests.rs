//! Tests of several files together, through the functions that other modules call.
mod edge_cases;
mod extraction;
mod lookup;
mod quotes;
mod recheck;

use super::{Reference, extract_with_files};
use crate::debate::Body;

/// References of a turn in a repository without unusual file names.
fn extract(body: &Body) -> Vec<Reference> {
    extract_with_files(body, &[])
}
