//! Checks that a tournament can be played here before anything is spent, and estimates its cost.
use super::game_runner::game_request;
use super::plan::TournamentPlan;
use super::schedule::ScheduledGame;
use crate::app::{App, AppError, UsageEstimate};
use crate::debate::{Budget, Participant, Role, Seat};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Result of the check.
#[derive(Clone, Debug, Default)]
pub(crate) struct TournamentPreflight {
    /// Estimated usage of the remaining games. Zero if no model is called.
    pub usage: UsageEstimate,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Why a tournament cannot be played here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TournamentPreflightError {
    #[error("the format `{0}` has no judge who picks one of two sides")]
    NotTwoSided(String),
    #[error("`{pro}` against `{con}`: {why}")]
    Pair { pro: String, con: String, why: Box<AppError> },
    #[error(transparent)]
    App(#[from] AppError),
}

/// Checks the format, every pair of entrants and the budgets, and estimates the remaining games.
pub(crate) fn check_tournament(
    app: &App,
    plan: &TournamentPlan,
    remaining: &[&ScheduledGame],
    folder: &Path,
) -> Result<TournamentPreflight, TournamentPreflightError> {
    app.check_config()?;
    let format = &app.find_format(&plan.format)?.offer.format;
    if ![Role::Pro, Role::Con, Role::Judge].into_iter().all(|role| format.uses_role(role)) {
        return Err(TournamentPreflightError::NotTwoSided(plan.format.clone()));
    }
    let resolve =
        |participant: &Participant| TournamentPlan::resolve_participant(participant, folder);
    for (index, pro) in plan.entrants.iter().enumerate() {
        for con in &plan.entrants[index + 1..] {
            let mut seats = vec![
                build_seat("proposer", Role::Pro, resolve(&pro.participant)),
                build_seat("challenger", Role::Con, resolve(&con.participant)),
            ];
            seats
                .extend(plan.judges.iter().map(|it| build_seat("judge", Role::Judge, resolve(it))));
            app.check_seats(&seats).map_err(|error| match error {
                // An unavailable participant is not an error of this pair.
                AppError::ProviderUnavailable(error) => TournamentPreflightError::App(error.into()),
                error => {
                    let (pro, con) = (pro.name.clone(), con.name.clone());
                    TournamentPreflightError::Pair { pro, con, why: Box::new(error) }
                }
            })?;
        }
    }
    let mut result = TournamentPreflight::default();
    for judge in &plan.judges {
        let same_model = plan
            .entrants
            .iter()
            .filter(|it| !is_scripted(judge) && judge.may_be_same_model(&it.participant));
        for entrant in same_model {
            result.warnings.push(format!(
                "`{judge}` judges games in which `{}` argues, which may be the same model",
                entrant.name
            ));
        }
    }
    // The estimate hardly depends on the motion, so it is cached by pair and rounds.
    let mut estimates: BTreeMap<(usize, usize, Option<u8>), UsageEstimate> = BTreeMap::new();
    for game in remaining {
        let key = (game.pro, game.con, game.rounds);
        if let Entry::Vacant(slot) = estimates.entry(key) {
            let budget = Budget {
                cost: plan.game_budget.cost.or(plan.total_budget.cost),
                ..plan.game_budget
            };
            let estimate = app.estimate(&game_request(plan, game, budget, folder))?;
            for warning in estimate.iter().filter_map(|it| it.budget_warning.clone()) {
                if !result.warnings.contains(&warning) {
                    result.warnings.push(warning);
                }
            }
            slot.insert(estimate.map(|it| it.usage).unwrap_or_default());
        }
        if let Some(usage) = estimates.get(&key) {
            result.usage.add(usage);
        }
    }
    Ok(result)
}

fn is_scripted(participant: &Participant) -> bool {
    matches!(participant.tool(), "script" | "demo")
}

fn build_seat(name: &str, role: Role, voice: Participant) -> Seat {
    let (stance, style, kind) = (String::new(), String::new(), String::new());
    Seat { name: name.into(), role, voice, weight: 1, stance, style, kind }
}
