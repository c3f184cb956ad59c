//! Everything a debate needs to know about the world, captured once. A debate resumed next year by
//! a newer binary runs under the format, prompts and brief it was opened with.
use super::envelope::Spend;
use super::event::Cue;
use super::format::{Act, Format, OPEN_LIMIT, Phase, Role, Rounds, Shortfall, Speakers};
use super::formats::LENGTHS;
use super::proposed::Proposed;
use super::seat::{BadSeat, Effort, Seat};
use super::template;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Raised when an old log would no longer replay: a new way to read a row, not a new row.
pub const GRAMMAR: u8 = 1;

/// Raised when [`super::prompt`] words something otherwise, so that it can word old debates as it
/// did.
pub const WORDING: u8 = 3;

fn first_wording() -> u8 {
    1
}

/// What is fixed when a debate opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// How the format is to be read.
    pub grammar: u8,
    /// How prompts are worded around the templates.
    #[serde(default = "first_wording")]
    pub wording: u8,
    /// The debate's name outside: `debate-{time}-{four hex digits}`.
    pub id: String,
    /// Milliseconds since 1970.
    pub opened_at: i64,
    /// The question.
    pub topic: String,
    /// What the debaters are given besides it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
    /// The commit or tree the evidence is checked against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The last commit there was when it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Paths it is about: where a citation could mean several files, one of these is meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
    /// The change it reviews, if it reviews one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Proposed>,
    /// What of the repository the debaters were given, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picked: Vec<String>,
    /// Why nobody could read the repository, if there was one and it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The table it is played by.
    pub format: Format,
    /// By the name of the phase, and `reply.KIND` for what is said about each kind of reply.
    pub prompts: BTreeMap<String, String>,
    /// In the order they speak.
    pub seats: Vec<Seat>,
    /// Who was seated without being named, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// How many rounds were asked for.
    pub rounds: u8,
    /// How hard everyone is to think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// What a format wants to know besides, by name: the goal, who will read the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<String, String>,
    /// What the judge counts beside an audience, in hundredths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_share: Option<u8>,
    /// Where the finished report is written, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where the floor is the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// Whether it goes to its ending as soon as there is nothing left to say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_when_settled: bool,
    /// How much of everything there may be.
    pub limits: Limits,
    /// Where the first turns came from.
    #[serde(default)]
    pub origin: Origin,
    /// Makes the marks around quoted text unguessable to those who are quoted.
    #[serde(default)]
    pub salt: String,
}

/// Where the floor is the user's until they let it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Before anything is spent: the plan is to be confirmed.
    Start,
    /// Between rounds.
    Rounds,
}

/// Where the first turns of a debate came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// They were taken here.
    #[default]
    Here,
    /// A transcript of another program or another user was read in: its turns are somebody's
    /// words, and nothing else of it was believed.
    Transcript {
        /// The id it had there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// How much of everything there may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Characters of a speech, at least.
    pub shortest: usize,
    /// Characters of a speech, at most.
    pub longest: usize,
    /// Bytes of a prompt.
    pub prompt: usize,
    /// Seconds a fetched turn may take; as long as its tool usually may, if nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_seconds: Option<u32>,
    /// Seconds an awaited turn may take; none is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub await_seconds: Option<u32>,
    /// How many turns may be fetched at the same time.
    pub at_once: u8,
    /// Until more is granted.
    #[serde(default)]
    pub budget: Budget,
}

/// What may be spent in all. What is not said is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Millionths of the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Of turns in flight, added up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            shortest: *LENGTHS.start(),
            longest: *LENGTHS.end(),
            prompt: 4_000_000,
            turn_seconds: None,
            await_seconds: None,
            at_once: 8,
            budget: Budget::default(),
        }
    }
}

/// Characters of a topic.
pub const LONGEST_TOPIC: usize = 4_000;
/// Bytes of a brief.
pub const LONGEST_BRIEF: usize = 2_000_000;

/// Why a setup cannot be played.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Unfit {
    #[error("this debate follows grammar {0}; this program reads up to {GRAMMAR}")]
    Grammar(u8),
    #[error("the topic is empty")]
    NoTopic,
    #[error("the {0} is too long: {1} of at most {2}")]
    TooLong(&'static str, usize, usize),
    #[error("nobody is seated to `{0}`")]
    Vacant(String),
    #[error("too much: at most 200 acts, phases and seats, and {OPEN_LIMIT} rounds")]
    Crowded,
    #[error("the last act is open, so nothing could end it")]
    Endless,
    #[error("the judge's share is {0}; it must be 0 to 100 in a hundred")]
    Share(u8),
    #[error("two seats are called `{0}`")]
    Namesakes(String),
    #[error("seat `{0}`: {1}")]
    Seat(String, BadSeat),
    #[error("prompt `{0}`: {1}")]
    Prompt(String, template::Bad),
}

impl Setup {
    /// The act a cue belongs to.
    pub fn act(&self, cue: Cue) -> &Act {
        &self.format.acts[usize::from(cue.act)]
    }
    /// The row a cue belongs to.
    pub fn phase(&self, cue: Cue) -> &Phase {
        &self.act(cue).phases[usize::from(cue.phase)]
    }
    /// Whether there is such an act and such a phase in it.
    pub fn knows(&self, cue: Cue) -> bool {
        let act = self.format.acts.get(usize::from(cue.act));
        act.is_some_and(|act| usize::from(cue.phase) < act.phases.len())
    }
    /// The last act: what a debate that is cut short still goes through.
    pub fn ending(&self) -> u8 {
        self.format.acts.len().saturating_sub(1) as u8
    }

    /// Both sides must be seated, and whoever a vital phase names first. What the debate can do
    /// without may have nobody seated: that is how a phase is left out.
    pub fn check(&self) -> Result<(), Unfit> {
        if self.grammar > GRAMMAR {
            return Err(Unfit::Grammar(self.grammar));
        }
        self.check_sizes()?;
        self.check_seats(&self.seats)?;
        if let Some(share) = self.judge_share.filter(|share| *share > 100) {
            return Err(Unfit::Share(share));
        }
        for (name, text) in &self.prompts {
            template::check(text).map_err(|bad| Unfit::Prompt(name.clone(), bad))?;
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Unfit> {
        if self.topic.trim().is_empty() {
            return Err(Unfit::NoTopic);
        }
        let topic = self.topic.chars().count();
        if topic > LONGEST_TOPIC {
            return Err(Unfit::TooLong("topic", topic, LONGEST_TOPIC));
        }
        if self.brief.len() > LONGEST_BRIEF {
            return Err(Unfit::TooLong("brief", self.brief.len(), LONGEST_BRIEF));
        }
        let acts = &self.format.acts;
        let crowd = acts.iter().map(|act| act.phases.len()).chain([acts.len(), self.seats.len()]);
        if crowd.max() > Some(200) || self.rounds > OPEN_LIMIT {
            return Err(Unfit::Crowded);
        }
        if acts.last().is_none_or(|act| act.rounds == Rounds::Open) {
            return Err(Unfit::Endless);
        }
        Ok(())
    }

    /// Whether these could be the seats of this debate.
    pub fn check_seats(&self, seats: &[Seat]) -> Result<(), Unfit> {
        if seats.len() > 200 {
            return Err(Unfit::Crowded);
        }
        for (at, seat) in seats.iter().enumerate() {
            if seats[..at].iter().any(|other| other.name == seat.name) {
                return Err(Unfit::Namesakes(seat.name.clone()));
            }
            seat.voice.check().map_err(|bad| Unfit::Seat(seat.name.clone(), bad))?;
        }
        let seated = |role: &Role| seats.iter().any(|seat| seat.role == *role);
        let vacant = |phase: &&Phase| match &phase.speakers {
            Speakers::Seated(roles) => roles.iter().enumerate().any(|(nth, role)| {
                let vital = role.side().is_some() || (nth == 0 && phase.short != Shortfall::GoOn);
                vital && !seated(role)
            }),
            _ => false,
        };
        let mut phases = self.format.acts.iter().flat_map(|act| &act.phases);
        phases.find(vacant).map_or(Ok(()), |phase| Err(Unfit::Vacant(phase.name.clone())))
    }
}

impl Budget {
    /// Whether there is nothing left of something that is limited.
    pub fn exhausted(&self, spent: Spend) -> bool {
        let over = |limit: Option<u64>, spent: u64| limit.is_some_and(|limit| spent >= limit);
        over(self.cost, spent.cost)
            || over(self.tokens, spent.tokens)
            || over(self.milliseconds, spent.milliseconds)
    }
}
