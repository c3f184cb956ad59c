//! Builds the streaming request of each protocol: one prompt, one user message.
use super::{Held, Wire, shaped};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Parameters of a request.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Model name as the service knows it.
    pub model: &'a str,
    /// The only message.
    pub prompt: &'a str,
    /// JSON Schema of the answer, and how it is enforced.
    pub schema: Option<(Held, &'a Value)>,
    /// Token limit of the answer. Anthropic requires one and gets a default.
    pub max_tokens: Option<u64>,
}

/// A request without base URL and API key.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Path below the base URL, with its query string.
    pub path: String,
    /// Headers the protocol needs besides the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// JSON body.
    pub body: Value,
}

/// Token limit if the protocol requires one and the config has none.
const ANSWER: u64 = 16_000;

/// Builds the request for a protocol.
pub fn request(wire: Wire, wanted: &Wanted<'_>) -> Request {
    let Wanted { model, prompt, max_tokens, .. } = *wanted;
    let messages = || json!([{"role": "user", "content": prompt}]);
    let (path, mut body) = match wire {
        Wire::Anthropic => (
            "v1/messages".into(),
            json!({"model": model, "max_tokens": max_tokens.unwrap_or(ANSWER), "stream": true,
                "messages": messages()}),
        ),
        // `store: false`: the vendor must not keep the user's debate.
        Wire::Responses => (
            "responses".into(),
            json!({"model": model, "input": prompt, "stream": true, "store": false}),
        ),
        Wire::Chat => (
            "chat/completions".into(),
            json!({"model": model, "stream": true, "stream_options": {"include_usage": true},
                "messages": messages()}),
        ),
        Wire::Gemini => (
            format!("models/{}:streamGenerateContent?alt=sse", segment(model)),
            json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
        ),
    };
    if let Some(most) = max_tokens {
        let limit = match wire {
            Wire::Anthropic => Value::Null,
            Wire::Responses => json!({"max_output_tokens": most}),
            Wire::Chat => json!({"max_tokens": most}),
            Wire::Gemini => json!({"generationConfig": {"maxOutputTokens": most}}),
        };
        merge(&mut body, &limit);
    }
    if let Some((held, schema)) = wanted.schema {
        merge(&mut body, &format(wire, held, schema));
    }
    let headers = match wire {
        Wire::Anthropic => vec![("anthropic-version", "2023-06-01")],
        _ => vec![],
    };
    Request { path, headers, body }
}

/// The authentication header. A key is never put into the URL, because servers log URLs.
pub fn credentials(wire: Wire, key: &str) -> (&'static str, String) {
    match wire {
        Wire::Anthropic => ("x-api-key", key.into()),
        Wire::Gemini => ("x-goog-api-key", key.into()),
        Wire::Responses | Wire::Chat => ("authorization", format!("Bearer {key}")),
    }
}

/// The request fields that make a service answer with JSON.
fn format(wire: Wire, held: Held, schema: &Value) -> Value {
    let schema = || shaped(wire, schema);
    match (wire, held) {
        // Anthropic has no JSON mode without a schema.
        (_, Held::Asked) | (Wire::Anthropic, Held::Object) => Value::Null,
        (Wire::Anthropic, Held::Schema) => {
            json!({"output_config": {"format": {"type": "json_schema", "schema": schema()}}})
        }
        (Wire::Responses, Held::Object) => json!({"text": {"format": {"type": "json_object"}}}),
        (Wire::Responses, Held::Schema) => json!({"text": {"format": {"type": "json_schema",
            "name": "answer", "strict": true, "schema": schema()}}}),
        (Wire::Chat, Held::Object) => json!({"response_format": {"type": "json_object"}}),
        (Wire::Chat, Held::Schema) => json!({"response_format": {"type": "json_schema",
            "json_schema": {"name": "answer", "strict": true, "schema": schema()}}}),
        (Wire::Gemini, Held::Object) => {
            json!({"generationConfig": {"responseMimeType": "application/json"}})
        }
        (Wire::Gemini, Held::Schema) => json!({"generationConfig": {
            "responseMimeType": "application/json", "responseJsonSchema": schema()}}),
    }
}

/// Merges one JSON value into another. Objects are merged recursively, anything else is replaced,
/// null is ignored.
pub fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (_, Value::Null) => {}
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

/// Percent-encodes a model name as one path segment, so that it cannot change the path.
fn segment(model: &str) -> String {
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
