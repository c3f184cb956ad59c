//! Event loop of a debate in the terminal: runs it until it ends, needs input that is not
//! available, is interrupted, or reaches its deadline. The main type is [`DebatePlayer`].
use super::args::Shown;
use super::exit::{self, Exit, Failed};
use super::follow::{Follower, Manner};
use super::output;
use super::person::{self, Answer, Draft};
use super::place;
use super::screen::{Screen, Target, err_is_terminal, someone_there};
use super::stopwatch::{Due, Stopwatch};
use crate::config::Config;
use crate::debate::status::ending_advice;
use crate::debate::{
    Cue, Debate, HoldPoint, Origin, Participant, PauseReason, Role, Rounds, Seat, Step,
};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{
    App, AppError, Command, DebateRun, LeaseMode, LogError, RunHandle, SessionError,
};
use crate::report::{plan::plan, summary::summary, text::printable, view::view};
use tokio::time::Instant;

/// Settings of one run of the event loop.
pub(super) struct Play<'a> {
    pub(super) config: &'a Config,
    pub(super) desk: &'a App,
    pub(super) yes: bool,
    pub(super) shown: Shown,
    /// Whether to print the result at the end.
    pub(super) summary: bool,
    /// When to stop, with whatever is recorded by then.
    pub(super) limit: Option<Instant>,
    /// Replaces the default hint on how to resume.
    pub(super) onward: Option<&'static str>,
}

/// Result of the event loop.
pub(super) struct Played {
    pub(super) exit: Exit,
    /// Whether the user, a closed pipe or another process stopped it.
    pub(super) stopped: bool,
}

/// Why the event loop stopped.
enum Stop {
    Over,
    /// Input is needed that is not available; with a message.
    Needs(String),
    /// Ctrl-C
    Interrupted,
    /// Another process has taken the lease; with its name.
    TakenOver(String),
    /// The reader of stdout has closed the pipe.
    Unread,
    /// The deadline has passed.
    Late,
}

impl Play<'_> {
    pub(super) async fn play(&self, job: DebateRun, screen: &mut Screen) -> Result<Exit, Failed> {
        Ok(self.played(job, screen).await?.exit)
    }

    /// Like `play`, and also returns whether it was stopped.
    pub(super) async fn played(
        &self,
        mut job: DebateRun,
        screen: &mut Screen,
    ) -> Result<Played, Failed> {
        let manner = match (self.shown.json, self.shown.follow) {
            (true, true) => Manner::Json,
            (false, true) => Manner::Words(Target::Out),
            (false, false) if err_is_terminal() => Manner::Words(Target::Err),
            _ => Manner::Lines,
        };
        let mut updates = job.subscribe_from_start();
        let mut follower = Follower::new(job.initial_debate().clone(), job.initial_seq(), manner);
        screen.note(&format!("[INFO] Debate {}", job.id()));
        let mut draft = Draft::default();
        let mut interrupt = std::pin::pin!(wait_for_shutdown());
        let mut stopwatch = Stopwatch::until(self.limit);
        let stop = loop {
            tokio::select! {
                more = follower.step(&mut updates, self.desk.archive(), screen) => match more {
                    Err(Failed::Pipe) => break Stop::Unread,
                    more => {
                        more?;
                    }
                },
                step = job.wait_idle() => {
                    let step = match step {
                        Err(error) => break taken_over(error)?,
                        Ok(step) => step,
                    };
                    follower.drain(&mut updates, self.desk.archive(), screen)?;
                    let at = At { hand: job.handle(), id: job.id().to_owned() };
                    let done = tokio::select! {
                        done = self.needed(&at, &follower.debate, step, &mut draft, screen) => done,
                        error = job.wait_ended() => break taken_over(error)?,
                    };
                    match done {
                        Ok(Some(why)) => break why,
                        Ok(None) => {}
                        // The run knows why the command could not be delivered.
                        Err(Failed::Desk(AppError::Session(SessionError::NotRunning | SessionError::Log(_)))) => {
                            break taken_over(job.wait_ended().await)?;
                        }
                        Err(failed) => return Err(failed),
                    }
                }
                () = &mut interrupt => break Stop::Interrupted,
                due = stopwatch.due() => match due {
                    Due::End => break Stop::Late,
                    Due::Verdict => {
                        screen.warn("[WARN] The time is nearly over: on to the verdict.");
                        let because = Some("the time limit is near".to_owned());
                        let at = At { hand: job.handle(), id: job.id().to_owned() };
                        // Ignore the error: the debate may already be at the verdict, or over.
                        let _ = at.send(Command::Conclude { because }).await;
                    }
                },
            }
        };
        let id = job.id().to_owned();
        job.stop().await;
        let (read, over) = (!matches!(stop, Stop::Unread), matches!(stop, Stop::Over));
        let stopped = matches!(stop, Stop::Unread | Stop::Interrupted | Stop::TakenOver(_));
        if read {
            follower.drain(&mut updates, self.desk.archive(), screen)?;
        }
        self.told(&stop, &id, &draft, screen);
        if !read {
            return Ok(Played { exit: Exit::Stopped, stopped });
        }
        if over {
            self.settle(&id, &mut follower.debate, screen).await?;
        }
        if manner == Manner::Json {
            let view = view(&follower.debate);
            screen.json_line(&output::Result { kind: "result", debate: &view })?;
        } else if self.summary {
            finish(&follower.debate, self.shown, screen)?;
        }
        Ok(Played { exit: exit::of(&follower.debate), stopped })
    }

    /// Prints why it stopped, and the command to resume.
    fn told(&self, stop: &Stop, id: &str, draft: &Draft, screen: &mut Screen) {
        match stop {
            Stop::Over => {}
            Stop::Needs(what) => screen.warn(&format!("[WARN] {what}")),
            Stop::Unread => screen.warn("[WARN] Stopped: nobody reads the output any more."),
            Stop::Late => {
                screen.warn("[WARN] The time is over. Nothing that was recorded is lost.");
            }
            Stop::Interrupted => screen.warn("[WARN] Stopped. Nothing that was recorded is lost."),
            Stop::TakenOver(by) => {
                screen.warn(&format!(
                    "[WARN] {by} has taken this debate over. Nothing that was recorded is lost."
                ));
                if !draft.text.is_empty() {
                    self.keep(draft, id, screen);
                }
            }
        }
        match stop {
            Stop::Over => {}
            Stop::TakenOver(_) => screen.warn(&format!(
                "Watch it with: debate watch {id}\nTake it back with: debate resume {id} --take-over"
            )),
            _ => match self.onward {
                Some(onward) => screen.warn(onward),
                None => screen.warn(&format!("Go on with: debate resume {id}")),
            },
        }
    }

    /// Handles the step a debate waits for: reads a reply or a confirmation. Returns why to stop,
    /// if it cannot be done here.
    async fn needed(
        &self,
        at: &At,
        debate: &Debate,
        step: Step,
        draft: &mut Draft,
        screen: &mut Screen,
    ) -> Result<Option<Stop>, Failed> {
        match step {
            Step::Done | Step::Close(_) => Ok(Some(Stop::Over)),
            Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => Ok(Some(Stop::Needs(
                "The budget is spent. Allow more when you resume, with `--max-cost X`, `--max-tokens N` \
                 or `--max-minutes M`."
                    .into(),
            ))),
            Step::Hold { next, pause: PauseReason::UserHold } => self.held(at, debate, next, screen).await,
            Step::Speak { awaited, .. } => {
                let Some(cue) = awaited.first().copied() else { return Ok(None) };
                let seat = debate.seat(cue);
                match person::answer(debate, cue, draft, self.config, screen).await? {
                    Answer::Said(text) => {
                        draft.text.clone_from(&text);
                        let reply = Command::Reply { take: debate.take_number(), cue, text };
                        let done = at.send(reply).await;
                        if let Err(SessionError::Illegal(_) | SessionError::TurnTaken(_)) = done {
                            screen.note(ELSEWHERE);
                            self.keep(draft, &at.id, screen);
                            *draft = Draft::default();
                            return Ok(None);
                        }
                        let given_up = replied(done, draft, screen)?;
                        if given_up.is_some() {
                            self.keep(draft, &at.id, screen);
                        }
                        Ok(given_up)
                    }
                    Answer::Interrupted => Ok(Some(Stop::Interrupted)),
                    Answer::Nobody => Ok(Some(Stop::Needs(unanswered(seat)))),
                }
            }
        }
    }

    /// Saves a reply that was not accepted to the drafts folder.
    fn keep(&self, draft: &Draft, id: &str, screen: &mut Screen) {
        let folder = self.config.home.join("drafts");
        let path = folder.join(format!("{}.md", id.replace(':', "-")));
        let kept =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &draft.text));
        if kept.is_ok() {
            screen.warn(&format!("[WARN] What you wrote is kept in {}", path.display()));
        }
    }

    async fn held(
        &self,
        at: &At,
        debate: &Debate,
        next: Cue,
        screen: &mut Screen,
    ) -> Result<Option<Stop>, Failed> {
        let on = Command::Continue { before: next.position() };
        let asked = Asked::of(debate, next);
        if asked == Asked::Plan {
            screen.note(&printable(&plan(debate)));
        }
        if let (Asked::Dialogue, Some(suggestion)) = (&asked, ending_advice(debate)) {
            screen.note(&format!("[INFO] {}", printable(&suggestion)));
        }
        if self.yes {
            // Without a user, an open-ended act ends after the requested rounds.
            let over = asked == Asked::Dialogue && next.round > debate.rounds();
            let because = Some("the rounds asked for are over".to_owned());
            at.send(if over { Command::Conclude { because } } else { on }).await?;
            return Ok(None);
        }
        let what = match next.round {
            0 => "the verdict".to_owned(),
            round => format!("round {round}"),
        };
        let answer = loop {
            let answer = match person::ask(&asked.question(&what), screen).await? {
                Answer::Interrupted => return Ok(Some(Stop::Interrupted)),
                Answer::Nobody if asked == Asked::Plan => {
                    let hint = "The plan waits for your word. `--yes` starts without asking.";
                    return Ok(Some(Stop::Needs(hint.into())));
                }
                Answer::Nobody => {
                    let hint = format!("Paused before {what}. `--yes` goes on without asking.");
                    return Ok(Some(Stop::Needs(hint)));
                }
                Answer::Said(answer) => answer,
            };
            match asked.misunderstood(&answer) {
                Some(hint) => screen.warn(hint),
                None => break answer,
            }
        };
        let (word, rest) = answer.split_once(' ').unwrap_or((answer.as_str(), ""));
        let rest = rest.trim();
        let talking = asked == Asked::Dialogue;
        match (word.to_lowercase().as_str(), rest) {
            ("n" | "no", "") if asked == Asked::Plan => {
                at.send(Command::Cancel { because: None }).await?;
                return Ok(None);
            }
            ("n" | "no", "") => return Ok(Some(Stop::Needs(format!("Paused before {what}.")))),
            ("", _) if asked == Asked::Imported => {
                return Ok(Some(Stop::Needs(format!("Paused before {what}."))));
            }
            ("" | "y" | "yes", "") => {}
            ("end", "") if talking => {
                at.send(Command::Conclude { because: None }).await?;
                return Ok(None);
            }
            ("steer", topic) if talking && !topic.is_empty() => {
                for command in Command::steer(topic.into()) {
                    at.send(command).await?;
                }
            }
            ("deepen", about) if talking && !about.is_empty() => {
                at.send(Command::deepen(about)).await?;
            }
            _ => at.send(Command::Interject { text: answer.clone() }).await?,
        }
        match at.send(on).await {
            Err(SessionError::Illegal(_)) => screen.note(ELSEWHERE),
            done => done?,
        }
        Ok(None)
    }

    /// After a dialogue, asks for the user's decision and whether to keep the record.
    async fn settle(
        &self,
        id: &str,
        debate: &mut Debate,
        screen: &mut Screen,
    ) -> Result<(), Failed> {
        let talked = debate.find_seat(Role::Lead).is_some();
        if !talked || self.yes || self.shown.json || debate.outcome().is_none() {
            return Ok(());
        }
        let mut wishes = vec![];
        let ask = "What do you decide? (empty: nothing yet; nothing is changed without your word) ";
        if let (None, Answer::Said(text)) = (debate.decision(), person::ask(ask, screen).await?)
            && !text.is_empty()
        {
            wishes.push(Command::Decide { text });
        }
        while debate.keep_record().is_none()
            && let Answer::Said(text) =
                person::ask("Keep the written record? [Y/n] ", screen).await?
        {
            let keep = match text.to_lowercase().as_str() {
                "" | "y" | "yes" => true,
                "n" | "no" => false,
                _ => continue,
            };
            wishes.push(Command::Keep { keep });
            break;
        }
        if !wishes.is_empty() {
            let job = self.desk.resume(id, &place::here(self.config), LeaseMode::IfFree, wishes)?;
            job.stop().await;
            *debate = self.desk.read(id)?.1;
        }
        Ok(())
    }
}

/// Sends commands to the running debate.
struct At {
    hand: RunHandle,
    id: String,
}

impl At {
    async fn send(&self, command: Command) -> Result<(), SessionError> {
        self.hand.send(vec![command]).await
    }
}

/// Maps a lost lease to a stop reason. Any other error is returned.
fn taken_over(error: SessionError) -> Result<Stop, Failed> {
    match error {
        SessionError::Log(LogError::LeaseLost { by }) => Ok(Stop::TakenOver(by)),
        other => Err(AppError::Session(other).into()),
    }
}

/// Message for a reply that did not come, with other participants to use.
fn unanswered(seat: &Seat) -> String {
    let name = &seat.name;
    if seat.voice != Participant::Host {
        return format!("`{name}` is awaited, and nobody answered.");
    }
    format!(
        "`{name}` is awaited, and nobody answered: it is played by the model of a client. Go on there, \
         or hand it on with `--seat {name}=claude` or `--seat {name}=human`."
    )
}

/// Question to the user at a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Confirm the plan before the start.
    Plan,
    /// Continue an imported debate?
    Imported,
    /// Next step in an open-ended dialogue, which only the user ends.
    Dialogue,
    /// Continue with the next round?
    Round,
}

impl Asked {
    fn of(debate: &Debate, next: Cue) -> Asked {
        let begun = debate.turns().next().is_some();
        match debate.setup().act(next).rounds {
            _ if debate.setup().origin != Origin::Here => Asked::Imported,
            _ if !begun && debate.holds().contains(&HoldPoint::Start) => Asked::Plan,
            Rounds::Open => Asked::Dialogue,
            _ => Asked::Round,
        }
    }

    /// Hint for an answer that would otherwise be misparsed as a remark.
    fn misunderstood(self, answer: &str) -> Option<&'static str> {
        let word = answer.to_lowercase();
        match self {
            Asked::Plan if !["", "y", "yes", "n", "no"].contains(&word.as_str()) => Some(
                "Yes or no: nothing is asked before you have said so. To change the plan, say no \
                 and run it again with other flags (`debate run --help`).",
            ),
            Asked::Dialogue if ["deepen", "steer"].contains(&word.as_str()) => {
                Some("Say what, as in `deepen the locks` or `steer Should we shard?`.")
            }
            _ => None,
        }
    }

    fn question(self, what: &str) -> String {
        match self {
            Asked::Plan => "Start? [Y/n] ".into(),
            Asked::Imported => {
                format!("This debate was imported. Go on with {what}? [y/N/remark] ")
            }
            Asked::Dialogue => format!(
                "Go on with {what}? [Enter: let them go on / a remark / deepen X / steer NEW TOPIC / \
                 end / n: later] "
            ),
            Asked::Round => format!("Go on with {what}? [Y/n/remark] "),
        }
    }
}

/// Prints the result as JSON or text, and returns the exit code.
pub(super) fn finish(debate: &Debate, shown: Shown, screen: &mut Screen) -> Result<Exit, Failed> {
    if shown.json {
        screen.json(&view(debate))?;
    } else {
        let text = printable(&summary(debate));
        screen.print(&format!("\n{}\n", text.trim_end()))?;
    }
    Ok(exit::of(debate))
}

/// Printed when the awaited reply has already come from another process.
const ELSEWHERE: &str = "[INFO] Somebody else has answered meanwhile, from another program.";

/// Maximum attempts at one reply before the debate is paused.
const TRIES: u8 = 3;

/// Handles a rejected reply: on a terminal the user may retry with their draft, otherwise the run
/// stops.
fn replied(
    done: Result<(), SessionError>,
    draft: &mut Draft,
    screen: &mut Screen,
) -> Result<Option<Stop>, Failed> {
    match done {
        Ok(()) => {
            *draft = Draft::default();
            Ok(None)
        }
        Err(error @ (SessionError::ReplyRejected(_) | SessionError::ReplyUnparsable(_))) => {
            draft.tries += 1;
            draft.why = error.to_string();
            screen.warn(&format!("[WARN] {error}"));
            let again = someone_there(&std::io::stdin()) && draft.tries < TRIES;
            Ok((!again).then(|| Stop::Needs("The reply must be mended.".into())))
        }
        Err(other) => Err(AppError::Session(other).into()),
    }
}
