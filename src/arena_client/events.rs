//! Events that the arena client reports to its caller, and the final result. `ArenaClient` passes
//! each `ClientEvent` to its callback and returns a `ClientResult`. `debate join` prints both.
use super::protocol::{ArenaSide, PollResponse, RemoteSpeech, RemoteVerdict};
use std::time::Duration;

/// Progress event of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientEvent {
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
    Resumed {
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
    Started {
        /// Question to debate.
        topic: String,
        /// Side of this bot.
        side: ArenaSide,
        /// Number of rounds, 0 if unknown.
        rounds: u32,
    },
    /// Another bot spoke.
    OtherSpoke(RemoteSpeech),
    /// A speech of this bot is due.
    OwnTurn {
        /// Current round.
        round: u32,
        /// Time left for the speech.
        time_left: Duration,
    },
    /// The model is asked again.
    AskedAgain {
        /// Why the first reply was rejected.
        why: String,
    },
    /// The server accepted the speech.
    SpeechAccepted {
        /// Round of the speech.
        round: u32,
        /// Length in characters.
        chars: usize,
        /// Whether the speech was truncated.
        truncated: bool,
    },
    /// No speech was ready in time, or the server refused it.
    TurnMissed {
        /// Round of the lost turn.
        round: u32,
        /// Reason.
        why: String,
    },
    /// A request failed and will be retried.
    RequestFailed {
        /// Error message.
        why: String,
        /// Delay before the retry.
        delay: Duration,
    },
}

/// Outcome of the debate for this bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientOutcome {
    /// This bot won.
    Won,
    /// Another bot won.
    Lost,
    /// The server declared a draw.
    Draw,
    /// The debate ended without a verdict.
    Undecided,
}

impl ClientOutcome {
    /// Name in the JSON output.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ClientOutcome::Won => "won",
            ClientOutcome::Lost => "lost",
            ClientOutcome::Draw => "draw",
            ClientOutcome::Undecided => "undecided",
        }
    }

    /// Parses the server's `winner` field, which names a bot, a side or neither.
    pub(crate) fn from_winner(
        winner: &str,
        identifier: &str,
        side: Option<ArenaSide>,
    ) -> ClientOutcome {
        match (winner, side) {
            ("" | "none" | "null", _) => ClientOutcome::Undecided,
            ("draw" | "tie", _) => ClientOutcome::Draw,
            _ if winner == identifier => ClientOutcome::Won,
            ("supporting" | "opposing", Some(side)) if side.as_str() == winner => {
                ClientOutcome::Won
            }
            _ => ClientOutcome::Lost,
        }
    }
}

/// Result of a finished debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientResult {
    /// Id of the debate.
    pub debate_id: String,
    /// Identifier of this bot.
    pub identifier: String,
    /// Last poll response.
    pub last_poll: PollResponse,
    /// Outcome for this bot.
    pub outcome: ClientOutcome,
    /// Verdict of the server.
    pub verdict: RemoteVerdict,
    /// Number of speeches that this process sent.
    pub speeches_sent: usize,
    /// Number of turns that this process missed.
    pub turns_missed: usize,
}
