//! Secrets out of everything that is sent, stored or shown. One pass finds the words secrets are
//! known by; at each of them a small matcher looks whether there is one. What is found becomes a
//! placeholder that tells which secrets are the same, and no line is ever added or lost.
//!
//! | file       | concept                                                                   |
//! |------------|---------------------------------------------------------------------------|
//! | `scan`     | the pass over a text: what is secret in it, and what is not yet decided   |
//! | `keywords` | the words a secret can be known by, and who looks at each                 |
//! | `window`   | a text around one such word, which knows when somebody looked past its end |
//! | `rows`     | vendors' keys, one row each                                               |
//! | `row`      | whether a text fits a row                                                 |
//! | `shapes`   | keys without a prefix of their own: tokens in parts, addresses            |
//! | `key_block`| private keys over many lines                                              |
//! | `address`  | passwords in addresses                                                    |
//! | `header`   | what follows `Bearer` and `Basic`                                         |
//! | `assigned` | a name, an operator and a value                                           |
//! | `operator` | what may stand between a name and its value                               |
//! | `names`    | whether a name promises a secret                                          |
//! | `value`    | whether a value looks like one                                            |
//! | `known`    | values that are secret wherever they stand                                |
//! | `mark`     | placeholders: written, recognised, counted                                |
//! | `flow`     | text that comes in pieces                                                 |
//! | `strict`   | files that are secrets by their name                                      |
mod address;
mod assigned;
mod flow;
mod header;
mod key_block;
mod keywords;
mod known;
mod mark;
mod names;
mod operator;
mod row;
mod rows;
mod scan;
mod shapes;
mod strict;
mod value;
mod window;

pub use flow::{Held, filter};
pub use mark::{Removed, placeholders};

use known::Known;
use scan::Found;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The scope of whatever belongs to no pinned tree.
pub const UNPINNED: &str = "unpinned";

/// What is known to be secret here, and what placeholders are made with. Cheap to clone.
#[derive(Clone)]
pub struct Secrets {
    inner: Arc<Inner>,
}

struct Inner {
    /// Asked for when there is a first secret: most never need one.
    make: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    key: OnceLock<Vec<u8>>,
    known: Known,
}

impl Inner {
    fn key(&self) -> &[u8] {
        self.key.get_or_init(|| (self.make)())
    }
}

/// What is taken for a secret. Another number, and what was read before is read anew.
const RULES: u32 = 1;

/// Takes secrets out of texts, within one scope. Cheap to clone.
#[derive(Clone)]
pub struct Redactor {
    inner: Arc<Inner>,
    scope: Arc<str>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text, untouched if there was none in it.
    pub text: Cow<'t, str>,
    /// What was removed from it.
    pub removed: Removed,
}

impl Secrets {
    /// `values` are names and values of what is secret wherever it stands. Those that cannot be
    /// told from ordinary words, numbers and paths are ignored. The key is asked for once, and only
    /// if it is needed.
    pub fn new(
        key: impl Fn() -> Vec<u8> + Send + Sync + 'static,
        values: impl IntoIterator<Item = (String, String)>,
    ) -> Secrets {
        let known = Known::new(values.into_iter().map(|(_, value)| value));
        let inner = Inner { make: Box::new(key), key: OnceLock::new(), known };
        Secrets { inner: Arc::new(inner) }
    }

    /// What is taken for a secret here, in a word that tells nothing of it. Where the word is
    /// another, what was cleaned before may not be clean.
    pub fn edition(&self) -> String {
        if self.inner.known.is_empty() {
            return RULES.to_string();
        }
        let tag = mark::tag(self.inner.key(), "edition", &self.inner.known.all());
        let word = u32::from_be_bytes([tag[0], tag[1], tag[2], tag[3]]);
        format!("{RULES}{word:08x}")
    }

    /// Placeholders are the same for the same secret within a scope, and tell nothing across
    /// scopes.
    pub fn within(&self, scope: &str) -> Redactor {
        Redactor { inner: self.inner.clone(), scope: scope.into() }
    }
}

impl Redactor {
    /// A text without its secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let (bytes, removed) = self.bytes(text.as_bytes());
        let text = match bytes {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(in_words(bytes)),
        };
        Redacted { text, removed }
    }

    /// The same for what may not be UTF-8.
    pub fn bytes<'t>(&self, bytes: &'t [u8]) -> (Cow<'t, [u8]>, Removed) {
        let found = scan::scan(bytes, 0, 0, &self.inner.known).found;
        let mut removed = Removed::default();
        if found.is_empty() {
            return (Cow::Borrowed(bytes), removed);
        }
        let mut kept = Vec::with_capacity(bytes.len());
        self.write(bytes, 0..bytes.len(), &found, &mut kept, &mut removed);
        (Cow::Owned(kept), removed)
    }

    /// For files that are secrets by their name: the value of every assignment goes, whatever it is
    /// called, and every key block.
    pub fn strict(&self, text: &str) -> (String, Removed) {
        let (mut text, mut removed) = (text.to_owned(), Removed::default());
        // What remains of a line can be all of a line once the rest of it is gone.
        loop {
            let mut found = scan::scan(text.as_bytes(), 0, 0, &self.inner.known).found;
            found.extend(strict::assignments(text.as_bytes()));
            if found.is_empty() {
                return (text, removed);
            }
            let mut kept = vec![];
            let found = scan::united(found);
            self.write(text.as_bytes(), 0..text.len(), &found, &mut kept, &mut removed);
            text = in_words(kept);
        }
    }

    /// For text that comes in pieces.
    pub fn held(&self) -> Held {
        Held::new(self.clone())
    }

    /// Writes a part of a text with placeholders for what was found in it.
    fn write(
        &self,
        bytes: &[u8],
        part: std::ops::Range<usize>,
        found: &[Found],
        kept: &mut Vec<u8>,
        removed: &mut Removed,
    ) {
        let mut at = part.start;
        for found in found.iter().filter(|found| part.contains(&found.start)) {
            kept.extend_from_slice(&bytes[at..found.start]);
            let secret = &bytes[found.start..found.end];
            mark::write(found.kind, secret, self.inner.key(), &self.scope, kept);
            removed.count(found.kind);
            at = found.end;
        }
        kept.extend_from_slice(&bytes[at..part.end]);
    }
}

/// Secrets begin and end beside ASCII, so what is left of a text is text.
fn in_words(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
