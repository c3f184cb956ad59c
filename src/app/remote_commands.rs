//! Remote commands: sends commands to a debate, whichever process runs it.
//!
//! For example, the web page pauses a debate that runs in an MCP client. If another process holds
//! the lease, the commands go through the archive's queue and the result is polled. If none does,
//! this process takes the lease, executes them and, if they make turns due, runs the debate in the
//! background.
use crate::app::{App, AppError};
use crate::debate::Step;
use crate::engine::SessionError;
use crate::engine::command::Command;
use crate::engine::ports::{ArchiveError, COMMAND_TTL_MS, LeaseMode, Workspace};
use crate::engine::run::DebateRun;
use std::time::Duration;
use tokio::time::Instant;

/// Timeout for the holder's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the queue is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Number of polls between two checks whether the lease is still held.
const POLLS_PER_LEASE_CHECK: u32 = 5;

const _: () = assert!(ANSWER_TIMEOUT.as_millis() < COMMAND_TTL_MS.unsigned_abs() as u128);

/// Success: all commands are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    /// Name of the process that executed them, `None` if it was this one.
    pub holder: Option<String>,
}

/// Result of commands queued for a lease holder.
enum HolderAnswer {
    Recorded,
    Refused(String),
    /// The lease is free, and the commands were withdrawn.
    HolderGone,
    /// The holder did not answer in time, and the commands were withdrawn.
    TimedOut,
}

impl HolderAnswer {
    fn as_str(&self) -> &'static str {
        match self {
            HolderAnswer::Recorded => "executed",
            HolderAnswer::Refused(_) => "refused",
            HolderAnswer::HolderGone => "holder gone",
            HolderAnswer::TimedOut => "timed out",
        }
    }
}

impl App {
    /// Records commands, all of them or none, here or in the process that holds the lease. If the
    /// lease is free and one of them makes turns due, or there are none, the debate also runs here
    /// in the background until it is idle. Then the lease is released.
    pub async fn send_commands(
        &self,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<CommandOutcome, AppError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let holder = match self.execute_here(id, workspace, commands.clone()).await {
                Err(AppError::Archive(ArchiveError::LeaseHeld { holder, .. })) => holder,
                outcome => return outcome.map(|()| CommandOutcome { holder: None }),
            };
            let answer = self.queue_for_holder(id, &commands, deadline).await?;
            let result = answer.as_str();
            tracing::info!(debate = %id, %holder, result, "remote command answered");
            match answer {
                HolderAnswer::Recorded => return Ok(CommandOutcome { holder: Some(holder) }),
                HolderAnswer::Refused(message) => return Err(AppError::CommandRefused(message)),
                HolderAnswer::TimedOut => return Err(AppError::CommandTimedOut { holder }),
                HolderAnswer::HolderGone => {}
            }
        }
    }

    async fn execute_here(
        &self,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        if !commands.is_empty() && !commands.iter().any(Command::makes_turns_due) {
            return self.record_commands(id, workspace, commands).await;
        }
        let debate_run = self.resume(id, workspace, LeaseMode::IfFree, commands).await?;
        tokio::spawn(run_until_idle_then_stop(debate_run));
        Ok(())
    }

    /// Queues commands for the lease holder and polls for the result.
    async fn queue_for_holder(
        &self,
        id: &str,
        commands: &[Command],
        deadline: Instant,
    ) -> Result<HolderAnswer, AppError> {
        let archive = &self.archive;
        let command_id = archive.commands.enqueue(id, commands).await?;
        let count = commands.len();
        tracing::info!(debate = %id, command = command_id.0, count, "remote command queued");
        let mut lease_free = false;
        for poll in 1u32.. {
            let timed_out = Instant::now() >= deadline;
            let result = if timed_out || lease_free {
                archive.commands.withdraw(command_id).await?
            } else {
                archive.commands.take_result(command_id).await?
            };
            match result {
                Some(Ok(())) => return Ok(HolderAnswer::Recorded),
                Some(Err(message)) => return Ok(HolderAnswer::Refused(message)),
                None if lease_free => return Ok(HolderAnswer::HolderGone),
                None if timed_out => return Ok(HolderAnswer::TimedOut),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
            lease_free = poll % POLLS_PER_LEASE_CHECK == 0
                && archive.events.news_since(id, u64::MAX >> 1).await?.holder.is_none();
        }
        Ok(HolderAnswer::TimedOut)
    }
}

/// Runs a debate until it waits for the user or is closed, then releases the lease.
pub async fn run_until_idle_then_stop(mut debate_run: DebateRun) -> Result<Step, SessionError> {
    let step = debate_run.wait_idle().await;
    debate_run.stop().await;
    step
}
