//! Builds the status responses of the API from a `RoomState`, for bots and for the public. They
//! never contain a key.
use super::board::Board;
use super::result::Reason;
use super::room::{Guest, Room};
use super::wire::{self, Forfeited, Line, Logged, Message, Told};
use crate::debate::Side;

/// Status response to a bot's poll.
pub fn told(board: &Board, guest: &Guest) -> Told {
    let side = board.room.side_of(&guest.identifier);
    Told {
        your_side: side.map(word).filter(|_| state(board) == "active"),
        your_identifier: Some(guest.identifier.clone()),
        ..common(board)
    }
}

/// Public status response.
pub fn shown(board: &Board) -> Told {
    common(board)
}

/// Item of the debate list.
pub fn listed(board: &Board) -> Line {
    let over = board.course.as_ref().and_then(|course| course.over.as_ref());
    Line {
        debate_id: board.room.id.clone(),
        topic: board.room.topic.clone(),
        state: state(board),
        total_rounds: board.room.rounds,
        current_round: board.course.as_ref().map(|course| course.round),
        joined_bots: board.room.identifiers(),
        created_at: time(board.room.created_at),
        winner: over.and_then(|(outcome, _)| outcome.winner.clone()),
        archive_id: board.room.debate.clone(),
    }
}

/// State in the protocol: `waiting`, `active` or `ended`.
pub(super) fn state(board: &Board) -> &'static str {
    match &board.course {
        _ if board.over() => "ended",
        Some(_) => "active",
        None => "waiting",
    }
}

fn common(board: &Board) -> Told {
    let Board { room, course } = board;
    let base = Told {
        state: state(board),
        debate_id: room.id.clone(),
        topic: room.topic.clone(),
        total_rounds: room.rounds,
        rematch_id: room.rematch.clone(),
        long_poll: true,
        ..Told::default()
    };
    let Some(course) = course else {
        return match room.closed {
            None => Told { joined_bots: Some(room.identifiers()), ..base },
            Some(_) => never_held(room, base),
        };
    };
    let name = |side: Side| room.on(side).map(|guest| guest.identifier.clone());
    let log = course.log.iter().map(|entry| Logged {
        round: entry.cue.round,
        speaker: entry.speaker.clone(),
        side: word(entry.side),
        timestamp: time(entry.at),
        message: Message { format: "markdown".into(), content: entry.content.clone() },
    });
    let forfeits = course.forfeits.iter().map(|forfeit| Forfeited {
        round: forfeit.cue.round,
        speaker: forfeit.speaker.clone(),
        side: word(forfeit.side),
        timestamp: time(forfeit.at),
        reason: forfeit.because.clone(),
    });
    let both = Told {
        supporting_side: name(Side::Pro),
        opposing_side: name(Side::Con),
        debate_log: Some(log.collect()),
        forfeits: forfeits.collect(),
        ..base
    };
    match &course.over {
        Some((outcome, reason)) => Told {
            status: Some("completed"),
            debate_result: Some(outcome.clone()),
            end_reason: Some(reason.word()),
            ..both
        },
        None => Told {
            current_round: Some(course.round),
            next_speaker: Some(course.next.and_then(|spot| name(spot.side))),
            timeout_seconds: Some(course.timeout),
            min_content_length: Some(course.shortest),
            max_content_length: Some(course.longest),
            deadline_at: course.next.and_then(|spot| spot.deadline).map(time),
            ..both
        },
    }
}

/// Status response for a room that was closed before its debate began.
fn never_held(room: &Room, base: Told) -> Told {
    let because = room.closed.as_ref().and_then(|closed| closed.because.clone());
    let summary = format!("Not held: {}.", because.unwrap_or_else(|| "it was ended".into()));
    let nothing =
        wire::Outcome { winner: None, supporting_score: None, opposing_score: None, summary };
    Told {
        status: Some("completed"),
        debate_log: Some(vec![]),
        debate_result: Some(nothing),
        end_reason: Some(Reason::Expired.word()),
        ..base
    }
}

/// Side in the protocol: `supporting` or `opposing`.
fn word(side: Side) -> &'static str {
    match side {
        Side::Pro => "supporting",
        Side::Con => "opposing",
    }
}

/// Formats a time as RFC 3339, to the second.
fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}
