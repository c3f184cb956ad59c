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
    let lab = TestEnv::new();
    for (tool, word) in RANK_WORDS {
        let says = |id: &str, answers: &[&str]| {
            speech_with_claim(&format!("A {word} argument."), id, answers)
        };
        install_fake_cli(&lab, tool, &[("pro", says("P1", &[])), ("con", says("C1", &["P1"]))]);
    }
    let rules = ["pro", "con"].map(|side| (side, verdict_json(side).to_string()));
    install_fake_cli(&lab, "gemini", &rules);
    lab
}

fn install_fake_cli(lab: &TestEnv, tool: &str, answers: &[(&str, String)]) {
    let own = lab.temp_path(&format!("fake-{tool}"));
    fs::create_dir_all(&own).unwrap();
    for (name, text) in answers.iter().cloned().chain([("ok", "OK".to_owned())]) {
        fs::write(own.join(name), cli_stdout(tool, &text)).unwrap();
    }
    let before = |word: &str| format!("b=${{p%%{word}*}}; echo ${{#b}}");
    let [best, middle, last] = RANK_WORDS.map(|(_, word)| before(word));
    let all = lab.temp_path("calls");
    let text = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 'Fake CLI v1.2.3.'; exit; fi\n\
         p=$(/bin/cat)\n\
         case \"$p\" in\n\
         *'single word OK'*) /bin/cat '{own}/ok'; exit;;\n\
         *'You judge a structured debate'*)\n\
           a=$({best}); m=$({middle}); h=$({last}); n=${{#p}}\n\
           if [ $a -lt $n ]; then w=$a; if [ $m -lt $n ]; then o=$m; else o=$h; fi; else w=$m; o=$h; fi\n\
           if [ $w -lt $o ]; then k=pro; else k=con; fi;;\n\
         *'You are the CHALLENGER'*) k=con;;\n\
         *) k=pro;;\n\
         esac\n\
         echo \"+ {tool}\" >> '{all}'\n\
         while [ -e '{wait}' ]; do /bin/sleep 0.01; done\n\
         /bin/sleep 0.02\n\
         echo \"- {tool}\" >> '{all}'\n\
         if [ -e '{own}/broken' ]; then exit 7; fi\n\
         /bin/cat '{own}/'$k\n",
        own = own.display(),
        all = all.display(),
        wait = lab.temp_path("wait").display(),
    );
    let path = lab.bin_dir().join(tool);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// For each tool, the number of calls and the maximum of concurrent calls.
fn call_counts(lab: &TestEnv) -> BTreeMap<String, (usize, usize)> {
    let (mut now, mut found) = (BTreeMap::new(), BTreeMap::new());
    for line in fs::read_to_string(lab.temp_path("calls")).unwrap_or_default().lines() {
        let (sign, tool) = line.split_once(' ').unwrap();
        let running: &mut usize = now.entry(tool.to_owned()).or_default();
        let counted: &mut (usize, usize) = found.entry(tool.to_owned()).or_default();
        if sign == "+" {
            *running += 1;
            *counted = (counted.0 + 1, counted.1.max(*running));
        } else {
            *running -= 1;
        }
    }
    found
}

fn write_tournament_file(lab: &TestEnv, entrants: &[&str], more: &str) {
    let entrants: Vec<String> = entrants.iter().map(|it| format!("\"{it}\"")).collect();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\", \"One file?\"]\nrounds = 1\nentrants = [{}]\n\
         judge = \"gemini\"\n{more}\n",
        entrants.join(", ")
    );
    lab.write_repo_file("t.toml", &text);
}

fn listed_debates(lab: &TestEnv) -> Vec<Value> {
    lab.debate(&["list", "--json", "-n", "1000"]).expect_success().json()["debates"]
        .as_array()
        .unwrap()
        .clone()
}

/// Asserts that every game was played once, under its own key, and no turn was played twice.
fn assert_each_game_once(lab: &TestEnv, games: usize) {
    let cards = listed_debates(lab);
    assert_eq!(cards.len(), games);
    let mut keys = BTreeSet::new();
    for card in cards {
        assert_eq!(card["status"], "completed", "{card}");
        let id = card["id"].as_str().unwrap();
        let view = lab.debate(&["show", id, "--json"]).expect_success().json();
        assert_eq!(view["terms"]["tournament"], "spring");
        assert!(keys.insert(view["terms"]["game"].as_str().unwrap().to_owned()), "twice");
        let taken = lab.turn_counts(id);
        assert!(taken.len() == 4 && taken.values().all(|times| *times == 1), "{taken:?}");
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
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude", "copilot"], "at_once = 3");
    let planned =
        lab.debate(&["tournament", "t.toml", "--dry-run", "--json"]).expect_success().json();
    assert_matches_schema("tournament-plan", &planned);
    assert_eq!(planned["games"].as_array().unwrap().len(), 12);
    assert_eq!(planned["calls"], 48);
    assert!(listed_debates(&lab).is_empty() && call_counts(&lab).is_empty(), "nothing was played");

    let done = lab.debate(&["tournament", "t.toml", "--json"]).expect_success();
    let played = done.json();
    assert_matches_schema("tournament", &played);
    assert_eq!((&played["played"], &played["ending"]), (&12.into(), &"done".into()), "{done:#?}");
    assert_eq!(played["board"]["rated"], 12);
    let wanted = [("claude", 8, 0), ("codex", 4, 4), ("copilot", 0, 8)];
    assert_eq!(
        board_rows(&played["board"]),
        wanted.map(|(name, won, lost)| (name.into(), won, lost))
    );
    let cross = &played["cross"]["rows"];
    assert_eq!(
        (&cross[0][1]["wins"], &cross[0][1]["losses"]),
        (&0.into(), &4.into()),
        "codex, claude"
    );
    assert!(cross[0][0].is_null());
    for part in ["12 games", "Estimate: about 48 calls", "claude wins", "12 of 12 games played"] {
        done.assert_stderr_contains(part);
    }
    assert_each_game_once(&lab, 12);
    // Each entrant plays one game at a time, so its calls never overlap.
    for (tool, (count, most)) in call_counts(&lab) {
        let wanted = if tool == "gemini" { (24, 2) } else { (8, 1) };
        assert_eq!((count, most.min(wanted.1)), (wanted.0, most), "{tool}");
    }

    let again = lab.debate(&["tournament", "t.toml"]).expect_success();
    again.assert_stderr_contains("12 of them played already");
    again.assert_stdout_contains(&[
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
    assert!(again.stdout.lines().all(|line| line.chars().count() <= 80), "{}", again.stdout);
    assert_each_game_once(&lab, 12);

    let board = lab.debate(&["leaderboard", "--json"]).expect_success().json();
    assert_matches_schema("leaderboard", &board);
    let names: Vec<String> = board_rows(&board).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["claude:claude-big", "codex", "copilot:copilot-big"]);
    assert_eq!(lab.debate(&["leaderboard", "--here", "--json"]).expect_success().json(), board);
    lab.debate(&["leaderboard"])
        .expect_success()
        .assert_stdout_contains(&["claude:claude-big", "gemini:gemini-big"]);

    // Only new games are played.
    let text = fs::read_to_string(lab.repo_root().join("t.toml")).unwrap();
    lab.write_repo_file("t.toml", &text.replace("\"Tabs?\"", "\"Threads?\", \"Tabs?\""));
    lab.debate(&["tournament", "t.toml", "--json"]).expect_success();
    assert_each_game_once(&lab, 18);
    assert_eq!(call_counts(&lab)["claude"].0, 12);
}

#[test]
fn prompts_do_not_mention_the_tournament() {
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude"], "");
    lab.debate(&["tournament", "t.toml"]).expect_success();
    let mut seen = 0;
    for card in listed_debates(&lab) {
        let id = card["id"].as_str().unwrap();
        let view = lab.debate(&["show", id, "--json"]).expect_success().json();
        let key = view["terms"]["game"].as_str().unwrap().to_owned();
        for turn in lab.turn_counts(id).keys() {
            let prompt = lab.debate(&["show", id, "--prompt", turn]).expect_success().stdout;
            assert!(!prompt.contains("spring") && !prompt.contains(&key), "{prompt}");
            assert!(!prompt.to_lowercase().contains("tournament"), "{prompt}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

/// Killed twice: finished games are kept, and started games are resumed.
#[test]
fn killed_tournament_resumes_without_replaying_games() {
    let lab = set_up_fake_clis();
    write_tournament_file(
        &lab,
        &["codex", "claude", "copilot"],
        "at_once = 2\nat_once_per_entrant = 2",
    );
    for wanted in [2, 6] {
        let running = lab.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
        let whole =
            || listed_debates(&lab).iter().filter(|card| card["status"] == "completed").count();
        wait_until("some games are over", || whole() >= wanted);
        fs::write(lab.temp_path("wait"), "").unwrap();
        wait_until("games are under way", || listed_debates(&lab).len() > whole());
        running.send_signal("KILL");
        running.wait();
        fs::remove_file(lab.temp_path("wait")).unwrap();
    }
    let before: BTreeSet<String> =
        listed_debates(&lab).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(before.len() < 12, "it was killed in the middle");
    let done = lab.debate(&["tournament", "t.toml", "--json"]).expect_success();
    assert_eq!(done.json()["board"]["rated"], 12, "{done:#?}");
    assert_each_game_once(&lab, 12);
    let after: BTreeSet<String> =
        listed_debates(&lab).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(after.is_superset(&before));
}

#[test]
fn interrupted_tournament_prints_how_to_resume() {
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude"], "");
    fs::write(lab.temp_path("wait"), "").unwrap();
    let running = lab.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    wait_until("somebody is asked", || !call_counts(&lab).is_empty());
    running.send_signal("INT");
    let done = running.wait();
    assert_eq!(done.exit_code, Some(2), "{done:#?}");
    done.assert_stderr_contains("Stopped. Nothing that was recorded is lost.");
    done.assert_stderr_contains("Go on with: debate tournament t.toml");
    done.assert_stdout_contains(&[
        "spring: 0 of 4 games played, 1 not over, 3 not begun",
        "No debate is rated yet",
    ]);
    fs::remove_file(lab.temp_path("wait")).unwrap();
    lab.debate(&["tournament", "t.toml"]).expect_success();
    assert_each_game_once(&lab, 4);
}

#[test]
fn two_processes_share_the_games_of_a_tournament() {
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude"], "");
    let one = lab.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    let other = lab.debate(&["tournament", "t.toml", "--no-probe"]).spawn();
    let done: Vec<CommandOutput> =
        [one, other].into_iter().map(crate::test_env::RunningProcess::wait).collect();
    assert!(done.iter().all(|it| it.exit_code == Some(0)), "{done:#?}");
    assert_each_game_once(&lab, 4);
    assert!(done.iter().any(|it| it.stderr.contains("; waiting for it")), "{done:#?}");
}

#[test]
fn failed_game_is_retried_once_and_then_reported() {
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude"], "");
    fs::write(lab.temp_path("fake-claude/broken"), "").unwrap();
    let done = lab.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(5);
    let played = done.json();
    assert_matches_schema("tournament", &played);
    assert_eq!(played["played"], 0);
    assert_eq!(played["failed"].as_array().unwrap().len(), 4, "{played:#}");
    assert_eq!(done.stderr.matches("it is tried once more").count(), 4, "{}", done.stderr);
    assert_eq!(listed_debates(&lab).len(), 4, "tried again where they failed");
    let calls_before = call_counts(&lab)["claude"].0;
    lab.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(5);
    let retried = call_counts(&lab)["claude"].0 - calls_before;
    assert_eq!(retried * 2, calls_before, "once each in the next run");
    fs::remove_file(lab.temp_path("fake-claude/broken")).unwrap();
    let done = lab.debate(&["tournament", "t.toml", "--json"]).expect_success().json();
    assert_eq!(done["board"]["rated"], 4, "{done:#}");
}

#[test]
fn unplayable_tournaments_are_refused_before_the_start() {
    let lab = set_up_fake_clis();
    let refused = |says: &str, code: i32| {
        let done = lab.debate(&["tournament", "t.toml"]).expect_error(code);
        assert!(done.stderr.contains(says) && done.stderr.contains("hint:"), "{}", done.stderr);
        assert!(listed_debates(&lab).is_empty() && call_counts(&lab).is_empty());
    };
    write_tournament_file(&lab, &["codex", "opencode"], "");
    refused("`opencode` cannot play a seat here", 4);
    write_tournament_file(&lab, &["codex", "claude:a", "claude:b"], "");
    refused("`claude:a` against `claude:b`: proposer and challenger are both `claude`", 2);
    write_tournament_file(&lab, &["codex", "claude", "claude:b"], "");
    refused("entrants `claude` and `claude:b` are, or may be, one model", 2);
    write_tournament_file(&lab, &["codex", "claude"], "format = \"research\"");
    refused("`research` has no two sides", 2);
    write_tournament_file(&lab, &["codex", "claude"], "format = \"nothing\"");
    refused("unknown format `nothing`", 2);
    lab.write_repo_file("t.toml", "name = 3");
    refused("`t.toml`: ", 2);
    let missing = lab.debate(&["tournament", "none.toml"]).expect_error(1);
    assert!(missing.stderr.contains("`none.toml`"), "{}", missing.stderr);
    fs::write(lab.temp_path("fake-claude/ok"), "").unwrap();
    write_tournament_file(&lab, &["codex", "claude"], "");
    refused("`claude` does not answer", 4);
}

#[test]
fn scripted_games_are_not_rated() {
    let lab = TestEnv::new();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\"]\nentrants = [{{ name = \"one\", seat = \"{}\" }}, \
         {{ name = \"other\", seat = \"{}\" }}]\njudge = \"script:../pro.json\"\n",
        lab.script_seat("pro.json"),
        lab.script_seat("contra.json")
    );
    lab.write_repo_file("t.toml", &text);
    let done = lab.debate(&["tournament", "t.toml"]).expect_success();
    done.assert_stdout_contains(&[
        "spring: 2 of 2 games played",
        "No debate is rated yet",
        "2  scripted",
    ]);
    let board = lab.debate(&["leaderboard", "--json"]).expect_success().json();
    assert_eq!(board["unrated"][0]["reason"], "scripted");
    assert_eq!((&board["rated"], &board["debates"]), (&0.into(), &2.into()));
}

#[test]
fn exhausted_total_budget_stops_the_tournament() {
    let lab = set_up_fake_clis();
    write_tournament_file(&lab, &["codex", "claude"], "[in_all]\nmax_tokens = 200");
    // A turn uses 120 tokens, so the first game exceeds its budget before it ends.
    let done = lab.debate(&["tournament", "t.toml", "--json"]).expect_exit_code(2);
    let played = done.json();
    assert_eq!((&played["ending"], &played["played"]), (&"spent".into(), &0.into()), "{done:#?}");
    done.assert_stderr_contains("What all games may spend is spent");
    let done =
        lab.debate(&["tournament", "t.toml", "--json", "--max-tokens", "100000"]).expect_success();
    assert_eq!(done.json()["played"], 4, "{done:#?}");
    assert_each_game_once(&lab, 4);
}
