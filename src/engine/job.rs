//! A running debate ([`DebateRun`]) and handles to it ([`RunHandle`]). The session runs in a tokio
//! task.
use super::command::{Command, Error, Request};
use super::live::{Live, Update};
use crate::debate::{Cue, Debate, Step};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Sends commands to a running debate and subscribes to its updates. Does not keep it running.
#[derive(Clone)]
pub struct Handle {
    requests: mpsc::Sender<Request>,
    live: Live,
}

impl Handle {
    pub(super) fn new(requests: mpsc::Sender<Request>, live: Live) -> Handle {
        Handle { requests, live }
    }

    /// Sends commands and waits until all are recorded or refused.
    pub async fn send(&self, commands: Vec<Command>) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        let request = Request { commands, answer };
        self.requests.send(request).await.map_err(|_| Error::Gone)?;
        answered.await.unwrap_or(Err(Error::Gone))
    }

    /// Subscribes to updates from now on.
    pub fn updates(&self) -> broadcast::Receiver<Arc<Update>> {
        self.live.subscribe()
    }

    /// Text streamed so far of a turn in progress.
    pub fn said(&self, cue: Cue) -> String {
        self.live.said(cue)
    }
}

/// A running debate. Dropping it aborts the session. Recorded events stay.
pub struct Job {
    handle: Handle,
    debate: Debate,
    seq: u64,
    updates: Option<broadcast::Receiver<Arc<Update>>>,
    idle: watch::Receiver<Option<Step>>,
    /// `None` once the task has been joined.
    task: Option<JoinHandle<Result<(), Error>>>,
}

impl Job {
    pub(super) fn new(
        handle: Handle,
        debate: Debate,
        seq: u64,
        updates: broadcast::Receiver<Arc<Update>>,
        idle: watch::Receiver<Option<Step>>,
        task: JoinHandle<Result<(), Error>>,
    ) -> Job {
        Job { handle, debate, seq, updates: Some(updates), idle, task: Some(task) }
    }

    /// Id of the debate.
    pub fn id(&self) -> &str {
        &self.debate.setup().id
    }

    /// State when the run began. Apply the facts of later updates to get the current state.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Sequence number of the last event in [`DebateRun::initial_debate`].
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// A handle that can be cloned and sent to other tasks.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// The first call gets every update since the run began, later calls only new ones.
    pub fn updates(&mut self) -> broadcast::Receiver<Arc<Update>> {
        self.updates.take().unwrap_or_else(|| self.handle.updates())
    }

    /// Sends a command and waits until it is recorded or refused.
    pub async fn send(&self, command: Command) -> Result<(), Error> {
        self.handle.send(vec![command]).await
    }

    /// Waits until no turn is being fetched and returns the next step.
    pub async fn idle(&mut self) -> Result<Step, Error> {
        if let Ok(step) = self.idle.wait_for(Option::is_some).await {
            return Ok(step.clone().unwrap_or(Step::Done));
        }
        Err(self.ended().await)
    }

    /// Waits until the session ends with an error, and returns it.
    pub async fn ended(&mut self) -> Error {
        let Some(task) = &mut self.task else { return Error::Gone };
        let ended = task.await;
        self.task = None;
        match ended {
            Ok(Err(error)) => error,
            Ok(Ok(())) | Err(_) => Error::Gone,
        }
    }

    /// Aborts the session and releases the lease, so that another process can resume the debate.
    pub async fn stop(mut self) {
        if let Some(mut task) = self.task.take() {
            task.abort();
            let _ = (&mut task).await;
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
