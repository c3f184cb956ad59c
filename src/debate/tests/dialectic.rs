//! The dialectic format: it has no fixed end and no winner. The user concludes it, remarks reach
//! both seats, and the result is a list of insights with an outcome.
use crate::debate::insights::{DialogueOutcome, concluding_sections, key_insights, parse_outcome};
use crate::debate::verdict::judgment;
use crate::debate::{
    Amendment, Body, Debate, Event, Role, Rule, Seat, Section, Status, TranscriptItem, check_rules,
    formats, status::status,
};
use crate::test_support::debate_fixture::{
    apply_events, debate_setup, due_cues, open_debate, outcome_name, play_debate, play_to_end,
    play_until, record_reply, trace,
};
use crate::test_support::simulated_players::{amended_event, render_prompt, valid_reply};

fn open_dialectic() -> Debate {
    open_debate(debate_setup(formats::dialectic(), 10))
}

fn build_sections(parts: &[(&str, &str)]) -> Vec<Section> {
    let section =
        |(title, text): &(&str, &str)| Section { title: (*title).into(), text: (*text).into() };
    parts.iter().map(section).collect()
}

/// A dialectic concluded after this many rounds. Its insights are still due.
fn concluded_after(rounds: u8) -> Debate {
    let mut debate = open_dialectic();
    play_debate(&mut debate, &[], |debate| due_cues(debate)[0].round > rounds);
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    debate
}

#[test]
fn insights_need_a_known_outcome_and_key_insights() {
    let mut debate = concluded_after(1);
    let cue = play_until(&mut debate, 0, "insights");
    let insight = "- Indentation is a habit.";
    for (outcome, insights, expected) in [
        ("consensus", insight, Some(DialogueOutcome::Consensus)),
        ("partial: on the cost they differ.", insight, Some(DialogueOutcome::Partial)),
        ("**Disagreement**\n\nStill.", insight, Some(DialogueOutcome::Disagreement)),
        ("- consensus", insight, Some(DialogueOutcome::Consensus)),
        ("no consensus", insight, None),
        ("We reached consensus.", insight, None),
        ("consensual", insight, None),
        ("partially", insight, None),
        ("tie", insight, None),
        ("", insight, None),
        ("consensus", " ", None),
    ] {
        let body = Body::Sections {
            sections: build_sections(&[("Outcome", outcome), ("Key Insights", insights)]),
        };
        let found = check_rules(&debate, cue, &body, &[]);
        let rules: Vec<Rule> = found.iter().map(|found| found.rule).collect();
        let expected_rules = if expected.is_some() { &[][..] } else { &[Rule::StatesOutcome] };
        assert_eq!(rules, expected_rules, "{outcome:?} {insights:?}");
        let Body::Sections { sections } = body else { panic!() };
        if !insights.trim().is_empty() {
            assert_eq!(parse_outcome(&sections), expected, "{outcome:?}");
        }
    }
    for parts in [
        &[("Outcome", "consensus")][..],
        &[("Key Insights", "x")],
        &[("Result", "consensus"), ("Key Insights", "x")],
    ] {
        let body = Body::Sections { sections: build_sections(parts) };
        assert_eq!(check_rules(&debate, cue, &body, &[]).len(), 1, "{parts:?}");
    }
    for (kind, word) in [
        (DialogueOutcome::Consensus, "consensus"),
        (DialogueOutcome::Partial, "partial"),
        (DialogueOutcome::Disagreement, "disagreement"),
    ] {
        assert_eq!(kind.as_str(), word);
    }
}

#[test]
fn insights_are_parsed_from_the_record() {
    let mut debate = concluded_after(2);
    assert!(concluding_sections(&debate).is_none(), "no insights are recorded yet");
    let cue = play_until(&mut debate, 0, "insights");
    let sections = build_sections(&[
        ("OUTCOME", "Partial."),
        ("Key insights", "Habit."),
        ("Open", "Editors?"),
    ]);
    record_reply(&mut debate, cue, Body::Sections { sections: sections.clone() });
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(concluding_sections(&debate), Some(sections.as_slice()));
    assert_eq!(
        (parse_outcome(&sections), key_insights(&sections)),
        (Some(DialogueOutcome::Partial), Some("Habit."))
    );
    assert_eq!(status(&debate), Status::Completed);
    // A duel has no insights.
    assert!(concluding_sections(&play_to_end(debate_setup(formats::duel(), 3), &[])).is_none());
}

#[test]
fn dialectic_runs_past_its_rounds_until_concluded() {
    let mut debate = open_dialectic();
    for round in [11, 25, 60] {
        play_debate(&mut debate, &[], |debate| due_cues(debate)[0].round == round);
        assert_eq!(outcome_name(&debate), "running", "round {round}");
    }
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    play_debate(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("59.respond 59.challenge 0.insights ended"));
    assert_eq!(judgment(&debate), None);
}

#[test]
fn dialectic_can_be_concluded_after_any_speech_without_winner() {
    let concluded = Event::Concluded { because: None };
    assert!(open_dialectic().validate(&concluded).is_err(), "nothing has been said");
    for (round, phase) in [(1, "challenge"), (2, "respond"), (2, "challenge"), (5, "respond")] {
        let mut debate = open_dialectic();
        play_until(&mut debate, round, phase);
        apply_events(&mut debate, [concluded.clone()]);
        play_debate(&mut debate, &[], |_| false);
        assert!(trace(&debate).ends_with("0.insights ended"), "{}", trace(&debate));
        assert_eq!(judgment(&debate), None, "never a winner");
    }
    for failing in [&["1.position"][..], &["1.challenge"], &["2.respond"], &["0.insights"]] {
        let mut debate = open_dialectic();
        play_debate(&mut debate, failing, |debate| {
            due_cues(debate).first().is_some_and(|cue| cue.round > 3)
        });
        let _ = debate.apply(concluded.clone());
        play_debate(&mut debate, failing, |_| false);
        assert_eq!(judgment(&debate), None, "{failing:?}");
    }
}

#[test]
fn first_round_is_one_act_and_all_later_rounds_another() {
    let mut debate = open_dialectic();
    play_debate(&mut debate, &[], |debate| due_cues(debate)[0].round == 4);
    let expected = "1.position 1.challenge 2.respond 2.challenge 3.respond 3.challenge running";
    assert_eq!(trace(&debate), expected);
    let acts: Vec<u8> = debate.turns().map(|(cue, _)| cue.act).collect();
    assert_eq!(acts, [0, 0, 1, 1, 1, 1]);
}

#[test]
fn remarks_and_topic_changes_reach_both_seats() {
    let mut debate = open_dialectic();
    play_until(&mut debate, 2, "respond");
    apply_events(&mut debate, [Event::Interjected { text: "Mind the cost.".into() }]);
    for phase in ["respond", "challenge"] {
        let cue = play_until(&mut debate, 2, phase);
        assert!(
            debate.visible_to(cue).contains(&TranscriptItem::Remark("Mind the cost.")),
            "{phase}"
        );
        assert!(render_prompt(&debate, cue).contains("Mind the cost."), "{phase}");
    }
    let topic = "And what of semicolons?";
    apply_events(&mut debate, [amended_event(Amendment::Topic { topic: topic.into() })]);
    let cue = play_until(&mut debate, 2, "challenge");
    assert!(render_prompt(&debate, cue).starts_with(topic), "from the next turn on");
    let first_cue = debate.turns().next().unwrap().0;
    assert!(
        render_prompt(&debate, first_cue).starts_with("Tabs or spaces?"),
        "an earlier turn keeps its topic"
    );
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    let cue = play_until(&mut debate, 0, "insights");
    assert_eq!(debate.topic_at(cue), topic);
    let visible = debate.visible_to(cue);
    assert!(
        visible.contains(&TranscriptItem::Remark("Mind the cost.")),
        "the insights phase sees every remark"
    );
}

#[test]
fn several_partners_can_challenge_the_lead() {
    let mut setup = debate_setup(formats::dialectic(), 10);
    let partner = setup.seats.iter().find(|seat| seat.role == Role::Partner).unwrap().clone();
    setup.seats.push(Seat { name: "Dot".into(), ..partner });
    let mut debate = open_debate(setup);
    play_debate(&mut debate, &["1.challenge/Dee"], |debate| due_cues(debate)[0].round == 2);
    assert_eq!(trace(&debate), "1.position 1.challenge! 1.challenge running");
    let cue = due_cues(&debate)[0];
    assert_eq!(
        check_rules(&debate, cue, &valid_reply(&debate, cue), &[]),
        [],
        "there are no rules to break"
    );
    assert_eq!(check_rules(&debate, cue, &Body::from_prose("Trust me."), &[]), []);
}
