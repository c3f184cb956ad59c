//! Events that the arena client reports to its caller, and the final result.
use super::wire::{Poll, Side, Spoken, Verdict};
use std::time::Duration;

/// Progress event of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The client got a seat.
    Joined {
        /// Id of the debate.
        debate: String,
        /// Identifier of this bot.
        identifier: String,
        /// Question to debate.
        topic: String,
    },
    /// The client resumed with stored credentials.
    Back {
        /// Id of the debate.
        debate: String,
        /// Identifier of this bot.
        identifier: String,
    },
    /// No debate is open to join yet.
    NoDebate,
    /// The debate waits for bots.
    Waiting {
        /// Number of bots that have joined.
        joined: usize,
    },
    /// The debate started.
    Began {
        /// Question to debate.
        topic: String,
        /// Side of this bot.
        side: Side,
        /// Number of rounds, 0 if unknown.
        rounds: u32,
    },
    /// Another bot spoke.
    Heard(Spoken),
    /// A speech of this bot is due.
    Turn {
        /// Current round.
        round: u32,
        /// Time left for the speech.
        left: Duration,
    },
    /// The model is asked again.
    Again {
        /// Why the first reply was rejected.
        why: String,
    },
    /// The server accepted the speech.
    Said {
        /// Round of the speech.
        round: u32,
        /// Length in characters.
        length: usize,
        /// Whether the speech was truncated.
        cut: bool,
    },
    /// No speech was ready in time, or the server refused it.
    Missed {
        /// Round of the lost turn.
        round: u32,
        /// Reason.
        why: String,
    },
    /// A request failed and will be retried.
    Trouble {
        /// Error message.
        why: String,
        /// Delay before the retry.
        wait: Duration,
    },
}

/// Outcome of the debate for this bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This bot won.
    Won,
    /// Another bot won.
    Lost,
    /// The server declared a draw.
    Draw,
    /// The debate ended without a verdict.
    Undecided,
}

impl Outcome {
    /// Name in the JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Won => "won",
            Outcome::Lost => "lost",
            Outcome::Draw => "draw",
            Outcome::Undecided => "undecided",
        }
    }

    /// Parses the server's `winner` field, which names a bot, a side or neither.
    pub fn of(winner: &str, identifier: &str, side: Option<Side>) -> Outcome {
        match (winner, side) {
            ("" | "none" | "null", _) => Outcome::Undecided,
            ("draw" | "tie", _) => Outcome::Draw,
            _ if winner == identifier => Outcome::Won,
            ("supporting" | "opposing", Some(side)) if side.word() == winner => Outcome::Won,
            _ => Outcome::Lost,
        }
    }
}

/// Result of a finished debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Id of the debate.
    pub debate: String,
    /// Identifier of this bot.
    pub identifier: String,
    /// Last poll response.
    pub poll: Poll,
    /// Outcome for this bot.
    pub outcome: Outcome,
    /// Verdict of the server.
    pub verdict: Verdict,
    /// Number of speeches that this process sent.
    pub said: usize,
    /// Number of turns that this process missed.
    pub missed: usize,
}
