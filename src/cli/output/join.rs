//! `--json` output of `debate join`.
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `debate join --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Attended")]
pub struct JoinOutput {
    /// Schema version.
    pub v: u8,
    /// Server URL.
    pub platform: String,
    /// Debate id on the server.
    pub debate: String,
    /// Our bot id on the server.
    pub identifier: String,
    /// Topic of the debate.
    pub topic: String,
    /// Our side: `supporting` or `opposing`, if the server has sent it.
    pub side: Option<&'static str>,
    /// Number of rounds, 0 if the server has not sent it.
    pub rounds: u32,
    /// Number of speeches this process has sent.
    pub said: usize,
    /// Number of our turns without a speech.
    pub missed: usize,
    /// Status, as sent by the server.
    pub status: String,
    /// Result for us: `won`, `lost`, `draw` or `undecided`.
    pub outcome: &'static str,
    /// Winner, as sent by the server.
    pub winner: Option<String>,
    /// Scores, 0 to 100.
    pub scores: JoinScores,
    /// Reasons for the verdict, as sent by the server.
    pub summary: String,
    /// All speeches, oldest first.
    pub speeches: Vec<JoinSpeech>,
}

/// Scores of both sides.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names say it")]
#[schemars(rename = "Scores")]
pub struct JoinScores {
    pub supporting: Option<i64>,
    pub opposing: Option<i64>,
}

/// A speech.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names say it")]
#[schemars(rename = "Heard")]
pub struct JoinSpeech {
    pub round: u32,
    pub side: String,
    pub speaker: String,
    pub content: String,
}
