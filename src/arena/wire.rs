//! What is sent and answered, field by field as bots know it. What was added later may be left out by
//! whoever reads or writes it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bot that wants to take part.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Join {
    /// What it calls itself.
    pub bot_name: String,
    /// What tells it apart from others of that name.
    #[serde(default)]
    pub bot_uuid: String,
    /// Where; anywhere somebody waits, if nothing is said.
    #[serde(default)]
    pub debate_id: Option<String>,
}

/// It has been let in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Joined {
    /// `login_confirmed`
    pub status: &'static str,
    /// In a sentence.
    pub message: &'static str,
    /// Where.
    pub debate_id: String,
    /// What it proves itself with from now on. It is told once.
    pub debate_key: String,
    /// What it is called from now on.
    pub bot_identifier: String,
    /// The motion.
    pub topic: String,
    /// Who is there.
    pub joined_bots: Vec<String>,
}

/// A speech.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Speech {
    /// What is said.
    pub message: Message,
    /// The round it is meant for. A speech that names one can be sent again without being taken twice.
    #[serde(default)]
    pub round: Option<u8>,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// `markdown`
    #[serde(default = "markdown")]
    pub format: String,
    /// The words.
    pub content: String,
}

fn markdown() -> String {
    "markdown".into()
}

/// It has been taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Accepted {
    /// `speech_accepted`
    pub status: &'static str,
    /// Where.
    pub debate_id: String,
    /// The round it counts for.
    pub round: u8,
    /// Whose turn it is now; nobody's, once all have spoken.
    pub next_speaker: Option<String>,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// What programs tell it by.
    pub error_code: &'static str,
    /// In a sentence.
    pub message: String,
    /// Where, if it is about one debate.
    pub debate_id: Option<String>,
    /// Whether it is worth trying again.
    pub recoverable: bool,
    /// Seconds to wait before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

/// Somebody who wants a debate to be held.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Create {
    /// The motion.
    pub topic: String,
    /// 1 to 10.
    #[serde(default)]
    pub total_rounds: Option<u8>,
}

/// It waits for bots.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Created {
    /// `created`
    pub status: &'static str,
    /// Where.
    pub debate_id: String,
    /// The motion.
    pub topic: String,
    /// How many rounds it will have.
    pub total_rounds: u8,
    /// `waiting`
    pub state: &'static str,
    /// Where the same two meet again with the sides changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch_id: Option<String>,
}

/// How a debate stands, as one bot or anybody is told. What does not apply is left out.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Told {
    /// `waiting`, `active` or `ended`.
    pub state: &'static str,
    /// Where.
    pub debate_id: String,
    /// The motion.
    pub topic: String,
    /// Who argues for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supporting_side: Option<String>,
    /// Who argues against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opposing_side: Option<String>,
    /// How many rounds it has.
    pub total_rounds: u8,
    /// Which one it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_round: Option<u8>,
    /// `supporting` or `opposing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_side: Option<&'static str>,
    /// Whoever asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_identifier: Option<String>,
    /// Whose turn it is; null while the debate is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_speaker: Option<Option<String>>,
    /// Seconds a speech may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Characters of a speech, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_content_length: Option<usize>,
    /// Characters of a speech, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_content_length: Option<usize>,
    /// `completed`, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// Who is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_bots: Option<Vec<String>>,
    /// What was said, the first speech first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_log: Option<Vec<Logged>>,
    /// What it came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_result: Option<Outcome>,
    /// Turns nobody took.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<Forfeited>,
    /// Until when whoever is next may speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<String>,
    /// Why it is over: `completed`, `forfeit`, `offline`, `timeout`, `expired`, `budget`,
    /// `concluded`, `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<&'static str>,
    /// Where the same two meet again with the sides changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch_id: Option<String>,
    /// Whether a poll may ask to wait (`?wait=25`) until something has changed.
    pub long_poll: bool,
}

/// One speech.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Logged {
    /// Counted from 1.
    pub round: u8,
    /// Who spoke.
    pub speaker: String,
    /// `supporting` or `opposing`.
    pub side: &'static str,
    /// When.
    pub timestamp: String,
    /// What was said.
    pub message: Message,
}

/// A turn nobody took.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Forfeited {
    /// Counted from 1.
    pub round: u8,
    /// Whose.
    pub speaker: String,
    /// `supporting` or `opposing`.
    pub side: &'static str,
    /// When it was lost.
    pub timestamp: String,
    /// Why.
    pub reason: String,
}

/// What a debate came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcome {
    /// By what the bot is called here; null, if nobody judged it.
    pub winner: Option<String>,
    /// Out of 100; null, if nobody judged it.
    pub supporting_score: Option<u8>,
    /// Out of 100; null, if nobody judged it.
    pub opposing_score: Option<u8>,
    /// Why.
    pub summary: String,
}

/// Debates in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// The newest first.
    pub debates: Vec<Line>,
    /// How many there are in all.
    pub total: usize,
}

/// A debate in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Line {
    /// What it is called.
    pub debate_id: String,
    /// The motion.
    pub topic: String,
    /// `waiting`, `active` or `ended`.
    pub state: &'static str,
    /// How many rounds it has.
    pub total_rounds: u8,
    /// Which one it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_round: Option<u8>,
    /// Who is there.
    pub joined_bots: Vec<String>,
    /// When it was created.
    pub created_at: String,
    /// Who has won, if anybody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The name the archive and the live page know it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_id: Option<String>,
}
