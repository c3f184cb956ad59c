//! Dialectic debates from the terminal: choice of the partner, its fallback, and import of a record
//! on another machine.
use crate::casts::dialectic;
use crate::fakes::Capture;
use crate::lab::{Lab, in_order};
use serde_json::{Value, json};
use std::fs;

fn chosen(lab: &Lab) -> String {
    let shown = lab.debate(&["show", "last", "--json"]).success().json();
    shown["chosen"].to_string()
}

#[test]
fn the_partner_is_chosen_for_a_reason_and_has_a_fallback() {
    let lab = Lab::new();
    for tool in ["claude", "codex", "gemini"] {
        lab.speaks(tool, "What about locks?");
    }
    let lead = lab.cast(&dialectic());
    let args = ["run", "Well?", "--format", "dialectic", "--lead", &lead, "--no-probe"];
    lab.debate(&args).ends(2);
    let why = chosen(&lab);
    assert!(why.contains("partner claude (of another family"), "{why}");
    assert!(why.contains("if the partner fails, codex could take its place"), "{why}");
    let record = lab.debate(&["show", "last"]).success().out;
    in_order(&record, &["**Chosen**: partner claude", "codex could take its place"]);
}

/// The partner fails the probe before the start, so the next model is chosen, with a warning.
#[test]
fn a_partner_that_does_not_answer_is_replaced() {
    let lab = Lab::new();
    let error =
        json!({"type": "result", "is_error": true, "result": "no", "api_error_status": 404});
    lab.fake("claude", &Capture { out: format!("{error}\n"), err: String::new(), code: 1 });
    lab.speaks("codex", "What about locks?");
    let lead = lab.cast(&dialectic());
    let done = lab.debate(&["run", "Well?", "--format", "dialectic", "--lead", &lead]).ends(2);
    done.warns("`claude` does not answer");
    assert!(chosen(&lab).contains("partner codex"), "{}", chosen(&lab));
}

/// The Markdown record alone is enough to import the debate elsewhere and resume it.
#[test]
fn a_record_of_a_dialogue_goes_on_elsewhere() {
    let lab = Lab::new();
    let seat = lab.cast(&dialectic());
    let args = ["run", "One file?", "--format", "dialectic", "--model", &seat, "--json"];
    lab.debate(&args).ends(2);
    let shown = lab.debate(&["show", "last", "--json"]).success().json();
    let record = fs::read_to_string(shown["record"].as_str().unwrap()).unwrap();
    let other = Lab::new();
    let seat = other.cast(&dialectic());
    let seats = ["--proposer", &seat, "--challenger", &seat];
    let taken = other.debate(&[&["import", "-", "--json"][..], &seats].concat()).stdin(&record);
    let taken = taken.success().json();
    assert_eq!((&taken["how"], &taken["taken"]), (&json!("transcript"), &json!(2)));
    let view = other.debate(&["resume", "last", "--yes", "--end", "--json"]).success().json();
    assert_eq!((&view["format"], &view["outcome"]), (&json!("dialectic"), &json!("partial")));
    assert_eq!(view["verdict"], Value::Null);
    assert_eq!(view["turns"][0]["text"], "I would use one file.");
}
