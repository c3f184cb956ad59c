//! Dialectic debates from the terminal: choice of the partner, its fallback, and import of a record
//! on another machine.
use crate::fake_clis::CapturedOutput;
use crate::scripted_replies::dialectic;
use crate::test_env::{TestEnv, assert_contains_in_order};
use serde_json::{Value, json};
use std::fs;

fn choice_reasons(lab: &TestEnv) -> String {
    let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
    shown["chosen"].to_string()
}

#[test]
fn partner_choice_records_reason_and_fallback() {
    let lab = TestEnv::new();
    for tool in ["claude", "codex", "gemini"] {
        lab.install_fake_with_reply(tool, "What about locks?");
    }
    let lead = lab.write_replies(&dialectic());
    let args = ["run", "Well?", "--format", "dialectic", "--lead", &lead, "--no-probe"];
    lab.debate(&args).expect_exit_code(2);
    let why = choice_reasons(&lab);
    assert!(why.contains("partner claude (of another family"), "{why}");
    assert!(why.contains("if the partner fails, codex could take its place"), "{why}");
    let record = lab.debate(&["show", "last"]).expect_success().stdout;
    assert_contains_in_order(
        &record,
        &["**Chosen**: partner claude", "codex could take its place"],
    );
}

/// The partner fails the probe before the start, so the next model is chosen, with a warning.
#[test]
fn partner_failing_its_probe_is_replaced() {
    let lab = TestEnv::new();
    let error =
        json!({"type": "result", "is_error": true, "result": "no", "api_error_status": 404});
    lab.install_fake_with_output(
        "claude",
        &CapturedOutput { stdout: format!("{error}\n"), stderr: String::new(), exit_code: 1 },
    );
    lab.install_fake_with_reply("codex", "What about locks?");
    let lead = lab.write_replies(&dialectic());
    let done =
        lab.debate(&["run", "Well?", "--format", "dialectic", "--lead", &lead]).expect_exit_code(2);
    done.assert_stderr_contains("`claude` does not answer");
    assert!(choice_reasons(&lab).contains("partner codex"), "{}", choice_reasons(&lab));
}

/// The Markdown record alone is enough to import the debate elsewhere and resume it.
#[test]
fn imported_dialectic_record_can_be_resumed() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&dialectic());
    let args = ["run", "One file?", "--format", "dialectic", "--model", &seat, "--json"];
    lab.debate(&args).expect_exit_code(2);
    let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
    let record = fs::read_to_string(shown["record"].as_str().unwrap()).unwrap();
    let other = TestEnv::new();
    let seat = other.write_replies(&dialectic());
    let seats = ["--proposer", &seat, "--challenger", &seat];
    let taken = other.debate(&[&["import", "-", "--json"][..], &seats].concat()).stdin(&record);
    let taken = taken.expect_success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(2)));
    let view =
        other.debate(&["resume", "last", "--yes", "--end", "--json"]).expect_success().json();
    assert_eq!((&view["format"], &view["outcome"]), (&json!("dialectic"), &json!("partial")));
    assert_eq!(view["verdict"], Value::Null);
    assert_eq!(view["turns"][0]["text"], "I would use one file.");
}
