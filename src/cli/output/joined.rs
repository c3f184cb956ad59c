//! What taking part in somebody else's arena came to.
use schemars::JsonSchema;
use serde::Serialize;

/// `debate join --json`
#[derive(Serialize, JsonSchema)]
pub struct Attended {
    /// Of this layout.
    pub v: u8,
    /// Where it was held.
    pub platform: String,
    /// The debate, in the platform's word.
    pub debate: String,
    /// What we were called there.
    pub identifier: String,
    /// What it was about.
    pub topic: String,
    /// Ours, if the platform has said so: `supporting` or `opposing`.
    pub side: Option<&'static str>,
    /// How many it had; 0 if the platform has not said so.
    pub rounds: u32,
    /// Speeches of ours that this process has sent.
    pub said: usize,
    /// Turns of ours without one.
    pub missed: usize,
    /// In the platform's word.
    pub status: String,
    /// For us: `won`, `lost`, `draw` or `undecided`.
    pub outcome: &'static str,
    /// In the platform's word.
    pub winner: Option<String>,
    /// Of a hundred.
    pub scores: Scores,
    /// Why, in the platform's words.
    pub summary: String,
    /// All that was said, the first first.
    pub speeches: Vec<Heard>,
}

/// What each side was given.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
pub struct Scores {
    pub supporting: Option<i64>,
    pub opposing: Option<i64>,
}

/// One speech.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
pub struct Heard {
    pub round: u32,
    pub side: String,
    pub speaker: String,
    pub content: String,
}
