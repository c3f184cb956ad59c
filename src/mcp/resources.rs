//! MCP resources, by URI: `debate://last`, `debate://{id}`, `debate://{id}/transcript`,
//! `debate://formats/{name}`.
use super::error::ToolError;
use super::mcp_server::McpServer;
use crate::engine::{CatalogEntry, DebateQuery, Workspace};
use crate::report::view::debate_view;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Limit of debates in the resource list.
const MAX_LISTED_RESOURCES: usize = 10;

/// The URI templates.
pub(super) fn resource_templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str, mime_type: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(mime_type)
    };
    vec![
        template("debate://{id}", "debate", "A debate, all of it", JSON),
        template("debate://{id}/transcript", "transcript", "A debate as it can be read", MARKDOWN),
        template(
            "debate://formats/{name}",
            "format",
            "How a format is played, and its options",
            MARKDOWN,
        ),
    ]
}

impl McpServer {
    pub(super) async fn debate_resources(&self, workspace: &Workspace) -> Vec<Resource> {
        let root = Some(workspace.root.clone());
        let query =
            DebateQuery { root, limit: Some(MAX_LISTED_RESOURCES), ..DebateQuery::default() };
        let cards = self.registry.app.archive().queries.list(&query).await.unwrap_or_default();
        let mut resources: Vec<Resource> = vec![];
        if !cards.is_empty() {
            let newest = Resource::new("debate://last", "last debate");
            resources.push(newest.with_description("The newest here").with_mime_type(JSON));
        }
        for format in self.registry.app.formats().iter().map(CatalogEntry::name) {
            let resource = Resource::new(format!("debate://formats/{format}"), format);
            let description = "How this format is played, and its options";
            resources.push(resource.with_description(description).with_mime_type(MARKDOWN));
        }
        for card in cards {
            // A colon in the authority of the URI would be parsed as a port.
            let uri = format!("debate://{}/transcript", card.id.replace(':', "%3A"));
            let resource = Resource::new(uri, card.id);
            resources.push(resource.with_description(card.topic).with_mime_type(MARKDOWN));
        }
        resources
    }

    /// Reads a resource. None if the URI is unknown.
    pub(super) async fn find_resource(
        &self,
        uri: &str,
        workspace: &Workspace,
    ) -> Result<Option<ResourceContents>, ToolError> {
        let Some(path) = uri.strip_prefix("debate://") else { return Ok(None) };
        let text = |text: String, mime_type: &str| {
            Ok(Some(ResourceContents::text(text, uri).with_mime_type(mime_type)))
        };
        if let Some(name) = path.strip_prefix("formats/") {
            let entry = self.registry.app.formats().iter().find(|format| format.name() == name);
            return entry.map_or(Ok(None), |entry| text(render_format(entry), MARKDOWN));
        }
        let (id, part) = path.split_once('/').unwrap_or((path, ""));
        let id = id.replace("%3A", ":").replace("%3a", ":");
        if id.is_empty() {
            return Ok(None);
        }
        let id = self.resolve_debate(Some(&id), workspace).await?.id;
        match part {
            "" => {
                let (_, debate, _) = self.registry.app.read(&id).await?;
                text(serde_json::to_string_pretty(&debate_view(&debate)).unwrap_or_default(), JSON)
            }
            "transcript" => text(self.render_part(&id, "transcript").await?, MARKDOWN),
            _ => Ok(None),
        }
    }
}

/// Renders the documentation of a format and of the options of `start_debate`.
fn render_format(entry: &CatalogEntry) -> String {
    crate::report::format_description::describe_format(&entry.offer) + OPTIONS_REFERENCE
}

const OPTIONS_REFERENCE: &str = "
## Options of start_debate

Given as one object, `\"options\": {...}`.

- `review` (true or false, usually false): the change in `context` (`diff`, `diff=staged`, `diff=COMMIT`, `diff=BASE..HEAD`) is reviewed before it is merged: the proposer argues for merging it as designed, the challenger for changing the design first; the result has `findings`. The topic is what the user wants to know about it.
- `confirm_plan` (true or false, usually true in research, else false): nothing is asked until the user has confirmed the plan by `continue_round {\"decision\":\"confirm\"}`, changed it or cancelled.
- `pause` (true or false, usually true): after each round the floor is the user's. With false all rounds are played in one go.
- `sealed` (true or false, usually false): both sides answer before they hear each other, two turns more; the verdict then says whether the debate changed the decision, and on what.
- `stop_when_settled` (true or false, usually false): as soon as a round brings no new claim and no new evidence, or nothing is left to differ about, the judge rules.
- `probe` (true or false, usually true): each model is asked once, before the debate opens, whether it answers.
- `max_cost` (a number): the debate pauses when this much has been spent.
- `max_tokens` (a number): the debate pauses when this many were read and written.
- `max_minutes` (a number): the debate pauses when its turns have taken this long together.
- `turn_seconds` (usually 120 to 600, by tool and effort): how long a tool may take for a turn.
- `await_seconds` (usually for ever): how long a turn of `host` or `human` is waited for.
- `model` (a seat, or a model such as `gpt-5.5`): speaks for every seat nobody else was named for.
- `judges` (a list of seats): a panel; each also rules with the sides swapped. The split and the margin are shown.
- `stances`, `styles` (`{\"pro\": \"...\", \"con\": \"...\"}`): what the sides are to hold, and how they are to argue.

In research:

- `roles` (two to four of `{\"name\": \"...\", \"stance\": \"...\", \"model\": \"...\"}`, model optional): usually Proponent and Opponent. A topic such as `X vs Y (model-a, model-b)` names its sides and models itself.
- `goal`: the question behind the topic. `audience` (self, team, public): who reads the report. `decision_type` (personal-choice, team-standardization, market-analysis): what the recommendation must contain.
- `evidence_round` (auto, true, false): whether every factual claim is tagged; auto does so if the topic asks about performance, cost, security, market data or figures, and in doubt not.
- `output_path`: a new Markdown file inside the repository for the finished report; it is in `show_debate {\"part\":\"report\"}` in any case.

In dialectic the proposer leads (usually you) and the challenger questions; `partners` (a list of seats) adds more. After each round `decision` is continue, deepen, steer or end. Nobody wins.

In tribunal:

- `listeners` (a list of `{\"type\": \"risk-averse\", \"model\": \"...\", \"weight\": 1}`): usually one of each type, rational-logic, practical-feasibility, technology-forward, risk-averse, emotional-resonance; `human` lets the user vote.
- `judge_share`, `audience_share` (usually 0.5 each, together 1): what the judge's marks and rulings count, and what the votes count.
- `same_judge` (true): one of those who argue may judge, and the verdict says so.

## Context

What the debaters are given besides the topic, as one string of items separated by `;`: `auto` (usual: picked from the topic and from what has changed, and said), `none`, a path or glob with lines if you like (`src/store.rs:10-40`), `diff` (the working tree), `diff=staged`, `diff=COMMIT`, `diff=BASE..HEAD`, `diff=branch` (since the default branch), `tree`, `history`, `doc=PATH`, `budget=TOKENS`, and last `note=free text`, which goes on to the end.

## Changing an open debate

`continue_round {\"decision\":\"change\",\"say\":\"rounds=3, challenger=host\"}` changes rounds, topic, proposer, challenger, judge, any seat by its name, pause (on or off), max_cost, max_tokens, max_minutes for whoever has not been asked yet; before anything was said also goal, audience, decision_type and evidence_round (on or off).
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::args::OPTION_NAMES;
    use crate::options::DebateOptions;

    /// Options that are arguments of their own.
    const ARGUMENTS: &[&str] =
        &["challenger", "context", "effort", "format", "judge", "proposer", "rounds"];

    #[test]
    fn every_option_is_documented_for_models() {
        for name in DebateOptions::names() {
            if ARGUMENTS.contains(&name.as_str()) {
                continue;
            }
            assert!(OPTIONS_REFERENCE.contains(&format!("`{name}`")), "`{name}` is not documented");
            assert!(OPTION_NAMES.contains(&name), "`{name}` is not named in the error");
        }
    }
}
