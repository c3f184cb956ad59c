//! One debate being played. The only place that changes one: check, write, apply, tell.
use super::command::{Command, Error, Request};
use super::live::{Live, Update};
use super::ports::{Ask, Clock, Log, Said, Stream, Voices};
use crate::debate::prompt::{fingerprint, render};
use crate::debate::{
    Attempt, Body, Cue, Debate, Envelope, Event, Failure, Step, Trouble, Voice, next, reply, weigh,
};
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// A debate, the log it is written to, and whoever may change or watch it.
pub struct Session {
    debate: Debate,
    log: Box<dyn Log>,
    requests: mpsc::Receiver<Request>,
    live: Live,
    clock: Arc<dyn Clock>,
    /// What is due; nothing while turns are being fetched.
    idle: watch::Sender<Option<Step>>,
}

/// How much of a reply that was not taken is kept.
const KEPT_OF_REFUSED: usize = 4_000;

impl Session {
    /// A debate about to be played.
    pub fn new(
        debate: Debate,
        log: Box<dyn Log>,
        requests: mpsc::Receiver<Request>,
        live: Live,
        clock: Arc<dyn Clock>,
    ) -> Session {
        let idle = watch::Sender::new(None);
        Session { debate, log, requests, live, clock, idle }
    }

    /// As it stands.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// What is due, whenever nothing is being fetched.
    pub fn idle(&self) -> watch::Receiver<Option<Step>> {
        self.idle.subscribe()
    }

    /// Check, write, apply, tell. Every change to every debate passes through these four lines.
    fn record(&mut self, event: Event) -> Result<(), Error> {
        self.debate.check(&event)?;
        let seq = self.log.append(&event)?;
        self.debate.apply(event.clone())?;
        self.live.tell(Update::Fact { seq, event });
        Ok(())
    }

    /// Plays on for as long as someone may still want something of it: until the debate rests, or
    /// every handle to it is gone. Dropping the future stops every turn under way and loses nothing
    /// that was recorded.
    pub async fn run(&mut self, voices: &dyn Voices) -> Result<(), Error> {
        loop {
            let step = self.drive(voices).await?;
            self.idle.send_replace(Some(step));
            let deadline = self.next_deadline();
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.idle.send_replace(None);
                        self.answer(request);
                    }
                    None => return Ok(()),
                },
                () = sleep_until(&*self.clock, deadline) => self.expire()?,
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
                Step::Close(outcome) => self.record(Event::Closed { outcome })?,
                step => return Ok(step),
            }
        }
    }

    /// Records that a wave begins: those who are fetched, whether or not they were asked before a
    /// crash, and those who are waited for, once.
    fn ask(&mut self, driven: &[Cue]) -> Result<(), Error> {
        let Step::Speak { awaited, .. } = next(&self.debate) else { return Ok(()) };
        let waiting: Vec<Cue> =
            awaited.into_iter().filter(|cue| !self.debate.was_asked(*cue)).collect();
        let limits = &self.debate.setup().limits;
        let seconds =
            if waiting.is_empty() { Some(limits.turn_seconds) } else { limits.await_seconds };
        let now = self.clock.now();
        let deadline = seconds.map(|seconds| now.saturating_add(i64::from(seconds) * 1000));
        let cues: Vec<Cue> = driven.iter().copied().chain(waiting).collect();
        let prompts =
            cues.iter().map(|cue| fingerprint(&render(&self.debate, *cue).text)).collect();
        self.record(Event::Asked { cues, deadline, prompts })
    }

    /// Fetches one wave. What is still under way when the wave is no longer due is dropped.
    async fn hear(&mut self, voices: &dyn Voices, wave: Vec<Cue>) -> Result<(), Error> {
        self.ask(&wave)?;
        let limits = &self.debate.setup().limits;
        let (most, patience) = (limits.at_once.max(1), limits.turn_seconds);
        let live = self.live.clone();
        let mut waiting: VecDeque<Cue> = wave.iter().copied().collect();
        let mut turns = FuturesUnordered::new();
        let mut under_way: Vec<(Cue, Voice, AbortHandle)> = vec![];
        while self.wants(&wave) {
            while turns.len() < usize::from(most)
                && let Some(cue) = waiting.pop_front()
            {
                match self.asking(cue) {
                    Ok(ask) => {
                        let (handle, registration) = AbortHandle::new_pair();
                        under_way.push((cue, ask.voice.clone(), handle));
                        live.tell(Update::Speaking { cue });
                        let turn = fetch(voices, ask, Stream { cue, live: live.clone() }, patience);
                        let turn = Abortable::new(turn, registration);
                        turns.push(async move { (cue, turn.await.ok()) });
                    }
                    Err(failure) => self.fail(cue, failure)?,
                }
            }
            if turns.is_empty() {
                break;
            }
            let deadline = self.next_deadline();
            tokio::select! {
                Some((cue, said)) = turns.next() => {
                    under_way.retain(|(other, _, _)| *other != cue);
                    let again = match said {
                        Some(said) => self.settle(cue, said)?,
                        None => true,
                    };
                    if again {
                        waiting.push_back(cue);
                    }
                }
                Some(request) = self.requests.recv() => {
                    self.answer(request);
                    // A seat that was handed over is asked anew, under its new voice.
                    for (cue, voice, turn) in &under_way {
                        if self.debate.seat(*cue).voice != *voice {
                            turn.abort();
                        }
                    }
                }
                () = sleep_until(&*self.clock, deadline) => self.expire()?,
            }
        }
        Ok(())
    }

    /// What to ask at a cue, or why it cannot be asked.
    fn asking(&self, cue: Cue) -> Result<Ask, Failure> {
        let (setup, seat) = (self.debate.setup(), self.debate.seat(cue));
        let prompt = render(&self.debate, cue).text;
        let (size, most) = (prompt.len(), setup.limits.prompt);
        if size > most {
            let note = format!("the prompt is {size} bytes; at most {most} are sent");
            return Err(Failure::new(Trouble::Other, note));
        }
        Ok(Ask {
            debate: setup.id.clone(),
            cue,
            seat: seat.name.clone(),
            role: seat.role,
            phase: setup.phase(cue).name.clone(),
            round: cue.round,
            reply: setup.phase(cue).reply,
            voice: seat.voice.clone(),
            effort: setup.effort,
            prompt,
            attempt: if self.debate.refused(cue).is_some() { 2 } else { 1 },
        })
    }

    fn wants(&self, wave: &[Cue]) -> bool {
        match next(&self.debate) {
            Step::Speak { driven, .. } => driven.iter().any(|cue| wave.contains(cue)),
            _ => false,
        }
    }

    /// Records what came of a turn, and says whether to ask for it once more.
    fn settle(&mut self, cue: Cue, said: Result<Said, Failure>) -> Result<bool, Error> {
        let said = match said {
            Ok(said) => said,
            Err(failure) => return self.fail(cue, failure).map(|()| false),
        };
        let (trouble, why, findings) = match self.weigh(cue, &said.text, said.envelope.clone()) {
            Ok(event) => return self.record(event).map(|()| false),
            Err(Error::Refused(found)) => {
                let says: Vec<_> = found.iter().map(|found| found.says.clone()).collect();
                (Trouble::Unusable, says.join("; "), found)
            }
            Err(Error::Unreadable(why)) => (Trouble::Unreadable, why, vec![]),
            Err(other) => return Err(other),
        };
        if self.debate.refused(cue).is_some() {
            let failure = Failure { trouble, note: why, envelope: said.envelope };
            return self.fail(cue, failure).map(|()| false);
        }
        let text = said.text.chars().take(KEPT_OF_REFUSED).collect();
        let attempt = Attempt { text, why, findings, envelope: said.envelope };
        self.record(Event::Refused { cue, attempt }).map(|()| true)
    }

    fn fail(&mut self, cue: Cue, mut failure: Failure) -> Result<(), Error> {
        if failure.envelope.tool.is_empty() {
            failure.envelope.tool = self.debate.seat(cue).voice.tool().into();
        }
        self.record(Event::Failed { cue, failure })
    }

    /// Reads a reply and asks the rules about it.
    fn weigh(&self, cue: Cue, text: &str, mut envelope: Envelope) -> Result<Event, Error> {
        let length = text.chars().count();
        let most = self.debate.setup().limits.longest.saturating_mul(2);
        if length > most {
            let why = format!("PARSE_ERROR:reply:too_long: {length} characters of at most {most}");
            return Err(Error::Unreadable(why));
        }
        let voice = &self.debate.seat(cue).voice;
        if envelope.tool.is_empty() {
            envelope.tool = voice.tool().into();
        }
        envelope.model_asked = envelope.model_asked.or_else(|| voice.model().map(Into::into));
        let body = reply::read(&self.debate, cue, text)
            .map_err(|unreadable| Error::Unreadable(unreadable.to_string()))?;
        weigh(&self.debate, cue, body, vec![], envelope).map_err(Error::Refused)
    }

    /// A refused request is the asker's error, not the debate's.
    fn answer(&mut self, request: Request) {
        let Request { command, answer } = request;
        let _ = answer.send(self.obey(command));
    }

    /// Does what someone asked for, if it may be done now.
    pub fn obey(&mut self, command: Command) -> Result<(), Error> {
        let event = match command {
            Command::Reply { take, cue, text } => return self.take(take, cue, &text),
            Command::Interject { text } => Event::Interjected { text },
            Command::Hold => Event::Held,
            Command::Continue { before } => Event::Continued { before },
            Command::Amend { change, because } => Event::Amended { change, because },
            Command::Conclude { because } => Event::Concluded { because },
            Command::Cancel => Event::Cancelled,
            Command::Reopen { from } => Event::Reopened { from },
            Command::Decide { text } => Event::Decided { text },
            Command::Keep { keep } => Event::Kept { keep },
        };
        self.record(event)
    }

    /// Takes the reply of an awaited seat. The same words again are no second reply.
    fn take(&mut self, take: u16, cue: Cue, text: &str) -> Result<(), Error> {
        if !self.debate.has(cue) {
            return Err(self.not_due(cue).into());
        }
        if let (Some(Ok(taken)), true) = (self.debate.turn(cue), take == self.debate.take()) {
            let again = reply::read(&self.debate, cue, text);
            let same = again.is_ok_and(|body: Body| body == taken.body);
            return if same { Ok(()) } else { Err(Error::Taken(cue)) };
        }
        match next(&self.debate) {
            Step::Speak { awaited, .. } if take == self.debate.take() && awaited.contains(&cue) => {
            }
            _ => return Err(self.not_due(cue).into()),
        }
        let envelope = Envelope { tool: self.voice_of(cue).tool().into(), ..Envelope::default() };
        let event = self.weigh(cue, text, envelope)?;
        if !self.debate.was_asked(cue) {
            self.ask(&[])?;
        }
        self.record(event)
    }

    fn voice_of(&self, cue: Cue) -> &Voice {
        &self.debate.seat(cue).voice
    }

    fn not_due(&self, cue: Cue) -> crate::debate::Illegal {
        let failure = Failure::new(Trouble::Other, "not its turn");
        let event = Box::new(Event::Failed { cue, failure });
        crate::debate::Illegal { event, due: next(&self.debate) }
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
            self.fail(late, Failure::new(Trouble::TimedOut, "no reply came in time"))?;
        }
        Ok(())
    }
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

/// Fetches one reply, within the time a turn may take.
async fn fetch(
    voices: &dyn Voices,
    ask: Ask,
    stream: Stream,
    seconds: u32,
) -> Result<Said, Failure> {
    let began = Instant::now();
    let patience = Duration::from_secs(u64::from(seconds));
    let said = tokio::time::timeout(patience, voices.speak(&ask, stream)).await;
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut said = said.unwrap_or_else(|_| {
        Err(Failure::new(Trouble::TimedOut, format!("no answer within {seconds} s")))
    });
    if let Ok(Said { text, envelope }) = &said
        && text.trim().is_empty()
    {
        let note = "the tool answered with nothing".into();
        said = Err(Failure { trouble: Trouble::Empty, note, envelope: envelope.clone() });
    }
    match &mut said {
        Ok(Said { envelope, .. }) | Err(Failure { envelope, .. }) => envelope.duration_ms = took,
    }
    said
}
