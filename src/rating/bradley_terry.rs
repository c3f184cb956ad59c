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
pub(super) const MEAN_RATING: f64 = 1500.0;
/// Rating difference at odds of 10 to 1.
const POINTS_AT_TEN_TO_ONE: f64 = 400.0;
/// Standard errors on each side of a 95 % interval.
pub(super) const Z_95: f64 = 1.959_964;
/// Limit on Newton steps. About eight are enough.
const MAX_NEWTON_STEPS: usize = 100;
/// Limit on halvings of one Newton step.
const MAX_STEP_HALVINGS: usize = 30;
/// The fit has converged when no strength changes by more than this.
const TOLERANCE: f64 = 1e-11;
/// Decrease of the log-likelihood that counts as a rounding error.
const LIKELIHOOD_TOLERANCE: f64 = 1e-12;

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
    fn new(value: f64, variance: f64, center: f64) -> RatingEstimate {
        let scale = POINTS_AT_TEN_TO_ONE / std::f64::consts::LN_10;
        let (value, half_width) = (center + value * scale, Z_95 * variance.max(0.0).sqrt() * scale);
        RatingEstimate {
            value: round_to_tenth(value),
            low: round_to_tenth(value - half_width),
            high: round_to_tenth(value + half_width),
        }
    }
}

/// Result of the fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FittedRatings {
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
pub(crate) fn fit_ratings(games: &[RatedGame]) -> FittedRatings {
    let names: BTreeMap<&str, usize> =
        index_names(games.iter().flat_map(|it| [&*it.pro, &*it.con]));
    let motions: BTreeMap<&str, usize> = index_names(games.iter().map(|it| &*it.motion));
    let mut sorted: Vec<&RatedGame> = games.iter().filter(|game| game.pro != game.con).collect();
    sorted.sort_by(|a, b| {
        let key = |it: &RatedGame| (it.pro.clone(), it.con.clone(), it.score, it.motion.clone());
        key(a).cmp(&key(b))
    });
    let indexed_games: Vec<IndexedGame> = sorted
        .into_iter()
        .map(|it| IndexedGame {
            pro: names[&*it.pro],
            con: names[&*it.con],
            points: it.score.points(),
            motion: motions[&*it.motion],
        })
        .collect();
    if indexed_games.is_empty() {
        return FittedRatings { groups: vec![], advantage: None };
    }
    let fit = BradleyTerryFit::solve(names.len(), &indexed_games);
    let entrants: Vec<&str> = names.into_keys().collect();
    let variances = fit.variances(&indexed_games, motions.len());
    let mut groups: Vec<Vec<(String, RatingEstimate)>> = vec![];
    for component in &fit.components {
        let mean = component.mean(&fit.theta);
        let estimate = |member: &usize| {
            let value = RatingEstimate::new(
                fit.theta[*member] - mean,
                variances.members[*member],
                MEAN_RATING,
            );
            (entrants[*member].to_owned(), value)
        };
        let mut group: Vec<_> = component.members.iter().map(estimate).collect();
        group.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then_with(|| a.0.cmp(&b.0)));
        groups.push(group);
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a[0].0.cmp(&b[0].0)));
    FittedRatings {
        groups,
        advantage: Some(RatingEstimate::new(fit.advantage, variances.advantage, 0.0)),
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
    fn solve(size: usize, indexed_games: &[IndexedGame]) -> BradleyTerryFit {
        let components = connected_components(size, indexed_games);
        let zero = vec![0.0; size];
        let mut fit = BradleyTerryFit {
            theta: zero,
            advantage: 0.0,
            components,
            inverse_blocks: vec![],
            advantage_information: 1.0,
        };
        for _ in 0..MAX_NEWTON_STEPS {
            fit.update_hessian(indexed_games);
            let (gradient, advantage) = fit.gradient(indexed_games);
            let (step, advantage_step) = fit.newton_step(&gradient, advantage);
            let largest_step =
                step.iter().fold(advantage_step.abs(), |most, it| most.max(it.abs()));
            // The log-likelihood is concave, so halve a step that overshoots.
            let likelihood_before = fit.log_likelihood(indexed_games);
            let (theta, advantage) = (fit.theta.clone(), fit.advantage);
            let mut fraction = 1.0;
            for _ in 0..MAX_STEP_HALVINGS {
                fit.theta = theta
                    .iter()
                    .zip(&step)
                    .map(|(value, delta)| value + fraction * delta)
                    .collect();
                fit.advantage = advantage + fraction * advantage_step;
                if fit.log_likelihood(indexed_games) >= likelihood_before - LIKELIHOOD_TOLERANCE {
                    break;
                }
                fraction /= 2.0;
            }
            if largest_step < TOLERANCE {
                break;
            }
        }
        fit.update_hessian(indexed_games);
        fit
    }

    fn win_probability(&self, game: &IndexedGame) -> f64 {
        logistic(self.theta[game.pro] - self.theta[game.con] + self.advantage)
    }

    fn log_likelihood(&self, indexed_games: &[IndexedGame]) -> f64 {
        let draw = |x: f64| 0.5 * log_logistic(x) + 0.5 * log_logistic(-x);
        let prior: f64 = self.theta.iter().map(|x| draw(*x)).sum();
        let games: f64 = indexed_games
            .iter()
            .map(|game| {
                let x = self.theta[game.pro] - self.theta[game.con] + self.advantage;
                game.points * log_logistic(x) + (1.0 - game.points) * log_logistic(-x)
            })
            .sum();
        prior + draw(self.advantage) + games
    }

    fn gradient(&self, indexed_games: &[IndexedGame]) -> (Vec<f64>, f64) {
        let mut gradient: Vec<f64> =
            self.theta.iter().map(|strength| 0.5 - logistic(*strength)).collect();
        let mut advantage_gradient = 0.5 - logistic(self.advantage);
        for game in indexed_games {
            let residual = game.points - self.win_probability(game);
            gradient[game.pro] += residual;
            gradient[game.con] -= residual;
            advantage_gradient += residual;
        }
        (gradient, advantage_gradient)
    }

    /// Computes the inverse Hessian at the current strengths. It is block diagonal by component,
    /// except for the row and column of the advantage.
    fn update_hessian(&mut self, indexed_games: &[IndexedGame]) {
        let size = self.theta.len();
        let (mut component_of, mut position) = (vec![0; size], vec![0; size]);
        for (component_index, component) in self.components.iter().enumerate() {
            for (index, member) in component.members.iter().enumerate() {
                (component_of[*member], position[*member]) = (component_index, index);
            }
        }
        let mut matrices: Vec<Vec<f64>> = self
            .components
            .iter()
            .map(|component| {
                let block_size = component.members.len();
                let mut matrix = vec![0.0; block_size * block_size];
                for (index, member) in component.members.iter().enumerate() {
                    matrix[index * block_size + index] = logistic_derivative(self.theta[*member]);
                }
                matrix
            })
            .collect();
        let mut couplings: Vec<Vec<f64>> =
            self.components.iter().map(|component| vec![0.0; component.members.len()]).collect();
        self.advantage_information = logistic_derivative(self.advantage);
        for game in indexed_games {
            let probability = self.win_probability(game);
            let weight = probability * (1.0 - probability);
            let (component_index, pro, con) =
                (component_of[game.pro], position[game.pro], position[game.con]);
            let block_size = self.components[component_index].members.len();
            let matrix = &mut matrices[component_index];
            matrix[pro * block_size + pro] += weight;
            matrix[con * block_size + con] += weight;
            matrix[pro * block_size + con] -= weight;
            matrix[con * block_size + pro] -= weight;
            couplings[component_index][pro] += weight;
            couplings[component_index][con] -= weight;
            self.advantage_information += weight;
        }
        self.inverse_blocks.clear();
        for (matrix, coupling) in matrices.iter().zip(&couplings) {
            let factor = CholeskyFactor::factor(matrix, coupling.len());
            let solved = factor.solve(coupling);
            self.advantage_information -= dot_product(coupling, &solved);
            self.inverse_blocks.push((factor.inverse(), solved));
        }
    }

    /// Multiplies a gradient by the inverse Hessian, which gives the Newton step.
    fn newton_step(&self, gradient: &[f64], advantage_step: f64) -> (Vec<f64>, f64) {
        let mut advantage_step = advantage_step;
        let component_gradient = |component: &ConnectedComponent| {
            component.members.iter().map(|it| gradient[*it]).collect::<Vec<_>>()
        };
        for (component, (_, coupling)) in self.components.iter().zip(&self.inverse_blocks) {
            advantage_step -= dot_product(coupling, &component_gradient(component));
        }
        let advantage_step = advantage_step / self.advantage_information;
        let mut step = vec![0.0; gradient.len()];
        for (component, (inverse, coupling)) in self.components.iter().zip(&self.inverse_blocks) {
            let (rhs, size) = (component_gradient(component), component.members.len());
            for (index, member) in component.members.iter().enumerate() {
                let row = &inverse[index * size..(index + 1) * size];
                step[*member] = dot_product(row, &rhs) - coupling[index] * advantage_step;
            }
        }
        (step, advantage_step)
    }

    /// Variance of each strength relative to the mean of its component, and of the advantage. Takes
    /// the larger of the model-based and the cluster-robust value.
    fn variances(&self, indexed_games: &[IndexedGame], motions: usize) -> RatingVariances {
        let mut members = vec![0.0; self.theta.len()];
        for (component, (inverse, coupling)) in self.components.iter().zip(&self.inverse_blocks) {
            let size = component.members.len();
            let covariance = |a: usize, b: usize| {
                inverse[a * size + b] + coupling[a] * coupling[b] / self.advantage_information
            };
            let row_sums: Vec<f64> =
                (0..size).map(|a| (0..size).map(|b| covariance(a, b)).sum()).collect();
            let (count, total) = (size as f64, row_sums.iter().sum::<f64>());
            for (index, member) in component.members.iter().enumerate() {
                members[*member] = covariance(index, index) - 2.0 * row_sums[index] / count
                    + total / (count * count);
            }
        }
        let mut variances =
            RatingVariances { members, advantage: 1.0 / self.advantage_information };
        let clustered = self.clustered_variances(indexed_games, motions);
        for (variance, clustered_variance) in variances.members.iter_mut().zip(&clustered.members) {
            *variance = variance.max(*clustered_variance);
        }
        variances.advantage = variances.advantage.max(clustered.advantage);
        variances
    }

    /// Cluster-robust (sandwich) variances, with one cluster per motion.
    fn clustered_variances(
        &self,
        indexed_games: &[IndexedGame],
        motions: usize,
    ) -> RatingVariances {
        let mut variances =
            RatingVariances { members: vec![0.0; self.theta.len()], advantage: 0.0 };
        if motions < 2 {
            return variances;
        }
        let mut by_motion: Vec<Vec<&IndexedGame>> = vec![vec![]; motions];
        for game in indexed_games {
            by_motion[game.motion].push(game);
        }
        for motion_games in by_motion {
            let (mut gradient, mut advantage_gradient) = (vec![0.0; self.theta.len()], 0.0);
            for game in motion_games {
                let residual = game.points - self.win_probability(game);
                gradient[game.pro] += residual;
                gradient[game.con] -= residual;
                advantage_gradient += residual;
            }
            let (influence, advantage_influence) = self.newton_step(&gradient, advantage_gradient);
            for component in &self.components {
                let mean = component.mean(&influence);
                for member in &component.members {
                    variances.members[*member] += (influence[*member] - mean).powi(2);
                }
            }
            variances.advantage += advantage_influence.powi(2);
        }
        let correction = motions as f64 / (motions - 1) as f64;
        variances.members.iter_mut().for_each(|it| *it *= correction);
        variances.advantage *= correction;
        variances
    }
}

impl ConnectedComponent {
    fn mean(&self, values: &[f64]) -> f64 {
        self.members.iter().map(|it| values[*it]).sum::<f64>() / self.members.len() as f64
    }
}

/// Connected components of the graph of games, by union-find.
fn connected_components(size: usize, indexed_games: &[IndexedGame]) -> Vec<ConnectedComponent> {
    let mut parents: Vec<usize> = (0..size).collect();
    for game in indexed_games {
        let (pro_root, con_root) =
            (find_root(&mut parents, game.pro), find_root(&mut parents, game.con));
        parents[pro_root.max(con_root)] = pro_root.min(con_root);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in 0..size {
        let root = find_root(&mut parents, index);
        groups.entry(root).or_default().push(index);
    }
    groups.into_values().map(|members| ConnectedComponent { members }).collect()
}

/// Union-find root, with path halving.
fn find_root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

fn index_names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut indices: BTreeMap<&str, usize> = names.map(|name| (name, 0)).collect();
    indices.values_mut().enumerate().for_each(|(index, value)| *value = index);
    indices
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Numerically stable logarithm of the logistic function.
fn log_logistic(x: f64) -> f64 {
    if x > 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// Derivative of the logistic function.
fn logistic_derivative(x: f64) -> f64 {
    logistic(x) * (1.0 - logistic(x))
}

fn round_to_tenth(value: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (value * 10.0).round() / 10.0 + 0.0
}
