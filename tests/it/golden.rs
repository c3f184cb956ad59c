//! Backward compatibility: archives of earlier versions (`tests/golden`) are migrated on open,
//! replay with identical prompts, and can be resumed.
use crate::test_env::{SeatScript, TestEnv};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Copies the archive and signing key of that version into the data directory.
fn copy_golden_data(lab: &TestEnv, version: &str) {
    let golden = Path::new("tests/golden").join(version);
    fs::create_dir_all(lab.data_dir()).unwrap();
    for file in ["archive.db", "key"] {
        fs::copy(golden.join(file), lab.data_dir().join(file)).unwrap();
    }
}

fn list_debates(lab: &TestEnv) -> Vec<Value> {
    let listed = lab.debate(&["list", "--all", "--json"]).expect_success().json();
    listed["debates"].as_array().unwrap().clone()
}

fn debate_id(debate: &Value) -> &str {
    debate["id"].as_str().unwrap()
}

#[test]
fn v1_archive_opens_and_replays() {
    let lab = TestEnv::new();
    copy_golden_data(&lab, "v1");
    let debates = list_debates(&lab);
    let states: Vec<_> = debates.iter().map(|debate| debate["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["in-progress", "degraded", "completed"]);
    assert_eq!(debates[2]["winner"], "proposer");
    for debate in &debates {
        let shown = lab.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
        let again =
            lab.debate(&["replay", debate_id(debate), "--json"]).expect_success().json_lines();
        let end = again.last().unwrap();
        assert_eq!(end["prompts_changed"], json!([]), "every prompt is still what was sent");
        assert!(end["prompts_same"].as_u64().unwrap() > 0);
    }
    let hits = lab.debate(&["search", "数据库", "--json"]).expect_success().json();
    assert!(!hits["hits"].as_array().unwrap().is_empty());
    lab.debate(&["reindex"]).expect_success();
    let health = lab.debate(&["doctor", "--json"]).output().json();
    assert_eq!(health["archive"]["problems"], json!([]));
}

#[test]
fn v1_debate_can_be_resumed() {
    let lab = TestEnv::new();
    copy_golden_data(&lab, "v1");
    lab.write_script(&SeatScript::new());
    let debates = list_debates(&lab);
    let open = debate_id(&debates[0]);
    let seats = ["challenger", "judge", "mirror"]
        .map(|seat| format!("{seat}={}", lab.script_seat("contra.json")));
    let mut args = vec!["resume", open, "--json", "--yes", "--seat", "proposer=human"];
    args.extend(seats.iter().flat_map(|seat| ["--seat", seat.as_str()]));
    args.extend(["--seat", "scribe=human"]);
    let done = lab.debate(&args).expect_success().json();
    assert_eq!(done["status"], "completed");
    assert_eq!(done["turns"][0]["tool"], "script", "what was said before stands");
}

#[test]
fn v1_state_file_can_be_imported() {
    let golden = Path::new("tests/golden/v1");
    let state = fs::read_to_string(golden.join("last-debate.json")).unwrap();
    // Signed with a known key, but not in the archive: imported with its event log.
    let lab = TestEnv::new();
    fs::create_dir_all(lab.data_dir()).unwrap();
    fs::copy(golden.join("key"), lab.data_dir().join("key")).unwrap();
    let taken = lab.debate(&["import", "-", "--json"]).stdin(&state).expect_success().json();
    assert_eq!(taken["how"], "new");
    // Signed with another key, or a Markdown record: imported as a transcript only.
    let other = TestEnv::new();
    let taken = other.debate(&["import", "-", "--json"]).stdin(&state).expect_success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(1)));
    let record = fs::read_to_string(golden.join("record.md")).unwrap();
    let taken = other.debate(&["import", "-", "--json"]).stdin(&record).expect_success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(6)));
}

/// Recorded citation results are unchanged, and flags are recomputed.
#[test]
fn v2_archive_opens_and_replays() {
    let lab = TestEnv::new();
    copy_golden_data(&lab, "v2");
    let debates = list_debates(&lab);
    for debate in &debates {
        lab.assert_replays(debate_id(debate));
        let shown = lab.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
        assert!(shown["rigor"].as_str().unwrap().contains("2 wrong, "), "{shown:#}");
        assert!(shown.to_string().contains("[REDACTED:github-token:"));
    }
    let settled = lab.debate(&["show", debate_id(&debates[0]), "--json"]).expect_success().json();
    assert_eq!((&settled["rounds"], &settled["rounds_completed"]), (&json!(4), &json!(2)));
    let sealed = lab.debate(&["show", debate_id(&debates[1]), "--json"]).expect_success().json();
    assert_eq!(sealed["turns"][0]["phase"], "answer");
    assert_eq!(sealed["verdict"]["changed"]["decision"], false);
    assert_eq!(sealed["turns"][2]["citations"][1]["found"], "line_out_of_range");
}

/// Research, dialectic and tribunal debates open as written, and the paused one resumes.
#[test]
fn v3_archive_opens_replays_and_resumes() {
    let lab = TestEnv::new();
    copy_golden_data(&lab, "v3");
    let debates = list_debates(&lab);
    let told = |debate: &Value| {
        let word = |name: &str| debate[name].as_str().unwrap_or("-").to_owned();
        [word("format"), word("status"), word("proof")].join(" ")
    };
    let told: Vec<String> = debates.iter().map(told).collect();
    assert_eq!(told, ["tribunal completed right", "dialectic paused -", "research completed -"]);
    for debate in &debates {
        lab.assert_replays(debate_id(debate));
        let shown = lab.debate(&["show", debate_id(debate), "--json"]).expect_success().json();
        assert_eq!(shown["flaw"], Value::Null);
    }
    let court = lab.debate(&["show", debate_id(&debates[0]), "--json"]).expect_success().json();
    assert_eq!(court["votes"].as_array().unwrap().len(), 5);
    assert_eq!(court["verdict"]["court"]["turning_round"], 3);
    let research = lab.debate(&["show", debate_id(&debates[2]), "--json"]).expect_success().json();
    assert!(research["report"].as_str().unwrap().contains("## Scenario Matrix"));
    let cast = lab.write_replies(&crate::scripted_replies::dialectic());
    let seats = ["lead", "partner"].map(|seat| format!("{seat}={cast}"));
    let args = ["resume", debate_id(&debates[1]), "--yes", "--end", "--json", "--seat", &seats[0]];
    let done = lab.debate(&[&args[..], &["--seat", &seats[1]]].concat()).expect_success().json();
    assert_eq!(done["outcome"], "partial");
}
