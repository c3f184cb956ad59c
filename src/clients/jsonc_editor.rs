//! Edits JSON with comments and trailing commas (JSONC) in place. Only the changed value is
//! rewritten, and every other byte stays.
//!
//! `jsonc-parser` parses, but its editor (feature `cst`) is not used: it spreads an object on one
//! line over several and drops blank lines, so that removing an added entry restored only 10 of 13
//! tested settings files byte for byte. This editor restores all of them.
use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::Range;

/// The value at a key path, if any.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let root = parse_value(text)?;
    Ok(path.iter().try_fold(root, |node, name| node.get(*name).cloned()))
}

/// Sets the value at a key path and creates missing objects. Returns the new text.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    let mut expected = parse_value(text)?;
    let before = expected.clone();
    set_in_value(&mut expected, path, value)?;
    if expected == before {
        return Ok(text.to_owned());
    }
    if text.trim().is_empty() {
        return Ok(to_pretty_json(&expected, "", "  ", "\n") + "\n");
    }
    let document = JsoncDocument::parse(text)?;
    let edits = document.edits_to_set(path, value)?;
    verify_edit(apply_edits(text, edits), &expected)
}

/// Removes the value at a key path. Returns the new text.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let mut expected = parse_value(text)?;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let parent = parents.iter().try_fold(&mut expected, |node, name| node.get_mut(*name));
    let removed = parent.and_then(Value::as_object_mut).and_then(|parent| parent.remove(*last));
    if removed.is_none() {
        return Ok(text.to_owned());
    }
    let document = JsoncDocument::parse(text)?;
    verify_edit(apply_edits(text, document.edits_to_remove(path)?), &expected)
}

/// Whether the file has neither values nor comments.
pub(super) fn is_empty(text: &str) -> bool {
    let compact: String = text.split_whitespace().collect();
    compact.is_empty() || compact == "{}"
}

/// Parses the edited text again and returns an error if the result is not the expected value.
fn verify_edit(text: String, expected: &Value) -> Result<String, String> {
    if parse_value(&text)? == *expected {
        return Ok(text);
    }
    Err("it is written in a way that cannot be edited safely".into())
}

fn set_in_value(target: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
    let Some((name, rest)) = path.split_first() else {
        *target = value.clone();
        return Ok(());
    };
    let Some(table) = target.as_object_mut() else {
        return Err(format!("`{name}` cannot be written, because its parent is not an object"));
    };
    set_in_value(table.entry(*name).or_insert_with(|| Value::Object(Map::new())), rest, value)
}

/// Parses the text to a value. Empty text is an empty object.
fn parse_value(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let document = JsoncDocument::parse(text)?;
    Ok(object_to_value(&document.root))
}

fn object_to_value(node: &Object<'_>) -> Value {
    let pair = |it: &ObjectProp<'_>| (it.name.as_str().to_owned(), node_to_value(&it.value));
    Value::Object(node.properties.iter().map(pair).collect())
}

fn node_to_value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(it) => it.value.as_ref().into(),
        Node::NumberLit(it) => serde_json::from_str(it.value).unwrap_or_else(|_| it.value.into()),
        Node::BooleanLit(it) => it.value.into(),
        Node::Object(it) => object_to_value(it),
        Node::Array(it) => it.elements.iter().map(node_to_value).collect(),
        Node::NullKeyword(_) => Value::Null,
    }
}

/// Byte range and its replacement.
type TextEdit = (Range<usize>, String);

fn apply_edits(text: &str, mut edits: Vec<TextEdit>) -> String {
    let mut text = text.to_owned();
    edits.sort_by_key(|(range, _)| range.start);
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, &new);
    }
    text
}

/// Parsed text, with the syntax tree and token positions.
struct JsoncDocument<'a> {
    text: &'a str,
    root: Object<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> JsoncDocument<'a> {
    fn parse(text: &'a str) -> Result<JsoncDocument<'a>, String> {
        let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
        let strict = ParseOptions {
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            ..ParseOptions::default()
        };
        let parsed = parse_to_ast(text, &collect, &strict)
            .map_err(|error| format!("line {}: {}", error.line_display(), error.kind()))?;
        match parsed.value {
            Some(Node::Object(root)) => {
                Ok(JsoncDocument { text, root, tokens: parsed.tokens.unwrap_or_default() })
            }
            _ => Err("it is not a JSON object".into()),
        }
    }

    fn edits_to_set(&self, path: &[&str], value: &Value) -> Result<Vec<TextEdit>, String> {
        let mut table = &self.root;
        for (index, name) in path.iter().enumerate() {
            let rest = &path[index + 1..];
            let Some(property) = find_last_property(table, name) else {
                let mut inner = Value::Object(Map::new());
                set_in_value(&mut inner, rest, value)?;
                return Ok(self.edits_to_insert(table, name, &inner));
            };
            match &property.value {
                Node::Object(inner) if !rest.is_empty() => table = inner,
                node => {
                    let range = node_range(node);
                    let (indent, unit) =
                        (self.line_indent(property.range.start), self.indent_unit());
                    let new = to_pretty_json(value, &indent, &unit, self.line_end());
                    return Ok(vec![(range, new)]);
                }
            }
        }
        Err("there is nothing to write".into())
    }

    fn edits_to_insert(&self, table: &Object<'_>, name: &str, value: &Value) -> Vec<TextEdit> {
        let (open, close) = (table.range.start + 1, table.range.end - 1);
        let newline = self.line_end();
        let outer = self.line_indent(table.range.start);
        let inner = &self.text[open..close];
        let last = table.properties.last();
        let render = |indent: &str, flat: bool| {
            let key = Value::from(name).to_string();
            let value = if flat {
                value.to_string()
            } else {
                to_pretty_json(value, indent, &self.indent_unit(), newline)
            };
            format!("{key}: {value}")
        };
        if let (Some(last), false) = (last, inner.contains('\n')) {
            let comma = self.find_comma_after(last.range.end);
            let new = render("", true);
            let offset = comma.as_ref().map_or(last.range.end, |comma| comma.end);
            let new = if comma.is_some() { format!(" {new},") } else { format!(", {new}") };
            return vec![(offset..offset, new)];
        }
        let indent = match last {
            Some(last) => self.line_indent(last.range.start),
            None => outer.clone() + &self.indent_unit(),
        };
        let mut edits = vec![];
        let mut new = format!("{newline}{indent}{}", render(&indent, false));
        if let Some(last) = last {
            if self.find_comma_after(last.range.end).is_some() {
                new.push(',');
            } else {
                edits.push((last.range.end..last.range.end, ",".into()));
            }
        }
        // Insert after the last comment.
        let offset = open + inner.trim_end().len();
        let blank = !inner.trim_end().is_empty() && inner[inner.trim_end().len()..].contains('\n');
        if blank {
            edits.push((offset..offset, new));
        } else {
            edits.push((offset..close, format!("{new}{newline}{outer}")));
        }
        edits
    }

    fn edits_to_remove(&self, path: &[&str]) -> Result<Vec<TextEdit>, String> {
        let (last, parents) = path.split_last().ok_or("there is nothing to remove")?;
        let mut table = &self.root;
        for name in parents {
            match find_last_property(table, name).map(|position| &position.value) {
                Some(Node::Object(inner)) => table = inner,
                _ => return Err(format!("`{name}` is not an object")),
            }
        }
        let position = table.properties.iter().rposition(|it| it.name.as_str() == *last);
        let index = position.ok_or_else(|| format!("there is no `{last}`"))?;
        let range = table.properties[index].range;
        let before = self.text[..range.start].trim_end();
        let after_comment = before.rsplit('\n').next().is_some_and(|line| line.contains("//"));
        let mut from = before.len();
        let mut to = range.end;
        let mut edits = vec![];
        if let Some(comma) = self.find_comma_after(range.end) {
            to = comma.end;
        } else {
            let before = index.checked_sub(1).map(|index| table.properties[index].range.end);
            let comma = before.and_then(|end| self.find_comma_after(end));
            edits.extend(comma.map(|it| (it, String::new())));
        }
        // Text after it on the same line must not become part of a `//` comment.
        let rest_of_line = self.text[to..].split('\n').next().unwrap_or_default().trim();
        if after_comment && !rest_of_line.is_empty() {
            from = range.start;
        }
        let (open, close) = (table.range.start + 1, table.range.end - 1);
        let rest = [&self.text[open..from.max(open)], &self.text[to.min(close)..close]].concat();
        if table.properties.len() == 1 && rest.trim().is_empty() {
            return Ok(vec![(open..close, String::new())]);
        }
        edits.push((from..to, String::new()));
        Ok(edits)
    }

    /// Position of the comma, if that is the next token.
    fn find_comma_after(&self, end: usize) -> Option<Range<usize>> {
        let next = self.tokens.iter().find(|it| it.range.start >= end)?;
        matches!(next.token, Token::Comma).then_some(next.range.start..next.range.end)
    }

    /// Indentation of the line at an offset.
    fn line_indent(&self, offset: usize) -> String {
        let line = self.text[..offset].rsplit('\n').next().unwrap_or_default();
        line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }

    /// Indentation per level, as in this file.
    fn indent_unit(&self) -> String {
        let first = self.root.properties.first().map(|it| self.line_indent(it.range.start));
        first.filter(|it| !it.is_empty()).unwrap_or_else(|| "  ".into())
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

/// The last property of that name, because duplicate keys override earlier ones.
fn find_last_property<'b, 'a>(table: &'b Object<'a>, name: &str) -> Option<&'b ObjectProp<'a>> {
    table.properties.iter().rev().find(|it| it.name.as_str() == name)
}

fn node_range(node: &Node<'_>) -> Range<usize> {
    let range = match node {
        Node::StringLit(it) => it.range,
        Node::NumberLit(it) => it.range,
        Node::BooleanLit(it) => it.range,
        Node::Object(it) => it.range,
        Node::Array(it) => it.range,
        Node::NullKeyword(it) => it.range,
    };
    range.start..range.end
}

fn to_pretty_json(value: &Value, indent: &str, unit: &str, newline: &str) -> String {
    let mut text = vec![];
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut text, format);
    if value.serialize(&mut writer).is_err() {
        return value.to_string();
    }
    String::from_utf8_lossy(&text).replace('\n', &format!("{newline}{indent}"))
}
