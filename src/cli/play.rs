//! Event loop of a debate in the terminal: runs it until it ends, needs input that is not
//! available, is interrupted, or reaches its deadline. The main type is [`DebatePlayer`]. The
//! questions at a pause are in `hold`.
mod hold;

use super::args::DisplayArgs;
use super::deadline::{DeadlineStage, DeadlineTimer};
use super::exit::{self, CliError, Exit};
use super::follow::{FollowMode, Follower};
use super::human_input::{self, HumanInput, ReplyDraft};
use super::output;
use super::screen::{Screen, StdStream, is_interactive, stderr_is_terminal};
use crate::app::{App, AppError};
use crate::config::Config;
use crate::debate::{Debate, Participant, PauseReason, Seat, Step};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{Command, DebateRun, LogError, RunHandle, SessionError};
use crate::report::{sanitize::strip_control_chars, summary::render_summary, view::debate_view};
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

impl StopReason {
    /// Name for the log.
    fn as_str(&self) -> &'static str {
        match self {
            StopReason::Finished => "finished",
            StopReason::NeedsInput(_) => "needs input",
            StopReason::Interrupted => "interrupted",
            StopReason::TakenOver(_) => "lease taken over",
            StopReason::OutputClosed => "output closed",
            StopReason::TimedOut => "deadline passed",
        }
    }
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
        let mode = match (self.display.json, self.display.follow) {
            (true, true) => FollowMode::Json,
            (false, true) => FollowMode::Stream(StdStream::Stdout),
            (false, false) if stderr_is_terminal() => FollowMode::Stream(StdStream::Stderr),
            _ => FollowMode::Progress,
        };
        let mut updates = job.subscribe_from_start();
        let mut follower = Follower::new(job.initial_debate().clone(), job.initial_seq(), mode);
        screen.note(&format!("[INFO] Debate {}", job.id()));
        let mut draft = ReplyDraft::default();
        let mut interrupt = std::pin::pin!(wait_for_shutdown());
        let mut deadline_timer = DeadlineTimer::new(self.deadline);
        let stop = loop {
            tokio::select! {
                received = updates.recv() => {
                    let events = &*self.app.archive().events;
                    match follower.show_received(received, events, screen).await {
                        Err(CliError::BrokenPipe) => break StopReason::OutputClosed,
                        result => result?,
                    }
                }
                step = job.wait_idle() => {
                    let step = match step {
                        Err(error) => break lease_loss_or_error(error)?,
                        Ok(step) => step,
                    };
                    follower.drain(&mut updates, &*self.app.archive().events, screen).await?;
                    let sender = CommandSender { handle: job.handle(), id: job.id().to_owned() };
                    let handling =
                        self.handle_step(&sender, &follower.debate, step, &mut draft, screen);
                    let handled = tokio::select! {
                        handled = handling => handled,
                        error = job.wait_ended() => break lease_loss_or_error(error)?,
                    };
                    match handled {
                        Ok(Some(reason)) => break reason,
                        Ok(None) => {}
                        // The run knows why the command could not be delivered.
                        Err(CliError::App(AppError::Session(
                            SessionError::NotRunning | SessionError::Log(_),
                        ))) => {
                            break lease_loss_or_error(job.wait_ended().await)?;
                        }
                        Err(cli_error) => return Err(cli_error),
                    }
                }
                () = &mut interrupt => break StopReason::Interrupted,
                stage = deadline_timer.next_stage() => match stage {
                    DeadlineStage::End => break StopReason::TimedOut,
                    DeadlineStage::Verdict => {
                        tracing::info!(debate = %job.id(), "deadline near, on to the verdict");
                        screen.warn("[WARN] The time is nearly over: on to the verdict.");
                        let because = Some("the time limit is near".to_owned());
                        let sender = CommandSender { handle: job.handle(), id: job.id().to_owned() };
                        // Ignore the error: the debate may already be at the verdict, or over.
                        let _ = sender.send(Command::Conclude { because }).await;
                    }
                },
            }
        };
        let id = job.id().to_owned();
        tracing::info!(debate = %id, reason = stop.as_str(), "debate stopped");
        job.stop().await;
        let (output_open, finished) =
            (!matches!(stop, StopReason::OutputClosed), matches!(stop, StopReason::Finished));
        let stopped = matches!(
            stop,
            StopReason::OutputClosed | StopReason::Interrupted | StopReason::TakenOver(_)
        );
        if output_open {
            follower.drain(&mut updates, &*self.app.archive().events, screen).await?;
        }
        self.print_stop_reason(&stop, &id, &draft, screen);
        if !output_open {
            return Ok(PlayResult { exit: Exit::Stopped, stopped });
        }
        if finished {
            self.ask_decision(&id, &mut follower.debate, screen).await?;
        }
        if mode == FollowMode::Json {
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
            StopReason::NeedsInput(message) => screen.warn(&format!("[WARN] {message}")),
            StopReason::OutputClosed => {
                screen.warn("[WARN] Stopped: nobody reads the output any more.");
            }
            StopReason::TimedOut => {
                screen.warn("[WARN] The time is over. Nothing that was recorded is lost.");
            }
            StopReason::Interrupted => {
                screen.warn("[WARN] Stopped. Nothing that was recorded is lost.");
            }
            StopReason::TakenOver(holder) => {
                screen.warn(&format!(
                    "[WARN] {holder} has taken this debate over. Nothing that was recorded is lost."
                ));
                if !draft.text.is_empty() {
                    self.save_draft(draft, id, screen);
                }
            }
        }
        match stop {
            StopReason::Finished => {}
            StopReason::TakenOver(_) => screen.warn(&format!(
                "Watch it with: debate watch {id}\n\
                 Take it back with: debate resume {id} --take-over"
            )),
            _ => match self.resume_hint {
                Some(hint) => screen.warn(hint),
                None => screen.warn(&format!("Go on with: debate resume {id}")),
            },
        }
    }

    /// Handles the step a debate waits for: reads a reply or a confirmation. Returns why to stop,
    /// if it cannot be done here.
    async fn handle_step(
        &self,
        sender: &CommandSender,
        debate: &Debate,
        step: Step,
        draft: &mut ReplyDraft,
        screen: &mut Screen,
    ) -> Result<Option<StopReason>, CliError> {
        match step {
            Step::Done | Step::Close(_) => Ok(Some(StopReason::Finished)),
            Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
                Ok(Some(StopReason::NeedsInput(BUDGET_SPENT.into())))
            }
            Step::Hold { next, pause: PauseReason::UserHold } => {
                self.handle_hold(sender, debate, next, screen).await
            }
            Step::Speak { awaited, .. } => {
                let Some(cue) = awaited.first().copied() else { return Ok(None) };
                let seat = debate.seat(cue);
                match human_input::read_reply(debate, cue, draft, self.config, screen).await? {
                    HumanInput::Text(text) => {
                        draft.text.clone_from(&text);
                        let reply = Command::Reply { take: debate.take_number(), cue, text };
                        let result = sender.send(reply).await;
                        if let Err(SessionError::Illegal(_) | SessionError::TurnTaken(_)) = result {
                            screen.note(ANSWERED_ELSEWHERE);
                            self.save_draft(draft, &sender.id, screen);
                            *draft = ReplyDraft::default();
                            return Ok(None);
                        }
                        let stop_reason = handle_reply_result(result, draft, screen)?;
                        if stop_reason.is_some() {
                            self.save_draft(draft, &sender.id, screen);
                        }
                        Ok(stop_reason)
                    }
                    HumanInput::Interrupted => Ok(Some(StopReason::Interrupted)),
                    HumanInput::Unavailable => {
                        Ok(Some(StopReason::NeedsInput(missing_reply_message(seat))))
                    }
                }
            }
        }
    }

    /// Saves a reply that was not accepted to the drafts folder.
    fn save_draft(&self, draft: &ReplyDraft, id: &str, screen: &mut Screen) {
        let folder = self.config.data_dir.join("drafts");
        let path = folder.join(format!("{}.md", id.replace(':', "-")));
        let saved =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &draft.text));
        if saved.is_ok() {
            screen.warn(&format!("[WARN] What you wrote is kept in {}", path.display()));
        }
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
        SessionError::Log(LogError::LeaseLost { by: holder }) => Ok(StopReason::TakenOver(holder)),
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
        "`{name}` is awaited, and nobody answered: it is played by the model of a client. Go on \
         there, or hand it on with `--seat {name}=claude` or `--seat {name}=human`."
    )
}

/// Prints the result as JSON or text, and returns the exit code.
pub(super) fn print_result(
    debate: &Debate,
    display: DisplayArgs,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    if display.json {
        screen.print_json(&debate_view(debate))?;
    } else {
        let text = strip_control_chars(&render_summary(debate));
        screen.print(&format!("\n{}\n", text.trim_end()))?;
    }
    Ok(exit::exit_for_debate(debate))
}

/// Printed when the awaited reply has already come from another process.
const ANSWERED_ELSEWHERE: &str = "[INFO] The answer has already come from another program.";

/// Printed when the debate is held because its budget is exhausted.
const BUDGET_SPENT: &str = "The budget is spent. Allow more when you resume, with `--max-cost X`, \
                            `--max-tokens N` or `--max-minutes M`.";

/// Maximum attempts at one reply before the debate is paused.
const MAX_REPLY_ATTEMPTS: u8 = 3;

/// Handles a rejected reply: on a terminal the user may retry with their draft, otherwise the run
/// stops.
fn handle_reply_result(
    result: Result<(), SessionError>,
    draft: &mut ReplyDraft,
    screen: &mut Screen,
) -> Result<Option<StopReason>, CliError> {
    match result {
        Ok(()) => {
            *draft = ReplyDraft::default();
            Ok(None)
        }
        Err(error @ (SessionError::ReplyRejected(_) | SessionError::ReplyUnparsable(_))) => {
            draft.attempts += 1;
            draft.rejection = error.to_string();
            tracing::info!(attempt = draft.attempts, "reply refused");
            screen.warn(&format!("[WARN] {error}"));
            let may_retry = can_retry(draft.attempts, is_interactive(&std::io::stdin()));
            Ok((!may_retry).then(|| StopReason::NeedsInput("The reply must be mended.".into())))
        }
        Err(other) => Err(AppError::Session(other).into()),
    }
}

/// Whether the user can correct a reply that was rejected this many times.
fn can_retry(attempts: u8, on_terminal: bool) -> bool {
    on_terminal && attempts < MAX_REPLY_ATTEMPTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_at_a_reply_are_limited() {
        assert_eq!(MAX_REPLY_ATTEMPTS, 3);
        assert!(can_retry(MAX_REPLY_ATTEMPTS - 1, true));
        assert!(!can_retry(MAX_REPLY_ATTEMPTS, true));
        assert!(!can_retry(1, false), "a pipe cannot be asked again");
    }
}
