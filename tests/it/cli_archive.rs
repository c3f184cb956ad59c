//! Archive commands: `list`, full-text `search`, abbreviated ids, and `reindex`, which rebuilds the
//! projected tables and the search index from the event log.
use super::lab::{Lab, Script, speech};
use serde_json::{Value, json};

fn hits(lab: &Lab, words: &[&str]) -> Vec<Value> {
    let args = [&["search", "--json"], words].concat();
    lab.debate(&args).success().json()["hits"].as_array().unwrap().clone()
}

fn chinese() -> Lab {
    let lab = Lab::new();
    let say = |phase: &str, id: &str, prose: &str| json!({"phase": phase, "text": speech(prose, id, &[])});
    let script = Script::new()
        .first(say("propose", "P1", "我们应该使用关系型数据库，因为事务可靠。"))
        .first(say("challenge", "C1", "缓存层会使延迟增加。It costs 100% more_or_less."));
    lab.write(&script);
    lab.run("微服务还是单体架构？ Zanzibar", &["--rounds", "1"]).success();
    lab
}

#[test]
fn words_are_found_in_any_script_and_however_short() {
    let lab = chinese();
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
        let found = hits(&lab, words);
        let seats: Vec<Option<&str>> = found.iter().map(|hit| hit["seat"].as_str()).collect();
        assert_eq!(&seats, places, "{words:?}: {found:#?}");
    }
}

#[test]
fn what_is_found_says_where() {
    let lab = chinese();
    let done = lab.debate(&["search", "数据库"]).success();
    done.says(&["debate-", "(round 1, proposer)", "我们应该使用关系型数据库"]);
    let done = lab.debate(&["search", "单体"]).success();
    done.says(&["(topic)", "微服务还是单体架构"]);
    let done = lab.debate(&["search", "nowhere"]).success();
    assert_eq!(done.out, "");
    done.warns("Nothing was said about that.");
}

#[test]
fn claims_are_part_of_what_was_said() {
    let lab = Lab::new();
    lab.run("Claims?", &["--rounds", "1"]).success();
    assert!(!hits(&lab, &["documented", "behaviour"]).is_empty());
}

#[test]
fn searching_here_leaves_other_repositories_out() {
    let lab = chinese();
    let other = lab.outside("other");
    std::fs::create_dir(&other).unwrap();
    let count = |args: &[&str]| {
        let found = lab.debate(args).folder(&other).success().json();
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!(count(&["search", "--json", "数据库"]), 1);
    assert_eq!(count(&["search", "--json", "--here", "数据库"]), 0);
}

#[test]
fn the_topic_is_searched_as_it_is_shown_in_lists() {
    let lab = chinese();
    let done = lab.debate(&["list"]).success();
    done.says(&["debate-", "completed", "微服务还是单体架构？ Zanzibar", "-> proposer"]);
    assert_eq!(done.out.lines().count(), 1);
}

#[test]
fn an_id_can_be_abbreviated_from_either_end() {
    let lab = Lab::new();
    lab.run("One?", &["--rounds", "1"]).success();
    let one = lab.last();
    lab.run("Two?", &["--rounds", "1"]).success();
    let two = lab.last();
    assert_ne!(one, two);
    let id = |short: &str| lab.debate(&["show", short, "--json"]).success().json()["id"].clone();
    for whole in [&one, &two] {
        assert_eq!(id(whole), **whole);
        assert_eq!(id(&whole[whole.len() - 4..]), **whole);
        assert_eq!(id(&whole[..whole.len() - 3]), **whole);
    }
    assert_eq!(id("last"), *two);
    lab.debate(&["show", "debate-20"]).fails_with(2).warns("fits 2 debates");
    for unknown in ["nowhere", "%", "*", "", "' OR 1=1 --", "../x", "debate-20%"] {
        let done = lab.debate(&["show", "--", unknown]).fails_with(2);
        done.warns("hint:");
    }
}

#[test]
fn last_is_the_one_touched_last_in_this_repository() {
    let lab = Lab::new();
    let paused = lab.run("Paused?", &["--pause"]).ends(2);
    paused.warns("Go on with: debate resume debate-");
    let first = lab.last();
    lab.run("Newer?", &["--rounds", "1"]).success();
    assert_ne!(lab.last(), first);
    lab.debate(&["resume", "--yes"]).success();
    assert_eq!(lab.last(), first, "it was touched last");
    let other = lab.outside("other");
    std::fs::create_dir(&other).unwrap();
    let done = lab.debate(&["show", "last"]).folder(&other).fails_with(2);
    done.warns("there is no debate in");
    let all = lab.debate(&["list", "--all", "--json"]).folder(&other).success().json();
    assert_eq!(all["debates"].as_array().unwrap().len(), 2);
    let one = lab.debate(&["list", "-n", "1", "--json"]).success().json();
    assert_eq!(one["debates"].as_array().unwrap().len(), 1);
}

/// All rows of the projected tables, without SQLite's row ids.
fn tables(lab: &Lab) -> Vec<String> {
    let database = lab.database();
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
fn three() -> Lab {
    let lab = Lab::new();
    lab.run("Three 数据 rounds?", &["--rounds", "3"]).success();
    lab.write(&Script::new().first(json!({"phase": "defend", "fail": "crashed"})));
    lab.run("Again?", &[]).ends(5);
    lab.write(&Script::new());
    lab.debate(&["resume", "--retry"]).success();
    lab.run("Paused?", &["--pause"]).ends(2);
    lab
}

#[test]
fn tables_that_were_lost_are_rebuilt_from_the_log() {
    let lab = three();
    let (before, found) = (tables(&lab), hits(&lab, &["lock"]).len());
    assert!(found > 3);
    lab.database()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DELETE FROM messages WHERE id % 2; DELETE FROM agents;
             DELETE FROM rounds; UPDATE debates SET status = 'failed', winner = NULL;",
        )
        .unwrap();
    assert_ne!(tables(&lab), before);
    assert_eq!(hits(&lab, &["lock"]).len(), 0);
    for _ in 0..2 {
        lab.debate(&["reindex"]).success().says(&["3 debates, "]);
        assert_eq!(tables(&lab), before);
        assert_eq!(hits(&lab, &["lock"]).len(), found);
    }
    lab.debate(&["doctor"]).success();
}

#[test]
fn a_search_index_that_was_lost_is_rebuilt() {
    let lab = three();
    let found = hits(&lab, &["lock"]).len();
    let lose = "INSERT INTO messages_fts (messages_fts) VALUES ('delete-all')";
    lab.database().execute_batch(lose).unwrap();
    assert_eq!(hits(&lab, &["lock"]).len(), 0);
    lab.debate(&["reindex"]).success();
    assert_eq!(hits(&lab, &["lock"]).len(), found);
}

#[test]
fn reindexing_counts_the_turns_it_wrote() {
    let lab = three();
    let done = lab.debate(&["reindex", "--json"]).success().json();
    let count = "SELECT count(*) FROM messages";
    let rows: i64 = lab.database().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(done["messages"], rows);
}

#[test]
fn rounds_are_numbered_in_the_order_of_the_debate() {
    let lab = three();
    let mut numbers = vec![];
    let database = lab.database();
    let query = "SELECT sequence FROM rounds ORDER BY debate_id, act, round";
    let mut statement = database.prepare(query).unwrap();
    let found = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    numbers.extend(found.map(Result::unwrap));
    assert_eq!(numbers, [1, 2, 3, 4, 1, 2, 3, 1], "rounds 1, 2 and 3, then the verdict");
}

#[test]
fn reindexing_writes_lost_files_again_and_leaves_the_newest_state() {
    let lab = Lab::new();
    lab.run("Older?", &["--pause"]).ends(2);
    let older = lab.last();
    lab.run("Newer?", &["--rounds", "1"]).success();
    lab.debate(&["resume", &older, "--yes"]).success();
    assert_eq!(lab.state()["id"], older);
    std::fs::remove_dir_all(lab.root().join(".debates")).unwrap();
    lab.debate(&["reindex"]).success();
    assert_eq!(std::fs::read_dir(lab.root().join(".debates")).unwrap().count(), 3);
    assert_eq!(lab.state()["id"], older, "the debate touched last");
}
