//! Converts a transcript from outside into events. Its turns are parsed and validated by our rules,
//! and the debate is paused afterwards.
use crate::debate::{
    Body, Cue, Debate, Envelope, Event, FailureKind, Reply, Role, RuleWeight, Side, Step,
    TurnFailure, check_rules, claims_block, next,
};
use crate::engine::ports::{Transcript, TranscriptTurn};

/// Maximum length of a tool's name from a transcript. A longer one is recorded as `unknown`.
const MAX_TOOL_BYTES: usize = 40;

/// The events of a transcript, and how many of its turns were used. Stops at the first turn that is
/// out of order.
pub(super) fn build_events(mut debate: Debate, transcript: &Transcript) -> (Vec<Event>, usize) {
    let mut events = vec![];
    let mut used_turns = 0;
    while let (Some(turn), Some(cue)) = (transcript.turns.get(used_turns), next_single_cue(&debate))
    {
        let event = match transcript_side(debate.seat(cue).role) {
            Some(side) if side == turn.side && cue.round == turn.round => {
                used_turns += 1;
                build_spoke_event(&debate, cue, turn)
            }
            Some(_) => break,
            // Rulings are not imported.
            None if cue.act == debate.setup().ending_act() => break,
            // A transcript has only speeches, so any other turn is recorded as failed.
            None => Event::Failed {
                cue,
                failure: TurnFailure::new(FailureKind::Other, "not in the transcript"),
            },
        };
        for event in [Event::Asked { cues: vec![cue], deadline: None, prompts: vec![] }, event] {
            if debate.apply(event.clone()).is_err() {
                return (with_hold(&debate, events), used_turns);
            }
            events.push(event);
        }
    }
    (with_hold(&debate, events), used_turns)
}

/// Side of a role in a transcript, where lead and partner count as sides.
fn transcript_side(role: Role) -> Option<Side> {
    match role {
        Role::Lead => Some(Side::Pro),
        Role::Partner => Some(Side::Con),
        role => role.side(),
    }
}

fn with_hold(debate: &Debate, mut events: Vec<Event>) -> Vec<Event> {
    if debate.validate(&Event::Held).is_ok() {
        events.push(Event::Held);
    }
    events
}

fn next_single_cue(debate: &Debate) -> Option<Cue> {
    match next(debate) {
        Step::Speak { driven, awaited } if driven.len() + awaited.len() == 1 => {
            driven.first().or(awaited.first()).copied()
        }
        _ => None,
    }
}

fn build_spoke_event(debate: &Debate, cue: Cue, turn: &TranscriptTurn) -> Event {
    let body: Body = claims_block::parse_speech(&turn.text);
    let mut findings = check_rules(debate, cue, &body, &[]);
    for finding in &mut findings {
        // A retry is not possible, so a violation that would cause one is only noted.
        if matches!(finding.weight, RuleWeight::Reask | RuleWeight::Mend) {
            finding.weight = RuleWeight::Note;
        }
    }
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_valid_name = !turn.tool.is_empty()
        && turn.tool.len() <= MAX_TOOL_BYTES
        && turn.tool.chars().all(is_name_char);
    let tool = if is_valid_name { turn.tool.clone() } else { "unknown".into() };
    let envelope = Envelope { tool, duration_ms: turn.duration_ms, ..Envelope::default() };
    Event::Spoke { cue, reply: Reply { body, findings, citations: vec![], envelope } }
}
