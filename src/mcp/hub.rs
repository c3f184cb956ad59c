//! The debates being played by this process. A debate is held only while turns of it are fetched:
//! as soon as it waits for somebody it is given up, so that any client may go on with it.
use crate::engine::{Command, Desk, DeskError, Error, Handle, Job, Place};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Everything under way.
pub(super) struct Hub {
    pub(super) desk: Desk,
    pub(super) closing: CancellationToken,
    runs: Mutex<HashMap<String, Run>>,
    /// Held while a call reads a debate and has something recorded of it, so that calls that come
    /// at once see what the others did.
    pub(super) recording: tokio::sync::Mutex<()>,
}

/// A debate being played here.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) handle: Handle,
    ended: watch::Receiver<Option<Ended>>,
}

/// How a run ended: as it should, or why not.
pub(super) type Ended = Result<(), String>;

impl Run {
    /// Returns once nothing is being fetched any more and the debate was given up.
    pub(super) async fn ended(&mut self) -> Ended {
        let ended = self.ended.wait_for(Option::is_some).await;
        match ended {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            Err(_) => Err("it was dropped".into()),
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
        let (runs, recording) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Hub { desk, closing: CancellationToken::new(), runs, recording })
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of a debate, if it is being played here.
    pub(super) fn running(&self, id: &str) -> Option<Run> {
        self.runs().get(id).cloned()
    }

    /// Plays a debate that was just opened.
    pub(super) fn play(self: &Arc<Hub>, job: Job) -> Run {
        self.keep(&mut self.runs(), job)
    }

    /// The run of a debate: the one there is, or a new one. Nobody can begin two.
    pub(super) fn take_up(self: &Arc<Hub>, id: &str, place: &Place) -> Result<Run, DeskError> {
        let mut runs = self.runs();
        match runs.get(id) {
            Some(run) => Ok(run.clone()),
            None => Ok(self.keep(&mut runs, self.desk.resume(id, place, vec![])?)),
        }
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
                let mut runs = self.runs();
                if let Some(run) = runs.get(id) {
                    run.clone()
                } else {
                    let job = self.desk.resume(id, place, commands)?;
                    self.keep(&mut runs, job);
                    return Ok(());
                }
            };
            match run.handle.send(commands.clone()).await {
                // It was just about to end: whatever is wrong, taking it up will say.
                Err(Error::Gone) => drop(run.ended().await),
                done => return Ok(done?),
            }
        }
    }

    fn keep(self: &Arc<Hub>, runs: &mut HashMap<String, Run>, mut job: Job) -> Run {
        let (tell, ended) = watch::channel(None);
        let run = Run { handle: job.handle(), ended };
        let id = job.id().to_owned();
        runs.insert(id.clone(), run.clone());
        let hub = self.clone();
        tokio::spawn(async move {
            let kept = Kept { hub: &hub, id: &id };
            let done = tokio::select! {
                idle = job.idle() => idle.map(drop).map_err(|error| error.to_string()),
                () = hub.closing.cancelled() => Ok(()),
            };
            job.stop().await;
            drop(kept);
            tell.send_replace(Some(done));
        });
        run
    }

    /// Stops everything. What was recorded stays, and is in the files people read.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let runs: Vec<Run> = self.runs().values().cloned().collect();
        for mut run in runs {
            let _ = run.ended().await;
        }
        self.desk.archive().flush();
    }
}
