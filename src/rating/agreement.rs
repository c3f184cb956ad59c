//! Agreement of judges: with each other, with themselves when the sides are swapped, with the
//! verdict, and with the audience. As a share with a Wilson interval, and as Cohen's kappa.
use super::bradley_terry::Z_95;
use super::entrant;
use crate::debate::verdict::{judgment, mirrored_judges, rulings};
use crate::debate::{Body, Debate, Role, Side};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The rulings, verdict and votes of one debate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebateRulings {
    /// Name of each judge, the side it picked, and its pick with swapped sides.
    pub judges: Vec<(String, Side, Option<Side>)>,
    pub verdict: Option<Side>,
    /// Side with the greater sum of vote weights. `None` on a tie.
    pub audience: Option<Side>,
}

impl DebateRulings {
    /// Collects the rulings of a debate.
    pub fn from_debate(debate: &Debate) -> DebateRulings {
        let first_ruling = |seat: u8| {
            let mut seat_rulings = rulings(debate).filter(|(cue, _, _)| cue.seat == seat);
            seat_rulings.next().map(|(cue, side, _)| (cue, side))
        };
        let mirrors: BTreeMap<u8, u8> = mirrored_judges(debate).collect();
        let seats = (0u8..).zip(debate.seats()).filter(|(_, seat)| seat.role == Role::Judge);
        let judges = seats.filter_map(|(seat_index, _)| {
            let (cue, side) = first_ruling(seat_index)?;
            let swapped =
                mirrors.get(&seat_index).and_then(|it| first_ruling(*it)).map(|(_, side)| side);
            Some((entrant::judge_name(debate, cue), side, swapped))
        });
        let (mut pro, mut con) = (0u64, 0u64);
        for (cue, body) in debate.replies_in(..) {
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
        DebateRulings { judges: judges.collect(), verdict, audience }
    }
}

/// What a judge is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Between")]
pub enum AgreementReference {
    /// Another judge of the same debate.
    Panel,
    /// The same judge, with the sides swapped.
    Swapped,
    /// The verdict of the debate.
    Verdict,
    /// The majority of the audience.
    Audience,
}

/// How often a judge picked the same side as another judge, the verdict or the audience.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Agreement")]
pub struct JudgeAgreement {
    /// Name of the judge.
    pub judge: String,
    /// What it is compared with.
    pub between: AgreementReference,
    /// Name of the other judge, for a panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Debates in which both picked a side.
    pub debates: usize,
    /// Debates in which both picked the same side.
    pub same: usize,
    /// Share of the same side, from 0 to 1.
    pub share: f64,
    /// Lower bound of the 95 % Wilson interval of the share.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Cohen's kappa, absent if chance alone explains all agreement.
    pub kappa: Option<f64>,
}

/// Counts the agreement of every pair that ruled in the same debates. The order is stable.
pub(super) fn judge_agreement<'a>(
    all_rulings: impl IntoIterator<Item = &'a DebateRulings>,
) -> Vec<JudgeAgreement> {
    type AgreementKey = (AgreementReference, String, Option<String>);
    // Counts of (pro, pro), (pro, con), (con, pro) and (con, con).
    let mut counts: BTreeMap<AgreementKey, [usize; 4]> = BTreeMap::new();
    let mut count_pair = |key: AgreementKey, one: Side, other: Side| {
        let cell = match (one, other) {
            (Side::Pro, Side::Pro) => 0,
            (Side::Pro, Side::Con) => 1,
            (Side::Con, Side::Pro) => 2,
            (Side::Con, Side::Con) => 3,
        };
        counts.entry(key).or_default()[cell] += 1;
    };
    for debate_rulings in all_rulings {
        for (index, (judge, side, swapped)) in debate_rulings.judges.iter().enumerate() {
            if let Some(swapped) = swapped {
                count_pair((AgreementReference::Swapped, judge.clone(), None), *side, *swapped);
            }
            if let Some(verdict) = debate_rulings.verdict {
                count_pair((AgreementReference::Verdict, judge.clone(), None), *side, verdict);
            }
            if let Some(audience) = debate_rulings.audience {
                count_pair((AgreementReference::Audience, judge.clone(), None), *side, audience);
            }
            for (other, other_side, _) in &debate_rulings.judges[index + 1..] {
                let (mut one, mut two) = ((judge, *side), (other, *other_side));
                if two.0 < one.0 {
                    (one, two) = (two, one);
                }
                count_pair(
                    (AgreementReference::Panel, one.0.clone(), Some(two.0.clone())),
                    one.1,
                    two.1,
                );
            }
        }
    }
    let rows = counts.into_iter().map(|((between, judge, other), counts)| {
        let debates = counts.iter().sum();
        let same = counts[0] + counts[3];
        let (low, high) = wilson_interval(same, debates);
        let share = same as f64 / debates as f64;
        let kappa = cohen_kappa(counts).map(round_to_thousandth);
        let (share, low, high) =
            (round_to_thousandth(share), round_to_thousandth(low), round_to_thousandth(high));
        JudgeAgreement { judge, between, other, debates, same, share, low, high, kappa }
    });
    rows.collect()
}

/// 95 % Wilson score interval of a share.
pub(super) fn wilson_interval(same: usize, total: usize) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let z2 = Z_95.powi(2);
    let (n, p) = (total as f64, same as f64 / total as f64);
    let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half_width = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    ((center - half_width).max(0.0), (center + half_width).min(1.0))
}

/// Cohen's kappa of a 2x2 table. `None` if the expected agreement is 1.
fn cohen_kappa(counts: [usize; 4]) -> Option<f64> {
    let total = counts.iter().sum::<usize>() as f64;
    let [both_pro, only_first_pro, only_second_pro, both_con] =
        counts.map(|count| count as f64 / total);
    let (first_pro, second_pro) = (both_pro + only_first_pro, both_pro + only_second_pro);
    let expected = first_pro * second_pro + (1.0 - first_pro) * (1.0 - second_pro);
    (expected < 1.0 - 1e-9).then(|| (both_pro + both_con - expected) / (1.0 - expected))
}

fn round_to_thousandth(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
