//! JSON output: every command's output is valid against its committed JSON schema, and the
//! committed schemas are up to date.
use super::test_env::{SeatScript, TestEnv};
use debate_mcp::cli::output::schemas;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn schema_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

/// `DEBATE_UPDATE=1 cargo test schemas` rewrites the schema files.
#[test]
fn committed_schemas_are_up_to_date() {
    let mut expected_files = BTreeSet::new();
    for (name, schema) in schemas() {
        let path = schema_folder().join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
            fs::create_dir_all(schema_folder()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "schemas/{name}.json is not up to date: set DEBATE_UPDATE=1");
        expected_files.insert(format!("{name}.json"));
    }
    let entries = fs::read_dir(schema_folder()).unwrap().flatten();
    let existing_files: BTreeSet<_> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(existing_files, expected_files, "schema files that no command uses");
}

/// Validates `value` against the committed schema, in which unknown fields are errors.
pub(crate) fn assert_matches_schema(name: &str, value: &Value) {
    let text = fs::read_to_string(schema_folder().join(format!("{name}.json"))).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?} in {value:#}");
    assert_eq!(value["v"], 1, "{name}: {value:#}");
}

/// Three debates: one completed, one degraded with a rejected reply, one paused.
fn env_with_three_debates() -> TestEnv {
    let env = TestEnv::new();
    let args = ["--rounds", "3"];
    env.debate_run("Is 数据库 one word?", &args).expect_success();
    let invalid_reply = json!({"seat": "judge", "attempt": 1, "text": "Hm."});
    let failure = json!({"seat": "mirror", "fail": "crashed"});
    env.write_script(&SeatScript::new().prepend(invalid_reply).prepend(failure));
    env.debate_run("Does it degrade?", &["--effort", "low"]).expect_exit_code(5);
    env.write_script(&SeatScript::new());
    env.debate_run("Is it over?", &["--pause"]).expect_exit_code(2);
    env
}

#[test]
fn json_output_matches_its_schema() {
    let env = env_with_three_debates();
    let commands: &[(&str, &[&str])] = &[
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
    for (schema, args) in commands {
        let output = env.debate(args).expect_success();
        assert_eq!(output.stdout.lines().count(), 1, "one line when piped: {args:?}");
        assert_matches_schema(schema, &output.json());
    }
    let listed = env.debate(&["list", "--json"]).expect_success().json();
    let debates = listed["debates"].as_array().unwrap().clone();
    assert_eq!(debates.len(), 3);
    for debate in debates {
        let id = debate["id"].as_str().unwrap();
        assert_matches_schema(
            "debate",
            &env.debate(&["show", id, "--json"]).expect_success().json(),
        );
        assert_matches_schema(
            "run",
            &env.debate(&["export", id, "--as", "json"]).expect_success().json(),
        );
    }
    let state = env.state_file_path();
    let output = env.debate(&["import", state.to_str().unwrap(), "--json"]).expect_success();
    assert_matches_schema("import", &output.json());
    assert_eq!(output.json()["how"], "known");
}

#[test]
fn run_prints_its_result_as_json() {
    for (name, script, code, status) in ending_cases() {
        let env = TestEnv::new();
        env.write_script(&script);
        let output = env.debate_run("As JSON?", &["--json"]).expect_exit_code(code);
        assert_matches_schema("run", &output.json());
        assert_eq!(output.json()["status"], status, "{name}");
        assert_eq!(output.json()["verdict"].is_null(), status == "aborted", "{name}");
        let resumed = env.debate(&["resume", "last", "--json"]).expect_exit_code(code);
        assert_eq!(resumed.json(), output.json(), "{name}");
    }
}

fn ending_cases() -> Vec<(&'static str, SeatScript, i32, &'static str)> {
    let fail = |seat: &str| SeatScript::new().prepend(json!({"seat": seat, "fail": "crashed"}));
    vec![
        ("complete", SeatScript::new(), 0, "completed"),
        ("without a mirror", fail("mirror"), 5, "degraded"),
        ("without a proposal", fail("proposer"), 1, "aborted"),
    ]
}

#[test]
fn follow_json_prints_one_event_per_line_then_the_result() {
    for (name, script, code, status) in ending_cases() {
        let env = TestEnv::new();
        env.write_script(&script);
        let output = env.debate_run("As JSON?", &["--json", "--follow"]).expect_exit_code(code);
        let mut lines = output.json_lines();
        let last = lines.pop().unwrap();
        assert_eq!(last["kind"], "result", "{name}");
        assert_eq!(last["status"], status, "{name}");
        assert_matches_schema("result", &last);
        let mut seq = 0;
        for line in &lines {
            assert_matches_schema("event", line);
            if line["kind"] == "fact" {
                seq += 1;
                assert_eq!(line["seq"], seq, "{name}: every fact, once, in order");
            }
        }
        assert_eq!(env.events(&env.latest_debate_id()).len(), seq, "{name}");
        let kinds: BTreeSet<_> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
        let expected_kinds = if status == "aborted" {
            vec!["fact", "speaking"]
        } else {
            vec!["delta", "fact", "speaking"]
        };
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected_kinds, "{name}");
        check_replay(&env, seq);
    }
}

fn check_replay(env: &TestEnv, events: usize) {
    let output = env.debate(&["replay", "--json"]).expect_success();
    let mut lines = output.json_lines();
    let last = lines.pop().unwrap();
    assert_matches_schema("replayed", &last);
    assert_eq!((&last["kind"], &last["events"]), (&json!("replayed"), &json!(events)));
    for line in &lines {
        assert_matches_schema("event", line);
    }
    let facts = lines.iter().filter(|line| line["kind"] == "fact").count();
    assert_eq!(facts, events);
}

#[test]
fn paused_debate_json_names_what_is_due() {
    let env = TestEnv::new();
    let output = env.debate_run("Wait?", &["--pause", "--json"]).expect_exit_code(2);
    assert_matches_schema("run", &output.json());
    assert_eq!(output.json()["due"], json!({"kind": "user"}));
    let output = env.debate_run("Wait?", &["--max-cost", "0", "--json"]).expect_exit_code(2);
    assert_eq!(output.json()["due"], json!({"kind": "budget"}));
    let pro = env.script_seat("pro.json");
    let args = ["run", "Wait?", "--proposer", &pro, "--challenger", "human", "--json"];
    let output = env.debate(&args).expect_exit_code(2);
    assert_eq!(
        output.json()["due"],
        json!({"kind": "turns", "driven": [], "awaited": ["0.1.1.1"]})
    );
}

#[test]
fn errors_print_nothing_on_stdout() {
    let env = TestEnv::new();
    for args in [
        ["show", "debate-nowhere", "--json"].as_slice(),
        &["show", "--json"],
        &["import", "nowhere.json", "--json"],
        &["replay", "--json"],
        &["resume", "--json"],
        &["run", "Nobody?", "--json"],
    ] {
        let output = env.debate(args).output();
        assert!(output.exit_code != Some(0) && output.stdout.is_empty(), "{args:?}: {output:#?}");
        assert!(output.stderr.contains("error:"), "{args:?}: {output:#?}");
    }
}

#[test]
fn event_export_is_json_lines_after_the_setup() {
    let env = TestEnv::new();
    env.debate_run("Lines?", &["--rounds", "1"]).expect_success();
    let output = env.debate(&["export", "--as", "events"]).expect_success();
    let lines = output.json_lines();
    assert_eq!(lines[0]["topic"], "Lines?");
    assert_eq!(lines[0]["seats"].as_array().unwrap().len(), 5, "{:#}", lines[0]["seats"]);
    for (nth, line) in lines.iter().enumerate().skip(1) {
        assert_eq!(line["seq"], nth);
        assert!(line["at"].is_i64());
    }
    let path = env.temp_path("out.jsonl");
    let args = ["export", "--as", "events", "-o", path.to_str().unwrap()];
    assert_eq!(env.debate(&args).expect_success().stdout, "");
    assert_eq!(fs::read_to_string(path).unwrap(), output.stdout);
}
