//! Whole duels through the MCP server, with the host in every seat, in some, or in none.
use crate::host::{due, result};
use crate::lab::{Lab, in_order};
use serde_json::json;
use std::fs;

/// The host plays every seat, including the judge. The result carries a single-model warning.
#[test]
fn a_host_can_play_a_whole_duel() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.alone(json!({}));
    assert_eq!(first["status"], "your_turn");
    assert_eq!(first["round"], 1);
    assert_eq!((&first["answered"], &first["pending"]), (&json!([]), &json!([])));
    assert_eq!(first["due"]["role"], "Proposer");
    let brief = first["due"]["brief"].as_str().unwrap();
    in_order(brief, &["You are the PROPOSER", "One file or many?", "```claims"]);
    let note = first["notes"][0].as_str().unwrap();
    assert!(note.starts_with("single-model") && note.contains("less rigor"), "{note}");

    let mut roles = vec![];
    let mut stands = first;
    while let Some((tool, arguments)) = due(&stands) {
        roles.push(stands["due"]["role"].as_str().unwrap().to_owned());
        stands = host.call(tool, arguments);
    }
    let wanted = ["Proposer", "Challenger", "user", "Proposer", "Challenger", "Judge"];
    assert_eq!(roles, wanted);
    assert_eq!(stands["status"], "completed");
    assert_eq!(stands["verdict"]["winner"], "proposer");
    assert!(stands["verdict"]["rigor"].as_str().unwrap().contains("no deterministic"));

    let id = stands["debate_id"].as_str().unwrap();
    assert_eq!(lab.turns_taken(id).values().copied().collect::<Vec<_>>(), [1; 5]);
    lab.replays(id);
    let record = fs::read_to_string(stands["record"].as_str().unwrap()).unwrap();
    in_order(&record, &["**Labels**: single-model", "## Round 1", "## Round 2", "## Conclusion"]);
}

/// A duel of four rounds has a scribe whose summaries the host writes.
#[test]
fn a_host_sums_up_a_long_duel() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut stands = host.alone(json!({"rounds": 4}));
    let mut roles = vec![];
    while let Some((tool, arguments)) = due(&stands) {
        roles.push(stands["due"]["role"].as_str().unwrap().to_owned());
        stands = host.call(tool, arguments);
    }
    assert_eq!(stands["status"], "completed");
    assert_eq!(roles.iter().filter(|role| *role == "Scribe").count(), 2);
    assert_eq!(roles.iter().filter(|role| *role == "user").count(), 3);
}

#[test]
fn a_host_argues_with_somebody_else() {
    let lab = Lab::new();
    let mut host = lab.host();
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let first = host.call(
        "start_debate",
        json!({"topic": "One file?", "proposer": "host", "challenger": con, "judge": judge}),
    );
    assert_eq!(first["notes"], json!([]), "two voices are no single model");
    let (tool, arguments) = due(&first).unwrap();
    let paused = host.call(tool, arguments);
    assert_eq!(paused["status"], "paused");
    let roles: Vec<_> =
        paused["answered"].as_array().unwrap().iter().map(|a| a["role"].clone()).collect();
    assert_eq!(roles, [json!("Proposer (host)"), json!("Challenger (script)")]);
    assert_eq!(paused["answered"][1]["claims"], json!(["C1: C1 holds."]));
    let last = host.play_on(paused);
    assert_eq!(last["status"], "completed");
    assert_eq!(last["answered"].as_array().unwrap().len(), 4, "the last round and both rulings");
}

/// Without a host seat, each call plays one round, and the last call also plays the verdict.
#[test]
fn others_are_played_round_by_round() {
    let lab = Lab::new();
    let mut host = lab.host();
    let arguments = json!({"topic": "One file?", "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json")});
    let first = host.call("start_debate", arguments.clone());
    assert_eq!((&first["status"], &first["round"]), (&json!("paused"), &json!(1)));
    assert_eq!(first["due"]["role"], "user");
    let last = host.call("continue_round", json!({}));
    assert_eq!((&last["status"], &last["round"]), (&json!("completed"), &json!(2)));
    assert_eq!(last["verdict"]["winner"], "proposer");

    let mut at_once = arguments;
    at_once["options"] = json!({"pause": false});
    let whole = host.call("start_debate", at_once);
    assert_eq!(whole["status"], "completed");
    assert_ne!(whole["debate_id"], last["debate_id"]);
}

/// A verdict is possible between rounds. After the end, the same result is returned.
#[test]
fn a_verdict_can_be_had_early_and_again() {
    let lab = Lab::new();
    let mut host = lab.host();
    let arguments = json!({"topic": "One file?", "rounds": 5, "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json")});
    host.call("start_debate", arguments);
    let ruled = host.call("verdict", json!({}));
    assert_eq!((&ruled["status"], &ruled["round"]), (&json!("completed"), &json!(1)));
    let log = lab.events(ruled["debate_id"].as_str().unwrap()).len();
    assert_eq!(host.call("verdict", json!({})), ruled);
    assert_eq!(host.call("continue_round", json!({})), ruled, "and nothing is played again");
    assert_eq!(lab.events(ruled["debate_id"].as_str().unwrap()).len(), log);
}

/// A client of another process continues the debate where the first one left it.
#[test]
fn a_debate_goes_on_in_another_client() {
    let lab = Lab::new();
    let mut claude = lab.host_called("claude-code");
    let first = claude.alone(json!({}));
    let (tool, arguments) = due(&first).unwrap();
    claude.call(tool, arguments);
    // The first client is still connected. It holds no lease while a host turn is due.
    let mut opencode = lab.host_called("opencode");
    let found = opencode.call("list_debates", json!({"status": "unfinished"}));
    assert_eq!(found["debates"][0]["debate_id"], first["debate_id"]);
    let stands = opencode.call("continue_round", json!({"debate_id": first["debate_id"]}));
    assert_eq!(stands["due"]["role"], "Challenger");
    let last = opencode.play_on(stands);
    assert_eq!(last["status"], "completed");
    assert_eq!(claude.call("verdict", json!({}))["verdict"], last["verdict"]);
    for folder in [".claude", ".opencode"] {
        let state = lab.root().join(folder).join("debate/last-debate.json");
        let state: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
        assert_eq!(state["id"], first["debate_id"], "{folder}");
    }
}

/// The state folder is the client's own, unless `AI_STATE_DIR` is set.
#[test]
fn the_client_decides_where_the_state_is_kept() {
    for (client, folder) in [
        ("claude-code", ".claude"),
        ("codex-mcp-client", ".codex"),
        ("opencode", ".opencode"),
        ("gemini-cli-mcp-client", ".claude"),
    ] {
        let lab = Lab::new();
        let mut host = lab.host_called(client);
        host.alone(json!({}));
        host.hang_up();
        assert!(lab.root().join(folder).join("debate/last-debate.json").exists(), "{client}");
    }
    let lab = Lab::new();
    let mut host = lab.stranger(&[("AI_STATE_DIR", ".mine")]);
    host.ask("initialize", crate::host::hello("opencode"));
    host.alone(json!({}));
    host.hang_up();
    assert!(lab.root().join(".mine/debate/last-debate.json").exists());
    assert!(!lab.root().join(".opencode").exists());
}

/// Every string of `structuredContent` also occurs in the text content.
#[test]
fn a_result_means_the_same_as_text_and_as_data() {
    let lab = Lab::new();
    let mut host = lab.host();
    let arguments = json!({"topic": "One file?", "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json")});
    host.call("start_debate", arguments);
    for (tool, arguments) in [
        ("continue_round", json!({})),
        ("verdict", json!({})),
        ("summarize", json!({})),
        ("list_debates", json!({"query": "lock"})),
        ("show_debate", json!({"part": "claims"})),
        ("list_models", json!({"probe": true})),
    ] {
        let id = host.begin(tool, arguments);
        let answer = host.answer(id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = flat(text);
        let mut leaves = vec![];
        words(&result(&answer), &mut leaves);
        assert!(leaves.len() > 3, "{tool}");
        for leaf in leaves {
            assert!(text.contains(&flat(&leaf)), "{tool}: `{leaf}` is not in the text:\n{text}");
        }
    }
}

/// Collects all strings of a JSON value.
fn words(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|it| words(it, found)),
        _ => {}
    }
}

/// `list_debates` filters by query text, by status, and by repository (`in:`).
#[test]
fn debates_are_found_by_text_status_and_repository() {
    let lab = Lab::new();
    let mut host = lab.host();
    let ended = host.alone(json!({"topic": "Is the 数据库 small?", "rounds": 1}));
    let ended = host.play_on(ended)["debate_id"].clone();
    let open = host.alone(json!({"topic": "Is it open?"}))["debate_id"].clone();
    let other = lab.outside("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    lab.debate(&["demo"]).folder(&other).success();
    let shown = lab.debate(&["show", "last", "--json"]).folder(&other).success();
    let elsewhere = shown.json()["id"].clone();
    let just = |id: &serde_json::Value| vec![id.clone()];
    let mut ids = |query: &str, status: &str| {
        let listed = host.call("list_debates", json!({"query": query, "status": status}));
        let debates = listed["debates"].as_array().unwrap().clone();
        debates.into_iter().map(|debate| debate["debate_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("", ""), [open.clone(), ended.clone()]);
    assert_eq!(ids("数据库", ""), just(&ended));
    assert_eq!(ids("locks", ""), just(&ended), "what was said is found, too");
    assert_eq!(ids("", "unfinished"), just(&open));
    assert_eq!(ids("locks", "completed"), just(&ended));
    assert_eq!(ids("locks", "cancelled"), [] as [serde_json::Value; 0]);
    assert_eq!(ids("in:all", "").len(), 3);
    assert_eq!(ids(&format!("in:{}", other.display()), ""), just(&elsewhere));
    assert_eq!(ids("in:../other", ""), just(&elsewhere));
}
