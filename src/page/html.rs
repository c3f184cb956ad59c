//! HTML that is escaped by construction: only string literals and other `Html` values become
//! markup, everything else is HTML-escaped. This prevents cross-site scripting.
use crate::debate::invisible_chars;
use std::borrow::Cow;
use std::fmt::{self, Write};

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

/// Safe HTML markup. Built by the macro `html!` from literals and escaped values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Wraps the output of the `html!` macro without escaping it. For the macro only.
    #[doc(hidden)]
    pub fn from_trusted(markup: String) -> Html {
        Html(markup)
    }

    /// Creates an empty value.
    pub fn new() -> Html {
        Html::default()
    }

    /// Escapes a text.
    pub fn text(text: &str) -> Html {
        Html(escape(text))
    }

    /// Appends markup.
    pub fn push(&mut self, markup: &Html) {
        self.0.push_str(&markup.0);
    }

    /// Appends a text, escaped.
    pub fn push_text(&mut self, text: &str) {
        self.0.push_str(&escape(text));
    }

    /// Appends a literal as markup, not escaped.
    pub fn push_markup(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Whether the markup is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts the markup into a string.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Html {
        let mut joined = Html::new();
        parts.into_iter().for_each(|part| joined.push(&part));
        joined
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Conversion of a value for the `html!` macro: markup is copied, everything else is escaped.
pub trait ToHtml {
    /// The value as safe HTML.
    fn to_html(&self) -> Cow<'_, str>;
}

impl ToHtml for Html {
    fn to_html(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

impl ToHtml for str {
    fn to_html(&self) -> Cow<'_, str> {
        Cow::Owned(escape(self))
    }
}

impl ToHtml for String {
    fn to_html(&self) -> Cow<'_, str> {
        self.as_str().to_html()
    }
}

impl<T: ToHtml + ?Sized> ToHtml for &T {
    fn to_html(&self) -> Cow<'_, str> {
        (**self).to_html()
    }
}

/// Implements `ToHtml` for numbers and booleans, which need no escaping.
macro_rules! impl_to_html {
    ($($kind:ty),*) => {$(
        impl ToHtml for $kind {
            fn to_html(&self) -> Cow<'_, str> {
                Cow::Owned(self.to_string())
            }
        }
    )*};
}
impl_to_html!(u8, u16, u32, u64, usize, i64, bool);

/// Escapes a text for element content and quoted attributes. Invisible characters are written as
/// `\u{...}` escapes, so that readers can see them.
fn escape(text: &str) -> String {
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let visible = invisible_chars::escape_invisible(&text);
    let mut escaped = String::with_capacity(visible.len() + 16);
    for c in visible.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Builds `Html` from a literal. Values for `{}` are escaped unless they are `Html`.
#[macro_export]
#[doc(hidden)]
macro_rules! page_html {
    ($markup:literal $(, $value:expr)* $(,)?) => {
        $crate::page::html::Html::from_trusted(format!(
            $markup $(, $crate::page::html::ToHtml::to_html(&$value))*
        ))
    };
}
pub use page_html as html;

/// Truncates a text to `most` characters and appends an ellipsis.
pub fn truncate(text: &str, max_chars: usize) -> String {
    let mut chars = text.chars();
    let truncated: String = chars.by_ref().take(max_chars).collect();
    if chars.next().is_some() { truncated + "…" } else { truncated }
}

/// Percent-encodes a text for the query string of a URL.
pub fn percent_encode(text: &str) -> String {
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
