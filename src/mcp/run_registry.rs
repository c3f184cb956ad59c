//! Registry of the debates that this process is running. A run holds the debate's lease only while
//! it requests turns. It ends when the debate waits for input, so that any client can continue it.
use crate::app::{App, AppError};
use crate::engine::{
    Command, DebateQuery, DebateRun, LeaseMode, LogError, RunHandle, SessionError, Workspace,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The active runs, with the locks that serialize starting and recording.
pub(super) struct RunRegistry {
    pub(super) app: App,
    pub(super) shutdown: CancellationToken,
    runs: Mutex<HashMap<String, ActiveRun>>,
    /// Held while a run starts, so that a debate never has two.
    start_lock: tokio::sync::Mutex<()>,
    /// One lock per debate, held while a call reads the debate and records commands, so that
    /// concurrent calls see each other's changes.
    record_locks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Debates this client has got a recap of, the most recently used last.
    seen_debates: Mutex<Vec<String>>,
}

/// A debate that is running in this process.
#[derive(Clone)]
pub(super) struct ActiveRun {
    pub(super) handle: RunHandle,
    end_signal: watch::Receiver<Option<RunResult>>,
    /// Number of commands about to be sent. The run does not end while it is above zero.
    pending_commands: Arc<AtomicUsize>,
}

/// How a run ended.
pub(super) type RunResult = Result<(), RunStopReason>;

/// Why a run stopped early.
#[derive(Clone, Debug)]
pub(super) enum RunStopReason {
    /// Another process took the lease: its name.
    TakenOver(String),
    Failed(String),
}

impl From<SessionError> for RunStopReason {
    fn from(error: SessionError) -> RunStopReason {
        match error {
            SessionError::Log(LogError::LeaseLost { by }) => RunStopReason::TakenOver(by),
            other => RunStopReason::Failed(other.to_string()),
        }
    }
}

impl ActiveRun {
    /// Waits until the run has ended and its lease is released.
    pub(super) async fn wait_for_end(&mut self) -> RunResult {
        let ended = self.end_signal.wait_for(Option::is_some).await;
        match ended {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            Err(_) => Err(RunStopReason::Failed("it was dropped".into())),
        }
    }
}

/// Guard that removes a run from the registry when dropped, even on panic.
struct RunGuard<'a> {
    registry: &'a RunRegistry,
    id: &'a str,
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.registry.lock_runs().remove(self.id);
    }
}

impl RunRegistry {
    pub(super) fn new(app: App) -> Arc<RunRegistry> {
        let shutdown = CancellationToken::new();
        let (runs, start_lock, record_locks) =
            (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        Arc::new(RunRegistry {
            app,
            shutdown,
            runs,
            start_lock,
            record_locks,
            seen_debates: Mutex::default(),
        })
    }

    /// Marks a debate as most recently used. Returns whether it is new to this client.
    pub(super) fn mark_seen(&self, id: &str) -> bool {
        let mut seen = self.seen_debates.lock().unwrap_or_else(PoisonError::into_inner);
        let count_before = seen.len();
        seen.retain(|other| other != id);
        let is_new = seen.len() == count_before;
        seen.push(id.to_owned());
        is_new
    }

    /// The most recently used debate of this client that is unfinished.
    pub(super) async fn last_open_debate(&self, root: &Path) -> Option<String> {
        let seen = self.seen_debates.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if seen.is_empty() {
            return None;
        }
        let query =
            DebateQuery { root: Some(root.to_owned()), unfinished: true, ..DebateQuery::default() };
        let open = self.app.archive().queries.list(&query).await.unwrap_or_default();
        seen.into_iter().rev().find(|id| open.iter().any(|card| card.id == *id))
    }

    fn lock_runs(&self) -> MutexGuard<'_, HashMap<String, ActiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of a debate in this process.
    pub(super) fn find_run(&self, id: &str) -> Option<ActiveRun> {
        self.lock_runs().get(id).cloned()
    }

    /// Locks a debate for recording.
    pub(super) async fn lock_recording(&self, id: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.record_locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(id.to_owned()).or_default().clone()
        };
        lock.lock_owned().await
    }

    /// Returns the active run of a debate, or starts one.
    pub(super) async fn find_or_start_run(
        self: &Arc<RunRegistry>,
        id: &str,
        workspace: &Workspace,
    ) -> Result<ActiveRun, AppError> {
        let _start_guard = self.start_lock.lock().await;
        match self.find_run(id) {
            Some(run) => Ok(run),
            None => {
                Ok(self.spawn_run(self.app.resume(id, workspace, LeaseMode::IfFree, vec![]).await?))
            }
        }
    }

    /// Takes the lease, even if another process holds it, and starts a run here.
    pub(super) async fn take_over(
        self: &Arc<RunRegistry>,
        id: &str,
        workspace: &Workspace,
    ) -> Result<(), AppError> {
        let _start_guard = self.start_lock.lock().await;
        if self.find_run(id).is_none() {
            self.spawn_run(self.app.resume(id, workspace, LeaseMode::TakeOver, vec![]).await?);
        }
        Ok(())
    }

    /// Finds a run and increments its command counter, so that it does not end meanwhile.
    fn reserve_run(&self, id: &str) -> Option<ActiveRun> {
        let runs = self.lock_runs();
        let run = runs.get(id)?;
        run.pending_commands.fetch_add(1, Ordering::SeqCst);
        Some(run.clone())
    }

    /// Sends commands to the active run, or starts a run with them. Returns once they are recorded.
    pub(super) async fn send_commands(
        self: &Arc<RunRegistry>,
        id: &str,
        workspace: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        loop {
            let mut run = {
                let _start_guard = self.start_lock.lock().await;
                let Some(run) = self.reserve_run(id) else {
                    self.spawn_run(
                        self.app.resume(id, workspace, LeaseMode::IfFree, commands).await?,
                    );
                    return Ok(());
                };
                run
            };
            let result = run.handle.send(commands.clone()).await;
            run.pending_commands.fetch_sub(1, Ordering::SeqCst);
            match result {
                // The run ended meanwhile: retry, and resuming the debate reports any error.
                Err(SessionError::NotRunning) => drop(run.wait_for_end().await),
                result => return Ok(result?),
            }
        }
    }

    /// Spawns a task that runs a debate until it is idle.
    pub(super) fn spawn_run(self: &Arc<RunRegistry>, mut debate_run: DebateRun) -> ActiveRun {
        let (end_sender, end_signal) = watch::channel(None);
        let pending_commands = Arc::new(AtomicUsize::new(0));
        let run = ActiveRun {
            handle: debate_run.handle(),
            end_signal,
            pending_commands: pending_commands.clone(),
        };
        let id = debate_run.id().to_owned();
        self.lock_runs().insert(id.clone(), run.clone());
        tracing::debug!(debate = %id, "run started");
        let registry = self.clone();
        tokio::spawn(async move {
            let guard = RunGuard { registry: &registry, id: &id };
            let result = loop {
                let idle = tokio::select! {
                    idle = debate_run.wait_idle() => idle.map(drop).map_err(RunStopReason::from),
                    () = registry.shutdown.cancelled() => break Ok(()),
                };
                // Pending commands are handled first. Once removed, the run gets no new ones.
                let mut runs = registry.lock_runs();
                if idle.is_err() || pending_commands.load(Ordering::SeqCst) == 0 {
                    runs.remove(&id);
                    break idle;
                }
                drop(runs);
                tokio::task::yield_now().await;
            };
            debate_run.stop().await;
            drop(guard);
            match &result {
                Ok(()) => tracing::debug!(debate = %id, "run ended"),
                Err(RunStopReason::TakenOver(holder)) => {
                    tracing::info!(debate = %id, holder = %holder, "run stopped, lease lost");
                }
                Err(RunStopReason::Failed(error)) => {
                    tracing::info!(debate = %id, error = %error, "run failed");
                }
            }
            end_sender.send_replace(Some(result));
        });
        run
    }

    /// Stops all runs and flushes the archive, so that the written records are complete.
    pub(super) async fn shut_down(self: &Arc<RunRegistry>) {
        self.shutdown.cancel();
        let runs: Vec<ActiveRun> = self.lock_runs().values().cloned().collect();
        tracing::debug!(runs = runs.len(), "stopping all runs");
        for mut run in runs {
            let _ = run.wait_for_end().await;
        }
        let registry = self.clone();
        let _ =
            tokio::task::spawn_blocking(move || registry.app.archive().files.flush_exports()).await;
    }
}
