//! `Leaderboard`: ratings, unrated debates with reasons, and judge agreement, read from the
//! archive.
use super::agreement::{Agreement, Bench, agreement, wilson};
use super::counts::{self, Game, Score, Unrated};
use super::strengths::{Estimate, strengths};
use crate::debate::Debate;
use crate::engine::{App, AppError, DebateCard, DebateQuery};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A rated game and its rulings, or why the debate is not rated.
pub type Reading = Result<(Game, Bench), Unrated>;

/// The leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Board")]
pub struct Board {
    /// Number of debates considered.
    pub debates: usize,
    /// Number of rated debates.
    pub rated: usize,
    /// Rated debates in which a judge was, or may be, the model of one side.
    pub partial: usize,
    /// Entrants connected by games, the largest group first. Ratings of different groups cannot be
    /// compared.
    pub groups: Vec<Group>,
    /// Results by side.
    pub sides: Sides,
    /// Reasons why debates are not rated, the most frequent first.
    pub unrated: Vec<NotRated>,
    /// Agreement of judges in rated debates.
    pub judges: Vec<Agreement>,
}

/// Entrants connected by games.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct Group {
    /// Entrants, the highest rating first.
    pub rows: Vec<Row>,
}

/// An entrant with its rating and results.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct Row {
    /// Rank within the group.
    pub rank: usize,
    /// Name of the entrant.
    pub entrant: String,
    /// Rating: 400 points are odds of 10 to 1, and the mean of a group is 1500.
    pub rating: Estimate,
    /// Results of all games.
    pub total: Tally,
    /// Results of games as the proposer.
    pub as_proposer: Tally,
    /// Results of games as the challenger.
    pub as_challenger: Tally,
}

/// Games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Tally")]
pub struct Tally {
    /// Number of games.
    pub games: usize,
    /// Games won.
    pub wins: usize,
    /// Contested verdicts, half a win for each side.
    pub draws: usize,
    /// Games lost.
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

    /// Wins plus half of the draws.
    pub fn points(self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }
}

/// Results by side, over all entrants.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Sides")]
pub struct Sides {
    /// Results of the proposers.
    pub proposer: Tally,
    /// Share of decided games the proposer won, from 0 to 1.
    pub share: Option<f64>,
    /// Lower bound of the 95 % Wilson interval of the share.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// Advantage of the proposer between equals, in rating points. The ratings are corrected for
    /// it.
    pub advantage: Option<Estimate>,
}

/// Number of debates that are not rated for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NotRated")]
pub struct NotRated {
    /// The reason.
    pub reason: Unrated,
    /// The reason in a few words.
    pub says: String,
    /// Number of debates.
    pub debates: usize,
}

impl Board {
    /// Leaderboard of all debates in the archive, or of one repository. The log of a debate is read
    /// only if its card passes `check_card`.
    pub fn of_archive(desk: &App, root: Option<PathBuf>) -> Result<Board, AppError> {
        Board::of_cards(desk, desk.archive().list(&DebateQuery { root, ..DebateQuery::default() })?)
    }

    /// Leaderboard of some debates of the archive.
    pub fn of_cards(desk: &App, cards: Vec<DebateCard>) -> Result<Board, AppError> {
        let mut readings = Vec::with_capacity(cards.len());
        for card in cards {
            readings.push(match counts::by_card(&card) {
                Ok(()) => match desk.read(&card.id) {
                    Ok((_, debate, None)) => reading(&debate),
                    Ok((_, _, Some(_))) | Err(AppError::InvalidSetup(_)) => Err(Unrated::Flawed),
                    Err(error) => return Err(error),
                },
                Err(why) => Err(why),
            });
        }
        Ok(Board::of(&readings))
    }

    /// Leaderboard of these results. Their order does not matter.
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

    /// Rows of all groups.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// The rated game and the rulings of a debate, or why it is not rated.
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
