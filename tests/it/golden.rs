//! Backward compatibility: archives of earlier versions (`tests/golden`) are migrated on open,
//! replay with identical prompts, and can be resumed.
use crate::lab::{Lab, Script};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Copies the archive and signing key of that version into the data directory.
fn home(lab: &Lab, version: &str) {
    let golden = Path::new("tests/golden").join(version);
    fs::create_dir_all(lab.home()).unwrap();
    for file in ["archive.db", "key"] {
        fs::copy(golden.join(file), lab.home().join(file)).unwrap();
    }
}

fn debates(lab: &Lab) -> Vec<Value> {
    let listed = lab.debate(&["list", "--all", "--json"]).success().json();
    listed["debates"].as_array().unwrap().clone()
}

fn id(debate: &Value) -> &str {
    debate["id"].as_str().unwrap()
}

#[test]
fn the_first_archive_opens_and_replays() {
    let lab = Lab::new();
    home(&lab, "v1");
    let debates = debates(&lab);
    let states: Vec<_> = debates.iter().map(|debate| debate["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["in-progress", "degraded", "completed"]);
    assert_eq!(debates[2]["winner"], "proposer");
    for debate in &debates {
        let shown = lab.debate(&["show", id(debate), "--json"]).success().json();
        assert_eq!(shown["flaw"], Value::Null);
        let again = lab.debate(&["replay", id(debate), "--json"]).success().lines();
        let end = again.last().unwrap();
        assert_eq!(end["prompts_changed"], json!([]), "every prompt is still what was sent");
        assert!(end["prompts_same"].as_u64().unwrap() > 0);
    }
    let hits = lab.debate(&["search", "数据库", "--json"]).success().json();
    assert!(!hits["hits"].as_array().unwrap().is_empty());
    lab.debate(&["reindex"]).success();
    let health = lab.debate(&["doctor", "--json"]).done().json();
    assert_eq!(health["archive"]["problems"], json!([]));
}

#[test]
fn a_debate_of_the_first_archive_goes_on() {
    let lab = Lab::new();
    home(&lab, "v1");
    lab.write(&Script::new());
    let debates = debates(&lab);
    let open = id(&debates[0]);
    let seats =
        ["challenger", "judge", "mirror"].map(|seat| format!("{seat}={}", lab.seat("contra.json")));
    let mut args = vec!["resume", open, "--json", "--yes", "--seat", "proposer=human"];
    args.extend(seats.iter().flat_map(|seat| ["--seat", seat.as_str()]));
    args.extend(["--seat", "scribe=human"]);
    let done = lab.debate(&args).success().json();
    assert_eq!(done["status"], "completed");
    assert_eq!(done["turns"][0]["tool"], "script", "what was said before stands");
}

#[test]
fn the_first_state_file_is_taken_in() {
    let golden = Path::new("tests/golden/v1");
    let state = fs::read_to_string(golden.join("last-debate.json")).unwrap();
    // Signed with a known key, but not in the archive: imported with its event log.
    let lab = Lab::new();
    fs::create_dir_all(lab.home()).unwrap();
    fs::copy(golden.join("key"), lab.home().join("key")).unwrap();
    let taken = lab.debate(&["import", "-", "--json"]).stdin(&state).success().json();
    assert_eq!(taken["how"], "new");
    // Signed with another key, or a Markdown record: imported as a transcript only.
    let other = Lab::new();
    let taken = other.debate(&["import", "-", "--json"]).stdin(&state).success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(1)));
    let record = fs::read_to_string(golden.join("record.md")).unwrap();
    let taken = other.debate(&["import", "-", "--json"]).stdin(&record).success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(6)));
}

/// Recorded citation results are unchanged, and flags are recomputed.
#[test]
fn the_second_archive_opens_and_replays() {
    let lab = Lab::new();
    home(&lab, "v2");
    let debates = debates(&lab);
    for debate in &debates {
        lab.replays(id(debate));
        let shown = lab.debate(&["show", id(debate), "--json"]).success().json();
        assert_eq!(shown["flaw"], Value::Null);
        assert!(shown["rigor"].as_str().unwrap().contains("2 wrong, "), "{shown:#}");
        assert!(shown.to_string().contains("[REDACTED:github-token:"));
    }
    let settled = lab.debate(&["show", id(&debates[0]), "--json"]).success().json();
    assert_eq!((&settled["rounds"], &settled["rounds_completed"]), (&json!(4), &json!(2)));
    let sealed = lab.debate(&["show", id(&debates[1]), "--json"]).success().json();
    assert_eq!(sealed["turns"][0]["phase"], "answer");
    assert_eq!(sealed["verdict"]["changed"]["decision"], false);
    assert_eq!(sealed["turns"][2]["citations"][1]["found"], "line_out_of_range");
}

/// Research, dialectic and tribunal debates open as written, and the paused one resumes.
#[test]
fn the_third_archive_opens_replays_and_goes_on() {
    let lab = Lab::new();
    home(&lab, "v3");
    let debates = debates(&lab);
    let told = |debate: &Value| {
        let word = |name: &str| debate[name].as_str().unwrap_or("-").to_owned();
        [word("format"), word("status"), word("proof")].join(" ")
    };
    let told: Vec<String> = debates.iter().map(told).collect();
    assert_eq!(told, ["tribunal completed right", "dialectic paused -", "research completed -"]);
    for debate in &debates {
        lab.replays(id(debate));
        let shown = lab.debate(&["show", id(debate), "--json"]).success().json();
        assert_eq!(shown["flaw"], Value::Null);
    }
    let court = lab.debate(&["show", id(&debates[0]), "--json"]).success().json();
    assert_eq!(court["votes"].as_array().unwrap().len(), 5);
    assert_eq!(court["verdict"]["court"]["turning_round"], 3);
    let research = lab.debate(&["show", id(&debates[2]), "--json"]).success().json();
    assert!(research["report"].as_str().unwrap().contains("## Scenario Matrix"));
    let cast = lab.cast(&crate::casts::dialectic());
    let seats = ["lead", "partner"].map(|seat| format!("{seat}={cast}"));
    let args = ["resume", id(&debates[1]), "--yes", "--end", "--json", "--seat", &seats[0]];
    let done = lab.debate(&[&args[..], &["--seat", &seats[1]]].concat()).success().json();
    assert_eq!(done["outcome"], "partial");
}
