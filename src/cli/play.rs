//! A debate is played to its end, or to where someone is needed who is not there.
use super::args::{Resume, Run, Shown};
use super::exit::{self, Exit, Failed};
use super::follow::{Follower, Manner};
use super::output;
use super::person::{self, Answer};
use super::place;
use super::screen::{Screen, Target, err_is_terminal, someone_there};
use crate::config::Config;
use crate::debate::{
    Budget, Change, Cue, Debate, Flaw, Hold, Origin, Outcome, Pause, Seat, Speakers, Step, Voice,
    next,
};
use crate::engine::desk::seat_number;
use crate::engine::{Command, Desk, DeskError, Error, Job, Opening, Place};
use crate::report::text::printable;
use crate::report::{summary::summary, view::view};

/// `debate run`
pub(super) async fn open(
    run: &Run,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let proposer = seat(run.proposer.as_ref(), run.model_proposer.as_deref(), "proposer", &place)?;
    let challenger =
        seat(run.challenger.as_ref(), run.model_challenger.as_deref(), "challenger", &place)?;
    let opening = Opening {
        topic: run.topic.clone(),
        format: run.format.clone(),
        judge: judge(run.judge.as_ref(), &proposer, &challenger, &place),
        proposer,
        challenger,
        rounds: run.rounds,
        effort: run.effort.map(Into::into),
        brief: place::context(&run.context, &place, &config.folder)?,
        budget: Budget { cost: run.max_cost.map(millionths).transpose()?, ..Budget::default() },
        turn_seconds: run.turn_timeout,
        holds: if run.pause { vec![Hold::Rounds] } else { vec![] },
        origin: Origin::Here,
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

/// How a debate is played at this terminal.
pub(super) struct Play<'a> {
    pub(super) config: &'a Config,
    pub(super) desk: &'a Desk,
    pub(super) yes: bool,
    pub(super) shown: Shown,
    /// Whether the result is printed at the end.
    pub(super) summary: bool,
}

/// Why play stopped.
enum Stop {
    /// It is over.
    Over,
    /// Someone is needed who is not there; this is what to tell.
    Needs(String),
    /// Ctrl-C.
    Interrupted,
    /// Whoever read the output has gone.
    Unread,
}

impl Play<'_> {
    pub(super) async fn play(&self, mut job: Job, screen: &mut Screen) -> Result<Exit, Failed> {
        let manner = match (self.shown.json, self.shown.follow) {
            (true, true) => Manner::Json,
            (false, true) => Manner::Words(Target::Out),
            (false, false) if err_is_terminal() => Manner::Words(Target::Err),
            _ => Manner::Lines,
        };
        let mut updates = job.updates();
        let mut follower = Follower::new(job.debate().clone(), job.seq(), manner);
        screen.note(&format!("[INFO] Debate {}", job.id()));
        let stop = loop {
            tokio::select! {
                more = follower.step(&mut updates, self.desk.archive(), screen) => match more {
                    Err(Failed::Pipe) => break Stop::Unread,
                    more => {
                        more?;
                    }
                },
                step = job.idle() => {
                    let step = step?;
                    follower.drain(&mut updates, self.desk.archive(), screen)?;
                    if let Some(stop) = self.needed(&job, &follower.debate, step, screen).await? {
                        break stop;
                    }
                }
                _ = tokio::signal::ctrl_c() => break Stop::Interrupted,
            }
        };
        let id = job.id().to_owned();
        job.stop().await;
        let read = !matches!(stop, Stop::Unread);
        if read {
            follower.drain(&mut updates, self.desk.archive(), screen)?;
        }
        match &stop {
            Stop::Over => {}
            Stop::Needs(what) => screen.warn(&format!("[WARN] {what}")),
            Stop::Unread => screen.warn("[WARN] Stopped: nobody reads the output any more."),
            Stop::Interrupted => screen.warn("[WARN] Stopped. Nothing that was recorded is lost."),
        }
        if !matches!(stop, Stop::Over) {
            screen.warn(&format!("Go on with: debate resume {id}"));
        }
        if !read {
            return Ok(Exit::Stopped);
        }
        if manner == Manner::Json {
            let view = view(&follower.debate);
            screen.json_line(&output::Result { kind: "result", debate: &view })?;
        } else if self.summary {
            finish(&follower.debate, self.shown, screen)?;
        }
        Ok(exit::of(&follower.debate))
    }

    /// Does what the debate waits for, or says why it cannot be done here.
    async fn needed(
        &self,
        job: &Job,
        debate: &Debate,
        step: Step,
        screen: &mut Screen,
    ) -> Result<Option<Stop>, Failed> {
        match step {
            Step::Rest | Step::Close(_) => Ok(Some(Stop::Over)),
            Step::Hold { pause: Pause::Spent { .. }, .. } => Ok(Some(Stop::Needs(
                "The budget is spent. Allow more with `--max-cost X` when you resume.".into(),
            ))),
            Step::Hold { next, pause: Pause::Asked } => self.held(job, debate, next, screen).await,
            Step::Speak { awaited, .. } => {
                let Some(cue) = awaited.first().copied() else { return Ok(None) };
                let seat = &debate.seat(cue).name;
                match person::answer(debate, cue, self.config, screen).await? {
                    Answer::Said(text) => {
                        let reply = Command::Reply { take: debate.take(), cue, text };
                        replied(job.send(reply).await, screen)
                    }
                    Answer::Interrupted => Ok(Some(Stop::Interrupted)),
                    Answer::Nobody => {
                        Ok(Some(Stop::Needs(format!("`{seat}` is awaited, and nobody answered."))))
                    }
                }
            }
        }
    }

    async fn held(
        &self,
        job: &Job,
        debate: &Debate,
        next: Cue,
        screen: &mut Screen,
    ) -> Result<Option<Stop>, Failed> {
        let imported = debate.setup().origin != Origin::Here;
        let what = match next.round {
            0 => "the verdict".to_owned(),
            round => format!("round {round}"),
        };
        if !self.yes {
            let question = if imported {
                format!("This debate was imported. Go on with {what}? [y/N/remark] ")
            } else {
                format!("Go on with {what}? [Y/n/remark] ")
            };
            let paused = || Stop::Needs(format!("Paused before {what}."));
            match person::ask(&question, screen).await? {
                Answer::Interrupted => return Ok(Some(Stop::Interrupted)),
                Answer::Nobody => {
                    let hint = format!("Paused before {what}. `--yes` goes on without asking.");
                    return Ok(Some(Stop::Needs(hint)));
                }
                Answer::Said(answer) => match answer.to_lowercase().as_str() {
                    "n" | "no" => return Ok(Some(paused())),
                    "" if imported => return Ok(Some(paused())),
                    "" | "y" | "yes" => {}
                    _ => job.send(Command::Interject { text: answer }).await?,
                },
            }
        }
        job.send(Command::Continue { before: next.stand() }).await?;
        Ok(None)
    }
}

/// The result, as data.
fn finish(debate: &Debate, shown: Shown, screen: &mut Screen) -> Result<Exit, Failed> {
    if shown.json {
        screen.json(&view(debate))?;
    } else {
        let text = crate::report::text::printable(&summary(debate));
        screen.print(&format!("\n{}\n", text.trim_end()))?;
    }
    Ok(exit::of(debate))
}

/// A person may try again; a pipe may not.
fn replied(done: Result<(), Error>, screen: &mut Screen) -> Result<Option<Stop>, Failed> {
    match done {
        Ok(()) => Ok(None),
        Err(error @ (Error::Refused(_) | Error::Unreadable(_))) => {
            screen.warn(&format!("[WARN] {error}"));
            let again = someone_there(&std::io::stdin());
            Ok((!again).then(|| Stop::Needs("The reply must be mended.".into())))
        }
        Err(other) => Err(DeskError::Session(other).into()),
    }
}
