//! MCP prompts, which clients show as slash commands, and completion of their arguments.
use super::server::McpServer;
use crate::clients::commands::{COMMANDS, ClientCommand};
use crate::engine::{DebateQuery, Workspace};
use rmcp::model::{JsonObject, Prompt, PromptArgument};

/// The prompts that clients list. Each has a single argument, because some clients split the typed
/// text into one word per argument.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |row: &ClientCommand| {
        let topic = PromptArgument::new("topic").with_description(row.argument);
        let arguments = vec![topic.with_required(row.argument_required)];
        Prompt::new(row.name, Some(row.description), Some(arguments)).with_title(row.title)
    };
    COMMANDS.iter().map(prompt).collect()
}

/// Renders a prompt with its argument. Also returns its description.
pub(super) fn render_prompt(name: &str, given: &JsonObject) -> Option<(String, &'static str)> {
    let row = COMMANDS.iter().find(|row| row.name == name)?;
    let topic = given.get("topic").and_then(|value| value.as_str()).unwrap_or_default();
    Some((row.render(&crate::report::sanitize::one_line(topic)), row.description))
}

impl McpServer {
    /// Completions for a prompt argument or a part of a resource URI, at most 100.
    pub(super) fn completions(
        &self,
        argument: &str,
        typed: &str,
        place: &Workspace,
    ) -> Vec<String> {
        let cards = || {
            let query = DebateQuery {
                root: Some(place.root.clone()),
                limit: Some(50),
                ..DebateQuery::default()
            };
            self.registry.app.archive().list(&query).unwrap_or_default().into_iter()
        };
        let all: Vec<String> = match argument {
            "topic" => cards().map(|card| card.topic).collect(),
            "id" => cards().map(|card| card.id).collect(),
            "name" => self.registry.app.formats().iter().map(|it| it.name().to_owned()).collect(),
            _ => vec![],
        };
        all.into_iter().filter(|value| value.starts_with(typed)).take(100).collect()
    }
}
