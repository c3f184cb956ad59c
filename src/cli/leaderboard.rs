//! `debate leaderboard`: ratings computed from the archive.
use super::args::LeaderboardArgs;
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use super::workspace;
use crate::app::App;
use crate::config::Config;
use crate::rating::{Leaderboard, text};

/// Handler of `debate leaderboard`.
pub(super) async fn leaderboard(
    args: &LeaderboardArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let root = args.here.then(|| workspace::current_workspace(config).root);
    let board = Leaderboard::from_archive(app, root).await?;
    if args.json.json {
        screen.print_json(&output::LeaderboardOutput { v: 1, board })?;
    } else {
        screen.print_sanitized(&text::render_leaderboard(&board))?;
    }
    Ok(Exit::Ok)
}
