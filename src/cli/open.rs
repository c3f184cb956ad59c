//! `debate run`: turns flags and topic into a [`DebateDraft`], runs the preflight checks, and plays
//! the debate. Other commands share the helpers for drafts, context and budgets.
use super::args::{Most, Run, Seating};
use super::exit::{Exit, Failed};
use super::place;
use super::play::Play;
use super::screen::Screen;
use crate::config::Config;
use crate::debate::{Budget, HoldPoint, Participant, Rounds, to_millionths};
use crate::engine::draft::with_absolute_script;
use crate::engine::format_options::{CastRequest, FormatOptions};
use crate::engine::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::engine::preflight::{AUTO_CONTEXT, SeatingRequest};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::topic_options::TopicOptions;
use crate::engine::{App, DebateDraft};
use crate::report::text::printable;
use std::path::Path;
use std::time::Duration;

/// Handler of `debate run`.
pub(super) async fn run(
    run: &Run,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let spoken = said(run, config, desk)?;
    if let Some(understood) = spoken.describe() {
        screen.note(&format!("[INFO] Understood: {}", printable(&understood)));
    }
    let (draft, wish) = drafted(&run.seating, &spoken, run.output.clone(), config, desk)?;
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
        writable(&place.root.join(output))?;
    }
    let prepared = tokio::select! {
        prepared = desk.prepare(draft, &wish, &place.root) => prepared,
        () = wait_for_shutdown() => {
            screen.warn("[WARN] Stopped before anything was opened.");
            return Ok(Exit::Stopped);
        }
    };
    let (opening, warnings) = prepared?;
    announced(&opening, &warnings, desk, screen)?;
    let job = desk.open(&opening, &place)?;
    let (yes, shown) = (run.yes, run.shown);
    Play { config, desk, yes, shown, summary: true, limit: None, onward: None }
        .play(job, screen)
        .await
}

/// Prints warnings, the selected context, the chosen participants and the cost estimate.
pub(super) fn announced(
    opening: &DebateDraft,
    warnings: &[String],
    desk: &App,
    screen: &mut Screen,
) -> Result<(), Failed> {
    for warning in warnings {
        screen.warn(&format!("[WARN] {}", printable(warning)));
    }
    for line in &opening.picked {
        screen.note(&format!("[INFO] Given: {}", printable(line)));
    }
    for line in &opening.seat_choices {
        screen.note(&format!("[INFO] Chosen: {}", printable(line)));
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
pub(super) fn drafted(
    seating: &Seating,
    spoken: &TopicOptions,
    output: Option<String>,
    config: &Config,
    desk: &App,
) -> Result<(DebateDraft, SeatingRequest), Failed> {
    let wish = wish(seating, spoken, config)?;
    let limits = config.settings.limits;
    let format = seating.format.clone().or_else(|| spoken.format.clone());
    let draft = DebateDraft {
        format: format.unwrap_or("duel".into()),
        rounds: seating.rounds.or(spoken.rounds),
        effort: wish.effort,
        budget: budget(seating.most.or(limits), Budget::default())?,
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
    let said = FormatOptions { output_path: output, ..seating.wanted.read()? };
    Ok(desk.apply_format_options(said, draft, wish, &config.folder)?)
}

/// Parses the topic and the options written in it. An empty topic is an error.
fn said(run: &Run, config: &Config, desk: &App) -> Result<TopicOptions, Failed> {
    if run.topic.trim().is_empty() {
        let raised = desk.suggest_topics(&place::here(config).root);
        let hint = if raised.is_empty() {
            "as in `debate run 'Should we use sqlx or rusqlite here?'`".into()
        } else {
            format!("what has changed here raises:\n  {}", raised.join("\n  "))
        };
        return Err(Failed::Usage("the topic is empty".into(), hint));
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
fn writable(path: &Path) -> Result<(), Failed> {
    if path.exists() {
        return Err(Failed::Usage(
            format!("there is a file `{}` already", path.display()),
            "name another with `--output PATH`, or move that one away".into(),
        ));
    }
    // Create and delete the file now, so that a bad path fails before any cost.
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|_| std::fs::remove_file(path)).map_err(|error| {
        Failed::Usage(
            format!("`{}` cannot be written: {error}", path.display()),
            "make its folder, or name another file with `--output PATH`".into(),
        )
    })
}

/// Seats the user wants. Flags override the topic, the topic overrides the config.
fn wish(
    seating: &Seating,
    spoken: &TopicOptions,
    config: &Config,
) -> Result<SeatingRequest, Failed> {
    let folder = &config.folder;
    let model =
        |flag: &Option<Participant>, said: &Option<String>, model: &Option<String>, role| {
            let voice = flag.clone().or_else(|| said.as_ref()?.parse().ok());
            seat(voice.as_ref(), model.as_deref(), role, folder)
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
        Failed::Usage(format!("`seats` in your configuration: {bad}"), hint.into())
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
        context: joined(&seating.context),
        change: None,
        effort: seating.effort.map(Into::into).or(spoken.effort),
        probe_timeout: (!seating.no_probe && own.probe.unwrap_or(true)).then_some(Duration::MAX),
    })
}

/// Joins context items into one string. A note extends to the end, so notes come last.
pub(super) fn joined(context: &[String]) -> String {
    let (notes, items): (Vec<&str>, Vec<&str>) =
        context.iter().map(|item| item.trim()).partition(|item| item.starts_with("note="));
    let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note=")).collect();
    let note = (!notes.is_empty()).then(|| format!("note={}", notes.join("\n")));
    items.into_iter().map(str::to_owned).chain(note).collect::<Vec<_>>().join("\n")
}

/// Resolves a seat flag. Script paths become absolute, so that a resume from another folder works.
fn seat(
    voice: Option<&Participant>,
    model: Option<&str>,
    role: &str,
    folder: &Path,
) -> Result<Option<Participant>, Failed> {
    let voice = match (voice, model) {
        (None, None) => return Ok(None),
        (Some(Participant::Model { tool, model: None }), Some(model)) => format!("{tool}:{model}")
            .parse()
            .map_err(|bad: crate::debate::seat::ParticipantError| {
                Failed::Usage(format!("`{model}`: {bad}"), "give the model's plain name".into())
            })?,
        (_, Some(_)) => {
            return Err(Failed::Usage(
                format!("the {role}'s model is given twice, or it takes none"),
                format!("either `--{role} TOOL:MODEL` or `--model-{role} MODEL`"),
            ));
        }
        (Some(voice), None) => voice.clone(),
    };
    Ok(Some(with_absolute_script(voice, folder)))
}

/// Budget from the flags, with the earlier budget for limits that were not given.
pub(super) fn budget(most: Most, before: Budget) -> Result<Budget, Failed> {
    let cost = most.max_cost.map(money).transpose()?;
    Ok(Budget {
        cost: cost.or(before.cost),
        tokens: most.max_tokens.or(before.tokens),
        milliseconds: most.max_minutes.map(minutes).or(before.milliseconds),
    })
}

fn minutes(minutes: u64) -> u64 {
    minutes.saturating_mul(60_000)
}

/// Converts a cost to millionths, or returns a usage error.
fn money(amount: f64) -> Result<u64, Failed> {
    to_millionths(amount).ok_or_else(|| {
        Failed::Usage(format!("`{amount}` is no amount"), "give a number such as 0.50".into())
    })
}
