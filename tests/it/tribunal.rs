//! The tribunal format: admission of petitioners, help from the audience, and the weighted
//! judgment.
use crate::players::{good, ruling, said};
use crate::scene::{due, open, put, run, say, setup, until};
use debate_mcp::debate::body::AdmissionGrounds;
use debate_mcp::debate::{
    Body, Cue, Debate, Envelope, Event, HelpRequest, Reply, Role, Rule, RuleWeight, Shortfall,
    Side, Step, check_rules, formats, next, verdict::ContestReason, verdict::judgment,
};

fn court() -> Debate {
    open(setup(formats::tribunal(), 10))
}

/// A ruling that admits this audience member, or none.
fn admission(admits: Option<&str>, because: &str) -> Body {
    let grounds =
        AdmissionGrounds { new_information: true, avoids_repetition: true, shifts_balance: true };
    Body::Ruling { admits: admits.map(Into::into), grounds, because: because.into() }
}

fn names(debate: &Debate, cues: &[Cue]) -> Vec<String> {
    cues.iter().map(|cue| debate.seat(*cue).name.clone()).collect()
}

#[test]
fn one_is_let_in_a_round_and_speaks_once_ever() {
    let mut debate = court();
    let mut waiting = 3;
    for round in 3..=5 {
        until(&mut debate, round, "petition");
        assert_eq!(due(&debate).len(), waiting, "only the silent may ask for the floor");
        until(&mut debate, round, "address");
        assert_eq!(due(&debate).len(), 1);
        waiting -= 1;
    }
    run(&mut debate, &[], |_| false);
    let addresses =
        debate.replies_in(..).filter(|(cue, _)| debate.setup().phase(*cue).name == "address");
    let order: Vec<Cue> = addresses.map(|(cue, _)| cue).collect();
    assert_eq!(names(&debate, &order), ["Hal", "Ivy", "Jan"]);
    let phases = |act| debate.turns().filter(move |(cue, _)| cue.act == act);
    assert!(phases(0).chain(phases(2)).all(|(cue, _)| { debate.seat(cue).role != Role::Audience }));
}

#[test]
fn help_comes_from_the_seat_that_was_asked_and_not_two_rounds_running() {
    let mut debate = court();
    let ask = |debate: &Debate, cue, name: &str| {
        let mut body = good(debate, cue);
        if let Body::Speech { help, .. } = &mut body {
            *help = Some(HelpRequest {
                kind: "technical".into(),
                from: name.into(),
                because: "figures".into(),
            });
        }
        body
    };
    let early = until(&mut debate, 2, "argue");
    let fouls = check_rules(&debate, early, &ask(&debate, early, "Ivy"), &[]);
    assert!(
        fouls.iter().any(|found| found.rule == Rule::NoHelp && found.weight == RuleWeight::Reask)
    );
    let cue = until(&mut debate, 3, "argue");
    let body = ask(&debate, cue, "Ivy");
    say(&mut debate, cue, body);
    until(&mut debate, 3, "address");
    assert_eq!(names(&debate, &due(&debate)), ["Ivy"], "the judge grants what was asked for");
    let cue = until(&mut debate, 4, "argue");
    let again = said(&debate, cue, ask(&debate, cue, "Jan")).unwrap_err();
    assert_eq!(again[0].rule, Rule::HelpNotTwice);
    until(&mut debate, 4, "petition");
    assert_eq!(names(&debate, &due(&debate)), ["Hal", "Jan"], "Ivy has had her speech");
    let cue = until(&mut debate, 5, "argue");
    // A seat that has spoken cannot be asked for help again.
    let spent = said(&debate, cue, ask(&debate, cue, "Ivy")).unwrap_err();
    assert_eq!(spent[0].rule, Rule::HelpFits);
    assert!(spent[0].says.contains("`Jan`"), "{}", spent[0].says);
}

#[test]
fn a_ruling_lets_in_only_who_asked() {
    let mut debate = court();
    let cue = until(&mut debate, 3, "admit");
    let admits = |name: &str| admission(Some(name), "new");
    assert!(said(&debate, cue, admits("Ada")).is_err());
    say(&mut debate, cue, admits("Jan"));
    assert_eq!(names(&debate, &due(&debate)), ["Jan"]);
    // If no petition is admitted, no address follows.
    let cue = until(&mut debate, 4, "admit");
    say(&mut debate, cue, admission(None, "nothing new"));
    assert_eq!(debate.setup().phase(due(&debate)[0]).name, "score");
}

#[test]
fn verdicts_and_votes_come_to_a_judgment() {
    let mut debate = court();
    let judge = until(&mut debate, 0, "judge");
    let Step::Speak { driven, .. } = next(&debate) else { panic!() };
    assert_eq!(driven.len(), 2, "the judge and its mirror, at once");
    let labels = |side| [0, 1].map(|nth: usize| debate.side_label(driven[nth], side).unwrap());
    assert_eq!((labels(Side::Pro), labels(Side::Con)), (["A", "B"], ["B", "A"]));
    let cites: Vec<Cue> = debate.replies_before(judge).map(|(cue, _)| cue).take(2).collect();
    say(&mut debate, driven[0], ruling(Some(Side::Pro), 90, cites.clone()));
    say(&mut debate, driven[1], ruling(Some(Side::Con), 90, cites));
    assert_eq!(judgment(&debate), None, "nobody has won before all have voted");
    run(&mut debate, &[], |_| false);
    let judgment = judgment(&debate).unwrap();
    let weighed = judgment.weighted_score.unwrap();
    assert_eq!(
        judgment.contest_reasons,
        [ContestReason::Order],
        "the judge followed position, and it shows"
    );
    // Marks of 7.5 to 7, one ruling each, and no audience votes for the proposer.
    assert_eq!((weighed.rounds, weighed.rulings), (Some(5172), Some(5000)));
    assert_eq!((weighed.judge, weighed.audience), (Some(5086), Some(0)));
    assert_eq!(
        (judgment.winner, weighed.total, judgment.dissenting_votes.len()),
        (Side::Con, 2543, 0)
    );
    assert!(debate.validate(&Event::Concluded { because: None }).is_err());
}

#[test]
fn who_was_to_speak_does_not_change_afterwards() {
    // Even if a missing petition aborts the debate: Ivy's later speech does not undo her petition.
    let mut strict = setup(formats::tribunal(), 10);
    let mut phases = strict.format.acts.iter_mut().flat_map(|act| &mut act.phases);
    phases.find(|phase| phase.name == "petition").unwrap().short = Shortfall::Abort;
    let mut debate = open(strict);
    let past = |debate: &Debate| due(debate).first().is_none_or(|cue| cue.round == 4);
    run(&mut debate, &["3.petition/Hal", "3.petition/Jan"], past);
    assert_eq!(due(&debate).len(), 1, "round 4 has begun");
    // A log may contain a ruling that no rule has checked. It still lets no seat speak twice.
    let cue = until(&mut debate, 4, "admit");
    let body = admission(Some("Ivy"), "again");
    put(&mut debate);
    let reply = Reply { body, findings: vec![], citations: vec![], envelope: Envelope::default() };
    debate.apply(Event::Spoke { cue, reply }).unwrap();
    assert_eq!(debate.setup().phase(due(&debate)[0]).name, "score");
}
