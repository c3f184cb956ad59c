//! Single pass over a text. Runs the matchers at every keyword hit. Returns the secrets, and the
//! first keyword that needs more input to decide.
use super::keywords::{self, Matcher};
use super::known_values::KnownValues;
use super::secret_span::{MatchedSpan, SecretSpan, merge_overlaps};
use super::window::Window;
use super::{assignment, auth_header, placeholder, token_kind, url_password};

/// Result of a scan.
pub(super) struct ScanResult {
    /// Sorted, without overlaps.
    pub(super) secrets: Vec<SecretSpan>,
    /// First keyword whose matcher read past the end: more input could change its result.
    pub(super) undecided_from: Option<usize>,
    /// Byte ranges of keywords and placeholders, which must not be cut either.
    pub(super) unsplittable: Vec<(usize, usize)>,
    /// End offsets of placeholders that were already in the text.
    pub(super) placeholder_ends: Vec<usize>,
}

/// Scans a text from offset `from` on. Earlier bytes only serve as look-behind, and those before
/// `covered` belong to secrets or placeholders already processed.
pub(super) fn scan_text(
    bytes: &[u8],
    from: usize,
    covered: usize,
    known_values: &KnownValues,
) -> ScanResult {
    let mut secrets: Vec<SecretSpan> = known_values.find(bytes, from);
    let (mut undecided_from, mut unsplittable, mut placeholder_ends) = (None, vec![], vec![]);
    let mut covered = covered;
    let mut known_spans = secrets.clone().into_iter().peekable();
    let Some(keywords) = keywords::keyword_index() else {
        return ScanResult { secrets, undecided_from, unsplittable, placeholder_ends };
    };
    let input = aho_corasick::Input::new(bytes).span(from..bytes.len());
    for hit in keywords.automaton.find_iter(input) {
        while let Some(value) = known_spans.next_if(|value| value.end <= hit.start()) {
            covered = covered.max(value.end);
        }
        if hit.start() < covered {
            continue;
        }
        unsplittable.push((hit.start(), hit.end()));
        let window = Window::new(bytes, hit.start(), covered);
        for matcher in &keywords.matchers[hit.pattern().as_usize()] {
            if *matcher == Matcher::Placeholder {
                let end = window
                    .run_end(hit.start(), placeholder::MAX_PLACEHOLDER_LEN, |byte| byte != b']');
                if let Some((_, length)) =
                    placeholder::parse_placeholder(window.slice(hit.start(), end + 1))
                {
                    covered = hit.start() + length;
                    unsplittable.push((hit.start(), covered));
                    placeholder_ends.push(covered);
                    break;
                }
            } else if let Some((start, end, kind)) =
                run_matcher(*matcher, &window, hit.start(), hit.end())
            {
                secrets.push(SecretSpan {
                    start,
                    end,
                    kind,
                    keyword_start: hit.start().min(start),
                });
                covered = end;
                break;
            }
        }
        if window.has_read_past_end() && undecided_from.is_none() {
            undecided_from = Some(hit.start());
        }
    }
    ScanResult { secrets: merge_overlaps(secrets), undecided_from, unsplittable, placeholder_ends }
}

fn run_matcher(matcher: Matcher, window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    match matcher {
        Matcher::UrlPassword => url_password::match_url_password(window, start, end),
        Matcher::Bearer => auth_header::match_bearer(window, start, end),
        Matcher::Basic => auth_header::match_basic(window, start, end),
        Matcher::Assignment => assignment::match_assignment(window, start, end),
        _ => token_kind::match_token(matcher, window, start, end),
    }
}
