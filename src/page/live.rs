//! Replies that are being streamed, filtered for viewers: claims blocks, JSON syntax and sealed
//! turns are hidden. Each update only appends text, unless the seat retries and starts over.
use super::elements::turn_element_id;
use crate::debate::{Cue, Debate, ReplyKind, invisible_chars};
use crate::engine::LiveText;
use crate::report::stream_preview::StreamPreview;
use serde::Serialize;
use std::collections::BTreeMap;

/// All turns that are being streamed.
#[derive(Debug, Default)]
pub struct LiveTurns(BTreeMap<Cue, LiveTurn>);

#[derive(Debug)]
struct LiveTurn {
    raw: String,
    preview: StreamPreview,
    shown: String,
}

/// Text to append to a turn. Sent as the server-sent event `live`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveTextUpdate {
    /// Element id of the turn.
    pub turn: String,
    /// Offset of the text in UTF-16 code units of the text shown so far. 0 replaces everything.
    pub offset: usize,
    /// The new text.
    pub text: String,
}

impl LiveTurns {
    /// Takes the current buffers of all streamed replies and returns the new text of each.
    pub fn update(&mut self, debate: &Debate, live: &[LiveText]) -> Vec<LiveTextUpdate> {
        let streams: Vec<(Cue, &str)> = live
            .iter()
            .filter_map(|it| Some((it.turn.parse().ok()?, it.text.as_str())))
            .filter(|(cue, _)| may_show_live(debate, *cue))
            .collect();
        self.0.retain(|cue, _| streams.iter().any(|(known, _)| known == cue));
        streams.into_iter().filter_map(|(cue, text)| self.update_turn(debate, cue, text)).collect()
    }

    fn update_turn(&mut self, debate: &Debate, cue: Cue, text: &str) -> Option<LiveTextUpdate> {
        let is_new = self.0.get(&cue).is_none_or(|live_turn| !text.starts_with(&live_turn.raw));
        if is_new {
            self.0.insert(cue, LiveTurn::new(debate, cue));
        }
        let live_turn = self.0.get_mut(&cue)?;
        let added = live_turn.preview.push(&text[live_turn.raw.len()..]);
        let added = invisible_chars::escape_invisible(&added).into_owned();
        text.clone_into(&mut live_turn.raw);
        let offset = if is_new { 0 } else { live_turn.shown.encode_utf16().count() };
        live_turn.shown.push_str(&added);
        let turn = turn_element_id(cue);
        (!added.is_empty()).then_some(LiveTextUpdate { turn, offset, text: added })
    }

    /// Everything streamed so far, for a client that has just connected.
    pub fn snapshot(&self) -> Vec<LiveTextUpdate> {
        let update = |(cue, live_turn): (&Cue, &LiveTurn)| LiveTextUpdate {
            turn: turn_element_id(*cue),
            offset: 0,
            text: live_turn.shown.clone(),
        };
        self.0.iter().map(update).filter(|update| !update.text.is_empty()).collect()
    }
}

impl LiveTurn {
    fn new(debate: &Debate, cue: Cue) -> LiveTurn {
        let preview = match debate.setup().phase(cue).reply {
            ReplyKind::Speech | ReplyKind::Sections => StreamPreview::prose(),
            _ => StreamPreview::json_object(),
        };
        LiveTurn { raw: String::new(), preview, shown: String::new() }
    }
}

/// Whether a turn is pending and not sealed, so that viewers may see its stream.
fn may_show_live(debate: &Debate, cue: Cue) -> bool {
    debate.has_cue(cue)
        && debate.was_asked(cue)
        && debate.turn(cue).is_none()
        && debate.outcome().is_none()
        && !debate.is_sealed(cue)
}
