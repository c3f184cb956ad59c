//! One debate being played. The only place that changes one: check, write, apply, tell.
use super::command::{Command, Error, Reply, Request};
use super::live::{Live, Update};
use super::ports::{Call, Clock, Log, LogError, Said, Stream, Voices, WishId};
use super::scrutiny::{Looked, Outside, Scrutiny};
use super::turn::{self, Told};
use crate::debate::{
    Body, Cue, Debate, Envelope, Event, Failure, Step, Trouble, Voice, next, reply,
};
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// A debate, the log it is written to, and whoever may change or watch it.
pub struct Session {
    debate: Debate,
    log: Box<dyn Log>,
    requests: mpsc::Receiver<Request>,
    live: Live,
    clock: Arc<dyn Clock>,
    /// The repository it is about.
    root: PathBuf,
    scrutiny: Scrutiny,
    /// What is due; nothing while turns are being fetched.
    idle: watch::Sender<Option<Step>>,
    /// Those this session has recorded as asked and is about to ask.
    fresh: Told,
}

impl Session {
    /// A debate about to be played.
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

    /// What opening a debate records at once: whom it asks first.
    pub(super) fn opening(debate: &Debate, now: i64) -> (Vec<Event>, Told) {
        turn::asked(debate, &[], now)
            .map_or_else(Default::default, |(asked, told)| (vec![asked], told))
    }

    /// Those the opening has asked already.
    pub(super) fn asked_already(&mut self, fresh: Told) {
        self.fresh = fresh;
    }

    /// As it stands.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// What is due, whenever nothing is being fetched.
    pub fn idle(&self) -> watch::Receiver<Option<Step>> {
        self.idle.subscribe()
    }

    /// Check, write, apply, tell. Every change to every debate passes through these lines, and
    /// through the gate.
    fn record(&mut self, events: Vec<Event>) -> Result<(), Error> {
        self.write(events, None)
    }

    /// The same; if it grants a wish, the log says so with the same stroke.
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

    /// Records what came of turns together with what follows from it, so that asking the next seat,
    /// or the same once more, or closing costs no second trip to the disk. Returns what those who
    /// are asked once more are told.
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

    /// Plays on for as long as someone may still want something of it: until the debate rests, or
    /// every handle to it is gone. Dropping the future stops every turn under way and loses nothing
    /// that was recorded.
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

    /// Runs until there is nothing left to fetch: the debate rests, or waits for the user or an
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

    /// Records that a wave begins: those who are fetched, whether or not they were asked before a
    /// crash, and those who are waited for, once.
    fn ask(&mut self, again: &[Cue]) -> Result<Told, Error> {
        match turn::asked(&self.debate, again, self.clock.now()) {
            Some((asked, told)) => self.record(vec![asked]).map(|()| told),
            None => Ok(Told::new()),
        }
    }

    /// Fetches one wave. What is still under way when the wave is no longer due is dropped.
    async fn hear(&mut self, voices: &dyn Voices, wave: Vec<Cue>) -> Result<(), Error> {
        // What was asked before a crash is asked again; what was just recorded as asked is not.
        let mut told = std::mem::take(&mut self.fresh);
        if !wave.iter().all(|cue| told.contains_key(cue)) {
            told = self.ask(&wave)?;
        }
        let limits = &self.debate.setup().limits;
        let (most, named) = (limits.at_once.max(1), limits.turn_seconds);
        let live = self.live.clone();
        let mut waiting: VecDeque<Cue> = wave.iter().copied().collect();
        let mut turns = FuturesUnordered::new();
        let mut under_way: Vec<(Cue, Voice, AbortHandle)> = vec![];
        let mut called = self.log.called();
        while self.wants(&wave) {
            while turns.len() < usize::from(most)
                && let Some(cue) = waiting.pop_front()
            {
                // Handed to somebody who is waited for, it is no longer fetched.
                if self.voice_of(cue).awaited() {
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
                    // Where it is lost, what is under way is dropped with this, and so stopped.
                    self.heed(call)?;
                    called = self.log.called();
                }
            }
            // A seat that was handed over is asked anew, under its new voice.
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

    /// Records what came of these turns, and says which to ask for once more. What is no longer
    /// due is dropped.
    fn settle(&mut self, done: Vec<(Cue, Result<Looked, Failure>)>) -> Result<Told, Error> {
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

    /// A refused request is the asker's error, not the debate's.
    fn answer(&mut self, request: Request) {
        let Request { commands, answer } = request;
        let _ = answer.send(self.grant(commands, None));
    }

    /// Does what another process wants. A wish that is refused is its error, not the debate's; one
    /// that cannot be granted because the debate is lost waits for whoever has it now.
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

    /// Does what someone asked for, if it may be done now.
    pub fn obey(&mut self, command: Command) -> Result<(), Error> {
        self.grant(vec![command], None)
    }

    /// Grants several wishes, all of them or none.
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
        // Whoever is asked next is told what has passed the gate.
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

    /// What the reply of an awaited seat adds to a debate. The same words again are no second reply,
    /// and add nothing.
    fn taken(
        &self,
        debate: &Debate,
        Reply { take, cue, text }: Reply,
    ) -> Result<Vec<Event>, Error> {
        if !debate.has(cue) {
            return Err(not_due(debate, cue).into());
        }
        if let (Some(Ok(taken)), true) = (debate.turn(cue), take == debate.take()) {
            let text = self.scrutiny.plain(&text);
            let again = reply::read(debate, cue, &text);
            let same = again.is_ok_and(|body: Body| body == taken.body);
            return if same { Ok(vec![]) } else { Err(Error::Taken(cue)) };
        }
        match next(debate) {
            Step::Speak { awaited, .. } if take == debate.take() && awaited.contains(&cue) => {}
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

    fn voice_of(&self, cue: Cue) -> &Voice {
        &self.debate.seat(cue).voice
    }

    /// The first moment at which somebody who is waited for is late.
    fn next_deadline(&self) -> Option<i64> {
        let Step::Speak { awaited, .. } = next(&self.debate) else { return None };
        awaited.iter().filter_map(|cue| self.debate.deadline(*cue)).min()
    }

    /// Whoever is late has failed.
    pub fn expire(&mut self) -> Result<(), Error> {
        let now = self.clock.now();
        while let Step::Speak { awaited, .. } = next(&self.debate)
            && let Some(late) = awaited
                .into_iter()
                .find(|cue| self.debate.deadline(*cue).is_some_and(|deadline| deadline <= now))
        {
            let failure = Failure::new(Trouble::TimedOut, "no reply came in time");
            self.record_turns(vec![turn::lost(&self.debate, late, failure)], &[])?;
        }
        Ok(())
    }
}

fn not_due(debate: &Debate, cue: Cue) -> crate::debate::Illegal {
    let failure = Failure::new(Trouble::Other, "not its turn");
    let event = Box::new(Event::Failed { cue, failure });
    crate::debate::Illegal { event, due: next(debate) }
}

/// Until the wall clock shows this; for ever, if nobody is waited for.
async fn sleep_until(clock: &dyn Clock, deadline: Option<i64>) {
    match deadline {
        Some(deadline) => {
            let left = u64::try_from(deadline.saturating_sub(clock.now())).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
        None => std::future::pending().await,
    }
}
