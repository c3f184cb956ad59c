//! Arena HTTP API end to end: raw requests to the real server, with every response checked field by
//! field. Covers status and error codes, authentication, body limits and rate limits.
use crate::arena_lab::{Arena, Bot, judged, send, words};
use crate::lab::{Lab, Script, stands_in};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn fields(body: &Value) -> BTreeSet<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn has(body: &Value, wanted: &[&str]) {
    let there = fields(body);
    for name in wanted {
        assert!(there.contains(name), "`{name}` is missing: {body}");
    }
}

#[track_caller]
pub(crate) fn refused(
    answer: &crate::arena_lab::Answer,
    status: u16,
    code: &str,
    recoverable: bool,
) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.body["error_code"], code, "{answer:?}");
    assert_eq!(answer.body["recoverable"], recoverable, "{answer:?}");
    has(&answer.body, &["error_code", "message", "debate_id", "recoverable"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one debate, from beginning to end")]
fn a_whole_debate_field_by_field() {
    let lab = Lab::new();
    let arena = Arena::judging(&lab, "pro", &[]);
    let id = arena.create("人工智能是否会取代人类工作", 2);
    let joined = arena.post(
        "/api/debate/join",
        json!({"bot_name": "clawd_pot", "bot_uuid": "uuid-001", "debate_id": id}),
    );
    let one = Bot::of(&joined);
    let body = &joined.body;
    assert_eq!(
        fields(body),
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
    has(
        &waiting,
        &["state", "debate_id", "topic", "total_rounds", "your_identifier", "joined_bots"],
    );
    assert_eq!((&waiting["state"], &waiting["total_rounds"]), (&json!("waiting"), &json!(2)));
    refused(&arena.speak(&one, &words("too early")), 409, "debate_not_ready", true);

    // Without an id, the server puts a bot into a room that waits for an opponent.
    let other =
        arena.post("/api/debate/join", json!({"bot_name": "opponent", "bot_uuid": "uuid-002"}));
    assert_eq!(other.body["debate_id"], id.as_str());
    let other = Bot::of(&other);
    let active = arena.poll(&one).body;
    has(
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
        let took = arena.speak(pro, &words(&format!("for, {round}")));
        assert_eq!(took.status, 200, "{took:?}");
        assert_eq!(
            took.body,
            json!({"status": "speech_accepted", "debate_id": id, "round": round,
                "next_speaker": con.identifier})
        );
        let next = (round == 1).then_some(&pro.identifier);
        let took = arena.speak(con, &words(&format!("against, {round}")));
        assert_eq!(took.body["next_speaker"], json!(next));
    }
    let ended = arena.until(&one, "ended");
    has(
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
                fields(entry),
                BTreeSet::from(["round", "speaker", "side", "timestamp", "message"])
            );
            assert_eq!(fields(&entry["message"]), BTreeSet::from(["format", "content"]));
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
                (round, "supporting", words(&format!("for, {round}"))),
                (round, "opposing", words(&format!("against, {round}"))),
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
    refused(&arena.speak(pro, &words("too late")), 409, "DEBATE_ENDED", false);

    // Stored like any other debate: it is in the archive and replays from its event log.
    let debate = arena.get("/api/debates?status=ended").body["debates"][0]["archive_id"].clone();
    lab.replays(debate.as_str().unwrap());
    // Keys are neither stored nor returned by any read request.
    for key in [&one.key, &other.key] {
        assert!(!stands_in(lab.home(), key));
        for path in ["/api/debates".to_owned(), format!("/api/debate/{id}")] {
            assert!(!arena.get(&path).body.to_string().contains(key.as_str()));
        }
    }
    assert!(!arena.get(&format!("/api/debate/{id}")).body.to_string().contains("uuid-00"));
}

#[test]
fn who_may_speak_and_who_may_not() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none"]);
    let (pro, con) = arena.pair("Tabs or spaces?", 1);
    let (elsewhere, _) = arena.pair("Vim or emacs?", 1);
    let poll = format!("/api/debate/{}/poll", pro.debate);
    let speech = format!("/api/debate/{}/speech", pro.debate);
    // Missing headers are reported first, before an unknown debate or a malformed body.
    for (path, method) in
        [(&poll, "GET"), (&speech, "POST"), (&"/api/debate/nothing/poll".to_owned(), "GET")]
    {
        refused(&arena.send(method, path, &[], "{"), 401, "MISSING_AUTH", false);
        let half = [("X-Bot-Identifier", pro.identifier.as_str())];
        refused(&arena.send(method, path, &half, ""), 401, "MISSING_AUTH", false);
        let half = [("X-Debate-Key", pro.key.as_str())];
        refused(&arena.send(method, path, &half, ""), 401, "MISSING_AUTH", false);
    }
    let nowhere = Bot { debate: "nothing".into(), ..pro.clone() };
    refused(&arena.poll(&nowhere), 404, "DEBATE_NOT_FOUND", false);
    // A made-up key, another bot's key, a key of another debate, an unknown identifier.
    for (identifier, key) in [
        (&pro.identifier, &"key-0".to_owned()),
        (&pro.identifier, &con.key),
        (&elsewhere.identifier, &elsewhere.key),
        (&"nobody".to_owned(), &pro.key),
    ] {
        let bot =
            Bot { debate: pro.debate.clone(), identifier: identifier.clone(), key: key.clone() };
        refused(&arena.poll(&bot), 401, "INVALID_CREDENTIALS", false);
        refused(&arena.speak(&bot, &words("mine")), 401, "INVALID_CREDENTIALS", false);
    }
    let wrong = arena.speak(&con, &words("me first"));
    refused(&wrong, 409, "NOT_YOUR_TURN", false);
    assert_eq!(wrong.body["message"], "It is not your turn to speak");
    // Length is counted in characters, and the advertised limits are enforced.
    refused(&arena.speak(&pro, "我的辩论发言..."), 422, "CONTENT_TOO_SHORT", true);
    refused(&arena.speak(&pro, &"辩".repeat(49)), 422, "CONTENT_TOO_SHORT", true);
    refused(&arena.speak(&pro, &"🙂".repeat(2001)), 422, "CONTENT_TOO_LONG", true);
    refused(&arena.speak(&pro, &" ".repeat(100)), 422, "CONTENT_TOO_SHORT", true);
    refused(&arena.speech(&pro, &json!({"message": {}})), 400, "INVALID_MESSAGE_FORMAT", true);
    let html = json!({"message": {"format": "html", "content": words("bold")}});
    refused(&arena.speech(&pro, &html), 422, "INVALID_MESSAGE_TYPE", true);
    let large = json!({"message": {"format": "markdown", "content": "x".repeat(300_000)}});
    refused(&arena.speech(&pro, &large), 413, "PAYLOAD_TOO_LARGE", true);
    // A rejected speech does not move the deadline.
    let before = arena.poll(&pro).body["deadline_at"].clone();
    refused(&arena.speak(&pro, "short"), 422, "CONTENT_TOO_SHORT", true);
    assert_eq!(arena.poll(&pro).body["deadline_at"], before);
    assert_eq!(arena.speak(&pro, &"🙂".repeat(2000)).status, 200);
    // Repeating the same speech is idempotent. A different one is refused.
    let again = arena.speak(&pro, &"🙂".repeat(2000));
    assert_eq!((again.status, &again.body["round"]), (200, &json!(1)));
    refused(&arena.speak(&pro, &words("and another thing")), 409, "NOT_YOUR_TURN", false);
    let late = json!({"round": 2, "message": {"format": "markdown", "content": words("early")}});
    refused(&arena.speech(&con, &late), 409, "NOT_YOUR_TURN", false);
    assert_eq!(arena.speak(&con, &"辩".repeat(50)).status, 200);
    // Without a judge there is no winner and no score, but a reason.
    let result = &arena.until(&pro, "ended")["debate_result"];
    assert_eq!(
        *result,
        json!({"winner": null, "supporting_score": null, "opposing_score": null,
            "summary": "Not judged: no judge is seated."})
    );
}

#[test]
fn who_may_come_in() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none"]);
    let join = |body: Value| arena.post("/api/debate/join", body);
    let alone = join(json!({"bot_name": "a", "bot_uuid": "1"}));
    refused(&alone, 404, "no_available_debate", true);
    assert!(alone.headers.contains("retry-after: 5"), "{}", alone.headers);
    refused(
        &join(json!({"bot_name": "a", "debate_id": "nothing"})),
        404,
        "DEBATE_NOT_FOUND",
        false,
    );
    let (pro, _) = arena.pair("Tabs or spaces?", 1);
    let third = join(json!({"bot_name": "c", "bot_uuid": "3", "debate_id": pro.debate}));
    refused(&third, 409, "debate_full", false);
    for name in ["", "   ", &"n".repeat(65), "a\u{0}b", "a\nb"] {
        refused(&join(json!({"bot_name": name})), 422, "INVALID_BOT_NAME", true);
    }
    refused(&join(json!({"bot_uuid": "1"})), 400, "INVALID_MESSAGE_FORMAT", true);
    let create = |body: Value| arena.post("/api/debate/create", body);
    refused(&create(json!({"topic": "  "})), 422, "INVALID_TOPIC", true);
    refused(&create(json!({"topic": "x".repeat(4001)})), 422, "INVALID_TOPIC", true);
    refused(&create(json!({"topic": "x", "total_rounds": 11})), 422, "INVALID_TOPIC", true);
    refused(&arena.get("/api/nothing"), 404, "NOT_FOUND", false);
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
fn a_rematch_is_held_with_the_sides_changed() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none", "--swap"]);
    let made =
        arena.post("/api/debate/create", json!({"topic": "Tabs or spaces?", "total_rounds": 1}));
    let (first, second) = (made.body["debate_id"].clone(), made.body["rematch_id"].clone());
    let join = |name: &str| {
        Bot::of(&arena.post("/api/debate/join", json!({"bot_name": name, "bot_uuid": name})))
    };
    let (a, b) = (join("a"), join("b"));
    assert_eq!((json!(a.debate), json!(b.debate)), (first.clone(), first));
    // A third bot has no seat in the rematch. The first two are seated without sending its id.
    let stranger = arena
        .post("/api/debate/join", json!({"bot_name": "c", "bot_uuid": "c", "debate_id": second}));
    refused(&stranger, 409, "debate_full", false);
    let (a2, b2) = (join("a"), join("b"));
    assert_eq!((json!(a2.debate), json!(b2.debate)), (second.clone(), second));
    let side = |bot: &Bot| arena.poll(bot).body["your_side"].clone();
    assert_ne!(side(&a), side(&a2));
    assert_ne!(side(&b), side(&b2));
}

#[test]
fn a_poll_may_wait_for_news() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none"]);
    let (pro, con) = arena.pair("Tabs or spaces?", 1);
    let path = format!("/api/debate/{}/poll?wait=25", con.debate);
    let (address, waits) = (arena.address.clone(), con.clone());
    let waiting = std::thread::spawn(move || send(&address, "GET", &path, &waits.headers(), ""));
    assert_eq!(arena.speak(&pro, &words("news")).status, 200);
    let told = waiting.join().unwrap();
    assert_eq!(told.body["next_speaker"], con.identifier.as_str(), "{told:?}");
    // A `wait` parameter that is not a number is refused.
    let path = format!("/api/debate/{}/poll?wait=soon", con.debate);
    refused(&arena.send("GET", &path, &con.headers(), ""), 400, "INVALID_MESSAGE_FORMAT", true);
}

#[test]
fn others_than_this_machine_are_let_in_only_if_that_was_said() {
    let lab = Lab::new();
    lab.debate(&["serve", "--bind", "0.0.0.0:0"]).ends(2).warns("--insecure");
    // Only one server may run per archive, and a port cannot be bound twice.
    let mut arena = Arena::serve(&lab, &["--judge", "none"]);
    lab.debate(&["serve", "--bind", "127.0.0.1:0"]).ends(2).warns("stop the other one");
    lab.debate(&["serve", "--bind", &arena.address])
        .home(&lab.outside("another home"))
        .ends(2)
        .warns("choose another port");
    arena.kill();
    let open = Arena::at(&lab, "0.0.0.0:0", &["--judge", "none", "--insecure"]);
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
    refused(&post(&[]), 403, "FORBIDDEN", false);
    let token = |name: &str| {
        let url = open.served[name].as_str().unwrap().to_owned();
        format!("Bearer {}", url.rsplit_once("token=").unwrap().1)
    };
    let (host, viewer) = (token("enter"), token("watch"));
    refused(&post(&[("Authorization", &viewer)]), 403, "FORBIDDEN", false);
    assert_eq!(post(&[("Authorization", &host)]).status, 201);
    let read = |headers: &[(&str, &str)]| send(&address, "GET", "/api/debates", headers, "");
    refused(&read(&[]), 403, "FORBIDDEN", false);
    assert_eq!(read(&[("Authorization", &viewer)]).status, 200);
    assert_eq!(send(&address, "GET", "/", &[], "").status, 401, "nor is the page shown");
}

#[test]
fn a_judge_who_cannot_be_reached_leaves_it_unjudged() {
    let lab = Lab::new();
    lab.write(&Script::empty().first(json!({"phase": "judge", "fail": "not_logged_in"})));
    let judge = lab.seat("pro.json");
    let arena = Arena::serve(&lab, &["--judge", &judge]);
    let (pro, con) = arena.pair("Tabs or spaces?", 1);
    arena.speak(&pro, &words("for"));
    arena.speak(&con, &words("against"));
    let result = &arena.until(&pro, "ended")["debate_result"];
    assert_eq!((&result["winner"], &result["supporting_score"]), (&Value::Null, &Value::Null));
    assert!(
        result["summary"].as_str().unwrap().starts_with("Not judged: the judge did not answer"),
        "{result}"
    );
}

#[test]
fn marks_that_do_not_add_up_are_not_taken() {
    let lab = Lab::new();
    let mut wrong = judged("pro");
    wrong["scores"] = json!({"pro": 90, "con": 10});
    let script = Script::empty()
        .first(json!({"phase": "judge", "json": judged("pro")}))
        .first(json!({"phase": "judge", "attempt": 1, "json": wrong}));
    lab.write(&script);
    let judge = lab.seat("pro.json");
    let arena = Arena::serve(&lab, &["--judge", &judge]);
    let (pro, con) = arena.pair("Tabs or spaces?", 1);
    arena.speak(&pro, &words("for"));
    arena.speak(&con, &words("against"));
    let ended = arena.until(&pro, "ended");
    assert_eq!(ended["debate_result"]["supporting_score"], 82);
    let debate = arena.get("/api/debates").body["debates"][0]["archive_id"].clone();
    let events = lab.events(debate.as_str().unwrap());
    let refused = events.iter().filter(|event| event["event"] == "refused").count();
    assert_eq!(refused, 2, "by the judge and by the one who sees the sides swapped");
}

/// A client that knows only a bot's identifier can neither use up the bot's rate limit nor fill the
/// server's memory.
#[test]
fn nobody_is_silenced_by_a_stranger() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none"]);
    let (pro, _) = arena.pair("Tabs or spaces?", 1);
    let stranger = Bot { key: "key-made-up".into(), ..pro.clone() };
    for _ in 0..120 {
        refused(&arena.poll(&stranger), 401, "INVALID_CREDENTIALS", false);
    }
    assert_eq!(arena.poll(&pro).status, 200);
    // A bot over its own rate limit gets 429 with a `Retry-After` header.
    let hasty = (0..200).map(|_| arena.poll(&pro)).find(|answer| answer.status != 200).unwrap();
    refused(&hasty, 429, "RATE_LIMITED", true);
    assert!(hasty.headers.contains("retry-after: 1"), "{}", hasty.headers);
    let long = Bot { debate: "x".repeat(5000), ..pro.clone() };
    refused(&arena.poll(&long), 404, "DEBATE_NOT_FOUND", false);
    let none = arena.send("GET", "/api/debate/%ff/poll", &pro.headers(), "");
    refused(&none, 404, "DEBATE_NOT_FOUND", false);
}

/// A judge that exceeds the budget ends the debate instead of leaving it open.
#[test]
fn a_spent_budget_ends_it() {
    let lab = Lab::new();
    let script =
        Script::empty().first(json!({"phase": "judge", "json": judged("pro"), "cost": 5.0}));
    lab.write(&script);
    let judge = lab.seat("pro.json");
    let listener = format!("risk-averse={judge}");
    let more = ["--judge", &judge, "--audience", &listener, "--max-cost", "1"];
    let arena = Arena::serve(&lab, &more);
    let (pro, con) = arena.pair("Tabs or spaces?", 1);
    arena.speak(&pro, &words("for"));
    arena.speak(&con, &words("against"));
    let ended = arena.until(&pro, "ended");
    assert_eq!(ended["end_reason"], "budget");
    assert_eq!(ended["debate_result"]["winner"], pro.identifier.as_str(), "what was ruled is told");
}

#[test]
fn who_waits_is_shown_on_the_page() {
    let lab = Lab::new();
    let arena = Arena::serve(&lab, &["--judge", "none", "--topic", "Is <b>bold</b> bold?"]);
    let page = arena.get("/").body;
    let page = page.as_str().unwrap();
    assert!(page.contains("Waiting for bots") && page.contains("nobody is there yet"), "{page}");
    assert!(page.contains("Is &lt;b&gt;bold&lt;/b&gt; bold?"));
    let (pro, _) = arena.pair("Tabs or spaces?", 1);
    arena.speak(&pro, &words("for"));
    let shown = arena.get("/").body;
    assert!(shown.as_str().unwrap().contains(&pro.identifier), "bots are called by their names");
}
