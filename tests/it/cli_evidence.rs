//! Citations in a debate: each is looked up once in the pinned tree, and the result reaches the
//! prompts, the verdict and the record.
use crate::test_env::{SeatScript, TestEnv, folder_contains_text, verdict_json, wait_until};
use serde_json::{Value, json};

const STORE_SOURCE: &str =
    "//! Keeps things.\n\npub fn open(path: &Path) -> Store {\n    Store::at(path)\n}\n";

/// Test repository with source files to cite.
pub(crate) fn repo_with_source() -> TestEnv {
    let env = TestEnv::new();
    git2::Repository::init(env.repo_root()).unwrap();
    env.write_repo_file("src/store.rs", STORE_SOURCE);
    env.write_repo_file("src/cli/store.rs", "fn list_everything() {}\n");
    env
}

/// Speech with one claim and this evidence.
fn speech_with_evidence(prose: &str, id: &str, answers: &[&str], evidence: &[&str]) -> String {
    let claim =
        json!({"id": id, "text": format!("{id} holds."), "evidence": evidence, "answers": answers});
    format!("{prose}\n\n```claims\n{}\n```\n", json!({"claims": [claim]}))
}

fn script_line(seat: &str, phase: &str, text: &str) -> Value {
    json!({"seat": seat, "phase": phase, "text": text})
}

const VALID_CITATION: &str = "src/store.rs:3 \"pub fn open(path: &Path) -> Store\"";
const LINE_OUT_OF_RANGE: &str = "src/store.rs:900 \"fn close\"";
const MISSING_FILE: &str = "src/imagined.rs:12 \"retry_forever()\"";

/// Duel in which the proposer cites lines and files that do not exist.
fn script_with_false_citations() -> SeatScript {
    let first = speech_with_evidence(
        "Keep it. See `src/gone.rs:4` [verified].",
        "P1",
        &[],
        &[VALID_CITATION, LINE_OUT_OF_RANGE, MISSING_FILE],
    );
    let second = speech_with_evidence("No.", "C1", &["P1"], &[VALID_CITATION]);
    let lines = [
        script_line("proposer", "propose", &first),
        script_line("challenger", "challenge", &second),
    ];
    lines.into_iter().fold(SeatScript::new(), SeatScript::prepend)
}

fn citation_results(turn: &Value) -> Vec<(String, String)> {
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let citations = turn["citations"].as_array().unwrap().iter();
    citations.map(|it| (text(it, "path"), text(it, "found"))).collect()
}

#[test]
fn false_citation_is_struck_out_and_reaches_the_verdict() {
    let env = repo_with_source();
    env.write_script(&script_with_false_citations());
    let view = env.debate_run("Well?", &["--rounds", "1", "--json"]).expect_success().json();
    let expected = [
        ("src/store.rs", "exact"),
        ("src/store.rs", "line_out_of_range"),
        ("src/imagined.rs", "no_such_path"),
        ("src/gone.rs", "no_such_path"),
    ];
    let expected = expected.map(|(path, found)| (path.to_owned(), found.to_owned()));
    assert_eq!(
        citation_results(&view["turns"][0]),
        expected,
        "{:#}",
        view["turns"][0]["citations"]
    );
    assert_eq!(view["turns"][0]["citations"][0]["claim"], "P1");
    assert_eq!(
        view["rigor"],
        "Structured perspective comparison (rules enforced in code; 5 citations, 2 verified, 3 \
         wrong, 0 ambiguous)"
    );
    let ledger = &view["ledger"][0];
    assert_eq!((&ledger["citations"], &ledger["wrong"]), (&json!(4), &json!(3)), "{ledger}");
    let wrong = view["verdict"]["wrong"].to_string();
    assert!(wrong.contains("src/imagined.rs") && wrong.contains("no such path"), "{wrong}");
    // A verification mark written by the model is stripped.
    let speech = view["turns"][0]["text"].as_str().unwrap();
    assert!(!speech.to_lowercase().contains("verified"), "{speech}");

    let id = env.latest_debate_id();
    let shown = env.debate(&["show", &id]).expect_success();
    assert!(
        shown.stdout.contains("~~src/store.rs:900 \"fn close\"~~ (line out of range"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("Struck out: ~~`src/gone.rs:4`~~"), "{}", shown.stdout);
    shown.assert_stdout_contains(&[
        "### Verdict",
        "Citations that do not resolve:",
        "src/imagined.rs",
    ]);
    let opponent_prompt = env.debate(&["show", &id, "--prompt", "0.1.1.1"]).expect_success().stdout;
    assert!(
        opponent_prompt.contains("These citations of your opponent do not resolve"),
        "{opponent_prompt}"
    );
    let judge_prompt = env.debate(&["show", &id, "--prompt", "3.0.0.2"]).expect_success().stdout;
    assert!(
        judge_prompt.contains("[checked: `P1`: 1 of 3 citations found as quoted;"),
        "{judge_prompt}"
    );
    env.assert_replays(&id);
}

/// The working tree may change during a debate, so citations refer to the pinned tree.
#[test]
fn citations_are_checked_in_the_pinned_tree() {
    let env = repo_with_source();
    env.write_script(&script_with_false_citations());
    let output = env.debate_run("Well?", &["--pause"]).stdin("").output();
    assert_eq!(output.exit_code, Some(2), "{output:#?}");
    env.write_repo_file("src/store.rs", "fn close() {}\n");
    let defence = speech_with_evidence(
        "Still.",
        "P2",
        &["C1"],
        &[VALID_CITATION, "src/store.rs:1 \"fn close() {}\""],
    );
    env.write_script(
        &script_with_false_citations().prepend(script_line("proposer", "defend", &defence)),
    );
    let view = env.debate(&["resume", "--yes", "--json"]).expect_success().json();
    let turn = view["turns"].as_array().unwrap().iter().find(|it| it["phase"] == "defend").unwrap();
    let results = citation_results(turn);
    assert_eq!(results[0].1, "exact", "{results:?}");
    assert_eq!(results[1].1, "not_found", "{results:?}");
}

#[test]
fn without_a_pinned_tree_no_citation_is_checked() {
    let env = TestEnv::new();
    env.write_script(&script_with_false_citations());
    let view = env.debate_run("Well?", &["--rounds", "1", "--json"]).expect_success().json();
    assert_eq!(view["turns"][0]["citations"], json!([]));
    assert!(view["rigor"].as_str().unwrap().contains("no deterministic verification"));
}

#[test]
fn repeated_round_is_noticed_and_can_end_the_debate() {
    let env = repo_with_source();
    let repetition = |seat: &str, phase: &str, id: &str, answers: &[&str]| {
        script_line(
            seat,
            phase,
            &speech_with_evidence("As I said.", id, answers, &[VALID_CITATION]),
        )
    };
    let script = script_with_false_citations()
        .prepend(repetition("proposer", "defend", "P1", &["C1"]))
        .prepend(repetition("challenger", "follow_up", "C1", &["P1"]));
    env.write_script(&script);
    let view = env
        .debate_run("Well?", &["--rounds", "4", "--stop-when-settled", "--json"])
        .expect_success()
        .json();
    assert_eq!(view["rounds_completed"], 2, "{:#}", view["notices"]);
    assert!(view["notices"].to_string().contains("round 2 brought no new claim"), "{view:#}");
    let noticed = view["verdict"]["noticed"].to_string();
    assert!(noticed.contains("a turn without a new claim"), "{noticed}");
}

#[test]
fn sealed_answers_come_before_the_first_speech() {
    let env = repo_with_source();
    let mut verdict = verdict_json("pro");
    verdict["changed"] = json!({"decision": true, "because": "src/store.rs shows it"});
    let answer = |seat: &str, id: &str| {
        script_line(seat, "answer", &speech_with_evidence("Mine.", id, &[], &[VALID_CITATION]))
    };
    let mut incomplete_verdict = verdict.clone();
    incomplete_verdict.as_object_mut().unwrap().remove("changed");
    let script = script_with_false_citations()
        .prepend(answer("proposer", "P9"))
        .prepend(answer("challenger", "C9"))
        .prepend(json!({"phase": "judge", "attempt": 2, "json": verdict}))
        .prepend(json!({"phase": "judge", "attempt": 1, "json": incomplete_verdict}));
    env.write_script(&script);
    let view =
        env.debate_run("Well?", &["--rounds", "1", "--sealed", "--json"]).expect_success().json();
    assert_eq!(view["turns"][0]["phase"], "answer");
    assert_eq!(view["turns"][1]["phase"], "answer");
    assert_eq!(view["verdict"]["changed"]["decision"], true, "{:#}", view["verdict"]);
    let text = env.debate(&["show", "--summary"]).expect_success().stdout;
    assert!(text.contains("The debate changed the decision of the sealed answers"), "{text}");
    env.assert_replays(&env.latest_debate_id());
    assert!(!folder_contains_text(&env.repo_root().join("src"), "sealed"));
}

/// A host that plays one side must not see the other side's sealed answer before its own.
#[test]
fn host_does_not_see_sealed_answers() {
    let env = repo_with_source();
    let answer = script_line(
        "challenger",
        "answer",
        &speech_with_evidence("My own secret view.", "C9", &[], &[VALID_CITATION]),
    );
    env.write_script(&script_with_false_citations().prepend(answer));
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "Well?", "proposer": "host", "challenger": env.script_seat("contra.json"),
        "judge": env.script_seat("pro.json"), "options": {"sealed": true}});
    let status = host.call_tool("start_debate", arguments);
    let transcript = host.call_tool("show_debate", json!({}));
    for (name, value) in [("the result", &status), ("the transcript", &transcript)] {
        assert!(!value.to_string().contains("secret view"), "{name}: {value:#}");
    }
    let record = status["record"].as_str().unwrap();
    wait_until("the record is written", || std::path::Path::new(record).exists());
    assert!(!std::fs::read_to_string(record).unwrap().contains("secret view"));
    let speech = speech_with_evidence("Mine.", "P9", &[], &[LINE_OUT_OF_RANGE]);
    let turn = status["due"]["turn"].clone();
    let response = host.call_tool("continue_round", json!({"turn": turn, "speech": speech}));
    assert!(response.to_string().contains("secret view"), "all have answered: {response:#}");
    assert!(
        response.to_string().contains("src/store.rs:900"),
        "the wrong citation is named: {response:#}"
    );
}
