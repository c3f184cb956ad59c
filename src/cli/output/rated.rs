//! Ratings, as programs read them.
use crate::rating::Board;
use crate::tournament::Standings;
use schemars::JsonSchema;
use serde::Serialize;

/// `debate leaderboard --json`
#[derive(Serialize, JsonSchema)]
pub struct Leaderboard {
    /// Of this layout.
    pub v: u8,
    /// All of it.
    #[serde(flatten)]
    pub board: Board,
}

/// `debate tournament --json`
#[derive(Serialize, JsonSchema)]
pub struct Played {
    /// Of this layout.
    pub v: u8,
    /// `done`, `stopped` or `spent`: why no more was played.
    pub ending: &'static str,
    /// All of it.
    #[serde(flatten)]
    pub standings: Standings,
}

/// `debate tournament --dry-run --json`
#[derive(Serialize, JsonSchema)]
pub struct Planned {
    /// Of this layout.
    pub v: u8,
    /// What it is called.
    pub tournament: String,
    /// Every game, in the order they are begun.
    pub games: Vec<PlannedGame>,
    /// About how often models would be called for what is left.
    pub calls: u64,
    /// About how much they would read.
    pub tokens_in: u64,
    /// About how much they would write.
    pub tokens_out: u64,
    /// About what that would cost; none, if a price is not known.
    pub cost: Option<f64>,
}

/// A game.
#[derive(Serialize, JsonSchema)]
pub struct PlannedGame {
    /// What it is found by.
    pub key: String,
    /// What about.
    pub motion: String,
    /// Who argues for.
    pub proposer: String,
    /// Who argues against.
    pub challenger: String,
    /// How many rounds; none is the format's usual number.
    pub rounds: Option<u8>,
    /// `played`, `begun`, `failed` or `left`.
    pub stands: &'static str,
    /// The debate, if there is one.
    pub id: Option<String>,
}
