//! Recovery of a lost archive from state files: logs signed by this user are restored
//! automatically, the longest of each debate. Unsigned files are reported and imported only on
//! request.
use crate::mcp_test_client::{due_tool_call, structured_content};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn delete_archive(lab: &TestEnv) {
    for name in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        let _ = fs::remove_file(lab.data_dir().join(name));
    }
}

fn state_file_path(lab: &TestEnv, folder: &str) -> PathBuf {
    lab.repo_root().join(folder).join("debate/last-debate.json")
}

/// Copies a state file to another client's folder.
fn copy_state_file(lab: &TestEnv, from: &str, to: &str) {
    let path = state_file_path(lab, to);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(state_file_path(lab, from), path).unwrap();
}

/// A scripted duel of three rounds, paused after the second, whose archive was then deleted. The
/// state file in `.codex` has only the first round. Returns the id and the log.
fn debate_with_lost_archive(lab: &TestEnv) -> (String, Vec<Value>) {
    let mut host = lab.mcp_client();
    let start = json!({"topic": "Lost?", "rounds": 3, "proposer": lab.script_seat("pro.json"),
        "challenger": lab.script_seat("contra.json"), "judge": lab.script_seat("pro.json")});
    let first = host.call_tool("start_debate", start);
    let id = first["debate_id"].as_str().unwrap().to_owned();
    host.disconnect();
    copy_state_file(lab, ".claude", ".codex");
    let mut host = lab.mcp_client();
    let second = host.call_tool("continue_round", json!({"turn": first["due"]["turn"]}));
    assert_eq!(second["round"], 2);
    host.disconnect();
    let log = lab.events(&id);
    delete_archive(lab);
    (id, log)
}

#[test]
fn longest_signed_log_is_restored() {
    let lab = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&lab);
    copy_state_file(&lab, ".claude", ".opencode");
    fs::remove_file(lab.state_file_path()).unwrap();
    let done = lab.debate(&["resume", "--yes"]).expect_success();
    done.assert_stderr_contains(&format!(
        "{id} was not in the archive and is taken up from `.opencode/debate/"
    ));
    done.assert_stderr_contains("Lost? (duel, paused, round 2 of 3)");
    done.assert_stdout_contains(&["Rounds: 3", "### Verdict"]);
    let now = lab.events(&id);
    assert_eq!(now[..log.len()], log, "what was known is as it was");
    assert!(lab.turn_counts(&id).values().all(|times| *times == 1));
    lab.assert_replays(&id);
    // Both state files are written from now on, and the record file is reused.
    let shown = lab.debate(&["show", "--json"]).expect_success().json();
    let files = shown["state_files"].to_string();
    assert!(files.contains(".opencode") && files.contains(".claude"), "{files}");
    let records = fs::read_dir(lab.repo_root().join(".debates")).unwrap().flatten();
    let records = records.filter(|entry| entry.path().extension().is_some_and(|it| it == "md"));
    assert_eq!(records.count(), 1);
}

#[test]
fn every_command_restores_a_lost_debate() {
    for args in [
        ["list", "--state"].as_slice(),
        &["show", "last"],
        &["show"],
        &["export"],
        &["replay"],
        &["watch"],
        &["recheck"],
    ] {
        let lab = TestEnv::new();
        let (id, log) = debate_with_lost_archive(&lab);
        let done = lab.debate(args).output();
        assert!(
            done.stderr.contains("was not in the archive and is taken up"),
            "{args:?}: {done:#?}"
        );
        assert_eq!(lab.events(&id), log, "{args:?}");
    }
    let lab = TestEnv::new();
    let (id, _) = debate_with_lost_archive(&lab);
    lab.debate(&["show", &id]).expect_success().assert_stdout_contains(&["# Debate: Lost?"]);
    // Once the debate is in the archive, nothing is reported.
    assert!(!lab.debate(&["list"]).expect_success().stderr.contains("taken up"));
}

#[test]
fn mcp_tools_restore_a_lost_debate() {
    for (tool, field) in
        [("continue_round", "notes"), ("summarize", "notes"), ("show_debate", "next")]
    {
        let lab = TestEnv::new();
        let (id, log) = debate_with_lost_archive(&lab);
        let mut host = lab.mcp_client_named("opencode");
        let turn = json!({"wait_seconds": 0});
        let answer = host.call_tool(tool, if tool == "continue_round" { turn } else { json!({}) });
        assert_eq!(answer["debate_id"], json!(id));
        assert!(answer[field].to_string().contains("was not in the archive"), "{answer:#}");
        assert_eq!(lab.events(&id)[..log.len()], log);
    }
    let lab = TestEnv::new();
    let (id, _) = debate_with_lost_archive(&lab);
    let listed = lab.mcp_client().call_tool("list_debates", json!({}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(id));
    assert!(listed["next"].as_str().unwrap().contains("is taken up from"), "{listed:#}");
}

#[test]
fn concurrent_commands_restore_one_debate() {
    let lab = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&lab);
    lab.debate(&["doctor"]).output();
    let both = [lab.debate(&["list"]).spawn(), lab.debate(&["show", "last"]).spawn()];
    for one in both {
        let done = one.wait();
        assert_eq!(done.exit_code, Some(0), "{done:#?}");
    }
    let listed = lab.debate(&["list", "--json"]).expect_success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 1);
    assert_eq!(lab.events(&id), log);
}

#[test]
fn longer_log_from_another_home_is_continued() {
    let lab = TestEnv::new();
    lab.debate_run("Elsewhere?", &["--pause"]).expect_exit_code(2);
    let (id, other) = (lab.latest_debate_id(), lab.copy_data_dir("elsewhere"));
    lab.debate(&["resume", &id, "--yes"]).data_dir(&other).expect_success();
    let known = lab.events(&id).len();
    let done = lab.debate(&["resume", &id]).expect_success();
    done.assert_stderr_contains(&format!("{id} went on elsewhere by"));
    done.assert_stdout_contains(&["### Verdict"]);
    assert!(lab.events(&id).len() > known);
    assert!(lab.turn_counts(&id).values().all(|times| *times == 1));
    lab.assert_replays(&id);
}

/// Logs that diverged are not merged. The other log is imported once as a separate debate, so that
/// its state file can be overwritten.
#[test]
fn diverged_log_becomes_a_separate_debate() {
    let lab = TestEnv::new();
    lab.debate_run("Apart?", &["--pause"]).expect_exit_code(2);
    let (id, other) = (lab.latest_debate_id(), lab.copy_data_dir("elsewhere"));
    lab.debate(&["resume", &id, "--yes"]).expect_success();
    let otherwise =
        json!({"phase": "defend", "text": speech_with_claim("Otherwise.", "P1", &["C1"])});
    lab.write_script(&SeatScript::new().prepend(otherwise));
    // The state file written here was not synchronized to the other home.
    fs::remove_file(lab.state_file_path()).unwrap();
    lab.debate(&["resume", &id, "--yes"]).data_dir(&other).expect_success();
    let (theirs, mut told) = (lab.state_file_text(), vec![]);
    let before = lab.events(&id);
    for _ in 0..2 {
        told.push(
            lab.debate(&["resume", &id])
                .expect_success()
                .stderr
                .contains("holds another course of"),
        );
        assert_eq!(lab.events(&id), before);
        fs::write(lab.state_file_path(), &theirs).unwrap();
    }
    assert_eq!(told, [true, false]);
    let listed = lab.debate(&["list", "--json"]).expect_success().json();
    let ids: Vec<&str> =
        listed["debates"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let other = ids.iter().find(|it| **it != id).unwrap();
    lab.debate(&["show", other]).expect_success().assert_stdout_contains(&["Otherwise."]);
}

/// Writes an unsigned state file, in the format other programs use.
fn write_unsigned_state_file(lab: &TestEnv, folder: &str) -> PathBuf {
    let said = |role: &str, words: &str| json!({"round": 1, "role": role, "tool": "codex", "response": words, "duration_ms": 5});
    let file = json!({
        "id": "debate-1", "topic": "Bare?\u{1b}[31m", "proposer": {"tool": "claude"},
        "challenger": {"tool": "codex", "model": null}, "effort": "high", "rounds_completed": 1,
        "max_rounds": 2, "status": "in-progress", "verdict": null, "timestamp": "",
        "exchanges": [said("proposer", "One file."), said("challenger", "It locks.")],
    });
    lab.write_repo_file(&format!("{folder}/debate/last-debate.json"), &file.to_string())
}

#[test]
fn unsigned_state_file_needs_an_import() {
    let lab = TestEnv::new();
    let path = write_unsigned_state_file(&lab, ".opencode");
    for args in [["resume"].as_slice(), &["resume", "--yes"], &["show"], &["recheck"], &["watch"]] {
        let done = lab.debate(args).expect_error(2);
        done.assert_stderr_contains(
            "holds one you have not signed: \"Bare?[31m\", 2 turns, said to be by codex",
        );
        done.assert_stderr_contains(&format!("hint: `debate import {}`", path.display()));
    }
    lab.debate(&["list"]).expect_success().assert_stderr_contains("debate import");
    let listed = lab.debate(&["list", "--all", "--json"]).expect_success().json();
    assert_eq!(listed["debates"], json!([]), "nothing was taken in");
    lab.debate(&["import", path.to_str().unwrap()]).expect_success();
    lab.debate(&["resume"])
        .expect_exit_code(2)
        .assert_stderr_contains("Due: your word to go on with what was imported");
}

#[test]
fn mcp_import_needs_the_users_consent() {
    let lab = TestEnv::new();
    let path = write_unsigned_state_file(&lab, ".codex");
    let before = fs::read_to_string(&path).unwrap();
    let mut host = lab.mcp_client();
    for tool in ["continue_round", "summarize", "verdict", "show_debate"] {
        let error = host.expect_tool_error(tool, json!({}));
        let yes = "continue_round {\"decision\":\"import\"}";
        assert_contains_in_order(
            &error,
            &["2 turns, said to be by codex", "Next: ", "ask whether", yes],
        );
    }
    assert!(host.call_tool("list_debates", json!({}))["next"].to_string().contains("import"));
    assert_eq!(lab.debate(&["list", "--json"]).expect_success().json()["debates"], json!([]));
    let import = json!({"decision": "import"});
    let stands = host.call_tool("continue_round", import.clone());
    assert_eq!((&stands["status"], &stands["due"]["role"]), (&json!("paused"), &json!("user")));
    assert!(stands["notes"].to_string().contains("2 of 2 turns"), "{stands:#}");
    assert_eq!(host.call_tool("continue_round", import)["debate_id"], stands["debate_id"], "once");
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "the file is left as it is");
    // Nothing runs until the user continues. Then the host plays every seat.
    assert_eq!(host.call_tool("continue_round", json!({}))["status"], "paused");
    let stands = host.call_tool("continue_round", json!({"decision": "continue"}));
    assert_eq!(stands["due"]["role"], "Proposer", "{stands:#}");
    let ended = host.play_to_end(stands);
    assert_eq!(ended["status"], "completed");
    let shown = lab.debate(&["show", "--json"]).expect_success().json();
    assert!(shown["labels"].to_string().contains("imported"), "{shown:#}");
    lab.debate(&["replay"]).expect_success();
}

#[test]
fn import_can_assign_seats() {
    let lab = TestEnv::new();
    write_unsigned_state_file(&lab, ".claude");
    let mut host = lab.mcp_client();
    for (say, why) in [("challenger=-x", "does not begin with"), ("referee=host", "can be named")] {
        let error =
            host.expect_tool_error("continue_round", json!({"decision": "import", "say": say}));
        assert!(error.contains(why), "{error}");
    }
    let say = format!(
        "challenger={}, judge={}",
        lab.script_seat("contra.json"),
        lab.script_seat("pro.json")
    );
    host.call_tool("continue_round", json!({"decision": "import", "say": say}));
    let stands = host.call_tool("continue_round", json!({"decision": "continue"}));
    let (tool, speech) = due_tool_call(&stands).unwrap();
    let waiting = host.start_tool_call(tool, speech);
    assert_eq!(structured_content(&host.wait_for_response(waiting))["status"], "completed");
    let nothing = TestEnv::new()
        .mcp_client()
        .expect_tool_error("continue_round", json!({"decision": "import"}));
    assert!(nothing.contains("nothing to import"), "{nothing}");
}

/// Malformed files, symlinks out of the repository, and pipes are reported and block no command.
#[cfg(unix)]
#[test]
fn invalid_state_files_are_reported_and_skipped() {
    let lab = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&lab);
    let elsewhere = lab.temp_path("elsewhere");
    fs::create_dir_all(elsewhere.join("debate")).unwrap();
    fs::rename(lab.state_file_path(), elsewhere.join("debate/last-debate.json")).unwrap();
    fs::remove_dir_all(lab.repo_root().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, lab.repo_root().join(".claude")).unwrap();
    lab.write_repo_file(".opencode/debate/last-debate.json", "{\"id\": \u{0}");
    let done = lab.debate(&["list", "--json"]).expect_success();
    done.assert_stderr_contains(
        "`.claude/debate/last-debate.json`: this file cannot be read as a debate",
    );
    done.assert_stderr_contains("leads out of the repository");
    done.assert_stderr_contains(
        "`.opencode/debate/last-debate.json`: this file cannot be read as a debate",
    );
    // `.codex` has the first round of it.
    assert_eq!(done.json()["debates"][0]["id"], json!(id));
    assert!(log.starts_with(&lab.events(&id)) && lab.events(&id).len() < log.len());

    let lab = TestEnv::new();
    let folder = lab.repo_root().join(".codex/debate");
    fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("last-debate.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|made| made.success()) {
        lab.debate(&["list"]).expect_success().assert_stderr_contains("it is no plain file");
        lab.debate(&["resume"])
            .expect_error(2)
            .assert_stderr_contains("there is no unfinished debate");
    }
    fs::remove_file(&pipe).unwrap();
    std::os::unix::fs::symlink(lab.temp_path("pro.json"), &pipe).unwrap();
    lab.debate(&["list"]).expect_success().assert_stderr_contains("it is no plain file");
}

/// `AI_STATE_DIR` may be outside the repository.
#[test]
fn custom_state_folder_is_scanned() {
    let lab = TestEnv::new();
    let folder = lab.temp_path("states");
    let folder = folder.to_str().unwrap();
    lab.debate_run("Named?", &["--pause"]).env("AI_STATE_DIR", folder).expect_exit_code(2);
    let id = lab.latest_debate_id();
    delete_archive(&lab);
    lab.debate(&["resume", "--yes"])
        .expect_error(2)
        .assert_stderr_contains("there is no unfinished debate");
    let done = lab.debate(&["resume", "--yes"]).env("AI_STATE_DIR", folder).expect_success();
    done.assert_stderr_contains(&format!("{id} was not in the archive"));
}
