//! Every format from the terminal, with a script in every seat: options, output, JSON schema and
//! written files.
use crate::cli_json::assert_matches_schema;
use crate::scripted_replies::{
    ReplyLanguage, ScriptedReply, dialectic, research, to_script_json, tribunal,
};
use crate::test_env::{TestEnv, assert_contains_in_order};
use serde_json::Value;
use std::fs;

impl TestEnv {
    /// Writes these replies to a script file and returns the seat that plays it.
    pub(crate) fn write_replies(&self, said: &[ScriptedReply]) -> String {
        fs::write(self.temp_path("cast.json"), to_script_json(said)).unwrap();
        self.script_seat("cast.json")
    }
}

/// `debate run TOPIC --format FORMAT`, with one script in every seat.
fn run_format(
    lab: &TestEnv,
    format: &str,
    seat: &str,
    more: &[&str],
) -> crate::test_env::DebateCommand {
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", format, "--model", seat, "--json"];
    lab.debate(&[&args, more].concat())
}

fn read_record(lab: &TestEnv) -> String {
    let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
    fs::read_to_string(shown["record"].as_str().unwrap()).unwrap()
}

#[test]
fn research_ends_with_a_nine_section_report() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::English));
    let more = ["--yes", "--output", "report.md", "--goal", "Which is cheaper to run?"];
    let done = run_format(&lab, "research", &seat, &more).expect_success();
    done.assert_stderr_contains("Evidence round: on: the topic asks about performance");
    let view = done.json();
    assert_matches_schema("run", &view);
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_eq!(view["result"], "success");
    assert_eq!(view["verdict"], Value::Null, "nobody wins");
    let report = fs::read_to_string(lab.repo_root().join("report.md")).unwrap();
    assert_contains_in_order(
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
    lab.assert_replays(&lab.latest_debate_id());
    let taken = lab.turn_counts(&lab.latest_debate_id());
    assert_eq!(taken.len(), 6, "two stances twice, an audit, a judgment: {taken:?}");
}

#[test]
fn chinese_research_report_has_chinese_headings() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::Chinese));
    let args = ["run", "用 sqlx 还是 rusqlite?", "--format", "research", "--model", &seat];
    let done = lab.debate(&[&args[..], &["--yes", "--output", "r.md"]].concat()).expect_success();
    let report = fs::read_to_string(lab.repo_root().join("r.md")).unwrap();
    assert_contains_in_order(
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
    done.assert_stderr_contains("off: nothing in the topic asks for what can be measured");
}

#[test]
fn without_a_terminal_the_plan_needs_the_yes_flag() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::English));
    let done = run_format(&lab, "research", &seat, &[]).expect_exit_code(2);
    done.assert_stderr_contains("--yes");
    done.assert_stderr_contains("Proponent");
    let id = lab.latest_debate_id();
    assert!(lab.turn_counts(&id).is_empty(), "nothing is asked before the user has said so");
    let view = lab.debate(&["resume", &id, "--yes", "--json"]).expect_success().json();
    assert_eq!(view["status"], "completed");
}

#[test]
fn failed_stance_degrades_research_and_no_stance_aborts_it() {
    let lab = TestEnv::new();
    let mut said = research(ReplyLanguage::English);
    // The script has no line for the second stance, so its turns fail.
    said.retain(|it| !it.text.contains("Opponent"));
    let seat = lab.write_replies(&said);
    let view = run_format(&lab, "research", &seat, &["--yes", "--output", "r.md"])
        .expect_exit_code(5)
        .json();
    assert_eq!(view["result"], "degraded-success", "{view:#}");
    let report = fs::read_to_string(lab.repo_root().join("r.md")).unwrap();
    assert_contains_in_order(&report, &["degraded-success", "[INCOMPLETE]"]);
    let seat = lab.write_replies(&[]);
    let view = run_format(&lab, "research", &seat, &["--yes", "--output", "none.md"])
        .expect_exit_code(4)
        .json();
    assert_eq!(view["result"], "aborted");
    assert!(!lab.repo_root().join("none.md").exists(), "an aborted research leaves no report");
}

#[test]
fn one_line_topic_names_sides_and_models() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::English));
    // A topic cannot contain a script path, so the host plays both sides.
    let args = ["run", "Axum vs Actix (host, host)", "--format", "research", "--json"];
    let done = lab.debate(&[&args[..], &["--judge", &seat]].concat()).expect_exit_code(2);
    done.assert_stderr_contains("argue for Axum over Actix");
    let view = lab.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(view["topic"], "Axum vs Actix");
    let tools: Vec<&Value> =
        view["seats"].as_array().unwrap().iter().map(|seat| &seat["tool"]).collect();
    assert_eq!(tools[..2], ["host", "host"]);
}

#[test]
fn dialectic_records_insights_and_no_winner() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&dialectic());
    let view =
        run_format(&lab, "dialectic", &seat, &["--yes", "--rounds", "3"]).expect_success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_matches_schema("run", &view);
    assert_eq!((&view["verdict"], &view["outcome"]), (&Value::Null, &"partial".into()));
    assert_eq!(view["rounds_completed"], 3);
    let record = read_record(&lab);
    assert_contains_in_order(
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
    let out = lab.debate(&["outcome", "last", "--decided", "One file.", "--keep"]).expect_success();
    out.assert_stdout_contains(&["One file.", "kept"]);
    assert!(record_path(&lab).exists());
    lab.debate(&["outcome", "last", "--discard"]).expect_success();
    assert!(!record_path(&lab).exists(), "discarded is deleted");
    lab.debate(&["outcome", "last", "--right"]).expect_error(2);
}

fn record_path(lab: &TestEnv) -> std::path::PathBuf {
    let folder = lab.repo_root().join(".debates");
    let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let record = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "md"));
    record.unwrap_or_else(|| folder.join("none.md"))
}

#[test]
fn dialectic_can_be_steered_deepened_and_ended() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&dialectic());
    // Without a terminal it pauses after the first round.
    run_format(&lab, "dialectic", &seat, &[])
        .expect_exit_code(2)
        .assert_stderr_contains("Paused before round 2");
    let id = lab.latest_debate_id();
    let more = ["--steer", "Many files?", "--deepen", "locks"];
    lab.debate(&[&["resume", &id, "--json"][..], &more].concat()).expect_exit_code(2);
    let events = lab.events(&id);
    assert!(events.iter().any(|event| event["change"]["topic"] == "Many files?"));
    assert!(events.iter().any(|event| event["text"] == "Go deeper on this: locks"));
    let view = lab.debate(&["resume", &id, "--end", "--json"]).expect_success().json();
    assert_eq!((&view["topic"], &view["outcome"]), (&"Many files?".into(), &"partial".into()));
    lab.assert_replays(&id);
}

#[test]
fn ten_round_tribunal_has_a_weighted_result() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(10));
    let refused = run_format(&lab, "tribunal", &seat, &[]).expect_error(2);
    refused.assert_stderr_contains("would judge a debate in which it argues");
    let view = run_format(&lab, "tribunal", &seat, &["--same-judge"]).expect_success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_matches_schema("run", &view);
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
    let done = lab.debate(&["show", "last", "--summary"]).expect_success();
    done.assert_stdout_contains(&["P1", "risk-averse", "backups"]);
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
    let database = lab.open_database();
    let count = |table: &str| -> i64 {
        let row =
            database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        row.unwrap()
    };
    assert_eq!((count("scores"), count("votes"), count("rounds")), (20, 5, 11));
    assert_eq!(count("agents"), 9, "two sides, a judge, its mirror and five listeners");
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn listener_weights_and_shares_can_be_set() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let base = ["--rounds", "3", "--same-judge"];
    let weighty = [&base[..], &["--listener", "risk-averse*3", "--listener", "rational-logic"]];
    let shares = ["--judge-share", "0", "--audience-share", "1"];
    let view = run_format(&lab, "tribunal", &seat, &[&weighty.concat()[..], &shares].concat());
    let verdict = &view.expect_success().json()["verdict"];
    assert_eq!((&verdict["side"], &verdict["weighed"]["total"]), (&"con".into(), &2500.into()));
    let wrong = [&base[..], &["--judge-share", "0.5", "--audience-share", "0.6"]].concat();
    run_format(&lab, "tribunal", &seat, &wrong)
        .expect_error(2)
        .assert_stderr_contains("come to 1.1, not to 1");
    let wrong = [&base[..], &["--listener", "grumpy"]].concat();
    run_format(&lab, "tribunal", &seat, &wrong)
        .expect_error(2)
        .assert_stderr_contains("known: emotional-resonance");
    let nobody = [&base[..], &["--listener", "none"]].concat();
    let view = run_format(&lab, "tribunal", &seat, &nobody).expect_success().json();
    assert_eq!(view["verdict"]["weighed"]["audience"], Value::Null);
}

#[test]
fn human_vote_is_parsed_from_plain_text() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let more = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let done = run_format(&lab, "tribunal", &seat, &more)
        .stdin("con 0.9 because of backups\n.\n")
        .expect_success();
    let votes = &done.json()["votes"];
    assert_eq!(votes[0]["vote"], "con", "{votes:#}");
    assert_eq!(votes[0]["reason"], "of backups");
}

#[test]
fn panel_of_judges_reports_its_split() {
    let lab = TestEnv::new();
    let cast = lab.write_replies(&tribunal(3));
    let other = tribunal(3)
        .into_iter()
        .map(|mut said| {
            said.text = said.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
            said.text = said.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
            said.text = said.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
            said
        })
        .collect::<Vec<_>>();
    fs::write(lab.temp_path("other.json"), to_script_json(&other)).unwrap();
    let other = lab.script_seat("other.json");
    let args = ["run", "One file?", "--rounds", "3", "--format", "tribunal", "--model", &cast];
    let judges = ["--judge", &cast, "--judge", &other, "--judge", &cast, "--same-judge", "--json"];
    let view = lab.debate(&[&args[..], &judges].concat()).expect_success().json();
    let verdict = &view["verdict"];
    assert_eq!(verdict["contested"], true, "{verdict:#}");
    assert!(verdict["doubts"].to_string().contains("the judges do not agree"));
    assert_eq!(verdict["rulings"].as_array().unwrap().len(), 6, "each of three, both ways round");
    assert_eq!(verdict["confidence"], 50);
}

/// A winner against the judge's ruling is contested, and the reasoning says how the judge ruled.
#[test]
fn verdict_against_the_rulings_is_contested() {
    let lab = TestEnv::new();
    let mut said = tribunal(3);
    for it in &mut said {
        it.text = it.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
        it.text = it.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
        it.text = it.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
    }
    let seat = lab.write_replies(&said);
    let more = ["--rounds", "3", "--same-judge"];
    let verdict =
        run_format(&lab, "tribunal", &seat, &more).expect_success().json()["verdict"].clone();
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
fn scores_and_rulings_are_hidden_until_the_human_votes() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let more = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let args = ["run", "One file?", "--format", "tribunal", "--model", &seat, "--follow"];
    let done = lab.debate(&[&args[..], &more].concat()).stdin("").expect_exit_code(2);
    let shown = lab.debate(&["show", "last"]).expect_success().stdout;
    for text in [&done.stdout, &done.stderr, &shown, &read_record(&lab)] {
        for seen in ["A is ahead.", "It was shown in T1", "stronger argument"] {
            assert!(!text.contains(seen), "`{seen}` in {text}");
        }
    }
    assert!(shown.contains("(Sealed until all have answered.)"), "{shown}");
    let done = lab.debate(&["resume", "last"]).stdin("con 0.9 backups\n.\n").expect_success();
    done.assert_stdout_contains(&["had the stronger argument"]);
    assert!(read_record(&lab).contains("A is ahead."));
}

#[test]
fn formats_are_listed_and_user_formats_run() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let folder = lab.temp_path("user").join(".config/debate/formats");
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
    let listed = lab.debate(&["formats"]).expect_success();
    listed.assert_stdout_contains(&[
        "duel",
        "research",
        "dialectic",
        "tribunal",
        "api-design",
        "quick",
    ]);
    listed.assert_stderr_contains("`bad` cannot be played");
    let shown = lab.debate(&["formats", "tribunal"]).expect_success();
    shown.assert_stdout_contains(&[
        "Rounds: 3 to 20, usually 10",
        "stances (rounds 1-2)",
        "closing (round 10)",
    ]);
    let json = lab.debate(&["formats", "--json"]).expect_success().json();
    assert_eq!(json["broken"][0]["name"], "bad");
    let view = run_format(&lab, "quick", &seat, &[]).expect_success().json();
    assert_eq!((&view["format"], &view["verdict"]["side"]), (&"quick".into(), &"pro".into()));
    run_format(&lab, "bad", &seat, &[])
        .expect_error(2)
        .assert_stderr_contains("there is no `base` format `duell`");
    let wrong = run_format(&lab, "duel", &seat, &["--listener", "risk-averse"]).expect_error(2);
    wrong.assert_stderr_contains("`listeners` means nothing in the format `duel`");
}

#[test]
fn stats_count_verdict_outcomes() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--json"]).expect_success();
    let learned = lab.debate(&["outcome", "last", "--wrong", "--note", "it locked", "--json"]);
    let learned = learned.expect_success().json();
    assert_eq!(learned["proof"], "wrong");
    let sure = learned["confidence"].as_u64().unwrap();
    lab.debate_run("One more?", &["--json"]).expect_success();
    lab.debate(&["outcome", "last", "--right"]).expect_success();
    let stats = lab.debate(&["stats", "--json"]).expect_success().json();
    assert_eq!(
        (&stats["known"], &stats["right"], &stats["wrong"]),
        (&2.into(), &1.into(), &1.into())
    );
    let p = sure as f64 / 100.0;
    let brier = f64::midpoint(p * p, (1.0 - p) * (1.0 - p));
    assert!((stats["brier"].as_f64().unwrap() - brier).abs() < 1e-9, "{stats:#}");
    lab.debate(&["stats"]).expect_success().assert_stdout_contains(&["2 verdicts", "Brier score"]);
    lab.debate(&["reindex"]).expect_success();
    assert_eq!(
        lab.debate(&["stats", "--json"]).expect_success().json(),
        stats,
        "it is all in the log"
    );
}
