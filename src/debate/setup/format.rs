//! Schema of a format: a format has acts, an act has phases, a phase is one row of a table.
//!
//! The schema has no conditions. Acts say when something happens: whatever differs in the first or
//! the last round is an act of its own. Seats say whether it happens: an audit takes place if an
//! auditor is seated. The built-in tables are in `formats`.
use crate::debate::setup::rule::{Rule, RuleWeight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A format. A debate that is cut short skips to the last act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Format {
    pub name: String,
    /// In playing order.
    pub acts: Vec<Act>,
}

/// A range of rounds with the same phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Act {
    pub name: String,
    /// The last round of the act.
    pub rounds: Rounds,
    /// Phases of each round, in order.
    pub phases: Vec<Phase>,
}

/// Last round of an act. An act starts in the round after the previous act, so acts cannot overlap
/// or leave a gap. With fewer rounds, the middle acts get shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounds {
    /// Played once and not counted, as round 0: an inquiry, a verdict.
    Once,
    /// Ends after this round, or after the last requested round.
    Through(u8),
    /// Ends when this many of the requested rounds are left.
    Leaving(u8),
    /// Ends when the user ends it. The requested rounds are only a hint.
    Open,
}

/// Maximum rounds of an open act.
pub const MAX_OPEN_ROUNDS: u8 = 100;

/// One step of a round: which seats speak, what they see and what they reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Also the key of its prompt template. Phases with the same name share a template.
    pub name: String,
    /// The seats whose turn it is.
    pub speakers: Speakers,
    /// Whether they speak in sequence or in parallel.
    pub order: SpeakingOrder,
    /// The part of the transcript in their prompts.
    pub hears: TranscriptScope,
    /// Requested kind of reply.
    pub reply: ReplyKind,
    /// How many turns must succeed.
    pub quorum: Quorum,
    /// What happens if the quorum is missed.
    pub short: Shortfall,
    /// Validation rules for replies, each with its weight.
    pub rules: Vec<(Rule, RuleWeight)>,
    /// Whether the seats may search the web.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub web: bool,
}

impl Phase {
    /// Returns the phase with web search enabled.
    #[must_use]
    pub(super) fn with_web(self) -> Phase {
        Phase { web: true, ..self }
    }
}

/// Which seats speak in a phase. Depends only on the setup and on earlier phases, so the list
/// cannot change while the phase runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speakers {
    /// All seats with one of these roles, in seating order.
    Seated(Vec<Role>),
    /// The first seat with this role, if an audience seat petitions this round or a debater
    /// requests help from one that has not spoken yet.
    Prompted(Role),
    /// Seats with this role that have not spoken yet.
    Silent(Role),
    /// The seat admitted by a ruling of this round, if it has not spoken yet.
    Admitted,
}

/// The function of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Proposer: argues for.
    Pro,
    /// Challenger: argues against.
    Con,
    /// Leads an open dialogue. Not a side.
    Lead,
    /// Challenges the lead. Not a side.
    Partner,
    /// Researches one of two to four stances.
    Advocate,
    /// Listens, may be admitted to speak once, and votes.
    Audience,
    /// Scores rounds, admits audience seats and gives the verdict.
    Judge,
    /// Second judge with the labels of the sides swapped, to detect position bias.
    Mirror,
    /// Tags the factual claims of other seats by source.
    Auditor,
    /// Summarizes earlier rounds when the transcript gets too long for a prompt.
    Scribe,
}

/// One of the two sides between which a verdict decides.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The proposer.
    Pro,
    /// The challenger.
    Con,
}

/// Whether the speakers of a phase see each other's turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Order")]
pub enum SpeakingOrder {
    /// In sequence: each seat sees the earlier ones.
    InTurn,
    /// In parallel: no seat sees another.
    AtOnce,
}

/// The part of the transcript that a phase's prompts contain. Remarks of the user are always
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Hears")]
pub enum TranscriptScope {
    /// No turns.
    Nothing,
    /// All speeches.
    Speeches,
    /// Speeches up to the round before the previous one: the input for a digest.
    #[serde(rename = "elder")]
    OlderRounds,
    /// The digest of this round plus the speeches after it. Falls back to the mechanical digest.
    Digest,
    /// All turns, including scores, petitions and audits.
    Everything,
}

/// Kind of reply that a phase requests, one per variant of `Body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each names the body of the same name")]
#[schemars(rename = "Kind")]
pub enum ReplyKind {
    Speech,
    Score,
    Petition,
    Ruling,
    Vote,
    Audit,
    Verdict,
    Sections,
}

/// How many turns of a phase must succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// At least one.
    One,
    /// Every turn.
    All,
}

/// What happens if a phase misses its quorum. An early and a late failure can differ, because they
/// are in different acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shortfall {
    /// End the debate without a result.
    Abort,
    /// End the debate without a verdict. The side that spoke is uncontested, and there is no
    /// winner.
    #[serde(rename = "stand")]
    Uncontested,
    /// Skip to the last act.
    Conclude,
    /// Record the turn as missing and go on.
    GoOn,
    /// The other side wins.
    Forfeit,
    /// The turn is forfeited and the debate goes on. On the second forfeit of a side, skip to the
    /// last act if both sides have spoken, and otherwise end without a winner.
    Lapse,
}

impl Role {
    /// Returns the side this role argues for, if any.
    pub fn side(self) -> Option<Side> {
        match self {
            Role::Pro => Some(Side::Pro),
            Role::Con => Some(Side::Con),
            _ => None,
        }
    }

    /// Whether several seats may have this role, each with its own name.
    pub fn has_named_seats(self) -> bool {
        matches!(self, Role::Advocate | Role::Audience)
    }

    /// Returns the title used in prompts and reports.
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
    /// Returns the opposing side.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Pro => Side::Con,
            Side::Con => Side::Pro,
        }
    }

    /// Returns the role that argues for this side.
    pub fn role(self) -> Role {
        match self {
            Side::Pro => Role::Pro,
            Side::Con => Role::Con,
        }
    }

    /// Returns `proposer` or `challenger`.
    pub fn role_name(self) -> &'static str {
        match self {
            Side::Pro => "proposer",
            Side::Con => "challenger",
        }
    }
}

impl Speakers {
    /// Returns the roles named here. `Admitted` names none: an admitted seat has a role from an
    /// earlier phase.
    pub fn roles(&self) -> &[Role] {
        match self {
            Speakers::Seated(roles) => roles,
            Speakers::Prompted(role) | Speakers::Silent(role) => std::slice::from_ref(role),
            Speakers::Admitted => &[],
        }
    }
}

impl Format {
    /// Whether any phase has speakers with this role.
    pub fn uses_role(&self, role: Role) -> bool {
        let mut phases = self.acts.iter().flat_map(|act| &act.phases);
        phases.any(|phase| phase.speakers.roles().contains(&role))
    }

    /// Returns the range of rounds of each act, for this number of requested rounds.
    pub fn round_ranges(&self, requested: u8) -> impl Iterator<Item = RangeInclusive<u8>> {
        self.acts.iter().scan(0, move |played, act| {
            let last = match act.rounds {
                Rounds::Once => return Some(0..=0),
                Rounds::Through(round) => round.min(requested),
                Rounds::Leaving(left) => requested.saturating_sub(left),
                Rounds::Open => MAX_OPEN_ROUNDS,
            };
            let first = *played + 1;
            *played = last.max(*played);
            Some(first..=last)
        })
    }
}
