//! What a user can pick from a menu, and what can be typed for its arguments.
use super::server::Server;
use crate::debate::template;
use crate::engine::{Place, Query};
use rmcp::model::{JsonObject, Prompt, PromptArgument};

/// A prompt: what it is called, what it is for, and its words.
struct Row {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    topic: &'static str,
    required: bool,
    words: &'static str,
}

const ROWS: [Row; 5] = [
    Row {
        name: "debate",
        title: "Debate a question",
        about: "Two AI tools argue a question, and a judge picks a side",
        topic: "The question",
        required: true,
        words: include_str!("../../prompts/mcp/debate.md"),
    },
    Row {
        name: "review",
        title: "Debate the design of a change",
        about: "The design of a change is argued before it is merged",
        topic: "The change: a branch, a commit, a file; nothing means what is not committed yet",
        required: false,
        words: include_str!("../../prompts/mcp/review.md"),
    },
    Row {
        name: "research",
        title: "Research a question from all sides",
        about: "Stances are researched in parallel, audited and judged; a report in nine sections",
        topic: "The question, or `X vs Y (model-a, model-b)`",
        required: true,
        words: include_str!("../../prompts/mcp/research.md"),
    },
    Row {
        name: "dialectic",
        title: "Think something through",
        about: "A partner challenges a view with you in the loop; insights, and no winner",
        topic: "What to think through",
        required: true,
        words: include_str!("../../prompts/mcp/dialectic.md"),
    },
    Row {
        name: "tribunal",
        title: "Put a motion before a court",
        about: "Ten rounds in five acts, with a judge, an audience and a vote",
        topic: "The motion",
        required: true,
        words: include_str!("../../prompts/mcp/tribunal.md"),
    },
];

/// The prompts as clients see them. Each takes a single argument: there are clients that hand the
/// words a user types to the arguments one by one.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |row: &Row| {
        let topic = PromptArgument::new("topic").with_description(row.topic);
        let arguments = vec![topic.with_required(row.required)];
        Prompt::new(row.name, Some(row.about), Some(arguments)).with_title(row.title)
    };
    ROWS.iter().map(prompt).collect()
}

/// A prompt with its arguments filled in, and what it is for.
pub(super) fn filled(name: &str, given: &JsonObject) -> Option<(String, &'static str)> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    let topic = given.get("topic").and_then(|value| value.as_str()).unwrap_or_default();
    let topic = crate::report::text::one_line(topic);
    let value = |name: &str| if name == "topic" { topic.clone() } else { String::new() };
    Some((template::fill(row.words, value), row.about))
}

impl Server {
    /// What could be typed for an argument of a prompt, or a part of an address.
    pub(super) fn completions(&self, argument: &str, typed: &str, place: &Place) -> Vec<String> {
        let cards = || {
            let query =
                Query { root: Some(place.root.clone()), limit: Some(50), ..Query::default() };
            self.hub.desk.archive().list(&query).unwrap_or_default().into_iter()
        };
        let all: Vec<String> = match argument {
            "topic" => cards().map(|card| card.topic).collect(),
            "id" => cards().map(|card| card.id).collect(),
            "name" => self.hub.desk.formats().iter().map(|it| it.name().to_owned()).collect(),
            _ => vec![],
        };
        all.into_iter().filter(|value| value.starts_with(typed)).take(100).collect()
    }
}
