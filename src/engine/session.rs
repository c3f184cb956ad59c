//! The session: runs one debate and is the only code that changes it.
//!
//! Every change takes the same path (`Session::record`): redact, check against the rules, append to
//! the log, apply to the state, publish to subscribers. A command is all or nothing. Turns of a
//! wave run concurrently and are cancelled when they are no longer due.
use super::command::{Command, Error, Reply, Request};
use super::live::{Live, Update};
use super::ports::{Call, Clock, Log, LogError, Said, Stream, Voices, WishId};
use super::scrutiny::{Looked, Outside, Scrutiny};
use super::turn::{self, Told};
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
    requests: mpsc::Receiver<Request>,
    live: Live,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    scrutiny: Scrutiny,
    /// The next step while the session is idle, `None` while turns are being fetched.
    idle: watch::Sender<Option<Step>>,
    /// Prompts of the turns that are recorded as asked but not requested yet.
    fresh: Told,
}

impl Session {
    /// Creates a session. Nothing runs before [`Session::run`] or [`Session::run_until_idle`].
    pub fn new(
        debate: Debate,
        log: Box<dyn Log>,
        requests: mpsc::Receiver<Request>,
        live: Live,
        clock: Arc<dyn Clock>,
        around: &Outside,
    ) -> Session {
        let (idle, fresh) = (watch::Sender::new(None), Told::new());
        let scrutiny = Scrutiny::of(debate.setup(), around);
        let root = around.root.clone();
        Session { debate, log, requests, live, clock, root, scrutiny, idle, fresh }
    }

    /// First events of a new debate: the turns that are asked first, with their prompts.
    pub(super) fn opening(debate: &Debate, now: i64) -> (Vec<Event>, Told) {
        turn::asked(debate, &[], now)
            .map_or_else(Default::default, |(asked, told)| (vec![asked], told))
    }

    /// Sets the prompts of the turns the first events have asked.
    pub(super) fn asked_already(&mut self, fresh: Told) {
        self.fresh = fresh;
    }

    /// Current state.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Subscribes to the idle state: the next step whenever no turn is being fetched.
    pub fn idle(&self) -> watch::Receiver<Option<Step>> {
        self.idle.subscribe()
    }

    /// Redact, check, append, apply, publish. Every change to every debate passes through here.
    fn record(&mut self, events: Vec<Event>) -> Result<(), Error> {
        self.write(events, None)
    }

    /// As `record`. If the events execute a queued command, it is marked as done in the same
    /// transaction.
    fn write(&mut self, events: Vec<Event>, wish: Option<WishId>) -> Result<(), Error> {
        let events = self.scrutiny.gate.all(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        let last = match wish {
            Some(wish) => self.log.fulfil(wish, &events)?.ok_or(LogError::Withdrawn)?,
            None => self.log.append(&events)?,
        };
        self.debate = after;
        let first = (last + 1).saturating_sub(events.len() as u64);
        for (seq, event) in (first..).zip(events) {
            self.live.tell(Update::Fact { seq, event });
        }
        Ok(())
    }

    /// Records the results of turns together with the next event (the next turns, a retry or the
    /// close) in one transaction, which saves a disk write. Returns the prompts of the turns to
    /// retry.
    fn record_turns(&mut self, events: Vec<Event>, again: &[Cue]) -> Result<Told, Error> {
        self.write_turns(events, again, None)
    }

    fn write_turns(
        &mut self,
        mut events: Vec<Event>,
        again: &[Cue],
        wish: Option<WishId>,
    ) -> Result<Told, Error> {
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        if let Step::Close(outcome) = next(&after) {
            events.push(Event::Closed { outcome });
        } else if let Some((asked, told)) = turn::asked(&after, again, self.clock.now()) {
            events.push(asked);
            self.write(events, wish)?;
            if again.is_empty() {
                self.fresh = told;
                return Ok(Told::new());
            }
            return Ok(told);
        }
        self.write(events, wish).map(|()| Told::new())
    }

    /// Runs the debate and handles commands until every handle is dropped or an error occurs.
    /// Cancel-safe: dropping the future aborts the requests in flight and loses nothing recorded.
    pub async fn run(&mut self, voices: &dyn Voices) -> Result<(), Error> {
        loop {
            let step = self.drive(voices).await?;
            self.idle.send_replace(Some(step));
            let (deadline, called) = (self.next_deadline(), self.log.called());
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.idle.send_replace(None);
                        self.answer(request);
                    }
                    None => return Ok(()),
                },
                () = sleep_until(&*self.clock, deadline) => {
                    self.idle.send_replace(None);
                    self.expire()?;
                }
                call = called => {
                    self.idle.send_replace(None);
                    self.heed(call)?;
                }
            }
        }
    }

    /// Runs until no turn is left to fetch: the debate is closed, or waits for the user or an
    /// awaited seat.
    pub async fn drive(&mut self, voices: &dyn Voices) -> Result<Step, Error> {
        loop {
            match next(&self.debate) {
                Step::Speak { driven, .. } if !driven.is_empty() => {
                    self.hear(voices, driven).await?;
                }
                Step::Speak { awaited, .. }
                    if awaited.iter().any(|cue| !self.debate.was_asked(*cue)) =>
                {
                    self.ask(&[])?;
                }
                Step::Close(outcome) => self.record(vec![Event::Closed { outcome }])?,
                step => return Ok(step),
            }
        }
    }

    /// Records that a wave was asked. The turns in `again` are recorded even if they were asked
    /// before a crash, awaited seats only once.
    fn ask(&mut self, again: &[Cue]) -> Result<Told, Error> {
        match turn::asked(&self.debate, again, self.clock.now()) {
            Some((asked, told)) => self.record(vec![asked]).map(|()| told),
            None => Ok(Told::new()),
        }
    }

    /// Fetches one wave, with at most `at_once` concurrent requests. Requests still in flight when
    /// the wave is no longer due are cancelled.
    async fn hear(&mut self, voices: &dyn Voices, wave: Vec<Cue>) -> Result<(), Error> {
        // Turns asked before a crash are asked again, those just recorded as asked are not.
        let mut told = std::mem::take(&mut self.fresh);
        if !wave.iter().all(|cue| told.contains_key(cue)) {
            told = self.ask(&wave)?;
        }
        let limits = &self.debate.setup().limits;
        let (most, named) = (limits.at_once.max(1), limits.turn_seconds);
        let live = self.live.clone();
        let mut waiting: VecDeque<Cue> = wave.iter().copied().collect();
        let mut turns = FuturesUnordered::new();
        let mut under_way: Vec<(Cue, Participant, AbortHandle)> = vec![];
        let mut called = self.log.called();
        while self.wants(&wave) {
            while turns.len() < usize::from(most)
                && let Some(cue) = waiting.pop_front()
            {
                // The seat now belongs to an awaited participant, so nothing is fetched for it.
                if self.voice_of(cue).is_awaited() {
                    continue;
                }
                match turn::ask(&self.debate, cue, told.remove(&cue), &self.root) {
                    Ok(mut ask) => {
                        ask.prompt = self.scrutiny.gate.text(&ask.prompt);
                        let (handle, registration) = AbortHandle::new_pair();
                        under_way.push((cue, ask.voice.clone(), handle));
                        ask.seconds =
                            named.unwrap_or_else(|| voices.patience(&ask.voice, ask.effort));
                        live.tell(Update::Speaking { cue, seconds: Some(ask.seconds) });
                        let stream = Stream::new(cue, live.clone(), &self.scrutiny.gate);
                        let (kind, scrutiny) = (ask.reply, self.scrutiny.clone());
                        let turn = async move {
                            let said = turn::fetch(voices, ask, stream).await?;
                            Ok(scrutiny.look(kind, said).await)
                        };
                        let turn = Abortable::new(turn, registration);
                        turns.push(async move { (cue, turn.await.ok()) });
                    }
                    Err(failure) => {
                        let lost = turn::lost(&self.debate, cue, failure);
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
                    let again = self.settle(done)?;
                    waiting.extend(again.keys());
                    told.extend(again);
                }
                Some(request) = self.requests.recv() => self.answer(request),
                () = sleep_until(&*self.clock, deadline) => self.expire()?,
                call = &mut called => {
                    // If the lease is lost, this error drops all requests in flight, which cancels
                    // them.
                    self.heed(call)?;
                    called = self.log.called();
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

    fn wants(&self, wave: &[Cue]) -> bool {
        match next(&self.debate) {
            Step::Speak { driven, .. } => driven.iter().any(|cue| wave.contains(cue)),
            _ => false,
        }
    }

    /// Records the results of turns and returns those to retry. Results that are no longer due are
    /// dropped.
    fn settle(&mut self, done: Vec<(Cue, Result<Looked, TurnFailure>)>) -> Result<Told, Error> {
        let mut after = self.debate.clone();
        let (mut events, mut again) = (vec![], vec![]);
        for (cue, said) in done {
            let event = turn::came_of(&after, cue, said);
            if after.apply(event.clone()).is_ok() {
                again.extend(matches!(event, Event::Refused { .. }).then_some(cue));
                events.push(event);
            }
        }
        if events.is_empty() {
            return Ok(Told::new());
        }
        self.record_turns(events, &again)
    }

    /// Handles a request of this process. A refused command is an error of the caller, not of the
    /// session.
    fn answer(&mut self, request: Request) {
        let Request { commands, answer } = request;
        let _ = answer.send(self.grant(commands, None));
    }

    /// Handles a signal of another process. A refused command is the sender's error. If the lease
    /// is lost, the command stays in the queue for the new holder.
    fn heed(&mut self, call: Call) -> Result<(), Error> {
        let (wish, commands) = match call {
            Call::Lost { by } => return Err(LogError::Lost { by }.into()),
            Call::Wished { wish, commands } => (wish, commands),
        };
        match self.grant(commands, Some(wish)) {
            Err(lost @ Error::Log(LogError::Lost { .. })) => return Err(lost),
            Err(error) => self.log.refuse(wish, &error.to_string()),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Executes a command, if it is legal now.
    pub fn obey(&mut self, command: Command) -> Result<(), Error> {
        self.grant(vec![command], None)
    }

    /// Executes commands in one transaction, all of them or none.
    pub(super) fn grant(
        &mut self,
        wishes: Vec<Command>,
        wish: Option<WishId>,
    ) -> Result<(), Error> {
        let (mut events, mut replies) = (vec![], vec![]);
        for wish in wishes {
            match wish.event() {
                Ok(event) => events.push(event),
                Err(reply) => replies.push(reply),
            }
        }
        if replies.is_empty() {
            let nothing = events.is_empty() && wish.is_none();
            return if nothing { Ok(()) } else { self.write(events, wish) };
        }
        // The next prompts must be built from redacted events.
        let mut events = self.scrutiny.gate.all(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        for reply in replies {
            for event in self.taken(&after, reply)? {
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
    fn taken(
        &self,
        debate: &Debate,
        Reply { take, cue, text }: Reply,
    ) -> Result<Vec<Event>, Error> {
        if !debate.has_cue(cue) {
            return Err(not_due(debate, cue).into());
        }
        if let (Some(Ok(taken)), true) = (debate.turn(cue), take == debate.take_number()) {
            let text = self.scrutiny.plain(&text);
            let again = reply::parse(debate, cue, &text);
            let same = again.is_ok_and(|body: Body| body == taken.body);
            return if same { Ok(vec![]) } else { Err(Error::Taken(cue)) };
        }
        match next(debate) {
            Step::Speak { awaited, .. }
                if take == debate.take_number() && awaited.contains(&cue) => {}
            _ => return Err(not_due(debate, cue).into()),
        }
        let envelope =
            Envelope { tool: debate.seat(cue).voice.tool().into(), ..Envelope::default() };
        let kind = debate.setup().phase(cue).reply;
        let looked = self.scrutiny.look_here(kind, Said { text, envelope });
        let event = turn::read(debate, cue, looked)?;
        let asked = if debate.was_asked(cue) {
            None
        } else {
            turn::asked(debate, &[], self.clock.now()).map(|(asked, _)| asked)
        };
        Ok(asked.into_iter().chain([event]).collect())
    }

    fn voice_of(&self, cue: Cue) -> &Participant {
        &self.debate.seat(cue).voice
    }

    /// The earliest deadline of the awaited turns.
    fn next_deadline(&self) -> Option<i64> {
        let Step::Speak { awaited, .. } = next(&self.debate) else { return None };
        awaited.iter().filter_map(|cue| self.debate.deadline(*cue)).min()
    }

    /// Records every awaited turn past its deadline as failed with a timeout.
    pub fn expire(&mut self) -> Result<(), Error> {
        let now = self.clock.now();
        while let Step::Speak { awaited, .. } = next(&self.debate)
            && let Some(late) = awaited
                .into_iter()
                .find(|cue| self.debate.deadline(*cue).is_some_and(|deadline| deadline <= now))
        {
            let failure = TurnFailure::new(FailureKind::TimedOut, "no reply came in time");
            self.record_turns(vec![turn::lost(&self.debate, late, failure)], &[])?;
        }
        Ok(())
    }
}

fn not_due(debate: &Debate, cue: Cue) -> crate::debate::IllegalEvent {
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
