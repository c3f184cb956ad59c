//! Waits for a debate until it is idle or the deadline has passed, and sends progress notifications
//! meanwhile. Cancelling the wait does not cancel the run: `RunRegistry` owns that.
use super::complaint::Complaint;
use super::hub::{Hub, Run, Stopped};
use super::tail::Tail;
use crate::debate::{Cue, Debate, Event, Step, next};
use crate::engine::{
    AppError, ArchiveError, LogError, RunHandle, SessionError, StoredDebate, Update, Workspace,
};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::TaskContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Interval of progress notifications. Clients expect one at least every five seconds.
const TICK: Duration = Duration::from_secs(4);
/// Interval at which a debate that another process runs is polled.
const LOOK: Duration = Duration::from_millis(200);
/// Timeout for sending a notification to a client that does not read its input.
const UNREAD: Duration = Duration::from_millis(200);

/// Deadline, cancellation and progress sink of one wait.
pub(super) struct Waiting {
    pub(super) until: Option<Instant>,
    /// Cancelled when the client cancels the request.
    pub(super) gone: CancellationToken,
    pub(super) ear: Ear,
}

/// Where progress messages are sent.
pub(super) enum Ear {
    Nobody,
    Client(Peer<RoleServer>, ProgressToken),
    Task(TaskContext),
}

/// Handle of a run in this process, and its stream of updates.
type Heard = (RunHandle, broadcast::Receiver<Arc<Update>>);

/// The debate at the end of a wait.
pub(super) struct Seen {
    pub(super) stored: StoredDebate,
    pub(super) debate: Debate,
    pub(super) running: bool,
    /// Holder of the lease, if another process runs the debate.
    pub(super) elsewhere: Option<String>,
}

impl Hub {
    /// Starts a run if the debate has turns to request and no process runs it, then waits until it
    /// is idle, or until the deadline, cancellation or shutdown.
    pub(super) async fn attend(
        self: &Arc<Hub>,
        id: &str,
        place: &Workspace,
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
            let busy = busy || self.desk.is_overdue(&debate);
            let mut run = self.running(id);
            let mut taken = false;
            if run.is_none() && busy && flaw.is_none() && !self.closing.is_cancelled() {
                run = self.begin(id, place, &debate).await?;
                // Another process took the lease first.
                taken = run.is_none();
            }
            if updates.is_none() {
                updates = run.as_ref().map(|run| (run.handle.clone(), run.handle.subscribe()));
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

    /// Starts a run, or returns none if another process holds the lease.
    async fn begin(
        self: &Arc<Hub>,
        id: &str,
        place: &Workspace,
        debate: &Debate,
    ) -> Result<Option<Run>, Complaint> {
        self.desk.check_remaining_seats(debate, debate.seats())?;
        match self.take_up(id, place).await {
            Ok(run) => Ok(Some(run)),
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Waiting {
    /// Awaits a future that belongs to no run, with progress notifications. The future is dropped
    /// and an error returned when the client cancels the request.
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

    /// Time until the deadline, or `Duration::MAX` without one.
    pub(super) fn left(&self) -> Duration {
        let until = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        until.unwrap_or(Duration::MAX)
    }

    async fn tell(&self, began: Instant, news: &str) {
        match &self.ear {
            Ear::Nobody => {}
            Ear::Task(task) => task.set_status_message(news),
            Ear::Client(peer, token) => {
                // Rounded to hundredths: some clients display the raw number.
                let seconds = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
                let progress = ProgressNotificationParam::new(token.clone(), seconds)
                    .with_message(news.to_owned());
                // A disconnected client must not delay the response.
                let _ = tokio::time::timeout(UNREAD, peer.notify_progress(progress)).await;
            }
        }
    }
}

/// The error for a run that stopped early.
fn given_up(id: &str, stopped: Stopped) -> Complaint {
    match stopped {
        Stopped::TakenOver(by) => {
            AppError::Session(SessionError::Log(LogError::LeaseLost { by })).into()
        }
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

/// Waits for the next update worth a progress message. Never resolves when there is no stream.
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
                if let Some(words) = tail.heard(debate, *cue, || handle.partial_text(*cue)) {
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
    let names: Vec<String> = step.open_cues().map(|cue| who(debate, cue)).collect();
    if names.is_empty() { "finishing".into() } else { format!("waiting for {}", names.join(", ")) }
}

fn who(debate: &Debate, cue: Cue) -> String {
    let (role, tool) = (debate.seat(cue).title(), debate.tool_at(cue));
    if cue.round == 0 {
        return format!("{role} ({tool})");
    }
    format!("round {}: {role} ({tool})", cue.round)
}
