//! Event loop of a debate in the terminal: runs it until it ends, needs input that is not
//! available, is interrupted, or reaches its deadline. The main type is [`DebatePlayer`].
use super::args::DisplayArgs;
use super::deadline::{DeadlineStage, DeadlineTimer};
use super::exit::{self, CliError, Exit};
use super::follow::{FollowMode, Follower};
use super::human_input::{self, HumanInput, ReplyDraft};
use super::output;
use super::screen::{Screen, StdStream, is_interactive, stderr_is_terminal};
use super::workspace;
use crate::config::Config;
use crate::debate::status::ending_advice;
use crate::debate::{
    Cue, Debate, HoldPoint, Origin, Participant, PauseReason, Role, Rounds, Seat, Step,
};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{
    App, AppError, Command, DebateRun, LeaseMode, LogError, RunHandle, SessionError,
};
use crate::report::{
    plan::render_plan, sanitize::strip_control_chars, summary::render_summary, view::debate_view,
};
use tokio::time::Instant;

/// Settings of one run of the event loop.
pub(super) struct DebatePlayer<'a> {
    pub(super) config: &'a Config,
    pub(super) app: &'a App,
    pub(super) assume_yes: bool,
    pub(super) display: DisplayArgs,
    /// Whether to print the result at the end.
    pub(super) print_summary: bool,
    /// When to stop, with whatever is recorded by then.
    pub(super) deadline: Option<Instant>,
    /// Replaces the default hint on how to resume.
    pub(super) resume_hint: Option<&'static str>,
}

/// Result of the event loop.
pub(super) struct PlayResult {
    pub(super) exit: Exit,
    /// Whether the user, a closed pipe or another process stopped it.
    pub(super) stopped: bool,
}

/// Why the event loop stopped.
enum StopReason {
    Finished,
    /// Input is needed that is not available; with a message.
    NeedsInput(String),
    /// Ctrl-C
    Interrupted,
    /// Another process has taken the lease; with its name.
    TakenOver(String),
    /// The reader of stdout has closed the pipe.
    OutputClosed,
    /// The deadline has passed.
    TimedOut,
}

impl DebatePlayer<'_> {
    pub(super) async fn play(&self, job: DebateRun, screen: &mut Screen) -> Result<Exit, CliError> {
        Ok(self.play_until_stop(job, screen).await?.exit)
    }

    /// Like `play`, and also returns whether it was stopped.
    pub(super) async fn play_until_stop(
        &self,
        mut job: DebateRun,
        screen: &mut Screen,
    ) -> Result<PlayResult, CliError> {
        let manner = match (self.display.json, self.display.follow) {
            (true, true) => FollowMode::Json,
            (false, true) => FollowMode::Stream(StdStream::Stdout),
            (false, false) if stderr_is_terminal() => FollowMode::Stream(StdStream::Stderr),
            _ => FollowMode::Progress,
        };
        let mut updates = job.subscribe_from_start();
        let mut follower = Follower::new(job.initial_debate().clone(), job.initial_seq(), manner);
        screen.note(&format!("[INFO] Debate {}", job.id()));
        let mut draft = ReplyDraft::default();
        let mut interrupt = std::pin::pin!(wait_for_shutdown());
        let mut stopwatch = DeadlineTimer::new(self.deadline);
        let stop = loop {
            tokio::select! {
                more = follower.show_next(&mut updates, self.app.archive(), screen) => match more {
                    Err(CliError::BrokenPipe) => break StopReason::OutputClosed,
                    more => {
                        more?;
                    }
                },
                step = job.wait_idle() => {
                    let step = match step {
                        Err(error) => break lease_loss_or_error(error)?,
                        Ok(step) => step,
                    };
                    follower.drain(&mut updates, self.app.archive(), screen)?;
                    let at = CommandSender { handle: job.handle(), id: job.id().to_owned() };
                    let done = tokio::select! {
                        done = self.handle_step(&at, &follower.debate, step, &mut draft, screen) => done,
                        error = job.wait_ended() => break lease_loss_or_error(error)?,
                    };
                    match done {
                        Ok(Some(why)) => break why,
                        Ok(None) => {}
                        // The run knows why the command could not be delivered.
                        Err(CliError::App(AppError::Session(SessionError::NotRunning | SessionError::Log(_)))) => {
                            break lease_loss_or_error(job.wait_ended().await)?;
                        }
                        Err(failed) => return Err(failed),
                    }
                }
                () = &mut interrupt => break StopReason::Interrupted,
                due = stopwatch.next_stage() => match due {
                    DeadlineStage::End => break StopReason::TimedOut,
                    DeadlineStage::Verdict => {
                        screen.warn("[WARN] The time is nearly over: on to the verdict.");
                        let because = Some("the time limit is near".to_owned());
                        let at = CommandSender { handle: job.handle(), id: job.id().to_owned() };
                        // Ignore the error: the debate may already be at the verdict, or over.
                        let _ = at.send(Command::Conclude { because }).await;
                    }
                },
            }
        };
        let id = job.id().to_owned();
        job.stop().await;
        let (read, over) =
            (!matches!(stop, StopReason::OutputClosed), matches!(stop, StopReason::Finished));
        let stopped = matches!(
            stop,
            StopReason::OutputClosed | StopReason::Interrupted | StopReason::TakenOver(_)
        );
        if read {
            follower.drain(&mut updates, self.app.archive(), screen)?;
        }
        self.print_stop_reason(&stop, &id, &draft, screen);
        if !read {
            return Ok(PlayResult { exit: Exit::Stopped, stopped });
        }
        if over {
            self.ask_decision(&id, &mut follower.debate, screen).await?;
        }
        if manner == FollowMode::Json {
            let view = debate_view(&follower.debate);
            screen.print_json_line(&output::ResultLine { kind: "result", debate: &view })?;
        } else if self.print_summary {
            print_result(&follower.debate, self.display, screen)?;
        }
        Ok(PlayResult { exit: exit::exit_for_debate(&follower.debate), stopped })
    }

    /// Prints why it stopped, and the command to resume.
    fn print_stop_reason(
        &self,
        stop: &StopReason,
        id: &str,
        draft: &ReplyDraft,
        screen: &mut Screen,
    ) {
        match stop {
            StopReason::Finished => {}
            StopReason::NeedsInput(what) => screen.warn(&format!("[WARN] {what}")),
            StopReason::OutputClosed => {
                screen.warn("[WARN] Stopped: nobody reads the output any more.")
            }
            StopReason::TimedOut => {
                screen.warn("[WARN] The time is over. Nothing that was recorded is lost.");
            }
            StopReason::Interrupted => {
                screen.warn("[WARN] Stopped. Nothing that was recorded is lost.")
            }
            StopReason::TakenOver(by) => {
                screen.warn(&format!(
                    "[WARN] {by} has taken this debate over. Nothing that was recorded is lost."
                ));
                if !draft.text.is_empty() {
                    self.save_draft(draft, id, screen);
                }
            }
        }
        match stop {
            StopReason::Finished => {}
            StopReason::TakenOver(_) => screen.warn(&format!(
                "Watch it with: debate watch {id}\nTake it back with: debate resume {id} --take-over"
            )),
            _ => match self.resume_hint {
                Some(onward) => screen.warn(onward),
                None => screen.warn(&format!("Go on with: debate resume {id}")),
            },
        }
    }

    /// Handles the step a debate waits for: reads a reply or a confirmation. Returns why to stop,
    /// if it cannot be done here.
    async fn handle_step(
        &self,
        at: &CommandSender,
        debate: &Debate,
        step: Step,
        draft: &mut ReplyDraft,
        screen: &mut Screen,
    ) -> Result<Option<StopReason>, CliError> {
        match step {
            Step::Done | Step::Close(_) => Ok(Some(StopReason::Finished)),
            Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => Ok(Some(StopReason::NeedsInput(
                "The budget is spent. Allow more when you resume, with `--max-cost X`, `--max-tokens N` \
                 or `--max-minutes M`."
                    .into(),
            ))),
            Step::Hold { next, pause: PauseReason::UserHold } => self.handle_hold(at, debate, next, screen).await,
            Step::Speak { awaited, .. } => {
                let Some(cue) = awaited.first().copied() else { return Ok(None) };
                let seat = debate.seat(cue);
                match human_input::read_reply(debate, cue, draft, self.config, screen).await? {
                    HumanInput::Text(text) => {
                        draft.text.clone_from(&text);
                        let reply = Command::Reply { take: debate.take_number(), cue, text };
                        let done = at.send(reply).await;
                        if let Err(SessionError::Illegal(_) | SessionError::TurnTaken(_)) = done {
                            screen.note(ANSWERED_ELSEWHERE);
                            self.save_draft(draft, &at.id, screen);
                            *draft = ReplyDraft::default();
                            return Ok(None);
                        }
                        let given_up = handle_reply_result(done, draft, screen)?;
                        if given_up.is_some() {
                            self.save_draft(draft, &at.id, screen);
                        }
                        Ok(given_up)
                    }
                    HumanInput::Interrupted => Ok(Some(StopReason::Interrupted)),
                    HumanInput::Unavailable => Ok(Some(StopReason::NeedsInput(missing_reply_message(seat)))),
                }
            }
        }
    }

    /// Saves a reply that was not accepted to the drafts folder.
    fn save_draft(&self, draft: &ReplyDraft, id: &str, screen: &mut Screen) {
        let folder = self.config.data_dir.join("drafts");
        let path = folder.join(format!("{}.md", id.replace(':', "-")));
        let kept =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &draft.text));
        if kept.is_ok() {
            screen.warn(&format!("[WARN] What you wrote is kept in {}", path.display()));
        }
    }

    async fn handle_hold(
        &self,
        at: &CommandSender,
        debate: &Debate,
        next: Cue,
        screen: &mut Screen,
    ) -> Result<Option<StopReason>, CliError> {
        let on = Command::Continue { before: next.position() };
        let asked = HoldQuestion::for_next_cue(debate, next);
        if asked == HoldQuestion::Plan {
            screen.note(&strip_control_chars(&render_plan(debate)));
        }
        if let (HoldQuestion::Dialogue, Some(suggestion)) = (&asked, ending_advice(debate)) {
            screen.note(&format!("[INFO] {}", strip_control_chars(&suggestion)));
        }
        if self.assume_yes {
            // Without a user, an open-ended act ends after the requested rounds.
            let over = asked == HoldQuestion::Dialogue && next.round > debate.rounds();
            let because = Some("the rounds asked for are over".to_owned());
            at.send(if over { Command::Conclude { because } } else { on }).await?;
            return Ok(None);
        }
        let what = match next.round {
            0 => "the verdict".to_owned(),
            round => format!("round {round}"),
        };
        let answer = loop {
            let answer = match human_input::ask_line(&asked.question(&what), screen).await? {
                HumanInput::Interrupted => return Ok(Some(StopReason::Interrupted)),
                HumanInput::Unavailable if asked == HoldQuestion::Plan => {
                    let hint = "The plan waits for your word. `--yes` starts without asking.";
                    return Ok(Some(StopReason::NeedsInput(hint.into())));
                }
                HumanInput::Unavailable => {
                    let hint = format!("Paused before {what}. `--yes` goes on without asking.");
                    return Ok(Some(StopReason::NeedsInput(hint)));
                }
                HumanInput::Text(answer) => answer,
            };
            match asked.invalid_answer_hint(&answer) {
                Some(hint) => screen.warn(hint),
                None => break answer,
            }
        };
        let (word, rest) = answer.split_once(' ').unwrap_or((answer.as_str(), ""));
        let rest = rest.trim();
        let talking = asked == HoldQuestion::Dialogue;
        match (word.to_lowercase().as_str(), rest) {
            ("n" | "no", "") if asked == HoldQuestion::Plan => {
                at.send(Command::Cancel { because: None }).await?;
                return Ok(None);
            }
            ("n" | "no", "") => {
                return Ok(Some(StopReason::NeedsInput(format!("Paused before {what}."))));
            }
            ("", _) if asked == HoldQuestion::Imported => {
                return Ok(Some(StopReason::NeedsInput(format!("Paused before {what}."))));
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
            Err(SessionError::Illegal(_)) => screen.note(ANSWERED_ELSEWHERE),
            done => done?,
        }
        Ok(None)
    }

    /// After a dialogue, asks for the user's decision and whether to keep the record.
    async fn ask_decision(
        &self,
        id: &str,
        debate: &mut Debate,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let talked = debate.find_seat(Role::Lead).is_some();
        if !talked || self.assume_yes || self.display.json || debate.outcome().is_none() {
            return Ok(());
        }
        let mut wishes = vec![];
        let ask = "What do you decide? (empty: nothing yet; nothing is changed without your word) ";
        if let (None, HumanInput::Text(text)) =
            (debate.decision(), human_input::ask_line(ask, screen).await?)
            && !text.is_empty()
        {
            wishes.push(Command::Decide { text });
        }
        while debate.keep_record().is_none()
            && let HumanInput::Text(text) =
                human_input::ask_line("Keep the written record? [Y/n] ", screen).await?
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
            let job = self.app.resume(
                id,
                &workspace::current_workspace(self.config),
                LeaseMode::IfFree,
                wishes,
            )?;
            job.stop().await;
            *debate = self.app.read(id)?.1;
        }
        Ok(())
    }
}

/// Sends commands to the running debate.
struct CommandSender {
    handle: RunHandle,
    id: String,
}

impl CommandSender {
    async fn send(&self, command: Command) -> Result<(), SessionError> {
        self.handle.send(vec![command]).await
    }
}

/// Maps a lost lease to a stop reason. Any other error is returned.
fn lease_loss_or_error(error: SessionError) -> Result<StopReason, CliError> {
    match error {
        SessionError::Log(LogError::LeaseLost { by }) => Ok(StopReason::TakenOver(by)),
        other => Err(AppError::Session(other).into()),
    }
}

/// Message for a reply that did not come, with other participants to use.
fn missing_reply_message(seat: &Seat) -> String {
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
enum HoldQuestion {
    /// Confirm the plan before the start.
    Plan,
    /// Continue an imported debate?
    Imported,
    /// Next step in an open-ended dialogue, which only the user ends.
    Dialogue,
    /// Continue with the next round?
    Round,
}

impl HoldQuestion {
    fn for_next_cue(debate: &Debate, next: Cue) -> HoldQuestion {
        let begun = debate.turns().next().is_some();
        match debate.setup().act(next).rounds {
            _ if debate.setup().origin != Origin::Here => HoldQuestion::Imported,
            _ if !begun && debate.holds().contains(&HoldPoint::Start) => HoldQuestion::Plan,
            Rounds::Open => HoldQuestion::Dialogue,
            _ => HoldQuestion::Round,
        }
    }

    /// Hint for an answer that would otherwise be misparsed as a remark.
    fn invalid_answer_hint(self, answer: &str) -> Option<&'static str> {
        let word = answer.to_lowercase();
        match self {
            HoldQuestion::Plan if !["", "y", "yes", "n", "no"].contains(&word.as_str()) => Some(
                "Yes or no: nothing is asked before you have said so. To change the plan, say no \
                 and run it again with other flags (`debate run --help`).",
            ),
            HoldQuestion::Dialogue if ["deepen", "steer"].contains(&word.as_str()) => {
                Some("Say what, as in `deepen the locks` or `steer Should we shard?`.")
            }
            _ => None,
        }
    }

    fn question(self, what: &str) -> String {
        match self {
            HoldQuestion::Plan => "Start? [Y/n] ".into(),
            HoldQuestion::Imported => {
                format!("This debate was imported. Go on with {what}? [y/N/remark] ")
            }
            HoldQuestion::Dialogue => format!(
                "Go on with {what}? [Enter: let them go on / a remark / deepen X / steer NEW TOPIC / \
                 end / n: later] "
            ),
            HoldQuestion::Round => format!("Go on with {what}? [Y/n/remark] "),
        }
    }
}

/// Prints the result as JSON or text, and returns the exit code.
pub(super) fn print_result(
    debate: &Debate,
    shown: DisplayArgs,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    if shown.json {
        screen.print_json(&debate_view(debate))?;
    } else {
        let text = strip_control_chars(&render_summary(debate));
        screen.print(&format!("\n{}\n", text.trim_end()))?;
    }
    Ok(exit::exit_for_debate(debate))
}

/// Printed when the awaited reply has already come from another process.
const ANSWERED_ELSEWHERE: &str =
    "[INFO] Somebody else has answered meanwhile, from another program.";

/// Maximum attempts at one reply before the debate is paused.
const MAX_REPLY_ATTEMPTS: u8 = 3;

/// Handles a rejected reply: on a terminal the user may retry with their draft, otherwise the run
/// stops.
fn handle_reply_result(
    done: Result<(), SessionError>,
    draft: &mut ReplyDraft,
    screen: &mut Screen,
) -> Result<Option<StopReason>, CliError> {
    match done {
        Ok(()) => {
            *draft = ReplyDraft::default();
            Ok(None)
        }
        Err(error @ (SessionError::ReplyRejected(_) | SessionError::ReplyUnparsable(_))) => {
            draft.attempts += 1;
            draft.rejection = error.to_string();
            screen.warn(&format!("[WARN] {error}"));
            let again = is_interactive(&std::io::stdin()) && draft.attempts < MAX_REPLY_ATTEMPTS;
            Ok((!again).then(|| StopReason::NeedsInput("The reply must be mended.".into())))
        }
        Err(other) => Err(AppError::Session(other).into()),
    }
}
