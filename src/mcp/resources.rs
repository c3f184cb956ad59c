//! Debates and formats by address: `debate://last`, `debate://{id}`, `debate://{id}/transcript`,
//! `debate://formats/{name}`.
use super::complaint::Complaint;
use super::server::Server;
use crate::debate::formats;
use crate::engine::{Place, Query};
use crate::report::view::view;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use std::fmt::Write;

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Debates in the list of resources.
const LISTED: usize = 10;

/// What addresses look like.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let row = |address: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(address, name).with_description(about).with_mime_type(kind)
    };
    vec![
        row("debate://{id}", "debate", "A debate, all of it", JSON),
        row("debate://{id}/transcript", "transcript", "A debate as it can be read", MARKDOWN),
        row(
            "debate://formats/{name}",
            "format",
            "How a format is played, and its options",
            MARKDOWN,
        ),
    ]
}

impl Server {
    pub(super) fn resources(&self, place: &Place) -> Vec<Resource> {
        let root = Some(place.root.clone());
        let query = Query { root, limit: Some(LISTED), ..Query::default() };
        let cards = self.hub.desk.archive().list(&query).unwrap_or_default();
        let mut resources: Vec<Resource> = vec![];
        if !cards.is_empty() {
            let newest = Resource::new("debate://last", "last debate");
            resources.push(newest.with_description("The newest here").with_mime_type(JSON));
        }
        for format in self.hub.desk.formats() {
            let resource = Resource::new(format!("debate://formats/{format}"), format);
            let about = "How this format is played, and its options";
            resources.push(resource.with_description(about).with_mime_type(MARKDOWN));
        }
        for card in cards {
            // A colon there would be read as a port.
            let address = format!("debate://{}/transcript", card.id.replace(':', "%3A"));
            let resource = Resource::new(address, card.id);
            resources.push(resource.with_description(card.topic).with_mime_type(MARKDOWN));
        }
        resources
    }

    /// What lies at an address; none, if nothing can.
    pub(super) fn resource(
        &self,
        address: &str,
        place: &Place,
    ) -> Result<Option<ResourceContents>, Complaint> {
        let Some(path) = address.strip_prefix("debate://") else { return Ok(None) };
        let text = |text: String, kind: &str| {
            Ok(Some(ResourceContents::text(text, address).with_mime_type(kind)))
        };
        if let Some(name) = path.strip_prefix("formats/") {
            let known = self.hub.desk.formats().any(|format| format == name);
            return if known { text(format(name), MARKDOWN) } else { Ok(None) };
        }
        let (id, part) = path.split_once('/').unwrap_or((path, ""));
        let id = id.replace("%3A", ":").replace("%3a", ":");
        if id.is_empty() {
            return Ok(None);
        }
        let id = self.meant(Some(&id), place)?;
        match part {
            "" => {
                let (_, debate, _) = self.hub.desk.read(&id)?;
                text(serde_json::to_string_pretty(&view(&debate)).unwrap_or_default(), JSON)
            }
            "transcript" => text(self.part(&id, "transcript")?, MARKDOWN),
            _ => Ok(None),
        }
    }
}

/// What a format is, and what its options are.
fn format(name: &str) -> String {
    let mut text = format!("# Format `{name}`\n\n");
    let offer = formats::offers().into_iter().find(|offer| offer.format.name == name);
    if let Some(offer) = offer {
        let (least, most) = (offer.rounds.start(), offer.rounds.end());
        let _ = write!(text, "Rounds: {least} to {most}, usually {}.\n\n", offer.usual);
        for act in &offer.format.acts {
            let phases: Vec<&str> = act.phases.iter().map(|phase| phase.name.as_str()).collect();
            let _ = writeln!(text, "- {}: {}", act.name, phases.join(", "));
        }
    }
    text + OPTIONS
}

const OPTIONS: &str = "
## Options of start_debate

Given as one object, `\"options\": {...}`.

- `confirm_plan` (true or false, usually false): nothing is asked until the user has confirmed the plan by `continue_round {\"decision\":\"confirm\"}`, changed it or cancelled.
- `pause` (true or false, usually true): after each round the floor is the user's. With false all rounds are played in one go.
- `sealed` (true or false, usually false): both sides answer before they hear each other, two turns more; the verdict then says whether the debate changed the decision, and on what.
- `stop_when_settled` (true or false, usually false): as soon as a round brings no new claim and no new evidence, or nothing is left to differ about, the judge rules.
- `probe` (true or false, usually true): each model is asked once, before the debate opens, whether it answers.
- `max_cost` (a number): the debate pauses when this much has been spent.
- `max_tokens` (a number): the debate pauses when this many were read and written.
- `max_minutes` (a number): the debate pauses when its turns have taken this long together.
- `turn_seconds` (usually 120 to 600, by tool and effort): how long a tool may take for a turn.
- `await_seconds` (usually for ever): how long a turn of `host` or `human` is waited for.

## Context

What the debaters are given besides the topic, as one string of items separated by `;`: `auto` (usual: picked from the topic and from what has changed, and said), `none`, a path or glob with lines if you like (`src/store.rs:10-40`), `diff` (the working tree), `diff=staged`, `diff=COMMIT`, `diff=BASE..HEAD`, `diff=branch` (since the default branch), `tree`, `history`, `doc=PATH`, `budget=TOKENS`, and last `note=free text`, which goes on to the end.

## Changing an open debate

`continue_round {\"decision\":\"change\",\"say\":\"rounds=3, challenger=host\"}` changes rounds, topic, proposer, challenger, judge, pause (on or off), max_cost, max_tokens, max_minutes for whoever has not been asked yet.
";
