//! The schema of an answer, in the words a wire understands. What is left out is checked when the
//! answer is read, so nothing is lost by it.
use super::Wire;
use serde_json::{Map, Value, json};

/// Bounds that some services refuse a request for.
const BOUNDS: &[&str] =
    &["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern"];

/// A schema without what the wire does not take. A choice among words is said to be one of words,
/// because some services want every part to have a type.
pub fn shaped(wire: Wire, schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let unbounded = wire != Wire::Gemini;
    let mut kept = Map::new();
    for (name, value) in fields {
        if unbounded && BOUNDS.contains(&name.as_str()) {
            continue;
        }
        let value = match (name.as_str(), value) {
            // The names in here are fields, not words of a schema.
            ("properties", Value::Object(parts)) => {
                parts.iter().map(|(name, part)| (name.clone(), shaped(wire, part))).collect()
            }
            ("items", part) => shaped(wire, part),
            (_, value) => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    if let (Some(Value::Array(choices)), None) = (fields.get("enum"), fields.get("type")) {
        let kind = if choices.iter().all(Value::is_string) {
            json!("string")
        } else {
            json!(["string", "null"])
        };
        kept.insert("type".into(), kind);
    }
    Value::Object(kept)
}
