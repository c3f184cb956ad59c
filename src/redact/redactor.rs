//! `Secrets`, the config of redaction, and `Redactor`, which redacts whole texts.
use super::known_values::KnownValues;
use super::placeholder::{self, RedactionCounts};
use super::secret_span::{self, SecretSpan};
use super::{scan, secret_file};
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
            let secrets = secret_span::merge_overlaps(secrets);
            self.write_redacted(text.as_bytes(), 0..text.len(), &secrets, &mut output, &mut counts);
            text = into_text(output);
        }
    }

    pub(super) fn known_values(&self) -> &KnownValues {
        &self.inner.known_values
    }

    /// Appends a part of a text to `output`, with placeholders in place of the secrets.
    pub(super) fn write_redacted(
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
pub(super) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
