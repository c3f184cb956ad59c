//! Result types of the tools, as clients get them: their JSON schemas are part of the tool list.
//! `text` renders the same results as plain text.
use schemars::JsonSchema;
use serde::Serialize;

/// Status of a debate.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub(super) struct DebateStatus {
    pub(super) debate_id: String,
    /// `running`, `your_turn`, `user_turn`, `paused`, `interrupted`, or how it ended.
    pub(super) status: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    /// Digests of the turns of this round.
    pub(super) answered: Vec<TurnDigest>,
    /// The turns that are being requested.
    pub(super) pending: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<DueBrief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<VerdictDigest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<String>,
    /// Result of a format without a winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    pub(super) next: String,
}

/// The turn or decision that is due, with its brief.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Due")]
pub(super) struct DueBrief {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) brief: String,
}

/// Digest of a completed or failed turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answered")]
pub(super) struct TurnDigest {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) position: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) claims: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) concedes: Vec<String>,
}

/// Digest of the verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ruled")]
pub(super) struct VerdictDigest {
    pub(super) winner: String,
    pub(super) reasoning: String,
    pub(super) decided: String,
    pub(super) contested: bool,
    pub(super) recommendation: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unresolved: Vec<String>,
    pub(super) rigor: String,
}

/// Result of `summarize`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(super) struct DebateSummary {
    pub(super) debate_id: String,
    pub(super) status: String,
    pub(super) topic: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    pub(super) proposer: Vec<String>,
    pub(super) challenger: Vec<String>,
    /// Verbatim quotes.
    pub(super) concessions: Vec<String>,
    pub(super) open: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<String>,
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    pub(super) next: String,
}

/// Result of `list_debates`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Listed")]
pub(super) struct DebateList {
    pub(super) debates: Vec<DebateListItem>,
    pub(super) next: String,
}

/// One debate in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub(super) struct DebateListItem {
    pub(super) debate_id: String,
    pub(super) topic: String,
    pub(super) status: String,
    pub(super) updated_at: String,
    pub(super) sides: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) winner: Option<String>,
    /// The match of the search query, with its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) excerpt: Option<String>,
}

/// Result of `show_debate`: one page of a part.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Shown")]
pub(super) struct DebatePage {
    pub(super) debate_id: String,
    pub(super) part: String,
    pub(super) page: usize,
    pub(super) pages: usize,
    pub(super) text: String,
    pub(super) next: String,
}

/// Result of `list_models`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Models")]
pub(super) struct ModelList {
    pub(super) models: Vec<ModelListItem>,
    pub(super) next: String,
}

/// One participant that can be seated, or why it cannot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Model")]
pub(super) struct ModelListItem {
    pub(super) seat: String,
    pub(super) playable: bool,
    pub(super) note: String,
}
