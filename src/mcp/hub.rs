//! The debates being played by this process. A debate is held only while turns of it are fetched:
//! as soon as it waits for somebody it is given up, so that any client may go on with it.
use crate::engine::{Claim, Command, Desk, DeskError, Error, Handle, Job, LogError, Place, Query};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Everything under way.
pub(super) struct Hub {
    pub(super) desk: Desk,
    pub(super) closing: CancellationToken,
    runs: Mutex<HashMap<String, Run>>,
    /// Held while a debate is taken up, so that nobody begins two runs of one.
    starting: tokio::sync::Mutex<()>,
    /// Held while a call reads a debate and has something recorded of it, so that calls that come
    /// at once see what the others did.
    recording: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Debates this client was told of once: it knows how they stood. The one it came to last is the
    /// last.
    known: Mutex<Vec<String>>,
}

/// A debate being played here.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) handle: Handle,
    ended: watch::Receiver<Option<Ended>>,
    /// How many are about to ask something of it: it is not given up under their hands.
    asking: Arc<AtomicUsize>,
}

/// How a run ended: as it should, or why not.
pub(super) type Ended = Result<(), Stopped>;

/// Why a run ended before it should.
#[derive(Clone, Debug)]
pub(super) enum Stopped {
    /// By whom.
    TakenOver(String),
    /// Anything else.
    Failed(String),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        match error {
            Error::Log(LogError::Lost { by }) => Stopped::TakenOver(by),
            other => Stopped::Failed(other.to_string()),
        }
    }
}

impl Run {
    /// Returns once nothing is being fetched any more and the debate was given up.
    pub(super) async fn ended(&mut self) -> Ended {
        let ended = self.ended.wait_for(Option::is_some).await;
        match ended {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            Err(_) => Err(Stopped::Failed("it was dropped".into())),
        }
    }
}

/// A run is forgotten when it ends, however it ends.
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
    pub(super) fn new(desk: Desk) -> Arc<Hub> {
        let closing = CancellationToken::new();
        let (runs, starting, recording) =
            (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        Arc::new(Hub { desk, closing, runs, starting, recording, known: Mutex::default() })
    }

    /// Whether a client hears of a debate for the first time. From then on it does not.
    pub(super) fn is_new(&self, id: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        known.retain(|other| other != id);
        let new = known.len() == before;
        known.push(id.to_owned());
        new
    }

    /// The debate this client came to last, if there is one that is not over.
    pub(super) fn own(&self, root: &Path) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_empty() {
            return None;
        }
        let here = Query { root: Some(root.to_owned()), unfinished: true, ..Query::default() };
        let open = self.desk.archive().list(&here).unwrap_or_default();
        known.into_iter().rev().find(|id| open.iter().any(|card| card.id == *id))
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of a debate, if it is being played here.
    pub(super) fn running(&self, id: &str) -> Option<Run> {
        self.runs().get(id).cloned()
    }

    /// One call after another has something recorded of a debate.
    pub(super) async fn recording(&self, id: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let one = {
            let mut all = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, one| Arc::strong_count(one) > 1);
            all.entry(id.to_owned()).or_default().clone()
        };
        one.lock_owned().await
    }

    /// The run of a debate: the one there is, or a new one. Nobody can begin two.
    pub(super) async fn take_up(
        self: &Arc<Hub>,
        id: &str,
        place: &Place,
    ) -> Result<Run, DeskError> {
        let _starting = self.starting.lock().await;
        match self.running(id) {
            Some(run) => Ok(run),
            None => Ok(self.play(self.desk.resume(id, place, Claim::Free, vec![])?)),
        }
    }

    /// Plays a debate here, whoever plays it elsewhere: they stop.
    pub(super) async fn take_over(
        self: &Arc<Hub>,
        id: &str,
        place: &Place,
    ) -> Result<(), DeskError> {
        let _starting = self.starting.lock().await;
        if self.running(id).is_none() {
            self.play(self.desk.resume(id, place, Claim::Over, vec![])?);
        }
        Ok(())
    }

    /// The run of a debate, for somebody who is about to ask something of it.
    fn to_ask(&self, id: &str) -> Option<Run> {
        let runs = self.runs();
        let run = runs.get(id)?;
        run.asking.fetch_add(1, Ordering::SeqCst);
        Some(run.clone())
    }

    /// Has something recorded: by whoever plays the debate here, or else by taking it up.
    pub(super) async fn command(
        self: &Arc<Hub>,
        id: &str,
        place: &Place,
        commands: Vec<Command>,
    ) -> Result<(), DeskError> {
        loop {
            let mut run = {
                let _starting = self.starting.lock().await;
                let Some(run) = self.to_ask(id) else {
                    self.play(self.desk.resume(id, place, Claim::Free, commands)?);
                    return Ok(());
                };
                run
            };
            let done = run.handle.send(commands.clone()).await;
            run.asking.fetch_sub(1, Ordering::SeqCst);
            match done {
                // It was just about to end: whatever is wrong, taking it up will say.
                Err(Error::Gone) => drop(run.ended().await),
                done => return Ok(done?),
            }
        }
    }

    /// Plays a debate until it waits for somebody.
    pub(super) fn play(self: &Arc<Hub>, mut job: Job) -> Run {
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
                    idle = job.idle() => idle.map(drop).map_err(Stopped::from),
                    () = hub.closing.cancelled() => break Ok(()),
                };
                // Whoever found it running is heard first; from then on nobody finds it.
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

    /// Stops everything. What was recorded stays, and is in the files people read.
    pub(super) async fn close(self: &Arc<Hub>) {
        self.closing.cancel();
        let runs: Vec<Run> = self.runs().values().cloned().collect();
        for mut run in runs {
            let _ = run.ended().await;
        }
        let hub = self.clone();
        let _ = tokio::task::spawn_blocking(move || hub.desk.archive().flush()).await;
    }
}
