//! Markup that text cannot get into by accident: everything but literals and markup is escaped.
use crate::debate::unseen;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Markup. It is made of literals by [`crate::page::html!`], and of nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// What was put together by the macro, whose literal is markup and whose values are escaped.
    #[doc(hidden)]
    pub fn of(markup: String) -> Html {
        Html(markup)
    }

    /// Nothing.
    pub fn new() -> Html {
        Html::default()
    }

    /// Somebody's words.
    pub fn text(words: &str) -> Html {
        Html(escaped(words))
    }

    /// Adds more.
    pub fn add(&mut self, more: &Html) {
        self.0.push_str(&more.0);
    }

    /// Adds somebody's words.
    pub fn say(&mut self, words: &str) {
        self.0.push_str(&escaped(words));
    }

    /// Adds markup of ours.
    pub fn tag(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As it is sent.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Html {
        let mut all = Html::new();
        parts.into_iter().for_each(|part| all.add(&part));
        all
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What can stand in markup: markup as it is, everything else escaped.
pub trait Shown {
    /// As it stands there.
    fn shown(&self) -> Cow<'_, str>;
}

impl Shown for Html {
    fn shown(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

impl Shown for str {
    fn shown(&self) -> Cow<'_, str> {
        Cow::Owned(escaped(self))
    }
}

impl Shown for String {
    fn shown(&self) -> Cow<'_, str> {
        self.as_str().shown()
    }
}

impl<T: Shown + ?Sized> Shown for &T {
    fn shown(&self) -> Cow<'_, str> {
        (**self).shown()
    }
}

/// Numbers and truths have nothing in them to escape.
macro_rules! plain {
    ($($kind:ty),*) => {$(
        impl Shown for $kind {
            fn shown(&self) -> Cow<'_, str> {
                Cow::Owned(self.to_string())
            }
        }
    )*};
}
plain!(u8, u16, u32, u64, usize, i64, bool);

/// Text as it can stand between tags and in quoted attributes, with what cannot be seen in it
/// written out.
fn escaped(text: &str) -> String {
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let shown = unseen::shown(&text);
    let mut safe = String::with_capacity(shown.len() + 16);
    for c in shown.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Markup from a literal; what stands in for `{}` is escaped unless it is markup itself.
#[macro_export]
#[doc(hidden)]
macro_rules! page_html {
    ($markup:literal $(, $value:expr)* $(,)?) => {
        $crate::page::html::Html::of(format!(
            $markup $(, $crate::page::html::Shown::shown(&$value))*
        ))
    };
}
pub use page_html as html;

/// The first characters of a text that may be of any length.
pub fn bounded(text: &str, most: usize) -> String {
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() { short + "…" } else { short }
}

/// A text as it stands in the query of an address.
pub fn query(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if plain {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}
