//! How one model CLI is called, as data: a vendor is a row. The user's configuration replaces single
//! fields of a row, or adds one; a repository never does.
use crate::debate::Effort;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A row. What the fields mean stands at the top of `rows.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) program: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) extra: Vec<String>,
    #[serde(default)]
    pub(super) last: Vec<String>,
    #[serde(default)]
    pub(super) model: Vec<String>,
    #[serde(default)]
    pub(super) effort: BTreeMap<String, Vec<String>>,
    pub(super) reads: Reads,
    #[serde(default)]
    pub(super) set: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) pass: Vec<String>,
    #[serde(default)]
    pub(super) servers: Option<Servers>,
    #[serde(default)]
    pub(super) caveats: Vec<String>,
    #[serde(default)]
    pub(super) install: String,
    #[serde(default)]
    pub(super) login: String,
}

/// How the output of a tool is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// stream-json.
    Claude,
    /// JSONL of threads, turns and items.
    Codex,
    /// stream-json.
    Gemini,
    /// JSONL of parts.
    Opencode,
    /// JSONL of dotted types.
    Copilot,
    /// All of stdout is the answer.
    Text,
}

/// Where a tool lists the MCP servers it would start, and how each is switched off.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Servers {
    pub(super) file: String,
    pub(super) key: String,
    pub(super) off: Off,
}

/// How a server is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Off {
    /// In a configuration that is handed over by the environment.
    Opencode,
    /// By a flag for each.
    Copilot,
}

const ROWS: &str = include_str!("rows.toml");

/// Every row: ours, with the user's fields in place of our own, and the user's.
pub(super) fn rows(own: &toml::Table) -> Result<BTreeMap<String, Row>, String> {
    merged(ROWS, own, "tools")
}

/// Rows that come with the program, with the user's fields in place of our own, and the user's rows,
/// which stand in a table of this name.
pub(super) fn merged<T: DeserializeOwned>(
    ours: &str,
    own: &toml::Table,
    table: &str,
) -> Result<BTreeMap<String, T>, String> {
    let mut all: toml::Table = toml::from_str(ours).map_err(|error| error.to_string())?;
    for (name, fields) in own {
        let toml::Value::Table(fields) = fields else {
            return Err(format!("`{table}.{name}` must be a table"));
        };
        let row = all.entry(name.clone()).or_insert_with(|| toml::Table::new().into());
        if let toml::Value::Table(row) = row {
            row.extend(fields.clone());
        }
    }
    let read = |(name, row): (String, toml::Value)| {
        let row = row
            .try_into()
            .map_err(|error: toml::de::Error| format!("`{table}.{name}`: {}", error.message()))?;
        Ok((name, row))
    };
    all.into_iter().map(read).collect()
}

impl Row {
    /// What the tool is started with, besides its prompt.
    pub(super) fn arguments(
        &self,
        model: Option<&str>,
        effort: Option<Effort>,
        off: &[String],
    ) -> Vec<String> {
        let mut arguments = self.args.clone();
        arguments.extend(self.extra.iter().cloned());
        if let Some(model) = model {
            arguments.extend(self.model.iter().map(|part| part.replace("{model}", model)));
        }
        let level = effort.and_then(|effort| self.effort.get(effort.word()));
        arguments.extend(level.into_iter().flatten().cloned());
        if self.servers.as_ref().is_some_and(|servers| servers.off == Off::Copilot) {
            for name in off {
                arguments.extend(["--disable-mcp-server".to_owned(), name.clone()]);
            }
        }
        arguments.extend(self.last.iter().cloned());
        arguments
    }

    /// Whether a variable of the environment is for this tool.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.pass.iter().any(|kept| match kept.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => kept == name,
        })
    }

    /// The MCP servers the tool would start for this user, by name.
    pub(super) fn servers(&self, home: &Path, config: &Path) -> Vec<String> {
        let Some(servers) = &self.servers else { return vec![] };
        let file = servers.file.replace("{home}", &home.display().to_string());
        let file = file.replace("{config}", &config.display().to_string());
        // Some are written with comments, under a name that says so.
        let beside = PathBuf::from(format!("{file}c"));
        let mut names = vec![];
        for path in [PathBuf::from(file), beside] {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let listed = serde_json::from_str(&bare(&text)).unwrap_or(serde_json::Value::Null);
            if let Some(listed) = listed[&servers.key].as_object() {
                names.extend(listed.keys().cloned());
            }
        }
        names
    }

    /// What the tool is given besides what it keeps: for one of them, who may do what.
    pub(super) fn settings(&self, off: &[String]) -> BTreeMap<String, String> {
        let mut set = self.set.clone();
        if self.reads == Reads::Opencode {
            let off: serde_json::Map<String, serde_json::Value> = off
                .iter()
                .map(|name| (name.clone(), serde_json::json!({"enabled": false})))
                .collect();
            let may = serde_json::json!({"*": "deny", "read": "allow", "grep": "allow",
                "glob": "allow", "list": "allow"});
            let agent = serde_json::json!({"debater": {"mode": "primary", "permission": may}});
            let own = set.get("OPENCODE_CONFIG_CONTENT").cloned().unwrap_or_default();
            let mut whole: serde_json::Value =
                serde_json::from_str(&own).unwrap_or_else(|_| serde_json::json!({}));
            whole["agent"] = agent;
            whole["mcp"] = off.into();
            set.insert("OPENCODE_CONFIG_CONTENT".into(), whole.to_string());
        }
        set
    }
}

/// JSON without its comments.
fn bare(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some(_)) if quoted => {
                kept.push(c);
                kept.extend(rest.next());
                continue;
            }
            ('"', _) => quoted = !quoted,
            ('/', Some('/')) if !quoted => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            ('/', Some('*')) if !quoted => {
                let mut last = ' ';
                rest.next();
                for c in rest.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            _ => {}
        }
        kept.push(c);
    }
    kept
}
