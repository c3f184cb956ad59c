//! Facts and signals for any number of observers. A fact is in the log, too, so an observer that
//! falls behind re-reads; a signal is something nobody may need.
use crate::debate::{Cue, Event};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// What observers are told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "it is always passed around behind an `Arc`")]
pub enum Update {
    /// Something was recorded.
    Fact {
        /// Its number in the log.
        seq: u64,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
    /// A seat was asked by this process and is about to speak.
    Speaking {
        /// The turn.
        cue: Cue,
        /// Seconds it may take, where that is known.
        seconds: Option<u32>,
    },
    /// A seat has used up half of its time.
    Slow {
        /// The turn.
        cue: Cue,
        /// Seconds it has taken.
        after: u32,
        /// Seconds it may take.
        most: u32,
    },
    /// A few more words of a turn under way.
    Delta {
        /// The turn.
        cue: Cue,
        /// The words.
        text: String,
    },
}

/// A handle to tell observers things. Nobody listening is fine; a slow listener re-reads the log.
#[derive(Clone)]
pub struct Live {
    sender: broadcast::Sender<Arc<Update>>,
    /// What has come of turns under way, for those who begin to listen in the middle of one.
    under_way: Arc<Mutex<BTreeMap<Cue, String>>>,
}

/// Deltas of a fast model in about ten seconds.
const BACKLOG: usize = 1024;

impl Default for Live {
    fn default() -> Live {
        Live { sender: broadcast::channel(BACKLOG).0, under_way: Arc::default() }
    }
}

impl Live {
    /// Tells whoever listens.
    pub fn tell(&self, update: Update) {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        match &update {
            Update::Delta { cue, text } => under_way.entry(*cue).or_default().push_str(text),
            Update::Speaking { cue, .. }
            | Update::Fact {
                event:
                    Event::Spoke { cue, .. } | Event::Failed { cue, .. } | Event::Refused { cue, .. },
                ..
            } => {
                under_way.remove(cue);
            }
            _ => {}
        }
        drop(under_way);
        let _ = self.sender.send(Arc::new(update));
    }

    /// All that has come of a turn under way.
    pub fn said(&self, cue: Cue) -> String {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.get(&cue).cloned().unwrap_or_default()
    }

    /// From now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Update>> {
        self.sender.subscribe()
    }
}
