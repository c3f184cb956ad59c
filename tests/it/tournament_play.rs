//! Tournaments, run by the real binary with fake model CLIs.
use crate::cli_json::assert_matches_schema;
use crate::fake_clis::cli_stdout;
use crate::test_env::{CommandOutput, TestEnv, speech_with_claim, verdict_json, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A word in each entrant's speeches by which the fake judge ranks them, best first.
const RANK_WORDS: [(&str, &str); 3] =
    [("claude", "mighty"), ("codex", "middling"), ("copilot", "humble")];

/// Three fake debaters and a fake judge that log the start and end of each call. The judge rules
/// for the better word. While the file `wait` exists, all calls block.
fn set_up_fake_clis() -> TestEnv {
    let env = TestEnv::new();
    for (tool, word) in RANK_WORDS {
        let speech = |id: &str, answers: &[&str]| {
            speech_with_claim(&format!("A {word} argument."), id, answers)
        };
        install_fake_cli(&env, tool, &[("pro", speech("P1", &[])), ("con", speech("C1", &["P1"]))]);
    }
    let verdicts = ["pro", "con"].map(|side| (side, verdict_json(side).to_string()));
    install_fake_cli(&env, "gemini", &verdicts);
    env
}

fn install_fake_cli(env: &TestEnv, tool: &str, replies: &[(&str, String)]) {
    let replies_dir = env.temp_path(&format!("fake-{tool}"));
    fs::create_dir_all(&replies_dir).unwrap();
    for (name, text) in replies.iter().cloned().chain([("ok", "OK".to_owned())]) {
        fs::write(replies_dir.join(name), cli_stdout(tool, &text)).unwrap();
    }
    let word_offset = |word: &str| format!("b=${{p%%{word}*}}; echo ${{#b}}");
    let [best, middle, last] = RANK_WORDS.map(|(_, word)| word_offset(word));
    let call_log = env.temp_path("calls");
    let text = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 'Fake CLI v1.2.3.'; exit; fi\n\
         p=$(/bin/cat)\n\
         case \"$p\" in\n\
         *'single word OK'*) /bin/cat '{dir}/ok'; exit;;\n\
         *'You judge a structured debate'*)\n\
           a=$({best}); m=$({middle}); h=$({last}); n=${{#p}}\n\
           if [ $a -lt $n ]; then w=$a; if [ $m -lt $n ]; then o=$m; else o=$h; fi; else w=$m; o=$h; fi\n\
           if [ $w -lt $o ]; then k=pro; else k=con; fi;;\n\
         *'You are the CHALLENGER'*) k=con;;\n\
         *) k=pro;;\n\
         esac\n\
         echo \"+ {tool}\" >> '{log}'\n\
         while [ -e '{wait}' ]; do /bin/sleep 0.01; done\n\
         /bin/sleep 0.02\n\
         echo \"- {tool}\" >> '{log}'\n\
         if [ -e '{dir}/broken' ]; then exit 7; fi\n\
         /bin/cat '{dir}/'$k\n",
        dir = replies_dir.display(),
        log = call_log.display(),
        wait = env.temp_path("wait").display(),
    );
    let path = env.bin_dir().join(tool);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// For each tool, the number of calls and the maximum of concurrent calls.
fn call_counts(env: &TestEnv) -> BTreeMap<String, (usize, usize)> {
    let (mut running_calls, mut counts) = (BTreeMap::new(), BTreeMap::new());
    for line in fs::read_to_string(env.temp_path("calls")).unwrap_or_default().lines() {
        let (sign, tool) = line.split_once(' ').unwrap();
        let process: &mut usize = running_calls.entry(tool.to_owned()).or_default();
        let totals: &mut (usize, usize) = counts.entry(tool.to_owned()).or_default();
        if sign == "+" {
            *process += 1;
            *totals = (totals.0 + 1, totals.1.max(*process));
        } else {
            *process -= 1;
        }
    }
    counts
}

fn write_tournament_file(env: &TestEnv, entrants: &[&str], extra_lines: &str) {
    let entrants: Vec<String> = entrants.iter().map(|it| format!("\"{it}\"")).collect();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\", \"One file?\"]\nrounds = 1\nentrants = [{}]\n\
         judge = \"gemini\"\n{extra_lines}\n",
        entrants.join(", ")
    );
    env.write_repo_file("t.toml", &text);
}

fn listed_debates(env: &TestEnv) -> Vec<Value> {
    env.debate(&["list", "--json", "-n", "1000"]).expect_success().json()["debates"]
        .as_array()
        .unwrap()
        .clone()
}

/// Asserts that every game was played once, under its own key, and no turn was played twice.
fn assert_each_game_once(env: &TestEnv, games: usize) {
    let debates = listed_debates(env);
    assert_eq!(debates.len(), games);
    let mut keys = BTreeSet::new();
    for card in debates {
        assert_eq!(card["status"], "completed", "{card}");
        let id = card["id"].as_str().unwrap();
        let view = env.debate(&["show", id, "--json"]).expect_success().json();
        assert_eq!(view["terms"]["tournament"], "spring");
        assert!(
            keys.insert(view["terms"]["game"].as_str().unwrap().to_owned()),
            "a game was played twice"
        );
        let counts = env.turn_counts(id);
        assert!(counts.len() == 4 && counts.values().all(|count| *count == 1), "{counts:?}");
    }
}

fn board_rows(board: &Value) -> Vec<(String, u64, u64)> {
    let rows = board["groups"][0]["rows"].as_array().unwrap();
    let row = |it: &Value| {
        let total = &it["total"];
        (
            it["entrant"].as_str().unwrap().into(),
            total["wins"].as_u64().unwrap(),
            total["losses"].as_u64().unwrap(),
        )
    };
    rows.iter().map(row).collect()
}

#[test]
fn tournament_plays_and_rates_all_games() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude", "copilot"], "at_once = 3");
    let plan = env.debate(&["tournament", "t.toml", "--dry-run", "--json"]).expect_success().json();
    assert_matches_schema("tournament-plan", &plan);
    assert_eq!(plan["games"].as_array().unwrap().len(), 12);
    assert_eq!(plan["calls"], 48);
    assert!(listed_debates(&env).is_empty() && call_counts(&env).is_empty(), "nothing was played");

    let output = env.debate(&["tournament", "t.toml", "--json"]).expect_success();
    let result = output.json();
    assert_matches_schema("tournament", &result);
    assert_eq!((&result["played"], &result["ending"]), (&12.into(), &"done".into()), "{output:#?}");
    assert_eq!(result["board"]["rated"], 12);
    let expected = [("claude", 8, 0), ("codex", 4, 4), ("copilot", 0, 8)];
    assert_eq!(
        board_rows(&result["board"]),
        expected.map(|(name, won, lost)| (name.into(), won, lost))
    );
    let cross = &result["cross"]["rows"];
    assert_eq!(
        (&cross[0][1]["wins"], &cross[0][1]["losses"]),
        (&0.into(), &4.into()),
        "codex against claude"
    );
    assert!(cross[0][0].is_null());
    for part in ["12 games", "Estimate: about 48 calls", "claude wins", "12 of 12 games played"] {
        output.assert_stderr_contains(part);
    }
    assert_each_game_once(&env, 12);
    // Each entrant plays one game at a time, so its calls never overlap.
    for (tool, (count, max_concurrent)) in call_counts(&env) {
        let expected = if tool == "gemini" { (24, 2) } else { (8, 1) };
        assert_eq!((count, max_concurrent.min(expected.1)), (expected.0, max_concurrent), "{tool}");
    }

    let second_run = env.debate(&["tournament", "t.toml"]).expect_success();
    second_run.assert_stderr_contains("12 of them played already");
    second_run.assert_stdout_contains(&[
        "spring: 12 of 12 games played",
        "  1  claude",
        "  2  codex",
        "  3  copilot",
        "12 of 12 debates are rated",
        "Points against each other",
        "2 claude",
        "4/4",
        "gemini:gemini-big",
        "itself, sides swapped",
        "12/12",
    ]);
    assert!(
        second_run.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        second_run.stdout
    );
    assert_each_game_once(&env, 12);

    let board = env.debate(&["leaderboard", "--json"]).expect_success().json();
    assert_matches_schema("leaderboard", &board);
    let names: Vec<String> = board_rows(&board).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["claude:claude-big", "codex", "copilot:copilot-big"]);
    assert_eq!(env.debate(&["leaderboard", "--here", "--json"]).expect_success().json(), board);
    env.debate(&["leaderboard"])
        .expect_success()
        .assert_stdout_contains(&["claude:claude-big", "gemini:gemini-big"]);

    // Only new games are played.
    let text = fs::read_to_string(env.repo_root().join("t.toml")).unwrap();
    env.write_repo_file("t.toml", &text.replace("\"Tabs?\"", "\"Threads?\", \"Tabs?\""));
    env.debate(&["tournament", "t.toml", "--json"]).expect_success();
    assert_each_game_once(&env, 18);
    assert_eq!(call_counts(&env)["claude"].0, 12);
}

#[test]
fn prompts_do_not_mention_the_tournament() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude"], "");
    env.debate(&["tournament", "t.toml"]).expect_success();
    let mut prompt_count = 0;
    for card in listed_debates(&env) {
        let id = card["id"].as_str().unwrap();
        let view = env.debate(&["show", id, "--json"]).expect_success().json();
        let key = view["terms"]["game"].as_str().unwrap().to_owned();
        for turn in env.turn_counts(id).keys() {
            let prompt = env.debate(&["show", id, "--prompt", turn]).expect_success().stdout;
            assert!(!prompt.contains("spring") && !prompt.contains(&key), "{prompt}");
            assert!(!prompt.to_lowercase().contains("tournament"), "{prompt}");
            prompt_count += 1;
        }
    }
    assert_eq!(prompt_count, 16);
}

/// Killed twice: finished games are kept, and started games are resumed.
#[test]
fn killed_tournament_resumes_without_replaying_games() {
    let env = set_up_fake_clis();
    write_tournament_file(
        &env,
        &["codex", "claude", "copilot"],
        "at_once = 2\nat_once_per_entrant = 2",
    );
    for expected in [2, 6] {
        let process = env.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
        let completed_count =
            || listed_debates(&env).iter().filter(|card| card["status"] == "completed").count();
        wait_until("some games are over", || completed_count() >= expected);
        fs::write(env.temp_path("wait"), "").unwrap();
        wait_until("games are under way", || listed_debates(&env).len() > completed_count());
        process.send_signal("KILL");
        process.wait();
        fs::remove_file(env.temp_path("wait")).unwrap();
    }
    let ids_before: BTreeSet<String> =
        listed_debates(&env).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids_before.len() < 12, "it was killed in the middle");
    let output = env.debate(&["tournament", "t.toml", "--json"]).expect_success();
    assert_eq!(output.json()["board"]["rated"], 12, "{output:#?}");
    assert_each_game_once(&env, 12);
    let ids_after: BTreeSet<String> =
        listed_debates(&env).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids_after.is_superset(&ids_before));
}

#[test]
fn interrupted_tournament_prints_how_to_resume() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude"], "");
    fs::write(env.temp_path("wait"), "").unwrap();
    let process = env.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    wait_until("a model is called", || !call_counts(&env).is_empty());
    process.send_signal("INT");
    let output = process.wait();
    assert_eq!(output.exit_code, Some(2), "{output:#?}");
    output.assert_stderr_contains("Stopped. Nothing that was recorded is lost.");
    output.assert_stderr_contains("Go on with: debate tournament t.toml");
    output.assert_stdout_contains(&[
        "spring: 0 of 4 games played, 1 not over, 3 not begun",
        "No debate is rated yet",
    ]);
    fs::remove_file(env.temp_path("wait")).unwrap();
    env.debate(&["tournament", "t.toml"]).expect_success();
    assert_each_game_once(&env, 4);
}

#[test]
fn two_processes_share_the_games_of_a_tournament() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude"], "");
    let first = env.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    let second = env.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    let outputs: Vec<CommandOutput> =
        [first, second].into_iter().map(crate::test_env::RunningProcess::wait).collect();
    assert!(outputs.iter().all(|it| it.exit_code == Some(0)), "{outputs:#?}");
    assert_each_game_once(&env, 4);
    assert!(outputs.iter().any(|it| it.stderr.contains("; waiting for it")), "{outputs:#?}");
}

#[test]
fn failed_game_is_retried_once_and_then_reported() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude"], "");
    fs::write(env.temp_path("fake-claude/broken"), "").unwrap();
    let output = env.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(5);
    let result = output.json();
    assert_matches_schema("tournament", &result);
    assert_eq!(result["played"], 0);
    assert_eq!(result["failed"].as_array().unwrap().len(), 4, "{result:#}");
    assert_eq!(output.stderr.matches("it is tried once more").count(), 4, "{}", output.stderr);
    assert_eq!(listed_debates(&env).len(), 4, "retries reuse the debates");
    let calls_before = call_counts(&env)["claude"].0;
    env.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(5);
    let retry_calls = call_counts(&env)["claude"].0 - calls_before;
    assert_eq!(retry_calls * 2, calls_before, "each game is tried once in the next run");
    fs::remove_file(env.temp_path("fake-claude/broken")).unwrap();
    let output = env.debate(&["tournament", "t.toml", "--json"]).expect_success().json();
    assert_eq!(output["board"]["rated"], 4, "{output:#}");
}

#[test]
fn unplayable_tournaments_are_refused_before_the_start() {
    let env = set_up_fake_clis();
    let assert_refused = |message: &str, exit_code: i32| {
        let output = env.debate(&["tournament", "t.toml"]).expect_error(exit_code);
        assert!(
            output.stderr.contains(message) && output.stderr.contains("hint:"),
            "{}",
            output.stderr
        );
        assert!(listed_debates(&env).is_empty() && call_counts(&env).is_empty());
    };
    write_tournament_file(&env, &["codex", "opencode"], "");
    assert_refused("`opencode` is not available", 4);
    write_tournament_file(&env, &["codex", "claude:a", "claude:b"], "");
    assert_refused("`claude:a` against `claude:b`: proposer and challenger are both `claude`", 2);
    write_tournament_file(&env, &["codex", "claude", "claude:b"], "");
    assert_refused("entrants `claude` and `claude:b` are, or may be, the same model", 2);
    write_tournament_file(&env, &["codex", "claude"], "format = \"research\"");
    assert_refused("the format `research` has no judge", 2);
    write_tournament_file(&env, &["codex", "claude"], "format = \"nothing\"");
    assert_refused("unknown format `nothing`", 2);
    env.write_repo_file("t.toml", "name = 3");
    assert_refused("`t.toml`: ", 2);
    let missing = env.debate(&["tournament", "none.toml"]).expect_error(1);
    assert!(missing.stderr.contains("`none.toml`"), "{}", missing.stderr);
    fs::write(env.temp_path("fake-claude/ok"), "").unwrap();
    write_tournament_file(&env, &["codex", "claude"], "");
    assert_refused("`claude` does not answer", 4);
}

#[test]
fn scripted_games_are_not_rated() {
    let env = TestEnv::new();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\"]\nentrants = [{{ name = \"one\", seat = \"{}\" }}, \
         {{ name = \"other\", seat = \"{}\" }}]\njudge = \"script:../pro.json\"\n",
        env.script_seat("pro.json"),
        env.script_seat("contra.json")
    );
    env.write_repo_file("t.toml", &text);
    let output = env.debate(&["tournament", "t.toml"]).expect_success();
    output.assert_stdout_contains(&[
        "spring: 2 of 2 games played",
        "No debate is rated yet",
        "2  scripted",
    ]);
    let board = env.debate(&["leaderboard", "--json"]).expect_success().json();
    assert_eq!(board["unrated"][0]["reason"], "scripted");
    assert_eq!((&board["rated"], &board["debates"]), (&0.into(), &2.into()));
}

#[test]
fn exhausted_total_budget_stops_the_tournament() {
    let env = set_up_fake_clis();
    write_tournament_file(&env, &["codex", "claude"], "[in_all]\nmax_tokens = 200");
    // A turn uses 120 tokens, so the first game exceeds its budget before it ends.
    let output = env.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(2);
    let result = output.json();
    assert_eq!((&result["ending"], &result["played"]), (&"spent".into(), &0.into()), "{output:#?}");
    output.assert_stderr_contains("What all games may spend is spent");
    let output =
        env.debate(&["tournament", "t.toml", "--json", "--max-tokens", "100000"]).expect_success();
    assert_eq!(output.json()["played"], 4, "{output:#?}");
    assert_each_game_once(&env, 4);
}
