//! The dialectic format: it has no fixed end and no winner. The user concludes it, remarks reach
//! both seats, and the result is a list of insights with an outcome.
use crate::players::{amended, good, told};
use crate::scene::{apply, due, open, played, run, say, setup, trace, until, word};
use debate_mcp::debate::insights::{
    DialogueOutcome, concluding_sections, key_insights, parse_outcome,
};
use debate_mcp::debate::verdict::judgment;
use debate_mcp::debate::{
    Amendment, Body, Debate, Event, Role, Rule, Seat, Section, Status, TranscriptItem, check_rules,
    formats, status::status,
};

fn dialogue() -> Debate {
    open(setup(formats::dialectic(), 10))
}

fn sections(parts: &[(&str, &str)]) -> Vec<Section> {
    let section =
        |(title, text): &(&str, &str)| Section { title: (*title).into(), text: (*text).into() };
    parts.iter().map(section).collect()
}

/// A dialectic concluded after this many rounds. Its insights are still due.
fn ended(rounds: u8) -> Debate {
    let mut debate = dialogue();
    run(&mut debate, &[], |debate| due(debate)[0].round > rounds);
    apply(&mut debate, [Event::Concluded { because: None }]);
    debate
}

#[test]
fn an_outcome_is_one_of_three_words_and_something_was_learned() {
    let mut debate = ended(1);
    let cue = until(&mut debate, 0, "insights");
    let some = "- Indentation is a habit.";
    for (outcome, learned, expected) in [
        ("consensus", some, Some(DialogueOutcome::Consensus)),
        ("partial: on the cost they differ.", some, Some(DialogueOutcome::Partial)),
        ("**Disagreement**\n\nStill.", some, Some(DialogueOutcome::Disagreement)),
        ("- consensus", some, Some(DialogueOutcome::Consensus)),
        ("no consensus", some, None),
        ("We reached consensus.", some, None),
        ("consensual", some, None),
        ("partially", some, None),
        ("tie", some, None),
        ("", some, None),
        ("consensus", " ", None),
    ] {
        let body = Body::Sections {
            sections: sections(&[("Outcome", outcome), ("Key Insights", learned)]),
        };
        let found = check_rules(&debate, cue, &body, &[]);
        let rules: Vec<Rule> = found.iter().map(|found| found.rule).collect();
        let wrong = if expected.is_some() { &[][..] } else { &[Rule::StatesOutcome] };
        assert_eq!(rules, wrong, "{outcome:?} {learned:?}");
        let Body::Sections { sections } = body else { panic!() };
        if !learned.trim().is_empty() {
            assert_eq!(parse_outcome(&sections), expected, "{outcome:?}");
        }
    }
    for parts in [
        &[("Outcome", "consensus")][..],
        &[("Key Insights", "x")],
        &[("Result", "consensus"), ("Key Insights", "x")],
    ] {
        let body = Body::Sections { sections: sections(parts) };
        assert_eq!(check_rules(&debate, cue, &body, &[]).len(), 1, "{parts:?}");
    }
    for (end, word) in [
        (DialogueOutcome::Consensus, "consensus"),
        (DialogueOutcome::Partial, "partial"),
        (DialogueOutcome::Disagreement, "disagreement"),
    ] {
        assert_eq!(end.as_str(), word);
    }
}

#[test]
fn what_was_learned_is_read_off_the_record() {
    let mut debate = ended(2);
    assert!(concluding_sections(&debate).is_none(), "not before it is said");
    let cue = until(&mut debate, 0, "insights");
    let said =
        sections(&[("OUTCOME", "Partial."), ("Key insights", "Habit."), ("Open", "Editors?")]);
    say(&mut debate, cue, Body::Sections { sections: said.clone() });
    run(&mut debate, &[], |_| false);
    assert_eq!(concluding_sections(&debate), Some(said.as_slice()));
    assert_eq!(
        (parse_outcome(&said), key_insights(&said)),
        (Some(DialogueOutcome::Partial), Some("Habit."))
    );
    assert_eq!(status(&debate), Status::Completed);
    // A duel has no insights.
    assert!(concluding_sections(&played(setup(formats::duel(), 3), &[])).is_none());
}

#[test]
fn it_ends_when_the_user_says_so_and_not_when_the_rounds_are_over() {
    let mut debate = dialogue();
    for round in [11, 25, 60] {
        run(&mut debate, &[], |debate| due(debate)[0].round == round);
        assert_eq!(word(&debate), "running", "round {round}");
    }
    apply(&mut debate, [Event::Concluded { because: None }]);
    run(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("59.respond 59.challenge 0.insights ended"));
    assert_eq!(judgment(&debate), None);
}

#[test]
fn it_may_be_ended_at_any_time_after_somebody_spoke_and_nobody_wins() {
    let concluded = Event::Concluded { because: None };
    assert!(dialogue().validate(&concluded).is_err(), "nothing has been said");
    for (round, phase) in [(1, "challenge"), (2, "respond"), (2, "challenge"), (5, "respond")] {
        let mut debate = dialogue();
        until(&mut debate, round, phase);
        apply(&mut debate, [concluded.clone()]);
        run(&mut debate, &[], |_| false);
        assert!(trace(&debate).ends_with("0.insights ended"), "{}", trace(&debate));
        assert_eq!(judgment(&debate), None, "never a winner");
    }
    for down in [&["1.position"][..], &["1.challenge"], &["2.respond"], &["0.insights"]] {
        let mut debate = dialogue();
        run(&mut debate, down, |debate| due(debate).first().is_some_and(|cue| cue.round > 3));
        let _ = debate.apply(concluded.clone());
        run(&mut debate, down, |_| false);
        assert_eq!(judgment(&debate), None, "{down:?}");
    }
}

#[test]
fn the_first_round_opens_and_the_others_are_one_open_act() {
    let mut debate = dialogue();
    run(&mut debate, &[], |debate| due(debate)[0].round == 4);
    let expected = "1.position 1.challenge 2.respond 2.challenge 3.respond 3.challenge running";
    assert_eq!(trace(&debate), expected);
    let acts: Vec<u8> = debate.turns().map(|(cue, _)| cue.act).collect();
    assert_eq!(acts, [0, 0, 1, 1, 1, 1]);
}

#[test]
fn the_user_is_heard_by_both_and_may_shift_the_topic() {
    let mut debate = dialogue();
    until(&mut debate, 2, "respond");
    apply(&mut debate, [Event::Interjected { text: "Mind the cost.".into() }]);
    for phase in ["respond", "challenge"] {
        let cue = until(&mut debate, 2, phase);
        assert!(
            debate.visible_to(cue).contains(&TranscriptItem::Remark("Mind the cost.")),
            "{phase}"
        );
        assert!(told(&debate, cue).contains("Mind the cost."), "{phase}");
    }
    let topic = "And what of semicolons?";
    apply(&mut debate, [amended(Amendment::Topic { topic: topic.into() })]);
    let cue = until(&mut debate, 2, "challenge");
    assert!(told(&debate, cue).starts_with(topic), "heard from the next turn on");
    let before = debate.turns().next().unwrap().0;
    assert!(told(&debate, before).starts_with("Tabs or spaces?"), "and not before");
    apply(&mut debate, [Event::Concluded { because: None }]);
    let cue = until(&mut debate, 0, "insights");
    assert_eq!(debate.topic_at(cue), topic);
    let heard = debate.visible_to(cue);
    assert!(
        heard.contains(&TranscriptItem::Remark("Mind the cost.")),
        "the insights are of all that was said"
    );
}

#[test]
fn several_may_question_whoever_leads() {
    let mut setup = setup(formats::dialectic(), 10);
    let partner = setup.seats.iter().find(|seat| seat.role == Role::Partner).unwrap().clone();
    setup.seats.push(Seat { name: "Dot".into(), ..partner });
    let mut debate = open(setup);
    run(&mut debate, &["1.challenge/Dee"], |debate| due(debate)[0].round == 2);
    assert_eq!(trace(&debate), "1.position 1.challenge! 1.challenge running");
    let cue = due(&debate)[0];
    assert_eq!(
        check_rules(&debate, cue, &good(&debate, cue), &[]),
        [],
        "there are no rules to break"
    );
    assert_eq!(check_rules(&debate, cue, &Body::from_prose("Trust me."), &[]), []);
}
