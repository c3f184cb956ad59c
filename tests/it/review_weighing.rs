//! From a debate about a change to a review: which claims become findings, their severity, location
//! and fingerprint, and whether they block the merge.
use crate::players::{complete, ruling};
use crate::scene::{citation, open, say_with, setup, speech, until};
use debate_mcp::debate::{
    Body, ChangeSummary, Citation, CitationStatus, CodeLocation, Debate, Format, JudgeRuling,
    KnownFinding, NotedFinding, ReviewedChange, Severity, Side, formats,
};
use debate_mcp::review::finding::{Finding, FindingState};
use debate_mcp::review::merge_gate::{FailOn, blocks_merge};
use debate_mcp::review::{DEFAULT_MAX_FINDINGS, Review, ReviewDecision, review_from_debate};

fn proposed(known: Vec<KnownFinding>) -> ReviewedChange {
    let compared =
        ChangeSummary { says: "b against a".into(), files: 1, ..ChangeSummary::default() };
    ReviewedChange { compared, known, ..ReviewedChange::default() }
}

fn known(fingerprint: &str, gone: bool) -> KnownFinding {
    let severity = Severity::High;
    let rests_on = "src/z.rs \"let z = 1;\"".into();
    let (fingerprint, claim) = (fingerprint.into(), "old".into());
    let noted = NotedFinding { fingerprint, claim, severity, place: None, rests_on };
    KnownFinding { noted, gone }
}

/// A citation with an exact match at this line, as evidence for a claim.
fn found(claim: &str, path: &str, line: u32, quote: &str) -> Citation {
    Citation {
        claim: Some(claim.into()),
        path: Some(path.into()),
        line: Some(line),
        quote: Some(quote.into()),
        ..citation(&format!("{path}:{line} \"{quote}\""), CitationStatus::Exact)
    }
}

fn graded(body: Body, severities: &[(&str, Severity)]) -> Body {
    let Body::Speech { text, mut claims, concedes, resolves, help, unstructured } = body else {
        panic!()
    };
    for claim in &mut claims {
        let own = severities.iter().find(|(id, _)| *id == claim.id);
        claim.severity = own.map(|(_, severity)| *severity);
    }
    Body::Speech { text, claims, concedes, resolves, help, unstructured }
}

/// A duel of two rounds about a change. The challenger raises `c` (verified), `d` (not found), `e`
/// (verified, withdrawn) and `f` (verified). The proposer answers `c` and concedes `f`.
fn argued(known: Vec<KnownFinding>, cites: Vec<Citation>) -> Debate {
    let mut debate =
        open(debate_mcp::debate::Setup { proposed: Some(proposed(known)), ..setup(table(), 2) });
    let cue = until(&mut debate, 1, "propose");
    say_with(&mut debate, cue, speech("p", &[], &[]), vec![]);
    let cue = until(&mut debate, 1, "challenge");
    let severities = [("c", Severity::Medium), ("e", Severity::High), ("f", Severity::High)];
    say_with(&mut debate, cue, graded(speech("c d e f", &[], &[]), &severities), cites);
    let cue = until(&mut debate, 2, "defend");
    say_with(&mut debate, cue, speech("q>c", &[("f", "f holds because it does")], &[]), vec![]);
    let cue = until(&mut debate, 2, "follow_up");
    say_with(&mut debate, cue, speech("g>q", &[], &["e"]), vec![]);
    debate
}

fn usual() -> Vec<Citation> {
    let wrong =
        Citation { claim: Some("d".into()), ..citation("x.rs:1", CitationStatus::NoSuchPath) };
    vec![
        found("c", "src/a.rs", 3, "let a = 1;"),
        wrong,
        found("e", "src/a.rs", 9, "let e = 1;"),
        found("f", "src/b.rs", 7, "let f = 1;"),
    ]
}

fn table() -> Format {
    formats::for_code_review(formats::duel())
}

/// The judge and its mirror rule for these sides.
fn ruled(mut debate: Debate, sides: [Side; 2], spoil: impl Fn(&mut JudgeRuling)) -> Debate {
    for side in sides {
        let cue = until(&mut debate, 0, "judge");
        let first = debate.turns().next().unwrap().0;
        let Body::Verdict(mut it) = complete(&debate, cue, ruling(Some(side), 80, vec![first]))
        else {
            panic!()
        };
        spoil(&mut it);
        say_with(&mut debate, cue, Body::Verdict(it), vec![]);
    }
    debate
}

fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|it| it.id.as_str()).collect()
}

#[test]
fn a_challenge_that_was_found_and_not_taken_back_is_a_finding() {
    let debate = ruled(argued(vec![], usual()), [Side::Con, Side::Con], |_| {});
    let it = review_from_debate(&debate, DEFAULT_MAX_FINDINGS).unwrap();
    assert_eq!(it.decision, ReviewDecision::Change);
    assert_eq!(ids(&it.findings), ["f", "c"], "the gravest first; e was taken back");
    assert_eq!(ids(&it.unverified), ["d", "g"], "what rests on nothing is listed apart");
    let [grave, answered] = it.findings.as_slice() else { panic!() };
    assert!(grave.conceded && grave.severity == Severity::High);
    let place = |file: &str, line| CodeLocation {
        file: file.into(),
        line: Some(line),
        end_line: None,
        removed: false,
    };
    assert_eq!(grave.place, Some(place("src/b.rs", 7)));
    assert_eq!(answered.place, Some(place("src/a.rs", 3)));
    assert!(!answered.conceded);
    assert_eq!(answered.answer.as_deref(), Some("q holds because it does"));
    assert!(
        review_from_debate(&ruled(argued(vec![], usual()), [Side::Pro, Side::Pro], |_| {}), 1)
            .is_some()
    );
    let few = review_from_debate(&debate, 1).unwrap();
    assert_eq!((few.findings.len(), few.more), (1, 1));
}

#[test]
fn a_fingerprint_is_made_of_the_file_and_the_words() {
    let prints = |cites: Vec<Citation>| -> Vec<String> {
        let it = review_from_debate(&argued(vec![], cites), DEFAULT_MAX_FINDINGS).unwrap();
        it.findings.into_iter().map(|it| it.fingerprint).collect()
    };
    let moved = usual().into_iter().map(|it| Citation { line: it.line.map(|at| at + 40), ..it });
    let spaced = usual()
        .into_iter()
        .map(|it| Citation { quote: it.quote.map(|quote| quote.replace(' ', "  ")), ..it });
    let usual_ones = prints(usual());
    assert_eq!(usual_ones, prints(moved.collect()), "lines do not count");
    assert_eq!(usual_ones, prints(spaced.collect()), "white space does not count");
    let other =
        vec![found("c", "src/a.rs", 3, "let a = 2;"), found("f", "src/c.rs", 7, "let f = 1;")];
    assert!(prints(other).iter().all(|it| !usual_ones.contains(it)), "words and files do");
    let twice =
        vec![found("c", "src/a.rs", 3, "let a = 1;"), found("f", "src/a.rs", 3, "let a = 1;")];
    let twice = prints(twice);
    assert!(twice[0] != twice[1], "two findings about one line are two");
    assert!(twice.iter().all(|it| it.len() == 64 && it.bytes().all(|b| b.is_ascii_hexdigit())));
}

#[test]
fn what_every_judge_found_answered_is_no_more_than_a_remark() {
    let spoil = |it: &mut JudgeRuling| {
        for check in it.checks.iter_mut().filter(|check| check.claim == "c") {
            (check.answered, check.supported, check.conceded) = (true, false, false);
        }
    };
    let it = review_from_debate(
        &ruled(argued(vec![], usual()), [Side::Con, Side::Con], spoil),
        DEFAULT_MAX_FINDINGS,
    )
    .unwrap();
    let severity = |id: &str| it.findings.iter().find(|it| it.id == id).unwrap().severity;
    assert_eq!(severity("c"), Severity::Low);
    assert_eq!(severity("f"), Severity::High, "a concession stands");
}

#[test]
fn words_that_were_taken_away_are_told_where_they_stood() {
    let gone = |line| Citation { removed: Some(line), ..found("c", "src/a.rs", 12, "if !ok {") };
    let place = |line| {
        let it =
            review_from_debate(&argued(vec![], vec![gone(line)]), DEFAULT_MAX_FINDINGS).unwrap();
        it.findings[0].place.clone().unwrap()
    };
    assert_eq!((place(4).line, place(4).removed), (Some(4), true));
    assert_eq!((place(0).line, place(0).file), (None, "src/a.rs".to_owned()), "the file is gone");
}

#[test]
fn what_was_found_before_is_fixed_or_still_open_or_raised_again() {
    let again =
        review_from_debate(&argued(vec![], usual()), DEFAULT_MAX_FINDINGS).unwrap().findings[0]
            .fingerprint
            .clone();
    let all = vec![known("one", true), known("two", false), known(&again, true)];
    let it = review_from_debate(&argued(all, usual()), DEFAULT_MAX_FINDINGS).unwrap();
    let states: Vec<_> =
        it.earlier.iter().map(|it| (it.noted.fingerprint.as_str(), it.state)).collect();
    assert_eq!(states, [("one", FindingState::Fixed), ("two", FindingState::Open)]);
    let raised: Vec<bool> = it.findings.iter().map(|it| it.known).collect();
    assert_eq!(raised, [true, false], "what is raised again is listed once, as what it is");
}

#[test]
fn it_stops_a_change_only_where_that_was_asked_for_and_something_was_found() {
    let stands = |sides, cites: Vec<Citation>| -> Review {
        review_from_debate(&ruled(argued(vec![], cites), sides, |_| {}), DEFAULT_MAX_FINDINGS)
            .unwrap()
    };
    let matrix = |it: &Review| {
        [FailOn::Block, FailOn::Contested, FailOn::Never].map(|when| blocks_merge(it, when))
    };
    let against = stands([Side::Con, Side::Con], usual());
    assert_eq!(matrix(&against), [true, true, false]);
    assert_eq!(matrix(&stands([Side::Pro, Side::Pro], usual())), [false; 3]);
    let split = stands([Side::Con, Side::Pro], usual());
    assert!(split.is_contested(), "{:?}", split.doubts);
    assert_eq!(matrix(&split), [false, true, false]);
    let nothing = stands([Side::Con, Side::Con], vec![]);
    assert_eq!(matrix(&nothing), [false; 3], "what was not found stops nothing");
    let unruled = review_from_debate(&argued(vec![], usual()), DEFAULT_MAX_FINDINGS).unwrap();
    assert_eq!((unruled.decision, unruled.degraded), (ReviewDecision::None, true));
    assert_eq!(matrix(&unruled), [false; 3]);
    assert!(unruled.notices[0].contains("cut short"), "{:?}", unruled.notices);
}

#[test]
fn a_debate_about_nothing_of_the_kind_is_no_review() {
    assert_eq!(review_from_debate(&open(setup(formats::duel(), 1)), DEFAULT_MAX_FINDINGS), None);
}
