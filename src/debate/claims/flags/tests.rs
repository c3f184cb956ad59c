//! Debate flags: unanswered claims, concessions without a reason, walk-backs, repetition, and when
//! a debate counts as settled. Also sealed answers and the rigor line.
use crate::debate::body::DecisionChange;
use crate::debate::flags::{FlagKind, SettledReason, find_flags, settled_reason};
use crate::debate::ledger::{self, entries, tally};
use crate::debate::{
    Body, Citation, CitationStatus, Cue, Debate, Rule, Setup, Side, check_rules, formats, prompt,
    status,
};
use crate::test_support::debate_fixture::{
    citation, debate_setup, open_debate, play_debate, play_until, record_reply, record_reply_with,
    speech, trace,
};
use crate::test_support::simulated_players::{fill_required_fields, verdict_reply};
use FlagKind::{GaveWay, Repeats, Unanswered, WalkBack};

/// A duel played with these speeches and citations, turn by turn.
fn duel_with_turns(setup: Setup, turns: Vec<(Body, Vec<Citation>)>) -> Debate {
    let mut debate = open_debate(setup);
    let phases = [(1, "propose"), (1, "challenge"), (2, "defend"), (2, "follow_up")];
    let round_three = [(3, "defend"), (3, "follow_up")];
    for ((body, citations), (round, phase)) in
        turns.into_iter().zip(phases.into_iter().chain(round_three))
    {
        let cue = play_until(&mut debate, round, phase);
        record_reply_with(&mut debate, cue, body, citations);
    }
    debate
}

fn duel_setup(rounds: u8) -> Setup {
    Setup { pin: Some("a tree".into()), ..debate_setup(formats::duel(), rounds) }
}

/// A citation of a claim whose quote was found exactly.
fn exact_citation(claim: &str, path: &str) -> Citation {
    let cited_path = Some(path.to_owned());
    Citation {
        claim: Some(claim.into()),
        path: cited_path,
        ..citation(path, CitationStatus::Exact)
    }
}

#[track_caller]
fn assert_flags(turns: Vec<(Body, Vec<Citation>)>, expected: &[(FlagKind, &str)]) {
    let debate = duel_with_turns(duel_setup(3), turns);
    let flags = find_flags(&debate, Cue::END);
    let flags: Vec<_> = flags.iter().map(|flag| (flag.kind, flag.message.as_str())).collect();
    assert_eq!(flags, expected);
}

fn uncited_speech(claims: &str) -> (Body, Vec<Citation>) {
    (speech(claims, &[], &[]), vec![])
}

#[test]
fn unanswered_claim_is_flagged() {
    assert_flags(
        vec![
            uncited_speech("p1 p2"),
            uncited_speech("c1>p1"),
            uncited_speech("p3>c1"),
            uncited_speech("c2>p3"),
        ],
        &[(Unanswered, "`p2` was never answered")],
    );
    // A claim of the last turn cannot be answered, so it is not flagged.
    assert_flags(vec![uncited_speech("p1"), uncited_speech("c1>p1 c2")], &[]);
}

#[test]
fn concession_without_a_reason_is_flagged() {
    let concedes = |claims: &str, id: &str| (speech(claims, &[(id, &claim_text(id))], &[]), vec![]);
    // Contested at first, then conceded without new evidence.
    assert_flags(
        vec![
            uncited_speech("p1"),
            uncited_speech("c1>p1"),
            uncited_speech("p2>c1"),
            uncited_speech("c2>p1"),
            concedes("p3>c2", "c1"),
        ],
        &[
            (Unanswered, "`p2` was never answered"),
            (GaveWay, "`c1` is conceded though nothing new was offered for it"),
        ],
    );
    // No flag if conceded at the first chance, or after the objection was answered.
    assert_flags(vec![uncited_speech("p1"), uncited_speech("c1>p1"), concedes("p2>c1", "c1")], &[]);
    assert_flags(
        vec![
            uncited_speech("p1"),
            uncited_speech("c1>p1"),
            uncited_speech("p2>c1"),
            uncited_speech("c2>p2"),
            concedes("p3>c2", "c1"),
        ],
        &[],
    );
    // An unanswered claim cannot be certified as resolved.
    assert_flags(
        vec![
            uncited_speech("p1"),
            uncited_speech("c1 c2>p1"),
            uncited_speech("p2>c2"),
            (speech("c3>p2", &[], &["c1"]), vec![]),
        ],
        &[(GaveWay, "`c1` is certified as resolved though it was never answered")],
    );
}

fn claim_text(id: &str) -> String {
    format!("{id} holds because it does")
}

#[test]
fn walk_back_needs_new_verified_evidence() {
    let conceding_turn = || (speech("p2>c1", &[("c1", &claim_text("c1"))], &[]), vec![]);
    let check_walk_back = |citations: Vec<Citation>| {
        let turns = vec![
            uncited_speech("p1"),
            uncited_speech("c1>p1"),
            conceding_turn(),
            uncited_speech("c2>p2"),
        ];
        let mut debate = duel_with_turns(duel_setup(3), turns);
        let cue = play_until(&mut debate, 3, "defend");
        let body = speech("p3>c1", &[], &[]);
        let findings = check_rules(&debate, cue, &body, &citations);
        let breaks_rule = findings.iter().any(|it| it.rule == Rule::KeepsConcessions);
        record_reply_with(&mut debate, cue, body, citations);
        let flags = find_flags(&debate, Cue::END);
        (breaks_rule, flags.iter().any(|flag| flag.kind == WalkBack))
    };
    assert_eq!(check_walk_back(vec![]), (true, true));
    assert_eq!(check_walk_back(vec![exact_citation("p3", "new.rs")]), (false, false));
    let not_found = Citation { found: CitationStatus::NotFound, ..exact_citation("p3", "new.rs") };
    assert_eq!(check_walk_back(vec![not_found]), (true, true), "a missing quote is no evidence");
    let other_claim = exact_citation("p9", "new.rs");
    assert_eq!(
        check_walk_back(vec![other_claim]),
        (true, true),
        "evidence for another claim does not count"
    );
}

#[test]
fn turn_without_new_content_is_flagged() {
    let speech_with = |claims: &str, citations| (speech(claims, &[], &[]), citations);
    let first_turns = || vec![uncited_speech("p1"), uncited_speech("c1>p1")];
    let after_first_turns = |turn| first_turns().into_iter().chain([turn]).collect::<Vec<_>>();
    let repeats_flag = [(Repeats, "a turn without a new claim, new evidence or a concession")];
    assert_flags(after_first_turns(speech_with("p1>c1", vec![])), &repeats_flag);
    assert_flags(after_first_turns(speech_with("p2>c1", vec![])), &[]);
    assert_flags(
        after_first_turns(speech_with("p1>c1", vec![exact_citation("p1", "new.rs")])),
        &[],
    );
    let mut turns = first_turns();
    turns[1].1 = vec![exact_citation("c1", "new.rs")];
    turns.push(speech_with("p1>c1", vec![exact_citation("p1", "new.rs")]));
    assert_flags(turns, &repeats_flag);
}

#[test]
fn round_without_new_content_settles_the_debate() {
    let turns = || {
        vec![
            uncited_speech("p1"),
            uncited_speech("c1>p1"),
            uncited_speech("p1>c1"),
            uncited_speech("c1>p1"),
        ]
    };
    let mut debate = duel_with_turns(duel_setup(3), turns());
    assert_eq!(settled_reason(&debate, 1), None);
    assert_eq!(settled_reason(&debate, 2), Some(SettledReason::Repetition));
    let advice = status::ending_advice(&debate).unwrap();
    assert_eq!(
        advice,
        "round 2 brought no new claim and no new evidence; a verdict now would lose nothing"
    );
    // `stop_when_settled` is off here, so the debate continues.
    play_until(&mut debate, 3, "defend");
    let mut debate = duel_with_turns(Setup { stop_when_settled: true, ..duel_setup(5) }, turns());
    play_debate(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("2.follow_up 0.judge 0.judge settled"), "{}", trace(&debate));
    assert_eq!(status::status(&debate).as_str(), "completed");
    let notices = status::notices(&debate).join("\n");
    assert!(notices.contains("round 2 brought no new claim"), "{notices}");
    assert_eq!(status::ending_advice(&debate), None);
}

#[test]
fn debate_without_open_claims_is_settled() {
    let turns = vec![
        uncited_speech("p1"),
        uncited_speech("c1>p1"),
        uncited_speech("p2>c1"),
        (speech("", &[], &["c1"]), vec![]),
    ];
    let debate = duel_with_turns(duel_setup(3), turns);
    // `c1` is resolved, but `p1` is still contested.
    assert_eq!(settled_reason(&debate, 2), None, "`p1` is still contested");
    let turns = vec![
        uncited_speech("p1"),
        uncited_speech("c1"),
        (speech("p2>c1", &[("c1", &claim_text("c1"))], &[]), vec![]),
        (speech("c2", &[], &["c1"]), vec![]),
        (speech("p3>c2", &[("c2", &claim_text("c2"))], &[]), vec![]),
    ];
    let mut debate = duel_with_turns(duel_setup(4), turns);
    let cue = play_until(&mut debate, 3, "follow_up");
    record_reply(&mut debate, cue, speech("", &[], &["c2"]));
    assert_eq!(settled_reason(&debate, 3), Some(SettledReason::NothingOpen));
}

#[test]
fn wrong_citation_supports_no_claim() {
    let missing_path =
        Citation { found: CitationStatus::NoSuchPath, ..exact_citation("p1", "gone.rs") };
    let turns =
        vec![(speech("p1 p2", &[], &[]), vec![missing_path.clone(), exact_citation("p2", "a.rs")])];
    let mut debate = duel_with_turns(duel_setup(1), turns);
    let ledger_entries = entries(&debate, Cue::END);
    assert_eq!(
        ledger_entries.iter().map(ledger::LedgerEntry::is_unsupported).collect::<Vec<_>>(),
        [true, false]
    );
    let tally = tally(&debate, Side::Pro);
    assert_eq!((tally.unsupported, tally.citations, tally.verified, tally.wrong), (1, 2, 1, 1));
    let cue = play_until(&mut debate, 0, "judge");
    let prompt_text = prompt::render(&debate, cue).text;
    assert!(
        prompt_text
            .contains("[checked: `p1`: 0 of 1 citation found as quoted; `gone.rs` no such path]")
    );
    assert!(
        prompt_text.contains("[checked: `p2`: 1 of 1 citation found as quoted]"),
        "{prompt_text}"
    );
}

#[test]
fn rigor_line_counts_checked_citations() {
    let unchecked = citation("https://example.org", CitationStatus::Unchecked);
    let debate =
        duel_with_turns(duel_setup(1), vec![(speech("p1", &[], &[]), vec![unchecked.clone()])]);
    assert_eq!(status::rigor(&debate), status::UNVERIFIED_RIGOR, "nothing could be looked up");
    let citations = vec![
        unchecked,
        exact_citation("p1", "a.rs"),
        citation("b.rs:1", CitationStatus::Ambiguous),
        citation("c.rs:1", CitationStatus::NoSuchPath),
    ];
    let debate = duel_with_turns(duel_setup(1), vec![(speech("p1", &[], &[]), citations)]);
    assert_eq!(
        status::rigor(&debate),
        "Structured perspective comparison (rules enforced in code; 3 citations, 1 verified, 1 \
         wrong, 1 ambiguous)"
    );
}

#[test]
fn sealed_answers_come_first_and_verdict_reports_the_change() {
    let setup = debate_setup(formats::with_sealed_answers(formats::duel()), 1);
    let mut debate = open_debate(setup);
    let first = play_until(&mut debate, 0, "answer");
    assert_eq!(debate.setup().act(first).name, "sealed answers");
    let cues: Vec<Cue> = crate::debate::next(&debate).open_cues().collect();
    assert_eq!(cues.len(), 2, "both seats are asked at once");
    for cue in &cues {
        assert!(!prompt::render(&debate, *cue).text.contains("Previous exchanges"));
    }
    record_reply(&mut debate, cues[0], speech("p1", &[], &[]));
    record_reply(&mut debate, cues[1], speech("c1", &[], &[]));
    let cue = play_until(&mut debate, 1, "propose");
    let prompt_text = prompt::render(&debate, cue).text;
    assert!(
        prompt_text.contains("p1 holds") && prompt_text.contains("c1 holds"),
        "now visible: {prompt_text}"
    );
    let judge = play_until(&mut debate, 0, "judge");
    let without_change = verdict_reply(Some(Side::Pro), 80, vec![cues[0]]);
    let findings = check_rules(&debate, judge, &without_change, &[]);
    assert!(findings.iter().any(|it| it.rule == Rule::SaysWhatChanged), "{findings:?}");
    let Body::Verdict(mut ruling) = without_change else { panic!() };
    ruling.changed = Some(DecisionChange { decision: true, because: "a.rs".into() });
    let complete = fill_required_fields(&debate, judge, Body::Verdict(ruling));
    assert!(check_rules(&debate, judge, &complete, &[]).is_empty());
}
