//! Usage errors: exit code 2, nothing on stdout, nothing stored, and a hint. Also budgets, pauses,
//! help and quiet mode.
use super::lab::{Done, Lab};

/// Arguments after `debate run TOPIC` with two scripted seats, and the expected error.
const WRONG: &[(&[&str], &str)] = &[
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
const BAD_SEATS: &[&str] = &[
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

fn nothing_happened(lab: &Lab) {
    let listed = lab.debate(&["list", "--all", "--json"]).success().json();
    assert_eq!(listed["debates"], serde_json::json!([]));
    assert!(!lab.state_path().exists() && !lab.root().join(".debates").exists());
}

/// Checks for a hint. Errors of the argument parser itself end with "try '--help'".
#[track_caller]
fn hinted(done: &Done) {
    assert!(done.err.contains("hint:") || done.err.contains("try '--help'"), "{}", done.err);
}

#[test]
fn what_is_asked_for_wrongly_is_not_done() {
    let lab = Lab::new();
    for (args, says) in WRONG {
        let done = lab.run("Wrong?", args).fails_with(2);
        done.warns(says);
    }
    nothing_happened(&lab);
}

#[test]
fn every_usage_error_comes_with_a_hint() {
    let lab = Lab::new();
    for (args, _) in WRONG {
        hinted(&lab.run("Wrong?", args).fails_with(2));
    }
    hinted(&lab.run(" ", &[]).fails_with(2));
    hinted(&lab.run(&"x".repeat(5_000), &[]).fails_with(2));
}

#[test]
fn a_seat_must_be_a_plain_name() {
    let lab = Lab::new();
    for seat in BAD_SEATS {
        for flag in ["--proposer", "--challenger", "--judge"] {
            let flag = format!("{flag}={seat}");
            let done = lab.debate(&["run", "Wrong?", &flag]).fails_with(2);
            hinted(&done);
        }
        let seat = format!("--seat=challenger={seat}");
        hinted(&lab.debate(&["resume", &seat]).fails_with(2));
    }
    nothing_happened(&lab);
}

#[test]
fn a_tool_does_not_debate_itself() {
    let lab = Lab::new();
    for (one, other) in [("claude", "claude"), ("codex:a", "codex:b"), ("gemini", "gemini:auto")] {
        let args = ["run", "Itself?", "--proposer", one, "--challenger", other];
        let done = lab.debate(&args).fails_with(2);
        done.warns("a debate needs two different tools");
        hinted(&done);
    }
    nothing_happened(&lab);
}

/// The demo does not fill an empty seat.
#[test]
fn without_seats_nobody_plays() {
    let lab = Lab::new();
    let pro = lab.seat("pro.json");
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
        let done = lab.debate(&[&["run", "Who?"], *args].concat()).fails_with(4);
        done.warns(says);
        done.warns("hint:");
        assert!(!done.err.contains("DEMO"), "{}", done.err);
    }
    nothing_happened(&lab);
}

#[test]
fn a_script_that_is_none_is_refused_before_anything_begins() {
    let lab = Lab::new();
    for text in [
        "",
        "{}",
        "[]",
        "{\"turns\": [{}]}",
        "{\"turns\": [{\"txt\": \"x\"}]}",
        "{\"turns\": [{\"fail\": \"sulked\"}]}",
    ] {
        std::fs::write(lab.outside("contra.json"), text).unwrap();
        lab.run("Script?", &[]).fails_with(4).warns("contra.json");
    }
    nothing_happened(&lab);
}

#[test]
fn topics_have_a_length() {
    let lab = Lab::new();
    for topic in ["", "  \n\t"] {
        lab.run(topic, &[]).fails_with(2).warns("the topic is empty");
    }
    lab.run(&"长".repeat(5_000), &[]).fails_with(2).warns("5000 of at most 4000");
    nothing_happened(&lab);
    let done = lab.run(&"长".repeat(4_000), &["--rounds", "1"]).success();
    done.says(&["### Verdict"]);
}

#[test]
fn money_that_is_spent_pauses_the_debate() {
    let lab = Lab::new();
    let done = lab.run("Money?", &["--max-cost", "0"]).ends(2);
    done.warns("The budget is spent. Allow more when you resume, with `--max-cost X`");
    done.says(&["Status: paused", "No verdict yet."]);
    assert_eq!(lab.state()["status"], "paused");
    lab.debate(&["resume"]).ends(2).warns("The budget is spent");
    lab.debate(&["resume", "--yes"]).ends(2).warns("The budget is spent");
    lab.debate(&["resume", "--max-cost=-3"]).fails_with(2);
    lab.debate(&["resume", "--max-cost", "0.01"]).success().says(&["### Verdict"]);
    lab.replays(&lab.last());
}

/// Each budget is raised by its own flag.
#[test]
fn tokens_and_minutes_pause_a_debate_too() {
    for flag in ["--max-tokens", "--max-minutes"] {
        let lab = Lab::new();
        lab.run("Enough?", &[flag, "0"]).ends(2).warns("The budget is spent");
        let done = lab.debate(&["resume", "--max-cost", "9"]).fails_with(2);
        done.warns("more than that is spent already");
        done.warns(flag);
        lab.debate(&["resume", flag, "1000"]).success().says(&["### Verdict"]);
    }
}

#[test]
fn a_pause_without_a_terminal_stops_before_every_round() {
    let lab = Lab::new();
    let done = lab.run("Pause?", &["--pause"]).ends(2);
    done.warns("Paused before round 2. `--yes` goes on without asking.");
    done.says(&["Rounds: 1", "Status: paused"]);
    let before = lab.events(&lab.last());
    lab.debate(&["resume"]).ends(2).warns("Paused before round 2");
    lab.debate(&["resume"]).stdin("y\n").ends(2);
    assert_eq!(lab.events(&lab.last()), before, "a pipe says no yes");
    let done = lab.debate(&["resume", "--say", "Mind the lock.", "--yes"]).success();
    done.says(&["Rounds: 2", "### Verdict"]);
    let prompt = lab.debate(&["show", "--prompt", "1.2.0.0"]).success();
    prompt.says(&["Mind the lock."]);
    lab.debate(&["show"]).success().says(&["### User Input", "Mind the lock.", "## Round 2"]);
    lab.replays(&lab.last());
}

#[test]
fn a_paused_debate_can_be_concluded() {
    let lab = Lab::new();
    lab.run("Enough?", &["--pause", "--rounds", "5"]).ends(2);
    lab.debate(&["resume", "--conclude"]).success().says(&["Rounds: 1", "### Verdict"]);
    lab.replays(&lab.last());
}

#[test]
fn seats_that_are_not_there_cannot_be_handed_over() {
    let lab = Lab::new();
    lab.run("Seats?", &["--pause"]).ends(2);
    let before = lab.events(&lab.last());
    lab.debate(&["resume", "--seat", "king=human"]).fails_with(2).warns("its seats are");
    lab.debate(&["resume", "--seat", "king"]).fails_with(2);
    lab.debate(&["resume", "--seat", "challenger=eliza"]).fails_with(4);
    lab.debate(&["show", "--prompt", "9.9.9.9"]).fails_with(2).warns("its turns so far are");
    lab.debate(&["show", "--prompt", "x"]).fails_with(2);
    assert_eq!(lab.events(&lab.last()), before);
}

#[test]
fn help_and_version_are_data() {
    let lab = Lab::new();
    lab.debate(&["--help"]).success().says(&["Usage: debate", "Exit codes: 0 ok"]);
    lab.debate(&["--version"]).success().says(&[env!("CARGO_PKG_VERSION")]);
    lab.debate(&["completions", "bash"]).success().says(&["debate"]);
    lab.debate(&[]).ends(2);
    assert!(!lab.home().exists(), "nothing is made before it is needed");
}

#[test]
fn a_speed_must_be_a_number() {
    let lab = Lab::new();
    lab.run("Fast?", &["--rounds", "1"]).success();
    for speed in ["NaN", "inf", "1e-300", "-1"] {
        let done = lab.debate(&["replay", &format!("--speed={speed}")]).done();
        assert_eq!(done.code, Some(2), "{speed}: {done:#?}");
    }
}

#[test]
fn only_seats_that_are_offered_are_taken() {
    let lab = Lab::new();
    let pro = lab.seat("pro.json");
    let args = ["run", "Bot?", "--proposer", &pro, "--challenger", "bot"];
    lab.debate(&args).fails_with(4);
}

#[test]
fn quiet_leaves_only_errors() {
    let lab = Lab::new();
    let done = lab.run("Quiet?", &["--pause", "--quiet"]).ends(2);
    assert_eq!(done.err, "");
}
