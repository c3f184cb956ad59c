//! How far judges agree: with each other, with themselves when they are shown the sides the other way
//! round, with the verdict, and with the audience.
use super::entrant;
use crate::debate::verdict::{judgment, mirrored, rulings};
use crate::debate::{Body, Debate, Role, Side};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What was ruled in one debate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bench {
    /// Each judge, whom it picked, and whom it picked with the sides swapped.
    pub judges: Vec<(String, Side, Option<Side>)>,
    /// What it all came to.
    pub verdict: Option<Side>,
    /// Where most of the weight of the votes is.
    pub audience: Option<Side>,
}

impl Bench {
    /// As it is on the record.
    pub fn of(debate: &Debate) -> Bench {
        let ruled = |seat: u8| {
            let mut own = rulings(debate).filter(|(cue, _, _)| cue.seat == seat);
            own.next().map(|(cue, side, _)| (cue, side))
        };
        let mirrors: BTreeMap<u8, u8> = mirrored(debate).collect();
        let seats = (0u8..).zip(debate.seats()).filter(|(_, seat)| seat.role == Role::Judge);
        let judges = seats.filter_map(|(nth, _)| {
            let (cue, side) = ruled(nth)?;
            let swapped = mirrors.get(&nth).and_then(|it| ruled(*it)).map(|(_, side)| side);
            Some((entrant::judge(debate, cue), side, swapped))
        });
        let (mut pro, mut con) = (0u64, 0u64);
        for (cue, body) in debate.spoken(..) {
            if let Body::Vote { side, .. } = body {
                let weight = u64::from(debate.seat(cue).weight);
                *(if *side == Side::Pro { &mut pro } else { &mut con }) += weight;
            }
        }
        let audience = match pro.cmp(&con) {
            Ordering::Greater => Some(Side::Pro),
            Ordering::Less => Some(Side::Con),
            Ordering::Equal => None,
        };
        let verdict = judgment(debate).map(|it| it.winner);
        Bench { judges: judges.collect(), verdict, audience }
    }
}

/// With whom a judge is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// Another judge of the same debate.
    Panel,
    /// Itself, with the sides swapped.
    Swapped,
    /// What the debate came to.
    Verdict,
    /// Whom most of the audience voted for.
    Audience,
}

/// How often two chose the same side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agreement {
    /// A judge.
    pub judge: String,
    /// With whom it is compared.
    pub between: Between,
    /// The other judge, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Debates in which both chose.
    pub debates: usize,
    /// Of those, how often they chose the same side.
    pub same: usize,
    /// The part of them, from 0 to 1.
    pub share: f64,
    /// The lower end of that, in 95 of 100 cases (Wilson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Cohen's kappa: how far that is better than chance; none, if chance alone would do it.
    pub kappa: Option<f64>,
}

/// Every pair that chose in the same debates, in a fixed order.
pub fn agreement<'a>(benches: impl IntoIterator<Item = &'a Bench>) -> Vec<Agreement> {
    type Key = (Between, String, Option<String>);
    // How often: both for, the first for, the second for, both against.
    let mut counts: BTreeMap<Key, [usize; 4]> = BTreeMap::new();
    let mut note = |key: Key, one: Side, other: Side| {
        let at = match (one, other) {
            (Side::Pro, Side::Pro) => 0,
            (Side::Pro, Side::Con) => 1,
            (Side::Con, Side::Pro) => 2,
            (Side::Con, Side::Con) => 3,
        };
        counts.entry(key).or_default()[at] += 1;
    };
    for bench in benches {
        for (nth, (judge, side, swapped)) in bench.judges.iter().enumerate() {
            if let Some(swapped) = swapped {
                note((Between::Swapped, judge.clone(), None), *side, *swapped);
            }
            if let Some(verdict) = bench.verdict {
                note((Between::Verdict, judge.clone(), None), *side, verdict);
            }
            if let Some(audience) = bench.audience {
                note((Between::Audience, judge.clone(), None), *side, audience);
            }
            for (other, another, _) in &bench.judges[nth + 1..] {
                let (mut one, mut two) = ((judge, *side), (other, *another));
                if two.0 < one.0 {
                    (one, two) = (two, one);
                }
                note((Between::Panel, one.0.clone(), Some(two.0.clone())), one.1, two.1);
            }
        }
    }
    let rows = counts.into_iter().map(|((between, judge, other), counts)| {
        let debates = counts.iter().sum();
        let same = counts[0] + counts[3];
        let (low, high) = wilson(same, debates);
        let share = same as f64 / debates as f64;
        let kappa = kappa(counts).map(thousandth);
        let (share, low, high) = (thousandth(share), thousandth(low), thousandth(high));
        Agreement { judge, between, other, debates, same, share, low, high, kappa }
    });
    rows.collect()
}

/// Where the true share lies in 95 of 100 cases, by Wilson's score.
pub fn wilson(same: usize, all: usize) -> (f64, f64) {
    if all == 0 {
        return (0.0, 1.0);
    }
    let z2 = 1.959_964_f64.powi(2);
    let (n, p) = (all as f64, same as f64 / all as f64);
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let wide = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    ((middle - wide).max(0.0), (middle + wide).min(1.0))
}

/// How far two agree beyond what each would by chance, given how often each picks either side.
fn kappa(counts: [usize; 4]) -> Option<f64> {
    let all = counts.iter().sum::<usize>() as f64;
    let [both, first, second, neither] = counts.map(|count| count as f64 / all);
    let (one, other) = (both + first, both + second);
    let chance = one * other + (1.0 - one) * (1.0 - other);
    (chance < 1.0 - 1e-9).then(|| (both + neither - chance) / (1.0 - chance))
}

fn thousandth(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
