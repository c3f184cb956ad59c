//! Tokens that are recognized by their own format, wherever they stand: vendor keys, private keys
//! and `token_formats`. The matchers of assignments, URLs and headers ask here for the kind of a
//! value.
use super::keywords::{self, Matcher};
use super::secret_span::MatchedSpan;
use super::window::Window;
use super::{key_block, placeholder, token_formats, vendor_keys};

/// Runs the matcher of a token that is recognized by its own format. Matchers that depend on the
/// text around a value find nothing here.
pub(super) fn match_token(
    matcher: Matcher,
    window: &Window,
    start: usize,
    end: usize,
) -> Option<MatchedSpan> {
    match matcher {
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
        Matcher::Placeholder
        | Matcher::UrlPassword
        | Matcher::Bearer
        | Matcher::Basic
        | Matcher::Assignment => None,
    }
}

/// Kind of a value that is one vendor key or token and nothing else, otherwise `secret`. So a key
/// has the same kind in every context.
pub(super) fn detect_kind(value: &[u8]) -> &'static str {
    let Some(keywords) = keywords::keyword_index() else { return placeholder::KIND_SECRET };
    for hit in keywords.automaton.find_iter(value) {
        let window = Window::new(value, hit.start(), 0);
        for matcher in &keywords.matchers[hit.pattern().as_usize()] {
            if let Some((0, end, kind)) = match_token(*matcher, &window, hit.start(), hit.end())
                && end == value.len()
            {
                return kind;
            }
        }
    }
    placeholder::KIND_SECRET
}
