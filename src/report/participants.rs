//! Names of participants: kind of debate, seats, models and speakers. All of it is derived from the
//! roles and the record, never from the format's name, so that custom formats work, too.
use super::research::research_judgment;
use super::sanitize::one_line;
use crate::debate::{Cue, Debate, Role, status};

/// Kind of a debate, derived from the roles that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebateKind {
    /// Two sides and a verdict.
    Contest,
    /// A lead and its partners. Ends with insights and has no winner.
    Dialogue,
    /// Advocates who research stances. Ends with a report and has no winner.
    Research,
}

/// The kind of this debate.
pub fn debate_kind(debate: &Debate) -> DebateKind {
    if debate.has_active_role(Role::Lead) {
        DebateKind::Dialogue
    } else if debate.has_active_role(Role::Advocate) {
        DebateKind::Research
    } else {
        DebateKind::Contest
    }
}

/// Indexes of the seats with this role.
pub fn seats_with_role(debate: &Debate, role: Role) -> impl Iterator<Item = u8> {
    let seats = (0u8..).zip(debate.seats());
    seats.filter(move |(_, seat)| seat.role == role).map(|(seat_index, _)| seat_index)
}

/// Seats of a research debate that argue a stance.
pub(super) fn advocate_seats(debate: &Debate) -> impl Iterator<Item = u8> {
    seats_with_role(debate, Role::Advocate)
}

/// The two seats a list shows: both sides, the lead and its first partner, or the first two
/// advocates.
pub fn main_pair(debate: &Debate) -> [Option<u8>; 2] {
    let first = |role: Role| seats_with_role(debate, role).next();
    match debate_kind(debate) {
        DebateKind::Contest => [first(Role::Pro), first(Role::Con)],
        DebateKind::Dialogue => [first(Role::Lead), first(Role::Partner)],
        DebateKind::Research => {
            let mut stances = advocate_seats(debate);
            [stances.next(), stances.next()]
        }
    }
}

/// Rounds in which both sides spoke. A research debate counts as one round, complete once it is
/// judged.
pub fn rounds_completed(debate: &Debate) -> u8 {
    match debate_kind(debate) {
        DebateKind::Contest | DebateKind::Dialogue => status::completed_rounds(debate),
        DebateKind::Research => u8::from(research_judgment(debate).is_some()),
    }
}

/// Tool and model of every seat with this role, for example `claude (opus), codex (default model)`.
pub(super) fn role_models(debate: &Debate, role: Role) -> Option<String> {
    let mut models =
        seats_with_role(debate, role).map(|seat_index| seat_model_text(debate, seat_index));
    let first = models.next()?;
    Some(models.fold(first, |joined, model| format!("{joined}, {model}")))
}

/// Tool and model of one seat. A seat played by a host, a human or a bot has no model.
fn seat_model_text(debate: &Debate, seat_index: u8) -> String {
    let is_awaited = debate.seats()[usize::from(seat_index)].voice.is_awaited();
    match tool_and_model(debate, seat_index) {
        (tool, _) if is_awaited => tool,
        (tool, Some(model)) => format!("{tool} ({model})"),
        (tool, None) => format!("{tool} (default model)"),
    }
}

/// For example `claude:opus`, or only the tool if the model is unknown.
pub fn seat_model(debate: &Debate, seat_index: u8) -> String {
    match tool_and_model(debate, seat_index) {
        (tool, Some(model)) => format!("{tool}:{model}"),
        (tool, None) => tool,
    }
}

/// For example `Proponent (claude:opus)`.
pub(super) fn seat_with_model(debate: &Debate, seat_index: u8) -> String {
    let seat = &debate.seats()[usize::from(seat_index)];
    let name = seat.title();
    one_line(&format!("{name} ({})", seat_model(debate, seat_index)))
}

/// Tool and model of a seat, from the envelope of its first successful turn, otherwise from the
/// setup.
fn tool_and_model(debate: &Debate, seat_index: u8) -> (String, Option<String>) {
    let seat = &debate.seats()[usize::from(seat_index)];
    let mut seat_turns = debate.turns().filter(|(cue, _)| cue.seat == seat_index);
    let envelope = seat_turns.find_map(|(_, turn)| turn.as_ref().ok().map(|reply| &reply.envelope));
    let model = envelope
        .and_then(|envelope| envelope.model_reported.as_deref().or(envelope.model_asked.as_deref()))
        .or(seat.voice.model());
    let tool = envelope.map(|envelope| envelope.tool.as_str()).filter(|tool| !tool.is_empty());
    (tool.unwrap_or(seat.voice.tool()).to_owned(), model.map(Into::into))
}

/// Heading for the speaker at a cue: the role, with the name if several seats share the role.
pub fn speaker_title(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    let same_role_count = debate.seats().iter().filter(|other| other.role == seat.role).count();
    match seat.role {
        role if role.has_named_seats() => seat.name.clone(),
        role if same_role_count > 1 => format!("{} {}", role.title(), seat.name),
        role => role.title().into(),
    }
}

/// Name of the speaker at a cue, for use within a sentence.
pub(super) fn speaker_name(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    match seat.role.side() {
        Some(side) => status::side_name(debate, side),
        None => seat.title_in_sentence(),
    }
}

/// Name of a turn, for example `round 2, challenger`.
pub fn turn_name(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    let role = seat.title_in_sentence();
    if cue.round == 0 { role } else { format!("round {}, {role}", cue.round) }
}
