//! Two processes and one debate: the second is told who holds the lease, can watch, and can take
//! the lease over. No turn is lost or played twice.
use crate::mcp_test_client::McpTestClient;
use crate::test_env::{
    RunningProcess, SeatScript, TestEnv, assert_contains_in_order, speech_with_claim, wait_until,
};
use serde_json::{Value, json};

/// A script whose challenger is slow in the first round.
fn slow_script(milliseconds: u64) -> SeatScript {
    let text = speech_with_claim("One file locks.", "C1", &["P1"]);
    SeatScript::new().prepend(json!({"phase": "challenge", "text": text, "delay_ms": milliseconds}))
}

/// A running duel at the terminal whose challenger takes a minute.
fn start_at_terminal(lab: &TestEnv) -> (RunningProcess, String) {
    lab.write_script(&slow_script(60_000));
    let running = lab.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = lab.wait_for_challenger();
    (running, id)
}

/// The same duel, run by an MCP client.
fn start_in_client(lab: &TestEnv, host: &mut McpTestClient) -> String {
    lab.write_script(&slow_script(60_000));
    let (pro, con) = (lab.script_seat("pro.json"), lab.script_seat("contra.json"));
    let start = json!({"topic": "Slow?", "rounds": 1, "proposer": pro, "challenger": con,
        "judge": pro, "wait_seconds": 0, "options": {"pause": false}});
    let id = host.call_tool("start_debate", start)["debate_id"].as_str().unwrap().to_owned();
    assert_eq!(lab.wait_for_challenger(), id);
    id
}

/// Asserts that every turn is recorded once and that the log replays without errors.
#[track_caller]
fn assert_each_turn_once(lab: &TestEnv, id: &str, turns: usize) {
    let taken = lab.turn_counts(id);
    assert!(taken.len() == turns && taken.values().all(|times| *times == 1), "{taken:?}");
    lab.assert_replays(id);
}

#[test]
fn terminal_takes_over_from_another_terminal() {
    let lab = TestEnv::new();
    let (first, id) = start_at_terminal(&lab);
    lab.write_script(&slow_script(1_500));
    let second = lab.debate(&["resume", &id, "--take-over"]).spawn();
    let (taker, loser) = (second.pid(), first.pid());
    let stopped = first.wait();
    assert_eq!(stopped.exit_code, Some(2), "{stopped:#?}");
    let says = format!("the terminal (process {taker}) has taken this debate over");
    stopped.assert_stderr_contains(&says);
    stopped.assert_stderr_contains(&format!("Watch it with: debate watch {id}"));
    stopped.assert_stderr_contains(&format!("Take it back with: debate resume {id} --take-over"));
    let done = second.wait();
    assert_eq!(done.exit_code, Some(0), "{done:#?}");
    done.assert_stderr_contains(&format!(
        "Taken over from the terminal (process {loser}), which stops."
    ));
    done.assert_stdout_contains(&["### Verdict"]);
    assert_each_turn_once(&lab, &id, 4);
}

#[test]
fn terminal_takes_over_from_a_client() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let id = start_in_client(&lab, &mut host);
    lab.debate(&["resume", &id])
        .expect_error(1)
        .assert_stderr_contains("is being run by claude-code 1 (process ");
    let waiting = host.start_tool_call("continue_round", json!({}));
    lab.write_script(&slow_script(1_500));
    let second = lab.debate(&["resume", &id, "--take-over"]).spawn();
    let answer = host.wait_for_response(waiting);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    let by = format!("the terminal (process {}) has taken this debate over", second.pid());
    assert_contains_in_order(text, &[&by, "Next: ", "watches it", "take_over"]);
    // From now on the client only watches.
    let seen = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    let notes = seen["notes"].to_string();
    assert!(notes.contains("the terminal (process ") && notes.contains("only watches"), "{seen:#}");
    assert_eq!(host.call_tool("continue_round", json!({}))["status"], "completed");
    assert_eq!(second.wait().exit_code, Some(0));
    assert_each_turn_once(&lab, &id, 4);
}

#[test]
fn client_takes_over_from_a_terminal() {
    let lab = TestEnv::new();
    let (first, id) = start_at_terminal(&lab);
    let mut host = lab.mcp_client_named("opencode");
    let seen = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert!(seen["notes"].to_string().contains("the terminal (process "), "{seen:#}");
    let summary = host.call_tool("summarize", json!({}));
    assert!(summary["notes"].to_string().contains("take_over"), "{summary:#}");
    lab.write_script(&slow_script(1_500));
    let waiting = host.start_tool_call("continue_round", json!({"decision": "take_over"}));
    let stopped = first.wait();
    assert_eq!(stopped.exit_code, Some(2), "{stopped:#?}");
    stopped.assert_stderr_contains("opencode 1 (process ");
    stopped.assert_stderr_contains("has taken this debate over");
    let stands = crate::mcp_test_client::structured_content(&host.wait_for_response(waiting));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    assert_each_turn_once(&lab, &id, 4);
    let over = host.expect_tool_error("continue_round", json!({"decision": "take_over"}));
    assert!(over.contains("has ended (completed)"), "{over}");
}

/// Without a lease holder, takeover is the same as resume. Taking over one's own lease is a no-op.
#[test]
fn takeover_without_another_holder_resumes() {
    let lab = TestEnv::new();
    lab.debate_run("Free?", &["--pause"]).expect_exit_code(2);
    let id = lab.latest_debate_id();
    lab.debate(&["resume", &id, "--take-over", "--yes"])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    assert_each_turn_once(&lab, &id, 6);
    let mut host = lab.mcp_client();
    let id = start_in_client(&lab, &mut host);
    let again = json!({"decision": "take_over", "wait_seconds": 0});
    assert_eq!(host.call_tool("continue_round", again)["status"], "running");
    let asked = lab.events(&id).iter().filter(|event| event["event"] == "asked").count();
    assert_eq!(asked, 2, "nobody was asked again");
}

/// A human who is prompted for a turn is told about the takeover.
#[test]
fn takeover_interrupts_a_waiting_human() {
    let lab = TestEnv::new();
    let con = lab.script_seat("contra.json");
    let args = ["run", "Me?", "--proposer", "human", "--challenger", &con, "--judge", &con];
    let first = lab.debate(&[&args[..], &["--rounds", "1"]].concat()).spawn();
    wait_until("it is open", || {
        let listed = lab.debate(&["list", "--json"]).expect_success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).iter().any(|event| event["event"] == "asked")
    });
    let id = lab.latest_debate_id();
    lab.debate(&["resume", &id])
        .expect_error(1)
        .assert_stderr_contains("is being run by the terminal");
    let seat = format!("proposer={}", lab.script_seat("pro.json"));
    lab.debate(&["resume", &id, "--take-over", "--seat", &seat]).expect_success();
    let stopped = first.wait();
    assert_eq!(stopped.exit_code, Some(2), "{stopped:#?}");
    stopped.assert_stderr_contains("has taken this debate over");
    assert_each_turn_once(&lab, &id, 4);
}

#[test]
fn watch_follows_a_debate_to_its_end() {
    let lab = TestEnv::new();
    let (text, end) = (speech_with_claim("One file locks, it does.", "C1", &["P1"]), "### Verdict");
    let line = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    lab.write_script(&SeatScript::new().prepend(line));
    let playing = lab.debate_run("Watched?", &["--rounds", "1"]).spawn();
    let id = lab.wait_for_challenger();
    let plain = lab.debate(&["watch"]).spawn();
    let json = lab.debate(&["watch", &id, "--json"]).spawn();
    assert_eq!(playing.wait().exit_code, Some(0));
    let watched = plain.wait();
    assert_eq!(watched.exit_code, Some(0), "{watched:#?}");
    watched.assert_stdout_contains(&["Challenger (script)", "One file locks, it does.", end]);
    watched.assert_stderr_contains("plays it; `debate resume");
    watched.assert_stderr_contains("Watched? (duel, in progress, round 1 of 1)");
    let lines = json.wait();
    assert_eq!(lines.exit_code, Some(0), "{lines:#?}");
    let kinds: Vec<Value> = lines.json_lines().iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds.last(), Some(&json!("result")), "{kinds:?}");
    let facts: Vec<Value> = lines.json_lines().iter().map(|line| line["event"].clone()).collect();
    assert!(facts.contains(&json!("spoke")) && facts.contains(&json!("closed")), "{facts:?}");
    assert_each_turn_once(&lab, &id, 4);
}

/// Deltas of a running turn are streamed to another process.
#[test]
fn watch_streams_deltas_of_a_running_turn() {
    let lab = TestEnv::new();
    let prose = "One file locks, and that is what all of this is about. ".repeat(12);
    let script = json!({"chars_per_second": 400, "turns": [
        {"phase": "propose", "text": speech_with_claim("Use one.", "P1", &[])},
        {"phase": "challenge", "text": speech_with_claim(&prose, "C1", &["P1"])},
        {"seat": "judge", "json": crate::test_env::verdict_json("pro")}]});
    for name in ["pro.json", "contra.json"] {
        std::fs::write(lab.temp_path(name), script.to_string()).unwrap();
    }
    let playing = lab.debate_run("Spoken?", &["--rounds", "1"]).spawn();
    let id = lab.wait_for_challenger();
    let watching = lab.debate(&["watch", &id, "--json"]).spawn();
    let lines = watching.wait().json_lines();
    let deltas = lines.iter().filter(|line| line["kind"] == "delta").count();
    assert!(deltas > 0, "{lines:#?}");
    assert_eq!(playing.wait().exit_code, Some(0));
}

#[test]
fn watch_ends_when_no_process_runs_the_debate() {
    let lab = TestEnv::new();
    let (playing, id) = start_at_terminal(&lab);
    let watching = lab.debate(&["watch", &id]).spawn();
    playing.send_signal("KILL");
    let done = watching.wait();
    assert_eq!(done.exit_code, Some(2), "{done:#?}");
    done.assert_stderr_contains(&format!(
        "Nobody plays it any more. Go on with: debate resume {id}"
    ));
    lab.write_script(&SeatScript::new());
    lab.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    let before = lab.events(&lab.latest_debate_id());
    lab.debate(&["watch", "last"])
        .expect_exit_code(2)
        .assert_stderr_contains("It waits for your word. Go on with: debate resume");
    assert_eq!(lab.events(&lab.latest_debate_id()), before, "watching writes nothing");
    lab.debate(&["resume", "last", "--yes"]).expect_success();
    lab.debate(&["watch", "last"]).expect_success().assert_stdout_contains(&["### Verdict"]);
    lab.debate(&["watch", "nonesuch"]).expect_error(2);
}

#[test]
fn stopping_a_watcher_does_not_stop_the_debate() {
    let lab = TestEnv::new();
    let (mut playing, id) = start_at_terminal(&lab);
    for signal in ["INT", "TERM"] {
        let mut watching = lab.debate(&["watch", &id]).spawn();
        watching.wait_for_stderr("Ctrl-C only stops watching");
        watching.send_signal(signal);
        let done = watching.wait();
        assert_eq!(done.exit_code, Some(2), "{signal}: {done:#?}");
        done.assert_stderr_contains("Stopped watching; the debate goes on.");
        assert!(!playing.has_exited());
    }
    let shown = lab.debate(&["show", &id, "--json"]).expect_success().json();
    assert_eq!(shown["holder"], format!("the terminal (process {})", playing.pid()));
}
