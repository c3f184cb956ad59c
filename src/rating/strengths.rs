//! Bradley-Terry ratings: the log odds of a win are the difference of two strengths plus the
//! proposer's advantage. Fitted by penalized maximum likelihood with Newton's method. The prior is
//! one draw per entrant against an average player, so that an undefeated entrant has a finite
//! rating.
//!
//! Ratings are comparable only within a connected component of the graph of games, so each
//! component is centered separately. Confidence intervals use the inverse Hessian, or a
//! cluster-robust variance by motion where that is wider, because games on one motion are
//! correlated.
use super::counts::Game;
use super::solve::{Factored, dot};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Mean rating of a group.
pub const MIDDLE: f64 = 1500.0;
/// Rating difference at odds of 10 to 1.
const TEN_TO_ONE: f64 = 400.0;
/// Standard errors on each side of a 95 % interval.
const WIDE: f64 = 1.959_964;
/// Limit on Newton steps. About eight are enough.
const STEPS: usize = 100;
/// The fit has converged when no strength changes by more than this.
const NEAR: f64 = 1e-11;

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Estimate")]
pub struct Estimate {
    /// Point estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    fn new(value: f64, variance: f64, middle: f64) -> Estimate {
        let scale = TEN_TO_ONE / std::f64::consts::LN_10;
        let (value, wide) = (middle + value * scale, WIDE * variance.max(0.0).sqrt() * scale);
        Estimate { value: tenth(value), low: tenth(value - wide), high: tenth(value + wide) }
    }
}

/// Result of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Strengths {
    /// Connected entrants, the largest group and the highest rating first.
    pub groups: Vec<Vec<(String, Estimate)>>,
    /// Advantage of the proposer, in rating points.
    pub advantage: Option<Estimate>,
}

/// A game with indices instead of names.
struct Bout {
    pro: usize,
    con: usize,
    points: f64,
    motion: usize,
}

/// A connected component: indices of its entrants.
struct Part {
    members: Vec<usize>,
}

/// Fits ratings to games. The result does not depend on the order of games or on names.
pub fn strengths(games: &[Game]) -> Strengths {
    let names: BTreeMap<&str, usize> = numbered(games.iter().flat_map(|it| [&*it.pro, &*it.con]));
    let motions: BTreeMap<&str, usize> = numbered(games.iter().map(|it| &*it.motion));
    let mut sorted: Vec<&Game> = games.iter().filter(|game| game.pro != game.con).collect();
    sorted.sort_by(|a, b| {
        let key = |it: &Game| (it.pro.clone(), it.con.clone(), it.score, it.motion.clone());
        key(a).cmp(&key(b))
    });
    let bouts: Vec<Bout> = sorted
        .into_iter()
        .map(|it| Bout {
            pro: names[&*it.pro],
            con: names[&*it.con],
            points: it.score.points(),
            motion: motions[&*it.motion],
        })
        .collect();
    if bouts.is_empty() {
        return Strengths { groups: vec![], advantage: None };
    }
    let fit = Fit::of(names.len(), &bouts);
    let words: Vec<&str> = names.into_keys().collect();
    let spread = fit.spread(&bouts, motions.len());
    let mut groups: Vec<Vec<(String, Estimate)>> = vec![];
    for part in &fit.parts {
        let mean = part.mean(&fit.theta);
        let estimate = |member: &usize| {
            let value = Estimate::new(fit.theta[*member] - mean, spread.members[*member], MIDDLE);
            (words[*member].to_owned(), value)
        };
        let mut group: Vec<_> = part.members.iter().map(estimate).collect();
        group.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then_with(|| a.0.cmp(&b.0)));
        groups.push(group);
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a[0].0.cmp(&b[0].0)));
    Strengths { groups, advantage: Some(Estimate::new(fit.first, spread.first, 0.0)) }
}

/// State of the fit: strengths, advantage of the proposer, and the inverse Hessian.
struct Fit {
    theta: Vec<f64>,
    first: f64,
    parts: Vec<Part>,
    /// For each component the inverse of its Hessian block, and that times its coupling to the
    /// advantage.
    blocks: Vec<(Vec<f64>, Vec<f64>)>,
    /// Schur complement of the advantage: its information given the strengths.
    left: f64,
}

/// Variances of the estimates.
struct Spread {
    members: Vec<f64>,
    first: f64,
}

impl Fit {
    fn of(size: usize, bouts: &[Bout]) -> Fit {
        let parts = connected(size, bouts);
        let zero = vec![0.0; size];
        let mut fit = Fit { theta: zero, first: 0.0, parts, blocks: vec![], left: 1.0 };
        for _ in 0..STEPS {
            fit.measure(bouts);
            let (slope, first) = fit.slope(bouts);
            let (step, step_first) = fit.through(&slope, first);
            let longest = step.iter().fold(step_first.abs(), |most, it| most.max(it.abs()));
            // The log-likelihood is concave, so halve a step that overshoots.
            let before = fit.likelihood(bouts);
            let (theta, first) = (fit.theta.clone(), fit.first);
            let mut part = 1.0;
            for _ in 0..30 {
                fit.theta = theta.iter().zip(&step).map(|(at, by)| at + part * by).collect();
                fit.first = first + part * step_first;
                if fit.likelihood(bouts) >= before - 1e-12 {
                    break;
                }
                part /= 2.0;
            }
            if longest < NEAR {
                break;
            }
        }
        fit.measure(bouts);
        fit
    }

    fn chance(&self, bout: &Bout) -> f64 {
        logistic(self.theta[bout.pro] - self.theta[bout.con] + self.first)
    }

    fn likelihood(&self, bouts: &[Bout]) -> f64 {
        let even = |at: f64| 0.5 * log_logistic(at) + 0.5 * log_logistic(-at);
        let prior: f64 = self.theta.iter().map(|at| even(*at)).sum();
        let games: f64 = bouts
            .iter()
            .map(|bout| {
                let at = self.theta[bout.pro] - self.theta[bout.con] + self.first;
                bout.points * log_logistic(at) + (1.0 - bout.points) * log_logistic(-at)
            })
            .sum();
        prior + even(self.first) + games
    }

    fn slope(&self, bouts: &[Bout]) -> (Vec<f64>, f64) {
        let mut slope: Vec<f64> = self.theta.iter().map(|at| 0.5 - logistic(*at)).collect();
        let mut first = 0.5 - logistic(self.first);
        for bout in bouts {
            let off = bout.points - self.chance(bout);
            slope[bout.pro] += off;
            slope[bout.con] -= off;
            first += off;
        }
        (slope, first)
    }

    /// Computes the inverse Hessian at the current strengths. It is block diagonal by component,
    /// except for the row and column of the advantage.
    fn measure(&mut self, bouts: &[Bout]) {
        let size = self.theta.len();
        let (mut group, mut place) = (vec![0; size], vec![0; size]);
        for (nth, part) in self.parts.iter().enumerate() {
            for (at, member) in part.members.iter().enumerate() {
                (group[*member], place[*member]) = (nth, at);
            }
        }
        let mut matrices: Vec<Vec<f64>> = self
            .parts
            .iter()
            .map(|part| {
                let own = part.members.len();
                let mut matrix = vec![0.0; own * own];
                for (at, member) in part.members.iter().enumerate() {
                    matrix[at * own + at] = curve(self.theta[*member]);
                }
                matrix
            })
            .collect();
        let mut ties: Vec<Vec<f64>> =
            self.parts.iter().map(|part| vec![0.0; part.members.len()]).collect();
        self.left = curve(self.first);
        for bout in bouts {
            let chance = self.chance(bout);
            let about = chance * (1.0 - chance);
            let (nth, pro, con) = (group[bout.pro], place[bout.pro], place[bout.con]);
            let own = self.parts[nth].members.len();
            let matrix = &mut matrices[nth];
            matrix[pro * own + pro] += about;
            matrix[con * own + con] += about;
            matrix[pro * own + con] -= about;
            matrix[con * own + pro] -= about;
            ties[nth][pro] += about;
            ties[nth][con] -= about;
            self.left += about;
        }
        self.blocks.clear();
        for (matrix, tie) in matrices.iter().zip(&ties) {
            let factored = Factored::of(matrix, tie.len());
            let through = factored.solve(tie);
            self.left -= dot(tie, &through);
            self.blocks.push((factored.inverse(), through));
        }
    }

    /// Multiplies a gradient by the inverse Hessian, which gives the Newton step.
    fn through(&self, slope: &[f64], first: f64) -> (Vec<f64>, f64) {
        let mut first = first;
        let own = |part: &Part| part.members.iter().map(|it| slope[*it]).collect::<Vec<_>>();
        for (part, (_, tie)) in self.parts.iter().zip(&self.blocks) {
            first -= dot(tie, &own(part));
        }
        let first = first / self.left;
        let mut step = vec![0.0; slope.len()];
        for (part, (inverse, tie)) in self.parts.iter().zip(&self.blocks) {
            let (right, size) = (own(part), part.members.len());
            for (at, member) in part.members.iter().enumerate() {
                let row = &inverse[at * size..(at + 1) * size];
                step[*member] = dot(row, &right) - tie[at] * first;
            }
        }
        (step, first)
    }

    /// Variance of each strength relative to the mean of its component, and of the advantage. Takes
    /// the larger of the model-based and the cluster-robust value.
    fn spread(&self, bouts: &[Bout], motions: usize) -> Spread {
        let mut members = vec![0.0; self.theta.len()];
        for (part, (inverse, tie)) in self.parts.iter().zip(&self.blocks) {
            let size = part.members.len();
            let of = |a: usize, b: usize| inverse[a * size + b] + tie[a] * tie[b] / self.left;
            let rows: Vec<f64> = (0..size).map(|a| (0..size).map(|b| of(a, b)).sum()).collect();
            let (count, all) = (size as f64, rows.iter().sum::<f64>());
            for (at, member) in part.members.iter().enumerate() {
                members[*member] = of(at, at) - 2.0 * rows[at] / count + all / (count * count);
            }
        }
        let mut spread = Spread { members, first: 1.0 / self.left };
        let clustered = self.clustered(bouts, motions);
        for (own, other) in spread.members.iter_mut().zip(&clustered.members) {
            *own = own.max(*other);
        }
        spread.first = spread.first.max(clustered.first);
        spread
    }

    /// Cluster-robust (sandwich) variances, with one cluster per motion.
    fn clustered(&self, bouts: &[Bout], motions: usize) -> Spread {
        let mut spread = Spread { members: vec![0.0; self.theta.len()], first: 0.0 };
        if motions < 2 {
            return spread;
        }
        let mut by_motion: Vec<Vec<&Bout>> = vec![vec![]; motions];
        for bout in bouts {
            by_motion[bout.motion].push(bout);
        }
        for own in by_motion {
            let (mut slope, mut first) = (vec![0.0; self.theta.len()], 0.0);
            for bout in own {
                let off = bout.points - self.chance(bout);
                slope[bout.pro] += off;
                slope[bout.con] -= off;
                first += off;
            }
            let (pull, pull_first) = self.through(&slope, first);
            for part in &self.parts {
                let mean = part.mean(&pull);
                for member in &part.members {
                    spread.members[*member] += (pull[*member] - mean).powi(2);
                }
            }
            spread.first += pull_first.powi(2);
        }
        let few = motions as f64 / (motions - 1) as f64;
        spread.members.iter_mut().for_each(|it| *it *= few);
        spread.first *= few;
        spread
    }
}

impl Part {
    fn mean(&self, of: &[f64]) -> f64 {
        self.members.iter().map(|it| of[*it]).sum::<f64>() / self.members.len() as f64
    }
}

/// Connected components of the graph of games, by union-find.
fn connected(size: usize, bouts: &[Bout]) -> Vec<Part> {
    let mut of: Vec<usize> = (0..size).collect();
    for bout in bouts {
        let (one, other) = (root(&mut of, bout.pro), root(&mut of, bout.con));
        of[one.max(other)] = one.min(other);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..size {
        let first = root(&mut of, at);
        groups.entry(first).or_default().push(at);
    }
    groups.into_values().map(|members| Part { members }).collect()
}

/// Union-find root, with path halving.
fn root(of: &mut [usize], mut at: usize) -> usize {
    while of[at] != at {
        of[at] = of[of[at]];
        at = of[at];
    }
    at
}

fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
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
fn curve(at: f64) -> f64 {
    logistic(at) * (1.0 - logistic(at))
}

fn tenth(value: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (value * 10.0).round() / 10.0 + 0.0
}
