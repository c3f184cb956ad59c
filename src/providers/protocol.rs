//! API protocols of model vendors, as pure functions: [`build_request`] makes the request path and
//! body from a prompt, [`ApiResponse`] parses the stream of server-sent events. URLs, keys and the
//! network are in `api` and `http`.
//!
//! | module           | what it does                                            |
//! |------------------|---------------------------------------------------------|
//! | `request`        | builds path, headers and body                           |
//! | `schema_dialect` | reduces a JSON Schema to the keywords a protocol takes  |
//! | `response`       | parses the response stream, event by event              |
mod request;
mod response;
mod schema_dialect;

pub(super) use request::{PromptRequest, auth_header, build_request, merge_json};
pub(super) use response::ApiResponse;
pub(super) use schema_dialect::adapt_schema;
use serde::Deserialize;

/// The API protocol a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    /// Anthropic Messages API.
    Anthropic,
    /// `OpenAI` Responses API.
    Responses,
    /// `OpenAI` Chat Completions API, which most other vendors and local servers offer too.
    Chat,
    /// Google Gemini API (`streamGenerateContent`).
    Gemini,
}

/// How a service is made to answer with one JSON object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum SchemaMode {
    /// By the prompt only.
    #[serde(rename = "Asked")]
    PromptOnly,
    /// By JSON mode: any object.
    #[serde(rename = "Object")]
    AnyObject,
    /// By a JSON Schema in the request.
    #[default]
    Schema,
}

impl TryFrom<toml::Value> for SchemaMode {
    type Error = String;

    /// Parses `true` (schema), `false` (prompt only) or `"object"`.
    fn try_from(value: toml::Value) -> Result<SchemaMode, String> {
        match value {
            toml::Value::Boolean(true) => Ok(SchemaMode::Schema),
            toml::Value::Boolean(false) => Ok(SchemaMode::PromptOnly),
            toml::Value::String(word) if word == "object" => Ok(SchemaMode::AnyObject),
            _ => Err("`schema` is true, false or \"object\"".into()),
        }
    }
}

#[cfg(test)]
mod tests;
