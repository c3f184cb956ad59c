//! Amendments (`Event::Amended`): which changes of seats, budget, plan and topic are valid at which
//! point of a debate, and that prompts already sent do not change.
use crate::players::{amended, good, refused, said, told};
use crate::scene::{apply, cue, due, model, money, open, put, run, say, setup, until};
use debate_mcp::debate::{
    Amendment, Body, Budget, Cue, Debate, Event, FailureKind, Format, HoldPoint, Participant, Role,
    Seat, Setup, Step, TranscriptItem, TurnFailure, formats, next,
};

fn handed(seat: u8, voice: Participant) -> Amendment {
    Amendment::Seat { seat, voice }
}

fn lasting(rounds: u8) -> Amendment {
    Amendment::Plan { rounds: Some(rounds), seats: None, holds: None }
}

fn seated(seats: Vec<Seat>) -> Amendment {
    Amendment::Plan { rounds: None, seats: Some(seats), holds: None }
}

fn shifted(topic: &str) -> Amendment {
    Amendment::Topic { topic: topic.into() }
}

/// Debate at the first turn of `phase` in `round`. With `asked`, its prompts have been sent.
fn at(format: Format, rounds: u8, round: u8, phase: &str, asked: bool) -> Debate {
    let mut debate = open(setup(format, rounds));
    until(&mut debate, round, phase);
    if asked {
        put(&mut debate);
    }
    debate
}

#[track_caller]
fn check(debate: &Debate, table: &[(Amendment, bool)]) {
    for (change, legal) in table {
        assert_eq!(debate.validate(&amended(change.clone())).is_ok(), *legal, "{change:?}");
    }
}

#[test]
fn a_seat_is_handed_to_another_voice() {
    let bad = Participant::Model { tool: "--yolo".into(), model: None };
    let opus = Participant::Model { tool: "claude".into(), model: Some("opus".into()) };
    for asked in [false, true] {
        check(
            &at(formats::duel(), 2, 2, "defend", asked),
            &[
                (handed(0, Participant::Human), true),
                (handed(0, opus.clone()), true),
                (handed(0, model("claude")), false), // Already seated there.
                (handed(1, model("claude")), true),
                (handed(99, Participant::Host), false),
                (handed(0, bad.clone()), false),
            ],
        );
    }
}

#[test]
fn what_may_be_spent_must_be_more_than_what_was() {
    let debate = at(formats::duel(), 2, 2, "defend", false);
    assert_eq!(debate.spent().cost, 2);
    let limit = |budget| Amendment::Limit { budget };
    check(
        &debate,
        &[
            (limit(money(3)), true),
            (limit(money(2)), false),
            (limit(money(0)), false),
            (limit(Budget::default()), true), // No limit at all.
            (limit(Budget { tokens: Some(0), ..money(9) }), false),
            (limit(Budget { milliseconds: Some(1), ..money(9) }), true),
        ],
    );
}

#[test]
fn a_played_round_stays_in_its_act() {
    // Round 3 belongs to the confrontation act while at least four rounds follow it.
    let court = at(formats::tribunal(), 10, 3, "argue", true);
    let rounds = |legal: &[u8], not: &[u8]| -> Vec<(Amendment, bool)> {
        let legal = legal.iter().map(|n| (lasting(*n), true));
        legal.chain(not.iter().map(|n| (lasting(*n), false))).collect()
    };
    check(&court, &rounds(&[7, 10, 100], &[0, 1, 3, 6, 101]));
    check(&at(formats::tribunal(), 10, 3, "argue", false), &rounds(&[2, 6, 7], &[0, 1, 101]));
    check(&at(formats::duel(), 5, 3, "defend", true), &rounds(&[3, 4, 100], &[2, 1]));
    check(&at(formats::arena(), 3, 3, "close", true), &rounds(&[3], &[2, 4, 5]));
    // An ending act that has begun fixes the number of rounds.
    check(&at(formats::duel(), 2, 0, "judge", true), &rounds(&[], &[1, 2, 3]));
    check(&at(formats::duel(), 2, 0, "judge", false), &rounds(&[2, 3], &[1]));
}

#[test]
fn more_rounds_are_played_and_fewer_are_not() {
    for (rounds, end) in [(3, "2.follow_up 3.summarize"), (1, "1.challenge 0.judge")] {
        let mut debate = at(formats::duel(), 2, 1, "challenge", true);
        apply(&mut debate, [amended(lasting(rounds))]);
        run(&mut debate, &[], |_| false);
        assert!(crate::scene::trace(&debate).contains(end), "{rounds}");
        assert_eq!((debate.rounds(), debate.setup().rounds), (rounds, 2));
    }
}

#[test]
fn seats_are_changed_before_anyone_is_asked() {
    let fresh = open(setup(formats::duel(), 2));
    let all = fresh.seats().to_vec();
    let less = |role: Role| all.iter().filter(|seat| seat.role != role).cloned().collect();
    let twins: Vec<Seat> = all.iter().chain(&all[..1]).cloned().collect();
    let bad = |seats: &[Seat]| -> Vec<Seat> {
        let voice = Participant::Model { tool: "a b".into(), model: None };
        seats.iter().map(|seat| Seat { voice: voice.clone(), ..seat.clone() }).collect()
    };
    let table = [
        (seated(less(Role::Mirror)), true),
        (seated(less(Role::Con)), false),
        (seated(twins), false),
        (seated(bad(&all)), false),
        (seated(vec![]), false),
        (Amendment::Plan { rounds: None, seats: None, holds: None }, false), // Changes nothing.
    ];
    check(&fresh, &table);
    check(&at(formats::duel(), 2, 1, "propose", true), &[(seated(less(Role::Mirror)), false)]);
    let mut debate = fresh;
    apply(&mut debate, [amended(seated(less(Role::Mirror)))]);
    run(&mut debate, &[], |_| false);
    assert_eq!(debate.turns().filter(|(cue, _)| cue.act == 3).count(), 1, "judged once");
}

#[test]
fn holds_are_changed_at_any_time() {
    let mut debate = at(formats::duel(), 2, 1, "challenge", true);
    let hold = |holds| amended(Amendment::Plan { rounds: None, seats: None, holds: Some(holds) });
    apply(&mut debate, [hold(vec![HoldPoint::Rounds])]);
    run(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert!(matches!(next(&debate), Step::Hold { next, .. } if next == cue(1, 2, 0, 0)));
    apply(&mut debate, [hold(vec![])]);
    assert_eq!(due(&debate), [cue(1, 2, 0, 0)], "nothing holds it any more");
}

#[test]
fn the_question_shifts_for_whoever_has_not_been_asked() {
    let long = "x".repeat(4001);
    let mut debate = at(formats::duel(), 2, 1, "challenge", true);
    check(&debate, &[(shifted(" "), false), (shifted(&long), false), (shifted("Vi?"), true)]);
    let (asked, later) = (cue(0, 1, 1, 1), cue(1, 2, 0, 0));
    apply(&mut debate, [amended(shifted("Vi?")), amended(shifted("Emacs?"))]);
    assert_eq!([debate.topic_at(asked), debate.topic_at(later)], ["Tabs or spaces?", "Emacs?"]);
    run(&mut debate, &[], |_| false);
    assert_eq!(debate.topic_at(asked), "Tabs or spaces?", "for good");
    assert_eq!(debate.setup().topic, "Tabs or spaces?");
}

#[test]
fn nothing_is_amended_once_it_is_over() {
    let mut debate = at(formats::duel(), 1, 1, "challenge", true);
    let changes = [
        handed(0, Participant::Human),
        Amendment::Limit { budget: money(99) },
        lasting(2),
        shifted("Vi?"),
    ];
    check(&debate, &changes.clone().map(|change| (change, true)));
    run(&mut debate, &[], |_| false);
    check(&debate, &changes.map(|change| (change, false)));
}

#[test]
fn a_seat_handed_over_in_the_middle_of_a_wave_keeps_its_turn() {
    let mut debate = at(formats::research(), 1, 0, "investigate", true);
    let [eli, fay] = [cue(0, 0, 0, 4), cue(0, 0, 0, 5)];
    apply(
        &mut debate,
        [amended(handed(4, Participant::Human)), amended(handed(5, model("codex")))],
    );
    let Step::Speak { driven, awaited } = next(&debate) else { panic!() };
    assert_eq!((driven, awaited), (vec![fay, cue(0, 0, 0, 6)], vec![eli]));
    assert!([eli, fay].iter().all(|cue| debate.was_asked(*cue)), "both know the question");
    // A driven seat may be asked again. An awaited seat has been asked already.
    let again = |cue: Cue| Event::Asked { cues: vec![cue], deadline: None, prompts: vec![] };
    assert!(debate.validate(&again(fay)).is_ok() && debate.validate(&again(eli)).is_err());
    for cue in [eli, fay] {
        let event = said(&debate, cue, good(&debate, cue)).unwrap();
        apply(&mut debate, [event]);
    }
    assert_eq!([debate.tool_at(eli), debate.tool_at(fay)], ["human", "codex"]);
    // A finished turn keeps its tool when the seat is handed over later.
    apply(&mut debate, [amended(handed(5, Participant::Bot))]);
    assert_eq!(debate.tool_at(fay), "codex");
}

#[test]
fn a_new_voice_starts_afresh() {
    let mut debate = open(setup(formats::research(), 1));
    let [eli, fay, gus] = [cue(0, 0, 0, 4), cue(0, 0, 0, 5), cue(0, 0, 0, 6)];
    let asked = Event::Asked { cues: vec![eli, fay, gus], deadline: Some(90), prompts: vec![] };
    apply(&mut debate, [asked]);
    let first = told(&debate, fay);
    let attempts = [refused(&debate, eli, vec![]), refused(&debate, fay, vec![])];
    apply(&mut debate, attempts);
    assert_ne!(told(&debate, fay), first, "it is told what was wrong");
    apply(&mut debate, [amended(handed(5, model("codex")))]);
    assert_eq!((debate.rejected_reply(fay), debate.deadline(fay)), (None, None));
    assert_eq!(told(&debate, fay), first, "whoever sits there now has done nothing wrong");
    assert!(debate.rejected_reply(eli).is_some(), "the others go on as they were");
    assert_eq!([eli, gus].map(|cue| debate.deadline(cue)), [Some(90); 2]);
    let once_more = refused(&debate, fay, vec![]);
    apply(&mut debate, [once_more]);
    assert_eq!(debate.spent().cost, 3, "every attempt was paid for");
    // A finished turn keeps its rejected attempt.
    let spoke = said(&debate, fay, good(&debate, fay)).unwrap();
    apply(&mut debate, [spoke, amended(handed(5, Participant::Bot))]);
    assert!(debate.rejected_reply(fay).is_some());
}

#[test]
fn who_comes_first_after_a_change_of_plan_hears_all_there_was_to_hear() {
    let mut debate = at(formats::tribunal(), 10, 3, "argue", false);
    let (confrontation, battle) = (cue(1, 3, 0, 0), cue(2, 3, 0, 0));
    assert_eq!(due(&debate), [confrontation]);
    apply(&mut debate, [amended(lasting(5))]);
    assert_eq!(due(&debate), [battle], "there is no confrontation in so few");
    let remark = "Mind the cost.";
    apply(&mut debate, [Event::Interjected { text: remark.into() }, amended(shifted("Vi?"))]);
    apply(&mut debate, [amended(handed(0, Participant::Human)), amended(lasting(10))]);
    assert_eq!(due(&debate), [confrontation]);
    assert!(debate.visible_to(confrontation).contains(&TranscriptItem::Remark(remark)));
    assert_eq!((debate.topic_at(confrontation), debate.rounds_at(confrontation)), ("Vi?", 10));
    assert_eq!(debate.seats_at(confrontation), debate.seats());
}

/// Checks that a prompt already sent stays the same after an unrelated amendment.
#[track_caller]
fn stays(setup: Setup, round: u8, phase: &str, change: Amendment) {
    let mut debate = open(setup);
    let cue = until(&mut debate, round, phase);
    put(&mut debate);
    let before = told(&debate, cue);
    apply(&mut debate, [amended(change)]);
    assert_eq!(told(&debate, cue), before, "the prompt of {cue} changed after it was asked");
}

#[test]
fn a_prompt_that_is_out_does_not_change_with_the_limit_the_topic_or_the_holds() {
    let duel = || setup(formats::duel(), 2);
    stays(duel(), 1, "challenge", shifted("Vi?"));
    stays(duel(), 1, "challenge", Amendment::Limit { budget: money(99) });
    let holds = Some(vec![HoldPoint::Rounds]);
    stays(duel(), 1, "challenge", Amendment::Plan { rounds: None, seats: None, holds });
}

#[test]
fn a_prompt_that_is_out_does_not_change_with_the_number_of_rounds() {
    stays(setup(formats::duel(), 2), 1, "propose", lasting(3));
}

#[test]
fn a_prompt_that_is_out_does_not_change_when_the_opponent_is_handed_over() {
    stays(setup(formats::duel(), 2), 1, "propose", handed(1, model("gemini")));
}

#[test]
fn what_a_judge_was_told_does_not_change_when_a_side_is_handed_over() {
    // Ada mentions gemini, which plays neither side. Then Bob's seat is handed to gemini.
    let mut debate = open(setup(formats::duel(), 1));
    let first = until(&mut debate, 1, "propose");
    say(&mut debate, first, Body::from_prose("Even gemini agrees."));
    let judge = until(&mut debate, 0, "judge");
    put(&mut debate);
    let before = told(&debate, judge);
    apply(&mut debate, [amended(handed(1, model("gemini")))]);
    assert_eq!(told(&debate, judge), before);
}

#[test]
fn who_failed_does_not_change_when_the_seat_is_handed_over() {
    let mut debate = open(setup(formats::research(), 1));
    put(&mut debate);
    let failure = TurnFailure::new(FailureKind::NotFound, "it is not installed");
    apply(&mut debate, [Event::Failed { cue: cue(0, 0, 0, 5), failure }]);
    let rebut = until(&mut debate, 0, "rebut");
    put(&mut debate);
    let before = told(&debate, rebut);
    apply(&mut debate, [amended(handed(5, model("codex")))]);
    assert_eq!(told(&debate, rebut), before);
}
