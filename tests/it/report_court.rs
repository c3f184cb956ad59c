//! Reports of a tribunal: summary, record, plan and JSON view. Also what every verdict states about
//! its confidence and its basis.
use crate::players::{good, marks, ruling};
use crate::report_research::in_order;
use crate::scene::{due, open, played, put, run, say, setup, until, without};
use debate_mcp::debate::body::{
    AdmissionGrounds, BlindSpot, ClaimCheck, Foul, Novelty, RulingScores,
};
use debate_mcp::debate::{Body, Cue, Debate, HelpRequest, Role, Setup, Side, formats, round_marks};
use debate_mcp::report::{plan::render_plan, record::render_record, summary::render_summary};
use debate_mcp::report::{verdict::verdict_view, view::debate_view};

/// A tribunal with three audience seats of two types, one of them with double weight.
fn court(roles: &[Role]) -> Setup {
    let mut setup = without(setup(formats::tribunal(), 7), roles);
    let kinds = ["risk-averse", "rational-logic", "risk-averse"];
    let seats = setup.seats.iter_mut().filter(|seat| seat.role == Role::Audience);
    for (seat, kind) in seats.zip(kinds) {
        seat.kind = kind.into();
    }
    setup.seats.iter_mut().filter(|seat| seat.name == "Ivy").for_each(|seat| seat.weight = 2);
    setup
}

fn judged(debate: &Debate, cue: Cue, pro: u8, con: u8) -> Body {
    let side = if pro > con { Side::Pro } else { Side::Con };
    let cites = debate.replies_before(cue).map(|(past, _)| past).take(1).collect();
    let Body::Verdict(mut said) = ruling(Some(side), 70, cites) else { panic!() };
    said.scores = Some(RulingScores { pro, con });
    said.because = "Side A was clearer.".into();
    said.blind_spots = vec![
        BlindSpot { side: Side::Pro, text: "Side A forgot\n# editors.".into() },
        BlindSpot { side: Side::Con, text: "Side B forgot linters.".into() },
    ];
    Body::Verdict(said)
}

/// A played tribunal: a foul in round 2, a help request in round 3, an admitted petitioner, split
/// votes, and one vote lost to a timeout.
fn held() -> Debate {
    let mut debate = open(court(&[Role::Mirror]));
    let cue = until(&mut debate, 2, "score");
    let foul = Foul { side: Side::Con, kind: "off_topic".into(), note: "Side B | rambled.".into() };
    let score = |pro: u8, con: u8, fouls| Body::Score {
        pro: marks(pro),
        con: marks(con),
        fouls,
        comment: "Side A kept to P1.".into(),
    };
    say(&mut debate, cue, score(80, 75, vec![foul]));
    let cue = until(&mut debate, 3, "argue");
    let mut body = good(&debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, from) = ("technical".into(), "Jan".into());
        *help = Some(HelpRequest { kind, from, because: "figures".into() });
    }
    say(&mut debate, cue, body);
    let cue = until(&mut debate, 3, "admit");
    let grounds = AdmissionGrounds { new_information: true, ..AdmissionGrounds::default() };
    let because = "Side A needs\n## figures.".to_owned();
    say(&mut debate, cue, Body::Ruling { admits: Some("Jan".into()), grounds, because });
    let cue = until(&mut debate, 0, "judge");
    let body = judged(&debate, cue, 72, 60);
    say(&mut debate, cue, body);
    for (nth, side) in [(7, Some(Side::Con)), (8, Some(Side::Pro)), (9, None)] {
        put(&mut debate);
        let cue = due(&debate).into_iter().find(|cue| cue.seat == nth).unwrap();
        if let Some(side) = side {
            let because = "Safer.\n# So.".into();
            say(&mut debate, cue, Body::Vote { side, confidence: 60, because });
        } else {
            let lost =
                crate::players::failed(&debate, cue, debate_mcp::debate::FailureKind::TimedOut);
            crate::scene::apply(&mut debate, [lost]);
        }
    }
    run(&mut debate, &[], |_| false);
    debate
}

#[test]
fn a_court_says_who_won_where_it_turned_and_who_saw_it_otherwise() {
    let debate = held();
    let told = render_summary(&debate);
    let ruled = verdict_view(&debate).unwrap();
    let court = ruled.court.clone().unwrap();
    assert_eq!(court.turning_round, round_marks::turning_round(&debate, ruled.side));
    assert_eq!(court.abstained, ["Jan (timed out)"]);
    assert_eq!((court.pro_help.asked, court.pro_help.granted), (1, 1));
    assert_eq!((court.con_help.asked, court.con_help.granted), (0, 0));
    let decisive = ruled.decisive.clone().unwrap();
    assert_eq!(decisive.side, Some(Side::Pro));
    let turning = format!("Key turning round: {}\n", court.turning_round.unwrap());
    let argument = format!("Decisive argument: `{}` (claude): ", decisive.claim);
    in_order(
        &told,
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
fn an_even_total_names_the_rule_that_decided() {
    let mut debate = open(court(&[Role::Mirror, Role::Audience]));
    while let Some(cue) = due(&debate).first().copied() {
        if debate.setup().phase(cue).name == "judge" {
            break;
        }
        let body = match good(&debate, cue) {
            Body::Score { comment, .. } => {
                Body::Score { pro: marks(70), con: marks(70), fouls: vec![], comment }
            }
            body => body,
        };
        say(&mut debate, cue, body);
    }
    let cue = until(&mut debate, 0, "judge");
    let mut body = judged(&debate, cue, 61, 60);
    if let Body::Verdict(ruling) = &mut body {
        ruling.scores = Some(RulingScores { pro: 60, con: 60 });
    }
    say(&mut debate, cue, body);
    run(&mut debate, &[], |_| false);
    let told = render_summary(&debate);
    in_order(
        &told,
        &[
            "Contested: the margin is small.\n- sides as seated: for claude (60 to 60, margin 0). ",
            "| Judge | 50.00% | 50.00% | 100% |\n| Total | 50.00% | 50.00% | 100% |\n",
            "\nThe total is even. Decided by a tie-break: ",
        ],
    );
    assert!(!told.contains("### Audience"));
}

#[test]
fn a_panel_shows_every_ruling_and_how_it_is_split() {
    let mut setup = without(setup(formats::duel(), 1), &[Role::Mirror]);
    for name in ["judge-2", "judge-3"] {
        let mut seat = setup.seats.iter().find(|seat| seat.role == Role::Judge).unwrap().clone();
        seat.name = name.into();
        setup.seats.push(seat);
    }
    let mut debate = open(setup);
    until(&mut debate, 0, "judge");
    for (pro, con) in [(80, 50), (40, 60), (70, 55)] {
        let cue = due(&debate)[0];
        let body = judged(&debate, cue, pro, con);
        say(&mut debate, cue, body);
    }
    run(&mut debate, &[], |_| false);
    in_order(
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
fn a_duel_says_how_sure_it_is_and_what_was_asked_about_claims() {
    let mut debate = open(setup(formats::duel(), 1));
    until(&mut debate, 0, "judge");
    for (pro, con) in [(80, 50), (40, 60)] {
        let cue = due(&debate)[0];
        let mut body = judged(&debate, cue, pro, con);
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
        say(&mut debate, cue, body);
    }
    run(&mut debate, &[], |_| false);
    let told = render_summary(&debate);
    in_order(
        &told,
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
    assert!(!told.contains("### Rounds") && !told.contains("### Conduct"));
    let agreed = played(without(setup(formats::duel(), 1), &[]), &[]);
    let told = render_summary(&agreed);
    assert!(told.contains("Confidence: ") && !told.contains("Panel:"), "{told}");
}

#[test]
fn papers_can_be_read_in_the_record() {
    let debate = held();
    let record = render_record(&debate);
    in_order(
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
    let mut other = open(court(&[]));
    let cue = until(&mut other, 3, "petition");
    let (claim, novelty) = (String::new(), Novelty::New);
    say(&mut other, cue, Body::Petition { supports: None, claim, novelty, confidence: 0 });
    let cue = until(&mut other, 3, "admit");
    let because = "Nothing new.".into();
    say(
        &mut other,
        cue,
        Body::Ruling { admits: None, grounds: AdmissionGrounds::default(), because },
    );
    in_order(
        &self::render_record(&other),
        &["Does not ask to speak.\n", "Admits nobody: Nothing new.\n"],
    );
}

#[test]
fn programs_are_given_marks_votes_and_papers() {
    let debate = held();
    let view = serde_json::to_value(debate_view(&debate)).unwrap();
    assert_eq!(view["v"], 1);
    assert_eq!(view["rounds_marked"][1]["con"]["fouls"], 200);
    let vote = &view["votes"][1];
    let of = |name: &str| vote[name].clone();
    assert_eq!((of("seat"), of("type")), ("Ivy".into(), "rational-logic".into()));
    assert_eq!((of("vote"), of("weight")), ("pro".into(), 2.into()));
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
    let duel =
        serde_json::to_value(self::debate_view(&played(setup(formats::duel(), 1), &[]))).unwrap();
    assert!(duel.get("votes").is_none() && duel["verdict"].get("court").is_none());
}

#[test]
fn a_court_under_way_shows_its_marks() {
    let mut debate = open(court(&[]));
    until(&mut debate, 3, "argue");
    in_order(&render_summary(&debate), &["No verdict yet.", "### Rounds", "| 2 | 7.50 |"]);
    let plan = render_plan(&debate);
    in_order(
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
