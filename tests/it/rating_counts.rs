//! Which debates count for the ratings, and the reasons why others do not.
use crate::players::{good, ruling, said};
use crate::scene::{
    Rng, apply, due, model, open, played, put, run, say, setup, silence_loses, until,
};
use debate_mcp::debate::Status;
use debate_mcp::debate::body::RulingScores;
use debate_mcp::debate::{
    Amendment, Body, Cue, Debate, Event, Origin, Participant, Role, Setup, Side, Step, formats,
    next,
};
use debate_mcp::engine::DebateCard;
use debate_mcp::rating::eligibility::{check_card, to_rated_game};
use debate_mcp::rating::{DebateRulings, GameScore, UnratedReason};

fn duel() -> Setup {
    setup(formats::duel(), 1)
}

fn with(role: Role, voice: Participant) -> Setup {
    let mut setup = duel();
    setup.seats.iter_mut().filter(|seat| seat.role == role).for_each(|it| it.voice = voice.clone());
    setup
}

/// Plays to the end; `model` gives the model that each reply reports.
fn reporting(setup: Setup, model: impl Fn(&Debate, Cue) -> Option<String>) -> Debate {
    let mut debate = open(setup);
    loop {
        let event = match next(&debate) {
            Step::Done => return debate,
            Step::Close(outcome) => Event::Closed { outcome },
            Step::Hold { next, .. } => Event::Continued { before: next.position() },
            Step::Speak { .. } => {
                put(&mut debate);
                let cue = due(&debate)[0];
                let mut event = said(&debate, cue, good(&debate, cue)).unwrap();
                if let Event::Spoke { reply, .. } = &mut event {
                    reply.envelope.model_reported = model(&debate, cue);
                }
                event
            }
        };
        apply(&mut debate, [event]);
    }
}

/// A duel with rulings by the judge and its mirror, each with this margin.
fn ruled(rulings: [Side; 2], apart: u8) -> Debate {
    let mut debate = open(duel());
    let judge = until(&mut debate, 0, "judge");
    let first = debate.turns().next().unwrap().0;
    for (side, seat) in rulings.into_iter().zip([10, 11]) {
        let Body::Verdict(mut body) = ruling(Some(side), 80, vec![first]) else { panic!() };
        body.scores = Some(match side {
            Side::Pro => RulingScores { pro: 50 + apart, con: 50 },
            Side::Con => RulingScores { pro: 50, con: 50 + apart },
        });
        say(&mut debate, Cue { seat, ..judge }, Body::Verdict(body));
    }
    run(&mut debate, &[], |_| false);
    debate
}

#[test]
fn a_whole_debate_between_two_is_rated_under_their_voices() {
    for side in [Side::Pro, Side::Con] {
        let debate = ruled([side; 2], 30);
        let rated = to_rated_game(&debate).unwrap();
        assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("claude", "codex"));
        assert_eq!(rated.score, if side == Side::Pro { GameScore::Pro } else { GameScore::Con });
        assert_eq!(rated.motion, "Tabs or spaces?");
        assert!(!rated.biased_judge);
        let bench = DebateRulings::from_debate(&debate);
        assert_eq!(bench.judges, [("gemini".to_owned(), side, Some(side))]);
        assert_eq!((bench.verdict, bench.audience), (Some(side), None));
    }
}

#[test]
fn a_contested_verdict_is_half_a_win_for_each() {
    assert_eq!(
        to_rated_game(&ruled([Side::Pro, Side::Con], 30)).unwrap().score,
        GameScore::Draw,
        "by order"
    );
    assert_eq!(
        to_rated_game(&ruled([Side::Con; 2], 5)).unwrap().score,
        GameScore::Draw,
        "by its margin"
    );
}

#[test]
fn the_model_that_answered_is_better_than_the_one_that_was_asked_for() {
    let of = |debate: &Debate, cue: Cue| match debate.seat(cue).role {
        Role::Pro => Some("claude-big".to_owned()),
        Role::Con => None,
        _ => Some("judge-x".to_owned()),
    };
    let debate = reporting(duel(), of);
    let rated = to_rated_game(&debate).unwrap();
    assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("claude:claude-big", "codex"));
    assert_eq!(DebateRulings::from_debate(&debate).judges[0].0, "gemini:judge-x");
}

#[test]
fn one_model_against_itself_is_never_rated() {
    let same = |_: &Debate, _: Cue| Some("big".to_owned());
    assert_eq!(
        to_rated_game(&reporting(duel(), same)),
        Err(UnratedReason::SingleModel),
        "two tools, one model"
    );
    let through = |debate: &Debate, cue: Cue| {
        let role = debate.seat(cue).role;
        Some(if role == Role::Pro { "vendor/Big".to_owned() } else { "big".into() })
    };
    assert_eq!(
        to_rated_game(&reporting(duel(), through)),
        Err(UnratedReason::SingleModel),
        "under two names"
    );
    for (pro, con) in [("claude", "claude"), ("claude:a", "claude"), ("claude", "claude:b")] {
        let mut setup = with(Role::Pro, pro.parse().unwrap());
        setup.seats[1].voice = con.parse().unwrap();
        assert_eq!(
            to_rated_game(&played(setup.clone(), &[])),
            Err(UnratedReason::SingleModel),
            "{pro} {con}"
        );
    }
    let mut setup = with(Role::Pro, "claude:a".parse().unwrap());
    setup.seats[1].voice = "claude:b".parse().unwrap();
    assert!(to_rated_game(&played(setup, &[])).is_ok(), "two models of one vendor are two");
}

#[test]
fn a_side_that_changes_its_model_in_the_middle_is_nobody() {
    let turns = |_: &Debate, cue: Cue| Some(format!("big-{}", cue.round));
    let debate = reporting(setup(formats::duel(), 2), turns);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::ModelChanged));
}

#[test]
fn scripts_and_the_demo_are_never_rated_wherever_they_sit() {
    for role in [Role::Pro, Role::Con, Role::Judge, Role::Mirror] {
        let script = with(role, "script:a.json".parse().unwrap());
        assert_eq!(to_rated_game(&played(script, &[])), Err(UnratedReason::Scripted), "{role:?}");
        assert_eq!(
            to_rated_game(&played(with(role, model("demo")), &[])),
            Err(UnratedReason::Demo),
            "{role:?}"
        );
    }
}

#[test]
fn whatever_is_missing_a_debate_is_not_rated() {
    let of = |down: &[&str]| to_rated_game(&played(duel(), down));
    assert_eq!(of(&["0.judge/Lou"]), Err(UnratedReason::Degraded), "no swapped ruling");
    assert_eq!(of(&["0.judge"]), Err(UnratedReason::Degraded), "no ruling at all");
    assert_eq!(of(&["1.challenge"]), Err(UnratedReason::Degraded), "uncontested");
    assert_eq!(of(&["1.propose"]), Err(UnratedReason::Failed), "nothing to debate");
    let mut debate = open(duel());
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Unfinished));
    until(&mut debate, 1, "challenge");
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Unfinished));
    apply(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Cancelled));
    let without_sides = played(setup(formats::research(), 1), &[]);
    assert_eq!(to_rated_game(&without_sides), Err(UnratedReason::NoVerdict));
    let late = played(setup(formats::arena(), 2), &["2.close/Bob"]);
    assert_eq!(to_rated_game(&late), Err(UnratedReason::Degraded), "a turn was forfeited");
    let silent = played(setup(silence_loses(), 2), &["2.close/Bob"]);
    assert_eq!(to_rated_game(&silent), Err(UnratedReason::Forfeited));
}

#[test]
fn what_came_from_elsewhere_or_changed_hands_is_not_rated() {
    let mut imported = duel();
    imported.origin = Origin::Transcript { id: None };
    let mut debate = open(imported);
    run(&mut debate, &[], |_| false);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::Imported));
    let mut debate = open(duel());
    until(&mut debate, 1, "challenge");
    let change = Amendment::Seat { seat: 1, voice: model("copilot") };
    apply(&mut debate, [Event::Amended { change, because: "so".into() }]);
    run(&mut debate, &[], |_| false);
    assert_eq!(to_rated_game(&debate), Err(UnratedReason::HandedOver));
}

#[test]
fn people_are_rated_clients_are_not_and_bots_by_their_names() {
    assert_eq!(
        to_rated_game(&played(with(Role::Con, Participant::Human), &[])).unwrap().con,
        "human"
    );
    assert_eq!(
        to_rated_game(&played(with(Role::Pro, Participant::Host), &[])),
        Err(UnratedReason::UnknownModel)
    );
    let bots = |names: &[(&str, &str)]| {
        let mut setup = with(Role::Pro, Participant::Bot);
        setup.seats[1].voice = Participant::Bot;
        setup.terms = names.iter().map(|(key, name)| ((*key).into(), (*name).into())).collect();
        to_rated_game(&played(setup, &[]))
    };
    assert_eq!(bots(&[("supporting_bot", "clawd_pot")]), Err(UnratedReason::UnnamedBot));
    let rated = bots(&[("supporting_bot", "clawd_pot"), ("opposing_bot", "a\u{7}  b")]).unwrap();
    assert_eq!((rated.pro.as_str(), rated.con.as_str()), ("bot clawd_pot", "bot a b"));
    let same = bots(&[("supporting_bot", "clawd_pot"), ("opposing_bot", "clawd_pot")]);
    assert_eq!(same, Err(UnratedReason::SingleModel));
}

#[test]
fn the_audience_of_a_court_is_counted_by_the_weight_of_its_votes() {
    let bench = DebateRulings::from_debate(&played(setup(formats::tribunal(), 7), &[]));
    assert_eq!((bench.audience, bench.judges.len()), (Some(Side::Con), 1));
}

#[test]
fn who_argues_and_judges_is_rated_and_counted() {
    let mut setup = with(Role::Judge, model("claude"));
    setup.seats[11].voice = model("claude");
    assert!(to_rated_game(&played(setup, &[])).unwrap().biased_judge);
}

/// A modification of a card.
type Alters<'a> = &'a dyn Fn(&mut DebateCard);

/// The filter by card must not drop a debate that the full check would count.
#[test]
fn a_card_leaves_out_only_what_cannot_count() {
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
    let cases: [(Alters<'_>, UnratedReason); 7] = [
        (&|it| it.labels = vec!["demo".into()], UnratedReason::Demo),
        (&|it| it.labels = vec!["single-model".into()], UnratedReason::SingleModel),
        (&|it| it.labels = vec!["imported".into()], UnratedReason::Imported),
        (&|it| it.challenger = Some("script:/x.json".into()), UnratedReason::Scripted),
        (&|it| it.status = Status::Degraded, UnratedReason::Degraded),
        (&|it| it.status = Status::Paused, UnratedReason::Unfinished),
        (&|it| it.winner = None, UnratedReason::NoVerdict),
    ];
    for (change, why) in cases {
        assert_eq!(card(change), Err(why));
    }
}

/// A random debate is rated only if it is complete and between two different participants.
#[test]
fn no_chaos_is_rated() {
    for seed in 0..200 {
        let setup = crate::players::any_setup(formats::duel(), seed);
        if Debate::open(setup.clone()).is_err() {
            continue;
        }
        let (debate, _) = crate::chaos::Chaos::play(&setup, Rng(seed).below(1 << 20) as u64);
        if let Ok(rated) = to_rated_game(&debate) {
            assert!(debate.failed_turns().next().is_none() && debate.seat_transfers().is_empty());
            assert_ne!(rated.pro, rated.con);
        }
    }
}
