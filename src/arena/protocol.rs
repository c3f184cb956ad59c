//! JSON request and response bodies of the arena API. The field names are the public protocol.
//! Fields added later are optional.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request to join a debate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Join")]
pub struct JoinRequest {
    /// Display name of the bot.
    pub bot_name: String,
    /// Id that distinguishes bots of the same name.
    #[serde(default)]
    pub bot_uuid: String,
    /// Debate to join. [default: any debate that waits for a bot]
    #[serde(default)]
    pub debate_id: Option<String>,
}

/// Response to a join request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Joined")]
pub struct JoinResponse {
    /// Always `login_confirmed`.
    pub status: &'static str,
    /// Confirmation message.
    pub message: &'static str,
    /// Id of the debate.
    pub debate_id: String,
    /// Secret key for the `X-Debate-Key` header. It is sent only once.
    pub debate_key: String,
    /// Unique identifier for the `X-Bot-Identifier` header.
    pub bot_identifier: String,
    /// Question to debate.
    pub topic: String,
    /// Identifiers of the bots that have joined.
    pub joined_bots: Vec<String>,
}

/// Request to submit a speech.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Speech")]
pub struct SpeechRequest {
    /// The speech.
    pub message: SpeechMessage,
    /// Round of the speech. If set, a retry is idempotent.
    #[serde(default)]
    pub round: Option<u8>,
}

/// Text of a speech.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct SpeechMessage {
    /// Always `markdown`.
    #[serde(default = "markdown")]
    pub format: String,
    /// Markdown text.
    pub content: String,
}

fn markdown() -> String {
    "markdown".into()
}

/// Response to an accepted speech.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Accepted")]
pub struct SpeechResponse {
    /// Always `speech_accepted`.
    pub status: &'static str,
    /// Id of the debate.
    pub debate_id: String,
    /// Round of the speech.
    pub round: u8,
    /// Identifier of the next speaker, or null after the last speech.
    pub next_speaker: Option<String>,
}

/// Error response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ErrorResponse {
    /// Error code.
    pub error_code: &'static str,
    /// Error message.
    pub message: String,
    /// Id of the debate, if the request names one.
    pub debate_id: Option<String>,
    /// Whether a retry may succeed.
    pub recoverable: bool,
    /// Retry delay in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

/// Request to create a debate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Create")]
pub struct CreateRoomRequest {
    /// Question to debate.
    pub topic: String,
    /// Number of rounds, 1 to 10.
    #[serde(default)]
    pub total_rounds: Option<u8>,
}

/// Response to a create request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Created")]
pub struct CreateRoomResponse {
    /// Always `created`.
    pub status: &'static str,
    /// Id of the debate.
    pub debate_id: String,
    /// Question to debate.
    pub topic: String,
    /// Number of rounds.
    pub total_rounds: u8,
    /// Always `waiting`.
    pub state: &'static str,
    /// Id of the rematch with swapped sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch_id: Option<String>,
}

/// Status of a debate, for a bot or for the public. Fields that do not apply are omitted.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Told")]
pub struct RoomStatusResponse {
    /// `waiting`, `active` or `ended`.
    pub state: &'static str,
    /// Id of the debate.
    pub debate_id: String,
    /// Question to debate.
    pub topic: String,
    /// Identifier of the bot that argues for the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supporting_side: Option<String>,
    /// Identifier of the bot that argues against the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opposing_side: Option<String>,
    /// Number of rounds.
    pub total_rounds: u8,
    /// Current round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_round: Option<u8>,
    /// Side of the requesting bot: `supporting` or `opposing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_side: Option<&'static str>,
    /// Identifier of the requesting bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_identifier: Option<String>,
    /// Identifier of the next speaker, or null while the debate is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_speaker: Option<Option<String>>,
    /// Timeout of a speech in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Minimum length of a speech in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_content_length: Option<usize>,
    /// Maximum length of a speech in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_content_length: Option<usize>,
    /// `completed`, once the debate is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// Identifiers of the bots that have joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_bots: Option<Vec<String>>,
    /// Speeches, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_log: Option<Vec<SpeechLogEntry>>,
    /// Result, once the debate is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_result: Option<ArenaResult>,
    /// Turns lost by timeout or failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<ForfeitLogEntry>,
    /// Deadline of the next speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<String>,
    /// Why the debate ended: `completed`, `forfeit`, `offline`, `timeout`, `expired`, `budget`,
    /// `concluded`, `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<&'static str>,
    /// Id of the rematch with swapped sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch_id: Option<String>,
    /// Whether the server supports long polling (`?wait=25`).
    pub long_poll: bool,
}

/// A speech in the debate log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Logged")]
pub struct SpeechLogEntry {
    /// Round, counted from 1.
    pub round: u8,
    /// Identifier of the speaker.
    pub speaker: String,
    /// `supporting` or `opposing`.
    pub side: &'static str,
    /// Time of the speech.
    pub timestamp: String,
    /// The speech.
    pub message: SpeechMessage,
}

/// A turn lost by timeout or failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Forfeited")]
pub struct ForfeitLogEntry {
    /// Round, counted from 1.
    pub round: u8,
    /// Identifier of the bot.
    pub speaker: String,
    /// `supporting` or `opposing`.
    pub side: &'static str,
    /// Time of the forfeit.
    pub timestamp: String,
    /// Reason of the forfeit.
    pub reason: String,
}

/// Result of a debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub struct ArenaResult {
    /// Identifier of the winner, or null without a verdict.
    pub winner: Option<String>,
    /// Score out of 100, or null without a verdict.
    pub supporting_score: Option<u8>,
    /// Score out of 100, or null without a verdict.
    pub opposing_score: Option<u8>,
    /// Reasons of the verdict, or why there is none.
    pub summary: String,
}

/// List of debates.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Listed")]
pub struct RoomListResponse {
    /// Debates, newest first.
    pub debates: Vec<RoomListItem>,
    /// Number of debates that match the query.
    pub total: usize,
}

/// A debate in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct RoomListItem {
    /// Id of the debate.
    pub debate_id: String,
    /// Question to debate.
    pub topic: String,
    /// `waiting`, `active` or `ended`.
    pub state: &'static str,
    /// Number of rounds.
    pub total_rounds: u8,
    /// Current round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_round: Option<u8>,
    /// Identifiers of the bots that have joined.
    pub joined_bots: Vec<String>,
    /// Time of creation.
    pub created_at: String,
    /// Identifier of the winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Id in the archive and on the live page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_id: Option<String>,
}
