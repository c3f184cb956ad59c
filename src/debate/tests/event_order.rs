//! Valid and invalid orders of events: a prompt precedes its reply, a turn is taken once, and a
//! reply is rejected at most once. Sequences are written in the notation that `parse_event` reads.
use crate::debate::{
    Amendment, Body, Budget, Cue, Debate, DebateOutcome, Envelope, Event, FailureKind, Participant,
    PauseReason, RejectedReply, Reply, Rule, RuleFinding, RuleWeight, Seat, Spend, Step,
    TurnFailure, formats,
};
use crate::test_support::debate_fixture::{cue, debate_setup, due_cues, open_debate};
use crate::test_support::simulated_players::{
    failed_event, refused_event, reply_event, valid_reply,
};

/// Parses one event. `ask 1,2 @9` asks seats 1 and 2 with deadline 9. `say`, `fail` and `refuse`
/// name one seat. The rest of the cue is that of the first turn.
fn parse_event(debate: &Debate, first: Cue, notation: &str) -> Event {
    let (verb, seats) = notation.split_once(' ').unwrap();
    let (seats, deadline) = seats.split_once(" @").unwrap_or((seats, ""));
    let cues: Vec<Cue> =
        seats.split(',').map(|seat| Cue { seat: seat.parse().unwrap(), ..first }).collect();
    let cue = cues[0];
    match verb {
        "ask" => Event::Asked { cues, deadline: deadline.parse().ok(), prompts: vec![] },
        "say" => {
            let fallback = Reply {
                body: valid_reply(debate, first),
                findings: vec![],
                citations: vec![],
                envelope: Envelope::default(),
            };
            reply_event(debate, cue, valid_reply(debate, cue))
                .unwrap_or(Event::Spoke { cue, reply: fallback })
        }
        "fail" => failed_event(debate, cue, FailureKind::TimedOut),
        "refuse" => refused_event(debate, cue, vec![]),
        _ => panic!("{verb}"),
    }
}

/// Research debate whose first wave is Eli (seat 4), Fay (5) and Gus (6), all at once. Fay is
/// awaited (human), the other two are driven by the engine.
fn research_wave() -> (Debate, Cue) {
    let mut setup = debate_setup(formats::research(), 1);
    setup.seats[5].voice = Participant::Human;
    let debate = open_debate(setup);
    let first = due_cues(&debate)[0];
    (debate, first)
}

/// Applies all events but the last, then checks whether the last one is valid.
#[track_caller]
fn check_sequence((mut debate, first): (Debate, Cue), sequence: &str, is_valid: bool) {
    let sequence: Vec<&str> = sequence.split("; ").collect();
    let (last, before) = sequence.split_last().unwrap();
    for notation in before {
        let event = parse_event(&debate, first, notation);
        debate.apply(event).unwrap_or_else(|error| panic!("`{notation}`: {error}"));
    }
    let last = parse_event(&debate, first, last);
    assert_eq!(debate.validate(&last).is_ok(), is_valid, "{sequence:?}");
}

#[test]
fn reply_before_its_prompt_is_invalid() {
    for notation in ["say 4", "fail 4", "refuse 4", "say 5", "fail 5"] {
        check_sequence(research_wave(), notation, false);
        check_sequence(research_wave(), &format!("ask 4,6,5; {notation}"), true);
    }
}

#[test]
fn all_open_turns_are_asked_in_one_event() {
    let table = [
        ("ask 4,6,5", true),
        ("ask 5,4,6", true), // In any order.
        ("ask 4", false),
        ("ask 4,6", false),
        ("ask 5", false),
        ("ask 4,5,6,7", false), // Hal (seat 7) has no turn here.
        ("ask 0", false),
    ];
    for (sequence, is_valid) in table {
        check_sequence(research_wave(), sequence, is_valid);
    }
    let no_cues = Event::Asked { cues: vec![], deadline: None, prompts: vec![] };
    assert!(research_wave().0.validate(&no_cues).is_err());
}

#[test]
fn only_driven_seats_can_be_asked_again() {
    let table = [
        ("ask 4,6,5; ask 4,6", true),
        ("ask 4,6,5; ask 6", true),
        ("ask 4,6,5; ask 4; ask 4; ask 6", true),
        ("ask 4,6,5; ask 5", false),
        ("ask 4,6,5; ask 4,6,5", false),
        ("ask 4,6,5; say 4; ask 4", false), // It has replied.
        ("ask 4,6,5; fail 4; ask 4", false),
        ("ask 4,6,5; refuse 4; ask 4", true),
    ];
    for (sequence, is_valid) in table {
        check_sequence(research_wave(), sequence, is_valid);
    }
}

#[test]
fn only_driven_seats_are_rejected_and_only_once() {
    let table = [
        ("ask 4,6,5; refuse 4; refuse 4", false),
        ("ask 4,6,5; refuse 4; refuse 6", true), // Counted per seat.
        ("ask 4,6,5; refuse 4; say 4", true),
        ("ask 4,6,5; refuse 4; fail 4", true),
        ("ask 4,6,5; refuse 4; ask 4; refuse 4", false), // Nor after asking again.
        ("ask 4,6,5; refuse 5", false),                  // Awaited: told directly, may resend.
        ("ask 4,6,5; say 4; refuse 4", false),
        ("ask 4,6,5; fail 4; refuse 4", false),
    ];
    for (sequence, is_valid) in table {
        check_sequence(research_wave(), sequence, is_valid);
    }
}

#[test]
fn turn_is_taken_only_once() {
    for sequence in ["say 4; say 4", "say 4; fail 4", "fail 4; say 4", "fail 5; fail 5"] {
        check_sequence(research_wave(), &format!("ask 4,6,5; {sequence}"), false);
    }
}

#[test]
fn sequential_turns_are_asked_one_by_one() {
    let arena = || {
        let debate = open_debate(debate_setup(formats::arena(), 1));
        let first = due_cues(&debate)[0];
        (debate, first)
    };
    check_sequence(arena(), "ask 0,1", false);
    check_sequence(arena(), "ask 1", false);
    check_sequence(arena(), "ask 0; ask 1", false);
    check_sequence(arena(), "ask 0; say 0; ask 1", true);
}

#[test]
fn deadline_lasts_until_the_seat_is_asked_again() {
    let (mut debate, first) = research_wave();
    let [eli, fay, gus] = [4, 5, 6].map(|seat| Cue { seat, ..first });
    assert_eq!((debate.was_asked(fay), debate.deadline(fay)), (false, None));
    let mut apply = |notation: &str| {
        let event = parse_event(&debate, first, notation);
        debate.apply(event).unwrap();
        [eli, fay, gus].map(|cue| debate.deadline(cue))
    };
    assert_eq!(apply("ask 4,6,5 @90"), [Some(90); 3]);
    assert_eq!(apply("ask 4 @95"), [Some(95), Some(90), Some(90)]);
    assert_eq!(apply("say 6"), [Some(95), Some(90), Some(90)]);
    assert_eq!(apply("ask 4"), [None, Some(90), Some(90)], "asked again without a deadline");
}

#[test]
fn rejected_attempt_is_paid_for_and_cleared_by_reopening() {
    let mut debate = open_debate(debate_setup(formats::duel(), 1));
    let first = due_cues(&debate)[0];
    for notation in ["ask 0", "refuse 0", "fail 0"] {
        let event = parse_event(&debate, first, notation);
        debate.apply(event).unwrap();
    }
    assert_eq!(debate.spent().cost, 2);
    assert_eq!(debate.rejected_reply(first).unwrap().text, "Nothing much.");
    debate.apply(Event::Reopened { from: first }).unwrap_err();
    let outcome = DebateOutcome::Aborted { at: first.position(), phase: "propose".into() };
    debate.apply(Event::Closed { outcome }).unwrap();
    debate.apply(Event::Reopened { from: first }).unwrap();
    assert_eq!((debate.rejected_reply(first), debate.was_asked(first)), (None, false));
    assert_eq!(debate.spent().cost, 2, "the attempts were paid for");
    check_sequence((debate.clone(), first), "ask 0; refuse 0", true);
}

#[test]
fn reply_with_a_reask_finding_cannot_be_recorded() {
    let (mut debate, first) = research_wave();
    debate.apply(parse_event(&debate, first, "ask 4,6,5")).unwrap();
    for (weight, is_valid) in
        [(RuleWeight::Note, true), (RuleWeight::Foul, true), (RuleWeight::Reask, false)]
    {
        let mut spoke = parse_event(&debate, first, "say 4");
        if let Event::Spoke { reply, .. } = &mut spoke {
            let rule = Rule::Structured;
            reply.findings.push(RuleFinding { rule, weight, says: "x".into() });
        }
        assert_eq!(debate.validate(&spoke).is_ok(), is_valid, "{weight:?}");
    }
}

#[test]
fn invalid_event_error_names_what_is_due() {
    let (debate, first) = research_wave();
    let error_for = |debate: &Debate, notation: &str| {
        debate.validate(&parse_event(debate, first, notation)).unwrap_err().to_string()
    };
    let due = "is not possible now; expected: turn 0.0.0.4, 0.0.0.6, 0.0.0.5";
    assert_eq!(error_for(&debate, "fail 4"), format!("a failure of turn 0.0.0.4 {due}"));
    assert_eq!(error_for(&debate, "say 5"), format!("turn 0.0.0.5 {due}"));
    assert_eq!(error_for(&debate, "ask 4,6"), format!("asking 0.0.0.4, 0.0.0.6 {due}"));
    let mut cancelled = debate;
    cancelled.apply(Event::Cancelled { because: None }).unwrap();
    assert_eq!(
        error_for(&cancelled, "refuse 4"),
        "rejecting a reply at turn 0.0.0.4 is not possible now; expected: nothing, the debate is \
         closed"
    );
}

/// One event of every kind, with `text` in every text field.
fn one_event_of_each_kind(text: &str) -> Vec<Event> {
    let (debate, first) = research_wave();
    let (text, position) = (String::from(text), first.position());
    let finding = RuleFinding { rule: Rule::NoHelp, weight: RuleWeight::Note, says: text.clone() };
    let findings = vec![finding];
    let envelope = Envelope { tool: text.clone(), ..Envelope::default() };
    let reply = Reply {
        body: Body::from_prose(text.clone()),
        findings: findings.clone(),
        citations: vec![],
        envelope: envelope.clone(),
    };
    let attempt = RejectedReply { text: text.clone(), why: text.clone(), findings, envelope };
    let voice = Participant::Model { tool: text.clone(), model: Some(text.clone()) };
    let seat = Seat { name: text.clone(), stance: text.clone(), ..debate.seats()[0].clone() };
    let changes = [
        Amendment::Seat { seat: 0, voice },
        Amendment::Limit { budget: Budget::default() },
        Amendment::Plan { rounds: None, seats: Some(vec![seat]), holds: None },
        Amendment::Topic { topic: text.clone() },
    ];
    let amended = changes.map(|change| Event::Amended { change, because: text.clone() });
    let mut events = vec![
        Event::Asked { cues: vec![first], deadline: Some(9), prompts: vec![text.clone()] },
        Event::Refused { cue: first, attempt },
        Event::Spoke { cue: first, reply },
        Event::Failed { cue: first, failure: TurnFailure::new(FailureKind::Other, text.clone()) },
        Event::Interjected { text: text.clone() },
        Event::Held,
        Event::Continued { before: position },
        Event::Concluded { because: Some(text.clone()) },
        Event::Cancelled { because: None },
        Event::Closed { outcome: DebateOutcome::Aborted { at: position, phase: text.clone() } },
        Event::Reopened { from: first },
        Event::Decided { text },
        Event::Kept { keep: true },
    ];
    events.extend(amended);
    events
}

#[test]
fn event_and_step_names_contain_no_user_text() {
    let (short, long) =
        (one_event_of_each_kind("xyzzy"), one_event_of_each_kind(&"xyzzy ".repeat(999)));
    for (event, long_event) in short.iter().zip(&long) {
        let name = event.name();
        assert!((4..60).contains(&name.len()) && !name.contains("xyzzy"), "{name}");
        assert_eq!(name, long_event.name());
    }
    let (first, phase) = (cue(0, 1, 0, 0), String::from("xyzzy"));
    let (spent, budget) = (Spend::default(), Budget::default());
    for (step, name) in [
        (Step::Speak { driven: vec![first], awaited: vec![] }, "turn 0.1.0.0"),
        (Step::Speak { driven: vec![], awaited: vec![first, first] }, "turn 0.1.0.0, 0.1.0.0"),
        (Step::Hold { next: first, pause: PauseReason::UserHold }, "the user's confirmation"),
        (
            Step::Hold { next: first, pause: PauseReason::BudgetExhausted { spent, budget } },
            "a higher budget",
        ),
        (Step::Close(DebateOutcome::Aborted { at: first.position(), phase }), "closing"),
        (Step::Done, "nothing, the debate is closed"),
    ] {
        assert_eq!(step.describe(), name);
    }
}

#[test]
fn cue_round_trips_through_text() {
    let turn = cue(1, 2, 0, 10);
    assert_eq!((turn.to_string().as_str(), "1.2.0.10".parse()), ("1.2.0.10", Ok(turn)));
    for bad in ["", "1.2.0", "1.2.0.10.4", "1.2.0.256", "a.b.c.d", "1.2.0.-1"] {
        assert_eq!(bad.parse::<Cue>(), Err(format!("`{bad}` does not name a turn")));
    }
    // Ordered by act first: the ending act sorts last although its round is 0.
    assert!(cue(3, 0, 0, 0) > cue(2, 9, 9, 9));
}
