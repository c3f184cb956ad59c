//! What a user can type or pick: the commands, as every client wants them written. The words are the
//! same everywhere, and the server offers them as prompts, too.
use super::row::{Client, Form};
use crate::debate::prompt::fingerprint;
use crate::debate::template;
use std::fmt::Write;

/// Something a user can ask for.
pub struct Command {
    /// As a prompt of the server.
    pub name: &'static str,
    /// As a command of a client; none, if it is reached by another.
    pub typed: Option<&'static str>,
    /// In a menu.
    pub title: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What is typed after it.
    pub topic: &'static str,
    /// Whether something must be.
    pub required: bool,
    words: &'static str,
}

/// Everything a user can ask for.
pub const COMMANDS: [Command; 6] = [
    Command {
        name: "debate",
        typed: Some("debate"),
        title: "Debate a question",
        about: "Two AI tools argue a question, and a judge picks a side",
        topic: "The question",
        required: true,
        words: include_str!("../../prompts/mcp/debate.md"),
    },
    Command {
        name: "review",
        typed: Some("debate-review"),
        title: "Debate the design of a change",
        about: "The design of a change is argued before it is merged",
        topic: "The change: a branch, a commit, a file; nothing means what is not committed yet",
        required: false,
        words: include_str!("../../prompts/mcp/review.md"),
    },
    Command {
        name: "resume",
        typed: Some("debate-resume"),
        title: "Go on with a debate",
        about: "A debate that was left is taken up again, here or from another tool",
        topic: "Which: its id, or words of its question; nothing means the newest here",
        required: false,
        words: include_str!("../../prompts/mcp/resume.md"),
    },
    Command {
        name: "research",
        typed: Some("debate-research"),
        title: "Research a question from all sides",
        about: "Stances are researched in parallel, audited and judged; a report in nine sections",
        topic: "The question, or `X vs Y (model-a, model-b)`",
        required: true,
        words: include_str!("../../prompts/mcp/research.md"),
    },
    Command {
        name: "dialectic",
        typed: None,
        title: "Think something through",
        about: "A partner challenges a view with you in the loop; insights, and no winner",
        topic: "What to think through",
        required: true,
        words: include_str!("../../prompts/mcp/dialectic.md"),
    },
    Command {
        name: "tribunal",
        typed: None,
        title: "Put a motion before a court",
        about: "Ten rounds in five acts, with a judge, an audience and a vote",
        topic: "The motion",
        required: true,
        words: include_str!("../../prompts/mcp/tribunal.md"),
    },
];

impl Command {
    /// Its words, about this.
    pub fn filled(&self, topic: &str) -> String {
        let value = |name: &str| if name == "topic" { topic.to_owned() } else { String::new() };
        template::fill(self.words, value)
    }
}

/// What begins the line by which a file of ours is known.
const MARK: &str = "# written by `debate init`";

/// A command as a file of a client, with the line by which we know it again.
pub(super) fn file(client: &Client, command: &Command, name: &str) -> String {
    marked(&written(client, command, name))
}

/// A command as a client wants it written.
pub(super) fn written(client: &Client, command: &Command, name: &str) -> String {
    let words = command.filled(&client.words);
    let mut head = vec![];
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match client.form {
        Form::Skill => {
            head.push(format!("name: {name}"));
            let when = format!(
                "{}. Use it when I type {} or ask for a debate",
                command.about,
                client.types(name)
            );
            head.push(format!("description: {}", quoted(&when)));
        }
        Form::Markdown => head.push(format!("description: {}", quoted(command.about))),
        Form::Toml => head.push(format!("description = {}", quoted(command.about))),
    }
    for (field, value) in &client.head {
        head.push(format!("{field}: {}", quoted(value)));
    }
    let mut text = String::new();
    match client.form {
        Form::Toml => {
            let _ =
                write!(text, "{}\nprompt = {}\n", head.join("\n"), toml_edit::Value::from(words));
        }
        Form::Markdown | Form::Skill => {
            let _ = write!(text, "---\n{}\n---\n\n{words}", head.join("\n"));
        }
    }
    text
}

/// The text with a line that tells whether anybody has changed it since.
fn marked(text: &str) -> String {
    let mark = format!("{MARK} {}, {}\n", env!("CARGO_PKG_VERSION"), fingerprint(text));
    match text.strip_prefix("---\n") {
        Some(rest) => format!("---\n{mark}{rest}"),
        None => format!("{mark}{text}"),
    }
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Ours, as we wrote it.
    Ours,
    /// Ours, and changed since.
    Edited,
    /// Somebody else's.
    Theirs,
}

/// Whose a file is, by the line in it.
pub(super) fn whose(text: &str) -> Whose {
    let text = text.replace("\r\n", "\n");
    let Some(line) = text.lines().take(2).find(|line| line.starts_with(MARK)) else {
        return Whose::Theirs;
    };
    let rest = text.replacen(&format!("{line}\n"), "", 1);
    if line.ends_with(&fingerprint(&rest)) { Whose::Ours } else { Whose::Edited }
}
