//! `Leaderboard`: ratings, unrated debates with reasons, and judge agreement, read from the
//! archive.
use super::agreement::{DebateRulings, JudgeAgreement, judge_agreement, wilson_interval};
use super::bradley_terry::{RatingEstimate, fit_ratings};
use super::eligibility::{self, GameScore, RatedGame};
use super::unrated_reason::UnratedReason;
use crate::app::{App, AppError};
use crate::debate::Debate;
use crate::engine::{DebateCard, DebateQuery};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A rated game and its rulings, or why the debate is not rated.
pub(crate) type RatingResult = Result<(RatedGame, DebateRulings), UnratedReason>;

/// The leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Board")]
pub struct Leaderboard {
    /// Number of debates considered.
    pub debates: usize,
    /// Number of rated debates.
    pub rated: usize,
    /// Rated debates in which a judge was, or may be, the model of one side.
    pub partial: usize,
    /// Entrants connected by games, the largest group first. Ratings of different groups cannot be
    /// compared.
    pub groups: Vec<LeaderboardGroup>,
    /// Results by side.
    pub sides: SideResults,
    /// Reasons why debates are not rated, the most frequent first.
    pub unrated: Vec<UnratedCount>,
    /// Agreement of judges in rated debates.
    pub judges: Vec<JudgeAgreement>,
}

/// Entrants connected by games.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct LeaderboardGroup {
    /// Entrants, the highest rating first.
    pub rows: Vec<LeaderboardRow>,
}

/// An entrant with its rating and results.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct LeaderboardRow {
    /// Rank within the group.
    pub rank: usize,
    /// Name of the entrant.
    pub entrant: String,
    /// Rating: 400 points are odds of 10 to 1, and the mean of a group is 1500.
    pub rating: RatingEstimate,
    /// Results of all games.
    pub total: GameTally,
    /// Results of games as the proposer.
    pub as_proposer: GameTally,
    /// Results of games as the challenger.
    pub as_challenger: GameTally,
}

/// Games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Tally")]
pub struct GameTally {
    /// Number of games.
    pub games: usize,
    /// Games won.
    pub wins: usize,
    /// Contested verdicts, half a win for each side.
    pub draws: usize,
    /// Games lost.
    pub losses: usize,
}

impl GameTally {
    pub(crate) fn add_game(&mut self, points: f64) {
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
pub struct SideResults {
    /// Results of the proposers.
    pub proposer: GameTally,
    /// Share of decided games the proposer won, from 0 to 1.
    pub share: Option<f64>,
    /// Lower bound of the 95 % Wilson interval of the share.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// Advantage of the proposer between equals, in rating points. The ratings are corrected for
    /// it.
    pub advantage: Option<RatingEstimate>,
}

/// Number of debates that are not rated for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NotRated")]
pub struct UnratedCount {
    /// The reason.
    pub reason: UnratedReason,
    /// The reason in a few words.
    pub says: String,
    /// Number of debates.
    pub debates: usize,
}

impl Leaderboard {
    /// Leaderboard of all debates in the archive, or of one repository. The log of a debate is read
    /// only if its card passes `check_card`.
    pub async fn from_archive(app: &App, root: Option<PathBuf>) -> Result<Leaderboard, AppError> {
        Leaderboard::from_cards(
            app,
            app.archive().queries.list(&DebateQuery { root, ..DebateQuery::default() }).await?,
        )
        .await
    }

    /// Leaderboard of some debates of the archive.
    pub async fn from_cards(app: &App, cards: Vec<DebateCard>) -> Result<Leaderboard, AppError> {
        let mut results = Vec::with_capacity(cards.len());
        for card in cards {
            results.push(match eligibility::check_card(&card) {
                Ok(()) => match app.read(&card.id).await {
                    Ok((_, debate, None)) => rate_debate(&debate),
                    Ok((_, _, Some(_))) | Err(AppError::InvalidSetup(_)) => {
                        Err(UnratedReason::Flawed)
                    }
                    Err(error) => return Err(error),
                },
                Err(reason) => Err(reason),
            });
        }
        Ok(Leaderboard::from_results(&results))
    }

    /// Leaderboard of these results. Their order does not matter.
    pub fn from_results(results: &[RatingResult]) -> Leaderboard {
        let rated: Vec<&(RatedGame, DebateRulings)> =
            results.iter().filter_map(|it| it.as_ref().ok()).collect();
        let games: Vec<RatedGame> = rated.iter().map(|(game, _)| game.clone()).collect();
        let mut reasons: BTreeMap<UnratedReason, usize> = BTreeMap::new();
        for why in results.iter().filter_map(|it| it.as_ref().err()) {
            *reasons.entry(*why).or_default() += 1;
        }
        let mut unrated: Vec<UnratedCount> = reasons
            .into_iter()
            .map(|(reason, debates)| UnratedCount {
                reason,
                says: reason.describe().into(),
                debates,
            })
            .collect();
        unrated.sort_by_key(|it| std::cmp::Reverse(it.debates));
        let fitted = fit_ratings(&games);
        let tallies = tally_by_entrant(&games);
        let groups = fitted.groups.into_iter().map(|group| {
            let rows = group.into_iter().zip(1..).map(|((entrant, rating), rank)| {
                let [as_proposer, as_challenger] =
                    tallies.get(entrant.as_str()).copied().unwrap_or_default();
                let total = add_tallies(as_proposer, as_challenger);
                LeaderboardRow { rank, entrant, rating, total, as_proposer, as_challenger }
            });
            LeaderboardGroup { rows: rows.collect() }
        });
        Leaderboard {
            debates: results.len(),
            rated: games.len(),
            partial: games.iter().filter(|game| game.biased_judge).count(),
            groups: groups.collect(),
            sides: side_results(&games, fitted.advantage),
            unrated,
            judges: judge_agreement(rated.iter().map(|(_, rulings)| rulings)),
        }
    }

    /// Rows of all groups.
    #[cfg(test)]
    pub fn rows(&self) -> impl Iterator<Item = &LeaderboardRow> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// The rated game and the rulings of a debate, or why it is not rated.
pub(crate) fn rate_debate(debate: &Debate) -> RatingResult {
    Ok((eligibility::to_rated_game(debate)?, DebateRulings::from_debate(debate)))
}

fn tally_by_entrant(games: &[RatedGame]) -> BTreeMap<&str, [GameTally; 2]> {
    let mut tallies: BTreeMap<&str, [GameTally; 2]> = BTreeMap::new();
    for game in games {
        let points = game.score.points();
        tallies.entry(&game.pro).or_default()[0].add_game(points);
        tallies.entry(&game.con).or_default()[1].add_game(1.0 - points);
    }
    tallies
}

fn add_tallies(one: GameTally, other: GameTally) -> GameTally {
    GameTally {
        games: one.games + other.games,
        wins: one.wins + other.wins,
        draws: one.draws + other.draws,
        losses: one.losses + other.losses,
    }
}

fn side_results(games: &[RatedGame], advantage: Option<RatingEstimate>) -> SideResults {
    let mut proposer = GameTally::default();
    for game in games {
        proposer.add_game(game.score.points());
    }
    let decided = games.iter().filter(|game| game.score != GameScore::Draw).count();
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let interval = (decided > 0).then(|| wilson_interval(proposer.wins, decided));
    SideResults {
        proposer,
        share: (decided > 0).then(|| round(proposer.wins as f64 / decided as f64)),
        low: interval.map(|it| round(it.0)),
        high: interval.map(|it| round(it.1)),
        advantage,
    }
}
