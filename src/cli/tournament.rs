//! `debate tournament`: parses the tournament file, plays the remaining games and prints ratings.
use super::args::TournamentArgs;
use super::exit::{CliError, Exit};
use super::output;
use super::run::merge_budget;
use super::screen::Screen;
use super::workspace;
use crate::config::Config;
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{App, Workspace};
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
    asked: &TournamentArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let path = config.current_dir.join(&asked.file);
    let named = asked.file.display().to_string();
    let plan = read_plan(asked, &path, &named)?;
    let folder = path.parent().unwrap_or(&config.current_dir).to_owned();
    // Games do not replace the repository's last debate, so they write no state file.
    let place = Workspace { state_file: None, ..workspace::current_workspace(config) };
    let games = build_schedule(&plan);
    let (known, _) = archived_games::load_games(desk, &plan, &place.root)?;
    let played = |game: &&ScheduledGame| {
        known.get(&game.key).is_some_and(|it| it.status == GameStatus::Played)
    };
    let left: Vec<&ScheduledGame> = games.iter().filter(|game| !played(game)).collect();
    let fit = check_tournament(desk, &plan, &left, &folder).map_err(misfit_error)?;
    if asked.dry_run {
        return print_plan(asked, &plan, &games, &known, &fit, screen);
    }
    print_preparation(&plan, games.len(), left.len(), &fit, screen);
    let probe = !asked.no_probe && config.settings.seats.probe.unwrap_or(true);
    let settings = TournamentSettings { workspace: place, plan_folder: folder, probe };
    let tell = |news: &TournamentEvent| print_news(news, &plan, screen);
    let (ending, standings) = play(desk, &plan, &settings, wait_for_shutdown(), tell).await?;
    match ending {
        TournamentEnd::Completed => {}
        TournamentEnd::Stopped => screen.warn("[WARN] Stopped. Nothing that was recorded is lost."),
        TournamentEnd::BudgetExhausted => screen.warn(
            "[WARN] What all games may spend is spent. Allow more with `--max-cost X`, \
             `--max-tokens N` or `--max-minutes M`, or in the file under `in_all`.",
        ),
    }
    let open = standings.played < standings.games;
    if open {
        screen.warn(&format!("Go on with: debate tournament {named}"));
    }
    let failed = !standings.failed.is_empty();
    if asked.json.json {
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
        TournamentEnd::Completed if !open => Exit::Ok,
        _ => Exit::Stopped,
    })
}

/// Parses the file and applies the flags that override it.
fn read_plan(
    asked: &TournamentArgs,
    path: &std::path::Path,
    named: &str,
) -> Result<TournamentPlan, CliError> {
    let io = |error| CliError::File(named.to_owned(), error);
    if fs::metadata(path).map_err(io)?.len() > MAX_FILE_BYTES {
        return Err(CliError::Usage(
            format!("`{named}` is too long for a tournament"),
            "it has motions, entrants and a judge, in TOML".into(),
        ));
    }
    let text = fs::read_to_string(path).map_err(io)?;
    let mut plan = TournamentPlan::parse(&text)
        .map_err(|bad| CliError::Usage(format!("`{named}`: {bad}"), bad.hint().into()))?;
    plan.max_concurrent = asked.at_once.map_or(plan.max_concurrent, usize::from);
    plan.total_budget = merge_budget(asked.limits, plan.total_budget)?;
    Ok(plan)
}

fn misfit_error(misfit: TournamentPreflightError) -> CliError {
    match misfit {
        TournamentPreflightError::App(error) => CliError::App(error),
        TournamentPreflightError::NotTwoSided(_) => {
            CliError::Usage(misfit.to_string(), "format = \"duel\", or \"tribunal\"".into())
        }
        TournamentPreflightError::Pair { .. } => CliError::Usage(
            misfit.to_string(),
            "what they play could not be rated; name entrants of different tools".into(),
        ),
    }
}

/// Prints warnings, the number of games and the cost estimate.
fn print_preparation(
    plan: &TournamentPlan,
    games: usize,
    left: usize,
    fit: &TournamentPreflight,
    screen: &mut Screen,
) {
    for warning in &fit.warnings {
        screen.warn(&format!("[WARN] {warning}"));
    }
    let done = games - left;
    let name = &plan.name;
    screen.note(&match done {
        0 => format!("[INFO] Tournament {name}: {games} games"),
        _ => format!("[INFO] Tournament {name}: {games} games, {done} of them played already"),
    });
    if fit.usage.calls > 0 {
        screen.note(&format!("[INFO] Estimate: {}", fit.usage.summary()));
    }
}

fn pairing_label(game: &ScheduledGame, plan: &TournamentPlan) -> String {
    format!("{} against {}", plan.entrants[game.pro].name, plan.entrants[game.con].name)
}

/// Prints one progress line.
fn print_news(news: &TournamentEvent, plan: &TournamentPlan, screen: &mut Screen) {
    match news {
        TournamentEvent::Started { game, id } => {
            screen.note(&format!("[INFO] {id}: {}: {}", pairing_label(game, plan), game.motion));
        }
        TournamentEvent::Waiting { id, holder, .. } => {
            screen.note(&format!("[INFO] {id} is played by {holder}; waiting for it"));
        }
        TournamentEvent::Finished { game, archived: past, standings } => {
            screen.note(&format!(
                "[INFO] {}: {}. {}: {}",
                pairing_label(game, plan),
                describe_result(game, past, plan),
                text::render_counts(standings),
                text::render_leaders(standings)
            ));
        }
        TournamentEvent::Failed { game, reason: why, will_retry: again } => {
            let then = if *again { "; it is tried once more" } else { "" };
            screen.warn(&format!("[WARN] {} failed{then}: {why}", pairing_label(game, plan)));
        }
        TournamentEvent::Paused { game, why } => {
            screen.warn(&format!("[WARN] {} is not over: {why}", pairing_label(game, plan)));
        }
    }
}

/// Result of a game, as text.
fn describe_result(game: &ScheduledGame, past: &ArchivedGame, plan: &TournamentPlan) -> String {
    let name = |nth: usize| &plan.entrants[nth].name;
    match &past.rating_result {
        Ok((it, _)) => match it.score {
            GameScore::Pro => format!("{} wins", name(game.pro)),
            GameScore::Con => format!("{} wins", name(game.con)),
            GameScore::Draw => "contested, half a win for each".into(),
        },
        Err(why) => format!("not rated ({})", why.describe()),
    }
}

/// Prints the schedule for `--dry-run`.
fn print_plan(
    asked: &TournamentArgs,
    plan: &TournamentPlan,
    games: &[ScheduledGame],
    known: &BTreeMap<String, ArchivedGame>,
    fit: &TournamentPreflight,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let stands = |game: &ScheduledGame| match known.get(&game.key).map(|it| &it.status) {
        Some(GameStatus::Played) => "played",
        Some(GameStatus::Started) => "begun",
        Some(GameStatus::Failed { .. }) => "failed",
        None => "left",
    };
    let figures = &fit.usage;
    if asked.json.json {
        let cost = figures.unpriced.is_empty().then_some(figures.cost as f64 / 1e6);
        let games = games.iter().map(|game| output::PlannedGame {
            key: game.key.clone(),
            motion: game.motion.clone(),
            proposer: plan.entrants[game.pro].name.clone(),
            challenger: plan.entrants[game.con].name.clone(),
            rounds: game.rounds,
            stands: stands(game),
            id: known.get(&game.key).map(|it| it.id.clone()),
        });
        screen.print_json(&output::TournamentPlanOutput {
            v: 1,
            tournament: plan.name.clone(),
            games: games.collect(),
            calls: figures.calls,
            tokens_in: figures.tokens_in,
            tokens_out: figures.tokens_out,
            cost,
        })?;
        return Ok(Exit::Ok);
    }
    let played = games.iter().filter(|game| stands(game) == "played").count();
    print_preparation(plan, games.len(), games.len() - played, fit, screen);
    for game in games {
        let motion = game.motion.replace('\n', " ");
        screen.print_sanitized(&format!(
            "{:<7} {}: {motion}",
            stands(game),
            pairing_label(game, plan)
        ))?;
    }
    Ok(Exit::Ok)
}
