//! Types of the `--json` output. Every object has `"v":1`. Field names are a public format, their
//! JSON schemas are in `schemas/`.
use crate::engine::{
    DebateCard, LiveText, OmittedFile, ProviderInfo, ReindexReport, SearchHit, Update,
    ports::FileChange,
};
use crate::report::view::DebateView;
use crate::review::output::ReviewDocument;
use schemars::JsonSchema;
use serde::Serialize;

mod citations;
mod formats;
mod join;
mod ratings;
mod setup;
mod view;

pub use citations::{CheckOutput, CheckedCitation, RecheckOutput, RecheckedCitation};
pub use formats::{BrokenFormatOutput, FormatEntry, FormatOutput, FormatsOutput};
pub use join::{JoinOutput, JoinScores, JoinSpeech};
pub use ratings::{LeaderboardOutput, PlannedGame, TournamentOutput, TournamentPlanOutput};
pub use setup::{DoctorCheck, DoctorOutput, InitFileChange, InitOutput};
pub use view::ViewOutput;

/// Output of `debate models --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Callable")]
pub struct ModelsOutput {
    /// Schema version.
    pub v: u8,
    /// Participants that can be named, playable or not.
    pub models: Vec<ProviderInfo>,
}

/// Output of `debate serve --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Served")]
pub struct ServeOutput<'a> {
    /// Schema version.
    pub v: u8,
    /// URL for bots and viewers.
    pub url: &'a str,
    /// URL with the owner's token, which allows acting on the page. Keep it secret.
    pub enter: String,
    /// URL with a read-only token, if viewing needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// Judges of every debate.
    pub judges: Vec<String>,
    /// Debates that wait for bots.
    pub waiting: Vec<JoinableDebate<'a>>,
}

/// Debate that waits for bots.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Waiting")]
pub struct JoinableDebate<'a> {
    /// Debate id, as bots use it.
    pub debate_id: &'a str,
    /// Motion of the debate.
    pub topic: &'a str,
}

/// Output of `debate outcome --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Learned")]
pub struct OutcomeOutput {
    /// Schema version.
    pub v: u8,
    /// Debate id.
    pub id: String,
    /// Recorded result: `right`, `wrong` or `reverted`.
    pub proof: Option<String>,
    /// Confidence of the verdict, in percent.
    pub confidence: Option<u8>,
    /// The user's decision.
    pub decision: Option<String>,
    /// Whether the user wants to keep the record, if recorded.
    pub kept: Option<bool>,
}

/// Output of `debate stats --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stats")]
pub struct StatsOutput {
    /// Schema version.
    pub v: u8,
    /// Number of debates with a verdict.
    pub verdicts: usize,
    /// Number of verdicts with a recorded result.
    pub known: usize,
    /// Number of right verdicts.
    pub right: usize,
    /// Number of wrong or reverted verdicts.
    pub wrong: usize,
    /// Brier score, the mean squared error of the confidence: 0 is perfect, 0.25 is chance.
    pub brier: Option<f64>,
    /// Calibration by confidence.
    pub calibration: Vec<CalibrationBucket>,
}

/// Verdicts with the same confidence.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Calibration")]
pub struct CalibrationBucket {
    /// Confidence, in percent.
    pub confidence: u8,
    /// Number of verdicts with a recorded result.
    pub known: usize,
    /// Fraction of them that was right, 0 to 1.
    pub right: f64,
}

/// Output of `debate list --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Listed")]
pub struct ListOutput {
    /// Schema version.
    pub v: u8,
    /// Debates, most recently updated first.
    pub debates: Vec<ListedDebate>,
}

/// Debate in a list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct ListedDebate {
    /// Index entry of the debate.
    #[serde(flatten)]
    pub card: DebateCard,
    /// Short status in five lines. Only present with `--state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<String>>,
}

/// Output of `debate search --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct SearchOutput {
    /// Schema version.
    pub v: u8,
    /// Matches, newest first.
    pub hits: Vec<SearchHit>,
}

/// Output of `debate show --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Shown")]
pub struct ShowOutput {
    /// The debate.
    #[serde(flatten)]
    pub debate: DebateView,
    /// Process that holds the lease, if any.
    pub holder: Option<String>,
    /// Streamed text of turns in progress.
    pub live: Vec<LiveText>,
    /// Path of the Markdown record.
    pub record: Option<String>,
    /// Paths of the state files.
    pub state_files: Vec<String>,
    /// First invalid event of the log, and the error.
    pub flaw: Option<String>,
}

/// Output of `debate show --prompt --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Asked")]
pub struct PromptOutput {
    /// Schema version.
    pub v: u8,
    /// Turn id.
    pub turn: String,
    /// Prompt that was sent, or would be.
    pub prompt: String,
    /// Names of participants that could not be masked in a judge's prompt.
    pub unmasked: Vec<String>,
}

/// One line of `--follow --json` and of `debate replay --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Told")]
pub struct EventLine<'a> {
    /// Schema version.
    pub v: u8,
    /// The event or progress update.
    #[serde(flatten)]
    pub update: &'a Update,
}

impl<'a> EventLine<'a> {
    /// Wraps an update, with the schema version.
    pub fn new(update: &'a Update) -> EventLine<'a> {
        EventLine { v: 1, update }
    }
}

/// Last line of `--follow --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub struct ResultLine<'a> {
    /// Always `result`.
    pub kind: &'static str,
    /// The debate.
    #[serde(flatten)]
    pub debate: &'a DebateView,
}

/// Last line of `debate replay --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Replayed")]
pub struct ReplayResultLine {
    /// Schema version.
    pub v: u8,
    /// Always `replayed`.
    pub kind: &'static str,
    /// Debate id.
    pub id: String,
    /// Number of replayed events.
    pub events: usize,
    /// Number of rebuilt prompts with the same hash as the sent one.
    pub prompts_same: usize,
    /// Turns whose rebuilt prompt differs.
    pub prompts_changed: Vec<String>,
}

/// Output of `debate import --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Imported")]
pub struct ImportOutput {
    /// Schema version.
    pub v: u8,
    /// Id of the debate in the archive.
    pub id: String,
    /// Result: `new`, `known`, `extended`, `diverged` or `transcript`.
    pub how: &'static str,
    /// Number of imported turns, for a transcript.
    pub taken: Option<usize>,
    /// Number of turns in the file, for a transcript.
    pub turns: Option<usize>,
}

/// Output of `debate reindex --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rebuilt")]
pub struct ReindexOutput {
    /// Schema version.
    pub v: u8,
    /// Counts and errors of the rebuilt index.
    #[serde(flatten)]
    pub reindexed: ReindexReport,
}

/// Output of `debate brief --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Given")]
pub struct BriefOutput {
    /// Schema version.
    pub v: u8,
    /// Text of the brief, as in the prompt.
    pub text: String,
    /// Approximate number of tokens.
    pub tokens: usize,
    /// Selected items, with the reason.
    pub picked: Vec<String>,
    /// Omitted files, with the reason.
    pub left_out: Vec<OmittedFile>,
    /// Paths the brief covers.
    pub touched: Vec<String>,
    /// Changed files with line counts, if a diff was requested.
    pub changed: Vec<FileChange>,
    /// Redacted secrets, counted by kind.
    pub removed: String,
    /// Hash of the Git tree the brief was read from.
    pub tree: Option<String>,
    /// Hash of the HEAD commit.
    pub commit: Option<String>,
    /// Whether the working tree has uncommitted changes.
    pub dirty: bool,
}

/// All JSON schemas, by file name in `schemas/`.
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("brief", schemars::schema_for!(BriefOutput)),
        ("check", schemars::schema_for!(CheckOutput)),
        ("debate", schemars::schema_for!(ShowOutput)),
        ("doctor", schemars::schema_for!(DoctorOutput)),
        ("event", schemars::schema_for!(EventLine<'_>)),
        ("format", schemars::schema_for!(FormatOutput)),
        ("formats", schemars::schema_for!(FormatsOutput)),
        ("init", schemars::schema_for!(InitOutput)),
        ("import", schemars::schema_for!(ImportOutput)),
        ("join", schemars::schema_for!(JoinOutput)),
        ("leaderboard", schemars::schema_for!(LeaderboardOutput)),
        ("list", schemars::schema_for!(ListOutput)),
        ("models", schemars::schema_for!(ModelsOutput)),
        ("serve", schemars::schema_for!(ServeOutput<'_>)),
        ("options", schemars::schema_for!(crate::options::DebateOptions)),
        ("outcome", schemars::schema_for!(OutcomeOutput)),
        ("prompt", schemars::schema_for!(PromptOutput)),
        ("recheck", schemars::schema_for!(RecheckOutput)),
        ("reindex", schemars::schema_for!(ReindexOutput)),
        ("replayed", schemars::schema_for!(ReplayResultLine)),
        ("result", schemars::schema_for!(ResultLine<'_>)),
        ("review", schemars::schema_for!(ReviewDocument<'_>)),
        ("run", schemars::schema_for!(DebateView)),
        ("search", schemars::schema_for!(SearchOutput)),
        ("stats", schemars::schema_for!(StatsOutput)),
        ("tournament", schemars::schema_for!(TournamentOutput)),
        ("tournament-plan", schemars::schema_for!(TournamentPlanOutput)),
        ("view", schemars::schema_for!(ViewOutput)),
    ]
}
