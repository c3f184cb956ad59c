//! Arena client against a fake arena API and a slow model, on tokio's paused clock: polling while
//! the model thinks, deadlines, partial speeches and retries of unconfirmed requests.
use crate::app::{OneShotProvider, OneShotReply, OneShotRequest};
use crate::arena_client::api::{ArenaApiError, JoinParams};
use crate::arena_client::client::ArenaApi;
use crate::arena_client::protocol::{PollResponse, RemoteError, SeatCredentials};
use crate::arena_client::{
    ArenaClient, ArenaClientConfig, ArenaClientError, ArenaUrl, ClientEvent, ClientResult,
    CredentialStore,
};
use crate::debate::{FailureKind, Participant, TurnFailure};
use crate::engine::BoxFuture;
use crate::formats_catalog;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const BOT_ID: &str = "me_d";

/// Fake arena API with one debate of a single speech, ours.
struct FakeArenaApi {
    started_at: Instant,
    /// Timeout of the turn in seconds. After it the debate ends.
    turn_seconds: u64,
    poll_times: Mutex<Vec<Instant>>,
    accepted_speech: Mutex<Option<(Instant, String)>>,
    /// Errors returned for the next speech requests, used from the back, before one is accepted.
    queued_errors: Mutex<Vec<ArenaApiError>>,
    /// Accepts the speech although an error is returned.
    accepts_despite_error: bool,
    /// Still reports our turn after the speech was accepted.
    repeats_our_turn: bool,
}

impl FakeArenaApi {
    fn new(turn_seconds: u64) -> FakeArenaApi {
        let (poll_times, accepted_speech, queued_errors) =
            (Mutex::default(), Mutex::default(), Mutex::default());
        FakeArenaApi {
            started_at: Instant::now(),
            turn_seconds,
            poll_times,
            accepted_speech,
            queued_errors,
            accepts_despite_error: false,
            repeats_our_turn: false,
        }
    }

    fn is_over(&self) -> bool {
        let is_timed_out = self.started_at.elapsed() > Duration::from_secs(self.turn_seconds);
        is_timed_out || (self.accepted_speech.lock().unwrap().is_some() && !self.repeats_our_turn)
    }

    /// The longest time between two polls.
    fn longest_poll_gap(&self) -> Duration {
        let polls = self.poll_times.lock().unwrap();
        polls.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

impl ArenaApi for FakeArenaApi {
    fn join<'a>(
        &'a self,
        params: JoinParams<'a>,
    ) -> BoxFuture<'a, Result<SeatCredentials, ArenaApiError>> {
        let key = "x".repeat(12);
        let _ = params;
        let response = json!({"debate_id": "d", "bot_identifier": BOT_ID, "debate_key": key});
        Box::pin(async move { Ok(SeatCredentials::from_json(&response).unwrap()) })
    }

    fn poll<'a>(
        &'a self,
        _: &'a SeatCredentials,
        wait: bool,
    ) -> BoxFuture<'a, Result<PollResponse, ArenaApiError>> {
        assert!(!wait, "long polling was not offered");
        self.poll_times.lock().unwrap().push(Instant::now());
        let state: Value = if self.is_over() {
            json!({"state": "ended", "debate_result": {"winner": "draw"}})
        } else {
            json!({"state": "active", "next_speaker": BOT_ID, "timeout_seconds": self.turn_seconds,
                "min_content_length": 10, "max_content_length": 100, "current_round": 1})
        };
        Box::pin(async move { Ok(PollResponse::from_json(&state, BOT_ID).unwrap()) })
    }

    fn speak<'a>(
        &'a self,
        _: &'a SeatCredentials,
        content: &'a str,
    ) -> BoxFuture<'a, Result<(), ArenaApiError>> {
        Box::pin(async move {
            let error = self.queued_errors.lock().unwrap().pop();
            let mut speech = self.accepted_speech.lock().unwrap();
            if error.is_none() || self.accepts_despite_error {
                assert!(speech.is_none(), "the speech was sent twice");
                *speech = Some((Instant::now(), content.into()));
            }
            error.map_or(Ok(()), Err)
        })
    }
}

/// Provider that replies after a fixed delay, or times out with a partial text.
struct SlowProvider {
    seconds: u64,
    partial_text: &'static str,
    text: &'static str,
    requests: Mutex<Vec<OneShotRequest>>,
}

impl SlowProvider {
    fn new(seconds: u64, partial_text: &'static str, text: &'static str) -> SlowProvider {
        SlowProvider { seconds, partial_text, text, requests: Mutex::default() }
    }
}

impl OneShotProvider for SlowProvider {
    fn ask_once<'a>(&'a self, request: &'a OneShotRequest) -> BoxFuture<'a, OneShotReply> {
        Box::pin(async move {
            self.requests.lock().unwrap().push(request.clone());
            let timeout_secs = u64::from(request.timeout_secs);
            sleep(Duration::from_secs(self.seconds.min(timeout_secs))).await;
            let result = if self.seconds > timeout_secs {
                Err(TurnFailure::new(FailureKind::TimedOut, "late"))
            } else {
                Ok(self.text.into())
            };
            OneShotReply { result, partial_text: self.partial_text.into() }
        })
    }
}

async fn run_client(
    api: &FakeArenaApi,
    provider: &SlowProvider,
) -> (Result<ClientResult, ArenaClientError>, Vec<ClientEvent>) {
    let (events, folder) = (Mutex::new(vec![]), tempfile::tempdir().unwrap());
    let nowhere = Path::new("/nowhere");
    let templates = formats_catalog::load(nowhere, nowhere).arena_client_prompts;
    let config = ArenaClientConfig {
        name: "me".into(),
        uuid: "u".into(),
        participant: Participant::Model { tool: "slow".into(), model: None },
        effort: None,
        poll_interval: Duration::from_secs(5),
        outage_timeout: Duration::from_secs(600),
        join_timeout: Duration::ZERO,
    };
    let on_event = |event: ClientEvent| events.lock().unwrap().push(event);
    let client =
        ArenaClient { api, provider, templates: &templates, config: &config, on_event: &on_event };
    let url = ArenaUrl::parse("http://localhost").unwrap();
    let result = client.run(&CredentialStore::in_home(folder.path()), &url, None).await;
    (result, events.into_inner().unwrap())
}

#[tokio::test(start_paused = true)]
async fn client_keeps_polling_while_the_model_thinks() {
    let api = FakeArenaApi::new(1_000);
    let provider = SlowProvider::new(700, "", "A speech that took a while.");
    let (result, _) = run_client(&api, &provider).await;
    assert_eq!(result.unwrap().speeches_sent, 1);
    assert!(api.longest_poll_gap() <= Duration::from_secs(30), "{:?}", api.longest_poll_gap());
    assert!(api.poll_times.lock().unwrap().len() > 40);
}

#[tokio::test(start_paused = true)]
async fn partial_speech_is_sent_before_the_deadline() {
    let api = FakeArenaApi::new(120);
    let provider = SlowProvider::new(10_000, "One half of a speech. And the", "never");
    let (result, _) = run_client(&api, &provider).await;
    let (accepted_at, text) = api.accepted_speech.lock().unwrap().clone().unwrap();
    assert_eq!(text, "One half of a speech.", "up to the last whole sentence");
    let elapsed = accepted_at - api.started_at;
    assert!(
        elapsed > Duration::from_secs(100) && elapsed < Duration::from_secs(115),
        "{elapsed:?}"
    );
    assert_eq!(result.unwrap().turns_missed, 0);
    assert_eq!(provider.requests.lock().unwrap().len(), 1, "there is no time to ask again");
}

#[tokio::test(start_paused = true)]
async fn model_timeout_without_text_misses_the_turn() {
    let api = FakeArenaApi::new(120);
    let (result, events) = run_client(&api, &SlowProvider::new(10_000, "Hm.", "never")).await;
    assert_eq!(result.unwrap().turns_missed, 1);
    assert!(api.accepted_speech.lock().unwrap().is_none());
    assert!(
        events.iter().any(|it| matches!(it, ClientEvent::TurnMissed { round: 1, .. })),
        "{events:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn unconfirmed_speech_is_polled_before_it_is_resent() {
    let connection_error = || ArenaApiError::Unreachable("connection reset".into());
    // Accepted, but the response was lost: not sent again.
    let api = FakeArenaApi { accepts_despite_error: true, ..FakeArenaApi::new(120) };
    api.queued_errors.lock().unwrap().push(connection_error());
    let provider = SlowProvider::new(1, "", "A speech that is sent once.");
    let (result, _) = run_client(&api, &provider).await;
    assert_eq!((result.unwrap().turns_missed, provider.requests.lock().unwrap().len()), (0, 1));
    // Not accepted: the same text is sent again, without a new model request.
    let api = FakeArenaApi::new(120);
    let unavailable = RemoteError { status: 503, retry_after: Some(3), ..RemoteError::default() };
    api.queued_errors
        .lock()
        .unwrap()
        .extend([connection_error(), ArenaApiError::Refused(unavailable)]);
    let provider = SlowProvider::new(1, "", "A speech that is sent again.");
    let (result, events) = run_client(&api, &provider).await;
    assert_eq!((result.unwrap().speeches_sent, provider.requests.lock().unwrap().len()), (1, 1));
    let waited_three_seconds = |it: &ClientEvent| matches!(it, ClientEvent::RequestFailed { delay, .. } if *delay == Duration::from_secs(3));
    assert!(events.iter().any(waited_three_seconds), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn speech_is_shortened_three_times_at_most() {
    let too_long =
        || RemoteError { status: 422, code: "CONTENT_TOO_LONG".into(), ..RemoteError::default() };
    for (refusals, expected) in [(3, (1, 0)), (4, (0, 1))] {
        let api = FakeArenaApi::new(120);
        let errors = (0..refusals).map(|_| ArenaApiError::Refused(too_long()));
        api.queued_errors.lock().unwrap().extend(errors);
        let provider = SlowProvider::new(1, "", "A speech that is too long again and again.");
        let result = run_client(&api, &provider).await.0.unwrap();
        assert_eq!((result.speeches_sent, result.turns_missed), expected, "{refusals} refusals");
    }
}

#[tokio::test(start_paused = true)]
async fn speech_is_not_repeated_while_the_arena_lags() {
    let api = FakeArenaApi { repeats_our_turn: true, ..FakeArenaApi::new(25) };
    let provider = SlowProvider::new(1, "", "A speech that is sent once.");
    let (result, _) = run_client(&api, &provider).await;
    assert_eq!((result.unwrap().speeches_sent, provider.requests.lock().unwrap().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn model_request_names_seat_and_phase_but_not_the_key() {
    let api = FakeArenaApi::new(60);
    let provider = SlowProvider::new(1, "", "A speech of the right length.");
    run_client(&api, &provider).await.0.unwrap();
    let requests = provider.requests.lock().unwrap();
    let [request] = requests.as_slice() else { panic!("{requests:#?}") };
    assert_eq!((request.seat.as_str(), request.phase.as_str()), ("supporting", "opening"));
    assert_eq!((request.round, request.attempt, request.timeout_secs), (1, 1, 54));
    assert!(!request.prompt.contains("xxxxxxxxxxxx"), "the prompt must not contain the key");
}
