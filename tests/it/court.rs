//! Tribunal rules, table-driven: acts, help requests, petitions, admissions and failed turns.
use crate::players::{good, said};
use crate::scene::{cue, due, model, open, played, run, say, setup, speech, trace, until, without};
use Rule::{
    AdmitsForGood, AdmitsPetitioner, AnswersOpponent, AtMostThreeClaims, HelpFits, HelpNotTwice,
    NoHelp, NoNewClaims, NoNewFacts,
};
use debate_mcp::debate::body::{AdmissionGrounds, Novelty};
use debate_mcp::debate::{
    Body, Cue, Debate, HelpRequest, ReplyKind, Role, Rule, RuleWeight, Seat, Setup, Side,
    check_rules, formats,
};

/// A tribunal setup with listener types. Ivy and Jan share one type.
fn court(rounds: u8) -> Setup {
    let mut court = setup(formats::tribunal(), rounds);
    for (seat, kind) in [(7, "rational-logic"), (8, "risk-averse"), (9, "risk-averse")] {
        court.seats[seat].kind = kind.into();
    }
    court
}

/// Turns that time out, so that no listener petitions for the floor.
const UNHEARD: &[&str] = &["3.petition", "4.petition", "5.petition", "6.petition"];

/// The debate at the first speech of a round. No listener has spoken yet.
fn at(round: u8) -> (Debate, Cue) {
    let mut debate = open(court(10));
    let here = |debate: &Debate| crate::scene::here(debate, round, "argue").is_some();
    run(&mut debate, UNHEARD, here);
    let cue = due(&debate)[0];
    (debate, cue)
}

fn asking(debate: &Debate, cue: Cue, kind: &str, from: &str) -> Body {
    let mut body = good(debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, from) = (kind.into(), from.into());
        *help = Some(HelpRequest { kind, from, because: "figures".into() });
    }
    body
}

fn rules(debate: &Debate, cue: Cue, body: &Body) -> Vec<Rule> {
    check_rules(debate, cue, body, &[]).into_iter().map(|found| found.rule).collect()
}

fn admission(name: Option<&str>, grounds: [bool; 3]) -> Body {
    let [new_information, avoids_repetition, shifts_balance] = grounds;
    let grounds = AdmissionGrounds { new_information, avoids_repetition, shifts_balance };
    Body::Ruling { admits: name.map(Into::into), grounds, because: "so".into() }
}

fn petition(supports: Option<Side>) -> Body {
    Body::Petition { supports, claim: "me".into(), novelty: Novelty::New, confidence: 50 }
}

/// Names of the phases played in a round, in order.
fn phases(debate: &Debate, round: u8) -> String {
    let turns = debate.turns().filter(|(cue, _)| cue.round == round);
    let names = turns.map(|(cue, _)| debate.setup().phase(cue).name.as_str());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_acts_of_ten_rounds_are_those_of_the_rules_and_fewer_or_more_change_the_middle() {
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
            .flat_map(|(act, span)| span.filter(|round| *round > 0).map(|_| letter(&act.name)))
            .collect();
        assert_eq!(acts, expected, "{rounds} rounds");
    }
    for rounds in 3..=20 {
        let debate = played(court(rounds), &[]);
        assert_eq!(crate::scene::word(&debate), "completed", "{rounds} rounds");
        let speeches =
            debate.replies_in(..).filter(|(cue, _)| debate.seat(*cue).role.side().is_some());
        assert_eq!(speeches.count(), 2 * usize::from(rounds), "each side once a round");
    }
}

#[test]
fn every_round_has_the_phases_of_its_act() {
    let debate = played(court(10), &[]);
    for round in [1, 2, 6, 7, 8, 9, 10] {
        // All listeners have spoken by round 6, so none is left to petition.
        assert_eq!(phases(&debate, round), "argue argue score", "round {round}");
    }
    assert_eq!(phases(&debate, 3), "argue argue petition petition petition admit address score");
    assert_eq!(phases(&debate, 5), "argue argue petition admit address score");
    assert_eq!(phases(&debate, 0), "judge judge vote vote vote");
}

#[test]
fn at_most_three_core_claims_are_made_in_the_first_act() {
    let (debate, cue) = at(1);
    assert_eq!(rules(&debate, cue, &speech("a b c", &[], &[])), []);
    assert_eq!(rules(&debate, cue, &speech("a b c d", &[], &[])), [AtMostThreeClaims]);
    let answering_nobody = speech("a>x b>x c>x d>x", &[], &[]);
    assert_eq!(rules(&debate, cue, &answering_nobody), [AtMostThreeClaims]);
    let (debate, cue) = at(2);
    assert_eq!(
        rules(&debate, cue, &speech("b c d>Bob1", &[], &[])),
        [],
        "an answer is no core claim"
    );
    assert_eq!(rules(&debate, cue, &speech("b c d", &[], &[])), [AtMostThreeClaims]);
    let (debate, cue) = at(3);
    assert_eq!(
        rules(&debate, cue, &speech("a b c d e>Bob1", &[], &[])),
        [NoNewClaims],
        "later there are no new ones"
    );
}

#[test]
fn an_opposing_claim_is_answered_by_its_id_from_the_third_round_to_the_eighth() {
    for round in 1..=10 {
        let (debate, cue) = at(round);
        let silent = rules(&debate, cue, &speech("Ada1", &[], &[]));
        assert_eq!(silent.contains(&AnswersOpponent), (3..=9).contains(&round), "round {round}");
        let rows = &debate.setup().phase(cue).rules;
        let weight = rows.iter().find(|(rule, _)| *rule == AnswersOpponent).map(|it| it.1);
        let expected = match round {
            3..=8 => Some(RuleWeight::Reask),
            9 => Some(RuleWeight::Foul),
            _ => None,
        };
        assert_eq!(weight, expected, "round {round}");
    }
    let (debate, cue) = at(3);
    for (said, expected) in [
        ("n>Bob1", &[][..]),
        ("n>Ada1", &[AnswersOpponent, NoNewClaims]),
        ("Ada1", &[AnswersOpponent]),
    ] {
        assert_eq!(rules(&debate, cue, &speech(said, &[], &[])), expected, "{said}");
    }
}

#[test]
fn help_may_be_asked_for_from_the_third_round_to_the_eighth() {
    for round in 1..=10 {
        let (debate, cue) = at(round);
        let body = asking(&debate, cue, "technical", "Ivy");
        let expected = if (3..=8).contains(&round) { &[][..] } else { &[NoHelp] };
        assert_eq!(rules(&debate, cue, &body), expected, "round {round}");
        assert_eq!(said(&debate, cue, body).is_ok(), expected.is_empty(), "round {round}");
    }
}

#[test]
fn help_is_of_a_kind_there_is_and_from_a_listener_who_can_still_give_it() {
    let (debate, cue) = at(4);
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
        let body = asking(&debate, cue, kind, from);
        assert_eq!(rules(&debate, cue, &body), expected, "{kind} {from}");
    }
    let says = |debate: &Debate, cue| {
        let found = check_rules(debate, cue, &asking(debate, cue, "technical", "x"), &[]);
        found[0].says.clone()
    };
    let names = "`target_audience` names nobody who can still speak: `Hal`, `Ivy`, `Jan`";
    assert_eq!(says(&debate, cue), names);
    let mut heard = open(court(10));
    let cue = until(&mut heard, 6, "argue");
    assert_eq!(says(&heard, cue), "nobody is left who could be asked for help");
}

#[test]
fn a_type_means_the_first_of_its_listeners_who_is_still_silent() {
    let mut debate = open(court(10));
    for (round, expected) in [(3, "Ivy"), (5, "Jan")] {
        let cue = until(&mut debate, round, "argue");
        let body = asking(&debate, cue, "practical", "risk-averse");
        say(&mut debate, cue, body);
        let floor = until(&mut debate, round, "address");
        assert_eq!(debate.seat(floor).name, expected);
        // No listener is admitted in between, so that Jan can still be asked in round 5.
        if round == 3 {
            let admit = until(&mut debate, 4, "admit");
            say(&mut debate, admit, admission(None, [false; 3]));
        }
    }
    let cue = until(&mut debate, 7, "argue");
    assert_eq!(rules(&debate, cue, &asking(&debate, cue, "practical", "risk-averse")), [HelpFits]);
}

#[test]
fn help_is_not_asked_for_in_two_rounds_running() {
    let (mut debate, cue) = at(3);
    let body = asking(&debate, cue, "technical", "Ivy");
    say(&mut debate, cue, body);
    // The other side may still request help in the same round and in the next.
    let other = crate::scene::here(&debate, 3, "argue").unwrap();
    assert_eq!(rules(&debate, other, &asking(&debate, other, "technical", "Jan")), []);
    let next = |debate: &mut Debate, round| {
        run(debate, UNHEARD, |debate| crate::scene::here(debate, round, "argue").is_some());
        due(debate)[0]
    };
    let cue = next(&mut debate, 4);
    assert_eq!(rules(&debate, cue, &asking(&debate, cue, "technical", "Jan")), [HelpNotTwice]);
    let cue = next(&mut debate, 5);
    assert_eq!(rules(&debate, cue, &asking(&debate, cue, "technical", "Jan")), []);
}

#[test]
fn in_the_key_battle_a_listener_is_let_in_only_where_a_debater_asks_for_one() {
    for round in [7, 8] {
        let (mut quiet, _) = at(round);
        run(&mut quiet, &[], |debate| due(debate).first().is_none_or(|cue| cue.round != round));
        assert_eq!(phases(&quiet, round), "argue argue score");
        let (mut debate, cue) = at(round);
        let body = asking(&debate, cue, "ethical", "Jan");
        say(&mut debate, cue, body);
        run(&mut debate, &[], |debate| due(debate).first().is_none_or(|cue| cue.round != round));
        assert_eq!(phases(&debate, round), "argue argue admit address score");
        let floor = debate.turns().find(|(cue, _)| debate.setup().phase(*cue).name == "address");
        assert_eq!(debate.seat(floor.unwrap().0).name, "Jan");
    }
}

#[test]
fn who_asked_for_the_floor_or_was_asked_for_may_be_let_in_and_nobody_else() {
    let (mut debate, cue) = at(4);
    let body = asking(&debate, cue, "technical", "Jan");
    say(&mut debate, cue, body);
    let first = until(&mut debate, 4, "petition");
    say(&mut debate, first, petition(Some(Side::Con)));
    say(&mut debate, Cue { seat: 8, ..first }, petition(None));
    say(&mut debate, Cue { seat: 9, ..first }, petition(None));
    let admit = until(&mut debate, 4, "admit");
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
        let body = admission(name, [true, true, false]);
        assert_eq!(rules(&debate, admit, &body), expected, "{name:?}");
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
        let body = admission(Some(name), grounds);
        assert_eq!(rules(&debate, admit, &body), expected, "{name} {grounds:?}");
    }
    assert_eq!(rules(&debate, admit, &admission(None, [false; 3])), [], "nobody needs no grounds");
    say(&mut debate, admit, admission(Some("Jan"), [false; 3]));
    assert_eq!(due(&debate).len(), 1, "one speaks a round");
    run(&mut debate, &[], |debate| crate::scene::here(debate, 5, "petition").is_some());
    let silent: Vec<u8> = due(&debate).iter().map(|cue| cue.seat).collect();
    assert_eq!(silent, [7, 8], "whoever helped has had the one speech");
}

#[test]
fn petitions_are_asked_for_in_the_confrontation_and_nowhere_else() {
    let (debate, _) = at(10);
    let asked =
        debate.turns().filter(|(cue, _)| debate.setup().phase(*cue).reply == ReplyKind::Petition);
    let mut rounds: Vec<u8> = asked.map(|(cue, _)| cue.round).collect();
    rounds.dedup();
    assert_eq!(rounds, [3, 4, 5, 6]);
    // If all listeners decline, the judge gets no admit request.
    let mut debate = open(court(10));
    let first = until(&mut debate, 3, "petition");
    for seat in [7, 8, 9] {
        say(&mut debate, Cue { seat, ..first }, petition(None));
    }
    assert_eq!(debate.setup().phase(due(&debate)[0]).name, "score");
}

#[test]
fn nothing_is_claimed_anew_in_the_endgame_and_no_fact_is_new_at_the_close() {
    let (debate, cue) = at(9);
    for (said, expected) in [
        ("Ada1>Bob8", &[][..]),
        ("n>Bob8", &[]),
        ("n Ada1>Bob8", &[NoNewClaims]),
        ("n>nobody Ada1>Bob8", &[NoNewClaims]),
        ("Ada1", &[AnswersOpponent]),
    ] {
        assert_eq!(rules(&debate, cue, &speech(said, &[], &[])), expected, "{said}");
    }
    let (debate, cue) = at(10);
    let resting_on = |claim: &str, evidence: &str| {
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
        let body = resting_on(claim, evidence);
        assert_eq!(rules(&debate, cue, &body), expected, "{claim} {evidence}");
    }
}

#[test]
fn whoever_fails_is_recorded_and_the_court_goes_on() {
    for (down, missing) in [
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
        let debate = played(court(10), down);
        assert_eq!(debate.failed_turns().count(), missing, "{down:?}");
        assert_eq!(crate::scene::word(&debate), "completed", "{down:?}: {}", trace(&debate));
    }
    // A failed address does not use up the listener's one speech.
    let mut debate = open(court(10));
    run(&mut debate, &["3.address"], |debate| crate::scene::here(debate, 4, "petition").is_some());
    assert_eq!(due(&debate).len(), 3);
    // Without an audience there are no petitions, admissions or votes.
    let alone = played(without(court(10), &[Role::Audience]), &[]);
    assert!(!["petition", "admit", "address", "vote"].iter().any(|it| trace(&alone).contains(it)));
}

#[test]
fn of_several_judges_all_mark_and_the_first_lets_in() {
    let mut panel = court(10);
    let second = Seat { name: "Kit".into(), voice: model("opencode"), ..panel.seats[10].clone() };
    panel.seats.push(second);
    let mut debate = open(panel);
    until(&mut debate, 3, "admit");
    assert_eq!(due(&debate), [cue(1, 3, 2, 10)]);
    until(&mut debate, 3, "score");
    assert_eq!(due(&debate), [cue(1, 3, 4, 10), cue(1, 3, 4, 14)]);
}
