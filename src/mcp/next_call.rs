//! The next call that every result suggests. Following the suggestions always ends the debate.
use super::error::format_call;
use super::status::{awaits_plan_confirmation, turn_id};
use crate::debate::{
    Debate, DebateOutcome, Participant, PauseReason, ReplyKind, Role, Rounds, Step,
};

/// Calls that are left after the end: show, retry, record the user's decision, keep or discard.
fn next_calls_after_end(debate: &Debate) -> String {
    let id = &debate.setup().id;
    let mut steps = vec![];
    if debate.outcome() == Some(&DebateOutcome::Cancelled) {
        steps.push(format!(
            "it was cancelled; {} shows what was said",
            format_call("show_debate", id, "")
        ));
    } else {
        let reported = debate.find_seat(Role::Advocate).is_some();
        let part = if reported { "\"part\":\"report\"" } else { "" };
        let all = format_call("show_debate", id, part);
        steps.push(format!("tell the user the result; {all} has all of it"));
    }
    if debate.failed_turns().next().is_some() {
        let retry = format_call("continue_round", id, "\"decision\":\"retry\"");
        steps.push(format!("{retry} takes the failed turn again"));
    }
    if debate.decision().is_none() {
        let say = format_call("continue_round", id, "\"say\":\"...\"");
        steps.push(format!("{say} records what the user decides"));
    }
    if debate.keep_record().is_none() {
        let keep = format_call("continue_round", id, "\"decision\":\"keep\"");
        steps.push(format!("{keep} (or discard) settles whether the record stays"));
    }
    steps.join("; ")
}

/// Calls when the budget is spent: raise the limit, or end the debate.
pub(super) fn next_call_over_budget(debate: &Debate) -> String {
    let id = &debate.setup().id;
    let (budget, spent) = (debate.budget(), debate.spent());
    let mut more = vec![];
    if budget.cost.is_some_and(|most| spent.cost >= most) {
        let enough = (spent.cost as f64 / 5e5).max(1.0);
        more.push(format!("max_cost={enough:.2}"));
    }
    if budget.tokens.is_some_and(|most| spent.tokens >= most) {
        more.push(format!("max_tokens={}", (2 * spent.tokens).max(100_000)));
    }
    if budget.milliseconds.is_some_and(|most| spent.milliseconds >= most) {
        more.push(format!("max_minutes={}", 2 * (spent.milliseconds / 60_000) + 10));
    }
    let more = format!("\"decision\":\"change\",\"say\":\"{}\"", more.join(", "));
    let on = format_call("continue_round", id, &more);
    let end = if debate.replies_in(..).next().is_some() {
        format!("{} rules with what there is", format_call("verdict", id, ""))
    } else {
        format!("{} stops it", format_call("continue_round", id, "\"decision\":\"cancel\""))
    };
    format!("if the user allows more, in all: {on}; else {end}")
}

/// The call that continues the debate.
pub(super) fn next_call(debate: &Debate, step: &Step, running: bool) -> String {
    let id = &debate.setup().id;
    if debate.outcome().is_some() {
        return next_calls_after_end(debate);
    }
    let turn = step.first_cue().map(|cue| turn_id(debate, cue)).unwrap_or_default();
    let turn = format!("\"turn\":\"{turn}\"");
    match step {
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            next_call_over_budget(debate)
        }
        Step::Hold { .. } if awaits_plan_confirmation(debate) => {
            let (yes, other, no) = (
                "\"decision\":\"confirm\"",
                if debate.find_seat(Role::Advocate).is_some() {
                    "\"decision\":\"change\",\"say\":\"goal=..., evidence_round=on\""
                } else {
                    "\"decision\":\"change\",\"say\":\"rounds=3\""
                },
                "\"decision\":\"cancel\"",
            );
            let calls = [yes, other, no].map(|more| format_call("continue_round", id, more));
            format!("when the user has answered: {}", calls.join(" or "))
        }
        Step::Hold { .. } if debate.is_held() => {
            let yes = format_call("continue_round", id, "\"decision\":\"continue\"");
            format!(
                "if the user wants to go on: {yes}; {} rules now",
                format_call("verdict", id, "")
            )
        }
        Step::Hold { next, .. } if debate.setup().act(*next).rounds == Rounds::Open => {
            let on = format_call("continue_round", id, &turn);
            let with = |more: &str| format_call("continue_round", id, more);
            format!(
                "{on} goes on with round {} (add \"say\" for the user's remark); {} or {} turns it; {} \
                 sums up and ends it",
                next.round,
                with("\"decision\":\"deepen\",\"say\":\"...\""),
                with("\"decision\":\"steer\",\"say\":\"...\""),
                with("\"decision\":\"end\"")
            )
        }
        Step::Hold { next, .. } => {
            let on = format_call("continue_round", id, &turn);
            let round = next.round;
            format!(
                "{on} plays round {round} (add \"say\" for the user's remark); {} rules now",
                format_call("verdict", id, "")
            )
        }
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = awaited.first().copied();
            let ruling =
                cue.is_some_and(|cue| debate.setup().phase(cue).reply == ReplyKind::Verdict);
            let person = cue.is_some_and(|cue| debate.seat(cue).voice == Participant::Human);
            let (tool, what) = if ruling {
                ("verdict", "\"ruling\":{...}")
            } else {
                ("continue_round", "\"speech\":\"...\"")
            };
            let answer = format_call(tool, id, &format!("{turn},{what}"));
            if person {
                return format!("show the user the brief, and pass on their own words: {answer}");
            }
            format!("answer the brief: {answer}")
        }
        // A ruling was requested while a turn was running.
        _ if running && debate.is_held() => {
            format!("{} waits for the ruling", format_call("verdict", id, ""))
        }
        _ if running => {
            format!("{} waits on; nothing is spent twice", format_call("continue_round", id, &turn))
        }
        _ => format!("{} takes it up again", format_call("continue_round", id, &turn)),
    }
}
