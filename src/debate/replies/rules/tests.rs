//! Reply rules, as tables: a reply and the rules it violates.
use crate::debate::{
    Body, Cue, Debate, DebateLimits, Format, JudgeRuling, Rule, Section, Side, check_rules, formats,
};
use crate::test_support::debate_fixture::{
    debate_setup, open_debate, play_until, record_reply, speech,
};
use crate::test_support::simulated_players::{fill_required_fields, valid_reply, verdict_reply};
use Rule::{
    AnswersOpponent, AtMostThreeClaims, CitesRecord, ConcedesVerbatim, Evidenced, FitsLength,
    FlagsUnsupported, KeepsConcessions, KeepsRecord, NineSections, NoNewClaims, PicksSide,
    RaisesFlaw, RaisesOrResolves, Recommends, Structured,
};

/// A debate at the first turn of this phase. Ada has made the claim `Ada1`, Bob `Bob1`, and so on.
fn debate_at(format: Format, round: u8, phase: &str) -> (Debate, Cue) {
    let rounds = if format.name == "tribunal" { 10 } else { 3 };
    let mut debate = open_debate(debate_setup(format, rounds));
    let cue = play_until(&mut debate, round, phase);
    (debate, cue)
}

#[track_caller]
fn assert_rules((debate, cue): &(Debate, Cue), table: &[(Body, &[Rule])]) {
    for (body, expected) in table {
        let found: Vec<Rule> =
            check_rules(debate, *cue, body, &[]).iter().map(|finding| finding.rule).collect();
        assert_eq!(found, *expected, "{body:?}");
    }
}

#[test]
fn at_most_three_core_claims_in_the_first_act() {
    assert_rules(
        &debate_at(formats::tribunal(), 1, "argue"),
        &[
            (speech("p1 p2 p3", &[], &[]), &[]),
            (speech("p1 p2 p3 p4", &[], &[]), &[AtMostThreeClaims]),
            (speech("p1 p2!", &[], &[]), &[Evidenced]),
            (Body::from_prose("no block"), &[Structured]),
        ],
    );
    // The limit counts per act, and an answer is not a core claim. Ada has made one already.
    assert_rules(
        &debate_at(formats::tribunal(), 2, "argue"),
        &[
            (speech("p2 p3 p4>Bob1", &[], &[]), &[]),
            (speech("p2 p3 p4", &[], &[]), &[AtMostThreeClaims]),
        ],
    );
}

#[test]
fn an_opposing_claim_must_be_answered() {
    assert_rules(
        &debate_at(formats::tribunal(), 3, "argue"),
        &[
            (speech("p4>Bob1", &[], &[]), &[]),
            (speech("p4", &[], &[]), &[AnswersOpponent, NoNewClaims]),
            (speech("p4>Ada1", &[], &[]), &[AnswersOpponent, NoNewClaims]),
            (speech("Ada1>nobody", &[], &[]), &[AnswersOpponent]),
        ],
    );
}

#[test]
fn endgame_allows_no_new_claims() {
    assert_rules(
        &debate_at(formats::tribunal(), 9, "argue"),
        &[
            (speech("Ada1 p9>Bob3", &[], &[]), &[]),
            (speech("p9 p10>Bob3", &[], &[]), &[NoNewClaims]),
        ],
    );
}

#[test]
fn concessions_are_verbatim_and_binding() {
    let (mut debate, cue) = debate_at(formats::duel(), 2, "defend");
    assert_rules(
        &(debate.clone(), cue),
        &[
            (speech("d>Bob1", &[("Bob1", "Bob is right")], &[]), &[]),
            (speech("d>Bob1", &[("Bob1", "Bob has a point")], &[]), &[ConcedesVerbatim]),
            (speech("d>Bob1", &[("Bob1", " ")], &[]), &[ConcedesVerbatim]),
            (speech("d>Bob1", &[("Ada1", "Ada is right")], &[]), &[ConcedesVerbatim]),
        ],
    );
    record_reply(&mut debate, cue, speech("d>Bob1", &[("Bob1", "Bob  is\nright")], &[]));
    let cue = play_until(&mut debate, 3, "defend");
    let with_evidence = |evidence: &str| {
        let mut body = speech("e>Bob1", &[], &[]);
        if let Body::Speech { claims, .. } = &mut body {
            claims[0].evidence = vec![evidence.into()];
        }
        body
    };
    assert_rules(
        &(debate, cue),
        &[
            (speech("e>Bob1!", &[], &[]), &[Evidenced, KeepsConcessions]),
            (with_evidence("a.rs:1"), &[KeepsConcessions]), // Already used for `d`.
            (with_evidence("b.rs:2"), &[]),
        ],
    );
}

#[test]
fn first_challenge_must_raise_a_flaw() {
    assert_rules(
        &debate_at(formats::duel(), 1, "challenge"),
        &[
            (speech("new", &[], &[]), &[]),
            (speech("", &[("Ada1", "Ada is right")], &[]), &[RaisesFlaw]),
            // Whether prose names a flaw cannot be checked in code.
            (Body::from_prose("I doubt it."), &[Structured]),
        ],
    );
}

#[test]
fn follow_up_must_raise_or_resolve_a_claim() {
    assert_rules(
        &debate_at(formats::duel(), 2, "follow_up"),
        &[
            (speech("new", &[], &[]), &[]),
            (speech("", &[], &["Bob1"]), &[]),
            (speech("", &[], &[]), &[RaisesOrResolves]),
            (speech("", &[], &["Bob1!"]), &[RaisesOrResolves]),
            (speech("", &[], &["Ada1"]), &[RaisesOrResolves]),
            (Body::from_prose("Fine with me."), &[Structured]),
        ],
    );
}

#[test]
fn unsupported_claims_must_be_flagged() {
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    let first = play_until(&mut debate, 1, "propose");
    record_reply(&mut debate, first, speech("p1! p2", &[], &[]));
    let cue = play_until(&mut debate, 1, "challenge");
    let mut flagged_in_prose = speech("c", &[], &[]);
    if let Body::Speech { text, .. } = &mut flagged_in_prose {
        *text = "That is UNSUPPORTED.".into();
    }
    assert_rules(
        &(debate, cue),
        &[
            (speech("c", &[], &[]), &[FlagsUnsupported]),
            (speech("c>p2", &[], &[]), &[FlagsUnsupported]),
            (speech("c>p1", &[], &[]), &[]),
            (flagged_in_prose, &[]),
        ],
    );
}

#[test]
fn defence_must_answer_or_concede() {
    assert_rules(
        &debate_at(formats::duel(), 2, "defend"),
        &[
            (speech("d>Bob1", &[], &[]), &[]),
            (speech("d", &[], &[]), &[AnswersOpponent]),
            // Whether prose answers a claim cannot be checked in code. A concession is an answer.
            (Body::from_prose("No."), &[Structured]),
            (speech("d", &[("Bob1", "bob is right")], &[]), &[]),
        ],
    );
}

#[test]
fn summary_must_name_all_open_claims() {
    let sections = |text: &str| Body::Sections {
        sections: vec![Section { title: "So far".into(), text: text.into() }],
    };
    // Bob has answered `Ada1`. `Bob1` is still unanswered.
    assert_rules(
        &debate_at(formats::duel(), 3, "summarize"),
        &[
            (sections("Ada1 and Bob1 are open."), &[]),
            (sections("Only Bob1 is open."), &[KeepsRecord]),
            (sections("Ada10 and Bob1 are open."), &[KeepsRecord]),
        ],
    );
}

#[test]
fn verdict_must_pick_a_side_and_cite_turns() {
    let at_judge = debate_at(formats::duel(), 0, "judge");
    let first_turn = at_judge.0.turns().next().unwrap().0;
    let unplayed_turn = Cue { round: 9, ..first_turn };
    let own_turn = at_judge.1;
    let verdict = |side, cites: &[Cue]| {
        fill_required_fields(&at_judge.0, at_judge.1, verdict_reply(side, 70, cites.into()))
    };
    assert_rules(
        &at_judge,
        &[
            (verdict(Some(Side::Pro), &[first_turn]), &[]),
            (verdict(None, &[first_turn]), &[PicksSide]),
            (verdict(Some(Side::Con), &[]), &[CitesRecord]),
            (verdict(Some(Side::Con), &[first_turn, unplayed_turn]), &[CitesRecord]),
            (verdict(None, &[own_turn]), &[PicksSide, CitesRecord]),
        ],
    );
}

#[test]
fn verdict_must_not_hedge() {
    let at_judge = debate_at(formats::duel(), 0, "judge");
    let cites: Vec<Cue> =
        at_judge.0.replies_before(at_judge.1).map(|(cue, _)| cue).take(1).collect();
    let verdict = |because: &str, recommendation: &str| {
        let ruling = JudgeRuling {
            side: Some(Side::Pro),
            because: because.into(),
            cites: cites.clone(),
            recommendation: recommendation.into(),
            ..JudgeRuling::default()
        };
        fill_required_fields(&at_judge.0, at_judge.1, Body::Verdict(Box::new(ruling)))
    };
    assert_rules(
        &at_judge,
        &[
            (verdict("A is right.", "Use tabs."), &[]),
            (verdict("Both  approaches\nhave MERIT.", "Use tabs."), &[PicksSide]),
            (verdict("A says \"both have merit\", and is wrong.", "Use tabs."), &[]),
            (verdict("A is right.", " "), &[Recommends]),
            (verdict("A is right.", "They are equally valid."), &[Recommends]),
            (verdict("双方各有优劣", "Use tabs."), &[PicksSide]),
        ],
    );
}

#[test]
fn length_and_section_rules() {
    assert_rules(
        &debate_at(formats::arena(), 1, "open"),
        &[
            (Body::from_prose(""), &[FitsLength]),
            (Body::from_prose("é".repeat(2000)), &[]),
            (Body::from_prose("é".repeat(2001)), &[FitsLength]),
        ],
    );
    let at_judge = debate_at(formats::research(), 0, "judge");
    let report = valid_reply(&at_judge.0, at_judge.1);
    let section = Section { title: "1".into(), text: "all of it".into() };
    assert_rules(
        &at_judge,
        &[(report, &[]), (Body::Sections { sections: vec![section] }, &[NineSections])],
    );
    assert_rules(
        &debate_at(formats::dialectic(), 2, "respond"),
        &[(Body::from_prose("Trust the model."), &[])],
    );
}

/// The limits of a format that has none of its own.
#[test]
fn speech_has_200000_characters_at_most_by_default() {
    assert_eq!(formats::DEFAULT_SPEECH_CHARS, 1..=200_000);
    let max_chars = *formats::DEFAULT_SPEECH_CHARS.end();
    let mut setup = debate_setup(formats::arena(), 3);
    setup.limits = DebateLimits::default();
    let mut debate = open_debate(setup);
    let cue = play_until(&mut debate, 1, "open");
    assert_rules(
        &(debate, cue),
        &[
            (Body::from_prose(""), &[FitsLength]),
            (Body::from_prose("é"), &[]),
            (Body::from_prose("é".repeat(max_chars)), &[]),
            (Body::from_prose("é".repeat(max_chars + 1)), &[FitsLength]),
        ],
    );
}
