//! Cost estimate before a debate starts: expected calls and input tokens per seat.
use crate::scene::{played, setup};
use debate_mcp::debate::estimate::estimate_usage;
use debate_mcp::debate::{Participant, formats};

/// The estimate is exact for formats whose turns do not depend on what the replies say.
#[test]
fn as_many_calls_are_expected_as_there_will_be() {
    let duels = (1..=5).map(|rounds| setup(formats::duel(), rounds));
    for setup in duels.chain([setup(formats::research(), 1)]) {
        let expected: u32 = estimate_usage(&setup).iter().map(|one| one.calls).sum();
        let debate = played(setup, &[]);
        assert_eq!(expected as usize, debate.replies_in(..).count(), "{}", debate.setup().rounds);
    }
}

#[test]
fn whoever_is_waited_for_costs_nothing() {
    let mut setup = setup(formats::duel(), 2);
    for seat in &mut setup.seats {
        seat.voice = Participant::Host;
    }
    assert_eq!(estimate_usage(&setup), []);
}

#[test]
fn more_to_read_is_more_to_pay_for() {
    let small = setup(formats::duel(), 2);
    let mut large = small.clone();
    large.brief = "x".repeat(40_000);
    let read = |setup| estimate_usage(&setup).iter().map(|one| one.tokens_in).sum::<u64>();
    let calls: u32 = estimate_usage(&small).iter().map(|one| one.calls).sum();
    assert_eq!(read(large) - read(small), 10_000 * u64::from(calls));
}
