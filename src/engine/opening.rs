//! From a user's wish to a setup that can be played.
use super::desk::DeskError;
use crate::debate::formats::{self, Offer};
use crate::debate::setup::{GRAMMAR, WORDING};
use crate::debate::{
    Budget, Effort, Format, Hold, Limits, Origin, Role, Seat, Setup, Speakers, Voice,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The words of every format that can be opened here: by format, then by name.
pub type Prompts = BTreeMap<String, BTreeMap<String, String>>;

/// What a user asks for. What is not said has a default.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The question.
    pub topic: String,
    /// By name.
    pub format: String,
    /// Argues for.
    pub proposer: Voice,
    /// Argues against.
    pub challenger: Voice,
    /// Rules, and sums up long debates.
    pub judge: Voice,
    /// As many as the format usually has, if nobody says.
    pub rounds: Option<u8>,
    /// For every seat.
    pub effort: Option<Effort>,
    /// What the debaters are given besides the topic.
    pub brief: String,
    /// Paths the brief is about.
    pub touched: Vec<String>,
    /// What of the repository is in the brief, and why.
    pub picked: Vec<String>,
    /// The tree it is about, if there is one.
    pub pin: Option<String>,
    /// Why nobody can read the repository, if there is one and it cannot be read.
    pub unread: Option<String>,
    /// Who was seated without being named, and why.
    pub chosen: Vec<String>,
    /// What may be spent.
    pub budget: Budget,
    /// Seconds a fetched turn may take; as long as its tool usually may, if nobody says.
    pub turn_seconds: Option<u32>,
    /// Seconds an awaited turn may take; for ever, if nobody says.
    pub await_seconds: Option<u32>,
    /// Where the floor is the user's.
    pub holds: Vec<Hold>,
    /// Whether both sides answer before they hear each other.
    pub sealed: bool,
    /// Whether it goes to its ending as soon as there is nothing left to say.
    pub stop_when_settled: bool,
    /// Where the first turns came from.
    pub origin: Origin,
}

impl Opening {
    /// A duel about this, between these, with everything else as usual.
    pub fn new(topic: &str, proposer: Voice, challenger: Voice, judge: Voice) -> Opening {
        Opening {
            topic: topic.into(),
            format: "duel".into(),
            proposer,
            challenger,
            judge,
            rounds: None,
            effort: None,
            brief: String::new(),
            touched: vec![],
            picked: vec![],
            pin: None,
            unread: None,
            chosen: vec![],
            budget: Budget::default(),
            turn_seconds: None,
            await_seconds: None,
            holds: vec![],
            sealed: false,
            stop_when_settled: false,
            origin: Origin::Here,
        }
    }

    /// The setup this comes to. Whoever calls has made the id and the salt, which are chance, and
    /// read the clock.
    pub(super) fn setup(
        &self,
        prompts: &Prompts,
        id: String,
        salt: String,
        now: i64,
    ) -> Result<Setup, DeskError> {
        let offer = offered(&self.format, prompts)?;
        let rounds = self.rounds.unwrap_or(offer.usual);
        if !offer.rounds.contains(&rounds) {
            let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
            return Err(DeskError::Rounds { asked: rounds.into(), least, most });
        }
        let limits = Limits { budget: self.budget, ..Limits::default() };
        let turn_seconds = self.turn_seconds;
        Ok(Setup {
            grammar: GRAMMAR,
            wording: WORDING,
            id,
            opened_at: now,
            topic: self.topic.trim().to_owned(),
            brief: self.brief.clone(),
            touched: self.touched.clone(),
            picked: self.picked.clone(),
            pin: self.pin.clone(),
            unread: self.unread.clone(),
            chosen: self.chosen.clone(),
            seats: self.seats(&offer.format),
            prompts: prompts.get(&self.format).cloned().unwrap_or_default(),
            format: if self.sealed { formats::sealed(offer.format) } else { offer.format },
            stop_when_settled: self.stop_when_settled,
            rounds,
            effort: self.effort,
            holds: self.holds.clone(),
            limits: Limits { turn_seconds, await_seconds: self.await_seconds, ..limits },
            origin: self.origin.clone(),
            salt,
        })
    }

    /// As many rounds as were asked for, or as near to that as the format allows.
    pub(super) fn nearest(&self, rounds: u8) -> u8 {
        let offer = formats::offers().into_iter().find(|offer| offer.format.name == self.format);
        offer.map_or(rounds, |offer| rounds.clamp(*offer.rounds.start(), *offer.rounds.end()))
    }

    /// One seat for each role the format names and somebody can fill. A judge that is a model also
    /// judges with the sides swapped; whoever judges also sums up, unless that is a person.
    fn seats(&self, format: &Format) -> Vec<Seat> {
        let mut roles: Vec<Role> = vec![];
        for phase in format.acts.iter().flat_map(|act| &act.phases) {
            if let Speakers::Seated(named) = &phase.speakers {
                roles.extend(named.iter().filter(|role| !roles.contains(role)).collect::<Vec<_>>());
            }
        }
        let judged_by_model = !self.judge.awaited();
        let seat = |role: Role| {
            let (name, voice) = match role {
                Role::Pro => ("proposer", &self.proposer),
                Role::Con => ("challenger", &self.challenger),
                Role::Judge => ("judge", &self.judge),
                Role::Mirror if judged_by_model => ("mirror", &self.judge),
                Role::Scribe if self.judge != Voice::Human => ("scribe", &self.judge),
                _ => return None,
            };
            Some(Seat {
                name: name.into(),
                role,
                voice: voice.clone(),
                weight: 1,
                stance: String::new(),
                style: String::new(),
            })
        };
        roles.into_iter().filter_map(seat).collect()
    }
}

/// A script is found again from wherever the debate is resumed.
pub fn found_again(voice: Voice, folder: &Path) -> Voice {
    match voice {
        Voice::Model { tool, model: Some(file) } if tool == "script" => {
            let whole = folder.join(&file).display().to_string();
            Voice::Model { tool, model: Some(whole) }
        }
        voice => voice,
    }
}

/// The format of this name, if there are words for it.
pub(super) fn offered(name: &str, prompts: &Prompts) -> Result<Offer, DeskError> {
    let known = formats::offers().into_iter().find(|offer| offer.format.name == name);
    known.filter(|_| prompts.contains_key(name)).ok_or_else(|| DeskError::Format {
        name: name.into(),
        known: prompts.keys().cloned().collect::<Vec<_>>().join(", "),
    })
}
