//! A running debate ([`DebateRun`]) and handles to it ([`RunHandle`]). The session runs in a tokio
//! task.
use super::command::Command;
use super::session_error::SessionError;
use super::updates::{Update, UpdateBroadcaster};
use crate::debate::{Cue, Debate, Step};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Commands sent to a session, with the channel for the result. They are recorded all together or
/// not at all.
pub struct CommandRequest {
    pub commands: Vec<Command>,
    /// Channel for the result.
    pub result_sender: oneshot::Sender<Result<(), SessionError>>,
}

/// Sends commands to a running debate and subscribes to its updates. Does not keep it running.
#[derive(Clone)]
pub struct RunHandle {
    requests: mpsc::Sender<CommandRequest>,
    updates: UpdateBroadcaster,
}

impl RunHandle {
    pub(crate) fn new(
        requests: mpsc::Sender<CommandRequest>,
        updates: UpdateBroadcaster,
    ) -> RunHandle {
        RunHandle { requests, updates }
    }

    /// Sends commands and waits until all are recorded or refused.
    pub async fn send(&self, commands: Vec<Command>) -> Result<(), SessionError> {
        let (result_sender, result_receiver) = oneshot::channel();
        let request = CommandRequest { commands, result_sender };
        self.requests.send(request).await.map_err(|_| SessionError::NotRunning)?;
        result_receiver.await.unwrap_or(Err(SessionError::NotRunning))
    }

    /// Subscribes to updates from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Update>> {
        self.updates.subscribe()
    }

    /// Text streamed so far of a turn in progress.
    pub fn partial_text(&self, cue: Cue) -> String {
        self.updates.partial_text(cue)
    }
}

/// A running debate. Dropping it aborts the session. Recorded events stay.
pub struct DebateRun {
    handle: RunHandle,
    initial_debate: Debate,
    initial_seq: u64,
    updates: Option<broadcast::Receiver<Arc<Update>>>,
    idle: watch::Receiver<Option<Step>>,
    /// `None` once the task has been joined.
    task: Option<JoinHandle<Result<(), SessionError>>>,
}

impl DebateRun {
    pub(crate) fn new(
        handle: RunHandle,
        initial_debate: Debate,
        initial_seq: u64,
        updates: broadcast::Receiver<Arc<Update>>,
        idle: watch::Receiver<Option<Step>>,
        task: JoinHandle<Result<(), SessionError>>,
    ) -> DebateRun {
        DebateRun {
            handle,
            initial_debate,
            initial_seq,
            updates: Some(updates),
            idle,
            task: Some(task),
        }
    }

    /// Id of the debate.
    pub fn id(&self) -> &str {
        &self.initial_debate.setup().id
    }

    /// State when the run began. Apply the facts of later updates to get the current state.
    pub fn initial_debate(&self) -> &Debate {
        &self.initial_debate
    }

    /// Sequence number of the last event in [`DebateRun::initial_debate`].
    pub fn initial_seq(&self) -> u64 {
        self.initial_seq
    }

    /// A handle that can be cloned and sent to other tasks.
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }

    /// The first call gets every update since the run began, later calls only new ones.
    pub fn subscribe_from_start(&mut self) -> broadcast::Receiver<Arc<Update>> {
        self.updates.take().unwrap_or_else(|| self.handle.subscribe())
    }

    /// Sends a command and waits until it is recorded or refused.
    pub async fn send(&self, command: Command) -> Result<(), SessionError> {
        self.handle.send(vec![command]).await
    }

    /// Waits until no turn is being fetched and returns the next step.
    pub async fn wait_idle(&mut self) -> Result<Step, SessionError> {
        if let Ok(step) = self.idle.wait_for(Option::is_some).await {
            return Ok(step.clone().unwrap_or(Step::Done));
        }
        Err(self.wait_ended().await)
    }

    /// Waits until the session ends with an error, and returns it.
    pub async fn wait_ended(&mut self) -> SessionError {
        let Some(task) = &mut self.task else { return SessionError::NotRunning };
        let joined = task.await;
        self.task = None;
        match joined {
            Ok(Err(error)) => error,
            Ok(Ok(())) | Err(_) => SessionError::NotRunning,
        }
    }

    /// Aborts the session and releases the lease, so that another process can resume the debate.
    pub async fn stop(mut self) {
        if let Some(mut task) = self.task.take() {
            task.abort();
            let _ = (&mut task).await;
            tracing::debug!(debate = %self.id(), "session stopped on request");
        }
    }
}

impl Drop for DebateRun {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            tracing::debug!(debate = %self.id(), "session aborted");
            task.abort();
        }
    }
}
