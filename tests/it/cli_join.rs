//! `debate join` as client processes against a mock arena server, which is written from the
//! protocol description alone.
use super::arena_stub_server::{
    DEBATE_ID, FaultHook, RawResponse, RecordedRequest, StubArena, StubRules,
};
use super::cli_json::assert_matches_schema;
use super::test_env::{CommandOutput, DebateCommand, TestEnv, folder_contains_text, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Speech text that is unique for each bot and round.
fn speech_text(bot: &str, round: u8) -> String {
    format!("**{bot}, {round}**\n\nHonourable judges. {}", "This follows from that. ".repeat(4))
}

/// Writes a script with one speech for each of three rounds.
fn write_round_script(env: &TestEnv, name: &str) -> String {
    let line = |round: u8| json!({"round": round, "text": speech_text(name, round)});
    write_script(env, name, &json!({"turns": [line(1), line(2), line(3)]}))
}

/// Writes a script that always gives the same speech.
fn write_fixed_script(env: &TestEnv, name: &str, text: &str) -> String {
    write_script(env, name, &json!({"turns": [{"text": text}]}))
}

fn write_script(env: &TestEnv, name: &str, script: &Value) -> String {
    let file = format!("{name}.json");
    fs::write(env.temp_path(&file), script.to_string()).unwrap();
    env.script_seat(&file)
}

fn join(
    env: &TestEnv,
    arena: &StubArena,
    name: &str,
    seat: &str,
    extra_args: &[&str],
) -> DebateCommand {
    let url = arena.url();
    let args = ["join", &url, "--seat", seat, "--name", name];
    let poll_args: &[&str] =
        if extra_args.contains(&"--every") { &[] } else { &["--every", "0.05"] };
    env.debate(&[&args, poll_args, extra_args].concat())
}

/// Runs two clients to the end. The first joins as the supporting side.
fn join_both(
    env: &TestEnv,
    arena: &StubArena,
    seats: [&str; 2],
    extra_args: &[&str],
) -> [CommandOutput; 2] {
    let pro = join(env, arena, "pro", seats[0], extra_args).spawn();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let con = join(env, arena, "con", seats[1], extra_args).spawn();
    [pro.wait(), con.wait()]
}

/// Checks that no debate key is printed or left on disk.
#[track_caller]
fn assert_keys_not_leaked(env: &TestEnv, arena: &StubArena, outputs: &[CommandOutput]) {
    for key in arena.seat_keys() {
        for output in outputs {
            assert!(!output.stdout.contains(&key) && !output.stderr.contains(&key), "{output:#?}");
        }
        assert!(!folder_contains_text(env.data_dir(), &key), "a key is still stored");
    }
}

/// Checks that every turn was taken once, by the right side.
#[track_caller]
fn assert_all_turns_spoken(arena: &StubArena, rounds: usize) {
    let speeches = arena.speeches();
    assert_eq!(speeches.len(), rounds * 2, "{speeches:#?}");
    for (nth, (speaker, _)) in speeches.iter().enumerate() {
        assert_eq!(speaker, ["pro_abc123", "con_abc123"][nth % 2], "{speeches:#?}");
    }
}

#[test]
fn two_clients_play_a_whole_debate() {
    let (env, arena) = (TestEnv::new(), StubArena::new(StubRules::default()));
    let seats = [write_round_script(&env, "pro"), write_round_script(&env, "con")];
    let outputs = join_both(&env, &arena, [&seats[0], &seats[1]], &["--json"]);
    assert_all_turns_spoken(&arena, 3);
    for (nth, (_, content)) in arena.speeches().iter().enumerate() {
        let bot = ["pro", "con"][nth % 2];
        assert_eq!(content, speech_text(bot, nth as u8 / 2 + 1).trim());
    }
    for (output, outcome, side) in
        [(&outputs[0], "won", "supporting"), (&outputs[1], "lost", "opposing")]
    {
        assert_eq!(output.exit_code, Some(0), "{output:#?}");
        let result = output.json();
        assert_matches_schema("join", &result);
        assert_eq!((&result["outcome"], &result["side"]), (&outcome.into(), &side.into()));
        assert_eq!((&result["said"], &result["missed"]), (&3.into(), &0.into()));
        assert_eq!(result["scores"], json!({"supporting": 85, "opposing": 72}));
        assert_eq!(result["speeches"].as_array().unwrap().len(), 6);
        for progress in
            ["Joined debate abc123", "人工智能", "Our side", "[Round 3] Our turn", "Spoken"]
        {
            output.assert_stderr_contains(progress);
        }
    }
    assert_keys_not_leaked(&env, &arena, &outputs);
    assert!(arena.requests().iter().all(|request| request.query.is_empty()));
    let uuids: Vec<Value> = (arena.requests().iter())
        .filter(|it| it.path.ends_with("join"))
        .map(|it| it.body["bot_uuid"].clone())
        .collect();
    assert!(uuids.len() == 2 && uuids[0] != uuids[1], "{uuids:?}");
}

#[test]
fn result_is_printed_as_text() {
    let (env, arena) =
        (TestEnv::new(), StubArena::new(StubRules { rounds: 1, ..StubRules::default() }));
    let seats = [write_round_script(&env, "pro"), write_round_script(&env, "con")];
    let [pro, con] = join_both(&env, &arena, [&seats[0], &seats[1]], &[]);
    pro.assert_stdout_contains(&[
        "人工智能",
        "We won.",
        "Supporting 85, opposing 72.",
        "The first was clearer.",
    ]);
    con.assert_stdout_contains(&["pro_abc123 won."]);
}

#[test]
fn minimal_server_responses_are_enough() {
    let rules =
        StubRules { minimal_fields: true, rounds: 1, min_length: 1, ..StubRules::default() };
    let (env, arena) = (TestEnv::new(), StubArena::new(rules));
    let seats = [
        write_fixed_script(&env, "pro", &"宇".repeat(5000)),
        write_fixed_script(&env, "con", "No."),
    ];
    let outputs = join_both(&env, &arena, [&seats[0], &seats[1]], &["--json"]);
    assert_all_turns_spoken(&arena, 1);
    assert_eq!(arena.speeches()[0].1.chars().count(), 2000, "the default limit applies");
    assert!(outputs.iter().all(|output| output.exit_code == Some(5)), "no verdict: {outputs:#?}");
    assert_eq!(outputs[0].json()["outcome"], "undecided");
    assert_keys_not_leaked(&env, &arena, &outputs);
}

#[test]
fn long_polling_is_used_only_if_offered() {
    let rules = StubRules { long_poll: true, rounds: 1, ..StubRules::default() };
    let (env, arena) = (TestEnv::new(), StubArena::new(rules));
    let seats = [write_round_script(&env, "pro"), write_round_script(&env, "con")];
    join_both(&env, &arena, [&seats[0], &seats[1]], &[]);
    assert_all_turns_spoken(&arena, 1);
    assert!(arena.requests().iter().any(|request| request.query == "wait=25"));
}

#[test]
fn client_waits_through_a_server_outage() {
    let (env, mut arena) = (TestEnv::new(), StubArena::new(StubRules::default()));
    let (pro, con) = (write_round_script(&env, "pro"), write_round_script(&env, "con"));
    let stderr_path = env.temp_path("heard.txt");
    let mut command = join(&env, &arena, "pro", &pro, &["--every", "0.2"]).into_command();
    let mut first = command.stderr(fs::File::create(&stderr_path).unwrap()).spawn().unwrap();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let second = join(&env, &arena, "con", &con, &["--every", "0.2"]).spawn();
    wait_until("a speech was accepted", || !arena.log().is_empty());
    arena.stop();
    wait_until("the first client reports it", || {
        fs::read_to_string(&stderr_path).unwrap().contains("The platform:")
    });
    arena.start();
    assert!(first.wait().unwrap().success());
    let second = second.wait();
    assert_eq!(second.exit_code, Some(0), "{second:#?}");
    assert_all_turns_spoken(&arena, 3);
}

#[test]
fn killed_client_rejoins_and_repeats_no_speech() {
    let (env, arena) = (TestEnv::new(), StubArena::new(StubRules::default()));
    let slow = json!({"turns": [{"text": speech_text("pro", 0), "delay_ms": 600_000}]});
    let slow = write_script(&env, "slow", &slow);
    let first = join(&env, &arena, "pro", &slow, &[]).spawn();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let con = write_round_script(&env, "con");
    let second = join(&env, &arena, "con", &con, &[]).spawn();
    let folder = env.data_dir().join("guest");
    wait_until("the first client is asked", || any_file_contains(&folder, "\"since\""));
    assert_owner_only(&folder);
    drop(first);
    let pro = write_round_script(&env, "pro");
    // Without `--debate`, the error names the debate in which the user already has a seat.
    join(&env, &arena, "pro", &pro, &[])
        .expect_error(1)
        .assert_stderr_contains("--debate abc123 --seat script:");
    let rejoined = join(&env, &arena, "pro", &pro, &["--debate", DEBATE_ID]).spawn();
    let outputs = [rejoined.wait(), second.wait()];
    assert!(outputs.iter().all(|output| output.exit_code == Some(0)), "{outputs:#?}");
    outputs[0].assert_stderr_contains("Back in debate abc123 as pro_abc123");
    assert_all_turns_spoken(&arena, 3);
    assert_keys_not_leaked(&env, &arena, &outputs);
}

/// Whether a file in `folder` contains these words. Files may be replaced at the same time.
fn any_file_contains(folder: &Path, needle: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.any(|text| text.contains(needle))
}

/// Checks that only the owner can read the stored credentials.
fn assert_owner_only(folder: &Path) {
    #[cfg(unix)]
    for entry in fs::read_dir(folder).unwrap().flatten() {
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
    assert!(folder.is_dir());
}

/// Faults for every third request: HTTP errors, 429, malformed and oversized responses.
fn every_third_request_fails() -> FaultHook {
    Arc::new(|request: &RecordedRequest, nth: usize| -> Option<RawResponse> {
        let oversized_body = || "x".repeat(5 * 1024 * 1024);
        let retry_now = || vec![("Retry-After", "0".to_owned())];
        let garbage = if request.path.ends_with("poll") { "{\"state\": 7}" } else { "[]" };
        nth.is_multiple_of(3).then(|| match nth / 3 % 5 {
            0 if nth < 20 => (500, vec![], "<html>oops</html>".into()),
            1 => (429, retry_now(), json!({"error_code": "slow_down"}).to_string()),
            2 => (503, retry_now(), String::new()),
            3 if request.path.ends_with("poll") => (200, vec![], garbage.into()),
            3 => (502, retry_now(), oversized_body()),
            _ => (500, retry_now(), "\u{0}\u{1}".into()),
        })
    })
}

#[test]
fn failed_requests_are_retried() {
    let rules = StubRules {
        rounds: 2,
        fault_hook: Some(every_third_request_fails()),
        ..StubRules::default()
    };
    let (env, arena) = (TestEnv::new(), StubArena::new(rules));
    let seats = [write_round_script(&env, "pro"), write_round_script(&env, "con")];
    let pro = join(&env, &arena, "pro", &seats[0], &["--every", "0.1"]).spawn();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let con = join(&env, &arena, "con", &seats[1], &["--every", "0.1"]).spawn();
    let outputs = [pro.wait(), con.wait()];
    assert!(outputs.iter().all(|output| output.exit_code == Some(0)), "{outputs:#?}");
    assert_all_turns_spoken(&arena, 2);
    assert_keys_not_leaked(&env, &arena, &outputs);
}

#[test]
fn too_long_speech_is_asked_for_again_then_cut() {
    let rules = StubRules { rounds: 1, max_length: 300, ..StubRules::default() };
    let (env, arena) = (TestEnv::new(), StubArena::new(rules));
    let long = format!("```markdown\n{}\n```", "论据充分，逻辑严密。".repeat(60));
    let shorter = json!({"turns": [{"attempt": 1, "text": long}, {"text": speech_text("con", 1)}]});
    let seats = [write_fixed_script(&env, "pro", &long), write_script(&env, "con", &shorter)];
    let [pro, con] = join_both(&env, &arena, [&seats[0], &seats[1]], &[]);
    assert_all_turns_spoken(&arena, 1);
    let speeches = arena.speeches();
    let length = speeches[0].1.chars().count();
    assert!(speeches[0].1.ends_with('。') && length <= 300 && length > 250, "{speeches:?}");
    assert_eq!(speeches[1].1, speech_text("con", 1).trim());
    pro.assert_stderr_contains("Asked once more: it has 600 characters, and at most 300 are taken");
    pro.assert_stderr_contains("its end had to be left off");
    con.assert_stderr_contains("Asked once more");
}

#[test]
fn speech_is_shortened_for_a_server_counting_bytes() {
    let rules =
        StubRules { rounds: 1, max_length: 300, counts_bytes: true, ..StubRules::default() };
    let (env, arena) = (TestEnv::new(), StubArena::new(rules));
    let long = "论据充分，逻辑严密。".repeat(29);
    let seats = [write_fixed_script(&env, "pro", &long), write_fixed_script(&env, "con", &long)];
    let outputs = join_both(&env, &arena, [&seats[0], &seats[1]], &[]);
    assert!(outputs.iter().all(|output| output.exit_code == Some(0)), "{outputs:#?}");
    assert_all_turns_spoken(&arena, 1);
}

#[test]
fn too_short_speech_misses_the_turn_with_a_warning() {
    let (env, arena) = (TestEnv::new(), StubArena::new(StubRules::default()));
    let seat = write_fixed_script(&env, "pro", "Too short.");
    let pro = join(&env, &arena, "pro", &seat, &[]).spawn();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let con = write_round_script(&env, "con");
    let con = join(&env, &arena, "con", &con, &[]).spawn();
    let request_count = |name: &str| {
        let is_from_bot =
            |it: &RecordedRequest| it.headers.get("x-bot-identifier").is_some_and(|it| it == name);
        arena.requests().iter().filter(|it| is_from_bot(it)).count()
    };
    wait_until("both keep polling", || {
        request_count("pro_abc123") > 20 && request_count("con_abc123") > 20
    });
    for running in [&pro, &con] {
        running.send_signal("INT");
    }
    let (pro, con) = (pro.wait(), con.wait());
    pro.assert_stderr_contains(
        "[Round 1] No speech of ours: it has 10 characters, and at least 50 are taken.",
    );
    assert_eq!((pro.exit_code, con.exit_code), (Some(2), Some(2)));
    con.assert_stderr_contains("Go on with: debate join http://127.0.0.1:");
    con.assert_stderr_contains("--debate abc123 --seat script:");
    assert!(arena.speeches().is_empty());
}

#[test]
fn secrets_are_redacted_from_speeches() {
    let (env, arena) =
        (TestEnv::new(), StubArena::new(StubRules { rounds: 1, ..StubRules::default() }));
    let secret: String = ["9fK2", "mQ8z", "Lw4x", "Tn7c", "Vb3h"].concat();
    let seat = write_fixed_script(
        &env,
        "pro",
        &format!("{} My token is {secret}.", speech_text("pro", 1)),
    );
    let pro = join(&env, &arena, "pro", &seat, &[]).env("MY_ACCESS_TOKEN", &secret).spawn();
    wait_until("the first client has joined", || arena.seat_keys().len() == 1);
    let con = write_round_script(&env, "con");
    join(&env, &arena, "con", &con, &[]).expect_success();
    pro.wait();
    let speech = &arena.speeches()[0].1;
    assert!(!speech.contains(&secret) && speech.contains("[REDACTED:"), "{speech}");
}

#[test]
fn unknown_debate_is_refused_with_a_hint() {
    let (env, arena) = (TestEnv::new(), StubArena::new(StubRules::default()));
    let seat = write_round_script(&env, "pro");
    let output = join(&env, &arena, "pro", &seat, &["--debate", "other"]).expect_error(1);
    output.assert_stderr_contains("there is no such debate: 404 DEBATE_NOT_FOUND");
    output.assert_stderr_contains("leave `--debate` out");
}

#[test]
fn full_debate_and_no_debate_have_distinct_errors() {
    let (env, arena) =
        (TestEnv::new(), StubArena::new(StubRules { rounds: 1, ..StubRules::default() }));
    let seats = [write_round_script(&env, "pro"), write_round_script(&env, "con")];
    join_both(&env, &arena, [&seats[0], &seats[1]], &[]);
    let third = join(&env, &arena, "third", &seats[0], &[]).expect_error(1);
    third.assert_stderr_contains("there is no debate to join");
    third.assert_stderr_contains("--wait-for-debate");
    let third =
        join(&env, &arena, "third", &seats[0], &["--wait-for-debate", "1s"]).expect_error(1);
    third.assert_stderr_contains("No debate to join yet");
    let third = join(&env, &arena, "third", &seats[0], &["--debate", DEBATE_ID]).expect_error(1);
    third.assert_stderr_contains("the debate has no free seat: 409 debate_full");
}

#[test]
fn key_echoed_by_the_server_is_not_printed() {
    let fault: FaultHook = Arc::new(|request: &RecordedRequest, _| {
        let key = request.headers.get("x-debate-key")?;
        let message = format!("`{key}` is no key");
        let body = json!({"error_code": "INVALID_CREDENTIALS", "message": message});
        Some((401, vec![], body.to_string()))
    });
    let arena = StubArena::new(StubRules { fault_hook: Some(fault), ..StubRules::default() });
    let env = TestEnv::new();
    let seat = write_round_script(&env, "pro");
    let output = join(&env, &arena, "pro", &seat, &[]).expect_error(1);
    output.assert_stderr_contains(
        "the platform does not accept the key of this seat: 401 INVALID_CREDENTIALS (`[key]`",
    );
    assert_keys_not_leaked(&env, &arena, &[output]);
}

#[test]
fn redirect_is_not_followed_with_the_key() {
    let fault: FaultHook = Arc::new(|request: &RecordedRequest, _| {
        request.headers.get("x-debate-key")?;
        Some((307, vec![("Location", "http://127.0.0.1:9/evil".into())], String::new()))
    });
    let arena = StubArena::new(StubRules { fault_hook: Some(fault), ..StubRules::default() });
    let env = TestEnv::new();
    let seat = write_round_script(&env, "pro");
    let output = join(&env, &arena, "pro", &seat, &[]).expect_error(1);
    output.assert_stderr_contains("redirects to http://127.0.0.1:9/evil");
}

#[test]
fn invalid_arguments_are_refused() {
    let env = TestEnv::new();
    let seat = write_round_script(&env, "pro");
    let cases: &[(&[&str], &str)] = &[
        (&["ftp://example.org"], "http or https, not `ftp`"),
        (&["http://me:pw@localhost"], "no user name, password"),
        (&["http://localhost?x=1"], "no user name, password"),
        (&["http://"], "is not a valid address"),
        (&["http://localhost:1", "--debate", ".."], "that is not a debate id"),
        (&["http://localhost:1", "--name", ""], "a name has 1 to 64 characters"),
        (&["http://localhost:1", "--every", "90"], "at most 30"),
        (&["http://localhost:1", "--wait-for-debate", "soon"], "write it as"),
    ];
    for (args, message) in cases {
        let output = env.debate(&[&["join", "--seat", &seat], *args].concat()).expect_error(2);
        output.assert_stderr_contains(message);
    }
    for seat in ["human", "host", "bot", "demo"] {
        let output = env.debate(&["join", "http://localhost:1", "--seat", seat]).expect_error(2);
        output.assert_stderr_contains("only a model or a script can join");
    }
    env.debate(&["join", "http://localhost:1", "--seat", "claude"]).expect_error(4);
    let unreachable_args = ["join", "http://localhost:1", "--seat", &seat, "--patience", "1s"];
    env.debate(&unreachable_args)
        .expect_error(1)
        .assert_stderr_contains("the platform cannot be reached");
}
