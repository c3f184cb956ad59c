//! `--json` output of `debate leaderboard` and `debate tournament`.
use crate::rating::Leaderboard;
use crate::tournament::Standings;
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `debate leaderboard --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Leaderboard")]
pub struct LeaderboardOutput {
    /// Schema version.
    pub v: u8,
    /// The ratings.
    #[serde(flatten)]
    pub board: Leaderboard,
}

/// Output of `debate tournament --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Played")]
pub struct TournamentOutput {
    /// Schema version.
    pub v: u8,
    /// Why the run ended: `done`, `stopped` or `spent` (budget).
    pub ending: &'static str,
    /// The standings.
    #[serde(flatten)]
    pub standings: Standings,
}

/// Output of `debate tournament --dry-run --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Planned")]
pub struct TournamentPlanOutput {
    /// Schema version.
    pub v: u8,
    /// Name of the tournament.
    pub tournament: String,
    /// All games, in the order they start.
    pub games: Vec<PlannedGame>,
    /// Estimated number of model calls for the remaining games.
    pub calls: u64,
    /// Estimated number of input tokens.
    pub tokens_in: u64,
    /// Estimated number of output tokens.
    pub tokens_out: u64,
    /// Estimated cost, null if a price is unknown.
    pub cost: Option<f64>,
}

/// A game of the schedule.
#[derive(Serialize, JsonSchema)]
pub struct PlannedGame {
    /// Unique key of the game.
    pub key: String,
    /// Motion of the game.
    pub motion: String,
    /// Entrant who argues for.
    pub proposer: String,
    /// Entrant who argues against.
    pub challenger: String,
    /// Number of rounds, null for the format's default.
    pub rounds: Option<u8>,
    /// Status: `played`, `begun`, `failed` or `left`.
    pub stands: &'static str,
    /// Debate id, once started.
    pub id: Option<String>,
}
