//! Edits TOML in place and keeps comments and order. A separate table is added or removed as lines
//! of text, and other values through `toml_edit`.
use serde_json::{Map, Value};
use std::fmt::Write;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// The value at a key path, if any.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let whole = parse_value(text)?;
    Ok(path.iter().try_fold(whole, |at, name| at.get(*name).cloned()))
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
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut at: &mut dyn TableLike = document.as_table_mut();
    for name in way {
        let next = at.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let no_table = format!("`{name}` is no table");
        at = next.as_table_like_mut().ok_or(no_table)?;
    }
    match (value, at.get_mut(last)) {
        (Value::Object(fields), None) if !way.is_empty() => {
            let mut table = Table::new();
            for (name, field) in fields {
                table.insert(name, Item::Value(to_toml_value(field)?));
            }
            at.insert(last, Item::Table(table));
        }
        (value, Some(Item::Value(old))) => {
            let decor = old.decor().clone();
            *old = to_toml_value(value)?;
            *old.decor_mut() = decor;
        }
        (value, _) => {
            at.insert(last, Item::Value(to_toml_value(value)?));
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
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut at: &mut dyn TableLike = document.as_table_mut();
    for name in way {
        match at.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(next) => at = next,
            None => return Ok(text.to_owned()),
        }
    }
    if at.remove(last).is_none() {
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
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after = text.to_owned();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(end);
    }
    if !after.is_empty() {
        after.push_str(end);
    }
    let _ = write!(after, "[{}]{end}", path.join("."));
    for (name, field) in fields {
        let _ = write!(after, "{name} = {}{end}", to_toml_value(field)?);
    }
    let meant = get(&after, path).ok().flatten().as_ref() == Some(&Value::Object(fields.clone()));
    Ok(meant.then_some(after))
}

/// Removes the lines of a table and its subtables, if it has its own header. Comments before its
/// header and before the next table stay.
fn cut_table(text: &str, path: &[&str]) -> Result<Option<String>, String> {
    let name = path.join(".");
    let heads = |line: &str| {
        let line = line.trim();
        let inside = line.strip_prefix('[').and_then(|line| line.split(']').next());
        let inside = inside.map(|inside| inside.trim().to_owned());
        inside.filter(|_| !line.starts_with("[["))
    };
    let own = |head: &str| head == name || head.starts_with(&format!("{name}."));
    let (mut kept, mut held, mut inside, mut found) = (String::new(), String::new(), false, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim().is_empty() || line.trim_start().starts_with('#');
        if line.trim_start().starts_with('[') {
            inside = heads(line).is_some_and(|head| own(&head));
            if inside && !found {
                // Remove the empty line that was added with the table.
                let before = kept.trim_end_matches(['\r', '\n']).len();
                let gap = kept[before..].matches('\n').count();
                if gap > 1 || (before == 0 && gap > 0) {
                    let cut = kept.rfind('\n').unwrap_or(0);
                    kept.truncate(kept[..cut].trim_end_matches('\r').len());
                }
            }
            found |= inside;
            kept.push_str(&held);
            held.clear();
        }
        match (inside, bare) {
            (false, _) => kept.push_str(line),
            // Comments between two tables belong to the second one.
            (true, true) => held.push_str(line),
            (true, false) => held.clear(),
        }
    }
    kept.push_str(held.trim_start_matches(['\r', '\n']));
    let mut wanted = parse_value(text)?;
    let Some((last, way)) = path.split_last() else { return Ok(None) };
    let parent = way.iter().try_fold(&mut wanted, |at, name| at.get_mut(*name));
    parent.and_then(Value::as_object_mut).and_then(|parent| parent.remove(*last));
    if let Some(Value::Object(left)) = way.first().and_then(|name| wanted.get(*name))
        && left.is_empty()
        && parse_value(&kept).is_ok_and(|kept| kept.get(way[0]).is_none())
    {
        wanted.as_object_mut().and_then(|all| all.remove(way[0]));
    }
    Ok((found && parse_value(&kept).as_ref() == Ok(&wanted)).then_some(kept))
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
            (Some(whole), _) => whole.into(),
            (None, Some(part)) => part.into(),
            (None, None) => return Err(format!("`{number}` cannot be written")),
        },
        Value::Array(items) => {
            let items = items.iter().map(to_toml_value).collect::<Result<Array, _>>()?;
            toml_edit::Value::Array(items)
        }
        Value::Object(fields) => toml_edit::Value::InlineTable(to_inline_table(fields)?),
        Value::Null => return Err("nothing cannot be written".into()),
    })
}

fn to_inline_table(fields: &Map<String, Value>) -> Result<InlineTable, String> {
    let mut table = InlineTable::new();
    for (name, field) in fields {
        table.insert(name, to_toml_value(field)?);
    }
    Ok(table)
}
