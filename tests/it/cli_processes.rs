//! Concurrent and interrupted processes (leases, signals, database locks), and archives whose event
//! log is damaged or tampered with.
use super::test_env::{RunningProcess, SeatScript, TestEnv, wait_until};
use serde_json::{Value, json};

/// Starts a debate whose challenger takes 60 s.
fn start_slow_debate(env: &TestEnv) -> (RunningProcess, String) {
    env.write_script(
        &SeatScript::new()
            .prepend(json!({"phase": "challenge", "text": "So far, so", "delay_ms": 60_000})),
    );
    env.debate(&["list"]).expect_success();
    let running = env.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = env.wait_for_challenger();
    (running, id)
}

#[test]
fn running_debate_cannot_be_resumed_by_another_process() {
    let env = TestEnv::new();
    let (running, id) = start_slow_debate(&env);
    let before = env.events(&id);
    for args in [["resume", &id].as_slice(), &["resume"], &["resume", &id, "--conclude"]] {
        let output = env.debate(args).expect_error(1);
        output.assert_stderr_contains(&format!(
            "is being run by the terminal (process {})",
            running.pid()
        ));
        output.assert_stderr_contains(&format!("hint: `debate watch {id}` follows it"));
        output.assert_stderr_contains(&format!("`debate resume {id} --take-over` takes it over"));
    }
    assert_eq!(env.events(&id), before);
    // Reading needs no lease.
    let shown = env.debate(&["show", &id, "--json"]).expect_success().json();
    assert_eq!(shown["holder"], format!("the terminal (process {})", running.pid()));
    assert_eq!(shown["status"], "in-progress");
    env.debate(&["show", &id])
        .expect_success()
        .assert_stderr_contains("It is being run by the terminal");
    // Other debates are not affected.
    env.write_script(&SeatScript::new());
    env.debate_run("Other?", &["--rounds", "1"]).expect_success();
}

#[test]
fn resume_after_signal_keeps_recorded_turns() {
    for (signal, code) in [("INT", Some(2)), ("KILL", None), ("TERM", Some(2))] {
        let env = TestEnv::new();
        let (running, id) = start_slow_debate(&env);
        running.send_signal(signal);
        let output = running.wait();
        assert_eq!(output.exit_code, code, "{signal}: {output:#?}");
        if code.is_some() {
            output.assert_stderr_contains(&format!("Go on with: debate resume {id}"));
        }
        let shown = env.debate(&["show", &id, "--json"]).expect_success().json();
        assert_eq!((&shown["holder"], &shown["live"]), (&Value::Null, &json!([])), "{signal}");
        env.write_script(&SeatScript::new());
        env.debate(&["resume"]).expect_success().assert_stdout_contains(&["### Verdict"]);
        let turn_counts = env.turn_counts(&id);
        assert!(
            turn_counts.len() == 4 && turn_counts.values().all(|times| *times == 1),
            "{turn_counts:?}"
        );
        env.assert_replays(&id);
    }
}

#[test]
fn interrupted_json_run_still_prints_a_result() {
    let env = TestEnv::new();
    let slow = json!({"phase": "challenge", "text": "Never", "delay_ms": 60_000});
    env.write_script(&SeatScript::new().prepend(slow));
    env.debate(&["list"]).expect_success();
    let running = env.debate_run("Stop?", &["--json", "--follow"]).spawn();
    wait_until("the challenger is asked", || {
        let listed = env.debate(&["list", "--json"]).expect_success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && env.events(&id).len() == 3
    });
    running.send_signal("INT");
    let output = running.wait();
    assert_eq!(output.exit_code, Some(2));
    let last = output.json_lines().pop().unwrap();
    assert_eq!((&last["kind"], &last["status"]), (&json!("result"), &json!("in-progress")));
}

/// Runs a debate and then changes one event in the database.
fn env_with_tampered_event(
    args: &[&str],
    code: i32,
    seq: i64,
    body: impl Fn(String) -> String,
) -> (TestEnv, String) {
    let env = TestEnv::new();
    env.debate_run("Tampered?", args).expect_exit_code(code);
    let id = env.latest_debate_id();
    let database = env.open_database();
    let query = "SELECT body FROM events WHERE seq = ?1";
    let original: String = database.query_row(query, [seq], |row| row.get(0)).unwrap();
    let body = body(original.clone());
    assert_ne!(original, body);
    database.execute("UPDATE events SET body = ?2 WHERE seq = ?1", (seq, body)).unwrap();
    (env, id)
}

/// Description, sequence number of the event, and the change of its body.
type Tampering = (&'static str, i64, fn(String) -> String);

fn tamperings() -> Vec<Tampering> {
    vec![
        ("another turn", 2, |text| text.replace("\"round\":1", "\"round\":2")),
        ("unknown seat", 4, |text| text.replace("\"seat\":1", "\"seat\":99")),
        ("invalid JSON", 4, |_| "{".into()),
        ("unknown event kind", 3, |_| "{\"event\": \"sang\"}".into()),
    ]
}

#[test]
fn tampered_log_is_readable_but_not_resumable() {
    for (name, seq, body) in tamperings() {
        let (env, id) = env_with_tampered_event(&["--pause"], 2, seq, body);
        let shown = env.debate(&["show", &id]).expect_success();
        shown.assert_stdout_contains(&["# Debate: Tampered?"]);
        shown.assert_stderr_contains(&format!(
            "[WARN] This log can be read but not continued: event {seq}: "
        ));
        let shown = env.debate(&["show", &id, "--json"]).expect_success().json();
        assert!(shown["flaw"].as_str().unwrap().starts_with(&format!("event {seq}: ")), "{name}");
        for args in [["resume", &id].as_slice(), &["resume", &id, "--conclude"]] {
            let output = env.debate(args).output();
            assert!(output.exit_code == Some(1) && output.stdout.is_empty(), "{name}: {output:#?}");
            output.assert_stderr_contains(&format!("event {seq} of its log"));
        }
        env.debate(&["replay", &id])
            .expect_error(1)
            .assert_stderr_contains(&format!("event {seq} of"));
        env.debate(&["export", &id]).expect_success();
    }
}

#[test]
fn reindex_reports_tampered_logs() {
    for (_, seq, body) in tamperings() {
        let (env, _) = env_with_tampered_event(&["--pause"], 2, seq, body);
        env.debate(&["reindex"])
            .expect_exit_code(1)
            .assert_stderr_contains(&format!("event {seq}"));
    }
}

#[test]
fn replay_detects_changed_text_in_the_log() {
    let (env, id) =
        env_with_tampered_event(&[], 0, 2, |text| text.replace("Use one file.", "Use two files."));
    // Every later prompt quotes the text, so it differs from the prompt that was sent.
    env.debate(&["replay", &id])
        .expect_exit_code(1)
        .assert_stderr_contains("These prompts are not what was sent then");
}

#[test]
fn tampered_finished_debate_has_no_result() {
    for (name, seq, body) in tamperings() {
        let (env, id) = env_with_tampered_event(&[], 0, seq, body);
        let output = env.debate(&["resume", &id]).output();
        assert_ne!(output.exit_code, Some(0), "{name}: {output:#?}");
        output.assert_stderr_contains(&format!("event {seq}"));
        let output = env.debate(&["replay", &id]).expect_error(1);
        output.assert_stderr_contains(&format!("event {seq} of"));
    }
}

#[test]
fn damaged_archive_does_not_overwrite_the_state_file() {
    for args in [["resume", "last"].as_slice(), &["reindex"], &["show"], &["doctor"]] {
        let (env, _) = env_with_tampered_event(&[], 0, 6, |_| "{".into());
        let before = env.state_file_json();
        env.debate(args).output();
        assert_eq!(
            env.state_file_json()["log"],
            before["log"],
            "{args:?}: it was the last intact copy"
        );
    }
}

#[test]
fn archive_that_is_no_database_is_reported() {
    let env = TestEnv::new();
    std::fs::create_dir(env.data_dir()).unwrap();
    std::fs::write(env.data_dir().join("archive.db"), "not a database at all, but long enough")
        .unwrap();
    for args in [["list"].as_slice(), &["show"], &["search", "x"], &["reindex"]] {
        env.debate(args).expect_error(1).assert_stderr_contains("the archive failed");
    }
    env.debate_run("Where to?", &[]).expect_error(1).assert_stderr_contains("the archive failed");
    env.debate(&["doctor"]).expect_exit_code(1).assert_stdout_contains(&["BAD  archive:", "hint:"]);
}

#[test]
fn archive_of_a_newer_schema_version_is_refused() {
    let env = TestEnv::new();
    env.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    env.open_database().pragma_update(None, "user_version", 99).unwrap();
    env.debate(&["list"]).expect_error(1).assert_stderr_contains("hint: update this program");
    let report = env.debate(&["doctor", "--json"]).expect_exit_code(1).json();
    assert_eq!(report["ok"], false);
}

#[test]
fn home_that_is_a_file_is_reported() {
    let env = TestEnv::new();
    let file = env.write_repo_file("file", "");
    env.debate(&["list"]).data_dir(&file).expect_error(1).assert_stderr_contains("file");
}

/// With stdout closed, the debate completes, or the error says how to resume it.
#[test]
fn closed_stdout_does_not_lose_the_debate_silently() {
    let env = TestEnv::new();
    let mut running = env.debate_run("Unread?", &["--follow"]).spawn();
    running.close_stdout();
    let output = running.wait();
    let is_completed = env.state_file_json()["status"] == "completed";
    assert!(is_completed || output.exit_code != Some(0), "{output:#?}");
    assert!(is_completed || output.stderr.contains("debate resume"), "{output:#?}");
}

/// Another process holds the database lock while it creates the archive. This one waits.
#[test]
fn first_start_waits_for_a_locked_database() {
    let env = TestEnv::new();
    std::fs::create_dir(env.data_dir()).unwrap();
    let locking_connection = env.open_database();
    locking_connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut running = env.debate(&["list"]).spawn();
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(300);
    wait_until("it has exited, or waited 300 ms", || {
        running.has_exited() || std::time::Instant::now() > deadline
    });
    locking_connection.execute_batch("ROLLBACK").unwrap();
    let output = running.wait();
    assert_eq!(output.exit_code, Some(0), "{output:#?}");
}

#[test]
fn resume_is_refused_if_a_participant_is_unavailable() {
    let env = TestEnv::new();
    env.debate_run("Gone?", &["--pause"]).expect_exit_code(2);
    let before = env.events(&env.latest_debate_id());
    std::fs::remove_file(env.temp_path("pro.json")).unwrap();
    let output = env.debate(&["resume", "--yes"]).expect_error(4);
    output.assert_stderr_contains("--seat");
    assert_eq!(env.events(&env.latest_debate_id()), before);
}
