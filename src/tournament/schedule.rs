//! List of all games. The key of a game is a hash of its motion, participants and settings, so it
//! stays the same when the file grows or is sorted.
use super::plan::TournamentPlan;
use crate::debate::content_hash::content_hash;

/// Hexadecimal digits of a game's key.
const KEY_DIGITS: usize = 16;

/// A game to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScheduledGame {
    /// First 16 hex digits of the content hash.
    pub key: String,
    pub motion: String,
    /// Index of the entrant that argues for the motion.
    pub pro: usize,
    /// Index of the entrant that argues against it.
    pub con: usize,
    /// Number of rounds, or `None` for the format's default.
    pub rounds: Option<u8>,
}

/// Builds the list: every pair of entrants on every motion, once on each side, with each number of
/// rounds. Motions come one after the other, so an early stop leaves complete motions.
pub(crate) fn build_schedule(plan: &TournamentPlan) -> Vec<ScheduledGame> {
    let mut games = vec![];
    for motion in &plan.motions {
        for rounds in &plan.rounds {
            for first in 0..plan.entrants.len() {
                for second in first + 1..plan.entrants.len() {
                    for (pro, con) in [(first, second), (second, first)] {
                        let key = game_key(plan, motion, pro, con, *rounds);
                        games.push(ScheduledGame {
                            key,
                            motion: motion.clone(),
                            pro,
                            con,
                            rounds: *rounds,
                        });
                    }
                }
            }
        }
    }
    games
}

/// Hashes the motion, participants, rounds and other settings of a game. Entrant names, concurrency
/// and budgets are not part of the key.
fn game_key(
    plan: &TournamentPlan,
    motion: &str,
    pro: usize,
    con: usize,
    rounds: Option<u8>,
) -> String {
    let rounds = rounds.map_or("usual".to_owned(), |rounds| rounds.to_string());
    let (pro, con) = (&plan.entrants[pro].participant, &plan.entrants[con].participant);
    let mut parts = vec![motion.to_owned(), pro.to_string(), con.to_string(), rounds];
    parts.push(plan.format.clone());
    parts.push(plan.effort.map_or("", crate::debate::Effort::as_str).to_owned());
    parts.push(plan.context.clone());
    parts.extend(plan.judges.iter().map(ToString::to_string));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    content_hash(&parts)[..KEY_DIGITS].to_owned()
}
