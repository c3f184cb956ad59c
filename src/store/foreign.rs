//! Parses debate files for import. A log with a valid signature of this user's key is trusted and
//! restored as it is; from any other file only the transcript (speaker and text) is read.
use super::sign::SigningKey;
use super::state_file::{SignedLog, StateFile};
use crate::debate::Side;
use crate::engine::{ArchiveError, ForeignDebate, Transcript, TranscriptTurn};
use crate::report::sanitize::strip_control_chars;
use serde_json::Value;

/// Size limit of a file in bytes.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

/// Parses a state file (with or without a signed log) or a Markdown record.
pub(super) fn parse(text: &str, key: &SigningKey) -> Result<ForeignDebate, ArchiveError> {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("it is larger than {MAX_FILE_BYTES} bytes");
        return Err(ArchiveError::UnreadableFile(message));
    }
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return parse_json(text, key);
    }
    let transcript = parse_markdown(text);
    if transcript.turns.is_empty() {
        let reason = "it is neither a state file nor a record with `## Round` headings";
        return Err(ArchiveError::UnreadableFile(reason.into()));
    }
    Ok(ForeignDebate::Transcript(transcript))
}

fn parse_json(text: &str, key: &SigningKey) -> Result<ForeignDebate, ArchiveError> {
    let unreadable = |error: serde_json::Error| ArchiveError::UnreadableFile(error.to_string());
    let file: StateFile = serde_json::from_str(text).map_err(unreadable)?;
    if let Some((log, signature)) = file.log.as_ref().and_then(split_signature)
        && key.verify(&log, &signature)
    {
        let SignedLog { setup, events } = serde_json::from_value(log).map_err(unreadable)?;
        return Ok(ForeignDebate::OwnLog(Box::new(setup), events));
    }
    let is_dialogue = file.exchanges.iter().any(|exchange| is_lead_role(&exchange.role));
    let turns = file.exchanges.into_iter().map(|exchange| {
        Some(TranscriptTurn {
            round: exchange.round,
            side: parse_side(&exchange.role)?,
            tool: exchange.tool,
            text: strip_control_chars(&exchange.response),
            duration_ms: exchange.duration_ms,
        })
    });
    let turns: Vec<_> = turns.map_while(|turn| turn).collect();
    if turns.is_empty() {
        return Err(ArchiveError::UnreadableFile("it has no turns".into()));
    }
    let rounds = last_round(&turns).max(Some(file.max_rounds).filter(|rounds| *rounds > 0));
    let topic = strip_control_chars(&file.topic);
    Ok(ForeignDebate::Transcript(Transcript {
        id: Some(file.id),
        topic,
        rounds,
        turns,
        is_dialogue,
    }))
}

fn split_signature(log: &Value) -> Option<(Value, String)> {
    let mut log = log.clone();
    let signature = log.as_object_mut()?.remove("signature")?;
    Some((log, signature.as_str()?.to_owned()))
}

fn parse_side(role: &str) -> Option<Side> {
    match role.to_lowercase().as_str() {
        "proposer" | "main agent" | "lead" | "pro" => Some(Side::Pro),
        "challenger" | "sub agent" | "partner" | "con" => Some(Side::Con),
        _ => None,
    }
}

/// Whether a role leads a dialogue, which has no winner.
fn is_lead_role(role: &str) -> bool {
    ["main agent", "lead"].contains(&role.to_lowercase().as_str())
}

/// Parses a Markdown record: the title, and for each `## Round N` the text below
/// `### Proposer (tool)` and `### Challenger (tool)`.
fn parse_markdown(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    let mut round = None;
    let mut current_turn: Option<TranscriptTurn> = None;
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let heading = line.split_once(' ').filter(|_| !fenced && line.starts_with('#'));
        match heading {
            Some(("#", title)) if transcript.topic.is_empty() => {
                let title = title.trim();
                transcript.topic =
                    strip_control_chars(title.strip_prefix("Debate:").unwrap_or(title).trim());
            }
            Some(("##", title)) => {
                transcript.turns.extend(current_turn.take().and_then(strip_record_markup));
                let number = title.trim().strip_prefix("Round ");
                round = number.and_then(|number| number.trim().parse::<u8>().ok());
            }
            Some(("###", title)) => {
                transcript.turns.extend(current_turn.take().and_then(strip_record_markup));
                let (role, tool) = title.trim().split_once('(').unwrap_or((title.trim(), ""));
                transcript.is_dialogue |= is_lead_role(role.trim());
                current_turn =
                    round.zip(parse_side(role.trim())).map(|(round, side)| TranscriptTurn {
                        round,
                        side,
                        tool: tool.trim_end_matches(')').trim().to_owned(),
                        text: String::new(),
                        duration_ms: 0,
                    });
            }
            _ => {
                if let Some(turn) = &mut current_turn {
                    turn.text.push_str(line);
                    turn.text.push('\n');
                }
            }
        }
    }
    transcript.turns.extend(current_turn.and_then(strip_record_markup));
    transcript.rounds = last_round(&transcript.turns);
    transcript
}

fn last_round(turns: &[TranscriptTurn]) -> Option<u8> {
    turns.iter().map(|turn| turn.round).max()
}

/// Removes the claims and separators that a record adds to a turn; none if no text is left.
fn strip_record_markup(turn: TranscriptTurn) -> Option<TranscriptTurn> {
    let prose = turn.text.split("\n**Claims**\n").next().unwrap_or_default();
    let prose = prose.trim().trim_end_matches("---").trim();
    let is_empty = prose.is_empty() || prose.starts_with("[INCOMPLETE]");
    (!is_empty).then(|| TranscriptTurn { text: strip_control_chars(prose), ..turn })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_32_mib_is_imported_and_a_larger_one_refused() {
        assert_eq!(MAX_FILE_BYTES, 32 * 1024 * 1024);
        let home = tempfile::tempdir().unwrap();
        let key = SigningKey::load_or_create(home.path()).unwrap();
        let record = "# Debate: One file?\n## Round 1\n### Proposer (claude)\nYes.\n";
        let mut text = " ".repeat(MAX_FILE_BYTES - record.len()) + record;
        assert!(parse(&text, &key).is_ok());
        text.push(' ');
        let error = parse(&text, &key).unwrap_err().to_string();
        assert!(error.ends_with("it is larger than 33554432 bytes"), "{error}");
    }
}
