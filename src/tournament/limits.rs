//! How many games are played at a time, and what each may spend. All of it is arithmetic.
use super::{Game, Plan};
use crate::debate::{Budget, Spend};

/// The games being played.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Each, with what it may still spend.
    running: Vec<(Game, Budget)>,
}

/// What may be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This one of those that wait may begin, with that to spend in all, what it has spent before
    /// included.
    Begin(usize, Budget),
    /// Somebody has to finish first.
    Wait,
    /// Nothing may be spent any more.
    Spent,
}

impl Table {
    /// How many are being played.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// A game begins that may come to so much and has come to that much before.
    pub fn begin(&mut self, game: Game, budget: Budget, own: Spend) {
        let left = |limit: Option<u64>, own: u64| limit.map(|limit| limit.saturating_sub(own));
        let budget = Budget {
            cost: left(budget.cost, own.cost),
            tokens: left(budget.tokens, own.tokens),
            milliseconds: left(budget.milliseconds, own.milliseconds),
        };
        self.running.push((game, budget));
    }

    /// A game has come to whatever end.
    pub fn end(&mut self, key: &str) {
        self.running.retain(|(game, _)| game.key != key);
    }

    /// Of those that wait and whose entrants are both free, the one whose entrants are least busy,
    /// and of those the first. What the games being played may
    /// still spend is set aside: with a limit on all of them and none on each, they are played one
    /// after another.
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

    /// What a game may spend that has spent so much already, if anything is left.
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
