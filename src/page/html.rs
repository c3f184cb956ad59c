//! Markup that may be sent, and the length of texts on a page. The pages are `maud` templates: only
//! their literals become markup, every value is escaped. This prevents cross-site scripting.
use crate::debate::invisible_chars;
use maud::{Markup, Render};
use std::fmt::Write;

/// Characters shown of a name: of a seat, a side, a speaker or a winner.
pub(super) const MAX_NAME_CHARS: usize = 80;
/// Characters shown of a short name: of a format, an option, an entrant or a claim.
pub(super) const MAX_SHORT_NAME_CHARS: usize = 60;
/// Characters shown of a topic in a list of debates.
pub(super) const MAX_LISTED_TOPIC_CHARS: usize = 300;
/// Characters shown of a note, a reason or a notice.
pub(super) const MAX_NOTE_CHARS: usize = 1_000;
/// Characters shown of the hash of a tree or a commit.
pub(super) const MAX_HASH_CHARS: usize = 12;

/// Markup that may be sent to a browser: invisible characters are written as `\u{...}` escapes, so
/// that readers can see them. The server accepts no other markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl From<Markup> for Html {
    fn from(markup: Markup) -> Html {
        let mut markup = markup.into_string();
        if markup.contains('\r') {
            markup = markup.replace("\r\n", "\n").replace('\r', "\n");
        }
        // Most characters are ASCII, and a page is long.
        let is_invisible =
            |c: char| !matches!(c, ' '..='~' | '\n') && invisible_chars::is_invisible(c);
        if markup.contains(is_invisible) {
            markup = invisible_chars::escape_invisible(&markup).into_owned();
        }
        Html(markup)
    }
}

impl Html {
    /// The markup as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts the markup into a string.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Render for Html {
    fn render_to(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

/// Truncates a text to `most` characters and appends an ellipsis.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    let mut chars = text.chars();
    let truncated: String = chars.by_ref().take(max_chars).collect();
    if chars.next().is_some() { truncated + "…" } else { truncated }
}

/// Percent-encodes a text for the query string of a URL.
pub(super) fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if is_unreserved {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
