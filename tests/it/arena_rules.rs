//! Arena rules as tables: timeouts, rematches, error codes with their HTTP status, the token-bucket
//! rate limiter, and the OpenAPI document.
use debate_mcp::arena::{Board, Closed, Course, Ending, Guest, Refusal, Room, Spot, Terms, ending};
use debate_mcp::debate::{Cue, Side};
use debate_mcp::web::{openapi, pace};
use serde_json::Value;
use std::collections::BTreeSet;

fn guest(name: &str, uuid: &str) -> Guest {
    Guest {
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
        guests: guests.iter().map(|(name, uuid)| guest(name, uuid)).collect(),
        supporting: (guests.len() == 2).then_some(0),
        debate: None,
        rematch: None,
        first_leg: None,
        closed: None,
    }
}

fn course(said: &[Side], next: Option<Side>) -> Course {
    let cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };
    let entry = |side: &Side| debate_mcp::arena::Entry {
        cue,
        speaker: "x".into(),
        side: *side,
        at: 0,
        content: "words".into(),
    };
    Course {
        seq: 1,
        opened_at: 0,
        round: 1,
        next: next.map(|side| Spot { cue, side, deadline: Some(120_000) }),
        spent: false,
        take: 0,
        shortest: 50,
        longest: 2000,
        timeout: 120,
        log: said.iter().map(entry).collect(),
        forfeits: vec![],
        over: None,
    }
}

#[test]
fn what_time_does_to_a_room() {
    use Side::{Con, Pro};
    let terms = Terms::default();
    let waiting = |guests: &[(&str, &str)]| Board { room: room(guests), course: None };
    let both = [("a", "1"), ("b", "2")];
    let held = |said: &[Side], next| Board { room: room(&both), course: Some(course(said, next)) };
    let over = Board {
        room: Room { closed: Some(Closed { at: 0, because: None }), ..room(&[]) },
        course: None,
    };
    let offline = "offline: b_abc has not polled for more than 90 seconds".to_owned();
    let long = "timeout: the debate has taken more than 3600 seconds".to_owned();
    let late = 3_600_001;
    for (board, seen, now, expected) in [
        // Within the limits: no action.
        (waiting(&[("a", "1")]), [0, 0], 90_000, None),
        (held(&[], Some(Pro)), [0, 0], 90_000, None),
        // A waiting bot that stops polling loses its seat, and an empty room expires.
        (waiting(&[("a", "1")]), [0, 0], 90_001, Some(Ending::Leaves(0))),
        (waiting(&[]), [0, 0], 1_800_000, None),
        (
            waiting(&[]),
            [0, 0],
            1_800_001,
            Some(Ending::Expires("nobody has come for 1800 seconds".into())),
        ),
        // Offline: judged if both sides have spoken, else cancelled.
        (
            held(&[Pro, Con], Some(Pro)),
            [90_001, 0],
            90_001,
            Some(Ending::Concludes(offline.clone())),
        ),
        (held(&[Pro], Some(Con)), [90_001, 0], 90_001, Some(Ending::Cancels(offline))),
        // Total time limit exceeded.
        (held(&[Pro, Con], Some(Pro)), [late, late], late, Some(Ending::Concludes(long.clone()))),
        (held(&[], Some(Pro)), [late, late], late, Some(Ending::Cancels(long))),
        // After the last speech, bots may disconnect.
        (held(&[Pro, Con], None), [0, 0], late, None),
        (over, [0, 0], late, None),
        // Budget exhausted: no seat can be asked again.
        (
            Board {
                room: room(&both),
                course: Some(Course { spent: true, ..course(&[Pro, Con], None) }),
            },
            [0, 0],
            1,
            Some(Ending::Cancels("budget: all that may be spent on it is spent".into())),
        ),
    ] {
        assert_eq!(ending(&board, &seen, 0, now, &terms), expected, "{board:?} at {now}");
    }
}

#[test]
fn sides_are_tossed_for_and_changed_in_a_rematch() {
    let first = room(&[("a", "1"), ("b", "2")]);
    let second = |guests: &[(&str, &str)]| Room {
        first_leg: Some("abc".into()),
        supporting: None,
        ..room(guests)
    };
    for coin in [false, true] {
        assert_eq!(first.toss(coin, None), usize::from(coin));
        // The opposing bot of the first leg supports now, in either join order.
        assert_eq!(second(&[("a", "1"), ("b", "2")]).toss(coin, Some(&first)), 1);
        assert_eq!(second(&[("b", "2"), ("a", "1")]).toss(coin, Some(&first)), 0);
    }
    // A rematch admits only the two bots of the first leg, once each, and only if that was full.
    let waiting = second(&[]);
    assert!(!waiting.admits("3", Some(&first)) && waiting.admits("1", Some(&first)));
    assert!(!second(&[("a", "1")]).admits("1", Some(&first)));
    assert!(!waiting.admits("1", Some(&room(&[("a", "1")]))));
    assert!(room(&[]).admits("anybody", None));
    // An identifier carries the room id, and a number if two bots share a name.
    assert_eq!(room(&[]).identifier("clawd_pot"), "clawd_pot_abc");
    assert_eq!(room(&[("clawd_pot", "1")]).identifier("clawd_pot"), "clawd_pot-2_abc");
    assert_eq!(room(&[]).identifier("a b<c>"), "a_b_c__abc");
    assert_eq!(room(&[]).identifier("机器人"), "机器人_abc");
}

#[test]
fn every_refusal_has_its_code_and_its_status() {
    let words = || "x".to_owned();
    let table = [
        (Refusal::MissingAuth, "MISSING_AUTH", 401, false),
        (Refusal::InvalidCredentials, "INVALID_CREDENTIALS", 401, false),
        (Refusal::DebateNotFound, "DEBATE_NOT_FOUND", 404, false),
        (Refusal::NotYourTurn, "NOT_YOUR_TURN", 409, false),
        (Refusal::NoAvailableDebate, "no_available_debate", 404, true),
        (Refusal::DebateFull, "debate_full", 409, false),
        (Refusal::NotReady, "debate_not_ready", 409, true),
        (Refusal::Ended, "DEBATE_ENDED", 409, false),
        (Refusal::TooShort { length: 1, least: 50 }, "CONTENT_TOO_SHORT", 422, true),
        (Refusal::TooLong { length: 9, most: 2 }, "CONTENT_TOO_LONG", 422, true),
        (Refusal::Malformed(words()), "INVALID_MESSAGE_FORMAT", 400, true),
        (Refusal::NoMarkdown(words()), "INVALID_MESSAGE_TYPE", 422, true),
        (Refusal::BadName(words()), "INVALID_BOT_NAME", 422, true),
        (Refusal::BadTopic(words()), "INVALID_TOPIC", 422, true),
        (Refusal::Unreadable(words()), "CONTENT_REFUSED", 422, true),
        (Refusal::TooManyRooms, "TOO_MANY_DEBATES", 429, true),
        (Refusal::TooLarge(9), "PAYLOAD_TOO_LARGE", 413, true),
        (Refusal::TooFast { seconds: 1 }, "RATE_LIMITED", 429, true),
        (Refusal::Forbidden(words()), "FORBIDDEN", 403, false),
        (Refusal::Unknown(words()), "NOT_FOUND", 404, false),
        (Refusal::Internal(words()), "internal_error", 500, true),
    ];
    for (refusal, code, status, recoverable) in table {
        assert_eq!(
            (refusal.code(), refusal.status(), refusal.recoverable()),
            (code, status, recoverable)
        );
        assert!(!refusal.says().is_empty());
    }
    assert_eq!(Refusal::NotYourTurn.says(), "It is not your turn to speak");
}

#[test]
fn a_bucket_fills_up_again() {
    let pace = pace::Pace { steady: 20.0, burst: 40.0 };
    let mut bucket = pace::Bucket::full(pace, 0.0);
    for _ in 0..40 {
        assert_eq!(bucket.take(pace, 0.0), Ok(()));
    }
    assert_eq!(bucket.take(pace, 0.0), Err(1));
    // The steady rate is 20 requests per second.
    let mut taken = 0;
    for tick in 1..=1000 {
        taken += u32::from(bucket.take(pace, f64::from(tick) / 100.0).is_ok());
    }
    assert!((199..=201).contains(&taken), "{taken}");
    // A clock that goes backwards removes no tokens.
    assert!(bucket.take(pace, 100.0).is_ok() && bucket.take(pace, 50.0).is_ok());
    const { assert!(pace::Pace::BOT.steady >= 20.0, "a bot may ask twenty times in a second") };
}

/// Every `$ref` resolves, and every documented path has a handler.
#[test]
fn the_document_of_the_wire_is_whole() {
    let document = openapi::document();
    let mut wanted = BTreeSet::new();
    references(&document, &mut wanted);
    for reference in &wanted {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    assert!(wanted.iter().any(|it| it.ends_with("/Problem")));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let source = include_str!("../../src/web/rest.rs");
    for path in &paths {
        assert!(source.contains(&format!("\"{path}\"")), "{path} is not answered");
    }
    assert_eq!(paths.len(), 6);
}

fn references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().filter(|_| name == "$ref") {
                    Some(reference) => drop(into.insert(reference.into())),
                    None => references(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}
