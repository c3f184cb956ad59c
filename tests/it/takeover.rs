//! Two processes and one debate: the second is told who holds the lease, can watch, and can take
//! the lease over. No turn is lost or played twice.
use crate::host::Host;
use crate::lab::{Lab, Running, Script, in_order, speech, until};
use serde_json::{Value, json};

/// A script whose challenger is slow in the first round.
fn slow(milliseconds: u64) -> Script {
    let text = speech("One file locks.", "C1", &["P1"]);
    Script::new().first(json!({"phase": "challenge", "text": text, "delay_ms": milliseconds}))
}

/// A running duel at the terminal whose challenger takes a minute.
fn at_the_terminal(lab: &Lab) -> (Running, String) {
    lab.write(&slow(60_000));
    let running = lab.run("Slow?", &["--rounds", "1"]).start();
    let id = lab.challenged();
    (running, id)
}

/// The same duel, run by an MCP client.
fn in_a_client(lab: &Lab, host: &mut Host) -> String {
    lab.write(&slow(60_000));
    let (pro, con) = (lab.seat("pro.json"), lab.seat("contra.json"));
    let start = json!({"topic": "Slow?", "rounds": 1, "proposer": pro, "challenger": con,
        "judge": pro, "wait_seconds": 0, "options": {"pause": false}});
    let id = host.call("start_debate", start)["debate_id"].as_str().unwrap().to_owned();
    assert_eq!(lab.challenged(), id);
    id
}

/// Asserts that every turn is recorded once and that the log replays without errors.
#[track_caller]
fn whole(lab: &Lab, id: &str, turns: usize) {
    let taken = lab.turns_taken(id);
    assert!(taken.len() == turns && taken.values().all(|times| *times == 1), "{taken:?}");
    lab.replays(id);
}

#[test]
fn one_terminal_takes_over_from_another() {
    let lab = Lab::new();
    let (first, id) = at_the_terminal(&lab);
    lab.write(&slow(1_500));
    let second = lab.debate(&["resume", &id, "--take-over"]).start();
    let (taker, loser) = (second.id(), first.id());
    let stopped = first.wait();
    assert_eq!(stopped.code, Some(2), "{stopped:#?}");
    let says = format!("the terminal (process {taker}) has taken this debate over");
    stopped.warns(&says);
    stopped.warns(&format!("Watch it with: debate watch {id}"));
    stopped.warns(&format!("Take it back with: debate resume {id} --take-over"));
    let done = second.wait();
    assert_eq!(done.code, Some(0), "{done:#?}");
    done.warns(&format!("Taken over from the terminal (process {loser}), which stops."));
    done.says(&["### Verdict"]);
    whole(&lab, &id, 4);
}

#[test]
fn a_terminal_takes_over_from_a_client() {
    let lab = Lab::new();
    let mut host = lab.host();
    let id = in_a_client(&lab, &mut host);
    lab.debate(&["resume", &id]).fails_with(1).warns("is being run by claude-code 1 (process ");
    let waiting = host.begin("continue_round", json!({}));
    lab.write(&slow(1_500));
    let second = lab.debate(&["resume", &id, "--take-over"]).start();
    let answer = host.answer(waiting);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    let by = format!("the terminal (process {}) has taken this debate over", second.id());
    in_order(text, &[&by, "Next: ", "watches it", "take_over"]);
    // From now on the client only watches.
    let seen = host.call("continue_round", json!({"wait_seconds": 0}));
    let notes = seen["notes"].to_string();
    assert!(notes.contains("the terminal (process ") && notes.contains("only watches"), "{seen:#}");
    assert_eq!(host.call("continue_round", json!({}))["status"], "completed");
    assert_eq!(second.wait().code, Some(0));
    whole(&lab, &id, 4);
}

#[test]
fn a_client_takes_over_from_a_terminal() {
    let lab = Lab::new();
    let (first, id) = at_the_terminal(&lab);
    let mut host = lab.host_called("opencode");
    let seen = host.call("continue_round", json!({"wait_seconds": 0}));
    assert!(seen["notes"].to_string().contains("the terminal (process "), "{seen:#}");
    let summary = host.call("summarize", json!({}));
    assert!(summary["notes"].to_string().contains("take_over"), "{summary:#}");
    lab.write(&slow(1_500));
    let waiting = host.begin("continue_round", json!({"decision": "take_over"}));
    let stopped = first.wait();
    assert_eq!(stopped.code, Some(2), "{stopped:#?}");
    stopped.warns("opencode 1 (process ");
    stopped.warns("has taken this debate over");
    let stands = crate::host::result(&host.answer(waiting));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    whole(&lab, &id, 4);
    let over = host.fails("continue_round", json!({"decision": "take_over"}));
    assert!(over.contains("has ended (completed)"), "{over}");
}

/// Without a lease holder, takeover is the same as resume. Taking over one's own lease is a no-op.
#[test]
fn what_nobody_holds_is_simply_taken_up() {
    let lab = Lab::new();
    lab.run("Free?", &["--pause"]).ends(2);
    let id = lab.last();
    lab.debate(&["resume", &id, "--take-over", "--yes"]).success().says(&["### Verdict"]);
    whole(&lab, &id, 6);
    let mut host = lab.host();
    let id = in_a_client(&lab, &mut host);
    let again = json!({"decision": "take_over", "wait_seconds": 0});
    assert_eq!(host.call("continue_round", again)["status"], "running");
    let asked = lab.events(&id).iter().filter(|event| event["event"] == "asked").count();
    assert_eq!(asked, 2, "nobody was asked again");
}

/// A human who is prompted for a turn is told about the takeover.
#[test]
fn a_person_is_not_kept_waiting_for_a_debate_that_is_gone() {
    let lab = Lab::new();
    let con = lab.seat("contra.json");
    let args = ["run", "Me?", "--proposer", "human", "--challenger", &con, "--judge", &con];
    let first = lab.debate(&[&args[..], &["--rounds", "1"]].concat()).start();
    until("it is open", || {
        let listed = lab.debate(&["list", "--json"]).success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).iter().any(|event| event["event"] == "asked")
    });
    let id = lab.last();
    lab.debate(&["resume", &id]).fails_with(1).warns("is being run by the terminal");
    let seat = format!("proposer={}", lab.seat("pro.json"));
    lab.debate(&["resume", &id, "--take-over", "--seat", &seat]).success();
    let stopped = first.wait();
    assert_eq!(stopped.code, Some(2), "{stopped:#?}");
    stopped.warns("has taken this debate over");
    whole(&lab, &id, 4);
}

#[test]
fn a_debate_is_watched_to_its_end() {
    let lab = Lab::new();
    let (text, end) = (speech("One file locks, it does.", "C1", &["P1"]), "### Verdict");
    let line = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    lab.write(&Script::new().first(line));
    let playing = lab.run("Watched?", &["--rounds", "1"]).start();
    let id = lab.challenged();
    let plain = lab.debate(&["watch"]).start();
    let json = lab.debate(&["watch", &id, "--json"]).start();
    assert_eq!(playing.wait().code, Some(0));
    let watched = plain.wait();
    assert_eq!(watched.code, Some(0), "{watched:#?}");
    watched.says(&["Challenger (script)", "One file locks, it does.", end]);
    watched.warns("plays it; `debate resume");
    watched.warns("Watched? (duel, in progress, round 1 of 1)");
    let lines = json.wait();
    assert_eq!(lines.code, Some(0), "{lines:#?}");
    let kinds: Vec<Value> = lines.lines().iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds.last(), Some(&json!("result")), "{kinds:?}");
    let facts: Vec<Value> = lines.lines().iter().map(|line| line["event"].clone()).collect();
    assert!(facts.contains(&json!("spoke")) && facts.contains(&json!("closed")), "{facts:?}");
    whole(&lab, &id, 4);
}

/// Deltas of a running turn are streamed to another process.
#[test]
fn words_are_watched_while_they_are_spoken() {
    let lab = Lab::new();
    let prose = "One file locks, and that is what all of this is about. ".repeat(12);
    let script = json!({"chars_per_second": 400, "turns": [
        {"phase": "propose", "text": speech("Use one.", "P1", &[])},
        {"phase": "challenge", "text": speech(&prose, "C1", &["P1"])},
        {"seat": "judge", "json": crate::lab::ruling("pro")}]});
    for name in ["pro.json", "contra.json"] {
        std::fs::write(lab.outside(name), script.to_string()).unwrap();
    }
    let playing = lab.run("Spoken?", &["--rounds", "1"]).start();
    let id = lab.challenged();
    let watching = lab.debate(&["watch", &id, "--json"]).start();
    let lines = watching.wait().lines();
    let deltas = lines.iter().filter(|line| line["kind"] == "delta").count();
    assert!(deltas > 0, "{lines:#?}");
    assert_eq!(playing.wait().code, Some(0));
}

#[test]
fn watching_ends_where_nobody_plays() {
    let lab = Lab::new();
    let (playing, id) = at_the_terminal(&lab);
    let watching = lab.debate(&["watch", &id]).start();
    playing.signal("KILL");
    let done = watching.wait();
    assert_eq!(done.code, Some(2), "{done:#?}");
    done.warns(&format!("Nobody plays it any more. Go on with: debate resume {id}"));
    lab.write(&Script::new());
    lab.run("Paused?", &["--pause"]).ends(2);
    let before = lab.events(&lab.last());
    lab.debate(&["watch", "last"])
        .ends(2)
        .warns("It waits for your word. Go on with: debate resume");
    assert_eq!(lab.events(&lab.last()), before, "watching writes nothing");
    lab.debate(&["resume", "last", "--yes"]).success();
    lab.debate(&["watch", "last"]).success().says(&["### Verdict"]);
    lab.debate(&["watch", "nonesuch"]).fails_with(2);
}

#[test]
fn stopping_a_watcher_does_not_stop_the_debate() {
    let lab = Lab::new();
    let (mut playing, id) = at_the_terminal(&lab);
    for signal in ["INT", "TERM"] {
        let mut watching = lab.debate(&["watch", &id]).start();
        watching.wait_for_stderr("Ctrl-C only stops watching");
        watching.signal(signal);
        let done = watching.wait();
        assert_eq!(done.code, Some(2), "{signal}: {done:#?}");
        done.warns("Stopped watching; the debate goes on.");
        assert!(!playing.is_over());
    }
    let shown = lab.debate(&["show", &id, "--json"]).success().json();
    assert_eq!(shown["holder"], format!("the terminal (process {})", playing.id()));
}
