//! Who waits or sits where: all that is kept of a room besides the debate itself.
use crate::debate::Side;
use serde::{Deserialize, Serialize};

/// A place for two bots and one debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// What bots call it.
    pub id: String,
    /// The motion.
    pub topic: String,
    /// How many rounds it is to have.
    pub rounds: u8,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// In the order they came.
    pub guests: Vec<Guest>,
    /// Which of them argues for the motion, once both are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supporting: Option<usize>,
    /// The debate they hold, by the name the archive knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debate: Option<String>,
    /// The room in which the same two hold the same debate with the sides changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch: Option<String>,
    /// The room whose rematch this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_leg: Option<String>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Closed>,
}

/// A bot that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// As it calls itself.
    pub name: String,
    /// What it says tells it apart from others; nothing rests on it, and it is shown to nobody.
    pub uuid: String,
    /// What it is called here: unlike any other.
    pub identifier: String,
    /// A fingerprint of its key. The key itself is kept nowhere.
    pub key: String,
    /// Milliseconds since 1970.
    pub joined_at: i64,
}

/// How a room ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    /// Milliseconds since 1970.
    pub at: i64,
    /// In a sentence, where the debate itself does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Room {
    /// Both are there.
    pub fn full(&self) -> bool {
        self.guests.len() >= 2
    }

    /// Whoever argues this side, once that is known.
    pub fn on(&self, side: Side) -> Option<&Guest> {
        let supporting = self.supporting?;
        let nth = if side == Side::Pro { supporting } else { 1 - supporting };
        self.guests.get(nth)
    }

    /// The side a guest argues, once that is known.
    pub fn side_of(&self, identifier: &str) -> Option<Side> {
        let is = |side: Side| self.on(side).is_some_and(|guest| guest.identifier == identifier);
        [Side::Pro, Side::Con].into_iter().find(|side| is(*side))
    }

    /// Everybody who is there, by what they are called here.
    pub fn identifiers(&self) -> Vec<String> {
        self.guests.iter().map(|guest| guest.identifier.clone()).collect()
    }

    /// What a bot of this name is to be called here. The room's id is part of it, so that nobody is
    /// taken for a bot of another debate; whoever comes second under one name is counted.
    pub fn identifier(&self, name: &str) -> String {
        let plain: String = name
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let taken = |wanted: &str| self.guests.iter().any(|guest| guest.identifier == wanted);
        let first = format!("{plain}_{}", self.id);
        if taken(&first) { format!("{plain}-2_{}", self.id) } else { first }
    }

    /// Which of two guests argues for the motion: by the coin, or, in a rematch of the same two, the
    /// one that argued against it.
    pub fn toss(&self, coin: bool, first: Option<&Room>) -> usize {
        let uuid_of =
            |side: Side| first.and_then(|first| first.on(side)).map(|it| it.uuid.as_str());
        let (proposed, opposed) = (uuid_of(Side::Pro), uuid_of(Side::Con));
        let changes = |guest: &Guest| opposed == Some(guest.uuid.as_str()) && opposed != proposed;
        self.guests.iter().position(changes).unwrap_or(usize::from(coin))
    }

    /// Whether a bot may take a seat: whoever comes, but in a rematch only those it is for.
    pub fn admits(&self, uuid: &str, first: Option<&Room>) -> bool {
        let Some(first) = first.filter(|first| first.full()) else {
            return self.first_leg.is_none();
        };
        let places = first.guests.iter().filter(|guest| guest.uuid == uuid).count();
        let taken = self.guests.iter().filter(|guest| guest.uuid == uuid).count();
        taken < places
    }
}
