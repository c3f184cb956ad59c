//! Concurrent and interrupted processes (leases, signals, database locks), and archives whose event
//! log is damaged or tampered with.
use super::lab::{Lab, Running, Script, until};
use serde_json::{Value, json};

/// Starts a debate whose challenger takes 60 s.
fn slow(lab: &Lab) -> (Running, String) {
    lab.write(
        &Script::new()
            .first(json!({"phase": "challenge", "text": "So far, so", "delay_ms": 60_000})),
    );
    lab.debate(&["list"]).success();
    let running = lab.run("Slow?", &["--rounds", "1"]).start();
    let id = lab.challenged();
    (running, id)
}

#[test]
fn a_debate_that_is_being_run_cannot_be_run_twice() {
    let lab = Lab::new();
    let (running, id) = slow(&lab);
    let before = lab.events(&id);
    for args in [["resume", &id].as_slice(), &["resume"], &["resume", &id, "--conclude"]] {
        let done = lab.debate(args).fails_with(1);
        done.warns(&format!("is being run by the terminal (process {})", running.id()));
        done.warns(&format!("hint: `debate watch {id}` follows it"));
        done.warns(&format!("`debate resume {id} --take-over` takes it over"));
    }
    assert_eq!(lab.events(&id), before);
    // Reading needs no lease.
    let shown = lab.debate(&["show", &id, "--json"]).success().json();
    assert_eq!(shown["holder"], format!("the terminal (process {})", running.id()));
    assert_eq!(shown["status"], "in-progress");
    lab.debate(&["show", &id]).success().warns("It is being run by the terminal");
    // Other debates are not affected.
    lab.write(&Script::new());
    lab.run("Other?", &["--rounds", "1"]).success();
}

#[test]
fn whatever_stops_a_debate_it_goes_on_where_it_was() {
    for (signal, code) in [("INT", Some(2)), ("KILL", None), ("TERM", Some(2))] {
        let lab = Lab::new();
        let (running, id) = slow(&lab);
        running.signal(signal);
        let done = running.wait();
        assert_eq!(done.code, code, "{signal}: {done:#?}");
        if code.is_some() {
            done.warns(&format!("Go on with: debate resume {id}"));
        }
        let shown = lab.debate(&["show", &id, "--json"]).success().json();
        assert_eq!((&shown["holder"], &shown["live"]), (&Value::Null, &json!([])), "{signal}");
        lab.write(&Script::new());
        lab.debate(&["resume"]).success().says(&["### Verdict"]);
        let taken = lab.turns_taken(&id);
        assert!(taken.len() == 4 && taken.values().all(|times| *times == 1), "{taken:?}");
        lab.replays(&id);
    }
}

#[test]
fn a_stopped_debate_with_json_still_ends_with_a_result() {
    let lab = Lab::new();
    let slow = json!({"phase": "challenge", "text": "Never", "delay_ms": 60_000});
    lab.write(&Script::new().first(slow));
    lab.debate(&["list"]).success();
    let running = lab.run("Stop?", &["--json", "--follow"]).start();
    until("the challenger is asked", || {
        let listed = lab.debate(&["list", "--json"]).success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).len() == 3
    });
    running.signal("INT");
    let done = running.wait();
    assert_eq!(done.code, Some(2));
    let last = done.lines().pop().unwrap();
    assert_eq!((&last["kind"], &last["status"]), (&json!("result"), &json!("in-progress")));
}

/// Runs a debate and then changes one event in the database.
fn tampered(more: &[&str], code: i32, seq: i64, body: impl Fn(String) -> String) -> (Lab, String) {
    let lab = Lab::new();
    lab.run("Tampered?", more).ends(code);
    let id = lab.last();
    let database = lab.database();
    let read = "SELECT body FROM events WHERE seq = ?1";
    let text: String = database.query_row(read, [seq], |row| row.get(0)).unwrap();
    let body = body(text.clone());
    assert_ne!(text, body);
    database.execute("UPDATE events SET body = ?2 WHERE seq = ?1", (seq, body)).unwrap();
    (lab, id)
}

/// Description, sequence number of the event, and the change of its body.
type Meddled = (&'static str, i64, fn(String) -> String);

fn meddled() -> Vec<Meddled> {
    vec![
        ("of another turn", 2, |text| text.replace("\"round\":1", "\"round\":2")),
        ("of no turn", 4, |text| text.replace("\"seat\":1", "\"seat\":99")),
        ("unreadable", 4, |_| "{".into()),
        ("of a kind there is not", 3, |_| "{\"event\": \"sang\"}".into()),
    ]
}

#[test]
fn a_log_that_was_meddled_with_can_be_read_and_not_continued() {
    for (name, seq, body) in meddled() {
        let (lab, id) = tampered(&["--pause"], 2, seq, body);
        let shown = lab.debate(&["show", &id]).success();
        shown.says(&["# Debate: Tampered?"]);
        shown.warns(&format!("[WARN] This log can be read but not continued: event {seq}: "));
        let shown = lab.debate(&["show", &id, "--json"]).success().json();
        assert!(shown["flaw"].as_str().unwrap().starts_with(&format!("event {seq}: ")), "{name}");
        for args in [["resume", &id].as_slice(), &["resume", &id, "--conclude"]] {
            let done = lab.debate(args).done();
            assert!(done.code == Some(1) && done.out.is_empty(), "{name}: {done:#?}");
            done.warns(&format!("event {seq} of its log"));
        }
        lab.debate(&["replay", &id]).fails_with(1).warns(&format!("event {seq} of"));
        lab.debate(&["export", &id]).success();
    }
}

#[test]
fn reindexing_tells_of_every_log_that_was_meddled_with() {
    for (_, seq, body) in meddled() {
        let (lab, _) = tampered(&["--pause"], 2, seq, body);
        lab.debate(&["reindex"]).ends(1).warns(&format!("event {seq}"));
    }
}

#[test]
fn a_word_changed_in_the_log_is_noticed() {
    let (lab, id) = tampered(&[], 0, 2, |text| text.replace("Use one file.", "Use two files."));
    // Every later prompt quotes the text, so it differs from the prompt that was sent.
    lab.debate(&["replay", &id]).ends(1).warns("These prompts are not what was sent then");
}

#[test]
fn a_result_that_was_meddled_with_is_no_result() {
    for (name, seq, body) in meddled() {
        let (lab, id) = tampered(&[], 0, seq, body);
        let done = lab.debate(&["resume", &id]).done();
        assert_ne!(done.code, Some(0), "{name}: {done:#?}");
        done.warns(&format!("event {seq}"));
        let done = lab.debate(&["replay", &id]).fails_with(1);
        done.warns(&format!("event {seq} of"));
    }
}

#[test]
fn a_damaged_archive_does_not_take_the_state_file_with_it() {
    for args in [["resume", "last"].as_slice(), &["reindex"], &["show"], &["doctor"]] {
        let (lab, _) = tampered(&[], 0, 6, |_| "{".into());
        let before = lab.state();
        lab.debate(args).done();
        assert_eq!(lab.state()["log"], before["log"], "{args:?}: it was the last whole copy");
    }
}

#[test]
fn an_archive_that_is_none_is_said_to_be_so() {
    let lab = Lab::new();
    std::fs::create_dir(lab.home()).unwrap();
    std::fs::write(lab.home().join("archive.db"), "not a database at all, but long enough")
        .unwrap();
    for args in [["list"].as_slice(), &["show"], &["search", "x"], &["reindex"]] {
        lab.debate(args).fails_with(1).warns("the archive failed");
    }
    lab.run("Where to?", &[]).fails_with(1).warns("the archive failed");
    lab.debate(&["doctor"]).ends(1).says(&["BAD  archive:", "hint:"]);
}

#[test]
fn an_archive_of_a_newer_program_is_left_alone() {
    let lab = Lab::new();
    lab.run("Newer?", &["--rounds", "1"]).success();
    lab.database().pragma_update(None, "user_version", 99).unwrap();
    lab.debate(&["list"]).fails_with(1).warns("hint: update this program");
    let done = lab.debate(&["doctor", "--json"]).ends(1).json();
    assert_eq!(done["ok"], false);
}

#[test]
fn a_home_that_cannot_be_is_said_to_be_so() {
    let lab = Lab::new();
    let file = lab.file("file", "");
    lab.debate(&["list"]).home(&file).fails_with(1).warns("file");
}

/// With stdout closed, the debate completes, or the error says how to resume it.
#[test]
fn a_debate_nobody_reads_is_not_lost_without_a_word() {
    let lab = Lab::new();
    let mut running = lab.run("Unread?", &["--follow"]).start();
    running.unread();
    let done = running.wait();
    let over = lab.state()["status"] == "completed";
    assert!(over || done.code != Some(0), "{done:#?}");
    assert!(over || done.err.contains("debate resume"), "{done:#?}");
}

/// Another process holds the database lock while it creates the archive. This one waits.
#[test]
fn the_first_processes_of_all_may_come_at_once() {
    let lab = Lab::new();
    std::fs::create_dir(lab.home()).unwrap();
    let other = lab.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut running = lab.debate(&["list"]).start();
    let patience = std::time::Instant::now() + std::time::Duration::from_millis(300);
    until("it has given up, or waited for a while", || {
        running.is_over() || std::time::Instant::now() > patience
    });
    other.execute_batch("ROLLBACK").unwrap();
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:#?}");
}

#[test]
fn a_debate_whose_voices_have_gone_is_not_taken_up() {
    let lab = Lab::new();
    lab.run("Gone?", &["--pause"]).ends(2);
    let before = lab.events(&lab.last());
    std::fs::remove_file(lab.outside("pro.json")).unwrap();
    let done = lab.debate(&["resume", "--yes"]).fails_with(4);
    done.warns("--seat");
    assert_eq!(lab.events(&lab.last()), before);
}
