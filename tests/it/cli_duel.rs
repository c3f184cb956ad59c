//! A duel end to end: terminal output, state file, Markdown record and file permissions.
use super::test_env::{TestEnv, assert_contains_in_order};
use serde_json::Value;
use std::fs;
#[cfg(unix)]
use std::path::Path;

/// Sections of the summary, in order.
const HEADINGS: &[&str] = &[
    "## Debate Summary\n",
    "### Verdict\n",
    "proposer had the stronger argument because:",
    "### Debate Quality\n",
    "### Key Agreements\n",
    "### Key Disagreements\n",
    "### Unresolved Questions\n",
    "### Recommendation\n",
];

#[cfg(unix)]
fn permission_bits(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Rounds, and the expected turns: two per round, a scribe from round 3 on, two judges.
const TURNS_BY_ROUNDS: &[(u8, usize)] = &[(1, 4), (2, 6), (3, 9), (5, 15)];

fn play_duel(rounds: u8) -> TestEnv {
    let env = TestEnv::new();
    let output = env
        .debate_run("Should we use one file?", &["--rounds", &rounds.to_string()])
        .expect_success();
    output.assert_stdout_contains(HEADINGS);
    env
}

#[test]
fn duel_of_any_length_ends_with_a_summary() {
    for (rounds, turns) in TURNS_BY_ROUNDS {
        let env = TestEnv::new();
        let args = ["--rounds", &rounds.to_string()];
        let output = env.debate_run("Should we use one file?", &args).expect_success();
        output.assert_stdout_contains(HEADINGS);
        output.assert_stdout_contains(&[
            "Topic: Should we use one file?",
            &format!("Rounds: {rounds}"),
            "Status: success",
        ]);
        assert!(
            !output.stdout.contains("[INFO]") && !output.stdout.contains("[WARN]"),
            "{}",
            output.stdout
        );
        output.assert_stderr_contains("[INFO] Running round 1 proposer (script)");
        assert!(!output.stderr.contains("[WARN]"), "{}", output.stderr);
        let id = env.latest_debate_id();
        let turn_counts = env.turn_counts(&id);
        assert_eq!(turn_counts.len(), *turns, "{turn_counts:?}");
        assert!(turn_counts.values().all(|times| *times == 1), "{turn_counts:?}");
        env.assert_replays(&id);
    }
}

#[test]
fn default_is_two_rounds() {
    let env = TestEnv::new();
    env.debate_run("How many?", &[]).expect_success().assert_stdout_contains(&["Rounds: 2"]);
}

#[test]
fn state_file_has_the_documented_fields() {
    for (rounds, _) in TURNS_BY_ROUNDS {
        let env = play_duel(*rounds);
        let state = env.state_file_json();
        let text = |field: &str| state[field].as_str().unwrap().to_owned();
        let (prefix, id) = ("debate-20", text("id"));
        assert!(id.starts_with(prefix) && id.as_bytes()[id.len() - 5] == b'-', "{id}");
        assert_eq!(text("topic"), "Should we use one file?");
        for side in ["proposer", "challenger"] {
            assert_eq!(state[side]["tool"], "script");
            assert!(state[side]["model"].as_str().unwrap().contains(".json"));
        }
        assert!(state.as_object().unwrap().contains_key("effort"));
        assert_eq!(state["rounds_completed"], *rounds);
        assert_eq!(state["max_rounds"], *rounds);
        assert_eq!(text("status"), "completed");
        let exchanges = state["exchanges"].as_array().unwrap();
        assert_eq!(exchanges.len(), usize::from(*rounds) * 2);
        for (nth, exchange) in exchanges.iter().enumerate() {
            let role = ["proposer", "challenger"][nth % 2];
            assert_eq!(exchange["round"], nth / 2 + 1);
            assert_eq!(exchange["role"], role);
            assert!(exchange["duration_ms"].is_u64() && exchange["tool"] == "script");
            let response = exchange["response"].as_str().unwrap();
            assert!(!response.contains("```claims") && !response.is_empty(), "{response}");
        }
        check_verdict(&state["verdict"]);
        text("timestamp").parse::<jiff::Timestamp>().unwrap();
        assert!(state["log"]["setup"].is_object() && state["log"]["events"].is_array());
        assert_eq!(state["log"]["signature"].as_str().unwrap().len(), 64);
    }
}

fn check_verdict(verdict: &Value) {
    assert_eq!(verdict["winner"], "proposer");
    assert!(verdict["reasoning"].as_str().unwrap().contains("never answered"));
    assert_eq!(verdict["recommendation"], "Use one file and measure the lock.");
    for list in ["agreements", "disagreements"] {
        let list = verdict[list].as_array().unwrap();
        assert!(!list.is_empty() && list.iter().all(Value::is_string), "{list:?}");
    }
}

#[test]
fn effort_is_stored_in_the_state_file() {
    let env = TestEnv::new();
    env.debate_run("How hard?", &["--effort", "high", "--rounds", "1"]).expect_success();
    assert_eq!(env.state_file_json()["effort"], "high");
}

#[cfg(unix)]
#[test]
fn written_files_are_private_and_git_ignored() {
    let env = play_duel(1);
    let (root, home) = (env.repo_root(), env.data_dir());
    let record = record_path(&env);
    for file in [env.state_file_path(), home.join("archive.db"), home.join("key"), record] {
        assert_eq!(permission_bits(&file), 0o600, "{}", file.display());
    }
    assert_eq!(permission_bits(home), 0o700);
    let gitignore = |name: &str| fs::read_to_string(root.join(name).join(".gitignore")).unwrap();
    assert_eq!(gitignore(".claude/debate"), "*\n");
    assert_eq!(gitignore(".debates"), "*\n!.gitignore\n");
}

#[test]
fn existing_gitignore_is_not_overwritten() {
    let env = TestEnv::new();
    let gitignore = env.write_repo_file(".debates/.gitignore", "!*.md\n");
    env.debate_run("Keep them?", &["--rounds", "1"]).expect_success();
    assert_eq!(fs::read_to_string(gitignore).unwrap(), "!*.md\n");
}

fn record_path(env: &TestEnv) -> std::path::PathBuf {
    let shown = env.debate(&["show", "--json"]).expect_success().json();
    shown["record"].as_str().unwrap().into()
}

#[test]
fn record_file_is_named_by_date_and_topic() {
    for (rounds, _) in TURNS_BY_ROUNDS {
        let env = play_duel(*rounds);
        let path = record_path(&env);
        let id = env.latest_debate_id();
        let today = &id["debate-".len()..][..10];
        let name = format!("{today}-should-we-use-one-file.md");
        assert_eq!(path, env.repo_root().join(".debates").join(name));
        let record = fs::read_to_string(path).unwrap();
        let mut parts: Vec<String> = vec![
            "# Debate: Should we use one file?\n".into(),
            "**Id**: debate-".into(),
            format!("**Date**: {today}"),
            "**Status**: completed".into(),
            "**Participants**: Proposer script".into(),
            "**Outcome**: proposer had the stronger argument".into(),
        ];
        for round in 1..=*rounds {
            parts.push(format!("\n## Round {round}\n"));
            parts.push("\n### Proposer (script)\n".into());
            parts.push("\n### Challenger (script)\n".into());
        }
        let sections = ["\n## Verdict\n", "\n## Conclusion\n", "\n### Debate Summary\n"];
        parts.extend(sections.map(Into::into));
        assert_contains_in_order(&record, &parts.iter().map(String::as_str).collect::<Vec<_>>());
        // `show` and `export` print the text of the record file.
        assert_eq!(env.debate(&["show"]).expect_success().stdout, record);
        assert_eq!(env.debate(&["export"]).expect_success().stdout, record);
    }
}

#[test]
fn same_day_and_topic_get_numbered_record_files() {
    let env = TestEnv::new();
    for name in ["same.md", "same-2.md", "same-3.md"] {
        env.debate_run("Same?", &["--rounds", "1"]).expect_success();
        assert!(record_path(&env).display().to_string().ends_with(name), "{name}");
    }
    assert_eq!(fs::read_dir(env.repo_root().join(".debates")).unwrap().count(), 4);
}

#[test]
fn longest_record_name_leaves_room_for_a_number() {
    let env = TestEnv::new();
    let topic = "\u{20000}".repeat(80);
    for _ in 0..2 {
        env.debate_run(&topic, &["--rounds", "1"]).expect_success();
        assert!(record_path(&env).is_file(), "the record is missing");
    }
}

#[test]
fn outside_a_repository_files_go_to_the_current_folder() {
    let env = TestEnv::without_git();
    env.debate_run("Anywhere?", &["--rounds", "1"]).expect_success();
    assert_eq!(env.state_file_json()["status"], "completed");
    assert!(record_path(&env).starts_with(env.repo_root()));
}

#[test]
fn in_a_subfolder_files_go_to_the_repository_root() {
    let env = TestEnv::new();
    let file = env.write_repo_file("src/deep/a.rs", "fn main() {}\n");
    let folder = file.parent().unwrap();
    env.debate_run("Deep?", &["--rounds", "1"]).current_dir(folder).expect_success();
    assert_eq!(env.state_file_json()["topic"], "Deep?");
    assert!(!folder.join(".claude").exists());
}

#[test]
fn quiet_prints_only_the_result() {
    let env = TestEnv::new();
    let output = env.debate_run("Quiet?", &["--rounds", "1", "--quiet"]).expect_success();
    assert_eq!(output.stderr, "");
    output.assert_stdout_contains(HEADINGS);
}

#[test]
fn follow_prints_every_speech_then_the_summary() {
    let env = TestEnv::new();
    let output = env.debate_run("Aloud?", &["--rounds", "1", "--follow"]).expect_success();
    output.assert_stdout_contains(&[
        "Round 1 - Proposer (script)",
        "Use one file.",
        "claims: P1",
        "Round 1 - Challenger (script)",
        "One file locks.",
        "## Debate Summary",
    ]);
    assert!(!output.stdout.contains("```claims"), "{}", output.stdout);
}

#[test]
fn demo_runs_without_models_and_is_labelled() {
    let env = TestEnv::new();
    env.write_repo_file("src/big.rs", &"// line\n".repeat(40));
    let output = env.debate(&["demo"]).expect_success();
    output.assert_stdout_contains(&[
        "## Debate Summary",
        "DEMO",
        "### Verdict",
        "### Recommendation",
    ]);
    assert!(output.stdout.contains("src/big.rs"), "{}", output.stdout);
    assert_eq!(env.state_file_json()["labels"], serde_json::json!(["demo", "single-model"]));
    env.assert_replays(&env.latest_debate_id());
}
