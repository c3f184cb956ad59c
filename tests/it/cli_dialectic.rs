//! Dialectic debates from the terminal: choice of the partner, its fallback, and import of a record
//! on another machine.
use crate::fake_clis::CapturedOutput;
use crate::scripted_replies::dialectic;
use crate::test_env::{TestEnv, assert_contains_in_order};
use serde_json::{Value, json};
use std::fs;

fn choice_reasons(env: &TestEnv) -> String {
    let shown = env.debate(&["show", "last", "--json"]).expect_success().json();
    shown["chosen"].to_string()
}

#[test]
fn partner_choice_records_reason_and_fallback() {
    let env = TestEnv::new();
    for tool in ["claude", "codex", "gemini"] {
        env.install_fake_with_reply(tool, "What about locks?");
    }
    let lead = env.write_replies(&dialectic());
    let args = ["run", "Well?", "--format", "dialectic", "--lead", &lead, "--no-probe"];
    env.debate(&args).expect_exit_code(2);
    let reasons = choice_reasons(&env);
    assert!(reasons.contains("partner claude (of another family"), "{reasons}");
    assert!(reasons.contains("if the partner fails, codex could take its place"), "{reasons}");
    let record = env.debate(&["show", "last"]).expect_success().stdout;
    assert_contains_in_order(
        &record,
        &["**Chosen**: partner claude", "codex could take its place"],
    );
}

/// The partner fails the probe before the start, so the next model is chosen, with a warning.
#[test]
fn partner_failing_its_probe_is_replaced() {
    let env = TestEnv::new();
    let error =
        json!({"type": "result", "is_error": true, "result": "no", "api_error_status": 404});
    env.install_fake_with_output(
        "claude",
        &CapturedOutput { stdout: format!("{error}\n"), stderr: String::new(), exit_code: 1 },
    );
    env.install_fake_with_reply("codex", "What about locks?");
    let lead = env.write_replies(&dialectic());
    let output =
        env.debate(&["run", "Well?", "--format", "dialectic", "--lead", &lead]).expect_exit_code(2);
    output.assert_stderr_contains("`claude` does not answer");
    assert!(choice_reasons(&env).contains("partner codex"), "{}", choice_reasons(&env));
}

/// The Markdown record alone is enough to import the debate elsewhere and resume it.
#[test]
fn imported_dialectic_record_can_be_resumed() {
    let env = TestEnv::new();
    let seat = env.write_replies(&dialectic());
    let args = ["run", "One file?", "--format", "dialectic", "--model", &seat, "--json"];
    env.debate(&args).expect_exit_code(2);
    let shown = env.debate(&["show", "last", "--json"]).expect_success().json();
    let record = fs::read_to_string(shown["record"].as_str().unwrap()).unwrap();
    let other_env = TestEnv::new();
    let seat = other_env.write_replies(&dialectic());
    let seats = ["--proposer", &seat, "--challenger", &seat];
    let imported =
        other_env.debate(&[&["import", "-", "--json"][..], &seats].concat()).stdin(&record);
    let imported = imported.expect_success().json();
    assert_eq!((&imported["how"], &imported["taken"]), (&json!("transcript"), &json!(2)));
    let view =
        other_env.debate(&["resume", "last", "--yes", "--end", "--json"]).expect_success().json();
    assert_eq!((&view["format"], &view["outcome"]), (&json!("dialectic"), &json!("partial")));
    assert_eq!(view["verdict"], Value::Null);
    assert_eq!(view["turns"][0]["text"], "I would use one file.");
}
