//! Whole duels through the MCP server, with the host in every seat, in some, or in none.
use crate::mcp_test_client::{due_tool_call, structured_content};
use crate::test_env::{TestEnv, assert_contains_in_order};
use serde_json::json;
use std::fs;

/// The host plays every seat, including the judge. The result carries a single-model warning.
#[test]
fn host_can_play_every_seat_of_a_duel() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.start_solo_debate(json!({}));
    assert_eq!(first["status"], "your_turn");
    assert_eq!(first["round"], 1);
    assert_eq!((&first["answered"], &first["pending"]), (&json!([]), &json!([])));
    assert_eq!(first["due"]["role"], "Proposer");
    let brief = first["due"]["brief"].as_str().unwrap();
    assert_contains_in_order(brief, &["You are the PROPOSER", "One file or many?", "```claims"]);
    let note = first["notes"][0].as_str().unwrap();
    assert!(note.starts_with("single-model") && note.contains("less rigor"), "{note}");

    let mut roles = vec![];
    let mut result = first;
    while let Some((tool, arguments)) = due_tool_call(&result) {
        roles.push(result["due"]["role"].as_str().unwrap().to_owned());
        result = host.call_tool(tool, arguments);
    }
    let expected_roles = ["Proposer", "Challenger", "user", "Proposer", "Challenger", "Judge"];
    assert_eq!(roles, expected_roles);
    assert_eq!(result["status"], "completed");
    assert_eq!(result["verdict"]["winner"], "proposer");
    assert!(result["verdict"]["rigor"].as_str().unwrap().contains("no deterministic"));

    let id = result["debate_id"].as_str().unwrap();
    assert_eq!(env.turn_counts(id).values().copied().collect::<Vec<_>>(), [1; 5]);
    env.assert_replays(id);
    let record = fs::read_to_string(result["record"].as_str().unwrap()).unwrap();
    assert_contains_in_order(
        &record,
        &["**Labels**: single-model", "## Round 1", "## Round 2", "## Conclusion"],
    );
}

/// A duel of four rounds has a scribe whose summaries the host writes.
#[test]
fn host_writes_the_summaries_of_a_long_duel() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({"rounds": 4}));
    let mut roles = vec![];
    while let Some((tool, arguments)) = due_tool_call(&result) {
        roles.push(result["due"]["role"].as_str().unwrap().to_owned());
        result = host.call_tool(tool, arguments);
    }
    assert_eq!(result["status"], "completed");
    assert_eq!(roles.iter().filter(|role| *role == "Scribe").count(), 2);
    assert_eq!(roles.iter().filter(|role| *role == "user").count(), 3);
}

#[test]
fn host_can_debate_a_scripted_opponent() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let first = host.call_tool(
        "start_debate",
        json!({"topic": "One file?", "proposer": "host", "challenger": con, "judge": judge}),
    );
    assert_eq!(first["notes"], json!([]), "two participants are no single model");
    let (tool, arguments) = due_tool_call(&first).unwrap();
    let paused = host.call_tool(tool, arguments);
    assert_eq!(paused["status"], "paused");
    let roles: Vec<_> =
        paused["answered"].as_array().unwrap().iter().map(|a| a["role"].clone()).collect();
    assert_eq!(roles, [json!("Proposer (host)"), json!("Challenger (script)")]);
    assert_eq!(paused["answered"][1]["claims"], json!(["C1: C1 holds."]));
    let last = host.play_to_end(paused);
    assert_eq!(last["status"], "completed");
    assert_eq!(last["answered"].as_array().unwrap().len(), 4, "the last round and both rulings");
}

/// Without a host seat, each call plays one round, and the last call also plays the verdict.
#[test]
fn scripted_seats_play_one_round_per_call() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "One file?", "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json")});
    let first = host.call_tool("start_debate", arguments.clone());
    assert_eq!((&first["status"], &first["round"]), (&json!("paused"), &json!(1)));
    assert_eq!(first["due"]["role"], "user");
    let last = host.call_tool("continue_round", json!({}));
    assert_eq!((&last["status"], &last["round"]), (&json!("completed"), &json!(2)));
    assert_eq!(last["verdict"]["winner"], "proposer");

    let mut without_pauses = arguments;
    without_pauses["options"] = json!({"pause": false});
    let completed = host.call_tool("start_debate", without_pauses);
    assert_eq!(completed["status"], "completed");
    assert_ne!(completed["debate_id"], last["debate_id"]);
}

/// A verdict is possible between rounds. After the end, the same result is returned.
#[test]
fn verdict_can_be_requested_early_and_repeated() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "One file?", "rounds": 5, "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json")});
    host.call_tool("start_debate", arguments);
    let result = host.call_tool("verdict", json!({}));
    assert_eq!((&result["status"], &result["round"]), (&json!("completed"), &json!(1)));
    let event_count = env.events(result["debate_id"].as_str().unwrap()).len();
    assert_eq!(host.call_tool("verdict", json!({})), result);
    assert_eq!(host.call_tool("continue_round", json!({})), result, "and nothing is played again");
    assert_eq!(env.events(result["debate_id"].as_str().unwrap()).len(), event_count);
}

/// A client of another process continues the debate where the first one left it.
#[test]
fn debate_continues_in_another_client() {
    let env = TestEnv::new();
    let mut claude = env.mcp_client_named("claude-code");
    let first = claude.start_solo_debate(json!({}));
    let (tool, arguments) = due_tool_call(&first).unwrap();
    claude.call_tool(tool, arguments);
    // The first client is still connected. It holds no lease while a host turn is due.
    let mut opencode = env.mcp_client_named("opencode");
    let listed = opencode.call_tool("list_debates", json!({"status": "unfinished"}));
    assert_eq!(listed["debates"][0]["debate_id"], first["debate_id"]);
    let result = opencode.call_tool("continue_round", json!({"debate_id": first["debate_id"]}));
    assert_eq!(result["due"]["role"], "Challenger");
    let last = opencode.play_to_end(result);
    assert_eq!(last["status"], "completed");
    assert_eq!(claude.call_tool("verdict", json!({}))["verdict"], last["verdict"]);
    for folder in [".claude", ".opencode"] {
        let state = env.repo_root().join(folder).join("debate/last-debate.json");
        let state: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
        assert_eq!(state["id"], first["debate_id"], "{folder}");
    }
}

/// The state folder is the client's own, unless `AI_STATE_DIR` is set.
#[test]
fn state_folder_depends_on_the_client() {
    for (client, folder) in [
        ("claude-code", ".claude"),
        ("codex-mcp-client", ".codex"),
        ("opencode", ".opencode"),
        ("gemini-cli-mcp-client", ".claude"),
    ] {
        let env = TestEnv::new();
        let mut host = env.mcp_client_named(client);
        host.start_solo_debate(json!({}));
        host.disconnect();
        assert!(env.repo_root().join(folder).join("debate/last-debate.json").exists(), "{client}");
    }
    let env = TestEnv::new();
    let mut host = env.uninitialized_mcp_client(&[("AI_STATE_DIR", ".mine")]);
    host.request("initialize", crate::mcp_test_client::initialize_params("opencode"));
    host.start_solo_debate(json!({}));
    host.disconnect();
    assert!(env.repo_root().join(".mine/debate/last-debate.json").exists());
    assert!(!env.repo_root().join(".opencode").exists());
}

/// Every string of `structuredContent` also occurs in the text content.
#[test]
fn result_text_contains_all_structured_data() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "One file?", "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json")});
    host.call_tool("start_debate", arguments);
    for (tool, arguments) in [
        ("continue_round", json!({})),
        ("verdict", json!({})),
        ("summarize", json!({})),
        ("list_debates", json!({"query": "lock"})),
        ("show_debate", json!({"part": "claims"})),
        ("list_models", json!({"probe": true})),
    ] {
        let id = host.start_tool_call(tool, arguments);
        let response = host.wait_for_response(id);
        let text = response["result"]["content"][0]["text"].as_str().unwrap();
        let normalize = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = normalize(text);
        let mut strings = vec![];
        collect_strings(&structured_content(&response), &mut strings);
        assert!(strings.len() > 3, "{tool}");
        for string in strings {
            assert!(
                text.contains(&normalize(&string)),
                "{tool}: `{string}` is not in the text:\n{text}"
            );
        }
    }
}

/// Collects all strings of a JSON value.
fn collect_strings(value: &serde_json::Value, strings: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => strings.push(text.clone()),
        serde_json::Value::Array(items) => {
            for item in items {
                collect_strings(item, strings);
            }
        }
        serde_json::Value::Object(fields) => {
            for field in fields.values() {
                collect_strings(field, strings);
            }
        }
        _ => {}
    }
}

/// `list_debates` filters by query text, by status, and by repository (`in:`).
#[test]
fn debates_are_found_by_text_status_and_repository() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let ended = host.start_solo_debate(json!({"topic": "Is the 数据库 small?", "rounds": 1}));
    let ended = host.play_to_end(ended)["debate_id"].clone();
    let open = host.start_solo_debate(json!({"topic": "Is it open?"}))["debate_id"].clone();
    let other_repo = env.temp_path("other");
    fs::create_dir_all(other_repo.join(".git")).unwrap();
    env.debate(&["demo"]).current_dir(&other_repo).expect_success();
    let shown = env.debate(&["show", "last", "--json"]).current_dir(&other_repo).expect_success();
    let other_id = shown.json()["id"].clone();
    let only = |id: &serde_json::Value| vec![id.clone()];
    let mut ids = |query: &str, status: &str| {
        let listed = host.call_tool("list_debates", json!({"query": query, "status": status}));
        let debates = listed["debates"].as_array().unwrap().clone();
        debates.into_iter().map(|debate| debate["debate_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("", ""), [open.clone(), ended.clone()]);
    assert_eq!(ids("数据库", ""), only(&ended));
    assert_eq!(ids("locks", ""), only(&ended), "speeches are searched, too");
    assert_eq!(ids("", "unfinished"), only(&open));
    assert_eq!(ids("locks", "completed"), only(&ended));
    assert_eq!(ids("locks", "cancelled"), [] as [serde_json::Value; 0]);
    assert_eq!(ids("in:all", "").len(), 3);
    assert_eq!(ids(&format!("in:{}", other_repo.display()), ""), only(&other_id));
    assert_eq!(ids("in:../other", ""), only(&other_id));
}
