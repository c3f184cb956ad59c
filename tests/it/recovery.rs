//! Recovery of a lost archive from state files: logs signed by this user are restored
//! automatically, the longest of each debate. Unsigned files are reported and imported only on
//! request.
use crate::host::{due, result};
use crate::lab::{Lab, Script, in_order, speech};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn forget_everything(lab: &Lab) {
    for name in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        let _ = fs::remove_file(lab.home().join(name));
    }
}

fn state_file(lab: &Lab, folder: &str) -> PathBuf {
    lab.root().join(folder).join("debate/last-debate.json")
}

/// Copies a state file to another client's folder.
fn copied(lab: &Lab, from: &str, to: &str) {
    let path = state_file(lab, to);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(state_file(lab, from), path).unwrap();
}

/// A scripted duel of three rounds, paused after the second, whose archive was then deleted. The
/// state file in `.codex` has only the first round. Returns the id and the log.
fn lost(lab: &Lab) -> (String, Vec<Value>) {
    let mut host = lab.host();
    let start = json!({"topic": "Lost?", "rounds": 3, "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json"), "judge": lab.seat("pro.json")});
    let first = host.call("start_debate", start);
    let id = first["debate_id"].as_str().unwrap().to_owned();
    host.hang_up();
    copied(lab, ".claude", ".codex");
    let mut host = lab.host();
    let second = host.call("continue_round", json!({"turn": first["due"]["turn"]}));
    assert_eq!(second["round"], 2);
    host.hang_up();
    let log = lab.events(&id);
    forget_everything(lab);
    (id, log)
}

#[test]
fn the_longest_log_is_gone_on_with() {
    let lab = Lab::new();
    let (id, log) = lost(&lab);
    copied(&lab, ".claude", ".opencode");
    fs::remove_file(lab.state_path()).unwrap();
    let done = lab.debate(&["resume", "--yes"]).success();
    done.warns(&format!("{id} was not in the archive and is taken up from `.opencode/debate/"));
    done.warns("Lost? (duel, paused, round 2 of 3)");
    done.says(&["Rounds: 3", "### Verdict"]);
    let now = lab.events(&id);
    assert_eq!(now[..log.len()], log, "what was known is as it was");
    assert!(lab.turns_taken(&id).values().all(|times| *times == 1));
    lab.replays(&id);
    // Both state files are written from now on, and the record file is reused.
    let shown = lab.debate(&["show", "--json"]).success().json();
    let files = shown["state_files"].to_string();
    assert!(files.contains(".opencode") && files.contains(".claude"), "{files}");
    let records = fs::read_dir(lab.root().join(".debates")).unwrap().flatten();
    let records = records.filter(|entry| entry.path().extension().is_some_and(|it| it == "md"));
    assert_eq!(records.count(), 1);
}

#[test]
fn whatever_is_asked_for_brings_it_back() {
    for args in [
        ["list", "--state"].as_slice(),
        &["show", "last"],
        &["show"],
        &["export"],
        &["replay"],
        &["watch"],
        &["recheck"],
    ] {
        let lab = Lab::new();
        let (id, log) = lost(&lab);
        let done = lab.debate(args).done();
        assert!(done.err.contains("was not in the archive and is taken up"), "{args:?}: {done:#?}");
        assert_eq!(lab.events(&id), log, "{args:?}");
    }
    let lab = Lab::new();
    let (id, _) = lost(&lab);
    lab.debate(&["show", &id]).success().says(&["# Debate: Lost?"]);
    // Once the debate is in the archive, nothing is reported.
    assert!(!lab.debate(&["list"]).success().err.contains("taken up"));
}

#[test]
fn a_client_brings_it_back_too() {
    for (tool, field) in
        [("continue_round", "notes"), ("summarize", "notes"), ("show_debate", "next")]
    {
        let lab = Lab::new();
        let (id, log) = lost(&lab);
        let mut host = lab.host_called("opencode");
        let turn = json!({"wait_seconds": 0});
        let answer = host.call(tool, if tool == "continue_round" { turn } else { json!({}) });
        assert_eq!(answer["debate_id"], json!(id));
        assert!(answer[field].to_string().contains("was not in the archive"), "{answer:#}");
        assert_eq!(lab.events(&id)[..log.len()], log);
    }
    let lab = Lab::new();
    let (id, _) = lost(&lab);
    let listed = lab.host().call("list_debates", json!({}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(id));
    assert!(listed["next"].as_str().unwrap().contains("is taken up from"), "{listed:#}");
}

#[test]
fn it_comes_back_once() {
    let lab = Lab::new();
    let (id, log) = lost(&lab);
    lab.debate(&["doctor"]).done();
    let both = [lab.debate(&["list"]).start(), lab.debate(&["show", "last"]).start()];
    for one in both {
        let done = one.wait();
        assert_eq!(done.code, Some(0), "{done:#?}");
    }
    let listed = lab.debate(&["list", "--json"]).success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 1);
    assert_eq!(lab.events(&id), log);
}

#[test]
fn what_went_on_elsewhere_is_gone_on_with_from_there() {
    let lab = Lab::new();
    lab.run("Elsewhere?", &["--pause"]).ends(2);
    let (id, other) = (lab.last(), lab.copy_of_home("elsewhere"));
    lab.debate(&["resume", &id, "--yes"]).home(&other).success();
    let known = lab.events(&id).len();
    let done = lab.debate(&["resume", &id]).success();
    done.warns(&format!("{id} went on elsewhere by"));
    done.says(&["### Verdict"]);
    assert!(lab.events(&id).len() > known);
    assert!(lab.turns_taken(&id).values().all(|times| *times == 1));
    lab.replays(&id);
}

/// Logs that diverged are not merged. The other log is imported once as a separate debate, so that
/// its state file can be overwritten.
#[test]
fn another_course_is_kept_as_a_debate_of_its_own() {
    let lab = Lab::new();
    lab.run("Apart?", &["--pause"]).ends(2);
    let (id, other) = (lab.last(), lab.copy_of_home("elsewhere"));
    lab.debate(&["resume", &id, "--yes"]).success();
    let otherwise = json!({"phase": "defend", "text": speech("Otherwise.", "P1", &["C1"])});
    lab.write(&Script::new().first(otherwise));
    // The state file written here was not synchronized to the other home.
    fs::remove_file(lab.state_path()).unwrap();
    lab.debate(&["resume", &id, "--yes"]).home(&other).success();
    let (theirs, mut told) = (lab.state_text(), vec![]);
    let before = lab.events(&id);
    for _ in 0..2 {
        told.push(lab.debate(&["resume", &id]).success().err.contains("holds another course of"));
        assert_eq!(lab.events(&id), before);
        fs::write(lab.state_path(), &theirs).unwrap();
    }
    assert_eq!(told, [true, false]);
    let listed = lab.debate(&["list", "--json"]).success().json();
    let ids: Vec<&str> =
        listed["debates"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let other = ids.iter().find(|it| **it != id).unwrap();
    lab.debate(&["show", other]).success().says(&["Otherwise."]);
}

/// Writes an unsigned state file, in the format other programs use.
fn bare(lab: &Lab, folder: &str) -> PathBuf {
    let said = |role: &str, words: &str| json!({"round": 1, "role": role, "tool": "codex", "response": words, "duration_ms": 5});
    let file = json!({
        "id": "debate-1", "topic": "Bare?\u{1b}[31m", "proposer": {"tool": "claude"},
        "challenger": {"tool": "codex", "model": null}, "effort": "high", "rounds_completed": 1,
        "max_rounds": 2, "status": "in-progress", "verdict": null, "timestamp": "",
        "exchanges": [said("proposer", "One file."), said("challenger", "It locks.")],
    });
    lab.file(&format!("{folder}/debate/last-debate.json"), &file.to_string())
}

#[test]
fn what_somebody_else_wrote_waits_for_a_yes() {
    let lab = Lab::new();
    let path = bare(&lab, ".opencode");
    for args in [["resume"].as_slice(), &["resume", "--yes"], &["show"], &["recheck"], &["watch"]] {
        let done = lab.debate(args).fails_with(2);
        done.warns("holds one you have not signed: \"Bare?[31m\", 2 turns, said to be by codex");
        done.warns(&format!("hint: `debate import {}`", path.display()));
    }
    lab.debate(&["list"]).success().warns("debate import");
    let listed = lab.debate(&["list", "--all", "--json"]).success().json();
    assert_eq!(listed["debates"], json!([]), "nothing was taken in");
    lab.debate(&["import", path.to_str().unwrap()]).success();
    lab.debate(&["resume"]).ends(2).warns("Due: your word to go on with what was imported");
}

#[test]
fn a_client_asks_before_it_imports() {
    let lab = Lab::new();
    let path = bare(&lab, ".codex");
    let before = fs::read_to_string(&path).unwrap();
    let mut host = lab.host();
    for tool in ["continue_round", "summarize", "verdict", "show_debate"] {
        let error = host.fails(tool, json!({}));
        let yes = "continue_round {\"decision\":\"import\"}";
        in_order(&error, &["2 turns, said to be by codex", "Next: ", "ask whether", yes]);
    }
    assert!(host.call("list_debates", json!({}))["next"].to_string().contains("import"));
    assert_eq!(lab.debate(&["list", "--json"]).success().json()["debates"], json!([]));
    let import = json!({"decision": "import"});
    let stands = host.call("continue_round", import.clone());
    assert_eq!((&stands["status"], &stands["due"]["role"]), (&json!("paused"), &json!("user")));
    assert!(stands["notes"].to_string().contains("2 of 2 turns"), "{stands:#}");
    assert_eq!(host.call("continue_round", import)["debate_id"], stands["debate_id"], "once");
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "the file is left as it is");
    // Nothing runs until the user continues. Then the host plays every seat.
    assert_eq!(host.call("continue_round", json!({}))["status"], "paused");
    let stands = host.call("continue_round", json!({"decision": "continue"}));
    assert_eq!(stands["due"]["role"], "Proposer", "{stands:#}");
    let ended = host.play_on(stands);
    assert_eq!(ended["status"], "completed");
    let shown = lab.debate(&["show", "--json"]).success().json();
    assert!(shown["labels"].to_string().contains("imported"), "{shown:#}");
    lab.debate(&["replay"]).success();
}

#[test]
fn whoever_imports_may_name_who_plays() {
    let lab = Lab::new();
    bare(&lab, ".claude");
    let mut host = lab.host();
    for (say, why) in [("challenger=-x", "does not begin with"), ("referee=host", "can be named")] {
        let error = host.fails("continue_round", json!({"decision": "import", "say": say}));
        assert!(error.contains(why), "{error}");
    }
    let say = format!("challenger={}, judge={}", lab.seat("contra.json"), lab.seat("pro.json"));
    host.call("continue_round", json!({"decision": "import", "say": say}));
    let stands = host.call("continue_round", json!({"decision": "continue"}));
    let (tool, speech) = due(&stands).unwrap();
    let waiting = host.begin(tool, speech);
    assert_eq!(result(&host.answer(waiting))["status"], "completed");
    let nothing = Lab::new().host().fails("continue_round", json!({"decision": "import"}));
    assert!(nothing.contains("nothing to import"), "{nothing}");
}

/// Malformed files, symlinks out of the repository, and pipes are reported and block no command.
#[cfg(unix)]
#[test]
fn what_cannot_be_a_state_file_holds_nobody_up() {
    let lab = Lab::new();
    let (id, log) = lost(&lab);
    let elsewhere = lab.outside("elsewhere");
    fs::create_dir_all(elsewhere.join("debate")).unwrap();
    fs::rename(lab.state_path(), elsewhere.join("debate/last-debate.json")).unwrap();
    fs::remove_dir_all(lab.root().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, lab.root().join(".claude")).unwrap();
    lab.file(".opencode/debate/last-debate.json", "{\"id\": \u{0}");
    let done = lab.debate(&["list", "--json"]).success();
    done.warns("`.claude/debate/last-debate.json`: this file cannot be read as a debate");
    done.warns("leads out of the repository");
    done.warns("`.opencode/debate/last-debate.json`: this file cannot be read as a debate");
    // `.codex` has the first round of it.
    assert_eq!(done.json()["debates"][0]["id"], json!(id));
    assert!(log.starts_with(&lab.events(&id)) && lab.events(&id).len() < log.len());

    let lab = Lab::new();
    let folder = lab.root().join(".codex/debate");
    fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("last-debate.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|made| made.success()) {
        lab.debate(&["list"]).success().warns("it is no plain file");
        lab.debate(&["resume"]).fails_with(2).warns("there is no unfinished debate");
    }
    fs::remove_file(&pipe).unwrap();
    std::os::unix::fs::symlink(lab.outside("pro.json"), &pipe).unwrap();
    lab.debate(&["list"]).success().warns("it is no plain file");
}

/// `AI_STATE_DIR` may be outside the repository.
#[test]
fn a_state_folder_the_user_named_is_looked_into() {
    let lab = Lab::new();
    let folder = lab.outside("states");
    let folder = folder.to_str().unwrap();
    lab.run("Named?", &["--pause"]).env("AI_STATE_DIR", folder).ends(2);
    let id = lab.last();
    forget_everything(&lab);
    lab.debate(&["resume", "--yes"]).fails_with(2).warns("there is no unfinished debate");
    let done = lab.debate(&["resume", "--yes"]).env("AI_STATE_DIR", folder).success();
    done.warns(&format!("{id} was not in the archive"));
}
