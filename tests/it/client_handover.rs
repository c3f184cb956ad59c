//! One debate across several clients: started in one, continued in another, judged at the terminal.
//! Also transfers of single seats between a model, the host and a human.
use crate::mcp_test_client::{due_tool_call, host_speech};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
use serde_json::{Value, json};
use std::fs;

fn debate_id(status: &Value) -> String {
    status["debate_id"].as_str().unwrap().to_owned()
}

fn seat_transfers(env: &TestEnv, id: &str) -> Vec<(String, String, String)> {
    let shown = env.debate(&["show", id, "--json"]).expect_success().json();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let transfers = shown["handed"].as_array().cloned().unwrap_or_default();
    transfers.iter().map(|it| (text(it, "seat"), text(it, "from"), text(it, "to"))).collect()
}

/// Started in Claude Code, continued in OpenCode, judged at the terminal.
#[test]
fn debate_moves_across_two_clients_and_the_terminal() {
    let env = TestEnv::new();
    let mut claude = env.mcp_client();
    let con = env.script_seat("contra.json");
    let status = claude.start_solo_debate(json!({"challenger": con, "rounds": 3}));
    let id = debate_id(&status);
    assert_eq!(status["due"]["role"], "Proposer");
    let (tool, first_args) = due_tool_call(&status).unwrap();
    let paused = claude.call_tool(tool, first_args);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    claude.disconnect();

    // Another client finds the debate by its repository and gets a summary of its state.
    let mut opencode = env.mcp_client_named("opencode");
    let listed = opencode.call_tool("list_debates", json!({"status": "unfinished"}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(id));
    let status = opencode.call_tool("continue_round", json!({}));
    let notes = status["notes"].to_string();
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
    assert_eq!(status["due"]["role"], "Proposer", "the new host plays on: {status:#}");
    let (tool, second_args) = due_tool_call(&status).unwrap();
    let paused = opencode.call_tool(tool, second_args);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(2)));
    assert!(!paused["notes"].to_string().contains("as it stood"), "the summary comes once");
    opencode.disconnect();

    // No host exists at the terminal: resume stops with a warning until the seats are transferred.
    let output = env.debate(&["resume", "--yes", "--conclude"]).expect_exit_code(2);
    output.assert_stderr_contains(
        "Played by the model of a client, which is not here: proposer, scribe, judge",
    );
    output.assert_stderr_contains("`--seat proposer=claude`");
    output.assert_stderr_contains(
        "`judge` is awaited, and nobody answered: it is played by the model of a client",
    );
    let pro = env.script_seat("pro.json");
    let judge = format!("judge={pro}");
    let output = env.debate(&["resume", "--yes", "--seat", &judge]).expect_success();
    output.assert_stdout_contains(&["### Verdict"]);

    // Archive, both state files and the record agree, also about who played which seat.
    let shown = env.debate(&["show", &id, "--json"]).expect_success().json();
    assert_eq!(shown["status"], "completed");
    let state_files: Vec<&str> =
        shown["state_files"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(state_files.len(), 2, "{state_files:?}");
    let documents: Vec<Value> = state_files
        .iter()
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    assert_eq!(documents[0], documents[1]);
    assert_eq!((&documents[0]["id"], &documents[0]["status"]), (&json!(id), &json!("completed")));
    assert!(
        state_files[0].contains(".claude") && state_files[1].contains(".opencode"),
        "{state_files:?}"
    );
    let judge_transfer = (String::from("judge"), String::from("host"), pro);
    assert!(seat_transfers(&env, &id).contains(&judge_transfer), "{:?}", seat_transfers(&env, &id));
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
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
}

/// The awaited turn itself is transferred to a model, which then answers it.
#[test]
fn awaited_host_turn_can_be_transferred_to_a_model() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let (pro, con) = (env.script_seat("pro.json"), env.script_seat("contra.json"));
    let status = host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1}));
    assert_eq!(status["due"]["role"], "Proposer");
    let say = format!("proposer={pro}");
    let final_status = host.call_tool("continue_round", json!({"decision": "change", "say": say}));
    assert_eq!(final_status["status"], "completed", "{final_status:#}");
    let id = debate_id(&status);
    assert_eq!(seat_transfers(&env, &id), [("proposer".into(), "host".into(), pro)]);
    let shown = env.debate(&["show", &id, "--json"]).expect_success().json();
    let because = shown["handed"][0]["because"].as_str().unwrap();
    assert_contains_in_order(because, &["handed over by the user through claude-code 1, 20", "Z"]);
    assert_eq!(shown["handed"][0]["at"], "0.1.0.0");
    // A late reply of the host is rejected.
    let late_reply = json!({"turn": "0.1.0.0", "speech": host_speech("Proposer", &json!(1))});
    assert!(host.expect_tool_error("continue_round", late_reply).contains("is not yours"));
    env.assert_replays(&id);
}

/// The reverse direction: a seat played by a model is transferred to the host of any client.
#[test]
fn seat_can_be_transferred_to_the_host() {
    let env = TestEnv::new();
    env.debate_run("Whose?", &["--pause", "--rounds", "2"]).expect_exit_code(2);
    let mut host = env.mcp_client_named("codex");
    let status =
        host.call_tool("continue_round", json!({"decision": "change", "say": "proposer=host"}));
    assert_eq!(status["status"], "paused", "{status:#}");
    let status = host.call_tool("continue_round", json!({"decision": "continue"}));
    assert_eq!(status["due"]["role"], "Proposer", "{status:#}");
    let ended = host.play_to_end(status);
    assert_eq!(ended["status"], "completed", "{ended:#}");
    let because =
        env.debate(&["show", "--json"]).expect_success().json()["handed"][0]["because"].clone();
    assert!(because.as_str().unwrap().contains("through codex 1"), "{because}");
}

/// A seat name means the same at the terminal as in a client: the judge is also the scribe.
#[test]
fn judge_seat_option_also_transfers_the_scribe() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let (pro, con) = (env.script_seat("pro.json"), env.script_seat("contra.json"));
    let status = host.start_solo_debate(json!({"proposer": pro, "challenger": con, "rounds": 3}));
    let id = debate_id(&status);
    host.disconnect();
    let seat = format!("judge={con}");
    env.debate(&["resume", &id, "--yes", "--seat", &seat])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    let seats: Vec<String> = seat_transfers(&env, &id).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(seats, ["scribe", "judge"]);
    let error = env.debate(&["resume", &id, "--retry", "--seat", "king=human"]).expect_error(2);
    error.assert_stderr_contains("its seats are proposer, challenger, scribe, judge");
}

/// A human at the terminal replaces the host, and the record names the tool `human`.
#[test]
fn human_can_take_over_a_host_seat() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let (pro, con) = (env.script_seat("pro.json"), env.script_seat("contra.json"));
    let id =
        debate_id(&host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1})));
    host.disconnect();
    let args = ["resume", &id, "--yes", "--seat", "proposer=human"];
    let output =
        env.debate(&args).stdin(&speech_with_claim("My own words.", "P1", &[])).expect_success();
    output.assert_stdout_contains(&["### Verdict"]);
    let turns = env.debate(&["show", &id, "--json"]).expect_success().json()["turns"].clone();
    assert_eq!(turns[0]["tool"], "human");
}

/// A client killed during a turn leaves a debate that can be resumed at the terminal.
#[test]
fn terminal_resumes_after_the_client_is_killed() {
    let env = TestEnv::new();
    let slow_line = json!({"phase": "challenge", "delay_ms": 60_000, "text": "Never."});
    env.write_script(&SeatScript::new().prepend(slow_line));
    let mut host = env.mcp_client();
    let (pro, con) = (env.script_seat("pro.json"), env.script_seat("contra.json"));
    let status = host.start_solo_debate(json!({"challenger": con, "judge": pro, "rounds": 1}));
    let (tool, mut speech) = due_tool_call(&status).unwrap();
    speech["wait_seconds"] = json!(0);
    assert_eq!(host.call_tool(tool, speech)["status"], "running");
    host.process().send_signal("KILL");
    crate::test_env::wait_until("the client has exited", || host.process().has_exited());
    env.write_script(&SeatScript::new());
    env.debate(&["resume", "--yes"]).expect_success().assert_stdout_contains(&["### Verdict"]);
    let id = debate_id(&status);
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
}

/// Without a debate id, a tool call refers to this client's own debate until that has ended, even
/// if another client has started a newer one.
#[test]
fn call_without_an_id_uses_the_clients_own_debate() {
    let env = TestEnv::new();
    let host_debate = |topic: &str| json!({"topic": topic, "proposer": "host", "challenger": "host", "judge": "host"});
    let (mut codex, mut gemini) =
        (env.mcp_client_named("codex-mcp-client"), env.mcp_client_named("gemini-cli"));
    let first = codex.call_tool("start_debate", host_debate("One file?"));
    let second = gemini.call_tool("start_debate", host_debate("Two files?"));
    assert_eq!(codex.call_tool("continue_round", json!({}))["debate_id"], first["debate_id"]);
    assert_eq!(gemini.call_tool("summarize", json!({}))["debate_id"], second["debate_id"]);
    codex.call_tool("continue_round", json!({"decision": "cancel"}));
    gemini.call_tool("continue_round", json!({"say": "Take your time."}));
    assert_eq!(
        codex.call_tool("summarize", json!({}))["debate_id"],
        second["debate_id"],
        "the newest in this repository"
    );
}
