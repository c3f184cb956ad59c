//! Archive commands: `list`, full-text `search`, abbreviated ids, and `reindex`, which rebuilds the
//! projected tables and the search index from the event log.
use super::test_env::{SeatScript, TestEnv, speech_with_claim};
use serde_json::{Value, json};

fn search_hits(env: &TestEnv, words: &[&str]) -> Vec<Value> {
    let args = [&["search", "--json"], words].concat();
    env.debate(&args).expect_success().json()["hits"].as_array().unwrap().clone()
}

fn env_with_chinese_debate() -> TestEnv {
    let env = TestEnv::new();
    let line = |phase: &str, id: &str, prose: &str| json!({"phase": phase, "text": speech_with_claim(prose, id, &[])});
    let script = SeatScript::new()
        .prepend(line("propose", "P1", "我们应该使用关系型数据库，因为事务可靠。"))
        .prepend(line("challenge", "C1", "缓存层会使延迟增加。It costs 100% more_or_less."));
    env.write_script(&script);
    env.debate_run("微服务还是单体架构？ Zanzibar", &["--rounds", "1"]).expect_success();
    env
}

#[test]
fn search_finds_chinese_and_short_terms() {
    let env = env_with_chinese_debate();
    // Query, and the seats whose turns must match (`None` is the topic).
    let cases: &[(&[&str], &[Option<&str>])] = &[
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
    for (words, expected_seats) in cases {
        let hits = search_hits(&env, words);
        let seats: Vec<Option<&str>> = hits.iter().map(|hit| hit["seat"].as_str()).collect();
        assert_eq!(&seats, expected_seats, "{words:?}: {hits:#?}");
    }
}

#[test]
fn search_results_name_round_and_seat() {
    let env = env_with_chinese_debate();
    let output = env.debate(&["search", "数据库"]).expect_success();
    output.assert_stdout_contains(&["debate-", "(round 1, proposer)", "我们应该使用关系型数据库"]);
    let output = env.debate(&["search", "单体"]).expect_success();
    output.assert_stdout_contains(&["(topic)", "微服务还是单体架构"]);
    let output = env.debate(&["search", "nowhere"]).expect_success();
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains("No matches.");
}

#[test]
fn claims_are_searchable() {
    let env = TestEnv::new();
    env.debate_run("Claims?", &["--rounds", "1"]).expect_success();
    assert!(!search_hits(&env, &["documented", "behaviour"]).is_empty());
}

#[test]
fn search_here_excludes_other_repositories() {
    let env = env_with_chinese_debate();
    let other_folder = env.temp_path("other");
    std::fs::create_dir(&other_folder).unwrap();
    let count = |args: &[&str]| {
        let result = env.debate(args).current_dir(&other_folder).expect_success().json();
        result["hits"].as_array().unwrap().len()
    };
    assert_eq!(count(&["search", "--json", "数据库"]), 1);
    assert_eq!(count(&["search", "--json", "--here", "数据库"]), 0);
}

#[test]
fn list_shows_topic_status_and_winner() {
    let env = env_with_chinese_debate();
    let output = env.debate(&["list"]).expect_success();
    output.assert_stdout_contains(&[
        "debate-",
        "completed",
        "微服务还是单体架构？ Zanzibar",
        "-> proposer",
    ]);
    assert_eq!(output.stdout.lines().count(), 1);
}

#[test]
fn id_can_be_abbreviated_at_either_end() {
    let env = TestEnv::new();
    env.debate_run("One?", &["--rounds", "1"]).expect_success();
    let first_id = env.latest_debate_id();
    env.debate_run("Two?", &["--rounds", "1"]).expect_success();
    let second_id = env.latest_debate_id();
    assert_ne!(first_id, second_id);
    let shown_id =
        |short: &str| env.debate(&["show", short, "--json"]).expect_success().json()["id"].clone();
    for full_id in [&first_id, &second_id] {
        assert_eq!(shown_id(full_id), **full_id);
        assert_eq!(shown_id(&full_id[full_id.len() - 4..]), **full_id);
        assert_eq!(shown_id(&full_id[..full_id.len() - 3]), **full_id);
    }
    assert_eq!(shown_id("last"), *second_id);
    env.debate(&["show", "debate-20"]).expect_error(2).assert_stderr_contains("matches 2 debates");
    for unknown in ["nowhere", "%", "*", "", "' OR 1=1 --", "../x", "debate-20%"] {
        let output = env.debate(&["show", "--", unknown]).expect_error(2);
        output.assert_stderr_contains("hint:");
    }
}

#[test]
fn last_is_the_latest_updated_debate_of_the_repository() {
    let env = TestEnv::new();
    let output = env.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    output.assert_stderr_contains("Go on with: debate resume debate-");
    let first_id = env.latest_debate_id();
    env.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    assert_ne!(env.latest_debate_id(), first_id);
    env.debate(&["resume", "--yes"]).expect_success();
    assert_eq!(env.latest_debate_id(), first_id, "it was updated last");
    let other_folder = env.temp_path("other");
    std::fs::create_dir(&other_folder).unwrap();
    let output = env.debate(&["show", "last"]).current_dir(&other_folder).expect_error(2);
    output.assert_stderr_contains("there is no debate in");
    let all_debates =
        env.debate(&["list", "--all", "--json"]).current_dir(&other_folder).expect_success().json();
    assert_eq!(all_debates["debates"].as_array().unwrap().len(), 2);
    let limited = env.debate(&["list", "-n", "1", "--json"]).expect_success().json();
    assert_eq!(limited["debates"].as_array().unwrap().len(), 1);
}

/// All rows of the projected tables, without SQLite's row ids.
fn projection_rows(env: &TestEnv) -> Vec<String> {
    let database = env.open_database();
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
        let values = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.extend(values.map(Result::unwrap));
    }
    rows
}

/// Three debates: one of three rounds, one with a retried turn, one unfinished.
fn env_with_three_debates() -> TestEnv {
    let env = TestEnv::new();
    env.debate_run("Three 数据 rounds?", &["--rounds", "3"]).expect_success();
    env.write_script(&SeatScript::new().prepend(json!({"phase": "defend", "fail": "crashed"})));
    env.debate_run("Again?", &[]).expect_exit_code(5);
    env.write_script(&SeatScript::new());
    env.debate(&["resume", "--retry"]).expect_success();
    env.debate_run("Paused?", &["--pause"]).expect_exit_code(2);
    env
}

#[test]
fn reindex_rebuilds_lost_tables_from_the_log() {
    let env = env_with_three_debates();
    let (before, hit_count) = (projection_rows(&env), search_hits(&env, &["lock"]).len());
    assert!(hit_count > 3);
    env.open_database()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DELETE FROM messages WHERE id % 2; DELETE FROM agents;
             DELETE FROM rounds; UPDATE debates SET status = 'failed', winner = NULL;",
        )
        .unwrap();
    assert_ne!(projection_rows(&env), before);
    assert_eq!(search_hits(&env, &["lock"]).len(), 0);
    for _ in 0..2 {
        env.debate(&["reindex"]).expect_success().assert_stdout_contains(&["3 debates, "]);
        assert_eq!(projection_rows(&env), before);
        assert_eq!(search_hits(&env, &["lock"]).len(), hit_count);
    }
    env.debate(&["doctor"]).expect_success();
}

#[test]
fn reindex_rebuilds_a_lost_search_index() {
    let env = env_with_three_debates();
    let hit_count = search_hits(&env, &["lock"]).len();
    let delete_index = "INSERT INTO messages_fts (messages_fts) VALUES ('delete-all')";
    env.open_database().execute_batch(delete_index).unwrap();
    assert_eq!(search_hits(&env, &["lock"]).len(), 0);
    env.debate(&["reindex"]).expect_success();
    assert_eq!(search_hits(&env, &["lock"]).len(), hit_count);
}

#[test]
fn reindex_reports_the_number_of_messages() {
    let env = env_with_three_debates();
    let result = env.debate(&["reindex", "--json"]).expect_success().json();
    let count = "SELECT count(*) FROM messages";
    let rows: i64 = env.open_database().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(result["messages"], rows);
}

#[test]
fn rounds_are_numbered_in_debate_order() {
    let env = env_with_three_debates();
    let mut numbers = vec![];
    let database = env.open_database();
    let query = "SELECT sequence FROM rounds ORDER BY debate_id, act, round";
    let mut statement = database.prepare(query).unwrap();
    let sequences = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    numbers.extend(sequences.map(Result::unwrap));
    assert_eq!(numbers, [1, 2, 3, 4, 1, 2, 3, 1], "rounds 1, 2 and 3, then the verdict");
}

#[test]
fn reindex_rewrites_lost_files_and_keeps_newest_state() {
    let env = TestEnv::new();
    env.debate_run("Older?", &["--pause"]).expect_exit_code(2);
    let older = env.latest_debate_id();
    env.debate_run("Newer?", &["--rounds", "1"]).expect_success();
    env.debate(&["resume", &older, "--yes"]).expect_success();
    assert_eq!(env.state_file_json()["id"], older);
    std::fs::remove_dir_all(env.repo_root().join(".debates")).unwrap();
    env.debate(&["reindex"]).expect_success();
    assert_eq!(std::fs::read_dir(env.repo_root().join(".debates")).unwrap().count(), 3);
    assert_eq!(env.state_file_json()["id"], older, "the debate updated last");
}
