//! Who sits where, and what gives a seat its voice.
use super::format::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    /// Unlike any other's in this debate.
    pub name: String,
    /// What it is there to do.
    pub role: Role,
    /// Who speaks for it.
    pub voice: Voice,
    /// What its verdict or vote counts.
    pub weight: u16,
    /// What it is to argue for or care about, where the role alone does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stance: String,
    /// How it is to argue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub style: String,
    /// What kind of listener it is, by which debaters may call it and its vote is counted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

impl Seat {
    /// What it is called: whoever goes by a name of their own by that, the others by their role.
    pub fn title(&self) -> &str {
        if self.role.named() { &self.name } else { self.role.title() }
    }

    /// Who speaks for it: a voice as it is written, a bot by the name it came under.
    pub fn spoken_by(&self) -> String {
        if self.voice == Voice::Bot { self.name.clone() } else { self.voice.to_string() }
    }

    /// The same within a sentence, where a role has no capital.
    pub fn word(&self) -> String {
        if self.role.named() { self.name.clone() } else { self.role.title().to_lowercase() }
    }
}

/// Whether the engine fetches a reply or waits for one to arrive. That is all it needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// A row of the user's roster: no key or address ever enters a log.
    Model {
        /// The row's name: `claude`, `openai`, `script`.
        tool: String,
        /// What the row is asked for; none leaves the choice to the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The model of the client that called us.
    Host,
    /// A person at a terminal or a page.
    Human,
    /// A remote participant.
    Bot,
}

/// How hard every seat is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Quick.
    Low,
    /// The middle.
    Medium,
    /// Thorough.
    High,
    /// As much as the tool allows.
    Max,
}

/// Why a seat could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSeat {
    /// Nothing before the colon, or nothing at all.
    #[error("a seat is written `tool` or `tool:model`")]
    Empty,
    /// A name that could be taken for a flag, or that no vendor uses.
    #[error(
        "a tool's name has letters, digits, `.`, `_` and `-` only, and does not begin with `-`"
    )]
    Tool,
    /// The same for models, which also have `:` and `/`.
    #[error(
        "a model's name has letters, digits, `.`, `_`, `:`, `/`, `@` and `-` only, and does not begin with `-`"
    )]
    Model,
    /// A person has no model.
    #[error("`host`, `human` and `bot` take no model")]
    NoModel,
}

impl FromStr for Voice {
    type Err = BadSeat;

    /// `tool` or `tool:model`, split at the first colon. The models `auto`, `omit` and the empty
    /// one mean that none is asked for.
    fn from_str(text: &str) -> Result<Voice, BadSeat> {
        let (tool, model) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let model = Some(model.trim()).filter(|model| !matches!(*model, "" | "auto" | "omit"));
        let voice = match tool {
            "" => return Err(BadSeat::Empty),
            "host" => Voice::Host,
            "human" => Voice::Human,
            "bot" => Voice::Bot,
            tool => Voice::Model { tool: tool.into(), model: model.map(Into::into) },
        };
        if model.is_some() && !matches!(voice, Voice::Model { .. }) {
            return Err(BadSeat::NoModel);
        }
        voice.check().map(|()| voice)
    }
}

impl Voice {
    /// Names are checked when they are typed and again when they are read back: a log is not to
    /// smuggle a flag into a command line.
    pub fn check(&self) -> Result<(), BadSeat> {
        let Voice::Model { tool, model } = self else { return Ok(()) };
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if tool.is_empty() || tool.starts_with('-') || !tool.chars().all(plain) {
            return Err(BadSeat::Tool);
        }
        // A script is named by its file, which is opened and never put on a command line.
        let path = tool == "script";
        let fits = |c: char| plain(c) || ":/@".contains(c) || (path && !c.is_control());
        match model {
            Some(model) if model.starts_with('-') || !model.chars().all(fits) => {
                Err(BadSeat::Model)
            }
            _ => Ok(()),
        }
    }

    /// The tool's name, or the word for whoever is waited for.
    pub fn tool(&self) -> &str {
        match self {
            Voice::Model { tool, .. } => tool,
            Voice::Host => "host",
            Voice::Human => "human",
            Voice::Bot => "bot",
        }
    }

    /// The model asked for.
    pub fn model(&self) -> Option<&str> {
        match self {
            Voice::Model { model, .. } => model.as_deref(),
            _ => None,
        }
    }

    /// Whether two seats may be one model: where none is named, nobody knows that it is another. A
    /// person is always somebody else.
    pub fn may_be(&self, other: &Voice) -> bool {
        match (self, other) {
            (Voice::Human, _) => false,
            (Voice::Model { tool, model }, Voice::Model { tool: same, model: another }) => {
                tool == same && (model == another || model.is_none() || another.is_none())
            }
            _ => self == other,
        }
    }

    /// Whether the engine waits for its replies instead of fetching them.
    pub fn awaited(&self) -> bool {
        !matches!(self, Voice::Model { .. })
    }
}

impl fmt::Display for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model() {
            Some(model) => write!(f, "{}:{model}", self.tool()),
            None => f.write_str(self.tool()),
        }
    }
}

impl Effort {
    /// As it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        }
    }
}
