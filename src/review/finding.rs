//! One thing that should be changed first, and what it rests on.
use crate::debate::{Noted, Place, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A challenge to a change that its challenger has not taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The same for the same finding in a later review: made of the file and of the words it rests
    /// on, never of line numbers. 64 hexadecimal digits, unlike any other of its review.
    pub fingerprint: String,
    /// The claim, by id.
    pub id: String,
    /// The turn in which it was first made.
    pub turn: String,
    /// How grave it is.
    pub severity: Severity,
    /// In one sentence, in the challenger's words.
    pub claim: String,
    /// Where it is, if it is anywhere: the first place its evidence was found at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Everything offered for it, and what looking it up came to.
    pub evidence: Vec<Proof>,
    /// What the proposer answered, in its words, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether the proposer conceded it.
    pub conceded: bool,
    /// Whether an earlier review had found it already.
    pub known: bool,
}

/// Something offered for a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// As it was written.
    pub raw: String,
    /// What looking it up came to: `exact`, `not_found` and the like.
    pub found: String,
    /// Whether the words were seen where they were said to be.
    pub verified: bool,
    /// Where they stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The words themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// What an earlier review had found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Earlier {
    /// What it was.
    #[serde(flatten)]
    pub noted: Noted,
    /// What became of it.
    pub state: State,
}

/// What became of an earlier finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// What it rested on is not there any more.
    Fixed,
    /// It was raised again, or what it rested on still stands.
    Open,
}

impl Finding {
    /// What a later review has to know of it.
    pub fn noted(&self) -> Noted {
        let own = |proof: &&Proof| proof.verified && proof.place == self.place;
        let offered = |proof: &Proof| match (&proof.place, &proof.quote) {
            (Some(place), Some(quote)) => format!("{} \"{quote}\"", place.file),
            _ => proof.raw.clone(),
        };
        Noted {
            fingerprint: self.fingerprint.clone(),
            claim: self.claim.clone(),
            severity: self.severity,
            place: self.place.clone(),
            rests_on: self.evidence.iter().find(own).map(offered).unwrap_or_default(),
        }
    }
}
