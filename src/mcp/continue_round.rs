//! Handler of `continue_round`: records the host's speech, the user's remark and the user's
//! decision, then waits for the debate. Every step is idempotent, because clients retry calls.
use super::amend::parse_changes;
use super::args::ContinueRoundArgs;
use super::due_turn::{awaits_plan_confirmation, due_turn};
use super::error::{ToolError, debate_ended_error};
use super::mcp_server::McpServer;
use super::resume::ResolvedDebate;
use super::turn_id::parse_turn_id;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::app::AppError;
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::state::Remark;
use crate::debate::{Debate, PauseReason, Position, ReplyKind, Status, Step, next, status};
use crate::engine::{ArchiveError, Command, SessionError, Workspace};
use std::time::Duration;

/// Retries of a command while another process holds the lease.
const MAX_LEASE_RETRIES: u32 = 20;
/// Wait before each of these retries.
const LEASE_RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Characters of a rejected change that its error quotes.
const MAX_QUOTED_CHARS: usize = 200;

/// Values of the `decision` argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UserDecision {
    Continue,
    Confirm,
    Change,
    Steer,
    Deepen,
    Cancel,
    End,
    Keep,
    Discard,
    Retry,
    TakeOver,
    Import,
}

const USER_DECISIONS: [(&str, UserDecision); 12] = [
    ("continue", UserDecision::Continue),
    ("confirm", UserDecision::Confirm),
    ("change", UserDecision::Change),
    ("steer", UserDecision::Steer),
    ("deepen", UserDecision::Deepen),
    ("cancel", UserDecision::Cancel),
    ("end", UserDecision::End),
    ("keep", UserDecision::Keep),
    ("discard", UserDecision::Discard),
    ("retry", UserDecision::Retry),
    ("take_over", UserDecision::TakeOver),
    ("import", UserDecision::Import),
];

impl McpServer {
    /// Records the arguments as commands, continues the debate and waits for it.
    pub(super) async fn continue_round(
        &self,
        args: &ContinueRoundArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let turn = validate::validate_line("turn", args.turn.as_deref())?;
        let decision = parse_decision(args.decision.as_deref())?;
        if let Some(say) = &args.say {
            validate::validate_text("say", say, validate::MAX_REMARK_CHARS)?;
        }
        if let Some(speech) = &args.speech {
            validate::validate_text("speech", speech, validate::MAX_SPEECH_CHARS)?;
        }
        if decision == Some(UserDecision::Import) {
            return self.import_transcript(args, workspace, wait).await;
        }
        let ResolvedDebate { id, notes: resolve_notes } =
            self.resolve_debate_of_turn(args.debate_id.as_deref(), turn, workspace).await?;
        let notes = self.catch_up(&id, workspace, resolve_notes).await?;
        let workspace = &self.workspace_of(&id, workspace).await?;
        {
            let _recording = self.registry.lock_recording(&id).await;
            self.record_input(&id, workspace, turn, decision, args).await?;
        }
        Ok((self.registry.play_and_wait(&id, workspace, wait).await?, notes))
    }

    /// Records the speech, then the remark, then the decision.
    async fn record_input(
        &self,
        id: &str,
        workspace: &Workspace,
        turn: Option<&str>,
        decision: Option<UserDecision>,
        args: &ContinueRoundArgs,
    ) -> Result<(), ToolError> {
        if let Some(turn) = turn {
            let debate = self.read_debate(id).await?;
            parse_turn_id(turn)
                .filter(|(_, cue)| debate.has_cue(*cue))
                .ok_or_else(|| ToolError::UnknownTurn(turn.into(), id.into()))?;
        }
        // Take the lease first, so that the commands below are recorded by this process.
        if decision == Some(UserDecision::TakeOver) {
            self.take_over(id, workspace).await?;
        }
        if let Some(speech) = &args.speech {
            self.submit_reply(id, workspace, turn, speech, "continue_round").await?;
        }
        let say = args.say.as_deref().map(str::trim);
        let decisions_with_say = [UserDecision::Change, UserDecision::Steer, UserDecision::Deepen];
        if let Some(say) =
            say.filter(|_| !decision.is_some_and(|it| decisions_with_say.contains(&it)))
        {
            self.submit_remark(id, workspace, turn.filter(|_| args.speech.is_none()), say).await?;
        }
        match decision {
            Some(decision) => self.apply_decision(id, workspace, decision, turn, say).await,
            None if args.speech.is_none() => self.begin_next_round(id, workspace, turn).await,
            None => Ok(()),
        }
    }

    pub(super) async fn read_debate(&self, id: &str) -> Result<Debate, ToolError> {
        Ok(self.registry.app.read(id).await?.1)
    }

    /// Records the reply of the host or of a person. Repeating the same text has no effect.
    pub(super) async fn submit_reply(
        &self,
        id: &str,
        workspace: &Workspace,
        turn: Option<&str>,
        text: &str,
        tool: &str,
    ) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        let due = due_turn(&debate);
        let turn = turn.ok_or(ToolError::MissingTurn { due: due.clone(), id: id.into() })?;
        let (take, cue) = parse_turn_id(turn)
            .filter(|(_, cue)| debate.has_cue(*cue))
            .ok_or_else(|| ToolError::UnknownTurn(turn.into(), id.into()))?;
        let seat = debate.seat(cue);
        if !seat.voice.is_awaited() {
            return Err(ToolError::NotYourTurn {
                turn: turn.into(),
                role: seat.role.title().into(),
                tool: seat.voice.to_string(),
                id: id.into(),
            });
        }
        let ruling = debate.setup().phase(cue).reply == ReplyKind::Verdict;
        if tool == "verdict" && !ruling {
            return Err(ToolError::WrongTool {
                turn: turn.into(),
                wants: "speech".into(),
                tool: "continue_round".into(),
                id: id.into(),
            });
        }
        let is_taken = debate.turn(cue).is_some();
        if let (false, Some(_)) = (is_taken, debate.outcome()) {
            return Err(debate_ended_error(&debate, "a speech"));
        }
        let command = Command::Reply { take, cue, text: text.into() };
        self.send_with_retry(id, workspace, vec![command]).await.map_err(|error| match error {
            AppError::Session(SessionError::TurnTaken(_)) => {
                ToolError::TurnAlreadyTaken { turn: turn.into(), id: id.into() }
            }
            AppError::Session(SessionError::Illegal(_)) => {
                ToolError::TurnNotDue { turn: turn.into(), due, id: id.into() }
            }
            AppError::Session(SessionError::ReplyRejected(findings)) => {
                let reasons: Vec<_> = findings.into_iter().map(|finding| finding.says).collect();
                ToolError::ReplyRejected {
                    turn: turn.into(),
                    why: reasons.join("; "),
                    ruling,
                    id: id.into(),
                }
            }
            AppError::Session(SessionError::ReplyUnparsable(why)) => {
                // Strip the error code, which is meant for the record.
                let why = match why.split_once(": ") {
                    Some((code, why)) if code.starts_with("PARSE_ERROR") => why.into(),
                    _ => why,
                };
                ToolError::ReplyRejected { turn: turn.into(), why, ruling, id: id.into() }
            }
            error => error.into(),
        })
    }

    /// Records a remark for both sides. After the end, records it as the user's decision.
    async fn submit_remark(
        &self,
        id: &str,
        workspace: &Workspace,
        turn: Option<&str>,
        say: &str,
    ) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        let text = say.to_owned();
        // The same text again is a retry by the client, if the remark was not delivered yet or the
        // turn is past.
        let is_past_turn =
            turn.and_then(parse_turn_id).is_some_and(|(_, cue)| debate.was_asked(cue));
        let is_over = debate.outcome().is_some();
        let is_repeat = |remark: &Remark| {
            remark.text == say && (is_past_turn || is_over || !debate.was_heard(remark))
        };
        if debate.remarks().iter().any(is_repeat) {
            return Ok(());
        }
        let step = next(&debate);
        let command = if is_over {
            if debate.decision() == Some(say) {
                return Ok(());
            }
            Command::Decide { text }
        } else if step.first_cue().is_none_or(|cue| cue.act == debate.setup().ending_act()) {
            return Err(ToolError::RoundsOver { id: id.into() });
        } else {
            Command::Interject { text }
        };
        Ok(self.send_with_retry(id, workspace, vec![command]).await?)
    }

    /// Starts the next round if the debate is paused before it. A turn id of an earlier round only
    /// waits, which makes retries safe. Plans and imported debates need an explicit decision.
    async fn begin_next_round(
        &self,
        id: &str,
        workspace: &Workspace,
        turn: Option<&str>,
    ) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        if awaits_plan_confirmation(&debate) || debate.is_held() {
            return Ok(());
        }
        self.release_hold(id, workspace, &debate, turn).await
    }

    pub(super) async fn release_hold(
        &self,
        id: &str,
        workspace: &Workspace,
        debate: &Debate,
        turn: Option<&str>,
    ) -> Result<(), ToolError> {
        match next(debate) {
            Step::Hold { next, pause: PauseReason::UserHold } => {
                self.registry.app.check_remaining_seats(debate, debate.seats())?;
                let is_this_turn = turn
                    .is_none_or(|turn| parse_turn_id(turn) == Some((debate.take_number(), next)));
                let before: Position = next.position();
                if !is_this_turn {
                    return Ok(());
                }
                match self.send_with_retry(id, workspace, vec![Command::Continue { before }]).await
                {
                    // Another client continued it first.
                    Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
                    result => Ok(result?),
                }
            }
            Step::Hold { pause: PauseReason::BudgetExhausted { spent, .. }, .. } => {
                let cost = spent.cost as f64 / 1e6;
                let spent = format!("{cost:.2}, {} tokens", spent.tokens);
                Err(ToolError::BudgetSpent {
                    id: id.into(),
                    spent,
                    step: super::next_call::next_call_over_budget(debate),
                })
            }
            _ => Ok(()),
        }
    }

    async fn apply_decision(
        &self,
        id: &str,
        workspace: &Workspace,
        decision: UserDecision,
        turn: Option<&str>,
        say: Option<&str>,
    ) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        let is_over = debate.outcome().is_some();
        match decision {
            UserDecision::Continue | UserDecision::Confirm if is_over => {
                Err(debate_ended_error(&debate, "going on"))
            }
            UserDecision::Change | UserDecision::Steer | UserDecision::Deepen if is_over => {
                Err(debate_ended_error(&debate, "a change"))
            }
            UserDecision::Cancel if is_over && status::status(&debate) != Status::Cancelled => {
                Err(debate_ended_error(&debate, "cancelling"))
            }
            UserDecision::Cancel | UserDecision::End if is_over => Ok(()),
            UserDecision::Retry if !is_over => Ok(()),
            UserDecision::Retry => {
                let from = debate
                    .reopen_cue()
                    .ok_or_else(|| ToolError::NothingToRetry { id: id.into() })?;
                self.registry.app.check_remaining_seats(&debate, debate.seats())?;
                Ok(self.send_with_retry(id, workspace, vec![Command::Reopen { from }]).await?)
            }
            UserDecision::Continue => self.release_hold(id, workspace, &debate, turn).await,
            UserDecision::Confirm if awaits_plan_confirmation(&debate) => {
                self.release_hold(id, workspace, &debate, None).await
            }
            // Only a plan needs confirmation. Take-over and import were handled earlier.
            UserDecision::Confirm | UserDecision::TakeOver | UserDecision::Import => Ok(()),
            UserDecision::Cancel => {
                match self
                    .send_with_retry(id, workspace, vec![Command::Cancel { because: None }])
                    .await
                {
                    // Another client ended it first.
                    Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
                    result => Ok(result?),
                }
            }
            UserDecision::End => self.conclude(id, workspace).await,
            UserDecision::Change => {
                let say =
                    say.ok_or_else(|| ToolError::InvalidChange { why: "it is missing".into() })?;
                let changes =
                    parse_changes(say, &debate, &self.registry.app, &self.config.current_dir)?;
                if changes.is_empty() {
                    return Ok(());
                }
                self.send_with_retry(id, workspace, changes).await.map_err(|error| match error {
                    AppError::Session(SessionError::Illegal(_)) => {
                        let quoted = say.chars().take(MAX_QUOTED_CHARS).collect();
                        ToolError::ChangeRejected(quoted, id.into())
                    }
                    error => error.into(),
                })
            }
            UserDecision::Steer | UserDecision::Deepen => {
                let decision_name =
                    if decision == UserDecision::Steer { "steer" } else { "deepen" };
                let say = say.filter(|say| !say.is_empty()).ok_or_else(|| {
                    ToolError::MissingSay { decision: decision_name.into(), id: id.into() }
                })?;
                let (is_repeat, commands) = if decision == UserDecision::Steer {
                    validate::validate_text("say", say, MAX_TOPIC_CHARS)?;
                    let topic = say.split_whitespace().collect::<Vec<_>>().join(" ");
                    (debate.current_topic() == topic, Command::steer(topic).to_vec())
                } else {
                    let command = Command::deepen(say);
                    let is_same = |it: &Remark| {
                        matches!(&command, Command::Interject { text } if *text == it.text)
                            && !debate.was_heard(it)
                    };
                    (debate.remarks().iter().any(is_same), vec![command])
                };
                if !is_repeat {
                    self.send_with_retry(id, workspace, commands).await?;
                }
                self.begin_next_round(id, workspace, turn).await
            }
            UserDecision::Keep | UserDecision::Discard if !is_over => {
                Err(ToolError::DebateNotEnded { id: id.into(), what: "keeping the record".into() })
            }
            UserDecision::Keep | UserDecision::Discard => {
                let keep = decision == UserDecision::Keep;
                if debate.keep_record() == Some(keep) {
                    return Ok(());
                }
                Ok(self.send_with_retry(id, workspace, vec![Command::Keep { keep }]).await?)
            }
        }
    }

    /// Skips to the ruling, unless the ending has begun.
    pub(super) async fn conclude(&self, id: &str, workspace: &Workspace) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        let ending_act = debate.setup().ending_act();
        let has_begun = next(&debate).first_cue().is_none_or(|cue| cue.act == ending_act);
        if debate.is_concluded() || has_begun {
            return Ok(());
        }
        if debate.replies_in(..).next().is_none() {
            return Err(ToolError::NothingToRule {
                id: id.into(),
                plan: awaits_plan_confirmation(&debate),
            });
        }
        self.registry.app.check_remaining_seats(&debate, debate.seats())?;
        match self.send_with_retry(id, workspace, vec![Command::Conclude { because: None }]).await {
            // Another client concluded it first, so a ruling is coming.
            Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
            result => Ok(result?),
        }
    }

    /// Sends commands. Retries while another process holds the lease.
    pub(super) async fn send_with_retry(
        &self,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        let send = || self.registry.send_commands(id, workspace, commands.clone());
        retry_while_lease_held(id, send).await
    }
}

/// Sends again while another process holds the lease, up to `MAX_LEASE_RETRIES` times.
async fn retry_while_lease_held<F>(id: &str, send: impl Fn() -> F) -> Result<(), AppError>
where
    F: Future<Output = Result<(), AppError>>,
{
    let mut retries = 0;
    loop {
        match send().await {
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. }))
                if retries < MAX_LEASE_RETRIES =>
            {
                retries += 1;
                tracing::debug!(debate = %id, attempt = retries, "lease is held, retrying");
                tokio::time::sleep(LEASE_RETRY_INTERVAL).await;
            }
            result => return result,
        }
    }
}

fn parse_decision(value: Option<&str>) -> Result<Option<UserDecision>, ToolError> {
    let Some(value) = validate::validate_line("decision", value)? else { return Ok(None) };
    let known = USER_DECISIONS.iter().find(|(word, _)| *word == value.to_lowercase());
    known.map(|(_, decision)| Some(*decision)).ok_or_else(|| ToolError::UnknownValue {
        name: "decision".into(),
        said: value.into(),
        allowed: USER_DECISIONS.map(|(word, _)| word).join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn command_waits_two_seconds_for_a_held_lease() {
        assert_eq!((MAX_LEASE_RETRIES, LEASE_RETRY_INTERVAL.as_millis()), (20, 100));
        // The lease is released before the last retry, or too late.
        for (free_after, is_sent) in [(MAX_LEASE_RETRIES, true), (MAX_LEASE_RETRIES + 1, false)] {
            let (attempts, started) = (Cell::new(0), Instant::now());
            let send = || async {
                attempts.set(attempts.get() + 1);
                if attempts.get() > free_after {
                    return Ok(());
                }
                let (id, holder) = ("debate-1".to_owned(), "codex".to_owned());
                Err(AppError::Archive(ArchiveError::LeaseHeld { id, holder }))
            };
            assert_eq!(retry_while_lease_held("debate-1", send).await.is_ok(), is_sent);
            assert_eq!((attempts.get(), started.elapsed().as_secs()), (1 + MAX_LEASE_RETRIES, 2));
        }
    }
}
