//! Recovery of a lost archive from state files: logs signed by this user are restored
//! automatically, the longest of each debate. Unsigned files are reported and imported only on
//! request.
use crate::mcp_test_client::{due_tool_call, structured_content};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn delete_archive(env: &TestEnv) {
    for name in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        let _ = fs::remove_file(env.data_dir().join(name));
    }
}

fn state_file_path(env: &TestEnv, folder: &str) -> PathBuf {
    env.repo_root().join(folder).join("debate/last-debate.json")
}

/// Copies a state file to another client's folder.
fn copy_state_file(env: &TestEnv, from: &str, to: &str) {
    let path = state_file_path(env, to);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(state_file_path(env, from), path).unwrap();
}

/// A scripted duel of three rounds, paused after the second, whose archive was then deleted. The
/// state file in `.codex` has only the first round. Returns the id and the log.
fn debate_with_lost_archive(env: &TestEnv) -> (String, Vec<Value>) {
    let mut host = env.mcp_client();
    let start = json!({"topic": "Lost?", "rounds": 3, "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json"), "judge": env.script_seat("pro.json")});
    let first = host.call_tool("start_debate", start);
    let id = first["debate_id"].as_str().unwrap().to_owned();
    host.disconnect();
    copy_state_file(env, ".claude", ".codex");
    let mut host = env.mcp_client();
    let second = host.call_tool("continue_round", json!({"turn": first["due"]["turn"]}));
    assert_eq!(second["round"], 2);
    host.disconnect();
    let log = env.events(&id);
    delete_archive(env);
    (id, log)
}

#[test]
fn longest_signed_log_is_restored() {
    let env = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&env);
    copy_state_file(&env, ".claude", ".opencode");
    fs::remove_file(env.state_file_path()).unwrap();
    let output = env.debate(&["resume", "--yes"]).expect_success();
    output.assert_stderr_contains(&format!(
        "{id} was not in the archive and was imported from `.opencode/debate/"
    ));
    output.assert_stderr_contains("Lost? (duel, paused, round 2 of 3)");
    output.assert_stdout_contains(&["Rounds: 3", "### Verdict"]);
    let restored_events = env.events(&id);
    assert_eq!(restored_events[..log.len()], log, "the restored events are unchanged");
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
    // Both state files are written from now on, and the record file is reused.
    let shown = env.debate(&["show", "--json"]).expect_success().json();
    let files = shown["state_files"].to_string();
    assert!(files.contains(".opencode") && files.contains(".claude"), "{files}");
    let records = fs::read_dir(env.repo_root().join(".debates")).unwrap().flatten();
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
        let env = TestEnv::new();
        let (id, log) = debate_with_lost_archive(&env);
        let output = env.debate(args).output();
        assert!(
            output.stderr.contains("was not in the archive and was imported"),
            "{args:?}: {output:#?}"
        );
        assert_eq!(env.events(&id), log, "{args:?}");
    }
    let env = TestEnv::new();
    let (id, _) = debate_with_lost_archive(&env);
    env.debate(&["show", &id]).expect_success().assert_stdout_contains(&["# Debate: Lost?"]);
    // Once the debate is in the archive, nothing is reported.
    assert!(!env.debate(&["list"]).expect_success().stderr.contains("was imported"));
}

#[test]
fn mcp_tools_restore_a_lost_debate() {
    for (tool, field) in
        [("continue_round", "notes"), ("summarize", "notes"), ("show_debate", "next")]
    {
        let env = TestEnv::new();
        let (id, log) = debate_with_lost_archive(&env);
        let mut host = env.mcp_client_named("opencode");
        let arguments = json!({"wait_seconds": 0});
        let response =
            host.call_tool(tool, if tool == "continue_round" { arguments } else { json!({}) });
        assert_eq!(response["debate_id"], json!(id));
        assert!(response[field].to_string().contains("was not in the archive"), "{response:#}");
        assert_eq!(env.events(&id)[..log.len()], log);
    }
    let env = TestEnv::new();
    let (id, _) = debate_with_lost_archive(&env);
    let listed = env.mcp_client().call_tool("list_debates", json!({}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(id));
    assert!(listed["next"].as_str().unwrap().contains("was imported from"), "{listed:#}");
}

#[test]
fn concurrent_commands_restore_one_debate() {
    let env = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&env);
    env.debate(&["doctor"]).output();
    let processes = [env.debate(&["list"]).spawn(), env.debate(&["show", "last"]).spawn()];
    for process in processes {
        let output = process.wait();
        assert_eq!(output.exit_code, Some(0), "{output:#?}");
    }
    let listed = env.debate(&["list", "--json"]).expect_success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 1);
    assert_eq!(env.events(&id), log);
}

#[test]
fn longer_log_from_another_home_is_continued() {
    let env = TestEnv::new();
    env.debate_run("Elsewhere?", &["--pause"]).expect_exit_code(2);
    let (id, other_home) = (env.latest_debate_id(), env.copy_data_dir("elsewhere"));
    env.debate(&["resume", &id, "--yes"]).data_dir(&other_home).expect_success();
    let event_count = env.events(&id).len();
    let output = env.debate(&["resume", &id]).expect_success();
    output.assert_stderr_contains(&format!("newer events of {id} were imported from"));
    output.assert_stdout_contains(&["### Verdict"]);
    assert!(env.events(&id).len() > event_count);
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
}

/// Logs that diverged are not merged. The other log is imported once as a separate debate, so that
/// its state file can be overwritten.
#[test]
fn diverged_log_becomes_a_separate_debate() {
    let env = TestEnv::new();
    env.debate_run("Apart?", &["--pause"]).expect_exit_code(2);
    let (id, other_home) = (env.latest_debate_id(), env.copy_data_dir("elsewhere"));
    env.debate(&["resume", &id, "--yes"]).expect_success();
    let different_turn =
        json!({"phase": "defend", "text": speech_with_claim("Otherwise.", "P1", &["C1"])});
    env.write_script(&SeatScript::new().prepend(different_turn));
    // The state file written here was not synchronized to the other home.
    fs::remove_file(env.state_file_path()).unwrap();
    env.debate(&["resume", &id, "--yes"]).data_dir(&other_home).expect_success();
    let (other_state, mut was_reported) = (env.state_file_text(), vec![]);
    let before = env.events(&id);
    for _ in 0..2 {
        was_reported.push(
            env.debate(&["resume", &id])
                .expect_success()
                .stderr
                .contains("that differs from the archive"),
        );
        assert_eq!(env.events(&id), before);
        fs::write(env.state_file_path(), &other_state).unwrap();
    }
    assert_eq!(was_reported, [true, false]);
    let listed = env.debate(&["list", "--json"]).expect_success().json();
    let ids: Vec<&str> =
        listed["debates"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let imported = ids.iter().find(|it| **it != id).unwrap();
    env.debate(&["show", imported]).expect_success().assert_stdout_contains(&["Otherwise."]);
}

/// Writes an unsigned state file, in the format other programs use.
fn write_unsigned_state_file(env: &TestEnv, folder: &str) -> PathBuf {
    let exchange = |role: &str, text: &str| json!({"round": 1, "role": role, "tool": "codex", "response": text, "duration_ms": 5});
    let state = json!({
        "id": "debate-1", "topic": "Bare?\u{1b}[31m", "proposer": {"tool": "claude"},
        "challenger": {"tool": "codex", "model": null}, "effort": "high", "rounds_completed": 1,
        "max_rounds": 2, "status": "in-progress", "verdict": null, "timestamp": "",
        "exchanges": [exchange("proposer", "One file."), exchange("challenger", "It locks.")],
    });
    env.write_repo_file(&format!("{folder}/debate/last-debate.json"), &state.to_string())
}

#[test]
fn unsigned_state_file_needs_an_import() {
    let env = TestEnv::new();
    let path = write_unsigned_state_file(&env, ".opencode");
    for args in [["resume"].as_slice(), &["resume", "--yes"], &["show"], &["recheck"], &["watch"]] {
        let output = env.debate(args).expect_error(2);
        output.assert_stderr_contains(
            "holds one you have not signed: \"Bare?[31m\", 2 turns, said to be by codex",
        );
        output.assert_stderr_contains(&format!("hint: `debate import {}`", path.display()));
    }
    env.debate(&["list"]).expect_success().assert_stderr_contains("debate import");
    let listed = env.debate(&["list", "--all", "--json"]).expect_success().json();
    assert_eq!(listed["debates"], json!([]), "nothing was imported");
    env.debate(&["import", path.to_str().unwrap()]).expect_success();
    env.debate(&["resume"])
        .expect_exit_code(2)
        .assert_stderr_contains("Due: your word to go on with what was imported");
}

#[test]
fn mcp_import_needs_the_users_consent() {
    let env = TestEnv::new();
    let path = write_unsigned_state_file(&env, ".codex");
    let before = fs::read_to_string(&path).unwrap();
    let mut host = env.mcp_client();
    for tool in ["continue_round", "summarize", "verdict", "show_debate"] {
        let error = host.expect_tool_error(tool, json!({}));
        let import_call = "continue_round {\"decision\":\"import\"}";
        assert_contains_in_order(
            &error,
            &["2 turns, said to be by codex", "Next: ", "ask whether", import_call],
        );
    }
    assert!(host.call_tool("list_debates", json!({}))["next"].to_string().contains("import"));
    assert_eq!(env.debate(&["list", "--json"]).expect_success().json()["debates"], json!([]));
    let arguments = json!({"decision": "import"});
    let status = host.call_tool("continue_round", arguments.clone());
    assert_eq!((&status["status"], &status["due"]["role"]), (&json!("paused"), &json!("user")));
    assert!(status["notes"].to_string().contains("2 of 2 turns"), "{status:#}");
    assert_eq!(
        host.call_tool("continue_round", arguments)["debate_id"],
        status["debate_id"],
        "a second import gives the same debate"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "the file is unchanged");
    // Nothing runs until the user continues. Then the host plays every seat.
    assert_eq!(host.call_tool("continue_round", json!({}))["status"], "paused");
    let status = host.call_tool("continue_round", json!({"decision": "continue"}));
    assert_eq!(status["due"]["role"], "Proposer", "{status:#}");
    let result = host.play_to_end(status);
    assert_eq!(result["status"], "completed");
    let view = env.debate(&["show", "--json"]).expect_success().json();
    assert!(view["labels"].to_string().contains("imported"), "{view:#}");
    env.debate(&["replay"]).expect_success();
}

#[test]
fn import_can_assign_seats() {
    let env = TestEnv::new();
    write_unsigned_state_file(&env, ".claude");
    let mut host = env.mcp_client();
    for (say, expected) in
        [("challenger=-x", "does not begin with"), ("referee=host", "can be named")]
    {
        let error =
            host.expect_tool_error("continue_round", json!({"decision": "import", "say": say}));
        assert!(error.contains(expected), "{error}");
    }
    let say = format!(
        "challenger={}, judge={}",
        env.script_seat("contra.json"),
        env.script_seat("pro.json")
    );
    host.call_tool("continue_round", json!({"decision": "import", "say": say}));
    let status = host.call_tool("continue_round", json!({"decision": "continue"}));
    let (tool, speech) = due_tool_call(&status).unwrap();
    let request_id = host.start_tool_call(tool, speech);
    assert_eq!(structured_content(&host.wait_for_response(request_id))["status"], "completed");
    let no_file_error = TestEnv::new()
        .mcp_client()
        .expect_tool_error("continue_round", json!({"decision": "import"}));
    assert!(no_file_error.contains("nothing to import"), "{no_file_error}");
}

/// Malformed files, symlinks out of the repository, and pipes are reported and block no command.
#[cfg(unix)]
#[test]
fn invalid_state_files_are_reported_and_skipped() {
    let env = TestEnv::new();
    let (id, log) = debate_with_lost_archive(&env);
    let elsewhere = env.temp_path("elsewhere");
    fs::create_dir_all(elsewhere.join("debate")).unwrap();
    fs::rename(env.state_file_path(), elsewhere.join("debate/last-debate.json")).unwrap();
    fs::remove_dir_all(env.repo_root().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.repo_root().join(".claude")).unwrap();
    env.write_repo_file(".opencode/debate/last-debate.json", "{\"id\": \u{0}");
    let output = env.debate(&["list", "--json"]).expect_success();
    output.assert_stderr_contains(
        "`.claude/debate/last-debate.json`: this file cannot be read as a debate",
    );
    output.assert_stderr_contains("leads out of the repository");
    output.assert_stderr_contains(
        "`.opencode/debate/last-debate.json`: this file cannot be read as a debate",
    );
    // The first round of the debate is restored from `.codex`.
    assert_eq!(output.json()["debates"][0]["id"], json!(id));
    assert!(log.starts_with(&env.events(&id)) && env.events(&id).len() < log.len());

    let env = TestEnv::new();
    let folder = env.repo_root().join(".codex/debate");
    fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("last-debate.json");
    let created = std::process::Command::new("mkfifo").arg(&pipe).status();
    if created.is_ok_and(|created| created.success()) {
        env.debate(&["list"]).expect_success().assert_stderr_contains("it is not a regular file");
        env.debate(&["resume"])
            .expect_error(2)
            .assert_stderr_contains("there is no unfinished debate");
    }
    fs::remove_file(&pipe).unwrap();
    std::os::unix::fs::symlink(env.temp_path("pro.json"), &pipe).unwrap();
    env.debate(&["list"]).expect_success().assert_stderr_contains("it is not a regular file");
}

/// `AI_STATE_DIR` may be outside the repository.
#[test]
fn custom_state_folder_is_scanned() {
    let env = TestEnv::new();
    let folder = env.temp_path("states");
    let folder = folder.to_str().unwrap();
    env.debate_run("Named?", &["--pause"]).env("AI_STATE_DIR", folder).expect_exit_code(2);
    let id = env.latest_debate_id();
    delete_archive(&env);
    env.debate(&["resume", "--yes"])
        .expect_error(2)
        .assert_stderr_contains("there is no unfinished debate");
    let output = env.debate(&["resume", "--yes"]).env("AI_STATE_DIR", folder).expect_success();
    output.assert_stderr_contains(&format!("{id} was not in the archive"));
}
