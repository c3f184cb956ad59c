//! Waiting for a debate, with progress. Who waits has no say in whether the work goes on.
use super::complaint::Complaint;
use super::hub::{Hub, Run, Stopped};
use super::tail::Tail;
use crate::debate::{Cue, Debate, Event, Step, next};
use crate::engine::{ArchiveError, DeskError, Error, Handle, LogError, Place, Stored, Update};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::TaskContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often somebody who waits hears something: clients are told at least every five seconds.
const TICK: Duration = Duration::from_secs(4);
/// How often another process is asked how far it is.
const LOOK: Duration = Duration::from_millis(200);
/// How long a client that does not read may hold up a notification.
const UNREAD: Duration = Duration::from_millis(200);

/// Who waits, and for how long.
pub(super) struct Waiting {
    pub(super) until: Option<Instant>,
    /// Nobody waits any more.
    pub(super) gone: CancellationToken,
    pub(super) ear: Ear,
}

/// Where progress is told.
pub(super) enum Ear {
    Nobody,
    Client(Peer<RoleServer>, ProgressToken),
    Task(TaskContext),
}

/// A debate being played here, and what is told of it.
type Heard = (Handle, broadcast::Receiver<Arc<Update>>);

/// A debate as it was when the waiting was over.
pub(super) struct Seen {
    pub(super) stored: Stored,
    pub(super) debate: Debate,
    pub(super) running: bool,
    /// Who plays it, if that is another process.
    pub(super) elsewhere: Option<String>,
}

impl Hub {
    /// Sees to it that a debate is being played for as long as there is something to fetch, and
    /// waits for that to be over.
    pub(super) async fn attend(
        self: &Arc<Hub>,
        id: &str,
        place: &Place,
        waiting: &Waiting,
    ) -> Result<Seen, Complaint> {
        let began = Instant::now();
        let mut told = Instant::now();
        let mut updates: Option<Heard> = None;
        let mut tail = Tail::default();
        loop {
            let (stored, debate, flaw) = self.desk.read(id)?;
            let step = next(&debate);
            let busy = match &step {
                Step::Speak { driven, .. } => !driven.is_empty(),
                Step::Close(_) => true,
                _ => false,
            };
            let busy = busy || self.desk.late(&debate);
            let mut run = self.running(id);
            let mut taken = false;
            if run.is_none() && busy && flaw.is_none() && !self.closing.is_cancelled() {
                run = self.begin(id, place, &debate).await?;
                // Somebody else was faster.
                taken = run.is_none();
            }
            if updates.is_none() {
                updates = run.as_ref().map(|run| (run.handle.clone(), run.handle.updates()));
            }
            let elsewhere = run.is_none() && (taken || stored.holder.is_some());
            let running = busy && (run.is_some() || elsewhere);
            if run.is_none() && !running {
                return Ok(Seen { stored, debate, running: false, elsewhere: None });
            }
            let late = waiting.until.is_some_and(|until| Instant::now() >= until);
            let player = stored.holder.clone().filter(|_| elsewhere && running);
            if late || self.closing.is_cancelled() {
                return Ok(Seen { stored, debate, running, elsewhere: player });
            }
            tokio::select! {
                ended = ended(run) => {
                    ended.map_err(|stopped| given_up(id, stopped))?;
                    updates = None;
                }
                Some(news) = news(&mut updates, &debate, &mut tail) => {
                    told = Instant::now();
                    waiting.tell(began, &news).await;
                }
                () = tokio::time::sleep_until(told + TICK) => {
                    told = Instant::now();
                    waiting.tell(began, &waits_for(&debate, &step)).await;
                }
                () = tokio::time::sleep(LOOK), if elsewhere => {}
                () = until(waiting.until) => {}
                () = waiting.gone.cancelled() => {
                    return Ok(Seen { stored, debate, running, elsewhere: player });
                }
                () = self.closing.cancelled() => {}
            }
        }
    }

    /// Takes up what nobody plays; none, if another process does.
    async fn begin(
        self: &Arc<Hub>,
        id: &str,
        place: &Place,
        debate: &Debate,
    ) -> Result<Option<Run>, Complaint> {
        self.desk.ready(debate, debate.seats())?;
        match self.take_up(id, place).await {
            Ok(run) => Ok(Some(run)),
            Err(DeskError::Archive(ArchiveError::Busy { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Waiting {
    /// Waits for something that is no debate yet. Whoever waits hears of it, and it is dropped when
    /// nobody does.
    pub(super) async fn patiently<T>(
        &self,
        what: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, Complaint> {
        let began = Instant::now();
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(TICK) => self.tell(began, what).await,
                () = self.gone.cancelled() => {
                    return Err(Complaint::Gone);
                }
            }
        }
    }

    /// How long is left, if that is bounded.
    pub(super) fn left(&self) -> Duration {
        let until = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        until.unwrap_or(Duration::MAX)
    }

    async fn tell(&self, began: Instant, news: &str) {
        match &self.ear {
            Ear::Nobody => {}
            Ear::Task(task) => task.set_status_message(news),
            Ear::Client(peer, token) => {
                // In hundredths: some clients show the number as it is.
                let seconds = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
                let progress = ProgressNotificationParam::new(token.clone(), seconds)
                    .with_message(news.to_owned());
                // A client that has gone must not hold up the answer.
                let _ = tokio::time::timeout(UNREAD, peer.notify_progress(progress)).await;
            }
        }
    }
}

/// What is told of a play that ended before it should.
fn given_up(id: &str, stopped: Stopped) -> Complaint {
    match stopped {
        Stopped::TakenOver(by) => DeskError::Session(Error::Log(LogError::Lost { by })).into(),
        Stopped::Failed(why) => Complaint::Stopped { id: id.into(), why },
    }
}

async fn ended(run: Option<Run>) -> super::hub::Ended {
    match run {
        Some(mut run) => run.ended().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// The next thing worth telling; nothing, once there is nobody to tell it.
async fn news(updates: &mut Option<Heard>, debate: &Debate, tail: &mut Tail) -> Option<String> {
    loop {
        let Some((handle, from)) = updates.as_mut() else { return std::future::pending().await };
        match from.recv().await.as_deref() {
            Ok(Update::Slow { cue, after, most }) => {
                let who = who(debate, *cue);
                return Some(format!(
                    "{who} has not finished after {after} s; it is stopped at {most} s"
                ));
            }
            Ok(Update::Delta { cue, .. }) => {
                if let Some(words) = tail.heard(debate, *cue, || handle.said(*cue)) {
                    return Some(words);
                }
            }
            Ok(Update::Fact { event: Event::Spoke { cue, .. }, .. }) => {
                return Some(format!("{} answered", who(debate, *cue)));
            }
            Ok(Update::Fact { event: Event::Refused { cue, .. }, .. }) => {
                return Some(format!("{} is asked once more", who(debate, *cue)));
            }
            Ok(Update::Fact { event: Event::Failed { cue, .. }, .. }) => {
                return Some(format!("{} failed", who(debate, *cue)));
            }
            Err(broadcast::error::RecvError::Closed) => *updates = None,
            _ => {}
        }
    }
}

fn waits_for(debate: &Debate, step: &Step) -> String {
    let names: Vec<String> = step.cues().map(|cue| who(debate, cue)).collect();
    if names.is_empty() { "finishing".into() } else { format!("waiting for {}", names.join(", ")) }
}

fn who(debate: &Debate, cue: Cue) -> String {
    let (role, tool) = (debate.seat(cue).title(), debate.tool(cue));
    if cue.round == 0 {
        return format!("{role} ({tool})");
    }
    format!("round {}: {role} ({tool})", cue.round)
}
