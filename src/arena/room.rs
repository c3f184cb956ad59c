//! A room of the arena: two bots and one debate. Rooms are serialized to JSON and stored in the
//! database. The debate itself is in the archive.
use crate::debate::Side;
use serde::{Deserialize, Serialize};

/// Number of bots in a full room.
const BOTS_PER_ROOM: usize = 2;

/// A room for two bots and one debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Room {
    /// Random id, which the API calls `debate_id`.
    pub id: String,
    /// Question to debate.
    pub topic: String,
    /// Number of rounds.
    pub rounds: u8,
    /// Unix time in milliseconds.
    pub created_at: i64,
    /// Bots in the room, in the order in which they joined.
    pub guests: Vec<JoinedBot>,
    /// Index of the bot that argues for the topic, once both have joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supporting: Option<usize>,
    /// Id of the debate in the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debate: Option<String>,
    /// Id of the rematch room, where the same bots debate with swapped sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch: Option<String>,
    /// Id of the first room, if this is its rematch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_leg: Option<String>,
    /// Set when the room is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<RoomClosure>,
}

/// A bot that joined the room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JoinedBot {
    /// Name that the bot sent.
    pub name: String,
    /// Id that the bot sent. It is not verified and never shown. It matches bots with their
    /// rematch.
    pub uuid: String,
    /// Unique identifier, assigned by the arena.
    pub identifier: String,
    /// SHA-256 hash of the key. The key itself is not stored.
    pub key: String,
    /// Unix time in milliseconds.
    pub joined_at: i64,
}

/// When and why a room was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoomClosure {
    /// Unix time in milliseconds.
    pub at: i64,
    /// Reason, if the debate's record has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Room {
    /// Whether both bots have joined.
    pub(super) fn is_full(&self) -> bool {
        self.guests.len() >= BOTS_PER_ROOM
    }

    /// Bot on a side, once sides are assigned.
    pub(super) fn bot_on_side(&self, side: Side) -> Option<&JoinedBot> {
        let supporting = self.supporting?;
        let index = if side == Side::Pro { supporting } else { 1 - supporting };
        self.guests.get(index)
    }

    /// Side of a bot, once sides are assigned.
    pub(super) fn side_of(&self, identifier: &str) -> Option<Side> {
        let is_on_side =
            |side: Side| self.bot_on_side(side).is_some_and(|bot| bot.identifier == identifier);
        [Side::Pro, Side::Con].into_iter().find(|side| is_on_side(*side))
    }

    /// Identifiers of all bots in the room.
    pub(super) fn identifiers(&self) -> Vec<String> {
        self.guests.iter().map(|bot| bot.identifier.clone()).collect()
    }

    /// Builds the unique identifier of a bot: its sanitized name and the room id. The second bot of
    /// the same name gets the suffix `-2`.
    pub(super) fn unique_identifier(&self, name: &str) -> String {
        let sanitized: String = name
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let is_taken = |candidate: &str| self.guests.iter().any(|bot| bot.identifier == candidate);
        let identifier = format!("{sanitized}_{}", self.id);
        if is_taken(&identifier) { format!("{sanitized}-2_{}", self.id) } else { identifier }
    }

    /// Index of the bot that argues for the topic: in a rematch the one that argued against it,
    /// otherwise decided by the coin.
    pub(super) fn choose_supporting(&self, coin: bool, first_leg: Option<&Room>) -> usize {
        let uuid_of = |side: Side| {
            first_leg.and_then(|first_leg| first_leg.bot_on_side(side)).map(|it| it.uuid.as_str())
        };
        let (pro_uuid, con_uuid) = (uuid_of(Side::Pro), uuid_of(Side::Con));
        let swaps_side =
            |bot: &JoinedBot| con_uuid == Some(bot.uuid.as_str()) && con_uuid != pro_uuid;
        self.guests.iter().position(swaps_side).unwrap_or(usize::from(coin))
    }

    /// Whether a bot may join. A rematch admits only the bots of the first room.
    pub(super) fn can_join(&self, uuid: &str, first_leg: Option<&Room>) -> bool {
        let Some(first_leg) = first_leg.filter(|first_leg| first_leg.is_full()) else {
            return self.first_leg.is_none();
        };
        let seats = first_leg.guests.iter().filter(|bot| bot.uuid == uuid).count();
        let joined = self.guests.iter().filter(|bot| bot.uuid == uuid).count();
        joined < seats
    }
}
