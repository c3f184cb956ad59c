//! Debate setup: everything that is fixed when a debate opens, stored at the start of its log. A
//! debate resumed by a newer binary keeps the format, prompts and brief (repository context) it was
//! opened with.
use crate::debate::setup::budget::Budget;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{
    Act, Format, MAX_OPEN_ROUNDS, Phase, Role, Rounds, Shortfall, Speakers, SpeakingOrder,
};
use crate::debate::setup::formats::DEFAULT_SPEECH_CHARS;
use crate::debate::setup::reviewed_change::ReviewedChange;
use crate::debate::setup::seat::{Effort, ParticipantError, Seat};
use crate::debate::text::template;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Grammar version. Incremented when phases are interpreted differently, so that an old log would
/// no longer replay. A new phase does not need it.
pub const GRAMMAR_VERSION: u8 = 1;

/// Prompt wording version. Incremented when `prompts::prompt` changes its text, so that old debates
/// keep theirs.
pub const WORDING_VERSION: u8 = 4;

fn first_wording() -> u8 {
    1
}

/// Setup of a debate, fixed when it opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Grammar version of the format.
    pub grammar: u8,
    /// Version of the prompt text around the templates.
    #[serde(default = "first_wording")]
    pub wording: u8,
    /// Public id: `debate-{time}-{four hex digits}`.
    pub id: String,
    /// Unix time in milliseconds.
    pub opened_at: i64,
    /// The question to debate.
    pub topic: String,
    /// Context for the debaters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
    /// Commit or tree that citations are verified against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// Last commit when the debate opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Paths the debate is about. Preferred where a citation matches several files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
    /// The change under review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ReviewedChange>,
    /// What the brief contains of the repository, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picked: Vec<String>,
    /// Error, if the repository could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Acts, phases and rules.
    pub format: Format,
    /// Prompt templates by phase name, and `reply.KIND` for the instructions on each reply kind.
    pub prompts: BTreeMap<String, String>,
    /// In speaking order.
    pub seats: Vec<Seat>,
    /// Seats that were assigned automatically, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Number of rounds requested.
    pub rounds: u8,
    /// Reasoning effort of all seats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Options of the format by name, such as the goal and the readers of the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<String, String>,
    /// Weight of the judges against the audience, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_share: Option<u8>,
    /// File the finished report is also written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where the debate waits for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HoldPoint>,
    /// Skip to the ending once a round has settled the debate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_when_settled: bool,
    /// Limits on size, time, concurrency and budget.
    pub limits: DebateLimits,
    /// Where the first turns came from.
    #[serde(default)]
    pub origin: Origin,
    /// Salt of the delimiters around quoted text, so that quoted speakers cannot guess them.
    #[serde(default)]
    pub salt: String,
}

/// A point at which the debate waits for the user to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Hold")]
pub enum HoldPoint {
    /// Before the first request, to confirm the plan.
    Start,
    /// Between rounds.
    Rounds,
}

/// Where the first turns of a debate came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Played here.
    #[default]
    Here,
    /// Imported from a transcript of another program or user. Only the text of its turns was used,
    /// as untrusted input.
    Transcript {
        /// Id in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// Limits on size, time, concurrency and budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Limits")]
pub struct DebateLimits {
    /// Minimum length of a speech, in characters.
    pub shortest: usize,
    /// Maximum length of a speech, in characters.
    pub longest: usize,
    /// Maximum size of a prompt, in bytes.
    pub prompt: usize,
    /// Timeout of a requested turn, in seconds. Defaults to the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_seconds: Option<u32>,
    /// Timeout of an awaited turn, in seconds. `None` waits forever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub await_seconds: Option<u32>,
    /// Maximum number of concurrent requests.
    pub at_once: u8,
    /// Initial budget. The user can change it later.
    #[serde(default)]
    pub budget: Budget,
}

impl Default for DebateLimits {
    fn default() -> DebateLimits {
        DebateLimits {
            shortest: *DEFAULT_SPEECH_CHARS.start(),
            longest: *DEFAULT_SPEECH_CHARS.end(),
            prompt: DEFAULT_PROMPT_BYTES,
            turn_seconds: None,
            await_seconds: None,
            at_once: DEFAULT_CONCURRENT_REQUESTS,
            budget: Budget::default(),
        }
    }
}

/// Maximum length of a topic, in characters.
pub const MAX_TOPIC_CHARS: usize = 4_000;
/// Maximum size of a brief, in bytes.
pub(in crate::debate) const MAX_BRIEF_BYTES: usize = 2_000_000;
/// Maximum number of acts, of phases in an act and of seats.
pub(in crate::debate) const MAX_PARTS: usize = 200;
/// Default limit on the size of a prompt, in bytes.
const DEFAULT_PROMPT_BYTES: usize = 4_000_000;
/// Default limit on the concurrent requests of a debate.
const DEFAULT_CONCURRENT_REQUESTS: u8 = 8;

/// Validation error of a setup.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages explain the variants")]
pub enum SetupError {
    #[error(
        "this debate uses grammar {0}; this program supports up to {GRAMMAR_VERSION}: update it"
    )]
    UnsupportedGrammar(u8),
    #[error("the topic is empty")]
    EmptyTopic,
    #[error("the {0} is too long: {1} of at most {2}")]
    TooLong(&'static str, usize, usize),
    #[error("phase `{0}` has no seat: add a seat with its role")]
    UnseatedPhase(String),
    #[error(
        "the debate is too large: at most {MAX_PARTS} acts, phases and seats, and \
         {MAX_OPEN_ROUNDS} rounds"
    )]
    TooManyParts,
    #[error("the last act must not be open, or the debate could not end")]
    OpenLastAct,
    #[error("the judge's share is {0} %; it must be 0 to 100 %")]
    InvalidJudgeShare(u8),
    #[error("two seats are called `{0}`")]
    DuplicateSeatName(String),
    #[error("seat `{0}`: {1}")]
    InvalidSeat(String, ParticipantError),
    #[error("prompt `{0}`: {1}")]
    InvalidPrompt(String, template::TemplateError),
}

impl Setup {
    /// Act of a cue.
    pub fn act(&self, cue: Cue) -> &Act {
        &self.format.acts[usize::from(cue.act)]
    }
    /// Phase of a cue.
    pub fn phase(&self, cue: Cue) -> &Phase {
        &self.act(cue).phases[usize::from(cue.phase)]
    }
    /// Whether the act and the phase of a cue exist.
    pub(in crate::debate) fn has_phase(&self, cue: Cue) -> bool {
        let act = self.format.acts.get(usize::from(cue.act));
        act.is_some_and(|act| usize::from(cue.phase) < act.phases.len())
    }
    /// The cues asked in the same wave as `cue`: a wave is the set of turns open at the same time.
    pub(in crate::debate) fn wave(&self, cue: Cue) -> RangeInclusive<Cue> {
        match self.phase(cue).order {
            SpeakingOrder::InTurn => cue..=cue,
            SpeakingOrder::AtOnce => Cue { seat: 0, ..cue }..=Cue { seat: u8::MAX, ..cue },
        }
    }
    /// Index of the last act, which is played even if the debate is cut short.
    pub fn ending_act(&self) -> u8 {
        self.format.acts.len().saturating_sub(1) as u8
    }

    /// Validates the setup. Both sides need a seat, and so does the first role of every required
    /// phase. A phase whose shortfall is `GoOn` may have no seats and is then skipped.
    pub fn validate(&self) -> Result<(), SetupError> {
        if self.grammar > GRAMMAR_VERSION {
            return Err(SetupError::UnsupportedGrammar(self.grammar));
        }
        self.validate_sizes()?;
        self.validate_seats(&self.seats)?;
        if let Some(share) = self.judge_share.filter(|share| *share > 100) {
            return Err(SetupError::InvalidJudgeShare(share));
        }
        for (name, text) in &self.prompts {
            template::validate(text)
                .map_err(|error| SetupError::InvalidPrompt(name.clone(), error))?;
        }
        Ok(())
    }

    fn validate_sizes(&self) -> Result<(), SetupError> {
        if self.topic.trim().is_empty() {
            return Err(SetupError::EmptyTopic);
        }
        let topic_chars = self.topic.chars().count();
        if topic_chars > MAX_TOPIC_CHARS {
            return Err(SetupError::TooLong("topic", topic_chars, MAX_TOPIC_CHARS));
        }
        if self.brief.len() > MAX_BRIEF_BYTES {
            return Err(SetupError::TooLong("brief", self.brief.len(), MAX_BRIEF_BYTES));
        }
        let acts = &self.format.acts;
        let sizes = acts.iter().map(|act| act.phases.len()).chain([acts.len(), self.seats.len()]);
        if sizes.max() > Some(MAX_PARTS) || self.rounds > MAX_OPEN_ROUNDS {
            return Err(SetupError::TooManyParts);
        }
        if acts.last().is_none_or(|act| act.rounds == Rounds::Open) {
            return Err(SetupError::OpenLastAct);
        }
        Ok(())
    }

    /// Validates a list of seats against the format.
    pub(in crate::debate) fn validate_seats(&self, seats: &[Seat]) -> Result<(), SetupError> {
        if seats.len() > MAX_PARTS {
            return Err(SetupError::TooManyParts);
        }
        for (index, seat) in seats.iter().enumerate() {
            if seats[..index].iter().any(|other| other.name == seat.name) {
                return Err(SetupError::DuplicateSeatName(seat.name.clone()));
            }
            seat.voice
                .validate()
                .map_err(|error| SetupError::InvalidSeat(seat.name.clone(), error))?;
        }
        let is_seated = |role: &Role| seats.iter().any(|seat| seat.role == *role);
        let is_vacant = |phase: &&Phase| match &phase.speakers {
            Speakers::Seated(roles) => roles.iter().enumerate().any(|(role_index, role)| {
                let is_required =
                    role.side().is_some() || (role_index == 0 && phase.short != Shortfall::GoOn);
                is_required && !is_seated(role)
            }),
            _ => false,
        };
        let mut phases = self.format.acts.iter().flat_map(|act| &act.phases);
        phases
            .find(is_vacant)
            .map_or(Ok(()), |phase| Err(SetupError::UnseatedPhase(phase.name.clone())))
    }
}
