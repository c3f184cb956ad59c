//! The redaction gate: removes secrets from everything that is stored, published or sent to a
//! model. There is no other way into the log, a prompt or a live update.
use crate::debate::Setup;
use crate::redact::{Redactor, Secrets, StreamRedactor, UNPINNED_SCOPE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Redactor of one debate. The same secret gets the same placeholder throughout the debate, in
/// every process.
#[derive(Clone)]
pub struct RedactionGate(Redactor);

impl RedactionGate {
    /// The gate of a debate. The scope is its pinned tree, so that placeholders match those in the
    /// files read from that tree.
    pub fn for_debate(secrets: &Secrets, setup: &Setup) -> RedactionGate {
        RedactionGate(secrets.redactor(setup.pin.as_deref().unwrap_or(UNPINNED_SCOPE)))
    }

    /// The gate for requests outside of any debate.
    pub fn for_one_shot(secrets: &Secrets) -> RedactionGate {
        RedactionGate(secrets.redactor(UNPINNED_SCOPE))
    }

    /// Redacts a text.
    pub fn redact_text(&self, text: &str) -> String {
        self.0.redact(text).text.into_owned()
    }

    /// Redacts every string of a serializable value, by walking its JSON. No field can be
    /// forgotten.
    pub fn redact_value<T: Serialize + DeserializeOwned>(
        &self,
        value: T,
    ) -> Result<T, RedactionError> {
        let to_error = |error: serde_json::Error| RedactionError(error.to_string());
        let mut json = serde_json::to_value(&value).map_err(to_error)?;
        if self.redact_json(&mut json) {
            serde_json::from_value(json).map_err(to_error)
        } else {
            Ok(value)
        }
    }

    /// A redactor for streamed text, which arrives in chunks.
    pub fn stream_redactor(&self) -> StreamRedactor {
        self.0.stream_redactor()
    }

    /// Redacts all strings in place. Returns whether any had a secret.
    fn redact_json(&self, json: &mut Value) -> bool {
        match json {
            Value::String(text) => {
                let clean = self.0.redact(text);
                let found = !clean.counts.is_empty();
                if found {
                    *text = clean.text.into_owned();
                }
                found
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |found, item| self.redact_json(item) | found)
            }
            Value::Object(fields) => {
                fields.values_mut().fold(false, |found, field| self.redact_json(field) | found)
            }
            _ => false,
        }
    }
}

/// Error when a value could not be serialized for the redaction, or not parsed after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("secrets could not be redacted: {0}")]
pub struct RedactionError(String);
