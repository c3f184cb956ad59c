//! Checks that a tournament can be played here before anything is spent, and estimates its cost.
use super::file::Plan;
use super::game::drafted;
use super::schedule::Game;
use crate::debate::{Budget, Participant, Role, Seat};
use crate::engine::{App, AppError, UsageEstimate};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Result of the check.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// Estimated usage of the remaining games. Zero if no model is called.
    pub figures: UsageEstimate,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Why a tournament cannot be played here.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Misfit {
    #[error("`{0}` has no two sides between whom a judge picks one")]
    NoSides(String),
    #[error("`{pro}` against `{con}`: {why}")]
    Pair { pro: String, con: String, why: Box<AppError> },
    #[error(transparent)]
    Desk(#[from] AppError),
}

/// Checks the format, every pair of entrants and the budgets, and estimates the remaining games.
pub fn fits(desk: &App, plan: &Plan, left: &[&Game], folder: &Path) -> Result<Fit, Misfit> {
    desk.check_config()?;
    let format = &desk.catalog().find(&plan.format)?.offer.format;
    if ![Role::Pro, Role::Con, Role::Judge].into_iter().all(|role| format.uses_role(role)) {
        return Err(Misfit::NoSides(plan.format.clone()));
    }
    let seated = |voice: &Participant| Plan::seated(voice, folder);
    for (nth, pro) in plan.entrants.iter().enumerate() {
        for con in &plan.entrants[nth + 1..] {
            let mut seats = vec![
                seat("proposer", Role::Pro, seated(&pro.voice)),
                seat("challenger", Role::Con, seated(&con.voice)),
            ];
            seats.extend(plan.judges.iter().map(|it| seat("judge", Role::Judge, seated(it))));
            desk.check_seats(&seats).map_err(|why| match why {
                // An unavailable participant is not an error of this pair.
                AppError::ProviderUnavailable(why) => Misfit::Desk(why.into()),
                why => {
                    let (pro, con) = (pro.name.clone(), con.name.clone());
                    Misfit::Pair { pro, con, why: Box::new(why) }
                }
            })?;
        }
    }
    let mut fit = Fit::default();
    for judge in &plan.judges {
        let own = plan
            .entrants
            .iter()
            .filter(|it| !scripted(judge) && judge.may_be_same_model(&it.voice));
        for entrant in own {
            fit.warnings.push(format!(
                "`{judge}` judges games in which `{}` argues, which may be the same model",
                entrant.name
            ));
        }
    }
    // The estimate hardly depends on the motion, so it is cached by pair and rounds.
    let mut known: BTreeMap<(usize, usize, Option<u8>), UsageEstimate> = BTreeMap::new();
    for game in left {
        let kind = (game.pro, game.con, game.rounds);
        if let Entry::Vacant(new) = known.entry(kind) {
            let limited = Budget { cost: plan.per_game.cost.or(plan.in_all.cost), ..plan.per_game };
            let (opening, _) = drafted(desk, plan, game, limited, folder)?;
            let estimated = desk.estimate_cost(&opening)?;
            for unkept in estimated.iter().filter_map(|it| it.budget_warning.clone()) {
                if !fit.warnings.contains(&unkept) {
                    fit.warnings.push(unkept);
                }
            }
            new.insert(estimated.map(|it| it.usage).unwrap_or_default());
        }
        if let Some(figures) = known.get(&kind) {
            fit.figures.add(figures);
        }
    }
    Ok(fit)
}

fn scripted(voice: &Participant) -> bool {
    matches!(voice.tool(), "script" | "demo")
}

fn seat(name: &str, role: Role, voice: Participant) -> Seat {
    let (stance, style, kind) = (String::new(), String::new(), String::new());
    Seat { name: name.into(), role, voice, weight: 1, stance, style, kind }
}
