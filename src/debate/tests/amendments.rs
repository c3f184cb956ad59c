//! Amendments (`Event::Amended`): which changes of seats, budget, plan and topic are valid at which
//! point of a debate, and that prompts already sent do not change.
use crate::debate::{
    Amendment, Body, Budget, Cue, Debate, Event, FailureKind, Format, HoldPoint, Participant, Role,
    Seat, Setup, Step, TranscriptItem, TurnFailure, formats, next,
};
use crate::test_support::debate_fixture::{
    apply_events, ask_open_turns, cost_budget, cue, debate_setup, due_cues, model_participant,
    open_debate, play_debate, play_until, record_reply,
};
use crate::test_support::simulated_players::{
    amended_event, refused_event, render_prompt, reply_event, valid_reply,
};

fn seat_handover(seat: u8, voice: Participant) -> Amendment {
    Amendment::Seat { seat, voice }
}

fn round_count_change(rounds: u8) -> Amendment {
    Amendment::Plan { rounds: Some(rounds), seats: None, holds: None }
}

fn seat_list_change(seats: Vec<Seat>) -> Amendment {
    Amendment::Plan { rounds: None, seats: Some(seats), holds: None }
}

fn topic_change(topic: &str) -> Amendment {
    Amendment::Topic { topic: topic.into() }
}

/// Debate at the first turn of `phase` in `round`. With `prompts_sent`, its prompts have been sent.
fn debate_at_phase(
    format: Format,
    rounds: u8,
    round: u8,
    phase: &str,
    prompts_sent: bool,
) -> Debate {
    let mut debate = open_debate(debate_setup(format, rounds));
    play_until(&mut debate, round, phase);
    if prompts_sent {
        ask_open_turns(&mut debate);
    }
    debate
}

#[track_caller]
fn check_validity(debate: &Debate, table: &[(Amendment, bool)]) {
    for (change, is_valid) in table {
        assert_eq!(
            debate.validate(&amended_event(change.clone())).is_ok(),
            *is_valid,
            "{change:?}"
        );
    }
}

#[test]
fn seat_can_be_handed_to_another_participant() {
    let invalid_participant = Participant::Model { tool: "--yolo".into(), model: None };
    let opus = Participant::Model { tool: "claude".into(), model: Some("opus".into()) };
    for prompts_sent in [false, true] {
        check_validity(
            &debate_at_phase(formats::duel(), 2, 2, "defend", prompts_sent),
            &[
                (seat_handover(0, Participant::Human), true),
                (seat_handover(0, opus.clone()), true),
                (seat_handover(0, model_participant("claude")), false), // Already seated there.
                (seat_handover(1, model_participant("claude")), true),
                (seat_handover(99, Participant::Host), false),
                (seat_handover(0, invalid_participant.clone()), false),
            ],
        );
    }
}

#[test]
fn new_budget_must_exceed_what_is_spent() {
    let debate = debate_at_phase(formats::duel(), 2, 2, "defend", false);
    assert_eq!(debate.spent().cost, 2);
    let limit = |budget| Amendment::Limit { budget };
    check_validity(
        &debate,
        &[
            (limit(cost_budget(3)), true),
            (limit(cost_budget(2)), false),
            (limit(cost_budget(0)), false),
            (limit(Budget::default()), true), // No limit at all.
            (limit(Budget { tokens: Some(0), ..cost_budget(9) }), false),
            (limit(Budget { milliseconds: Some(1), ..cost_budget(9) }), true),
        ],
    );
}

#[test]
fn round_change_keeps_played_rounds_in_their_act() {
    // Round 3 belongs to the confrontation act while at least four rounds follow it.
    let tribunal = debate_at_phase(formats::tribunal(), 10, 3, "argue", true);
    let round_changes = |valid: &[u8], invalid: &[u8]| -> Vec<(Amendment, bool)> {
        let valid = valid.iter().map(|n| (round_count_change(*n), true));
        valid.chain(invalid.iter().map(|n| (round_count_change(*n), false))).collect()
    };
    check_validity(&tribunal, &round_changes(&[7, 10, 100], &[0, 1, 3, 6, 101]));
    check_validity(
        &debate_at_phase(formats::tribunal(), 10, 3, "argue", false),
        &round_changes(&[2, 6, 7], &[0, 1, 101]),
    );
    check_validity(
        &debate_at_phase(formats::duel(), 5, 3, "defend", true),
        &round_changes(&[3, 4, 100], &[2, 1]),
    );
    check_validity(
        &debate_at_phase(formats::arena(), 3, 3, "close", true),
        &round_changes(&[3], &[2, 4, 5]),
    );
    // An ending act that has begun fixes the number of rounds.
    check_validity(
        &debate_at_phase(formats::duel(), 2, 0, "judge", true),
        &round_changes(&[], &[1, 2, 3]),
    );
    check_validity(
        &debate_at_phase(formats::duel(), 2, 0, "judge", false),
        &round_changes(&[2, 3], &[1]),
    );
}

#[test]
fn changed_round_count_is_played() {
    for (rounds, trace_part) in [(3, "2.follow_up 3.summarize"), (1, "1.challenge 0.judge")] {
        let mut debate = debate_at_phase(formats::duel(), 2, 1, "challenge", true);
        apply_events(&mut debate, [amended_event(round_count_change(rounds))]);
        play_debate(&mut debate, &[], |_| false);
        assert!(
            crate::test_support::debate_fixture::trace(&debate).contains(trace_part),
            "{rounds}"
        );
        assert_eq!((debate.rounds(), debate.setup().rounds), (rounds, 2));
    }
}

#[test]
fn seat_list_can_change_only_before_the_first_prompt() {
    let fresh = open_debate(debate_setup(formats::duel(), 2));
    let all_seats = fresh.seats().to_vec();
    let seats_without =
        |role: Role| all_seats.iter().filter(|seat| seat.role != role).cloned().collect();
    let duplicated_seats: Vec<Seat> = all_seats.iter().chain(&all_seats[..1]).cloned().collect();
    let with_invalid_tool = |seats: &[Seat]| -> Vec<Seat> {
        let voice = Participant::Model { tool: "a b".into(), model: None };
        seats.iter().map(|seat| Seat { voice: voice.clone(), ..seat.clone() }).collect()
    };
    let table = [
        (seat_list_change(seats_without(Role::Mirror)), true),
        (seat_list_change(seats_without(Role::Con)), false),
        (seat_list_change(duplicated_seats), false),
        (seat_list_change(with_invalid_tool(&all_seats)), false),
        (seat_list_change(vec![]), false),
        (Amendment::Plan { rounds: None, seats: None, holds: None }, false), // Changes nothing.
    ];
    check_validity(&fresh, &table);
    check_validity(
        &debate_at_phase(formats::duel(), 2, 1, "propose", true),
        &[(seat_list_change(seats_without(Role::Mirror)), false)],
    );
    let mut debate = fresh;
    apply_events(&mut debate, [amended_event(seat_list_change(seats_without(Role::Mirror)))]);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(debate.turns().filter(|(cue, _)| cue.act == 3).count(), 1, "judged once");
}

#[test]
fn hold_points_can_change_at_any_time() {
    let mut debate = debate_at_phase(formats::duel(), 2, 1, "challenge", true);
    let hold =
        |holds| amended_event(Amendment::Plan { rounds: None, seats: None, holds: Some(holds) });
    apply_events(&mut debate, [hold(vec![HoldPoint::Rounds])]);
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert!(matches!(next(&debate), Step::Hold { next, .. } if next == cue(1, 2, 0, 0)));
    apply_events(&mut debate, [hold(vec![])]);
    assert_eq!(due_cues(&debate), [cue(1, 2, 0, 0)], "no hold point is left");
}

#[test]
fn topic_change_reaches_only_later_prompts() {
    let too_long = "x".repeat(4001);
    let mut debate = debate_at_phase(formats::duel(), 2, 1, "challenge", true);
    check_validity(
        &debate,
        &[
            (topic_change(" "), false),
            (topic_change(&too_long), false),
            (topic_change("Vi?"), true),
        ],
    );
    let (asked_cue, later_cue) = (cue(0, 1, 1, 1), cue(1, 2, 0, 0));
    apply_events(
        &mut debate,
        [amended_event(topic_change("Vi?")), amended_event(topic_change("Emacs?"))],
    );
    assert_eq!(
        [debate.topic_at(asked_cue), debate.topic_at(later_cue)],
        ["Tabs or spaces?", "Emacs?"]
    );
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(debate.topic_at(asked_cue), "Tabs or spaces?", "it never changes");
    assert_eq!(debate.setup().topic, "Tabs or spaces?");
}

#[test]
fn finished_debate_cannot_be_amended() {
    let mut debate = debate_at_phase(formats::duel(), 1, 1, "challenge", true);
    let changes = [
        seat_handover(0, Participant::Human),
        Amendment::Limit { budget: cost_budget(99) },
        round_count_change(2),
        topic_change("Vi?"),
    ];
    check_validity(&debate, &changes.clone().map(|change| (change, true)));
    play_debate(&mut debate, &[], |_| false);
    check_validity(&debate, &changes.map(|change| (change, false)));
}

#[test]
fn seat_handed_over_mid_wave_keeps_its_turn() {
    let mut debate = debate_at_phase(formats::research(), 1, 0, "investigate", true);
    let [eli, fay] = [cue(0, 0, 0, 4), cue(0, 0, 0, 5)];
    apply_events(
        &mut debate,
        [
            amended_event(seat_handover(4, Participant::Human)),
            amended_event(seat_handover(5, model_participant("codex"))),
        ],
    );
    let Step::Speak { driven, awaited } = next(&debate) else { panic!() };
    assert_eq!((driven, awaited), (vec![fay, cue(0, 0, 0, 6)], vec![eli]));
    assert!([eli, fay].iter().all(|cue| debate.was_asked(*cue)), "both were asked before");
    // A driven seat may be asked again. An awaited seat has been asked already.
    let asked_again = |cue: Cue| Event::Asked { cues: vec![cue], deadline: None, prompts: vec![] };
    assert!(
        debate.validate(&asked_again(fay)).is_ok() && debate.validate(&asked_again(eli)).is_err()
    );
    for cue in [eli, fay] {
        let event = reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap();
        apply_events(&mut debate, [event]);
    }
    assert_eq!([debate.tool_at(eli), debate.tool_at(fay)], ["human", "codex"]);
    // A finished turn keeps its tool when the seat is handed over later.
    apply_events(&mut debate, [amended_event(seat_handover(5, Participant::Bot))]);
    assert_eq!(debate.tool_at(fay), "codex");
}

#[test]
fn handover_clears_rejection_and_deadline() {
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    let [eli, fay, gus] = [cue(0, 0, 0, 4), cue(0, 0, 0, 5), cue(0, 0, 0, 6)];
    let asked_event =
        Event::Asked { cues: vec![eli, fay, gus], deadline: Some(90), prompts: vec![] };
    apply_events(&mut debate, [asked_event]);
    let first_prompt = render_prompt(&debate, fay);
    let rejections = [refused_event(&debate, eli, vec![]), refused_event(&debate, fay, vec![])];
    apply_events(&mut debate, rejections);
    assert_ne!(render_prompt(&debate, fay), first_prompt, "the prompt says what was wrong");
    apply_events(&mut debate, [amended_event(seat_handover(5, model_participant("codex")))]);
    assert_eq!((debate.rejected_reply(fay), debate.deadline(fay)), (None, None));
    assert_eq!(render_prompt(&debate, fay), first_prompt, "a new participant starts afresh");
    assert!(debate.rejected_reply(eli).is_some(), "other seats keep their rejections");
    assert_eq!([eli, gus].map(|cue| debate.deadline(cue)), [Some(90); 2]);
    let third_rejection = refused_event(&debate, fay, vec![]);
    apply_events(&mut debate, [third_rejection]);
    assert_eq!(debate.spent().cost, 3, "every attempt counts");
    // A finished turn keeps its rejected attempt.
    let reply = reply_event(&debate, fay, valid_reply(&debate, fay)).unwrap();
    apply_events(&mut debate, [reply, amended_event(seat_handover(5, Participant::Bot))]);
    assert!(debate.rejected_reply(fay).is_some());
}

#[test]
fn first_turn_after_plan_changes_sees_all_remarks() {
    let mut debate = debate_at_phase(formats::tribunal(), 10, 3, "argue", false);
    let (confrontation, battle) = (cue(1, 3, 0, 0), cue(2, 3, 0, 0));
    assert_eq!(due_cues(&debate), [confrontation]);
    apply_events(&mut debate, [amended_event(round_count_change(5))]);
    assert_eq!(due_cues(&debate), [battle], "five rounds have no confrontation");
    let remark = "Mind the cost.";
    apply_events(
        &mut debate,
        [Event::Interjected { text: remark.into() }, amended_event(topic_change("Vi?"))],
    );
    apply_events(
        &mut debate,
        [
            amended_event(seat_handover(0, Participant::Human)),
            amended_event(round_count_change(10)),
        ],
    );
    assert_eq!(due_cues(&debate), [confrontation]);
    assert!(debate.visible_to(confrontation).contains(&TranscriptItem::Remark(remark)));
    assert_eq!((debate.topic_at(confrontation), debate.rounds_at(confrontation)), ("Vi?", 10));
    assert_eq!(debate.seats_at(confrontation), debate.seats());
}

/// Checks that a prompt already sent stays the same after an unrelated amendment.
#[track_caller]
fn check_prompt_unchanged(setup: Setup, round: u8, phase: &str, change: Amendment) {
    let mut debate = open_debate(setup);
    let cue = play_until(&mut debate, round, phase);
    ask_open_turns(&mut debate);
    let before = render_prompt(&debate, cue);
    apply_events(&mut debate, [amended_event(change)]);
    assert_eq!(
        render_prompt(&debate, cue),
        before,
        "the prompt of {cue} changed after it was asked"
    );
}

#[test]
fn sent_prompt_is_unchanged_by_budget_topic_or_holds() {
    let duel = || debate_setup(formats::duel(), 2);
    check_prompt_unchanged(duel(), 1, "challenge", topic_change("Vi?"));
    check_prompt_unchanged(duel(), 1, "challenge", Amendment::Limit { budget: cost_budget(99) });
    let holds = Some(vec![HoldPoint::Rounds]);
    check_prompt_unchanged(
        duel(),
        1,
        "challenge",
        Amendment::Plan { rounds: None, seats: None, holds },
    );
}

#[test]
fn sent_prompt_is_unchanged_by_round_count() {
    check_prompt_unchanged(debate_setup(formats::duel(), 2), 1, "propose", round_count_change(3));
}

#[test]
fn sent_prompt_is_unchanged_by_opponent_handover() {
    check_prompt_unchanged(
        debate_setup(formats::duel(), 2),
        1,
        "propose",
        seat_handover(1, model_participant("gemini")),
    );
}

#[test]
fn sent_judge_prompt_is_unchanged_by_side_handover() {
    // Ada mentions gemini, which plays neither side. Then Bob's seat is handed to gemini.
    let mut debate = open_debate(debate_setup(formats::duel(), 1));
    let first = play_until(&mut debate, 1, "propose");
    record_reply(&mut debate, first, Body::from_prose("Even gemini agrees."));
    let judge = play_until(&mut debate, 0, "judge");
    ask_open_turns(&mut debate);
    let before = render_prompt(&debate, judge);
    apply_events(&mut debate, [amended_event(seat_handover(1, model_participant("gemini")))]);
    assert_eq!(render_prompt(&debate, judge), before);
}

#[test]
fn prompt_naming_a_failure_is_unchanged_by_handover() {
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    ask_open_turns(&mut debate);
    let failure = TurnFailure::new(FailureKind::NotFound, "it is not installed");
    apply_events(&mut debate, [Event::Failed { cue: cue(0, 0, 0, 5), failure }]);
    let rebut = play_until(&mut debate, 0, "rebut");
    ask_open_turns(&mut debate);
    let before = render_prompt(&debate, rebut);
    apply_events(&mut debate, [amended_event(seat_handover(5, model_participant("codex")))]);
    assert_eq!(render_prompt(&debate, rebut), before);
}
