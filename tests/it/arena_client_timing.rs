//! Arena client against a fake arena API and a slow model, on tokio's paused clock: polling while
//! the model thinks, deadlines, partial speeches and retries of unconfirmed requests.
use debate_mcp::arena_client::api::{ArenaApiError, JoinParams};
use debate_mcp::arena_client::protocol::{PollResponse, RemoteError, SeatCredentials};
use debate_mcp::arena_client::{
    ArenaApi, ArenaClient, ArenaClientConfig, ArenaClientError, ArenaUrl, ClientEvent,
    ClientResult, CredentialStore,
};
use debate_mcp::debate::{FailureKind, Participant, TurnFailure};
use debate_mcp::engine::{BoxFuture, OneShotProvider, OneShotReply, OneShotRequest};
use debate_mcp::formats_catalog;
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
        let late = self.started_at.elapsed() > Duration::from_secs(self.turn_seconds);
        late || (self.accepted_speech.lock().unwrap().is_some() && !self.repeats_our_turn)
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
        visitor: JoinParams<'a>,
    ) -> BoxFuture<'a, Result<SeatCredentials, ArenaApiError>> {
        let key = "x".repeat(12);
        let _ = visitor;
        let answer = json!({"debate_id": "d", "bot_identifier": BOT_ID, "debate_key": key});
        Box::pin(async move { Ok(SeatCredentials::from_json(&answer).unwrap()) })
    }

    fn poll<'a>(
        &'a self,
        _: &'a SeatCredentials,
        wait: bool,
    ) -> BoxFuture<'a, Result<PollResponse, ArenaApiError>> {
        assert!(!wait, "nobody has said that polls may wait");
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
            let answer = self.queued_errors.lock().unwrap().pop();
            let mut said = self.accepted_speech.lock().unwrap();
            if answer.is_none() || self.accepts_despite_error {
                assert!(said.is_none(), "it was said twice");
                *said = Some((Instant::now(), content.into()));
            }
            answer.map_or(Ok(()), Err)
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
    fn ask_once<'a>(&'a self, errand: &'a OneShotRequest) -> BoxFuture<'a, OneShotReply> {
        Box::pin(async move {
            self.requests.lock().unwrap().push(errand.clone());
            let allowed = u64::from(errand.timeout_secs);
            sleep(Duration::from_secs(self.seconds.min(allowed))).await;
            let said = if self.seconds > allowed {
                Err(TurnFailure::new(FailureKind::TimedOut, "late"))
            } else {
                Ok(self.text.into())
            };
            OneShotReply { result: said, partial_text: self.partial_text.into() }
        })
    }
}

async fn run_client(
    platform: &FakeArenaApi,
    voice: &SlowProvider,
) -> (Result<ClientResult, ArenaClientError>, Vec<ClientEvent>) {
    let (news, folder) = (Mutex::new(vec![]), tempfile::tempdir().unwrap());
    let nowhere = Path::new("/nowhere");
    let words = formats_catalog::load(nowhere, nowhere).arena_client_prompts;
    let guest = ArenaClientConfig {
        name: "me".into(),
        uuid: "u".into(),
        participant: Participant::Model { tool: "slow".into(), model: None },
        effort: None,
        poll_interval: Duration::from_secs(5),
        outage_timeout: Duration::from_secs(600),
        join_timeout: Duration::ZERO,
    };
    let tell = |it: ClientEvent| news.lock().unwrap().push(it);
    let visit = ArenaClient {
        api: platform,
        provider: voice,
        templates: &words,
        config: &guest,
        on_event: &tell,
    };
    let at = ArenaUrl::parse("http://localhost").unwrap();
    let ended = visit.run(&CredentialStore::in_home(folder.path()), &at, None).await;
    (ended, news.into_inner().unwrap())
}

#[tokio::test(start_paused = true)]
async fn client_keeps_polling_while_the_model_thinks() {
    let platform = FakeArenaApi::new(1_000);
    let voice = SlowProvider::new(700, "", "A speech that took a while.");
    let (ended, _) = run_client(&platform, &voice).await;
    assert_eq!(ended.unwrap().speeches_sent, 1);
    assert!(
        platform.longest_poll_gap() <= Duration::from_secs(30),
        "{:?}",
        platform.longest_poll_gap()
    );
    assert!(platform.poll_times.lock().unwrap().len() > 40);
}

#[tokio::test(start_paused = true)]
async fn partial_speech_is_sent_before_the_deadline() {
    let platform = FakeArenaApi::new(120);
    let voice = SlowProvider::new(10_000, "One half of a speech. And the", "never");
    let (ended, _) = run_client(&platform, &voice).await;
    let (at, text) = platform.accepted_speech.lock().unwrap().clone().unwrap();
    assert_eq!(text, "One half of a speech.", "up to the last whole sentence");
    let took = at - platform.started_at;
    assert!(took > Duration::from_secs(100) && took < Duration::from_secs(115), "{took:?}");
    assert_eq!(ended.unwrap().turns_missed, 0);
    assert_eq!(voice.requests.lock().unwrap().len(), 1, "there is no time to ask again");
}

#[tokio::test(start_paused = true)]
async fn model_timeout_without_text_misses_the_turn() {
    let platform = FakeArenaApi::new(120);
    let (ended, news) = run_client(&platform, &SlowProvider::new(10_000, "Hm.", "never")).await;
    assert_eq!(ended.unwrap().turns_missed, 1);
    assert!(platform.accepted_speech.lock().unwrap().is_none());
    assert!(
        news.iter().any(|it| matches!(it, ClientEvent::TurnMissed { round: 1, .. })),
        "{news:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn unconfirmed_speech_is_polled_before_it_is_resent() {
    let lost = || ArenaApiError::Unreachable("connection reset".into());
    // Accepted, but the response was lost: not sent again.
    let platform = FakeArenaApi { accepts_despite_error: true, ..FakeArenaApi::new(120) };
    platform.queued_errors.lock().unwrap().push(lost());
    let voice = SlowProvider::new(1, "", "A speech that is sent once.");
    let (ended, _) = run_client(&platform, &voice).await;
    assert_eq!((ended.unwrap().turns_missed, voice.requests.lock().unwrap().len()), (0, 1));
    // Not accepted: the same text is sent again, without a new model request.
    let platform = FakeArenaApi::new(120);
    let busy = RemoteError { status: 503, retry_after: Some(3), ..RemoteError::default() };
    platform.queued_errors.lock().unwrap().extend([lost(), ArenaApiError::Refused(busy)]);
    let voice = SlowProvider::new(1, "", "A speech that is sent again.");
    let (ended, news) = run_client(&platform, &voice).await;
    assert_eq!((ended.unwrap().speeches_sent, voice.requests.lock().unwrap().len()), (1, 1));
    let waited = |it: &ClientEvent| matches!(it, ClientEvent::RequestFailed { delay, .. } if *delay == Duration::from_secs(3));
    assert!(news.iter().any(waited), "{news:#?}");
}

#[tokio::test(start_paused = true)]
async fn speech_is_not_repeated_while_the_arena_lags() {
    let platform = FakeArenaApi { repeats_our_turn: true, ..FakeArenaApi::new(25) };
    let voice = SlowProvider::new(1, "", "A speech that is sent once.");
    let (ended, _) = run_client(&platform, &voice).await;
    assert_eq!((ended.unwrap().speeches_sent, voice.requests.lock().unwrap().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn model_request_names_seat_and_phase_but_not_the_key() {
    let platform = FakeArenaApi::new(60);
    let voice = SlowProvider::new(1, "", "A speech of the right length.");
    run_client(&platform, &voice).await.0.unwrap();
    let asked = voice.requests.lock().unwrap();
    let [errand] = asked.as_slice() else { panic!("{asked:#?}") };
    assert_eq!((errand.seat.as_str(), errand.phase.as_str()), ("supporting", "opening"));
    assert_eq!((errand.round, errand.attempt, errand.timeout_secs), (1, 1, 54));
    assert!(!errand.prompt.contains("xxxxxxxxxxxx"), "the key is nobody's business");
}
