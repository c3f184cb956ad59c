//! Reduces a JSON Schema to the keywords that a protocol accepts. The removed constraints are
//! validated again when the reply is parsed.
use super::Protocol;
use serde_json::{Map, Value, json};

/// Keywords for which some services reject the request.
const UNSUPPORTED_KEYWORDS: &[&str] =
    &["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern"];

/// Removes unsupported keywords from a schema, recursively, and adds the missing `type` of an
/// `enum`, because some services require a type everywhere.
pub(crate) fn adapt_schema(protocol: Protocol, schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let strip_limits = protocol != Protocol::Gemini;
    let mut adapted = Map::new();
    for (name, value) in fields {
        if strip_limits && UNSUPPORTED_KEYWORDS.contains(&name.as_str()) {
            continue;
        }
        let value = match (name.as_str(), value) {
            // The keys in here are property names, not schema keywords.
            ("properties", Value::Object(parts)) => parts
                .iter()
                .map(|(name, part)| (name.clone(), adapt_schema(protocol, part)))
                .collect(),
            ("items", part) => adapt_schema(protocol, part),
            (_, value) => value.clone(),
        };
        adapted.insert(name.clone(), value);
    }
    if let (Some(Value::Array(choices)), None) = (fields.get("enum"), fields.get("type")) {
        let kind = if choices.iter().all(Value::is_string) {
            json!("string")
        } else {
            json!(["string", "null"])
        };
        adapted.insert("type".into(), kind);
    }
    Value::Object(adapted)
}
