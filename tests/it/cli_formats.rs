//! Every format from the terminal, with a script in every seat: options, output, JSON schema and
//! written files.
use crate::casts::{Said, Tongue, dialectic, research, script, tribunal};
use crate::cli_json::fits;
use crate::lab::{Lab, in_order};
use serde_json::Value;
use std::fs;

impl Lab {
    /// Writes these replies to a script file and returns the seat that plays it.
    pub(crate) fn cast(&self, said: &[Said]) -> String {
        fs::write(self.outside("cast.json"), script(said)).unwrap();
        self.seat("cast.json")
    }
}

/// `debate run TOPIC --format FORMAT`, with one script in every seat.
fn run(lab: &Lab, format: &str, seat: &str, more: &[&str]) -> crate::lab::Call {
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", format, "--model", seat, "--json"];
    lab.debate(&[&args, more].concat())
}

fn record(lab: &Lab) -> String {
    let shown = lab.debate(&["show", "last", "--json"]).success().json();
    fs::read_to_string(shown["record"].as_str().unwrap()).unwrap()
}

#[test]
fn a_research_ends_with_a_report_of_nine_sections() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::English));
    let more = ["--yes", "--output", "report.md", "--goal", "Which is cheaper to run?"];
    let done = run(&lab, "research", &seat, &more).success();
    done.warns("Evidence round: on: the topic asks about performance");
    let view = done.json();
    fits("run", &view);
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_eq!(view["result"], "success");
    assert_eq!(view["verdict"], Value::Null, "nobody wins");
    let report = fs::read_to_string(lab.root().join("report.md")).unwrap();
    in_order(
        &report,
        &[
            "# Faster with one file or many?: Debate Research Report",
            "Multi-agent structured debate (debate-research skill)",
            "Proponent",
            "self",
            "personal-choice",
            "success",
            "## Core Arguments by Side",
            "Proponent",
            "argument A1",
            "confidence: 0.80",
            "official-docs",
            "## Cross Rebuttals",
            "## Evidence Audit",
            "[official-docs]",
            "## Neutral Judgment",
            "## Recommendation",
            "## Open Questions",
            "## Scenario Matrix",
            "| small team |",
            "> ",
            "Take the first one.",
        ],
    );
    lab.replays(&lab.last());
    let taken = lab.turns_taken(&lab.last());
    assert_eq!(taken.len(), 6, "two stances twice, an audit, a judgment: {taken:?}");
}

#[test]
fn a_chinese_research_is_chinese_to_its_headings() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::Chinese));
    let args = ["run", "用 sqlx 还是 rusqlite?", "--format", "research", "--model", &seat];
    let done = lab.debate(&[&args[..], &["--yes", "--output", "r.md"]].concat()).success();
    let report = fs::read_to_string(lab.root().join("r.md")).unwrap();
    in_order(
        &report,
        &[
            "辩论研究报告",
            "各方核心论点",
            "交叉反驳",
            "证据审计",
            "未请求",
            "中立判断",
            "建议",
            "未解决问题",
            "场景矩阵",
            "一句话总结",
        ],
    );
    assert!(!report.contains("## Recommendation"), "{report}");
    done.warns("off: nothing in the topic asks for what can be measured");
}

#[test]
fn without_a_terminal_a_plan_waits_for_yes() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::English));
    let done = run(&lab, "research", &seat, &[]).ends(2);
    done.warns("--yes");
    done.warns("Proponent");
    let id = lab.last();
    assert!(lab.turns_taken(&id).is_empty(), "nothing is asked before the user has said so");
    let view = lab.debate(&["resume", &id, "--yes", "--json"]).success().json();
    assert_eq!(view["status"], "completed");
}

#[test]
fn a_stance_that_fails_degrades_a_report_and_nobody_left_aborts_it() {
    let lab = Lab::new();
    let mut said = research(Tongue::English);
    // The script has no line for the second stance, so its turns fail.
    said.retain(|it| !it.text.contains("Opponent"));
    let seat = lab.cast(&said);
    let view = run(&lab, "research", &seat, &["--yes", "--output", "r.md"]).ends(5).json();
    assert_eq!(view["result"], "degraded-success", "{view:#}");
    let report = fs::read_to_string(lab.root().join("r.md")).unwrap();
    in_order(&report, &["degraded-success", "[INCOMPLETE]"]);
    let seat = lab.cast(&[]);
    let view = run(&lab, "research", &seat, &["--yes", "--output", "none.md"]).ends(4).json();
    assert_eq!(view["result"], "aborted");
    assert!(!lab.root().join("none.md").exists(), "an aborted research leaves no report");
}

#[test]
fn a_topic_in_one_line_names_its_sides_and_models() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::English));
    // A topic cannot contain a script path, so the host plays both sides.
    let args = ["run", "Axum vs Actix (host, host)", "--format", "research", "--json"];
    let done = lab.debate(&[&args[..], &["--judge", &seat]].concat()).ends(2);
    done.warns("argue for Axum over Actix");
    let view = lab.debate(&["show", "last", "--json"]).success().json();
    assert_eq!(view["topic"], "Axum vs Actix");
    let tools: Vec<&Value> =
        view["seats"].as_array().unwrap().iter().map(|seat| &seat["tool"]).collect();
    assert_eq!(tools[..2], ["host", "host"]);
}

#[test]
fn a_dialogue_keeps_what_was_learned_and_names_no_winner() {
    let lab = Lab::new();
    let seat = lab.cast(&dialectic());
    let view = run(&lab, "dialectic", &seat, &["--yes", "--rounds", "3"]).success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    fits("run", &view);
    assert_eq!((&view["verdict"], &view["outcome"]), (&Value::Null, &"partial".into()));
    assert_eq!(view["rounds_completed"], 3);
    let record = record(&lab);
    in_order(
        &record,
        &[
            "# Debate: Faster with one file or many?",
            "**Status**: completed",
            "**Participants**: Main Agent <-> Sub Agent",
            "**Outcome**: partial",
            "## Round 1",
            "### Main Agent\n",
            "### Sub Agent\n",
            "## Round 3",
            "## Conclusion",
            "### Key Insights",
            "Locks are short.",
            "### User's Decision",
        ],
    );
    assert!(!record.to_lowercase().contains("winner") && !record.contains("stronger argument"));
    let out = lab.debate(&["outcome", "last", "--decided", "One file.", "--keep"]).success();
    out.says(&["One file.", "kept"]);
    assert!(record_path(&lab).exists());
    lab.debate(&["outcome", "last", "--discard"]).success();
    assert!(!record_path(&lab).exists(), "discarded is deleted");
    lab.debate(&["outcome", "last", "--right"]).fails_with(2);
}

fn record_path(lab: &Lab) -> std::path::PathBuf {
    let folder = lab.root().join(".debates");
    let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let record = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "md"));
    record.unwrap_or_else(|| folder.join("none.md"))
}

#[test]
fn a_dialogue_can_be_steered_deepened_and_ended() {
    let lab = Lab::new();
    let seat = lab.cast(&dialectic());
    // Without a terminal it pauses after the first round.
    run(&lab, "dialectic", &seat, &[]).ends(2).warns("Paused before round 2");
    let id = lab.last();
    let more = ["--steer", "Many files?", "--deepen", "locks"];
    lab.debate(&[&["resume", &id, "--json"][..], &more].concat()).ends(2);
    let events = lab.events(&id);
    assert!(events.iter().any(|event| event["change"]["topic"] == "Many files?"));
    assert!(events.iter().any(|event| event["text"] == "Go deeper on this: locks"));
    let view = lab.debate(&["resume", &id, "--end", "--json"]).success().json();
    assert_eq!((&view["topic"], &view["outcome"]), (&"Many files?".into(), &"partial".into()));
    lab.replays(&id);
}

#[test]
fn a_court_of_ten_rounds_comes_to_a_weighted_result() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(10));
    let refused = run(&lab, "tribunal", &seat, &[]).fails_with(2);
    refused.warns("would judge a debate in which it argues");
    let view = run(&lab, "tribunal", &seat, &["--same-judge"]).success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    fits("run", &view);
    let verdict = &view["verdict"];
    assert_eq!(verdict["side"], "pro", "{verdict:#}");
    let weighed = &verdict["weighed"];
    // 75 of 135 points in the rounds, 70 of 130 in the rulings, four of five votes.
    assert_eq!((&weighed["rounds"], &weighed["rulings"]), (&5556.into(), &5385.into()));
    assert_eq!((&weighed["judge"], &weighed["audience"]), (&5470.into(), &8000.into()));
    assert_eq!(weighed["total"], 6735);
    assert_eq!(
        verdict["court"]["turning_round"], 1,
        "it led throughout, and each round added the same"
    );
    let done = lab.debate(&["show", "last", "--summary"]).success();
    done.says(&["P1", "risk-averse", "backups"]);
    let phases: Vec<(u64, &str)> = view["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| (turn["round"].as_u64().unwrap(), turn["phase"].as_str().unwrap()))
        .collect();
    let rounds = |phase: &str| -> Vec<u64> {
        let mut rounds: Vec<u64> =
            phases.iter().filter(|it| it.1 == phase).map(|it| it.0).collect();
        rounds.dedup();
        rounds
    };
    assert_eq!(rounds("petition"), [3, 4, 5, 6], "only in the confrontation");
    assert_eq!(rounds("address"), [3], "who has spoken once is silent");
    assert_eq!(rounds("score"), (1..=10).collect::<Vec<u64>>());
    let fouls = view["turns"].as_array().unwrap().iter().flat_map(|turn| {
        turn["findings"].as_array().unwrap().iter().filter(|it| it["weight"] == "foul")
    });
    assert_eq!(fouls.count(), 0, "{view:#}");
    let database = lab.database();
    let count = |table: &str| -> i64 {
        let row =
            database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        row.unwrap()
    };
    assert_eq!((count("scores"), count("votes"), count("rounds")), (20, 5, 11));
    assert_eq!(count("agents"), 9, "two sides, a judge, its mirror and five listeners");
    lab.replays(&lab.last());
}

#[test]
fn listeners_weights_and_shares_are_the_users() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let base = ["--rounds", "3", "--same-judge"];
    let weighty = [&base[..], &["--listener", "risk-averse*3", "--listener", "rational-logic"]];
    let shares = ["--judge-share", "0", "--audience-share", "1"];
    let view = run(&lab, "tribunal", &seat, &[&weighty.concat()[..], &shares].concat());
    let verdict = &view.success().json()["verdict"];
    assert_eq!((&verdict["side"], &verdict["weighed"]["total"]), (&"con".into(), &2500.into()));
    let wrong = [&base[..], &["--judge-share", "0.5", "--audience-share", "0.6"]].concat();
    run(&lab, "tribunal", &seat, &wrong).fails_with(2).warns("come to 1.1, not to 1");
    let wrong = [&base[..], &["--listener", "grumpy"]].concat();
    run(&lab, "tribunal", &seat, &wrong).fails_with(2).warns("known: emotional-resonance");
    let nobody = [&base[..], &["--listener", "none"]].concat();
    let view = run(&lab, "tribunal", &seat, &nobody).success().json();
    assert_eq!(view["verdict"]["weighed"]["audience"], Value::Null);
}

#[test]
fn a_person_votes_in_plain_words() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let more = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let done =
        run(&lab, "tribunal", &seat, &more).stdin("con 0.9 because of backups\n.\n").success();
    let votes = &done.json()["votes"];
    assert_eq!(votes[0]["vote"], "con", "{votes:#}");
    assert_eq!(votes[0]["reason"], "of backups");
}

#[test]
fn a_panel_shows_its_split() {
    let lab = Lab::new();
    let cast = lab.cast(&tribunal(3));
    let other = tribunal(3)
        .into_iter()
        .map(|mut said| {
            said.text = said.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
            said.text = said.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
            said.text = said.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
            said
        })
        .collect::<Vec<_>>();
    fs::write(lab.outside("other.json"), script(&other)).unwrap();
    let other = lab.seat("other.json");
    let args = ["run", "One file?", "--rounds", "3", "--format", "tribunal", "--model", &cast];
    let judges = ["--judge", &cast, "--judge", &other, "--judge", &cast, "--same-judge", "--json"];
    let view = lab.debate(&[&args[..], &judges].concat()).success().json();
    let verdict = &view["verdict"];
    assert_eq!(verdict["contested"], true, "{verdict:#}");
    assert!(verdict["doubts"].to_string().contains("the judges do not agree"));
    assert_eq!(verdict["rulings"].as_array().unwrap().len(), 6, "each of three, both ways round");
    assert_eq!(verdict["confidence"], 50);
}

/// A winner against the judge's ruling is contested, and the reasoning says how the judge ruled.
#[test]
fn votes_that_outweigh_the_rulings_make_a_contested_verdict() {
    let lab = Lab::new();
    let mut said = tribunal(3);
    for it in &mut said {
        it.text = it.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
        it.text = it.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
        it.text = it.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
    }
    let seat = lab.cast(&said);
    let more = ["--rounds", "3", "--same-judge"];
    let verdict = run(&lab, "tribunal", &seat, &more).success().json()["verdict"].clone();
    assert_eq!((&verdict["side"], &verdict["confidence"]), (&"pro".into(), &50.into()));
    assert!(
        verdict["doubts"].to_string().contains("the rulings went the other way"),
        "{verdict:#}"
    );
    let why = verdict["reasoning"].as_str().unwrap();
    assert!(why.contains("outweigh the judge, who ruled for challenger"), "{why}");
    assert_eq!(verdict["decisive"], Value::Null, "it was the other side's");
}

/// Scores and rulings stay hidden on the terminal and in the record until the human has voted.
#[test]
fn marks_and_rulings_are_sealed_while_a_person_has_to_vote() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let more = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let args = ["run", "One file?", "--format", "tribunal", "--model", &seat, "--follow"];
    let done = lab.debate(&[&args[..], &more].concat()).stdin("").ends(2);
    let shown = lab.debate(&["show", "last"]).success().out;
    for text in [&done.out, &done.err, &shown, &record(&lab)] {
        for seen in ["A is ahead.", "It was shown in T1", "stronger argument"] {
            assert!(!text.contains(seen), "`{seen}` in {text}");
        }
    }
    assert!(shown.contains("(Sealed until all have answered.)"), "{shown}");
    let done = lab.debate(&["resume", "last"]).stdin("con 0.9 backups\n.\n").success();
    done.says(&["had the stronger argument"]);
    assert!(record(&lab).contains("A is ahead."));
}

#[test]
fn formats_are_listed_and_a_users_own_is_played() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let folder = lab.outside("user").join(".config/debate/formats");
    fs::create_dir_all(&folder).unwrap();
    let own = r#"
about = "two sides, one exchange"
rounds = { least = 1, most = 3, usual = 1 }
[[acts]]
name = "exchange"
rounds = { leaving = 0 }
[[acts.phases]]
name = "argue"
speakers = ["pro", "con"]
reply = "speech"
rules = { evidenced = "foul" }
[[acts]]
name = "verdict"
rounds = "once"
[[acts.phases]]
name = "judge"
speakers = ["judge", "mirror"]
order = "at_once"
reply = "verdict"
short = "conclude"
rules = { picks_side = "reask", cites_record = "reask" }
[prompts]
argue = "{{topic}} {{heard}} {{reply}}"
judge = "{{topic}} {{heard}} {{claims}} {{reply}}"
"#;
    fs::write(folder.join("quick.toml"), own).unwrap();
    fs::write(folder.join("bad.toml"), "about = \"x\"\nbase = \"duell\"\n").unwrap();
    let listed = lab.debate(&["formats"]).success();
    listed.says(&["duel", "research", "dialectic", "tribunal", "api-design", "quick"]);
    listed.warns("`bad` cannot be played");
    let shown = lab.debate(&["formats", "tribunal"]).success();
    shown.says(&["Rounds: 3 to 20, usually 10", "stances (rounds 1-2)", "closing (round 10)"]);
    let json = lab.debate(&["formats", "--json"]).success().json();
    assert_eq!(json["broken"][0]["name"], "bad");
    let view = run(&lab, "quick", &seat, &[]).success().json();
    assert_eq!((&view["format"], &view["verdict"]["side"]), (&"quick".into(), &"pro".into()));
    run(&lab, "bad", &seat, &[]).fails_with(2).warns("there is no `base` format `duell`");
    let wrong = run(&lab, "duel", &seat, &["--listener", "risk-averse"]).fails_with(2);
    wrong.warns("`listeners` means nothing in the format `duel`");
}

#[test]
fn what_became_of_verdicts_is_counted() {
    let lab = Lab::new();
    lab.run("One file?", &["--json"]).success();
    let learned = lab.debate(&["outcome", "last", "--wrong", "--note", "it locked", "--json"]);
    let learned = learned.success().json();
    assert_eq!(learned["proof"], "wrong");
    let sure = learned["confidence"].as_u64().unwrap();
    lab.run("One more?", &["--json"]).success();
    lab.debate(&["outcome", "last", "--right"]).success();
    let stats = lab.debate(&["stats", "--json"]).success().json();
    assert_eq!(
        (&stats["known"], &stats["right"], &stats["wrong"]),
        (&2.into(), &1.into(), &1.into())
    );
    let p = sure as f64 / 100.0;
    let brier = f64::midpoint(p * p, (1.0 - p) * (1.0 - p));
    assert!((stats["brier"].as_f64().unwrap() - brier).abs() < 1e-9, "{stats:#}");
    lab.debate(&["stats"]).success().says(&["2 verdicts", "Brier score"]);
    lab.debate(&["reindex"]).success();
    assert_eq!(lab.debate(&["stats", "--json"]).success().json(), stats, "it is all in the log");
}
