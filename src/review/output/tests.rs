//! Tests of all output formats.
mod ci;
mod escaping;
mod formats;

use super::limits::MAX_RESULTS;
use super::*;
use crate::review::finding::Finding;
use crate::review::test_review::{finding_with_claim, location_of_file};

#[test]
fn findings_for_other_programs_are_limited() {
    assert_eq!(MAX_RESULTS, 5_000);
    let place = Some(location_of_file("src/a.rs"));
    let finding = Finding { place, ..finding_with_claim("It grows.") };
    let count_results = |count: usize| {
        let review = Review { findings: vec![finding.clone(); count], ..Review::default() };
        let count_in =
            |format: ReviewFormat, key: &str| render_review(&review, format).matches(key).count();
        [
            count_in(ReviewFormat::Sarif, "\"ruleIndex\""),
            count_in(ReviewFormat::Rdjson, "\"severity\""),
            count_in(ReviewFormat::Gitlab, "\"check_name\""),
        ]
    };
    assert_eq!(count_results(MAX_RESULTS), [MAX_RESULTS; 3]);
    assert_eq!(count_results(MAX_RESULTS + 1), [MAX_RESULTS; 3]);
}
