//! Idempotency of tool calls: a retried call never becomes the next speech, no matter how often it
//! is repeated, concurrently or from several processes.
use crate::host::{due, result, ruling};
use crate::lab::{Lab, Script, speech, until};
use serde_json::{Value, json};

fn id(stands: &Value) -> String {
    stands["debate_id"].as_str().unwrap().to_owned()
}

/// Asserts that this many turns were recorded, each once.
#[track_caller]
fn once(lab: &Lab, id: &str, turns: usize) {
    let taken = lab.turns_taken(id);
    assert_eq!(taken.len(), turns, "{taken:?}");
    assert!(taken.values().all(|times| *times == 1), "{taken:?}");
}

/// Arguments for a debate of three rounds between scripts, with this scripted turn first.
fn others(lab: &Lab, line: Value) -> Value {
    lab.write(&Script::new().first(line));
    json!({"topic": "One file?", "rounds": 3, "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json"), "judge": lab.seat("pro.json")})
}

/// A scripted opening speech with a delay.
fn slow(millis: u64) -> Value {
    json!({"phase": "propose", "text": speech("Use one file.", "P1", &[]), "delay_ms": millis})
}

/// Starts a debate whose first speech is still running.
#[track_caller]
fn under_way(lab: &Lab, host: &mut crate::host::Host, millis: u64) -> String {
    let mut arguments = others(lab, slow(millis));
    arguments["wait_seconds"] = json!(0);
    let stands = host.call("start_debate", arguments);
    assert_eq!(stands["status"], "running", "{stands:#}");
    assert_eq!(stands["pending"], json!(["0.1.0.0 Proposer (script)"]));
    id(&stands)
}

fn with(mut call: Value, name: &str, value: Value) -> Value {
    call[name] = value;
    call
}

/// Every call of a debate is repeated after every later one, and from another process after the
/// end. It returns the current status and changes nothing.
#[test]
fn every_call_can_be_made_again_at_any_later_time() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut stands = host.alone(json!({}));
    let debate = id(&stands);
    let mut made: Vec<(&str, Value)> = vec![];
    while let Some(call) = due(&stands) {
        stands = host.call(call.0, call.1.clone());
        made.push(call);
        let log = lab.events(&debate);
        for (tool, arguments) in &made {
            assert_eq!(host.call(tool, arguments.clone()), stands, "{tool} {arguments}");
        }
        assert_eq!(lab.events(&debate), log, "after {} calls", made.len());
    }
    assert_eq!((made.len(), &stands["status"]), (6, &json!("completed")));
    let log = lab.events(&debate);
    let mut other = lab.host_called("opencode");
    for (tool, arguments) in &made {
        assert_eq!(other.call(tool, arguments.clone()), stands, "{tool} {arguments}");
    }
    assert_eq!(lab.events(&debate), log);
    once(&lab, &debate, 5);
}

#[test]
fn a_turn_that_was_taken_is_not_taken_with_other_words() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut stands = host.alone(json!({"rounds": 1}));
    let debate = id(&stands);
    let mut made: Vec<(&str, Value)> = vec![];
    while let Some((tool, arguments)) = due(&stands) {
        stands = host.call(tool, arguments.clone());
        let changed = match tool {
            "verdict" => {
                let other = with(ruling(), "reasoning", "It was T2 that was never shown.".into());
                with(arguments, "ruling", other)
            }
            _ => with(arguments, "speech", speech("Use two files.", "X1", &["P1"]).into()),
        };
        made.push((tool, changed));
        let log = lab.events(&debate);
        for (tool, changed) in &made {
            let error = host.fails(tool, changed.clone());
            let turn = changed["turn"].as_str().unwrap();
            assert!(error.contains(&format!("turn {turn} was taken already")), "{error}");
            let next = error.lines().last().unwrap();
            assert!(next.contains(&format!("\"part\":\"{turn}\"")), "it can be read: {error}");
        }
        assert_eq!(lab.events(&debate), log);
    }
    assert_eq!(stands["status"], "completed");
    let mut other = lab.host();
    let log = lab.events(&debate);
    for (tool, changed) in made {
        assert!(other.fails(tool, changed).contains("was taken already"));
    }
    assert_eq!(lab.events(&debate), log);
}

/// A speech without a turn id, with an unknown one, one that is not due, or one of another seat is
/// refused, and the error names the turn that is due.
#[test]
fn only_the_turn_that_is_due_is_taken() {
    let lab = Lab::new();
    let mut host = lab.host();
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let stands = host.alone(json!({"challenger": con, "judge": judge}));
    let debate = id(&stands);
    let log = lab.events(&debate);
    let speech = speech("Use one file.", "P1", &[]);
    let summarize = format!("summarize {{\"debate_id\":\"{debate}\"}}");
    let on = format!("continue_round {{\"debate_id\":\"{debate}\"}}");
    for (turn, why, next) in [
        (json!(null), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!(""), "`turn` is missing", "`0.1.0.0` (Proposer)"),
        (json!("first"), "`first` names no turn", summarize.as_str()),
        (json!("0.1.0"), "names no turn", &summarize),
        (json!("0.1.9.0"), "names no turn", &summarize),
        (json!("9.1.0.0"), "names no turn", &summarize),
        (json!("0.1.0.99"), "names no turn", &summarize),
        (json!("0.1.0.0+x"), "names no turn", &summarize),
        (json!("0.1.0.0+1"), "is not due now", "`0.1.0.0` (Proposer)"),
        (json!("1.2.0.0"), "turn 1.2.0.0 is not due now", "`0.1.0.0` (Proposer)"),
        (json!("0.1.1.1"), "Challenger is played by script", &on),
    ] {
        let arguments = json!({"turn": turn, "speech": speech});
        let error = host.fails("continue_round", arguments);
        let (said, told) = error.split_once("\nNext: ").unwrap();
        assert!(said.contains(why), "{turn}: {error}");
        assert!(told.contains(next), "{turn}: {error}");
        assert_eq!(lab.events(&debate), log, "{turn}");
    }
    let error = host.fails("verdict", json!({"turn": "0.1.0.0", "ruling": ruling()}));
    assert!(error.contains("turn 0.1.0.0 asks for a speech"), "{error}");
    assert_eq!(lab.events(&debate), log);
    let stands = host.call("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert_eq!(stands["status"], "paused");
}

/// The error says why the speech was refused, and the same turn accepts a corrected one.
#[test]
fn a_refused_speech_can_be_mended() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.alone(json!({"rounds": 1}));
    let debate = id(&first);
    let (tool, arguments) = due(&first).unwrap();
    let second = host.call(tool, arguments);
    let log = lab.events(&debate);
    let block = |claims: &str| format!("I agree.\n\n```claims\n{claims}\n```\n");
    let quoted = json!({"claims": [{"id": "C1", "text": "It locks.", "evidence": ["a test"],
        "answers": ["P1"]}], "concedes": [{"claim": "P1", "quote": "never said"}], "resolves": []});
    for (speech, why) in [
        (block("{\"claims\": [], \"concedes\": [], \"resolves\": []}"), "no flaw"),
        (block(&quoted.to_string()), "the concession of `P1` does not quote"),
    ] {
        let error = host.fails("continue_round", json!({"turn": "0.1.1.1", "speech": speech}));
        assert!(error.contains("turn 0.1.1.1 was not taken") && error.contains(why), "{error}");
        let again = "\"turn\":\"0.1.1.1\",\"speech\":\"...\"}";
        assert!(error.contains("mend it: continue_round {") && error.ends_with(again), "{error}");
        assert_eq!(lab.events(&debate), log);
        assert_eq!(host.call("continue_round", json!({})), second, "it is still asked for");
    }
    let (tool, mended) = due(&second).unwrap();
    assert_eq!(mended["turn"], "0.1.1.1");
    assert_eq!(host.call(tool, mended)["due"]["role"], "Judge");
}

/// The error says why the ruling was refused, and the same turn accepts a corrected one.
#[test]
fn a_refused_ruling_can_be_mended() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut stands = host.alone(json!({"rounds": 1}));
    while stands["due"]["role"] != "Judge" {
        let (tool, arguments) = due(&stands).unwrap();
        stands = host.call(tool, arguments);
    }
    let (debate, turn) = (id(&stands), stands["due"]["turn"].clone());
    let log = lab.events(&debate);
    for (bad, why) in [
        (with(ruling(), "cites", json!(["T99"])), "T99"),
        (with(ruling(), "cites", json!([])), "must cite"),
        (with(ruling(), "winner", "both".into()), "both"),
        (with(ruling(), "recommendation", "".into()), "the recommendation is empty"),
        (json!("{\"winner\": \"A\", "), ""),
        (json!("A wins."), ""),
        (json!({}), ""),
        (json!([ruling()]), ""),
    ] {
        let error = host.fails("verdict", json!({"turn": turn, "ruling": bad}));
        assert!(error.contains("was not taken: ") && error.contains(why), "{bad}: {error}");
        let again = format!("\"turn\":{turn},\"ruling\":{{...}}}}");
        assert!(error.contains("mend it: verdict {") && error.ends_with(&again), "{bad}: {error}");
        assert_eq!(lab.events(&debate), log, "{bad}");
    }
    let (tool, mended) = due(&stands).unwrap();
    let ruled = host.call(tool, mended.clone());
    assert_eq!(ruled["status"], "completed");
    // The same ruling, serialized as a string, counts as a repetition.
    let text = with(mended.clone(), "ruling", mended["ruling"].to_string().into());
    assert_eq!(host.call("verdict", text), ruled);
    once(&lab, &debate, 3);
}

/// A retried remark of the last round is not recorded as the user's decision on the debate.
#[test]
fn a_remark_made_again_after_the_end_is_no_decision() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.call("start_debate", with(others(&lab, slow(0)), "rounds", json!(2)));
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let last = host.call("continue_round", remark.clone());
    assert_eq!(last["status"], "completed");
    let log = lab.events(&id(&first));
    assert_eq!(host.call("continue_round", remark), last);
    assert_eq!(lab.events(&id(&first)), log);
}

#[test]
fn remarks_that_come_at_once_are_made_once() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.call("start_debate", others(&lab, slow(0)));
    let remark = json!({"turn": first["due"]["turn"], "say": "Think of backups."});
    let waiting: Vec<u64> = (0..5).map(|_| host.begin("continue_round", remark.clone())).collect();
    for id in waiting {
        assert_eq!(result(&host.answer(id))["round"], 2);
    }
    let log = lab.events(&id(&first));
    assert_eq!(log.iter().filter(|it| it["event"] == "interjected").count(), 1);
    once(&lab, &id(&first), 4);
}

/// Parse errors of a ruling name the field and are not cut off inside a code span.
#[test]
fn a_refused_ruling_says_what_to_mend() {
    let lab = Lab::new();
    let mut host = lab.host();
    let stands = host.alone(json!({"rounds": 1}));
    let (tool, arguments) = due(&stands).unwrap();
    host.call(tool, arguments);
    let stands = host.call("continue_round", json!({"decision": "end"}));
    let mut wrong = vec![];
    for (name, value) in [
        ("winner", json!("both")),
        ("confidence", json!("high")),
        ("reasoning", json!(7)),
        ("cites", json!("T1")),
    ] {
        let bad = with(ruling(), name, value);
        let error = host.fails("verdict", json!({"turn": stands["due"]["turn"], "ruling": bad}));
        let ticks = error.lines().next().unwrap().matches('`').count();
        if !error.contains(&format!("`{name}`")) || !ticks.is_multiple_of(2) {
            wrong.push(format!("{name}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_round_named_by_its_turn_begins_once() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.call("start_debate", others(&lab, slow(0)));
    let hold = json!({"turn": first["due"]["turn"]});
    let second = host.call("continue_round", hold.clone());
    assert_eq!((&second["status"], &second["round"]), (&json!("paused"), &json!(2)));
    assert_eq!(host.call("continue_round", hold.clone()), second);
    let continued = with(hold.clone(), "decision", "continue".into());
    assert_eq!(host.call("continue_round", continued), second);
    // A new client also gets a note on the status of the debate.
    let told = lab.host().call("continue_round", hold.clone());
    assert!(told["notes"].to_string().contains("as it stood: One file?"), "{told:#}");
    assert_eq!(with(told, "notes", second["notes"].clone()), second);
    once(&lab, &id(&first), 4);
    let last = host.call("continue_round", json!({"turn": second["due"]["turn"]}));
    assert_eq!(last["status"], "completed");
    assert_eq!(host.call("continue_round", hold), last);
}

#[test]
fn a_call_while_a_round_runs_waits_for_it() {
    let lab = Lab::new();
    let mut host = lab.host();
    let debate = under_way(&lab, &mut host, 700);
    let again = host.call("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(again["status"], "running");
    assert_eq!(again["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert!(again["next"].as_str().unwrap().contains("nothing is spent twice"));
    let paused = host.call("continue_round", json!({}));
    assert_eq!((&paused["status"], &paused["round"]), (&json!("paused"), &json!(1)));
    once(&lab, &debate, 2);
}

/// Concurrent calls all wait for the same run.
#[test]
fn many_calls_at_once_take_every_turn_once() {
    let lab = Lab::new();
    let mut host = lab.host();
    let debate = under_way(&lab, &mut host, 500);
    let waiting: Vec<u64> = (0..6).map(|_| host.begin("continue_round", json!({}))).collect();
    let stands: Vec<Value> = waiting.into_iter().map(|id| result(&host.answer(id))).collect();
    assert_eq!(stands[0]["status"], "paused");
    assert!(stands.iter().all(|other| *other == stands[0]), "{stands:#?}");
    once(&lab, &debate, 2);
    // All of them continue the same round.
    let hold = json!({"turn": stands[0]["due"]["turn"]});
    let waiting: Vec<u64> = (0..6).map(|_| host.begin("continue_round", hold.clone())).collect();
    for id in waiting {
        let stands = result(&host.answer(id));
        assert_eq!((&stands["status"], &stands["round"]), (&json!("paused"), &json!(2)));
    }
    once(&lab, &debate, 4);
    lab.replays(&debate);
}

/// Identical concurrent speeches are one. Of two different ones, one is refused.
#[test]
fn speeches_that_come_at_once_are_taken_once() {
    let lab = Lab::new();
    let mut host = lab.host();
    let first = host.alone(json!({}));
    let (tool, arguments) = due(&first).unwrap();
    let waiting: Vec<u64> = (0..5).map(|_| host.begin(tool, arguments.clone())).collect();
    let mut stands = Value::Null;
    for id in waiting {
        stands = result(&host.answer(id));
        assert_eq!(stands["due"]["turn"], "0.1.1.1");
    }
    let (tool, one) = due(&stands).unwrap();
    let other = with(one.clone(), "speech", speech("Two are slow.", "X1", &["P1"]).into());
    let both = [host.begin(tool, one), host.begin(tool, other)];
    let answers = both.map(|id| host.answer(id));
    let errors = answers.iter().filter(|answer| answer["result"]["isError"] == true).count();
    assert_eq!(errors, 1, "{answers:#?}");
    once(&lab, &id(&first), 2);
}

/// A second process follows the run of the first one, and both return the same result.
#[test]
fn another_process_watches_a_round_under_way() {
    let lab = Lab::new();
    let (mut one, mut other) = (lab.host(), lab.host_called("opencode"));
    let debate = under_way(&lab, &mut one, 1_200);
    let seen = other.call("continue_round", json!({"wait_seconds": 0}));
    assert_eq!(seen["status"], "running", "{seen:#}");
    assert_eq!(seen["pending"], json!(["0.1.0.0 Proposer (script)"]));
    assert_eq!(other.call("summarize", json!({}))["status"], "running");
    let waiting = one.begin("continue_round", json!({}));
    let watched = other.call("continue_round", json!({}));
    assert_eq!(watched["status"], "paused");
    assert_eq!(result(&one.answer(waiting)), watched);
    once(&lab, &debate, 2);
    // Both continue the next round. It is played once.
    let hold = json!({"turn": watched["due"]["turn"]});
    let both = [one.begin("continue_round", hold.clone()), other.begin("continue_round", hold)];
    let both = [result(&one.answer(both[0])), result(&other.answer(both[1]))];
    assert!(both.iter().all(|stands| stands["status"] == "paused" && stands["round"] == 2));
    once(&lab, &debate, 4);
    lab.replays(&debate);
}

/// A remark from another process is queued for the holder of the lease. If no turn ends in time,
/// the error says what to do, and the remark can be repeated later.
#[test]
fn another_process_may_remark_between_turns() {
    let lab = Lab::new();
    let (mut one, mut other) = (lab.host(), lab.host());
    let debate = under_way(&lab, &mut one, 60_000);
    let log = lab.events(&debate);
    let error = other.fails("continue_round", json!({"say": "Think of backups."}));
    assert!(error.contains("is being run by claude-code 1 (process "), "{error}");
    let next = error.split_once("\nNext: ").unwrap().1;
    assert!(next.contains("watches it") && next.contains("\"decision\":\"take_over\""), "{error}");
    assert!(next.contains("call again in a few seconds"), "{error}");
    assert_eq!(lab.events(&debate), log);
    one.running().signal("KILL");
    until("it is gone", || one.running().is_over());
    lab.write(&Script::new());
    let stands = other.call("continue_round", json!({"say": "Think of backups."}));
    assert_eq!(stands["status"], "paused");
    let remarks = lab.events(&debate);
    let remarks: Vec<_> = remarks.iter().filter(|it| it["event"] == "interjected").collect();
    assert_eq!(remarks.len(), 1, "{remarks:#?}");
    once(&lab, &debate, 2);
}

#[test]
fn what_a_killed_server_left_is_finished() {
    let lab = Lab::new();
    let mut killed = lab.host();
    let debate = under_way(&lab, &mut killed, 60_000);
    killed.running().signal("KILL");
    until("it is gone", || killed.running().is_over());
    lab.write(&Script::new());
    let mut host = lab.host();
    let left = host.call("summarize", json!({}));
    assert_eq!((&left["debate_id"], &left["status"]), (&json!(debate), &json!("interrupted")));
    assert!(left["next"].as_str().unwrap().contains("takes it up again"), "{left:#}");
    let found = host.call("list_debates", json!({"status": "unfinished"}));
    assert_eq!(found["debates"][0]["debate_id"], json!(debate));
    let stands = host.call("continue_round", json!({"turn": "0.1.0.0"}));
    let stands = host.play_on(stands);
    assert_eq!(stands["status"], "completed");
    // Three rounds with two speeches each, one summary, and two rulings.
    once(&lab, &debate, 9);
    lab.replays(&debate);
}
