//! Commands the user can run from a client, rendered in the client's command format. The MCP server
//! offers the same texts as prompts.
use super::client_spec::{ClientSpec, CommandFileFormat};
use crate::debate::prompt::fingerprint;
use crate::debate::template;
use std::fmt::Write;

/// A command, which is also a prompt of the MCP server.
pub struct ClientCommand {
    /// Name of the prompt.
    pub name: &'static str,
    /// Name of the command file. `None` if another command covers it.
    pub command_name: Option<&'static str>,
    /// Title in menus.
    pub title: &'static str,
    pub description: &'static str,
    /// Description of the argument.
    pub argument: &'static str,
    /// Whether the argument is required.
    pub argument_required: bool,
    template: &'static str,
}

/// All commands.
pub const COMMANDS: [ClientCommand; 6] = [
    ClientCommand {
        name: "debate",
        command_name: Some("debate"),
        title: "Debate a question",
        description: "Two AI tools argue a question, and a judge picks a side",
        argument: "The question",
        argument_required: true,
        template: include_str!("../../prompts/mcp/debate.md"),
    },
    ClientCommand {
        name: "review",
        command_name: Some("debate-review"),
        title: "Debate the design of a change",
        description: "The design of a change is argued before it is merged",
        argument: "The change: a branch, a commit, a file; nothing means what is not committed yet",
        argument_required: false,
        template: include_str!("../../prompts/mcp/review.md"),
    },
    ClientCommand {
        name: "resume",
        command_name: Some("debate-resume"),
        title: "Go on with a debate",
        description: "A debate that was left is taken up again, here or from another tool",
        argument: "Which: its id, or words of its question; nothing means the newest here",
        argument_required: false,
        template: include_str!("../../prompts/mcp/resume.md"),
    },
    ClientCommand {
        name: "research",
        command_name: Some("debate-research"),
        title: "Research a question from all sides",
        description: "Stances are researched in parallel, audited and judged; a report in nine \
                      sections",
        argument: "The question, or `X vs Y (model-a, model-b)`",
        argument_required: true,
        template: include_str!("../../prompts/mcp/research.md"),
    },
    ClientCommand {
        name: "dialectic",
        command_name: None,
        title: "Think something through",
        description: "A partner challenges a view with you in the loop; insights, and no winner",
        argument: "What to think through",
        argument_required: true,
        template: include_str!("../../prompts/mcp/dialectic.md"),
    },
    ClientCommand {
        name: "tribunal",
        command_name: None,
        title: "Put a motion before a court",
        description: "Ten rounds in five acts, with a judge, an audience and a vote",
        argument: "The motion",
        argument_required: true,
        template: include_str!("../../prompts/mcp/tribunal.md"),
    },
];

impl ClientCommand {
    /// Fills the argument into the prompt template.
    pub fn render(&self, topic: &str) -> String {
        let value = |name: &str| if name == "topic" { topic.to_owned() } else { String::new() };
        template::render(self.template, value)
    }
}

/// Prefix of the signature line in files written by this program.
const SIGNATURE_PREFIX: &str = "# written by `debate init`";

/// Renders the command file of a client, with a signature line.
pub(super) fn render_signed_file(
    client: &ClientSpec,
    command: &ClientCommand,
    name: &str,
) -> String {
    add_signature(&render_file(client, command, name))
}

/// Renders the command file without a signature.
pub(super) fn render_file(client: &ClientSpec, command: &ClientCommand, name: &str) -> String {
    let body = command.render(&client.arguments_placeholder);
    let mut header = vec![];
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    match client.command_format {
        CommandFileFormat::Skill => {
            header.push(format!("name: {name}"));
            let description = format!(
                "{}. Use it when I type {} or ask for a debate",
                command.description,
                client.invocation(name)
            );
            header.push(format!("description: {}", quote(&description)));
        }
        CommandFileFormat::Markdown => {
            header.push(format!("description: {}", quote(command.description)));
        }
        CommandFileFormat::Toml => {
            header.push(format!("description = {}", quote(command.description)));
        }
    }
    for (field, value) in &client.header_fields {
        header.push(format!("{field}: {}", quote(value)));
    }
    let mut text = String::new();
    match client.command_format {
        CommandFileFormat::Toml => {
            let _ =
                write!(text, "{}\nprompt = {}\n", header.join("\n"), toml_edit::Value::from(body));
        }
        CommandFileFormat::Markdown | CommandFileFormat::Skill => {
            let _ = write!(text, "---\n{}\n---\n\n{body}", header.join("\n"));
        }
    }
    text
}

/// Adds a signature line with the version and a hash of the text, to detect edits by the user.
fn add_signature(text: &str) -> String {
    let signature =
        format!("{SIGNATURE_PREFIX} {}, {}\n", env!("CARGO_PKG_VERSION"), fingerprint(text));
    match text.strip_prefix("---\n") {
        Some(rest) => format!("---\n{signature}{rest}"),
        None => format!("{signature}{text}"),
    }
}

/// Who wrote a command file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileOwner {
    /// Written by this program and unchanged.
    Ours,
    /// Written by this program and then edited by the user.
    Edited,
    /// Written by the user.
    User,
}

/// Detects the owner of a file by its signature line.
pub(super) fn detect_owner(text: &str) -> FileOwner {
    let text = text.replace("\r\n", "\n");
    let Some(line) = text.lines().take(2).find(|line| line.starts_with(SIGNATURE_PREFIX)) else {
        return FileOwner::User;
    };
    let rest = text.replacen(&format!("{line}\n"), "", 1);
    if line.ends_with(&fingerprint(&rest)) { FileOwner::Ours } else { FileOwner::Edited }
}
