//! The grammar. A format is acts, an act is phases, a phase is one row of a table.
//!
//! There is no condition in it, because none is needed. *When* something happens is said by the
//! acts: what differs in the first round, the third or the last stands in an act of its own.
//! *Whether* it happens is said by the seats: an audit takes place if an auditor is seated.
use super::body::Kind;
use super::rules::{Rule, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The last act is the ending: whatever cuts a debate short leads there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Format {
    /// What users call it.
    pub name: String,
    /// In the order they are played.
    pub acts: Vec<Act>,
}

/// A stretch of rounds in which the same things happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Act {
    /// What the record calls it.
    pub name: String,
    /// Where it stops.
    pub rounds: Rounds,
    /// What happens in each of its rounds, in order.
    pub phases: Vec<Phase>,
}

/// Where an act stops. It begins in the round after the one before it, so acts cannot overlap or
/// leave a gap, and a shorter debate shortens the middle and keeps its beginning and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounds {
    /// Once, outside the count, as round 0: an inquiry, a verdict.
    Once,
    /// Through this round, or the last one if fewer were asked for.
    Through(u8),
    /// Until this many of the rounds asked for are left.
    Leaving(u8),
    /// Until someone ends it. The rounds asked for are then only advice.
    Open,
}

/// Even an open act stops somewhere: everything has a limit.
pub const OPEN_LIMIT: u8 = 100;

/// One thing its speakers do, once per round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Also the name of its prompt, so two rows of one name are asked alike.
    pub name: String,
    /// Whose turn it is.
    pub speakers: Speakers,
    /// One after another, or together.
    pub order: Order,
    /// What of the record reaches them.
    pub hears: Hears,
    /// What they are to answer with.
    pub reply: Kind,
    /// How many must not fail.
    pub quorum: Quorum,
    /// What too few lead to.
    pub short: Shortfall,
    /// What is asked of a reply, and how much each rule weighs.
    pub rules: Vec<(Rule, Weight)>,
    /// Whether they may look things up on the web.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub web: bool,
}

impl Phase {
    /// The same row, with the web.
    #[must_use]
    pub fn on_the_web(self) -> Phase {
        Phase { web: true, ..self }
    }
}

/// Who speaks: a function of the setup and of what came before this phase, never of the phase
/// itself, so nobody's turn appears or vanishes while others are taking theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speakers {
    /// Everyone with one of these roles, in the order they are seated.
    Seated(Vec<Role>),
    /// The first seat with this role, if somebody asks this round to be let in: a listener by a
    /// petition, or a debater who calls for one that is still silent.
    Prompted(Role),
    /// Those with this role who have not had their one speech yet.
    Silent(Role),
    /// The seat a ruling of this round let in, if it is still silent.
    Admitted,
}

/// What a seat is there to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Argues for: the proposer, the supporting side.
    Pro,
    /// Argues against: the challenger, the opposing side.
    Con,
    /// Leads an open dialogue; its partner questions it. Neither is a side.
    Lead,
    /// Questions the lead.
    Partner,
    /// Researches one of two to four stances.
    Advocate,
    /// Listens, may be let in once, and votes.
    Audience,
    /// Scores, admits and rules.
    Judge,
    /// Judges with the sides' labels swapped, to show whether the judge follows position.
    Mirror,
    /// Tags the factual claims of others.
    Auditor,
    /// Sums up what is too long to be heard whole.
    Scribe,
}

/// One of the two a verdict chooses between.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// For.
    Pro,
    /// Against.
    Con,
}

/// Whether the speakers of a phase hear each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each seat hears the ones before it.
    InTurn,
    /// All speak together, none hears another.
    AtOnce,
}

/// What of the record a phase is given. The user's remarks are heard in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hears {
    /// Nobody.
    Nothing,
    /// What was said aloud.
    Speeches,
    /// What was said aloud, but for the round before this one: what a digest has to cover.
    Elder,
    /// This round's digest and what was said aloud since; without one, the mechanical digest.
    Digest,
    /// Papers too: scores, petitions, audits.
    Everything,
}

/// How many of a phase's speakers must succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// At least one.
    One,
    /// Every one.
    All,
}

/// What too few turns lead to. "At first" and "later" are different acts, hence different rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shortfall {
    /// There is nothing to debate: close, and show what little was said.
    Abort,
    /// Close without a ruling: what was said stands uncontested, and nobody wins.
    Stand,
    /// On to the last act, with what has been said so far.
    Conclude,
    /// The turn is marked missing and the debate goes on without it.
    GoOn,
    /// The other side has won.
    Forfeit,
    /// The turn is forfeited and the debate goes on without it. A side's second one ends it: on to
    /// the last act if both sides have spoken; otherwise there is nothing to rule on, and nobody
    /// wins.
    Lapse,
}

impl Role {
    /// The side this role argues for, if it is one of the two.
    pub fn side(self) -> Option<Side> {
        match self {
            Role::Pro => Some(Side::Pro),
            Role::Con => Some(Side::Con),
            _ => None,
        }
    }

    /// Whether there may be several, each under its own name.
    pub fn named(self) -> bool {
        matches!(self, Role::Advocate | Role::Audience)
    }

    /// What users and prompts call it.
    pub fn title(self) -> &'static str {
        match self {
            Role::Pro => "Proposer",
            Role::Con => "Challenger",
            Role::Lead => "Main Agent",
            Role::Partner => "Sub Agent",
            Role::Advocate => "Advocate",
            Role::Audience => "Audience",
            Role::Judge => "Judge",
            Role::Mirror => "Judge (swapped)",
            Role::Auditor => "Evidence auditor",
            Role::Scribe => "Scribe",
        }
    }
}

impl Side {
    /// The opponent.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Pro => Side::Con,
            Side::Con => Side::Pro,
        }
    }

    /// The role that argues for it.
    pub fn role(self) -> Role {
        match self {
            Side::Pro => Role::Pro,
            Side::Con => Role::Con,
        }
    }

    /// `proposer` or `challenger`: how a side is written where a tool's name would not tell.
    pub fn word(self) -> &'static str {
        match self {
            Side::Pro => "proposer",
            Side::Con => "challenger",
        }
    }
}

impl Speakers {
    /// The roles it names. Whoever is let in has one of those that were named before.
    pub fn names(&self) -> &[Role] {
        match self {
            Speakers::Seated(roles) => roles,
            Speakers::Prompted(role) | Speakers::Silent(role) => std::slice::from_ref(role),
            Speakers::Admitted => &[],
        }
    }
}

impl Format {
    /// Whether anybody with this role has something to do in it.
    pub fn seats(&self, role: Role) -> bool {
        let mut phases = self.acts.iter().flat_map(|act| &act.phases);
        phases.any(|phase| phase.speakers.names().contains(&role))
    }

    /// The rounds of each act, when `asked` rounds were asked for.
    pub fn spans(&self, asked: u8) -> impl Iterator<Item = RangeInclusive<u8>> {
        self.acts.iter().scan(0, move |played, act| {
            let last = match act.rounds {
                Rounds::Once => return Some(0..=0),
                Rounds::Through(round) => round.min(asked),
                Rounds::Leaving(left) => asked.saturating_sub(left),
                Rounds::Open => OPEN_LIMIT,
            };
            let first = *played + 1;
            *played = last.max(*played);
            Some(first..=last)
        })
    }
}
