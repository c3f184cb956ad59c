//! Tournaments, run by the real binary with fake model CLIs.
use crate::cli_json::fits;
use crate::fakes::printed;
use crate::lab::{Done, Lab, ruling, speech, until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A word in each entrant's speeches by which the fake judge ranks them, best first.
const WORDS: [(&str, &str); 3] =
    [("claude", "mighty"), ("codex", "middling"), ("copilot", "humble")];

/// Three fake debaters and a fake judge that log the start and end of each call. The judge rules
/// for the better word. While the file `wait` exists, all calls block.
fn hall() -> Lab {
    let lab = Lab::new();
    for (tool, word) in WORDS {
        let says = |id: &str, answers: &[&str]| speech(&format!("A {word} argument."), id, answers);
        stand_in(&lab, tool, &[("pro", says("P1", &[])), ("con", says("C1", &["P1"]))]);
    }
    let rules = ["pro", "con"].map(|side| (side, ruling(side).to_string()));
    stand_in(&lab, "gemini", &rules);
    lab
}

fn stand_in(lab: &Lab, tool: &str, answers: &[(&str, String)]) {
    let own = lab.outside(&format!("fake-{tool}"));
    fs::create_dir_all(&own).unwrap();
    for (name, text) in answers.iter().cloned().chain([("ok", "OK".to_owned())]) {
        fs::write(own.join(name), printed(tool, &text)).unwrap();
    }
    let before = |word: &str| format!("b=${{p%%{word}*}}; echo ${{#b}}");
    let [best, middle, last] = WORDS.map(|(_, word)| before(word));
    let all = lab.outside("calls");
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
        wait = lab.outside("wait").display(),
    );
    let path = lab.bin().join(tool);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// For each tool, the number of calls and the maximum of concurrent calls.
fn calls(lab: &Lab) -> BTreeMap<String, (usize, usize)> {
    let (mut now, mut found) = (BTreeMap::new(), BTreeMap::new());
    for line in fs::read_to_string(lab.outside("calls")).unwrap_or_default().lines() {
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

fn file(lab: &Lab, entrants: &[&str], more: &str) {
    let entrants: Vec<String> = entrants.iter().map(|it| format!("\"{it}\"")).collect();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\", \"One file?\"]\nrounds = 1\nentrants = [{}]\n\
         judge = \"gemini\"\n{more}\n",
        entrants.join(", ")
    );
    lab.file("t.toml", &text);
}

fn listed(lab: &Lab) -> Vec<Value> {
    lab.debate(&["list", "--json", "-n", "1000"]).success().json()["debates"]
        .as_array()
        .unwrap()
        .clone()
}

/// Asserts that every game was played once, under its own key, and no turn was played twice.
fn once_each(lab: &Lab, games: usize) {
    let cards = listed(lab);
    assert_eq!(cards.len(), games);
    let mut keys = BTreeSet::new();
    for card in cards {
        assert_eq!(card["status"], "completed", "{card}");
        let id = card["id"].as_str().unwrap();
        let view = lab.debate(&["show", id, "--json"]).success().json();
        assert_eq!(view["terms"]["tournament"], "spring");
        assert!(keys.insert(view["terms"]["game"].as_str().unwrap().to_owned()), "twice");
        let taken = lab.turns_taken(id);
        assert!(taken.len() == 4 && taken.values().all(|times| *times == 1), "{taken:?}");
    }
}

fn rows(board: &Value) -> Vec<(String, u64, u64)> {
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
fn the_better_words_win_and_everything_is_rated() {
    let lab = hall();
    file(&lab, &["codex", "claude", "copilot"], "at_once = 3");
    let planned = lab.debate(&["tournament", "t.toml", "--dry-run", "--json"]).success().json();
    fits("tournament-plan", &planned);
    assert_eq!(planned["games"].as_array().unwrap().len(), 12);
    assert_eq!(planned["calls"], 48);
    assert!(listed(&lab).is_empty() && calls(&lab).is_empty(), "nothing was played");

    let done = lab.debate(&["tournament", "t.toml", "--json"]).success();
    let played = done.json();
    fits("tournament", &played);
    assert_eq!((&played["played"], &played["ending"]), (&12.into(), &"done".into()), "{done:#?}");
    assert_eq!(played["board"]["rated"], 12);
    let wanted = [("claude", 8, 0), ("codex", 4, 4), ("copilot", 0, 8)];
    assert_eq!(rows(&played["board"]), wanted.map(|(name, won, lost)| (name.into(), won, lost)));
    let cross = &played["cross"]["rows"];
    assert_eq!(
        (&cross[0][1]["wins"], &cross[0][1]["losses"]),
        (&0.into(), &4.into()),
        "codex, claude"
    );
    assert!(cross[0][0].is_null());
    for part in ["12 games", "Estimate: about 48 calls", "claude wins", "12 of 12 games played"] {
        done.warns(part);
    }
    once_each(&lab, 12);
    // Each entrant plays one game at a time, so its calls never overlap.
    for (tool, (count, most)) in calls(&lab) {
        let wanted = if tool == "gemini" { (24, 2) } else { (8, 1) };
        assert_eq!((count, most.min(wanted.1)), (wanted.0, most), "{tool}");
    }

    let again = lab.debate(&["tournament", "t.toml"]).success();
    again.warns("12 of them played already");
    again.says(&[
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
    assert!(again.out.lines().all(|line| line.chars().count() <= 80), "{}", again.out);
    once_each(&lab, 12);

    let board = lab.debate(&["leaderboard", "--json"]).success().json();
    fits("leaderboard", &board);
    let names: Vec<String> = rows(&board).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["claude:claude-big", "codex", "copilot:copilot-big"]);
    assert_eq!(lab.debate(&["leaderboard", "--here", "--json"]).success().json(), board);
    lab.debate(&["leaderboard"]).success().says(&["claude:claude-big", "gemini:gemini-big"]);

    // Only new games are played.
    let text = fs::read_to_string(lab.root().join("t.toml")).unwrap();
    lab.file("t.toml", &text.replace("\"Tabs?\"", "\"Threads?\", \"Tabs?\""));
    lab.debate(&["tournament", "t.toml", "--json"]).success();
    once_each(&lab, 18);
    assert_eq!(calls(&lab)["claude"].0, 12);
}

#[test]
fn debaters_and_judges_are_not_told_of_the_tournament() {
    let lab = hall();
    file(&lab, &["codex", "claude"], "");
    lab.debate(&["tournament", "t.toml"]).success();
    let mut seen = 0;
    for card in listed(&lab) {
        let id = card["id"].as_str().unwrap();
        let view = lab.debate(&["show", id, "--json"]).success().json();
        let key = view["terms"]["game"].as_str().unwrap().to_owned();
        for turn in lab.turns_taken(id).keys() {
            let prompt = lab.debate(&["show", id, "--prompt", turn]).success().out;
            assert!(!prompt.contains("spring") && !prompt.contains(&key), "{prompt}");
            assert!(!prompt.to_lowercase().contains("tournament"), "{prompt}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

/// Killed twice: finished games are kept, and started games are resumed.
#[test]
fn killed_in_the_middle_a_tournament_goes_on_and_nothing_is_played_twice() {
    let lab = hall();
    file(&lab, &["codex", "claude", "copilot"], "at_once = 2\nat_once_per_entrant = 2");
    for wanted in [2, 6] {
        let running = lab.debate(&["tournament", "t.toml", "--no-probe"]).start();
        let whole = || listed(&lab).iter().filter(|card| card["status"] == "completed").count();
        until("some games are over", || whole() >= wanted);
        fs::write(lab.outside("wait"), "").unwrap();
        until("games are under way", || listed(&lab).len() > whole());
        running.signal("KILL");
        running.wait();
        fs::remove_file(lab.outside("wait")).unwrap();
    }
    let before: BTreeSet<String> =
        listed(&lab).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(before.len() < 12, "it was killed in the middle");
    let done = lab.debate(&["tournament", "t.toml", "--json"]).success();
    assert_eq!(done.json()["board"]["rated"], 12, "{done:#?}");
    once_each(&lab, 12);
    let after: BTreeSet<String> =
        listed(&lab).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert!(after.is_superset(&before));
}

#[test]
fn stopped_by_a_person_it_says_how_to_go_on() {
    let lab = hall();
    file(&lab, &["codex", "claude"], "");
    fs::write(lab.outside("wait"), "").unwrap();
    let running = lab.debate(&["tournament", "t.toml", "--no-probe"]).start();
    until("somebody is asked", || !calls(&lab).is_empty());
    running.signal("INT");
    let done = running.wait();
    assert_eq!(done.code, Some(2), "{done:#?}");
    done.warns("Stopped. Nothing that was recorded is lost.");
    done.warns("Go on with: debate tournament t.toml");
    done.says(&["spring: 0 of 4 games played, 1 not over, 3 not begun", "No debate is rated yet"]);
    fs::remove_file(lab.outside("wait")).unwrap();
    lab.debate(&["tournament", "t.toml"]).success();
    once_each(&lab, 4);
}

#[test]
fn two_who_play_the_same_tournament_share_its_games() {
    let lab = hall();
    file(&lab, &["codex", "claude"], "");
    let one = lab.debate(&["tournament", "t.toml", "--no-probe"]).start();
    let other = lab.debate(&["tournament", "t.toml", "--no-probe"]).start();
    let done: Vec<Done> = [one, other].into_iter().map(crate::lab::Running::wait).collect();
    assert!(done.iter().all(|it| it.code == Some(0)), "{done:#?}");
    once_each(&lab, 4);
    assert!(done.iter().any(|it| it.err.contains("; waiting for it")), "{done:#?}");
}

#[test]
fn a_game_that_fails_is_tried_once_more_and_then_reported() {
    let lab = hall();
    file(&lab, &["codex", "claude"], "");
    fs::write(lab.outside("fake-claude/broken"), "").unwrap();
    let done = lab.debate(&["tournament", "t.toml", "--json"]).ends(5);
    let played = done.json();
    fits("tournament", &played);
    assert_eq!(played["played"], 0);
    assert_eq!(played["failed"].as_array().unwrap().len(), 4, "{played:#}");
    assert_eq!(done.err.matches("it is tried once more").count(), 4, "{}", done.err);
    assert_eq!(listed(&lab).len(), 4, "tried again where they failed");
    let calls_before = calls(&lab)["claude"].0;
    lab.debate(&["tournament", "t.toml", "--json"]).ends(5);
    let retried = calls(&lab)["claude"].0 - calls_before;
    assert_eq!(retried * 2, calls_before, "once each in the next run");
    fs::remove_file(lab.outside("fake-claude/broken")).unwrap();
    let done = lab.debate(&["tournament", "t.toml", "--json"]).success().json();
    assert_eq!(done["board"]["rated"], 4, "{done:#}");
}

#[test]
fn nothing_is_begun_that_could_not_be_played_or_rated() {
    let lab = hall();
    let refused = |says: &str, code: i32| {
        let done = lab.debate(&["tournament", "t.toml"]).fails_with(code);
        assert!(done.err.contains(says) && done.err.contains("hint:"), "{}", done.err);
        assert!(listed(&lab).is_empty() && calls(&lab).is_empty());
    };
    file(&lab, &["codex", "opencode"], "");
    refused("`opencode` cannot play a seat here", 4);
    file(&lab, &["codex", "claude:a", "claude:b"], "");
    refused("`claude:a` against `claude:b`: proposer and challenger are both `claude`", 2);
    file(&lab, &["codex", "claude", "claude:b"], "");
    refused("entrants `claude` and `claude:b` are, or may be, one model", 2);
    file(&lab, &["codex", "claude"], "format = \"research\"");
    refused("`research` has no two sides", 2);
    file(&lab, &["codex", "claude"], "format = \"nothing\"");
    refused("unknown format `nothing`", 2);
    lab.file("t.toml", "name = 3");
    refused("`t.toml`: ", 2);
    let missing = lab.debate(&["tournament", "none.toml"]).fails_with(1);
    assert!(missing.err.contains("`none.toml`"), "{}", missing.err);
    fs::write(lab.outside("fake-claude/ok"), "").unwrap();
    file(&lab, &["codex", "claude"], "");
    refused("`claude` does not answer", 4);
}

#[test]
fn what_scripts_play_is_never_rated() {
    let lab = Lab::new();
    let text = format!(
        "name = \"spring\"\nmotions = [\"Tabs?\"]\nentrants = [{{ name = \"one\", seat = \"{}\" }}, \
         {{ name = \"other\", seat = \"{}\" }}]\njudge = \"script:../pro.json\"\n",
        lab.seat("pro.json"),
        lab.seat("contra.json")
    );
    lab.file("t.toml", &text);
    let done = lab.debate(&["tournament", "t.toml"]).success();
    done.says(&["spring: 2 of 2 games played", "No debate is rated yet", "2  scripted"]);
    let board = lab.debate(&["leaderboard", "--json"]).success().json();
    assert_eq!(board["unrated"][0]["reason"], "scripted");
    assert_eq!((&board["rated"], &board["debates"]), (&0.into(), &2.into()));
}

#[test]
fn when_everything_is_spent_no_more_is_begun() {
    let lab = hall();
    file(&lab, &["codex", "claude"], "[in_all]\nmax_tokens = 200");
    // A turn uses 120 tokens, so the first game exceeds its budget before it ends.
    let done = lab.debate(&["tournament", "t.toml", "--json"]).ends(2);
    let played = done.json();
    assert_eq!((&played["ending"], &played["played"]), (&"spent".into(), &0.into()), "{done:#?}");
    done.warns("What all games may spend is spent");
    let done = lab.debate(&["tournament", "t.toml", "--json", "--max-tokens", "100000"]).success();
    assert_eq!(done.json()["played"], 4, "{done:#?}");
    once_each(&lab, 4);
}
