//! Which debates count for the ratings, and the reasons why others do not.
use crate::debate::Status;
use crate::debate::body::RulingScores;
use crate::debate::{
    Amendment, Body, Cue, Debate, Event, Origin, Participant, Role, Setup, Side, Step, formats,
    next,
};
use crate::engine::DebateCard;
use crate::rating::agreement::DebateRulings;
use crate::rating::eligibility::{check_card, to_rated_game};
use crate::rating::{GameScore, UnratedReason};
use crate::test_support::debate_fixture::{
    Rng, apply_events, arena_with_forfeit, ask_open_turns, debate_setup, due_cues,
    model_participant, open_debate, play_debate, play_to_end, play_until, record_reply,
};
use crate::test_support::simulated_players::{reply_event, valid_reply, verdict_reply};

fn duel() -> Setup {
    debate_setup(formats::duel(), 1)
}

fn duel_with_participant(role: Role, participant: &Participant) -> Setup {
    let mut setup = duel();
    setup
        .seats
        .iter_mut()
        .filter(|seat| seat.role == role)
        .for_each(|it| it.voice = participant.clone());
    setup
}

/// Plays to the end; `model` gives the model that each reply reports.
fn play_reporting_models(setup: Setup, model: impl Fn(&Debate, Cue) -> Option<String>) -> Debate {
    let mut debate = open_debate(setup);
    loop {
        let event = match next(&debate) {
            Step::Done => return debate,
            Step::Close(outcome) => Event::Closed { outcome },
            Step::Hold { next, .. } => Event::Continued { before: next.position() },
            Step::Speak { .. } => {
                ask_open_turns(&mut debate);
                let cue = due_cues(&debate)[0];
                let mut event = reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap();
                if let Event::Spoke { reply, .. } = &mut event {
                    reply.envelope.model_reported = model(&debate, cue);
                }
                event
            }
        };
        apply_events(&mut debate, [event]);
    }
}

/// A duel with rulings by the judge and its mirror, each with this margin.
fn duel_with_rulings(rulings: [Side; 2], margin: u8) -> Debate {
    let mut debate = open_debate(duel());
    let judge = play_until(&mut debate, 0, "judge");
    let first = debate.turns().next().unwrap().0;
    for (side, seat) in rulings.into_iter().zip([10, 11]) {
        let Body::Verdict(mut body) = verdict_reply(Some(side), 80, vec![first]) else { panic!() };
        body.scores = Some(match side {
            Side::Pro => RulingScores { pro: 50 + margin, con: 50 },
            Side::Con => RulingScores { pro: 50, con: 50 + margin },
        });
        record_reply(&mut debate, Cue { seat, ..judge }, Body::Verdict(body));
    }
    play_debate(&mut debate, &[], |_| false);
    debate
}

#[test]
fn completed_debate_is_rated_under_both_participants() {
    for side in [Side::Pro, Side::Con] {
        let debate = duel_with_rulings([side; 2], 30);
        let rated = to_rated_game(&debate).unwrap();
        assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("claude", "codex"));
        assert_eq!(rated.score, if side == Side::Pro { GameScore::Pro } else { GameScore::Con });
        assert_eq!(rated.motion, "Tabs or spaces?");
        assert!(!rated.biased_judge);
        let rulings = DebateRulings::from_debate(&debate);
        assert_eq!(rulings.judges, [("gemini".to_owned(), side, Some(side))]);
        assert_eq!((rulings.verdict, rulings.audience), (Some(side), None));
    }
}

#[test]
fn contested_verdict_counts_as_a_draw() {
    assert_eq!(
        to_rated_game(&duel_with_rulings([Side::Pro, Side::Con], 30)).unwrap().score,
        GameScore::Draw,
        "contested by order"
    );
    assert_eq!(
        to_rated_game(&duel_with_rulings([Side::Con; 2], 5)).unwrap().score,
        GameScore::Draw,
        "contested by its margin"
    );
}

#[test]
fn reported_model_names_the_entrant() {
    let reported_model = |debate: &Debate, cue: Cue| match debate.seat(cue).role {
        Role::Pro => Some("claude-big".to_owned()),
        Role::Con => None,
        _ => Some("judge-x".to_owned()),
    };
    let debate = play_reporting_models(duel(), reported_model);
    let rated = to_rated_game(&debate).unwrap();
    assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("claude:claude-big", "codex"));
    assert_eq!(DebateRulings::from_debate(&debate).judges[0].0, "gemini:judge-x");
}

#[test]
fn model_against_itself_is_not_rated() {
    let same_model = |_: &Debate, _: Cue| Some("big".to_owned());
    assert_eq!(
        to_rated_game(&play_reporting_models(duel(), same_model)),
        Err(UnratedReason::SingleModel),
        "two tools, one model"
    );
    let with_vendor_prefix = |debate: &Debate, cue: Cue| {
        let role = debate.seat(cue).role;
        Some(if role == Role::Pro { "vendor/Big".to_owned() } else { "big".into() })
    };
    assert_eq!(
        to_rated_game(&play_reporting_models(duel(), with_vendor_prefix)),
        Err(UnratedReason::SingleModel),
        "one model under two names"
    );
    for (pro, con) in [("claude", "claude"), ("claude:a", "claude"), ("claude", "claude:b")] {
        let mut setup = duel_with_participant(Role::Pro, &pro.parse().unwrap());
        setup.seats[1].voice = con.parse().unwrap();
        assert_eq!(
            to_rated_game(&play_to_end(setup.clone(), &[])),
            Err(UnratedReason::SingleModel),
            "{pro} {con}"
        );
    }
    let mut setup = duel_with_participant(Role::Pro, &"claude:a".parse().unwrap());
    setup.seats[1].voice = "claude:b".parse().unwrap();
    assert!(to_rated_game(&play_to_end(setup, &[])).is_ok(), "two models of one tool are rated");
}

#[test]
fn side_that_changed_its_model_is_not_rated() {
    let model_per_round = |_: &Debate, cue: Cue| Some(format!("big-{}", cue.round));
    let debate = play_reporting_models(debate_setup(formats::duel(), 2), model_per_round);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::ModelChanged));
}

#[test]
fn scripts_and_demo_are_not_rated_in_any_seat() {
    for role in [Role::Pro, Role::Con, Role::Judge, Role::Mirror] {
        let script = duel_with_participant(role, &"script:a.json".parse().unwrap());
        assert_eq!(
            to_rated_game(&play_to_end(script, &[])),
            Err(UnratedReason::Scripted),
            "{role:?}"
        );
        assert_eq!(
            to_rated_game(&play_to_end(
                duel_with_participant(role, &model_participant("demo")),
                &[]
            )),
            Err(UnratedReason::Demo),
            "{role:?}"
        );
    }
}

#[test]
fn incomplete_debate_is_not_rated() {
    let rate_with_failures =
        |failing_turns: &[&str]| to_rated_game(&play_to_end(duel(), failing_turns));
    assert_eq!(
        rate_with_failures(&["0.judge/Lou"]),
        Err(UnratedReason::Degraded),
        "no swapped ruling"
    );
    assert_eq!(rate_with_failures(&["0.judge"]), Err(UnratedReason::Degraded), "no ruling at all");
    assert_eq!(rate_with_failures(&["1.challenge"]), Err(UnratedReason::Degraded), "uncontested");
    assert_eq!(rate_with_failures(&["1.propose"]), Err(UnratedReason::Failed), "nothing to debate");
    let mut debate = open_debate(duel());
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Unfinished));
    play_until(&mut debate, 1, "challenge");
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Unfinished));
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Cancelled));
    let without_sides = play_to_end(debate_setup(formats::research(), 1), &[]);
    assert_eq!(to_rated_game(&without_sides), Err(UnratedReason::NoVerdict));
    let late = play_to_end(debate_setup(formats::arena(), 2), &["2.close/Bob"]);
    assert_eq!(to_rated_game(&late), Err(UnratedReason::Degraded), "a turn was forfeited");
    let silent = play_to_end(debate_setup(arena_with_forfeit(), 2), &["2.close/Bob"]);
    assert_eq!(to_rated_game(&silent), Err(UnratedReason::Forfeited));
}

#[test]
fn imported_or_handed_over_debate_is_not_rated() {
    let mut imported = duel();
    imported.origin = Origin::Transcript { id: None };
    let mut debate = open_debate(imported);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Imported));
    let mut debate = open_debate(duel());
    play_until(&mut debate, 1, "challenge");
    let change = Amendment::Seat { seat: 1, voice: model_participant("copilot") };
    apply_events(&mut debate, [Event::Amended { change, because: "so".into() }]);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::HandedOver));
}

#[test]
fn humans_and_named_bots_are_rated_but_hosts_are_not() {
    assert_eq!(
        to_rated_game(&play_to_end(duel_with_participant(Role::Con, &Participant::Human), &[]))
            .unwrap()
            .con,
        "human"
    );
    assert_eq!(
        to_rated_game(&play_to_end(duel_with_participant(Role::Pro, &Participant::Host), &[])),
        Err(UnratedReason::UnknownModel)
    );
    let rate_bots = |names: &[(&str, &str)]| {
        let mut setup = duel_with_participant(Role::Pro, &Participant::Bot);
        setup.seats[1].voice = Participant::Bot;
        setup.terms = names.iter().map(|(key, name)| ((*key).into(), (*name).into())).collect();
        to_rated_game(&play_to_end(setup, &[]))
    };
    assert_eq!(rate_bots(&[("supporting_bot", "clawd_pot")]), Err(UnratedReason::UnnamedBot));
    let rated =
        rate_bots(&[("supporting_bot", "clawd_pot"), ("opposing_bot", "a\u{7}  b")]).unwrap();
    assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("bot clawd_pot", "bot a b"));
    let same_bot = rate_bots(&[("supporting_bot", "clawd_pot"), ("opposing_bot", "clawd_pot")]);
    assert_eq!(same_bot, Err(UnratedReason::SingleModel));
}

#[test]
fn audience_is_counted_by_vote_weight() {
    let rulings =
        DebateRulings::from_debate(&play_to_end(debate_setup(formats::tribunal(), 7), &[]));
    assert_eq!((rulings.audience, rulings.judges.len()), (Some(Side::Con), 1));
}

#[test]
fn debate_judged_by_one_of_its_sides_is_marked_as_biased() {
    let mut setup = duel_with_participant(Role::Judge, &model_participant("claude"));
    setup.seats[11].voice = model_participant("claude");
    assert!(to_rated_game(&play_to_end(setup, &[])).unwrap().biased_judge);
}

/// A modification of a card.
type CardChange<'a> = &'a dyn Fn(&mut DebateCard);

/// The filter by card must not drop a debate that the full check would count.
#[test]
fn card_filter_drops_only_unratable_debates() {
    let card = |change: &dyn Fn(&mut DebateCard)| {
        let mut card = DebateCard {
            id: "debate-1".into(),
            topic: "Tabs?".into(),
            format: "duel".into(),
            status: Status::Completed,
            created_at: 0,
            updated_at: 0,
            root: "/r".into(),
            proposer: Some("claude".into()),
            challenger: Some("codex".into()),
            winner: Some("claude".into()),
            labels: vec![],
            confidence: None,
            proof: None,
        };
        change(&mut card);
        check_card(&card)
    };
    assert_eq!(card(&|_| {}), Ok(()));
    assert_eq!(card(&|it| it.labels = vec!["partial-judge".into()]), Ok(()));
    assert_eq!(card(&|it| it.proposer = Some("scripture".into())), Ok(()));
    let cases: [(CardChange<'_>, UnratedReason); 7] = [
        (&|it| it.labels = vec!["demo".into()], UnratedReason::Demo),
        (&|it| it.labels = vec!["single-model".into()], UnratedReason::SingleModel),
        (&|it| it.labels = vec!["imported".into()], UnratedReason::Imported),
        (&|it| it.challenger = Some("script:/x.json".into()), UnratedReason::Scripted),
        (&|it| it.status = Status::Degraded, UnratedReason::Degraded),
        (&|it| it.status = Status::Paused, UnratedReason::Unfinished),
        (&|it| it.winner = None, UnratedReason::NoVerdict),
    ];
    for (change, reason) in cases {
        assert_eq!(card(change), Err(reason));
    }
}

/// A random debate is rated only if it is complete and between two different participants.
#[test]
fn random_debates_are_rated_only_if_complete() {
    for seed in 0..200 {
        let setup = crate::test_support::simulated_players::random_setup(formats::duel(), seed);
        if Debate::open(setup.clone()).is_err() {
            continue;
        }
        let (debate, _) =
            crate::test_support::chaos::ChaosRun::play(&setup, Rng(seed).below(1 << 20) as u64);
        if let Ok(rated) = to_rated_game(&debate) {
            assert!(debate.failed_turns().next().is_none() && debate.seat_transfers().is_empty());
            assert_ne!(rated.pro, rated.con);
        }
    }
}
