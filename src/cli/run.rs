//! `debate run`: turns flags and topic into a [`DebateDraft`], runs the preflight checks, and plays
//! the debate. Other commands share the helpers for drafts, context and budgets.
use super::args::{LimitArgs, RunArgs, SeatingArgs};
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::screen::Screen;
use super::workspace;
use crate::app::draft::with_absolute_script;
use crate::app::format_options::{CastRequest, FormatOptions};
use crate::app::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::app::preflight::{AUTO_CONTEXT, SeatingRequest};
use crate::app::topic_options::TopicOptions;
use crate::app::{App, DebateDraft};
use crate::config::Config;
use crate::debate::{Budget, HoldPoint, Participant, Rounds, to_millionths};
use crate::engine::signals::wait_for_shutdown;
use crate::report::sanitize::strip_control_chars;
use std::path::Path;
use std::time::Duration;

/// Handler of `debate run`.
pub(super) async fn run(
    run: &RunArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let topic_options = parse_topic(run, config, app)?;
    if let Some(description) = topic_options.describe() {
        screen.note(&format!("[INFO] Understood: {}", strip_control_chars(&description)));
    }
    let (draft, seating_request) =
        build_draft(&run.seating, &topic_options, run.output.clone(), config, app)?;
    let offer = &app.find_format(&draft.format)?.offer;
    // Acts without a fixed number of rounds need the user to end them.
    let is_open_ended = offer.format.acts.iter().any(|act| act.rounds == Rounds::Open);
    let mut holds = vec![];
    holds.extend((run.plan || offer.confirm_plan).then_some(HoldPoint::Start));
    holds.extend((run.pause || is_open_ended).then_some(HoldPoint::Rounds));
    let draft = DebateDraft { holds, ..draft };
    let seating_request = match seating_request.context.as_str() {
        "" => SeatingRequest { context: AUTO_CONTEXT.into(), ..seating_request },
        _ => seating_request,
    };
    if let Some(output) = &draft.report_path {
        check_writable(&workspace.root.join(output))?;
    }
    let prepared = tokio::select! {
        prepared = app.prepare(draft, &seating_request, &workspace.root) => prepared,
        () = wait_for_shutdown() => {
            screen.warn("[WARN] Stopped before anything was opened.");
            return Ok(Exit::Stopped);
        }
    };
    let (prepared_draft, warnings) = prepared?;
    print_preparation(&prepared_draft, &warnings, app, screen)?;
    let job = app.open(&prepared_draft, &workspace).await?;
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
    .play(job, screen)
    .await
}

/// Prints warnings, the selected context, the chosen participants and the cost estimate.
pub(super) fn print_preparation(
    draft: &DebateDraft,
    warnings: &[String],
    app: &App,
    screen: &mut Screen,
) -> Result<(), CliError> {
    for warning in warnings {
        screen.warn(&format!("[WARN] {}", strip_control_chars(warning)));
    }
    for line in &draft.picked {
        screen.note(&format!("[INFO] Given: {}", strip_control_chars(line)));
    }
    for line in &draft.seat_choices {
        screen.note(&format!("[INFO] Chosen: {}", strip_control_chars(line)));
    }
    if let Some(estimate) = app.estimate_cost(draft)? {
        screen.note(&format!("[INFO] Estimate: {}", estimate.summary));
        if let Some(budget_warning) = estimate.budget_warning {
            screen.warn(&format!("[WARN] {budget_warning}"));
        }
    }
    Ok(())
}

/// Builds a draft and a seating request from flags, topic options and config.
pub(super) fn build_draft(
    seating: &SeatingArgs,
    topic_options: &TopicOptions,
    output: Option<String>,
    config: &Config,
    app: &App,
) -> Result<(DebateDraft, SeatingRequest), CliError> {
    let seating_request = build_seating_request(seating, topic_options, config)?;
    let limits = config.settings.limits;
    let format = seating.format.clone().or_else(|| topic_options.format.clone());
    let draft = DebateDraft {
        format: format.unwrap_or("duel".into()),
        rounds: seating.rounds.or(topic_options.rounds),
        effort: seating_request.effort,
        budget: merge_budget(seating.limits.or_config(limits), Budget::default())?,
        turn_seconds: seating.turn_timeout.or(limits.turn_seconds),
        sealed: seating.sealed,
        stop_when_settled: seating.stop_when_settled,
        ..DebateDraft::new(
            &topic_options.topic,
            Participant::Human,
            Participant::Human,
            Participant::Human,
        )
    };
    let options = FormatOptions { output_path: output, ..seating.format_options.parse()? };
    Ok(app.apply_format_options(options, draft, seating_request, &config.current_dir)?)
}

/// Parses the topic and the options written in it. An empty topic is an error.
fn parse_topic(run: &RunArgs, config: &Config, app: &App) -> Result<TopicOptions, CliError> {
    if run.topic.trim().is_empty() {
        let suggestions = app.suggest_topics(&workspace::current_workspace(config).root);
        let hint = if suggestions.is_empty() {
            "as in `debate run 'Should we use sqlx or rusqlite here?'`".into()
        } else {
            format!("questions about what has changed here:\n  {}", suggestions.join("\n  "))
        };
        return Err(CliError::Usage("the topic is empty".into(), hint));
    }
    // Flags override options in the topic.
    let (topic_options, seating) = (app.parse_topic_options(&run.topic), &run.seating);
    Ok(TopicOptions {
        format: topic_options.format.filter(|_| seating.format.is_none()),
        proposer: topic_options.proposer.filter(|_| seating.proposer.is_none()),
        challenger: topic_options.challenger.filter(|_| seating.challenger.is_none()),
        judge: topic_options.judge.filter(|_| seating.judge.is_empty()),
        rounds: topic_options.rounds.filter(|_| seating.rounds.is_none()),
        effort: topic_options.effort.filter(|_| seating.effort.is_none()),
        ..topic_options
    })
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

/// Seats the user wants. Flags override the topic, the topic overrides the config.
fn build_seating_request(
    seating: &SeatingArgs,
    topic_options: &TopicOptions,
    config: &Config,
) -> Result<SeatingRequest, CliError> {
    let folder = &config.current_dir;
    let model =
        |flag: &Option<Participant>, from_topic: &Option<String>, model: &Option<String>, role| {
            let participant = flag.clone().or_else(|| from_topic.as_ref()?.parse().ok());
            resolve_seat(participant.as_ref(), model.as_deref(), role, folder)
        };
    let judge =
        seating.judge.first().cloned().or_else(|| topic_options.judge.as_ref()?.parse().ok());
    let (pro, con) = (&topic_options.proposer, &topic_options.challenger);
    let requested = RequestedSeats {
        proposer: model(&seating.proposer, pro, &seating.model_proposer, "proposer")?,
        challenger: model(&seating.challenger, con, &seating.model_challenger, "challenger")?,
        judge: judge.map(|judge| with_absolute_script(judge, folder)),
    };
    let settings = &config.settings.seats;
    let preferences =
        SeatPreferences::parse(&settings.pairings, &settings.judges).map_err(|error| {
            let hint = "write seats as in `claude` or `openai:MODEL`";
            CliError::Usage(format!("`seats` in your configuration: {error}"), hint.into())
        })?;
    Ok(SeatingRequest {
        requested,
        preferences,
        cast: CastRequest {
            panel: seating
                .judge
                .iter()
                .skip(1)
                .map(|judge| with_absolute_script(judge.clone(), folder))
                .collect(),
            ..CastRequest::default()
        },
        // A person may be away from the terminal, so a human argues only if named. Without an
        // independent judge a debater judges, or else the human.
        fallbacks: FallbackSeats {
            debater: None,
            judge: FallbackJudge::Debater(Participant::Human),
        },
        context: join_context(&seating.context),
        change: None,
        effort: seating.effort.map(Into::into).or(topic_options.effort),
        probe_timeout: (!seating.no_probe && settings.probe.unwrap_or(true))
            .then_some(Duration::MAX),
    })
}

/// Joins context items into one string. A note extends to the end, so notes come last.
pub(super) fn join_context(context: &[String]) -> String {
    let (notes, items): (Vec<&str>, Vec<&str>) =
        context.iter().map(|item| item.trim()).partition(|item| item.starts_with("note="));
    let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note=")).collect();
    let note = (!notes.is_empty()).then(|| format!("note={}", notes.join("\n")));
    items.into_iter().map(str::to_owned).chain(note).collect::<Vec<_>>().join("\n")
}

/// Resolves a seat flag. Script paths become absolute, so that a resume from another folder works.
fn resolve_seat(
    participant: Option<&Participant>,
    model: Option<&str>,
    role: &str,
    folder: &Path,
) -> Result<Option<Participant>, CliError> {
    let participant = match (participant, model) {
        (None, None) => return Ok(None),
        (Some(Participant::Model { tool, model: None }), Some(model)) => format!("{tool}:{model}")
            .parse()
            .map_err(|error: crate::debate::seat::ParticipantError| {
                CliError::Usage(format!("`{model}`: {error}"), "give the model's plain name".into())
            })?,
        (_, Some(_)) => {
            return Err(CliError::Usage(
                format!("the {role}'s model is given twice, or it takes none"),
                format!("either `--{role} TOOL:MODEL` or `--model-{role} MODEL`"),
            ));
        }
        (Some(participant), None) => participant.clone(),
    };
    Ok(Some(with_absolute_script(participant, folder)))
}

/// Budget from the flags, with the earlier budget for limits that were not given.
pub(super) fn merge_budget(limits: LimitArgs, current: Budget) -> Result<Budget, CliError> {
    let cost = limits.max_cost.map(parse_cost).transpose()?;
    Ok(Budget {
        cost: cost.or(current.cost),
        tokens: limits.max_tokens.or(current.tokens),
        milliseconds: limits.max_minutes.map(minutes_to_ms).or(current.milliseconds),
    })
}

fn minutes_to_ms(minutes: u64) -> u64 {
    minutes.saturating_mul(60_000)
}

/// Converts a cost to millionths, or returns a usage error.
fn parse_cost(amount: f64) -> Result<u64, CliError> {
    to_millionths(amount).ok_or_else(|| {
        CliError::Usage(format!("`{amount}` is no amount"), "give a number such as 0.50".into())
    })
}
