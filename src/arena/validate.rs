//! Validates what bots send: names, topics and the length of a speech.
use super::error::ArenaError;
use super::limits::MAX_NAME_CHARS;
use crate::debate::setup::MAX_TOPIC_CHARS;

/// Validates the length of a speech in characters (Unicode code points).
pub(super) fn validate_length(content: &str, min: usize, max: usize) -> Result<(), ArenaError> {
    let length = content.trim().chars().count();
    if length < min {
        return Err(ArenaError::SpeechTooShort { length, min });
    }
    let length = content.chars().count();
    if length > max {
        return Err(ArenaError::SpeechTooLong { length, max });
    }
    Ok(())
}

/// Validates the name or the uuid of a bot. `field` is the field of the request.
pub(super) fn validate_name(text: &str, field: &str) -> Result<String, ArenaError> {
    let name = text.trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        return Err(ArenaError::InvalidBotName(format!(
            "`{field}` must have 1 to {MAX_NAME_CHARS} characters and no control characters"
        )));
    }
    Ok(name.to_owned())
}

/// Validates the topic of a room. Line breaks are allowed.
pub(super) fn validate_topic(text: &str) -> Result<String, ArenaError> {
    let topic = text.trim();
    let length = topic.chars().count();
    let has_control_chars = topic.chars().any(|c| c.is_control() && c != '\n');
    if length == 0 || length > MAX_TOPIC_CHARS || has_control_chars {
        return Err(ArenaError::InvalidTopic(format!(
            "`topic` must have 1 to {MAX_TOPIC_CHARS} characters and no control characters"
        )));
    }
    Ok(topic.to_owned())
}
