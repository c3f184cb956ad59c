//! Reports of a tribunal: summary, record, plan and JSON view. Also what every verdict states about
//! its confidence and its basis.
use super::assert_in_order;
use crate::debate::body::{AdmissionGrounds, BlindSpot, ClaimCheck, Foul, Novelty, RulingScores};
use crate::debate::{Body, Cue, Debate, HelpRequest, Role, Setup, Side, formats, round_marks};
use crate::report::{plan::render_plan, record::render_record, summary::render_summary};
use crate::report::{verdict::verdict_view, view::debate_view};
use crate::test_support::debate_fixture::{
    ask_open_turns, debate_setup, due_cues, open_debate, play_debate, play_to_end, play_until,
    record_reply, without_roles,
};
use crate::test_support::simulated_players::{equal_marks, valid_reply, verdict_reply};

/// A tribunal with three audience seats of two types, one of them with double weight.
fn tribunal_setup(roles: &[Role]) -> Setup {
    let mut setup = without_roles(debate_setup(formats::tribunal(), 7), roles);
    let kinds = ["risk-averse", "rational-logic", "risk-averse"];
    let seats = setup.seats.iter_mut().filter(|seat| seat.role == Role::Audience);
    for (seat, kind) in seats.zip(kinds) {
        seat.kind = kind.into();
    }
    setup.seats.iter_mut().filter(|seat| seat.name == "Ivy").for_each(|seat| seat.weight = 2);
    setup
}

fn verdict_with_scores(debate: &Debate, cue: Cue, pro: u8, con: u8) -> Body {
    let side = if pro > con { Side::Pro } else { Side::Con };
    let cites = debate.replies_before(cue).map(|(past, _)| past).take(1).collect();
    let Body::Verdict(mut ruling) = verdict_reply(Some(side), 70, cites) else { panic!() };
    ruling.scores = Some(RulingScores { pro, con });
    ruling.because = "Side A was clearer.".into();
    ruling.blind_spots = vec![
        BlindSpot { side: Side::Pro, text: "Side A forgot\n# editors.".into() },
        BlindSpot { side: Side::Con, text: "Side B forgot linters.".into() },
    ];
    Body::Verdict(ruling)
}

/// A played tribunal: a foul in round 2, a help request in round 3, an admitted petitioner, split
/// votes, and one vote lost to a timeout.
fn played_tribunal() -> Debate {
    let mut debate = open_debate(tribunal_setup(&[Role::Mirror]));
    let cue = play_until(&mut debate, 2, "score");
    let foul = Foul { side: Side::Con, kind: "off_topic".into(), note: "Side B | rambled.".into() };
    let score = |pro: u8, con: u8, fouls| Body::Score {
        pro: equal_marks(pro),
        con: equal_marks(con),
        fouls,
        comment: "Side A kept to P1.".into(),
    };
    record_reply(&mut debate, cue, score(80, 75, vec![foul]));
    let cue = play_until(&mut debate, 3, "argue");
    let mut body = valid_reply(&debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, from) = ("technical".into(), "Jan".into());
        *help = Some(HelpRequest { kind, from, because: "figures".into() });
    }
    record_reply(&mut debate, cue, body);
    let cue = play_until(&mut debate, 3, "admit");
    let grounds = AdmissionGrounds { new_information: true, ..AdmissionGrounds::default() };
    let because = "Side A needs\n## figures.".to_owned();
    record_reply(&mut debate, cue, Body::Ruling { admits: Some("Jan".into()), grounds, because });
    let cue = play_until(&mut debate, 0, "judge");
    let body = verdict_with_scores(&debate, cue, 72, 60);
    record_reply(&mut debate, cue, body);
    for (seat_index, side) in [(7, Some(Side::Con)), (8, Some(Side::Pro)), (9, None)] {
        ask_open_turns(&mut debate);
        let cue = due_cues(&debate).into_iter().find(|cue| cue.seat == seat_index).unwrap();
        if let Some(side) = side {
            let because = "Safer.\n# So.".into();
            record_reply(&mut debate, cue, Body::Vote { side, confidence: 60, because });
        } else {
            let failed = crate::test_support::simulated_players::failed_event(
                &debate,
                cue,
                crate::debate::FailureKind::TimedOut,
            );
            crate::test_support::debate_fixture::apply_events(&mut debate, [failed]);
        }
    }
    play_debate(&mut debate, &[], |_| false);
    debate
}

#[test]
fn tribunal_summary_lists_result_votes_and_conduct() {
    let debate = played_tribunal();
    let summary = render_summary(&debate);
    let verdict = verdict_view(&debate).unwrap();
    let court = verdict.court.clone().unwrap();
    assert_eq!(court.turning_round, round_marks::turning_round(&debate, verdict.side));
    assert_eq!(court.abstained, ["Jan (timed out)"]);
    assert_eq!((court.pro_help.asked, court.pro_help.granted), (1, 1));
    assert_eq!((court.con_help.asked, court.con_help.granted), (0, 0));
    let decisive = verdict.decisive.clone().unwrap();
    assert_eq!(decisive.side, Some(Side::Pro));
    let turning = format!("Key turning round: {}\n", court.turning_round.unwrap());
    let argument = format!("Decisive argument: `{}` (claude): ", decisive.claim);
    assert_in_order(
        &summary,
        &[
            "claude had the stronger argument because: claude was clearer.",
            "Decided: by marks, rulings and votes, weighed together.",
            "Confidence: ",
            "% (from the margin and the agreement of the rulings; the judge itself says 70%)",
            &turning,
            &argument,
            "Blind spots:\n- claude: claude forgot # editors.\n- codex: codex forgot linters.\n",
            "### Audience\n\n| Listeners | for claude | for codex |\n",
            "| risk-averse | 0 (weight 0) | 1 (weight 1) |\n",
            "| rational-logic | 1 (weight 2) | 0 (weight 0) |\n",
            "- Hal (weight 1) votes for codex, 60% sure: Safer. # So.\n",
            "- Ivy (weight 2) votes for claude, 60% sure: ",
            "- Abstained: Jan (timed out)\n",
            "### Rounds\n\n| Round | claude: given | fouls | reliance | counts | codex: given |",
            "| 2 | 8.00 | 0 | 0 | 8.00 | 7.50 | -2.00 | 0 | 5.50 |\n",
            "| 3 | 7.50 | 0 | -1.00 | 6.50 | 7.00 | 0 | 0 | 7.00 |\n",
            "### Weighed Result\n\n| Part | claude | codex | Counts |\n",
            "| Rounds, after fouls and reliance | ",
            "| Final rulings | 54.55% | 45.45% | half of the judge |\n",
            "| Judge | ",
            "| 50% |\n| Audience | 66.67% | 33.33% | 50% |\n| Total | ",
            "### Conduct\n\n- Foul in round 2: codex, off_topic: codex | rambled. (Kim)\n",
            "- Help: claude asked once and was granted once.\n- Help: codex never asked.",
            "- Let in, in round 3: Jan, for claude. claude needs ## figures.\n",
            "### Debate Quality",
        ],
    );
}

#[test]
fn even_total_names_the_tie_break() {
    let mut debate = open_debate(tribunal_setup(&[Role::Mirror, Role::Audience]));
    while let Some(cue) = due_cues(&debate).first().copied() {
        if debate.setup().phase(cue).name == "judge" {
            break;
        }
        let body = match valid_reply(&debate, cue) {
            Body::Score { comment, .. } => {
                Body::Score { pro: equal_marks(70), con: equal_marks(70), fouls: vec![], comment }
            }
            body => body,
        };
        record_reply(&mut debate, cue, body);
    }
    let cue = play_until(&mut debate, 0, "judge");
    let mut body = verdict_with_scores(&debate, cue, 61, 60);
    if let Body::Verdict(ruling) = &mut body {
        ruling.scores = Some(RulingScores { pro: 60, con: 60 });
    }
    record_reply(&mut debate, cue, body);
    play_debate(&mut debate, &[], |_| false);
    let summary = render_summary(&debate);
    assert_in_order(
        &summary,
        &[
            "Contested: the margin is small.\n- sides as seated: for claude (60 to 60, margin 0). ",
            "| Judge | 50.00% | 50.00% | 100% |\n| Total | 50.00% | 50.00% | 100% |\n",
            "\nThe total is even. Decided by a tie-break: ",
        ],
    );
    assert!(!summary.contains("### Audience"));
}

#[test]
fn panel_summary_lists_every_ruling() {
    let mut setup = without_roles(debate_setup(formats::duel(), 1), &[Role::Mirror]);
    for name in ["judge-2", "judge-3"] {
        let mut seat = setup.seats.iter().find(|seat| seat.role == Role::Judge).unwrap().clone();
        seat.name = name.into();
        setup.seats.push(seat);
    }
    let mut debate = open_debate(setup);
    play_until(&mut debate, 0, "judge");
    for (pro, con) in [(80, 50), (40, 60), (70, 55)] {
        let cue = due_cues(&debate)[0];
        let body = verdict_with_scores(&debate, cue, pro, con);
        record_reply(&mut debate, cue, body);
    }
    play_debate(&mut debate, &[], |_| false);
    assert_in_order(
        &render_summary(&debate),
        &[
            "Confidence: 50% (",
            "Panel: 2 of 3 judges are for claude.\n",
            "Contested: the judges do not agree.\n",
            "- Kim, sides as seated: for claude (80 to 50, margin 30). claude was clearer.\n",
            "- judge-2, sides as seated: for codex (40 to 60, margin 20). ",
            "- judge-3, sides as seated: for claude (70 to 55, margin 15). ",
        ],
    );
    assert!(render_record(&debate).contains("### Judge judge-2 (gemini)"));
}

#[test]
fn duel_summary_shows_confidence_and_claim_checks() {
    let mut debate = open_debate(debate_setup(formats::duel(), 1));
    play_until(&mut debate, 0, "judge");
    for (pro, con) in [(80, 50), (40, 60)] {
        let cue = due_cues(&debate)[0];
        let mut body = verdict_with_scores(&debate, cue, pro, con);
        if let Body::Verdict(ruling) = &mut body {
            let check = |side, claim: &str| ClaimCheck {
                side,
                claim: claim.into(),
                answered: true,
                supported: false,
                conceded: false,
            };
            ruling.checks = vec![check(Side::Pro, "Ada1"), check(Side::Con, "Bob1")];
            ruling.despite = "Side B | said so.".into();
        }
        record_reply(&mut debate, cue, body);
    }
    play_debate(&mut debate, &[], |_| false);
    let summary = render_summary(&debate);
    assert_in_order(
        &summary,
        &[
            "Confidence: 50% (from the margin and the agreement of the rulings; the judge itself says 70%)",
            "Contested: it depends on the order in which the sides were shown.\n",
            "- sides as seated: for claude (80 to 50, margin 30). claude was clearer.\n",
            "- sides swapped: for codex (40 to 60, margin 20). codex was clearer.\n",
            "| Claim | answered | supported | conceded |\n|---|---|---|---|\n",
            "| Ada1 (claude) | yes | no | no |\n| Bob1 (codex) | yes | no | no |\n",
            "Ruled otherwise than these answers say, because: codex | said so.\n",
        ],
    );
    assert!(!summary.contains("### Rounds") && !summary.contains("### Conduct"));
    let agreed = play_to_end(without_roles(debate_setup(formats::duel(), 1), &[]), &[]);
    let summary = render_summary(&agreed);
    assert!(summary.contains("Confidence: ") && !summary.contains("Panel:"), "{summary}");
}

#[test]
fn record_shows_scores_petitions_admissions_and_votes() {
    let debate = played_tribunal();
    let record = render_record(&debate);
    assert_in_order(
        &record,
        &[
            "## Round 2\n",
            "### Judge (gemini)\n\n| Side | logic | rebuttal | clarity | evidence | Fouls |\n",
            "| claude | 8.0 | 8.0 | 8.0 | 8.0 | none |\n",
            "| codex | 7.5 | 7.5 | 7.5 | 7.5 | off_topic: codex \\| rambled. |\n",
            "\nclaude kept to P1.\n",
            "## Round 3\n",
            "> Calls Jan (technical): figures\n",
            "### Hal (gemini)\n\nAsks to speak for claude, with something new, 50% sure: me\n",
            "### Judge (gemini)\n\nAdmits Jan: claude needs ## figures. (new information: yes; no repetition: no;",
            "### Jan (gemini)\n",
            "### Hal (gemini)\n\nVotes for codex, 60% sure: Safer. # So.\n",
            "### Jan (gemini)\n\n[INCOMPLETE] timed out: down\n",
        ],
    );
    let mut second_debate = open_debate(tribunal_setup(&[]));
    let cue = play_until(&mut second_debate, 3, "petition");
    let (claim, novelty) = (String::new(), Novelty::New);
    record_reply(
        &mut second_debate,
        cue,
        Body::Petition { supports: None, claim, novelty, confidence: 0 },
    );
    let cue = play_until(&mut second_debate, 3, "admit");
    let because = "Nothing new.".into();
    record_reply(
        &mut second_debate,
        cue,
        Body::Ruling { admits: None, grounds: AdmissionGrounds::default(), because },
    );
    assert_in_order(
        &self::render_record(&second_debate),
        &["Does not ask to speak.\n", "Admits nobody: Nothing new.\n"],
    );
}

#[test]
fn json_view_has_marks_votes_and_structured_replies() {
    let debate = played_tribunal();
    let view = serde_json::to_value(debate_view(&debate)).unwrap();
    assert_eq!(view["v"], 1);
    assert_eq!(view["rounds_marked"][1]["con"]["fouls"], 200);
    let vote = &view["votes"][1];
    let field = |name: &str| vote[name].clone();
    assert_eq!((field("seat"), field("type")), ("Ivy".into(), "rational-logic".into()));
    assert_eq!((field("vote"), field("weight")), ("pro".into(), 2.into()));
    let turns = view["turns"].as_array().unwrap();
    let score = turns.iter().find(|turn| turn["kind"] == "score").unwrap();
    assert_eq!(score["paper"]["pro"]["logic"], 75);
    assert!(
        turns.iter().all(|turn| (turn["kind"] == "speech") == turn["paper"].is_null()
            || !turn["failure"].is_null())
    );
    for absent in ["outcome", "insights", "report", "learned", "terms"] {
        assert!(view.get(absent).is_none(), "{absent}");
    }
    let duel = serde_json::to_value(self::debate_view(&play_to_end(
        debate_setup(formats::duel(), 1),
        &[],
    )))
    .unwrap();
    assert!(duel.get("votes").is_none() && duel["verdict"].get("court").is_none());
}

#[test]
fn unfinished_tribunal_shows_its_marks() {
    let mut debate = open_debate(tribunal_setup(&[]));
    play_until(&mut debate, 3, "argue");
    assert_in_order(&render_summary(&debate), &["No verdict yet.", "### Rounds", "| 2 | 7.50 |"]);
    let plan = render_plan(&debate);
    assert_in_order(
        &plan,
        &[
            "| Ada | Proposer | claude |",
            "Listeners: 3 (risk-averse: gemini, gemini; rational-logic: gemini)\n",
            "Rounds: 7 (14 speeches in rounds: stances 1-2, confrontation 3, key battle 4-5,",
            "then 2 rulings, the sides swapped in one, and a vote)\n",
        ],
    );
    assert!(!plan.contains("Lou"), "{plan}");
}
