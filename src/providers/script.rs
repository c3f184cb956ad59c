//! Scripted provider: plays turns from a JSON file. The first entry that matches seat, phase, round
//! and attempt answers. Entries are not consumed, so a resumed debate continues in the same way.
use crate::debate::{Envelope, FailureKind, Role, TurnFailure, to_millionths};
use crate::engine::{ProviderReply, ReplyStream, TurnRequest};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// Size limit of a script file in bytes.
const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// A parsed script file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    turns: Vec<ScriptedTurn>,
    /// Streaming speed of turns without `delay_ms`.
    #[serde(default)]
    pub(super) chars_per_second: Option<u32>,
}

/// One entry of a script. An absent filter matches everything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedTurn {
    seat: Option<String>,
    phase: Option<String>,
    round: Option<u8>,
    /// 1, or 2 after the first reply was rejected.
    attempt: Option<u8>,
    text: Option<String>,
    json: Option<Value>,
    #[serde(default)]
    delay_ms: Option<u64>,
    /// Reported cost in the user's currency.
    #[serde(default)]
    cost: Option<f64>,
    fail: Option<ScriptedFailure>,
}

/// A failure to simulate, with an optional note.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ScriptedFailure {
    TroubleOnly(FailureKind),
    WithNote {
        trouble: FailureKind,
        #[serde(default)]
        note: String,
    },
}

impl Script {
    pub(super) fn load(file: &str) -> Result<Script, String> {
        // A pipe or device could block or be endless.
        let metadata = fs::metadata(file).map_err(|error| format!("`{file}`: {error}"))?;
        if !metadata.is_file() || metadata.len() > MAX_SCRIPT_BYTES {
            return Err(format!(
                "`{file}` is not a regular file of at most {MAX_SCRIPT_BYTES} bytes"
            ));
        }
        let text = fs::read_to_string(file).map_err(|error| format!("`{file}`: {error}"))?;
        Script::parse(&text).map_err(|error| format!("`{file}`: {error}"))
    }

    pub(super) fn parse(text: &str) -> Result<Script, String> {
        let script: Script = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let is_empty_entry = |entry: &ScriptedTurn| {
            entry.text.is_none() && entry.json.is_none() && entry.fail.is_none()
        };
        match script.turns.iter().position(is_empty_entry) {
            Some(index) => Err(format!("turn {} has none of `text`, `json` and `fail`", index + 1)),
            None => Ok(script),
        }
    }

    /// Plays the first matching entry: streams its text, then returns it or fails.
    pub(super) async fn fetch_turn(
        &self,
        turn: &TurnRequest,
        stream: &ReplyStream,
    ) -> Result<ProviderReply, TurnFailure> {
        let Some(entry) = self.turns.iter().find(|entry| entry.matches(turn)) else {
            let (seat, phase, round) = (&turn.seat, &turn.phase, turn.round);
            let note = format!("the script has no line for `{seat}`, `{phase}`, round {round}");
            return Err(TurnFailure::new(FailureKind::NotFound, note));
        };
        let text = match (&entry.text, &entry.json) {
            (Some(text), _) => text.clone(),
            (None, Some(json)) => json.to_string(),
            (None, None) => String::new(),
        };
        let delay = entry.delay_ms.or_else(|| {
            let speed = u64::from(self.chars_per_second?.max(1));
            Some(text.chars().count() as u64 * 1000 / speed)
        });
        stream_words(&text, Duration::from_millis(delay.unwrap_or(0)), stream).await;
        match &entry.fail {
            Some(ScriptedFailure::TroubleOnly(trouble)) => {
                Err(TurnFailure::new(*trouble, "simulated by the script"))
            }
            Some(ScriptedFailure::WithNote { trouble, note }) => {
                Err(TurnFailure::new(*trouble, note.clone()))
            }
            None => {
                let envelope = Envelope {
                    tool: turn.participant.tool().into(),
                    model_asked: turn.participant.model().map(Into::into),
                    cost: entry.cost.and_then(to_millionths),
                    ..Envelope::default()
                };
                Ok(ProviderReply { text, envelope })
            }
        }
    }
}

impl ScriptedTurn {
    fn matches(&self, turn: &TurnRequest) -> bool {
        // `judge` matches every judge: of a panel, and the mirror judge with swapped sides.
        let is_judge = matches!(turn.role, Role::Judge | Role::Mirror);
        let seat_matches = |name: &str| name == turn.seat || (name == "judge" && is_judge);
        self.seat.as_deref().is_none_or(seat_matches)
            && self.phase.as_deref().is_none_or(|phase| phase == turn.phase)
            && self.round.is_none_or(|round| round == turn.round)
            && self.attempt.is_none_or(|attempt| attempt == turn.attempt)
    }
}

/// Shortest delay between two deltas.
const MIN_DELAY: Duration = Duration::from_millis(15);

/// Streams the text word by word, spread evenly over the given time.
async fn stream_words(text: &str, time: Duration, stream: &ReplyStream) {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let max_steps = usize::try_from(time.as_millis() / MIN_DELAY.as_millis()).unwrap_or(usize::MAX);
    let steps = words.len().min(max_steps).max(1);
    let started_at = tokio::time::Instant::now();
    for step in 0..steps {
        let part = (words.len() * step / steps)..(words.len() * (step + 1) / steps);
        let due = time.mul_f64((step + 1) as f64 / steps as f64);
        tokio::time::sleep_until(started_at + due).await;
        let part = words[part].concat();
        if !part.is_empty() {
            stream.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn script_of_16_mib_is_loaded_and_a_larger_one_refused() {
        assert_eq!(MAX_SCRIPT_BYTES, 16 * 1024 * 1024);
        let mut text = String::from("{\"turns\": []}");
        text.push_str(&" ".repeat(usize::try_from(MAX_SCRIPT_BYTES).unwrap() - text.len()));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        assert!(Script::load(&path).is_ok());
        file.write_all(b" ").unwrap();
        let error = Script::load(&path).unwrap_err();
        assert!(error.contains("at most 16777216 bytes"), "{error}");
    }
}
