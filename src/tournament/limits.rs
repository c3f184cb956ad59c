//! Decides which game starts next, under concurrency and budget limits. Pure functions.
use super::{Game, Plan};
use crate::debate::{Budget, Spend};

/// The games being played.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Each game with its remaining budget, which is reserved.
    running: Vec<(Game, Budget)>,
}

/// Whether another game can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start the waiting game at this index, with this budget. The budget includes what earlier
    /// attempts have spent.
    Begin(usize, Budget),
    /// Wait until a running game ends.
    Wait,
    /// The budget of the tournament is exhausted.
    Spent,
}

impl Table {
    /// Number of running games.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether no game is running.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Adds a game with its budget, minus what earlier attempts have spent.
    pub fn begin(&mut self, game: Game, budget: Budget, own: Spend) {
        let left = |limit: Option<u64>, own: u64| limit.map(|limit| limit.saturating_sub(own));
        let budget = Budget {
            cost: left(budget.cost, own.cost),
            tokens: left(budget.tokens, own.tokens),
            milliseconds: left(budget.milliseconds, own.milliseconds),
        };
        self.running.push((game, budget));
    }

    /// Removes a game that has ended.
    pub fn end(&mut self, key: &str) {
        self.running.retain(|(game, _)| game.key != key);
    }

    /// Chooses among waiting games whose entrants are below their limit: the least busy pair, then
    /// the first in order. The remaining budgets of running games are reserved, so with a total
    /// budget and none per game, games run one at a time.
    pub fn next<'a>(
        &self,
        waiting: impl IntoIterator<Item = (&'a Game, Spend)>,
        plan: &Plan,
        spent: Spend,
    ) -> Next {
        if self.len() >= plan.at_once {
            return Next::Wait;
        }
        let busy = |entrant: usize| {
            let own = |game: &Game| game.pro == entrant || game.con == entrant;
            self.running.iter().filter(|(game, _)| own(game)).count()
        };
        let most = plan.at_once_per_entrant;
        let free = waiting.into_iter().enumerate().filter_map(|(nth, (game, own))| {
            let (pro, con) = (busy(game.pro), busy(game.con));
            (pro < most && con < most).then_some((pro + con, nth, own))
        });
        let Some((_, nth, own)) = free.min_by_key(|it| (it.0, it.1)) else { return Next::Wait };
        match self.allowance(plan, spent, own) {
            Some(budget) => Next::Begin(nth, budget),
            None if self.is_empty() => Next::Spent,
            None => Next::Wait,
        }
    }

    /// Budget of a game that has already spent `own`. `None` if the total budget is exhausted.
    fn allowance(&self, plan: &Plan, spent: Spend, own: Spend) -> Option<Budget> {
        let one = |of: fn(&Budget) -> Option<u64>, spent: u64, own: u64| {
            let limit = of(&plan.per_game);
            let Some(all) = of(&plan.in_all) else { return Some(limit) };
            let aside: u64 = self.running.iter().filter_map(|(_, budget)| of(budget)).sum();
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
