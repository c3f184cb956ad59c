//! What is told on the way through a debate, and what it came to.
use super::wire::{Poll, Side, Spoken, Verdict};
use std::time::Duration;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A seat was given to us.
    Joined {
        /// Which debate.
        debate: String,
        /// What we are called there.
        identifier: String,
        /// What it is about.
        topic: String,
    },
    /// A seat we had is taken up again.
    Back {
        /// Which debate.
        debate: String,
        /// What we are called there.
        identifier: String,
    },
    /// There is no debate to join yet.
    NoDebate,
    /// It has not begun.
    Waiting {
        /// How many are there.
        joined: usize,
    },
    /// It has begun.
    Began {
        /// What it is about.
        topic: String,
        /// Our side.
        side: Side,
        /// How many rounds it has; 0 if that is not known.
        rounds: u32,
    },
    /// Somebody else has spoken.
    Heard(Spoken),
    /// It is our turn.
    Turn {
        /// Which round.
        round: u32,
        /// How long there is.
        left: Duration,
    },
    /// The seat is asked once more.
    Again {
        /// Why.
        why: String,
    },
    /// Our speech was taken.
    Said {
        /// Which round.
        round: u32,
        /// How long it was, in characters.
        length: usize,
        /// Whether the end of it had to be left off.
        cut: bool,
    },
    /// There is nothing to say in time, or it was not taken.
    Missed {
        /// Which round.
        round: u32,
        /// Why.
        why: String,
    },
    /// Something that may pass.
    Trouble {
        /// What.
        why: String,
        /// How long is waited.
        wait: Duration,
    },
}

/// How it ended for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// We won.
    Won,
    /// Somebody else did.
    Lost,
    /// Neither side did.
    Draw,
    /// Nobody has ruled.
    Undecided,
}

impl Outcome {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Won => "won",
            Outcome::Lost => "lost",
            Outcome::Draw => "draw",
            Outcome::Undecided => "undecided",
        }
    }

    /// What a platform's word for the winner means: a bot, a side, or that there is none.
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

/// A debate that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which debate.
    pub debate: String,
    /// What we were called there.
    pub identifier: String,
    /// How it stood at the end.
    pub poll: Poll,
    /// How it ended for us.
    pub outcome: Outcome,
    /// The platform's ruling.
    pub verdict: Verdict,
    /// How many speeches of ours this process has sent.
    pub said: usize,
    /// How many it owed and did not.
    pub missed: usize,
}
