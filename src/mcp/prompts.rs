//! What a user can pick from a menu, and what can be typed for its arguments.
use super::server::Server;
use crate::clients::commands::{COMMANDS, Command};
use crate::engine::{Place, Query};
use rmcp::model::{JsonObject, Prompt, PromptArgument};

/// The prompts as clients see them. Each takes a single argument: there are clients that hand the
/// words a user types to the arguments one by one.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |row: &Command| {
        let topic = PromptArgument::new("topic").with_description(row.topic);
        let arguments = vec![topic.with_required(row.required)];
        Prompt::new(row.name, Some(row.about), Some(arguments)).with_title(row.title)
    };
    COMMANDS.iter().map(prompt).collect()
}

/// A prompt with its arguments filled in, and what it is for.
pub(super) fn filled(name: &str, given: &JsonObject) -> Option<(String, &'static str)> {
    let row = COMMANDS.iter().find(|row| row.name == name)?;
    let topic = given.get("topic").and_then(|value| value.as_str()).unwrap_or_default();
    Some((row.filled(&crate::report::text::one_line(topic)), row.about))
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
