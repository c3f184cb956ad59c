//! Waits for a debate until it is idle or the deadline has passed, and sends progress notifications
//! meanwhile. Cancelling the wait does not cancel the run: `RunRegistry` owns that.
use super::error::ToolError;
use super::progress::ProgressPreview;
use super::run_registry::{ActiveRun, RunRegistry, RunStopReason};
use crate::app::AppError;
use crate::debate::{Cue, Debate, Event, Step, next};
use crate::engine::{
    ArchiveError, LogError, RunHandle, SessionError, StoredDebate, Update, Workspace,
};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::TaskContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Interval of progress notifications. Clients expect one at least every five seconds.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(4);
/// Interval at which a debate that another process runs is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Timeout for sending a notification to a client that does not read its input.
const NOTIFY_TIMEOUT: Duration = Duration::from_millis(200);

/// Deadline, cancellation and progress sink of one wait.
pub(super) struct WaitContext {
    pub(super) deadline: Option<Instant>,
    /// Cancelled when the client cancels the request.
    pub(super) cancel: CancellationToken,
    pub(super) progress: ProgressSink,
}

/// Where progress messages are sent.
pub(super) enum ProgressSink {
    Discard,
    Client(Peer<RoleServer>, ProgressToken),
    Task(TaskContext),
}

/// Handle of a run in this process, and its stream of updates.
type RunUpdates = (RunHandle, broadcast::Receiver<Arc<Update>>);

/// The debate at the end of a wait.
pub(super) struct WaitResult {
    pub(super) stored: StoredDebate,
    pub(super) debate: Debate,
    pub(super) running: bool,
    /// Holder of the lease, if another process runs the debate.
    pub(super) remote_holder: Option<String>,
}

impl RunRegistry {
    /// Starts a run if the debate has turns to request and no process runs it, then waits until it
    /// is idle, or until the deadline, cancellation or shutdown.
    pub(super) async fn play_and_wait(
        self: &Arc<RunRegistry>,
        id: &str,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<WaitResult, ToolError> {
        let started_at = Instant::now();
        let mut last_report = Instant::now();
        let mut updates: Option<RunUpdates> = None;
        let mut preview = ProgressPreview::default();
        loop {
            let (stored, debate, flaw) = self.app.read(id).await?;
            let step = next(&debate);
            let busy = match &step {
                Step::Speak { driven, .. } => !driven.is_empty(),
                Step::Close(_) => true,
                _ => false,
            };
            let busy = busy || self.app.is_overdue(&debate);
            let mut run = self.find_run(id);
            let mut lease_taken = false;
            if run.is_none() && busy && flaw.is_none() && !self.shutdown.is_cancelled() {
                run = self.start_if_free(id, workspace, &debate).await?;
                // Another process took the lease first.
                lease_taken = run.is_none();
            }
            if updates.is_none() {
                updates = run.as_ref().map(|run| (run.handle.clone(), run.handle.subscribe()));
            }
            let runs_elsewhere = run.is_none() && (lease_taken || stored.holder.is_some());
            let running = busy && (run.is_some() || runs_elsewhere);
            if run.is_none() && !running {
                return Ok(WaitResult { stored, debate, running: false, remote_holder: None });
            }
            let is_late = wait.deadline.is_some_and(|until| Instant::now() >= until);
            let remote_holder = stored.holder.clone().filter(|_| runs_elsewhere && running);
            if is_late || self.shutdown.is_cancelled() {
                tracing::debug!(debate = %id, running, "wait ended before the debate was idle");
                return Ok(WaitResult { stored, debate, running, remote_holder });
            }
            tokio::select! {
                ended = wait_for_run_end(run) => {
                    ended.map_err(|reason| stop_error(id, reason))?;
                    updates = None;
                }
                Some(message) = next_progress_message(&mut updates, &debate, &mut preview) => {
                    last_report = Instant::now();
                    wait.report_progress(started_at, &message).await;
                }
                () = tokio::time::sleep_until(last_report + PROGRESS_INTERVAL) => {
                    last_report = Instant::now();
                    wait.report_progress(started_at, &pending_message(&debate, &step)).await;
                }
                () = tokio::time::sleep(POLL_INTERVAL), if runs_elsewhere => {}
                () = sleep_until_deadline(wait.deadline) => {}
                () = wait.cancel.cancelled() => {
                    return Ok(WaitResult { stored, debate, running, remote_holder });
                }
                () = self.shutdown.cancelled() => {}
            }
        }
    }

    /// Starts a run, or returns none if another process holds the lease.
    async fn start_if_free(
        self: &Arc<RunRegistry>,
        id: &str,
        workspace: &Workspace,
        debate: &Debate,
    ) -> Result<Option<ActiveRun>, ToolError> {
        self.app.check_remaining_seats(debate, debate.seats())?;
        match self.find_or_start_run(id, workspace).await {
            Ok(run) => Ok(Some(run)),
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl WaitContext {
    /// Awaits a future that belongs to no run, with progress notifications. The future is dropped
    /// and an error returned when the client cancels the request.
    pub(super) async fn await_with_progress<T>(
        &self,
        message: &'static str,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let (_, stages) = mpsc::unbounded_channel::<()>();
        self.await_from(message, stages, |()| None, work).await
    }

    /// As [`WaitContext::await_with_progress`], with a message that follows the stages of the work.
    pub(super) async fn await_stages<T, S>(
        &self,
        stages: mpsc::UnboundedReceiver<S>,
        describe: impl Fn(&S) -> Option<&'static str>,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        self.await_from("starting", stages, |stage| describe(&stage), work).await
    }

    async fn await_from<T, S>(
        &self,
        mut message: &'static str,
        mut stages: mpsc::UnboundedReceiver<S>,
        describe: impl Fn(S) -> Option<&'static str>,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let started_at = Instant::now();
        let mut last_report = started_at;
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                output = &mut work => return Ok(output),
                Some(stage) = stages.recv() => message = describe(stage).unwrap_or(message),
                () = tokio::time::sleep_until(last_report + PROGRESS_INTERVAL) => {
                    last_report = Instant::now();
                    self.report_progress(started_at, message).await;
                }
                () = self.cancel.cancelled() => {
                    return Err(ToolError::CallCancelled);
                }
            }
        }
    }

    /// Time until the deadline, or `Duration::MAX` without one.
    pub(super) fn time_left(&self) -> Duration {
        let until = self.deadline.map(|until| until.saturating_duration_since(Instant::now()));
        until.unwrap_or(Duration::MAX)
    }

    async fn report_progress(&self, started_at: Instant, message: &str) {
        match &self.progress {
            ProgressSink::Discard => {}
            ProgressSink::Task(task) => task.set_status_message(message),
            ProgressSink::Client(peer, token) => {
                // Rounded to hundredths: some clients display the raw number.
                let seconds = (started_at.elapsed().as_secs_f64() * 100.0).round() / 100.0;
                let progress = ProgressNotificationParam::new(token.clone(), seconds)
                    .with_message(message.to_owned());
                send_notification(peer.notify_progress(progress)).await;
            }
        }
    }
}

/// Sends a notification with a timeout: a disconnected client must not delay the response.
async fn send_notification<T>(notification: impl Future<Output = T>) {
    let _ = tokio::time::timeout(NOTIFY_TIMEOUT, notification).await;
}

/// The error for a run that stopped early.
fn stop_error(id: &str, reason: RunStopReason) -> ToolError {
    match reason {
        RunStopReason::TakenOver(by) => {
            AppError::Session(SessionError::Log(LogError::LeaseLost { by })).into()
        }
        RunStopReason::Failed(why) => ToolError::RunStopped { id: id.into(), why },
    }
}

async fn wait_for_run_end(run: Option<ActiveRun>) -> super::run_registry::RunResult {
    match run {
        Some(mut run) => run.wait_for_end().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until_deadline(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next update worth a progress message. Never resolves when there is no stream.
async fn next_progress_message(
    updates: &mut Option<RunUpdates>,
    debate: &Debate,
    preview: &mut ProgressPreview,
) -> Option<String> {
    loop {
        let Some((handle, receiver)) = updates.as_mut() else {
            return std::future::pending().await;
        };
        match receiver.recv().await.as_deref() {
            Ok(Update::Slow { cue, after, most }) => {
                let label = turn_label(debate, *cue);
                return Some(format!(
                    "{label} has not finished after {after} s; it is stopped at {most} s"
                ));
            }
            Ok(Update::Delta { cue, .. }) => {
                if let Some(text) = preview.next_preview(debate, *cue, || handle.partial_text(*cue))
                {
                    return Some(text);
                }
            }
            Ok(Update::Fact { event: Event::Spoke { cue, .. }, .. }) => {
                return Some(format!("{} answered", turn_label(debate, *cue)));
            }
            Ok(Update::Fact { event: Event::Refused { cue, .. }, .. }) => {
                return Some(format!("{} is asked once more", turn_label(debate, *cue)));
            }
            Ok(Update::Fact { event: Event::Failed { cue, .. }, .. }) => {
                return Some(format!("{} failed", turn_label(debate, *cue)));
            }
            Err(broadcast::error::RecvError::Closed) => *updates = None,
            _ => {}
        }
    }
}

fn pending_message(debate: &Debate, step: &Step) -> String {
    let names: Vec<String> = step.open_cues().map(|cue| turn_label(debate, cue)).collect();
    if names.is_empty() { "finishing".into() } else { format!("waiting for {}", names.join(", ")) }
}

fn turn_label(debate: &Debate, cue: Cue) -> String {
    let (role, tool) = (debate.seat(cue).title(), debate.tool_at(cue));
    if cue.round == 0 {
        return format!("{role} ({tool})");
    }
    format!("round {}: {role} ({tool})", cue.round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn notification_is_dropped_after_200_ms() {
        assert_eq!(NOTIFY_TIMEOUT, Duration::from_millis(200));
        for (milliseconds, is_sent) in [(199, true), (201, false)] {
            let mut sent = false;
            send_notification(async {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                sent = true;
            })
            .await;
            assert_eq!(sent, is_sent);
        }
    }
}
