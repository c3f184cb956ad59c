//! Progress events of a running tournament.
use super::archived_games::ArchivedGame;
use super::schedule::ScheduledGame;
use super::standings::Standings;

/// Progress event for the caller.
#[derive(Clone, Debug)]
pub(crate) enum TournamentEvent {
    /// A game started or resumed.
    Started {
        game: ScheduledGame,
        /// Id of the debate.
        id: String,
    },
    /// Another process plays the game.
    Waiting {
        /// Id of the debate.
        id: String,
        /// Process that holds the lease.
        holder: String,
    },
    /// A game ended with a verdict.
    Finished {
        game: ScheduledGame,
        /// The game as archived.
        archived: ArchivedGame,
        /// Standings after this game.
        standings: Box<Standings>,
    },
    /// A game failed.
    Failed {
        game: ScheduledGame,
        /// Error message.
        reason: String,
        /// Whether it is retried in this run.
        will_retry: bool,
    },
    /// A game waits for the user.
    Paused {
        game: ScheduledGame,
        /// What it waits for.
        why: String,
    },
}
