//! The schedule cursor is only a cache: a walk from the start finds the same step.
use super::{ScheduleCursor, advance, next, walk};
use crate::debate::setup::formats;
use crate::debate::{Debate, Event, Step};
use crate::test_support::chaos::ChaosRun;
use crate::test_support::random_formats::random_format;
use crate::test_support::simulated_players::random_setup;

#[test]
fn cursor_agrees_with_a_walk_from_the_start() {
    let built_in =
        formats::built_in_formats().into_iter().flat_map(|it| std::iter::repeat_n(it, 20));
    let mut moved = 0;
    for (seed, format) in (0..).zip(built_in.chain((0..150).map(random_format))) {
        let mut setup = random_setup(format, seed);
        setup.stop_when_settled |= seed % 2 == 0;
        let Ok(mut debate) = Debate::open(setup.clone()) else { continue };
        for event in ChaosRun::play(&setup, seed).1.log {
            debate.apply(event).unwrap();
            let at_start = ScheduleCursor::at_start(debate.is_concluded());
            let (cursor, step) = walk(&debate, at_start.clone());
            assert_eq!(*debate.schedule_cursor(), cursor, "seed {seed}");
            assert_eq!(advance(&debate, cursor.clone()), cursor, "seed {seed}");
            assert!(debate.outcome().is_some() || next(&debate) == step, "seed {seed}");
            moved += usize::from(cursor != at_start);
        }
    }
    assert!(moved > 1_000, "{moved}");
}

#[test]
fn lenient_replay_schedules_like_a_walk_from_the_start() {
    for seed in 0..100 {
        let setup = random_setup(random_format(seed), seed);
        if Debate::open(setup.clone()).is_err() {
            continue;
        }
        let mut log = ChaosRun::play(&setup, seed).1.log;
        log.retain(|event| !matches!(event, Event::Closed { .. } | Event::Cancelled { .. }));
        let half = log.len() / 2;
        log.rotate_left(half);
        let (debate, _) = Debate::replay_lenient(setup, log).unwrap();
        let (_, step) = walk(&debate, ScheduleCursor::at_start(debate.is_concluded()));
        let step = if debate.outcome().is_some() { Step::Done } else { step };
        assert_eq!(next(&debate), step, "seed {seed}");
    }
}
