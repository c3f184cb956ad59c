//! Judging of arena debates end to end: an unavailable judge, wrong rubric sums and an exceeded
//! budget.
use crate::arena_harness::{ArenaProcess, judge_reply, long_speech};
use crate::test_env::{SeatScript, TestEnv};
use serde_json::{Value, json};

#[test]
fn unavailable_judge_leaves_the_debate_unjudged() {
    let env = TestEnv::new();
    env.write_script(
        &SeatScript::empty().prepend(json!({"phase": "judge", "fail": "not_logged_in"})),
    );
    let judge = env.script_seat("pro.json");
    let arena = ArenaProcess::start(&env, &["--judge", &judge]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let result = &arena.wait_for_state(&pro, "ended")["debate_result"];
    assert_eq!((&result["winner"], &result["supporting_score"]), (&Value::Null, &Value::Null));
    assert!(
        result["summary"].as_str().unwrap().starts_with("Not judged: the judge did not answer"),
        "{result}"
    );
}

#[test]
fn judge_scores_must_match_the_rubric_sum() {
    let env = TestEnv::new();
    let mut wrong_sum = judge_reply("pro");
    wrong_sum["scores"] = json!({"pro": 90, "con": 10});
    let script = SeatScript::empty()
        .prepend(json!({"phase": "judge", "json": judge_reply("pro")}))
        .prepend(json!({"phase": "judge", "attempt": 1, "json": wrong_sum}));
    env.write_script(&script);
    let judge = env.script_seat("pro.json");
    let arena = ArenaProcess::start(&env, &["--judge", &judge]);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["debate_result"]["supporting_score"], 82);
    let archive_id = arena.get("/api/debates").body["debates"][0]["archive_id"].clone();
    let events = env.events(archive_id.as_str().unwrap());
    let refusal_count = events.iter().filter(|event| event["event"] == "refused").count();
    assert_eq!(refusal_count, 2, "once by the judge, once by its mirror");
}

/// A judge that exceeds the budget ends the debate instead of leaving it open.
#[test]
fn judge_over_budget_ends_the_debate() {
    let env = TestEnv::new();
    let script = SeatScript::empty()
        .prepend(json!({"phase": "judge", "json": judge_reply("pro"), "cost": 5.0}));
    env.write_script(&script);
    let judge = env.script_seat("pro.json");
    let listener = format!("risk-averse={judge}");
    let args = ["--judge", &judge, "--audience", &listener, "--max-cost", "1"];
    let arena = ArenaProcess::start(&env, &args);
    let (pro, con) = arena.join_pair("Tabs or spaces?", 1);
    arena.speak(&pro, &long_speech("for"));
    arena.speak(&con, &long_speech("against"));
    let ended = arena.wait_for_state(&pro, "ended");
    assert_eq!(ended["end_reason"], "budget");
    assert_eq!(ended["debate_result"]["winner"], pro.identifier.as_str(), "the ruling counts");
}
