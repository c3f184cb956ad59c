//! Builds the streaming request of each protocol: one prompt, one user message. The entry point is
//! [`build_request`], called by `api`, which adds the base URL, the key ([`auth_header`]) and the
//! configured fields ([`merge_json`]).
use super::{Protocol, SchemaMode, adapt_schema};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Parameters of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptRequest<'a> {
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
pub(crate) struct ApiRequest {
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
pub(crate) fn build_request(protocol: Protocol, request: &PromptRequest<'_>) -> ApiRequest {
    let PromptRequest { model, prompt, max_tokens, .. } = *request;
    let messages = || json!([{"role": "user", "content": prompt}]);
    let (path, mut body) = match protocol {
        Protocol::Anthropic => (
            "v1/messages".into(),
            json!({"model": model, "max_tokens": max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
                "stream": true, "messages": messages()}),
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
    if let Some(tokens) = max_tokens {
        let limit = match protocol {
            Protocol::Anthropic => Value::Null,
            Protocol::Responses => json!({"max_output_tokens": tokens}),
            Protocol::Chat => json!({"max_tokens": tokens}),
            Protocol::Gemini => json!({"generationConfig": {"maxOutputTokens": tokens}}),
        };
        merge_json(&mut body, &limit);
    }
    if let Some((mode, schema)) = request.schema {
        merge_json(&mut body, &response_format(protocol, mode, schema));
    }
    let headers = match protocol {
        Protocol::Anthropic => vec![("anthropic-version", "2023-06-01")],
        _ => vec![],
    };
    ApiRequest { path, headers, body }
}

/// The authentication header. A key is never put into the URL, because servers log URLs.
pub(crate) fn auth_header(protocol: Protocol, key: &str) -> (&'static str, String) {
    match protocol {
        Protocol::Anthropic => ("x-api-key", key.into()),
        Protocol::Gemini => ("x-goog-api-key", key.into()),
        Protocol::Responses | Protocol::Chat => ("authorization", format!("Bearer {key}")),
    }
}

/// The request fields that make a service answer with JSON.
fn response_format(protocol: Protocol, mode: SchemaMode, schema: &Value) -> Value {
    let schema = || adapt_schema(protocol, schema);
    match (protocol, mode) {
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
pub(crate) fn merge_json(target: &mut Value, source: &Value) {
    match (target, source) {
        (_, Value::Null) => {}
        (Value::Object(target), Value::Object(source)) => {
            for (name, value) in source {
                merge_json(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (target, source) => *target = source.clone(),
    }
}

/// Percent-encodes a model name as one path segment, so that it cannot change the path.
fn encode_model_segment(model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let mut encoded = String::new();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
