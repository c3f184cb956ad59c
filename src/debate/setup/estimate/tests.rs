//! Cost estimate before a debate starts: expected calls and input tokens per seat.
use crate::debate::estimate::estimate_usage;
use crate::debate::{Participant, formats};
use crate::test_support::debate_fixture::{debate_setup, play_to_end};

/// The estimate is exact for formats whose turns do not depend on what the replies say.
#[test]
fn estimated_calls_match_the_played_debate() {
    let duels = (1..=5).map(|rounds| debate_setup(formats::duel(), rounds));
    for setup in duels.chain([debate_setup(formats::research(), 1)]) {
        let expected: u32 = estimate_usage(&setup).iter().map(|usage| usage.calls).sum();
        let debate = play_to_end(setup, &[]);
        assert_eq!(expected as usize, debate.replies_in(..).count(), "{}", debate.setup().rounds);
    }
}

#[test]
fn host_seats_cost_nothing() {
    let mut setup = debate_setup(formats::duel(), 2);
    for seat in &mut setup.seats {
        seat.voice = Participant::Host;
    }
    assert_eq!(estimate_usage(&setup), []);
}

#[test]
fn longer_brief_raises_the_input_token_estimate() {
    let small = debate_setup(formats::duel(), 2);
    let mut large = small.clone();
    large.brief = "x".repeat(40_000);
    let input_tokens =
        |setup| estimate_usage(&setup).iter().map(|usage| usage.tokens_in).sum::<u64>();
    let calls: u32 = estimate_usage(&small).iter().map(|usage| usage.calls).sum();
    assert_eq!(input_tokens(large) - input_tokens(small), 10_000 * u64::from(calls));
}
