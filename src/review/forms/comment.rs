//! The one comment on a pull request, which later reviews find again and write anew.
use super::fit::fitted;
use super::markdown::{ending, sections, verdict};
use crate::review::Review;
use crate::review::finding::State;

/// What the comment is found again by: its first line.
pub const MARKER: &str = "<!-- debate-review -->";

/// GitHub takes 65,536 letters, and others count bytes.
const MOST: usize = 63_900;

/// How many findings a later review can know again.
const KNOWN: usize = 200;

/// Nothing, if nothing is worth a word.
pub(super) fn comment(review: &Review) -> String {
    if !review.worth_posting() {
        return String::new();
    }
    let head = format!("{MARKER}\n{}\n{}", prints(review), verdict(review));
    let note = |lost: &str| format!("\n_{lost}_\n");
    fitted(&head, sections(review, true), &ending(review), MOST, note)
}

/// What was found and what is still open, by its fingerprint.
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
