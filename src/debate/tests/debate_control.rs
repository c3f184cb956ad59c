//! State machine tests: how a debate is held, cancelled, concluded, amended and reopened, and which
//! setups are valid.
use crate::debate::{
    Amendment, Cue, Debate, Event, FailureKind, Format, HoldPoint, Participant, PauseReason, Role,
    Rounds, Seat, Setup, SetupError, Step, TranscriptItem,
    format::MAX_OPEN_ROUNDS,
    formats, next,
    seat::ParticipantError,
    setup::debate_setup::{MAX_BRIEF_BYTES, MAX_PARTS, MAX_TOPIC_CHARS},
    template::TemplateError,
};
use crate::test_support::debate_fixture::{
    apply_events, ask_open_turns, cost_budget, cue, debate_setup, due_cues, first_due_cue,
    open_debate, play_debate, play_to_end, play_until, trace, without_roles,
};
use crate::test_support::simulated_players::{
    amended_event, failed_event, reply_event, valid_reply,
};

const CONCLUDED: Event = Event::Concluded { because: None };

#[test]
fn failed_turn_is_taken_again_after_reopening() {
    // The first turn, one in the middle with the verdict already given, and the judge's own turn.
    for (failing, from) in [
        ("1.propose", cue(0, 1, 0, 0)),
        ("2.defend", cue(1, 2, 0, 0)),
        ("0.judge", cue(3, 0, 0, 10)),
    ] {
        let mut debate = open_debate(debate_setup(formats::duel(), 2));
        play_debate(&mut debate, &[failing], |_| false);
        let spent = debate.spent();
        assert_eq!(spent.cost, debate.turns().count() as u64, "a failure costs, too");
        apply_events(&mut debate, [Event::Reopened { from }]);
        assert!(due_cues(&debate).contains(&from));
        assert_eq!(debate.spent(), spent, "a discarded turn was still paid for");
        play_debate(&mut debate, &[], |_| false);
        let expected = "1.propose 1.challenge 2.defend 2.follow_up 0.judge 0.judge completed";
        assert_eq!(trace(&debate), expected);
        assert!(debate.validate(&Event::Reopened { from }).is_err(), "no turn has failed");
    }
}

#[test]
fn remarks_and_conclusion_survive_reopening() {
    // A remark made after the failure is in the prompt of the retried turn.
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    play_debate(&mut debate, &["2.defend"], |debate| {
        due_cues(debate).first().is_some_and(|cue| cue.act == 3)
    });
    apply_events(&mut debate, [Event::Interjected { text: "A pity.".into() }]);
    play_debate(&mut debate, &[], |_| false);
    let from = cue(1, 2, 0, 0);
    apply_events(&mut debate, [Event::Reopened { from }]);
    assert!(debate.visible_to(from).contains(&TranscriptItem::Remark("A pity.")));
    let is_judging = |debate: &Debate| due_cues(debate).first().is_some_and(|cue| cue.act == 3);
    let mut at_verdict = debate.clone();
    play_debate(&mut at_verdict, &[], is_judging);
    assert!(at_verdict.validate(&CONCLUDED).is_err(), "the verdict is already due");
    // A concluded debate stays concluded if only its verdict is requested again.
    apply_events(&mut debate, [CONCLUDED]);
    play_debate(&mut debate, &["0.judge"], |_| false);
    let from = cue(3, 0, 0, 10);
    apply_events(&mut debate, [Event::Reopened { from }]);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(trace(&debate), "1.propose 1.challenge 0.judge 0.judge ended");
}

#[test]
fn spent_budget_holds_after_the_current_wave() {
    let mut setup = debate_setup(formats::research(), 1);
    setup.limits.budget = cost_budget(1);
    let mut debate = open_debate(setup);
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert_eq!(trace(&debate), "0.investigate 0.investigate 0.investigate running");
    let Step::Hold { pause: PauseReason::BudgetExhausted { spent, budget }, .. } = next(&debate)
    else {
        panic!()
    };
    assert_eq!((spent.cost, budget), (3, cost_budget(1)));
    let limit_event = |cost| amended_event(Amendment::Limit { budget: cost_budget(cost) });
    assert!(debate.validate(&limit_event(3)).is_err());
    apply_events(&mut debate, [limit_event(100)]);
    play_debate(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("0.judge completed"));
}

#[test]
fn wave_can_mix_model_and_human_turns() {
    let mut setup = debate_setup(formats::research(), 1);
    setup.seats[5].voice = Participant::Human;
    let mut debate = open_debate(setup);
    let Step::Speak { driven, awaited } = next(&debate) else { panic!() };
    assert_eq!((driven.len(), awaited.len()), (2, 1));
    // The human replies first. Then one of the two model turns fails.
    ask_open_turns(&mut debate);
    for cue in [awaited[0], driven[1]] {
        let event = reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap();
        apply_events(&mut debate, [event]);
    }
    let failure = failed_event(&debate, driven[0], FailureKind::NotFound);
    apply_events(&mut debate, [failure]);
    assert!(due_cues(&debate).iter().all(|cue| cue.phase == 1));
}

#[test]
fn remark_reaches_only_prompts_not_yet_sent() {
    let mut setup = debate_setup(formats::duel(), 2);
    setup.holds = vec![HoldPoint::Rounds];
    let mut debate = open_debate(setup);
    let remark = |text: &str| Event::Interjected { text: text.into() };
    let visible_remarks = |debate: &Debate| -> Vec<String> {
        let items = debate.visible_to(due_cues(debate)[0]).into_iter();
        items
            .filter_map(|item| {
                if let TranscriptItem::Remark(text) = item { Some(text.into()) } else { None }
            })
            .collect()
    };
    apply_events(&mut debate, [remark("before anyone")]);
    assert_eq!(visible_remarks(&debate), ["before anyone"], "no prompt was sent yet");
    ask_open_turns(&mut debate);
    apply_events(&mut debate, [remark("while the proposer speaks")]);
    assert_eq!(visible_remarks(&debate), ["before anyone"], "the prompt was sent before");
    play_until(&mut debate, 1, "challenge");
    let expected = ["before anyone", "while the proposer speaks"];
    assert_eq!(visible_remarks(&debate), expected);
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    apply_events(&mut debate, [remark("at the hold")]);
    let Step::Hold { next, .. } = next(&debate) else { panic!() };
    apply_events(&mut debate, [Event::Continued { before: next.position() }]);
    assert_eq!(
        visible_remarks(&debate),
        ["before anyone", "while the proposer speaks", "at the hold"]
    );
    // Concluding early skips to the verdict.
    apply_events(&mut debate, [CONCLUDED]);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(trace(&debate), "1.propose 1.challenge 0.judge 0.judge ended");
}

#[test]
fn debate_holds_at_start_and_between_rounds() {
    let mut setup = debate_setup(formats::duel(), 3);
    setup.holds = vec![HoldPoint::Start, HoldPoint::Rounds];
    let mut debate = open_debate(setup);
    let mut holds = vec![];
    while !matches!(next(&debate), Step::Done) {
        play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
        if let Step::Hold { next, .. } = next(&debate) {
            holds.push(next.round);
            let reopen = Event::Reopened { from: next };
            assert!(debate.validate(&reopen).is_err());
            apply_events(&mut debate, [Event::Continued { before: next.position() }]);
        }
    }
    assert_eq!(holds, [1, 2, 3], "no hold before the verdict");
}

#[test]
fn requested_hold_waits_for_the_current_wave() {
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    ask_open_turns(&mut debate);
    apply_events(&mut debate, [Event::Held]);
    assert!(debate.is_held() && debate.validate(&Event::Held).is_err(), "held already");
    assert!(matches!(next(&debate), Step::Speak { .. }), "the proposer has been asked");
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert_eq!(trace(&debate), "1.propose running");
    let Step::Hold { next: held_cue, pause: PauseReason::UserHold } = next(&debate) else {
        panic!()
    };
    apply_events(&mut debate, [Event::Continued { before: held_cue.position() }]);
    assert!(!debate.is_held() && first_due_cue(&debate, 1, "challenge").is_some());
}

#[test]
fn last_decision_and_keep_event_win() {
    let mut debate = open_debate(debate_setup(formats::duel(), 1));
    let decided = |text: &str| Event::Decided { text: text.into() };
    assert_eq!((debate.decision(), debate.keep_record()), (None, None), "nothing is decided yet");
    assert!(debate.validate(&Event::Kept { keep: false }).is_err(), "the record is not final yet");
    play_debate(&mut debate, &[], |_| false);
    apply_events(&mut debate, [decided("Tabs."), Event::Kept { keep: true }]);
    apply_events(&mut debate, [Event::Kept { keep: false }, decided("Spaces.")]);
    assert_eq!((debate.decision(), debate.keep_record()), (Some("Spaces."), Some(false)));
}

/// A research debate with one failed investigation reopened and not yet requested again.
fn research_with_one_reopened_turn() -> (Debate, Cue) {
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    play_debate(&mut debate, &["0.investigate/Fay"], |_| false);
    let from = cue(0, 0, 0, 5);
    apply_events(&mut debate, [Event::Reopened { from }]);
    assert_eq!(due_cues(&debate), [from]);
    (debate, from)
}

#[test]
fn reopened_turn_hears_later_remarks() {
    let (mut debate, from) = research_with_one_reopened_turn();
    apply_events(&mut debate, [Event::Interjected { text: "Mind the cost.".into() }]);
    assert!(debate.visible_to(from).contains(&TranscriptItem::Remark("Mind the cost.")));
}

#[test]
fn reopened_turn_waits_for_a_requested_hold() {
    let (mut debate, from) = research_with_one_reopened_turn();
    apply_events(&mut debate, [Event::Held]);
    assert_eq!(next(&debate), Step::Hold { next: from, pause: PauseReason::UserHold });
}

#[test]
fn setup_without_a_required_seat_is_refused() {
    let setup_error =
        |roles: &[Role]| Debate::open(without_roles(debate_setup(formats::duel(), 2), roles)).err();
    assert_eq!(setup_error(&[Role::Con]), Some(SetupError::UnseatedPhase("challenge".into())));
    assert_eq!(setup_error(&[Role::Judge]), Some(SetupError::UnseatedPhase("judge".into())));
    assert_eq!(setup_error(&[Role::Scribe, Role::Mirror]), None);
    let mut without_last_act = debate_setup(formats::dialectic(), 2);
    without_last_act.format.acts.pop();
    assert_eq!(Debate::open(without_last_act).err(), Some(SetupError::OpenLastAct));
}

#[test]
fn invalid_setup_error_names_the_reason() {
    type SetupEdit = fn(&mut Setup);
    let rename_to_ada = |seats: &mut Vec<Seat>| seats[1].name = "Ada".into();
    let table: &[(SetupEdit, &str)] = &[
        (|s| s.grammar = 9, "this debate uses grammar 9; this program supports up to 1: update it"),
        (|s| s.topic = " \n".into(), "the topic is empty"),
        (|s| s.topic = "é".repeat(4001), "the topic is too long: 4001 of at most 4000"),
        (
            |s| s.rounds = 101,
            "the debate is too large: at most 200 acts, phases and seats, and 100 rounds",
        ),
        (|s| s.brief = "b".repeat(2_000_001), "the brief is too long: 2000001 of at most 2000000"),
        (
            |s| drop(s.prompts.insert("defend".into(), "{{tpoic}}".into())),
            "prompt `defend`: `{{tpoic}}` is not known; known are topic, brief, round, rounds, \
             previous_round, role, seat, tool, opponent, stance, style, focus, act, rules, audience, \
             goal, readers, decision, language, letter, length, words, heard, checks, claims, contested, \
             reply, why",
        ),
    ];
    for (edit, expected) in table {
        let mut setup = debate_setup(formats::duel(), 2);
        edit(&mut setup);
        assert_eq!(Debate::open(setup).unwrap_err().to_string(), *expected);
    }
    let mut duplicate_names = debate_setup(formats::duel(), 2);
    rename_to_ada(&mut duplicate_names.seats);
    assert_eq!(
        Debate::open(duplicate_names).err(),
        Some(SetupError::DuplicateSeatName("Ada".into()))
    );
    let mut flag_as_tool = debate_setup(formats::duel(), 2);
    flag_as_tool.seats[0].voice = Participant::Model { tool: "--help".into(), model: None };
    assert_eq!(
        Debate::open(flag_as_tool).err(),
        Some(SetupError::InvalidSeat("Ada".into(), ParticipantError::InvalidTool))
    );
    let mut unclosed_prompt = debate_setup(formats::duel(), 2);
    unclosed_prompt.prompts.insert("judge".into(), "{{topic".into());
    assert_eq!(
        Debate::open(unclosed_prompt).err(),
        Some(SetupError::InvalidPrompt("judge".into(), TemplateError::Unclosed))
    );
}

#[test]
fn setup_is_accepted_up_to_its_size_limits() {
    type Resize = fn(&mut Setup, usize);
    let table: [(usize, Resize, SetupError); 6] = [
        (
            MAX_TOPIC_CHARS,
            |setup, count| setup.topic = "é".repeat(count),
            SetupError::TooLong("topic", 4_001, 4_000),
        ),
        (
            MAX_BRIEF_BYTES,
            |setup, count| setup.brief = "b".repeat(count),
            SetupError::TooLong("brief", 2_000_001, 2_000_000),
        ),
        (
            MAX_PARTS,
            |setup, count| setup.format.acts = vec![setup.format.acts[0].clone(); count],
            SetupError::TooManyParts,
        ),
        (
            MAX_PARTS,
            |setup, count| {
                let act = &mut setup.format.acts[0];
                act.phases = vec![act.phases[0].clone(); count];
            },
            SetupError::TooManyParts,
        ),
        (MAX_PARTS, add_seats, SetupError::TooManyParts),
        (
            MAX_OPEN_ROUNDS.into(),
            |setup, count| setup.rounds = u8::try_from(count).unwrap(),
            SetupError::TooManyParts,
        ),
    ];
    assert_eq!((MAX_PARTS, MAX_OPEN_ROUNDS), (200, 100));
    for (max, resize, error) in table {
        let mut setup = debate_setup(formats::duel(), 2);
        resize(&mut setup, max);
        assert_eq!(setup.validate(), Ok(()));
        resize(&mut setup, max + 1);
        assert_eq!(setup.validate(), Err(error));
    }
}

/// Adds seats with unique names up to this count.
fn add_seats(setup: &mut Setup, count: usize) {
    for index in setup.seats.len()..count {
        let seat = setup.seats[0].clone();
        setup.seats.push(Seat { name: format!("Seat {index}"), ..seat });
    }
}

#[test]
fn open_act_ends_after_100_rounds() {
    let debate = play_to_end(debate_setup(formats::dialectic(), 2), &[]);
    let last_round = debate.turns().map(|(cue, _)| cue.round).max();
    assert_eq!(last_round, Some(MAX_OPEN_ROUNDS));
    assert!(trace(&debate).ends_with("100.respond 100.challenge 0.insights completed"));
}

#[test]
fn round_ranges_follow_the_requested_rounds() {
    let spans = |format: Format, rounds| -> Vec<(u8, u8)> {
        format
            .round_ranges(rounds)
            .filter(|span| !span.is_empty())
            .map(|s| (*s.start(), *s.end()))
            .collect()
    };
    assert_eq!(spans(formats::tribunal(), 10), [(1, 2), (3, 6), (7, 8), (9, 9), (10, 10), (0, 0)]);
    assert_eq!(spans(formats::tribunal(), 7), [(1, 2), (3, 3), (4, 5), (6, 6), (7, 7), (0, 0)]);
    assert_eq!(spans(formats::duel(), 1), [(1, 1), (0, 0)]);
    assert_eq!(spans(formats::duel(), 5), [(1, 1), (2, 2), (3, 5), (0, 0)]);
    assert_eq!(spans(formats::arena(), 2), [(1, 1), (2, 2), (0, 0)]);
}

/// Asserts the cue a debate can be reopened at, and that reopening it continues there.
#[track_caller]
fn assert_reopens_at(debate: &Debate, expected: Option<Cue>) {
    assert_eq!(debate.reopen_cue(), expected);
    let Some(from) = expected else { return };
    let mut reopened = debate.clone();
    apply_events(&mut reopened, [Event::Reopened { from }]);
    assert!(next(&reopened).first_cue() == expected || due_cues(&reopened).contains(&from));
}

#[test]
fn stopped_debate_reopens_at_its_current_turn() {
    for (round, phase, ask_first, expected) in [
        (1, "propose", false, cue(0, 1, 0, 0)),
        (1, "propose", true, cue(0, 1, 0, 0)),
        (1, "challenge", true, cue(0, 1, 1, 1)),
        (2, "follow_up", false, cue(1, 2, 1, 1)),
        (0, "judge", true, cue(3, 0, 0, 10)),
    ] {
        let mut debate = open_debate(debate_setup(formats::duel(), 2));
        play_until(&mut debate, round, phase);
        if ask_first {
            ask_open_turns(&mut debate);
        }
        assert_reopens_at(&debate, None); // Still running.
        apply_events(&mut debate, [Event::Cancelled { because: None }]);
        assert_reopens_at(&debate, Some(expected));
    }
    // Concluded early: reopens in the rounds, not in the verdict, which was played.
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    play_until(&mut debate, 2, "defend");
    apply_events(&mut debate, [CONCLUDED]);
    assert_reopens_at(&debate, None);
    play_debate(&mut debate, &[], |_| false);
    assert_reopens_at(&debate, Some(cue(1, 2, 0, 0)));
    // Unless the verdict is the turn that failed.
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    play_until(&mut debate, 2, "defend");
    apply_events(&mut debate, [CONCLUDED]);
    play_debate(&mut debate, &["0.judge"], |_| false);
    assert_reopens_at(&debate, Some(cue(3, 0, 0, 10)));
}

#[test]
fn debate_reopens_at_the_decisive_failure() {
    let duel = |failing: &[&str]| play_to_end(debate_setup(formats::duel(), 2), failing);
    assert_reopens_at(&duel(&["1.propose"]), Some(cue(0, 1, 0, 0)));
    assert_reopens_at(&duel(&["1.challenge"]), Some(cue(0, 1, 1, 1)));
    assert_reopens_at(&duel(&["2.defend", "0.judge"]), Some(cue(1, 2, 0, 0)));
    assert_reopens_at(&duel(&["0.judge/Lou"]), Some(cue(3, 0, 0, 11)));
    let research = |failing: &[&str]| play_to_end(debate_setup(formats::research(), 1), failing);
    // Of several tolerated failures the last one is retried, so that no later turn is discarded.
    assert_reopens_at(&research(&["0.investigate/Fay", "0.rebut/Eli"]), Some(cue(0, 0, 1, 4)));
    assert_reopens_at(&research(&["0.rebut/Eli", "0.audit"]), Some(cue(0, 0, 2, 12)));
    // Failed and then cancelled: reopens where it was cancelled.
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    play_debate(&mut debate, &["0.investigate/Gus"], |debate| {
        first_due_cue(debate, 0, "audit").is_some()
    });
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_reopens_at(&debate, Some(cue(0, 0, 2, 12)));
}

#[test]
fn rounds_cannot_grow_after_a_later_act_has_started() {
    // A format with an extra act that is played once, after the rounds.
    let mut format = formats::duel();
    let mut interlude = format.acts[0].clone();
    (interlude.name, interlude.rounds) = ("interlude".into(), Rounds::Once);
    format.acts.insert(3, interlude);
    let mut debate = open_debate(debate_setup(format, 3));
    let rounds =
        |rounds| amended_event(Amendment::Plan { rounds: Some(rounds), seats: None, holds: None });
    play_until(&mut debate, 3, "defend");
    assert!(debate.validate(&rounds(5)).is_ok());
    play_until(&mut debate, 0, "propose");
    assert!(debate.validate(&rounds(5)).is_ok(), "the interlude has not begun");
    ask_open_turns(&mut debate);
    assert!(debate.validate(&rounds(5)).is_err(), "the interlude has begun");
    assert!(debate.validate(&rounds(3)).is_ok());
}

#[test]
fn completed_debate_cannot_be_reopened() {
    for offer in formats::built_in_offers() {
        let debate = play_to_end(debate_setup(offer.format, offer.default_rounds), &[]);
        assert_eq!(crate::test_support::debate_fixture::outcome_name(&debate), "completed");
        assert_reopens_at(&debate, None);
    }
    // Cancelled when only the closing event was missing.
    let mut debate = open_debate(debate_setup(formats::duel(), 1));
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Close(_)));
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_reopens_at(&debate, None);
}

#[test]
fn every_offered_format_can_be_opened() {
    let names = formats::built_in_offers().map(|offer| offer.format.name);
    assert_eq!(names, ["duel", "research", "dialectic", "tribunal", "arena"]);
    assert_eq!(formats::built_in_formats().map(|format| format.name), names);
    for offer in formats::built_in_offers() {
        let name = &offer.format.name;
        assert!(offer.rounds.contains(&offer.default_rounds), "{name}");
        for rounds in offer.rounds {
            assert!(Debate::open(debate_setup(offer.format.clone(), rounds)).is_ok(), "{name}");
            // Every round belongs to exactly one act.
            let played_rounds =
                offer.format.round_ranges(rounds).flatten().filter(|round| *round > 0);
            let played_rounds: Vec<u8> = played_rounds.collect();
            let is_open = offer.format.acts.iter().any(|act| act.rounds == Rounds::Open);
            let last = if is_open { MAX_OPEN_ROUNDS } else { rounds };
            assert!(
                played_rounds.is_empty() || played_rounds == (1..=last).collect::<Vec<_>>(),
                "{name}"
            );
        }
    }
}
