//! Prompts of the research format as shipped, with and without a missing stance.
use crate::debate_fixture::{
    debate_setup, due_cues, first_due_cue, open_debate, play_debate, play_until,
};
use crate::simulated_players::render_prompt;
use debate_mcp::debate::status::status;
use debate_mcp::debate::{Cue, Setup, Status, formats, report_sections};
use debate_mcp::formats_catalog;
use std::path::Path;

/// A research setup with the built-in prompts and this topic.
fn built_in_research_setup(topic: &str) -> Setup {
    let nowhere = Path::new("/nonexistent");
    let catalog = formats_catalog::load(nowhere, nowhere);
    let research = catalog.find("research").unwrap();
    let mut setup =
        Setup { prompts: research.prompts.clone(), ..debate_setup(formats::research(), 1) };
    setup.topic = topic.into();
    for (seat, stance) in [(4, "argue for tabs"), (5, "argue for spaces"), (6, "argue for both")] {
        setup.seats[seat].stance = stance.into();
    }
    setup
}

#[test]
fn rebuttal_prompt_has_topic_own_stance_and_all_claims() {
    let mut debate = open_debate(built_in_research_setup("Tabs or spaces?"));
    let first = play_until(&mut debate, 0, "rebut");
    for (seat, stance) in [(4, "argue for tabs"), (5, "argue for spaces"), (6, "argue for both")] {
        let text = render_prompt(&debate, Cue { seat, ..first });
        for part in ["Tabs or spaces?", stance, "A01", "B01", "C01", "600"] {
            assert!(text.contains(part), "{seat}: no `{part}` in {text}");
        }
        for (other, stance) in [(4, "argue for tabs"), (5, "argue for spaces")] {
            assert_eq!(text.contains(stance), other == seat, "only its own stance is given");
        }
    }
    let setup = debate.setup();
    let web: Vec<&str> = setup
        .format
        .acts
        .iter()
        .flat_map(|act| &act.phases)
        .filter(|phase| phase.web)
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(web, ["investigate"], "only this phase may use the web");
}

#[test]
fn missing_stance_is_marked_incomplete_in_later_prompts() {
    let mut debate = open_debate(built_in_research_setup("Tabs or spaces?"));
    let failing_turns = ["0.investigate/Fay", "0.rebut/Gus"];
    for (phase, marks) in [("rebut", 1), ("audit", 2), ("judge", 2)] {
        play_debate(&mut debate, &failing_turns, |debate| {
            first_due_cue(debate, 0, phase).is_some()
        });
        let text = render_prompt(&debate, due_cues(&debate)[0]);
        assert_eq!(text.matches("\n[INCOMPLETE]\n").count(), marks, "{phase}: {text}");
    }
    play_debate(&mut debate, &failing_turns, |_| false);
    assert_eq!(
        (status(&debate), status(&debate).as_result_str()),
        (Status::Degraded, "degraded-success")
    );
    // Missing stances have no claims that would need an answer or a tag.
    assert_eq!(debate.failed_turns().count(), 2);
}

#[test]
fn judge_prompt_has_headings_in_the_topic_language() {
    for (topic, heading) in [
        ("Tabs or spaces?", "9. `## One-Sentence Summary`"),
        ("我们应该使用制表符还是空格?", "9. `## 一句话总结`"),
        ("Sollten wir Tabulatoren oder Leerzeichen verwenden?", "9. `## One-Sentence Summary`"),
    ] {
        let mut debate = open_debate(built_in_research_setup(topic));
        let cue = play_until(&mut debate, 0, "judge");
        assert!(render_prompt(&debate, cue).contains(heading), "{topic}");
        assert_eq!(report_sections::SECTION_COUNT, 9);
    }
}
