//! Decides which game starts next, under concurrency and budget limits. Pure functions.
use super::{ScheduledGame, TournamentPlan};
use crate::debate::{Budget, Spend};

/// The games being played.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningGames {
    /// Each game with its remaining budget, which is reserved.
    games: Vec<(ScheduledGame, Budget)>,
}

/// Whether another game can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartDecision {
    /// Start the waiting game at this index, with this budget. The budget includes what earlier
    /// attempts have spent.
    Start(usize, Budget),
    /// Wait until a running game ends.
    Wait,
    /// The budget of the tournament is exhausted.
    BudgetExhausted,
}

impl RunningGames {
    /// Number of running games.
    pub(super) fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether no game is running.
    pub(super) fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Adds a game with its budget, minus what earlier attempts have spent.
    pub(super) fn add(&mut self, game: ScheduledGame, budget: Budget, game_spent: Spend) {
        let remaining = |limit: Option<u64>, game_spent: u64| {
            limit.map(|limit| limit.saturating_sub(game_spent))
        };
        let budget = Budget {
            cost: remaining(budget.cost, game_spent.cost),
            tokens: remaining(budget.tokens, game_spent.tokens),
            milliseconds: remaining(budget.milliseconds, game_spent.milliseconds),
        };
        self.games.push((game, budget));
    }

    /// Removes a game that has ended.
    pub(super) fn remove(&mut self, key: &str) {
        self.games.retain(|(game, _)| game.key != key);
    }

    /// Chooses among waiting games whose entrants are below their limit: the least busy pair, then
    /// the first in order. The remaining budgets of running games are reserved, so with a total
    /// budget and none per game, games run one at a time.
    pub(super) fn choose_next<'a>(
        &self,
        waiting: impl IntoIterator<Item = (&'a ScheduledGame, Spend)>,
        plan: &TournamentPlan,
        spent: Spend,
    ) -> StartDecision {
        if self.len() >= plan.max_concurrent {
            return StartDecision::Wait;
        }
        let running_count = |entrant: usize| {
            let plays = |game: &ScheduledGame| game.pro == entrant || game.con == entrant;
            self.games.iter().filter(|(game, _)| plays(game)).count()
        };
        let per_entrant = plan.max_concurrent_per_entrant;
        let startable =
            waiting.into_iter().enumerate().filter_map(|(index, (game, game_spent))| {
                let (pro, con) = (running_count(game.pro), running_count(game.con));
                (pro < per_entrant && con < per_entrant).then_some((pro + con, index, game_spent))
            });
        let Some((_, index, game_spent)) = startable.min_by_key(|it| (it.0, it.1)) else {
            return StartDecision::Wait;
        };
        match self.next_budget(plan, spent, game_spent) {
            Some(budget) => StartDecision::Start(index, budget),
            None if self.is_empty() => StartDecision::BudgetExhausted,
            None => StartDecision::Wait,
        }
    }

    /// Budget of a game that has spent `game_spent` already, or `None` if the total budget is
    /// exhausted.
    fn next_budget(
        &self,
        plan: &TournamentPlan,
        spent: Spend,
        game_spent: Spend,
    ) -> Option<Budget> {
        let budget_part = |field: fn(&Budget) -> Option<u64>, spent: u64, game_spent: u64| {
            let limit = field(&plan.game_budget);
            let Some(total) = field(&plan.total_budget) else { return Some(limit) };
            let reserved: u64 = self.games.iter().filter_map(|(_, budget)| field(budget)).sum();
            let remaining = total.saturating_sub(spent).saturating_sub(reserved);
            let max_total = game_spent.saturating_add(remaining);
            (remaining > 0).then(|| Some(limit.map_or(max_total, |limit| limit.min(max_total))))
        };
        Some(Budget {
            cost: budget_part(|it| it.cost, spent.cost, game_spent.cost)?,
            tokens: budget_part(|it| it.tokens, spent.tokens, game_spent.tokens)?,
            milliseconds: budget_part(
                |it| it.milliseconds,
                spent.milliseconds,
                game_spent.milliseconds,
            )?,
        })
    }
}
