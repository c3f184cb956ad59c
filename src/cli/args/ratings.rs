//! Arguments of `debate leaderboard` and `debate tournament`.
use super::{JsonArg, LimitArgs};
use std::path::PathBuf;

/// Arguments of `debate leaderboard`.
#[derive(Debug, clap::Args)]
pub struct LeaderboardArgs {
    /// Only count debates of this repository
    #[arg(long)]
    pub here: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate tournament`.
#[derive(Debug, clap::Args)]
pub struct TournamentArgs {
    /// TOML file with motions, entrants and a judge
    pub file: PathBuf,
    /// Print the games without playing them
    #[arg(long)]
    pub dry_run: bool,
    /// Games to play in parallel; overrides the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub at_once: Option<u16>,
    /// Don't send each model a test prompt first
    #[arg(long)]
    pub no_probe: bool,
    /// Spending limits for all games together; they override the file.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}
