//! Registry of the debates that this process is running. A run holds the debate's lease only while
//! it requests turns. It ends when the debate waits for input, so that any client can continue it.
use crate::engine::{
    App, AppError, Command, DebateQuery, DebateRun, LeaseMode, LogError, RunHandle, SessionError,
    Workspace,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The active runs, with the locks that serialize starting and recording.
pub(super) struct Hub {
    pub(super) desk: App,
    pub(super) closing: CancellationToken,
    runs: Mutex<HashMap<String, Run>>,
    /// Held while a run starts, so that a debate never has two.
    starting: tokio::sync::Mutex<()>,
    /// One lock per debate, held while a call reads the debate and records commands, so that
    /// concurrent calls see each other's changes.
    recording: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Debates this client has got a recap of, the most recently used last.
    known: Mutex<Vec<String>>,
}

/// A debate that is running in this process.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) handle: RunHandle,
    ended: watch::Receiver<Option<Ended>>,
    /// Number of commands about to be sent. The run does not end while it is above zero.
    asking: Arc<AtomicUsize>,
}

/// How a run ended.
pub(super) type Ended = Result<(), Stopped>;

/// Why a run stopped early.
#[derive(Clone, Debug)]
pub(super) enum Stopped {
    /// Another process took the lease: its name.
    TakenOver(String),
    Failed(String),
}

impl From<SessionError> for Stopped {
    fn from(error: SessionError) -> Stopped {
        match error {
            SessionError::Log(LogError::LeaseLost { by }) => Stopped::TakenOver(by),
            other => Stopped::Failed(other.to_string()),
        }
    }
}

impl Run {
    /// Waits until the run has ended and its lease is released.
    pub(super) async fn ended(&mut self) -> Ended {
        let ended = self.ended.wait_for(Option::is_some).await;
        match ended {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            Err(_) => Err(Stopped::Failed("it was dropped".into())),
        }
    }
}

/// Guard that removes a run from the registry when dropped, even on panic.
struct Kept<'a> {
    hub: &'a Hub,
    id: &'a str,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.hub.runs().remove(self.id);
    }
}

impl Hub {
    pub(super) fn new(desk: App) -> Arc<Hub> {
        let closing = CancellationToken::new();
        let (runs, starting, recording) =
            (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        Arc::new(Hub { desk, closing, runs, starting, recording, known: Mutex::default() })
    }

    /// Marks a debate as most recently used. Returns whether it is new to this client.
    pub(super) fn is_new(&self, id: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        known.retain(|other| other != id);
        let new = known.len() == before;
        known.push(id.to_owned());
        new
    }

    /// The most recently used debate of this client that is unfinished.
    pub(super) fn own(&self, root: &Path) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_empty() {
            return None;
        }
        let here =
            DebateQuery { root: Some(root.to_owned()), unfinished: true, ..DebateQuery::default() };
        let open = self.desk.archive().list(&here).unwrap_or_default();
        known.into_iter().rev().find(|id| open.iter().any(|card| card.id == *id))
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of a debate in this process.
    pub(super) fn running(&self, id: &str) -> Option<Run> {
        self.runs().get(id).cloned()
    }

    /// Locks a debate for recording.
    pub(super) async fn recording(&self, id: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let one = {
            let mut all = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, one| Arc::strong_count(one) > 1);
            all.entry(id.to_owned()).or_default().clone()
        };
        one.lock_owned().await
    }

    /// Returns the active run of a debate, or starts one.
    pub(super) async fn take_up(
        self: &Arc<Hub>,
        id: &str,
        place: &Workspace,
    ) -> Result<Run, AppError> {
        let _starting = self.starting.lock().await;
        match self.running(id) {
            Some(run) => Ok(run),
            None => Ok(self.play(self.desk.resume(id, place, LeaseMode::IfFree, vec![])?)),
        }
    }

    /// Takes the lease, even if another process holds it, and starts a run here.
    pub(super) async fn take_over(
        self: &Arc<Hub>,
        id: &str,
        place: &Workspace,
    ) -> Result<(), AppError> {
        let _starting = self.starting.lock().await;
        if self.running(id).is_none() {
            self.play(self.desk.resume(id, place, LeaseMode::TakeOver, vec![])?);
        }
        Ok(())
    }

    /// Finds a run and increments its command counter, so that it does not end meanwhile.
    fn to_ask(&self, id: &str) -> Option<Run> {
        let runs = self.runs();
        let run = runs.get(id)?;
        run.asking.fetch_add(1, Ordering::SeqCst);
        Some(run.clone())
    }

    /// Sends commands to the active run, or starts a run with them. Returns once they are recorded.
    pub(super) async fn command(
        self: &Arc<Hub>,
        id: &str,
        place: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        loop {
            let mut run = {
                let _starting = self.starting.lock().await;
                let Some(run) = self.to_ask(id) else {
                    self.play(self.desk.resume(id, place, LeaseMode::IfFree, commands)?);
                    return Ok(());
                };
                run
            };
            let done = run.handle.send(commands.clone()).await;
            run.asking.fetch_sub(1, Ordering::SeqCst);
            match done {
                // The run ended meanwhile: retry, and resuming the debate reports any error.
                Err(SessionError::NotRunning) => drop(run.ended().await),
                done => return Ok(done?),
            }
        }
    }

    /// Spawns a task that runs a debate until it is idle.
    pub(super) fn play(self: &Arc<Hub>, mut job: DebateRun) -> Run {
        let (tell, ended) = watch::channel(None);
        let asking = Arc::new(AtomicUsize::new(0));
        let run = Run { handle: job.handle(), ended, asking: asking.clone() };
        let id = job.id().to_owned();
        self.runs().insert(id.clone(), run.clone());
        let hub = self.clone();
        tokio::spawn(async move {
            let kept = Kept { hub: &hub, id: &id };
            let done = loop {
                let idle = tokio::select! {
                    idle = job.wait_idle() => idle.map(drop).map_err(Stopped::from),
                    () = hub.closing.cancelled() => break Ok(()),
                };
                // Pending commands are handled first. Once removed, the run gets no new ones.
                let mut runs = hub.runs();
                if idle.is_err() || asking.load(Ordering::SeqCst) == 0 {
                    runs.remove(&id);
                    break idle;
                }
                drop(runs);
                tokio::task::yield_now().await;
            };
            job.stop().await;
            drop(kept);
            tell.send_replace(Some(done));
        });
        run
    }

    /// Stops all runs and flushes the archive, so that the written records are complete.
    pub(super) async fn close(self: &Arc<Hub>) {
        self.closing.cancel();
        let runs: Vec<Run> = self.runs().values().cloned().collect();
        for mut run in runs {
            let _ = run.ended().await;
        }
        let hub = self.clone();
        let _ = tokio::task::spawn_blocking(move || hub.desk.archive().flush_exports()).await;
    }
}
