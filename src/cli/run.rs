//! `debate run`: converts flags and topic into a [`StartRequest`], starts the debate and plays it.
//! `debate review` shares the conversion of the flags.
use super::args::{RunArgs, SeatingArgs};
use super::exit::{CliError, Exit};
use super::limits::join_context;
use super::play::DebatePlayer;
use super::screen::Screen;
use super::start_progress::print_stages;
use super::workspace;
use crate::app::{App, StartPolicy, StartProgress, StartReport, StartRequest, StartStage};
use crate::config::Config;
use crate::debate::Participant;
use crate::engine::signals::wait_for_shutdown;
use crate::options::DebateOptions;
use crate::report::sanitize::strip_control_chars;
use std::path::Path;

/// Handler of `debate run`.
pub(super) async fn run(
    run: &RunArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    require_topic(run, &workspace.root, app)?;
    let options = DebateOptions {
        output_path: run.output.clone(),
        confirm_plan: run.plan.then_some(true),
        pause: run.pause.then_some(true),
        ..parse_options(&run.seating)?
    };
    if let Some(output) = options.output_path.as_ref().filter(|path| !path.trim().is_empty()) {
        check_writable(&workspace.root.join(output))?;
    }
    let (policy, folder) = (StartPolicy::terminal(), config.current_dir.clone());
    let request = StartRequest::new(&run.topic, options, policy, folder);
    let (progress, stages) = StartProgress::channel();
    let start = app.start(request, &workspace, &progress);
    let started = tokio::select! {
        started = print_stages(start, stages, |stage| print_stage(&stage, screen)) => started?,
        () = wait_for_shutdown() => {
            screen.warn("[WARN] Stopped before anything was opened.");
            return Ok(Exit::Stopped);
        }
    };
    print_report(&started.report, screen);
    let (assume_yes, display) = (run.yes, run.display);
    DebatePlayer {
        config,
        app,
        assume_yes,
        display,
        print_summary: true,
        deadline: None,
        resume_hint: None,
    }
    .play(started.run, screen)
    .await
}

fn print_stage(stage: &StartStage, screen: &mut Screen) {
    if let StartStage::Understood(description) = stage {
        screen.note(&format!("[INFO] Understood: {}", strip_control_chars(description)));
    }
}

/// Prints warnings, the selected context, the chosen participants and the cost estimate.
pub(super) fn print_report(report: &StartReport, screen: &mut Screen) {
    for warning in &report.warnings {
        screen.warn(&format!("[WARN] {}", strip_control_chars(warning)));
    }
    for line in &report.given {
        screen.note(&format!("[INFO] Given: {}", strip_control_chars(line)));
    }
    for line in &report.chosen {
        screen.note(&format!("[INFO] Chosen: {}", strip_control_chars(line)));
    }
    if let Some(estimate) = &report.estimate {
        screen.note(&format!("[INFO] Estimate: {}", estimate.summary));
        if let Some(budget_warning) = &estimate.budget_warning {
            screen.warn(&format!("[WARN] {budget_warning}"));
        }
    }
}

/// Converts the flags of `run` and `review` to options.
pub(super) fn parse_options(seating: &SeatingArgs) -> Result<DebateOptions, CliError> {
    let side = |seat: &Option<Participant>, model: &Option<String>, role| {
        resolve_seat(seat.as_ref(), model.as_deref(), role)
    };
    // One judge is a seat; several are a panel.
    let judges: Vec<String> = seating.judge.iter().map(ToString::to_string).collect();
    let (judge, judges) = match judges.as_slice() {
        [judge] => (Some(judge.clone()), vec![]),
        _ => (None, judges),
    };
    let context = join_context(&seating.context);
    Ok(DebateOptions {
        format: seating.format.clone(),
        proposer: side(&seating.proposer, &seating.model_proposer, "proposer")?,
        challenger: side(&seating.challenger, &seating.model_challenger, "challenger")?,
        judge,
        judges,
        rounds: seating.rounds.map(Into::into),
        effort: seating.effort.map(Into::into),
        context: Some(context).filter(|context| !context.is_empty()),
        sealed: seating.sealed.then_some(true),
        stop_when_settled: seating.stop_when_settled.then_some(true),
        probe: seating.no_probe.then_some(false),
        max_cost: seating.limits.max_cost,
        max_tokens: seating.limits.max_tokens,
        max_minutes: seating.limits.max_minutes,
        turn_seconds: seating.turn_timeout,
        await_seconds: seating.await_timeout,
        ..seating.format_options.parse()?
    })
}

/// Rejects an empty topic, with suggestions.
fn require_topic(run: &RunArgs, root: &Path, app: &App) -> Result<(), CliError> {
    if !run.topic.trim().is_empty() {
        return Ok(());
    }
    let suggestions = app.suggest_topics(root);
    let hint = if suggestions.is_empty() {
        "as in `debate run 'Should we use sqlx or rusqlite here?'`".into()
    } else {
        format!("questions about what has changed here:\n  {}", suggestions.join("\n  "))
    };
    Err(CliError::Usage("the topic is empty".into(), hint))
}

/// Checks that the report file does not exist and can be created.
fn check_writable(path: &Path) -> Result<(), CliError> {
    if path.exists() {
        return Err(CliError::Usage(
            format!("there is a file `{}` already", path.display()),
            "name another with `--output PATH`, or move that one away".into(),
        ));
    }
    // Create and delete the file now, so that a bad path fails before any cost.
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    created.and_then(|_| std::fs::remove_file(path)).map_err(|error| {
        CliError::Usage(
            format!("`{}` cannot be written: {error}", path.display()),
            "make its folder, or name another file with `--output PATH`".into(),
        )
    })
}

/// Joins the seat and the model of a side, which can be separate flags.
fn resolve_seat(
    participant: Option<&Participant>,
    model: Option<&str>,
    role: &str,
) -> Result<Option<String>, CliError> {
    match (participant, model) {
        (participant, None) => Ok(participant.map(ToString::to_string)),
        (Some(Participant::Model { tool, model: None }), Some(model)) => {
            let seat = format!("{tool}:{model}");
            seat.parse::<Participant>().map_err(|error| {
                CliError::Usage(format!("`{model}`: {error}"), "give the model's plain name".into())
            })?;
            Ok(Some(seat))
        }
        (_, Some(_)) => Err(CliError::Usage(
            format!("the {role}'s model is given twice, or it takes none"),
            format!("either `--{role} TOOL:MODEL` or `--model-{role} MODEL`"),
        )),
    }
}
