//! Edits TOML in place and keeps comments and order. A separate table is added or removed as lines
//! of text, and other values through `toml_edit`.
use serde_json::{Map, Value};
use std::fmt::Write;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// The value at a key path, if any.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let root = parse_value(text)?;
    Ok(path.iter().try_fold(root, |node, name| node.get(*name).cloned()))
}

/// Sets the value at a key path and creates missing tables. Returns the new text.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    if get(text, path)?.as_ref() == Some(value) {
        return Ok(text.to_owned());
    }
    if let (Value::Object(fields), None) = (value, get(text, path)?)
        && let Some(added) = append_table(text, path, fields)?
    {
        return Ok(added);
    }
    let mut document = parse_document(text)?;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut parent: &mut dyn TableLike = document.as_table_mut();
    for name in parents {
        let next = parent.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let error = format!("`{name}` is not a table");
        parent = next.as_table_like_mut().ok_or(error)?;
    }
    match (value, parent.get_mut(last)) {
        (Value::Object(fields), None) if !parents.is_empty() => {
            let mut table = Table::new();
            for (name, field) in fields {
                table.insert(name, Item::Value(to_toml_value(field)?));
            }
            parent.insert(last, Item::Table(table));
        }
        (value, Some(Item::Value(old))) => {
            let decor = old.decor().clone();
            *old = to_toml_value(value)?;
            *old.decor_mut() = decor;
        }
        (value, _) => {
            parent.insert(last, Item::Value(to_toml_value(value)?));
        }
    }
    Ok(document.to_string())
}

/// Removes the value at a key path. Returns the new text.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    if let Some(cut) = cut_table(text, path)? {
        return Ok(cut);
    }
    let mut document = parse_document(text)?;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut parent: &mut dyn TableLike = document.as_table_mut();
    for name in parents {
        match parent.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(next) => parent = next,
            None => return Ok(text.to_owned()),
        }
    }
    if parent.remove(last).is_none() {
        return Ok(text.to_owned());
    }
    Ok(document.to_string())
}

/// Appends a table to the text. `None` if the result does not parse to the expected value.
fn append_table(
    text: &str,
    path: &[&str],
    fields: &Map<String, Value>,
) -> Result<Option<String>, String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new_text = text.to_owned();
    if !new_text.is_empty() && !new_text.ends_with('\n') {
        new_text.push_str(newline);
    }
    if !new_text.is_empty() {
        new_text.push_str(newline);
    }
    let _ = write!(new_text, "[{}]{newline}", path.join("."));
    for (name, field) in fields {
        let _ = write!(new_text, "{name} = {}{newline}", to_toml_value(field)?);
    }
    let is_correct =
        get(&new_text, path).ok().flatten().as_ref() == Some(&Value::Object(fields.clone()));
    Ok(is_correct.then_some(new_text))
}

/// Removes the lines of a table and its subtables, if it has its own header. Comments before its
/// header and before the next table stay.
fn cut_table(text: &str, path: &[&str]) -> Result<Option<String>, String> {
    let name = path.join(".");
    let header_name = |line: &str| {
        let line = line.trim();
        let inside = line.strip_prefix('[').and_then(|line| line.split(']').next());
        let inside = inside.map(|inside| inside.trim().to_owned());
        inside.filter(|_| !line.starts_with("[["))
    };
    let is_own_table = |head: &str| head == name || head.starts_with(&format!("{name}."));
    let (mut output, mut pending, mut inside, mut found) =
        (String::new(), String::new(), false, false);
    for line in text.split_inclusive('\n') {
        let is_blank_or_comment = line.trim().is_empty() || line.trim_start().starts_with('#');
        if line.trim_start().starts_with('[') {
            inside = header_name(line).is_some_and(|head| is_own_table(&head));
            if inside && !found {
                // Remove the empty line that was added with the table.
                let before = output.trim_end_matches(['\r', '\n']).len();
                let gap = output[before..].matches('\n').count();
                if gap > 1 || (before == 0 && gap > 0) {
                    let cut = output.rfind('\n').unwrap_or(0);
                    output.truncate(output[..cut].trim_end_matches('\r').len());
                }
            }
            found |= inside;
            output.push_str(&pending);
            pending.clear();
        }
        match (inside, is_blank_or_comment) {
            (false, _) => output.push_str(line),
            // Comments between two tables belong to the second one.
            (true, true) => pending.push_str(line),
            (true, false) => pending.clear(),
        }
    }
    output.push_str(pending.trim_start_matches(['\r', '\n']));
    let mut expected = parse_value(text)?;
    let Some((last, parents)) = path.split_last() else { return Ok(None) };
    let parent = parents.iter().try_fold(&mut expected, |node, name| node.get_mut(*name));
    parent.and_then(Value::as_object_mut).and_then(|parent| parent.remove(*last));
    if let Some(Value::Object(remaining)) = parents.first().and_then(|name| expected.get(*name))
        && remaining.is_empty()
        && parse_value(&output).is_ok_and(|output| output.get(parents[0]).is_none())
    {
        expected.as_object_mut().and_then(|root| root.remove(parents[0]));
    }
    Ok((found && parse_value(&output).as_ref() == Ok(&expected)).then_some(output))
}

/// Whether the file is blank.
pub(super) fn is_empty(text: &str) -> bool {
    text.trim().is_empty()
}

fn parse_document(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })
}

fn parse_value(text: &str) -> Result<Value, String> {
    parse_document(text)?;
    let table: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

fn to_toml_value(value: &Value) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) => float.into(),
            (None, None) => return Err(format!("`{number}` cannot be written")),
        },
        Value::Array(items) => {
            let items = items.iter().map(to_toml_value).collect::<Result<Array, _>>()?;
            toml_edit::Value::Array(items)
        }
        Value::Object(fields) => toml_edit::Value::InlineTable(to_inline_table(fields)?),
        Value::Null => return Err("null cannot be written".into()),
    })
}

fn to_inline_table(fields: &Map<String, Value>) -> Result<InlineTable, String> {
    let mut table = InlineTable::new();
    for (name, field) in fields {
        table.insert(name, to_toml_value(field)?);
    }
    Ok(table)
}
