//! Short status of a debate: at most five lines, for every format and at any turn.
use crate::debate::{Body, Debate, DebateOutcome, Event, Format, Origin, Role, Setup, formats};
use crate::report::short_status::short_status;
use crate::test_support::debate_fixture::{
    apply_events, debate_setup, first_due_cue, open_debate, play_debate, play_until, record_reply,
    speech, without_roles,
};

const WIDTH: usize = 200;

fn open_duel() -> Debate {
    open_debate(without_roles(debate_setup(formats::duel(), 2), &[Role::Mirror]))
}

fn status_lines(debate: &Debate) -> Vec<String> {
    short_status(debate, WIDTH)
}

#[test]
fn duel_status_lists_claims_and_the_due_turn() {
    let mut debate = open_duel();
    assert_eq!(
        status_lines(&debate),
        [
            "Tabs or spaces? (duel, in progress)",
            "Proposer (claude): has not spoken yet",
            "Challenger (codex): has not spoken yet",
            "Conceded: nothing",
            "Due: round 1, Proposer (claude)",
        ]
    );
    let cue = play_until(&mut debate, 1, "propose");
    record_reply(&mut debate, cue, speech("P1 P2!", &[], &[]));
    let cue = play_until(&mut debate, 1, "challenge");
    let quote = "P2 holds because it does";
    record_reply(&mut debate, cue, speech("C1>P1", &[("P2", quote)], &[]));
    assert_eq!(
        status_lines(&debate),
        [
            "Tabs or spaces? (duel, in progress, round 1 of 2)",
            "Proposer (claude): P2: P2 holds because it does (unsupported); P1: P1 holds because it does",
            "Challenger (codex): C1: C1 holds because it does",
            "Conceded: the challenger conceded P2: \"P2 holds because it does\"",
            "Open: P1: P1 holds because it does; C1: C1 holds because it does. Due: round 2, Proposer \
             (claude)",
        ]
    );
    play_debate(&mut debate, &[], |_| false);
    let lines = status_lines(&debate);
    assert!(lines[0].contains("completed") && lines[4].starts_with("Ruled: for "), "{lines:#?}");
}

/// A concession is quoted in full or only counted, since a truncated quote changes its meaning.
#[test]
fn concession_quotes_are_never_truncated() {
    let mut debate = open_duel();
    let cue = play_until(&mut debate, 1, "propose");
    record_reply(&mut debate, cue, speech("P1 P2 P3", &[], &[]));
    let cue = play_until(&mut debate, 1, "challenge");
    let concessions: Vec<(String, String)> = ["P1", "P2", "P3"]
        .iter()
        .map(|id| ((*id).into(), format!("{id} holds because it does")))
        .collect();
    let concessions: Vec<(&str, &str)> =
        concessions.iter().map(|(id, quote)| (id.as_str(), quote.as_str())).collect();
    record_reply(&mut debate, cue, speech("C1", &concessions, &[]));
    for width in 0..400 {
        let line = &short_status(&debate, width)[3];
        assert!(line.matches('"').count().is_multiple_of(2), "{width}: {line}");
        let quote_count = line.matches("holds because it does\"").count();
        assert_eq!(line.matches("conceded P").count(), quote_count, "{width}: {line}");
        let expected = match quote_count {
            0 => "3, too long to be quoted in a line".to_owned(),
            3 => String::new(),
            shown_count => format!("and {} more", 3 - shown_count),
        };
        assert!(line.contains(&expected), "{width}: {line}");
    }
}

#[test]
fn status_shows_when_user_input_is_due() {
    let paused_setup =
        Setup { holds: vec![crate::debate::HoldPoint::Rounds], ..open_duel().setup().clone() };
    let mut debate = open_debate(paused_setup);
    play_debate(&mut debate, &[], |debate| debate.turns().count() == 2);
    assert!(
        status_lines(&debate)[4].ends_with("Due: your word, before round 2"),
        "{:?}",
        status_lines(&debate)
    );
    let imported_setup =
        Setup { origin: Origin::Transcript { id: None }, ..open_duel().setup().clone() };
    let mut debate = open_debate(imported_setup);
    apply_events(&mut debate, [Event::Held]);
    assert_eq!(status_lines(&debate)[4], "Due: your word to go on with what was imported");
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!(debate.outcome(), Some(&DebateOutcome::Cancelled));
    assert_eq!(status_lines(&debate)[4], "Ended: cancelled");
}

/// Sealed answers are hidden until all seats have replied.
#[test]
fn sealed_answers_are_not_shown() {
    let mut debate = open_debate(without_roles(
        debate_setup(formats::with_sealed_answers(formats::duel()), 1),
        &[Role::Mirror],
    ));
    let cue = play_until(&mut debate, 0, "answer");
    record_reply(&mut debate, cue, speech("SECRET1", &[], &[]));
    let text = status_lines(&debate).join("\n");
    assert!(!text.contains("SECRET1") && !text.contains("At length"), "{text}");
    assert!(text.contains("Sealed until all have answered"), "{text}");
}

/// After every turn of every format: at most five non-empty lines, and no verdict before the end.
#[test]
fn every_format_fits_five_lines_after_every_turn() {
    let all_formats: [fn() -> Format; 4] =
        [formats::duel, formats::research, formats::dialectic, formats::tribunal];
    for format in all_formats {
        let mut debate = open_debate(debate_setup(format(), 3));
        let name = debate.setup().format.name.clone();
        for turns in 0..80 {
            play_debate(&mut debate, &[], |debate| debate.turns().count() >= turns);
            let lines = status_lines(&debate);
            assert!(lines.len() <= 5, "{name}: {lines:#?}");
            for line in &lines {
                assert!(!line.is_empty() && !line.contains('\n'), "{name}: {lines:#?}");
                assert!(line.chars().count() <= 2 * WIDTH, "{name}: {lines:#?}");
            }
            let is_over = debate.outcome().is_some();
            assert_eq!(
                lines[4].starts_with("Ruled") || lines[4].starts_with("Ended"),
                is_over,
                "{lines:#?}"
            );
            if turns > 20
                && debate.setup().act(crate::test_support::debate_fixture::cue(0, 1, 0, 0)).name
                    == "dialogue"
            {
                break;
            }
        }
    }
}

/// Seats without a side (lead, partner, advocates) are shown with their latest speech.
#[test]
fn seats_without_a_side_are_shown_by_their_last_speech() {
    let mut debate = open_debate(debate_setup(formats::dialectic(), 3));
    let prose_speech = |text: &str| Body::Speech {
        text: text.into(),
        claims: vec![],
        concedes: vec![],
        resolves: vec![],
        help: None,
        unstructured: None,
    };
    let first_cue = crate::debate::next(&debate).first_cue().unwrap();
    record_reply(&mut debate, first_cue, prose_speech("Tabs, I think.\n\nBecause of width."));
    assert!(first_due_cue(&debate, 1, "challenge").is_some());
    let lines = status_lines(&debate);
    assert!(lines[1].ends_with(": Tabs, I think. Because of width."), "{lines:#?}");
    assert!(lines[2].ends_with(": has not spoken yet"), "{lines:#?}");
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    play_debate(&mut debate, &[], |debate| debate.turns().count() >= 4);
    let lines = status_lines(&debate);
    assert!(lines[1].starts_with("Eli ("), "{lines:#?}");
    assert!(lines[2].contains("Fay (") && lines[2].contains(" | Gus ("), "{lines:#?}");
}
