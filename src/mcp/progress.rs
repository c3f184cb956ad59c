//! Throttled preview of the turn that is being streamed, for progress notifications. Sealed replies
//! are never shown.
use crate::debate::{Cue, Debate, ReplyKind};
use crate::report::sanitize::{one_line, strip_control_chars};
use crate::report::stream_preview::StreamPreview;
use std::time::Duration;
use tokio::time::Instant;

/// Minimum interval between two previews.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Characters of a preview, taken from the end of the text.
const MAX_PREVIEW_CHARS: usize = 120;

/// Throttle: the time of the last preview.
#[derive(Default)]
pub(super) struct ProgressPreview(Option<Instant>);

impl ProgressPreview {
    /// The end of the text streamed so far, unless the last preview is too recent. Parses the whole
    /// turn, because a client may attach in the middle of it and claims must not pass for prose.
    pub(super) fn next_preview(
        &mut self,
        debate: &Debate,
        cue: Cue,
        read_text: impl FnOnce() -> String,
    ) -> Option<String> {
        let is_throttled = self.0.is_some_and(|shown_at| shown_at.elapsed() < MIN_INTERVAL);
        if is_throttled || debate.is_sealed(cue) {
            return None;
        }
        let is_prose =
            matches!(debate.setup().phase(cue).reply, ReplyKind::Speech | ReplyKind::Sections);
        let mut preview =
            if is_prose { StreamPreview::prose() } else { StreamPreview::json_object() };
        let line = one_line(&strip_control_chars(&preview.push(&read_text())));
        if line.trim().is_empty() {
            return None;
        }
        self.0 = Some(Instant::now());
        let skip = line.chars().count().saturating_sub(MAX_PREVIEW_CHARS);
        let ellipsis = if skip > 0 { "…" } else { "" };
        let tail: String = line.chars().skip(skip).collect();
        Some(format!("{} ({}): {ellipsis}{tail}", debate.seat(cue).title(), debate.tool_at(cue)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::{DebateLimits, formats};
    use serde_json::json;

    fn open_duel() -> Debate {
        let seat = |role: &str| json!({"name": role, "role": role, "voice": "host", "weight": 1});
        let setup = json!({
            "grammar": 1, "id": "debate-1", "opened_at": 0, "topic": "Well?", "rounds": 1,
            "format": formats::duel(), "prompts": {}, "limits": DebateLimits::default(),
            "seats": [seat("pro"), seat("con"), seat("judge")],
        });
        Debate::open(serde_json::from_value(setup).unwrap()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn preview_has_120_characters_and_comes_once_a_second() {
        assert_eq!((MIN_INTERVAL, MAX_PREVIEW_CHARS), (Duration::from_secs(1), 120));
        let debate = open_duel();
        let cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };
        let mut preview = ProgressPreview::default();
        let mut preview_of =
            |chars: usize| preview.next_preview(&debate, cue, || "x".repeat(chars));
        let longest = "x".repeat(MAX_PREVIEW_CHARS);
        assert_eq!(preview_of(120), Some(format!("Proposer (host): {longest}")));
        tokio::time::advance(Duration::from_millis(999)).await;
        assert_eq!(preview_of(121), None);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(preview_of(121), Some(format!("Proposer (host): …{longest}")));
    }
}
