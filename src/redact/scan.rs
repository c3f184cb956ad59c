//! Single pass over a text. Runs the matchers at every keyword hit. Returns the secrets, and the
//! first keyword that needs more input to decide.
use super::keywords::{self, Matcher};
use super::known_values::KnownValues;
use super::window::Window;
use super::{
    assignment, auth_header, key_block, placeholder, token_formats, url_password, vendor_keys,
};

/// A secret in a text, as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Start of its keyword, at most `start`. A stream must not be cut between it and `end`.
    pub(super) keyword_start: usize,
}

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

/// Result of a matcher: start, end and kind.
pub(super) type MatchedSpan = (usize, usize, &'static str);

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
        Matcher::Placeholder => None,
        Matcher::VendorKey(index, prefix) => {
            let row = &vendor_keys::VENDOR_KEYS[index];
            row.match_end(window, start, prefix).map(|end| (start, end, row.kind))
        }
        Matcher::KeyBlock => key_block::match_pem(window, start, end),
        Matcher::PuttyLines => key_block::match_putty(window, end),
        Matcher::Jwt => token_formats::match_jwt(window, start),
        Matcher::Discord => token_formats::match_discord(window, start),
        Matcher::Telegram => token_formats::match_telegram(window, start),
        Matcher::Terraform => token_formats::match_terraform(window, start, end),
        Matcher::Mailchimp => token_formats::match_mailchimp(window, start, end),
        Matcher::Webhook(kind) => token_formats::match_webhook(window, end, kind),
        Matcher::AzureSignature => token_formats::match_azure_signature(window, start, end),
        Matcher::UrlPassword => url_password::match_url_password(window, start, end),
        Matcher::Bearer => auth_header::match_bearer(window, start, end),
        Matcher::Basic => auth_header::match_basic(window, start, end),
        Matcher::Assignment => assignment::match_assignment(window, start, end),
    }
}

/// Kind of a value that is one vendor key or token and nothing else, otherwise `secret`. So a key
/// has the same kind in every context.
pub(super) fn detect_kind(value: &[u8]) -> &'static str {
    let Some(keywords) = keywords::keyword_index() else { return placeholder::KIND_SECRET };
    for hit in keywords.automaton.find_iter(value) {
        let window = Window::new(value, hit.start(), 0);
        for matcher in &keywords.matchers[hit.pattern().as_usize()] {
            let is_token = *matcher < Matcher::UrlPassword && *matcher != Matcher::Placeholder;
            let span =
                is_token.then(|| run_matcher(*matcher, &window, hit.start(), hit.end())).flatten();
            if let Some((0, end, kind)) = span
                && end == value.len()
            {
                return kind;
            }
        }
    }
    placeholder::KIND_SECRET
}

/// Sorts secrets, and merges those that overlap.
pub(super) fn merge_overlaps(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut merged: Vec<SecretSpan> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.start < last.end => {
                let same = (last.start, last.end) == (next.start, next.end);
                if next.end > last.end {
                    (last.end, last.kind) = (next.end, placeholder::KIND_SECRET);
                } else if same && specificity(next.kind) > specificity(last.kind) {
                    last.kind = next.kind;
                }
                last.keyword_start = last.keyword_start.min(next.keyword_start);
            }
            _ => merged.push(next),
        }
    }
    merged
}

/// How specific a kind is. For the same bytes, the most specific kind is reported.
fn specificity(kind: &str) -> u8 {
    match kind {
        placeholder::KIND_SECRET => 0,
        placeholder::KIND_KNOWN_VALUE => 1,
        _ => 2,
    }
}
