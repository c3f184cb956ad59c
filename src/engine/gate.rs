//! The gate: whatever is kept, told or sent passes through it, and secrets do not. Nothing is asked
//! of a model, recorded or shown to an observer by any other way.
use super::ports::LogError;
use crate::debate::Setup;
use crate::redact::{Held, Redactor, Secrets, UNPINNED};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The gate of one debate. What is secret is hidden behind the same words for as long as the debate
/// lasts, in whichever process.
#[derive(Clone)]
pub struct Gate(Redactor);

impl Gate {
    /// Of a debate: what it is pinned to has been read through the same gate.
    pub fn of(secrets: &Secrets, setup: &Setup) -> Gate {
        Gate(secrets.within(setup.pin.as_deref().unwrap_or(UNPINNED)))
    }

    /// Of whatever is said outside of any debate of ours.
    pub fn outside(secrets: &Secrets) -> Gate {
        Gate(secrets.within(UNPINNED))
    }

    /// A text without what is secret in it.
    pub fn text(&self, text: &str) -> String {
        self.0.redact(text).text.into_owned()
    }

    /// Everything in a value that is text, whatever it is called, so that nothing added later is
    /// forgotten.
    pub fn all<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T, LogError> {
        let broken = |error: serde_json::Error| {
            LogError::Broken(format!("what must not be kept cannot be taken out: {error}"))
        };
        let mut json = serde_json::to_value(&value).map_err(broken)?;
        if self.walk(&mut json) { serde_json::from_value(json).map_err(broken) } else { Ok(value) }
    }

    /// For words that come a few at a time.
    pub fn held(&self) -> Held {
        self.0.held()
    }

    /// Whether anything had to be taken out.
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
