//! Checks that a tournament can be played here before anything is spent, and estimates its cost.
use super::game_runner::build_draft;
use super::plan::TournamentPlan;
use super::schedule::ScheduledGame;
use crate::debate::{Budget, Participant, Role, Seat};
use crate::engine::{App, AppError, UsageEstimate};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Result of the check.
#[derive(Clone, Debug, Default)]
pub struct TournamentPreflight {
    /// Estimated usage of the remaining games. Zero if no model is called.
    pub usage: UsageEstimate,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Why a tournament cannot be played here.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TournamentPreflightError {
    #[error("`{0}` has no two sides between whom a judge picks one")]
    NotTwoSided(String),
    #[error("`{pro}` against `{con}`: {why}")]
    Pair { pro: String, con: String, why: Box<AppError> },
    #[error(transparent)]
    App(#[from] AppError),
}

/// Checks the format, every pair of entrants and the budgets, and estimates the remaining games.
pub fn check_tournament(
    desk: &App,
    plan: &TournamentPlan,
    left: &[&ScheduledGame],
    folder: &Path,
) -> Result<TournamentPreflight, TournamentPreflightError> {
    desk.check_config()?;
    let format = &desk.catalog().find(&plan.format)?.offer.format;
    if ![Role::Pro, Role::Con, Role::Judge].into_iter().all(|role| format.uses_role(role)) {
        return Err(TournamentPreflightError::NotTwoSided(plan.format.clone()));
    }
    let seated = |voice: &Participant| TournamentPlan::resolve_participant(voice, folder);
    for (nth, pro) in plan.entrants.iter().enumerate() {
        for con in &plan.entrants[nth + 1..] {
            let mut seats = vec![
                build_seat("proposer", Role::Pro, seated(&pro.participant)),
                build_seat("challenger", Role::Con, seated(&con.participant)),
            ];
            seats.extend(plan.judges.iter().map(|it| build_seat("judge", Role::Judge, seated(it))));
            desk.check_seats(&seats).map_err(|why| match why {
                // An unavailable participant is not an error of this pair.
                AppError::ProviderUnavailable(why) => TournamentPreflightError::App(why.into()),
                why => {
                    let (pro, con) = (pro.name.clone(), con.name.clone());
                    TournamentPreflightError::Pair { pro, con, why: Box::new(why) }
                }
            })?;
        }
    }
    let mut fit = TournamentPreflight::default();
    for judge in &plan.judges {
        let own = plan
            .entrants
            .iter()
            .filter(|it| !is_scripted(judge) && judge.may_be_same_model(&it.participant));
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
            let limited = Budget {
                cost: plan.game_budget.cost.or(plan.total_budget.cost),
                ..plan.game_budget
            };
            let (opening, _) = build_draft(desk, plan, game, limited, folder)?;
            let estimated = desk.estimate_cost(&opening)?;
            for unkept in estimated.iter().filter_map(|it| it.budget_warning.clone()) {
                if !fit.warnings.contains(&unkept) {
                    fit.warnings.push(unkept);
                }
            }
            new.insert(estimated.map(|it| it.usage).unwrap_or_default());
        }
        if let Some(figures) = known.get(&kind) {
            fit.usage.add(figures);
        }
    }
    Ok(fit)
}

fn is_scripted(voice: &Participant) -> bool {
    matches!(voice.tool(), "script" | "demo")
}

fn build_seat(name: &str, role: Role, voice: Participant) -> Seat {
    let (stance, style, kind) = (String::new(), String::new(), String::new());
    Seat { name: name.into(), role, voice, weight: 1, stance, style, kind }
}
