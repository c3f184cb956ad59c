//! Builds the streaming request of each protocol: one prompt, one user message.
use super::{Protocol, SchemaMode, adapt_schema};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Parameters of a request.
#[derive(Clone, Copy, Debug)]
pub struct PromptRequest<'a> {
    /// Model name as the service knows it.
    pub model: &'a str,
    /// The only message.
    pub prompt: &'a str,
    /// JSON Schema of the answer, and how it is enforced.
    pub schema: Option<(SchemaMode, &'a Value)>,
    /// Token limit of the answer. Anthropic requires one and gets a default.
    pub max_tokens: Option<u64>,
}

/// A request without base URL and API key.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiRequest {
    /// Path below the base URL, with its query string.
    pub path: String,
    /// Headers the protocol needs besides the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// JSON body.
    pub body: Value,
}

/// Token limit if the protocol requires one and the config has none.
const DEFAULT_MAX_TOKENS: u64 = 16_000;

/// Builds the request for a protocol.
pub fn build_request(wire: Protocol, wanted: &PromptRequest<'_>) -> ApiRequest {
    let PromptRequest { model, prompt, max_tokens, .. } = *wanted;
    let messages = || json!([{"role": "user", "content": prompt}]);
    let (path, mut body) = match wire {
        Protocol::Anthropic => (
            "v1/messages".into(),
            json!({"model": model, "max_tokens": max_tokens.unwrap_or(DEFAULT_MAX_TOKENS), "stream": true,
                "messages": messages()}),
        ),
        // `store: false`: the vendor must not keep the user's debate.
        Protocol::Responses => (
            "responses".into(),
            json!({"model": model, "input": prompt, "stream": true, "store": false}),
        ),
        Protocol::Chat => (
            "chat/completions".into(),
            json!({"model": model, "stream": true, "stream_options": {"include_usage": true},
                "messages": messages()}),
        ),
        Protocol::Gemini => (
            format!("models/{}:streamGenerateContent?alt=sse", encode_model_segment(model)),
            json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
        ),
    };
    if let Some(most) = max_tokens {
        let limit = match wire {
            Protocol::Anthropic => Value::Null,
            Protocol::Responses => json!({"max_output_tokens": most}),
            Protocol::Chat => json!({"max_tokens": most}),
            Protocol::Gemini => json!({"generationConfig": {"maxOutputTokens": most}}),
        };
        merge_json(&mut body, &limit);
    }
    if let Some((held, schema)) = wanted.schema {
        merge_json(&mut body, &response_format(wire, held, schema));
    }
    let headers = match wire {
        Protocol::Anthropic => vec![("anthropic-version", "2023-06-01")],
        _ => vec![],
    };
    ApiRequest { path, headers, body }
}

/// The authentication header. A key is never put into the URL, because servers log URLs.
pub fn auth_header(wire: Protocol, key: &str) -> (&'static str, String) {
    match wire {
        Protocol::Anthropic => ("x-api-key", key.into()),
        Protocol::Gemini => ("x-goog-api-key", key.into()),
        Protocol::Responses | Protocol::Chat => ("authorization", format!("Bearer {key}")),
    }
}

/// The request fields that make a service answer with JSON.
fn response_format(wire: Protocol, held: SchemaMode, schema: &Value) -> Value {
    let schema = || adapt_schema(wire, schema);
    match (wire, held) {
        // Anthropic has no JSON mode without a schema.
        (_, SchemaMode::PromptOnly) | (Protocol::Anthropic, SchemaMode::AnyObject) => Value::Null,
        (Protocol::Anthropic, SchemaMode::Schema) => {
            json!({"output_config": {"format": {"type": "json_schema", "schema": schema()}}})
        }
        (Protocol::Responses, SchemaMode::AnyObject) => {
            json!({"text": {"format": {"type": "json_object"}}})
        }
        (Protocol::Responses, SchemaMode::Schema) => {
            json!({"text": {"format": {"type": "json_schema",
            "name": "answer", "strict": true, "schema": schema()}}})
        }
        (Protocol::Chat, SchemaMode::AnyObject) => {
            json!({"response_format": {"type": "json_object"}})
        }
        (Protocol::Chat, SchemaMode::Schema) => json!({"response_format": {"type": "json_schema",
            "json_schema": {"name": "answer", "strict": true, "schema": schema()}}}),
        (Protocol::Gemini, SchemaMode::AnyObject) => {
            json!({"generationConfig": {"responseMimeType": "application/json"}})
        }
        (Protocol::Gemini, SchemaMode::Schema) => json!({"generationConfig": {
            "responseMimeType": "application/json", "responseJsonSchema": schema()}}),
    }
}

/// Merges one JSON value into another. Objects are merged recursively, anything else is replaced,
/// null is ignored.
pub fn merge_json(into: &mut Value, more: &Value) {
    match (into, more) {
        (_, Value::Null) => {}
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge_json(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

/// Percent-encodes a model name as one path segment, so that it cannot change the path.
fn encode_model_segment(model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let mut kept = String::new();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            kept.push(char::from(byte));
        } else {
            let _ = write!(kept, "%{byte:02X}");
        }
    }
    kept
}
