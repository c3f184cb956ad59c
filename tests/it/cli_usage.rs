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

fn assert_nothing_stored(env: &TestEnv) {
    let listed = env.debate(&["list", "--all", "--json"]).expect_success().json();
    assert_eq!(listed["debates"], serde_json::json!([]));
    assert!(!env.state_file_path().exists() && !env.repo_root().join(".debates").exists());
}

/// Checks for a hint. Errors of the argument parser itself end with "try '--help'".
#[track_caller]
fn assert_hint(output: &CommandOutput) {
    assert!(
        output.stderr.contains("hint:") || output.stderr.contains("try '--help'"),
        "{}",
        output.stderr
    );
}

#[test]
fn invalid_arguments_exit_2_and_store_nothing() {
    let env = TestEnv::new();
    for (args, message) in INVALID_ARGS {
        let output = env.debate_run("Wrong?", args).expect_error(2);
        output.assert_stderr_contains(message);
    }
    assert_nothing_stored(&env);
}

#[test]
fn usage_errors_have_a_hint() {
    let env = TestEnv::new();
    for (args, _) in INVALID_ARGS {
        assert_hint(&env.debate_run("Wrong?", args).expect_error(2));
    }
    assert_hint(&env.debate_run(" ", &[]).expect_error(2));
    assert_hint(&env.debate_run(&"x".repeat(5_000), &[]).expect_error(2));
}

#[test]
fn invalid_seat_specification_is_refused() {
    let env = TestEnv::new();
    for seat in INVALID_SEATS {
        for flag in ["--proposer", "--challenger", "--judge"] {
            let flag = format!("{flag}={seat}");
            let output = env.debate(&["run", "Wrong?", &flag]).expect_error(2);
            assert_hint(&output);
        }
        let seat = format!("--seat=challenger={seat}");
        assert_hint(&env.debate(&["resume", &seat]).expect_error(2));
    }
    assert_nothing_stored(&env);
}

#[test]
fn same_tool_on_both_sides_is_refused() {
    let env = TestEnv::new();
    for (proposer, challenger) in
        [("claude", "claude"), ("codex:a", "codex:b"), ("gemini", "gemini:auto")]
    {
        let args = ["run", "Itself?", "--proposer", proposer, "--challenger", challenger];
        let output = env.debate(&args).expect_error(2);
        output.assert_stderr_contains("a debate needs two different tools");
        assert_hint(&output);
    }
    assert_nothing_stored(&env);
}

/// The demo does not fill an empty seat.
#[test]
fn missing_or_unknown_seats_exit_4() {
    let env = TestEnv::new();
    let pro = env.script_seat("pro.json");
    let cases: &[(&[&str], &str)] = &[
        (&[], "no participant is available as proposer"),
        (&["--proposer", &pro], "no participant is available as challenger"),
        (&["--challenger", &pro], "no participant is available as proposer"),
        (&["--proposer", &pro, "--challenger", "script:nowhere.json"], "nowhere.json"),
        (&["--proposer", &pro, "--challenger", "script"], "name its file"),
        (&["--proposer", &pro, "--challenger", "eliza"], "there is no such tool"),
        (&["--proposer", &pro, "--challenger", "claude"], "`claude` is not installed"),
        (&["--proposer", &pro, "--challenger", "human", "--judge", "eliza"], "no such tool"),
    ];
    for (args, message) in cases {
        let output = env.debate(&[&["run", "Who?"], *args].concat()).expect_error(4);
        output.assert_stderr_contains(message);
        output.assert_stderr_contains("hint:");
        assert!(!output.stderr.contains("DEMO"), "{}", output.stderr);
    }
    assert_nothing_stored(&env);
}

#[test]
fn invalid_script_file_is_refused_before_the_start() {
    let env = TestEnv::new();
    for text in [
        "",
        "{}",
        "[]",
        "{\"turns\": [{}]}",
        "{\"turns\": [{\"txt\": \"x\"}]}",
        "{\"turns\": [{\"fail\": \"sulked\"}]}",
    ] {
        std::fs::write(env.temp_path("contra.json"), text).unwrap();
        env.debate_run("Script?", &[]).expect_error(4).assert_stderr_contains("contra.json");
    }
    assert_nothing_stored(&env);
}

#[test]
fn empty_or_too_long_topic_is_refused() {
    let env = TestEnv::new();
    for topic in ["", "  \n\t"] {
        env.debate_run(topic, &[]).expect_error(2).assert_stderr_contains("the topic is empty");
    }
    env.debate_run(&"长".repeat(5_000), &[])
        .expect_error(2)
        .assert_stderr_contains("5000 of at most 4000");
    assert_nothing_stored(&env);
    let output = env.debate_run(&"长".repeat(4_000), &["--rounds", "1"]).expect_success();
    output.assert_stdout_contains(&["### Verdict"]);
}

#[test]
fn exhausted_cost_budget_pauses_the_debate() {
    let env = TestEnv::new();
    let output = env.debate_run("Money?", &["--max-cost", "0"]).expect_exit_code(2);
    output.assert_stderr_contains(
        "The budget is spent. Allow more when you resume, with `--max-cost X`",
    );
    output.assert_stdout_contains(&["Status: paused", "No verdict yet."]);
    assert_eq!(env.state_file_json()["status"], "paused");
    env.debate(&["resume"]).expect_exit_code(2).assert_stderr_contains("The budget is spent");
    env.debate(&["resume", "--yes"])
        .expect_exit_code(2)
        .assert_stderr_contains("The budget is spent");
    env.debate(&["resume", "--max-cost=-3"]).expect_error(2);
    env.debate(&["resume", "--max-cost", "0.01"])
        .expect_success()
        .assert_stdout_contains(&["### Verdict"]);
    env.assert_replays(&env.latest_debate_id());
}

/// Each budget is raised by its own flag.
#[test]
fn exhausted_token_or_time_budget_pauses_the_debate() {
    for flag in ["--max-tokens", "--max-minutes"] {
        let env = TestEnv::new();
        env.debate_run("Enough?", &[flag, "0"])
            .expect_exit_code(2)
            .assert_stderr_contains("The budget is spent");
        let output = env.debate(&["resume", "--max-cost", "9"]).expect_error(2);
        output.assert_stderr_contains("more than that is spent already");
        output.assert_stderr_contains(flag);
        env.debate(&["resume", flag, "1000"])
            .expect_success()
            .assert_stdout_contains(&["### Verdict"]);
    }
}

#[test]
fn pause_without_a_terminal_stops_before_each_round() {
    let env = TestEnv::new();
    let output = env.debate_run("Pause?", &["--pause"]).expect_exit_code(2);
    output.assert_stderr_contains("Paused before round 2. `--yes` goes on without asking.");
    output.assert_stdout_contains(&["Rounds: 1", "Status: paused"]);
    let before = env.events(&env.latest_debate_id());
    env.debate(&["resume"]).expect_exit_code(2).assert_stderr_contains("Paused before round 2");
    env.debate(&["resume"]).stdin("y\n").expect_exit_code(2);
    assert_eq!(env.events(&env.latest_debate_id()), before, "a pipe is no confirmation");
    let output = env.debate(&["resume", "--say", "Mind the lock.", "--yes"]).expect_success();
    output.assert_stdout_contains(&["Rounds: 2", "### Verdict"]);
    let prompt = env.debate(&["show", "--prompt", "1.2.0.0"]).expect_success();
    prompt.assert_stdout_contains(&["Mind the lock."]);
    env.debate(&["show"]).expect_success().assert_stdout_contains(&[
        "### User Input",
        "Mind the lock.",
        "## Round 2",
    ]);
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn paused_debate_can_be_concluded() {
    let env = TestEnv::new();
    env.debate_run("Enough?", &["--pause", "--rounds", "5"]).expect_exit_code(2);
    env.debate(&["resume", "--conclude"])
        .expect_success()
        .assert_stdout_contains(&["Rounds: 1", "### Verdict"]);
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn unknown_seat_or_turn_is_refused() {
    let env = TestEnv::new();
    env.debate_run("Seats?", &["--pause"]).expect_exit_code(2);
    let before = env.events(&env.latest_debate_id());
    env.debate(&["resume", "--seat", "king=human"])
        .expect_error(2)
        .assert_stderr_contains("its seats are");
    env.debate(&["resume", "--seat", "king"]).expect_error(2);
    env.debate(&["resume", "--seat", "challenger=eliza"]).expect_error(4);
    env.debate(&["show", "--prompt", "9.9.9.9"])
        .expect_error(2)
        .assert_stderr_contains("its turns so far are");
    env.debate(&["show", "--prompt", "x"]).expect_error(2);
    assert_eq!(env.events(&env.latest_debate_id()), before);
}

#[test]
fn help_and_version_go_to_stdout() {
    let env = TestEnv::new();
    env.debate(&["--help"])
        .expect_success()
        .assert_stdout_contains(&["Usage: debate", "Exit codes: 0 ok"]);
    env.debate(&["--version"])
        .expect_success()
        .assert_stdout_contains(&[env!("CARGO_PKG_VERSION")]);
    env.debate(&["completions", "bash"]).expect_success().assert_stdout_contains(&["debate"]);
    env.debate(&[]).expect_exit_code(2);
    assert!(!env.data_dir().exists(), "no data directory is created");
}

#[test]
fn invalid_replay_speed_is_refused() {
    let env = TestEnv::new();
    env.debate_run("Fast?", &["--rounds", "1"]).expect_success();
    for speed in ["NaN", "inf", "1e-300", "-1"] {
        let output = env.debate(&["replay", &format!("--speed={speed}")]).output();
        assert_eq!(output.exit_code, Some(2), "{speed}: {output:#?}");
    }
}

#[test]
fn bot_seat_is_refused_in_the_terminal() {
    let env = TestEnv::new();
    let pro = env.script_seat("pro.json");
    let args = ["run", "Bot?", "--proposer", &pro, "--challenger", "bot"];
    env.debate(&args).expect_error(4);
}

#[test]
fn quiet_prints_only_errors() {
    let env = TestEnv::new();
    let output = env.debate_run("Quiet?", &["--pause", "--quiet"]).expect_exit_code(2);
    assert_eq!(output.stderr, "");
}
