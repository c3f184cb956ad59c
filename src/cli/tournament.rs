//! `debate tournament`: parses the tournament file, plays the remaining games and prints ratings.
//! The entry point is the handler `tournament`, called by `cli::run`. Schedule, games and standings
//! are in `crate::tournament`.
use super::args::TournamentArgs;
use super::exit::{CliError, Exit};
use super::limits::merge_budget;
use super::output;
use super::screen::Screen;
use super::workspace;
use crate::app::App;
use crate::config::Config;
use crate::engine::Workspace;
use crate::engine::signals::wait_for_shutdown;
use crate::rating::GameScore;
use crate::tournament::preflight::TournamentPreflight;
use crate::tournament::{
    ArchivedGame, GameStatus, ScheduledGame, TournamentEnd, TournamentEvent, TournamentPlan,
    TournamentPreflightError, TournamentSettings, archived_games, build_schedule, check_tournament,
    play, text,
};
use std::collections::BTreeMap;
use std::fs;

/// Maximum size of the tournament file in bytes.
const MAX_FILE_BYTES: u64 = 4_000_000;

/// Handler of `debate tournament`.
pub(super) async fn tournament(
    args: &TournamentArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let path = config.current_dir.join(&args.file);
    let file_name = args.file.display().to_string();
    let plan = read_plan(args, &path, &file_name)?;
    let folder = path.parent().unwrap_or(&config.current_dir).to_owned();
    // Games do not replace the repository's last debate, so they write no state file.
    let workspace = Workspace { state_file: None, ..workspace::current_workspace(config) };
    let games = build_schedule(&plan);
    let (archived, _) = archived_games::load_games(app, &plan, &workspace.root).await?;
    let is_played = |game: &&ScheduledGame| {
        archived.get(&game.key).is_some_and(|it| it.status == GameStatus::Played)
    };
    let remaining: Vec<&ScheduledGame> = games.iter().filter(|game| !is_played(game)).collect();
    let preflight = check_tournament(app, &plan, &remaining, &folder).map_err(misfit_error)?;
    if args.dry_run {
        return print_plan(args, &plan, &games, &archived, &preflight, screen);
    }
    print_preparation(&plan, games.len(), remaining.len(), &preflight, screen);
    let probe = !args.no_probe && config.settings.seats.probe.unwrap_or(true);
    let settings = TournamentSettings { workspace, plan_folder: folder, probe };
    let on_event = |event: &TournamentEvent| print_news(event, &plan, screen);
    let (ending, standings) = play(app, &plan, &settings, wait_for_shutdown(), on_event).await?;
    match ending {
        TournamentEnd::Completed => {}
        TournamentEnd::Stopped => screen.warn("[WARN] Stopped. Nothing that was recorded is lost."),
        TournamentEnd::BudgetExhausted => screen.warn(
            "[WARN] What all games may spend is spent. Allow more with `--max-cost X`, \
             `--max-tokens N` or `--max-minutes M`, or in the file under `in_all`.",
        ),
    }
    let is_unfinished = standings.played < standings.games;
    if is_unfinished {
        screen.warn(&format!("Go on with: debate tournament {file_name}"));
    }
    let failed = !standings.failed.is_empty();
    if args.json.json {
        let ending = match ending {
            TournamentEnd::Completed => "done",
            TournamentEnd::Stopped => "stopped",
            TournamentEnd::BudgetExhausted => "spent",
        };
        screen.print_json(&output::TournamentOutput { v: 1, ending, standings })?;
    } else {
        screen.print_sanitized(&text::render_standings(&standings))?;
    }
    Ok(match ending {
        TournamentEnd::Completed if failed => Exit::Degraded,
        TournamentEnd::Completed if !is_unfinished => Exit::Ok,
        _ => Exit::Stopped,
    })
}

/// Parses the file and applies the flags that override it.
fn read_plan(
    args: &TournamentArgs,
    path: &std::path::Path,
    file_name: &str,
) -> Result<TournamentPlan, CliError> {
    let file_error = |error| CliError::File(file_name.to_owned(), error);
    if fs::metadata(path).map_err(file_error)?.len() > MAX_FILE_BYTES {
        return Err(CliError::Usage(
            format!("`{file_name}` is too long for a tournament"),
            "name a TOML file with motions, entrants and a judge".into(),
        ));
    }
    let text = fs::read_to_string(path).map_err(file_error)?;
    let mut plan = TournamentPlan::parse(&text).map_err(|plan_error| {
        CliError::Usage(format!("`{file_name}`: {plan_error}"), plan_error.hint().into())
    })?;
    plan.max_concurrent = args.at_once.map_or(plan.max_concurrent, usize::from);
    plan.total_budget = merge_budget(args.limits, plan.total_budget)?;
    Ok(plan)
}

fn misfit_error(preflight_error: TournamentPreflightError) -> CliError {
    match preflight_error {
        TournamentPreflightError::App(error) => CliError::App(error),
        TournamentPreflightError::NotTwoSided(_) => CliError::Usage(
            preflight_error.to_string(),
            "use `format = \"duel\"` or `format = \"tribunal\"`".into(),
        ),
        TournamentPreflightError::Pair { .. } => CliError::Usage(
            preflight_error.to_string(),
            "their games could not be rated; name entrants of different tools".into(),
        ),
    }
}

/// Prints warnings, the number of games and the cost estimate.
fn print_preparation(
    plan: &TournamentPlan,
    games: usize,
    remaining: usize,
    preflight: &TournamentPreflight,
    screen: &mut Screen,
) {
    for warning in &preflight.warnings {
        screen.warn(&format!("[WARN] {warning}"));
    }
    let played_count = games - remaining;
    let name = &plan.name;
    screen.note(&match played_count {
        0 => format!("[INFO] Tournament {name}: {games} games"),
        _ => format!(
            "[INFO] Tournament {name}: {games} games, {played_count} of them played already"
        ),
    });
    if preflight.usage.calls > 0 {
        screen.note(&format!("[INFO] Estimate: {}", preflight.usage.summary()));
    }
}

fn pairing_label(game: &ScheduledGame, plan: &TournamentPlan) -> String {
    format!("{} against {}", plan.entrants[game.pro].name, plan.entrants[game.con].name)
}

/// Prints one progress line.
fn print_news(event: &TournamentEvent, plan: &TournamentPlan, screen: &mut Screen) {
    match event {
        TournamentEvent::Started { game, id } => {
            screen.note(&format!("[INFO] {id}: {}: {}", pairing_label(game, plan), game.motion));
        }
        TournamentEvent::Waiting { id, holder, .. } => {
            screen.note(&format!("[INFO] {id} is played by {holder}; waiting for it"));
        }
        TournamentEvent::Finished { game, archived, standings } => {
            screen.note(&format!(
                "[INFO] {}: {}. {}: {}",
                pairing_label(game, plan),
                describe_result(game, archived, plan),
                text::render_counts(standings),
                text::render_leaders(standings)
            ));
        }
        TournamentEvent::Failed { game, reason, will_retry } => {
            let suffix = if *will_retry { "; it is tried once more" } else { "" };
            screen.warn(&format!("[WARN] {} failed{suffix}: {reason}", pairing_label(game, plan)));
        }
        TournamentEvent::Paused { game, why: reason } => {
            screen.warn(&format!("[WARN] {} is not over: {reason}", pairing_label(game, plan)));
        }
    }
}

/// Result of a game, as text.
fn describe_result(game: &ScheduledGame, archived: &ArchivedGame, plan: &TournamentPlan) -> String {
    let name = |index: usize| &plan.entrants[index].name;
    match &archived.rating_result {
        Ok((game_result, _)) => match game_result.score {
            GameScore::Pro => format!("{} wins", name(game.pro)),
            GameScore::Con => format!("{} wins", name(game.con)),
            GameScore::Draw => "contested, half a win for each".into(),
        },
        Err(reason) => format!("not rated ({})", reason.describe()),
    }
}

/// Prints the schedule for `--dry-run`.
fn print_plan(
    args: &TournamentArgs,
    plan: &TournamentPlan,
    games: &[ScheduledGame],
    archived: &BTreeMap<String, ArchivedGame>,
    preflight: &TournamentPreflight,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let status_of = |game: &ScheduledGame| match archived.get(&game.key).map(|it| &it.status) {
        Some(GameStatus::Played) => "played",
        Some(GameStatus::Started) => "begun",
        Some(GameStatus::Failed { .. }) => "failed",
        None => "left",
    };
    let usage = &preflight.usage;
    if args.json.json {
        let cost = usage.unpriced.is_empty().then_some(usage.cost as f64 / 1e6);
        let games = games.iter().map(|game| output::PlannedGame {
            key: game.key.clone(),
            motion: game.motion.clone(),
            proposer: plan.entrants[game.pro].name.clone(),
            challenger: plan.entrants[game.con].name.clone(),
            rounds: game.rounds,
            stands: status_of(game),
            id: archived.get(&game.key).map(|it| it.id.clone()),
        });
        screen.print_json(&output::TournamentPlanOutput {
            v: 1,
            tournament: plan.name.clone(),
            games: games.collect(),
            calls: usage.calls,
            tokens_in: usage.tokens_in,
            tokens_out: usage.tokens_out,
            cost,
        })?;
        return Ok(Exit::Ok);
    }
    let played = games.iter().filter(|game| status_of(game) == "played").count();
    print_preparation(plan, games.len(), games.len() - played, preflight, screen);
    for game in games {
        let motion = game.motion.replace('\n', " ");
        screen.print_sanitized(&format!(
            "{:<7} {}: {motion}",
            status_of(game),
            pairing_label(game, plan)
        ))?;
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Args, CliCommand};
    use clap::Parser;

    #[test]
    fn oversized_tournament_file_is_refused() {
        assert_eq!(MAX_FILE_BYTES, 4_000_000);
        let args = Args::parse_from(["debate", "tournament", "cup.toml"]);
        let CliCommand::Tournament(args) = args.command else { panic!("another command") };
        let file = tempfile::NamedTempFile::new().unwrap();
        // A comment only, so that a file of an accepted size is incomplete.
        let read_error = |bytes: u64| {
            fs::write(file.path(), "#".repeat(usize::try_from(bytes).unwrap())).unwrap();
            read_plan(&args, file.path(), "cup.toml").unwrap_err().to_string()
        };
        let error = read_error(MAX_FILE_BYTES);
        assert!(error.starts_with("`cup.toml`: "), "{error}");
        let error = read_error(MAX_FILE_BYTES + 1);
        assert_eq!(error, "`cup.toml` is too long for a tournament");
    }
}
