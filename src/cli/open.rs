//! From what was typed to a debate being played: `debate run` and `debate resume`.
use super::args::{Resume, Run};
use super::exit::{Exit, Failed};
use super::place;
use super::play::{Play, finish};
use super::screen::Screen;
use crate::config::Config;
use crate::debate::{Budget, Change, Debate, Flaw, Hold, Outcome, Seat, Speakers, Voice, next};
use crate::engine::desk::seat_number;
use crate::engine::{Command, Desk, DeskError, Opening, Place};
use crate::report::text::printable;

/// `debate run`
pub(super) async fn run(
    run: &Run,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let proposer = seat(run.proposer.as_ref(), run.model_proposer.as_deref(), "proposer", &place)?;
    let challenger =
        seat(run.challenger.as_ref(), run.model_challenger.as_deref(), "challenger", &place)?;
    let judge = judge(run.judge.as_ref(), &proposer, &challenger, &place);
    let opening = Opening {
        format: run.format.clone(),
        rounds: run.rounds,
        effort: run.effort.map(Into::into),
        brief: place::context(&run.context, &place, &config.folder)?,
        budget: Budget { cost: run.max_cost.map(millionths).transpose()?, ..Budget::default() },
        turn_seconds: run.turn_timeout,
        holds: if run.pause { vec![Hold::Rounds] } else { vec![] },
        ..Opening::new(&run.topic, proposer, challenger, judge)
    };
    let job = desk.open(&opening, &place)?;
    Play { config, desk, yes: run.yes, shown: run.shown, summary: true }.play(job, screen).await
}

/// A seat as it was typed. A script is found again from wherever the debate is resumed.
fn seat(
    voice: Option<&Voice>,
    model: Option<&str>,
    role: &str,
    place: &Place,
) -> Result<Voice, Failed> {
    let Some(voice) = voice else {
        return Err(Failed::NoModel(
            format!("nobody plays the {role}"),
            format!(
                "name one with `--{role} SEAT` (script:FILE, human); `debate demo` needs nobody"
            ),
        ));
    };
    let voice = match (voice, model) {
        (Voice::Model { tool, model: None }, Some(model)) => {
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
        (voice, None) => voice.clone(),
    };
    Ok(found_again(voice, place))
}

fn found_again(voice: Voice, place: &Place) -> Voice {
    match voice {
        Voice::Model { tool, model: Some(file) } if tool == "script" => {
            let whole = std::path::absolute(&file).unwrap_or_else(|_| place.root.join(&file));
            Voice::Model { tool, model: Some(whole.display().to_string()) }
        }
        voice => voice,
    }
}

/// Whoever was named; else the first of the debaters that can be asked, which is said in the result.
fn judge(named: Option<&Voice>, proposer: &Voice, challenger: &Voice, place: &Place) -> Voice {
    let able = [proposer, challenger].into_iter().find(|voice| !voice.awaited());
    let voice = named.or(able).cloned().unwrap_or(Voice::Human);
    found_again(voice, place)
}

/// Money as it is typed, in millionths.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn millionths(amount: f64) -> Result<u64, Failed> {
    if amount.is_finite() && (0.0..1e9).contains(&amount) {
        return Ok((amount * 1e6).round() as u64);
    }
    Err(Failed::Usage(format!("`{amount}` is no amount"), "give a number such as 0.50".into()))
}

/// `debate resume`
pub(super) async fn resume(
    resume: &Resume,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let id =
        place::meant(resume.id.as_deref(), resume.id.is_none() && !resume.retry, &place, desk)?;
    let (_, debate, flaw) = desk.read(&id)?;
    if let Some(Flaw { seq, why }) = flaw {
        return Err(DeskError::Flawed { id, seq, why }.into());
    }
    let wishes = wishes(resume, &debate, &place)?;
    let over = debate.outcome().is_some() && wishes.is_empty();
    if over {
        screen.note(&format!("{id} has ended already; this is its result"));
        desk.archive().write_out(&id)?;
        return finish(&debate, resume.shown, screen);
    }
    for voice in needed_voices(&debate, &resume.seat) {
        desk.playable(&found_again(voice.clone(), &place)).map_err(|unplayable| {
            let hint = "hand the seat to someone else, as in `--seat proposer=human`";
            Failed::NoModel(unplayable.to_string(), hint.into())
        })?;
    }
    screen.note(&format!("[INFO] Resuming {id}: {}", printable(&debate.setup().topic)));
    let job = desk.resume(&id, &place, wishes)?;
    Play { config, desk, yes: resume.yes, shown: resume.shown, summary: true }
        .play(job, screen)
        .await
}

/// Everyone who may still be asked, as they sit now or are to sit: in the ending, only those who
/// speak there.
fn needed_voices<'a>(debate: &'a Debate, handed: &'a [(String, Voice)]) -> Vec<&'a Voice> {
    let setup = debate.setup();
    let ending = setup.ending();
    let at_the_end = next(debate).at().is_some_and(|cue| cue.act == ending);
    let speaks_there = |seat: &Seat| {
        let phases = &setup.format.acts[usize::from(ending)].phases;
        phases.iter().any(|phase| match &phase.speakers {
            Speakers::Seated(roles) => roles.contains(&seat.role),
            _ => true,
        })
    };
    let now = debate.seats().iter().filter(|seat| !at_the_end || speaks_there(seat));
    now.map(|seat| {
        let other = handed.iter().find(|(name, _)| *name == seat.name);
        other.map_or(&seat.voice, |(_, voice)| voice)
    })
    .collect()
}

/// What the flags ask for, in the order it must happen.
fn wishes(resume: &Resume, debate: &Debate, place: &Place) -> Result<Vec<Command>, Failed> {
    let mut wishes = vec![];
    if resume.say.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Failed::Usage(
            "the remark is empty".into(),
            "say something, or leave it".into(),
        ));
    }
    let asks = resume.say.is_some()
        || resume.conclude
        || resume.max_cost.is_some()
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
    if let Some(amount) = resume.max_cost {
        let budget = Budget { cost: Some(millionths(amount)?), ..debate.budget() };
        wishes.push(Command::Amend { change: Change::Limit { budget }, because: String::new() });
    }
    for (name, voice) in &resume.seat {
        let seat = seat_number(debate, name).ok_or_else(|| {
            let names: Vec<_> = debate.seats().iter().map(|seat| seat.name.as_str()).collect();
            let hint = format!("its seats are {}", names.join(", "));
            Failed::Usage(format!("there is no seat `{name}`"), hint)
        })?;
        let voice = found_again(voice.clone(), place);
        if debate.seats()[usize::from(seat)].voice == voice {
            continue;
        }
        let because = String::from("handed over by the user");
        wishes.push(Command::Amend { change: Change::Seat { seat, voice }, because });
    }
    if let Some(text) = &resume.say {
        wishes.push(Command::Interject { text: text.clone() });
    }
    if resume.conclude {
        wishes.push(Command::Conclude { because: None });
    }
    Ok(wishes)
}
