//! Status, notices and labels of a debate, as shown to users. All of it is derived from the event
//! log.
use crate::debate::claims::flags::{is_repetitive_round, settled_reason};
use crate::debate::claims::ledger::is_new_evidence;
use crate::debate::judgment::verdict::judgment;
use crate::debate::plan::next_step::next;
use crate::debate::plan::step::Step;
use crate::debate::record::citation::CitationStatus;
use crate::debate::record::event::{DebateOutcome, FailureKind};
use crate::debate::record::redaction_summary::redaction_summary;
use crate::debate::record::state::Debate;
use crate::debate::setup::debate_setup::Origin;
use crate::debate::setup::format::{ReplyKind, Role, Rounds, Side};
use crate::debate::setup::seat::Participant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Status of a debate, as stored in the state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Not finished.
    InProgress,
    /// Waiting for the user.
    Paused,
    /// Finished with all turns.
    Completed,
    /// Finished, but turns are missing.
    Degraded,
    /// Closed early, because too few turns succeeded to debate.
    Aborted,
    /// Closed without a single reply.
    Failed,
    /// Stopped by the user.
    Cancelled,
}

impl Status {
    /// All statuses.
    pub const ALL: [Status; 7] = [
        Status::InProgress,
        Status::Paused,
        Status::Completed,
        Status::Degraded,
        Status::Aborted,
        Status::Failed,
        Status::Cancelled,
    ];

    /// Serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::InProgress => "in-progress",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Degraded => "degraded",
            Status::Aborted => "aborted",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Name in results: `success`, `degraded-success`, or else the serialized name.
    pub fn as_result_str(self) -> &'static str {
        match self {
            Status::Completed => "success",
            Status::Degraded => "degraded-success",
            other => other.as_str(),
        }
    }

    /// Whether the debate has ended. It can still be reopened.
    pub fn is_over(self) -> bool {
        !matches!(self, Status::InProgress | Status::Paused)
    }
}

/// Result name of a debate. A debate cancelled before its first turn counts as aborted.
pub fn result_name(debate: &Debate) -> &'static str {
    match status(debate) {
        Status::Cancelled if debate.turns().next().is_none() => Status::Aborted.as_result_str(),
        status => status.as_result_str(),
    }
}

/// Error message if every request timed out.
pub const ALL_TIMED_OUT: &str = "[ERROR] Debate failed: all tool invocations timed out.";
/// Error message if no request succeeded.
pub const NO_EXCHANGES: &str = "[ERROR] Debate failed: no successful exchanges were recorded.";
/// Warning if the challenger never answered.
pub const UNCONTESTED_WARNING: &str =
    "[WARN] Challenger failed. Showing proposer's uncontested position.";
/// Rigor line of a debate without checked citations.
pub const UNVERIFIED_RIGOR: &str = "Structured perspective comparison (prompt-enforced adversarial rules, \
                         no deterministic verification)";

/// Computes the status of a debate.
pub fn status(debate: &Debate) -> Status {
    let no_replies = debate.replies_in(..).next().is_none();
    match debate.outcome() {
        None if matches!(next(debate), Step::Hold { .. }) => Status::Paused,
        None => Status::InProgress,
        Some(DebateOutcome::Cancelled) => Status::Cancelled,
        Some(_) if no_replies && all_timed_out(debate) => Status::Failed,
        Some(DebateOutcome::Aborted { .. }) => Status::Aborted,
        Some(_) if no_replies => Status::Failed,
        Some(DebateOutcome::Uncontested { .. } | DebateOutcome::Curtailed { .. }) => {
            Status::Degraded
        }
        Some(_) if debate.failed_turns().next().is_some() => Status::Degraded,
        Some(_) => Status::Completed,
    }
}

fn all_timed_out(debate: &Debate) -> bool {
    let mut missing = debate.failed_turns().peekable();
    missing.peek().is_some() && missing.all(|(_, failure)| failure.trouble == FailureKind::TimedOut)
}

/// Whether there are two sides for a verdict to choose between.
fn has_two_sides(debate: &Debate) -> bool {
    debate.has_active_role(Role::Pro)
}

/// Prefix of the envelope caveat that a tool could not read files. The reason follows.
pub const UNREAD_CAVEAT_PREFIX: &str = "it read no files: ";

/// Errors, warnings and notes shown with the result.
pub fn notices(debate: &Debate) -> Vec<String> {
    let mut notices = vec![];
    let ended = debate.outcome().is_some_and(|outcome| *outcome != DebateOutcome::Cancelled);
    if ended && debate.replies_in(..).next().is_none() {
        let line = if all_timed_out(debate) { ALL_TIMED_OUT } else { NO_EXCHANGES };
        notices.push(line.to_owned());
    }
    match debate.outcome() {
        Some(DebateOutcome::Uncontested { .. }) => notices.push(UNCONTESTED_WARNING.into()),
        Some(DebateOutcome::Curtailed { at, phase }) if at.round > 0 => notices.push(format!(
            "[WARN] Round {} is incomplete (`{phase}` failed); the result rests on the completed \
             rounds.",
            at.round
        )),
        Some(DebateOutcome::Settled { after }) => {
            let reason = settled_reason(debate, *after)
                .map_or_else(String::new, |reason| reason.describe(*after));
            notices.push(format!("[INFO] Ended before the last round: {reason}."));
        }
        Some(DebateOutcome::Curtailed { .. }) if judgment(debate).is_some() => notices
            .push("[WARN] No judge gave a final ruling; marks and votes alone decided.".into()),
        Some(DebateOutcome::Curtailed { .. }) if has_two_sides(debate) => {
            notices
                .push("[WARN] No judge ruled; both positions are shown without a verdict.".into());
        }
        Some(DebateOutcome::Curtailed { phase, .. }) => {
            notices.push(format!("[WARN] `{phase}` failed; what was said is shown without it."));
        }
        _ => {}
    }
    if let (Some(outcome), Some(because)) = (debate.outcome(), debate.end_reason()) {
        let verb = if *outcome == DebateOutcome::Cancelled { "Cancelled" } else { "Concluded" };
        notices.push(format!("[INFO] {verb}: {because}"));
    }
    let redacted = redaction_summary(debate);
    if !redacted.is_empty() {
        notices.push(format!("[INFO] Secrets were taken out of what was said: {redacted}"));
    }
    if let Some(reason) = &debate.setup().unread {
        notices.push(format!("[WARN] No tool could read the repository: {reason}"));
    }
    let unread_warnings = debate.turns().filter_map(|(cue, turn)| {
        let caveats = &turn.as_ref().ok()?.envelope.caveats;
        let reason = caveats.iter().find_map(|caveat| caveat.strip_prefix(UNREAD_CAVEAT_PREFIX))?;
        Some(format!("[WARN] {} could not read the repository: {reason}", debate.tool_at(cue)))
    });
    for line in unread_warnings {
        if !notices.contains(&line) {
            notices.push(line);
        }
    }
    for (cue, failure) in debate.failed_turns() {
        let (seat, tool) = (debate.seat(cue).role.title(), debate.tool_at(cue));
        let when = if cue.round > 0 { format!(" in round {}", cue.round) } else { String::new() };
        let word = failure.trouble.as_str();
        notices.push(format!("[WARN] {seat} ({tool}) {word}{when}: {}", failure.note));
    }
    notices
}

/// Labels on the origin of a debate: `demo`, `single-model`, `partial-judge`, `imported`.
pub fn labels(debate: &Debate) -> Vec<&'static str> {
    let mut labels = vec![];
    let participant = |role: Role| debate.find_seat(role).map(|seat| &seat.voice);
    if debate.seats().iter().any(|seat| seat.voice.tool() == "demo") {
        labels.push("demo");
    }
    if let (Some(pro), Some(con)) = (participant(Role::Pro), participant(Role::Con)) {
        let same_participant =
            pro == con && matches!(pro, Participant::Model { .. } | Participant::Host);
        // Two tools can serve the same model, which only their responses reveal.
        let reported = reported_model(debate, Role::Pro);
        if same_participant || (reported.is_some() && reported == reported_model(debate, Role::Con))
        {
            labels.push("single-model");
        }
    }
    if has_two_sides(debate) && has_partial_judge(debate) {
        labels.push("partial-judge");
    }
    if debate.setup().origin != Origin::Here {
        labels.push("imported");
    }
    labels
}

/// Whether a judge is, or may be, the same model as a debater.
fn has_partial_judge(debate: &Debate) -> bool {
    let is_model = |voice: &Participant| match voice {
        Participant::Model { tool, .. } => !matches!(tool.as_str(), "script" | "demo"),
        other => *other == Participant::Host,
    };
    let judges = debate.seats().iter().filter(|seat| seat.role == Role::Judge);
    let sides: Vec<&Participant> = [Role::Pro, Role::Con]
        .into_iter()
        .filter_map(|role| debate.find_seat(role).map(|seat| &seat.voice))
        .collect();
    let may_be_debater =
        |judge: &Participant| sides.iter().any(|side| judge.may_be_same_model(side));
    judges.into_iter().any(|judge| is_model(&judge.voice) && may_be_debater(&judge.voice))
}

/// Model reported in the last response of a role.
fn reported_model(debate: &Debate, role: Role) -> Option<&str> {
    let turns = debate.turns().filter(|(cue, _)| debate.seat(*cue).role == role);
    turns.filter_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.as_deref()).next_back()
}

/// One line on how far the debate was verified.
pub fn rigor(debate: &Debate) -> String {
    let replies = || debate.turns().filter_map(|(_, turn)| turn.as_ref().ok());
    let count = |predicate: fn(CitationStatus) -> bool| {
        replies()
            .flat_map(|reply| &reply.citations)
            .filter(|citation| predicate(citation.found))
            .count()
    };
    // A citation that cannot be looked up here was not checked.
    let citations =
        count(|found| !matches!(found, CitationStatus::Unchecked | CitationStatus::NotSearched));
    if citations == 0 {
        return UNVERIFIED_RIGOR.into();
    }
    let (verified, wrong) = (count(CitationStatus::is_verified), count(CitationStatus::is_wrong));
    let ambiguous = count(|found| found == CitationStatus::Ambiguous);
    format!(
        "Structured perspective comparison (rules enforced in code; {citations} citations, \
         {verified} verified, {wrong} wrong, {ambiguous} ambiguous)"
    )
}

/// Advice to end the debate, if another round is unlikely to add anything.
pub fn ending_advice(debate: &Debate) -> Option<String> {
    let next_cue = next(debate)
        .first_cue()
        .filter(|next_cue| next_cue.round > 1 && next_cue.act < debate.setup().ending_act())?;
    if debate.setup().act(next_cue).rounds == Rounds::Open {
        return dialogue_ending_advice(debate, next_cue.round);
    }
    let has_begun = debate.turns().any(|(cue, _)| cue.position() == next_cue.position());
    let settled = settled_reason(debate, next_cue.round - 1).filter(|_| !has_begun)?;
    Some(format!("{}; a verdict now would lose nothing", settled.describe(next_cue.round - 1)))
}

/// Advice to end an open dialogue that repeats itself or exceeds the requested rounds. The user
/// decides.
fn dialogue_ending_advice(debate: &Debate, round: u8) -> Option<String> {
    let requested = debate.rounds();
    let long = (round > requested).then(|| {
        format!(
            "{requested} rounds are over: suggest to the user to sum up and end; nothing forces it"
        )
    });
    let stuck = is_repetitive_round(debate, round - 1).then(|| {
        format!(
            "in round {} both only said again what they had said: offer the user the common ground, \
             or to end it and have the disagreement summed up",
            round - 1
        )
    });
    let advice_lines: Vec<String> = long.into_iter().chain(stuck).collect();
    (!advice_lines.is_empty()).then(|| advice_lines.join("; "))
}

/// Number of newly verified citations in the counted rounds, that is, outside round 0.
pub fn count_new_evidence(debate: &Debate) -> usize {
    let rounds = debate.turns().filter(|(cue, _)| cue.round > 0);
    let replies = rounds.filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let citations =
        replies.flat_map(|(cue, reply)| reply.citations.iter().map(move |it| (cue, it)));
    citations.filter(|(cue, citation)| is_new_evidence(debate, *cue, citation)).count()
}

/// Display name of a side: its tool or bot, or its role if both tools are the same.
pub fn side_name(debate: &Debate, side: Side) -> String {
    let tool = |side: Side| {
        let bot = debate.find_seat(side.role()).filter(|seat| seat.voice == Participant::Bot);
        if let Some(bot) = bot {
            return Some(bot.name.clone());
        }
        let mut own =
            debate.replies_in(..).filter(|(cue, _)| debate.seat(*cue).role == side.role());
        let spoke = own.next_back().map(|(cue, _)| debate.tool_at(cue).to_owned());
        let seat = || debate.find_seat(side.role()).map(|seat| seat.voice.tool().to_owned());
        spoke.or_else(seat)
    };
    match (tool(side), tool(side.other())) {
        (Some(own), other) if Some(&own) != other.as_ref() => own,
        _ => side.role_name().into(),
    }
}

/// Number of rounds in which both sides spoke.
pub fn completed_rounds(debate: &Debate) -> u8 {
    let has_spoken = |round: u8, role: Role| {
        debate.replies_in(..).any(|(cue, body)| {
            cue.round == round && debate.seat(cue).role == role && body.kind() == ReplyKind::Speech
        })
    };
    let (first_role, second_role) =
        if has_two_sides(debate) { (Role::Pro, Role::Con) } else { (Role::Lead, Role::Partner) };
    let is_complete =
        |round: &u8| has_spoken(*round, first_role) && has_spoken(*round, second_role);
    let last = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    (1..=last).filter(is_complete).count() as u8
}

#[cfg(test)]
mod tests;
