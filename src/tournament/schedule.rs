//! Every game, in order. Each has a key that depends on nothing but what is played, so that it is
//! found again however the file has grown or been sorted.
use super::file::Plan;
use crate::debate::hashed::hashed;

/// One game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// 16 hexadecimal digits of what is played.
    pub key: String,
    /// What about.
    pub motion: String,
    /// Who argues for, by its number among the entrants.
    pub pro: usize,
    /// Who argues against.
    pub con: usize,
    /// How many rounds, if not the format's usual number.
    pub rounds: Option<u8>,
}

/// Every pair of entrants on every motion, once on either side, with each number of rounds. The two
/// games of a pair follow each other, and a motion is done before the next one begins: a tournament
/// that is stopped early is about whole motions.
pub fn schedule(plan: &Plan) -> Vec<Game> {
    let mut games = vec![];
    for motion in &plan.motions {
        for rounds in &plan.rounds {
            for one in 0..plan.entrants.len() {
                for other in one + 1..plan.entrants.len() {
                    for (pro, con) in [(one, other), (other, one)] {
                        let key = key(plan, motion, pro, con, *rounds);
                        games.push(Game { key, motion: motion.clone(), pro, con, rounds: *rounds });
                    }
                }
            }
        }
    }
    games
}

/// What a game is called: what entrants are named does not matter, nor does how many play at once or
/// what they may spend.
fn key(plan: &Plan, motion: &str, pro: usize, con: usize, rounds: Option<u8>) -> String {
    let rounds = rounds.map_or("usual".to_owned(), |rounds| rounds.to_string());
    let (pro, con) = (&plan.entrants[pro].voice, &plan.entrants[con].voice);
    let mut parts = vec![motion.to_owned(), pro.to_string(), con.to_string(), rounds];
    parts.push(plan.format.clone());
    parts.push(plan.effort.map_or("", crate::debate::Effort::word).to_owned());
    parts.push(plan.context.clone());
    parts.extend(plan.judges.iter().map(ToString::to_string));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    hashed(&parts)[..16].to_owned()
}
