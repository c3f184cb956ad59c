//! The leaderboard: who is rated how, what was not rated and why, and how far the judges agree.
use super::agreement::{Agreement, Bench, agreement, wilson};
use super::counts::{self, Game, Score, Unrated};
use super::strengths::{Estimate, strengths};
use crate::debate::Debate;
use crate::engine::{Card, Desk, DeskError, Query};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was read of one debate: the game it is and what was ruled in it, or why it is not rated.
pub type Reading = Result<(Game, Bench), Unrated>;

/// Everything a leaderboard tells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Board {
    /// Debates that were looked at.
    pub debates: usize,
    /// Of those, how many are rated.
    pub rated: usize,
    /// Of those, how many were judged by one of the two who argued, or what may be the same model.
    pub partial: usize,
    /// Those who can be compared with each other, the largest group first. Ratings of different
    /// groups say nothing about each other.
    pub groups: Vec<Group>,
    /// What it came to for either side.
    pub sides: Sides,
    /// Why debates were not rated, the most frequent reason first.
    pub unrated: Vec<NotRated>,
    /// How far judges agree, over the rated debates.
    pub judges: Vec<Agreement>,
}

/// Entrants whom games connect.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// The strongest first.
    pub rows: Vec<Row>,
}

/// One entrant.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Within its group.
    pub rank: usize,
    /// What it is called.
    pub entrant: String,
    /// On a scale on which 400 points are odds of ten to one, and the mean of a group is 1500.
    pub rating: Estimate,
    /// All its games.
    pub total: Tally,
    /// Those in which it argued for the motion.
    pub as_proposer: Tally,
    /// Those in which it argued against it.
    pub as_challenger: Tally,
}

/// Games, by what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// How many.
    pub games: usize,
    /// Won.
    pub wins: usize,
    /// Contested verdicts, which count as half a win for each.
    pub draws: usize,
    /// Lost.
    pub losses: usize,
}

impl Tally {
    pub(crate) fn note(&mut self, points: f64) {
        self.games += 1;
        match points {
            it if it > 0.75 => self.wins += 1,
            it if it < 0.25 => self.losses += 1,
            _ => self.draws += 1,
        }
    }

    /// Wins, with half of the draws.
    pub fn points(self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }
}

/// What it came to for either side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sides {
    /// Of whoever argued for the motion.
    pub proposer: Tally,
    /// The part of the decided games the proposer won, from 0 to 1.
    pub share: Option<f64>,
    /// The lower end of that, in 95 of 100 cases (Wilson).
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What arguing for the motion is worth between equals, in points of the ratings; they are
    /// worked out with it taken off.
    pub advantage: Option<Estimate>,
}

/// A reason, and how often it was one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotRated {
    /// Its name.
    pub reason: Unrated,
    /// In a few words.
    pub says: String,
    /// How many debates.
    pub debates: usize,
}

impl Board {
    /// The board of everything in the archive, or of one repository. Debates that cannot count are
    /// told by their cards alone.
    pub fn of_archive(desk: &Desk, root: Option<PathBuf>) -> Result<Board, DeskError> {
        Board::of_cards(desk, desk.archive().list(&Query { root, ..Query::default() })?)
    }

    /// The board of some of the debates in the archive.
    pub fn of_cards(desk: &Desk, cards: Vec<Card>) -> Result<Board, DeskError> {
        let mut readings = Vec::with_capacity(cards.len());
        for card in cards {
            readings.push(match counts::by_card(&card) {
                Ok(()) => match desk.read(&card.id) {
                    Ok((_, debate, None)) => reading(&debate),
                    Ok((_, _, Some(_))) | Err(DeskError::Unfit(_)) => Err(Unrated::Flawed),
                    Err(error) => return Err(error),
                },
                Err(why) => Err(why),
            });
        }
        Ok(Board::of(&readings))
    }

    /// The board these come to, in whatever order they are.
    pub fn of(readings: &[Reading]) -> Board {
        let rated: Vec<&(Game, Bench)> =
            readings.iter().filter_map(|it| it.as_ref().ok()).collect();
        let games: Vec<Game> = rated.iter().map(|(game, _)| game.clone()).collect();
        let mut reasons: BTreeMap<Unrated, usize> = BTreeMap::new();
        for why in readings.iter().filter_map(|it| it.as_ref().err()) {
            *reasons.entry(*why).or_default() += 1;
        }
        let mut unrated: Vec<NotRated> = reasons
            .into_iter()
            .map(|(reason, debates)| NotRated { reason, says: reason.says().into(), debates })
            .collect();
        unrated.sort_by_key(|it| std::cmp::Reverse(it.debates));
        let strengths = strengths(&games);
        let tallies = tallies(&games);
        let groups = strengths.groups.into_iter().map(|group| {
            let rows = group.into_iter().zip(1..).map(|((entrant, rating), rank)| {
                let [as_proposer, as_challenger] =
                    tallies.get(entrant.as_str()).copied().unwrap_or_default();
                let total = both(as_proposer, as_challenger);
                Row { rank, entrant, rating, total, as_proposer, as_challenger }
            });
            Group { rows: rows.collect() }
        });
        Board {
            debates: readings.len(),
            rated: games.len(),
            partial: games.iter().filter(|game| game.partial).count(),
            groups: groups.collect(),
            sides: sides(&games, strengths.advantage),
            unrated,
            judges: agreement(rated.iter().map(|(_, bench)| bench)),
        }
    }

    /// Every entrant, group by group.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// What a debate comes to.
pub fn reading(debate: &Debate) -> Reading {
    Ok((counts::game(debate)?, Bench::of(debate)))
}

fn tallies(games: &[Game]) -> BTreeMap<&str, [Tally; 2]> {
    let mut all: BTreeMap<&str, [Tally; 2]> = BTreeMap::new();
    for game in games {
        let points = game.score.points();
        all.entry(&game.pro).or_default()[0].note(points);
        all.entry(&game.con).or_default()[1].note(1.0 - points);
    }
    all
}

fn both(one: Tally, other: Tally) -> Tally {
    Tally {
        games: one.games + other.games,
        wins: one.wins + other.wins,
        draws: one.draws + other.draws,
        losses: one.losses + other.losses,
    }
}

fn sides(games: &[Game], advantage: Option<Estimate>) -> Sides {
    let mut proposer = Tally::default();
    for game in games {
        proposer.note(game.score.points());
    }
    let decided = games.iter().filter(|game| game.score != Score::Draw).count();
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let ends = (decided > 0).then(|| wilson(proposer.wins, decided));
    Sides {
        proposer,
        share: (decided > 0).then(|| round(proposer.wins as f64 / decided as f64)),
        low: ends.map(|it| round(it.0)),
        high: ends.map(|it| round(it.1)),
        advantage,
    }
}
