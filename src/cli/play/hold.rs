//! Questions to the user at a pause of a debate and at its end. Entry points: `handle_hold` and
//! `ask_decision`, called by `DebatePlayer` (`play`). The answers become commands to the session.
use super::{ANSWERED_ELSEWHERE, CommandSender, DebatePlayer, StopReason};
use crate::cli::exit::CliError;
use crate::cli::human_input::{self, HumanInput};
use crate::cli::screen::Screen;
use crate::cli::workspace;
use crate::debate::status::ending_advice;
use crate::debate::{Cue, Debate, HoldPoint, Origin, Role, Rounds};
use crate::engine::{Command, LeaseMode, SessionError};
use crate::report::plan::render_plan;
use crate::report::sanitize::strip_control_chars;

impl DebatePlayer<'_> {
    /// Asks the user what to do at a pause and sends the answer as commands. Returns why to stop
    /// if the user is away or does not want to continue.
    pub(super) async fn handle_hold(
        &self,
        sender: &CommandSender,
        debate: &Debate,
        next: Cue,
        screen: &mut Screen,
    ) -> Result<Option<StopReason>, CliError> {
        let continue_command = Command::Continue { before: next.position() };
        let hold_question = HoldQuestion::for_next_cue(debate, next);
        if hold_question == HoldQuestion::Plan {
            screen.note(&strip_control_chars(&render_plan(debate)));
        }
        if let (HoldQuestion::Dialogue, Some(suggestion)) = (&hold_question, ending_advice(debate))
        {
            screen.note(&format!("[INFO] {}", strip_control_chars(&suggestion)));
        }
        if self.assume_yes {
            // Without a user, an open-ended act ends after the requested rounds.
            let is_over = hold_question == HoldQuestion::Dialogue && next.round > debate.rounds();
            let because = Some("the rounds asked for are over".to_owned());
            sender
                .send(if is_over { Command::Conclude { because } } else { continue_command })
                .await?;
            return Ok(None);
        }
        let next_part = match next.round {
            0 => "the verdict".to_owned(),
            round => format!("round {round}"),
        };
        let answer = loop {
            let answer =
                match human_input::ask_line(&hold_question.question(&next_part), screen).await? {
                    HumanInput::Interrupted => return Ok(Some(StopReason::Interrupted)),
                    HumanInput::Unavailable if hold_question == HoldQuestion::Plan => {
                        let hint = "The plan waits for your word. `--yes` starts without asking.";
                        return Ok(Some(StopReason::NeedsInput(hint.into())));
                    }
                    HumanInput::Unavailable => {
                        let hint =
                            format!("Paused before {next_part}. `--yes` goes on without asking.");
                        return Ok(Some(StopReason::NeedsInput(hint)));
                    }
                    HumanInput::Text(answer) => answer,
                };
            match hold_question.invalid_answer_hint(&answer) {
                Some(hint) => screen.warn(hint),
                None => break answer,
            }
        };
        let (word, rest) = answer.split_once(' ').unwrap_or((answer.as_str(), ""));
        let rest = rest.trim();
        let in_dialogue = hold_question == HoldQuestion::Dialogue;
        match (word.to_lowercase().as_str(), rest) {
            ("n" | "no", "") if hold_question == HoldQuestion::Plan => {
                sender.send(Command::Cancel { because: None }).await?;
                return Ok(None);
            }
            ("n" | "no", "") => {
                return Ok(Some(StopReason::NeedsInput(format!("Paused before {next_part}."))));
            }
            ("", _) if hold_question == HoldQuestion::Imported => {
                return Ok(Some(StopReason::NeedsInput(format!("Paused before {next_part}."))));
            }
            ("" | "y" | "yes", "") => {}
            ("end", "") if in_dialogue => {
                sender.send(Command::Conclude { because: None }).await?;
                return Ok(None);
            }
            ("steer", topic) if in_dialogue && !topic.is_empty() => {
                for command in Command::steer(topic.into()) {
                    sender.send(command).await?;
                }
            }
            ("deepen", about) if in_dialogue && !about.is_empty() => {
                sender.send(Command::deepen(about)).await?;
            }
            _ => sender.send(Command::Interject { text: answer.clone() }).await?,
        }
        match sender.send(continue_command).await {
            Err(SessionError::Illegal(_)) => screen.note(ANSWERED_ELSEWHERE),
            result => result?,
        }
        Ok(None)
    }

    /// After a dialogue, asks for the user's decision and whether to keep the record.
    pub(super) async fn ask_decision(
        &self,
        id: &str,
        debate: &mut Debate,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let is_dialogue = debate.find_seat(Role::Lead).is_some();
        if !is_dialogue || self.assume_yes || self.display.json || debate.outcome().is_none() {
            return Ok(());
        }
        let mut commands = vec![];
        let question =
            "What do you decide? (empty: nothing yet; nothing is changed without your word) ";
        if let (None, HumanInput::Text(text)) =
            (debate.decision(), human_input::ask_line(question, screen).await?)
            && !text.is_empty()
        {
            commands.push(Command::Decide { text });
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
            commands.push(Command::Keep { keep });
            break;
        }
        if !commands.is_empty() {
            let job = self
                .app
                .resume(id, &workspace::current_workspace(self.config), LeaseMode::IfFree, commands)
                .await?;
            job.stop().await;
            *debate = self.app.read(id).await?.1;
        }
        Ok(())
    }
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
        let has_started = debate.turns().next().is_some();
        match debate.setup().act(next).rounds {
            _ if debate.setup().origin != Origin::Here => HoldQuestion::Imported,
            _ if !has_started && debate.holds().contains(&HoldPoint::Start) => HoldQuestion::Plan,
            Rounds::Open => HoldQuestion::Dialogue,
            _ => HoldQuestion::Round,
        }
    }

    /// Hint for an answer that would otherwise be misparsed as a remark.
    fn invalid_answer_hint(self, answer: &str) -> Option<&'static str> {
        let word = answer.to_lowercase();
        match self {
            HoldQuestion::Plan if !["", "y", "yes", "n", "no"].contains(&word.as_str()) => Some(
                "Answer yes or no: no model is called before that. To change the plan, answer no \
                 and run it again with other flags (`debate run --help`).",
            ),
            HoldQuestion::Dialogue if ["deepen", "steer"].contains(&word.as_str()) => {
                Some("Say what, as in `deepen the locks` or `steer Should we shard?`.")
            }
            _ => None,
        }
    }

    fn question(self, next_part: &str) -> String {
        match self {
            HoldQuestion::Plan => "Start? [Y/n] ".into(),
            HoldQuestion::Imported => {
                format!("This debate was imported. Go on with {next_part}? [y/N/remark] ")
            }
            HoldQuestion::Dialogue => format!(
                "Go on with {next_part}? [Enter: let them go on / a remark / deepen X / steer NEW TOPIC \
                 / end / n: later] "
            ),
            HoldQuestion::Round => format!("Go on with {next_part}? [Y/n/remark] "),
        }
    }
}
