//! Who takes part, and under which names. Asked of the table and of the record, never of a format's
//! name, so a format nobody has thought of yet is told of as well.
use crate::debate::{Cue, Debate, Role, standing};

/// What a debate comes to, by who takes part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// Sides that a verdict chooses between.
    Contest,
    /// Somebody who leads, and a partner: insights, and no winner.
    Dialogue,
    /// Stances that are researched: a report, and no winner.
    Research,
}

/// What this debate comes to.
pub fn course(debate: &Debate) -> Course {
    if debate.takes_part(Role::Lead) {
        Course::Dialogue
    } else if debate.takes_part(Role::Advocate) {
        Course::Research
    } else {
        Course::Contest
    }
}

/// The seats with this role, by position.
pub fn having(debate: &Debate, role: Role) -> impl Iterator<Item = u8> {
    let seats = (0u8..).zip(debate.seats());
    seats.filter(move |(_, seat)| seat.role == role).map(|(nth, _)| nth)
}

/// The two a list names: both sides, the lead and its partner, or the first two stances.
pub fn pair(debate: &Debate) -> [Option<u8>; 2] {
    let first = |role: Role| having(debate, role).next();
    match course(debate) {
        Course::Contest => [first(Role::Pro), first(Role::Con)],
        Course::Dialogue => [first(Role::Lead), first(Role::Partner)],
        Course::Research => {
            let mut stances = having(debate, Role::Advocate);
            [stances.next(), stances.next()]
        }
    }
}

/// Rounds in which both of them spoke. A research is one round, done when it is judged.
pub fn rounds_completed(debate: &Debate) -> u8 {
    match course(debate) {
        Course::Contest | Course::Dialogue => standing::rounds_completed(debate),
        Course::Research => u8::from(super::research::judgment(debate).is_some()),
    }
}

/// `claude (opus)`: the tool, and the model it reported or was asked for.
pub fn who(debate: &Debate, role: Role) -> Option<String> {
    let mut all = having(debate, role).map(|nth| voice_of(debate, nth));
    let first = all.next()?;
    Some(all.fold(first, |known, other| format!("{known}, {other}")))
}

/// The same, of one seat.
fn voice_of(debate: &Debate, nth: u8) -> String {
    let awaited = debate.seats()[usize::from(nth)].voice.awaited();
    match spoke_as(debate, nth) {
        (tool, _) if awaited => tool,
        (tool, Some(model)) => format!("{tool} ({model})"),
        (tool, None) => format!("{tool} (default model)"),
    }
}

/// `claude:opus`, or only the tool where nobody says which model it was.
pub fn model_of(debate: &Debate, nth: u8) -> String {
    match spoke_as(debate, nth) {
        (tool, Some(model)) => format!("{tool}:{model}"),
        (tool, None) => tool,
    }
}

/// The tool and the model of a seat, as its first turn says, or as it was asked for.
fn spoke_as(debate: &Debate, nth: u8) -> (String, Option<String>) {
    let seat = &debate.seats()[usize::from(nth)];
    let mut own = debate.turns().filter(|(cue, _)| cue.seat == nth);
    let envelope = own.find_map(|(_, turn)| turn.as_ref().ok().map(|reply| &reply.envelope));
    let model = envelope
        .and_then(|envelope| envelope.model_reported.as_deref().or(envelope.model_asked.as_deref()))
        .or(seat.voice.model());
    let tool = envelope.map(|envelope| envelope.tool.as_str()).filter(|tool| !tool.is_empty());
    (tool.unwrap_or(seat.voice.tool()).to_owned(), model.map(Into::into))
}

/// Who speaks at a cue, as a heading has it: by name where there are several, else by role.
pub fn title(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    let alike = debate.seats().iter().filter(|other| other.role == seat.role).count();
    match seat.role {
        role if role.named() => seat.name.clone(),
        role if alike > 1 => format!("{} {}", role.title(), seat.name),
        role => role.title().into(),
    }
}

/// Who speaks at a cue, within a sentence.
pub fn speaker(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    match seat.role.side() {
        Some(side) => standing::name_of(debate, side),
        None => seat.word(),
    }
}
