//! The tribunal format: admission of petitioners, help from the audience, and the weighted
//! judgment.
use crate::debate::body::AdmissionGrounds;
use crate::debate::{
    Body, Cue, Debate, Envelope, Event, HelpRequest, Reply, Role, Rule, RuleWeight, Shortfall,
    Side, Step, check_rules, formats, next, verdict::ContestReason, verdict::judgment,
};
use crate::test_support::debate_fixture::{
    ask_open_turns, debate_setup, due_cues, open_debate, play_debate, play_until, record_reply,
};
use crate::test_support::simulated_players::{reply_event, valid_reply, verdict_reply};

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
    let mut silent_count = 3;
    for round in 3..=5 {
        play_until(&mut debate, round, "petition");
        assert_eq!(
            due_cues(&debate).len(),
            silent_count,
            "only listeners who have not spoken may petition"
        );
        play_until(&mut debate, round, "address");
        assert_eq!(due_cues(&debate).len(), 1);
        silent_count -= 1;
    }
    play_debate(&mut debate, &[], |_| false);
    let addresses =
        debate.replies_in(..).filter(|(cue, _)| debate.setup().phase(*cue).name == "address");
    let order: Vec<Cue> = addresses.map(|(cue, _)| cue).collect();
    assert_eq!(seat_names(&debate, &order), ["Hal", "Ivy", "Jan"]);
    let turns_in_act = |act| debate.turns().filter(move |(cue, _)| cue.act == act);
    assert!(
        turns_in_act(0)
            .chain(turns_in_act(2))
            .all(|(cue, _)| { debate.seat(cue).role != Role::Audience })
    );
}

#[test]
fn help_comes_from_the_named_seat_and_not_in_consecutive_rounds() {
    let mut debate = open_tribunal();
    let speech_requesting = |debate: &Debate, cue, name: &str| {
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
    let early_cue = play_until(&mut debate, 2, "argue");
    let findings =
        check_rules(&debate, early_cue, &speech_requesting(&debate, early_cue, "Ivy"), &[]);
    assert!(
        findings
            .iter()
            .any(|finding| finding.rule == Rule::NoHelp && finding.weight == RuleWeight::Reask)
    );
    let cue = play_until(&mut debate, 3, "argue");
    let body = speech_requesting(&debate, cue, "Ivy");
    record_reply(&mut debate, cue, body);
    play_until(&mut debate, 3, "address");
    assert_eq!(
        seat_names(&debate, &due_cues(&debate)),
        ["Ivy"],
        "the judge admits the requested helper"
    );
    let cue = play_until(&mut debate, 4, "argue");
    let consecutive_findings =
        reply_event(&debate, cue, speech_requesting(&debate, cue, "Jan")).unwrap_err();
    assert_eq!(consecutive_findings[0].rule, Rule::HelpNotTwice);
    play_until(&mut debate, 4, "petition");
    assert_eq!(seat_names(&debate, &due_cues(&debate)), ["Hal", "Jan"], "Ivy has had her speech");
    let cue = play_until(&mut debate, 5, "argue");
    // A seat that has spoken cannot be asked for help again.
    let repeated_findings =
        reply_event(&debate, cue, speech_requesting(&debate, cue, "Ivy")).unwrap_err();
    assert_eq!(repeated_findings[0].rule, Rule::HelpFits);
    assert!(repeated_findings[0].says.contains("`Jan`"), "{}", repeated_findings[0].says);
}

#[test]
fn only_petitioners_can_be_admitted() {
    let mut debate = open_tribunal();
    let cue = play_until(&mut debate, 3, "admit");
    let admitting = |name: &str| admission_ruling(Some(name), "new");
    assert!(reply_event(&debate, cue, admitting("Ada")).is_err());
    record_reply(&mut debate, cue, admitting("Jan"));
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
    assert_eq!(driven.len(), 2, "the judge and its mirror are asked at the same time");
    let labels = |side| [0, 1].map(|index: usize| debate.side_label(driven[index], side).unwrap());
    assert_eq!((labels(Side::Pro), labels(Side::Con)), (["A", "B"], ["B", "A"]));
    let cites: Vec<Cue> = debate.replies_before(judge).map(|(cue, _)| cue).take(2).collect();
    record_reply(&mut debate, driven[0], verdict_reply(Some(Side::Pro), 90, cites.clone()));
    record_reply(&mut debate, driven[1], verdict_reply(Some(Side::Con), 90, cites));
    assert_eq!(judgment(&debate), None, "there is no winner before all votes");
    play_debate(&mut debate, &[], |_| false);
    let judgment = judgment(&debate).unwrap();
    let weighted = judgment.weighted_score.unwrap();
    assert_eq!(
        judgment.contest_reasons,
        [ContestReason::Order],
        "the rulings follow the order of the sides"
    );
    // Marks of 7.5 to 7, one ruling each, and no audience votes for the proposer.
    assert_eq!((weighted.rounds, weighted.rulings), (Some(5172), Some(5000)));
    assert_eq!((weighted.judge, weighted.audience), (Some(5086), Some(0)));
    assert_eq!(
        (judgment.winner, weighted.total, judgment.dissenting_votes.len()),
        (Side::Con, 2543, 0)
    );
    assert!(debate.validate(&Event::Concluded { because: None }).is_err());
}

#[test]
fn later_speeches_do_not_change_earlier_petitions() {
    // Even if a missing petition aborts the debate: Ivy's later speech does not undo her petition.
    let mut setup = debate_setup(formats::tribunal(), 10);
    let mut phases = setup.format.acts.iter_mut().flat_map(|act| &mut act.phases);
    phases.find(|phase| phase.name == "petition").unwrap().short = Shortfall::Abort;
    let mut debate = open_debate(setup);
    let round_four_began =
        |debate: &Debate| due_cues(debate).first().is_none_or(|cue| cue.round == 4);
    play_debate(&mut debate, &["3.petition/Hal", "3.petition/Jan"], round_four_began);
    assert_eq!(due_cues(&debate).len(), 1, "round 4 has begun");
    // A log may contain a ruling that no rule has checked. It still lets no seat speak twice.
    let cue = play_until(&mut debate, 4, "admit");
    let body = admission_ruling(Some("Ivy"), "again");
    ask_open_turns(&mut debate);
    let reply = Reply { body, findings: vec![], citations: vec![], envelope: Envelope::default() };
    debate.apply(Event::Spoke { cue, reply }).unwrap();
    assert_eq!(debate.setup().phase(due_cues(&debate)[0]).name, "score");
}
