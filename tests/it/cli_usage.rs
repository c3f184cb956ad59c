//! Usage errors: exit code 2, nothing on stdout, nothing stored, and a hint. Also budgets, pauses,
//! help and quiet mode.
use super::test_env::{CommandOutput, TestEnv};

/// Arguments after `debate run TOPIC` with two scripted seats, and the expected error.
const INVALID_ARGS: &[(&[&str], &str)] = &[
    (&["--rounds", "0"], "0 rounds were asked for; this format has 1 to 5"),
    (&["--rounds", "6"], "6 rounds were asked for; this format has 1 to 5"),
    (&["--rounds", "256"], "256"),
    (&["--rounds", "two"], "two"),
    (&["--format", "brawl"], "unknown format `brawl`; known: duel"),
    (&["--format", ""], "unknown format"),
    (&["--effort", "extreme"], "extreme"),
    (&["--max-cost=-1"], "-1"),
    (&["--max-cost", "NaN"], "NaN"),
    (&["--max-cost", "inf"], "inf"),
    (&["--max-cost", "much"], "much"),
    (&["--context", "everything"], "there is no file `everything`"),
    (&["--context", "file=nowhere.rs"], "nowhere.rs"),
    (&["--model-proposer", "opus"], "model is given twice, or it takes none"),
    (&["--model-challenger", "opus"], "model is given twice, or it takes none"),
    (&["--turn-timeout", "-5"], "-5"),
    (&["--no-such-flag"], "--no-such-flag"),
];

/// Seat specifications that cannot be parsed.
const INVALID_SEATS: &[&str] = &[
    "",
    ":",
    ":opus",
    "-claude",
    "cla ude",
    "claude:--help",
    "claude:a b",
    "claude:$(id)",
    "human:x",
    "host:y",
    "a/b",
    "claude;id",
];

fn assert_nothing_stored(lab: &TestEnv) {
    let listed = lab.debate(&["list", "--all", "--json"]).expect_success().json();
    assert_eq!(listed["debates"], serde_json::json!([]));
    assert!(!lab.state_file_path().exists() && !lab.repo_root().join(".debates").exists());
}

/// Checks for a hint. Errors of the argument parser itself end with "try '--help'".
#[track_caller]
fn assert_hint(done: &CommandOutput) {
    assert!(
        done.stderr.contains("hint:") || done.stderr.contains("try '--help'"),
        "{}",
        done.stderr
    );
}

#[test]
fn invalid_arguments_exit_2_and_store_nothing() {
    let lab = TestEnv::new();
    for (args, says) in INVALID_ARGS {
        let done = lab.debate_run("Wrong?", args).expect_error(2);
        done.assert_stderr_contains(says);
    }
    assert_nothing_stored(&lab);
}

#[test]
fn usage_errors_have_a_hint() {
    let lab = TestEnv::new();
    for (args, _) in INVALID_ARGS {
        assert_hint(&lab.debate_run("Wrong?", args).expect_error(2));
    }
    assert_hint(&lab.debate_run(" ", &[]).expect_error(2));
    assert_hint(&lab.debate_run(&"x".repeat(5_000), &[]).expect_error(2));
}

#[test]
fn invalid_seat_specification_is_refused() {
    let lab = TestEnv::new();
    for seat in INVALID_SEATS {
        for flag in ["--proposer", "--challenger", "--judge"] {
            let flag = format!("{flag}={seat}");
            let done = lab.debate(&["run", "Wrong?", &flag]).expect_error(2);
            assert_hint(&done);
        }
        let seat = format!("--seat=challenger={seat}");
        assert_hint(&lab.debate(&["resume", &seat]).expect_error(2));
    }
    assert_nothing_stored(&lab);
}

#[test]
fn same_tool_on_both_sides_is_refused() {
    let lab = TestEnv::new();
    for (one, other) in [("claude", "claude"), ("codex:a", "codex:b"), ("gemini", "gemini:auto")] {
        let args = ["run", "Itself?", "--proposer", one, "--challenger", other];
        let done = lab.debate(&args).expect_error(2);
        done.assert_stderr_contains("a debate needs two different tools");
        assert_hint(&done);
    }
    assert_nothing_stored(&lab);
}

/// The demo does not fill an empty seat.
#[test]
fn missing_or_unknown_seats_exit_4() {
    let lab = TestEnv::new();
    let pro = lab.script_seat("pro.json");
    let rows: &[(&[&str], &str)] = &[
        (&[], "nobody plays the proposer"),
        (&["--proposer", &pro], "nobody plays the challenger"),
        (&["--challenger", &pro], "nobody plays the proposer"),
        (&["--proposer", &pro, "--challenger", "script:nowhere.json"], "nowhere.json"),
        (&["--proposer", &pro, "--challenger", "script"], "name its file"),
        (&["--proposer", &pro, "--challenger", "eliza"], "there is no such tool"),
        (&["--proposer", &pro, "--challenger", "claude"], "`claude` is not installed"),
        (&["--proposer", &pro, "--challenger", "human", "--judge", "eliza"], "no such tool"),
    ];
    for (args, says) in rows {
        let done = lab.debate(&[&["run", "Who?"], *args].concat()).expect_error(4);
        done.assert_stderr_contains(says);
        done.assert_stderr_contains("hint:");
        assert!(!done.stderr.contains("DEMO"), "{}", done.stderr);
    }
    assert_nothing_stored(&lab);
}

#[test]
fn invalid_script_file_is_refused_before_the_start() {
    let lab = TestEnv::new();
    for text in [
        "",
        "{}",
        "[]",
        "{\"turns\": [{}]}",
        "{\"turns\": [{\"txt\": \"x\"}]}",
        "{\"turns\": [{\"fail\": \"sulked\"}]}",
    ] {
        std::fs::write(lab.temp_path("contra.json"), text).unwrap();
        lab.debate_run("Script?", &[]).expect_error(4).assert_stderr_contains("contra.json");
    }
    assert_nothing_stored(&lab);
}

#[test]
fn empty_or_too_long_topic_is_refused() {
    let lab = TestEnv::new();
    for topic in ["", "  \n\t"] {
        lab.debate_run(topic, &[]).expect_error(2).assert_stderr_contains("the topic is empty");
    }
    lab.debate_run(&"长".repeat(5_000), &[])
        .expect_error(2)
        .assert_stderr_contains("5000 of at most 4000");
    assert_nothing_stored(&lab);
    let done = lab.debate_run(&"长".repeat(4_000), &["--rounds", "1"]).expect_success();
    done.assert_stdout_contains(&["### Verdict"]);
}

#[test]
fn exhausted_cost_budget_pauses_the_debate() {
    let lab = TestEnv::new();
    let done = lab.debate_run("Money?", &["--max-cost", "0"]).expect_exit_code(2);
    done.assert_stderr_contains(
        "The budget is spent. Allow more when you resume, with `--max-cost X`",
    );
    done.assert_stdout_contains(&["Status: paused", "No verdict yet."]);
    assert_eq!(lab.state_file_json()["status"], "paused");
    lab.debate(&["resume"]).expect_exit_code(2).assert_stderr_contains("The budget is spent");
    lab.debate(&["resume", "--yes"])
        .expect_exit_code(2)
        .assert_stderr_contains("The budget is spent");
    lab.debate(&["resume", "--max-cost=-3"]).expect_error(2);
    lab.debate(&["resume", "--max-cost", "0.01"])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    lab.assert_replays(&lab.latest_debate_id());
}

/// Each budget is raised by its own flag.
#[test]
fn exhausted_token_or_time_budget_pauses_the_debate() {
    for flag in ["--max-tokens", "--max-minutes"] {
        let lab = TestEnv::new();
        lab.debate_run("Enough?", &[flag, "0"])
            .expect_exit_code(2)
            .assert_stderr_contains("The budget is spent");
        let done = lab.debate(&["resume", "--max-cost", "9"]).expect_error(2);
        done.assert_stderr_contains("more than that is spent already");
        done.assert_stderr_contains(flag);
        lab.debate(&["resume", flag, "1000"])
            .expect_success()
            .assert_stdout_contains(&["### Verdict"]);
    }
}

#[test]
fn pause_without_a_terminal_stops_before_each_round() {
    let lab = TestEnv::new();
    let done = lab.debate_run("Pause?", &["--pause"]).expect_exit_code(2);
    done.assert_stderr_contains("Paused before round 2. `--yes` goes on without asking.");
    done.assert_stdout_contains(&["Rounds: 1", "Status: paused"]);
    let before = lab.events(&lab.latest_debate_id());
    lab.debate(&["resume"]).expect_exit_code(2).assert_stderr_contains("Paused before round 2");
    lab.debate(&["resume"]).stdin("y\n").expect_exit_code(2);
    assert_eq!(lab.events(&lab.latest_debate_id()), before, "a pipe says no yes");
    let done = lab.debate(&["resume", "--say", "Mind the lock.", "--yes"]).expect_success();
    done.assert_stdout_contains(&["Rounds: 2", "### Verdict"]);
    let prompt = lab.debate(&["show", "--prompt", "1.2.0.0"]).expect_success();
    prompt.assert_stdout_contains(&["Mind the lock."]);
    lab.debate(&["show"]).expect_success().assert_stdout_contains(&[
        "### User Input",
        "Mind the lock.",
        "## Round 2",
    ]);
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn paused_debate_can_be_concluded() {
    let lab = TestEnv::new();
    lab.debate_run("Enough?", &["--pause", "--rounds", "5"]).expect_exit_code(2);
    lab.debate(&["resume", "--conclude"])
        .expect_success()
        .assert_stdout_contains(&["Rounds: 1", "### Verdict"]);
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn unknown_seat_or_turn_is_refused() {
    let lab = TestEnv::new();
    lab.debate_run("Seats?", &["--pause"]).expect_exit_code(2);
    let before = lab.events(&lab.latest_debate_id());
    lab.debate(&["resume", "--seat", "king=human"])
        .expect_error(2)
        .assert_stderr_contains("its seats are");
    lab.debate(&["resume", "--seat", "king"]).expect_error(2);
    lab.debate(&["resume", "--seat", "challenger=eliza"]).expect_error(4);
    lab.debate(&["show", "--prompt", "9.9.9.9"])
        .expect_error(2)
        .assert_stderr_contains("its turns so far are");
    lab.debate(&["show", "--prompt", "x"]).expect_error(2);
    assert_eq!(lab.events(&lab.latest_debate_id()), before);
}

#[test]
fn help_and_version_go_to_stdout() {
    let lab = TestEnv::new();
    lab.debate(&["--help"])
        .expect_success()
        .assert_stdout_contains(&["Usage: debate", "Exit codes: 0 ok"]);
    lab.debate(&["--version"])
        .expect_success()
        .assert_stdout_contains(&[env!("CARGO_PKG_VERSION")]);
    lab.debate(&["completions", "bash"]).expect_success().assert_stdout_contains(&["debate"]);
    lab.debate(&[]).expect_exit_code(2);
    assert!(!lab.data_dir().exists(), "nothing is made before it is needed");
}

#[test]
fn invalid_replay_speed_is_refused() {
    let lab = TestEnv::new();
    lab.debate_run("Fast?", &["--rounds", "1"]).expect_success();
    for speed in ["NaN", "inf", "1e-300", "-1"] {
        let done = lab.debate(&["replay", &format!("--speed={speed}")]).output();
        assert_eq!(done.exit_code, Some(2), "{speed}: {done:#?}");
    }
}

#[test]
fn bot_seat_is_refused_in_the_terminal() {
    let lab = TestEnv::new();
    let pro = lab.script_seat("pro.json");
    let args = ["run", "Bot?", "--proposer", &pro, "--challenger", "bot"];
    lab.debate(&args).expect_error(4);
}

#[test]
fn quiet_prints_only_errors() {
    let lab = TestEnv::new();
    let done = lab.debate_run("Quiet?", &["--pause", "--quiet"]).expect_exit_code(2);
    assert_eq!(done.stderr, "");
}
