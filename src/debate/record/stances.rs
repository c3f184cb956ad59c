//! Stances of the advocates who research a question: the letter of each, and the word limit of a
//! rebuttal.
use super::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Role;

/// Word limit of a rebuttal per stance it answers.
const WORDS_PER_STANCE: usize = 300;

/// Word limit of a rebuttal.
pub fn max_words(debate: &Debate) -> usize {
    let advocates = debate.seats().iter().filter(|seat| seat.role == Role::Advocate).count();
    WORDS_PER_STANCE * advocates.saturating_sub(1).max(1)
}

/// First letter of the claim ids of this stance.
pub fn stance_letter(debate: &Debate, cue: Cue) -> char {
    let earlier_seats = debate.seats().iter().take(usize::from(cue.seat));
    let index = earlier_seats.filter(|seat| seat.role == Role::Advocate).count();
    char::from(b'A' + u8::try_from(index.min(25)).unwrap_or(25))
}
