//! Limits of the arena at their exact boundary: request bodies over HTTP, and waiting rooms, lists,
//! long polls and the deadline of a speech in this process.
use crate::arena_api::assert_error_response;
use crate::arena_harness::{ArenaProcess, long_speech};
use crate::command_queue::{test_app, test_workspace};
use crate::debate_fixture::debate_setup;
use crate::fake_providers::{ScriptedProviders, SharedEvents, open_session};
use crate::test_env::TestEnv;
use debate_mcp::arena::protocol::{CreateRoomRequest, CreateRoomResponse, JoinRequest};
use debate_mcp::arena::{ArenaError, ArenaLimits, ArenaService, JudgingConfig};
use debate_mcp::debate::{Participant, formats};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, advance};

/// Pads JSON with spaces to a size in bytes.
fn pad_json(body: &Value, size: usize) -> String {
    let text = body.to_string();
    let padding = " ".repeat(size - text.len());
    text + &padding
}

#[test]
fn request_bodies_have_a_maximum_size() {
    const KIB: usize = 1024;
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let create = json!({"topic": "Tabs?", "total_rounds": 1});
    let join = json!({"bot_name": "a", "bot_uuid": "1"});
    for (path, body, accepted) in
        [("/api/debate/create", &create, 201), ("/api/debate/join", &join, 200)]
    {
        let send = |size: usize| arena.send("POST", path, &[], &pad_json(body, size));
        assert_error_response(&send(32 * KIB + 1), 413, "PAYLOAD_TOO_LARGE", true);
        assert_eq!(send(32 * KIB).status, accepted, "{path}");
    }
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    let speech = json!({"message": {"format": "markdown", "content": long_speech("for")}});
    let path = format!("/api/debate/{}/speech", pro.debate_id);
    let send = |size: usize| arena.send("POST", &path, &pro.headers(), &pad_json(&speech, size));
    assert_error_response(&send(128 * KIB + 1), 413, "PAYLOAD_TOO_LARGE", true);
    assert_eq!(send(128 * KIB).status, 200);
}

#[test]
fn unsupported_format_is_quoted_up_to_40_characters() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    for length in [40, 41] {
        let message = json!({"format": "x".repeat(length), "content": long_speech("for")});
        let response = arena.post_speech(&pro, &json!({"message": message}));
        assert_error_response(&response, 422, "INVALID_MESSAGE_TYPE", true);
        let quoted = format!("not \"{}\"", "x".repeat(40));
        assert!(response.body["message"].as_str().unwrap().ends_with(&quoted), "{response:?}");
    }
}

fn arena_service(env: &TestEnv, limits: ArenaLimits) -> ArenaService {
    ArenaService::new(test_app(env), test_workspace(env), limits, JudgingConfig::default(), false)
}

async fn create_room(arena: &ArenaService) -> Result<CreateRoomResponse, ArenaError> {
    arena
        .create_room(CreateRoomRequest { topic: "Tabs or spaces?".into(), total_rounds: None })
        .await
}

#[tokio::test]
async fn rooms_over_the_limit_are_refused() {
    assert_eq!(ArenaLimits::default().max_waiting_rooms, 10_000);
    let env = TestEnv::new();
    let limits = ArenaLimits { max_waiting_rooms: 2, ..ArenaLimits::default() };
    let arena = arena_service(&env, limits);
    for _ in 0..2 {
        create_room(&arena).await.unwrap();
    }
    let error = create_room(&arena).await.unwrap_err();
    assert_eq!((&error, error.retry_after()), (&ArenaError::TooManyRooms, Some(60)));
}

#[tokio::test]
async fn list_has_at_most_100_debates() {
    let env = TestEnv::new();
    let arena = arena_service(&env, ArenaLimits::default());
    for _ in 0..101 {
        create_room(&arena).await.unwrap();
    }
    for (limit, expected) in [(99, 99), (100, 100), (101, 100), (usize::MAX, 100)] {
        let listing = arena.list_debates(Some("waiting"), limit).await;
        assert_eq!((listing.debates.len(), listing.total), (expected, 101), "limit {limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn long_poll_ends_after_25_seconds() {
    let env = TestEnv::new();
    let arena = arena_service(&env, ArenaLimits::default());
    let debate_id = Some(create_room(&arena).await.unwrap().debate_id);
    let request = JoinRequest { bot_name: "a".into(), bot_uuid: "1".into(), debate_id };
    let seat = arena.join(request).await.unwrap();
    let credentials = (seat.bot_identifier.as_str(), seat.debate_key.as_str());
    for (wait, expected) in [(24, 24), (25, 25), (26, 25), (u32::MAX, 25)] {
        let started = Instant::now();
        arena.poll(&seat.debate_id, credentials, wait).await.unwrap();
        assert_eq!(started.elapsed().as_secs(), expected, "wait={wait}");
    }
}

/// The engine awaits a bot's turn until the deadline, and then records it as failed.
#[tokio::test(start_paused = true)]
async fn speech_is_awaited_for_120_seconds() {
    let mut setup = debate_setup(formats::arena(), 1);
    setup.limits.await_seconds = Some(ArenaLimits::default().speech_seconds);
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = SharedEvents::default();
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    session.run_until_idle(&ScriptedProviders::new(&events, &setup)).await.unwrap();
    for (advanced_ms, failed_turns) in [(119_999, 0), (1, 1)] {
        advance(Duration::from_millis(advanced_ms)).await;
        session.fail_overdue().await.unwrap();
        assert_eq!(session.debate().failed_turns().count(), failed_turns);
    }
}
