//! The redaction gate: removes secrets from everything that is stored, published or sent to a
//! model. There is no other way into the log, a prompt or a live update.
use super::ports::LogError;
use crate::debate::Setup;
use crate::redact::{Held, Redactor, Secrets, UNPINNED};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Redactor of one debate. The same secret gets the same placeholder throughout the debate, in
/// every process.
#[derive(Clone)]
pub struct Gate(Redactor);

impl Gate {
    /// The gate of a debate. The scope is its pinned tree, so that placeholders match those in the
    /// files read from that tree.
    pub fn of(secrets: &Secrets, setup: &Setup) -> Gate {
        Gate(secrets.within(setup.pin.as_deref().unwrap_or(UNPINNED)))
    }

    /// The gate for requests outside of any debate.
    pub fn outside(secrets: &Secrets) -> Gate {
        Gate(secrets.within(UNPINNED))
    }

    /// Redacts a text.
    pub fn text(&self, text: &str) -> String {
        self.0.redact(text).text.into_owned()
    }

    /// Redacts every string of a serializable value, by walking its JSON. No field can be
    /// forgotten.
    pub fn all<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T, LogError> {
        let broken = |error: serde_json::Error| {
            LogError::Broken(format!("what must not be kept cannot be taken out: {error}"))
        };
        let mut json = serde_json::to_value(&value).map_err(broken)?;
        if self.walk(&mut json) { serde_json::from_value(json).map_err(broken) } else { Ok(value) }
    }

    /// A redactor for streamed text, which arrives in chunks.
    pub fn held(&self) -> Held {
        self.0.held()
    }

    /// Redacts all strings in place. Returns whether any had a secret.
    fn walk(&self, json: &mut Value) -> bool {
        match json {
            Value::String(text) => {
                let clean = self.0.redact(text);
                let found = !clean.removed.is_empty();
                if found {
                    *text = clean.text.into_owned();
                }
                found
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |found, item| self.walk(item) | found)
            }
            Value::Object(fields) => {
                fields.values_mut().fold(false, |found, field| self.walk(field) | found)
            }
            _ => false,
        }
    }
}
