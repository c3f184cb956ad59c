//! Broadcast of live updates to any number of subscribers.
//!
//! [`Update::Fact`] is an event that is also in the log, so a subscriber that falls behind re-reads
//! the log. All other updates are transient and may be lost.
use crate::debate::{Cue, Event};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// A live update of a running debate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "it is always passed around behind an `Arc`")]
pub enum Update {
    /// An event was recorded.
    Fact {
        /// Sequence number in the log.
        seq: u64,
        /// Event that was recorded.
        #[serde(flatten)]
        event: Event,
    },
    /// A request for a turn was sent.
    Speaking {
        /// Turn.
        cue: Cue,
        /// Timeout in seconds, if known.
        seconds: Option<u32>,
    },
    /// Half of a turn's timeout has passed.
    Slow {
        /// Turn.
        cue: Cue,
        /// Seconds since the request.
        after: u32,
        /// Timeout in seconds.
        most: u32,
    },
    /// A chunk of streamed text.
    Delta {
        /// Turn.
        cue: Cue,
        /// Text of the chunk.
        text: String,
    },
}

/// Publishes updates over a tokio broadcast channel. Works without subscribers. One that lags loses
/// updates and re-reads the log.
#[derive(Clone)]
pub struct UpdateBroadcaster {
    sender: broadcast::Sender<Arc<Update>>,
    /// Text buffer of each turn in progress, for late subscribers.
    partial_texts: Arc<Mutex<BTreeMap<Cue, String>>>,
}

/// Capacity of the broadcast channel: about ten seconds of chunks from a fast model.
const CHANNEL_CAPACITY: usize = 1024;

impl Default for UpdateBroadcaster {
    fn default() -> UpdateBroadcaster {
        UpdateBroadcaster {
            sender: broadcast::channel(CHANNEL_CAPACITY).0,
            partial_texts: Arc::default(),
        }
    }
}

impl UpdateBroadcaster {
    /// Sends an update to all subscribers and maintains the text buffers.
    pub fn publish(&self, update: Update) {
        let mut partial_texts = self.partial_texts.lock().unwrap_or_else(PoisonError::into_inner);
        match &update {
            Update::Delta { cue, text } => partial_texts.entry(*cue).or_default().push_str(text),
            Update::Speaking { cue, .. }
            | Update::Fact {
                event:
                    Event::Spoke { cue, .. } | Event::Failed { cue, .. } | Event::Refused { cue, .. },
                ..
            } => {
                partial_texts.remove(cue);
            }
            _ => {}
        }
        drop(partial_texts);
        let _ = self.sender.send(Arc::new(update));
    }

    /// Text streamed so far of a turn in progress.
    pub fn partial_text(&self, cue: Cue) -> String {
        let partial_texts = self.partial_texts.lock().unwrap_or_else(PoisonError::into_inner);
        partial_texts.get(&cue).cloned().unwrap_or_default()
    }

    /// Subscribes to updates from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Update>> {
        self.sender.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast::error::TryRecvError;

    #[test]
    fn slow_subscriber_loses_the_oldest_updates() {
        assert_eq!(CHANNEL_CAPACITY, 1_024);
        let cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };
        for (count, first) in
            [(CHANNEL_CAPACITY, Ok(())), (CHANNEL_CAPACITY + 1, Err(TryRecvError::Lagged(1)))]
        {
            let broadcaster = UpdateBroadcaster::default();
            let mut subscriber = broadcaster.subscribe();
            for _ in 0..count {
                broadcaster.publish(Update::Slow { cue, after: 1, most: 2 });
            }
            assert_eq!(subscriber.try_recv().map(drop), first);
        }
    }
}
