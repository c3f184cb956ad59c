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
use crate::rating::Score;
use crate::tournament::fit::Fit;
use crate::tournament::{
    Ending, Game, Known, Misfit, News, Past, Plan, Settings, fits, past, play, schedule, text,
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
    let games = schedule(&plan);
    let (known, _) = past::past(desk, &plan, &place.root)?;
    let played = |game: &&Game| known.get(&game.key).is_some_and(|it| it.known == Known::Played);
    let left: Vec<&Game> = games.iter().filter(|game| !played(game)).collect();
    let fit = fits(desk, &plan, &left, &folder).map_err(misfit_error)?;
    if asked.dry_run {
        return print_plan(asked, &plan, &games, &known, &fit, screen);
    }
    print_preparation(&plan, games.len(), left.len(), &fit, screen);
    let probe = !asked.no_probe && config.settings.seats.probe.unwrap_or(true);
    let settings = Settings { place, folder, probe };
    let tell = |news: &News| print_news(news, &plan, screen);
    let (ending, standings) = play(desk, &plan, &settings, wait_for_shutdown(), tell).await?;
    match ending {
        Ending::Done => {}
        Ending::Stopped => screen.warn("[WARN] Stopped. Nothing that was recorded is lost."),
        Ending::Spent => screen.warn(
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
            Ending::Done => "done",
            Ending::Stopped => "stopped",
            Ending::Spent => "spent",
        };
        screen.print_json(&output::TournamentOutput { v: 1, ending, standings })?;
    } else {
        screen.print_sanitized(&text::table(&standings))?;
    }
    Ok(match ending {
        Ending::Done if failed => Exit::Degraded,
        Ending::Done if !open => Exit::Ok,
        _ => Exit::Stopped,
    })
}

/// Parses the file and applies the flags that override it.
fn read_plan(
    asked: &TournamentArgs,
    path: &std::path::Path,
    named: &str,
) -> Result<Plan, CliError> {
    let io = |error| CliError::File(named.to_owned(), error);
    if fs::metadata(path).map_err(io)?.len() > MAX_FILE_BYTES {
        return Err(CliError::Usage(
            format!("`{named}` is too long for a tournament"),
            "it has motions, entrants and a judge, in TOML".into(),
        ));
    }
    let text = fs::read_to_string(path).map_err(io)?;
    let mut plan = Plan::read(&text)
        .map_err(|bad| CliError::Usage(format!("`{named}`: {bad}"), bad.hint().into()))?;
    plan.at_once = asked.at_once.map_or(plan.at_once, usize::from);
    plan.in_all = merge_budget(asked.limits, plan.in_all)?;
    Ok(plan)
}

fn misfit_error(misfit: Misfit) -> CliError {
    match misfit {
        Misfit::Desk(error) => CliError::App(error),
        Misfit::NoSides(_) => {
            CliError::Usage(misfit.to_string(), "format = \"duel\", or \"tribunal\"".into())
        }
        Misfit::Pair { .. } => CliError::Usage(
            misfit.to_string(),
            "what they play could not be rated; name entrants of different tools".into(),
        ),
    }
}

/// Prints warnings, the number of games and the cost estimate.
fn print_preparation(plan: &Plan, games: usize, left: usize, fit: &Fit, screen: &mut Screen) {
    for warning in &fit.warnings {
        screen.warn(&format!("[WARN] {warning}"));
    }
    let done = games - left;
    let name = &plan.name;
    screen.note(&match done {
        0 => format!("[INFO] Tournament {name}: {games} games"),
        _ => format!("[INFO] Tournament {name}: {games} games, {done} of them played already"),
    });
    if fit.figures.calls > 0 {
        screen.note(&format!("[INFO] Estimate: {}", fit.figures.summary()));
    }
}

fn pairing_label(game: &Game, plan: &Plan) -> String {
    format!("{} against {}", plan.entrants[game.pro].name, plan.entrants[game.con].name)
}

/// Prints one progress line.
fn print_news(news: &News, plan: &Plan, screen: &mut Screen) {
    match news {
        News::Begun { game, id } => {
            screen.note(&format!("[INFO] {id}: {}: {}", pairing_label(game, plan), game.motion));
        }
        News::Waiting { id, holder, .. } => {
            screen.note(&format!("[INFO] {id} is played by {holder}; waiting for it"));
        }
        News::Over { game, past, standings } => {
            screen.note(&format!(
                "[INFO] {}: {}. {}: {}",
                pairing_label(game, plan),
                describe_result(game, past, plan),
                text::counted(standings),
                text::leaders(standings)
            ));
        }
        News::Failed { game, why, again } => {
            let then = if *again { "; it is tried once more" } else { "" };
            screen.warn(&format!("[WARN] {} failed{then}: {why}", pairing_label(game, plan)));
        }
        News::Paused { game, why } => {
            screen.warn(&format!("[WARN] {} is not over: {why}", pairing_label(game, plan)));
        }
    }
}

/// Result of a game, as text.
fn describe_result(game: &Game, past: &Past, plan: &Plan) -> String {
    let name = |nth: usize| &plan.entrants[nth].name;
    match &past.reading {
        Ok((it, _)) => match it.score {
            Score::Pro => format!("{} wins", name(game.pro)),
            Score::Con => format!("{} wins", name(game.con)),
            Score::Draw => "contested, half a win for each".into(),
        },
        Err(why) => format!("not rated ({})", why.says()),
    }
}

/// Prints the schedule for `--dry-run`.
fn print_plan(
    asked: &TournamentArgs,
    plan: &Plan,
    games: &[Game],
    known: &BTreeMap<String, Past>,
    fit: &Fit,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let stands = |game: &Game| match known.get(&game.key).map(|it| &it.known) {
        Some(Known::Played) => "played",
        Some(Known::Begun) => "begun",
        Some(Known::Failed { .. }) => "failed",
        None => "left",
    };
    let figures = &fit.figures;
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
