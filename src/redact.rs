//! Secret redaction: replaces secrets in text by placeholders, `[REDACTED:kind:tag]`. An
//! Aho-Corasick automaton finds keywords in a single pass, and a small matcher validates the bytes
//! around each hit. The tag is a keyed hash (HMAC-SHA256), so equal secrets get equal placeholders.
//! Redaction never adds or removes a line.
//!
//! `Secrets` holds the config, `Redactor` redacts texts, `StreamRedactor` redacts text in chunks.
//!
//! | module            | contents                                                              |
//! |-------------------|-----------------------------------------------------------------------|
//! | `scan`            | Single pass over a text: secret spans, and where more input is needed |
//! | `keywords`        | Keyword automaton, and the matchers of each keyword                   |
//! | `window`          | Bounded view of the bytes around a keyword, with an end-of-input flag |
//! | `vendor_keys`     | Table of vendor key formats                                           |
//! | `key_pattern`     | One entry of that table, and its matcher                              |
//! | `token_formats`   | Tokens without a unique prefix: JWT, bot tokens, webhook URLs         |
//! | `key_block`       | Multi-line private keys                                               |
//! | `url_password`    | Passwords in URLs                                                     |
//! | `auth_header`     | Credentials after `Bearer` and `Basic`                                |
//! | `assignment`      | Name, operator and value                                              |
//! | `operator`        | Parser for the syntax between a name and its value                    |
//! | `secret_names`    | Classifies names such as `api_key`                                    |
//! | `secret_value`    | Heuristics that tell secret values from other values                  |
//! | `known_values`    | Exact values, such as API keys from the environment                   |
//! | `placeholder`     | Writes, parses and counts placeholders                                |
//! | `stream_redactor` | Streaming redaction with a bounded buffer                             |
//! | `secret_file`     | Strict mode for files whose name marks them as secret                 |
mod assignment;
mod auth_header;
mod key_block;
mod key_pattern;
mod keywords;
mod known_values;
mod operator;
mod placeholder;
mod scan;
mod secret_file;
mod secret_names;
mod secret_value;
mod stream_redactor;
mod token_formats;
mod url_password;
mod vendor_keys;
mod window;

pub use placeholder::{RedactionCounts, count_placeholders};
pub use stream_redactor::{StreamRedactor, redact_stream};

use known_values::KnownValues;
use scan::SecretSpan;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Scope of texts that belong to no pinned tree.
pub const UNPINNED_SCOPE: &str = "unpinned";

/// Config of redaction: the known secret values and the HMAC key of the tags. Cheap to clone.
#[derive(Clone)]
pub struct Secrets {
    inner: Arc<SharedSecrets>,
}

struct SharedSecrets {
    /// Loads the HMAC key. Called at the first secret, as most runs never need it.
    load_key: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    key: OnceLock<Vec<u8>>,
    known_values: KnownValues,
}

impl SharedSecrets {
    fn key(&self) -> &[u8] {
        self.key.get_or_init(|| (self.load_key)())
    }
}

/// Version of the redaction rules. A new number invalidates every cache of redacted contents.
const RULES_VERSION: u32 = 1;

/// Redacts texts within one scope. Cheap to clone.
#[derive(Clone)]
pub struct Redactor {
    inner: Arc<SharedSecrets>,
    scope: Arc<str>,
}

/// A redacted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// The text, borrowed if it has no secret.
    pub text: Cow<'t, str>,
    /// Number of secrets replaced, by kind.
    pub counts: RedactionCounts,
}

impl Secrets {
    /// `values` are pairs of name and secret value, such as environment variables with API keys.
    /// Values that could be ordinary words, paths or URLs are ignored. `key` returns the HMAC key
    /// and is called at most once, when it is first needed.
    pub fn new(
        key: impl Fn() -> Vec<u8> + Send + Sync + 'static,
        values: impl IntoIterator<Item = (String, String)>,
    ) -> Secrets {
        let known_values = KnownValues::new(values.into_iter().map(|(_, value)| value));
        let inner = SharedSecrets { load_key: Box::new(key), key: OnceLock::new(), known_values };
        Secrets { inner: Arc::new(inner) }
    }

    /// Fingerprint of the rules and the known values, for cache keys. It reveals no value.
    /// Contents cached with another fingerprint must be redacted again.
    pub fn redaction_fingerprint(&self) -> String {
        if self.inner.known_values.is_empty() {
            return RULES_VERSION.to_string();
        }
        let tag = placeholder::hmac_tag(
            self.inner.key(),
            "edition",
            &self.inner.known_values.joined_values(),
        );
        let word = u32::from_be_bytes([tag[0], tag[1], tag[2], tag[3]]);
        format!("{RULES_VERSION}{word:08x}")
    }

    /// A redactor for one scope. The same secret gets the same placeholder within a scope, and
    /// placeholders of different scopes cannot be compared.
    pub fn redactor(&self, scope: &str) -> Redactor {
        Redactor { inner: self.inner.clone(), scope: scope.into() }
    }
}

impl Redactor {
    /// Redacts a text.
    pub fn redact<'t>(&self, text: &'t str) -> RedactedText<'t> {
        let (bytes, counts) = self.redact_bytes(text.as_bytes());
        let text = match bytes {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(into_text(bytes)),
        };
        RedactedText { text, counts }
    }

    /// Redacts bytes that may not be valid UTF-8.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> (Cow<'t, [u8]>, RedactionCounts) {
        let secrets = scan::scan_text(bytes, 0, 0, &self.inner.known_values).secrets;
        let mut counts = RedactionCounts::default();
        if secrets.is_empty() {
            return (Cow::Borrowed(bytes), counts);
        }
        let mut output = Vec::with_capacity(bytes.len());
        self.write_redacted(bytes, 0..bytes.len(), &secrets, &mut output, &mut counts);
        (Cow::Owned(output), counts)
    }

    /// Redacts a file whose name marks it as secret. Strict mode: the value of every assignment
    /// goes, whatever its name, and every key block.
    pub fn redact_secret_file(&self, text: &str) -> (String, RedactionCounts) {
        let (mut text, mut counts) = (text.to_owned(), RedactionCounts::default());
        // Once part of a line is redacted, the rest can match. Repeat until nothing is found.
        loop {
            let mut secrets =
                scan::scan_text(text.as_bytes(), 0, 0, &self.inner.known_values).secrets;
            secrets.extend(secret_file::find_all_values(text.as_bytes()));
            if secrets.is_empty() {
                return (text, counts);
            }
            let mut output = vec![];
            let secrets = scan::merge_overlaps(secrets);
            self.write_redacted(text.as_bytes(), 0..text.len(), &secrets, &mut output, &mut counts);
            text = into_text(output);
        }
    }

    /// A redactor for text that arrives in chunks.
    pub fn stream_redactor(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }

    /// Appends a part of a text to `output`, with placeholders in place of the secrets.
    fn write_redacted(
        &self,
        bytes: &[u8],
        part: std::ops::Range<usize>,
        secrets: &[SecretSpan],
        output: &mut Vec<u8>,
        counts: &mut RedactionCounts,
    ) {
        let mut position = part.start;
        for span in secrets.iter().filter(|span| part.contains(&span.start)) {
            output.extend_from_slice(&bytes[position..span.start]);
            let secret = &bytes[span.start..span.end];
            placeholder::write_placeholder(
                span.kind,
                secret,
                self.inner.key(),
                &self.scope,
                output,
            );
            counts.increment(span.kind);
            position = span.end;
        }
        output.extend_from_slice(&bytes[position..part.end]);
    }
}

/// Bytes as text. Secrets are cut at character boundaries, so valid UTF-8 stays valid.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
