//! The session: runs one debate and is its only writer while it runs. `App` creates it and calls
//! `Session::run`. Creating and importing a debate write their events without a session.
//!
//! Every change takes the same path (`Session::write`): redact, check against the rules, append to
//! the log, apply to the state, publish to subscribers. A command is all or nothing.
//!
//! A wave is the set of turns open at the same time (see `debate::plan`). Driven turns are
//! requested from providers concurrently and cancelled once no longer due. Awaited turns (human,
//! host or bot) arrive as commands.
//!
//! `commands` executes commands, `event_trace` writes log lines.
mod commands;
mod event_trace;

use super::ports::{Clock, Log, LogError, Providers, QueuedCommandId, ReplyStream};
use super::reply_acceptance;
use super::reply_pipeline::{CheckedReply, ReplyPipeline, SessionContext};
use super::run::CommandRequest;
use super::session_error::SessionError;
use super::turn::{self, PromptsByCue};
use super::updates::{Update, UpdateBroadcaster};
use crate::debate::{Cue, Debate, Event, FailureKind, Participant, Step, TurnFailure, next};
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// One running debate with its event log, its command queue and its subscribers.
pub struct Session {
    debate: Debate,
    log: Box<dyn Log>,
    requests: mpsc::Receiver<CommandRequest>,
    updates: UpdateBroadcaster,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    reply_pipeline: ReplyPipeline,
    /// The next step while the session is idle, `None` while turns are being fetched.
    idle_step: watch::Sender<Option<Step>>,
    /// Prompts of the turns that are recorded as asked but not sent to their providers yet.
    asked_prompts: PromptsByCue,
    /// Whether an append is under way. If its future was dropped, this stays true, and nothing more
    /// can be written: the log may have events that the state lacks.
    appending: bool,
}

impl Session {
    /// Creates a session. Nothing runs before [`Session::run`] or [`Session::run_until_idle`].
    pub fn new(
        debate: Debate,
        log: Box<dyn Log>,
        requests: mpsc::Receiver<CommandRequest>,
        updates: UpdateBroadcaster,
        clock: Arc<dyn Clock>,
        context: &SessionContext,
    ) -> Session {
        let (idle_step, asked_prompts) = (watch::Sender::new(None), PromptsByCue::new());
        let reply_pipeline = ReplyPipeline::new(debate.setup(), context);
        let root = context.root.clone();
        Session {
            debate,
            log,
            requests,
            updates,
            clock,
            root,
            reply_pipeline,
            idle_step,
            asked_prompts,
            appending: false,
        }
    }

    /// First events of a new debate: the turns that are asked first, with their prompts.
    /// `App::create_debate` stores them together with the setup.
    pub(crate) fn first_events(debate: &Debate, now: i64) -> (Vec<Event>, PromptsByCue) {
        turn::build_asked_event(debate, &[], now)
            .map_or_else(Default::default, |(asked, prompts)| (vec![asked], prompts))
    }

    /// Sets the prompts of the turns the first events have asked.
    pub(crate) fn set_asked_prompts(&mut self, prompts: PromptsByCue) {
        self.asked_prompts = prompts;
    }

    fn id(&self) -> &str {
        &self.debate.setup().id
    }

    /// Current state.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Subscribes to the idle state: the next step whenever no turn is being fetched.
    pub fn subscribe_idle(&self) -> watch::Receiver<Option<Step>> {
        self.idle_step.subscribe()
    }

    /// Records events that execute no queued command.
    async fn record(&mut self, events: Vec<Event>) -> Result<(), SessionError> {
        self.write(events, None).await
    }

    /// Redacts, checks, appends, applies and publishes. All changes of a running debate pass
    /// through here. If the events execute a queued command, it is marked as done in the same
    /// transaction.
    async fn write(
        &mut self,
        events: Vec<Event>,
        command_id: Option<QueuedCommandId>,
    ) -> Result<(), SessionError> {
        let events = self.reply_pipeline.gate.redact_value(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        let last = self.append(&events, command_id).await?;
        self.debate = after;
        let first = (last + 1).saturating_sub(events.len() as u64);
        for (seq, event) in (first..).zip(events) {
            event_trace::log_event(&self.debate, seq, &event);
            self.updates.publish(Update::Fact { seq, event });
        }
        Ok(())
    }

    async fn append(
        &mut self,
        events: &[Event],
        command_id: Option<QueuedCommandId>,
    ) -> Result<u64, LogError> {
        if self.appending {
            return Err(LogError::WriteFailed("an earlier write was interrupted".into()));
        }
        self.appending = true;
        let appended = match command_id {
            Some(command_id) => self.log.append_for_command(command_id, events).await,
            None => self.log.append(events).await.map(Some),
        };
        self.appending = false;
        appended?.ok_or(LogError::CommandWithdrawn)
    }

    /// Records the results of turns together with the next event (the next turns, a retry or the
    /// close) in one transaction, which saves a disk write. Returns the prompts of the turns to
    /// retry.
    async fn record_turns(
        &mut self,
        events: Vec<Event>,
        retry_cues: &[Cue],
    ) -> Result<PromptsByCue, SessionError> {
        self.write_turns(events, retry_cues, None).await
    }

    async fn write_turns(
        &mut self,
        mut events: Vec<Event>,
        retry_cues: &[Cue],
        command_id: Option<QueuedCommandId>,
    ) -> Result<PromptsByCue, SessionError> {
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        if let Step::Close(outcome) = next(&after) {
            events.push(Event::Closed { outcome });
        } else if let Some((asked_event, prompts)) =
            turn::build_asked_event(&after, retry_cues, self.clock.now())
        {
            events.push(asked_event);
            self.write(events, command_id).await?;
            if retry_cues.is_empty() {
                self.asked_prompts = prompts;
                return Ok(PromptsByCue::new());
            }
            return Ok(prompts);
        }
        self.write(events, command_id).await.map(|()| PromptsByCue::new())
    }

    /// Runs the debate and handles commands until every handle is dropped or an error occurs.
    /// Cancel-safe: dropping the future aborts the requests in flight and loses nothing recorded. The
    /// session itself can be used again only if no append was under way.
    pub async fn run(&mut self, providers: &dyn Providers) -> Result<(), SessionError> {
        loop {
            let step = self.run_until_idle(providers).await?;
            event_trace::log_idle(&self.debate, &step);
            self.idle_step.send_replace(Some(step));
            let (deadline, signal_future) = (self.next_deadline(), self.log.next_signal());
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.idle_step.send_replace(None);
                        self.handle_request(request).await;
                    }
                    None => return Ok(()),
                },
                () = sleep_until(&*self.clock, deadline) => {
                    self.idle_step.send_replace(None);
                    self.fail_overdue().await?;
                }
                signal = signal_future => {
                    self.idle_step.send_replace(None);
                    self.handle_signal(signal).await?;
                }
            }
        }
    }

    /// Runs until no turn is left to fetch: the debate is closed, or waits for the user or an
    /// awaited seat.
    pub async fn run_until_idle(
        &mut self,
        providers: &dyn Providers,
    ) -> Result<Step, SessionError> {
        loop {
            match next(&self.debate) {
                Step::Speak { driven, .. } if !driven.is_empty() => {
                    self.fetch_wave(providers, driven).await?;
                }
                Step::Speak { awaited, .. }
                    if awaited.iter().any(|cue| !self.debate.was_asked(*cue)) =>
                {
                    self.record_asked(&[]).await?;
                }
                Step::Close(outcome) => self.record(vec![Event::Closed { outcome }]).await?,
                step => return Ok(step),
            }
        }
    }

    /// Records that the open turns are asked. Turns already asked are skipped, except driven turns
    /// in `retry_cues`: their request was lost, for example in a crash. Awaited turns are never
    /// asked twice, so they keep their deadline.
    async fn record_asked(&mut self, retry_cues: &[Cue]) -> Result<PromptsByCue, SessionError> {
        match turn::build_asked_event(&self.debate, retry_cues, self.clock.now()) {
            Some((asked_event, prompts)) => self.record(vec![asked_event]).await.map(|()| prompts),
            None => Ok(PromptsByCue::new()),
        }
    }

    /// Fetches one wave, with at most `at_once` concurrent requests. Requests still in flight when
    /// the wave is no longer due are cancelled.
    async fn fetch_wave(
        &mut self,
        providers: &dyn Providers,
        wave: Vec<Cue>,
    ) -> Result<(), SessionError> {
        // Turns asked before a crash are asked again, those just recorded as asked are not.
        let mut prompts = std::mem::take(&mut self.asked_prompts);
        if !wave.iter().all(|cue| prompts.contains_key(cue)) {
            prompts = self.record_asked(&wave).await?;
        }
        let limits = &self.debate.setup().limits;
        let (max_concurrent, turn_seconds) = (limits.at_once.max(1), limits.turn_seconds);
        tracing::debug!(debate = %self.id(), turns = wave.len(), at_once = max_concurrent, "wave started");
        let broadcaster = self.updates.clone();
        let mut waiting: VecDeque<Cue> = wave.iter().copied().collect();
        let mut turns = FuturesUnordered::new();
        let mut in_flight: Vec<(Cue, Participant, AbortHandle)> = vec![];
        let mut signal_future = self.log.next_signal();
        while self.is_wave_due(&wave) {
            while turns.len() < usize::from(max_concurrent)
                && let Some(cue) = waiting.pop_front()
            {
                // The seat now belongs to an awaited participant, so nothing is fetched for it.
                if self.participant_at(cue).is_awaited() {
                    continue;
                }
                match turn::build_request(&self.debate, cue, prompts.remove(&cue), &self.root) {
                    Ok(mut turn_request) => {
                        turn_request.prompt =
                            self.reply_pipeline.gate.redact_text(&turn_request.prompt);
                        let (handle, registration) = AbortHandle::new_pair();
                        in_flight.push((cue, turn_request.participant.clone(), handle));
                        turn_request.timeout_secs = turn_seconds.unwrap_or_else(|| {
                            providers.default_timeout_secs(
                                &turn_request.participant,
                                turn_request.effort,
                            )
                        });
                        broadcaster.publish(Update::Speaking {
                            cue,
                            seconds: Some(turn_request.timeout_secs),
                        });
                        let stream =
                            ReplyStream::new(cue, broadcaster.clone(), &self.reply_pipeline.gate);
                        let (kind, pipeline) =
                            (turn_request.reply_kind, self.reply_pipeline.clone());
                        let turn = async move {
                            let reply = turn::fetch_reply(providers, turn_request, stream).await?;
                            Ok(pipeline.process(kind, reply).await)
                        };
                        let turn = Abortable::new(turn, registration);
                        turns.push(async move { (cue, turn.await.ok()) });
                    }
                    Err(failure) => {
                        let failed = reply_acceptance::failed_event(&self.debate, cue, failure);
                        self.record_turns(vec![failed], &[]).await?;
                    }
                }
            }
            if turns.is_empty() {
                break;
            }
            let deadline = self.next_deadline();
            tokio::select! {
                Some(first) = turns.next() => {
                    let mut results = vec![];
                    let more = std::iter::from_fn(|| turns.next().now_or_never().flatten());
                    for (cue, reply) in std::iter::once(first).chain(more) {
                        in_flight.retain(|(other, _, _)| *other != cue);
                        match reply {
                            Some(reply) => results.push((cue, reply)),
                            None => waiting.push_back(cue),
                        }
                    }
                    let retry_prompts = self.record_results(results).await?;
                    waiting.extend(retry_prompts.keys());
                    prompts.extend(retry_prompts);
                }
                Some(request) = self.requests.recv() => self.handle_request(request).await,
                () = sleep_until(&*self.clock, deadline) => self.fail_overdue().await?,
                signal = &mut signal_future => {
                    // If the lease is lost, this error drops all requests in flight, which cancels
                    // them.
                    self.handle_signal(signal).await?;
                    signal_future = self.log.next_signal();
                }
            }
            // After a seat transfer the turn is requested again from the new participant.
            for (cue, participant, turn) in &in_flight {
                if self.debate.seat(*cue).voice != *participant {
                    tracing::debug!(debate = %self.id(), turn = %cue, "request cancelled");
                    turn.abort();
                }
            }
        }
        Ok(())
    }

    fn is_wave_due(&self, wave: &[Cue]) -> bool {
        match next(&self.debate) {
            Step::Speak { driven, .. } => driven.iter().any(|cue| wave.contains(cue)),
            _ => false,
        }
    }

    /// Records the results of turns and returns those to retry. Results that are no longer due are
    /// dropped.
    async fn record_results(
        &mut self,
        results: Vec<(Cue, Result<CheckedReply, TurnFailure>)>,
    ) -> Result<PromptsByCue, SessionError> {
        let mut after = self.debate.clone();
        let (mut events, mut retry_cues) = (vec![], vec![]);
        for (cue, reply) in results {
            let event = reply_acceptance::accept_or_reject(&after, cue, reply);
            if after.apply(event.clone()).is_ok() {
                retry_cues.extend(matches!(event, Event::Refused { .. }).then_some(cue));
                events.push(event);
            } else {
                tracing::debug!(debate = %self.id(), turn = %cue, "late result dropped");
            }
        }
        if events.is_empty() {
            return Ok(PromptsByCue::new());
        }
        self.record_turns(events, &retry_cues).await
    }

    fn participant_at(&self, cue: Cue) -> &Participant {
        &self.debate.seat(cue).voice
    }

    /// The earliest deadline of the awaited turns.
    fn next_deadline(&self) -> Option<i64> {
        let Step::Speak { awaited, .. } = next(&self.debate) else { return None };
        awaited.iter().filter_map(|cue| self.debate.deadline(*cue)).min()
    }

    /// Records every awaited turn past its deadline as failed with a timeout.
    pub async fn fail_overdue(&mut self) -> Result<(), SessionError> {
        let now = self.clock.now();
        while let Step::Speak { awaited, .. } = next(&self.debate)
            && let Some(overdue) = awaited
                .into_iter()
                .find(|cue| self.debate.deadline(*cue).is_some_and(|deadline| deadline <= now))
        {
            tracing::info!(debate = %self.id(), turn = %overdue, "deadline passed");
            let failure = TurnFailure::new(FailureKind::TimedOut, "no reply came in time");
            self.record_turns(
                vec![reply_acceptance::failed_event(&self.debate, overdue, failure)],
                &[],
            )
            .await?;
        }
        Ok(())
    }
}

/// Sleeps until this wall-clock time, or for ever without a deadline.
async fn sleep_until(clock: &dyn Clock, deadline: Option<i64>) {
    match deadline {
        Some(deadline) => {
            let remaining_ms = u64::try_from(deadline.saturating_sub(clock.now())).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(remaining_ms)).await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
