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
pub(super) fn status_for_bot(state: &RoomState, bot: &JoinedBot) -> RoomStatusResponse {
    let side = state.room.side_of(&bot.identifier);
    RoomStatusResponse {
        your_side: side.map(side_str).filter(|_| state_str(state) == "active"),
        your_identifier: Some(bot.identifier.clone()),
        ..build_status(state)
    }
}

/// Public status response.
pub(super) fn public_status(state: &RoomState) -> RoomStatusResponse {
    build_status(state)
}

/// Item of the debate list.
pub(super) fn list_item(state: &RoomState) -> RoomListItem {
    let result = state.progress.as_ref().and_then(|progress| progress.result.as_ref());
    RoomListItem {
        debate_id: state.room.id.clone(),
        topic: state.room.topic.clone(),
        state: state_str(state),
        total_rounds: state.room.rounds,
        current_round: state.progress.as_ref().map(|progress| progress.round),
        joined_bots: state.room.identifiers(),
        created_at: format_timestamp(state.room.created_at),
        winner: result.and_then(|(outcome, _)| outcome.winner.clone()),
        archive_id: state.room.debate.clone(),
    }
}

/// State in the protocol: `waiting`, `active` or `ended`.
pub(super) fn state_str(state: &RoomState) -> &'static str {
    match &state.progress {
        _ if state.is_over() => "ended",
        Some(_) => "active",
        None => "waiting",
    }
}

fn build_status(state: &RoomState) -> RoomStatusResponse {
    let RoomState { room, progress } = state;
    let base = RoomStatusResponse {
        state: state_str(state),
        debate_id: room.id.clone(),
        topic: room.topic.clone(),
        total_rounds: room.rounds,
        rematch_id: room.rematch.clone(),
        long_poll: true,
        ..RoomStatusResponse::default()
    };
    let Some(progress) = progress else {
        return match room.closed {
            None => RoomStatusResponse { joined_bots: Some(room.identifiers()), ..base },
            Some(_) => closed_room_status(room, base),
        };
    };
    let identifier_on = |side: Side| room.bot_on_side(side).map(|bot| bot.identifier.clone());
    let speeches = progress.speeches.iter().map(|entry| SpeechLogEntry {
        round: entry.cue.round,
        speaker: entry.speaker.clone(),
        side: side_str(entry.side),
        timestamp: format_timestamp(entry.spoken_at),
        message: SpeechMessage { format: "markdown".into(), content: entry.content.clone() },
    });
    let forfeits = progress.forfeits.iter().map(|forfeit| ForfeitLogEntry {
        round: forfeit.cue.round,
        speaker: forfeit.speaker.clone(),
        side: side_str(forfeit.side),
        timestamp: format_timestamp(forfeit.forfeited_at),
        reason: forfeit.reason.clone(),
    });
    let with_speeches = RoomStatusResponse {
        supporting_side: identifier_on(Side::Pro),
        opposing_side: identifier_on(Side::Con),
        debate_log: Some(speeches.collect()),
        forfeits: forfeits.collect(),
        ..base
    };
    match &progress.result {
        Some((outcome, reason)) => RoomStatusResponse {
            status: Some("completed"),
            debate_result: Some(outcome.clone()),
            end_reason: Some(reason.as_str()),
            ..with_speeches
        },
        None => RoomStatusResponse {
            current_round: Some(progress.round),
            next_speaker: Some(progress.next_turn.and_then(|turn| identifier_on(turn.side))),
            timeout_seconds: Some(progress.timeout_seconds),
            min_content_length: Some(progress.min_chars),
            max_content_length: Some(progress.max_chars),
            deadline_at: progress.next_turn.and_then(|turn| turn.deadline).map(format_timestamp),
            ..with_speeches
        },
    }
}

/// Status response for a room that was closed before its debate began.
fn closed_room_status(room: &Room, base: RoomStatusResponse) -> RoomStatusResponse {
    let reason = room.closed.as_ref().and_then(|closed| closed.because.clone());
    let summary = format!("Not held: {}.", reason.unwrap_or_else(|| "it was ended".into()));
    let result = protocol::ArenaResult {
        winner: None,
        supporting_score: None,
        opposing_score: None,
        summary,
    };
    RoomStatusResponse {
        status: Some("completed"),
        debate_log: Some(vec![]),
        debate_result: Some(result),
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
