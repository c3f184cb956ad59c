//! Research format rules, table-driven: stances, rebuttals, audits and the nine-section report.
use crate::debate::body::{ClaimPurpose, ClaimSource};
use crate::debate::stances::max_words;
use crate::debate::status::status;
use crate::debate::{
    Body, Claim, Cue, Debate, Event, HoldPoint, Role, Rule, RuleWeight, Section, Setup, Status,
    check_rules, formats,
};
use crate::test_support::debate_fixture::{
    debate_setup, open_debate, play_to_end, play_until, without_roles,
};
use crate::test_support::simulated_players::valid_reply;
use Rule::{
    AuditsArguments, Directs, Investigates, NineSections, OwnIds, RatesArguments, Rebuts,
    Structured, Tabulates, WithinWords,
};

fn research_setup() -> Setup {
    debate_setup(formats::research(), 1)
}

fn debate_at_phase(setup: Setup, phase: &str) -> (Debate, Cue) {
    let mut debate = open_debate(setup);
    let cue = play_until(&mut debate, 0, phase);
    (debate, cue)
}

fn broken_rules((debate, cue): &(Debate, Cue), body: &Body) -> Vec<Rule> {
    check_rules(debate, *cue, body, &[]).into_iter().map(|found| found.rule).collect()
}

/// A stance with one claim per letter: `a` argument, `w` weakness, else counter-attack.
fn stance_body(letters: &str) -> Body {
    let purpose = |letter: char| match letter {
        'a' => ClaimPurpose::Argument,
        'w' => ClaimPurpose::Weakness,
        _ => ClaimPurpose::Counter,
    };
    let claim = |(nth, letter): (usize, char)| Claim {
        id: format!("A{nth}"),
        text: "It is so.".into(),
        part: Some(purpose(letter)),
        confidence: Some(70),
        source: Some(ClaimSource::AcademicPaper),
        ..Claim::default()
    };
    let mut body = Body::from_prose("At length.");
    if let Body::Speech { claims, unstructured, .. } = &mut body {
        claims.extend(letters.chars().enumerate().map(claim));
        *unstructured = None;
    }
    body
}

/// The same speech with one claim changed.
fn with_claim_edit(mut body: Body, nth: usize, edit: impl Fn(&mut Claim)) -> Body {
    if let Body::Speech { claims, .. } = &mut body {
        edit(&mut claims[nth]);
    }
    body
}

#[test]
fn stance_needs_the_right_number_of_each_claim_purpose() {
    let turn = debate_at_phase(research_setup(), "investigate");
    for (letters, expected) in [
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
        assert_eq!(broken_rules(&turn, &stance_body(letters)), expected, "{letters}");
    }
    assert_eq!(broken_rules(&turn, &Body::from_prose("No block.")), [Structured]);
    let weights = turn.0.setup().phase(turn.1).rules.iter().map(|(_, weight)| *weight);
    assert!(
        { weights }.all(|weight| weight == RuleWeight::Mend),
        "a stance never loses its turn over these rules"
    );
}

#[test]
fn argument_needs_confidence_and_source() {
    let turn = debate_at_phase(research_setup(), "investigate");
    let good = || stance_body("aaawwc");
    for (body, expected) in [
        (with_claim_edit(good(), 0, |claim| claim.confidence = None), &[RatesArguments][..]),
        (with_claim_edit(good(), 2, |claim| claim.source = None), &[RatesArguments]),
        (with_claim_edit(good(), 3, |claim| claim.confidence = None), &[]), // Only arguments need one.
        (with_claim_edit(good(), 5, |claim| claim.source = None), &[]),
        (with_claim_edit(good(), 1, |claim| claim.confidence = Some(0)), &[]),
        (with_claim_edit(good(), 1, |claim| claim.part = None), &[Investigates]),
    ] {
        assert_eq!(broken_rules(&turn, &body), expected, "{body:?}");
    }
}

#[test]
fn claim_ids_start_with_the_letter_of_the_stance() {
    let (debate, first) = debate_at_phase(research_setup(), "investigate");
    for (seat, letter) in [(4, 'A'), (5, 'B'), (6, 'C')] {
        let cue = Cue { seat, ..first };
        let body = valid_reply(&debate, cue);
        assert!(body.claims().iter().all(|claim| claim.id.starts_with(letter)));
        let turn = (debate.clone(), cue);
        assert_eq!(broken_rules(&turn, &body), []);
        for foreign in ["D1", "1", "x", "a1"] {
            let body = with_claim_edit(body.clone(), 1, |claim| claim.id = foreign.into());
            assert_eq!(broken_rules(&turn, &body), [OwnIds], "{foreign}");
        }
    }
}

#[test]
fn rebuttal_must_answer_every_argument_and_add_attacks() {
    let turn = debate_at_phase(research_setup(), "rebut");
    let body = || valid_reply(&turn.0, turn.1);
    let count =
        |part: ClaimPurpose| body().claims().iter().filter(|it| it.part == Some(part)).count();
    assert_eq!(count(ClaimPurpose::Rebuttal), 6, "three arguments of each other stance");
    let without_claim = |nth: usize| {
        let mut body = body();
        if let Body::Speech { claims, .. } = &mut body {
            claims.remove(nth);
        }
        body
    };
    for (body, expected) in [
        (without_claim(0), "no rebuttal answers argument `B01`"),
        (without_claim(5), "no rebuttal answers argument `C03`"),
        (with_claim_edit(body(), 3, |it| it.answers.clear()), "no rebuttal answers argument `C01`"),
        (
            with_claim_edit(body(), 1, |it| it.part = Some(ClaimPurpose::Weakness)),
            "no rebuttal answers argument `B02`",
        ),
        (
            with_claim_edit(body(), 2, |it| it.confidence = None),
            "rebuttal `A13` has no `confidence`",
        ),
        (without_claim(6), "0 attacks on the weakest premise; there must be one"),
        (
            with_claim_edit(body(), 7, |it| it.part = Some(ClaimPurpose::Premise)),
            "2 attacks on the weakest premise; there must be one",
        ),
        (without_claim(8), "1 new attacks; there must be two"),
        (
            with_claim_edit(body(), 6, |it| it.part = Some(ClaimPurpose::Attack)),
            "0 attacks on the weakest premise; there must be one",
        ),
    ] {
        let found = check_rules(&turn.0, turn.1, &body, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].rule, found[0].says.as_str()), (Rebuts, expected));
    }
    // One claim may answer several arguments. A stance's own arguments need no answer.
    let mut combined = body();
    if let Body::Speech { claims, .. } = &mut combined {
        let all = claims[..6].iter().flat_map(|claim| claim.answers.clone()).collect();
        claims.drain(1..6);
        claims[0].answers = all;
    }
    assert_eq!(broken_rules(&turn, &combined), []);
}

#[test]
fn rebuttal_allows_300_words_per_opponent() {
    let broken_by_text = |turn: &(Debate, Cue), words: String| {
        let mut body = valid_reply(&turn.0, turn.1);
        if let Body::Speech { text, .. } = &mut body {
            *text = words;
        }
        broken_rules(turn, &body)
    };
    for (advocates, limit) in [(2, 300), (3, 600), (4, 900)] {
        let mut research = research_setup();
        match advocates {
            2 => drop(research.seats.remove(6)),
            4 => {
                let fourth = research.seats[6].clone();
                research.seats.insert(7, crate::debate::Seat { name: "Guy".into(), ..fourth });
            }
            _ => {}
        }
        let turn = debate_at_phase(research, "rebut");
        assert_eq!(max_words(&turn.0), limit);
        assert_eq!(broken_by_text(&turn, "word ".repeat(limit)), []);
        assert_eq!(broken_by_text(&turn, "word ".repeat(limit + 1)), [WithinWords]);
        // In scripts without spaces every character counts as a word.
        assert_eq!(broken_by_text(&turn, "词".repeat(limit)), []);
        assert_eq!(broken_by_text(&turn, "词".repeat(limit + 1)), [WithinWords]);
    }
}

#[test]
fn audit_must_tag_every_argument() {
    let turn = debate_at_phase(research_setup(), "audit");
    let Body::Audit { facts } = valid_reply(&turn.0, turn.1) else { panic!() };
    assert_eq!(facts.len(), 9, "three arguments of each stance");
    assert_eq!(broken_rules(&turn, &Body::Audit { facts: facts.clone() }), []);
    for nth in 0..facts.len() {
        let mut fewer = facts.clone();
        let missing_id = fewer.remove(nth).id;
        let found = check_rules(&turn.0, turn.1, &Body::Audit { facts: fewer }, &[]);
        assert_eq!(found[0].says, format!("argument `{missing_id}` was not tagged"));
    }
    assert_eq!(broken_rules(&turn, &Body::Audit { facts: vec![] }), [AuditsArguments]);
}

/// Rules broken by the report after this edit.
fn broken_report_rules(turn: &(Debate, Cue), edit: impl Fn(&mut Vec<Section>)) -> Vec<Rule> {
    let Body::Sections { mut sections } = valid_reply(&turn.0, turn.1) else { panic!() };
    edit(&mut sections);
    broken_rules(turn, &Body::Sections { sections })
}

type ReportEdit = fn(&mut Vec<Section>);

#[test]
fn report_needs_nine_ordered_sections_in_any_language() {
    let structure_cases: &[(&str, ReportEdit, &[Rule])] = &[
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
    let heading_cases: &[(&str, ReportEdit, &[Rule])] = &[
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
    for (topic, first_heading) in topics {
        let mut research = research_setup();
        research.topic = topic.into();
        let turn = debate_at_phase(research, "judge");
        let Body::Sections { sections } = valid_reply(&turn.0, turn.1) else { panic!() };
        assert_eq!(sections[0].title, first_heading);
        for (name, edit, expected) in structure_cases {
            assert_eq!(broken_report_rules(&turn, edit), *expected, "{topic}: {name}");
        }
        for (name, edit, expected) in heading_cases {
            // Without translated headings only the structure is validated.
            let expected = if first_heading == "1" { &[][..] } else { *expected };
            assert_eq!(broken_report_rules(&turn, edit), expected, "{topic}: {name}");
        }
    }
}

#[test]
fn research_status_is_completed_degraded_or_failed() {
    for (failing_turns, expected) in [
        (&[][..], Status::Completed),
        (&["0.investigate/Eli"], Status::Degraded),
        (&["0.investigate/Eli", "0.investigate/Fay"], Status::Degraded),
        (&["0.rebut"], Status::Degraded),
        (&["0.audit"], Status::Degraded),
        (&["0.judge"], Status::Degraded),
        (&["0.investigate"], Status::Failed), // All timed out.
    ] {
        assert_eq!(
            status(&play_to_end(research_setup(), failing_turns)),
            expected,
            "{failing_turns:?}"
        );
    }
    let unaudited = play_to_end(without_roles(research_setup(), &[Role::Auditor]), &[]);
    assert_eq!(status(&unaudited), Status::Completed, "no audit was requested");
    let mut planned = research_setup();
    planned.holds = vec![HoldPoint::Start];
    let mut declined = open_debate(planned);
    declined.apply(Event::Cancelled { because: None }).unwrap();
    assert_eq!((status(&declined), declined.turns().count()), (Status::Cancelled, 0));
}
