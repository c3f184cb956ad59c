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

const ME: &str = "me_d";

/// Fake arena API with one debate of a single speech, ours.
struct Quiet {
    began: Instant,
    /// Timeout of the turn in seconds. After it the debate ends.
    grants: u64,
    polls: Mutex<Vec<Instant>>,
    said: Mutex<Option<(Instant, String)>>,
    /// Errors returned for the next speech requests, used from the back, before one is accepted.
    answers: Mutex<Vec<ArenaApiError>>,
    /// Accepts the speech although an error is returned.
    takes: bool,
    /// Still reports our turn after the speech was accepted.
    deaf: bool,
}

impl Quiet {
    fn new(grants: u64) -> Quiet {
        let (polls, said, answers) = (Mutex::default(), Mutex::default(), Mutex::default());
        Quiet { began: Instant::now(), grants, polls, said, answers, takes: false, deaf: false }
    }

    fn over(&self) -> bool {
        let late = self.began.elapsed() > Duration::from_secs(self.grants);
        late || (self.said.lock().unwrap().is_some() && !self.deaf)
    }

    /// The longest time between two polls.
    fn silence(&self) -> Duration {
        let polls = self.polls.lock().unwrap();
        polls.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

impl ArenaApi for Quiet {
    fn join<'a>(
        &'a self,
        visitor: JoinParams<'a>,
    ) -> BoxFuture<'a, Result<SeatCredentials, ArenaApiError>> {
        let key = "x".repeat(12);
        let _ = visitor;
        let answer = json!({"debate_id": "d", "bot_identifier": ME, "debate_key": key});
        Box::pin(async move { Ok(SeatCredentials::from_json(&answer).unwrap()) })
    }

    fn poll<'a>(
        &'a self,
        _: &'a SeatCredentials,
        wait: bool,
    ) -> BoxFuture<'a, Result<PollResponse, ArenaApiError>> {
        assert!(!wait, "nobody has said that polls may wait");
        self.polls.lock().unwrap().push(Instant::now());
        let state: Value = if self.over() {
            json!({"state": "ended", "debate_result": {"winner": "draw"}})
        } else {
            json!({"state": "active", "next_speaker": ME, "timeout_seconds": self.grants,
                "min_content_length": 10, "max_content_length": 100, "current_round": 1})
        };
        Box::pin(async move { Ok(PollResponse::from_json(&state, ME).unwrap()) })
    }

    fn speak<'a>(
        &'a self,
        _: &'a SeatCredentials,
        content: &'a str,
    ) -> BoxFuture<'a, Result<(), ArenaApiError>> {
        Box::pin(async move {
            let answer = self.answers.lock().unwrap().pop();
            let mut said = self.said.lock().unwrap();
            if answer.is_none() || self.takes {
                assert!(said.is_none(), "it was said twice");
                *said = Some((Instant::now(), content.into()));
            }
            answer.map_or(Ok(()), Err)
        })
    }
}

/// Provider that replies after a fixed delay, or times out with a partial text.
struct Slow {
    seconds: u64,
    so_far: &'static str,
    text: &'static str,
    asked: Mutex<Vec<OneShotRequest>>,
}

impl Slow {
    fn new(seconds: u64, so_far: &'static str, text: &'static str) -> Slow {
        Slow { seconds, so_far, text, asked: Mutex::default() }
    }
}

impl OneShotProvider for Slow {
    fn ask_once<'a>(&'a self, errand: &'a OneShotRequest) -> BoxFuture<'a, OneShotReply> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(errand.clone());
            let allowed = u64::from(errand.timeout_secs);
            sleep(Duration::from_secs(self.seconds.min(allowed))).await;
            let said = if self.seconds > allowed {
                Err(TurnFailure::new(FailureKind::TimedOut, "late"))
            } else {
                Ok(self.text.into())
            };
            OneShotReply { result: said, partial_text: self.so_far.into() }
        })
    }
}

async fn visit(
    platform: &Quiet,
    voice: &Slow,
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
async fn a_guest_that_thinks_is_never_taken_for_gone() {
    let platform = Quiet::new(1_000);
    let voice = Slow::new(700, "", "A speech that took a while.");
    let (ended, _) = visit(&platform, &voice).await;
    assert_eq!(ended.unwrap().speeches_sent, 1);
    assert!(platform.silence() <= Duration::from_secs(30), "{:?}", platform.silence());
    assert!(platform.polls.lock().unwrap().len() > 40);
}

#[tokio::test(start_paused = true)]
async fn half_a_speech_is_sent_when_the_time_is_nearly_over() {
    let platform = Quiet::new(120);
    let voice = Slow::new(10_000, "One half of a speech. And the", "never");
    let (ended, _) = visit(&platform, &voice).await;
    let (at, text) = platform.said.lock().unwrap().clone().unwrap();
    assert_eq!(text, "One half of a speech.", "up to the last whole sentence");
    let took = at - platform.began;
    assert!(took > Duration::from_secs(100) && took < Duration::from_secs(115), "{took:?}");
    assert_eq!(ended.unwrap().turns_missed, 0);
    assert_eq!(voice.asked.lock().unwrap().len(), 1, "there is no time to ask again");
}

#[tokio::test(start_paused = true)]
async fn a_voice_with_nothing_to_say_misses_the_turn_and_is_not_asked_for_ever() {
    let platform = Quiet::new(120);
    let (ended, news) = visit(&platform, &Slow::new(10_000, "Hm.", "never")).await;
    assert_eq!(ended.unwrap().turns_missed, 1);
    assert!(platform.said.lock().unwrap().is_none());
    assert!(
        news.iter().any(|it| matches!(it, ClientEvent::TurnMissed { round: 1, .. })),
        "{news:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_speech_nobody_knows_the_fate_of_is_looked_after_before_it_is_sent_again() {
    let lost = || ArenaApiError::Unreachable("connection reset".into());
    // Accepted, but the response was lost: not sent again.
    let platform = Quiet { takes: true, ..Quiet::new(120) };
    platform.answers.lock().unwrap().push(lost());
    let voice = Slow::new(1, "", "A speech that is sent once.");
    let (ended, _) = visit(&platform, &voice).await;
    assert_eq!((ended.unwrap().turns_missed, voice.asked.lock().unwrap().len()), (0, 1));
    // Not accepted: the same text is sent again, without a new model request.
    let platform = Quiet::new(120);
    let busy = RemoteError { status: 503, retry_after: Some(3), ..RemoteError::default() };
    platform.answers.lock().unwrap().extend([lost(), ArenaApiError::Refused(busy)]);
    let voice = Slow::new(1, "", "A speech that is sent again.");
    let (ended, news) = visit(&platform, &voice).await;
    assert_eq!((ended.unwrap().speeches_sent, voice.asked.lock().unwrap().len()), (1, 1));
    let waited = |it: &ClientEvent| matches!(it, ClientEvent::RequestFailed { delay, .. } if *delay == Duration::from_secs(3));
    assert!(news.iter().any(waited), "{news:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_is_slow_to_notice_a_speech_is_not_given_another() {
    let platform = Quiet { deaf: true, ..Quiet::new(25) };
    let voice = Slow::new(1, "", "A speech that is sent once.");
    let (ended, _) = visit(&platform, &voice).await;
    assert_eq!((ended.unwrap().speeches_sent, voice.asked.lock().unwrap().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_seat_is_asked_as_what_it_is_and_given_nothing_else() {
    let platform = Quiet::new(60);
    let voice = Slow::new(1, "", "A speech of the right length.");
    visit(&platform, &voice).await.0.unwrap();
    let asked = voice.asked.lock().unwrap();
    let [errand] = asked.as_slice() else { panic!("{asked:#?}") };
    assert_eq!((errand.seat.as_str(), errand.phase.as_str()), ("supporting", "opening"));
    assert_eq!((errand.round, errand.attempt, errand.timeout_secs), (1, 1, 54));
    assert!(!errand.prompt.contains("xxxxxxxxxxxx"), "the key is nobody's business");
}
