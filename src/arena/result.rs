//! Result of an arena debate: winner, scores, summary, and why it ended. Entry points:
//! `arena_result` and `end_reason`. `room_state` stores both in the progress of a room, and
//! `responses` sends them to bots and viewers.
use super::protocol;
use crate::debate::verdict::{judgment, leading_ruling};
use crate::debate::{Debate, DebateOutcome, Role, Side};

/// Why a debate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// All rounds are finished.
    Completed,
    /// A side forfeited two turns.
    Forfeit,
    /// A bot stopped sending requests.
    Offline,
    /// The debate exceeded its total timeout.
    Timeout,
    /// The room waited too long for bots.
    Expired,
    /// The budget is exhausted.
    Budget,
    /// The operator asked for an early verdict.
    Concluded,
    /// The operator cancelled the debate.
    Cancelled,
}

impl EndReason {
    /// Name in the protocol.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            EndReason::Completed => "completed",
            EndReason::Forfeit => "forfeit",
            EndReason::Offline => "offline",
            EndReason::Timeout => "timeout",
            EndReason::Expired => "expired",
            EndReason::Budget => "budget",
            EndReason::Concluded => "concluded",
            EndReason::Cancelled => "cancelled",
        }
    }
}

/// Derives the end reason from the recorded outcome and the prefix of its message.
pub(super) fn end_reason(debate: &Debate) -> EndReason {
    let prefix = debate.end_reason().and_then(|reason| reason.split(':').next());
    match (debate.outcome(), prefix) {
        (_, Some("offline")) => EndReason::Offline,
        (_, Some("timeout")) => EndReason::Timeout,
        (_, Some("budget")) => EndReason::Budget,
        (Some(DebateOutcome::Ended), _) => EndReason::Concluded,
        (Some(DebateOutcome::Cancelled), _) => EndReason::Cancelled,
        (Some(DebateOutcome::Completed | DebateOutcome::Settled { .. }) | None, _) => {
            EndReason::Completed
        }
        _ => EndReason::Forfeit,
    }
}

/// Builds the result. Without a verdict it has no winner and no scores.
pub(super) fn arena_result(debate: &Debate) -> protocol::ArenaResult {
    let name_of = |side: Side| {
        let seat = debate.seats().iter().find(|seat| seat.role == side.role());
        seat.map(|seat| seat.name.clone())
    };
    let Some(verdict) = judgment(debate) else {
        let summary = unjudged_summary(debate);
        return protocol::ArenaResult {
            winner: None,
            supporting_score: None,
            opposing_score: None,
            summary,
        };
    };
    let ruling = leading_ruling(debate, verdict.winner);
    let scores = ruling.and_then(|(_, ruling)| ruling.scores);
    let mut summary = ruling.map_or_else(
        || verdict.basis.describe().to_owned(),
        |(cue, ruling)| unmask_sides(debate, debate.seat(cue).role, &ruling.because),
    );
    if verdict.is_contested() {
        let reasons: Vec<&str> =
            verdict.contest_reasons.iter().map(|contest| contest.describe()).collect();
        summary = format!("{summary}\n\nContested: {}.", reasons.join("; "));
    }
    protocol::ArenaResult {
        winner: name_of(verdict.winner),
        supporting_score: scores.map(|scores| scores.pro),
        opposing_score: scores.map(|scores| scores.con),
        summary,
    }
}

/// Replaces the anonymous side labels of a ruling by the bots' identifiers.
fn unmask_sides(debate: &Debate, judge: Role, text: &str) -> String {
    let side_a = if judge == Role::Mirror { Side::Con } else { Side::Pro };
    let name_of = |side: Side| {
        let seat = debate.seats().iter().find(|seat| seat.role == side.role());
        seat.map_or("", |seat| seat.name.as_str())
    };
    text.replace("Side A", name_of(side_a)).replace("Side B", name_of(side_a.other()))
}

/// Explains why there is no verdict.
fn unjudged_summary(debate: &Debate) -> String {
    let silent_bots: Vec<&str> = [Side::Pro, Side::Con]
        .into_iter()
        .filter(|side| !debate.has_side_spoken(*side))
        .filter_map(|side| debate.seats().iter().find(|seat| seat.role == side.role()))
        .map(|seat| seat.name.as_str())
        .collect();
    let reason = match silent_bots.as_slice() {
        [] => None,
        [name] => Some(format!("{name} has never spoken, so there is nothing to judge")),
        _ => Some("neither side has spoken, so there is nothing to judge".into()),
    };
    let judges = debate.seats().iter().filter(|seat| seat.role == Role::Judge).count();
    let failed_judge = debate.failed_turns().find(|(cue, _)| debate.seat(*cue).role == Role::Judge);
    let reason = reason.unwrap_or_else(|| match (judges, failed_judge) {
        (0, _) => "no judge is seated".into(),
        (_, Some((_, failure))) => {
            format!("the judge did not answer ({})", failure.trouble.as_str())
        }
        (_, None) => "no judge has ruled".into(),
    });
    let ending =
        debate.end_reason().map(|because| format!(" It ended because of this: {because}."));
    format!("Not judged: {reason}.{}", ending.unwrap_or_default())
}
