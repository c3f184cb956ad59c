//! The turn that is due from the host or a person, or the decision that is due from the user.
use super::error::DueTurn;
use super::results::DueBrief;
use super::turn_id::turn_id;
use crate::debate::{
    Debate, HoldPoint, Origin, Participant, PauseReason, ReplyKind, Rounds, Step, next, prompt,
};
use crate::report::plan::render_plan;

/// Brief for the host between the rounds of a dialectic.
const DIALOGUE_BRIEF: &str = "A round is done. Show the user what was said, as suggestions that are never \
    carried out. If the two differ widely or a decision is needed, ask the user, else go on: \
    continue, a remark of theirs, deepen X, steer to another topic, or end.";

/// The turn due from the host or a person, or the decision due from the user.
pub(super) fn due_brief(debate: &Debate, step: &Step) -> Option<DueBrief> {
    match step {
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = *awaited.first()?;
            let seat = debate.seat(cue);
            let role = match seat.voice {
                Participant::Human => format!("{} (a person: ask the user)", seat.title()),
                _ => seat.title().to_owned(),
            };
            let brief = prompt::render(debate, cue).text;
            Some(DueBrief { turn: turn_id(debate, cue), role, brief })
        }
        Step::Hold { next, pause } => {
            let brief = match pause {
                PauseReason::BudgetExhausted { .. } => {
                    "The budget is spent. Ask the user whether more may be spent."
                }
                PauseReason::UserHold
                    if debate.is_held() && debate.setup().origin != Origin::Here =>
                {
                    "This debate was imported. Ask the user whether to go on with it."
                }
                PauseReason::UserHold if awaits_plan_confirmation(debate) => {
                    return Some(DueBrief {
                        turn: turn_id(debate, *next),
                        role: "user".into(),
                        brief: format!(
                            "Show the user this plan and wait for them.\n\n{}",
                            render_plan(debate)
                        ),
                    });
                }
                PauseReason::UserHold if debate.setup().act(*next).rounds == Rounds::Open => {
                    DIALOGUE_BRIEF
                }
                PauseReason::UserHold => {
                    "A round is done. Show the user what was said; they may have a remark."
                }
            };
            let (turn, role) = (turn_id(debate, *next), "user".to_owned());
            Some(DueBrief { turn, role, brief: brief.into() })
        }
        _ => None,
    }
}

/// The turn due from the host.
pub(super) fn due_turn(debate: &Debate) -> Option<DueTurn> {
    let step = next(debate);
    let due = due_brief(debate, &step).filter(|due| due.role != "user")?;
    let cue = step.first_cue()?;
    let ruling = debate.setup().phase(cue).reply == ReplyKind::Verdict;
    Some(DueTurn { turn: due.turn, role: due.role, ruling })
}

/// Whether the debate waits for its plan to be confirmed.
pub(super) fn awaits_plan_confirmation(debate: &Debate) -> bool {
    debate.holds().contains(&HoldPoint::Start) && debate.turns().next().is_none()
}
