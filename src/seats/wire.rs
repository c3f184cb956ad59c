//! How a model is spoken to over HTTP: four wires, as pure functions from what is wanted to a request
//! and from the events that come back to an answer. No address and no key is known here.
//!
//! | file      | concept                                                   |
//! |-----------|-----------------------------------------------------------|
//! | `request` | what is sent: path, headers and body                      |
//! | `shape`   | the schema of an answer, in the words a wire understands  |
//! | `answer`  | what comes back, event by event                           |
mod answer;
mod request;
mod shape;

pub use answer::{Answer, Garbage};
pub use request::{Request, Wanted, credentials, merge, request};
use serde::Deserialize;
pub use shape::shaped;

/// What a service understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Messages, as Anthropic has them.
    Anthropic,
    /// Responses, as `OpenAI` has them.
    Responses,
    /// Chat completions, as `OpenAI` had them first and everyone else has them now.
    Chat,
    /// Contents and candidates, as Google has them.
    Gemini,
}

/// How a service is held to one JSON object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Held {
    /// Not at all: the prompt asks for it, and that is all.
    Asked,
    /// To any object.
    Object,
    /// To the schema.
    #[default]
    Schema,
}

impl TryFrom<toml::Value> for Held {
    type Error = String;

    /// `true`, `false` or `"object"`.
    fn try_from(value: toml::Value) -> Result<Held, String> {
        match value {
            toml::Value::Boolean(true) => Ok(Held::Schema),
            toml::Value::Boolean(false) => Ok(Held::Asked),
            toml::Value::String(word) if word == "object" => Ok(Held::Object),
            _ => Err("`schema` is true, false or \"object\"".into()),
        }
    }
}
