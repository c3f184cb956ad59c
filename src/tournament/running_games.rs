//! Decides which game starts next, under concurrency and budget limits. Pure functions.
use super::{ScheduledGame, TournamentPlan};
use crate::debate::{Budget, Spend};

/// The games being played.
#[derive(Clone, Debug, Default)]
pub struct RunningGames {
    /// Each game with its remaining budget, which is reserved.
    games: Vec<(ScheduledGame, Budget)>,
}

/// Whether another game can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartDecision {
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
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether no game is running.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Adds a game with its budget, minus what earlier attempts have spent.
    pub fn add(&mut self, game: ScheduledGame, budget: Budget, own: Spend) {
        let left = |limit: Option<u64>, own: u64| limit.map(|limit| limit.saturating_sub(own));
        let budget = Budget {
            cost: left(budget.cost, own.cost),
            tokens: left(budget.tokens, own.tokens),
            milliseconds: left(budget.milliseconds, own.milliseconds),
        };
        self.games.push((game, budget));
    }

    /// Removes a game that has ended.
    pub fn remove(&mut self, key: &str) {
        self.games.retain(|(game, _)| game.key != key);
    }

    /// Chooses among waiting games whose entrants are below their limit: the least busy pair, then
    /// the first in order. The remaining budgets of running games are reserved, so with a total
    /// budget and none per game, games run one at a time.
    pub fn choose_next<'a>(
        &self,
        waiting: impl IntoIterator<Item = (&'a ScheduledGame, Spend)>,
        plan: &TournamentPlan,
        spent: Spend,
    ) -> StartDecision {
        if self.len() >= plan.max_concurrent {
            return StartDecision::Wait;
        }
        let busy = |entrant: usize| {
            let own = |game: &ScheduledGame| game.pro == entrant || game.con == entrant;
            self.games.iter().filter(|(game, _)| own(game)).count()
        };
        let most = plan.max_concurrent_per_entrant;
        let free = waiting.into_iter().enumerate().filter_map(|(nth, (game, own))| {
            let (pro, con) = (busy(game.pro), busy(game.con));
            (pro < most && con < most).then_some((pro + con, nth, own))
        });
        let Some((_, nth, own)) = free.min_by_key(|it| (it.0, it.1)) else {
            return StartDecision::Wait;
        };
        match self.next_budget(plan, spent, own) {
            Some(budget) => StartDecision::Start(nth, budget),
            None if self.is_empty() => StartDecision::BudgetExhausted,
            None => StartDecision::Wait,
        }
    }

    /// Budget of a game that has already spent `own`. `None` if the total budget is exhausted.
    fn next_budget(&self, plan: &TournamentPlan, spent: Spend, own: Spend) -> Option<Budget> {
        let one = |of: fn(&Budget) -> Option<u64>, spent: u64, own: u64| {
            let limit = of(&plan.game_budget);
            let Some(all) = of(&plan.total_budget) else { return Some(limit) };
            let aside: u64 = self.games.iter().filter_map(|(_, budget)| of(budget)).sum();
            let left = all.saturating_sub(spent).saturating_sub(aside);
            let most = own.saturating_add(left);
            (left > 0).then(|| Some(limit.map_or(most, |limit| limit.min(most))))
        };
        Some(Budget {
            cost: one(|it| it.cost, spent.cost, own.cost)?,
            tokens: one(|it| it.tokens, spent.tokens, own.tokens)?,
            milliseconds: one(|it| it.milliseconds, spent.milliseconds, own.milliseconds)?,
        })
    }
}
