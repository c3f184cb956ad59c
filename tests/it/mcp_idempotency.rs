//! Idempotency of tool calls: a retried call never becomes the next speech, no matter how often it
//! is repeated, concurrently or from several processes.
use crate::mcp_test_client::{due_tool_call, host_ruling, structured_content};
use crate::test_env::{SeatScript, TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

fn debate_id(stands: &Value) -> String {
    stands["debate_id"].as_str().unwrap().to_owned()
}

/// Asserts that this many turns were recorded, each once.
#[track_caller]
fn assert_turns_taken_once(lab: &TestEnv, id: &str, turns: usize) {
    let taken = lab.turn_counts(id);
    assert_eq!(taken.len(), turns, "{taken:?}");
    assert!(taken.values().all(|times| *times == 1), "{taken:?}");
}

/// Arguments for a debate of three rounds between scripts, with this scripted turn first.
fn scripted_debate_args(lab: &TestEnv, line: Value) -> Value {
    lab.write_script(&SeatScript::new().prepend(line));
    json!({"topic": "One file?", "rounds": 3, "proposer": lab.script_seat("pro.json"),
        "challenger": lab.script_seat("contra.json"), "judge": lab.script_seat("pro.json")})
}

/// A scripted opening speech with a delay.
fn slow_first_speech(millis: u64) -> Value {
    json!({"phase": "propose", "text": speech_with_claim("Use one file.", "P1", &[]), "delay_ms": millis})
}

/// Starts a debate whose first speech is still running.
#[track_caller]
fn start_slow_debate(
    lab: &TestEnv,
    host: &mut crate::mcp_test_client::McpTestClient,
    millis: u64,
) -> String {
    let mut arguments = scripted_debate_args(lab, slow_first_speech(millis));
    arguments["wait_seconds"] = json!(0);
    let stands = host.call_tool("start_debate", arguments);
    assert_eq!(stands["status"], "running", "{stands:#}");
    assert_eq!(stands["pending"], json!(["0.1.0.0 Proposer (script)"]));
    debate_id(&stands)
}

fn with_field(mut call: Value, name: &str, value: Value) -> Value {
    call[name] = value;
    call
}

/// Every call of a debate is repeated after every later one, and from another process after the
/// end. It returns the current status and changes nothing.
#[test]
fn every_call_can_be_repeated_later() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut stands = host.start_solo_debate(json!({}));
    let debate = debate_id(&stands);
    let mut made: Vec<(&str, Value)> = vec![];
    while let Some(call) = due_tool_call(&stands) {
        stands = host.call_tool(call.0, call.1.clone());
        made.push(call);
        let log = lab.events(&debate);
        for (tool, arguments) in &made {
            assert_eq!(host.call_tool(tool, arguments.clone()), stands, "{tool} {arguments}");
        }
        assert_eq!(lab.events(&debate), log, "after {} calls", made.len());
    }
    assert_eq!((made.len(), &stands["status"]), (6, &json!("completed")));
    let log = lab.events(&debate);
    let mut other = lab.mcp_client_named("opencode");
    for (tool, arguments) in &made {
        assert_eq!(other.call_tool(tool, arguments.clone()), stands, "{tool} {arguments}");
    }
    assert_eq!(lab.events(&debate), log);
    assert_turns_taken_once(&lab, &debate, 5);
}

#[test]
fn taken_turn_refuses_a_different_text() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut stands = host.start_solo_debate(json!({"rounds": 1}));
    let debate = debate_id(&stands);
    let mut made: Vec<(&str, Value)> = vec![];
    while let Some((tool, arguments)) = due_tool_call(&stands) {
        stands = host.call_tool(tool, arguments.clone());
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
        made.push((tool, changed));
        let log = lab.events(&debate);
        for (tool, changed) in &made {
            let error = host.expect_tool_error(tool, changed.clone());
            let turn = changed["turn"].as_str().unwrap();
            assert!(error.contains(&format!("turn {turn} was taken already")), "{error}");
            let next = error.lines().last().unwrap();
            assert!(next.contains(&format!("\"part\":\"{turn}\"")), "it can be read: {error}");
        }
        assert_eq!(lab.events(&debate), log);
    }
    assert_eq!(stands["status"], "completed");
    let mut other = lab.mcp_client();
    let log = lab.events(&debate);
    for (tool, changed) in made {
        assert!(other.expect_tool_error(tool, changed).contains("was taken already"));
    }
    assert_eq!(lab.events(&debate), log);
}

/// A speech without a turn id, with an unknown one, one that is not due, or one of another seat is
/// refused, and the error names the turn that is due.
#[test]
fn only_the_due_turn_is_accepted() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let (con, judge) = (lab.script_seat("contra.json"), lab.script_seat("pro.json"));
    let stands = host.start_solo_debate(json!({"challenger": con, "judge": judge}));
    let debate = debate_id(&stands);
    let log = lab.events(&debate);
    let speech = speech_with_claim("Use one file.", "P1", &[]);
    let summarize = format!("summarize {{\"debate_id\":\"{debate}\"}}");
    let on = format!("continue_round {{\"debate_id\":\"{debate}\"}}");
    for (turn, why, next) in [
        (json!(null), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!(""), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!("first"), "`first` names no turn", summarize.as_str()),
        (json!("0.1.0"), "names no turn", &summarize),
        (json!("0.1.9.0"), "names no turn", &summarize),
        (json!("9.1.0.0"), "names no turn", &summarize),
        (json!("0.1.0.99"), "names no turn", &summarize),
        (json!("0.1.0.0+x"), "names no turn", &summarize),
        (json!("0.1.0.0+1"), "is not due now", "`0.1.0.0` (Proposer)"),
        (json!("1.2.0.0"), "turn 1.2.0.0 is not due now", "`0.1.0.0` (Proposer)"),
        (json!("0.1.1.1"), "Challenger is played by script", &on),
    ] {
        let arguments = json!({"turn": turn, "speech": speech});
        let error = host.expect_tool_error("continue_round", arguments);
        let (said, told) = error.split_once("\nNext: ").unwrap();
        assert!(said.contains(why), "{turn}: {error}");
        assert!(told.contains(next), "{turn}: {error}");
        assert_eq!(lab.events(&debate), log, "{turn}");
    }
    let error =
        host.expect_tool_error("verdict", json!({"turn": "0.1.0.0", "ruling": host_ruling()}));
    assert!(error.contains("turn 0.1.0.0 asks for a speech"), "{error}");
    assert_eq!(lab.events(&debate), log);
    let stands = host.call_tool("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert_eq!(stands["status"], "paused");
}

/// The error says why the speech was refused, and the same turn accepts a corrected one.
#[test]
fn refused_speech_can_be_corrected() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let first = host.start_solo_debate(json!({"rounds": 1}));
    let debate = debate_id(&first);
    let (tool, arguments) = due_tool_call(&first).unwrap();
    let second = host.call_tool(tool, arguments);
    let log = lab.events(&debate);
    let block = |claims: &str| format!("I agree.\n\n```claims\n{claims}\n```\n");
    let quoted = json!({"claims": [{"id": "C1", "text": "It locks.", "evidence": ["a test"],
        "answers": ["P1"]}], "concedes": [{"claim": "P1", "quote": "never said"}], "resolves": []});
    for (speech, why) in [
        (block("{\"claims\": [], \"concedes\": [], \"resolves\": []}"), "no flaw"),
        (block(&quoted.to_string()), "the concession of `P1` does not quote"),
    ] {
        let error =
            host.expect_tool_error("continue_round", json!({"turn": "0.1.1.1", "speech": speech}));
        assert!(error.contains("turn 0.1.1.1 was not taken") && error.contains(why), "{error}");
        let again = "\"turn\":\"0.1.1.1\",\"speech\":\"...\"}";
        assert!(error.contains("mend it: continue_round {") && error.ends_with(again), "{error}");
        assert_eq!(lab.events(&debate), log);
        assert_eq!(host.call_tool("continue_round", json!({})), second, "it is still asked for");
    }
    let (tool, mended) = due_tool_call(&second).unwrap();
    assert_eq!(mended["turn"], "0.1.1.1");
    assert_eq!(host.call_tool(tool, mended)["due"]["role"], "Judge");
}

/// The error says why the ruling was refused, and the same turn accepts a corrected one.
#[test]
fn refused_ruling_can_be_corrected() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut stands = host.start_solo_debate(json!({"rounds": 1}));
    while stands["due"]["role"] != "Judge" {
        let (tool, arguments) = due_tool_call(&stands).unwrap();
        stands = host.call_tool(tool, arguments);
    }
    let (debate, turn) = (debate_id(&stands), stands["due"]["turn"].clone());
    let log = lab.events(&debate);
    for (bad, why) in [
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
        assert!(error.contains("was not taken: ") && error.contains(why), "{bad}: {error}");
        let again = format!("\"turn\":{turn},\"ruling\":{{...}}}}");
        assert!(error.contains("mend it: verdict {") && error.ends_with(&again), "{bad}: {error}");
        assert_eq!(lab.events(&debate), log, "{bad}");
    }
    let (tool, mended) = due_tool_call(&stands).unwrap();
    let ruled = host.call_tool(tool, mended.clone());
    assert_eq!(ruled["status"], "completed");
    // The same ruling, serialized as a string, counts as a repetition.
    let text = with_field(mended.clone(), "ruling", mended["ruling"].to_string().into());
    assert_eq!(host.call_tool("verdict", text), ruled);
    assert_turns_taken_once(&lab, &debate, 3);
}

/// A retried remark of the last round is not recorded as the user's decision on the debate.
#[test]
fn remark_repeated_after_the_end_is_no_decision() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let first = host.call_tool(
        "start_debate",
        with_field(scripted_debate_args(&lab, slow_first_speech(0)), "rounds", json!(2)),
    );
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let last = host.call_tool("continue_round", remark.clone());
    assert_eq!(last["status"], "completed");
    let log = lab.events(&debate_id(&first));
    assert_eq!(host.call_tool("continue_round", remark), last);
    assert_eq!(lab.events(&debate_id(&first)), log);
}

#[test]
fn concurrent_identical_remarks_are_recorded_once() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let first = host.call_tool("start_debate", scripted_debate_args(&lab, slow_first_speech(0)));
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let waiting: Vec<u64> =
        (0..5).map(|_| host.start_tool_call("continue_round", remark.clone())).collect();
    for id in waiting {
        assert_eq!(structured_content(&host.wait_for_response(id))["round"], 2);
    }
    let log = lab.events(&debate_id(&first));
    assert_eq!(log.iter().filter(|it| it["event"] == "interjected").count(), 1);
    assert_turns_taken_once(&lab, &debate_id(&first), 4);
}

/// Parse errors of a ruling name the field and are not cut off inside a code span.
#[test]
fn ruling_error_names_the_invalid_field() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let stands = host.start_solo_debate(json!({"rounds": 1}));
    let (tool, arguments) = due_tool_call(&stands).unwrap();
    host.call_tool(tool, arguments);
    let stands = host.call_tool("continue_round", json!({"decision": "end"}));
    let mut wrong = vec![];
    for (name, value) in [
        ("winner", json!("both")),
        ("confidence", json!("high")),
        ("reasoning", json!(7)),
        ("cites", json!("T1")),
    ] {
        let bad = with_field(host_ruling(), name, value);
        let error = host
            .expect_tool_error("verdict", json!({"turn": stands["due"]["turn"], "ruling": bad}));
        let ticks = error.lines().next().unwrap().matches('`').count();
        if !error.contains(&format!("`{name}`")) || !ticks.is_multiple_of(2) {
            wrong.push(format!("{name}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn round_continued_by_turn_id_starts_once() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let first = host.call_tool("start_debate", scripted_debate_args(&lab, slow_first_speech(0)));
    let hold = json!({"turn": first["due"]["turn"]});
    let second = host.call_tool("continue_round", hold.clone());
    assert_eq!((&second["status"], &second["round"]), (&json!("paused"), &json!(2)));
    assert_eq!(host.call_tool("continue_round", hold.clone()), second);
    let continued = with_field(hold.clone(), "decision", "continue".into());
    assert_eq!(host.call_tool("continue_round", continued), second);
    // A new client also gets a note on the status of the debate.
    let told = lab.mcp_client().call_tool("continue_round", hold.clone());
    assert!(told["notes"].to_string().contains("as it stood: One file?"), "{told:#}");
    assert_eq!(with_field(told, "notes", second["notes"].clone()), second);
    assert_turns_taken_once(&lab, &debate_id(&first), 4);
    let last = host.call_tool("continue_round", json!({"turn": second["due"]["turn"]}));
    assert_eq!(last["status"], "completed");
    assert_eq!(host.call_tool("continue_round", hold), last);
}

#[test]
fn call_during_a_round_waits_for_it() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let debate = start_slow_debate(&lab, &mut host, 700);
    let again = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(again["status"], "running");
    assert_eq!(again["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert!(again["next"].as_str().unwrap().contains("nothing is spent twice"));
    let paused = host.call_tool("continue_round", json!({}));
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    assert_turns_taken_once(&lab, &debate, 2);
}

/// Concurrent calls all wait for the same run.
#[test]
fn concurrent_calls_take_every_turn_once() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let debate = start_slow_debate(&lab, &mut host, 500);
    let waiting: Vec<u64> =
        (0..6).map(|_| host.start_tool_call("continue_round", json!({}))).collect();
    let stands: Vec<Value> =
        waiting.into_iter().map(|id| structured_content(&host.wait_for_response(id))).collect();
    assert_eq!(stands[0]["status"], "paused");
    assert!(stands.iter().all(|other| *other == stands[0]), "{stands:#?}");
    assert_turns_taken_once(&lab, &debate, 2);
    // All of them continue the same round.
    let hold = json!({"turn": stands[0]["due"]["turn"]});
    let waiting: Vec<u64> =
        (0..6).map(|_| host.start_tool_call("continue_round", hold.clone())).collect();
    for id in waiting {
        let stands = structured_content(&host.wait_for_response(id));
        assert_eq!((&stands["status"], &stands["round"]), (&json!("paused"), &json!(2)));
    }
    assert_turns_taken_once(&lab, &debate, 4);
    lab.assert_replays(&debate);
}

/// Identical concurrent speeches are one. Of two different ones, one is refused.
#[test]
fn concurrent_speeches_are_taken_once() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let first = host.start_solo_debate(json!({}));
    let (tool, arguments) = due_tool_call(&first).unwrap();
    let waiting: Vec<u64> = (0..5).map(|_| host.start_tool_call(tool, arguments.clone())).collect();
    let mut stands = Value::Null;
    for id in waiting {
        stands = structured_content(&host.wait_for_response(id));
        assert_eq!(stands["due"]["turn"], "0.1.1.1");
    }
    let (tool, one) = due_tool_call(&stands).unwrap();
    let other =
        with_field(one.clone(), "speech", speech_with_claim("Two are slow.", "X1", &["P1"]).into());
    let both = [host.start_tool_call(tool, one), host.start_tool_call(tool, other)];
    let answers = both.map(|id| host.wait_for_response(id));
    let errors = answers.iter().filter(|answer| answer["result"]["isError"] == true).count();
    assert_eq!(errors, 1, "{answers:#?}");
    assert_turns_taken_once(&lab, &debate_id(&first), 2);
}

/// A second process follows the run of the first one, and both return the same result.
#[test]
fn another_process_can_watch_a_running_round() {
    let lab = TestEnv::new();
    let (mut one, mut other) = (lab.mcp_client(), lab.mcp_client_named("opencode"));
    let debate = start_slow_debate(&lab, &mut one, 1_200);
    let seen = other.call_tool("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(seen["status"], "running", "{seen:#}");
    assert_eq!(seen["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert_eq!(other.call_tool("summarize", json!({}))["status"], "running");
    let waiting = one.start_tool_call("continue_round", json!({}));
    let watched = other.call_tool("continue_round", json!({}));
    assert_eq!(watched["status"], "paused");
    assert_eq!(structured_content(&one.wait_for_response(waiting)), watched);
    assert_turns_taken_once(&lab, &debate, 2);
    // Both continue the next round. It is played once.
    let hold = json!({"turn": watched["due"]["turn"]});
    let both = [
        one.start_tool_call("continue_round", hold.clone()),
        other.start_tool_call("continue_round", hold),
    ];
    let both = [
        structured_content(&one.wait_for_response(both[0])),
        structured_content(&other.wait_for_response(both[1])),
    ];
    assert!(both.iter().all(|stands| stands["status"] == "paused" && stands["round"] == 2));
    assert_turns_taken_once(&lab, &debate, 4);
    lab.assert_replays(&debate);
}

/// A remark from another process is queued for the holder of the lease. If no turn ends in time,
/// the error says what to do, and the remark can be repeated later.
#[test]
fn another_process_can_remark_between_turns() {
    let lab = TestEnv::new();
    let (mut one, mut other) = (lab.mcp_client(), lab.mcp_client());
    let debate = start_slow_debate(&lab, &mut one, 60_000);
    let log = lab.events(&debate);
    let error = other.expect_tool_error("continue_round", json!({"say": "Think of backups."}));
    assert!(error.contains("is being run by claude-code 1 (process "), "{error}");
    let next = error.split_once("\nNext: ").unwrap().1;
    assert!(next.contains("watches it") && next.contains("\"decision\":\"take_over\""), "{error}");
    assert!(next.contains("call again in a few seconds"), "{error}");
    assert_eq!(lab.events(&debate), log);
    one.process().send_signal("KILL");
    wait_until("it is gone", || one.process().has_exited());
    lab.write_script(&SeatScript::new());
    let stands = other.call_tool("continue_round", json!({"say": "Think of backups."}));
    assert_eq!(stands["status"], "paused");
    let remarks = lab.events(&debate);
    let remarks: Vec<_> = remarks.iter().filter(|it| it["event"] == "interjected").collect();
    assert_eq!(remarks.len(), 1, "{remarks:#?}");
    assert_turns_taken_once(&lab, &debate, 2);
}

#[test]
fn debate_of_a_killed_server_can_be_finished() {
    let lab = TestEnv::new();
    let mut killed = lab.mcp_client();
    let debate = start_slow_debate(&lab, &mut killed, 60_000);
    killed.process().send_signal("KILL");
    wait_until("it is gone", || killed.process().has_exited());
    lab.write_script(&SeatScript::new());
    let mut host = lab.mcp_client();
    let left = host.call_tool("summarize", json!({}));
    assert_eq!((&left["debate_id"], &left["status"]), (&json!(debate), &json!("interrupted")));
    assert!(left["next"].as_str().unwrap().contains("takes it up again"), "{left:#}");
    let found = host.call_tool("list_debates", json!({"status": "unfinished"}));
    assert_eq!(found["debates"][0]["debate_id"], json!(debate));
    let stands = host.call_tool("continue_round", json!({"turn": "0.1.0.0"}));
    let stands = host.play_to_end(stands);
    assert_eq!(stands["status"], "completed");
    // Three rounds with two speeches each, one summary, and two rulings.
    assert_turns_taken_once(&lab, &debate, 9);
    lab.assert_replays(&debate);
}
