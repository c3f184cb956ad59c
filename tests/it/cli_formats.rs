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
    pub(crate) fn write_replies(&self, replies: &[ScriptedReply]) -> String {
        fs::write(self.temp_path("cast.json"), to_script_json(replies)).unwrap();
        self.script_seat("cast.json")
    }
}

/// `debate run TOPIC --format FORMAT`, with one script in every seat.
fn run_format(
    env: &TestEnv,
    format: &str,
    seat: &str,
    extra_args: &[&str],
) -> crate::test_env::DebateCommand {
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", format, "--model", seat, "--json"];
    env.debate(&[&args, extra_args].concat())
}

fn read_record(env: &TestEnv) -> String {
    let shown = env.debate(&["show", "last", "--json"]).expect_success().json();
    fs::read_to_string(shown["record"].as_str().unwrap()).unwrap()
}

#[test]
fn research_ends_with_a_nine_section_report() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::English));
    let extra_args = ["--yes", "--output", "report.md", "--goal", "Which is cheaper to run?"];
    let output = run_format(&env, "research", &seat, &extra_args).expect_success();
    output.assert_stderr_contains("Evidence round: on: the topic asks about performance");
    let view = output.json();
    assert_matches_schema("run", &view);
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_eq!(view["result"], "success");
    assert_eq!(view["verdict"], Value::Null, "nobody wins");
    let report = fs::read_to_string(env.repo_root().join("report.md")).unwrap();
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
    env.assert_replays(&env.latest_debate_id());
    let turn_counts = env.turn_counts(&env.latest_debate_id());
    assert_eq!(turn_counts.len(), 6, "two stances twice, an audit, a judgment: {turn_counts:?}");
}

#[test]
fn chinese_research_report_has_chinese_headings() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::Chinese));
    let args = ["run", "用 sqlx 还是 rusqlite?", "--format", "research", "--model", &seat];
    let output = env.debate(&[&args[..], &["--yes", "--output", "r.md"]].concat()).expect_success();
    let report = fs::read_to_string(env.repo_root().join("r.md")).unwrap();
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
    output.assert_stderr_contains("off: nothing in the topic asks for what can be measured");
}

#[test]
fn without_a_terminal_the_plan_needs_the_yes_flag() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::English));
    let output = run_format(&env, "research", &seat, &[]).expect_exit_code(2);
    output.assert_stderr_contains("--yes");
    output.assert_stderr_contains("Proponent");
    let id = env.latest_debate_id();
    assert!(env.turn_counts(&id).is_empty(), "no seat is asked before the user agrees");
    let view = env.debate(&["resume", &id, "--yes", "--json"]).expect_success().json();
    assert_eq!(view["status"], "completed");
}

#[test]
fn failed_stance_degrades_research_and_no_stance_aborts_it() {
    let env = TestEnv::new();
    let mut replies = research(ReplyLanguage::English);
    // The script has no line for the second stance, so its turns fail.
    replies.retain(|reply| !reply.text.contains("Opponent"));
    let seat = env.write_replies(&replies);
    let view = run_format(&env, "research", &seat, &["--yes", "--output", "r.md"])
        .expect_exit_code(5)
        .json();
    assert_eq!(view["result"], "degraded-success", "{view:#}");
    let report = fs::read_to_string(env.repo_root().join("r.md")).unwrap();
    assert_contains_in_order(&report, &["degraded-success", "[INCOMPLETE]"]);
    let seat = env.write_replies(&[]);
    let view = run_format(&env, "research", &seat, &["--yes", "--output", "none.md"])
        .expect_exit_code(4)
        .json();
    assert_eq!(view["result"], "aborted");
    assert!(!env.repo_root().join("none.md").exists(), "an aborted research leaves no report");
}

#[test]
fn one_line_topic_names_sides_and_models() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::English));
    // A topic cannot contain a script path, so the host plays both sides.
    let args = ["run", "Axum vs Actix (host, host)", "--format", "research", "--json"];
    let output = env.debate(&[&args[..], &["--judge", &seat]].concat()).expect_exit_code(2);
    output.assert_stderr_contains("argue for Axum over Actix");
    let view = env.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(view["topic"], "Axum vs Actix");
    let tools: Vec<&Value> =
        view["seats"].as_array().unwrap().iter().map(|seat| &seat["tool"]).collect();
    assert_eq!(tools[..2], ["host", "host"]);
}

#[test]
fn dialectic_records_insights_and_no_winner() {
    let env = TestEnv::new();
    let seat = env.write_replies(&dialectic());
    let view =
        run_format(&env, "dialectic", &seat, &["--yes", "--rounds", "3"]).expect_success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_matches_schema("run", &view);
    assert_eq!((&view["verdict"], &view["outcome"]), (&Value::Null, &"partial".into()));
    assert_eq!(view["rounds_completed"], 3);
    let record = read_record(&env);
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
    let output =
        env.debate(&["outcome", "last", "--decided", "One file.", "--keep"]).expect_success();
    output.assert_stdout_contains(&["One file.", "kept"]);
    assert!(record_path(&env).exists());
    env.debate(&["outcome", "last", "--discard"]).expect_success();
    assert!(!record_path(&env).exists(), "a discarded record is deleted");
    env.debate(&["outcome", "last", "--right"]).expect_error(2);
}

fn record_path(env: &TestEnv) -> std::path::PathBuf {
    let folder = env.repo_root().join(".debates");
    let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let record = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "md"));
    record.unwrap_or_else(|| folder.join("none.md"))
}

#[test]
fn dialectic_can_be_steered_deepened_and_ended() {
    let env = TestEnv::new();
    let seat = env.write_replies(&dialectic());
    // Without a terminal it pauses after the first round.
    run_format(&env, "dialectic", &seat, &[])
        .expect_exit_code(2)
        .assert_stderr_contains("Paused before round 2");
    let id = env.latest_debate_id();
    let extra_args = ["--steer", "Many files?", "--deepen", "locks"];
    env.debate(&[&["resume", &id, "--json"][..], &extra_args].concat()).expect_exit_code(2);
    let events = env.events(&id);
    assert!(events.iter().any(|event| event["change"]["topic"] == "Many files?"));
    assert!(events.iter().any(|event| event["text"] == "Go deeper on this: locks"));
    let view = env.debate(&["resume", &id, "--end", "--json"]).expect_success().json();
    assert_eq!((&view["topic"], &view["outcome"]), (&"Many files?".into(), &"partial".into()));
    env.assert_replays(&id);
}

#[test]
fn ten_round_tribunal_has_a_weighted_result() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(10));
    let output = run_format(&env, "tribunal", &seat, &[]).expect_error(2);
    output.assert_stderr_contains("would judge a debate in which it argues");
    let view = run_format(&env, "tribunal", &seat, &["--same-judge"]).expect_success().json();
    assert_eq!(view["status"], "completed", "{view:#}");
    assert_matches_schema("run", &view);
    let verdict = &view["verdict"];
    assert_eq!(verdict["side"], "pro", "{verdict:#}");
    let weighted_result = &verdict["weighed"];
    // 75 of 135 points in the rounds, 70 of 130 in the rulings, four of five votes.
    assert_eq!(
        (&weighted_result["rounds"], &weighted_result["rulings"]),
        (&5556.into(), &5385.into())
    );
    assert_eq!(
        (&weighted_result["judge"], &weighted_result["audience"]),
        (&5470.into(), &8000.into())
    );
    assert_eq!(weighted_result["total"], 6735);
    assert_eq!(verdict["court"]["turning_round"], 1, "it led in every round by the same margin");
    let output = env.debate(&["show", "last", "--summary"]).expect_success();
    output.assert_stdout_contains(&["P1", "risk-averse", "backups"]);
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
    assert_eq!(rounds("address"), [3], "a listener speaks only once");
    assert_eq!(rounds("score"), (1..=10).collect::<Vec<u64>>());
    let fouls = view["turns"].as_array().unwrap().iter().flat_map(|turn| {
        turn["findings"].as_array().unwrap().iter().filter(|it| it["weight"] == "foul")
    });
    assert_eq!(fouls.count(), 0, "{view:#}");
    let database = env.open_database();
    let count = |table: &str| -> i64 {
        let row =
            database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        row.unwrap()
    };
    assert_eq!((count("scores"), count("votes"), count("rounds")), (20, 5, 11));
    assert_eq!(count("agents"), 9, "two sides, a judge, its mirror and five listeners");
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn listener_weights_and_shares_can_be_set() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let base_args = ["--rounds", "3", "--same-judge"];
    let listeners =
        [&base_args[..], &["--listener", "risk-averse*3", "--listener", "rational-logic"]];
    let shares = ["--judge-share", "0", "--audience-share", "1"];
    let view = run_format(&env, "tribunal", &seat, &[&listeners.concat()[..], &shares].concat());
    let verdict = &view.expect_success().json()["verdict"];
    assert_eq!((&verdict["side"], &verdict["weighed"]["total"]), (&"con".into(), &2500.into()));
    let invalid_args =
        [&base_args[..], &["--judge-share", "0.5", "--audience-share", "0.6"]].concat();
    run_format(&env, "tribunal", &seat, &invalid_args)
        .expect_error(2)
        .assert_stderr_contains("add up to 1.1, not to 1");
    let invalid_args = [&base_args[..], &["--listener", "grumpy"]].concat();
    run_format(&env, "tribunal", &seat, &invalid_args)
        .expect_error(2)
        .assert_stderr_contains("known: emotional-resonance");
    let no_listeners = [&base_args[..], &["--listener", "none"]].concat();
    let view = run_format(&env, "tribunal", &seat, &no_listeners).expect_success().json();
    assert_eq!(view["verdict"]["weighed"]["audience"], Value::Null);
}

#[test]
fn human_vote_is_parsed_from_plain_text() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let extra_args = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let output = run_format(&env, "tribunal", &seat, &extra_args)
        .stdin("con 0.9 because of backups\n.\n")
        .expect_success();
    let votes = &output.json()["votes"];
    assert_eq!(votes[0]["vote"], "con", "{votes:#}");
    assert_eq!(votes[0]["reason"], "of backups");
}

#[test]
fn panel_of_judges_reports_its_split() {
    let env = TestEnv::new();
    let majority_seat = env.write_replies(&tribunal(3));
    let dissenter = tribunal(3)
        .into_iter()
        .map(|mut reply| {
            reply.text = reply.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
            reply.text = reply.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
            reply.text = reply.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
            reply
        })
        .collect::<Vec<_>>();
    fs::write(env.temp_path("other.json"), to_script_json(&dissenter)).unwrap();
    let dissenter = env.script_seat("other.json");
    let args =
        ["run", "One file?", "--rounds", "3", "--format", "tribunal", "--model", &majority_seat];
    let judges = [
        "--judge",
        &majority_seat,
        "--judge",
        &dissenter,
        "--judge",
        &majority_seat,
        "--same-judge",
        "--json",
    ];
    let view = env.debate(&[&args[..], &judges].concat()).expect_success().json();
    let verdict = &view["verdict"];
    assert_eq!(verdict["contested"], true, "{verdict:#}");
    assert!(verdict["doubts"].to_string().contains("the judges do not agree"));
    assert_eq!(verdict["rulings"].as_array().unwrap().len(), 6, "three judges, each both ways");
    assert_eq!(verdict["confidence"], 50);
}

/// A winner against the judge's ruling is contested, and the reasoning says how the judge ruled.
#[test]
fn verdict_against_the_rulings_is_contested() {
    let env = TestEnv::new();
    let mut replies = tribunal(3);
    for reply in &mut replies {
        reply.text = reply.text.replace("\"winner\":\"pro\"", "\"winner\":\"con\"");
        reply.text = reply.text.replace("{\"con\":60,\"pro\":70}", "{\"con\":70,\"pro\":60}");
        reply.text = reply.text.replace("\"decisive\":\"P1\"", "\"decisive\":\"C1\"");
    }
    let seat = env.write_replies(&replies);
    let extra_args = ["--rounds", "3", "--same-judge"];
    let verdict =
        run_format(&env, "tribunal", &seat, &extra_args).expect_success().json()["verdict"].clone();
    assert_eq!((&verdict["side"], &verdict["confidence"]), (&"pro".into(), &50.into()));
    assert!(
        verdict["doubts"].to_string().contains("the rulings went the other way"),
        "{verdict:#}"
    );
    let reasoning = verdict["reasoning"].as_str().unwrap();
    assert!(reasoning.contains("outweigh the judge, who ruled for challenger"), "{reasoning}");
    assert_eq!(verdict["decisive"], Value::Null, "it was a claim of the losing side");
}

/// Scores and rulings stay hidden on the terminal and in the record until the human has voted.
#[test]
fn scores_and_rulings_are_hidden_until_the_human_votes() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let extra_args = ["--rounds", "3", "--same-judge", "--listener", "risk-averse=human"];
    let args = ["run", "One file?", "--format", "tribunal", "--model", &seat, "--follow"];
    let output = env.debate(&[&args[..], &extra_args].concat()).stdin("").expect_exit_code(2);
    let shown = env.debate(&["show", "last"]).expect_success().stdout;
    for text in [&output.stdout, &output.stderr, &shown, &read_record(&env)] {
        for hidden_text in ["A is ahead.", "It was shown in T1", "stronger argument"] {
            assert!(!text.contains(hidden_text), "`{hidden_text}` in {text}");
        }
    }
    assert!(shown.contains("(Sealed until all have answered.)"), "{shown}");
    let output = env.debate(&["resume", "last"]).stdin("con 0.9 backups\n.\n").expect_success();
    output.assert_stdout_contains(&["had the stronger argument"]);
    assert!(read_record(&env).contains("A is ahead."));
}

#[test]
fn formats_are_listed_and_user_formats_run() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let folder = env.temp_path("user").join(".config/debate/formats");
    fs::create_dir_all(&folder).unwrap();
    let user_format = r#"
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
    fs::write(folder.join("quick.toml"), user_format).unwrap();
    fs::write(folder.join("bad.toml"), "about = \"x\"\nbase = \"duell\"\n").unwrap();
    let listed = env.debate(&["formats"]).expect_success();
    listed.assert_stdout_contains(&[
        "duel",
        "research",
        "dialectic",
        "tribunal",
        "api-design",
        "quick",
    ]);
    listed.assert_stderr_contains("`bad` cannot be played");
    let shown = env.debate(&["formats", "tribunal"]).expect_success();
    shown.assert_stdout_contains(&[
        "Rounds: 3 to 20, usually 10",
        "stances (rounds 1-2)",
        "closing (round 10)",
    ]);
    let json = env.debate(&["formats", "--json"]).expect_success().json();
    assert_eq!(json["broken"][0]["name"], "bad");
    let view = run_format(&env, "quick", &seat, &[]).expect_success().json();
    assert_eq!((&view["format"], &view["verdict"]["side"]), (&"quick".into(), &"pro".into()));
    run_format(&env, "bad", &seat, &[])
        .expect_error(2)
        .assert_stderr_contains("there is no `base` format `duell`");
    let refused = run_format(&env, "duel", &seat, &["--listener", "risk-averse"]).expect_error(2);
    refused.assert_stderr_contains("the option `listeners` is not available in the format `duel`");
}

#[test]
fn stats_count_verdict_outcomes() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--json"]).expect_success();
    let outcome = env.debate(&["outcome", "last", "--wrong", "--note", "it locked", "--json"]);
    let outcome = outcome.expect_success().json();
    assert_eq!(outcome["proof"], "wrong");
    let confidence = outcome["confidence"].as_u64().unwrap();
    env.debate_run("One more?", &["--json"]).expect_success();
    env.debate(&["outcome", "last", "--right"]).expect_success();
    let stats = env.debate(&["stats", "--json"]).expect_success().json();
    assert_eq!(
        (&stats["known"], &stats["right"], &stats["wrong"]),
        (&2.into(), &1.into(), &1.into())
    );
    let p = confidence as f64 / 100.0;
    let brier = f64::midpoint(p * p, (1.0 - p) * (1.0 - p));
    assert!((stats["brier"].as_f64().unwrap() - brier).abs() < 1e-9, "{stats:#}");
    env.debate(&["stats"]).expect_success().assert_stdout_contains(&["2 verdicts", "Brier score"]);
    env.debate(&["reindex"]).expect_success();
    assert_eq!(
        env.debate(&["stats", "--json"]).expect_success().json(),
        stats,
        "rebuilt from the log"
    );
}
