//! The next call that every result suggests. Following the suggestions always ends the debate. The
//! entry point is `next_call`, called by `status` for each result. `continue_round` uses
//! `next_call_over_budget` in its errors.
use super::due_turn::awaits_plan_confirmation;
use super::error::format_call;
use super::turn_id::turn_id;
use crate::debate::{
    Debate, DebateOutcome, Participant, PauseReason, ReplyKind, Role, Rounds, Step,
};

/// Cost limit that is suggested at least, in the currency of the prices.
const MIN_SUGGESTED_COST: f64 = 1.0;
/// Token limit that is suggested at least.
const MIN_SUGGESTED_TOKENS: u64 = 100_000;
/// Minutes that are suggested on top of twice the time used.
const SUGGESTED_EXTRA_MINUTES: u64 = 10;

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
        let has_report = debate.find_seat(Role::Advocate).is_some();
        let part = if has_report { "\"part\":\"report\"" } else { "" };
        let show_call = format_call("show_debate", id, part);
        steps.push(format!("tell the user the result; {show_call} has all of it"));
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
    let mut raised_limits = vec![];
    if budget.cost.is_some_and(|limit| spent.cost >= limit) {
        // Twice the cost so far, which is in millionths.
        let cost = (spent.cost as f64 / 5e5).max(MIN_SUGGESTED_COST);
        raised_limits.push(format!("max_cost={cost:.2}"));
    }
    if budget.tokens.is_some_and(|limit| spent.tokens >= limit) {
        let tokens = (2 * spent.tokens).max(MIN_SUGGESTED_TOKENS);
        raised_limits.push(format!("max_tokens={tokens}"));
    }
    if budget.milliseconds.is_some_and(|limit| spent.milliseconds >= limit) {
        let minutes = 2 * (spent.milliseconds / 60_000) + SUGGESTED_EXTRA_MINUTES;
        raised_limits.push(format!("max_minutes={minutes}"));
    }
    let raised_limits = format!("\"decision\":\"change\",\"say\":\"{}\"", raised_limits.join(", "));
    let continue_call = format_call("continue_round", id, &raised_limits);
    let end = if debate.replies_in(..).next().is_some() {
        format!("{} rules with what there is", format_call("verdict", id, ""))
    } else {
        format!("{} stops it", format_call("continue_round", id, "\"decision\":\"cancel\""))
    };
    format!("if the user allows more, in all: {continue_call}; else {end}")
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
            let (accept, change, cancel) = (
                "\"decision\":\"confirm\"",
                if debate.find_seat(Role::Advocate).is_some() {
                    "\"decision\":\"change\",\"say\":\"goal=..., evidence_round=on\""
                } else {
                    "\"decision\":\"change\",\"say\":\"rounds=3\""
                },
                "\"decision\":\"cancel\"",
            );
            let calls = [accept, change, cancel]
                .map(|arguments| format_call("continue_round", id, arguments));
            format!("when the user has answered: {}", calls.join(" or "))
        }
        Step::Hold { .. } if debate.is_held() => {
            let accept = format_call("continue_round", id, "\"decision\":\"continue\"");
            format!(
                "if the user wants to go on: {accept}; {} rules now",
                format_call("verdict", id, "")
            )
        }
        Step::Hold { next, .. } if debate.setup().act(*next).rounds == Rounds::Open => {
            let continue_call = format_call("continue_round", id, &turn);
            let call_with = |arguments: &str| format_call("continue_round", id, arguments);
            format!(
                "{continue_call} goes on with round {} (add \"say\" for the user's remark); {} or {} turns it; {} \
                 sums up and ends it",
                next.round,
                call_with("\"decision\":\"deepen\",\"say\":\"...\""),
                call_with("\"decision\":\"steer\",\"say\":\"...\""),
                call_with("\"decision\":\"end\"")
            )
        }
        Step::Hold { next, .. } => {
            let continue_call = format_call("continue_round", id, &turn);
            let round = next.round;
            format!(
                "{continue_call} plays round {round} (add \"say\" for the user's remark); {} rules now",
                format_call("verdict", id, "")
            )
        }
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = awaited.first().copied();
            let wants_ruling =
                cue.is_some_and(|cue| debate.setup().phase(cue).reply == ReplyKind::Verdict);
            let is_person = cue.is_some_and(|cue| debate.seat(cue).voice == Participant::Human);
            let (tool, argument) = if wants_ruling {
                ("verdict", "\"ruling\":{...}")
            } else {
                ("continue_round", "\"speech\":\"...\"")
            };
            let answer = format_call(tool, id, &format!("{turn},{argument}"));
            if is_person {
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
