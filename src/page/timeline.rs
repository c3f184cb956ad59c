//! The timeline: every event of a debate with its time and label, served as JSON by `web::pages` for
//! the replay slider.
use super::elements::turn_element_id;
use super::event_label::event_label;
use super::history::DebateHistory;
use crate::debate::{Cue, Event};
use serde::Serialize;

/// One event of the timeline. Serialized by the `timeline` endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct TimelineEntry {
    /// Sequence number of the event.
    pub seq: u64,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Short description of the event.
    pub label: String,
    /// Element id of the turn, if the event is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// All events of a debate, in order.
pub fn timeline(history: &DebateHistory) -> Vec<TimelineEntry> {
    let entry = |recorded: &crate::engine::RecordedEvent| TimelineEntry {
        seq: recorded.seq,
        at: recorded.at,
        label: event_label(history.debate(), &recorded.event),
        turn: event_cue(&recorded.event).map(turn_element_id),
    };
    history.events().iter().map(entry).collect()
}

/// The cue of the turn an event is about.
fn event_cue(event: &Event) -> Option<Cue> {
    match event {
        Event::Asked { cues, .. } => cues.first().copied(),
        Event::Refused { cue, .. } | Event::Spoke { cue, .. } | Event::Failed { cue, .. } => {
            Some(*cue)
        }
        _ => None,
    }
}
