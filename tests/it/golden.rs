//! Backward compatibility: archives of earlier versions (`tests/golden`) are migrated on open,
//! replay with identical prompts, and can be resumed.
use crate::test_env::{SeatScript, TestEnv};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Copies the archive and signing key of that version into the data directory.
fn copy_golden_data(env: &TestEnv, version: &str) {
    let golden = Path::new("tests/golden").join(version);
    fs::create_dir_all(env.data_dir()).unwrap();
    for file in ["archive.db", "key"] {
        fs::copy(golden.join(file), env.data_dir().join(file)).unwrap();
    }
}

fn list_debates(env: &TestEnv) -> Vec<Value> {
    let output = env.debate(&["list", "--all", "--json"]).expect_success().json();
    output["debates"].as_array().unwrap().clone()
}

fn debate_id(debate: &Value) -> &str {
    debate["id"].as_str().unwrap()
}

#[test]
fn v1_archive_opens_and_replays() {
    let env = TestEnv::new();
    copy_golden_data(&env, "v1");
    let debates = list_debates(&env);
    let statuses: Vec<_> =
        debates.iter().map(|debate| debate["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["in-progress", "degraded", "completed"]);
    assert_eq!(debates[2]["winner"], "proposer");
    for debate in &debates {
        let shown = env.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
        let replayed =
            env.debate(&["replay", debate_id(debate), "--json"]).expect_success().json_lines();
        let summary = replayed.last().unwrap();
        assert_eq!(
            summary["prompts_changed"],
            json!([]),
            "every prompt is rendered as it was sent"
        );
        assert!(summary["prompts_same"].as_u64().unwrap() > 0);
    }
    let hits = env.debate(&["search", "数据库", "--json"]).expect_success().json();
    assert!(!hits["hits"].as_array().unwrap().is_empty());
    env.debate(&["reindex"]).expect_success();
    let health = env.debate(&["doctor", "--json"]).output().json();
    assert_eq!(health["archive"]["problems"], json!([]));
}

#[test]
fn v1_debate_can_be_resumed() {
    let env = TestEnv::new();
    copy_golden_data(&env, "v1");
    env.write_script(&SeatScript::new());
    let debates = list_debates(&env);
    let open_id = debate_id(&debates[0]);
    let seats = ["challenger", "judge", "mirror"]
        .map(|seat| format!("{seat}={}", env.script_seat("contra.json")));
    let mut args = vec!["resume", open_id, "--json", "--yes", "--seat", "proposer=human"];
    args.extend(seats.iter().flat_map(|seat| ["--seat", seat.as_str()]));
    args.extend(["--seat", "scribe=human"]);
    let result = env.debate(&args).expect_success().json();
    assert_eq!(result["status"], "completed");
    assert_eq!(result["turns"][0]["tool"], "script", "earlier turns are unchanged");
}

#[test]
fn v1_state_file_can_be_imported() {
    let golden = Path::new("tests/golden/v1");
    let state = fs::read_to_string(golden.join("last-debate.json")).unwrap();
    // Signed with a known key, but not in the archive: imported with its event log.
    let env = TestEnv::new();
    fs::create_dir_all(env.data_dir()).unwrap();
    fs::copy(golden.join("key"), env.data_dir().join("key")).unwrap();
    let imported = env.debate(&["import", "-", "--json"]).stdin(&state).expect_success().json();
    assert_eq!(imported["how"], "new");
    // Signed with another key, or a Markdown record: imported as a transcript only.
    let other_env = TestEnv::new();
    let imported =
        other_env.debate(&["import", "-", "--json"]).stdin(&state).expect_success().json();
    assert_eq!((&imported["how"], &imported["taken"]), (&json!("transcript"), &json!(1)));
    let record = fs::read_to_string(golden.join("record.md")).unwrap();
    let imported =
        other_env.debate(&["import", "-", "--json"]).stdin(&record).expect_success().json();
    assert_eq!((&imported["how"], &imported["taken"]), (&json!("transcript"), &json!(6)));
}

/// Recorded citation results are unchanged, and flags are recomputed.
#[test]
fn v2_archive_opens_and_replays() {
    let env = TestEnv::new();
    copy_golden_data(&env, "v2");
    let debates = list_debates(&env);
    for debate in &debates {
        env.assert_replays(debate_id(debate));
        let shown = env.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
        assert!(shown["rigor"].as_str().unwrap().contains("2 wrong, "), "{shown:#}");
        assert!(shown.to_string().contains("[REDACTED:github-token:"));
    }
    let settled = env.debate(&["show", debate_id(&debates[0]), "--json"]).expect_success().json();
    assert_eq!((&settled["rounds"], &settled["rounds_completed"]), (&json!(4), &json!(2)));
    let sealed = env.debate(&["show", debate_id(&debates[1]), "--json"]).expect_success().json();
    assert_eq!(sealed["turns"][0]["phase"], "answer");
    assert_eq!(sealed["verdict"]["changed"]["decision"], false);
    assert_eq!(sealed["turns"][2]["citations"][1]["found"], "line_out_of_range");
}

/// Research, dialectic and tribunal debates open as written, and the paused one resumes.
#[test]
fn v3_archive_opens_replays_and_resumes() {
    let env = TestEnv::new();
    copy_golden_data(&env, "v3");
    let debates = list_debates(&env);
    let described = |debate: &Value| {
        let field = |name: &str| debate[name].as_str().unwrap_or("-").to_owned();
        [field("format"), field("status"), field("proof")].join(" ")
    };
    let described: Vec<String> = debates.iter().map(described).collect();
    assert_eq!(
        described,
        ["tribunal completed right", "dialectic paused -", "research completed -"]
    );
    for debate in &debates {
        env.assert_replays(debate_id(debate));
        let shown = env.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
    }
    let tribunal = env.debate(&["show", debate_id(&debates[0]), "--json"]).expect_success().json();
    assert_eq!(tribunal["votes"].as_array().unwrap().len(), 5);
    assert_eq!(tribunal["verdict"]["court"]["turning_round"], 3);
    let research = env.debate(&["show", debate_id(&debates[2]), "--json"]).expect_success().json();
    assert!(research["report"].as_str().unwrap().contains("## Scenario Matrix"));
    let scripted_seat = env.write_replies(&crate::scripted_replies::dialectic());
    let seats = ["lead", "partner"].map(|seat| format!("{seat}={scripted_seat}"));
    let args = ["resume", debate_id(&debates[1]), "--yes", "--end", "--json", "--seat", &seats[0]];
    let result = env.debate(&[&args[..], &["--seat", &seats[1]]].concat()).expect_success().json();
    assert_eq!(result["outcome"], "partial");
}
