//! Arena timeouts end to end (speech, offline, waiting and total limit), and recovery after the
//! server process is killed.
use crate::arena_api::assert_error_response;
use crate::arena_harness::{ArenaBot, ArenaProcess, long_speech};
use crate::test_env::TestEnv;
use serde_json::{Value, json};

#[test]
fn second_missed_turn_ends_the_debate() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(&env, "con", &["--speech-timeout", "1"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 5);
    let speak_until_accepted = |bot: &ArenaBot, text: &str| loop {
        let response = arena.speak(bot, &long_speech(text));
        if response.status == 200 {
            break response.body;
        }
        let state = arena.poll(bot).body;
        assert_eq!(state["state"], "active", "{state}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    // The supporting bot misses rounds 2 and 3. The opposing bot speaks every time.
    speak_until_accepted(&pro, "for");
    speak_until_accepted(&con, "against");
    speak_until_accepted(&con, "against, while nobody answers");
    let ended = arena.wait_for_state(&con, "ended");
    assert_eq!(ended["end_reason"], "forfeit");
    let forfeits = ended["forfeits"].as_array().unwrap();
    let missed_turns: Vec<(&Value, &Value)> =
        forfeits.iter().map(|it| (&it["round"], &it["side"])).collect();
    let side = json!("supporting");
    assert_eq!(missed_turns, [(&json!(2), &side), (&json!(3), &side)]);
    assert_eq!(ended["debate_log"].as_array().unwrap().len(), 3);
    assert_eq!(
        ended["debate_result"]["winner"], con.identifier,
        "both have spoken, so it is judged"
    );
    // With a side that never speaks there is nothing to judge.
    let (pro, con) = arena.join_pair("Vim or emacs?", 5);
    speak_until_accepted(&pro, "for");
    let ended = loop {
        let state = arena.poll(&pro).body;
        if state["state"] == "ended" {
            break state;
        }
        if state["next_speaker"] == pro.identifier.as_str() {
            arena.speak(&pro, &long_speech("for, again"));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!(ended["debate_result"]["winner"], Value::Null);
    let summary = ended["debate_result"]["summary"].as_str().unwrap();
    assert_eq!(
        summary,
        format!("Not judged: {} has never spoken, so there is nothing to judge.", con.identifier)
    );
}

#[test]
fn bot_that_stops_polling_is_offline() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(&env, "pro", &["--offline-after", "1"]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 3);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    // From here on only one bot polls.
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["end_reason"], "offline");
    assert_eq!(ended["debate_result"]["winner"], pro.identifier.as_str());
    let (pro, con) = arena.join_pair("Vim or emacs?", 3);
    let ended = arena.wait_for_state(&pro, "ended");
    let summary = ended["debate_result"]["summary"].as_str().unwrap();
    assert!(summary.starts_with("Not judged: neither side has spoken"), "{summary}");
    assert!(
        summary.contains(&format!("{} has not polled for more than 1 seconds", con.identifier)),
        "{summary}"
    );
    // A waiting bot that goes offline loses its seat.
    let id = arena.create("Nobody waits here", 1);
    let offline_bot = arena.join("gone", &id);
    crate::test_env::wait_until("its seat is free", || {
        let room = arena.get(&format!("/api/debate/{id}")).body;
        room["joined_bots"] == json!([])
    });
    assert_error_response(&arena.poll(&offline_bot), 401, "INVALID_CREDENTIALS", false);
    arena.join("one", &id);
}

#[test]
fn waiting_and_total_time_limits_end_rooms() {
    let env = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(
        &env,
        "pro",
        &["--waiting-limit", "1", "--total-limit", "2"],
    );
    let (pro, con) = arena.join_pair("Tabs or spaces?", 3);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(
        (&ended["end_reason"], &ended["debate_result"]["winner"]),
        (&json!("timeout"), &json!(pro.identifier))
    );
    let id = arena.create("Nobody comes", 1);
    crate::test_env::wait_until("the room has expired", || {
        arena.get(&format!("/api/debate/{id}")).body["state"] == "ended"
    });
    let room = arena.get(&format!("/api/debate/{id}")).body;
    assert_eq!(
        room["debate_result"]["summary"],
        "Not held: the room waited more than 1 seconds for bots."
    );
    let response = arena.post("/api/debate/join", json!({"bot_name": "late", "debate_id": id}));
    assert_error_response(&response, 409, "DEBATE_ENDED", false);
}

#[test]
fn restart_after_crash_keeps_rooms_keys_and_speeches() {
    let env = TestEnv::new();
    let mut arena = ArenaProcess::start_with_judge(&env, "pro", &[]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 2);
    let waiting_id = arena.create("Somebody waits", 1);
    let waiting_bot = arena.join("patient", &waiting_id);
    assert_eq!(arena.speak(&pro, &long_speech("before")).status, 200);
    let poll_before = arena.poll(&con).body;
    let address = arena.address.clone();
    arena.kill();
    let judge = env.script_seat("pro.json");
    let arena = ArenaProcess::start_at(&env, &address, &["--judge", &judge]);
    // Same keys, same deadline, same speeches.
    assert_eq!(arena.poll(&con).body, poll_before);
    assert_eq!(arena.poll(&waiting_bot).body["state"], "waiting");
    let repeated = arena.speak(&pro, &long_speech("before"));
    assert_eq!(
        (repeated.status, &repeated.body["round"]),
        (200, &json!(1)),
        "the speech was stored"
    );
    for (bot, text) in [(&con, "after"), (&pro, "after"), (&con, "after, too")] {
        assert_eq!(arena.speak(bot, &long_speech(text)).status, 200);
    }
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["debate_log"].as_array().unwrap().len(), 4);
    assert_eq!(ended["debate_result"]["winner"], pro.identifier.as_str());
    arena.join("late", &waiting_id);
    assert_eq!(arena.poll(&waiting_bot).body["state"], "active");
}
