//! The arena client: joins a debate, polls it, and sends a speech on each of its turns until the
//! debate is over. Every step starts from a fresh poll, so an interrupted step is retried without
//! sending a speech twice.
use super::api::{ArenaApi, ArenaApiError, JoinParams};
use super::arena_url::ArenaUrl;
use super::credentials::{CredentialStore, LockedCredentials};
use super::events::{ClientEvent, ClientOutcome, ClientResult};
use super::fit_length::{self, lower_limits};
use super::prompt::{SpeechTemplates, current_round, own_side};
use super::protocol::{PollResponse, RemoteError, RemoteState, SeatCredentials, TurnKey};
use super::retry_policy::{self, ErrorAction, RequestKind, poll_delay};
use super::speech_writer::{PreparedSpeech, SpeechWriter};
use crate::debate::{Effort, Participant};
use crate::engine::OneShotProvider;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Timeout of the first contact. The URL may be wrong, so it is shorter than later ones.
const FIRST_CONTACT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a poll may still show our turn after the server accepted the speech.
const STALE_TURN_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a speech is shortened for a server that counts its length differently.
const MAX_SHORTENINGS: usize = 3;
/// Likely minimum length in characters, if the server reports none but finds a speech too short.
const LIKELY_MIN_CHARS: usize = 50;

/// Config of the client.
#[derive(Clone, Debug)]
pub struct ArenaClientConfig {
    /// Display name of the bot.
    pub name: String,
    /// Id of the bot.
    pub uuid: String,
    /// Participant that writes the speeches.
    pub participant: Participant,
    /// Reasoning effort of the model.
    pub effort: Option<Effort>,
    /// Poll interval.
    pub poll_interval: Duration,
    /// How long to retry while the server is unreachable.
    pub outage_timeout: Duration,
    /// How long to wait for a debate to join.
    pub join_timeout: Duration,
}

/// Error that ends the client.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaClientError {
    #[error("there is no debate to join")]
    NoDebate,
    #[error("that debate has all the speakers it needs{0}")]
    DebateFull(String),
    #[error("there is no such debate{0}")]
    DebateNotFound(String),
    #[error("the platform does not know this seat (any more){0}")]
    SeatLost(String),
    #[error("the platform refuses{0}")]
    Refused(String),
    #[error("the platform cannot be reached: {0}")]
    Unreachable(String),
    #[error("the seat cannot be remembered: {0}")]
    Credentials(#[from] std::io::Error),
    #[error("no random numbers: {0}")]
    NoRandomness(String),
}

impl ArenaClientError {
    /// Hint for the user how to fix the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ArenaClientError::NoDebate => Some("`--wait-for-debate 15m` waits for one"),
            ArenaClientError::DebateFull(_) => {
                Some("leave `--debate` out to join any that waits for somebody")
            }
            ArenaClientError::DebateNotFound(_) => {
                Some("look at the id, or leave `--debate` out to join any")
            }
            ArenaClientError::SeatLost(_) => Some("the same command asks for a new seat"),
            ArenaClientError::Refused(_) => {
                Some("look at the address: it is what stands before `/api/debate`")
            }
            ArenaClientError::Unreachable(_) => {
                Some("look at the address; with `--debate ID` the same command goes on later")
            }
            ArenaClientError::Credentials(_) => Some("look at the folder DEBATE_HOME"),
            ArenaClientError::NoRandomness(_) => None,
        }
    }
}

/// A client for one remote arena.
pub struct ArenaClient<'a> {
    /// API of the server.
    pub api: &'a dyn ArenaApi,
    /// Runs the model.
    pub provider: &'a dyn OneShotProvider,
    /// Prompt templates.
    pub templates: &'a SpeechTemplates,
    /// Config of the client.
    pub config: &'a ArenaClientConfig,
    /// Callback for progress events.
    pub on_event: &'a (dyn Fn(ClientEvent) + Send + Sync),
}

/// Retry counter for the backoff. A successful request resets it.
#[derive(Default)]
struct RetryState {
    attempt: u32,
    since: Option<Instant>,
}

/// Outcome of sending a speech.
enum SendOutcome {
    Accepted {
        chars: usize,
        truncated: bool,
    },
    /// Unknown. The next poll tells whether the speech was accepted.
    Unknown,
    /// Too short. Holds its length in characters.
    TooShort(usize),
    Rejected(String),
}

/// The last turn that was handled, so that a stale poll does not start it again.
struct HandledTurn {
    turn: TurnKey,
    handled_at: Instant,
    sent: bool,
}

/// What was already reported as events.
#[derive(Default)]
struct ReportedState {
    joined: Option<usize>,
    started: bool,
    speech_count: usize,
}

impl ArenaClient<'_> {
    /// Takes part in a debate, with stored credentials or with a new seat. Deletes the credentials
    /// when the debate is over or the seat is lost.
    pub async fn run(
        &self,
        memory: &CredentialStore,
        at: &ArenaUrl,
        debate: Option<&str>,
    ) -> Result<ClientResult, ArenaClientError> {
        let known = debate.and_then(|debate| memory.load(at, debate, &self.config.name));
        let (mut kept, pass) = if let Some(kept) = known {
            let pass = kept.credentials();
            let (debate, identifier) = (pass.debate_id.clone(), pass.identifier.clone());
            (self.on_event)(ClientEvent::Resumed { debate, identifier });
            (kept, pass)
        } else {
            let pass = self.join(debate).await?;
            let kept = memory.save(at, &pass, &self.config.name)?;
            let SeatCredentials { debate_id: debate, identifier, topic, .. } = pass.clone();
            (self.on_event)(ClientEvent::Joined { debate, identifier, topic });
            (kept, pass)
        };
        let ended = self.play_debate(&pass, &mut kept).await;
        if matches!(
            ended,
            Ok(_) | Err(ArenaClientError::DebateNotFound(_) | ArenaClientError::SeatLost(_))
        ) {
            kept.delete();
        }
        ended
    }

    async fn join(&self, debate: Option<&str>) -> Result<SeatCredentials, ArenaClientError> {
        let ArenaClientConfig {
            name,
            uuid,
            join_timeout: wait,
            outage_timeout: patience,
            poll_interval: pace,
            ..
        } = self.config;
        let until = Instant::now() + *wait;
        let patience = (*patience).min(FIRST_CONTACT_TIMEOUT).max(*wait);
        let (mut tries, mut told) = (RetryState::default(), false);
        loop {
            let broken = match self.api.join(JoinParams { name, uuid, debate_id: debate }).await {
                Ok(pass) => return Ok(pass),
                Err(broken) => broken,
            };
            let refusal = match broken {
                ArenaApiError::Refused(refusal) => refusal,
                ArenaApiError::Unreachable(why) | ArenaApiError::InvalidResponse(why) => {
                    self.back_off(&mut tries, why, None, patience).await?;
                    continue;
                }
            };
            let named = debate.is_some();
            match retry_policy::classify_error(RequestKind::Join { named }, &refusal) {
                ErrorAction::NoDebate if Instant::now() < until => {
                    if !told {
                        (self.on_event)(ClientEvent::NoDebate);
                    }
                    told = true;
                    tries = RetryState::default();
                    let left = until.saturating_duration_since(Instant::now());
                    sleep((*pace).min(left)).await;
                }
                ErrorAction::NoDebate => return Err(ArenaClientError::NoDebate),
                ErrorAction::RetryLater(wanted) => {
                    self.back_off(&mut tries, describe_error(&refusal), wanted, patience).await?;
                }
                ErrorAction::DebateFull => {
                    return Err(ArenaClientError::DebateFull(error_suffix(&refusal)));
                }
                ErrorAction::DebateNotFound => {
                    return Err(ArenaClientError::DebateNotFound(error_suffix(&refusal)));
                }
                _ => return Err(ArenaClientError::Refused(error_suffix(&refusal))),
            }
        }
    }

    async fn play_debate(
        &self,
        pass: &SeatCredentials,
        kept: &mut LockedCredentials,
    ) -> Result<ClientResult, ArenaClientError> {
        let (mut tries, mut told) = (RetryState::default(), ReportedState::default());
        let mut done: Option<HandledTurn> = None;
        let mut ready: Option<(TurnKey, PreparedSpeech)> = None;
        let mut floor: Option<(TurnKey, usize)> = None;
        let (mut said, mut missed) = (0, 0);
        let (mut wait, mut before) = (pass.long_poll, None);
        loop {
            let waited = wait;
            let mut poll = self.poll_with_retry(pass, wait, &mut tries).await?;
            self.report_changes(&poll, pass, &mut told);
            if poll.state == RemoteState::Ended {
                return Ok(build_result(pass, poll, said, missed));
            }
            let ours = is_own_turn(&poll, pass);
            wait = poll.long_poll && !ours;
            if !ours {
                (before, done, ready) = (Some(Instant::now()), None, None);
                sleep(poll_delay(self.config.poll_interval, waited)).await;
                continue;
            }
            let turn = poll.turn_key();
            if let Some((_, least)) = floor.as_ref().filter(|(of, _)| *of == turn) {
                poll.limits.min = (*least).min(poll.limits.max);
            }
            let dealt = |done: &HandledTurn| {
                done.turn == turn && !(done.sent && done.handled_at.elapsed() > STALE_TURN_TIMEOUT)
            };
            if done.as_ref().is_some_and(dealt) {
                sleep(self.config.poll_interval).await;
                continue;
            }
            let nth = current_round(&poll, &pass.identifier);
            let prepared = ready.take().filter(|(of, _)| *of == turn).map(|(_, speech)| speech);
            let made = if let Some(speech) = prepared {
                Ok(speech)
            } else {
                let over = before.filter(|_| !waited).map(|it: Instant| it.elapsed());
                let left = speech_time_left(&poll, kept, over);
                (self.on_event)(ClientEvent::OwnTurn { round: nth, time_left: left });
                self.write_speech(&poll, pass, left).await?
            };
            let sent = match made {
                Ok(speech) => {
                    let sent = self.send_speech(pass, &poll, &speech, &mut tries).await?;
                    ready = matches!(sent, SendOutcome::Unknown).then_some((turn, speech));
                    sent
                }
                Err(why) => SendOutcome::Rejected(why),
            };
            match sent {
                SendOutcome::Accepted { chars: length, truncated: cut } => {
                    said += 1;
                    wait = poll.long_poll;
                    done = Some(HandledTurn { turn, handled_at: Instant::now(), sent: true });
                    (self.on_event)(ClientEvent::SpeechAccepted {
                        round: nth,
                        chars: length,
                        truncated: cut,
                    });
                }
                SendOutcome::Rejected(why) => {
                    missed += 1;
                    done = Some(HandledTurn { turn, handled_at: Instant::now(), sent: false });
                    (self.on_event)(ClientEvent::TurnMissed { round: nth, why });
                }
                // The server may not report its minimum length, so retry once with a longer speech.
                SendOutcome::TooShort(length)
                    if floor.as_ref().is_none_or(|(of, _)| *of != turn) =>
                {
                    floor = Some((turn, (2 * length).max(LIKELY_MIN_CHARS)));
                }
                SendOutcome::TooShort(length) => {
                    missed += 1;
                    done = Some(HandledTurn { turn, handled_at: Instant::now(), sent: false });
                    let why = format!("{length} characters are too few there");
                    (self.on_event)(ClientEvent::TurnMissed { round: nth, why });
                }
                SendOutcome::Unknown => {}
            }
            sleep(poll_delay(self.config.poll_interval, wait)).await;
        }
    }

    /// Writes a speech and keeps polling meanwhile. The inner error is the reason why there is no
    /// speech.
    async fn write_speech(
        &self,
        poll: &PollResponse,
        pass: &SeatCredentials,
        left: Duration,
    ) -> Result<Result<PreparedSpeech, String>, ArenaClientError> {
        let speaker = SpeechWriter {
            provider: self.provider,
            participant: &self.config.participant,
            effort: self.config.effort,
            templates: self.templates,
            identifier: &pass.identifier,
            on_event: self.on_event,
        };
        let salt = random_bytes::<16>()?
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        tokio::select! {
            speech = speaker.write(poll, &salt, left) => Ok(speech),
            () = self.wait_until_turn_lost(poll, pass) => Ok(Err("the platform has taken the turn back".into())),
        }
    }

    /// Polls until the turn is no longer ours.
    async fn wait_until_turn_lost(&self, poll: &PollResponse, pass: &SeatCredentials) {
        loop {
            sleep(retry_policy::writing_poll_interval(self.config.poll_interval)).await;
            let Ok(now) = self.api.poll(pass, false).await else { continue };
            if !is_own_turn(&now, pass) || now.turn_key() != poll.turn_key() {
                return;
            }
        }
    }

    async fn send_speech(
        &self,
        pass: &SeatCredentials,
        poll: &PollResponse,
        speech: &PreparedSpeech,
        tries: &mut RetryState,
    ) -> Result<SendOutcome, ArenaClientError> {
        let PreparedSpeech { mut text, truncated: mut cut } = speech.clone();
        let (mut lengths, patience) = (poll.limits, self.config.outage_timeout);
        for _ in 0..=MAX_SHORTENINGS {
            let refusal = match self.api.speak(pass, &text).await {
                Ok(()) => {
                    return Ok(SendOutcome::Accepted {
                        chars: text.chars().count(),
                        truncated: cut,
                    });
                }
                Err(ArenaApiError::Refused(refusal)) => refusal,
                Err(ArenaApiError::Unreachable(why) | ArenaApiError::InvalidResponse(why)) => {
                    self.back_off(tries, why, None, patience).await?;
                    return Ok(SendOutcome::Unknown);
                }
            };
            match retry_policy::classify_error(RequestKind::Speech, &refusal) {
                ErrorAction::PollAgain => return Ok(SendOutcome::Unknown),
                ErrorAction::RetryLater(wanted) => {
                    self.back_off(tries, describe_error(&refusal), wanted, patience).await?;
                    return Ok(SendOutcome::Unknown);
                }
                ErrorAction::Shorten => {
                    lengths = lower_limits(&text, lengths);
                    text = fit_length::truncate(&text, lengths);
                    cut = true;
                }
                ErrorAction::Lengthen => return Ok(SendOutcome::TooShort(text.chars().count())),
                ErrorAction::SeatLost => {
                    return Err(ArenaClientError::SeatLost(error_suffix(&refusal)));
                }
                ErrorAction::DebateNotFound => {
                    return Err(ArenaClientError::DebateNotFound(error_suffix(&refusal)));
                }
                _ => return Ok(SendOutcome::Rejected(describe_error(&refusal))),
            }
        }
        Ok(SendOutcome::Rejected("no length of it was taken".into()))
    }

    async fn poll_with_retry(
        &self,
        pass: &SeatCredentials,
        wait: bool,
        tries: &mut RetryState,
    ) -> Result<PollResponse, ArenaClientError> {
        let patience = self.config.outage_timeout;
        loop {
            let refusal = match self.api.poll(pass, wait).await {
                Ok(poll) => {
                    *tries = RetryState::default();
                    return Ok(poll);
                }
                Err(ArenaApiError::Refused(refusal)) => refusal,
                Err(ArenaApiError::Unreachable(why) | ArenaApiError::InvalidResponse(why)) => {
                    self.back_off(tries, why, None, patience).await?;
                    continue;
                }
            };
            match retry_policy::classify_error(RequestKind::Poll, &refusal) {
                ErrorAction::SeatLost => {
                    return Err(ArenaClientError::SeatLost(error_suffix(&refusal)));
                }
                ErrorAction::DebateNotFound => {
                    return Err(ArenaClientError::DebateNotFound(error_suffix(&refusal)));
                }
                ErrorAction::RetryLater(wanted) => {
                    self.back_off(tries, describe_error(&refusal), wanted, patience).await?;
                }
                _ => return Err(ArenaClientError::Refused(error_suffix(&refusal))),
            }
        }
    }

    /// Waits before a retry, with exponential backoff. Fails if the retries took longer than
    /// `patience`.
    async fn back_off(
        &self,
        tries: &mut RetryState,
        why: String,
        wanted: Option<Duration>,
        patience: Duration,
    ) -> Result<(), ArenaClientError> {
        let since = *tries.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= patience {
            return Err(ArenaClientError::Unreachable(why));
        }
        tries.attempt += 1;
        let [chance] = random_bytes::<1>()?;
        let wait = wanted.unwrap_or_else(|| retry_policy::backoff(tries.attempt, chance));
        (self.on_event)(ClientEvent::RequestFailed { why, delay: wait });
        sleep(wait).await;
        Ok(())
    }

    /// Reports the changes since the last poll as events.
    fn report_changes(
        &self,
        poll: &PollResponse,
        pass: &SeatCredentials,
        told: &mut ReportedState,
    ) {
        if poll.state == RemoteState::Waiting {
            if told.joined.replace(poll.joined_count) != Some(poll.joined_count) {
                (self.on_event)(ClientEvent::Waiting { joined: poll.joined_count });
            }
            return;
        }
        if !told.started && poll.state == RemoteState::Active {
            told.started = true;
            let (topic, side, rounds) = (poll.topic.clone(), own_side(poll), poll.total_rounds);
            (self.on_event)(ClientEvent::Started { topic, side, rounds });
        }
        let gone = poll.speech_count - poll.speeches.len();
        for spoken in poll.speeches.iter().skip(told.speech_count.saturating_sub(gone)) {
            if spoken.speaker != pass.identifier {
                (self.on_event)(ClientEvent::OtherSpoke(spoken.clone()));
            }
        }
        told.speech_count = told.speech_count.max(poll.speech_count);
    }
}

fn is_own_turn(poll: &PollResponse, pass: &SeatCredentials) -> bool {
    poll.state == RemoteState::Active && poll.next_speaker == pass.identifier
}

/// Time left for the speech. `over` is the time since a poll last showed that it was not our turn.
fn speech_time_left(
    poll: &PollResponse,
    kept: &mut LockedCredentials,
    over: Option<Duration>,
) -> Duration {
    let granted = Duration::from_secs(poll.timeout_seconds);
    let now = jiff::Timestamp::now().as_millisecond();
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let told = poll.deadline.map(|at| at.saturating_sub(now));
    let told = told.filter(|left| (1..=millis(granted)).contains(left));
    let since = match told {
        Some(left) => now - (millis(granted) - left),
        None => kept.turn_due_since(poll.turn_key(), now - over.map_or(0, millis)),
    };
    let over = u64::try_from(now.saturating_sub(since)).unwrap_or(0);
    retry_policy::time_left(granted, Duration::from_millis(over))
}

fn build_result(
    pass: &SeatCredentials,
    poll: PollResponse,
    said: usize,
    missed: usize,
) -> ClientResult {
    let verdict = poll.verdict.clone().unwrap_or_default();
    let outcome = ClientOutcome::from_winner(&verdict.winner, &pass.identifier, poll.side);
    let (debate, identifier) = (pass.debate_id.clone(), pass.identifier.clone());
    ClientResult {
        debate_id: debate,
        identifier,
        last_poll: poll,
        outcome,
        verdict,
        speeches_sent: said,
        turns_missed: missed,
    }
}

/// Error response as a suffix of a message.
fn error_suffix(refusal: &RemoteError) -> String {
    format!(": {}", describe_error(refusal))
}

fn describe_error(refusal: &RemoteError) -> String {
    let code = if refusal.code.is_empty() { String::new() } else { format!(" {}", refusal.code) };
    let message = match refusal.message.split_whitespace().collect::<Vec<_>>().join(" ") {
        message if message.is_empty() => String::new(),
        message => format!(" ({message})"),
    };
    format!("{}{code}{message}", refusal.status)
}

fn random_bytes<const N: usize>() -> Result<[u8; N], ArenaClientError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ArenaClientError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

/// Generates a random UUID (version 4).
pub fn random_uuid() -> Result<String, ArenaClientError> {
    let number = u128::from_be_bytes(random_bytes::<16>()?);
    // Set the version (4) and variant (RFC 4122) bits.
    let number = number & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{number:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}
