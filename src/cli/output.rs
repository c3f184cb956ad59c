//! The JSON that commands print. Every answer carries `"v":1`; its schema is in `schemas/`.
mod joined;

pub use joined::{Attended, Heard, Scores};

use crate::debate::{Citation, Found as Finding, Stands};
use crate::engine::{
    Card, Health, Hit, Listing, LiveText, Omitted, Reindexed, Update, ports::Changed,
};
use crate::report::view::DebateView;
use crate::review::forms::Kinded;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

mod rated;
mod viewed;

pub use rated::{Leaderboard, Planned, PlannedGame, Played};
pub use viewed::Viewed;

/// `debate models --json`
#[derive(Serialize, JsonSchema)]
pub struct Callable {
    /// Of this layout.
    pub v: u8,
    /// Everyone who can be called by name.
    pub models: Vec<Listing>,
}

/// `debate serve --json`
#[derive(Serialize, JsonSchema)]
pub struct Served<'a> {
    /// Of this layout.
    pub v: u8,
    /// Where bots and viewers find it.
    pub url: &'a str,
    /// Where whoever runs it enters the page: whoever has this may act there.
    pub enter: String,
    /// Where those enter who may only watch, if not everybody may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// Who judges.
    pub judges: Vec<String>,
    /// Debates that wait for bots.
    pub waiting: Vec<Waiting<'a>>,
}

/// A debate that waits for bots.
#[derive(Serialize, JsonSchema)]
pub struct Waiting<'a> {
    /// What bots call it.
    pub debate_id: &'a str,
    /// Its motion.
    pub topic: &'a str,
}

/// `debate formats --json`
#[derive(Serialize, JsonSchema)]
pub struct Formats {
    /// Of this layout.
    pub v: u8,
    /// Those that can be opened.
    pub formats: Vec<FormatEntry>,
    /// Files of the user's own that are none.
    pub broken: Vec<BrokenFormat>,
}

/// `debate formats NAME --json`
#[derive(Serialize, JsonSchema)]
pub struct Format {
    /// Of this layout.
    pub v: u8,
    /// All of it.
    #[serde(flatten)]
    pub format: FormatEntry,
}

/// A format.
#[derive(Serialize, JsonSchema)]
pub struct FormatEntry {
    /// What users call it.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Rounds, at least.
    pub least: u8,
    /// Rounds, at most.
    pub most: u8,
    /// Rounds, if nobody says.
    pub usual: u8,
    /// Whether the user is shown the plan first.
    pub confirms: bool,
    /// The types of listeners it has.
    pub listeners: Vec<String>,
    /// `program`, `template of NAME`, or the user's file.
    pub from: String,
    /// Its table, if it was asked for by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<crate::debate::Format>,
}

/// A file that is no format.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
pub struct BrokenFormat {
    pub name: String,
    pub file: String,
    pub why: String,
}

/// `debate outcome --json`
#[derive(Serialize, JsonSchema)]
pub struct Learned {
    /// Of this layout.
    pub v: u8,
    /// The debate.
    pub id: String,
    /// `right`, `wrong` or `reverted`, if that is known.
    pub proof: Option<String>,
    /// How sure the verdict was thought to be, in hundredths.
    pub confidence: Option<u8>,
    /// What the user decided.
    pub decision: Option<String>,
    /// Whether the record stays, if the user said so.
    pub kept: Option<bool>,
}

/// `debate stats --json`
#[derive(Serialize, JsonSchema)]
pub struct Stats {
    /// Of this layout.
    pub v: u8,
    /// Debates that came to a verdict.
    pub verdicts: usize,
    /// Of those, how many are known to have been right, wrong or reverted.
    pub known: usize,
    /// Right.
    pub right: usize,
    /// Wrong or reverted.
    pub wrong: usize,
    /// The mean square of what the confidence was off by: 0 is perfect, 0.25 is a coin.
    pub brier: Option<f64>,
    /// By how sure they were.
    pub calibration: Vec<Calibration>,
}

/// Verdicts that were about equally sure.
#[derive(Serialize, JsonSchema)]
pub struct Calibration {
    /// In hundredths.
    pub confidence: u8,
    /// How many there are.
    pub known: usize,
    /// The part of them that was right.
    pub right: f64,
}

/// `debate list --json`
#[derive(Serialize, JsonSchema)]
pub struct Listed {
    /// Of this layout.
    pub v: u8,
    /// The one touched last first.
    pub debates: Vec<Entry>,
}

/// A debate in a list.
#[derive(Serialize, JsonSchema)]
pub struct Entry {
    /// What a list says of it.
    #[serde(flatten)]
    pub card: Card,
    /// How it stands, in five lines, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<String>>,
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

/// `debate recheck --json`
#[derive(Serialize, JsonSchema)]
pub struct Rechecked {
    /// Of this layout.
    pub v: u8,
    /// The debate.
    pub id: String,
    /// What things were looked up in.
    pub against: String,
    /// How many hold, have moved, are gone or cannot be told.
    pub counts: BTreeMap<&'static str, usize>,
    /// In the order of the debate.
    pub citations: Vec<Cited>,
}

/// A citation that had been found, and what looking it up once more comes to.
#[derive(Serialize, JsonSchema)]
pub struct Cited {
    /// The turn it stands in.
    pub turn: String,
    /// Who spoke.
    pub seat: String,
    /// The claim it was offered for, if it stood in one.
    pub claim: Option<String>,
    /// As it was written.
    pub raw: String,
    /// What looking it up came to then.
    pub was: Finding,
    /// And now, if it could be read again.
    pub now: Option<Finding>,
    /// What that means.
    pub stands: Stands,
    /// Where it was found instead.
    pub found_at: Option<String>,
    /// What the finding alone does not say.
    pub note: Option<String>,
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
    /// What mends it, or what else could be done.
    pub hint: Option<String>,
    /// What was done about it just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
}

/// What setting clients up, or the other way round, came to.
#[derive(Serialize, JsonSchema)]
pub struct Wired {
    /// Of this layout.
    pub v: u8,
    /// Whether everything was done.
    pub ok: bool,
    /// Whether it was only told.
    pub dry_run: bool,
    /// One file after another.
    pub steps: Vec<Deed>,
}

/// What became of a file.
#[derive(Serialize, JsonSchema)]
pub struct Deed {
    /// Whose it is.
    pub client: String,
    /// What is in it: `server`, or how a command is typed.
    pub what: String,
    /// `added`, `updated`, `unchanged`, `kept`, `removed`, `failed`.
    pub deed: String,
    /// Which file.
    pub path: String,
    /// Why, where that does not go without saying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where it lies as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
}

/// Every schema there is, by the name of its file.
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("brief", schemars::schema_for!(Given)),
        ("check", schemars::schema_for!(Checked)),
        ("debate", schemars::schema_for!(Shown)),
        ("doctor", schemars::schema_for!(Examined)),
        ("event", schemars::schema_for!(Told<'_>)),
        ("format", schemars::schema_for!(Format)),
        ("formats", schemars::schema_for!(Formats)),
        ("init", schemars::schema_for!(Wired)),
        ("import", schemars::schema_for!(Imported)),
        ("join", schemars::schema_for!(Attended)),
        ("leaderboard", schemars::schema_for!(Leaderboard)),
        ("list", schemars::schema_for!(Listed)),
        ("models", schemars::schema_for!(Callable)),
        ("serve", schemars::schema_for!(Served<'_>)),
        ("outcome", schemars::schema_for!(Learned)),
        ("prompt", schemars::schema_for!(Asked)),
        ("recheck", schemars::schema_for!(Rechecked)),
        ("reindex", schemars::schema_for!(Rebuilt)),
        ("replayed", schemars::schema_for!(Replayed)),
        ("result", schemars::schema_for!(Result<'_>)),
        ("review", schemars::schema_for!(Kinded<'_>)),
        ("run", schemars::schema_for!(DebateView)),
        ("search", schemars::schema_for!(Found)),
        ("stats", schemars::schema_for!(Stats)),
        ("tournament", schemars::schema_for!(Played)),
        ("tournament-plan", schemars::schema_for!(Planned)),
        ("view", schemars::schema_for!(Viewed)),
    ]
}
