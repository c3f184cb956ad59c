//! The pass over a text: what is secret in it, and from where on that is not yet decided.
use super::keywords::{self, Route};
use super::known::Known;
use super::window::Window;
use super::{address, assigned, header, key_block, mark, rows, shapes};

/// A secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Where the word is by which it was found. A text may not be cut between there and the end.
    pub(super) hit: usize,
}

/// What a pass brought.
pub(super) struct Scan {
    /// In order, none of them overlapping another.
    pub(super) found: Vec<Found>,
    /// The first word for which what comes after the text could make a difference.
    pub(super) open: Option<usize>,
    /// Words and placeholders, which must not be cut either.
    pub(super) whole: Vec<(usize, usize)>,
    /// Where placeholders end that were there already.
    pub(super) marks: Vec<usize>,
}

/// What a matcher finds: from where, to where, and what it is.
pub(super) type Span = (usize, usize, &'static str);

/// Looks through a text from a place on. What is before it was looked through already, and up to
/// `covered` it was dealt with.
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

/// What a value is when it is a key of a vendor and nothing else, so that it is called the same
/// wherever it stands.
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

/// In order, and those that overlap as one.
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

/// How much a kind says.
fn rank(kind: &str) -> u8 {
    match kind {
        mark::SECRET => 0,
        mark::KNOWN => 1,
        _ => 2,
    }
}
