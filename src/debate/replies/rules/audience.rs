//! Rules on the audience: debaters' calls for help, and the listeners a judge admits.
use super::earlier_turns::own_turns;
use crate::debate::plan::next_step::find_called_listener;
use crate::debate::record::body::Body;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{ReplyKind, Role};
use crate::debate::text::words::in_backticks;

/// Help is not requested in two consecutive rounds.
pub(super) fn help_not_twice(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    body.help_request()?;
    let asked_before = own_turns(debate, cue)
        .any(|(past, body)| past.round + 1 == cue.round && body.help_request().is_some());
    asked_before.then(|| "help was asked for in the round before".into())
}

/// No help is requested in this act.
pub(super) fn no_help(body: &Body) -> Option<String> {
    body.help_request().map(|_| "help cannot be asked for in this act".into())
}

/// Valid kinds of help.
const HELP_KINDS: [&str; 3] = ["technical", "ethical", "practical"];

/// The kind of help is valid, and the listener called has not spoken yet.
pub(super) fn help_fits(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let help = body.help_request()?;
    if !HELP_KINDS.contains(&help.kind.as_str()) {
        return Some(format!("`request` must be one of {}", HELP_KINDS.join(", ")));
    }
    let start = debate.wave_start(cue);
    if find_called_listener(debate, start, help).is_some() {
        return None;
    }
    let is_available = |seat: &&crate::debate::setup::seat::Seat| {
        let help =
            crate::debate::record::body::HelpRequest { from: seat.name.clone(), ..help.clone() };
        seat.role == Role::Audience && find_called_listener(debate, start, &help).is_some()
    };
    let names: Vec<String> =
        debate.seats().iter().filter(is_available).map(|seat| in_backticks(&seat.name)).collect();
    Some(match names.as_slice() {
        [] => "nobody is left who could be asked for help".into(),
        names => {
            format!("`target_audience` names nobody who can still speak: {}", names.join(", "))
        }
    })
}

/// Requests for the floor in this round, by seat index: petitions, and listeners called by a
/// debater.
fn floor_requests(debate: &Debate, cue: Cue) -> Vec<(u8, FloorRequestKind)> {
    let replies = debate.replies_before(cue).filter(|(past, _)| past.position() == cue.position());
    let request = |(past, body): (Cue, &Body)| {
        if body.kind() == ReplyKind::Petition && !body.is_declined_petition() {
            return Some((past.seat, FloorRequestKind::Petition));
        }
        Some((
            find_called_listener(debate, debate.wave_start(cue), body.help_request()?)?,
            FloorRequestKind::CalledByDebater,
        ))
    };
    replies.filter_map(request).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FloorRequestKind {
    Petition,
    CalledByDebater,
}

/// The admitted listener petitioned for the floor or was called by a debater.
pub(super) fn admits_petitioner(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Ruling { admits: Some(name), .. } = body else { return None };
    let is_named = |seat: u8| debate.seats()[usize::from(seat)].name == *name;
    let has_request = floor_requests(debate, cue).into_iter().any(|(seat, _)| is_named(seat));
    (!has_request).then(|| format!("`{name}` did not ask for the floor, and nobody asked for it"))
}

/// An admitted petitioner has new information and does not repeat. A listener called by a debater
/// is exempt.
pub(super) fn admits_for_good(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Ruling { admits: Some(name), grounds, .. } = body else { return None };
    let is_named = |seat: u8| debate.seats()[usize::from(seat)].name == *name;
    let is_called = floor_requests(debate, cue)
        .into_iter()
        .any(|(seat, kind)| is_named(seat) && kind == FloorRequestKind::CalledByDebater);
    let meets_criteria = grounds.new_information && grounds.avoids_repetition;
    (!meets_criteria && !is_called)
        .then(|| format!("`{name}` is let in, though it is said to bring nothing new or to repeat"))
}
