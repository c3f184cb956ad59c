//! Rejected replies, which are asked for once more, and judges that contradict themselves when the
//! sides are swapped.
use super::test_env::{SeatScript, TestEnv, verdict_json};
use serde_json::{Value, json};

/// Script with the judge's first and second reply.
fn script_with_judge_attempts(first: Value, second: Value) -> SeatScript {
    let line = |attempt: u8, mut line: Value| {
        line["seat"] = "judge".into();
        line["attempt"] = attempt.into();
        line
    };
    // A line without an attempt number would match both.
    SeatScript::new().prepend(line(2, second)).prepend(line(1, first))
}

fn ruling_with(field: &str, value: impl Into<Value>) -> Value {
    let mut ruling = verdict_json("pro");
    ruling[field] = value.into();
    json!({ "json": ruling })
}

fn ruling_without(field: &str) -> Value {
    let mut ruling = verdict_json("pro");
    ruling.as_object_mut().unwrap().remove(field);
    json!({ "json": ruling })
}

/// Invalid verdicts, and the error message sent to the judge.
fn invalid_verdicts() -> Vec<(Value, &'static str)> {
    vec![
        (ruling_with("winner", Value::Null), "must pick a side"),
        (ruling_without("winner"), "must pick a side"),
        (ruling_with("winner", "tie"), "wrong_shape"),
        (ruling_with("reasoning", "Both approaches have merit."), "does not pick a side"),
        (ruling_with("reasoning", "BOTH  APPROACHES\nhave merit, T1."), "does not pick a side"),
        (ruling_with("reasoning", "两种方案各有千秋。"), "does not pick a side"),
        (ruling_with("recommendation", "Both approaches have merit."), "recommends nothing"),
        (ruling_with("recommendation", " "), "recommendation is empty"),
        (ruling_with("cites", json!([])), "must cite"),
        (ruling_with("cites", json!(["T9"])), "no turn"),
        (ruling_with("confidence", 7), "out_of_range"),
        (ruling_without("reasoning"), "wrong_shape"),
        (json!({"text": "Side A wins, clearly."}), "not_json"),
        (json!({"text": "{\"winner\": \"A\""}), "not_json"),
        (
            json!({"text": format!("{} and {}", verdict_json("pro"), verdict_json("con"))}),
            "not_alone",
        ),
        (json!({"text": format!("Here it is: {}", verdict_json("pro"))}), "not_json"),
    ]
}

#[test]
fn invalid_verdict_is_asked_for_once_more() {
    for (nth, (first, reason)) in invalid_verdicts().into_iter().enumerate() {
        let env = TestEnv::new();
        env.write_script(&script_with_judge_attempts(
            first.clone(),
            json!({"json": verdict_json("con")}),
        ));
        let output = env.debate_run("Who wins?", &["--rounds", "1"]).expect_success();
        output.assert_stdout_contains(&["challenger had the stronger argument because:"]);
        output.assert_stderr_contains("judge is asked once more");
        let id = env.latest_debate_id();
        let events = env.events(&id);
        let refusals: Vec<&Value> =
            events.iter().filter(|event| event["event"] == "refused").collect();
        assert_eq!(refusals.len(), 2, "both rulings: {first}");
        for event in refusals {
            let attempt = &event["attempt"];
            assert!(attempt["why"].as_str().unwrap().contains(reason), "{reason}: {attempt}");
            assert!(!attempt["text"].as_str().unwrap().is_empty(), "the rejected text is stored");
        }
        if nth == 0 {
            env.assert_replays(&id);
        }
    }
}

#[test]
fn second_invalid_verdict_fails_the_turn() {
    for (nth, (invalid, reason)) in invalid_verdicts().into_iter().enumerate() {
        let env = TestEnv::new();
        env.write_script(&script_with_judge_attempts(invalid.clone(), invalid.clone()));
        let output = env.debate_run("Who wins?", &["--rounds", "1"]).expect_exit_code(5);
        output.assert_stdout_contains(&["[WARN] No judge ruled", "reply", "nobody has won"]);
        assert!(env.state_file_json()["verdict"].is_null(), "{invalid}");
        let shown = env.debate(&["show", "--json"]).expect_success().json();
        let last_turn = shown["turns"].as_array().unwrap().last().unwrap().clone();
        assert!(last_turn["failure"].as_str().unwrap().contains(reason), "{last_turn}");
        assert!(last_turn["refused"].as_str().unwrap().contains(reason), "{last_turn}");
        if nth == 0 {
            env.assert_replays(&env.latest_debate_id());
        }
    }
}

#[test]
fn quoted_hedging_does_not_invalidate_a_verdict() {
    let env = TestEnv::new();
    let reasoning = "T1 says \"both approaches have merit\", and T2 shows that it is wrong.";
    env.write_script(&script_with_judge_attempts(
        ruling_with("reasoning", reasoning),
        json!({"json": verdict_json("con")}),
    ));
    let output = env.debate_run("Who wins?", &["--rounds", "1"]).expect_success();
    output.assert_stdout_contains(&["proposer had the stronger argument because: T1 says"]);
}

#[test]
fn verdict_in_a_code_fence_is_accepted() {
    let env = TestEnv::new();
    let fenced = format!("```json\n{}\n```", verdict_json("pro"));
    env.write_script(&script_with_judge_attempts(
        json!({ "text": fenced }),
        json!({"json": verdict_json("con")}),
    ));
    env.debate_run("Who wins?", &["--rounds", "1"])
        .expect_success()
        .assert_stdout_contains(&["proposer had the stronger"]);
    assert!(env.events(&env.latest_debate_id()).iter().all(|event| event["event"] != "refused"));
}

#[test]
fn challenge_without_claims_is_asked_for_once_more() {
    let empty = "Great point.\n\n```claims\n{\"claims\": []}\n```";
    let line = |attempt: u8, text: &str| json!({"seat": "challenger", "round": 1, "attempt": attempt, "text": text});
    let good = super::test_env::speech_with_claim("There is a flaw.", "C1", &["P1"]);
    let env = TestEnv::new();
    env.write_script(&SeatScript::new().prepend(line(1, empty)).prepend(line(2, &good)));
    env.debate_run("Flaw?", &["--rounds", "1"]).expect_success();
    assert_eq!(env.state_file_json()["exchanges"][1]["response"], "There is a flaw.");
    env.write_script(&SeatScript::new().prepend(line(1, empty)).prepend(line(2, empty)));
    let output = env.debate_run("Flaw?", &["--rounds", "1"]).expect_exit_code(5);
    output.assert_stdout_contains(&[
        "[WARN] Challenger failed. Showing proposer's uncontested position.",
    ]);
}

#[test]
fn contradictory_swapped_ruling_is_reported_as_contested() {
    // As seated it rules for the proposer. Swapped, it rules for the challenger by a larger margin.
    let mut swapped = verdict_json("con");
    swapped["scores"] = json!({"pro": 40, "con": 90});
    swapped["reasoning"] = "The lock was shown in T2.".into();
    // Round 2 answers every claim but the last, which is the challenger's.
    let env = TestEnv::new();
    env.write_script(&SeatScript::new().prepend(json!({"seat": "mirror", "json": swapped})));
    let output = env.debate_run("Contested?", &[]).expect_success();
    output.assert_stdout_contains(&[
        "had the stronger argument because:",
        "Decided: tie-break:",
        "Contested: it depends on the order in which the sides were shown",
        "- sides as seated: for proposer (",
        "). It was shown in T1",
        "- sides swapped: for challenger (40 to 90, margin 50). The lock was shown in T2.",
    ]);
    let shown = env.debate(&["show", "--json"]).expect_success().json();
    let verdict = &shown["verdict"];
    assert_eq!(verdict["contested"], true);
    assert!(verdict["decided"].as_str().unwrap().starts_with("tie-break: "));
    let rulings = verdict["rulings"].as_array().unwrap();
    let picks: Vec<_> = rulings.iter().map(|r| (&r["seat"], &r["swapped"], &r["winner"])).collect();
    assert_eq!(json!(picks), json!([["judge", false, "proposer"], ["mirror", true, "challenger"]]));
    assert_eq!(env.state_file_json()["verdict"]["contested"], true);
    env.assert_replays(&env.latest_debate_id());
}

/// `A` and `B` refer to the order in which each judge saw the sides. The mirror sees them swapped.
#[test]
fn side_letters_are_resolved_per_judge() {
    let lettered_ruling = |winner: &str| {
        let mut ruling = verdict_json(winner);
        let loser = if winner == "A" { "B" } else { "A" };
        ruling["scores"] = json!({winner: 20, loser: 1});
        ruling["reasoning"] = "Side A was vague; Side B was not (T2).".into();
        ruling["disagreements"] = json!([{"point": "locks", "A": "first", "B": "second"}]);
        ruling
    };
    let env = TestEnv::new();
    let script = SeatScript::new().prepend(json!({"seat": "judge", "json": lettered_ruling("B")}));
    env.write_script(&script.prepend(json!({"seat": "mirror", "json": lettered_ruling("A")})));
    let output = env.debate_run("Letters?", &["--rounds", "1"]).expect_success();
    output.assert_stdout_contains(&[
        "challenger had the stronger argument because: the proposer was vague; the challenger",
        "Decided: both rulings, with the sides swapped, agree.",
    ]);
}

#[test]
fn only_side_labels_are_replaced_in_reasoning() {
    let mut verdict = verdict_json("con");
    verdict["reasoning"] = "Side Bets and Side Alleys were left out; Side B kept to T2.".into();
    let env = TestEnv::new();
    env.write_script(&SeatScript::new().prepend(json!({"seat": "judge", "json": verdict})));
    let output = env.debate_run("Bets?", &["--rounds", "1"]).expect_success();
    output.assert_stdout_contains(&[
        "because: Side Bets and Side Alleys were left out; the challenger kept to T2.",
    ]);
}
