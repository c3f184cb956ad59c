//! The use case "resume a debate": takes its lease, records commands and runs it.
use super::create::PendingRun;
use super::read::replay_stored;
use super::{App, AppError};
use crate::debate::LogFlaw;
use crate::engine::command::Command;
use crate::engine::ports::{LeaseMode, StoredDebate, Workspace};
use crate::engine::run::DebateRun;
use crate::engine::turn::PromptsByCue;

impl App {
    /// Takes the lease of a debate and continues it. The commands are executed before any request.
    pub async fn resume(
        &self,
        id: &str,
        workspace: &Workspace,
        lease_mode: LeaseMode,
        commands: Vec<Command>,
    ) -> Result<DebateRun, AppError> {
        let pending = self.open_for_writing(id, workspace, lease_mode, commands);
        let pending = Box::pin(pending).await?;
        tracing::info!(
            debate = %id,
            seq = pending.seq,
            lease = ?lease_mode,
            commands = pending.commands.len(),
            "debate resumed"
        );
        Box::pin(self.spawn_run(pending)).await
    }

    /// Takes the lease of a debate only to record these commands. Requests no turn.
    pub(super) async fn record_commands(
        &self,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        let pending = self.open_for_writing(id, workspace, LeaseMode::IfFree, commands);
        let pending = Box::pin(pending).await?;
        Box::pin(self.prepare_run(pending)).await.map(drop)
    }

    async fn open_for_writing(
        &self,
        id: &str,
        workspace: &Workspace,
        lease_mode: LeaseMode,
        commands: Vec<Command>,
    ) -> Result<PendingRun, AppError> {
        let workspace = &home_workspace(&self.archive.events.read(id).await?, workspace);
        let opened = self.archive.events.open(id, workspace, lease_mode).await?;
        let seq = opened.stored.events.last().map_or(0, |recorded| recorded.seq);
        let (debate, flaw) = replay_stored(opened.stored)?;
        if let Some(LogFlaw { seq, message: why }) = flaw {
            tracing::debug!(debate = %id, seq, "log has an invalid event");
            return Err(AppError::CorruptLog { id: id.into(), seq, why });
        }
        let (first_events, asked_prompts, root) =
            (vec![], PromptsByCue::new(), workspace.root.clone());
        Ok(PendingRun { debate, seq, first_events, log: opened.log, asked_prompts, commands, root })
    }
}

/// The workspace a stored debate belongs to. A debate of another repository stays in that one,
/// because it is about its files and is listed there.
pub fn home_workspace(stored: &StoredDebate, workspace: &Workspace) -> Workspace {
    let state_files = &stored.state_files;
    let is_here =
        state_files.is_empty() || state_files.iter().any(|(_, root)| *root == workspace.root);
    let home_root =
        state_files.first().map(|(_, root)| root).filter(|root| !is_here && root.is_dir());
    Workspace {
        root: home_root.unwrap_or(&workspace.root).clone(),
        state_file: workspace.state_file.clone().filter(|_| is_here),
        write_record: workspace.write_record,
    }
}
