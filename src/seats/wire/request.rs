//! What is sent: one prompt, to be answered as a stream.
use super::{Held, Wire, shaped};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is wanted of a service.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// By the name the service has for it.
    pub model: &'a str,
    /// All of it; there is no other message.
    pub prompt: &'a str,
    /// What the answer must look like, and how the service is held to it.
    pub schema: Option<(Held, &'a Value)>,
    /// How long the answer may be. One wire must be told.
    pub max_tokens: Option<u64>,
}

/// What is sent, apart from the address and the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What comes after the address.
    pub path: String,
    /// What the wire wants besides the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// As JSON.
    pub body: Value,
}

/// Tokens of an answer where a limit must be named and nobody has.
const ANSWER: u64 = 16_000;

/// What a service is sent.
pub fn request(wire: Wire, wanted: &Wanted<'_>) -> Request {
    let Wanted { model, prompt, max_tokens, .. } = *wanted;
    let messages = || json!([{"role": "user", "content": prompt}]);
    let (path, mut body) = match wire {
        Wire::Anthropic => (
            "v1/messages".into(),
            json!({"model": model, "max_tokens": max_tokens.unwrap_or(ANSWER), "stream": true,
                "messages": messages()}),
        ),
        // What is said in a debate is the user's, and is not to be kept elsewhere.
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

/// The header a key goes into. It never goes into the address, which others may write down.
pub fn credentials(wire: Wire, key: &str) -> (&'static str, String) {
    match wire {
        Wire::Anthropic => ("x-api-key", key.into()),
        Wire::Gemini => ("x-goog-api-key", key.into()),
        Wire::Responses | Wire::Chat => ("authorization", format!("Bearer {key}")),
    }
}

/// How each wire is told what an answer must look like.
fn format(wire: Wire, held: Held, schema: &Value) -> Value {
    let schema = || shaped(wire, schema);
    match (wire, held) {
        // One wire has no way of asking for just any object.
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

/// Puts what is in one object into another, as deep as both are objects.
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

/// One step of a path: a model's name must not lead anywhere else.
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
