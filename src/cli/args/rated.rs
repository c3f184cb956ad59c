//! Who argues better: what can be typed to find out.
use super::{Json, Most};
use std::path::PathBuf;

/// `debate leaderboard`
#[derive(Debug, clap::Args)]
pub struct Leaderboard {
    /// Only of this repository
    #[arg(long)]
    pub here: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate tournament`
#[derive(Debug, clap::Args)]
pub struct Tournament {
    /// Motions, entrants and a judge, in TOML
    pub file: PathBuf,
    /// Say what would be played, and play nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Games played at a time, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub at_once: Option<u16>,
    /// Do not ask each model first whether it answers
    #[arg(long)]
    pub no_probe: bool,
    /// What all games together may spend, instead of what the file says.
    #[command(flatten)]
    pub most: Most,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}
