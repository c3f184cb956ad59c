//! JSON output: every command's output is valid against its committed JSON schema, and the
//! committed schemas are up to date.
use super::lab::{Lab, Script};
use debate_mcp::cli::output::schemas;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

/// `DEBATE_UPDATE=1 cargo test schemas` rewrites the schema files.
#[test]
fn the_committed_schemas_are_the_ones_the_program_means() {
    let mut wanted = BTreeSet::new();
    for (name, schema) in schemas() {
        let path = folder().join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
            fs::create_dir_all(folder()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "schemas/{name}.json is not up to date: set DEBATE_UPDATE=1");
        wanted.insert(format!("{name}.json"));
    }
    let entries = fs::read_dir(folder()).unwrap().flatten();
    let there: BTreeSet<_> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(there, wanted, "a schema that is no longer meant");
}

/// Validates `value` against the committed schema, in which unknown fields are errors.
pub(crate) fn fits(name: &str, value: &Value) {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?} in {value:#}");
    assert_eq!(value["v"], 1, "{name}: {value:#}");
}

/// Three debates: one completed, one degraded with a rejected reply, one paused.
fn three() -> Lab {
    let lab = Lab::new();
    let more = ["--rounds", "3"];
    lab.run("Is 数据库 one word?", &more).success();
    let bad = json!({"seat": "judge", "attempt": 1, "text": "Hm."});
    let lost = json!({"seat": "mirror", "fail": "crashed"});
    lab.write(&Script::new().first(bad).first(lost));
    lab.run("Does it degrade?", &["--effort", "low"]).ends(5);
    lab.write(&Script::new());
    lab.run("Is it over?", &["--pause"]).ends(2);
    lab
}

#[test]
fn every_answer_fits_its_schema() {
    let lab = three();
    let calls: &[(&str, &[&str])] = &[
        ("list", &["list", "--json"]),
        ("list", &["list", "--all", "--json", "--status", "degraded"]),
        ("search", &["search", "lock", "--json"]),
        ("search", &["search", "数据", "--json"]),
        ("search", &["search", "nothing-of-the-kind", "--json"]),
        ("doctor", &["doctor", "--json"]),
        ("formats", &["formats", "--json"]),
        ("format", &["formats", "tribunal", "--json"]),
        ("outcome", &["outcome", "last", "--json"]),
        ("stats", &["stats", "--json"]),
        ("models", &["models", "--json"]),
        ("models", &["models", "--probe", "--json"]),
        ("reindex", &["reindex", "--json"]),
        ("prompt", &["show", "--prompt", "0.1.0.0", "--json"]),
    ];
    for (schema, args) in calls {
        let done = lab.debate(args).success();
        assert_eq!(done.out.lines().count(), 1, "one line when piped: {args:?}");
        fits(schema, &done.json());
    }
    let listed = lab.debate(&["list", "--json"]).success().json();
    let cards = listed["debates"].as_array().unwrap().clone();
    assert_eq!(cards.len(), 3);
    for card in cards {
        let id = card["id"].as_str().unwrap();
        fits("debate", &lab.debate(&["show", id, "--json"]).success().json());
        fits("run", &lab.debate(&["export", id, "--as", "json"]).success().json());
    }
    let state = lab.state_path();
    let done = lab.debate(&["import", state.to_str().unwrap(), "--json"]).success();
    fits("import", &done.json());
    assert_eq!(done.json()["how"], "known");
}

#[test]
fn run_prints_its_result_as_json() {
    for (name, script, code, status) in endings() {
        let lab = Lab::new();
        lab.write(&script);
        let done = lab.run("As JSON?", &["--json"]).ends(code);
        fits("run", &done.json());
        assert_eq!(done.json()["status"], status, "{name}");
        assert_eq!(done.json()["verdict"].is_null(), status == "aborted", "{name}");
        let again = lab.debate(&["resume", "last", "--json"]).ends(code);
        assert_eq!(again.json(), done.json(), "{name}");
    }
}

fn endings() -> Vec<(&'static str, Script, i32, &'static str)> {
    let fail = |seat: &str| Script::new().first(json!({"seat": seat, "fail": "crashed"}));
    vec![
        ("whole", Script::new(), 0, "completed"),
        ("without a mirror", fail("mirror"), 5, "degraded"),
        ("without a proposal", fail("proposer"), 1, "aborted"),
    ]
}

#[test]
fn following_as_json_is_one_event_a_line_and_then_the_result() {
    for (name, script, code, status) in endings() {
        let lab = Lab::new();
        lab.write(&script);
        let done = lab.run("As JSON?", &["--json", "--follow"]).ends(code);
        let mut lines = done.lines();
        let last = lines.pop().unwrap();
        assert_eq!(last["kind"], "result", "{name}");
        assert_eq!(last["status"], status, "{name}");
        fits("result", &last);
        let mut seq = 0;
        for line in &lines {
            fits("event", line);
            if line["kind"] == "fact" {
                seq += 1;
                assert_eq!(line["seq"], seq, "{name}: every fact, once, in order");
            }
        }
        assert_eq!(lab.events(&lab.last()).len(), seq, "{name}");
        let kinds: BTreeSet<_> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
        let all = if status == "aborted" {
            vec!["fact", "speaking"]
        } else {
            vec!["delta", "fact", "speaking"]
        };
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all, "{name}");
        replayed(&lab, seq);
    }
}

fn replayed(lab: &Lab, events: usize) {
    let done = lab.debate(&["replay", "--json"]).success();
    let mut lines = done.lines();
    let last = lines.pop().unwrap();
    fits("replayed", &last);
    assert_eq!((&last["kind"], &last["events"]), (&json!("replayed"), &json!(events)));
    for line in &lines {
        fits("event", line);
    }
    let facts = lines.iter().filter(|line| line["kind"] == "fact").count();
    assert_eq!(facts, events);
}

#[test]
fn a_paused_debate_says_in_json_what_it_waits_for() {
    let lab = Lab::new();
    let done = lab.run("Wait?", &["--pause", "--json"]).ends(2);
    fits("run", &done.json());
    assert_eq!(done.json()["due"], json!({"kind": "user"}));
    let done = lab.run("Wait?", &["--max-cost", "0", "--json"]).ends(2);
    assert_eq!(done.json()["due"], json!({"kind": "budget"}));
    let pro = lab.seat("pro.json");
    let args = ["run", "Wait?", "--proposer", &pro, "--challenger", "human", "--json"];
    let done = lab.debate(&args).ends(2);
    assert_eq!(done.json()["due"], json!({"kind": "turns", "driven": [], "awaited": ["0.1.1.1"]}));
}

#[test]
fn an_error_is_no_json_on_stdout() {
    let lab = Lab::new();
    for args in [
        ["show", "debate-nowhere", "--json"].as_slice(),
        &["show", "--json"],
        &["import", "nowhere.json", "--json"],
        &["replay", "--json"],
        &["resume", "--json"],
        &["run", "Nobody?", "--json"],
    ] {
        let done = lab.debate(args).done();
        assert!(done.code != Some(0) && done.out.is_empty(), "{args:?}: {done:#?}");
        assert!(done.err.contains("error:"), "{args:?}: {done:#?}");
    }
}

#[test]
fn events_are_exported_one_a_line_after_the_setup() {
    let lab = Lab::new();
    lab.run("Lines?", &["--rounds", "1"]).success();
    let done = lab.debate(&["export", "--as", "events"]).success();
    let lines = done.lines();
    assert_eq!(lines[0]["topic"], "Lines?");
    assert_eq!(lines[0]["seats"].as_array().unwrap().len(), 5, "{:#}", lines[0]["seats"]);
    for (nth, line) in lines.iter().enumerate().skip(1) {
        assert_eq!(line["seq"], nth);
        assert!(line["at"].is_i64());
    }
    let path = lab.outside("out.jsonl");
    let args = ["export", "--as", "events", "-o", path.to_str().unwrap()];
    assert_eq!(lab.debate(&args).success().out, "");
    assert_eq!(fs::read_to_string(path).unwrap(), done.out);
}
