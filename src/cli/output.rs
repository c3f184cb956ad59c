//! The JSON that commands print. Every answer carries `"v":1`; its schema is in `schemas/`.
use crate::debate::{Citation, Found as Finding};
use crate::engine::{
    Card, Health, Hit, Listing, LiveText, Omitted, Reindexed, Update, ports::Changed,
};
use crate::report::view::DebateView;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// `debate models --json`
#[derive(Serialize, JsonSchema)]
pub struct Callable {
    /// Of this layout.
    pub v: u8,
    /// Everyone who can be called by name.
    pub models: Vec<Listing>,
}

/// `debate list --json`
#[derive(Serialize, JsonSchema)]
pub struct Listed {
    /// Of this layout.
    pub v: u8,
    /// The one touched last first.
    pub debates: Vec<Card>,
}

/// `debate search --json`
#[derive(Serialize, JsonSchema)]
pub struct Found {
    /// Of this layout.
    pub v: u8,
    /// The newest first.
    pub hits: Vec<Hit>,
}

/// `debate show --json`
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    /// The debate.
    #[serde(flatten)]
    pub debate: DebateView,
    /// Who is running it, if anyone is.
    pub holder: Option<String>,
    /// What is being said right now.
    pub live: Vec<LiveText>,
    /// Its Markdown record.
    pub record: Option<String>,
    /// Every state file it is written to.
    pub state_files: Vec<String>,
    /// From where on its log cannot be believed, and why.
    pub flaw: Option<String>,
}

/// `debate show --prompt --json`
#[derive(Serialize, JsonSchema)]
pub struct Asked {
    /// Of this layout.
    pub v: u8,
    /// The turn.
    pub turn: String,
    /// What the seat was told, or would be.
    pub prompt: String,
    /// Names of speakers that could not be hidden from a judge.
    pub unmasked: Vec<String>,
}

/// One line of `--follow --json` and of `debate replay --json`.
#[derive(Serialize, JsonSchema)]
pub struct Told<'a> {
    /// Of this layout.
    pub v: u8,
    /// What happened.
    #[serde(flatten)]
    pub update: &'a Update,
}

impl<'a> Told<'a> {
    /// A line.
    pub fn new(update: &'a Update) -> Told<'a> {
        Told { v: 1, update }
    }
}

/// The last line of `--follow --json`.
#[derive(Serialize, JsonSchema)]
pub struct Result<'a> {
    /// Always `result`.
    pub kind: &'static str,
    /// The debate.
    #[serde(flatten)]
    pub debate: &'a DebateView,
}

/// The last line of `debate replay --json`.
#[derive(Serialize, JsonSchema)]
pub struct Replayed {
    /// Of this layout.
    pub v: u8,
    /// Always `replayed`.
    pub kind: &'static str,
    /// The debate's name.
    pub id: String,
    /// How many were played.
    pub events: usize,
    /// How many prompts were rebuilt and are the same.
    pub prompts_same: usize,
    /// The turns whose prompts are not.
    pub prompts_changed: Vec<String>,
}

/// `debate import --json`
#[derive(Serialize, JsonSchema)]
pub struct Imported {
    /// Of this layout.
    pub v: u8,
    /// The debate it is now.
    pub id: String,
    /// `new`, `known`, `extended`, `diverged` or `transcript`.
    pub how: &'static str,
    /// Turns taken, of a transcript.
    pub taken: Option<usize>,
    /// Turns there were, in a transcript.
    pub turns: Option<usize>,
}

/// `debate reindex --json`
#[derive(Serialize, JsonSchema)]
pub struct Rebuilt {
    /// Of this layout.
    pub v: u8,
    /// What was done.
    #[serde(flatten)]
    pub reindexed: Reindexed,
}

/// `debate brief --json`
#[derive(Serialize, JsonSchema)]
pub struct Given {
    /// Of this layout.
    pub v: u8,
    /// What debaters would be given.
    pub text: String,
    /// What that comes to, about.
    pub tokens: usize,
    /// What was picked, and why.
    pub picked: Vec<String>,
    /// What was left out, and why.
    pub left_out: Vec<Omitted>,
    /// The paths it is about.
    pub touched: Vec<String>,
    /// Every changed file with its counts, if changes were asked for.
    pub changed: Vec<Changed>,
    /// Which secrets were taken out of it, by kind.
    pub removed: String,
    /// The tree it was read from.
    pub tree: Option<String>,
    /// The last commit.
    pub commit: Option<String>,
    /// Whether something has changed since.
    pub dirty: bool,
}

/// `debate check --json`
#[derive(Serialize, JsonSchema)]
pub struct Checked {
    /// Of this layout.
    pub v: u8,
    /// In the order they stand in the text.
    pub citations: Vec<Looked>,
    /// How many came to what.
    pub counts: BTreeMap<&'static str, usize>,
    /// What they were looked up in.
    pub against: String,
}

/// One citation, and what looking it up came to.
#[derive(Serialize, JsonSchema)]
pub struct Looked {
    /// As it was written.
    pub raw: String,
    /// Relative to the repository.
    pub path: Option<String>,
    /// The first line cited.
    pub line: Option<u32>,
    /// The last line cited.
    pub end_line: Option<u32>,
    /// The words it says are there.
    pub quote: Option<String>,
    /// What looking it up came to.
    pub finding: Finding,
    /// Where it was found instead.
    pub found_at: Option<String>,
    /// What the finding alone does not say.
    pub note: Option<String>,
}

impl From<Citation> for Looked {
    fn from(it: Citation) -> Looked {
        Looked {
            raw: it.raw,
            path: it.path,
            line: it.line,
            end_line: it.end_line,
            quote: it.quote,
            finding: it.found,
            found_at: it.found_at,
            note: it.note,
        }
    }
}

/// `debate doctor --json`
#[derive(Serialize, JsonSchema)]
pub struct Examined {
    /// Of this layout.
    pub v: u8,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The archive.
    pub archive: Option<Health>,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Serialize, JsonSchema)]
pub struct Check {
    /// What.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// How it is.
    pub says: String,
    /// What mends it.
    pub hint: Option<String>,
}

/// Every schema there is, by the name of its file.
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("brief", schemars::schema_for!(Given)),
        ("check", schemars::schema_for!(Checked)),
        ("debate", schemars::schema_for!(Shown)),
        ("doctor", schemars::schema_for!(Examined)),
        ("event", schemars::schema_for!(Told<'_>)),
        ("import", schemars::schema_for!(Imported)),
        ("list", schemars::schema_for!(Listed)),
        ("models", schemars::schema_for!(Callable)),
        ("prompt", schemars::schema_for!(Asked)),
        ("reindex", schemars::schema_for!(Rebuilt)),
        ("replayed", schemars::schema_for!(Replayed)),
        ("result", schemars::schema_for!(Result<'_>)),
        ("run", schemars::schema_for!(DebateView)),
        ("search", schemars::schema_for!(Found)),
    ]
}
