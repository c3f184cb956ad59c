//! Seats of a debate, and the participants that play them: a model, the host, a person or a bot.
//! Main types: [`Seat`] and [`Participant`], parsed from `tool:model` as the user writes it. The
//! engine requests the turns of models and waits for those of all others
//! ([`Participant::is_awaited`]).
use crate::debate::setup::format::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One seat of a debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    /// Unique within the debate.
    pub name: String,
    pub role: Role,
    /// Who plays the seat.
    pub voice: Participant,
    /// Weight of its verdict or vote.
    pub weight: u16,
    /// Position to argue for or interest to represent, where the role alone does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stance: String,
    /// Style of arguing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub style: String,
    /// Listener type, by which debaters can call it and votes are grouped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

impl Seat {
    /// Display name: the seat's own name if its role can have several seats, else the role's title.
    pub fn title(&self) -> &str {
        if self.role.has_named_seats() { &self.name } else { self.role.title() }
    }

    /// Name of the participant: `tool:model`, or the seat's name for a bot.
    pub fn participant_name(&self) -> String {
        if self.voice == Participant::Bot { self.name.clone() } else { self.voice.to_string() }
    }

    /// As [`Seat::title`], with a role in lower case for use within a sentence.
    pub fn title_in_sentence(&self) -> String {
        if self.role.has_named_seats() {
            self.name.clone()
        } else {
            self.role.title().to_lowercase()
        }
    }
}

/// Who plays a seat. The engine requests the replies of models and waits for all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Voice")]
pub enum Participant {
    /// A configured provider, by name. API keys and URLs are never stored in the log.
    Model {
        /// Provider name: `claude`, `openai`, `script`.
        tool: String,
        /// Requested model. `None` uses the tool's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The model of the MCP client that called the server.
    Host,
    /// A person at a terminal or in a browser.
    Human,
    /// A remote bot.
    Bot,
}

/// Reasoning effort requested from every seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Short reasoning, for speed and cost.
    Low,
    /// The default of most tools.
    Medium,
    /// Thorough reasoning.
    High,
    /// As much as the tool allows.
    Max,
}

/// Parse or validation error of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParticipantError {
    /// Empty, or nothing before the colon.
    #[error("a seat is written `tool` or `tool:model`")]
    Empty,
    /// Invalid characters, or it could be mistaken for a command-line flag.
    #[error(
        "a tool's name has letters, digits, `.`, `_` and `-` only, and does not begin with `-`"
    )]
    InvalidTool,
    /// Invalid characters, or it could be mistaken for a command-line flag.
    #[error(
        "a model's name has letters, digits, `.`, `_`, `:`, `/`, `@` and `-` only, and does not begin with `-`"
    )]
    InvalidModel,
    #[error("`host`, `human` and `bot` take no model")]
    UnexpectedModel,
}

impl FromStr for Participant {
    type Err = ParticipantError;

    /// Parses `tool` or `tool:model`, split at the first colon. The models `auto`, `omit` and the
    /// empty string request no particular model.
    fn from_str(text: &str) -> Result<Participant, ParticipantError> {
        let (tool, model) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let model = Some(model.trim()).filter(|model| !matches!(*model, "" | "auto" | "omit"));
        let voice = match tool {
            "" => return Err(ParticipantError::Empty),
            "host" => Participant::Host,
            "human" => Participant::Human,
            "bot" => Participant::Bot,
            tool => Participant::Model { tool: tool.into(), model: model.map(Into::into) },
        };
        if model.is_some() && !matches!(voice, Participant::Model { .. }) {
            return Err(ParticipantError::UnexpectedModel);
        }
        voice.validate().map(|()| voice)
    }
}

impl Participant {
    /// Validates the tool and model names. Runs on input and again when a log is read, so that a
    /// stored name cannot inject a flag into a command line.
    pub fn validate(&self) -> Result<(), ParticipantError> {
        let Participant::Model { tool, model } = self else { return Ok(()) };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if tool.is_empty() || tool.starts_with('-') || !tool.chars().all(is_plain) {
            return Err(ParticipantError::InvalidTool);
        }
        // A script is named by its path, which is opened and never put on a command line.
        let is_script = tool == "script";
        let is_allowed =
            |c: char| is_plain(c) || ":/@".contains(c) || (is_script && !c.is_control());
        match model {
            Some(model) if model.starts_with('-') || !model.chars().all(is_allowed) => {
                Err(ParticipantError::InvalidModel)
            }
            _ => Ok(()),
        }
    }

    /// Tool name, or `host`, `human` or `bot`.
    pub fn tool(&self) -> &str {
        match self {
            Participant::Model { tool, .. } => tool,
            Participant::Host => "host",
            Participant::Human => "human",
            Participant::Bot => "bot",
        }
    }

    /// Requested model.
    pub fn model(&self) -> Option<&str> {
        match self {
            Participant::Model { model, .. } => model.as_deref(),
            _ => None,
        }
    }

    /// Whether two participants may be the same model. An unnamed model can be any of its tool's. A
    /// person is never the same.
    pub fn may_be_same_model(&self, other: &Participant) -> bool {
        match (self, other) {
            (Participant::Human, _) => false,
            (
                Participant::Model { tool, model },
                Participant::Model { tool: other_tool, model: other_model },
            ) => {
                tool == other_tool
                    && (model == other_model || model.is_none() || other_model.is_none())
            }
            _ => self == other,
        }
    }

    /// Whether the engine waits for its replies instead of requesting them.
    pub fn is_awaited(&self) -> bool {
        !matches!(self, Participant::Model { .. })
    }
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model() {
            Some(model) => write!(f, "{}:{model}", self.tool()),
            None => f.write_str(self.tool()),
        }
    }
}

impl Effort {
    /// Name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        }
    }
}

#[cfg(test)]
mod tests;
