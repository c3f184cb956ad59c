//! TOML as people keep it: what is to change is changed, and comments and order stay.
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// What stands at a path; none, if nothing does.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let whole = whole(text)?;
    Ok(path.iter().try_fold(whole, |at, name| at.get(*name).cloned()))
}

/// The text with this value at a path, and the tables on the way to it.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    if get(text, path)?.as_ref() == Some(value) {
        return Ok(text.to_owned());
    }
    let mut document = read(text)?;
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
                table.insert(name, Item::Value(plain(field)?));
            }
            at.insert(last, Item::Table(table));
        }
        (value, Some(Item::Value(old))) => {
            let decor = old.decor().clone();
            *old = plain(value)?;
            *old.decor_mut() = decor;
        }
        (value, _) => {
            at.insert(last, Item::Value(plain(value)?));
        }
    }
    Ok(document.to_string())
}

/// The text without what stands at a path.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let mut document = read(text)?;
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

/// Whether nothing is left in it that anybody could miss.
pub(super) fn is_empty(text: &str) -> bool {
    text.trim().is_empty()
}

fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })
}

fn whole(text: &str) -> Result<Value, String> {
    read(text)?;
    let table: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

fn plain(value: &Value) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(part)) => part.into(),
            (None, None) => return Err(format!("`{number}` cannot be written")),
        },
        Value::Array(items) => {
            let items = items.iter().map(plain).collect::<Result<Array, _>>()?;
            toml_edit::Value::Array(items)
        }
        Value::Object(fields) => toml_edit::Value::InlineTable(inline(fields)?),
        Value::Null => return Err("nothing cannot be written".into()),
    })
}

fn inline(fields: &Map<String, Value>) -> Result<InlineTable, String> {
    let mut table = InlineTable::new();
    for (name, field) in fields {
        table.insert(name, plain(field)?);
    }
    Ok(table)
}
