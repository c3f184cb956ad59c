//! The `OpenAPI` document against the routes.
use super::document;
use serde_json::Value;
use std::collections::BTreeSet;

/// Every `$ref` resolves, and every documented path has a handler.
#[test]
fn openapi_document_resolves_and_covers_every_route() {
    let document = document();
    let mut references = BTreeSet::new();
    collect_refs(&document, &mut references);
    for reference in &references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    assert!(references.iter().any(|it| it.ends_with("/Problem")));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let source = include_str!("../arena_api.rs");
    for path in &paths {
        assert!(source.contains(&format!("\"{path}\"")), "{path} has no handler");
    }
    assert_eq!(paths.len(), 6);
}

fn collect_refs(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().filter(|_| name == "$ref") {
                    Some(reference) => drop(references.insert(reference.into())),
                    None => collect_refs(value, references),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_refs(item, references)),
        _ => {}
    }
}
