//! Arena HTTP API end to end: raw requests to the real server, with every response checked field by
//! field. Covers status and error codes, authentication, body limits and rate limits.
use crate::arena_harness::{ArenaBot, ArenaProcess, long_speech, send};
use crate::test_env::{TestEnv, folder_contains_text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn field_names(body: &Value) -> BTreeSet<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn assert_has_fields(body: &Value, expected: &[&str]) {
    let present = field_names(body);
    for name in expected {
        assert!(present.contains(name), "`{name}` is missing: {body}");
    }
}

#[track_caller]
pub(crate) fn assert_error_response(
    response: &crate::arena_harness::HttpResponse,
    status: u16,
    code: &str,
    recoverable: bool,
) {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.body["error_code"], code, "{response:?}");
    assert_eq!(response.body["recoverable"], recoverable, "{response:?}");
    assert_has_fields(&response.body, &["error_code", "message", "debate_id", "recoverable"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one debate, from beginning to end")]
fn responses_of_a_debate_have_documented_fields() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(&env, "pro", &[]);
    let id = arena.create("人工智能是否会取代人类工作", 2);
    let join_response = arena.post(
        "/api/debate/join",
        json!({"bot_name": "clawd_pot", "bot_uuid": "uuid-001", "debate_id": id}),
    );
    let first_bot = ArenaBot::from_join(&join_response);
    let body = &join_response.body;
    assert_eq!(
        field_names(body),
        BTreeSet::from([
            "status",
            "message",
            "debate_id",
            "debate_key",
            "bot_identifier",
            "topic",
            "joined_bots"
        ])
    );
    assert_eq!(body["status"], "login_confirmed");
    assert_eq!(body["message"], "Successfully joined debate");
    assert_eq!(body["bot_identifier"], format!("clawd_pot_{id}"));
    assert_eq!(body["topic"], "人工智能是否会取代人类工作");
    assert_eq!(body["joined_bots"], json!([format!("clawd_pot_{id}")]));
    assert!(first_bot.key.len() >= 32, "at least 128 bits of entropy");
    let waiting = arena.poll(&first_bot).body;
    assert_has_fields(
        &waiting,
        &["state", "debate_id", "topic", "total_rounds", "your_identifier", "joined_bots"],
    );
    assert_eq!((&waiting["state"], &waiting["total_rounds"]), (&json!("waiting"), &json!(2)));
    assert_error_response(
        &arena.speak(&first_bot, &long_speech("too early")),
        409,
        "debate_not_ready",
        true,
    );

    // Without an id, the server puts a bot into a room that waits for an opponent.
    let opponent =
        arena.post("/api/debate/join", json!({"bot_name": "opponent", "bot_uuid": "uuid-002"}));
    assert_eq!(opponent.body["debate_id"], id.as_str());
    let opponent = ArenaBot::from_join(&opponent);
    let active = arena.poll(&first_bot).body;
    assert_has_fields(
        &active,
        &[
            "state",
            "debate_id",
            "topic",
            "supporting_side",
            "opposing_side",
            "total_rounds",
            "current_round",
            "your_side",
            "your_identifier",
            "next_speaker",
            "timeout_seconds",
            "min_content_length",
            "max_content_length",
            "debate_log",
            "deadline_at",
        ],
    );
    for (name, value) in [
        ("state", json!("active")),
        ("current_round", json!(1)),
        ("timeout_seconds", json!(120)),
        ("min_content_length", json!(50)),
        ("max_content_length", json!(2000)),
        ("debate_log", json!([])),
    ] {
        assert_eq!(active[name], value, "{name}");
    }
    // The supporting side speaks first.
    assert_eq!(active["next_speaker"], active["supporting_side"]);
    let (pro, con) = if active["supporting_side"] == first_bot.identifier.as_str() {
        (&first_bot, &opponent)
    } else {
        (&opponent, &first_bot)
    };
    assert_eq!(arena.poll(pro).body["your_side"], "supporting");
    assert_eq!(arena.poll(con).body["your_side"], "opposing");

    for round in 1..=2 {
        let response = arena.speak(pro, &long_speech(&format!("for, {round}")));
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(
            response.body,
            json!({"status": "speech_accepted", "debate_id": id, "round": round,
                "next_speaker": con.identifier})
        );
        let expected_speaker = (round == 1).then_some(&pro.identifier);
        let response = arena.speak(con, &long_speech(&format!("against, {round}")));
        assert_eq!(response.body["next_speaker"], json!(expected_speaker));
    }
    let ended = arena.wait_for_state(&first_bot, "ended");
    assert_has_fields(
        &ended,
        &[
            "state",
            "debate_id",
            "topic",
            "total_rounds",
            "your_identifier",
            "status",
            "debate_log",
            "debate_result",
        ],
    );
    assert_eq!(
        (&ended["status"], &ended["end_reason"]),
        (&json!("completed"), &json!("completed"))
    );
    let log = ended["debate_log"].as_array().unwrap();
    let speeches: Vec<(u64, &str, &str)> = log
        .iter()
        .map(|entry| {
            assert_eq!(
                field_names(entry),
                BTreeSet::from(["round", "speaker", "side", "timestamp", "message"])
            );
            assert_eq!(field_names(&entry["message"]), BTreeSet::from(["format", "content"]));
            let time = entry["timestamp"].as_str().unwrap();
            assert!(time.ends_with('Z') && time.len() == 20, "{time}");
            let text = |name: &str| entry[name].as_str().unwrap();
            (
                entry["round"].as_u64().unwrap(),
                text("side"),
                entry["message"]["content"].as_str().unwrap(),
            )
        })
        .collect();
    let expected: Vec<(u64, &str, String)> = (1..=2)
        .flat_map(|round| {
            [
                (round, "supporting", long_speech(&format!("for, {round}"))),
                (round, "opposing", long_speech(&format!("against, {round}"))),
            ]
        })
        .collect();
    assert_eq!(speeches, expected.iter().map(|(r, s, t)| (*r, *s, t.as_str())).collect::<Vec<_>>());
    // Judged blind and with the sides swapped. The summary uses the bots' identifiers.
    assert_eq!(
        ended["debate_result"],
        json!({"winner": pro.identifier, "supporting_score": 82, "opposing_score": 64,
            "summary": format!("{} has shown it in T1.", pro.identifier)})
    );
    assert_error_response(&arena.speak(pro, &long_speech("too late")), 409, "DEBATE_ENDED", false);

    // Stored like any other debate: it is in the archive and replays from its event log.
    let archive_id =
        arena.get("/api/debates?status=ended").body["debates"][0]["archive_id"].clone();
    env.assert_replays(archive_id.as_str().unwrap());
    // Keys are neither stored nor returned by any read request.
    for key in [&first_bot.key, &opponent.key] {
        assert!(!folder_contains_text(env.data_dir(), key));
        for path in ["/api/debates".to_owned(), format!("/api/debate/{id}")] {
            assert!(!arena.get(&path).body.to_string().contains(key.as_str()));
        }
    }
    assert!(!arena.get(&format!("/api/debate/{id}")).body.to_string().contains("uuid-00"));
}

#[test]
fn speech_requires_credentials_turn_and_valid_length() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    let (bot_of_other_debate, _) = arena.join_pair("Vim or emacs?", 1);
    let poll_path = format!("/api/debate/{}/poll", pro.debate_id);
    let speech_path = format!("/api/debate/{}/speech", pro.debate_id);
    // Missing headers are reported first, before an unknown debate or a malformed body.
    for (path, method) in [
        (&poll_path, "GET"),
        (&speech_path, "POST"),
        (&"/api/debate/nothing/poll".to_owned(), "GET"),
    ] {
        assert_error_response(&arena.send(method, path, &[], "{"), 401, "MISSING_AUTH", false);
        let partial_headers = [("X-Bot-Identifier", pro.identifier.as_str())];
        assert_error_response(
            &arena.send(method, path, &partial_headers, ""),
            401,
            "MISSING_AUTH",
            false,
        );
        let partial_headers = [("X-Debate-Key", pro.key.as_str())];
        assert_error_response(
            &arena.send(method, path, &partial_headers, ""),
            401,
            "MISSING_AUTH",
            false,
        );
    }
    let bot_without_debate = ArenaBot { debate_id: "nothing".into(), ..pro.clone() };
    assert_error_response(&arena.poll(&bot_without_debate), 404, "DEBATE_NOT_FOUND", false);
    // A made-up key, another bot's key, a key of another debate, an unknown identifier.
    for (identifier, key) in [
        (&pro.identifier, &"key-0".to_owned()),
        (&pro.identifier, &con.key),
        (&bot_of_other_debate.identifier, &bot_of_other_debate.key),
        (&"nobody".to_owned(), &pro.key),
    ] {
        let bot = ArenaBot {
            debate_id: pro.debate_id.clone(),
            identifier: identifier.clone(),
            key: key.clone(),
        };
        assert_error_response(&arena.poll(&bot), 401, "INVALID_CREDENTIALS", false);
        assert_error_response(
            &arena.speak(&bot, &long_speech("mine")),
            401,
            "INVALID_CREDENTIALS",
            false,
        );
    }
    let response = arena.speak(&con, &long_speech("me first"));
    assert_error_response(&response, 409, "NOT_YOUR_TURN", false);
    assert_eq!(response.body["message"], "It is not your turn to speak");
    // Length is counted in characters, and the advertised limits are enforced.
    assert_error_response(&arena.speak(&pro, "我的辩论发言..."), 422, "CONTENT_TOO_SHORT", true);
    assert_error_response(&arena.speak(&pro, &"辩".repeat(49)), 422, "CONTENT_TOO_SHORT", true);
    assert_error_response(&arena.speak(&pro, &"🙂".repeat(2001)), 422, "CONTENT_TOO_LONG", true);
    assert_error_response(&arena.speak(&pro, &" ".repeat(100)), 422, "CONTENT_TOO_SHORT", true);
    assert_error_response(
        &arena.post_speech(&pro, &json!({"message": {}})),
        400,
        "INVALID_MESSAGE_FORMAT",
        true,
    );
    let html_body = json!({"message": {"format": "html", "content": long_speech("bold")}});
    assert_error_response(&arena.post_speech(&pro, &html_body), 422, "INVALID_MESSAGE_TYPE", true);
    let large_body = json!({"message": {"format": "markdown", "content": "x".repeat(300_000)}});
    assert_error_response(&arena.post_speech(&pro, &large_body), 413, "PAYLOAD_TOO_LARGE", true);
    // A rejected speech does not move the deadline.
    let deadline_before = arena.poll(&pro).body["deadline_at"].clone();
    assert_error_response(&arena.speak(&pro, "short"), 422, "CONTENT_TOO_SHORT", true);
    assert_eq!(arena.poll(&pro).body["deadline_at"], deadline_before);
    assert_eq!(arena.speak(&pro, &"🙂".repeat(2000)).status, 200);
    // Repeating the same speech is idempotent. A different one is refused.
    let repeated = arena.speak(&pro, &"🙂".repeat(2000));
    assert_eq!((repeated.status, &repeated.body["round"]), (200, &json!(1)));
    assert_error_response(
        &arena.speak(&pro, &long_speech("and another thing")),
        409,
        "NOT_YOUR_TURN",
        false,
    );
    let next_round_body =
        json!({"round": 2, "message": {"format": "markdown", "content": long_speech("early")}});
    assert_error_response(&arena.post_speech(&con, &next_round_body), 409, "NOT_YOUR_TURN", false);
    assert_eq!(arena.speak(&con, &"辩".repeat(50)).status, 200);
    // Without a judge there is no winner and no score, but a reason.
    let result = &arena.wait_for_state(&pro, "ended")["debate_result"];
    assert_eq!(
        *result,
        json!({"winner": null, "supporting_score": null, "opposing_score": null,
            "summary": "Not judged: no judge is seated."})
    );
}

#[test]
fn join_and_create_validate_their_input() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let join = |body: Value| arena.post("/api/debate/join", body);
    let no_debate = join(json!({"bot_name": "a", "bot_uuid": "1"}));
    assert_error_response(&no_debate, 404, "no_available_debate", true);
    assert!(no_debate.headers.contains("retry-after: 5"), "{}", no_debate.headers);
    assert_error_response(
        &join(json!({"bot_name": "a", "debate_id": "nothing"})),
        404,
        "DEBATE_NOT_FOUND",
        false,
    );
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    let third_join = join(json!({"bot_name": "c", "bot_uuid": "3", "debate_id": pro.debate_id}));
    assert_error_response(&third_join, 409, "debate_full", false);
    for name in ["", "   ", &"n".repeat(65), "a\u{0}b", "a\nb"] {
        assert_error_response(&join(json!({"bot_name": name})), 422, "INVALID_BOT_NAME", true);
    }
    assert_error_response(&join(json!({"bot_uuid": "1"})), 400, "INVALID_MESSAGE_FORMAT", true);
    let create = |body: Value| arena.post("/api/debate/create", body);
    assert_error_response(&create(json!({"topic": "  "})), 422, "INVALID_TOPIC", true);
    assert_error_response(&create(json!({"topic": "x".repeat(4001)})), 422, "INVALID_TOPIC", true);
    assert_error_response(
        &create(json!({"topic": "x", "total_rounds": 11})),
        422,
        "INVALID_TOPIC",
        true,
    );
    assert_error_response(&arena.get("/api/nothing"), 404, "NOT_FOUND", false);
    assert_eq!(arena.get("/api/debate/join").status, 405);
    // Requests with a foreign `Origin` or `Host` header are refused (CSRF, DNS rebinding).
    let topic = json!({"topic": "Tabs?"}).to_string();
    let foreign_headers = [("Origin", "https://elsewhere.example"), ("Content-Type", "text/plain")];
    assert_eq!(arena.send("POST", "/api/debate/create", &foreign_headers, &topic).status, 403);
    let rebinding_headers = [("Host", "elsewhere.example")];
    assert_eq!(arena.send("GET", "/api/debates", &rebinding_headers, "").status, 421);
    // Two bots of one name, as when the same script is started twice.
    let id = arena.create("Twins", 1);
    let (first_twin, second_twin) = (arena.join("twin", &id), arena.join("twin", &id));
    assert_ne!(first_twin.identifier, second_twin.identifier);
    let document = arena.get("/api/openapi.json").body;
    assert_eq!(document["openapi"], "3.1.0");
}

#[test]
fn rematch_swaps_the_sides() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none", "--swap"]);
    let created =
        arena.post("/api/debate/create", json!({"topic": "Tabs or spaces?", "total_rounds": 1}));
    let (first_id, rematch_id) =
        (created.body["debate_id"].clone(), created.body["rematch_id"].clone());
    let join = |name: &str| {
        ArenaBot::from_join(
            &arena.post("/api/debate/join", json!({"bot_name": name, "bot_uuid": name})),
        )
    };
    let (a, b) = (join("a"), join("b"));
    assert_eq!((json!(a.debate_id), json!(b.debate_id)), (first_id.clone(), first_id));
    // A third bot has no seat in the rematch. The first two are seated without sending its id.
    let third_join = arena.post(
        "/api/debate/join",
        json!({"bot_name": "c", "bot_uuid": "c", "debate_id": rematch_id}),
    );
    assert_error_response(&third_join, 409, "debate_full", false);
    let (a2, b2) = (join("a"), join("b"));
    assert_eq!((json!(a2.debate_id), json!(b2.debate_id)), (rematch_id.clone(), rematch_id));
    let side = |bot: &ArenaBot| arena.poll(bot).body["your_side"].clone();
    assert_ne!(side(&a), side(&a2));
    assert_ne!(side(&b), side(&b2));
}

#[test]
fn long_poll_returns_when_the_opponent_speaks() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    let path = format!("/api/debate/{}/poll?wait=25", con.debate_id);
    let (address, polling_bot) = (arena.address.clone(), con.clone());
    let poll_thread =
        std::thread::spawn(move || send(&address, "GET", &path, &polling_bot.headers(), ""));
    assert_eq!(arena.speak(&pro, &long_speech("news")).status, 200);
    let response = poll_thread.join().unwrap();
    assert_eq!(response.body["next_speaker"], con.identifier.as_str(), "{response:?}");
    // A `wait` parameter that is not a number is refused.
    let path = format!("/api/debate/{}/poll?wait=soon", con.debate_id);
    assert_error_response(
        &arena.send("GET", &path, &con.headers(), ""),
        400,
        "INVALID_MESSAGE_FORMAT",
        true,
    );
}

#[test]
fn non_loopback_access_requires_flag_and_token() {
    let env = TestEnv::new();
    env.debate(&["serve", "--bind", "0.0.0.0:0"])
        .expect_exit_code(2)
        .assert_stderr_contains("--insecure");
    // Only one server may run per archive, and a port cannot be bound twice.
    let mut arena = ArenaProcess::start(&env, &["--judge", "none"]);
    env.debate(&["serve", "--bind", "127.0.0.1:0"])
        .expect_exit_code(2)
        .assert_stderr_contains("stop the other one");
    env.debate(&["serve", "--bind", &arena.address])
        .data_dir(&env.temp_path("another home"))
        .expect_exit_code(2)
        .assert_stderr_contains("choose another port");
    arena.kill();
    let public_arena =
        ArenaProcess::start_at(&env, "0.0.0.0:0", &["--judge", "none", "--insecure"]);
    let address = public_arena.address.replace("0.0.0.0", "127.0.0.1");
    let create_debate = |headers: &[(&str, &str)]| {
        send(
            &address,
            "POST",
            "/api/debate/create",
            headers,
            &json!({"topic": "Tabs?"}).to_string(),
        )
    };
    assert_error_response(&create_debate(&[]), 403, "FORBIDDEN", false);
    let bearer_token = |name: &str| {
        let url = public_arena.startup_json[name].as_str().unwrap().to_owned();
        format!("Bearer {}", url.rsplit_once("token=").unwrap().1)
    };
    let (host_token, viewer_token) = (bearer_token("enter"), bearer_token("watch"));
    assert_error_response(
        &create_debate(&[("Authorization", &viewer_token)]),
        403,
        "FORBIDDEN",
        false,
    );
    assert_eq!(create_debate(&[("Authorization", &host_token)]).status, 201);
    let list_debates =
        |headers: &[(&str, &str)]| send(&address, "GET", "/api/debates", headers, "");
    assert_error_response(&list_debates(&[]), 403, "FORBIDDEN", false);
    assert_eq!(list_debates(&[("Authorization", &viewer_token)]).status, 200);
    assert_eq!(send(&address, "GET", "/", &[], "").status, 401, "the page needs a token, too");
}

/// A client that knows only a bot's identifier can neither use up the bot's rate limit nor fill the
/// server's memory.
#[test]
fn bad_credentials_do_not_use_up_a_bots_rate_limit() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none"]);
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    let impostor = ArenaBot { key: "key-made-up".into(), ..pro.clone() };
    for _ in 0..120 {
        assert_error_response(&arena.poll(&impostor), 401, "INVALID_CREDENTIALS", false);
    }
    assert_eq!(arena.poll(&pro).status, 200);
    // A bot over its own rate limit gets 429 with a `Retry-After` header.
    let limited =
        (0..200).map(|_| arena.poll(&pro)).find(|response| response.status != 200).unwrap();
    assert_error_response(&limited, 429, "RATE_LIMITED", true);
    assert!(limited.headers.contains("retry-after: 1"), "{}", limited.headers);
    let bot_with_long_id = ArenaBot { debate_id: "x".repeat(5000), ..pro.clone() };
    assert_error_response(&arena.poll(&bot_with_long_id), 404, "DEBATE_NOT_FOUND", false);
    let invalid_utf8_response = arena.send("GET", "/api/debate/%ff/poll", &pro.headers(), "");
    assert_error_response(&invalid_utf8_response, 404, "DEBATE_NOT_FOUND", false);
}

#[test]
fn waiting_rooms_and_bots_are_shown_on_the_page() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start(&env, &["--judge", "none", "--topic", "Is <b>bold</b> bold?"]);
    let page = arena.get("/").body;
    let page = page.as_str().unwrap();
    assert!(page.contains("Waiting for bots") && page.contains("nobody is there yet"), "{page}");
    assert!(page.contains("Is &lt;b&gt;bold&lt;/b&gt; bold?"));
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    let active_page = arena.get("/").body;
    assert!(
        active_page.as_str().unwrap().contains(&pro.identifier),
        "the page shows bot identifiers"
    );
}
