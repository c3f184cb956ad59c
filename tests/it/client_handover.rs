//! One debate across several clients: started in one, continued in another, judged at the terminal.
//! Also transfers of single seats between a model, the host and a human.
use crate::mcp_test_client::{due_tool_call, host_speech};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
use serde_json::{Value, json};
use std::fs;

fn debate_id(stands: &Value) -> String {
    stands["debate_id"].as_str().unwrap().to_owned()
}

fn seat_transfers(lab: &TestEnv, id: &str) -> Vec<(String, String, String)> {
    let shown = lab.debate(&["show", id, "--json"]).expect_success().json();
    let word = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let all = shown["handed"].as_array().cloned().unwrap_or_default();
    all.iter().map(|it| (word(it, "seat"), word(it, "from"), word(it, "to"))).collect()
}

/// Started in Claude Code, continued in OpenCode, judged at the terminal.
#[test]
fn debate_moves_across_two_clients_and_the_terminal() {
    let lab = TestEnv::new();
    let mut claude = lab.mcp_client();
    let con = lab.script_seat("contra.json");
    let stands = claude.start_solo_debate(json!({"challenger": con, "rounds": 3}));
    let debate = debate_id(&stands);
    assert_eq!(stands["due"]["role"], "Proposer");
    let (tool, first) = due_tool_call(&stands).unwrap();
    let paused = claude.call_tool(tool, first);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    claude.disconnect();

    // Another client finds the debate by its repository and gets a summary of its state.
    let mut opencode = lab.mcp_client_named("opencode");
    let listed = opencode.call_tool("list_debates", json!({"status": "unfinished"}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(debate));
    let stands = opencode.call_tool("continue_round", json!({}));
    let notes = stands["notes"].to_string();
    assert_contains_in_order(
        &notes,
        &[
            "as it stood: One file or many? (duel, paused, round 1 of 3)",
            "Proposer (host): P1: P1 holds.",
            "Challenger (script): C1: C1 holds.",
            "Conceded: nothing",
            "Open: P1: P1 holds.; C1: C1 holds. Due: your word, before round 2",
        ],
    );
    assert_eq!(stands["due"]["role"], "Proposer", "the host there goes on: {stands:#}");
    let (tool, second) = due_tool_call(&stands).unwrap();
    let paused = opencode.call_tool(tool, second);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(2)));
    assert!(!paused["notes"].to_string().contains("as it stood"), "it is told once");
    opencode.disconnect();

    // No host exists at the terminal: resume stops with a warning until the seats are transferred.
    let stopped = lab.debate(&["resume", "--yes", "--conclude"]).expect_exit_code(2);
    stopped.assert_stderr_contains(
        "Played by the model of a client, which is not here: proposer, scribe, judge",
    );
    stopped.assert_stderr_contains("`--seat proposer=claude`");
    stopped.assert_stderr_contains(
        "`judge` is awaited, and nobody answered: it is played by the model of a client",
    );
    let pro = lab.script_seat("pro.json");
    let judge = format!("judge={pro}");
    let done = lab.debate(&["resume", "--yes", "--seat", &judge]).expect_success();
    done.assert_stdout_contains(&["### Verdict"]);

    // Archive, both state files and the record agree, also about who played which seat.
    let shown = lab.debate(&["show", &debate, "--json"]).expect_success().json();
    assert_eq!(shown["status"], "completed");
    let names: Vec<&str> =
        shown["state_files"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let states: Vec<Value> = names
        .iter()
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    assert_eq!(states[0], states[1]);
    assert_eq!((&states[0]["id"], &states[0]["status"]), (&json!(debate), &json!("completed")));
    assert!(names[0].contains(".claude") && names[1].contains(".opencode"), "{names:?}");
    let moved = (String::from("judge"), String::from("host"), pro);
    assert!(seat_transfers(&lab, &debate).contains(&moved), "{:?}", seat_transfers(&lab, &debate));
    let record = fs::read_to_string(shown["record"].as_str().unwrap()).unwrap();
    assert_contains_in_order(
        &record,
        &[
            "**Handed over**: judge, from host to script:",
            "(handed over by the user through the terminal, 20",
            "### Proposer (host)",
            "## Round 2",
            "### Proposer (host)",
            "### Verdict",
        ],
    );
    assert!(lab.turn_counts(&debate).values().all(|times| *times == 1));
    lab.assert_replays(&debate);
}

/// The awaited turn itself is transferred to a model, which then answers it.
#[test]
fn awaited_host_turn_can_be_transferred_to_a_model() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let (pro, con) = (lab.script_seat("pro.json"), lab.script_seat("contra.json"));
    let stands = host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1}));
    assert_eq!(stands["due"]["role"], "Proposer");
    let say = format!("proposer={pro}");
    let after = host.call_tool("continue_round", json!({"decision": "change", "say": say}));
    assert_eq!(after["status"], "completed", "{after:#}");
    let debate = debate_id(&stands);
    assert_eq!(seat_transfers(&lab, &debate), [("proposer".into(), "host".into(), pro)]);
    let shown = lab.debate(&["show", &debate, "--json"]).expect_success().json();
    let because = shown["handed"][0]["because"].as_str().unwrap();
    assert_contains_in_order(because, &["handed over by the user through claude-code 1, 20", "Z"]);
    assert_eq!(shown["handed"][0]["at"], "0.1.0.0");
    // A late reply of the host is rejected.
    let late = json!({"turn": "0.1.0.0", "speech": host_speech("Proposer", &json!(1))});
    assert!(host.expect_tool_error("continue_round", late).contains("is not yours"));
    lab.assert_replays(&debate);
}

/// The reverse direction: a seat played by a model is transferred to the host of any client.
#[test]
fn seat_can_be_transferred_to_the_host() {
    let lab = TestEnv::new();
    lab.debate_run("Whose?", &["--pause", "--rounds", "2"]).expect_exit_code(2);
    let mut host = lab.mcp_client_named("codex");
    let stands =
        host.call_tool("continue_round", json!({"decision": "change", "say": "proposer=host"}));
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let stands = host.call_tool("continue_round", json!({"decision": "continue"}));
    assert_eq!(stands["due"]["role"], "Proposer", "{stands:#}");
    let ended = host.play_to_end(stands);
    assert_eq!(ended["status"], "completed", "{ended:#}");
    let because =
        lab.debate(&["show", "--json"]).expect_success().json()["handed"][0]["because"].clone();
    assert!(because.as_str().unwrap().contains("through codex 1"), "{because}");
}

/// A seat name means the same at the terminal as in a client: the judge is also the scribe.
#[test]
fn judge_seat_option_also_transfers_the_scribe() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let (pro, con) = (lab.script_seat("pro.json"), lab.script_seat("contra.json"));
    let stands = host.start_solo_debate(json!({"proposer": pro, "challenger": con, "rounds": 3}));
    let debate = debate_id(&stands);
    host.disconnect();
    let seat = format!("judge={con}");
    lab.debate(&["resume", &debate, "--yes", "--seat", &seat])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    let names: Vec<String> =
        seat_transfers(&lab, &debate).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["scribe", "judge"]);
    let error = lab.debate(&["resume", &debate, "--retry", "--seat", "king=human"]).expect_error(2);
    error.assert_stderr_contains("its seats are proposer, challenger, scribe, judge");
}

/// A human at the terminal replaces the host, and the record names the tool `human`.
#[test]
fn human_can_take_over_a_host_seat() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let (pro, con) = (lab.script_seat("pro.json"), lab.script_seat("contra.json"));
    let debate =
        debate_id(&host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1})));
    host.disconnect();
    let args = ["resume", &debate, "--yes", "--seat", "proposer=human"];
    let done =
        lab.debate(&args).stdin(&speech_with_claim("My own words.", "P1", &[])).expect_success();
    done.assert_stdout_contains(&["### Verdict"]);
    let turns = lab.debate(&["show", &debate, "--json"]).expect_success().json()["turns"].clone();
    assert_eq!(turns[0]["tool"], "human");
}

/// A client killed during a turn leaves a debate that can be resumed at the terminal.
#[test]
fn terminal_resumes_after_the_client_is_killed() {
    let lab = TestEnv::new();
    let line = json!({"phase": "challenge", "delay_ms": 60_000, "text": "Never."});
    lab.write_script(&SeatScript::new().prepend(line));
    let mut host = lab.mcp_client();
    let (pro, con) = (lab.script_seat("pro.json"), lab.script_seat("contra.json"));
    let stands = host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1}));
    let (tool, mut speech) = due_tool_call(&stands).unwrap();
    speech["wait_seconds"] = json!(0);
    assert_eq!(host.call_tool(tool, speech)["status"], "running");
    host.process().send_signal("KILL");
    crate::test_env::wait_until("it is gone", || host.process().has_exited());
    lab.write_script(&SeatScript::new());
    lab.debate(&["resume", "--yes"]).expect_success().assert_stdout_contains(&["### Verdict"]);
    let debate = debate_id(&stands);
    assert!(lab.turn_counts(&debate).values().all(|times| *times == 1));
    lab.assert_replays(&debate);
}

/// Without a debate id, a tool call refers to this client's own debate until that has ended, even
/// if another client has started a newer one.
#[test]
fn call_without_an_id_uses_the_clients_own_debate() {
    let lab = TestEnv::new();
    let mine = |topic: &str| json!({"topic": topic, "proposer": "host", "challenger": "host", "judge": "host"});
    let (mut one, mut two) =
        (lab.mcp_client_named("codex-mcp-client"), lab.mcp_client_named("gemini-cli"));
    let first = one.call_tool("start_debate", mine("One file?"));
    let second = two.call_tool("start_debate", mine("Two files?"));
    assert_eq!(one.call_tool("continue_round", json!({}))["debate_id"], first["debate_id"]);
    assert_eq!(two.call_tool("summarize", json!({}))["debate_id"], second["debate_id"]);
    one.call_tool("continue_round", json!({"decision": "cancel"}));
    two.call_tool("continue_round", json!({"say": "Take your time."}));
    assert_eq!(
        one.call_tool("summarize", json!({}))["debate_id"],
        second["debate_id"],
        "the newest here"
    );
}
