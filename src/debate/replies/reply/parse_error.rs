//! Parse errors of replies.
use crate::debate::setup::format::ReplyKind;
use std::fmt;

/// Parse error of a reply. It is the feedback for the retry and is shown to the user, so the
/// message is limited to 200 characters and says what to fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyParseError {
    /// Expected kind of reply.
    pub kind: ReplyKind,
    /// Machine-readable error code.
    pub code: &'static str,
    pub message: String,
}

/// Maximum length of a displayed parse error, in characters.
const MAX_ERROR_CHARS: usize = 200;

impl fmt::Display for ReplyParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let message: String = self.message.chars().filter(|c| !c.is_control()).collect();
        let line = format!("PARSE_ERROR:{kind}:{}: {message}", self.code);
        f.write_str(&truncate_at_word(&line, MAX_ERROR_CHARS))
    }
}

/// Truncates at a word boundary and closes an open backtick.
fn truncate_at_word(line: &str, max_chars: usize) -> String {
    if line.chars().count() <= max_chars {
        return line.to_owned();
    }
    let truncated: String = line.chars().take(max_chars - 2).collect();
    let truncated = truncated.rsplit_once(' ').map_or(truncated.as_str(), |(before, _)| before);
    let has_open_backtick = truncated.matches('`').count() % 2 == 1;
    format!("{}{} …", truncated.trim_end_matches(','), if has_open_backtick { "`" } else { "" })
}

impl std::error::Error for ReplyParseError {}

/// Error code and message of a parse error whose reply kind is added later.
pub(super) struct ParseFault(pub(super) &'static str, pub(super) String);

impl ParseFault {
    pub(super) fn with_kind(self, kind: ReplyKind) -> ReplyParseError {
        ReplyParseError { kind, code: self.0, message: self.1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_error_has_at_most_200_characters() {
        assert_eq!(MAX_ERROR_CHARS, 200);
        let error_of = |message_chars: usize| {
            let message = "x".repeat(message_chars);
            ReplyParseError { kind: ReplyKind::Vote, code: "not_json", message }.to_string()
        };
        let prefix_chars = error_of(0).chars().count();
        let longest = error_of(MAX_ERROR_CHARS - prefix_chars);
        assert!(longest.ends_with('x') && longest.chars().count() == MAX_ERROR_CHARS, "{longest}");
        let truncated = error_of(MAX_ERROR_CHARS - prefix_chars + 1);
        assert!(truncated.ends_with('…'), "{truncated}");
        assert!(truncated.chars().count() <= MAX_ERROR_CHARS, "{truncated}");
    }
}
