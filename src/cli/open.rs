//! From what was typed to a debate being played: `debate run` and `debate resume`.
use super::args::{Most, Resume, Run};
use super::exit::{Exit, Failed};
use super::place;
use super::play::{Play, finish};
use super::screen::Screen;
use crate::config::Config;
use crate::debate::{Budget, Change, Debate, Flaw, Hold, Outcome, Rounds, Voice, millionths};
use crate::engine::desk::seat_number;
use crate::engine::opening::found_again;
use crate::engine::pairing::{Judge, Named, Preferred, There};
use crate::engine::particulars::WantedCast;
use crate::engine::preflight::Wish;
use crate::engine::spoken::Spoken;
use crate::engine::{Command, Desk, DeskError, Opening};
use crate::report::text::printable;
use std::path::Path;
use std::time::Duration;

/// `debate run`
pub(super) async fn run(
    run: &Run,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let spoken = said(run, config, desk)?;
    if let Some(understood) = spoken.understood() {
        screen.note(&format!("[INFO] Understood: {}", printable(&understood)));
    }
    let wish = wish(run, &spoken, config)?;
    let limits = config.settings.limits;
    let format = run.format.clone().or_else(|| spoken.format.clone()).unwrap_or("duel".into());
    let offer = desk.catalogue().offered(&format)?.offer.clone();
    // What only the user ends is gone through with the user.
    let open = offer.format.acts.iter().any(|act| act.rounds == Rounds::Open);
    let mut holds = vec![];
    holds.extend((run.plan || offer.confirms).then_some(Hold::Start));
    holds.extend((run.pause || open).then_some(Hold::Rounds));
    let draft = Opening {
        format,
        rounds: run.rounds.or(spoken.rounds),
        effort: wish.effort,
        budget: budget(run.most.or(limits), Budget::default())?,
        turn_seconds: run.turn_timeout.or(limits.turn_seconds),
        sealed: run.sealed,
        stop_when_settled: run.stop_when_settled,
        holds,
        ..Opening::new(&spoken.topic, Voice::Human, Voice::Human, Voice::Human)
    };
    let (draft, wish) = desk.particulars(run.wanted.read()?, draft, wish, &config.folder)?;
    if let Some(output) = &draft.output {
        writable(&place.root.join(output))?;
    }
    let prepared = tokio::select! {
        prepared = desk.prepare(draft, &wish, &place.root) => prepared,
        _ = tokio::signal::ctrl_c() => {
            screen.warn("[WARN] Stopped before anything was opened.");
            return Ok(Exit::Stopped);
        }
    };
    let (opening, warnings) = prepared?;
    for warning in &warnings {
        screen.warn(&format!("[WARN] {}", printable(warning)));
    }
    for line in &opening.picked {
        screen.note(&format!("[INFO] Given: {}", printable(line)));
    }
    for line in &opening.chosen {
        screen.note(&format!("[INFO] Chosen: {}", printable(line)));
    }
    if let Some(estimate) = desk.estimate(&opening)? {
        screen.note(&format!("[INFO] Estimate: {}", estimate.says));
        if let Some(unkept) = estimate.unkept {
            screen.warn(&format!("[WARN] {unkept}"));
        }
    }
    let job = desk.open(&opening, &place)?;
    Play { config, desk, yes: run.yes, shown: run.shown, summary: true }.play(job, screen).await
}

/// The question that was typed, and what was said around it. Without one there is nothing to debate.
fn said(run: &Run, config: &Config, desk: &Desk) -> Result<Spoken, Failed> {
    if run.topic.trim().is_empty() {
        let raised = desk.topics(&place::here(config).root);
        let hint = if raised.is_empty() {
            "as in `debate run 'Should we use sqlx or rusqlite here?'`".into()
        } else {
            format!("what has changed here raises:\n  {}", raised.join("\n  "))
        };
        return Err(Failed::Usage("the topic is empty".into(), hint));
    }
    Ok(desk.spoken(&run.topic))
}

/// A report is written where there is nothing yet.
fn writable(path: &Path) -> Result<(), Failed> {
    if path.exists() {
        return Err(Failed::Usage(
            format!("there is a file `{}` already", path.display()),
            "name another with `--output PATH`, or move that one away".into(),
        ));
    }
    // Found out by doing it, before anything is spent.
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|_| std::fs::remove_file(path)).map_err(|error| {
        Failed::Usage(
            format!("`{}` cannot be written: {error}", path.display()),
            "make its folder, or name another file with `--output PATH`".into(),
        )
    })
}

/// Whom the user wants to hear: flags have the last word.
fn wish(run: &Run, spoken: &Spoken, config: &Config) -> Result<Wish, Failed> {
    let folder = &config.folder;
    let model = |flag: &Option<Voice>, said: &Option<String>, model: &Option<String>, role| {
        let voice = flag.clone().or_else(|| said.as_ref()?.parse().ok());
        seat(voice.as_ref(), model.as_deref(), role, folder)
    };
    let judge = run.judge.first().cloned().or_else(|| spoken.judge.as_ref()?.parse().ok());
    let (pro, con) = (&spoken.proposer, &spoken.challenger);
    let named = Named {
        proposer: model(&run.proposer, pro, &run.model_proposer, "proposer")?,
        challenger: model(&run.challenger, con, &run.model_challenger, "challenger")?,
        judge: judge.map(|judge| found_again(judge, folder)),
    };
    let own = &config.settings.seats;
    let preferred = Preferred::read(&own.pairings, &own.judges).map_err(|bad| {
        let hint = "write seats as in `claude` or `openai:MODEL`";
        Failed::Usage(format!("`seats` in your configuration: {bad}"), hint.into())
    })?;
    Ok(Wish {
        named,
        preferred,
        cast: WantedCast {
            panel: run
                .judge
                .iter()
                .skip(1)
                .map(|judge| found_again(judge.clone(), folder))
                .collect(),
            ..WantedCast::default()
        },
        // A person at a terminal may have gone for coffee: they argue only if they say so.
        there: There { side: None, judge: Judge::Debater(Voice::Human) },
        context: joined(&run.context),
        effort: run.effort.map(Into::into).or(spoken.effort),
        probe: (!run.no_probe && own.probe.unwrap_or(true)).then_some(Duration::MAX),
    })
}

/// What was typed, item by item; a note goes on to the end, so notes come last.
pub(super) fn joined(context: &[String]) -> String {
    let (notes, items): (Vec<&str>, Vec<&str>) =
        context.iter().map(|item| item.trim()).partition(|item| item.starts_with("note="));
    let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note=")).collect();
    let note = (!notes.is_empty()).then(|| format!("note={}", notes.join("\n")));
    items.into_iter().map(str::to_owned).chain(note).collect::<Vec<_>>().join("\n")
}

/// A seat as it was typed, if it was. A script is found again from wherever the debate is resumed.
fn seat(
    voice: Option<&Voice>,
    model: Option<&str>,
    role: &str,
    folder: &Path,
) -> Result<Option<Voice>, Failed> {
    let voice = match (voice, model) {
        (None, None) => return Ok(None),
        (Some(Voice::Model { tool, model: None }), Some(model)) => {
            format!("{tool}:{model}").parse().map_err(|bad: crate::debate::seat::BadSeat| {
                Failed::Usage(format!("`{model}`: {bad}"), "give the model's plain name".into())
            })?
        }
        (_, Some(_)) => {
            return Err(Failed::Usage(
                format!("the {role}'s model is given twice, or it takes none"),
                format!("either `--{role} TOOL:MODEL` or `--model-{role} MODEL`"),
            ));
        }
        (Some(voice), None) => voice.clone(),
    };
    Ok(Some(found_again(voice, folder)))
}

/// What may be spent, where something else was typed than was allowed before.
fn budget(most: Most, before: Budget) -> Result<Budget, Failed> {
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

/// Money as it is typed.
fn money(amount: f64) -> Result<u64, Failed> {
    millionths(amount).ok_or_else(|| {
        Failed::Usage(format!("`{amount}` is no amount"), "give a number such as 0.50".into())
    })
}

/// `debate resume`
pub(super) async fn resume(
    resume: &Resume,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let unfinished = resume.id.is_none() && !resume.retry;
    let id = desk.meant(resume.id.as_deref(), unfinished, &place.root)?;
    let (_, debate, flaw) = desk.read(&id)?;
    if let Some(Flaw { seq, why }) = flaw {
        return Err(DeskError::Flawed { id, seq, why }.into());
    }
    let wishes = wishes(resume, &debate, &config.folder)?;
    let over = debate.outcome().is_some() && wishes.is_empty();
    if over {
        screen.note(&format!("{id} has ended already; this is its result"));
        desk.archive().write_out(&id)?;
        return finish(&debate, resume.shown, screen);
    }
    let handed = |(name, voice): &(String, Voice)| {
        (name.clone(), found_again(voice.clone(), &config.folder))
    };
    let handed: Vec<_> = resume.seat.iter().map(handed).collect();
    desk.ready(&debate, &handed).map_err(|unplayable| {
        let hint = "hand the seat to someone else, as in `--seat proposer=human`";
        Failed::NoModel(unplayable.to_string(), hint.into())
    })?;
    screen.note(&format!("[INFO] Resuming {id}: {}", printable(debate.question())));
    let job = desk.resume(&id, &place, wishes)?;
    Play { config, desk, yes: resume.yes, shown: resume.shown, summary: true }
        .play(job, screen)
        .await
}

/// What the flags ask for, in the order it must happen.
fn wishes(resume: &Resume, debate: &Debate, folder: &Path) -> Result<Vec<Command>, Failed> {
    let mut wishes = vec![];
    if resume.say.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Failed::Usage(
            "the remark is empty".into(),
            "say something, or leave it".into(),
        ));
    }
    let asks = resume.say.is_some()
        || resume.steer.is_some()
        || resume.deepen.is_some()
        || resume.conclude
        || budget(resume.most, debate.budget())? != debate.budget()
        || !resume.seat.is_empty();
    let ended = debate.outcome().is_some_and(|outcome| *outcome != Outcome::Cancelled);
    if ended && asks && !resume.retry {
        return Err(Failed::Usage(
            "this debate has ended".into(),
            "`--retry` takes a failed turn again; `debate run` opens a new debate".into(),
        ));
    }
    if resume.retry || debate.outcome() == Some(&Outcome::Cancelled) {
        let from = debate.reopens_at().ok_or_else(|| {
            Failed::Usage(
                "no turn of this debate has failed".into(),
                "there is nothing to retry".into(),
            )
        })?;
        wishes.push(Command::Reopen { from });
    }
    let budget = budget(resume.most, debate.budget())?;
    if budget != debate.budget() {
        if budget.exhausted(debate.spent()) {
            return Err(Failed::Usage(
                "more than that is spent already".into(),
                "raise what is spent: `--max-cost X`, `--max-tokens N`, `--max-minutes M`".into(),
            ));
        }
        wishes.push(Command::Amend { change: Change::Limit { budget }, because: String::new() });
    }
    for (name, voice) in &resume.seat {
        let seat = seat_number(debate, name).ok_or_else(|| {
            let names: Vec<_> = debate.seats().iter().map(|seat| seat.name.as_str()).collect();
            let hint = format!("its seats are {}", names.join(", "));
            Failed::Usage(format!("there is no seat `{name}`"), hint)
        })?;
        let voice = found_again(voice.clone(), folder);
        if debate.seats()[usize::from(seat)].voice == voice {
            continue;
        }
        let because = String::from("handed over by the user");
        wishes.push(Command::Amend { change: Change::Seat { seat, voice }, because });
    }
    if let Some(text) = &resume.say {
        wishes.push(Command::Interject { text: text.clone() });
    }
    if let Some(topic) = &resume.steer {
        wishes.extend(Command::steer(topic.clone()));
    }
    if let Some(about) = &resume.deepen {
        wishes.push(Command::deepen(about));
    }
    if resume.conclude {
        wishes.push(Command::Conclude { because: None });
    }
    Ok(wishes)
}
