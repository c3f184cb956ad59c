//! `debate leaderboard`: ratings computed from the archive.
use super::args::LeaderboardArgs;
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use super::workspace;
use crate::config::Config;
use crate::engine::App;
use crate::rating::{Board, text};

/// Handler of `debate leaderboard`.
pub(super) fn leaderboard(
    asked: &LeaderboardArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let root = asked.here.then(|| workspace::current_workspace(config).root);
    let board = Board::of_archive(desk, root)?;
    if asked.json.json {
        screen.print_json(&output::LeaderboardOutput { v: 1, board })?;
    } else {
        screen.print_sanitized(&text::board(&board))?;
    }
    Ok(Exit::Ok)
}
