//! The record of a debate says why it was cancelled.
use crate::debate_fixture::{apply_events, debate_setup, open_debate, play_debate};
use debate_mcp::debate::{Event, formats};
use debate_mcp::report::record::render_record;

#[test]
fn record_has_the_reason_of_a_cancelled_debate() {
    let mut debate = open_debate(debate_setup(formats::duel(), 2));
    play_debate(&mut debate, &[], |debate| debate.turns().count() == 2);
    let because = Some("one side was away for 90 s".to_owned());
    apply_events(&mut debate, [Event::Cancelled { because }]);
    assert!(render_record(&debate).contains("cancelled: one side was away for 90 s"));
}
