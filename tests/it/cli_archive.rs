//! Archive commands: `list`, full-text `search`, abbreviated ids, and `reindex`, which rebuilds the
//! projected tables and the search index from the event log.
use super::test_env::{SeatScript, TestEnv, speech_with_claim};
use serde_json::{Value, json};

fn search_hits(lab: &TestEnv, words: &[&str]) -> Vec<Value> {
    let args = [&["search", "--json"], words].concat();
    lab.debate(&args).expect_success().json()["hits"].as_array().unwrap().clone()
}

fn env_with_chinese_debate() -> TestEnv {
    let lab = TestEnv::new();
    let say = |phase: &str, id: &str, prose: &str| json!({"phase": phase, "text": speech_with_claim(prose, id, &[])});
    let script = SeatScript::new()
        .prepend(say("propose", "P1", "我们应该使用关系型数据库，因为事务可靠。"))
        .prepend(say("challenge", "C1", "缓存层会使延迟增加。It costs 100% more_or_less."));
    lab.write_script(&script);
    lab.debate_run("微服务还是单体架构？ Zanzibar", &["--rounds", "1"]).expect_success();
    lab
}

#[test]
fn search_finds_chinese_and_short_terms() {
    let lab = env_with_chinese_debate();
    // Query, and the seats whose turns must match (`None` is the topic).
    let rows: &[(&[&str], &[Option<&str>])] = &[
        (&["数据库"], &[Some("proposer")]),
        (&["事务"], &[Some("proposer")]),
        (&["延迟"], &[Some("challenger")]),
        (&["缓"], &[Some("challenger")]),
        (&["单体"], &[None]),
        (&["微服务", "架构"], &[None]),
        (&["关系型数据库 事务"], &[Some("proposer")]),
        (&["zanzibar"], &[None]),
        (&["ZANZI"], &[None]),
        (&["COSTS"], &[Some("challenger")]),
        (&["100%"], &[Some("challenger")]),
        (&["e_o"], &[Some("challenger")]),
        (&["数据库", "延迟"], &[]),
        (&["%"], &[Some("challenger")]),
        (&["\"数据库\""], &[]),
        (&["*"], &[]),
        (&["数据库 OR 延迟"], &[]),
        (&["NEAR(", "数据库"], &[]),
    ];
    for (words, places) in rows {
        let found = search_hits(&lab, words);
        let seats: Vec<Option<&str>> = found.iter().map(|hit| hit["seat"].as_str()).collect();
        assert_eq!(&seats, places, "{words:?}: {found:#?}");
    }
}

#[test]
fn search_results_name_round_and_seat() {
    let lab = env_with_chinese_debate();
    let done = lab.debate(&["search", "数据库"]).expect_success();
    done.assert_stdout_contains(&["debate-", "(round 1, proposer)", "我们应该使用关系型数据库"]);
    let done = lab.debate(&["search", "单体"]).expect_success();
    done.assert_stdout_contains(&["(topic)", "微服务还是单体架构"]);
    let done = lab.debate(&["search", "nowhere"]).expect_success();
    assert_eq!(done.stdout, "");
    done.assert_stderr_contains("Nothing was said about that.");
}

#[test]
fn claims_are_searchable() {
    let lab = TestEnv::new();
    lab.debate_run("Claims?", &["--rounds", "1"]).expect_success();
    assert!(!search_hits(&lab, &["documented", "behaviour"]).is_empty());
}

#[test]
fn search_here_excludes_other_repositories() {
    let lab = env_with_chinese_debate();
    let other = lab.temp_path("other");
    std::fs::create_dir(&other).unwrap();
    let count = |args: &[&str]| {
        let found = lab.debate(args).current_dir(&other).expect_success().json();
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!(count(&["search", "--json", "数据库"]), 1);
    assert_eq!(count(&["search", "--json", "--here", "数据库"]), 0);
}

#[test]
fn list_shows_topic_status_and_winner() {
    let lab = env_with_chinese_debate();
    let done = lab.debate(&["list"]).expect_success();
    done.assert_stdout_contains(&[
        "debate-",
        "completed",
        "微服务还是单体架构？ Zanzibar",
        "-> proposer",
    ]);
    assert_eq!(done.stdout.lines().count(), 1);
}

#[test]
fn id_can_be_abbreviated_at_either_end() {
    let lab = TestEnv::new();
    lab.debate_run("One?", &["--rounds", "1"]).expect_success();
    let one = lab.latest_debate_id();
    lab.debate_run("Two?", &["--rounds", "1"]).expect_success();
    let two = lab.latest_debate_id();
    assert_ne!(one, two);
    let id =
        |short: &str| lab.debate(&["show", short, "--json"]).expect_success().json()["id"].clone();
    for whole in [&one, &two] {
        assert_eq!(id(whole), **whole);
        assert_eq!(id(&whole[whole.len() - 4..]), **whole);
        assert_eq!(id(&whole[..whole.len() - 3]), **whole);
    }
    assert_eq!(id("last"), *two);
    lab.debate(&["show", "debate-20"]).expect_error(2).assert_stderr_contains("fits 2 debates");
    for unknown in ["nowhere", "%", "*", "", "' OR 1=1 --", "../x", "debate-20%"] {
        let done = lab.debate(&["show", "--", unknown]).expect_error(2);
        done.assert_stderr_contains("hint:");
    }
}

#[test]
fn last_is_the_latest_updated_debate_of_the_repository() {
    let lab = TestEnv::new();
    let paused = lab.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    paused.assert_stderr_contains("Go on with: debate resume debate-");
    let first = lab.latest_debate_id();
    lab.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    assert_ne!(lab.latest_debate_id(), first);
    lab.debate(&["resume", "--yes"]).expect_success();
    assert_eq!(lab.latest_debate_id(), first, "it was touched last");
    let other = lab.temp_path("other");
    std::fs::create_dir(&other).unwrap();
    let done = lab.debate(&["show", "last"]).current_dir(&other).expect_error(2);
    done.assert_stderr_contains("there is no debate in");
    let all = lab.debate(&["list", "--all", "--json"]).current_dir(&other).expect_success().json();
    assert_eq!(all["debates"].as_array().unwrap().len(), 2);
    let one = lab.debate(&["list", "-n", "1", "--json"]).expect_success().json();
    assert_eq!(one["debates"].as_array().unwrap().len(), 1);
}

/// All rows of the projected tables, without SQLite's row ids.
fn projection_rows(lab: &TestEnv) -> Vec<String> {
    let database = lab.open_database();
    let queries = [
        "SELECT a.id || role || model_provider || coalesce(model_name, '') || coalesce(stance, '')
             || name || weight FROM agents a ORDER BY 1",
        "SELECT public_id || '/' || sequence || round_type || act || round
             FROM rounds JOIN debates d ON d.id = debate_id ORDER BY 1",
        "SELECT agent_id || turn || kind || messages.created_at || content || round || act
             FROM messages JOIN rounds ON rounds.id = round_id ORDER BY 1",
        "SELECT public_id || status || coalesce(winner, '') || labels || updated_at
             FROM debates ORDER BY 1",
    ];
    let mut rows = vec![];
    for query in queries {
        let mut statement = database.prepare(query).unwrap();
        let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.extend(found.map(Result::unwrap));
    }
    rows
}

/// Three debates: one of three rounds, one with a retried turn, one unfinished.
fn env_with_three_debates() -> TestEnv {
    let lab = TestEnv::new();
    lab.debate_run("Three 数据 rounds?", &["--rounds", "3"]).expect_success();
    lab.write_script(&SeatScript::new().prepend(json!({"phase": "defend", "fail": "crashed"})));
    lab.debate_run("Again?", &[]).expect_exit_code(5);
    lab.write_script(&SeatScript::new());
    lab.debate(&["resume", "--retry"]).expect_success();
    lab.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    lab
}

#[test]
fn reindex_rebuilds_lost_tables_from_the_log() {
    let lab = env_with_three_debates();
    let (before, found) = (projection_rows(&lab), search_hits(&lab, &["lock"]).len());
    assert!(found > 3);
    lab.open_database()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DELETE FROM messages WHERE id % 2; DELETE FROM agents;
             DELETE FROM rounds; UPDATE debates SET status = 'failed', winner = NULL;",
        )
        .unwrap();
    assert_ne!(projection_rows(&lab), before);
    assert_eq!(search_hits(&lab, &["lock"]).len(), 0);
    for _ in 0..2 {
        lab.debate(&["reindex"]).expect_success().assert_stdout_contains(&["3 debates, "]);
        assert_eq!(projection_rows(&lab), before);
        assert_eq!(search_hits(&lab, &["lock"]).len(), found);
    }
    lab.debate(&["doctor"]).expect_success();
}

#[test]
fn reindex_rebuilds_a_lost_search_index() {
    let lab = env_with_three_debates();
    let found = search_hits(&lab, &["lock"]).len();
    let lose = "INSERT INTO messages_fts (messages_fts) VALUES ('delete-all')";
    lab.open_database().execute_batch(lose).unwrap();
    assert_eq!(search_hits(&lab, &["lock"]).len(), 0);
    lab.debate(&["reindex"]).expect_success();
    assert_eq!(search_hits(&lab, &["lock"]).len(), found);
}

#[test]
fn reindex_reports_the_number_of_messages() {
    let lab = env_with_three_debates();
    let done = lab.debate(&["reindex", "--json"]).expect_success().json();
    let count = "SELECT count(*) FROM messages";
    let rows: i64 = lab.open_database().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(done["messages"], rows);
}

#[test]
fn rounds_are_numbered_in_debate_order() {
    let lab = env_with_three_debates();
    let mut numbers = vec![];
    let database = lab.open_database();
    let query = "SELECT sequence FROM rounds ORDER BY debate_id, act, round";
    let mut statement = database.prepare(query).unwrap();
    let found = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    numbers.extend(found.map(Result::unwrap));
    assert_eq!(numbers, [1, 2, 3, 4, 1, 2, 3, 1], "rounds 1, 2 and 3, then the verdict");
}

#[test]
fn reindex_rewrites_lost_files_and_keeps_newest_state() {
    let lab = TestEnv::new();
    lab.debate_run("Older?", &["--pause"]).expect_exit_code(2);
    let older = lab.latest_debate_id();
    lab.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    lab.debate(&["resume", &older, "--yes"]).expect_success();
    assert_eq!(lab.state_file_json()["id"], older);
    std::fs::remove_dir_all(lab.repo_root().join(".debates")).unwrap();
    lab.debate(&["reindex"]).expect_success();
    assert_eq!(std::fs::read_dir(lab.repo_root().join(".debates")).unwrap().count(), 3);
    assert_eq!(lab.state_file_json()["id"], older, "the debate touched last");
}
