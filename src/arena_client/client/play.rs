//! The loop of the client: joins a debate, polls it, and sends a speech on each of its turns until
//! the debate is over. Every step starts from a fresh poll, so an interrupted step is retried
//! without sending a speech twice.
use super::requests::{RetryState, SendOutcome, describe_error, error_suffix};
use super::{ArenaClient, ArenaClientConfig, ArenaClientError, random_bytes};
use crate::arena_client::api::{ArenaApiError, JoinParams};
use crate::arena_client::arena_url::ArenaUrl;
use crate::arena_client::credentials::{CredentialStore, LockedCredentials};
use crate::arena_client::events::{ClientEvent, ClientOutcome, ClientResult};
use crate::arena_client::prompt::{current_round, own_side};
use crate::arena_client::protocol::{PollResponse, RemoteState, SeatCredentials, TurnKey};
use crate::arena_client::retry_policy::{self, ErrorAction, RequestKind, poll_delay};
use crate::arena_client::speech_writer::{PreparedSpeech, SpeechWriter};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Timeout of the first contact. The URL may be wrong, so it is shorter than later ones.
const FIRST_CONTACT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a poll may still show our turn after the server accepted the speech.
const STALE_TURN_TIMEOUT: Duration = Duration::from_secs(30);

/// Likely minimum length in characters, if the server reports none but finds a speech too short.
const LIKELY_MIN_CHARS: usize = 50;

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
    pub(crate) async fn run(
        &self,
        store: &CredentialStore,
        url: &ArenaUrl,
        debate: Option<&str>,
    ) -> Result<ClientResult, ArenaClientError> {
        let stored = debate.and_then(|debate| store.load(url, debate, &self.config.name));
        let (mut locked, credentials) = if let Some(locked) = stored {
            let credentials = locked.credentials();
            let (debate, identifier) =
                (credentials.debate_id.clone(), credentials.identifier.clone());
            tracing::info!(debate = %debate, bot = %identifier, "seat resumed");
            (self.on_event)(ClientEvent::Resumed { debate, identifier });
            (locked, credentials)
        } else {
            let credentials = self.join(debate).await?;
            let locked = store.save(url, &credentials, &self.config.name)?;
            let SeatCredentials { debate_id: debate, identifier, topic, .. } = credentials.clone();
            tracing::info!(debate = %debate, bot = %identifier, "seat joined");
            (self.on_event)(ClientEvent::Joined { debate, identifier, topic });
            (locked, credentials)
        };
        let result = self.play_debate(&credentials, &mut locked).await;
        if matches!(
            result,
            Ok(_) | Err(ArenaClientError::DebateNotFound(_) | ArenaClientError::SeatLost(_))
        ) {
            locked.delete();
        }
        result
    }

    async fn join(&self, debate: Option<&str>) -> Result<SeatCredentials, ArenaClientError> {
        let ArenaClientConfig { name, uuid, join_timeout, outage_timeout, poll_interval, .. } =
            self.config;
        let deadline = Instant::now() + *join_timeout;
        let outage_timeout = (*outage_timeout).min(FIRST_CONTACT_TIMEOUT).max(*join_timeout);
        let (mut retries, mut reported) = (RetryState::default(), false);
        loop {
            let error = match self.api.join(JoinParams { name, uuid, debate_id: debate }).await {
                Ok(credentials) => return Ok(credentials),
                Err(error) => error,
            };
            let refusal = match error {
                ArenaApiError::Refused(refusal) => refusal,
                ArenaApiError::Unreachable(reason) | ArenaApiError::InvalidResponse(reason) => {
                    self.back_off(&mut retries, reason, None, outage_timeout).await?;
                    continue;
                }
            };
            let named = debate.is_some();
            match retry_policy::classify_error(RequestKind::Join { named }, &refusal) {
                ErrorAction::NoDebate if Instant::now() < deadline => {
                    if !reported {
                        (self.on_event)(ClientEvent::NoDebate);
                    }
                    reported = true;
                    retries = RetryState::default();
                    let remaining = deadline.saturating_duration_since(Instant::now());
                    sleep((*poll_interval).min(remaining)).await;
                }
                ErrorAction::NoDebate => return Err(ArenaClientError::NoDebate),
                ErrorAction::RetryLater(delay) => {
                    self.back_off(&mut retries, describe_error(&refusal), delay, outage_timeout)
                        .await?;
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
        credentials: &SeatCredentials,
        locked: &mut LockedCredentials,
    ) -> Result<ClientResult, ArenaClientError> {
        let (mut retries, mut reported) = (RetryState::default(), ReportedState::default());
        let mut handled: Option<HandledTurn> = None;
        let mut unsent: Option<(TurnKey, PreparedSpeech)> = None;
        let mut raised_min: Option<(TurnKey, usize)> = None;
        let (mut sent_count, mut missed_count) = (0, 0);
        let (mut use_long_poll, mut last_idle) = (credentials.long_poll, None);
        loop {
            let long_polled = use_long_poll;
            let mut poll = self.poll_with_retry(credentials, use_long_poll, &mut retries).await?;
            self.report_changes(&poll, credentials, &mut reported);
            if poll.state == RemoteState::Ended {
                tracing::info!(
                    debate = %credentials.debate_id,
                    speeches = sent_count,
                    missed_count,
                    "debate finished"
                );
                return Ok(build_result(credentials, poll, sent_count, missed_count));
            }
            let own_turn = is_own_turn(&poll, credentials);
            use_long_poll = poll.long_poll && !own_turn;
            if !own_turn {
                (last_idle, handled, unsent) = (Some(Instant::now()), None, None);
                sleep(poll_delay(self.config.poll_interval, long_polled)).await;
                continue;
            }
            let turn = poll.turn_key();
            if let Some((_, min)) = raised_min.as_ref().filter(|(key, _)| *key == turn) {
                poll.limits.min = (*min).min(poll.limits.max);
            }
            let is_handled = |handled: &HandledTurn| {
                handled.turn == turn
                    && !(handled.sent && handled.handled_at.elapsed() > STALE_TURN_TIMEOUT)
            };
            if handled.as_ref().is_some_and(is_handled) {
                sleep(self.config.poll_interval).await;
                continue;
            }
            let round = current_round(&poll, &credentials.identifier);
            let prepared = unsent.take().filter(|(key, _)| *key == turn).map(|(_, speech)| speech);
            let written = if let Some(speech) = prepared {
                Ok(speech)
            } else {
                let elapsed = last_idle.filter(|_| !long_polled).map(|it: Instant| it.elapsed());
                let time_left = speech_time_left(&poll, locked, elapsed);
                (self.on_event)(ClientEvent::OwnTurn { round, time_left });
                self.write_speech(&poll, credentials, time_left).await?
            };
            let outcome = match written {
                Ok(speech) => {
                    let outcome =
                        self.send_speech(credentials, &poll, &speech, &mut retries).await?;
                    unsent = matches!(outcome, SendOutcome::Unknown).then_some((turn, speech));
                    outcome
                }
                Err(why) => SendOutcome::Rejected(why),
            };
            match outcome {
                SendOutcome::Accepted { chars, truncated } => {
                    sent_count += 1;
                    use_long_poll = poll.long_poll;
                    handled = Some(HandledTurn { turn, handled_at: Instant::now(), sent: true });
                    tracing::info!(
                        round = round,
                        chars = chars,
                        truncated = truncated,
                        "speech accepted"
                    );
                    (self.on_event)(ClientEvent::SpeechAccepted { round, chars, truncated });
                }
                SendOutcome::Rejected(why) => {
                    missed_count += 1;
                    tracing::info!(round = round, "turn missed");
                    handled = Some(HandledTurn { turn, handled_at: Instant::now(), sent: false });
                    (self.on_event)(ClientEvent::TurnMissed { round, why });
                }
                // The server may not report its minimum length, so retry once with a longer speech.
                SendOutcome::TooShort(chars)
                    if raised_min.as_ref().is_none_or(|(key, _)| *key != turn) =>
                {
                    raised_min = Some((turn, (2 * chars).max(LIKELY_MIN_CHARS)));
                }
                SendOutcome::TooShort(chars) => {
                    missed_count += 1;
                    handled = Some(HandledTurn { turn, handled_at: Instant::now(), sent: false });
                    tracing::info!(round = round, chars = chars, "turn missed, speech too short");
                    let why = format!("the platform requires more than {chars} characters");
                    (self.on_event)(ClientEvent::TurnMissed { round, why });
                }
                SendOutcome::Unknown => {}
            }
            sleep(poll_delay(self.config.poll_interval, use_long_poll)).await;
        }
    }

    /// Writes a speech and keeps polling meanwhile. The inner error is the reason why there is no
    /// speech.
    async fn write_speech(
        &self,
        poll: &PollResponse,
        credentials: &SeatCredentials,
        time_left: Duration,
    ) -> Result<Result<PreparedSpeech, String>, ArenaClientError> {
        let writer = SpeechWriter {
            provider: self.provider,
            participant: &self.config.participant,
            effort: self.config.effort,
            templates: self.templates,
            identifier: &credentials.identifier,
            on_event: self.on_event,
        };
        let salt = random_bytes::<16>()?
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        tokio::select! {
            speech = writer.write(poll, &salt, time_left) => Ok(speech),
            () = self.wait_until_turn_lost(poll, credentials) => {
                Ok(Err("the platform ended the turn before the speech was ready".into()))
            }
        }
    }

    /// Polls until the turn is no longer ours.
    async fn wait_until_turn_lost(&self, poll: &PollResponse, credentials: &SeatCredentials) {
        loop {
            sleep(retry_policy::writing_poll_interval(self.config.poll_interval)).await;
            let Ok(latest) = self.api.poll(credentials, false).await else { continue };
            if !is_own_turn(&latest, credentials) || latest.turn_key() != poll.turn_key() {
                return;
            }
        }
    }

    /// Reports the changes since the last poll as events.
    fn report_changes(
        &self,
        poll: &PollResponse,
        credentials: &SeatCredentials,
        reported: &mut ReportedState,
    ) {
        if poll.state == RemoteState::Waiting {
            if reported.joined.replace(poll.joined_count) != Some(poll.joined_count) {
                (self.on_event)(ClientEvent::Waiting { joined: poll.joined_count });
            }
            return;
        }
        if !reported.started && poll.state == RemoteState::Active {
            reported.started = true;
            let (topic, side, rounds) = (poll.topic.clone(), own_side(poll), poll.total_rounds);
            (self.on_event)(ClientEvent::Started { topic, side, rounds });
        }
        let dropped_count = poll.speech_count - poll.speeches.len();
        for speech in poll.speeches.iter().skip(reported.speech_count.saturating_sub(dropped_count))
        {
            if speech.speaker != credentials.identifier {
                (self.on_event)(ClientEvent::OtherSpoke(speech.clone()));
            }
        }
        reported.speech_count = reported.speech_count.max(poll.speech_count);
    }
}

fn is_own_turn(poll: &PollResponse, credentials: &SeatCredentials) -> bool {
    poll.state == RemoteState::Active && poll.next_speaker == credentials.identifier
}

/// Time left for the speech. `elapsed` is the time since a poll last showed that it was not our
/// turn.
fn speech_time_left(
    poll: &PollResponse,
    locked: &mut LockedCredentials,
    elapsed: Option<Duration>,
) -> Duration {
    let timeout = Duration::from_secs(poll.timeout_seconds);
    let now = jiff::Timestamp::now().as_millisecond();
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let remaining = poll.deadline.map(|deadline| deadline.saturating_sub(now));
    let remaining = remaining.filter(|millis_left| (1..=millis(timeout)).contains(millis_left));
    let due_since = match remaining {
        Some(millis_left) => now - (millis(timeout) - millis_left),
        None => locked.turn_due_since(poll.turn_key(), now - elapsed.map_or(0, millis)),
    };
    let elapsed = u64::try_from(now.saturating_sub(due_since)).unwrap_or(0);
    retry_policy::time_left(timeout, Duration::from_millis(elapsed))
}

fn build_result(
    credentials: &SeatCredentials,
    poll: PollResponse,
    speeches_sent: usize,
    turns_missed: usize,
) -> ClientResult {
    let verdict = poll.verdict.clone().unwrap_or_default();
    let outcome = ClientOutcome::from_winner(&verdict.winner, &credentials.identifier, poll.side);
    let (debate_id, identifier) = (credentials.debate_id.clone(), credentials.identifier.clone());
    ClientResult {
        debate_id,
        identifier,
        last_poll: poll,
        outcome,
        verdict,
        speeches_sent,
        turns_missed,
    }
}
