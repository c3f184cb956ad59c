//! Types of the `--json` output. Every object has `"v":1`. Field names are a public format, their
//! JSON schemas are in `schemas/`.
mod join;

pub use join::{JoinOutput, JoinScores, JoinSpeech};

use crate::debate::{Citation, CitationStatus as Finding, RecheckStatus};
use crate::engine::{
    ArchiveHealth, DebateCard, LiveText, OmittedFile, ProviderInfo, ReindexReport, SearchHit,
    Update, ports::FileChange,
};
use crate::report::view::DebateView;
use crate::review::output::ReviewDocument;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

mod ratings;
mod view;

pub use ratings::{LeaderboardOutput, PlannedGame, TournamentOutput, TournamentPlanOutput};
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

/// Output of `debate formats --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Formats")]
pub struct FormatsOutput {
    /// Schema version.
    pub v: u8,
    /// Valid formats.
    pub formats: Vec<FormatEntry>,
    /// Invalid format files of the user.
    pub broken: Vec<BrokenFormatOutput>,
}

/// Output of `debate formats NAME --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Format")]
pub struct FormatOutput {
    /// Schema version.
    pub v: u8,
    /// The format.
    #[serde(flatten)]
    pub format: FormatEntry,
}

/// A debate format.
#[derive(Serialize, JsonSchema)]
pub struct FormatEntry {
    /// Name, as in `--format`.
    pub name: String,
    /// Short description.
    pub about: String,
    /// Minimum number of rounds.
    pub least: u8,
    /// Maximum number of rounds.
    pub most: u8,
    /// Default number of rounds.
    pub usual: u8,
    /// Whether the user confirms the plan before the debate starts.
    pub confirms: bool,
    /// Types of listeners.
    pub listeners: Vec<String>,
    /// Origin: `program`, `template of NAME`, or the path of the user's file.
    pub from: String,
    /// Acts and phases. Only present if a format was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<crate::debate::Format>,
}

/// Invalid format file, with the parse error.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
#[schemars(rename = "BrokenFormat")]
pub struct BrokenFormatOutput {
    pub name: String,
    pub file: String,
    pub why: String,
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

/// Output of `debate check --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
pub struct CheckOutput {
    /// Schema version.
    pub v: u8,
    /// Citations, in the order of the text.
    pub citations: Vec<CheckedCitation>,
    /// Number of citations by finding.
    pub counts: BTreeMap<&'static str, usize>,
    /// Tree or commit they were checked against.
    pub against: String,
}

/// A parsed citation and the result of its check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Looked")]
pub struct CheckedCitation {
    /// Citation as written.
    pub raw: String,
    /// Path, relative to the repository.
    pub path: Option<String>,
    /// First cited line.
    pub line: Option<u32>,
    /// Last cited line.
    pub end_line: Option<u32>,
    /// Quoted text.
    pub quote: Option<String>,
    /// Result of the check.
    pub finding: Finding,
    /// Location where the quote was found instead.
    pub found_at: Option<String>,
    /// Details of the finding.
    pub note: Option<String>,
}

impl From<Citation> for CheckedCitation {
    fn from(it: Citation) -> CheckedCitation {
        CheckedCitation {
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

/// Output of `debate recheck --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rechecked")]
pub struct RecheckOutput {
    /// Schema version.
    pub v: u8,
    /// Debate id.
    pub id: String,
    /// Tree or commit they were checked against.
    pub against: String,
    /// Number of citations that hold, have moved, are gone or are unknown.
    pub counts: BTreeMap<&'static str, usize>,
    /// Citations, in the order of the debate.
    pub citations: Vec<RecheckedCitation>,
}

/// A citation that was valid in the debate, and the result of the new check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Cited")]
pub struct RecheckedCitation {
    /// Turn of the citation.
    pub turn: String,
    /// Seat that cited it.
    pub seat: String,
    /// Id of the claim it supports, if any.
    pub claim: Option<String>,
    /// Citation as written.
    pub raw: String,
    /// Result of the check during the debate.
    pub was: Finding,
    /// Result of the check now, if it could be done.
    pub now: Option<Finding>,
    /// Comparison of both results.
    pub stands: RecheckStatus,
    /// Location where the quote was found instead.
    pub found_at: Option<String>,
    /// Details of the finding.
    pub note: Option<String>,
}

/// Output of `debate doctor --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Examined")]
pub struct DoctorOutput {
    /// Schema version.
    pub v: u8,
    /// Whether all checks passed.
    pub ok: bool,
    /// Health of the archive database.
    pub archive: Option<ArchiveHealth>,
    /// Results of all checks.
    pub checks: Vec<DoctorCheck>,
}

/// Result of one check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Check")]
pub struct DoctorCheck {
    /// Name of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// Result, as text.
    pub says: String,
    /// Suggested fix or next step.
    pub hint: Option<String>,
    /// Fix that was applied by `--fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
}

/// Output of `debate init --json` and `debate uninit --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Wired")]
pub struct InitOutput {
    /// Schema version.
    pub v: u8,
    /// Whether all changes succeeded.
    pub ok: bool,
    /// Whether nothing was written, because of `--dry-run`.
    pub dry_run: bool,
    /// Changes, one per file.
    pub steps: Vec<InitFileChange>,
}

/// Change of one config or command file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deed")]
pub struct InitFileChange {
    /// Client the file belongs to.
    pub client: String,
    /// Content: `server`, or the slash command.
    pub what: String,
    /// Result: `added`, `updated`, `unchanged`, `kept`, `removed` or `failed`.
    pub deed: String,
    /// Path of the file.
    pub path: String,
    /// Reason or error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Path of the backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
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
