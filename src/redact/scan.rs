//! Single pass over a text. Runs the matchers at every keyword hit. Returns the secrets, and the
//! first keyword that needs more input to decide.
use super::keywords::{self, Route};
use super::known::Known;
use super::window::Window;
use super::{address, assigned, header, key_block, mark, rows, shapes};

/// A secret in a text, as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Start of its keyword, at most `start`. A stream must not be cut between it and `end`.
    pub(super) hit: usize,
}

/// Result of a scan.
pub(super) struct Scan {
    /// Sorted, without overlaps.
    pub(super) found: Vec<Found>,
    /// First keyword whose matcher read past the end: more input could change its result.
    pub(super) open: Option<usize>,
    /// Byte ranges of keywords and placeholders, which must not be cut either.
    pub(super) whole: Vec<(usize, usize)>,
    /// End offsets of placeholders that were already in the text.
    pub(super) marks: Vec<usize>,
}

/// Result of a matcher: start, end and kind.
pub(super) type Span = (usize, usize, &'static str);

/// Scans a text from offset `from` on. Earlier bytes only serve as look-behind, and those before
/// `covered` belong to secrets or placeholders already processed.
pub(super) fn scan(bytes: &[u8], from: usize, covered: usize, known: &Known) -> Scan {
    let mut found: Vec<Found> = known.find(bytes, from);
    let (mut open, mut whole, mut marks) = (None, vec![], vec![]);
    let mut covered = covered;
    let mut theirs = found.clone().into_iter().peekable();
    let Some(keywords) = keywords::keywords() else { return Scan { found, open, whole, marks } };
    let input = aho_corasick::Input::new(bytes).span(from..bytes.len());
    for hit in keywords.automaton.find_iter(input) {
        while let Some(value) = theirs.next_if(|value| value.end <= hit.start()) {
            covered = covered.max(value.end);
        }
        if hit.start() < covered {
            continue;
        }
        whole.push((hit.start(), hit.end()));
        let window = Window::new(bytes, hit.start(), covered);
        for route in &keywords.routes[hit.pattern().as_usize()] {
            if *route == Route::Placeholder {
                let end = window.run(hit.start(), mark::LONGEST, |byte| byte != b']');
                if let Some((_, length)) = mark::read(window.part(hit.start(), end + 1)) {
                    covered = hit.start() + length;
                    whole.push((hit.start(), covered));
                    marks.push(covered);
                    break;
                }
            } else if let Some((start, end, kind)) =
                matched(*route, &window, hit.start(), hit.end())
            {
                found.push(Found { start, end, kind, hit: hit.start().min(start) });
                covered = end;
                break;
            }
        }
        if window.ran_out() && open.is_none() {
            open = Some(hit.start());
        }
    }
    Scan { found: united(found), open, whole, marks }
}

fn matched(route: Route, window: &Window, start: usize, end: usize) -> Option<Span> {
    match route {
        Route::Placeholder => None,
        Route::Row(index, prefix) => {
            let row = &rows::ROWS[index];
            row.end(window, start, prefix).map(|end| (start, end, row.kind))
        }
        Route::KeyBlock => key_block::pem(window, start, end),
        Route::PuttyLines => key_block::putty(window, end),
        Route::Jwt => shapes::jwt(window, start),
        Route::Discord => shapes::discord(window, start),
        Route::Telegram => shapes::telegram(window, start),
        Route::Terraform => shapes::terraform(window, start, end),
        Route::Mailchimp => shapes::mailchimp(window, start, end),
        Route::Hook(kind) => shapes::hook(window, end, kind),
        Route::Signature => shapes::signature(window, start, end),
        Route::Address => address::password(window, start, end),
        Route::Bearer => header::bearer(window, start, end),
        Route::Basic => header::basic(window, start, end),
        Route::Name => assigned::value(window, start, end),
    }
}

/// Kind of a value that is one vendor key or token and nothing else, otherwise `secret`. So a key
/// has the same kind in every context.
pub(super) fn kind_of(value: &[u8]) -> &'static str {
    let Some(keywords) = keywords::keywords() else { return mark::SECRET };
    for hit in keywords.automaton.find_iter(value) {
        let window = Window::new(value, hit.start(), 0);
        for route in &keywords.routes[hit.pattern().as_usize()] {
            let own = *route < Route::Address && *route != Route::Placeholder;
            let span = own.then(|| matched(*route, &window, hit.start(), hit.end())).flatten();
            if let Some((0, end, kind)) = span
                && end == value.len()
            {
                return kind;
            }
        }
    }
    mark::SECRET
}

/// Sorts secrets, and merges those that overlap.
pub(super) fn united(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut all: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match all.last_mut() {
            Some(last) if next.start < last.end => {
                let same = (last.start, last.end) == (next.start, next.end);
                if next.end > last.end {
                    (last.end, last.kind) = (next.end, mark::SECRET);
                } else if same && rank(next.kind) > rank(last.kind) {
                    last.kind = next.kind;
                }
                last.hit = last.hit.min(next.hit);
            }
            _ => all.push(next),
        }
    }
    all
}

/// How specific a kind is. For the same bytes, the most specific kind is reported.
fn rank(kind: &str) -> u8 {
    match kind {
        mark::SECRET => 0,
        mark::KNOWN => 1,
        _ => 2,
    }
}
