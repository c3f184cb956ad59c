//! Lenient replay of a damaged event log: the first illegal event is reported, and all readable
//! turns are kept.
use crate::debate::tests::properties::planned_seats;
use crate::debate::{
    Amendment, Debate, Event, FailureKind, Participant, Seat, Setup, formats, replay::ReplayError,
    status, verdict,
};
use crate::test_support::chaos::ChaosRun;
use crate::test_support::debate_fixture::{
    Rng, cue, debate_setup, due_cues, open_debate, play_to_end, trace,
};
use crate::test_support::random_formats::random_format;
use crate::test_support::simulated_players::{amended_event, random_setup, render_prompt};
use std::iter::repeat_n;

/// Damages a log: drops, duplicates or swaps events, or inserts a change of seats.
fn damage_log(setup: &Setup, log: &[Event], rng: &mut Rng) -> Vec<Event> {
    let mut log = log.to_vec();
    for _ in 0..=rng.below(2) {
        let (index, other_index) = (rng.below(log.len()), rng.below(log.len()));
        match rng.below(4) {
            0 if log.len() > 1 => drop(log.remove(index)),
            1 => log.insert(other_index, log[index].clone()),
            2 => log.swap(index, other_index),
            _ => {
                let mut seats = setup.seats.clone();
                seats.retain(|seat| seat.role.side().is_some() || !rng.one_in(3));
                if rng.one_in(2) {
                    let extra =
                        (0..8).map(|nth| Seat { name: format!("{nth}"), ..seats[0].clone() });
                    seats.extend(extra.collect::<Vec<_>>());
                }
                log.insert(other_index.min(rng.below(log.len())), seat_change_event(seats));
            }
        }
    }
    log
}

/// The number of the first event that strict replay rejects, counted from 1.
fn first_illegal(setup: &Setup, log: &[Event]) -> Option<u64> {
    let mut debate = open_debate(setup.clone());
    let position = log.iter().position(|event| debate.apply(event.clone()).is_err());
    position.map(|index| index as u64 + 1)
}

/// Computes everything that is shown to readers. Must not panic.
fn assert_readable(debate: &Debate) {
    let _ = (status::status(debate), status::notices(debate), status::rigor(debate));
    let _ = (trace(debate), verdict::judgment(debate));
    for (cue, _) in debate.turns() {
        let _ = (render_prompt(debate, cue), debate.tool_at(cue));
    }
    for cue in due_cues(debate) {
        let _ = render_prompt(debate, cue);
    }
}

/// The number of seats at the time of each event.
fn seat_counts(setup: &Setup, log: &[Event]) -> Vec<usize> {
    let mut count = setup.seats.len();
    let counts = log.iter().enumerate().map(|(index, event)| {
        if planned_seats(event).is_some() {
            let (debate, _) =
                Debate::replay_lenient(setup.clone(), log[..=index].to_vec()).unwrap();
            count = debate.seats().len();
        }
        count
    });
    counts.collect()
}

#[test]
fn damaged_log_reports_its_first_flaw_and_keeps_turns() {
    let built_in = formats::built_in_formats().into_iter().flat_map(|format| repeat_n(format, 24));
    let (mut harmless, mut flawed, mut unseated) = (0, 0, 0);
    for (seed, format) in (0..).zip(built_in.chain((0..100).map(random_format))) {
        let setup = random_setup(format, seed);
        if Debate::open(setup.clone()).is_err() {
            continue;
        }
        let (_, chaos) = ChaosRun::play(&setup, seed);
        for nth in 0..4 {
            let log = damage_log(&setup, &chaos.log, &mut Rng(seed * 4 + nth));
            let (debate, flaw) = Debate::replay_lenient(setup.clone(), log.clone()).unwrap();
            assert_eq!(flaw.as_ref().map(|flaw| flaw.seq), first_illegal(&setup, &log));
            match flaw {
                Some(flaw) => {
                    flawed += 1;
                    assert!(flaw.message.contains(" is not possible now; "), "{}", flaw.message);
                }
                None => harmless += 1,
            }
            let reopened_at = log.iter().rposition(|event| matches!(event, Event::Reopened { .. }));
            let events_with_seats = log
                .iter()
                .zip(seat_counts(&setup, &log))
                .skip(reopened_at.map_or(0, |index| index + 1));
            for (event, seats) in events_with_seats {
                if let Event::Spoke { cue, .. } = event {
                    let is_kept = debate.turn(*cue).is_some();
                    assert_eq!(is_kept, usize::from(cue.seat) < seats, "{cue} of {seats}");
                    unseated += usize::from(!is_kept);
                }
            }
            assert_readable(&debate);
        }
    }
    assert!(flawed > 400 && harmless > 5, "{flawed} flawed, {harmless} harmless");
    assert!(unseated > 5, "{unseated} turns of unknown seats");
}

#[test]
fn log_of_another_debate_is_read_without_unknown_turns() {
    let runs = (5..).map(|seed| ChaosRun::play(&random_setup(formats::tribunal(), seed), seed));
    // This log has more acts than a duel.
    let has_later_acts = |tribunal: &Debate| tribunal.turns().any(|(cue, _)| cue.act > 3);
    let (tribunal, chaos) = { runs }.find(|(tribunal, _)| has_later_acts(tribunal)).unwrap();
    let mut duel = debate_setup(formats::duel(), 2);
    duel.seats.truncate(11);
    let (debate, flaw) = Debate::replay_lenient(duel, chaos.log).unwrap();
    assert!(flaw.is_some());
    assert!(debate.turns().count() < tribunal.turns().count());
    assert_readable(&debate);
}

#[test]
fn strict_replay_stops_where_lenient_reports_the_flaw() {
    let duel = || debate_setup(formats::duel(), 1);
    let first = cue(0, 1, 0, 0);
    let failed = |cue| Event::Failed {
        cue,
        failure: crate::debate::TurnFailure::new(FailureKind::Crashed, "gone"),
    };
    let asked = Event::Asked { cues: vec![first], deadline: None, prompts: vec![] };
    let log = vec![asked, failed(first), failed(first), Event::Cancelled { because: None }];
    let strict_error = Debate::replay(duel(), log.clone()).unwrap_err();
    assert!(matches!(strict_error, ReplayError::Event(error) if *error.event == failed(first)));
    let (debate, flaw) = Debate::replay_lenient(duel(), log).unwrap();
    assert_eq!((flaw.unwrap().seq, trace(&debate).as_str()), (3, "1.propose! cancelled"));
    let setup_error =
        Debate::replay_lenient(Setup { topic: String::new(), ..duel() }, []).unwrap_err();
    assert_eq!(setup_error.to_string(), "the topic is empty");
}

fn seat_change_event(seats: Vec<Seat>) -> Event {
    amended_event(Amendment::Plan { rounds: None, seats: Some(seats), holds: None })
}

#[test]
fn seat_added_before_the_start_is_replayed() {
    let mut setup = debate_setup(formats::duel(), 1);
    let mirror = setup.seats.remove(11);
    setup.seats.truncate(11);
    let mut debate = open_debate(setup.clone());
    let mut log = vec![seat_change_event(setup.seats.iter().cloned().chain([mirror]).collect())];
    debate.apply(log[0].clone()).unwrap();
    while let Some(event) =
        crate::test_support::simulated_players::next_event(&debate, 5, &mut Rng(1))
    {
        log.push(event.clone());
        debate.apply(event).unwrap();
    }
    assert_eq!(Debate::replay_lenient(setup, log).unwrap(), (debate, None));
}

#[test]
fn log_that_removes_seats_with_turns_is_readable() {
    let duel = debate_setup(formats::duel(), 1);
    let (_, mut chaos) = ChaosRun::play(&duel, 2);
    let remaining_seats: Vec<Seat> =
        duel.seats.iter().filter(|seat| seat.role.side().is_some()).cloned().collect();
    chaos.log.push(seat_change_event(remaining_seats));
    let (debate, flaw) = Debate::replay_lenient(duel, chaos.log).unwrap();
    assert!(flaw.is_some());
    assert_readable(&debate);
}

#[test]
fn log_with_rounds_beyond_the_plan_is_readable() {
    let duel = debate_setup(formats::duel(), 5);
    let played = play_to_end(duel.clone(), &[]);
    let Some(Ok(reply)) = played.turn(cue(0, 1, 0, 0)) else { panic!() };
    let spoke = |cue| Event::Spoke { cue, reply: reply.clone() };
    for round in [101, 255] {
        let rounds_change =
            amended_event(Amendment::Plan { rounds: Some(round), seats: None, holds: None });
        let unknown_seat = amended_event(Amendment::Seat { seat: 200, voice: Participant::Host });
        let log =
            vec![spoke(cue(1, round, 0, 0)), unknown_seat, rounds_change, spoke(cue(2, 3, 1, 0))];
        let (debate, flaw) = Debate::replay_lenient(duel.clone(), log).unwrap();
        assert_eq!(flaw.unwrap().seq, 1);
        assert_readable(&debate);
    }
}
