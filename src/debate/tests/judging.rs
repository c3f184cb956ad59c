//! Rulings: claim checks against the record, required fields, blind prompts (no tool names or
//! scores, normalized style, swapped side labels for the mirror), and judge panels.
use crate::debate::body::{BlindSpot, ClaimCheck};
use crate::debate::verdict::{ContestReason, VerdictBasis, judgment, leading_ruling};
use crate::debate::{
    Body, Citation, CitationStatus, Cue, Debate, Event, Format, JudgeRuling, Participant, Role,
    Rule, RuleWeight, Seat, Setup, Side, TranscriptScope, check_rules, formats,
};
use crate::test_support::debate_fixture::{
    apply_events, ask_open_turns, citation, debate_setup, due_cues, open_debate, play_debate,
    play_until, record_reply, record_reply_with, speech, without_roles,
};
use crate::test_support::simulated_players::{
    fill_required_fields, refused_event, render_prompt, reply_event, valid_reply, verdict_reply,
};
use Rule::{ChecksClaims, FollowsChecks, NamesBlindSpots, NamesDecisive};

/// A duel at its verdict: P claims `p`. C answers it with `c` and raises `d` and `e`. P concedes
/// `d`, adds `q` with a wrong citation and `r`, which is never answered. C certifies `e` resolved.
fn duel_at_verdict() -> (Debate, Cue) {
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    let turn = |debate: &mut Debate, round, phase: &str, body: Body, cites: Vec<Citation>| {
        let cue = play_until(debate, round, phase);
        record_reply_with(debate, cue, body, cites);
    };
    turn(&mut debate, 1, "propose", speech("p", &[], &[]), vec![]);
    turn(&mut debate, 1, "challenge", speech("c>p d e", &[], &[]), vec![]);
    let wrong_citation =
        Citation { claim: Some("q".into()), ..citation("x.rs:1", CitationStatus::NoSuchPath) };
    let defence = speech("q>c r", &[("d", "d holds")], &[]);
    turn(&mut debate, 2, "defend", defence, vec![wrong_citation]);
    turn(&mut debate, 2, "follow_up", speech("f>q", &[], &["e"]), vec![]);
    let judge = play_until(&mut debate, 0, "judge");
    (debate, judge)
}

/// A ruling for a side that checks every contested claim, with this edit applied.
fn edited_ruling(
    (debate, cue): &(Debate, Cue),
    side: Side,
    edit: impl Fn(&mut JudgeRuling),
) -> Body {
    let first = debate.turns().next().unwrap().0;
    let body = fill_required_fields(debate, *cue, verdict_reply(Some(side), 80, vec![first]));
    let Body::Verdict(mut ruling) = body else { panic!() };
    ruling.despite.clear();
    edit(&mut ruling);
    Body::Verdict(ruling)
}

fn check_of_claim<'a>(ruling: &'a mut JudgeRuling, id: &str) -> &'a mut ClaimCheck {
    ruling.checks.iter_mut().find(|check| check.claim == id).unwrap()
}

type RulingEdit = fn(&mut JudgeRuling);

#[test]
fn ruling_must_check_every_contested_claim() {
    let at_verdict = duel_at_verdict();
    let table: &[(&str, RulingEdit, &str)] = &[
        ("unedited", |_| {}, ""),
        ("no checks", |it| it.checks.clear(), "`checks` has no entry for `p` of side A"),
        (
            "one is missing",
            |it| it.checks.retain(|check| check.claim != "r"),
            "`checks` has no entry for `r` of side A",
        ),
        (
            "a check with the wrong side",
            |it| check_of_claim(it, "c").side = Side::Pro,
            "`checks` has no entry for `c` of side B",
        ),
        (
            "a claim nobody made",
            |it| {
                let mut extra = it.checks[0].clone();
                extra.claim = "z".into();
                it.checks.push(extra);
            },
            "`z` is no claim of side A",
        ),
        (
            "supported by a wrong citation",
            |it| check_of_claim(it, "q").supported = true,
            "`q` of side A: none of its citations was found",
        ),
        ("supported by an unchecked citation", |it| check_of_claim(it, "p").supported = true, ""),
        (
            "concession denied",
            |it| check_of_claim(it, "d").conceded = false,
            "`d` of side B was conceded, as the record shows",
        ),
        ("conceded in prose only", |it| check_of_claim(it, "r").conceded = true, ""),
    ];
    for (name, edit, message) in table {
        let body = edited_ruling(&at_verdict, Side::Con, edit);
        let findings = check_rules(&at_verdict.0, at_verdict.1, &body, &[]);
        let findings: Vec<(Rule, RuleWeight, &str)> =
            findings.iter().map(|it| (it.rule, it.weight, it.says.as_str())).collect();
        let expected = if message.is_empty() {
            vec![]
        } else {
            vec![(ChecksClaims, RuleWeight::Mend, *message)]
        };
        assert_eq!(findings, expected, "{name}");
    }
    // A claim certified as resolved is settled, so checking it is optional.
    let Body::Verdict(ruling) = edited_ruling(&at_verdict, Side::Con, |_| {}) else { panic!() };
    let ids: Vec<&str> = ruling.checks.iter().map(|check| check.claim.as_str()).collect();
    assert_eq!(ids, ["p", "c", "q", "d", "r", "f"], "contested, conceded, never taken up");
}

#[test]
fn mirror_findings_use_the_swapped_labels() {
    let (debate, judge) = duel_at_verdict();
    let mirror = Cue { seat: 11, ..judge };
    let body = edited_ruling(&(debate.clone(), mirror), Side::Con, |it| it.checks.clear());
    let findings = check_rules(&debate, mirror, &body, &[]);
    assert_eq!(findings[0].says, "`checks` has no entry for `p` of side B");
}

#[test]
fn ruling_against_its_own_checks_needs_a_reason() {
    let at_verdict = duel_at_verdict();
    // Standing claims besides `d`, the winner, the reason given, and whether the ruling is refused.
    for (standing, winner, despite, is_refused) in [
        (&[][..], Side::Con, "", false),
        (&[], Side::Pro, "", true),
        (&[], Side::Pro, " ", true),
        (&[], Side::Pro, "`d` weighs little", false),
        (&["p"], Side::Pro, "", false), // A tie.
        (&["p"], Side::Con, "", false),
        (&["p", "r"], Side::Pro, "", false),
        (&["p", "r"], Side::Con, "", true),
        (&["p", "r"], Side::Con, "both rest on `c`", false),
        (&["f", "c"], Side::Pro, "", true),
    ] {
        let body = edited_ruling(&at_verdict, winner, |it| {
            for id in standing {
                let check = check_of_claim(it, id);
                (check.supported, check.answered) = (true, false);
            }
            it.despite = despite.into();
        });
        let rules: Vec<Rule> =
            check_rules(&at_verdict.0, at_verdict.1, &body, &[]).iter().map(|it| it.rule).collect();
        let expected = if is_refused { &[FollowsChecks][..] } else { &[] };
        assert_eq!(rules, expected, "{standing:?} {winner:?} {despite:?}");
    }
}

#[test]
fn incomplete_ruling_is_retried_once_then_recorded_as_foul() {
    let (mut debate, judge) = duel_at_verdict();
    let without_checks = edited_ruling(&(debate.clone(), judge), Side::Con, |it| it.checks.clear());
    ask_open_turns(&mut debate);
    let findings = reply_event(&debate, judge, without_checks.clone()).unwrap_err();
    assert_eq!(findings[0].weight, RuleWeight::Mend);
    let rejection = refused_event(&debate, judge, findings);
    apply_events(&mut debate, [rejection]);
    let Event::Spoke { reply, .. } = reply_event(&debate, judge, without_checks.clone()).unwrap()
    else {
        panic!()
    };
    assert_eq!(
        (reply.findings[0].rule, reply.findings[0].weight),
        (ChecksClaims, RuleWeight::Foul)
    );
    // An invalid ruling is refused on the second attempt, too.
    let without_winner = edited_ruling(&(debate.clone(), judge), Side::Con, |it| it.side = None);
    assert!(reply_event(&debate, judge, without_winner).is_err());
    // A human's reply is accepted at the first attempt.
    let mut setup = debate_setup(formats::duel(), 1);
    setup.seats[10].voice = Participant::Human;
    let mut debate = open_debate(setup);
    let judge = Cue { seat: 10, ..play_until(&mut debate, 0, "judge") };
    let first = debate.turns().next().unwrap().0;
    assert!(reply_event(&debate, judge, verdict_reply(Some(Side::Pro), 80, vec![first])).is_ok());
}

#[test]
fn tribunal_ruling_names_decisive_claim_and_blind_spots() {
    let mut debate = open_debate(debate_setup(formats::tribunal(), 3));
    let judge = play_until(&mut debate, 0, "judge");
    let at_verdict = (debate, judge);
    let table: &[(&str, RulingEdit, &[Rule])] = &[
        ("unedited", |_| {}, &[]),
        ("no decisive claim", |it| it.decisive = None, &[NamesDecisive]),
        ("empty", |it| it.decisive = Some(" ".into()), &[NamesDecisive]),
        ("a claim of the loser", |it| it.decisive = Some("Bob1".into()), &[NamesDecisive]),
        ("an unknown claim", |it| it.decisive = Some("Ada99".into()), &[NamesDecisive]),
        ("another of the winner's", |it| it.decisive = Some("Ada2".into()), &[]),
        ("no blind spots", |it| it.blind_spots.clear(), &[NamesBlindSpots]),
        ("of one side only", |it| it.blind_spots.truncate(1), &[NamesBlindSpots]),
        (
            "without words",
            |it| it.blind_spots[1] = BlindSpot { side: Side::Con, text: " ".into() },
            &[NamesBlindSpots],
        ),
    ];
    for (name, edit, expected) in table {
        let body = edited_ruling(&at_verdict, Side::Pro, edit);
        let rules: Vec<Rule> =
            check_rules(&at_verdict.0, at_verdict.1, &body, &[]).iter().map(|it| it.rule).collect();
        assert_eq!(rules, *expected, "{name}");
    }
}

/// A setup with this template as every prompt.
fn setup_with_template(format: Format, rounds: u8, template: &str) -> Setup {
    let mut setup = debate_setup(format, rounds);
    setup.prompts.values_mut().for_each(|prompt| *prompt = template.into());
    setup
}

#[test]
fn style_is_normalized_only_for_judges_and_voters() {
    let mut debate =
        open_debate(setup_with_template(formats::tribunal(), 3, "{{heard}}\n\n{{claims}}"));
    let first = due_cues(&debate)[0];
    let mut body = valid_reply(&debate, first);
    if let Body::Speech { text, claims, .. } = &mut body {
        *text = "# Why\n\n**Tabs** are *short*!!! 🚀 `**code**` stays.".into();
        claims[0].text = "**Tabs** are short 🚀".into();
    }
    record_reply(&mut debate, first, body);
    let style_marks =
        |text: &str| ["**Tabs**", "🚀", "# Why", "*short*"].map(|mark| text.contains(mark));
    let opponent = play_until(&mut debate, 1, "argue");
    assert_eq!(
        style_marks(&render_prompt(&debate, opponent)),
        [true; 4],
        "an opponent sees the original text"
    );
    for (round, phase) in [(1, "score"), (0, "judge"), (0, "vote")] {
        play_until(&mut debate, round, phase);
        for cue in due_cues(&debate) {
            let text = render_prompt(&debate, cue);
            assert_eq!(style_marks(&text), [false; 4], "{phase}: {text}");
            for words in ["Tabs are short!", "Why", "`**code**` stays."] {
                assert!(text.contains(words), "{phase}: every word stays: {text}");
            }
        }
    }
}

#[test]
fn audience_prompts_hide_tools_and_scores() {
    let mut debate = open_debate(setup_with_template(
        formats::tribunal(),
        10,
        "{{heard}}\n\n{{claims}}\n\n{{checks}}",
    ));
    for (round, phase) in [(3, "petition"), (3, "address"), (0, "vote")] {
        play_until(&mut debate, round, phase);
        for cue in due_cues(&debate) {
            let text = render_prompt(&debate, cue);
            for name in
                ["claude", "codex", "gemini", "logic", "7.5", "Does not ask", "Asks to speak"]
            {
                assert!(!text.contains(name), "{phase}: `{name}` in {text}");
            }
            assert!(text.contains("Side Pro") && text.contains("Side Con"), "{phase}: {text}");
        }
    }
}

#[test]
fn structured_replies_use_the_labels_of_the_reader() {
    // No built-in format shows a mirror scores or petitions. If one did, labels must stay swapped.
    let mut setup = setup_with_template(formats::tribunal(), 7, "{{heard}}");
    for phase in setup.format.acts.iter_mut().flat_map(|act| &mut act.phases) {
        if phase.name == "judge" {
            phase.hears = TranscriptScope::Everything;
        }
    }
    let mut debate = open_debate(setup);
    let judge = play_until(&mut debate, 0, "judge");
    for (seat, pro, con) in [(10, "Side A", "Side B"), (11, "Side B", "Side A")] {
        let text = render_prompt(&debate, Cue { seat, ..judge });
        assert!(text.contains(&format!("Asks to speak for {pro}, with something new")), "{text}");
        assert!(!text.contains(&format!("Asks to speak for {con}")), "{text}");
        let marks = |side: &str, mark: &str| {
            format!("{side}: clarity {mark}, evidence {mark}, logic {mark}, rebuttal {mark}")
        };
        assert!(text.contains(&marks(pro, "7.5")) && text.contains(&marks(con, "7.0")), "{text}");
        for name in ["claude", "codex", "gemini"] {
            assert!(!text.contains(name), "`{name}` in {text}");
        }
    }
}

#[test]
fn final_ruling_prompt_hides_round_scores() {
    let mut debate = open_debate(setup_with_template(formats::tribunal(), 7, "{{heard}}"));
    play_until(&mut debate, 0, "judge");
    for cue in due_cues(&debate) {
        let text = render_prompt(&debate, cue);
        assert!(!text.contains("7.5") && !text.contains("Asks to speak"), "{text}");
    }
}

#[test]
fn panel_majority_wins_and_its_first_judge_leads() {
    let mut panel = debate_setup(formats::duel(), 1);
    for (name, role) in [("Kit", Role::Judge), ("Lex", Role::Mirror)] {
        panel.seats.push(Seat { name: name.into(), role, ..panel.seats[10].clone() });
    }
    let mut debate = open_debate(panel);
    play_until(&mut debate, 0, "judge");
    let cues = due_cues(&debate);
    let seats: Vec<&str> = cues.iter().map(|cue| debate.seat(*cue).name.as_str()).collect();
    assert_eq!(seats, ["Kim", "Lou", "Kit", "Lex"]);
    let labels: Vec<_> = cues.iter().map(|cue| debate.side_label(*cue, Side::Pro)).collect();
    assert_eq!(labels, [Some("A"), Some("B"), Some("A"), Some("B")]);
    let first = debate.turns().next().unwrap().0;
    for (cue, side) in cues.iter().zip([Side::Pro, Side::Con, Side::Con, Side::Con]) {
        record_reply(&mut debate, *cue, verdict_reply(Some(side), 80, vec![first]));
    }
    play_debate(&mut debate, &[], |_| false);
    let judgment = judgment(&debate).unwrap();
    assert_eq!((judgment.winner, judgment.basis), (Side::Con, VerdictBasis::Majority));
    assert_eq!(judgment.contest_reasons, [ContestReason::Order, ContestReason::Panel]);
    assert_eq!(
        leading_ruling(&debate, Side::Con).unwrap().0,
        cues[2],
        "the first judge of the majority who is no mirror"
    );
    assert_eq!(leading_ruling(&debate, Side::Pro).unwrap().0, cues[0]);
    let unplayed = open_debate(without_roles(debate_setup(formats::duel(), 1), &[Role::Mirror]));
    assert!(crate::debate::verdict::judgment(&unplayed).is_none());
}
