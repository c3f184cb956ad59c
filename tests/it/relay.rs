//! One debate across several clients: started in one, continued in another, judged at the terminal.
//! Also transfers of single seats between a model, the host and a human.
use crate::host::{due, said};
use crate::lab::{Lab, Script, in_order, speech};
use serde_json::{Value, json};
use std::fs;

fn id(stands: &Value) -> String {
    stands["debate_id"].as_str().unwrap().to_owned()
}

fn handed(lab: &Lab, id: &str) -> Vec<(String, String, String)> {
    let shown = lab.debate(&["show", id, "--json"]).success().json();
    let word = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let all = shown["handed"].as_array().cloned().unwrap_or_default();
    all.iter().map(|it| (word(it, "seat"), word(it, "from"), word(it, "to"))).collect()
}

/// Started in Claude Code, continued in OpenCode, judged at the terminal.
#[test]
fn three_tools_hold_one_debate() {
    let lab = Lab::new();
    let mut claude = lab.host();
    let con = lab.seat("contra.json");
    let stands = claude.alone(json!({"challenger": con, "rounds": 3}));
    let debate = id(&stands);
    assert_eq!(stands["due"]["role"], "Proposer");
    let (tool, first) = due(&stands).unwrap();
    let paused = claude.call(tool, first);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    claude.hang_up();

    // Another client finds the debate by its repository and gets a summary of its state.
    let mut opencode = lab.host_called("opencode");
    let listed = opencode.call("list_debates", json!({"status": "unfinished"}));
    assert_eq!(listed["debates"][0]["debate_id"], json!(debate));
    let stands = opencode.call("continue_round", json!({}));
    let notes = stands["notes"].to_string();
    in_order(
        &notes,
        &[
            "as it stood: One file or many? (duel, paused, round 1 of 3)",
            "Proposer (host): P1: P1 holds.",
            "Challenger (script): C1: C1 holds.",
            "Conceded: nothing",
            "Open: P1: P1 holds.; C1: C1 holds. Due: your word, before round 2",
        ],
    );
    assert_eq!(stands["due"]["role"], "Proposer", "the host there goes on: {stands:#}");
    let (tool, second) = due(&stands).unwrap();
    let paused = opencode.call(tool, second);
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(2)));
    assert!(!paused["notes"].to_string().contains("as it stood"), "it is told once");
    opencode.hang_up();

    // No host exists at the terminal: resume stops with a warning until the seats are transferred.
    let stopped = lab.debate(&["resume", "--yes", "--conclude"]).ends(2);
    stopped.warns("Played by the model of a client, which is not here: proposer, scribe, judge");
    stopped.warns("`--seat proposer=claude`");
    stopped.warns("`judge` is awaited, and nobody answered: it is played by the model of a client");
    let pro = lab.seat("pro.json");
    let judge = format!("judge={pro}");
    let done = lab.debate(&["resume", "--yes", "--seat", &judge]).success();
    done.says(&["### Verdict"]);

    // Archive, both state files and the record agree, also about who played which seat.
    let shown = lab.debate(&["show", &debate, "--json"]).success().json();
    assert_eq!(shown["status"], "completed");
    let names: Vec<&str> =
        shown["state_files"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let states: Vec<Value> = names
        .iter()
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    assert_eq!(states[0], states[1]);
    assert_eq!((&states[0]["id"], &states[0]["status"]), (&json!(debate), &json!("completed")));
    assert!(names[0].contains(".claude") && names[1].contains(".opencode"), "{names:?}");
    let moved = (String::from("judge"), String::from("host"), pro);
    assert!(handed(&lab, &debate).contains(&moved), "{:?}", handed(&lab, &debate));
    let record = fs::read_to_string(shown["record"].as_str().unwrap()).unwrap();
    in_order(
        &record,
        &[
            "**Handed over**: judge, from host to script:",
            "(handed over by the user through the terminal, 20",
            "### Proposer (host)",
            "## Round 2",
            "### Proposer (host)",
            "### Verdict",
        ],
    );
    assert!(lab.turns_taken(&debate).values().all(|times| *times == 1));
    lab.replays(&debate);
}

/// The awaited turn itself is transferred to a model, which then answers it.
#[test]
fn a_turn_that_is_awaited_can_be_handed_on() {
    let lab = Lab::new();
    let mut host = lab.host();
    let (pro, con) = (lab.seat("pro.json"), lab.seat("contra.json"));
    let stands = host.alone(json!({"challenger": con, "judge": pro, "rounds": 1}));
    assert_eq!(stands["due"]["role"], "Proposer");
    let say = format!("proposer={pro}");
    let after = host.call("continue_round", json!({"decision": "change", "say": say}));
    assert_eq!(after["status"], "completed", "{after:#}");
    let debate = id(&stands);
    assert_eq!(handed(&lab, &debate), [("proposer".into(), "host".into(), pro)]);
    let shown = lab.debate(&["show", &debate, "--json"]).success().json();
    let because = shown["handed"][0]["because"].as_str().unwrap();
    in_order(because, &["handed over by the user through claude-code 1, 20", "Z"]);
    assert_eq!(shown["handed"][0]["at"], "0.1.0.0");
    // A late reply of the host is rejected.
    let late = json!({"turn": "0.1.0.0", "speech": said("Proposer", &json!(1))});
    assert!(host.fails("continue_round", late).contains("is not yours"));
    lab.replays(&debate);
}

/// The reverse direction: a seat played by a model is transferred to the host of any client.
#[test]
fn a_seat_can_be_handed_to_the_host() {
    let lab = Lab::new();
    lab.run("Whose?", &["--pause", "--rounds", "2"]).ends(2);
    let mut host = lab.host_called("codex");
    let stands = host.call("continue_round", json!({"decision": "change", "say": "proposer=host"}));
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let stands = host.call("continue_round", json!({"decision": "continue"}));
    assert_eq!(stands["due"]["role"], "Proposer", "{stands:#}");
    let ended = host.play_on(stands);
    assert_eq!(ended["status"], "completed", "{ended:#}");
    let because = lab.debate(&["show", "--json"]).success().json()["handed"][0]["because"].clone();
    assert!(because.as_str().unwrap().contains("through codex 1"), "{because}");
}

/// A seat name means the same at the terminal as in a client: the judge is also the scribe.
#[test]
fn one_name_stands_for_all_that_one_does() {
    let lab = Lab::new();
    let mut host = lab.host();
    let (pro, con) = (lab.seat("pro.json"), lab.seat("contra.json"));
    let stands = host.alone(json!({"proposer": pro, "challenger": con, "rounds": 3}));
    let debate = id(&stands);
    host.hang_up();
    let seat = format!("judge={con}");
    lab.debate(&["resume", &debate, "--yes", "--seat", &seat]).success().says(&["### Verdict"]);
    let names: Vec<String> = handed(&lab, &debate).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["scribe", "judge"]);
    let error = lab.debate(&["resume", &debate, "--retry", "--seat", "king=human"]).fails_with(2);
    error.warns("its seats are proposer, challenger, scribe, judge");
}

/// A human at the terminal replaces the host, and the record names the tool `human`.
#[test]
fn a_person_can_take_the_place_of_the_host() {
    let lab = Lab::new();
    let mut host = lab.host();
    let (pro, con) = (lab.seat("pro.json"), lab.seat("contra.json"));
    let debate = id(&host.alone(json!({"challenger": con, "judge": pro, "rounds": 1})));
    host.hang_up();
    let args = ["resume", &debate, "--yes", "--seat", "proposer=human"];
    let done = lab.debate(&args).stdin(&speech("My own words.", "P1", &[])).success();
    done.says(&["### Verdict"]);
    let turns = lab.debate(&["show", &debate, "--json"]).success().json()["turns"].clone();
    assert_eq!(turns[0]["tool"], "human");
}

/// A client killed during a turn leaves a debate that can be resumed at the terminal.
#[test]
fn what_a_dead_client_left_is_gone_on_with_at_the_terminal() {
    let lab = Lab::new();
    let line = json!({"phase": "challenge", "delay_ms": 60_000, "text": "Never."});
    lab.write(&Script::new().first(line));
    let mut host = lab.host();
    let (pro, con) = (lab.seat("pro.json"), lab.seat("contra.json"));
    let stands = host.alone(json!({"challenger": con, "judge": pro, "rounds": 1}));
    let (tool, mut speech) = due(&stands).unwrap();
    speech["wait_seconds"] = json!(0);
    assert_eq!(host.call(tool, speech)["status"], "running");
    host.running().signal("KILL");
    crate::lab::until("it is gone", || host.running().is_over());
    lab.write(&Script::new());
    lab.debate(&["resume", "--yes"]).success().says(&["### Verdict"]);
    let debate = id(&stands);
    assert!(lab.turns_taken(&debate).values().all(|times| *times == 1));
    lab.replays(&debate);
}

/// Without a debate id, a tool call refers to this client's own debate until that has ended, even
/// if another client has started a newer one.
#[test]
fn a_client_means_the_debate_it_is_at() {
    let lab = Lab::new();
    let mine = |topic: &str| json!({"topic": topic, "proposer": "host", "challenger": "host", "judge": "host"});
    let (mut one, mut two) = (lab.host_called("codex-mcp-client"), lab.host_called("gemini-cli"));
    let first = one.call("start_debate", mine("One file?"));
    let second = two.call("start_debate", mine("Two files?"));
    assert_eq!(one.call("continue_round", json!({}))["debate_id"], first["debate_id"]);
    assert_eq!(two.call("summarize", json!({}))["debate_id"], second["debate_id"]);
    one.call("continue_round", json!({"decision": "cancel"}));
    two.call("continue_round", json!({"say": "Take your time."}));
    assert_eq!(
        one.call("summarize", json!({}))["debate_id"],
        second["debate_id"],
        "the newest here"
    );
}
