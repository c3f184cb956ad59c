//! The tribunal format: admission of petitioners, help from the audience, and the weighted
//! judgment.
use crate::debate_fixture::{
    ask_open_turns, debate_setup, due_cues, open_debate, play_debate, play_until, record_reply,
};
use crate::simulated_players::{reply_event, valid_reply, verdict_reply};
use debate_mcp::debate::body::AdmissionGrounds;
use debate_mcp::debate::{
    Body, Cue, Debate, Envelope, Event, HelpRequest, Reply, Role, Rule, RuleWeight, Shortfall,
    Side, Step, check_rules, formats, next, verdict::ContestReason, verdict::judgment,
};

fn open_tribunal() -> Debate {
    open_debate(debate_setup(formats::tribunal(), 10))
}

/// A ruling that admits this audience member, or none.
fn admission_ruling(admits: Option<&str>, because: &str) -> Body {
    let grounds =
        AdmissionGrounds { new_information: true, avoids_repetition: true, shifts_balance: true };
    Body::Ruling { admits: admits.map(Into::into), grounds, because: because.into() }
}

fn seat_names(debate: &Debate, cues: &[Cue]) -> Vec<String> {
    cues.iter().map(|cue| debate.seat(*cue).name.clone()).collect()
}

#[test]
fn one_petitioner_per_round_speaks_once() {
    let mut debate = open_tribunal();
    let mut waiting = 3;
    for round in 3..=5 {
        play_until(&mut debate, round, "petition");
        assert_eq!(due_cues(&debate).len(), waiting, "only the silent may ask for the floor");
        play_until(&mut debate, round, "address");
        assert_eq!(due_cues(&debate).len(), 1);
        waiting -= 1;
    }
    play_debate(&mut debate, &[], |_| false);
    let addresses =
        debate.replies_in(..).filter(|(cue, _)| debate.setup().phase(*cue).name == "address");
    let order: Vec<Cue> = addresses.map(|(cue, _)| cue).collect();
    assert_eq!(seat_names(&debate, &order), ["Hal", "Ivy", "Jan"]);
    let phases = |act| debate.turns().filter(move |(cue, _)| cue.act == act);
    assert!(phases(0).chain(phases(2)).all(|(cue, _)| { debate.seat(cue).role != Role::Audience }));
}

#[test]
fn help_comes_from_the_named_seat_not_twice_in_a_row() {
    let mut debate = open_tribunal();
    let ask = |debate: &Debate, cue, name: &str| {
        let mut body = valid_reply(debate, cue);
        if let Body::Speech { help, .. } = &mut body {
            *help = Some(HelpRequest {
                kind: "technical".into(),
                from: name.into(),
                because: "figures".into(),
            });
        }
        body
    };
    let early = play_until(&mut debate, 2, "argue");
    let fouls = check_rules(&debate, early, &ask(&debate, early, "Ivy"), &[]);
    assert!(
        fouls.iter().any(|found| found.rule == Rule::NoHelp && found.weight == RuleWeight::Reask)
    );
    let cue = play_until(&mut debate, 3, "argue");
    let body = ask(&debate, cue, "Ivy");
    record_reply(&mut debate, cue, body);
    play_until(&mut debate, 3, "address");
    assert_eq!(
        seat_names(&debate, &due_cues(&debate)),
        ["Ivy"],
        "the judge grants what was asked for"
    );
    let cue = play_until(&mut debate, 4, "argue");
    let again = reply_event(&debate, cue, ask(&debate, cue, "Jan")).unwrap_err();
    assert_eq!(again[0].rule, Rule::HelpNotTwice);
    play_until(&mut debate, 4, "petition");
    assert_eq!(seat_names(&debate, &due_cues(&debate)), ["Hal", "Jan"], "Ivy has had her speech");
    let cue = play_until(&mut debate, 5, "argue");
    // A seat that has spoken cannot be asked for help again.
    let spent = reply_event(&debate, cue, ask(&debate, cue, "Ivy")).unwrap_err();
    assert_eq!(spent[0].rule, Rule::HelpFits);
    assert!(spent[0].says.contains("`Jan`"), "{}", spent[0].says);
}

#[test]
fn only_petitioners_can_be_admitted() {
    let mut debate = open_tribunal();
    let cue = play_until(&mut debate, 3, "admit");
    let admits = |name: &str| admission_ruling(Some(name), "new");
    assert!(reply_event(&debate, cue, admits("Ada")).is_err());
    record_reply(&mut debate, cue, admits("Jan"));
    assert_eq!(seat_names(&debate, &due_cues(&debate)), ["Jan"]);
    // If no petition is admitted, no address follows.
    let cue = play_until(&mut debate, 4, "admit");
    record_reply(&mut debate, cue, admission_ruling(None, "nothing new"));
    assert_eq!(debate.setup().phase(due_cues(&debate)[0]).name, "score");
}

#[test]
fn verdicts_and_votes_are_weighed_into_a_judgment() {
    let mut debate = open_tribunal();
    let judge = play_until(&mut debate, 0, "judge");
    let Step::Speak { driven, .. } = next(&debate) else { panic!() };
    assert_eq!(driven.len(), 2, "the judge and its mirror, at once");
    let labels = |side| [0, 1].map(|nth: usize| debate.side_label(driven[nth], side).unwrap());
    assert_eq!((labels(Side::Pro), labels(Side::Con)), (["A", "B"], ["B", "A"]));
    let cites: Vec<Cue> = debate.replies_before(judge).map(|(cue, _)| cue).take(2).collect();
    record_reply(&mut debate, driven[0], verdict_reply(Some(Side::Pro), 90, cites.clone()));
    record_reply(&mut debate, driven[1], verdict_reply(Some(Side::Con), 90, cites));
    assert_eq!(judgment(&debate), None, "nobody has won before all have voted");
    play_debate(&mut debate, &[], |_| false);
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
fn later_speeches_do_not_change_earlier_petitions() {
    // Even if a missing petition aborts the debate: Ivy's later speech does not undo her petition.
    let mut strict = debate_setup(formats::tribunal(), 10);
    let mut phases = strict.format.acts.iter_mut().flat_map(|act| &mut act.phases);
    phases.find(|phase| phase.name == "petition").unwrap().short = Shortfall::Abort;
    let mut debate = open_debate(strict);
    let past = |debate: &Debate| due_cues(debate).first().is_none_or(|cue| cue.round == 4);
    play_debate(&mut debate, &["3.petition/Hal", "3.petition/Jan"], past);
    assert_eq!(due_cues(&debate).len(), 1, "round 4 has begun");
    // A log may contain a ruling that no rule has checked. It still lets no seat speak twice.
    let cue = play_until(&mut debate, 4, "admit");
    let body = admission_ruling(Some("Ivy"), "again");
    ask_open_turns(&mut debate);
    let reply = Reply { body, findings: vec![], citations: vec![], envelope: Envelope::default() };
    debate.apply(Event::Spoke { cue, reply }).unwrap();
    assert_eq!(debate.setup().phase(due_cues(&debate)[0]).name, "score");
}
