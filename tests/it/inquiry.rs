//! Research format rules, table-driven: stances, rebuttals, audits and the nine-section report, and
//! the effect of a missing stance.
use crate::players::{good, told};
use crate::scene::{due, here, open, played, run, setup, until, without};
use Rule::{
    AuditsArguments, Directs, Investigates, NineSections, OwnIds, RatesArguments, Rebuts,
    Structured, Tabulates, WithinWords,
};
use debate_mcp::debate::body::{ClaimPurpose, ClaimSource};
use debate_mcp::debate::rules::research::max_words;
use debate_mcp::debate::status::status;
use debate_mcp::debate::{
    Body, Claim, Cue, Debate, Event, HoldPoint, Role, Rule, RuleWeight, Section, Setup, Status,
    check_rules, formats, report_sections, word_count,
};
use debate_mcp::formats_catalog;
use std::path::Path;

fn research() -> Setup {
    setup(formats::research(), 1)
}

fn at(setup: Setup, phase: &str) -> (Debate, Cue) {
    let mut debate = open(setup);
    let cue = until(&mut debate, 0, phase);
    (debate, cue)
}

fn rules((debate, cue): &(Debate, Cue), body: &Body) -> Vec<Rule> {
    check_rules(debate, *cue, body, &[]).into_iter().map(|found| found.rule).collect()
}

/// A stance with one claim per letter: `a` argument, `w` weakness, else counter-attack.
fn stance(parts: &str) -> Body {
    let part = |letter: char| match letter {
        'a' => ClaimPurpose::Argument,
        'w' => ClaimPurpose::Weakness,
        _ => ClaimPurpose::Counter,
    };
    let claim = |(nth, letter): (usize, char)| Claim {
        id: format!("A{nth}"),
        text: "It is so.".into(),
        part: Some(part(letter)),
        confidence: Some(70),
        source: Some(ClaimSource::AcademicPaper),
        ..Claim::default()
    };
    let mut body = Body::from_prose("At length.");
    if let Body::Speech { claims, unstructured, .. } = &mut body {
        claims.extend(parts.chars().enumerate().map(claim));
        *unstructured = None;
    }
    body
}

/// The same speech with one claim changed.
fn spoilt(mut body: Body, nth: usize, spoil: impl Fn(&mut Claim)) -> Body {
    if let Body::Speech { claims, .. } = &mut body {
        spoil(&mut claims[nth]);
    }
    body
}

#[test]
fn a_stance_has_arguments_weaknesses_and_counter_attacks_in_their_numbers() {
    let stage = at(research(), "investigate");
    for (parts, expected) in [
        ("aaawwc", &[][..]),
        ("aaaaawwwcc", &[]),
        ("cwawaac", &[]), // In any order.
        ("aawwc", &[Investigates]),
        ("aaaaaawwc", &[Investigates]),
        ("aaawc", &[Investigates]),
        ("aaawwwwc", &[Investigates]),
        ("aaaww", &[Investigates]),
        ("aaawwccc", &[Investigates]),
        ("", &[Investigates]),
    ] {
        assert_eq!(rules(&stage, &stance(parts)), expected, "{parts}");
    }
    assert_eq!(rules(&stage, &Body::from_prose("No block.")), [Structured]);
    let weights = stage.0.setup().phase(stage.1).rules.iter().map(|(_, weight)| *weight);
    assert!(
        { weights }.all(|weight| weight == RuleWeight::Mend),
        "none of it costs a stance its turn"
    );
}

#[test]
fn an_argument_says_how_sure_it_is_and_what_it_rests_on() {
    let stage = at(research(), "investigate");
    let good = || stance("aaawwc");
    for (body, expected) in [
        (spoilt(good(), 0, |claim| claim.confidence = None), &[RatesArguments][..]),
        (spoilt(good(), 2, |claim| claim.source = None), &[RatesArguments]),
        (spoilt(good(), 3, |claim| claim.confidence = None), &[]), // Only arguments need one.
        (spoilt(good(), 5, |claim| claim.source = None), &[]),
        (spoilt(good(), 1, |claim| claim.confidence = Some(0)), &[]),
        (spoilt(good(), 1, |claim| claim.part = None), &[Investigates]),
    ] {
        assert_eq!(rules(&stage, &body), expected, "{body:?}");
    }
}

#[test]
fn every_stance_numbers_its_claims_under_its_own_letter() {
    let (debate, first) = at(research(), "investigate");
    for (seat, letter) in [(4, 'A'), (5, 'B'), (6, 'C')] {
        let cue = Cue { seat, ..first };
        let body = good(&debate, cue);
        assert!(body.claims().iter().all(|claim| claim.id.starts_with(letter)));
        let stage = (debate.clone(), cue);
        assert_eq!(rules(&stage, &body), []);
        for foreign in ["D1", "1", "x", "a1"] {
            let body = spoilt(body.clone(), 1, |claim| claim.id = foreign.into());
            assert_eq!(rules(&stage, &body), [OwnIds], "{foreign}");
        }
    }
}

#[test]
fn a_rebuttal_answers_every_argument_attacks_one_premise_and_brings_two_attacks() {
    let stage = at(research(), "rebut");
    let body = || good(&stage.0, stage.1);
    let count =
        |part: ClaimPurpose| body().claims().iter().filter(|it| it.part == Some(part)).count();
    assert_eq!(count(ClaimPurpose::Rebuttal), 6, "three of each of the two others");
    let without = |nth: usize| {
        let mut body = body();
        if let Body::Speech { claims, .. } = &mut body {
            claims.remove(nth);
        }
        body
    };
    for (body, says) in [
        (without(0), "no rebuttal answers argument `B01`"),
        (without(5), "no rebuttal answers argument `C03`"),
        (spoilt(body(), 3, |it| it.answers.clear()), "no rebuttal answers argument `C01`"),
        (
            spoilt(body(), 1, |it| it.part = Some(ClaimPurpose::Weakness)),
            "no rebuttal answers argument `B02`",
        ),
        (spoilt(body(), 2, |it| it.confidence = None), "rebuttal `A13` has no `confidence`"),
        (without(6), "0 attacks on the weakest premise; there must be one"),
        (
            spoilt(body(), 7, |it| it.part = Some(ClaimPurpose::Premise)),
            "2 attacks on the weakest premise; there must be one",
        ),
        (without(8), "1 new attacks; there must be two"),
        (
            spoilt(body(), 6, |it| it.part = Some(ClaimPurpose::Attack)),
            "0 attacks on the weakest premise; there must be one",
        ),
    ] {
        let found = check_rules(&stage.0, stage.1, &body, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].rule, found[0].says.as_str()), (Rebuts, says));
    }
    // One claim may answer several arguments. A stance's own arguments need no answer.
    let mut one = body();
    if let Body::Speech { claims, .. } = &mut one {
        let all = claims[..6].iter().flat_map(|claim| claim.answers.clone()).collect();
        claims.drain(1..6);
        claims[0].answers = all;
    }
    assert_eq!(rules(&stage, &one), []);
}

#[test]
fn a_rebuttal_has_three_hundred_words_for_each_opponent() {
    let long = |stage: &(Debate, Cue), words: String| {
        let mut body = good(&stage.0, stage.1);
        if let Body::Speech { text, .. } = &mut body {
            *text = words;
        }
        rules(stage, &body)
    };
    for (advocates, most) in [(2, 300), (3, 600), (4, 900)] {
        let mut research = research();
        match advocates {
            2 => drop(research.seats.remove(6)),
            4 => {
                let fourth = research.seats[6].clone();
                research.seats.insert(7, debate_mcp::debate::Seat { name: "Guy".into(), ..fourth });
            }
            _ => {}
        }
        let stage = at(research, "rebut");
        assert_eq!(max_words(&stage.0), most);
        assert_eq!(long(&stage, "word ".repeat(most)), []);
        assert_eq!(long(&stage, "word ".repeat(most + 1)), [WithinWords]);
        // In scripts without spaces every character counts as a word.
        assert_eq!(long(&stage, "词".repeat(most)), []);
        assert_eq!(long(&stage, "词".repeat(most + 1)), [WithinWords]);
    }
}

#[test]
fn words_are_counted_as_a_reader_counts() {
    for (text, count) in [
        ("", 0),
        ("one", 1),
        ("  one   two\nthree ", 3),
        ("don't re-use src/lib.rs", 4),
        ("它很快。", 3),
        ("用 SQLite 很快", 4),
        ("日本語です", 5),
        ("- **bold** — `code`", 2),
        ("3.14 and 1,000", 4),
    ] {
        assert_eq!(word_count::count_words(text), count, "{text}");
    }
}

#[test]
fn no_argument_escapes_the_audit() {
    let stage = at(research(), "audit");
    let Body::Audit { facts } = good(&stage.0, stage.1) else { panic!() };
    assert_eq!(facts.len(), 9, "three of each stance");
    assert_eq!(rules(&stage, &Body::Audit { facts: facts.clone() }), []);
    for nth in 0..facts.len() {
        let mut fewer = facts.clone();
        let missed = fewer.remove(nth).id;
        let found = check_rules(&stage.0, stage.1, &Body::Audit { facts: fewer }, &[]);
        assert_eq!(found[0].says, format!("argument `{missed}` was not tagged"));
    }
    assert_eq!(rules(&stage, &Body::Audit { facts: vec![] }), [AuditsArguments]);
}

/// Rules broken by the report after this edit.
fn report(stage: &(Debate, Cue), spoil: impl Fn(&mut Vec<Section>)) -> Vec<Rule> {
    let Body::Sections { mut sections } = good(&stage.0, stage.1) else { panic!() };
    spoil(&mut sections);
    rules(stage, &Body::Sections { sections })
}

type Spoil = fn(&mut Vec<Section>);

#[test]
fn a_report_has_nine_sections_in_their_order_in_any_language() {
    let shape: &[(&str, Spoil, &[Rule])] = &[
        ("as it is", |_| {}, &[]),
        ("one is missing", |it| drop(it.remove(3)), &[NineSections]),
        ("one too many", |it| it.push(it[0].clone()), &[NineSections]),
        ("one is empty", |it| it[2].text = " \n".into(), &[NineSections]),
        ("no table", |it| it[7].text = "It depends.".into(), &[Tabulates]),
        ("two columns", |it| it[7].text = "| a | b |\n|---|---|\n| c | d |".into(), &[Tabulates]),
        ("no row", |it| it[7].text = "| a | b | c |\n|---|---|---|".into(), &[Tabulates]),
        (
            "no rule",
            |it| it[7].text = "| a | b | c |\n| d | e | f |\n| g | h | i |".into(),
            &[Tabulates],
        ),
        (
            "a sentence before the table",
            |it| it[7].text = "As follows:\n\n| a | b | c |\n|:--|:-:|--:|\n| d | e | f |".into(),
            &[],
        ),
        ("two sentences", |it| it[8].text = "Use tabs. Or do not.".into(), &[Tabulates]),
        ("two lines", |it| it[8].text = "Use tabs\nor do not".into(), &[Tabulates]),
        ("two in Chinese", |it| it[8].text = "用制表符。或者不用。".into(), &[Tabulates]),
        ("for example", |it| it[8].text = "Use tabs, e.g. for small teams.".into(), &[]),
        (
            "bars in a cell",
            |it| it[7].text = "a | b:\n\n| a | b | c |\n|---|---|---|\n| d \\| x | e | f |".into(),
            &[],
        ),
        ("without a full stop", |it| it[8].text = "Use tabs".into(), &[]),
        ("a number in it", |it| it[8].text = "Use tabs of 3.5 spaces.".into(), &[]),
        ("hedged", |it| it[5].text = "Both approaches have merit.".into(), &[Directs]),
        ("hedged in Chinese", |it| it[5].text = "两者各有优劣。".into(), &[Directs]),
        ("quoted", |it| it[5].text = "Use tabs, not \"both have merit\".".into(), &[]),
    ];
    let headings: &[(&str, Spoil, &[Rule])] = &[
        ("another heading", |it| it[1].title = "Lies".into(), &[NineSections]),
        ("swapped", |it| it.swap(0, 1), &[NineSections]),
        ("numbered", |it| it[0].title = format!("1. {}", it[0].title), &[]),
        ("set bold", |it| it[0].title = format!("**{}**", it[0].title), &[]),
    ];
    let topics = [
        ("Tabs or spaces?", "Strong Arguments"),
        ("我们应该使用制表符还是空格?", "各方的强论点"),
        ("Sollten wir Tabulatoren oder Leerzeichen verwenden?", "1"),
    ];
    for (topic, first) in topics {
        let mut research = research();
        research.topic = topic.into();
        let stage = at(research, "judge");
        let Body::Sections { sections } = good(&stage.0, stage.1) else { panic!() };
        assert_eq!(sections[0].title, first);
        for (name, spoil, expected) in shape {
            assert_eq!(report(&stage, spoil), *expected, "{topic}: {name}");
        }
        for (name, spoil, expected) in headings {
            // Without translated headings only the structure is validated.
            let expected = if first == "1" { &[][..] } else { *expected };
            assert_eq!(report(&stage, spoil), expected, "{topic}: {name}");
        }
    }
}

#[test]
fn a_judge_is_told_the_headings_of_its_language() {
    for (topic, heading) in [
        ("Tabs or spaces?", "9. `## One-Sentence Summary`"),
        ("我们应该使用制表符还是空格?", "9. `## 一句话总结`"),
        ("Sollten wir Tabulatoren oder Leerzeichen verwenden?", "9. `## One-Sentence Summary`"),
    ] {
        let (debate, cue) = at(spoken(topic), "judge");
        assert!(told(&debate, cue).contains(heading), "{topic}");
        assert_eq!(report_sections::SECTION_COUNT, 9);
    }
}

/// A research setup with the built-in prompts and this topic.
fn spoken(topic: &str) -> Setup {
    let nowhere = Path::new("/nonexistent");
    let catalogue = formats_catalog::load(nowhere, nowhere);
    let offering = catalogue.find("research").unwrap();
    let mut setup = Setup { prompts: offering.prompts.clone(), ..research() };
    setup.topic = topic.into();
    for (seat, stance) in [(4, "argue for tabs"), (5, "argue for spaces"), (6, "argue for both")] {
        setup.seats[seat].stance = stance.into();
    }
    setup
}

#[test]
fn whoever_rebuts_hears_the_topic_its_own_stance_and_all_the_others() {
    let (debate, first) = at(spoken("Tabs or spaces?"), "rebut");
    for (seat, stance) in [(4, "argue for tabs"), (5, "argue for spaces"), (6, "argue for both")] {
        let text = told(&debate, Cue { seat, ..first });
        for part in ["Tabs or spaces?", stance, "A01", "B01", "C01", "600"] {
            assert!(text.contains(part), "{seat}: no `{part}` in {text}");
        }
        for (other, stance) in [(4, "argue for tabs"), (5, "argue for spaces")] {
            assert_eq!(text.contains(stance), other == seat, "nobody is given another's stance");
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
    assert_eq!(web, ["investigate"], "nobody else looks anything up on the web");
}

#[test]
fn a_missing_stance_is_marked_and_heard_as_missing_by_all_who_follow() {
    let mut debate = open(spoken("Tabs or spaces?"));
    let down = ["0.investigate/Fay", "0.rebut/Gus"];
    for (phase, marks) in [("rebut", 1), ("audit", 2), ("judge", 2)] {
        run(&mut debate, &down, |debate| here(debate, 0, phase).is_some());
        let text = told(&debate, due(&debate)[0]);
        assert_eq!(text.matches("\n[INCOMPLETE]\n").count(), marks, "{phase}: {text}");
    }
    run(&mut debate, &down, |_| false);
    assert_eq!(
        (status(&debate), status(&debate).as_result_str()),
        (Status::Degraded, "degraded-success")
    );
    // Missing stances have no claims that would need an answer or a tag.
    assert_eq!(debate.failed_turns().count(), 2);
}

#[test]
fn a_research_succeeds_is_degraded_or_is_aborted() {
    for (down, expected) in [
        (&[][..], Status::Completed),
        (&["0.investigate/Eli"], Status::Degraded),
        (&["0.investigate/Eli", "0.investigate/Fay"], Status::Degraded),
        (&["0.rebut"], Status::Degraded),
        (&["0.audit"], Status::Degraded),
        (&["0.judge"], Status::Degraded),
        (&["0.investigate"], Status::Failed), // All timed out.
    ] {
        assert_eq!(status(&played(research(), down)), expected, "{down:?}");
    }
    let unaudited = played(without(research(), &[Role::Auditor]), &[]);
    assert_eq!(status(&unaudited), Status::Completed, "an audit nobody wanted is not missing");
    let mut planned = research();
    planned.holds = vec![HoldPoint::Start];
    let mut declined = open(planned);
    declined.apply(Event::Cancelled { because: None }).unwrap();
    assert_eq!((status(&declined), declined.turns().count()), (Status::Cancelled, 0));
}
