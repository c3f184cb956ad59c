//! The session: runs one debate and is the only code that changes it.
//!
//! Every change takes the same path (`Session::record`): redact, check against the rules, append to
//! the log, apply to the state, publish to subscribers. A command is all or nothing. Turns of a
//! wave run concurrently and are cancelled when they are no longer due.
use super::command::{AwaitedReply, Command, CommandRequest, SessionError};
use super::ports::{
    Clock, LeaseSignal, Log, LogError, ProviderReply, Providers, QueuedCommandId, ReplyStream,
};
use super::reply_pipeline::{CheckedReply, ReplyPipeline, SessionContext};
use super::turn::{self, PromptsByCue};
use super::updates::{Update, UpdateBroadcaster};
use crate::debate::{
    Body, Cue, Debate, Envelope, Event, FailureKind, Participant, Step, TurnFailure, next, reply,
};
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
    /// Prompts of the turns that are recorded as asked but not requested yet.
    asked_prompts: PromptsByCue,
}

impl Session {
    /// Creates a session. Nothing runs before [`Session::run`] or [`Session::run_until_idle`].
    pub fn new(
        debate: Debate,
        log: Box<dyn Log>,
        requests: mpsc::Receiver<CommandRequest>,
        updates: UpdateBroadcaster,
        clock: Arc<dyn Clock>,
        around: &SessionContext,
    ) -> Session {
        let (idle_step, asked_prompts) = (watch::Sender::new(None), PromptsByCue::new());
        let reply_pipeline = ReplyPipeline::new(debate.setup(), around);
        let root = around.root.clone();
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
        }
    }

    /// First events of a new debate: the turns that are asked first, with their prompts.
    pub(super) fn first_events(debate: &Debate, now: i64) -> (Vec<Event>, PromptsByCue) {
        turn::build_asked_event(debate, &[], now)
            .map_or_else(Default::default, |(asked, told)| (vec![asked], told))
    }

    /// Sets the prompts of the turns the first events have asked.
    pub(super) fn set_asked_prompts(&mut self, fresh: PromptsByCue) {
        self.asked_prompts = fresh;
    }

    /// Current state.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Subscribes to the idle state: the next step whenever no turn is being fetched.
    pub fn subscribe_idle(&self) -> watch::Receiver<Option<Step>> {
        self.idle_step.subscribe()
    }

    /// Redact, check, append, apply, publish. Every change to every debate passes through here.
    fn record(&mut self, events: Vec<Event>) -> Result<(), SessionError> {
        self.write(events, None)
    }

    /// As `record`. If the events execute a queued command, it is marked as done in the same
    /// transaction.
    fn write(
        &mut self,
        events: Vec<Event>,
        wish: Option<QueuedCommandId>,
    ) -> Result<(), SessionError> {
        let events = self.reply_pipeline.gate.redact_value(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        let last = match wish {
            Some(wish) => {
                self.log.append_for_command(wish, &events)?.ok_or(LogError::CommandWithdrawn)?
            }
            None => self.log.append(&events)?,
        };
        self.debate = after;
        let first = (last + 1).saturating_sub(events.len() as u64);
        for (seq, event) in (first..).zip(events) {
            self.updates.publish(Update::Fact { seq, event });
        }
        Ok(())
    }

    /// Records the results of turns together with the next event (the next turns, a retry or the
    /// close) in one transaction, which saves a disk write. Returns the prompts of the turns to
    /// retry.
    fn record_turns(
        &mut self,
        events: Vec<Event>,
        again: &[Cue],
    ) -> Result<PromptsByCue, SessionError> {
        self.write_turns(events, again, None)
    }

    fn write_turns(
        &mut self,
        mut events: Vec<Event>,
        again: &[Cue],
        wish: Option<QueuedCommandId>,
    ) -> Result<PromptsByCue, SessionError> {
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        if let Step::Close(outcome) = next(&after) {
            events.push(Event::Closed { outcome });
        } else if let Some((asked, told)) = turn::build_asked_event(&after, again, self.clock.now())
        {
            events.push(asked);
            self.write(events, wish)?;
            if again.is_empty() {
                self.asked_prompts = told;
                return Ok(PromptsByCue::new());
            }
            return Ok(told);
        }
        self.write(events, wish).map(|()| PromptsByCue::new())
    }

    /// Runs the debate and handles commands until every handle is dropped or an error occurs.
    /// Cancel-safe: dropping the future aborts the requests in flight and loses nothing recorded.
    pub async fn run(&mut self, voices: &dyn Providers) -> Result<(), SessionError> {
        loop {
            let step = self.run_until_idle(voices).await?;
            self.idle_step.send_replace(Some(step));
            let (deadline, called) = (self.next_deadline(), self.log.next_signal());
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.idle_step.send_replace(None);
                        self.handle_request(request);
                    }
                    None => return Ok(()),
                },
                () = sleep_until(&*self.clock, deadline) => {
                    self.idle_step.send_replace(None);
                    self.fail_overdue()?;
                }
                call = called => {
                    self.idle_step.send_replace(None);
                    self.handle_signal(call)?;
                }
            }
        }
    }

    /// Runs until no turn is left to fetch: the debate is closed, or waits for the user or an
    /// awaited seat.
    pub async fn run_until_idle(&mut self, voices: &dyn Providers) -> Result<Step, SessionError> {
        loop {
            match next(&self.debate) {
                Step::Speak { driven, .. } if !driven.is_empty() => {
                    self.fetch_wave(voices, driven).await?;
                }
                Step::Speak { awaited, .. }
                    if awaited.iter().any(|cue| !self.debate.was_asked(*cue)) =>
                {
                    self.record_asked(&[])?;
                }
                Step::Close(outcome) => self.record(vec![Event::Closed { outcome }])?,
                step => return Ok(step),
            }
        }
    }

    /// Records that a wave was asked. The turns in `again` are recorded even if they were asked
    /// before a crash, awaited seats only once.
    fn record_asked(&mut self, again: &[Cue]) -> Result<PromptsByCue, SessionError> {
        match turn::build_asked_event(&self.debate, again, self.clock.now()) {
            Some((asked, told)) => self.record(vec![asked]).map(|()| told),
            None => Ok(PromptsByCue::new()),
        }
    }

    /// Fetches one wave, with at most `at_once` concurrent requests. Requests still in flight when
    /// the wave is no longer due are cancelled.
    async fn fetch_wave(
        &mut self,
        voices: &dyn Providers,
        wave: Vec<Cue>,
    ) -> Result<(), SessionError> {
        // Turns asked before a crash are asked again, those just recorded as asked are not.
        let mut told = std::mem::take(&mut self.asked_prompts);
        if !wave.iter().all(|cue| told.contains_key(cue)) {
            told = self.record_asked(&wave)?;
        }
        let limits = &self.debate.setup().limits;
        let (most, named) = (limits.at_once.max(1), limits.turn_seconds);
        let live = self.updates.clone();
        let mut waiting: VecDeque<Cue> = wave.iter().copied().collect();
        let mut turns = FuturesUnordered::new();
        let mut under_way: Vec<(Cue, Participant, AbortHandle)> = vec![];
        let mut called = self.log.next_signal();
        while self.is_wave_due(&wave) {
            while turns.len() < usize::from(most)
                && let Some(cue) = waiting.pop_front()
            {
                // The seat now belongs to an awaited participant, so nothing is fetched for it.
                if self.participant_at(cue).is_awaited() {
                    continue;
                }
                match turn::build_request(&self.debate, cue, told.remove(&cue), &self.root) {
                    Ok(mut ask) => {
                        ask.prompt = self.reply_pipeline.gate.redact_text(&ask.prompt);
                        let (handle, registration) = AbortHandle::new_pair();
                        under_way.push((cue, ask.participant.clone(), handle));
                        ask.timeout_secs = named.unwrap_or_else(|| {
                            voices.default_timeout_secs(&ask.participant, ask.effort)
                        });
                        live.publish(Update::Speaking { cue, seconds: Some(ask.timeout_secs) });
                        let stream = ReplyStream::new(cue, live.clone(), &self.reply_pipeline.gate);
                        let (kind, scrutiny) = (ask.reply_kind, self.reply_pipeline.clone());
                        let turn = async move {
                            let said = turn::fetch_reply(voices, ask, stream).await?;
                            Ok(scrutiny.process(kind, said).await)
                        };
                        let turn = Abortable::new(turn, registration);
                        turns.push(async move { (cue, turn.await.ok()) });
                    }
                    Err(failure) => {
                        let lost = turn::failed_event(&self.debate, cue, failure);
                        self.record_turns(vec![lost], &[])?;
                    }
                }
            }
            if turns.is_empty() {
                break;
            }
            let deadline = self.next_deadline();
            tokio::select! {
                Some(first) = turns.next() => {
                    let mut done = vec![];
                    let more = std::iter::from_fn(|| turns.next().now_or_never().flatten());
                    for (cue, said) in std::iter::once(first).chain(more) {
                        under_way.retain(|(other, _, _)| *other != cue);
                        match said {
                            Some(said) => done.push((cue, said)),
                            None => waiting.push_back(cue),
                        }
                    }
                    let again = self.record_results(done)?;
                    waiting.extend(again.keys());
                    told.extend(again);
                }
                Some(request) = self.requests.recv() => self.handle_request(request),
                () = sleep_until(&*self.clock, deadline) => self.fail_overdue()?,
                call = &mut called => {
                    // If the lease is lost, this error drops all requests in flight, which cancels
                    // them.
                    self.handle_signal(call)?;
                    called = self.log.next_signal();
                }
            }
            // After a seat transfer the turn is requested again from the new participant.
            for (cue, voice, turn) in &under_way {
                if self.debate.seat(*cue).voice != *voice {
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
    fn record_results(
        &mut self,
        done: Vec<(Cue, Result<CheckedReply, TurnFailure>)>,
    ) -> Result<PromptsByCue, SessionError> {
        let mut after = self.debate.clone();
        let (mut events, mut again) = (vec![], vec![]);
        for (cue, said) in done {
            let event = turn::result_event(&after, cue, said);
            if after.apply(event.clone()).is_ok() {
                again.extend(matches!(event, Event::Refused { .. }).then_some(cue));
                events.push(event);
            }
        }
        if events.is_empty() {
            return Ok(PromptsByCue::new());
        }
        self.record_turns(events, &again)
    }

    /// Handles a request of this process. A refused command is an error of the caller, not of the
    /// session.
    fn handle_request(&mut self, request: CommandRequest) {
        let CommandRequest { commands, result_sender: answer } = request;
        let _ = answer.send(self.execute_all(commands, None));
    }

    /// Handles a signal of another process. A refused command is the sender's error. If the lease
    /// is lost, the command stays in the queue for the new holder.
    fn handle_signal(&mut self, call: LeaseSignal) -> Result<(), SessionError> {
        let (wish, commands) = match call {
            LeaseSignal::Lost { new_holder: by } => return Err(LogError::LeaseLost { by }.into()),
            LeaseSignal::Commands { id: wish, commands } => (wish, commands),
        };
        match self.execute_all(commands, Some(wish)) {
            Err(lost @ SessionError::Log(LogError::LeaseLost { .. })) => return Err(lost),
            Err(error) => self.log.refuse_command(wish, &error.to_string()),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Executes a command, if it is legal now.
    pub fn execute(&mut self, command: Command) -> Result<(), SessionError> {
        self.execute_all(vec![command], None)
    }

    /// Executes commands in one transaction, all of them or none.
    pub(super) fn execute_all(
        &mut self,
        wishes: Vec<Command>,
        wish: Option<QueuedCommandId>,
    ) -> Result<(), SessionError> {
        let (mut events, mut replies) = (vec![], vec![]);
        for wish in wishes {
            match wish.into_event() {
                Ok(event) => events.push(event),
                Err(reply) => replies.push(reply),
            }
        }
        if replies.is_empty() {
            let nothing = events.is_empty() && wish.is_none();
            return if nothing { Ok(()) } else { self.write(events, wish) };
        }
        // The next prompts must be built from redacted events.
        let mut events = self.reply_pipeline.gate.redact_value(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        for reply in replies {
            for event in self.reply_events(&after, reply)? {
                after.apply(event.clone())?;
                events.push(event);
            }
        }
        match (events.is_empty(), wish) {
            (true, None) => Ok(()),
            (true, wish) => self.write(events, wish),
            (false, wish) => self.write_turns(events, &[], wish).map(drop),
        }
    }

    /// Events a reply of an awaited seat adds. Idempotent: the same text again adds nothing.
    fn reply_events(
        &self,
        debate: &Debate,
        AwaitedReply { take, cue, text }: AwaitedReply,
    ) -> Result<Vec<Event>, SessionError> {
        if !debate.has_cue(cue) {
            return Err(not_due_error(debate, cue).into());
        }
        if let (Some(Ok(taken)), true) = (debate.turn(cue), take == debate.take_number()) {
            let text = self.reply_pipeline.sanitize(&text);
            let again = reply::parse(debate, cue, &text);
            let same = again.is_ok_and(|body: Body| body == taken.body);
            return if same { Ok(vec![]) } else { Err(SessionError::TurnTaken(cue)) };
        }
        match next(debate) {
            Step::Speak { awaited, .. }
                if take == debate.take_number() && awaited.contains(&cue) => {}
            _ => return Err(not_due_error(debate, cue).into()),
        }
        let envelope =
            Envelope { tool: debate.seat(cue).voice.tool().into(), ..Envelope::default() };
        let kind = debate.setup().phase(cue).reply;
        let looked = self.reply_pipeline.process_blocking(kind, ProviderReply { text, envelope });
        let event = turn::parse_reply(debate, cue, looked)?;
        let asked = if debate.was_asked(cue) {
            None
        } else {
            turn::build_asked_event(debate, &[], self.clock.now()).map(|(asked, _)| asked)
        };
        Ok(asked.into_iter().chain([event]).collect())
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
    pub fn fail_overdue(&mut self) -> Result<(), SessionError> {
        let now = self.clock.now();
        while let Step::Speak { awaited, .. } = next(&self.debate)
            && let Some(late) = awaited
                .into_iter()
                .find(|cue| self.debate.deadline(*cue).is_some_and(|deadline| deadline <= now))
        {
            let failure = TurnFailure::new(FailureKind::TimedOut, "no reply came in time");
            self.record_turns(vec![turn::failed_event(&self.debate, late, failure)], &[])?;
        }
        Ok(())
    }
}

fn not_due_error(debate: &Debate, cue: Cue) -> crate::debate::IllegalEvent {
    let failure = TurnFailure::new(FailureKind::Other, "not its turn");
    let event = Box::new(Event::Failed { cue, failure });
    crate::debate::IllegalEvent { event, due: next(debate) }
}

/// Sleeps until this wall-clock time, or for ever without a deadline.
async fn sleep_until(clock: &dyn Clock, deadline: Option<i64>) {
    match deadline {
        Some(deadline) => {
            let left = u64::try_from(deadline.saturating_sub(clock.now())).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
        None => std::future::pending().await,
    }
}
