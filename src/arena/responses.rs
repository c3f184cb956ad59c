//! Builds the status responses of the API from a `RoomState`, for bots and for the public. They
//! never contain a key.
use super::protocol::{
    self, ForfeitLogEntry, RoomListItem, RoomStatusResponse, SpeechLogEntry, SpeechMessage,
};
use super::result::EndReason;
use super::room::{JoinedBot, Room};
use super::room_state::RoomState;
use crate::debate::Side;

/// Status response to a bot's poll.
pub fn status_for_bot(board: &RoomState, guest: &JoinedBot) -> RoomStatusResponse {
    let side = board.room.side_of(&guest.identifier);
    RoomStatusResponse {
        your_side: side.map(side_str).filter(|_| state_str(board) == "active"),
        your_identifier: Some(guest.identifier.clone()),
        ..build_status(board)
    }
}

/// Public status response.
pub fn public_status(board: &RoomState) -> RoomStatusResponse {
    build_status(board)
}

/// Item of the debate list.
pub fn list_item(board: &RoomState) -> RoomListItem {
    let over = board.progress.as_ref().and_then(|course| course.result.as_ref());
    RoomListItem {
        debate_id: board.room.id.clone(),
        topic: board.room.topic.clone(),
        state: state_str(board),
        total_rounds: board.room.rounds,
        current_round: board.progress.as_ref().map(|course| course.round),
        joined_bots: board.room.identifiers(),
        created_at: format_timestamp(board.room.created_at),
        winner: over.and_then(|(outcome, _)| outcome.winner.clone()),
        archive_id: board.room.debate.clone(),
    }
}

/// State in the protocol: `waiting`, `active` or `ended`.
pub(super) fn state_str(board: &RoomState) -> &'static str {
    match &board.progress {
        _ if board.is_over() => "ended",
        Some(_) => "active",
        None => "waiting",
    }
}

fn build_status(board: &RoomState) -> RoomStatusResponse {
    let RoomState { room, progress: course } = board;
    let base = RoomStatusResponse {
        state: state_str(board),
        debate_id: room.id.clone(),
        topic: room.topic.clone(),
        total_rounds: room.rounds,
        rematch_id: room.rematch.clone(),
        long_poll: true,
        ..RoomStatusResponse::default()
    };
    let Some(course) = course else {
        return match room.closed {
            None => RoomStatusResponse { joined_bots: Some(room.identifiers()), ..base },
            Some(_) => closed_room_status(room, base),
        };
    };
    let name = |side: Side| room.bot_on_side(side).map(|guest| guest.identifier.clone());
    let log = course.speeches.iter().map(|entry| SpeechLogEntry {
        round: entry.cue.round,
        speaker: entry.speaker.clone(),
        side: side_str(entry.side),
        timestamp: format_timestamp(entry.spoken_at),
        message: SpeechMessage { format: "markdown".into(), content: entry.content.clone() },
    });
    let forfeits = course.forfeits.iter().map(|forfeit| ForfeitLogEntry {
        round: forfeit.cue.round,
        speaker: forfeit.speaker.clone(),
        side: side_str(forfeit.side),
        timestamp: format_timestamp(forfeit.forfeited_at),
        reason: forfeit.reason.clone(),
    });
    let both = RoomStatusResponse {
        supporting_side: name(Side::Pro),
        opposing_side: name(Side::Con),
        debate_log: Some(log.collect()),
        forfeits: forfeits.collect(),
        ..base
    };
    match &course.result {
        Some((outcome, reason)) => RoomStatusResponse {
            status: Some("completed"),
            debate_result: Some(outcome.clone()),
            end_reason: Some(reason.as_str()),
            ..both
        },
        None => RoomStatusResponse {
            current_round: Some(course.round),
            next_speaker: Some(course.next_turn.and_then(|spot| name(spot.side))),
            timeout_seconds: Some(course.timeout_seconds),
            min_content_length: Some(course.min_chars),
            max_content_length: Some(course.max_chars),
            deadline_at: course.next_turn.and_then(|spot| spot.deadline).map(format_timestamp),
            ..both
        },
    }
}

/// Status response for a room that was closed before its debate began.
fn closed_room_status(room: &Room, base: RoomStatusResponse) -> RoomStatusResponse {
    let because = room.closed.as_ref().and_then(|closed| closed.because.clone());
    let summary = format!("Not held: {}.", because.unwrap_or_else(|| "it was ended".into()));
    let nothing = protocol::ArenaResult {
        winner: None,
        supporting_score: None,
        opposing_score: None,
        summary,
    };
    RoomStatusResponse {
        status: Some("completed"),
        debate_log: Some(vec![]),
        debate_result: Some(nothing),
        end_reason: Some(EndReason::Expired.as_str()),
        ..base
    }
}

/// Side in the protocol: `supporting` or `opposing`.
fn side_str(side: Side) -> &'static str {
    match side {
        Side::Pro => "supporting",
        Side::Con => "opposing",
    }
}

/// Formats a time as RFC 3339, to the second.
fn format_timestamp(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}
