//! The arena client: joins a debate, polls it, and sends a speech on each of its turns until the
//! debate is over. Every step starts from a fresh poll, so an interrupted step is retried without
//! sending a speech twice.
use super::address::Address;
use super::fit::{self, narrower};
use super::manners::{self, Asked, Next, pause};
use super::memory::{Kept, Memory};
use super::news::{Ended, News, Outcome};
use super::platform::{Broken, Platform, Visitor};
use super::prompt::{Words, round, side};
use super::speech::{Speaker, Speech};
use super::wire::{Pass, Poll, Refusal, State, Turn};
use crate::debate::{Effort, Participant};
use crate::engine::OneShotProvider;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Timeout of the first contact. The URL may be wrong, so it is shorter than later ones.
const KNOCK: Duration = Duration::from_secs(10);
/// How long a poll may still show our turn after the server accepted the speech.
const ECHO: Duration = Duration::from_secs(30);
/// How often a speech is shortened for a server that counts its length differently.
const SHORTENED: usize = 3;
/// Likely minimum length in characters, if the server reports none but finds a speech too short.
const LEAST_LIKELY: usize = 50;

/// Config of the client.
#[derive(Clone, Debug)]
pub struct Guest {
    /// Display name of the bot.
    pub name: String,
    /// Id of the bot.
    pub uuid: String,
    /// Participant that writes the speeches.
    pub voice: Participant,
    /// Reasoning effort of the model.
    pub effort: Option<Effort>,
    /// Poll interval.
    pub pace: Duration,
    /// How long to retry while the server is unreachable.
    pub patience: Duration,
    /// How long to wait for a debate to join.
    pub wait: Duration,
}

/// Error that ends the client.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Left {
    #[error("there is no debate to join")]
    NoDebate,
    #[error("that debate has all the speakers it needs{0}")]
    Full(String),
    #[error("there is no such debate{0}")]
    Gone(String),
    #[error("the platform does not know this seat (any more){0}")]
    Expelled(String),
    #[error("the platform refuses{0}")]
    Refused(String),
    #[error("the platform cannot be reached: {0}")]
    Silent(String),
    #[error("the seat cannot be remembered: {0}")]
    Memory(#[from] std::io::Error),
    #[error("no random numbers: {0}")]
    Chance(String),
}

impl Left {
    /// Hint for the user how to fix the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Left::NoDebate => Some("`--wait-for-debate 15m` waits for one"),
            Left::Full(_) => Some("leave `--debate` out to join any that waits for somebody"),
            Left::Gone(_) => Some("look at the id, or leave `--debate` out to join any"),
            Left::Expelled(_) => Some("the same command asks for a new seat"),
            Left::Refused(_) => Some("look at the address: it is what stands before `/api/debate`"),
            Left::Silent(_) => {
                Some("look at the address; with `--debate ID` the same command goes on later")
            }
            Left::Memory(_) => Some("look at the folder DEBATE_HOME"),
            Left::Chance(_) => None,
        }
    }
}

/// A client for one remote arena.
pub struct Visit<'a> {
    /// API of the server.
    pub platform: &'a dyn Platform,
    /// Runs the model.
    pub lender: &'a dyn OneShotProvider,
    /// Prompt templates.
    pub words: &'a Words,
    /// Config of the client.
    pub guest: &'a Guest,
    /// Callback for progress events.
    pub tell: &'a (dyn Fn(News) + Send + Sync),
}

/// Retry counter for the backoff. A successful request resets it.
#[derive(Default)]
struct Tries {
    nth: u32,
    since: Option<Instant>,
}

/// Outcome of sending a speech.
enum Sent {
    Taken {
        length: usize,
        cut: bool,
    },
    /// Unknown. The next poll tells whether the speech was accepted.
    Unknown,
    /// Too short. Holds its length in characters.
    Short(usize),
    Lost(String),
}

/// The last turn that was handled, so that a stale poll does not start it again.
struct Done {
    turn: Turn,
    at: Instant,
    said: bool,
}

/// What was already reported as events.
#[derive(Default)]
struct Told {
    joined: Option<usize>,
    began: bool,
    heard: usize,
}

impl Visit<'_> {
    /// Takes part in a debate, with stored credentials or with a new seat. Deletes the credentials
    /// when the debate is over or the seat is lost.
    pub async fn attend(
        &self,
        memory: &Memory,
        at: &Address,
        debate: Option<&str>,
    ) -> Result<Ended, Left> {
        let known = debate.and_then(|debate| memory.recall(at, debate, &self.guest.name));
        let (mut kept, pass) = if let Some(kept) = known {
            let pass = kept.pass();
            let (debate, identifier) = (pass.debate.clone(), pass.identifier.clone());
            (self.tell)(News::Back { debate, identifier });
            (kept, pass)
        } else {
            let pass = self.join(debate).await?;
            let kept = memory.keep(at, &pass, &self.guest.name)?;
            let Pass { debate, identifier, topic, .. } = pass.clone();
            (self.tell)(News::Joined { debate, identifier, topic });
            (kept, pass)
        };
        let ended = self.argue(&pass, &mut kept).await;
        if matches!(ended, Ok(_) | Err(Left::Gone(_) | Left::Expelled(_))) {
            kept.forget();
        }
        ended
    }

    async fn join(&self, debate: Option<&str>) -> Result<Pass, Left> {
        let Guest { name, uuid, wait, patience, pace, .. } = self.guest;
        let until = Instant::now() + *wait;
        let patience = (*patience).min(KNOCK).max(*wait);
        let (mut tries, mut told) = (Tries::default(), false);
        loop {
            let broken = match self.platform.join(Visitor { name, uuid, debate }).await {
                Ok(pass) => return Ok(pass),
                Err(broken) => broken,
            };
            let refusal = match broken {
                Broken::Refused(refusal) => refusal,
                Broken::Silent(why) | Broken::Garbage(why) => {
                    self.hold(&mut tries, why, None, patience).await?;
                    continue;
                }
            };
            let named = debate.is_some();
            match manners::next(Asked::Seat { named }, &refusal) {
                Next::NoDebate if Instant::now() < until => {
                    if !told {
                        (self.tell)(News::NoDebate);
                    }
                    told = true;
                    tries = Tries::default();
                    let left = until.saturating_duration_since(Instant::now());
                    sleep((*pace).min(left)).await;
                }
                Next::NoDebate => return Err(Left::NoDebate),
                Next::Later(wanted) => {
                    self.hold(&mut tries, worded(&refusal), wanted, patience).await?;
                }
                Next::Full => return Err(Left::Full(said(&refusal))),
                Next::Gone => return Err(Left::Gone(said(&refusal))),
                _ => return Err(Left::Refused(said(&refusal))),
            }
        }
    }

    async fn argue(&self, pass: &Pass, kept: &mut Kept) -> Result<Ended, Left> {
        let (mut tries, mut told) = (Tries::default(), Told::default());
        let mut done: Option<Done> = None;
        let mut ready: Option<(Turn, Speech)> = None;
        let mut floor: Option<(Turn, usize)> = None;
        let (mut said, mut missed) = (0, 0);
        let (mut wait, mut before) = (pass.long_poll, None);
        loop {
            let waited = wait;
            let mut poll = self.look(pass, wait, &mut tries).await?;
            self.told(&poll, pass, &mut told);
            if poll.state == State::Ended {
                return Ok(ended(pass, poll, said, missed));
            }
            let ours = is_ours(&poll, pass);
            wait = poll.long_poll && !ours;
            if !ours {
                (before, done, ready) = (Some(Instant::now()), None, None);
                sleep(pause(self.guest.pace, waited)).await;
                continue;
            }
            let turn = poll.turn();
            if let Some((_, least)) = floor.as_ref().filter(|(of, _)| *of == turn) {
                poll.lengths.least = (*least).min(poll.lengths.most);
            }
            let dealt = |done: &Done| done.turn == turn && !(done.said && done.at.elapsed() > ECHO);
            if done.as_ref().is_some_and(dealt) {
                sleep(self.guest.pace).await;
                continue;
            }
            let nth = round(&poll, &pass.identifier);
            let prepared = ready.take().filter(|(of, _)| *of == turn).map(|(_, speech)| speech);
            let made = if let Some(speech) = prepared {
                Ok(speech)
            } else {
                let over = before.filter(|_| !waited).map(|it: Instant| it.elapsed());
                let left = left(&poll, kept, over);
                (self.tell)(News::Turn { round: nth, left });
                self.think(&poll, pass, left).await?
            };
            let sent = match made {
                Ok(speech) => {
                    let sent = self.send(pass, &poll, &speech, &mut tries).await?;
                    ready = matches!(sent, Sent::Unknown).then_some((turn, speech));
                    sent
                }
                Err(why) => Sent::Lost(why),
            };
            match sent {
                Sent::Taken { length, cut } => {
                    said += 1;
                    wait = poll.long_poll;
                    done = Some(Done { turn, at: Instant::now(), said: true });
                    (self.tell)(News::Said { round: nth, length, cut });
                }
                Sent::Lost(why) => {
                    missed += 1;
                    done = Some(Done { turn, at: Instant::now(), said: false });
                    (self.tell)(News::Missed { round: nth, why });
                }
                // The server may not report its minimum length, so retry once with a longer speech.
                Sent::Short(length) if floor.as_ref().is_none_or(|(of, _)| *of != turn) => {
                    floor = Some((turn, (2 * length).max(LEAST_LIKELY)));
                }
                Sent::Short(length) => {
                    missed += 1;
                    done = Some(Done { turn, at: Instant::now(), said: false });
                    let why = format!("{length} characters are too few there");
                    (self.tell)(News::Missed { round: nth, why });
                }
                Sent::Unknown => {}
            }
            sleep(pause(self.guest.pace, wait)).await;
        }
    }

    /// Writes a speech and keeps polling meanwhile. The inner error is the reason why there is no
    /// speech.
    async fn think(
        &self,
        poll: &Poll,
        pass: &Pass,
        left: Duration,
    ) -> Result<Result<Speech, String>, Left> {
        let speaker = Speaker {
            lender: self.lender,
            voice: &self.guest.voice,
            effort: self.guest.effort,
            words: self.words,
            identifier: &pass.identifier,
            tell: self.tell,
        };
        let salt =
            chance::<16>()?.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        tokio::select! {
            speech = speaker.speech(poll, &salt, left) => Ok(speech),
            () = self.passed(poll, pass) => Ok(Err("the platform has taken the turn back".into())),
        }
    }

    /// Polls until the turn is no longer ours.
    async fn passed(&self, poll: &Poll, pass: &Pass) {
        loop {
            sleep(manners::while_thinking(self.guest.pace)).await;
            let Ok(now) = self.platform.poll(pass, false).await else { continue };
            if !is_ours(&now, pass) || now.turn() != poll.turn() {
                return;
            }
        }
    }

    async fn send(
        &self,
        pass: &Pass,
        poll: &Poll,
        speech: &Speech,
        tries: &mut Tries,
    ) -> Result<Sent, Left> {
        let Speech { mut text, mut cut } = speech.clone();
        let (mut lengths, patience) = (poll.lengths, self.guest.patience);
        for _ in 0..=SHORTENED {
            let refusal = match self.platform.speak(pass, &text).await {
                Ok(()) => return Ok(Sent::Taken { length: text.chars().count(), cut }),
                Err(Broken::Refused(refusal)) => refusal,
                Err(Broken::Silent(why) | Broken::Garbage(why)) => {
                    self.hold(tries, why, None, patience).await?;
                    return Ok(Sent::Unknown);
                }
            };
            match manners::next(Asked::Speech, &refusal) {
                Next::Look => return Ok(Sent::Unknown),
                Next::Later(wanted) => {
                    self.hold(tries, worded(&refusal), wanted, patience).await?;
                    return Ok(Sent::Unknown);
                }
                Next::Shorten => {
                    lengths = narrower(&text, lengths);
                    text = fit::cut(&text, lengths);
                    cut = true;
                }
                Next::Lengthen => return Ok(Sent::Short(text.chars().count())),
                Next::Expelled => return Err(Left::Expelled(said(&refusal))),
                Next::Gone => return Err(Left::Gone(said(&refusal))),
                _ => return Ok(Sent::Lost(worded(&refusal))),
            }
        }
        Ok(Sent::Lost("no length of it was taken".into()))
    }

    async fn look(&self, pass: &Pass, wait: bool, tries: &mut Tries) -> Result<Poll, Left> {
        let patience = self.guest.patience;
        loop {
            let refusal = match self.platform.poll(pass, wait).await {
                Ok(poll) => {
                    *tries = Tries::default();
                    return Ok(poll);
                }
                Err(Broken::Refused(refusal)) => refusal,
                Err(Broken::Silent(why) | Broken::Garbage(why)) => {
                    self.hold(tries, why, None, patience).await?;
                    continue;
                }
            };
            match manners::next(Asked::State, &refusal) {
                Next::Expelled => return Err(Left::Expelled(said(&refusal))),
                Next::Gone => return Err(Left::Gone(said(&refusal))),
                Next::Later(wanted) => {
                    self.hold(tries, worded(&refusal), wanted, patience).await?;
                }
                _ => return Err(Left::Refused(said(&refusal))),
            }
        }
    }

    /// Waits before a retry, with exponential backoff. Fails if the retries took longer than
    /// `patience`.
    async fn hold(
        &self,
        tries: &mut Tries,
        why: String,
        wanted: Option<Duration>,
        patience: Duration,
    ) -> Result<(), Left> {
        let since = *tries.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= patience {
            return Err(Left::Silent(why));
        }
        tries.nth += 1;
        let [chance] = chance::<1>()?;
        let wait = wanted.unwrap_or_else(|| manners::backoff(tries.nth, chance));
        (self.tell)(News::Trouble { why, wait });
        sleep(wait).await;
        Ok(())
    }

    /// Reports the changes since the last poll as events.
    fn told(&self, poll: &Poll, pass: &Pass, told: &mut Told) {
        if poll.state == State::Waiting {
            if told.joined.replace(poll.joined) != Some(poll.joined) {
                (self.tell)(News::Waiting { joined: poll.joined });
            }
            return;
        }
        if !told.began && poll.state == State::Active {
            told.began = true;
            let (topic, side, rounds) = (poll.topic.clone(), side(poll), poll.rounds);
            (self.tell)(News::Began { topic, side, rounds });
        }
        let gone = poll.spoken - poll.log.len();
        for spoken in poll.log.iter().skip(told.heard.saturating_sub(gone)) {
            if spoken.speaker != pass.identifier {
                (self.tell)(News::Heard(spoken.clone()));
            }
        }
        told.heard = told.heard.max(poll.spoken);
    }
}

fn is_ours(poll: &Poll, pass: &Pass) -> bool {
    poll.state == State::Active && poll.next == pass.identifier
}

/// Time left for the speech. `over` is the time since a poll last showed that it was not our turn.
fn left(poll: &Poll, kept: &mut Kept, over: Option<Duration>) -> Duration {
    let granted = Duration::from_secs(poll.seconds);
    let now = jiff::Timestamp::now().as_millisecond();
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let told = poll.deadline.map(|at| at.saturating_sub(now));
    let told = told.filter(|left| (1..=millis(granted)).contains(left));
    let since = match told {
        Some(left) => now - (millis(granted) - left),
        None => kept.due(poll.turn(), now - over.map_or(0, millis)),
    };
    let over = u64::try_from(now.saturating_sub(since)).unwrap_or(0);
    manners::time_left(granted, Duration::from_millis(over))
}

fn ended(pass: &Pass, poll: Poll, said: usize, missed: usize) -> Ended {
    let verdict = poll.result.clone().unwrap_or_default();
    let outcome = Outcome::of(&verdict.winner, &pass.identifier, poll.side);
    let (debate, identifier) = (pass.debate.clone(), pass.identifier.clone());
    Ended { debate, identifier, poll, outcome, verdict, said, missed }
}

/// Error response as a suffix of a message.
fn said(refusal: &Refusal) -> String {
    format!(": {}", worded(refusal))
}

fn worded(refusal: &Refusal) -> String {
    let code = if refusal.code.is_empty() { String::new() } else { format!(" {}", refusal.code) };
    let message = match refusal.message.split_whitespace().collect::<Vec<_>>().join(" ") {
        message if message.is_empty() => String::new(),
        message => format!(" ({message})"),
    };
    format!("{}{code}{message}", refusal.status)
}

fn chance<const N: usize>() -> Result<[u8; N], Left> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Left::Chance(error.to_string()))?;
    Ok(bytes)
}

/// Generates a random UUID (version 4).
pub fn fresh_uuid() -> Result<String, Left> {
    let number = u128::from_be_bytes(chance::<16>()?);
    // Set the version (4) and variant (RFC 4122) bits.
    let number = number & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{number:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}
