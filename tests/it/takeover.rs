//! Two processes and one debate: the second is told who holds the lease, can watch, and can take
//! the lease over. No turn is lost or played twice.
use crate::mcp_test_client::McpTestClient;
use crate::test_env::{
    RunningProcess, SeatScript, TestEnv, assert_contains_in_order, speech_with_claim, wait_until,
};
use serde_json::{Value, json};

/// A script whose challenger is slow in the first round.
fn slow_script(delay_ms: u64) -> SeatScript {
    let text = speech_with_claim("One file locks.", "C1", &["P1"]);
    SeatScript::new().prepend(json!({"phase": "challenge", "text": text, "delay_ms": delay_ms}))
}

/// A running duel at the terminal whose challenger takes a minute.
fn start_at_terminal(env: &TestEnv) -> (RunningProcess, String) {
    env.write_script(&slow_script(60_000));
    let process = env.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = env.wait_for_challenger();
    (process, id)
}

/// The same duel, run by an MCP client.
fn start_in_client(env: &TestEnv, client: &mut McpTestClient) -> String {
    env.write_script(&slow_script(60_000));
    let (pro, con) = (env.script_seat("pro.json"), env.script_seat("contra.json"));
    let start = json!({"topic": "Slow?", "rounds": 1, "proposer": pro, "challenger": con,
        "judge": pro, "wait_seconds": 0, "options": {"pause": false}});
    let id = client.call_tool("start_debate", start)["debate_id"].as_str().unwrap().to_owned();
    assert_eq!(env.wait_for_challenger(), id);
    id
}

/// Asserts that every turn is recorded once and that the log replays without errors.
#[track_caller]
fn assert_each_turn_once(env: &TestEnv, id: &str, turns: usize) {
    let counts = env.turn_counts(id);
    assert!(counts.len() == turns && counts.values().all(|count| *count == 1), "{counts:?}");
    env.assert_replays(id);
}

#[test]
fn terminal_takes_over_from_another_terminal() {
    let env = TestEnv::new();
    let (first, id) = start_at_terminal(&env);
    env.write_script(&slow_script(1_500));
    let second = env.debate(&["resume", &id, "--take-over"]).spawn();
    let (second_pid, first_pid) = (second.pid(), first.pid());
    let first_output = first.wait();
    assert_eq!(first_output.exit_code, Some(2), "{first_output:#?}");
    let message = format!("the terminal (process {second_pid}) has taken this debate over");
    first_output.assert_stderr_contains(&message);
    first_output.assert_stderr_contains(&format!("Watch it with: debate watch {id}"));
    first_output
        .assert_stderr_contains(&format!("Take it back with: debate resume {id} --take-over"));
    let second_output = second.wait();
    assert_eq!(second_output.exit_code, Some(0), "{second_output:#?}");
    second_output.assert_stderr_contains(&format!(
        "Taken over from the terminal (process {first_pid}), which stops."
    ));
    second_output.assert_stdout_contains(&["### Verdict"]);
    assert_each_turn_once(&env, &id, 4);
}

#[test]
fn terminal_takes_over_from_a_client() {
    let env = TestEnv::new();
    let mut client = env.mcp_client();
    let id = start_in_client(&env, &mut client);
    env.debate(&["resume", &id])
        .expect_error(1)
        .assert_stderr_contains("is being run by claude-code 1 (process ");
    let call_id = client.start_tool_call("continue_round", json!({}));
    env.write_script(&slow_script(1_500));
    let second = env.debate(&["resume", &id, "--take-over"]).spawn();
    let response = client.wait_for_response(call_id);
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(response["result"]["isError"], true, "{response:#}");
    let message = format!("the terminal (process {}) has taken this debate over", second.pid());
    assert_contains_in_order(text, &[&message, "Next: ", "watches it", "take_over"]);
    // From now on the client only watches.
    let status = client.call_tool("continue_round", json!({"wait_seconds": 0}));
    let notes = status["notes"].to_string();
    assert!(
        notes.contains("the terminal (process ") && notes.contains("only watches"),
        "{status:#}"
    );
    assert_eq!(client.call_tool("continue_round", json!({}))["status"], "completed");
    assert_eq!(second.wait().exit_code, Some(0));
    assert_each_turn_once(&env, &id, 4);
}

#[test]
fn client_takes_over_from_a_terminal() {
    let env = TestEnv::new();
    let (first, id) = start_at_terminal(&env);
    let mut client = env.mcp_client_named("opencode");
    let status = client.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert!(status["notes"].to_string().contains("the terminal (process "), "{status:#}");
    let summary = client.call_tool("summarize", json!({}));
    assert!(summary["notes"].to_string().contains("take_over"), "{summary:#}");
    env.write_script(&slow_script(1_500));
    let call_id = client.start_tool_call("continue_round", json!({"decision": "take_over"}));
    let first_output = first.wait();
    assert_eq!(first_output.exit_code, Some(2), "{first_output:#?}");
    first_output.assert_stderr_contains("opencode 1 (process ");
    first_output.assert_stderr_contains("has taken this debate over");
    let result = crate::mcp_test_client::structured_content(&client.wait_for_response(call_id));
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_each_turn_once(&env, &id, 4);
    let error = client.expect_tool_error("continue_round", json!({"decision": "take_over"}));
    assert!(error.contains("has ended (completed)"), "{error}");
}

/// Without a lease holder, takeover is the same as resume. Taking over one's own lease is a no-op.
#[test]
fn takeover_without_another_holder_resumes() {
    let env = TestEnv::new();
    env.debate_run("Free?", &["--pause"]).expect_exit_code(2);
    let id = env.latest_debate_id();
    env.debate(&["resume", &id, "--take-over", "--yes"])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    assert_each_turn_once(&env, &id, 6);
    let mut client = env.mcp_client();
    let id = start_in_client(&env, &mut client);
    let arguments = json!({"decision": "take_over", "wait_seconds": 0});
    assert_eq!(client.call_tool("continue_round", arguments)["status"], "running");
    let request_count = env.events(&id).iter().filter(|event| event["event"] == "asked").count();
    assert_eq!(request_count, 2, "no turn was requested again");
}

/// A human who is prompted for a turn is told about the takeover.
#[test]
fn takeover_interrupts_a_waiting_human() {
    let env = TestEnv::new();
    let con = env.script_seat("contra.json");
    let args = ["run", "Me?", "--proposer", "human", "--challenger", &con, "--judge", &con];
    let first = env.debate(&[&args[..], &["--rounds", "1"]].concat()).spawn();
    wait_until("the human is asked", || {
        let listing = env.debate(&["list", "--json"]).expect_success().json();
        let id = listing["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && env.events(&id).iter().any(|event| event["event"] == "asked")
    });
    let id = env.latest_debate_id();
    env.debate(&["resume", &id])
        .expect_error(1)
        .assert_stderr_contains("is being run by the terminal");
    let seat = format!("proposer={}", env.script_seat("pro.json"));
    env.debate(&["resume", &id, "--take-over", "--seat", &seat]).expect_success();
    let first_output = first.wait();
    assert_eq!(first_output.exit_code, Some(2), "{first_output:#?}");
    first_output.assert_stderr_contains("has taken this debate over");
    assert_each_turn_once(&env, &id, 4);
}

#[test]
fn watch_follows_a_debate_to_its_end() {
    let env = TestEnv::new();
    let (text, verdict_heading) =
        (speech_with_claim("One file locks, it does.", "C1", &["P1"]), "### Verdict");
    let line = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    env.write_script(&SeatScript::new().prepend(line));
    let player = env.debate_run("Watched?", &["--rounds", "1"]).spawn();
    let id = env.wait_for_challenger();
    let text_watcher = env.debate(&["watch"]).spawn();
    let json_watcher = env.debate(&["watch", &id, "--json"]).spawn();
    assert_eq!(player.wait().exit_code, Some(0));
    let text_output = text_watcher.wait();
    assert_eq!(text_output.exit_code, Some(0), "{text_output:#?}");
    text_output.assert_stdout_contains(&[
        "Challenger (script)",
        "One file locks, it does.",
        verdict_heading,
    ]);
    text_output.assert_stderr_contains("plays it; `debate resume");
    text_output.assert_stderr_contains("Watched? (duel, in progress, round 1 of 1)");
    let json_output = json_watcher.wait();
    assert_eq!(json_output.exit_code, Some(0), "{json_output:#?}");
    let kinds: Vec<Value> =
        json_output.json_lines().iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds.last(), Some(&json!("result")), "{kinds:?}");
    let events: Vec<Value> =
        json_output.json_lines().iter().map(|line| line["event"].clone()).collect();
    assert!(events.contains(&json!("spoke")) && events.contains(&json!("closed")), "{events:?}");
    assert_each_turn_once(&env, &id, 4);
}

/// Deltas of a running turn are streamed to another process.
#[test]
fn watch_streams_deltas_of_a_running_turn() {
    let env = TestEnv::new();
    let prose = "One file locks, and that is what all of this is about. ".repeat(12);
    let script = json!({"chars_per_second": 400, "turns": [
        {"phase": "propose", "text": speech_with_claim("Use one.", "P1", &[])},
        {"phase": "challenge", "text": speech_with_claim(&prose, "C1", &["P1"])},
        {"seat": "judge", "json": crate::test_env::verdict_json("pro")}]});
    for name in ["pro.json", "contra.json"] {
        std::fs::write(env.temp_path(name), script.to_string()).unwrap();
    }
    let player = env.debate_run("Spoken?", &["--rounds", "1"]).spawn();
    let id = env.wait_for_challenger();
    let watcher = env.debate(&["watch", &id, "--json"]).spawn();
    let lines = watcher.wait().json_lines();
    let deltas = lines.iter().filter(|line| line["kind"] == "delta").count();
    assert!(deltas > 0, "{lines:#?}");
    assert_eq!(player.wait().exit_code, Some(0));
}

#[test]
fn watch_ends_when_no_process_runs_the_debate() {
    let env = TestEnv::new();
    let (player, id) = start_at_terminal(&env);
    let watcher = env.debate(&["watch", &id]).spawn();
    player.send_signal("KILL");
    let output = watcher.wait();
    assert_eq!(output.exit_code, Some(2), "{output:#?}");
    output.assert_stderr_contains(&format!(
        "Nobody plays it any more. Go on with: debate resume {id}"
    ));
    env.write_script(&SeatScript::new());
    env.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    let events_before = env.events(&env.latest_debate_id());
    env.debate(&["watch", "last"])
        .expect_exit_code(2)
        .assert_stderr_contains("It waits for your word. Go on with: debate resume");
    assert_eq!(env.events(&env.latest_debate_id()), events_before, "watching writes nothing");
    env.debate(&["resume", "last", "--yes"]).expect_success();
    env.debate(&["watch", "last"]).expect_success().assert_stdout_contains(&["### Verdict"]);
    env.debate(&["watch", "nonesuch"]).expect_error(2);
}

#[test]
fn stopping_a_watcher_does_not_stop_the_debate() {
    let env = TestEnv::new();
    let (mut player, id) = start_at_terminal(&env);
    for signal in ["INT", "TERM"] {
        let mut watcher = env.debate(&["watch", &id]).spawn();
        watcher.wait_for_stderr("Ctrl-C only stops watching");
        watcher.send_signal(signal);
        let output = watcher.wait();
        assert_eq!(output.exit_code, Some(2), "{signal}: {output:#?}");
        output.assert_stderr_contains("Stopped watching; the debate goes on.");
        assert!(!player.has_exited());
    }
    let view = env.debate(&["show", &id, "--json"]).expect_success().json();
    assert_eq!(view["holder"], format!("the terminal (process {})", player.pid()));
}
