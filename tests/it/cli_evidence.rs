//! Citations in a debate: each is looked up once in the pinned tree, and the result reaches the
//! prompts, the verdict and the record.
use crate::lab::{Lab, Script, ruling, stands_in, until};
use serde_json::{Value, json};

const STORE: &str =
    "//! Keeps things.\n\npub fn open(path: &Path) -> Store {\n    Store::at(path)\n}\n";

/// Test repository with source files to cite.
pub(crate) fn lab() -> Lab {
    let lab = Lab::new();
    git2::Repository::init(lab.root()).unwrap();
    lab.file("src/store.rs", STORE);
    lab.file("src/cli/store.rs", "fn list_everything() {}\n");
    lab
}

/// Speech with one claim and this evidence.
fn speech(prose: &str, id: &str, answers: &[&str], evidence: &[&str]) -> String {
    let claim =
        json!({"id": id, "text": format!("{id} holds."), "evidence": evidence, "answers": answers});
    format!("{prose}\n\n```claims\n{}\n```\n", json!({"claims": [claim]}))
}

fn says(seat: &str, phase: &str, text: &str) -> Value {
    json!({"seat": seat, "phase": phase, "text": text})
}

const TRUE: &str = "src/store.rs:3 \"pub fn open(path: &Path) -> Store\"";
const FALSE: &str = "src/store.rs:900 \"fn close\"";
const NOWHERE: &str = "src/imagined.rs:12 \"retry_forever()\"";

/// Duel in which the proposer cites lines and files that do not exist.
fn script() -> Script {
    let first =
        speech("Keep it. See `src/gone.rs:4` [verified].", "P1", &[], &[TRUE, FALSE, NOWHERE]);
    let second = speech("No.", "C1", &["P1"], &[TRUE]);
    let lines = [says("proposer", "propose", &first), says("challenger", "challenge", &second)];
    lines.into_iter().fold(Script::new(), Script::first)
}

fn found(turn: &Value) -> Vec<(String, String)> {
    let word = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let citations = turn["citations"].as_array().unwrap().iter();
    citations.map(|it| (word(it, "path"), word(it, "found"))).collect()
}

#[test]
fn a_false_citation_is_struck_out_and_reaches_the_verdict() {
    let lab = lab();
    lab.write(&script());
    let done = lab.run("Well?", &["--rounds", "1", "--json"]).success().json();
    let expected = [
        ("src/store.rs", "exact"),
        ("src/store.rs", "line_out_of_range"),
        ("src/imagined.rs", "no_such_path"),
        ("src/gone.rs", "no_such_path"),
    ];
    let expected = expected.map(|(path, found)| (path.to_owned(), found.to_owned()));
    assert_eq!(found(&done["turns"][0]), expected, "{:#}", done["turns"][0]["citations"]);
    assert_eq!(done["turns"][0]["citations"][0]["claim"], "P1");
    assert_eq!(
        done["rigor"],
        "Structured perspective comparison (rules enforced in code; 5 citations, 2 verified, 3 \
         wrong, 0 ambiguous)"
    );
    let ledger = &done["ledger"][0];
    assert_eq!((&ledger["citations"], &ledger["wrong"]), (&json!(4), &json!(3)), "{ledger}");
    let wrong = done["verdict"]["wrong"].to_string();
    assert!(wrong.contains("src/imagined.rs") && wrong.contains("no such path"), "{wrong}");
    // A verification mark written by the model is stripped.
    let said = done["turns"][0]["text"].as_str().unwrap();
    assert!(!said.to_lowercase().contains("verified"), "{said}");

    let id = lab.last();
    let shown = lab.debate(&["show", &id]).success();
    assert!(
        shown.out.contains("~~src/store.rs:900 \"fn close\"~~ (line out of range"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("Struck out: ~~`src/gone.rs:4`~~"), "{}", shown.out);
    shown.says(&["### Verdict", "Citations that do not resolve:", "src/imagined.rs"]);
    let told = lab.debate(&["show", &id, "--prompt", "0.1.1.1"]).success().out;
    assert!(told.contains("These citations of your opponent do not resolve"), "{told}");
    let judged = lab.debate(&["show", &id, "--prompt", "3.0.0.2"]).success().out;
    assert!(judged.contains("[checked: `P1`: 1 of 3 citations found as quoted;"), "{judged}");
    lab.replays(&id);
}

/// The working tree may change during a debate, so citations refer to the pinned tree.
#[test]
fn evidence_is_looked_up_in_what_the_debaters_saw() {
    let lab = lab();
    lab.write(&script());
    let run = lab.run("Well?", &["--pause"]).stdin("").done();
    assert_eq!(run.code, Some(2), "{run:#?}");
    lab.file("src/store.rs", "fn close() {}\n");
    let defend = speech("Still.", "P2", &["C1"], &[TRUE, "src/store.rs:1 \"fn close() {}\""]);
    lab.write(&script().first(says("proposer", "defend", &defend)));
    let done = lab.debate(&["resume", "--yes", "--json"]).success().json();
    let turn = done["turns"].as_array().unwrap().iter().find(|it| it["phase"] == "defend").unwrap();
    let found = found(turn);
    assert_eq!(found[0].1, "exact", "{found:?}");
    assert_eq!(found[1].1, "not_found", "{found:?}");
}

#[test]
fn where_nothing_can_be_looked_up_nothing_is_claimed_to_be() {
    let lab = Lab::new();
    lab.write(&script());
    let done = lab.run("Well?", &["--rounds", "1", "--json"]).success().json();
    assert_eq!(done["turns"][0]["citations"], json!([]));
    assert!(done["rigor"].as_str().unwrap().contains("no deterministic verification"));
}

#[test]
fn a_repeated_round_is_noticed_and_may_end_it() {
    let lab = lab();
    let again = |seat: &str, phase: &str, id: &str, answers: &[&str]| {
        says(seat, phase, &speech("As I said.", id, answers, &[TRUE]))
    };
    let script = script().first(again("proposer", "defend", "P1", &["C1"])).first(again(
        "challenger",
        "follow_up",
        "C1",
        &["P1"],
    ));
    lab.write(&script);
    let done =
        lab.run("Well?", &["--rounds", "4", "--stop-when-settled", "--json"]).success().json();
    assert_eq!(done["rounds_completed"], 2, "{:#}", done["notices"]);
    assert!(done["notices"].to_string().contains("round 2 brought no new claim"), "{done:#}");
    let noticed = done["verdict"]["noticed"].to_string();
    assert!(noticed.contains("a turn without a new claim"), "{noticed}");
}

#[test]
fn sealed_answers_are_given_before_anyone_is_heard() {
    let lab = lab();
    let mut ruled = ruling("pro");
    ruled["changed"] = json!({"decision": true, "because": "src/store.rs shows it"});
    let answer = |seat: &str, id: &str| says(seat, "answer", &speech("Mine.", id, &[], &[TRUE]));
    let mut wrong = ruled.clone();
    wrong.as_object_mut().unwrap().remove("changed");
    let script = script()
        .first(answer("proposer", "P9"))
        .first(answer("challenger", "C9"))
        .first(json!({"phase": "judge", "attempt": 2, "json": ruled}))
        .first(json!({"phase": "judge", "attempt": 1, "json": wrong}));
    lab.write(&script);
    let done = lab.run("Well?", &["--rounds", "1", "--sealed", "--json"]).success().json();
    assert_eq!(done["turns"][0]["phase"], "answer");
    assert_eq!(done["turns"][1]["phase"], "answer");
    assert_eq!(done["verdict"]["changed"]["decision"], true, "{:#}", done["verdict"]);
    let text = lab.debate(&["show", "--summary"]).success().out;
    assert!(text.contains("The debate changed the decision of the sealed answers"), "{text}");
    lab.replays(&lab.last());
    assert!(!stands_in(&lab.root().join("src"), "sealed"));
}

/// A host that plays one side must not see the other side's sealed answer before its own.
#[test]
fn a_host_does_not_see_what_is_sealed() {
    let lab = lab();
    let answer = says("challenger", "answer", &speech("My own secret view.", "C9", &[], &[TRUE]));
    lab.write(&script().first(answer));
    let mut host = lab.host();
    let arguments = json!({"topic": "Well?", "proposer": "host", "challenger": lab.seat("contra.json"),
        "judge": lab.seat("pro.json"), "options": {"sealed": true}});
    let stands = host.call("start_debate", arguments);
    let shown = host.call("show_debate", json!({}));
    for (what, seen) in [("the result", &stands), ("the transcript", &shown)] {
        assert!(!seen.to_string().contains("secret view"), "{what}: {seen:#}");
    }
    let record = stands["record"].as_str().unwrap();
    until("the record is written", || std::path::Path::new(record).exists());
    assert!(!std::fs::read_to_string(record).unwrap().contains("secret view"));
    let own = speech("Mine.", "P9", &[], &[FALSE]);
    let turn = stands["due"]["turn"].clone();
    let after = host.call("continue_round", json!({"turn": turn, "speech": own}));
    assert!(after.to_string().contains("secret view"), "now all have answered: {after:#}");
    assert!(
        after.to_string().contains("src/store.rs:900"),
        "and what is wrong is named: {after:#}"
    );
}
