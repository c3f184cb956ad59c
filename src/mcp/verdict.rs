//! Handler of `verdict`: requests a ruling, records the host's ruling, or returns the existing one.
//! The entry point is `McpServer::request_verdict`, called by `server`. A task of the client waits
//! with `wait_for_ruling`.
use super::args::VerdictArgs;
use super::due_turn::due_turn;
use super::error::ToolError;
use super::mcp_server::McpServer;
use super::resume::ResolvedDebate;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::app::AppError;
use crate::debate::{Cue, Origin, PauseReason, Step, next};
use crate::engine::{ArchiveError, Command, SessionError, Workspace};
use serde_json::Value;

impl McpServer {
    /// Records the host's ruling or requests one, and waits for it. An existing ruling is returned.
    pub(super) async fn request_verdict(
        &self,
        args: &VerdictArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let turn = validate::validate_line("turn", args.turn.as_deref())?;
        let text = args.ruling.as_ref().map(|ruling| match ruling {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        if let Some(text) = &text {
            validate::validate_text("ruling", text, validate::MAX_SPEECH_CHARS)?;
        }
        let ResolvedDebate { id, notes: resolve_notes } =
            self.resolve_debate_of_turn(args.debate_id.as_deref(), turn, workspace).await?;
        let notes = self.catch_up(&id, workspace, resolve_notes).await?;
        let workspace = &self.workspace_of(&id, workspace).await?;
        if let Some(text) = &text {
            let _recording = self.registry.lock_recording(&id).await;
            self.submit_reply(&id, workspace, turn, text, "verdict").await?;
        }
        self.hold_further_turns(&id, workspace).await?;
        Ok((self.wait_for_ruling(&id, workspace, wait).await?, notes))
    }

    /// Holds the debate after the running turns. These finish because they are paid for, but no
    /// further turn is requested before the ruling.
    async fn hold_further_turns(&self, id: &str, workspace: &Workspace) -> Result<(), ToolError> {
        let debate = self.read_debate(id).await?;
        let is_in_rounds = |cue: &Cue| cue.act < debate.setup().ending_act();
        let has_running_turns = match next(&debate) {
            Step::Speak { driven, .. } => driven.iter().any(is_in_rounds),
            _ => false,
        };
        if !has_running_turns || debate.is_held() || debate.is_concluded() {
            return Ok(());
        }
        match self.send_with_retry(id, workspace, vec![Command::Hold]).await {
            // It moved on meanwhile, or another process holds the lease: wait for that.
            Ok(())
            | Err(
                AppError::Session(SessionError::Illegal(_))
                | AppError::Archive(ArchiveError::LeaseHeld { .. }),
            ) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the running turns, concludes the rounds, and waits for the ruling.
    pub(super) async fn wait_for_ruling(
        &self,
        id: &str,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<WaitResult, ToolError> {
        loop {
            let result = self.registry.play_and_wait(id, workspace, wait).await?;
            let ending_act = result.debate.setup().ending_act();
            let imported = result.debate.setup().origin != Origin::Here && result.debate.is_held();
            match next(&result.debate) {
                Step::Hold { .. } if imported => return Ok(result),
                // Paused for the user, who asks for a ruling.
                Step::Hold { next, .. } if next.act < ending_act => {
                    let _recording = self.registry.lock_recording(id).await;
                    self.conclude(id, workspace).await?;
                }
                Step::Hold { pause: PauseReason::UserHold, .. } => {
                    self.release_hold(id, workspace, &result.debate, None).await?;
                }
                Step::Speak { driven, awaited } if driven.is_empty() => {
                    return match awaited.first() {
                        Some(cue) if cue.act < ending_act => {
                            let due = due_turn(&result.debate);
                            Err(ToolError::SpeechDue { due, id: id.into() })
                        }
                        _ => Ok(result),
                    };
                }
                _ => return Ok(result),
            }
        }
    }
}
