//! Reports of a dialogue: insights and the user's decision, never a winner.
use super::assert_in_order;
use crate::debate::{Body, Debate, Event, Section, formats};
use crate::report::view::debate_view;
use crate::report::{
    dialogue::NO_DECISION_NOTICE, plan::render_plan, record::render_record, summary::render_summary,
};
use crate::test_support::debate_fixture::{
    apply_events, debate_setup, open_debate, play_debate, play_until, record_reply,
};

fn open_dialogue() -> Debate {
    open_debate(debate_setup(formats::dialectic(), 3))
}

fn conclude(debate: &mut Debate) {
    apply_events(debate, [Event::Concluded { because: None }]);
}

fn sections_body(parts: &[(&str, &str)]) -> Body {
    let part =
        |(title, text): &(&str, &str)| Section { title: (*title).into(), text: (*text).into() };
    Body::Sections { sections: parts.iter().map(part).collect() }
}

/// A finished dialogue of two rounds with a user remark in each.
fn played_dialogue() -> Debate {
    let mut debate = open_dialogue();
    apply_events(&mut debate, [Event::Interjected { text: "Mind the linter.".into() }]);
    play_until(&mut debate, 1, "challenge");
    apply_events(&mut debate, [Event::Interjected { text: "And the editor?".into() }]);
    play_until(&mut debate, 2, "respond");
    apply_events(&mut debate, [Event::Interjected { text: "Go on.".into() }]);
    play_until(&mut debate, 3, "respond");
    conclude(&mut debate);
    let cue = play_until(&mut debate, 0, "insights");
    let body = sections_body(&[
        ("Outcome", "partial\nThey differ about the cost."),
        ("Key Insights", "- The linter decides.\n# Not a heading"),
        ("common ground", "Width is taste."),
        ("Open Disagreement", "Cost."),
    ]);
    record_reply(&mut debate, cue, body);
    play_debate(&mut debate, &[], |_| false);
    debate
}

#[test]
fn dialogue_summary_has_insights_and_no_winner() {
    let mut debate = played_dialogue();
    let summary = render_summary(&debate);
    assert_in_order(
        &summary,
        &[
            "## Debate Summary\n\nTopic: Tabs or spaces?  \n",
            "Main Agent: gemini (default model)  \nSub Agent: gemini (default model)  \nRounds: 2  \n",
            "Status: success  \nOutcome: partial\n",
            "\nThey differ about the cost.\n",
            "### Key Insights\n\n- The linter decides.\n#### Not a heading\n",
            "### Common Ground\n\nWidth is taste.\n",
            "### Open Disagreement\n\nCost.\n",
            "### User's Decision\n\nNone recorded. Silence is not consent:",
            "shown and never carried out",
        ],
    );
    for word in ["erdict", "winner", "won", "judge", "stronger"] {
        assert!(!summary.contains(word), "`{word}` in {summary}");
    }
    apply_events(&mut debate, [Event::Decided { text: "# Spaces.".into() }]);
    let summary = render_summary(&debate);
    assert!(
        summary.contains("### User's Decision\n\n#### Spaces.\n")
            && !summary.contains(NO_DECISION_NOTICE)
    );
    let view = debate_view(&debate);
    assert_eq!(view.outcome.unwrap().as_str(), "partial");
    assert_eq!((view.insights.unwrap().len(), view.rounds_completed), (4, 2));
    assert!(view.verdict.is_none() && view.report.is_none());
}

#[test]
fn record_keeps_user_remarks_in_their_rounds() {
    let mut debate = played_dialogue();
    apply_events(&mut debate, [Event::Decided { text: "Spaces.".into() }]);
    let record = render_record(&debate);
    assert_in_order(
        &record,
        &[
            "**Status**: completed  \n",
            "**Participants**: Main Agent <-> Sub Agent (gemini)  \n**Outcome**: partial\n",
            "\n---\n\n## Round 1\n\n### User Input\n\nMind the linter.\n",
            "\n### Main Agent\n\n",
            "\n### User Input\n\nAnd the editor?\n",
            "\n### Sub Agent\n\n",
            "\n### User Input\n\nGo on.\n",
            "\n---\n\n## Round 2\n\n### Main Agent\n",
            "\n---\n\n## Conclusion\n\n### Key Insights\n\n- The linter decides.\n",
            "\n### User's Decision\n\nSpaces.\n",
        ],
    );
    assert_eq!(record.matches("\n## Conclusion\n").count(), 1);
    assert!(!record.contains("no verdict"));
}

#[test]
fn unfinished_dialogue_has_an_open_outcome() {
    let mut debate = open_dialogue();
    play_until(&mut debate, 2, "respond");
    let summary = render_summary(&debate);
    assert_in_order(&summary, &["Status: in-progress  \nOutcome: (open)\n", "Not summed up yet."]);
    let record = render_record(&debate);
    assert_in_order(
        &record,
        &["**Status**: in-progress", "**Outcome**: (open)", "### Sub Agent\n"],
    );
    assert!(!record.contains("## Conclusion"));
    assert!(render_plan(&debate).contains("Rounds: about 3; it goes on until you end it\n"));
}

#[test]
fn dialogue_without_insights_is_marked_incomplete() {
    let mut debate = open_dialogue();
    play_until(&mut debate, 2, "respond");
    conclude(&mut debate);
    play_debate(&mut debate, &["0.insights"], |_| false);
    for text in [render_summary(&debate), render_record(&debate)] {
        assert_in_order(&text, &["[INCOMPLETE] Nobody summed it up.", NO_DECISION_NOTICE]);
        assert!(!text.contains("erdict"), "{text}");
    }
    assert!(debate_view(&debate).outcome.is_none());
}

#[test]
fn several_partners_are_labelled_by_name() {
    let mut setup = debate_setup(formats::dialectic(), 2);
    let mut second = setup.seats[3].clone();
    second.name = "partner-2".into();
    setup.seats.push(second);
    let mut debate = open_debate(setup);
    play_until(&mut debate, 2, "respond");
    let record = render_record(&debate);
    assert_in_order(
        &record,
        &["Sub Agent (gemini, gemini)", "### Sub Agent (Dee)", "### Sub Agent (partner-2)"],
    );
}
