//! Bradley-Terry ratings: the log odds of a win are the difference of two strengths plus the
//! proposer's advantage. Fitted by penalized maximum likelihood with Newton's method. The prior is
//! one draw per entrant against an average player, so that an undefeated entrant has a finite
//! rating.
//!
//! Ratings are comparable only within a connected component of the graph of games, so each
//! component is centered separately. Confidence intervals use the inverse Hessian, or a
//! cluster-robust variance by motion where that is wider, because games on one motion are
//! correlated.
use super::cholesky::{CholeskyFactor, dot_product};
use super::eligibility::RatedGame;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Mean rating of a group.
pub const MEAN_RATING: f64 = 1500.0;
/// Rating difference at odds of 10 to 1.
const POINTS_AT_TEN_TO_ONE: f64 = 400.0;
/// Standard errors on each side of a 95 % interval.
const Z_95: f64 = 1.959_964;
/// Limit on Newton steps. About eight are enough.
const MAX_NEWTON_STEPS: usize = 100;
/// The fit has converged when no strength changes by more than this.
const TOLERANCE: f64 = 1e-11;

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Estimate")]
pub struct RatingEstimate {
    /// Point estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl RatingEstimate {
    fn new(value: f64, variance: f64, middle: f64) -> RatingEstimate {
        let scale = POINTS_AT_TEN_TO_ONE / std::f64::consts::LN_10;
        let (value, wide) = (middle + value * scale, Z_95 * variance.max(0.0).sqrt() * scale);
        RatingEstimate {
            value: round_to_tenth(value),
            low: round_to_tenth(value - wide),
            high: round_to_tenth(value + wide),
        }
    }
}

/// Result of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedRatings {
    /// Connected entrants, the largest group and the highest rating first.
    pub groups: Vec<Vec<(String, RatingEstimate)>>,
    /// Advantage of the proposer, in rating points.
    pub advantage: Option<RatingEstimate>,
}

/// A game with indices instead of names.
struct IndexedGame {
    pro: usize,
    con: usize,
    points: f64,
    motion: usize,
}

/// A connected component: indices of its entrants.
struct ConnectedComponent {
    members: Vec<usize>,
}

/// Fits ratings to games. The result does not depend on the order of games or on names.
pub fn fit_ratings(games: &[RatedGame]) -> FittedRatings {
    let names: BTreeMap<&str, usize> =
        index_names(games.iter().flat_map(|it| [&*it.pro, &*it.con]));
    let motions: BTreeMap<&str, usize> = index_names(games.iter().map(|it| &*it.motion));
    let mut sorted: Vec<&RatedGame> = games.iter().filter(|game| game.pro != game.con).collect();
    sorted.sort_by(|a, b| {
        let key = |it: &RatedGame| (it.pro.clone(), it.con.clone(), it.score, it.motion.clone());
        key(a).cmp(&key(b))
    });
    let bouts: Vec<IndexedGame> = sorted
        .into_iter()
        .map(|it| IndexedGame {
            pro: names[&*it.pro],
            con: names[&*it.con],
            points: it.score.points(),
            motion: motions[&*it.motion],
        })
        .collect();
    if bouts.is_empty() {
        return FittedRatings { groups: vec![], advantage: None };
    }
    let fit = BradleyTerryFit::solve(names.len(), &bouts);
    let words: Vec<&str> = names.into_keys().collect();
    let spread = fit.variances(&bouts, motions.len());
    let mut groups: Vec<Vec<(String, RatingEstimate)>> = vec![];
    for part in &fit.components {
        let mean = part.mean(&fit.theta);
        let estimate = |member: &usize| {
            let value = RatingEstimate::new(
                fit.theta[*member] - mean,
                spread.members[*member],
                MEAN_RATING,
            );
            (words[*member].to_owned(), value)
        };
        let mut group: Vec<_> = part.members.iter().map(estimate).collect();
        group.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then_with(|| a.0.cmp(&b.0)));
        groups.push(group);
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a[0].0.cmp(&b[0].0)));
    FittedRatings {
        groups,
        advantage: Some(RatingEstimate::new(fit.advantage, spread.advantage, 0.0)),
    }
}

/// State of the fit: strengths, advantage of the proposer, and the inverse Hessian.
struct BradleyTerryFit {
    theta: Vec<f64>,
    advantage: f64,
    components: Vec<ConnectedComponent>,
    /// For each component the inverse of its Hessian block, and that times its coupling to the
    /// advantage.
    inverse_blocks: Vec<(Vec<f64>, Vec<f64>)>,
    /// Schur complement of the advantage: its information given the strengths.
    advantage_information: f64,
}

/// Variances of the estimates.
struct RatingVariances {
    members: Vec<f64>,
    advantage: f64,
}

impl BradleyTerryFit {
    fn solve(size: usize, bouts: &[IndexedGame]) -> BradleyTerryFit {
        let parts = connected_components(size, bouts);
        let zero = vec![0.0; size];
        let mut fit = BradleyTerryFit {
            theta: zero,
            advantage: 0.0,
            components: parts,
            inverse_blocks: vec![],
            advantage_information: 1.0,
        };
        for _ in 0..MAX_NEWTON_STEPS {
            fit.update_hessian(bouts);
            let (slope, first) = fit.gradient(bouts);
            let (step, step_first) = fit.newton_step(&slope, first);
            let longest = step.iter().fold(step_first.abs(), |most, it| most.max(it.abs()));
            // The log-likelihood is concave, so halve a step that overshoots.
            let before = fit.log_likelihood(bouts);
            let (theta, first) = (fit.theta.clone(), fit.advantage);
            let mut part = 1.0;
            for _ in 0..30 {
                fit.theta = theta.iter().zip(&step).map(|(at, by)| at + part * by).collect();
                fit.advantage = first + part * step_first;
                if fit.log_likelihood(bouts) >= before - 1e-12 {
                    break;
                }
                part /= 2.0;
            }
            if longest < TOLERANCE {
                break;
            }
        }
        fit.update_hessian(bouts);
        fit
    }

    fn win_probability(&self, bout: &IndexedGame) -> f64 {
        logistic(self.theta[bout.pro] - self.theta[bout.con] + self.advantage)
    }

    fn log_likelihood(&self, bouts: &[IndexedGame]) -> f64 {
        let even = |at: f64| 0.5 * log_logistic(at) + 0.5 * log_logistic(-at);
        let prior: f64 = self.theta.iter().map(|at| even(*at)).sum();
        let games: f64 = bouts
            .iter()
            .map(|bout| {
                let at = self.theta[bout.pro] - self.theta[bout.con] + self.advantage;
                bout.points * log_logistic(at) + (1.0 - bout.points) * log_logistic(-at)
            })
            .sum();
        prior + even(self.advantage) + games
    }

    fn gradient(&self, bouts: &[IndexedGame]) -> (Vec<f64>, f64) {
        let mut slope: Vec<f64> = self.theta.iter().map(|at| 0.5 - logistic(*at)).collect();
        let mut first = 0.5 - logistic(self.advantage);
        for bout in bouts {
            let off = bout.points - self.win_probability(bout);
            slope[bout.pro] += off;
            slope[bout.con] -= off;
            first += off;
        }
        (slope, first)
    }

    /// Computes the inverse Hessian at the current strengths. It is block diagonal by component,
    /// except for the row and column of the advantage.
    fn update_hessian(&mut self, bouts: &[IndexedGame]) {
        let size = self.theta.len();
        let (mut group, mut place) = (vec![0; size], vec![0; size]);
        for (nth, part) in self.components.iter().enumerate() {
            for (at, member) in part.members.iter().enumerate() {
                (group[*member], place[*member]) = (nth, at);
            }
        }
        let mut matrices: Vec<Vec<f64>> = self
            .components
            .iter()
            .map(|part| {
                let own = part.members.len();
                let mut matrix = vec![0.0; own * own];
                for (at, member) in part.members.iter().enumerate() {
                    matrix[at * own + at] = logistic_derivative(self.theta[*member]);
                }
                matrix
            })
            .collect();
        let mut ties: Vec<Vec<f64>> =
            self.components.iter().map(|part| vec![0.0; part.members.len()]).collect();
        self.advantage_information = logistic_derivative(self.advantage);
        for bout in bouts {
            let chance = self.win_probability(bout);
            let about = chance * (1.0 - chance);
            let (nth, pro, con) = (group[bout.pro], place[bout.pro], place[bout.con]);
            let own = self.components[nth].members.len();
            let matrix = &mut matrices[nth];
            matrix[pro * own + pro] += about;
            matrix[con * own + con] += about;
            matrix[pro * own + con] -= about;
            matrix[con * own + pro] -= about;
            ties[nth][pro] += about;
            ties[nth][con] -= about;
            self.advantage_information += about;
        }
        self.inverse_blocks.clear();
        for (matrix, tie) in matrices.iter().zip(&ties) {
            let factored = CholeskyFactor::factor(matrix, tie.len());
            let through = factored.solve(tie);
            self.advantage_information -= dot_product(tie, &through);
            self.inverse_blocks.push((factored.inverse(), through));
        }
    }

    /// Multiplies a gradient by the inverse Hessian, which gives the Newton step.
    fn newton_step(&self, slope: &[f64], first: f64) -> (Vec<f64>, f64) {
        let mut first = first;
        let own = |part: &ConnectedComponent| {
            part.members.iter().map(|it| slope[*it]).collect::<Vec<_>>()
        };
        for (part, (_, tie)) in self.components.iter().zip(&self.inverse_blocks) {
            first -= dot_product(tie, &own(part));
        }
        let first = first / self.advantage_information;
        let mut step = vec![0.0; slope.len()];
        for (part, (inverse, tie)) in self.components.iter().zip(&self.inverse_blocks) {
            let (right, size) = (own(part), part.members.len());
            for (at, member) in part.members.iter().enumerate() {
                let row = &inverse[at * size..(at + 1) * size];
                step[*member] = dot_product(row, &right) - tie[at] * first;
            }
        }
        (step, first)
    }

    /// Variance of each strength relative to the mean of its component, and of the advantage. Takes
    /// the larger of the model-based and the cluster-robust value.
    fn variances(&self, bouts: &[IndexedGame], motions: usize) -> RatingVariances {
        let mut members = vec![0.0; self.theta.len()];
        for (part, (inverse, tie)) in self.components.iter().zip(&self.inverse_blocks) {
            let size = part.members.len();
            let of = |a: usize, b: usize| {
                inverse[a * size + b] + tie[a] * tie[b] / self.advantage_information
            };
            let rows: Vec<f64> = (0..size).map(|a| (0..size).map(|b| of(a, b)).sum()).collect();
            let (count, all) = (size as f64, rows.iter().sum::<f64>());
            for (at, member) in part.members.iter().enumerate() {
                members[*member] = of(at, at) - 2.0 * rows[at] / count + all / (count * count);
            }
        }
        let mut spread = RatingVariances { members, advantage: 1.0 / self.advantage_information };
        let clustered = self.clustered_variances(bouts, motions);
        for (own, other) in spread.members.iter_mut().zip(&clustered.members) {
            *own = own.max(*other);
        }
        spread.advantage = spread.advantage.max(clustered.advantage);
        spread
    }

    /// Cluster-robust (sandwich) variances, with one cluster per motion.
    fn clustered_variances(&self, bouts: &[IndexedGame], motions: usize) -> RatingVariances {
        let mut spread = RatingVariances { members: vec![0.0; self.theta.len()], advantage: 0.0 };
        if motions < 2 {
            return spread;
        }
        let mut by_motion: Vec<Vec<&IndexedGame>> = vec![vec![]; motions];
        for bout in bouts {
            by_motion[bout.motion].push(bout);
        }
        for own in by_motion {
            let (mut slope, mut first) = (vec![0.0; self.theta.len()], 0.0);
            for bout in own {
                let off = bout.points - self.win_probability(bout);
                slope[bout.pro] += off;
                slope[bout.con] -= off;
                first += off;
            }
            let (pull, pull_first) = self.newton_step(&slope, first);
            for part in &self.components {
                let mean = part.mean(&pull);
                for member in &part.members {
                    spread.members[*member] += (pull[*member] - mean).powi(2);
                }
            }
            spread.advantage += pull_first.powi(2);
        }
        let few = motions as f64 / (motions - 1) as f64;
        spread.members.iter_mut().for_each(|it| *it *= few);
        spread.advantage *= few;
        spread
    }
}

impl ConnectedComponent {
    fn mean(&self, of: &[f64]) -> f64 {
        self.members.iter().map(|it| of[*it]).sum::<f64>() / self.members.len() as f64
    }
}

/// Connected components of the graph of games, by union-find.
fn connected_components(size: usize, bouts: &[IndexedGame]) -> Vec<ConnectedComponent> {
    let mut of: Vec<usize> = (0..size).collect();
    for bout in bouts {
        let (one, other) = (find_root(&mut of, bout.pro), find_root(&mut of, bout.con));
        of[one.max(other)] = one.min(other);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..size {
        let first = find_root(&mut of, at);
        groups.entry(first).or_default().push(at);
    }
    groups.into_values().map(|members| ConnectedComponent { members }).collect()
}

/// Union-find root, with path halving.
fn find_root(of: &mut [usize], mut at: usize) -> usize {
    while of[at] != at {
        of[at] = of[of[at]];
        at = of[at];
    }
    at
}

fn index_names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut all: BTreeMap<&str, usize> = names.map(|name| (name, 0)).collect();
    all.values_mut().enumerate().for_each(|(nth, number)| *number = nth);
    all
}

fn logistic(at: f64) -> f64 {
    1.0 / (1.0 + (-at).exp())
}

/// Numerically stable logarithm of the logistic function.
fn log_logistic(at: f64) -> f64 {
    if at > 0.0 { -(-at).exp().ln_1p() } else { at - at.exp().ln_1p() }
}

/// Derivative of the logistic function.
fn logistic_derivative(at: f64) -> f64 {
    logistic(at) * (1.0 - logistic(at))
}

fn round_to_tenth(value: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (value * 10.0).round() / 10.0 + 0.0
}
