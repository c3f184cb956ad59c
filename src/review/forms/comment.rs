//! The comment on a pull request. A later review finds it by its marker and overwrites it.
use super::fit::fitted;
use super::markdown::{ending, sections, verdict};
use crate::review::Review;
use crate::review::finding::State;

/// First line of the comment, by which a later review finds it.
pub const MARKER: &str = "<!-- debate-review -->";

/// GitHub's limit is 65,536 characters. Other hosts count bytes.
const MOST: usize = 63_900;

/// Limit of fingerprints in the hidden marker.
const KNOWN: usize = 200;

/// Renders the comment. Empty if there is nothing to post.
pub(super) fn comment(review: &Review) -> String {
    if !review.worth_posting() {
        return String::new();
    }
    let head = format!("{MARKER}\n{}\n{}", prints(review), verdict(review));
    let note = |lost: &str| format!("\n_{lost}_\n");
    fitted(&head, sections(review, true), &ending(review), MOST, note)
}

/// Hidden marker with the fingerprints of the findings and of the earlier ones still open.
fn prints(review: &Review) -> String {
    let open = review.earlier.iter().filter(|earlier| earlier.state == State::Open);
    let found = review.findings.iter().map(|finding| &finding.fingerprint);
    let mut prints: Vec<&str> = vec![];
    for print in found.chain(open.map(|earlier| &earlier.noted.fingerprint)).take(KNOWN) {
        let fits = print.len() <= 64 && print.bytes().all(|byte| byte.is_ascii_hexdigit());
        if fits && !print.is_empty() && !prints.contains(&print.as_str()) {
            prints.push(print);
        }
    }
    format!("<!-- debate-review:v1 fp={} -->", prints.join(","))
}
