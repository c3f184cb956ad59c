//! Recorded turns of a debate by cue, with indexes for what the scheduler asks on every event. A
//! transcript therefore does not depend on the order in which the responses arrived.
use crate::debate::record::body::Body;
use crate::debate::record::event::{Reply, TurnFailure};
use crate::debate::record::persistent_map::PersistentMap;
use crate::debate::setup::cue::Cue;
use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::Arc;

/// Result of a turn.
pub(super) type TurnResult = Result<Reply, TurnFailure>;

/// The turns of the current take. A clone shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedTurns {
    by_cue: PersistentMap<Cue, TurnResult>,
    failed: PersistentMap<Cue, ()>,
    /// First speech of each seat, by seat index.
    first_speeches: Arc<BTreeMap<u8, Cue>>,
}

impl RecordedTurns {
    pub(super) fn new() -> RecordedTurns {
        RecordedTurns {
            by_cue: PersistentMap::new(),
            failed: PersistentMap::new(),
            first_speeches: Arc::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_cue.is_empty()
    }

    pub(super) fn get(&self, cue: Cue) -> Option<&TurnResult> {
        self.by_cue.get(cue)
    }

    /// Turns in a range of cues, in debate order.
    pub(super) fn range(
        &self,
        cues: impl RangeBounds<Cue>,
    ) -> impl DoubleEndedIterator<Item = (Cue, &TurnResult)> {
        self.by_cue.range(cues)
    }

    /// Cues of the failed turns, in debate order.
    pub(super) fn failed_cues(&self) -> impl DoubleEndedIterator<Item = Cue> {
        self.failed.keys()
    }

    /// First speech of a seat, if it has made one.
    pub(super) fn first_speech(&self, seat: u8) -> Option<Cue> {
        self.first_speeches.get(&seat).copied()
    }

    /// Seats that have made a speech.
    pub(super) fn speakers(&self) -> impl Iterator<Item = u8> {
        self.first_speeches.keys().copied()
    }

    /// Records a turn. An invalid log, read leniently, can record a second result for a cue.
    pub(super) fn insert(&mut self, cue: Cue, turn: TurnResult) {
        if self.by_cue.contains_key(cue) {
            self.by_cue.insert(cue, turn);
            self.rebuild_indexes();
        } else {
            self.index(cue, &turn);
            self.by_cue.insert(cue, turn);
        }
    }

    /// Keeps the turns for which the predicate holds. O(n).
    pub(super) fn retain(&mut self, keeps: impl Fn(Cue, &TurnResult) -> bool) {
        self.by_cue.retain(keeps);
        self.rebuild_indexes();
    }

    fn rebuild_indexes(&mut self) {
        (self.failed, self.first_speeches) = (PersistentMap::new(), Arc::default());
        let turns = self.by_cue.clone();
        turns.range(..).for_each(|(cue, turn)| self.index(cue, turn));
    }

    fn index(&mut self, cue: Cue, turn: &TurnResult) {
        match turn {
            Err(_) => {
                self.failed.insert(cue, ());
            }
            Ok(Reply { body: Body::Speech { .. }, .. })
                if self.first_speech(cue.seat).is_none_or(|first| cue < first) =>
            {
                Arc::make_mut(&mut self.first_speeches).insert(cue.seat, cue);
            }
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::record::event::FailureKind;
    use crate::debate::{Envelope, formats};
    use crate::test_support::debate_fixture::{
        apply_events, cue, debate_setup, open_debate, play_debate,
    };
    use crate::test_support::simulated_players::ask_due_cues;

    fn speech(text: &str) -> Reply {
        let (body, envelope) = (Body::from_prose(text), Envelope::default());
        Reply { body, findings: vec![], citations: vec![], envelope }
    }

    fn thousand_turns() -> RecordedTurns {
        let mut turns = RecordedTurns::new();
        for nth in 0..1_000_u16 {
            let cue = cue(0, (nth / 10) as u8, 0, (nth % 10) as u8);
            turns.insert(cue, Ok(speech("words")));
        }
        turns
    }

    #[test]
    fn a_draft_shares_the_turns_of_the_record() {
        let turns = thousand_turns();
        let mut draft = turns.clone();
        draft.insert(cue(1, 0, 0, 10), Ok(speech("the last word")));
        draft.insert(cue(1, 0, 0, 11), Err(TurnFailure::new(FailureKind::Empty, "nothing")));
        assert_eq!(turns.range(..).count(), 1_000);
        for (cue, turn) in turns.range(..) {
            assert!(std::ptr::eq(turn, draft.get(cue).unwrap()), "{cue} was copied");
        }
    }

    #[test]
    fn a_draft_of_a_debate_shares_its_setup_and_turns() {
        let mut debate = open_debate(debate_setup(formats::dialectic(), 1));
        play_debate(&mut debate, &[], |debate| debate.turns().count() >= 150);
        let mut draft = debate.clone();
        let next_event = ask_due_cues(&draft);
        apply_events(&mut draft, next_event);
        assert_ne!(draft, debate);
        assert!(std::ptr::eq(debate.setup(), draft.setup()));
        assert!(debate.turns().count() >= 150);
        for (cue, turn) in debate.turns() {
            assert!(std::ptr::eq(turn, draft.turn(cue).unwrap()), "{cue} was copied");
        }
    }

    #[test]
    fn indexes_follow_replaced_and_dropped_turns() {
        let failure = || Err(TurnFailure::new(FailureKind::Empty, "nothing"));
        let mut turns = thousand_turns();
        assert_eq!(turns.first_speech(3), Some(cue(0, 0, 0, 3)));
        turns.insert(cue(0, 0, 0, 3), failure());
        assert_eq!(turns.first_speech(3), Some(cue(0, 1, 0, 3)));
        assert_eq!(turns.failed_cues().collect::<Vec<_>>(), [cue(0, 0, 0, 3)]);
        turns.retain(|cue, _| cue.round == 0);
        assert_eq!(turns.first_speech(3), None);
        assert_eq!(turns.speakers().count(), 9);
        turns.retain(|_, turn| turn.is_ok());
        assert_eq!(turns.failed_cues().count(), 0);
    }
}
