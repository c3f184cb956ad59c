//! Concurrent and interrupted processes (leases, signals, database locks), and archives whose event
//! log is damaged or tampered with.
use super::test_env::{RunningProcess, SeatScript, TestEnv, wait_until};
use serde_json::{Value, json};

/// Starts a debate whose challenger takes 60 s.
fn start_slow_debate(lab: &TestEnv) -> (RunningProcess, String) {
    lab.write_script(
        &SeatScript::new()
            .prepend(json!({"phase": "challenge", "text": "So far, so", "delay_ms": 60_000})),
    );
    lab.debate(&["list"]).expect_success();
    let running = lab.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = lab.wait_for_challenger();
    (running, id)
}

#[test]
fn running_debate_cannot_be_resumed_by_another_process() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_debate(&lab);
    let before = lab.events(&id);
    for args in [["resume", &id].as_slice(), &["resume"], &["resume", &id, "--conclude"]] {
        let done = lab.debate(args).expect_error(1);
        done.assert_stderr_contains(&format!(
            "is being run by the terminal (process {})",
            running.pid()
        ));
        done.assert_stderr_contains(&format!("hint: `debate watch {id}` follows it"));
        done.assert_stderr_contains(&format!("`debate resume {id} --take-over` takes it over"));
    }
    assert_eq!(lab.events(&id), before);
    // Reading needs no lease.
    let shown = lab.debate(&["show", &id, "--json"]).expect_success().json();
    assert_eq!(shown["holder"], format!("the terminal (process {})", running.pid()));
    assert_eq!(shown["status"], "in-progress");
    lab.debate(&["show", &id])
        .expect_success()
        .assert_stderr_contains("It is being run by the terminal");
    // Other debates are not affected.
    lab.write_script(&SeatScript::new());
    lab.debate_run("Other?", &["--rounds", "1"]).expect_success();
}

#[test]
fn resume_after_signal_keeps_recorded_turns() {
    for (signal, code) in [("INT", Some(2)), ("KILL", None), ("TERM", Some(2))] {
        let lab = TestEnv::new();
        let (running, id) = start_slow_debate(&lab);
        running.send_signal(signal);
        let done = running.wait();
        assert_eq!(done.exit_code, code, "{signal}: {done:#?}");
        if code.is_some() {
            done.assert_stderr_contains(&format!("Go on with: debate resume {id}"));
        }
        let shown = lab.debate(&["show", &id, "--json"]).expect_success().json();
        assert_eq!((&shown["holder"], &shown["live"]), (&Value::Null, &json!([])), "{signal}");
        lab.write_script(&SeatScript::new());
        lab.debate(&["resume"]).expect_success().assert_stdout_contains(&["### Verdict"]);
        let taken = lab.turn_counts(&id);
        assert!(taken.len() == 4 && taken.values().all(|times| *times == 1), "{taken:?}");
        lab.assert_replays(&id);
    }
}

#[test]
fn interrupted_json_run_still_prints_a_result() {
    let lab = TestEnv::new();
    let slow = json!({"phase": "challenge", "text": "Never", "delay_ms": 60_000});
    lab.write_script(&SeatScript::new().prepend(slow));
    lab.debate(&["list"]).expect_success();
    let running = lab.debate_run("Stop?", &["--json", "--follow"]).spawn();
    wait_until("the challenger is asked", || {
        let listed = lab.debate(&["list", "--json"]).expect_success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).len() == 3
    });
    running.send_signal("INT");
    let done = running.wait();
    assert_eq!(done.exit_code, Some(2));
    let last = done.json_lines().pop().unwrap();
    assert_eq!((&last["kind"], &last["status"]), (&json!("result"), &json!("in-progress")));
}

/// Runs a debate and then changes one event in the database.
fn env_with_tampered_event(
    more: &[&str],
    code: i32,
    seq: i64,
    body: impl Fn(String) -> String,
) -> (TestEnv, String) {
    let lab = TestEnv::new();
    lab.debate_run("Tampered?", more).expect_exit_code(code);
    let id = lab.latest_debate_id();
    let database = lab.open_database();
    let read = "SELECT body FROM events WHERE seq = ?1";
    let text: String = database.query_row(read, [seq], |row| row.get(0)).unwrap();
    let body = body(text.clone());
    assert_ne!(text, body);
    database.execute("UPDATE events SET body = ?2 WHERE seq = ?1", (seq, body)).unwrap();
    (lab, id)
}

/// Description, sequence number of the event, and the change of its body.
type Tampering = (&'static str, i64, fn(String) -> String);

fn tamperings() -> Vec<Tampering> {
    vec![
        ("of another turn", 2, |text| text.replace("\"round\":1", "\"round\":2")),
        ("of no turn", 4, |text| text.replace("\"seat\":1", "\"seat\":99")),
        ("unreadable", 4, |_| "{".into()),
        ("of a kind there is not", 3, |_| "{\"event\": \"sang\"}".into()),
    ]
}

#[test]
fn tampered_log_is_readable_but_not_resumable() {
    for (name, seq, body) in tamperings() {
        let (lab, id) = env_with_tampered_event(&["--pause"], 2, seq, body);
        let shown = lab.debate(&["show", &id]).expect_success();
        shown.assert_stdout_contains(&["# Debate: Tampered?"]);
        shown.assert_stderr_contains(&format!(
            "[WARN] This log can be read but not continued: event {seq}: "
        ));
        let shown = lab.debate(&["show", &id, "--json"]).expect_success().json();
        assert!(shown["flaw"].as_str().unwrap().starts_with(&format!("event {seq}: ")), "{name}");
        for args in [["resume", &id].as_slice(), &["resume", &id, "--conclude"]] {
            let done = lab.debate(args).output();
            assert!(done.exit_code == Some(1) && done.stdout.is_empty(), "{name}: {done:#?}");
            done.assert_stderr_contains(&format!("event {seq} of its log"));
        }
        lab.debate(&["replay", &id])
            .expect_error(1)
            .assert_stderr_contains(&format!("event {seq} of"));
        lab.debate(&["export", &id]).expect_success();
    }
}

#[test]
fn reindex_reports_tampered_logs() {
    for (_, seq, body) in tamperings() {
        let (lab, _) = env_with_tampered_event(&["--pause"], 2, seq, body);
        lab.debate(&["reindex"])
            .expect_exit_code(1)
            .assert_stderr_contains(&format!("event {seq}"));
    }
}

#[test]
fn replay_detects_changed_text_in_the_log() {
    let (lab, id) =
        env_with_tampered_event(&[], 0, 2, |text| text.replace("Use one file.", "Use two files."));
    // Every later prompt quotes the text, so it differs from the prompt that was sent.
    lab.debate(&["replay", &id])
        .expect_exit_code(1)
        .assert_stderr_contains("These prompts are not what was sent then");
}

#[test]
fn tampered_finished_debate_has_no_result() {
    for (name, seq, body) in tamperings() {
        let (lab, id) = env_with_tampered_event(&[], 0, seq, body);
        let done = lab.debate(&["resume", &id]).output();
        assert_ne!(done.exit_code, Some(0), "{name}: {done:#?}");
        done.assert_stderr_contains(&format!("event {seq}"));
        let done = lab.debate(&["replay", &id]).expect_error(1);
        done.assert_stderr_contains(&format!("event {seq} of"));
    }
}

#[test]
fn damaged_archive_does_not_overwrite_the_state_file() {
    for args in [["resume", "last"].as_slice(), &["reindex"], &["show"], &["doctor"]] {
        let (lab, _) = env_with_tampered_event(&[], 0, 6, |_| "{".into());
        let before = lab.state_file_json();
        lab.debate(args).output();
        assert_eq!(
            lab.state_file_json()["log"],
            before["log"],
            "{args:?}: it was the last whole copy"
        );
    }
}

#[test]
fn archive_that_is_no_database_is_reported() {
    let lab = TestEnv::new();
    std::fs::create_dir(lab.data_dir()).unwrap();
    std::fs::write(lab.data_dir().join("archive.db"), "not a database at all, but long enough")
        .unwrap();
    for args in [["list"].as_slice(), &["show"], &["search", "x"], &["reindex"]] {
        lab.debate(args).expect_error(1).assert_stderr_contains("the archive failed");
    }
    lab.debate_run("Where to?", &[]).expect_error(1).assert_stderr_contains("the archive failed");
    lab.debate(&["doctor"]).expect_exit_code(1).assert_stdout_contains(&["BAD  archive:", "hint:"]);
}

#[test]
fn archive_of_a_newer_schema_version_is_refused() {
    let lab = TestEnv::new();
    lab.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    lab.open_database().pragma_update(None, "user_version", 99).unwrap();
    lab.debate(&["list"]).expect_error(1).assert_stderr_contains("hint: update this program");
    let done = lab.debate(&["doctor", "--json"]).expect_exit_code(1).json();
    assert_eq!(done["ok"], false);
}

#[test]
fn home_that_is_a_file_is_reported() {
    let lab = TestEnv::new();
    let file = lab.write_repo_file("file", "");
    lab.debate(&["list"]).data_dir(&file).expect_error(1).assert_stderr_contains("file");
}

/// With stdout closed, the debate completes, or the error says how to resume it.
#[test]
fn closed_stdout_does_not_lose_the_debate_silently() {
    let lab = TestEnv::new();
    let mut running = lab.debate_run("Unread?", &["--follow"]).spawn();
    running.close_stdout();
    let done = running.wait();
    let over = lab.state_file_json()["status"] == "completed";
    assert!(over || done.exit_code != Some(0), "{done:#?}");
    assert!(over || done.stderr.contains("debate resume"), "{done:#?}");
}

/// Another process holds the database lock while it creates the archive. This one waits.
#[test]
fn first_start_waits_for_a_locked_database() {
    let lab = TestEnv::new();
    std::fs::create_dir(lab.data_dir()).unwrap();
    let other = lab.open_database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut running = lab.debate(&["list"]).spawn();
    let patience = std::time::Instant::now() + std::time::Duration::from_millis(300);
    wait_until("it has given up, or waited for a while", || {
        running.has_exited() || std::time::Instant::now() > patience
    });
    other.execute_batch("ROLLBACK").unwrap();
    let done = running.wait();
    assert_eq!(done.exit_code, Some(0), "{done:#?}");
}

#[test]
fn resume_is_refused_if_a_participant_is_unavailable() {
    let lab = TestEnv::new();
    lab.debate_run("Gone?", &["--pause"]).expect_exit_code(2);
    let before = lab.events(&lab.latest_debate_id());
    std::fs::remove_file(lab.temp_path("pro.json")).unwrap();
    let done = lab.debate(&["resume", "--yes"]).expect_error(4);
    done.assert_stderr_contains("--seat");
    assert_eq!(lab.events(&lab.latest_debate_id()), before);
}
