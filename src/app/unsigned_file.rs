//! [`UnsignedFile`]: a state file that this user has not signed.
use crate::engine::ports::Transcript;
use std::path::PathBuf;

/// Maximum characters of a topic in a message about an unsigned file.
const MAX_SHOWN_TOPIC_CHARS: usize = 120;
/// Maximum characters of a tool's name in such a message.
const MAX_TOOL_CHARS: usize = 30;
/// Maximum number of tools named in such a message.
const MAX_NAMED_TOOLS: usize = 4;

/// A state file from another user, or from a program that does not sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsignedFile {
    pub path: PathBuf,
    pub transcript: Transcript,
}

impl UnsignedFile {
    /// Its topic as one short line.
    pub fn topic(&self) -> String {
        truncate_line(&self.transcript.topic, MAX_SHOWN_TOPIC_CHARS)
    }

    /// The tools that speak in it, according to the file.
    pub fn speakers(&self) -> String {
        let mut names: Vec<String> = vec![];
        for turn in &self.transcript.turns {
            let name = truncate_line(&turn.tool, MAX_TOOL_CHARS);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(MAX_NAMED_TOOLS);
        if names.is_empty() { "unnamed tools".into() } else { names.join(" and ") }
    }
}

/// First `max_chars` characters of a text, on one line and without control characters.
fn truncate_line(text: &str, max_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(max_chars).collect()
}
