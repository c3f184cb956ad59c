//! Tribunal rules, table-driven: acts, help requests, petitions, admissions and failed turns.
use crate::debate::body::{AdmissionGrounds, Novelty};
use crate::debate::{
    Body, Cue, Debate, HelpRequest, ReplyKind, Role, Rule, RuleWeight, Seat, Setup, Side,
    check_rules, formats,
};
use crate::test_support::debate_fixture::{
    cue, debate_setup, due_cues, model_participant, open_debate, play_debate, play_to_end,
    play_until, record_reply, speech, trace, without_roles,
};
use crate::test_support::simulated_players::{reply_event, valid_reply};
use Rule::{
    AdmitsForGood, AdmitsPetitioner, AnswersOpponent, AtMostThreeClaims, HelpFits, HelpNotTwice,
    NoHelp, NoNewClaims, NoNewFacts,
};

/// A tribunal setup with listener types. Ivy and Jan share one type.
fn tribunal_setup(rounds: u8) -> Setup {
    let mut setup = debate_setup(formats::tribunal(), rounds);
    for (seat, kind) in [(7, "rational-logic"), (8, "risk-averse"), (9, "risk-averse")] {
        setup.seats[seat].kind = kind.into();
    }
    setup
}

/// Turns that time out, so that no listener petitions for the floor.
const FAILED_PETITIONS: &[&str] = &["3.petition", "4.petition", "5.petition", "6.petition"];

/// The debate at the first speech of a round. No listener has spoken yet.
fn debate_at_round(round: u8) -> (Debate, Cue) {
    let mut debate = open_debate(tribunal_setup(10));
    let is_at_round = |debate: &Debate| {
        crate::test_support::debate_fixture::first_due_cue(debate, round, "argue").is_some()
    };
    play_debate(&mut debate, FAILED_PETITIONS, is_at_round);
    let cue = due_cues(&debate)[0];
    (debate, cue)
}

fn speech_with_help_request(debate: &Debate, cue: Cue, kind: &str, from: &str) -> Body {
    let mut body = valid_reply(debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, from) = (kind.into(), from.into());
        *help = Some(HelpRequest { kind, from, because: "figures".into() });
    }
    body
}

fn broken_rules(debate: &Debate, cue: Cue, body: &Body) -> Vec<Rule> {
    check_rules(debate, cue, body, &[]).into_iter().map(|finding| finding.rule).collect()
}

fn admission_body(name: Option<&str>, grounds: [bool; 3]) -> Body {
    let [new_information, avoids_repetition, shifts_balance] = grounds;
    let grounds = AdmissionGrounds { new_information, avoids_repetition, shifts_balance };
    Body::Ruling { admits: name.map(Into::into), grounds, because: "so".into() }
}

fn petition_body(supports: Option<Side>) -> Body {
    Body::Petition { supports, claim: "me".into(), novelty: Novelty::New, confidence: 50 }
}

/// Names of the phases played in a round, in order.
fn phases_in_round(debate: &Debate, round: u8) -> String {
    let turns = debate.turns().filter(|(cue, _)| cue.round == round);
    let names = turns.map(|(cue, _)| debate.setup().phase(cue).name.as_str());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn acts_are_distributed_over_the_requested_rounds() {
    // Requested rounds, and the act of each round by its first letter.
    let table = [
        (3, "ssc"),
        (4, "ssec"),
        (5, "sskec"),
        (6, "sskkec"),
        (7, "ssCkkec"),
        (8, "ssCCkkec"),
        (9, "ssCCCkkec"),
        (10, "ssCCCCkkec"),
        (12, "ssCCCCCCkkec"),
        (20, "ssCCCCCCCCCCCCCCkkec"),
    ];
    let letter = |name: &str| match name {
        "stances" => 's',
        "confrontation" => 'C',
        "key battle" => 'k',
        "endgame" => 'e',
        "closing" => 'c',
        _ => '?',
    };
    for (rounds, expected) in table {
        let format = formats::tribunal();
        let acts: String = format
            .acts
            .iter()
            .zip(format.round_ranges(rounds))
            .flat_map(|(act, act_rounds)| {
                act_rounds.filter(|round| *round > 0).map(|_| letter(&act.name))
            })
            .collect();
        assert_eq!(acts, expected, "{rounds} rounds");
    }
    for rounds in 3..=20 {
        let debate = play_to_end(tribunal_setup(rounds), &[]);
        assert_eq!(
            crate::test_support::debate_fixture::outcome_name(&debate),
            "completed",
            "{rounds} rounds"
        );
        let speeches =
            debate.replies_in(..).filter(|(cue, _)| debate.seat(*cue).role.side().is_some());
        assert_eq!(speeches.count(), 2 * usize::from(rounds), "each side speaks once per round");
    }
}

#[test]
fn rounds_play_the_phases_of_their_act() {
    let debate = play_to_end(tribunal_setup(10), &[]);
    for round in [1, 2, 6, 7, 8, 9, 10] {
        // All listeners have spoken by round 6, so none is left to petition.
        assert_eq!(phases_in_round(&debate, round), "argue argue score", "round {round}");
    }
    assert_eq!(
        phases_in_round(&debate, 3),
        "argue argue petition petition petition admit address score"
    );
    assert_eq!(phases_in_round(&debate, 5), "argue argue petition admit address score");
    assert_eq!(phases_in_round(&debate, 0), "judge judge vote vote vote");
}

#[test]
fn first_act_allows_at_most_three_core_claims() {
    let (debate, cue) = debate_at_round(1);
    assert_eq!(broken_rules(&debate, cue, &speech("a b c", &[], &[])), []);
    assert_eq!(broken_rules(&debate, cue, &speech("a b c d", &[], &[])), [AtMostThreeClaims]);
    let answers_to_unknown = speech("a>x b>x c>x d>x", &[], &[]);
    assert_eq!(broken_rules(&debate, cue, &answers_to_unknown), [AtMostThreeClaims]);
    let (debate, cue) = debate_at_round(2);
    assert_eq!(
        broken_rules(&debate, cue, &speech("b c d>Bob1", &[], &[])),
        [],
        "an answer is no core claim"
    );
    assert_eq!(broken_rules(&debate, cue, &speech("b c d", &[], &[])), [AtMostThreeClaims]);
    let (debate, cue) = debate_at_round(3);
    assert_eq!(
        broken_rules(&debate, cue, &speech("a b c d e>Bob1", &[], &[])),
        [NoNewClaims],
        "no new claims after the first act"
    );
}

#[test]
fn opposing_claim_must_be_answered_in_rounds_3_to_9() {
    for round in 1..=10 {
        let (debate, cue) = debate_at_round(round);
        let broken = broken_rules(&debate, cue, &speech("Ada1", &[], &[]));
        assert_eq!(broken.contains(&AnswersOpponent), (3..=9).contains(&round), "round {round}");
        let rules = &debate.setup().phase(cue).rules;
        let weight = rules.iter().find(|(rule, _)| *rule == AnswersOpponent).map(|it| it.1);
        let expected = match round {
            3..=8 => Some(RuleWeight::Reask),
            9 => Some(RuleWeight::Foul),
            _ => None,
        };
        assert_eq!(weight, expected, "round {round}");
    }
    let (debate, cue) = debate_at_round(3);
    for (claims, expected) in [
        ("n>Bob1", &[][..]),
        ("n>Ada1", &[AnswersOpponent, NoNewClaims]),
        ("Ada1", &[AnswersOpponent]),
    ] {
        assert_eq!(broken_rules(&debate, cue, &speech(claims, &[], &[])), expected, "{claims}");
    }
}

#[test]
fn help_requests_are_allowed_in_rounds_3_to_8() {
    for round in 1..=10 {
        let (debate, cue) = debate_at_round(round);
        let body = speech_with_help_request(&debate, cue, "technical", "Ivy");
        let expected = if (3..=8).contains(&round) { &[][..] } else { &[NoHelp] };
        assert_eq!(broken_rules(&debate, cue, &body), expected, "round {round}");
        assert_eq!(reply_event(&debate, cue, body).is_ok(), expected.is_empty(), "round {round}");
    }
}

#[test]
fn help_request_needs_a_known_kind_and_a_silent_listener() {
    let (debate, cue) = debate_at_round(4);
    for (kind, from, expected) in [
        ("technical", "Ivy", &[][..]),
        ("ethical", "Hal", &[]),
        ("practical", "risk-averse", &[]),
        ("technical", "rational-logic", &[]),
        ("moral", "Ivy", &[HelpFits]),
        ("", "Ivy", &[HelpFits]),
        ("Technical", "Ivy", &[HelpFits]),
        ("technical", "Ada", &[HelpFits]),
        ("technical", "Kim", &[HelpFits]),
        ("technical", "technology-forward", &[HelpFits]),
        ("technical", "", &[HelpFits]),
        ("technical", "nobody", &[HelpFits]),
    ] {
        let body = speech_with_help_request(&debate, cue, kind, from);
        assert_eq!(broken_rules(&debate, cue, &body), expected, "{kind} {from}");
    }
    let first_message = |debate: &Debate, cue| {
        let findings =
            check_rules(debate, cue, &speech_with_help_request(debate, cue, "technical", "x"), &[]);
        findings[0].says.clone()
    };
    let message = "`target_audience` names nobody who can still speak: `Hal`, `Ivy`, `Jan`";
    assert_eq!(first_message(&debate, cue), message);
    let mut all_spoken = open_debate(tribunal_setup(10));
    let cue = play_until(&mut all_spoken, 6, "argue");
    assert_eq!(first_message(&all_spoken, cue), "nobody is left who could be asked for help");
}

#[test]
fn listener_type_resolves_to_its_first_silent_listener() {
    let mut debate = open_debate(tribunal_setup(10));
    for (round, expected) in [(3, "Ivy"), (5, "Jan")] {
        let cue = play_until(&mut debate, round, "argue");
        let body = speech_with_help_request(&debate, cue, "practical", "risk-averse");
        record_reply(&mut debate, cue, body);
        let address = play_until(&mut debate, round, "address");
        assert_eq!(debate.seat(address).name, expected);
        // No listener is admitted in between, so that Jan can still be asked in round 5.
        if round == 3 {
            let admit = play_until(&mut debate, 4, "admit");
            record_reply(&mut debate, admit, admission_body(None, [false; 3]));
        }
    }
    let cue = play_until(&mut debate, 7, "argue");
    assert_eq!(
        broken_rules(
            &debate,
            cue,
            &speech_with_help_request(&debate, cue, "practical", "risk-averse")
        ),
        [HelpFits]
    );
}

#[test]
fn help_request_in_consecutive_rounds_is_refused() {
    let (mut debate, cue) = debate_at_round(3);
    let body = speech_with_help_request(&debate, cue, "technical", "Ivy");
    record_reply(&mut debate, cue, body);
    // The other side may still request help in the same round and in the next.
    let other_cue =
        crate::test_support::debate_fixture::first_due_cue(&debate, 3, "argue").unwrap();
    assert_eq!(
        broken_rules(
            &debate,
            other_cue,
            &speech_with_help_request(&debate, other_cue, "technical", "Jan")
        ),
        []
    );
    let play_to_round = |debate: &mut Debate, round| {
        play_debate(debate, FAILED_PETITIONS, |debate| {
            crate::test_support::debate_fixture::first_due_cue(debate, round, "argue").is_some()
        });
        due_cues(debate)[0]
    };
    let cue = play_to_round(&mut debate, 4);
    assert_eq!(
        broken_rules(&debate, cue, &speech_with_help_request(&debate, cue, "technical", "Jan")),
        [HelpNotTwice]
    );
    let cue = play_to_round(&mut debate, 5);
    assert_eq!(
        broken_rules(&debate, cue, &speech_with_help_request(&debate, cue, "technical", "Jan")),
        []
    );
}

#[test]
fn key_battle_admits_listeners_only_on_a_help_request() {
    for round in [7, 8] {
        let (mut without_request, _) = debate_at_round(round);
        play_debate(&mut without_request, &[], |debate| {
            due_cues(debate).first().is_none_or(|cue| cue.round != round)
        });
        assert_eq!(phases_in_round(&without_request, round), "argue argue score");
        let (mut debate, cue) = debate_at_round(round);
        let body = speech_with_help_request(&debate, cue, "ethical", "Jan");
        record_reply(&mut debate, cue, body);
        play_debate(&mut debate, &[], |debate| {
            due_cues(debate).first().is_none_or(|cue| cue.round != round)
        });
        assert_eq!(phases_in_round(&debate, round), "argue argue admit address score");
        let address = debate.turns().find(|(cue, _)| debate.setup().phase(*cue).name == "address");
        assert_eq!(debate.seat(address.unwrap().0).name, "Jan");
    }
}

#[test]
fn only_petitioners_and_requested_helpers_are_admitted() {
    let (mut debate, cue) = debate_at_round(4);
    let body = speech_with_help_request(&debate, cue, "technical", "Jan");
    record_reply(&mut debate, cue, body);
    let first_petition = play_until(&mut debate, 4, "petition");
    record_reply(&mut debate, first_petition, petition_body(Some(Side::Con)));
    record_reply(&mut debate, Cue { seat: 8, ..first_petition }, petition_body(None));
    record_reply(&mut debate, Cue { seat: 9, ..first_petition }, petition_body(None));
    let admit = play_until(&mut debate, 4, "admit");
    for (name, expected) in [
        (Some("Hal"), &[][..]), // petitioned
        (Some("Jan"), &[]),     // requested by a debater
        (None, &[]),
        (Some("Ivy"), &[AdmitsPetitioner]), // declined
        (Some("Ada"), &[AdmitsPetitioner]),
        (Some("Kim"), &[AdmitsPetitioner]),
        (Some("hal"), &[AdmitsPetitioner]),
        (Some("Nemo"), &[AdmitsPetitioner]),
    ] {
        let body = admission_body(name, [true, true, false]);
        assert_eq!(broken_rules(&debate, admit, &body), expected, "{name:?}");
    }
    // A petitioner must bring new information. A requested helper need not.
    for (name, grounds, expected) in [
        ("Hal", [true, true, true], &[][..]),
        ("Hal", [true, true, false], &[]),
        ("Hal", [false, true, true], &[AdmitsForGood]),
        ("Hal", [true, false, true], &[AdmitsForGood]),
        ("Hal", [false, false, true], &[AdmitsForGood]),
        ("Jan", [false, false, false], &[]),
    ] {
        let body = admission_body(Some(name), grounds);
        assert_eq!(broken_rules(&debate, admit, &body), expected, "{name} {grounds:?}");
    }
    assert_eq!(
        broken_rules(&debate, admit, &admission_body(None, [false; 3])),
        [],
        "admitting no one needs no grounds"
    );
    record_reply(&mut debate, admit, admission_body(Some("Jan"), [false; 3]));
    assert_eq!(due_cues(&debate).len(), 1, "one listener speaks per round");
    play_debate(&mut debate, &[], |debate| {
        crate::test_support::debate_fixture::first_due_cue(debate, 5, "petition").is_some()
    });
    let silent_seats: Vec<u8> = due_cues(&debate).iter().map(|cue| cue.seat).collect();
    assert_eq!(silent_seats, [7, 8], "the helper has used its one speech");
}

#[test]
fn petitions_are_requested_only_in_the_confrontation() {
    let (debate, _) = debate_at_round(10);
    let petitions =
        debate.turns().filter(|(cue, _)| debate.setup().phase(*cue).reply == ReplyKind::Petition);
    let mut rounds: Vec<u8> = petitions.map(|(cue, _)| cue.round).collect();
    rounds.dedup();
    assert_eq!(rounds, [3, 4, 5, 6]);
    // If all listeners decline, the judge gets no admit request.
    let mut debate = open_debate(tribunal_setup(10));
    let first_petition = play_until(&mut debate, 3, "petition");
    for seat in [7, 8, 9] {
        record_reply(&mut debate, Cue { seat, ..first_petition }, petition_body(None));
    }
    assert_eq!(debate.setup().phase(due_cues(&debate)[0]).name, "score");
}

#[test]
fn endgame_refuses_new_claims_and_closing_new_facts() {
    let (debate, cue) = debate_at_round(9);
    for (claim_ids, expected) in [
        ("Ada1>Bob8", &[][..]),
        ("n>Bob8", &[]),
        ("n Ada1>Bob8", &[NoNewClaims]),
        ("n>nobody Ada1>Bob8", &[NoNewClaims]),
        ("Ada1", &[AnswersOpponent]),
    ] {
        assert_eq!(
            broken_rules(&debate, cue, &speech(claim_ids, &[], &[])),
            expected,
            "{claim_ids}"
        );
    }
    let (debate, cue) = debate_at_round(10);
    let speech_citing = |claim: &str, evidence: &str| {
        let mut body = speech(claim, &[], &[]);
        if let Body::Speech { claims, .. } = &mut body {
            claims[0].evidence = vec![evidence.into()];
        }
        body
    };
    for (claim, evidence, expected) in [
        ("Ada1", "src/lib.rs:1", &[][..]),
        ("Ada1", " src/lib.rs:1\n", &[]), // Same evidence, whitespace ignored.
        ("Ada1", "", &[]),
        ("Ada1", "src/lib.rs:2", &[NoNewFacts]),
        ("n>Bob8", "src/lib.rs:1", &[]),
        ("n", "src/lib.rs:1", &[NoNewClaims]),
        ("n", "new.rs:1", &[NoNewClaims, NoNewFacts]),
    ] {
        let body = speech_citing(claim, evidence);
        assert_eq!(broken_rules(&debate, cue, &body), expected, "{claim} {evidence}");
    }
}

#[test]
fn tribunal_records_failed_turns_and_continues() {
    for (failed_phases, failure_count) in [
        (&["3.argue/Ada"][..], 1),
        (&["3.argue"], 2),
        (&["3.petition"], 3),
        (&["3.admit"], 1),
        (&["3.address"], 1),
        (&["1.score", "2.score", "10.score"], 3),
        (&["7.argue/Bob", "8.argue/Bob", "9.argue/Bob", "10.argue/Bob"], 4),
        (&["0.vote/Ivy"], 1),
        (&["0.vote"], 3),
        (&["0.judge/Lou"], 1),
    ] {
        let debate = play_to_end(tribunal_setup(10), failed_phases);
        assert_eq!(debate.failed_turns().count(), failure_count, "{failed_phases:?}");
        assert_eq!(
            crate::test_support::debate_fixture::outcome_name(&debate),
            "completed",
            "{failed_phases:?}: {}",
            trace(&debate)
        );
    }
    // A failed address does not use up the listener's one speech.
    let mut debate = open_debate(tribunal_setup(10));
    play_debate(&mut debate, &["3.address"], |debate| {
        crate::test_support::debate_fixture::first_due_cue(debate, 4, "petition").is_some()
    });
    assert_eq!(due_cues(&debate).len(), 3);
    // Without an audience there are no petitions, admissions or votes.
    let without_audience = play_to_end(without_roles(tribunal_setup(10), &[Role::Audience]), &[]);
    assert!(
        !["petition", "admit", "address", "vote"]
            .iter()
            .any(|it| trace(&without_audience).contains(it))
    );
}

#[test]
fn every_judge_scores_but_only_the_first_admits() {
    let mut setup = tribunal_setup(10);
    let second_judge = Seat {
        name: "Kit".into(),
        voice: model_participant("opencode"),
        ..setup.seats[10].clone()
    };
    setup.seats.push(second_judge);
    let mut debate = open_debate(setup);
    play_until(&mut debate, 3, "admit");
    assert_eq!(due_cues(&debate), [cue(1, 3, 2, 10)]);
    play_until(&mut debate, 3, "score");
    assert_eq!(due_cues(&debate), [cue(1, 3, 4, 10), cue(1, 3, 4, 14)]);
}
