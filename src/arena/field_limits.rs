//! Validates what bots send: names, topics, numbers of rounds and the length of a speech.
use super::error::ArenaError;
use super::limits::{MAX_NAME_CHARS, VALID_ROUNDS};
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

/// Validates the number of rounds of a debate.
pub(super) fn validate_rounds(rounds: u8) -> Result<u8, ArenaError> {
    if VALID_ROUNDS.contains(&rounds) {
        return Ok(rounds);
    }
    let (min, max) = (VALID_ROUNDS.start(), VALID_ROUNDS.end());
    Err(ArenaError::InvalidTopic(format!("`total_rounds` must be {min} to {max}")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::ArenaLimits;

    #[test]
    fn debate_has_1_to_10_rounds() {
        let is_valid = |rounds: u8| validate_rounds(rounds) == Ok(rounds);
        assert_eq!([0, 1, 10, 11].map(is_valid), [false, true, true, false]);
        assert_eq!(ArenaLimits::default().default_rounds, 5);
    }

    #[test]
    fn name_of_a_bot_has_at_most_64_characters() {
        assert_eq!(MAX_NAME_CHARS, 64);
        let name = "名".repeat(MAX_NAME_CHARS);
        assert_eq!(validate_name(&name, "bot_name"), Ok(name.clone()));
        let too_long = validate_name(&format!("{name}名"), "bot_name");
        assert!(matches!(too_long, Err(ArenaError::InvalidBotName(_))), "{too_long:?}");
    }

    #[test]
    fn topic_of_a_room_has_at_most_4_000_characters() {
        assert_eq!(MAX_TOPIC_CHARS, 4_000);
        let topic = "题".repeat(MAX_TOPIC_CHARS);
        assert_eq!(validate_topic(&topic), Ok(topic.clone()));
        let too_long = validate_topic(&format!("{topic}题"));
        assert!(matches!(too_long, Err(ArenaError::InvalidTopic(_))), "{too_long:?}");
    }
}
