//! MCP prompts, which clients show as slash commands, and completion of their arguments.
use super::mcp_server::McpServer;
use crate::clients::commands::{COMMANDS, ClientCommand};
use crate::engine::{DebateQuery, Workspace};
use rmcp::model::{JsonObject, Prompt, PromptArgument};

/// Completions in one response, the maximum of the MCP specification.
const MAX_COMPLETIONS: usize = 100;
/// Most recent debates whose topic or id is offered as a completion.
const MAX_COMPLETED_DEBATES: usize = 50;

/// The prompts that clients list. Each has a single argument, because some clients split the typed
/// text into one word per argument.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |command: &ClientCommand| {
        let topic = PromptArgument::new("topic").with_description(command.argument);
        let arguments = vec![topic.with_required(command.argument_required)];
        Prompt::new(command.name, Some(command.description), Some(arguments))
            .with_title(command.title)
    };
    COMMANDS.iter().map(prompt).collect()
}

/// Renders a prompt with its argument. Also returns its description.
pub(super) fn render_prompt(name: &str, arguments: &JsonObject) -> Option<(String, &'static str)> {
    let command = COMMANDS.iter().find(|command| command.name == name)?;
    let topic = arguments.get("topic").and_then(|value| value.as_str()).unwrap_or_default();
    Some((command.render(&crate::report::sanitize::one_line(topic)), command.description))
}

impl McpServer {
    /// Completions for a prompt argument or a part of a resource URI.
    pub(super) async fn completions(
        &self,
        argument: &str,
        prefix: &str,
        workspace: &Workspace,
    ) -> Vec<String> {
        let cards = async || {
            let query = DebateQuery {
                root: Some(workspace.root.clone()),
                limit: Some(MAX_COMPLETED_DEBATES),
                ..DebateQuery::default()
            };
            self.registry.app.archive().queries.list(&query).await.unwrap_or_default().into_iter()
        };
        let candidates: Vec<String> = match argument {
            "topic" => cards().await.map(|card| card.topic).collect(),
            "id" => cards().await.map(|card| card.id).collect(),
            "name" => self.registry.app.formats().iter().map(|it| it.name().to_owned()).collect(),
            _ => vec![],
        };
        candidates
            .into_iter()
            .filter(|value| value.starts_with(prefix))
            .take(MAX_COMPLETIONS)
            .collect()
    }
}
