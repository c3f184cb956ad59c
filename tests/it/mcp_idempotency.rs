//! Idempotency of tool calls: a retried call never becomes the next speech, no matter how often it
//! is repeated, concurrently or from several processes.
use crate::mcp_test_client::{due_tool_call, host_ruling, structured_content};
use crate::test_env::{SeatScript, TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

fn debate_id(result: &Value) -> String {
    result["debate_id"].as_str().unwrap().to_owned()
}

/// Asserts that this many turns were recorded, each once.
#[track_caller]
fn assert_turns_taken_once(env: &TestEnv, id: &str, turns: usize) {
    let taken = env.turn_counts(id);
    assert_eq!(taken.len(), turns, "{taken:?}");
    assert!(taken.values().all(|times| *times == 1), "{taken:?}");
}

/// Arguments for a debate of three rounds between scripts, with this scripted turn first.
fn scripted_debate_args(env: &TestEnv, turn: Value) -> Value {
    env.write_script(&SeatScript::new().prepend(turn));
    json!({"topic": "One file?", "rounds": 3, "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json"), "judge": env.script_seat("pro.json")})
}

/// A scripted opening speech with a delay.
fn slow_first_speech(millis: u64) -> Value {
    json!({"phase": "propose", "text": speech_with_claim("Use one file.", "P1", &[]), "delay_ms": millis})
}

/// Starts a debate whose first speech is still running.
#[track_caller]
fn start_slow_debate(
    env: &TestEnv,
    host: &mut crate::mcp_test_client::McpTestClient,
    millis: u64,
) -> String {
    let mut arguments = scripted_debate_args(env, slow_first_speech(millis));
    arguments["wait_seconds"] = json!(0);
    let result = host.call_tool("start_debate", arguments);
    assert_eq!(result["status"], "running", "{result:#}");
    assert_eq!(result["pending"], json!(["0.1.0.0 Proposer (script)"]));
    debate_id(&result)
}

fn with_field(mut call: Value, name: &str, value: Value) -> Value {
    call[name] = value;
    call
}

/// Every call of a debate is repeated after every later one, and from another process after the
/// end. It returns the current status and changes nothing.
#[test]
fn every_call_can_be_repeated_later() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({}));
    let debate = debate_id(&result);
    let mut calls: Vec<(&str, Value)> = vec![];
    while let Some(call) = due_tool_call(&result) {
        result = host.call_tool(call.0, call.1.clone());
        calls.push(call);
        let log = env.events(&debate);
        for (tool, arguments) in &calls {
            assert_eq!(host.call_tool(tool, arguments.clone()), result, "{tool} {arguments}");
        }
        assert_eq!(env.events(&debate), log, "after {} calls", calls.len());
    }
    assert_eq!((calls.len(), &result["status"]), (6, &json!("completed")));
    let log = env.events(&debate);
    let mut other_client = env.mcp_client_named("opencode");
    for (tool, arguments) in &calls {
        assert_eq!(other_client.call_tool(tool, arguments.clone()), result, "{tool} {arguments}");
    }
    assert_eq!(env.events(&debate), log);
    assert_turns_taken_once(&env, &debate, 5);
}

#[test]
fn taken_turn_refuses_a_different_text() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({"rounds": 1}));
    let debate = debate_id(&result);
    let mut calls: Vec<(&str, Value)> = vec![];
    while let Some((tool, arguments)) = due_tool_call(&result) {
        result = host.call_tool(tool, arguments.clone());
        let changed = match tool {
            "verdict" => {
                let other = with_field(
                    host_ruling(),
                    "reasoning",
                    "It was T2 that was never shown.".into(),
                );
                with_field(arguments, "ruling", other)
            }
            _ => with_field(
                arguments,
                "speech",
                speech_with_claim("Use two files.", "X1", &["P1"]).into(),
            ),
        };
        calls.push((tool, changed));
        let log = env.events(&debate);
        for (tool, changed) in &calls {
            let error = host.expect_tool_error(tool, changed.clone());
            let turn = changed["turn"].as_str().unwrap();
            assert!(error.contains(&format!("turn {turn} was taken already")), "{error}");
            let next = error.lines().last().unwrap();
            assert!(
                next.contains(&format!("\"part\":\"{turn}\"")),
                "the next step shows the turn: {error}"
            );
        }
        assert_eq!(env.events(&debate), log);
    }
    assert_eq!(result["status"], "completed");
    let mut other = env.mcp_client();
    let log = env.events(&debate);
    for (tool, changed) in calls {
        assert!(other.expect_tool_error(tool, changed).contains("was taken already"));
    }
    assert_eq!(env.events(&debate), log);
}

/// A speech without a turn id, with an unknown one, one that is not due, or one of another seat is
/// refused, and the error names the turn that is due.
#[test]
fn only_the_due_turn_is_accepted() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let result = host.start_solo_debate(json!({"challenger": con, "judge": judge}));
    let debate = debate_id(&result);
    let log = env.events(&debate);
    let speech = speech_with_claim("Use one file.", "P1", &[]);
    let summarize_call = format!("summarize {{\"debate_id\":\"{debate}\"}}");
    let continue_call = format!("continue_round {{\"debate_id\":\"{debate}\"}}");
    for (turn, reason, next) in [
        (json!(null), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!(""), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!("first"), "`first` names no turn", summarize_call.as_str()),
        (json!("0.1.0"), "names no turn", &summarize_call),
        (json!("0.1.9.0"), "names no turn", &summarize_call),
        (json!("9.1.0.0"), "names no turn", &summarize_call),
        (json!("0.1.0.99"), "names no turn", &summarize_call),
        (json!("0.1.0.0+x"), "names no turn", &summarize_call),
        (json!("0.1.0.0+1"), "is not due now", "`0.1.0.0` (Proposer)"),
        (json!("1.2.0.0"), "turn 1.2.0.0 is not due now", "`0.1.0.0` (Proposer)"),
        (json!("0.1.1.1"), "Challenger is played by script", &continue_call),
    ] {
        let arguments = json!({"turn": turn, "speech": speech});
        let error = host.expect_tool_error("continue_round", arguments);
        let (message, next_step) = error.split_once("\nNext: ").unwrap();
        assert!(message.contains(reason), "{turn}: {error}");
        assert!(next_step.contains(next), "{turn}: {error}");
        assert_eq!(env.events(&debate), log, "{turn}");
    }
    let error =
        host.expect_tool_error("verdict", json!({"turn": "0.1.0.0", "ruling": host_ruling()}));
    assert!(error.contains("turn 0.1.0.0 asks for a speech"), "{error}");
    assert_eq!(env.events(&debate), log);
    let result = host.call_tool("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert_eq!(result["status"], "paused");
}

/// The error says why the speech was refused, and the same turn accepts a corrected one.
#[test]
fn refused_speech_can_be_corrected() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.start_solo_debate(json!({"rounds": 1}));
    let debate = debate_id(&first);
    let (tool, arguments) = due_tool_call(&first).unwrap();
    let second = host.call_tool(tool, arguments);
    let log = env.events(&debate);
    let speech_with_block = |claims: &str| format!("I agree.\n\n```claims\n{claims}\n```\n");
    let misquote = json!({"claims": [{"id": "C1", "text": "It locks.", "evidence": ["a test"],
        "answers": ["P1"]}], "concedes": [{"claim": "P1", "quote": "never said"}], "resolves": []});
    for (speech, reason) in [
        (speech_with_block("{\"claims\": [], \"concedes\": [], \"resolves\": []}"), "no flaw"),
        (speech_with_block(&misquote.to_string()), "the concession of `P1` does not quote"),
    ] {
        let error =
            host.expect_tool_error("continue_round", json!({"turn": "0.1.1.1", "speech": speech}));
        assert!(error.contains("turn 0.1.1.1 was not taken") && error.contains(reason), "{error}");
        let corrected_call = "\"turn\":\"0.1.1.1\",\"speech\":\"...\"}";
        assert!(
            error.contains("mend it: continue_round {") && error.ends_with(corrected_call),
            "{error}"
        );
        assert_eq!(env.events(&debate), log);
        assert_eq!(host.call_tool("continue_round", json!({})), second, "the turn is still due");
    }
    let (tool, corrected) = due_tool_call(&second).unwrap();
    assert_eq!(corrected["turn"], "0.1.1.1");
    assert_eq!(host.call_tool(tool, corrected)["due"]["role"], "Judge");
}

/// The error says why the ruling was refused, and the same turn accepts a corrected one.
#[test]
fn refused_ruling_can_be_corrected() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({"rounds": 1}));
    while result["due"]["role"] != "Judge" {
        let (tool, arguments) = due_tool_call(&result).unwrap();
        result = host.call_tool(tool, arguments);
    }
    let (debate, turn) = (debate_id(&result), result["due"]["turn"].clone());
    let log = env.events(&debate);
    for (bad, reason) in [
        (with_field(host_ruling(), "cites", json!(["T99"])), "T99"),
        (with_field(host_ruling(), "cites", json!([])), "must cite"),
        (with_field(host_ruling(), "winner", "both".into()), "both"),
        (with_field(host_ruling(), "recommendation", "".into()), "the recommendation is empty"),
        (json!("{\"winner\": \"A\", "), ""),
        (json!("A wins."), ""),
        (json!({}), ""),
        (json!([host_ruling()]), ""),
    ] {
        let error = host.expect_tool_error("verdict", json!({"turn": turn, "ruling": bad}));
        assert!(error.contains("was not taken: ") && error.contains(reason), "{bad}: {error}");
        let corrected_call = format!("\"turn\":{turn},\"ruling\":{{...}}}}");
        assert!(
            error.contains("mend it: verdict {") && error.ends_with(&corrected_call),
            "{bad}: {error}"
        );
        assert_eq!(env.events(&debate), log, "{bad}");
    }
    let (tool, corrected) = due_tool_call(&result).unwrap();
    let completed = host.call_tool(tool, corrected.clone());
    assert_eq!(completed["status"], "completed");
    // The same ruling, serialized as a string, counts as a repetition.
    let repeated = with_field(corrected.clone(), "ruling", corrected["ruling"].to_string().into());
    assert_eq!(host.call_tool("verdict", repeated), completed);
    assert_turns_taken_once(&env, &debate, 3);
}

/// A retried remark of the last round is not recorded as the user's decision on the debate.
#[test]
fn remark_repeated_after_the_end_is_no_decision() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.call_tool(
        "start_debate",
        with_field(scripted_debate_args(&env, slow_first_speech(0)), "rounds", json!(2)),
    );
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let last = host.call_tool("continue_round", remark.clone());
    assert_eq!(last["status"], "completed");
    let log = env.events(&debate_id(&first));
    assert_eq!(host.call_tool("continue_round", remark), last);
    assert_eq!(env.events(&debate_id(&first)), log);
}

#[test]
fn concurrent_identical_remarks_are_recorded_once() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.call_tool("start_debate", scripted_debate_args(&env, slow_first_speech(0)));
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let request_ids: Vec<u64> =
        (0..5).map(|_| host.start_tool_call("continue_round", remark.clone())).collect();
    for id in request_ids {
        assert_eq!(structured_content(&host.wait_for_response(id))["round"], 2);
    }
    let log = env.events(&debate_id(&first));
    assert_eq!(log.iter().filter(|it| it["event"] == "interjected").count(), 1);
    assert_turns_taken_once(&env, &debate_id(&first), 4);
}

/// Parse errors of a ruling name the field and are not cut off inside a code span.
#[test]
fn ruling_error_names_the_invalid_field() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let result = host.start_solo_debate(json!({"rounds": 1}));
    let (tool, arguments) = due_tool_call(&result).unwrap();
    host.call_tool(tool, arguments);
    let result = host.call_tool("continue_round", json!({"decision": "end"}));
    let mut failures = vec![];
    for (name, value) in [
        ("winner", json!("both")),
        ("confidence", json!("high")),
        ("reasoning", json!(7)),
        ("cites", json!("T1")),
    ] {
        let bad = with_field(host_ruling(), name, value);
        let error = host
            .expect_tool_error("verdict", json!({"turn": result["due"]["turn"], "ruling": bad}));
        let ticks = error.lines().next().unwrap().matches('`').count();
        if !error.contains(&format!("`{name}`")) || !ticks.is_multiple_of(2) {
            failures.push(format!("{name}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn round_continued_by_turn_id_starts_once() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.call_tool("start_debate", scripted_debate_args(&env, slow_first_speech(0)));
    let hold_turn = json!({"turn": first["due"]["turn"]});
    let second = host.call_tool("continue_round", hold_turn.clone());
    assert_eq!((&second["status"], &second["round"]), (&json!("paused"), &json!(2)));
    assert_eq!(host.call_tool("continue_round", hold_turn.clone()), second);
    let continued = with_field(hold_turn.clone(), "decision", "continue".into());
    assert_eq!(host.call_tool("continue_round", continued), second);
    // A new client also gets a note on the status of the debate.
    let from_new_client = env.mcp_client().call_tool("continue_round", hold_turn.clone());
    assert!(
        from_new_client["notes"].to_string().contains("as it stood: One file?"),
        "{from_new_client:#}"
    );
    assert_eq!(with_field(from_new_client, "notes", second["notes"].clone()), second);
    assert_turns_taken_once(&env, &debate_id(&first), 4);
    let last = host.call_tool("continue_round", json!({"turn": second["due"]["turn"]}));
    assert_eq!(last["status"], "completed");
    assert_eq!(host.call_tool("continue_round", hold_turn), last);
}

#[test]
fn call_during_a_round_waits_for_it() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let debate = start_slow_debate(&env, &mut host, 700);
    let still_running = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(still_running["status"], "running");
    assert_eq!(still_running["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert!(still_running["next"].as_str().unwrap().contains("nothing is spent twice"));
    let paused = host.call_tool("continue_round", json!({}));
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    assert_turns_taken_once(&env, &debate, 2);
}

/// Concurrent calls all wait for the same run.
#[test]
fn concurrent_calls_take_every_turn_once() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let debate = start_slow_debate(&env, &mut host, 500);
    let request_ids: Vec<u64> =
        (0..6).map(|_| host.start_tool_call("continue_round", json!({}))).collect();
    let results: Vec<Value> =
        request_ids.into_iter().map(|id| structured_content(&host.wait_for_response(id))).collect();
    assert_eq!(results[0]["status"], "paused");
    assert!(results.iter().all(|other| *other == results[0]), "{results:#?}");
    assert_turns_taken_once(&env, &debate, 2);
    // All of them continue the same round.
    let hold_turn = json!({"turn": results[0]["due"]["turn"]});
    let request_ids: Vec<u64> =
        (0..6).map(|_| host.start_tool_call("continue_round", hold_turn.clone())).collect();
    for id in request_ids {
        let results = structured_content(&host.wait_for_response(id));
        assert_eq!((&results["status"], &results["round"]), (&json!("paused"), &json!(2)));
    }
    assert_turns_taken_once(&env, &debate, 4);
    env.assert_replays(&debate);
}

/// Identical concurrent speeches are one. Of two different ones, one is refused.
#[test]
fn concurrent_speeches_are_taken_once() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.start_solo_debate(json!({}));
    let (tool, arguments) = due_tool_call(&first).unwrap();
    let request_ids: Vec<u64> =
        (0..5).map(|_| host.start_tool_call(tool, arguments.clone())).collect();
    let mut result = Value::Null;
    for id in request_ids {
        result = structured_content(&host.wait_for_response(id));
        assert_eq!(result["due"]["turn"], "0.1.1.1");
    }
    let (tool, one) = due_tool_call(&result).unwrap();
    let other =
        with_field(one.clone(), "speech", speech_with_claim("Two are slow.", "X1", &["P1"]).into());
    let call_ids = [host.start_tool_call(tool, one), host.start_tool_call(tool, other)];
    let responses = call_ids.map(|id| host.wait_for_response(id));
    let errors = responses.iter().filter(|response| response["result"]["isError"] == true).count();
    assert_eq!(errors, 1, "{responses:#?}");
    assert_turns_taken_once(&env, &debate_id(&first), 2);
}

/// A second process follows the run of the first one, and both return the same result.
#[test]
fn another_process_can_watch_a_running_round() {
    let env = TestEnv::new();
    let (mut runner, mut watcher) = (env.mcp_client(), env.mcp_client_named("opencode"));
    let debate = start_slow_debate(&env, &mut runner, 1_200);
    let observed = watcher.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(observed["status"], "running", "{observed:#}");
    assert_eq!(observed["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert_eq!(watcher.call_tool("summarize", json!({}))["status"], "running");
    let request_id = runner.start_tool_call("continue_round", json!({}));
    let result = watcher.call_tool("continue_round", json!({}));
    assert_eq!(result["status"], "paused");
    assert_eq!(structured_content(&runner.wait_for_response(request_id)), result);
    assert_turns_taken_once(&env, &debate, 2);
    // Both continue the next round. It is played once.
    let hold_turn = json!({"turn": result["due"]["turn"]});
    let calls = [
        runner.start_tool_call("continue_round", hold_turn.clone()),
        watcher.start_tool_call("continue_round", hold_turn),
    ];
    let calls = [
        structured_content(&runner.wait_for_response(calls[0])),
        structured_content(&watcher.wait_for_response(calls[1])),
    ];
    assert!(calls.iter().all(|result| result["status"] == "paused" && result["round"] == 2));
    assert_turns_taken_once(&env, &debate, 4);
    env.assert_replays(&debate);
}

/// A remark from another process is queued for the holder of the lease. If no turn ends in time,
/// the error says what to do, and the remark can be repeated later.
#[test]
fn another_process_can_remark_between_turns() {
    let env = TestEnv::new();
    let (mut runner, mut sender) = (env.mcp_client(), env.mcp_client());
    let debate = start_slow_debate(&env, &mut runner, 60_000);
    let log = env.events(&debate);
    let error = sender.expect_tool_error("continue_round", json!({"say": "Think of backups."}));
    assert!(error.contains("is being run by claude-code 1 (process "), "{error}");
    let next = error.split_once("\nNext: ").unwrap().1;
    assert!(next.contains("watches it") && next.contains("\"decision\":\"take_over\""), "{error}");
    assert!(next.contains("call again in a few seconds"), "{error}");
    assert_eq!(env.events(&debate), log);
    runner.process().send_signal("KILL");
    wait_until("the server has exited", || runner.process().has_exited());
    env.write_script(&SeatScript::new());
    let result = sender.call_tool("continue_round", json!({"say": "Think of backups."}));
    assert_eq!(result["status"], "paused");
    let remarks = env.events(&debate);
    let remarks: Vec<_> = remarks.iter().filter(|it| it["event"] == "interjected").collect();
    assert_eq!(remarks.len(), 1, "{remarks:#?}");
    assert_turns_taken_once(&env, &debate, 2);
}

#[test]
fn debate_of_a_killed_server_can_be_finished() {
    let env = TestEnv::new();
    let mut killed = env.mcp_client();
    let debate = start_slow_debate(&env, &mut killed, 60_000);
    killed.process().send_signal("KILL");
    wait_until("the server has exited", || killed.process().has_exited());
    env.write_script(&SeatScript::new());
    let mut host = env.mcp_client();
    let summary = host.call_tool("summarize", json!({}));
    assert_eq!(
        (&summary["debate_id"], &summary["status"]),
        (&json!(debate), &json!("interrupted"))
    );
    assert!(summary["next"].as_str().unwrap().contains("takes it up again"), "{summary:#}");
    let listed = host.call_tool("list_debates", json!({"status": "unfinished"}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(debate));
    let result = host.call_tool("continue_round", json!({"turn": "0.1.0.0"}));
    let result = host.play_to_end(result);
    assert_eq!(result["status"], "completed");
    // Three rounds with two speeches each, one summary, and two rulings.
    assert_turns_taken_once(&env, &debate, 9);
    env.assert_replays(&debate);
}
