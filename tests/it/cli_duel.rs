//! A duel end to end: terminal output, state file, Markdown record and file permissions.
use super::lab::{Lab, in_order};
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
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Rounds, and the expected turns: two per round, a scribe from round 3 on, two judges.
const ROWS: &[(u8, usize)] = &[(1, 4), (2, 6), (3, 9), (5, 15)];

fn played(rounds: u8) -> Lab {
    let lab = Lab::new();
    let out = lab.run("Should we use one file?", &["--rounds", &rounds.to_string()]).success();
    out.says(HEADINGS);
    lab
}

#[test]
fn a_duel_of_any_length_ends_with_a_summary() {
    for (rounds, turns) in ROWS {
        let lab = Lab::new();
        let more = ["--rounds", &rounds.to_string()];
        let done = lab.run("Should we use one file?", &more).success();
        done.says(HEADINGS);
        done.says(&[
            "Topic: Should we use one file?",
            &format!("Rounds: {rounds}"),
            "Status: success",
        ]);
        assert!(!done.out.contains("[INFO]") && !done.out.contains("[WARN]"), "{}", done.out);
        done.warns("[INFO] Running round 1 proposer (script)");
        assert!(!done.err.contains("[WARN]"), "{}", done.err);
        let id = lab.last();
        let taken = lab.turns_taken(&id);
        assert_eq!(taken.len(), *turns, "{taken:?}");
        assert!(taken.values().all(|times| *times == 1), "{taken:?}");
        lab.replays(&id);
    }
}

#[test]
fn without_a_number_there_are_two_rounds() {
    let lab = Lab::new();
    lab.run("How many?", &[]).success().says(&["Rounds: 2"]);
}

#[test]
fn the_state_file_has_the_fields_other_tools_know() {
    for (rounds, _) in ROWS {
        let lab = played(*rounds);
        let state = lab.state();
        let text = |field: &str| state[field].as_str().unwrap().to_owned();
        let (start, end) = ("debate-20", text("id"));
        assert!(end.starts_with(start) && end.as_bytes()[end.len() - 5] == b'-', "{end}");
        assert_eq!(text("topic"), "Should we use one file?");
        for side in ["proposer", "challenger"] {
            assert_eq!(state[side]["tool"], "script");
            assert!(state[side]["model"].as_str().unwrap().contains(".json"));
        }
        assert!(state.as_object().unwrap().contains_key("effort"));
        assert_eq!(state["rounds_completed"], *rounds);
        assert_eq!(state["max_rounds"], *rounds);
        assert_eq!(text("status"), "completed");
        let said = state["exchanges"].as_array().unwrap();
        assert_eq!(said.len(), usize::from(*rounds) * 2);
        for (nth, exchange) in said.iter().enumerate() {
            let role = ["proposer", "challenger"][nth % 2];
            assert_eq!(exchange["round"], nth / 2 + 1);
            assert_eq!(exchange["role"], role);
            assert!(exchange["duration_ms"].is_u64() && exchange["tool"] == "script");
            let response = exchange["response"].as_str().unwrap();
            assert!(!response.contains("```claims") && !response.is_empty(), "{response}");
        }
        verdict(&state["verdict"]);
        text("timestamp").parse::<jiff::Timestamp>().unwrap();
        assert!(state["log"]["setup"].is_object() && state["log"]["events"].is_array());
        assert_eq!(state["log"]["signature"].as_str().unwrap().len(), 64);
    }
}

fn verdict(verdict: &Value) {
    assert_eq!(verdict["winner"], "proposer");
    assert!(verdict["reasoning"].as_str().unwrap().contains("never answered"));
    assert_eq!(verdict["recommendation"], "Use one file and measure the lock.");
    for list in ["agreements", "disagreements"] {
        let list = verdict[list].as_array().unwrap();
        assert!(!list.is_empty() && list.iter().all(Value::is_string), "{list:?}");
    }
}

#[test]
fn effort_is_kept() {
    let lab = Lab::new();
    lab.run("How hard?", &["--effort", "high", "--rounds", "1"]).success();
    assert_eq!(lab.state()["effort"], "high");
}

#[cfg(unix)]
#[test]
fn what_is_written_is_private_and_ignored_by_git() {
    let lab = played(1);
    let (root, home) = (lab.root(), lab.home());
    let record = record_of(&lab);
    for file in [lab.state_path(), home.join("archive.db"), home.join("key"), record] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(home), 0o700);
    let ignored = |name: &str| fs::read_to_string(root.join(name).join(".gitignore")).unwrap();
    assert_eq!(ignored(".claude/debate"), "*\n");
    assert_eq!(ignored(".debates"), "*\n!.gitignore\n");
}

#[test]
fn a_gitignore_of_the_users_own_is_left_alone() {
    let lab = Lab::new();
    let ignore = lab.file(".debates/.gitignore", "!*.md\n");
    lab.run("Keep them?", &["--rounds", "1"]).success();
    assert_eq!(fs::read_to_string(ignore).unwrap(), "!*.md\n");
}

fn record_of(lab: &Lab) -> std::path::PathBuf {
    let shown = lab.debate(&["show", "--json"]).success().json();
    shown["record"].as_str().unwrap().into()
}

#[test]
fn the_record_is_named_by_day_and_topic_and_can_be_read() {
    for (rounds, _) in ROWS {
        let lab = played(*rounds);
        let path = record_of(&lab);
        let id = lab.last();
        let today = &id["debate-".len()..][..10];
        let name = format!("{today}-should-we-use-one-file.md");
        assert_eq!(path, lab.root().join(".debates").join(name));
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
        let rest = ["\n## Verdict\n", "\n## Conclusion\n", "\n### Debate Summary\n"];
        parts.extend(rest.map(Into::into));
        in_order(&record, &parts.iter().map(String::as_str).collect::<Vec<_>>());
        // `show` and `export` print the text of the record file.
        assert_eq!(lab.debate(&["show"]).success().out, record);
        assert_eq!(lab.debate(&["export"]).success().out, record);
    }
}

#[test]
fn debates_of_one_day_and_topic_do_not_overwrite_each_other() {
    let lab = Lab::new();
    for name in ["same.md", "same-2.md", "same-3.md"] {
        lab.run("Same?", &["--rounds", "1"]).success();
        assert!(record_of(&lab).display().to_string().ends_with(name), "{name}");
    }
    assert_eq!(fs::read_dir(lab.root().join(".debates")).unwrap().count(), 4);
}

#[test]
fn a_name_that_is_as_long_as_names_can_be_still_has_room_for_a_number() {
    let lab = Lab::new();
    let topic = "\u{20000}".repeat(80);
    for _ in 0..2 {
        lab.run(&topic, &["--rounds", "1"]).success();
        assert!(record_of(&lab).is_file(), "the record is missing");
    }
}

#[test]
fn outside_a_repository_a_debate_belongs_to_its_folder() {
    let lab = Lab::without_git();
    lab.run("Anywhere?", &["--rounds", "1"]).success();
    assert_eq!(lab.state()["status"], "completed");
    assert!(record_of(&lab).starts_with(lab.root()));
}

#[test]
fn below_a_repository_a_debate_belongs_to_the_repository() {
    let lab = Lab::new();
    let deep = lab.file("src/deep/a.rs", "fn main() {}\n");
    let folder = deep.parent().unwrap();
    lab.run("Deep?", &["--rounds", "1"]).folder(folder).success();
    assert_eq!(lab.state()["topic"], "Deep?");
    assert!(!folder.join(".claude").exists());
}

#[test]
fn quiet_says_nothing_but_the_result() {
    let lab = Lab::new();
    let done = lab.run("Quiet?", &["--rounds", "1", "--quiet"]).success();
    assert_eq!(done.err, "");
    done.says(HEADINGS);
}

#[test]
fn following_prints_every_speech_and_then_the_summary() {
    let lab = Lab::new();
    let done = lab.run("Aloud?", &["--rounds", "1", "--follow"]).success();
    done.says(&[
        "Round 1 - Proposer (script)",
        "Use one file.",
        "claims: P1",
        "Round 1 - Challenger (script)",
        "One file locks.",
        "## Debate Summary",
    ]);
    assert!(!done.out.contains("```claims"), "{}", done.out);
}

#[test]
fn the_demo_needs_nobody_and_says_what_it_is() {
    let lab = Lab::new();
    lab.file("src/big.rs", &"// line\n".repeat(40));
    let done = lab.debate(&["demo"]).success();
    done.says(&["## Debate Summary", "DEMO", "### Verdict", "### Recommendation"]);
    assert!(done.out.contains("src/big.rs"), "{}", done.out);
    assert_eq!(lab.state()["labels"], serde_json::json!(["demo", "single-model"]));
    lab.replays(&lab.last());
}
