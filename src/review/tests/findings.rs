//! From a debate about a change to a review: which claims become findings, their severity, location
//! and fingerprint, and whether they block the merge.
use crate::debate::{
    Body, ChangeSummary, Citation, CitationStatus, CodeLocation, Debate, Format, JudgeRuling,
    KnownFinding, NotedFinding, ReviewedChange, Severity, Side, formats,
};
use crate::review::finding::{Finding, FindingState};
use crate::review::merge_gate::{FailOn, blocks_merge};
use crate::review::{DEFAULT_MAX_FINDINGS, Review, ReviewDecision, review_from_debate};
use crate::test_support::debate_fixture::{
    citation, debate_setup, open_debate, play_until, record_reply_with, speech,
};
use crate::test_support::simulated_players::{fill_required_fields, verdict_reply};

fn reviewed_change(known: Vec<KnownFinding>) -> ReviewedChange {
    let compared =
        ChangeSummary { says: "b against a".into(), files: 1, ..ChangeSummary::default() };
    ReviewedChange { compared, known, ..ReviewedChange::default() }
}

fn known_finding(fingerprint: &str, gone: bool) -> KnownFinding {
    let severity = Severity::High;
    let rests_on = "src/z.rs \"let z = 1;\"".into();
    let (fingerprint, claim) = (fingerprint.into(), "old".into());
    let noted = NotedFinding { fingerprint, claim, severity, place: None, rests_on };
    KnownFinding { noted, gone }
}

/// A citation with an exact match at this line, as evidence for a claim.
fn verified_citation(claim: &str, path: &str, line: u32, quote: &str) -> Citation {
    Citation {
        claim: Some(claim.into()),
        path: Some(path.into()),
        line: Some(line),
        quote: Some(quote.into()),
        ..citation(&format!("{path}:{line} \"{quote}\""), CitationStatus::Exact)
    }
}

fn with_severities(body: Body, severities: &[(&str, Severity)]) -> Body {
    let Body::Speech { text, mut claims, concedes, resolves, help, unstructured } = body else {
        panic!()
    };
    for claim in &mut claims {
        let entry = severities.iter().find(|(id, _)| *id == claim.id);
        claim.severity = entry.map(|(_, severity)| *severity);
    }
    Body::Speech { text, claims, concedes, resolves, help, unstructured }
}

/// A duel of two rounds about a change. The challenger raises `c` (verified), `d` (not found), `e`
/// (verified, withdrawn) and `f` (verified). The proposer answers `c` and concedes `f`.
fn argued_review(known: Vec<KnownFinding>, cites: Vec<Citation>) -> Debate {
    let mut debate = open_debate(crate::debate::Setup {
        proposed: Some(reviewed_change(known)),
        ..debate_setup(review_format(), 2)
    });
    let cue = play_until(&mut debate, 1, "propose");
    record_reply_with(&mut debate, cue, speech("p", &[], &[]), vec![]);
    let cue = play_until(&mut debate, 1, "challenge");
    let severities = [("c", Severity::Medium), ("e", Severity::High), ("f", Severity::High)];
    record_reply_with(
        &mut debate,
        cue,
        with_severities(speech("c d e f", &[], &[]), &severities),
        cites,
    );
    let cue = play_until(&mut debate, 2, "defend");
    record_reply_with(
        &mut debate,
        cue,
        speech("q>c", &[("f", "f holds because it does")], &[]),
        vec![],
    );
    let cue = play_until(&mut debate, 2, "follow_up");
    record_reply_with(&mut debate, cue, speech("g>q", &[], &["e"]), vec![]);
    debate
}

fn default_citations() -> Vec<Citation> {
    let wrong =
        Citation { claim: Some("d".into()), ..citation("x.rs:1", CitationStatus::NoSuchPath) };
    vec![
        verified_citation("c", "src/a.rs", 3, "let a = 1;"),
        wrong,
        verified_citation("e", "src/a.rs", 9, "let e = 1;"),
        verified_citation("f", "src/b.rs", 7, "let f = 1;"),
    ]
}

fn review_format() -> Format {
    formats::for_code_review(formats::duel())
}

/// The judge and its mirror rule for these sides.
fn with_rulings(mut debate: Debate, sides: [Side; 2], edit: impl Fn(&mut JudgeRuling)) -> Debate {
    for side in sides {
        let cue = play_until(&mut debate, 0, "judge");
        let first = debate.turns().next().unwrap().0;
        let Body::Verdict(mut ruling) =
            fill_required_fields(&debate, cue, verdict_reply(Some(side), 80, vec![first]))
        else {
            panic!()
        };
        edit(&mut ruling);
        record_reply_with(&mut debate, cue, Body::Verdict(ruling), vec![]);
    }
    debate
}

fn finding_ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|it| it.id.as_str()).collect()
}

#[test]
fn verified_and_not_withdrawn_claim_is_a_finding() {
    let debate =
        with_rulings(argued_review(vec![], default_citations()), [Side::Con, Side::Con], |_| {});
    let review = review_from_debate(&debate, DEFAULT_MAX_FINDINGS).unwrap();
    assert_eq!(review.decision, ReviewDecision::Change);
    assert_eq!(
        finding_ids(&review.findings),
        ["f", "c"],
        "the most severe first; `e` was withdrawn"
    );
    assert_eq!(finding_ids(&review.unverified), ["d", "g"], "unverified claims are listed apart");
    let [severe, answered] = review.findings.as_slice() else { panic!() };
    assert!(severe.conceded && severe.severity == Severity::High);
    let location = |file: &str, line| CodeLocation {
        file: file.into(),
        line: Some(line),
        end_line: None,
        removed: false,
    };
    assert_eq!(severe.place, Some(location("src/b.rs", 7)));
    assert_eq!(answered.place, Some(location("src/a.rs", 3)));
    assert!(!answered.conceded);
    assert_eq!(answered.answer.as_deref(), Some("q holds because it does"));
    assert!(
        review_from_debate(
            &with_rulings(
                argued_review(vec![], default_citations()),
                [Side::Pro, Side::Pro],
                |_| {}
            ),
            1
        )
        .is_some()
    );
    let limited = review_from_debate(&debate, 1).unwrap();
    assert_eq!((limited.findings.len(), limited.more), (1, 1));
}

#[test]
fn fingerprint_depends_on_file_and_quote_only() {
    let fingerprints = |cites: Vec<Citation>| -> Vec<String> {
        let it = review_from_debate(&argued_review(vec![], cites), DEFAULT_MAX_FINDINGS).unwrap();
        it.findings.into_iter().map(|it| it.fingerprint).collect()
    };
    let moved = default_citations()
        .into_iter()
        .map(|it| Citation { line: it.line.map(|at| at + 40), ..it });
    let spaced = default_citations()
        .into_iter()
        .map(|it| Citation { quote: it.quote.map(|quote| quote.replace(' ', "  ")), ..it });
    let default_prints = fingerprints(default_citations());
    assert_eq!(default_prints, fingerprints(moved.collect()), "lines do not count");
    assert_eq!(default_prints, fingerprints(spaced.collect()), "white space does not count");
    let changed = vec![
        verified_citation("c", "src/a.rs", 3, "let a = 2;"),
        verified_citation("f", "src/c.rs", 7, "let f = 1;"),
    ];
    assert!(
        fingerprints(changed).iter().all(|it| !default_prints.contains(it)),
        "quotes and files count"
    );
    let twice = vec![
        verified_citation("c", "src/a.rs", 3, "let a = 1;"),
        verified_citation("f", "src/a.rs", 3, "let a = 1;"),
    ];
    let twice = fingerprints(twice);
    assert!(twice[0] != twice[1], "two findings about one line differ");
    assert!(twice.iter().all(|it| it.len() == 64 && it.bytes().all(|b| b.is_ascii_hexdigit())));
}

#[test]
fn claim_answered_for_all_judges_is_low_severity() {
    let edit = |it: &mut JudgeRuling| {
        for check in it.checks.iter_mut().filter(|check| check.claim == "c") {
            (check.answered, check.supported, check.conceded) = (true, false, false);
        }
    };
    let it = review_from_debate(
        &with_rulings(argued_review(vec![], default_citations()), [Side::Con, Side::Con], edit),
        DEFAULT_MAX_FINDINGS,
    )
    .unwrap();
    let severity = |id: &str| it.findings.iter().find(|it| it.id == id).unwrap().severity;
    assert_eq!(severity("c"), Severity::Low);
    assert_eq!(severity("f"), Severity::High, "a concession stands");
}

#[test]
fn removed_lines_keep_their_base_location() {
    let removed_citation = |line| Citation {
        removed: Some(line),
        ..verified_citation("c", "src/a.rs", 12, "if !ok {")
    };
    let location = |line| {
        let review = review_from_debate(
            &argued_review(vec![], vec![removed_citation(line)]),
            DEFAULT_MAX_FINDINGS,
        )
        .unwrap();
        review.findings[0].place.clone().unwrap()
    };
    assert_eq!((location(4).line, location(4).removed), (Some(4), true));
    assert_eq!(
        (location(0).line, location(0).file),
        (None, "src/a.rs".to_owned()),
        "the file is gone"
    );
}

#[test]
fn earlier_findings_are_fixed_open_or_raised_again() {
    let repeated =
        review_from_debate(&argued_review(vec![], default_citations()), DEFAULT_MAX_FINDINGS)
            .unwrap()
            .findings[0]
            .fingerprint
            .clone();
    let known = vec![
        known_finding("one", true),
        known_finding("two", false),
        known_finding(&repeated, true),
    ];
    let it = review_from_debate(&argued_review(known, default_citations()), DEFAULT_MAX_FINDINGS)
        .unwrap();
    let states: Vec<_> =
        it.earlier.iter().map(|it| (it.noted.fingerprint.as_str(), it.state)).collect();
    assert_eq!(states, [("one", FindingState::Fixed), ("two", FindingState::Open)]);
    let raised: Vec<bool> = it.findings.iter().map(|it| it.known).collect();
    assert_eq!(raised, [true, false], "a finding raised again is listed once, as known");
}

#[test]
fn fail_on_blocks_the_merge_only_for_verified_findings() {
    let review_with = |sides, cites: Vec<Citation>| -> Review {
        review_from_debate(
            &with_rulings(argued_review(vec![], cites), sides, |_| {}),
            DEFAULT_MAX_FINDINGS,
        )
        .unwrap()
    };
    let blocked = |review: &Review| {
        [FailOn::Block, FailOn::Contested, FailOn::Never].map(|when| blocks_merge(review, when))
    };
    let against = review_with([Side::Con, Side::Con], default_citations());
    assert_eq!(blocked(&against), [true, true, false]);
    assert_eq!(blocked(&review_with([Side::Pro, Side::Pro], default_citations())), [false; 3]);
    let split = review_with([Side::Con, Side::Pro], default_citations());
    assert!(split.is_contested(), "{:?}", split.doubts);
    assert_eq!(blocked(&split), [false, true, false]);
    let unverified = review_with([Side::Con, Side::Con], vec![]);
    assert_eq!(blocked(&unverified), [false; 3], "unverified claims block nothing");
    let unruled =
        review_from_debate(&argued_review(vec![], default_citations()), DEFAULT_MAX_FINDINGS)
            .unwrap();
    assert_eq!((unruled.decision, unruled.degraded), (ReviewDecision::None, true));
    assert_eq!(blocked(&unruled), [false; 3]);
    assert!(unruled.notices[0].contains("cut short"), "{:?}", unruled.notices);
}

#[test]
fn ordinary_debate_has_no_review() {
    assert_eq!(
        review_from_debate(&open_debate(debate_setup(formats::duel(), 1)), DEFAULT_MAX_FINDINGS),
        None
    );
}

#[test]
fn listed_findings_are_limited() {
    assert_eq!(DEFAULT_MAX_FINDINGS, 5);
    let review_with = |verified: usize, unverified: usize| {
        let mut debate = open_debate(crate::debate::Setup {
            proposed: Some(reviewed_change(vec![])),
            ..debate_setup(review_format(), 2)
        });
        let cue = play_until(&mut debate, 1, "propose");
        record_reply_with(&mut debate, cue, speech("p", &[], &[]), vec![]);
        let cue = play_until(&mut debate, 1, "challenge");
        let ids: Vec<String> = (0..verified + unverified).map(|nth| format!("c{nth}")).collect();
        let cite = |id: &String| verified_citation(id, "src/a.rs", 3, &format!("let {id} = 1;"));
        let cites = ids.iter().take(verified).map(cite).collect();
        record_reply_with(&mut debate, cue, speech(&ids.join(" "), &[], &[]), cites);
        let review = review_from_debate(&debate, DEFAULT_MAX_FINDINGS).unwrap();
        (review.findings.len(), review.more, review.unverified.len())
    };
    assert_eq!(review_with(5, 20), (5, 0, 20));
    assert_eq!(review_with(6, 21), (5, 1, 20));
}
