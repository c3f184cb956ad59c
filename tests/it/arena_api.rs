//! Arena HTTP API end to end: raw requests to the real server, with every response checked field by
//! field. Covers status and error codes, authentication, body limits and rate limits.
use crate::arena_harness::{ArenaBot, ArenaProcess, judge_reply, long_speech, send};
use crate::test_env::{SeatScript, TestEnv, folder_contains_text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn field_names(body: &Value) -> BTreeSet<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn assert_has_fields(body: &Value, wanted: &[&str]) {
    let there = field_names(body);
    for name in wanted {
        assert!(there.contains(name), "`{name}` is missing: {body}");
    }
}

#[track_caller]
pub(crate) fn assert_error_response(
    answer: &crate::arena_harness::HttpResponse,
    status: u16,
    code: &str,
    recoverable: bool,
) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.body["error_code"], code, "{answer:?}");
    assert_eq!(answer.body["recoverable"], recoverable, "{answer:?}");
    assert_has_fields(&answer.body, &["error_code", "message", "debate_id", "recoverable"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one debate, from beginning to end")]
fn whole_debate_has_documented_fields() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(&lab, "pro", &[]);
    let id = arena.create("人工智能是否会取代人类工作", 2);
    let joined = arena.post(
        "/api/debate/join",
        json!({"bot_name": "clawd_pot", "bot_uuid": "uuid-001", "debate_id": id}),
    );
    let one = ArenaBot::from_join(&joined);
    let body = &joined.body;
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
    assert!(one.key.len() >= 32, "128 bits of chance");
    let waiting = arena.poll(&one).body;
    assert_has_fields(
        &waiting,
        &["state", "debate_id", "topic", "total_rounds", "your_identifier", "joined_bots"],
    );
    assert_eq!((&waiting["state"], &waiting["total_rounds"]), (&json!("waiting"), &json!(2)));
    assert_error_response(
        &arena.speak(&one, &long_speech("too early")),
        409,
        "debate_not_ready",
        true,
    );

    // Without an id, the server puts a bot into a room that waits for an opponent.
    let other =
        arena.post("/api/debate/join", json!({"bot_name": "opponent", "bot_uuid": "uuid-002"}));
    assert_eq!(other.body["debate_id"], id.as_str());
    let other = ArenaBot::from_join(&other);
    let active = arena.poll(&one).body;
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
    let (pro, con) = if active["supporting_side"] == one.identifier.as_str() {
        (&one, &other)
    } else {
        (&other, &one)
    };
    assert_eq!(arena.poll(pro).body["your_side"], "supporting");
    assert_eq!(arena.poll(con).body["your_side"], "opposing");

    for round in 1..=2 {
        let took = arena.speak(pro, &long_speech(&format!("for, {round}")));
        assert_eq!(took.status, 200, "{took:?}");
        assert_eq!(
            took.body,
            json!({"status": "speech_accepted", "debate_id": id, "round": round,
                "next_speaker": con.identifier})
        );
        let next = (round == 1).then_some(&pro.identifier);
        let took = arena.speak(con, &long_speech(&format!("against, {round}")));
        assert_eq!(took.body["next_speaker"], json!(next));
    }
    let ended = arena.wait_for_state(&one, "ended");
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
    let said: Vec<(u64, &str, &str)> = log
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
    assert_eq!(said, expected.iter().map(|(r, s, t)| (*r, *s, t.as_str())).collect::<Vec<_>>());
    // Judged blind and with the sides swapped. The summary uses the bots' identifiers.
    assert_eq!(
        ended["debate_result"],
        json!({"winner": pro.identifier, "supporting_score": 82, "opposing_score": 64,
            "summary": format!("{} has shown it in T1.", pro.identifier)})
    );
    assert_error_response(&arena.speak(pro, &long_speech("too late")), 409, "DEBATE_ENDED", false);

    // Stored like any other debate: it is in the archive and replays from its event log.
    let debate = arena.get("/api/debates?status=ended").body["debates"][0]["archive_id"].clone();
    lab.assert_replays(debate.as_str().unwrap());
    // Keys are neither stored nor returned by any read request.
    for key in [&one.key, &other.key] {
        assert!(!folder_contains_text(lab.data_dir(), key));
        for path in ["/api/debates".to_owned(), format!("/api/debate/{id}")] {
            assert!(!arena.get(&path).body.to_string().contains(key.as_str()));
        }
    }
    assert!(!arena.get(&format!("/api/debate/{id}")).body.to_string().contains("uuid-00"));
}

#[test]
fn speech_requires_credentials_turn_and_valid_length() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    let (elsewhere, _) = arena.join_pair("Vim or emacs?", 1);
    let poll = format!("/api/debate/{}/poll", pro.debate_id);
    let speech = format!("/api/debate/{}/speech", pro.debate_id);
    // Missing headers are reported first, before an unknown debate or a malformed body.
    for (path, method) in
        [(&poll, "GET"), (&speech, "POST"), (&"/api/debate/nothing/poll".to_owned(), "GET")]
    {
        assert_error_response(&arena.send(method, path, &[], "{"), 401, "MISSING_AUTH", false);
        let half = [("X-Bot-Identifier", pro.identifier.as_str())];
        assert_error_response(&arena.send(method, path, &half, ""), 401, "MISSING_AUTH", false);
        let half = [("X-Debate-Key", pro.key.as_str())];
        assert_error_response(&arena.send(method, path, &half, ""), 401, "MISSING_AUTH", false);
    }
    let nowhere = ArenaBot { debate_id: "nothing".into(), ..pro.clone() };
    assert_error_response(&arena.poll(&nowhere), 404, "DEBATE_NOT_FOUND", false);
    // A made-up key, another bot's key, a key of another debate, an unknown identifier.
    for (identifier, key) in [
        (&pro.identifier, &"key-0".to_owned()),
        (&pro.identifier, &con.key),
        (&elsewhere.identifier, &elsewhere.key),
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
    let wrong = arena.speak(&con, &long_speech("me first"));
    assert_error_response(&wrong, 409, "NOT_YOUR_TURN", false);
    assert_eq!(wrong.body["message"], "It is not your turn to speak");
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
    let html = json!({"message": {"format": "html", "content": long_speech("bold")}});
    assert_error_response(&arena.post_speech(&pro, &html), 422, "INVALID_MESSAGE_TYPE", true);
    let large = json!({"message": {"format": "markdown", "content": "x".repeat(300_000)}});
    assert_error_response(&arena.post_speech(&pro, &large), 413, "PAYLOAD_TOO_LARGE", true);
    // A rejected speech does not move the deadline.
    let before = arena.poll(&pro).body["deadline_at"].clone();
    assert_error_response(&arena.speak(&pro, "short"), 422, "CONTENT_TOO_SHORT", true);
    assert_eq!(arena.poll(&pro).body["deadline_at"], before);
    assert_eq!(arena.speak(&pro, &"🙂".repeat(2000)).status, 200);
    // Repeating the same speech is idempotent. A different one is refused.
    let again = arena.speak(&pro, &"🙂".repeat(2000));
    assert_eq!((again.status, &again.body["round"]), (200, &json!(1)));
    assert_error_response(
        &arena.speak(&pro, &long_speech("and another thing")),
        409,
        "NOT_YOUR_TURN",
        false,
    );
    let late =
        json!({"round": 2, "message": {"format": "markdown", "content": long_speech("early")}});
    assert_error_response(&arena.post_speech(&con, &late), 409, "NOT_YOUR_TURN", false);
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
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none"]);
    let join = |body: Value| arena.post("/api/debate/join", body);
    let alone = join(json!({"bot_name": "a", "bot_uuid": "1"}));
    assert_error_response(&alone, 404, "no_available_debate", true);
    assert!(alone.headers.contains("retry-after: 5"), "{}", alone.headers);
    assert_error_response(
        &join(json!({"bot_name": "a", "debate_id": "nothing"})),
        404,
        "DEBATE_NOT_FOUND",
        false,
    );
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    let third = join(json!({"bot_name": "c", "bot_uuid": "3", "debate_id": pro.debate_id}));
    assert_error_response(&third, 409, "debate_full", false);
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
    let foreign = [("Origin", "https://elsewhere.example"), ("Content-Type", "text/plain")];
    assert_eq!(arena.send("POST", "/api/debate/create", &foreign, &topic).status, 403);
    let rebound = [("Host", "elsewhere.example")];
    assert_eq!(arena.send("GET", "/api/debates", &rebound, "").status, 421);
    // Two bots of one name, as when the same script is started twice.
    let id = arena.create("Twins", 1);
    let (one, other) = (arena.join("twin", &id), arena.join("twin", &id));
    assert_ne!(one.identifier, other.identifier);
    let document = arena.get("/api/openapi.json").body;
    assert_eq!(document["openapi"], "3.1.0");
}

#[test]
fn rematch_swaps_the_sides() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none", "--swap"]);
    let made =
        arena.post("/api/debate/create", json!({"topic": "Tabs or spaces?", "total_rounds": 1}));
    let (first, second) = (made.body["debate_id"].clone(), made.body["rematch_id"].clone());
    let join = |name: &str| {
        ArenaBot::from_join(
            &arena.post("/api/debate/join", json!({"bot_name": name, "bot_uuid": name})),
        )
    };
    let (a, b) = (join("a"), join("b"));
    assert_eq!((json!(a.debate_id), json!(b.debate_id)), (first.clone(), first));
    // A third bot has no seat in the rematch. The first two are seated without sending its id.
    let stranger = arena
        .post("/api/debate/join", json!({"bot_name": "c", "bot_uuid": "c", "debate_id": second}));
    assert_error_response(&stranger, 409, "debate_full", false);
    let (a2, b2) = (join("a"), join("b"));
    assert_eq!((json!(a2.debate_id), json!(b2.debate_id)), (second.clone(), second));
    let side = |bot: &ArenaBot| arena.poll(bot).body["your_side"].clone();
    assert_ne!(side(&a), side(&a2));
    assert_ne!(side(&b), side(&b2));
}

#[test]
fn long_poll_returns_when_the_opponent_speaks() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    let path = format!("/api/debate/{}/poll?wait=25", con.debate_id);
    let (address, waits) = (arena.address.clone(), con.clone());
    let waiting = std::thread::spawn(move || send(&address, "GET", &path, &waits.headers(), ""));
    assert_eq!(arena.speak(&pro, &long_speech("news")).status, 200);
    let told = waiting.join().unwrap();
    assert_eq!(told.body["next_speaker"], con.identifier.as_str(), "{told:?}");
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
    let lab = TestEnv::new();
    lab.debate(&["serve", "--bind", "0.0.0.0:0"])
        .expect_exit_code(2)
        .assert_stderr_contains("--insecure");
    // Only one server may run per archive, and a port cannot be bound twice.
    let mut arena = ArenaProcess::start(&lab, &["--judge", "none"]);
    lab.debate(&["serve", "--bind", "127.0.0.1:0"])
        .expect_exit_code(2)
        .assert_stderr_contains("stop the other one");
    lab.debate(&["serve", "--bind", &arena.address])
        .data_dir(&lab.temp_path("another home"))
        .expect_exit_code(2)
        .assert_stderr_contains("choose another port");
    arena.kill();
    let open = ArenaProcess::start_at(&lab, "0.0.0.0:0", &["--judge", "none", "--insecure"]);
    let address = open.address.replace("0.0.0.0", "127.0.0.1");
    let post = |headers: &[(&str, &str)]| {
        send(
            &address,
            "POST",
            "/api/debate/create",
            headers,
            &json!({"topic": "Tabs?"}).to_string(),
        )
    };
    assert_error_response(&post(&[]), 403, "FORBIDDEN", false);
    let token = |name: &str| {
        let url = open.startup_json[name].as_str().unwrap().to_owned();
        format!("Bearer {}", url.rsplit_once("token=").unwrap().1)
    };
    let (host, viewer) = (token("enter"), token("watch"));
    assert_error_response(&post(&[("Authorization", &viewer)]), 403, "FORBIDDEN", false);
    assert_eq!(post(&[("Authorization", &host)]).status, 201);
    let read = |headers: &[(&str, &str)]| send(&address, "GET", "/api/debates", headers, "");
    assert_error_response(&read(&[]), 403, "FORBIDDEN", false);
    assert_eq!(read(&[("Authorization", &viewer)]).status, 200);
    assert_eq!(send(&address, "GET", "/", &[], "").status, 401, "nor is the page shown");
}

#[test]
fn unavailable_judge_leaves_the_debate_unjudged() {
    let lab = TestEnv::new();
    lab.write_script(
        &SeatScript::empty().prepend(json!({"phase": "judge", "fail": "not_logged_in"})),
    );
    let judge = lab.script_seat("pro.json");
    let arena = ArenaProcess::start(&lab, &["--judge", &judge]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let result = &arena.wait_for_state(&pro, "ended")["debate_result"];
    assert_eq!((&result["winner"], &result["supporting_score"]), (&Value::Null, &Value::Null));
    assert!(
        result["summary"].as_str().unwrap().starts_with("Not judged: the judge did not answer"),
        "{result}"
    );
}

#[test]
fn judge_scores_must_match_the_rubric_sum() {
    let lab = TestEnv::new();
    let mut wrong = judge_reply("pro");
    wrong["scores"] = json!({"pro": 90, "con": 10});
    let script = SeatScript::empty()
        .prepend(json!({"phase": "judge", "json": judge_reply("pro")}))
        .prepend(json!({"phase": "judge", "attempt": 1, "json": wrong}));
    lab.write_script(&script);
    let judge = lab.script_seat("pro.json");
    let arena = ArenaProcess::start(&lab, &["--judge", &judge]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["debate_result"]["supporting_score"], 82);
    let debate = arena.get("/api/debates").body["debates"][0]["archive_id"].clone();
    let events = lab.events(debate.as_str().unwrap());
    let refused = events.iter().filter(|event| event["event"] == "refused").count();
    assert_eq!(refused, 2, "by the judge and by the one who sees the sides swapped");
}

/// A client that knows only a bot's identifier can neither use up the bot's rate limit nor fill the
/// server's memory.
#[test]
fn bad_credentials_do_not_use_up_a_bots_rate_limit() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none"]);
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    let stranger = ArenaBot { key: "key-made-up".into(), ..pro.clone() };
    for _ in 0..120 {
        assert_error_response(&arena.poll(&stranger), 401, "INVALID_CREDENTIALS", false);
    }
    assert_eq!(arena.poll(&pro).status, 200);
    // A bot over its own rate limit gets 429 with a `Retry-After` header.
    let hasty = (0..200).map(|_| arena.poll(&pro)).find(|answer| answer.status != 200).unwrap();
    assert_error_response(&hasty, 429, "RATE_LIMITED", true);
    assert!(hasty.headers.contains("retry-after: 1"), "{}", hasty.headers);
    let long = ArenaBot { debate_id: "x".repeat(5000), ..pro.clone() };
    assert_error_response(&arena.poll(&long), 404, "DEBATE_NOT_FOUND", false);
    let none = arena.send("GET", "/api/debate/%ff/poll", &pro.headers(), "");
    assert_error_response(&none, 404, "DEBATE_NOT_FOUND", false);
}

/// A judge that exceeds the budget ends the debate instead of leaving it open.
#[test]
fn judge_over_budget_ends_the_debate() {
    let lab = TestEnv::new();
    let script = SeatScript::empty()
        .prepend(json!({"phase": "judge", "json": judge_reply("pro"), "cost": 5.0}));
    lab.write_script(&script);
    let judge = lab.script_seat("pro.json");
    let listener = format!("risk-averse={judge}");
    let more = ["--judge", &judge, "--audience", &listener, "--max-cost", "1"];
    let arena = ArenaProcess::start(&lab, &more);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["end_reason"], "budget");
    assert_eq!(ended["debate_result"]["winner"], pro.identifier.as_str(), "what was ruled is told");
}

#[test]
fn waiting_rooms_and_bots_are_shown_on_the_page() {
    let lab = TestEnv::new();
    let arena = ArenaProcess::start(&lab, &["--judge", "none", "--topic", "Is <b>bold</b> bold?"]);
    let page = arena.get("/").body;
    let page = page.as_str().unwrap();
    assert!(page.contains("Waiting for bots") && page.contains("nobody is there yet"), "{page}");
    assert!(page.contains("Is &lt;b&gt;bold&lt;/b&gt; bold?"));
    let (pro, _) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    let shown = arena.get("/").body;
    assert!(shown.as_str().unwrap().contains(&pro.identifier), "bots are called by their names");
}
