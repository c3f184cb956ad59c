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

const ROWS: [Row; 2] = [
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
];

/// What every prompt takes besides the topic, and how each is told to the model.
const SEATS: [(&str, &str); 4] = [
    ("proposer", "Argues for"),
    ("challenger", "Argues against"),
    ("judge", "Rules"),
    ("rounds", "How many rounds"),
];

/// The prompts as clients see them.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |row: &Row| {
        let topic = PromptArgument::new("topic").with_description(row.topic);
        let mut arguments = vec![topic.with_required(row.required)];
        arguments.extend(SEATS.iter().map(|(name, about)| {
            PromptArgument::new(*name).with_description(*about).with_required(false)
        }));
        Prompt::new(row.name, Some(row.about), Some(arguments)).with_title(row.title)
    };
    ROWS.iter().map(prompt).collect()
}

/// A prompt with its arguments filled in, and what it is for.
pub(super) fn filled(name: &str, given: &JsonObject) -> Option<(String, &'static str)> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    let said = |name: &str| {
        let value = given.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        crate::report::text::one_line(value)
    };
    let seats: String = SEATS
        .iter()
        .filter(|(name, _)| !said(name).is_empty())
        .map(|(name, _)| format!("{name}: {}\n", said(name)))
        .collect();
    let value = |name: &str| match name {
        "topic" => said("topic"),
        "seats" => seats.clone(),
        _ => String::new(),
    };
    Some((template::fill(row.words, value), row.about))
}

impl Server {
    /// What could be typed for an argument of a prompt, or a part of an address.
    pub(super) fn completions(&self, argument: &str, typed: &str, place: &Place) -> Vec<String> {
        let all: Vec<String> = match argument {
            "proposer" | "challenger" | "judge" => {
                let seats = self.hub.desk.listing(false).into_iter();
                seats.filter(|it| it.playable && it.seat != "demo").map(|it| it.seat).collect()
            }
            "rounds" => (1..=5).map(|rounds: u8| rounds.to_string()).collect(),
            "name" => self.hub.desk.formats().map(str::to_owned).collect(),
            "id" => {
                let root = Some(place.root.clone());
                let query = Query { root, limit: Some(50), ..Query::default() };
                let cards = self.hub.desk.archive().list(&query).unwrap_or_default();
                cards.into_iter().map(|card| card.id).collect()
            }
            _ => vec![],
        };
        all.into_iter().filter(|value| value.starts_with(typed)).take(100).collect()
    }
}
