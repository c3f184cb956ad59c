//! `debate run`: turns flags and topic into a [`DebateDraft`], runs the preflight checks, and plays
//! the debate. Other commands share the helpers for drafts, context and budgets.
use super::args::{LimitArgs, RunArgs, SeatingArgs};
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::screen::Screen;
use super::workspace;
use crate::config::Config;
use crate::debate::{Budget, HoldPoint, Participant, Rounds, to_millionths};
use crate::engine::draft::with_absolute_script;
use crate::engine::format_options::{CastRequest, FormatOptions};
use crate::engine::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::engine::preflight::{AUTO_CONTEXT, SeatingRequest};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::topic_options::TopicOptions;
use crate::engine::{App, DebateDraft};
use crate::report::sanitize::strip_control_chars;
use std::path::Path;
use std::time::Duration;

/// Handler of `debate run`.
pub(super) async fn run(
    run: &RunArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let place = workspace::current_workspace(config);
    let spoken = parse_topic(run, config, desk)?;
    if let Some(understood) = spoken.describe() {
        screen.note(&format!("[INFO] Understood: {}", strip_control_chars(&understood)));
    }
    let (draft, wish) = build_draft(&run.seating, &spoken, run.output.clone(), config, desk)?;
    let offer = &desk.catalog().find(&draft.format)?.offer;
    // Acts without a fixed number of rounds need the user to end them.
    let open = offer.format.acts.iter().any(|act| act.rounds == Rounds::Open);
    let mut holds = vec![];
    holds.extend((run.plan || offer.confirm_plan).then_some(HoldPoint::Start));
    holds.extend((run.pause || open).then_some(HoldPoint::Rounds));
    let draft = DebateDraft { holds, ..draft };
    let wish = match wish.context.as_str() {
        "" => SeatingRequest { context: AUTO_CONTEXT.into(), ..wish },
        _ => wish,
    };
    if let Some(output) = &draft.report_path {
        check_writable(&place.root.join(output))?;
    }
    let prepared = tokio::select! {
        prepared = desk.prepare(draft, &wish, &place.root) => prepared,
        () = wait_for_shutdown() => {
            screen.warn("[WARN] Stopped before anything was opened.");
            return Ok(Exit::Stopped);
        }
    };
    let (opening, warnings) = prepared?;
    print_preparation(&opening, &warnings, desk, screen)?;
    let job = desk.open(&opening, &place)?;
    let (yes, shown) = (run.yes, run.display);
    DebatePlayer {
        config,
        app: desk,
        assume_yes: yes,
        display: shown,
        print_summary: true,
        deadline: None,
        resume_hint: None,
    }
    .play(job, screen)
    .await
}

/// Prints warnings, the selected context, the chosen participants and the cost estimate.
pub(super) fn print_preparation(
    opening: &DebateDraft,
    warnings: &[String],
    desk: &App,
    screen: &mut Screen,
) -> Result<(), CliError> {
    for warning in warnings {
        screen.warn(&format!("[WARN] {}", strip_control_chars(warning)));
    }
    for line in &opening.picked {
        screen.note(&format!("[INFO] Given: {}", strip_control_chars(line)));
    }
    for line in &opening.seat_choices {
        screen.note(&format!("[INFO] Chosen: {}", strip_control_chars(line)));
    }
    if let Some(estimate) = desk.estimate_cost(opening)? {
        screen.note(&format!("[INFO] Estimate: {}", estimate.summary));
        if let Some(unkept) = estimate.budget_warning {
            screen.warn(&format!("[WARN] {unkept}"));
        }
    }
    Ok(())
}

/// Builds a draft and a seating request from flags, topic options and config.
pub(super) fn build_draft(
    seating: &SeatingArgs,
    spoken: &TopicOptions,
    output: Option<String>,
    config: &Config,
    desk: &App,
) -> Result<(DebateDraft, SeatingRequest), CliError> {
    let wish = build_seating_request(seating, spoken, config)?;
    let limits = config.settings.limits;
    let format = seating.format.clone().or_else(|| spoken.format.clone());
    let draft = DebateDraft {
        format: format.unwrap_or("duel".into()),
        rounds: seating.rounds.or(spoken.rounds),
        effort: wish.effort,
        budget: merge_budget(seating.limits.or_config(limits), Budget::default())?,
        turn_seconds: seating.turn_timeout.or(limits.turn_seconds),
        sealed: seating.sealed,
        stop_when_settled: seating.stop_when_settled,
        ..DebateDraft::new(
            &spoken.topic,
            Participant::Human,
            Participant::Human,
            Participant::Human,
        )
    };
    let said = FormatOptions { output_path: output, ..seating.format_options.parse()? };
    Ok(desk.apply_format_options(said, draft, wish, &config.current_dir)?)
}

/// Parses the topic and the options written in it. An empty topic is an error.
fn parse_topic(run: &RunArgs, config: &Config, desk: &App) -> Result<TopicOptions, CliError> {
    if run.topic.trim().is_empty() {
        let raised = desk.suggest_topics(&workspace::current_workspace(config).root);
        let hint = if raised.is_empty() {
            "as in `debate run 'Should we use sqlx or rusqlite here?'`".into()
        } else {
            format!("what has changed here raises:\n  {}", raised.join("\n  "))
        };
        return Err(CliError::Usage("the topic is empty".into(), hint));
    }
    // Flags override options in the topic.
    let (spoken, seating) = (desk.parse_topic_options(&run.topic), &run.seating);
    Ok(TopicOptions {
        format: spoken.format.filter(|_| seating.format.is_none()),
        proposer: spoken.proposer.filter(|_| seating.proposer.is_none()),
        challenger: spoken.challenger.filter(|_| seating.challenger.is_none()),
        judge: spoken.judge.filter(|_| seating.judge.is_empty()),
        rounds: spoken.rounds.filter(|_| seating.rounds.is_none()),
        effort: spoken.effort.filter(|_| seating.effort.is_none()),
        ..spoken
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
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|_| std::fs::remove_file(path)).map_err(|error| {
        CliError::Usage(
            format!("`{}` cannot be written: {error}", path.display()),
            "make its folder, or name another file with `--output PATH`".into(),
        )
    })
}

/// Seats the user wants. Flags override the topic, the topic overrides the config.
fn build_seating_request(
    seating: &SeatingArgs,
    spoken: &TopicOptions,
    config: &Config,
) -> Result<SeatingRequest, CliError> {
    let folder = &config.current_dir;
    let model =
        |flag: &Option<Participant>, said: &Option<String>, model: &Option<String>, role| {
            let voice = flag.clone().or_else(|| said.as_ref()?.parse().ok());
            resolve_seat(voice.as_ref(), model.as_deref(), role, folder)
        };
    let judge = seating.judge.first().cloned().or_else(|| spoken.judge.as_ref()?.parse().ok());
    let (pro, con) = (&spoken.proposer, &spoken.challenger);
    let named = RequestedSeats {
        proposer: model(&seating.proposer, pro, &seating.model_proposer, "proposer")?,
        challenger: model(&seating.challenger, con, &seating.model_challenger, "challenger")?,
        judge: judge.map(|judge| with_absolute_script(judge, folder)),
    };
    let own = &config.settings.seats;
    let preferred = SeatPreferences::parse(&own.pairings, &own.judges).map_err(|bad| {
        let hint = "write seats as in `claude` or `openai:MODEL`";
        CliError::Usage(format!("`seats` in your configuration: {bad}"), hint.into())
    })?;
    Ok(SeatingRequest {
        requested: named,
        preferences: preferred,
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
        effort: seating.effort.map(Into::into).or(spoken.effort),
        probe_timeout: (!seating.no_probe && own.probe.unwrap_or(true)).then_some(Duration::MAX),
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
    voice: Option<&Participant>,
    model: Option<&str>,
    role: &str,
    folder: &Path,
) -> Result<Option<Participant>, CliError> {
    let voice = match (voice, model) {
        (None, None) => return Ok(None),
        (Some(Participant::Model { tool, model: None }), Some(model)) => format!("{tool}:{model}")
            .parse()
            .map_err(|bad: crate::debate::seat::ParticipantError| {
                CliError::Usage(format!("`{model}`: {bad}"), "give the model's plain name".into())
            })?,
        (_, Some(_)) => {
            return Err(CliError::Usage(
                format!("the {role}'s model is given twice, or it takes none"),
                format!("either `--{role} TOOL:MODEL` or `--model-{role} MODEL`"),
            ));
        }
        (Some(voice), None) => voice.clone(),
    };
    Ok(Some(with_absolute_script(voice, folder)))
}

/// Budget from the flags, with the earlier budget for limits that were not given.
pub(super) fn merge_budget(most: LimitArgs, before: Budget) -> Result<Budget, CliError> {
    let cost = most.max_cost.map(parse_cost).transpose()?;
    Ok(Budget {
        cost: cost.or(before.cost),
        tokens: most.max_tokens.or(before.tokens),
        milliseconds: most.max_minutes.map(minutes_to_ms).or(before.milliseconds),
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
