//! Commands the user can run from a client, rendered in the client's command format. The MCP server
//! offers the same texts as prompts.
use super::row::{Client, Form};
use crate::debate::prompt::fingerprint;
use crate::debate::template;
use std::fmt::Write;

/// A command, which is also a prompt of the MCP server.
pub struct Command {
    /// Name of the prompt.
    pub name: &'static str,
    /// Name of the command file. `None` if another command covers it.
    pub typed: Option<&'static str>,
    /// Title in menus.
    pub title: &'static str,
    pub about: &'static str,
    /// Description of the argument.
    pub topic: &'static str,
    /// Whether the argument is required.
    pub required: bool,
    words: &'static str,
}

/// All commands.
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
    /// Fills the argument into the prompt template.
    pub fn filled(&self, topic: &str) -> String {
        let value = |name: &str| if name == "topic" { topic.to_owned() } else { String::new() };
        template::render(self.words, value)
    }
}

/// Prefix of the signature line in files written by this program.
const MARK: &str = "# written by `debate init`";

/// Renders the command file of a client, with a signature line.
pub(super) fn file(client: &Client, command: &Command, name: &str) -> String {
    marked(&written(client, command, name))
}

/// Renders the command file without a signature.
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

/// Adds a signature line with the version and a hash of the text, to detect edits by the user.
fn marked(text: &str) -> String {
    let mark = format!("{MARK} {}, {}\n", env!("CARGO_PKG_VERSION"), fingerprint(text));
    match text.strip_prefix("---\n") {
        Some(rest) => format!("---\n{mark}{rest}"),
        None => format!("{mark}{text}"),
    }
}

/// Who wrote a command file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Written by this program and unchanged.
    Ours,
    /// Written by this program and then edited by the user.
    Edited,
    /// Written by the user.
    Theirs,
}

/// Detects the owner of a file by its signature line.
pub(super) fn whose(text: &str) -> Whose {
    let text = text.replace("\r\n", "\n");
    let Some(line) = text.lines().take(2).find(|line| line.starts_with(MARK)) else {
        return Whose::Theirs;
    };
    let rest = text.replacen(&format!("{line}\n"), "", 1);
    if line.ends_with(&fingerprint(&rest)) { Whose::Ours } else { Whose::Edited }
}
