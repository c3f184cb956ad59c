//! A debate being played, and handles to it.
use super::command::{Command, Error, Request};
use super::live::{Live, Update};
use crate::debate::{Cue, Debate, Step};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// A way to ask something of a debate being played, and to watch it. It does not keep it going.
#[derive(Clone)]
pub struct Handle {
    requests: mpsc::Sender<Request>,
    live: Live,
}

impl Handle {
    pub(super) fn new(requests: mpsc::Sender<Request>, live: Live) -> Handle {
        Handle { requests, live }
    }

    /// Asks for something and waits until all of it is recorded, or refused.
    pub async fn send(&self, commands: Vec<Command>) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        let request = Request { commands, answer };
        self.requests.send(request).await.map_err(|_| Error::Gone)?;
        answered.await.unwrap_or(Err(Error::Gone))
    }

    /// Every update from now on.
    pub fn updates(&self) -> broadcast::Receiver<Arc<Update>> {
        self.live.subscribe()
    }

    /// All that has come of a turn under way.
    pub fn said(&self, cue: Cue) -> String {
        self.live.said(cue)
    }
}

/// A debate being played. Dropping it stops the play; what was recorded stays.
pub struct Job {
    handle: Handle,
    debate: Debate,
    seq: u64,
    updates: Option<broadcast::Receiver<Arc<Update>>>,
    idle: watch::Receiver<Option<Step>>,
    /// None, once it was seen to have ended.
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

    /// The debate's name.
    pub fn id(&self) -> &str {
        &self.debate.setup().id
    }

    /// As it was when the play began. Whoever applies the facts to it since has it as it is.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// The number of the last event in [`Job::debate`].
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// A handle, for those who come and go while it is played.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Every update since the play began, to the first who asks; to others, those from now on.
    pub fn updates(&mut self) -> broadcast::Receiver<Arc<Update>> {
        self.updates.take().unwrap_or_else(|| self.handle.updates())
    }

    /// Asks for something and waits until it is recorded, or refused.
    pub async fn send(&self, command: Command) -> Result<(), Error> {
        self.handle.send(vec![command]).await
    }

    /// Waits until nothing is being fetched, and says what is due then.
    pub async fn idle(&mut self) -> Result<Step, Error> {
        if let Ok(step) = self.idle.wait_for(Option::is_some).await {
            return Ok(step.clone().unwrap_or(Step::Rest));
        }
        Err(self.ended().await)
    }

    /// Waits until the play ends by itself, and says why: it does so only if it cannot go on.
    pub async fn ended(&mut self) -> Error {
        let Some(task) = &mut self.task else { return Error::Gone };
        let ended = task.await;
        self.task = None;
        match ended {
            Ok(Err(error)) => error,
            Ok(Ok(())) | Err(_) => Error::Gone,
        }
    }

    /// Stops the play and gives the debate up, so that someone else may take it up.
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
