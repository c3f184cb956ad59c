//! Rejected replies, which are asked for once more, and judges that contradict themselves when the
//! sides are swapped.
use super::lab::{Lab, Script, ruling};
use serde_json::{Value, json};

/// Script with the judge's first and second reply.
fn judged(first: Value, second: Value) -> Script {
    let line = |attempt: u8, mut line: Value| {
        line["seat"] = "judge".into();
        line["attempt"] = attempt.into();
        line
    };
    // A line without an attempt number would match both.
    Script::new().first(line(2, second)).first(line(1, first))
}

fn with(field: &str, value: impl Into<Value>) -> Value {
    let mut ruling = ruling("pro");
    ruling[field] = value.into();
    json!({ "json": ruling })
}

fn without(field: &str) -> Value {
    let mut ruling = ruling("pro");
    ruling.as_object_mut().unwrap().remove(field);
    json!({ "json": ruling })
}

/// Invalid verdicts, and the error that the judge is told.
fn bad() -> Vec<(Value, &'static str)> {
    vec![
        (with("winner", Value::Null), "must pick a side"),
        (without("winner"), "must pick a side"),
        (with("winner", "tie"), "wrong_shape"),
        (with("reasoning", "Both approaches have merit."), "does not pick a side"),
        (with("reasoning", "BOTH  APPROACHES\nhave merit, T1."), "does not pick a side"),
        (with("reasoning", "两种方案各有千秋。"), "does not pick a side"),
        (with("recommendation", "Both approaches have merit."), "recommends nothing"),
        (with("recommendation", " "), "recommendation is empty"),
        (with("cites", json!([])), "must cite"),
        (with("cites", json!(["T9"])), "no turn"),
        (with("confidence", 7), "out_of_range"),
        (without("reasoning"), "wrong_shape"),
        (json!({"text": "Side A wins, clearly."}), "not_json"),
        (json!({"text": "{\"winner\": \"A\""}), "not_json"),
        (json!({"text": format!("{} and {}", ruling("pro"), ruling("con"))}), "not_alone"),
        (json!({"text": format!("Here it is: {}", ruling("pro"))}), "not_json"),
    ]
}

#[test]
fn a_verdict_that_is_none_is_asked_for_once_more() {
    for (nth, (first, why)) in bad().into_iter().enumerate() {
        let lab = Lab::new();
        lab.write(&judged(first.clone(), json!({"json": ruling("con")})));
        let done = lab.run("Who wins?", &["--rounds", "1"]).success();
        done.says(&["challenger had the stronger argument because:"]);
        done.warns("judge is asked once more");
        let id = lab.last();
        let events = lab.events(&id);
        let refused: Vec<&Value> =
            events.iter().filter(|event| event["event"] == "refused").collect();
        assert_eq!(refused.len(), 2, "both rulings: {first}");
        for event in refused {
            let attempt = &event["attempt"];
            assert!(attempt["why"].as_str().unwrap().contains(why), "{why}: {attempt}");
            assert!(!attempt["text"].as_str().unwrap().is_empty(), "what came is kept");
        }
        if nth == 0 {
            lab.replays(&id);
        }
    }
}

#[test]
fn a_verdict_that_is_none_twice_is_a_failed_turn() {
    for (nth, (bad, why)) in bad().into_iter().enumerate() {
        let lab = Lab::new();
        lab.write(&judged(bad.clone(), bad.clone()));
        let done = lab.run("Who wins?", &["--rounds", "1"]).ends(5);
        done.says(&["[WARN] No judge ruled", "reply", "nobody has won"]);
        assert!(lab.state()["verdict"].is_null(), "{bad}");
        let shown = lab.debate(&["show", "--json"]).success().json();
        let last = shown["turns"].as_array().unwrap().last().unwrap().clone();
        assert!(last["failure"].as_str().unwrap().contains(why), "{last}");
        assert!(last["refused"].as_str().unwrap().contains(why), "{last}");
        if nth == 0 {
            lab.replays(&lab.last());
        }
    }
}

#[test]
fn what_is_quoted_is_not_what_is_ruled() {
    let lab = Lab::new();
    let because = "T1 says \"both approaches have merit\", and T2 shows that it is wrong.";
    lab.write(&judged(with("reasoning", because), json!({"json": ruling("con")})));
    let done = lab.run("Who wins?", &["--rounds", "1"]).success();
    done.says(&["proposer had the stronger argument because: T1 says"]);
}

#[test]
fn a_verdict_in_a_fence_is_a_verdict() {
    let lab = Lab::new();
    let fenced = format!("```json\n{}\n```", ruling("pro"));
    lab.write(&judged(json!({ "text": fenced }), json!({"json": ruling("con")})));
    lab.run("Who wins?", &["--rounds", "1"]).success().says(&["proposer had the stronger"]);
    assert!(lab.events(&lab.last()).iter().all(|event| event["event"] != "refused"));
}

#[test]
fn a_challenge_without_a_flaw_is_asked_for_once_more() {
    let empty = "Great point.\n\n```claims\n{\"claims\": []}\n```";
    let line = |attempt: u8, text: &str| json!({"seat": "challenger", "round": 1, "attempt": attempt, "text": text});
    let good = super::lab::speech("There is a flaw.", "C1", &["P1"]);
    let lab = Lab::new();
    lab.write(&Script::new().first(line(1, empty)).first(line(2, &good)));
    lab.run("Flaw?", &["--rounds", "1"]).success();
    assert_eq!(lab.state()["exchanges"][1]["response"], "There is a flaw.");
    lab.write(&Script::new().first(line(1, empty)).first(line(2, empty)));
    let done = lab.run("Flaw?", &["--rounds", "1"]).ends(5);
    done.says(&["[WARN] Challenger failed. Showing proposer's uncontested position."]);
}

#[test]
fn a_judge_that_sees_it_otherwise_with_the_sides_swapped_is_told_of() {
    // As seated it rules for the proposer. Swapped, it rules for the challenger by a larger margin.
    let mut swapped = ruling("con");
    swapped["scores"] = json!({"pro": 40, "con": 90});
    swapped["reasoning"] = "The lock was shown in T2.".into();
    // Round 2 answers every claim but the last, which is the challenger's.
    let lab = Lab::new();
    lab.write(&Script::new().first(json!({"seat": "mirror", "json": swapped})));
    let done = lab.run("Contested?", &[]).success();
    done.says(&[
        "had the stronger argument because:",
        "Decided: tie-break:",
        "Contested: it depends on the order in which the sides were shown",
        "- sides as seated: for proposer (",
        "). It was shown in T1",
        "- sides swapped: for challenger (40 to 90, margin 50). The lock was shown in T2.",
    ]);
    let shown = lab.debate(&["show", "--json"]).success().json();
    let verdict = &shown["verdict"];
    assert_eq!(verdict["contested"], true);
    assert!(verdict["decided"].as_str().unwrap().starts_with("tie-break: "));
    let rulings = verdict["rulings"].as_array().unwrap();
    let picks: Vec<_> = rulings.iter().map(|r| (&r["seat"], &r["swapped"], &r["winner"])).collect();
    assert_eq!(json!(picks), json!([["judge", false, "proposer"], ["mirror", true, "challenger"]]));
    assert_eq!(lab.state()["verdict"]["contested"], true);
    lab.replays(&lab.last());
}

/// `A` and `B` refer to the order in which each judge saw the sides. The mirror sees them swapped.
#[test]
fn letters_mean_what_each_judge_was_shown() {
    let letters = |winner: &str| {
        let mut ruling = ruling(winner);
        let other = if winner == "A" { "B" } else { "A" };
        ruling["scores"] = json!({winner: 20, other: 1});
        ruling["reasoning"] = "Side A was vague; Side B was not (T2).".into();
        ruling["disagreements"] = json!([{"point": "locks", "A": "first", "B": "second"}]);
        ruling
    };
    let lab = Lab::new();
    let script = Script::new().first(json!({"seat": "judge", "json": letters("B")}));
    lab.write(&script.first(json!({"seat": "mirror", "json": letters("A")})));
    let done = lab.run("Letters?", &["--rounds", "1"]).success();
    done.says(&[
        "challenger had the stronger argument because: the proposer was vague; the challenger",
        "Decided: both rulings, with the sides swapped, agree.",
    ]);
}

#[test]
fn only_the_names_of_the_sides_are_given_back() {
    let mut odd = ruling("con");
    odd["reasoning"] = "Side Bets and Side Alleys were left out; Side B kept to T2.".into();
    let lab = Lab::new();
    lab.write(&Script::new().first(json!({"seat": "judge", "json": odd})));
    let done = lab.run("Bets?", &["--rounds", "1"]).success();
    done.says(&["because: Side Bets and Side Alleys were left out; the challenger kept to T2."]);
}
