//! Rules of the arena as tables: timeouts, rematches, and error codes with their HTTP status.
use super::deadlines::{TimeoutAction, timeout_action};
use super::room::{JoinedBot, Room, RoomClosure};
use super::room_state::{ArenaSpeech, AwaitedTurn, DebateProgress, RoomState};
use super::{ArenaError, ArenaLimits};
use crate::debate::{Cue, Side};

fn joined_bot(name: &str, uuid: &str) -> JoinedBot {
    JoinedBot {
        name: name.into(),
        uuid: uuid.into(),
        identifier: format!("{name}_abc"),
        key: String::new(),
        joined_at: 0,
    }
}

fn room(guests: &[(&str, &str)]) -> Room {
    Room {
        id: "abc".into(),
        topic: "Tabs or spaces?".into(),
        rounds: 3,
        created_at: 0,
        guests: guests.iter().map(|(name, uuid)| joined_bot(name, uuid)).collect(),
        supporting: (guests.len() == 2).then_some(0),
        debate: None,
        rematch: None,
        first_leg: None,
        closed: None,
    }
}

fn debate_progress(spoken_sides: &[Side], next_side: Option<Side>) -> DebateProgress {
    let cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };
    let speech = |side: &Side| ArenaSpeech {
        cue,
        speaker: "x".into(),
        side: *side,
        spoken_at: 0,
        content: "words".into(),
    };
    DebateProgress {
        last_seq: 1,
        opened_at: 0,
        round: 1,
        next_turn: next_side.map(|side| AwaitedTurn { cue, side, deadline: Some(120_000) }),
        budget_exhausted: false,
        take: 0,
        min_chars: 50,
        max_chars: 2000,
        timeout_seconds: 120,
        speeches: spoken_sides.iter().map(speech).collect(),
        forfeits: vec![],
        result: None,
    }
}

#[test]
fn timeouts_trigger_the_expected_action() {
    use Side::{Con, Pro};
    let limits = ArenaLimits::default();
    let waiting = |guests: &[(&str, &str)]| RoomState { room: room(guests), progress: None };
    let two_bots = [("a", "1"), ("b", "2")];
    let running = |spoken_sides: &[Side], next_side| RoomState {
        room: room(&two_bots),
        progress: Some(debate_progress(spoken_sides, next_side)),
    };
    let closed = RoomState {
        room: Room { closed: Some(RoomClosure { at: 0, because: None }), ..room(&[]) },
        progress: None,
    };
    let offline_reason = "offline: b_abc has not polled for more than 90 seconds".to_owned();
    let timeout_reason = "timeout: the debate has taken more than 3600 seconds".to_owned();
    let past_total_limit = 3_600_001;
    for (state, last_polls, now, expected) in [
        // Within the limits: no action.
        (waiting(&[("a", "1")]), [0, 0], 90_000, None),
        (running(&[], Some(Pro)), [0, 0], 90_000, None),
        // A waiting bot that stops polling loses its seat, and an empty room expires.
        (waiting(&[("a", "1")]), [0, 0], 90_001, Some(TimeoutAction::FreeSeat(0))),
        (waiting(&[]), [0, 0], 1_800_000, None),
        (
            waiting(&[]),
            [0, 0],
            1_800_001,
            Some(TimeoutAction::CloseRoom(
                "the room waited more than 1800 seconds for bots".into(),
            )),
        ),
        // Offline: judged if both sides have spoken, else cancelled.
        (
            running(&[Pro, Con], Some(Pro)),
            [90_001, 0],
            90_001,
            Some(TimeoutAction::Conclude(offline_reason.clone())),
        ),
        (
            running(&[Pro], Some(Con)),
            [90_001, 0],
            90_001,
            Some(TimeoutAction::Cancel(offline_reason)),
        ),
        // Total time limit: reached, then exceeded.
        (running(&[Pro, Con], Some(Pro)), [3_600_000, 3_600_000], 3_600_000, None),
        (
            running(&[Pro, Con], Some(Pro)),
            [past_total_limit, past_total_limit],
            past_total_limit,
            Some(TimeoutAction::Conclude(timeout_reason.clone())),
        ),
        (
            running(&[], Some(Pro)),
            [past_total_limit, past_total_limit],
            past_total_limit,
            Some(TimeoutAction::Cancel(timeout_reason)),
        ),
        // After the last speech, bots may disconnect.
        (running(&[Pro, Con], None), [0, 0], past_total_limit, None),
        (closed, [0, 0], past_total_limit, None),
        // Budget exhausted: no seat can be asked again.
        (
            RoomState {
                room: room(&two_bots),
                progress: Some(DebateProgress {
                    budget_exhausted: true,
                    ..debate_progress(&[Pro, Con], None)
                }),
            },
            [0, 0],
            1,
            Some(TimeoutAction::Cancel("budget: all that may be spent on it is spent".into())),
        ),
    ] {
        assert_eq!(
            timeout_action(&state, &last_polls, 0, now, &limits),
            expected,
            "{state:?} at {now}"
        );
    }
}

#[test]
fn rematch_swaps_sides_and_admits_only_the_same_bots() {
    let first_room = room(&[("a", "1"), ("b", "2")]);
    let rematch = |guests: &[(&str, &str)]| Room {
        first_leg: Some("abc".into()),
        supporting: None,
        ..room(guests)
    };
    for coin in [false, true] {
        assert_eq!(first_room.choose_supporting(coin, None), usize::from(coin));
        // The opposing bot of the first leg supports now, in either join order.
        assert_eq!(
            rematch(&[("a", "1"), ("b", "2")]).choose_supporting(coin, Some(&first_room)),
            1
        );
        assert_eq!(
            rematch(&[("b", "2"), ("a", "1")]).choose_supporting(coin, Some(&first_room)),
            0
        );
    }
    // A rematch admits only the two bots of the first leg, once each, and only if that was full.
    let empty_rematch = rematch(&[]);
    assert!(
        !empty_rematch.can_join("3", Some(&first_room))
            && empty_rematch.can_join("1", Some(&first_room))
    );
    assert!(!rematch(&[("a", "1")]).can_join("1", Some(&first_room)));
    assert!(!empty_rematch.can_join("1", Some(&room(&[("a", "1")]))));
    assert!(room(&[]).can_join("anybody", None));
    // An identifier carries the room id, and a number if two bots share a name.
    assert_eq!(room(&[]).unique_identifier("clawd_pot"), "clawd_pot_abc");
    assert_eq!(room(&[("clawd_pot", "1")]).unique_identifier("clawd_pot"), "clawd_pot-2_abc");
    assert_eq!(room(&[]).unique_identifier("a b<c>"), "a_b_c__abc");
    assert_eq!(room(&[]).unique_identifier("机器人"), "机器人_abc");
}

#[test]
fn every_error_has_its_code_and_http_status() {
    let detail = || "x".to_owned();
    let table = [
        (ArenaError::MissingAuth, "MISSING_AUTH", 401, false),
        (ArenaError::InvalidCredentials, "INVALID_CREDENTIALS", 401, false),
        (ArenaError::DebateNotFound, "DEBATE_NOT_FOUND", 404, false),
        (ArenaError::NotYourTurn, "NOT_YOUR_TURN", 409, false),
        (ArenaError::NoAvailableDebate, "no_available_debate", 404, true),
        (ArenaError::DebateFull, "debate_full", 409, false),
        (ArenaError::DebateNotReady, "debate_not_ready", 409, true),
        (ArenaError::DebateEnded, "DEBATE_ENDED", 409, false),
        (ArenaError::SpeechTooShort { length: 1, min: 50 }, "CONTENT_TOO_SHORT", 422, true),
        (ArenaError::SpeechTooLong { length: 9, max: 2 }, "CONTENT_TOO_LONG", 422, true),
        (ArenaError::MalformedBody(detail()), "INVALID_MESSAGE_FORMAT", 400, true),
        (ArenaError::UnsupportedFormat(detail()), "INVALID_MESSAGE_TYPE", 422, true),
        (ArenaError::InvalidBotName(detail()), "INVALID_BOT_NAME", 422, true),
        (ArenaError::InvalidTopic(detail()), "INVALID_TOPIC", 422, true),
        (ArenaError::SpeechRejected(detail()), "CONTENT_REFUSED", 422, true),
        (ArenaError::TooManyRooms, "TOO_MANY_DEBATES", 429, true),
        (ArenaError::BodyTooLarge(9), "PAYLOAD_TOO_LARGE", 413, true),
        (ArenaError::RateLimited { seconds: 1 }, "RATE_LIMITED", 429, true),
        (ArenaError::Forbidden(detail()), "FORBIDDEN", 403, false),
        (ArenaError::UnknownRoute(detail()), "NOT_FOUND", 404, false),
        (ArenaError::Internal(detail()), "internal_error", 500, true),
    ];
    for (error, code, status, recoverable) in table {
        assert_eq!(
            (error.code(), error.http_status(), error.is_recoverable()),
            (code, status, recoverable)
        );
        assert!(!error.message().is_empty());
    }
    assert_eq!(ArenaError::NotYourTurn.message(), "It is not your turn to speak");
}
