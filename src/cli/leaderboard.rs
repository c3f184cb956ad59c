//! `debate leaderboard`: ratings computed from the archive.
use super::args::Leaderboard;
use super::exit::{Exit, Failed};
use super::output;
use super::place;
use super::screen::Screen;
use crate::config::Config;
use crate::engine::App;
use crate::rating::{Board, text};

/// Handler of `debate leaderboard`.
pub(super) fn leaderboard(
    asked: &Leaderboard,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let root = asked.here.then(|| place::here(config).root);
    let board = Board::of_archive(desk, root)?;
    if asked.json.json {
        screen.json(&output::Leaderboard { v: 1, board })?;
    } else {
        screen.say(&text::board(&board))?;
    }
    Ok(Exit::Ok)
}
