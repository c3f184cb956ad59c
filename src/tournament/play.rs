//! Runs all games: starts what the limits allow, retries failed games once, and stops on a signal.
//! A later run continues from the archive.
use super::file::Plan;
use super::game::{End, Hall};
use super::limits::{Next, Table};
use super::past::{self, Known, Past};
use super::schedule::{Game, schedule};
use super::standings::{Standings, standings};
use crate::debate::{FailureKind, Spend};
use crate::engine::preflight::ProbeResult;
use crate::engine::{App, AppError, Workspace};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Attempts per game in one run. A failure in an earlier run counts as the first.
const TRIES: u8 = 2;

/// Where and how a tournament is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Repository the games belong to.
    pub place: Workspace,
    /// Folder of the tournament file.
    pub folder: PathBuf,
    /// Whether to probe every model before the first game.
    pub probe: bool,
}

/// Progress event for the caller.
#[derive(Clone, Debug)]
pub enum News {
    /// A game started or resumed.
    Begun {
        game: Game,
        /// Id of the debate.
        id: String,
    },
    /// Another process plays the game.
    Waiting {
        game: Game,
        /// Id of the debate.
        id: String,
        /// Process that holds the lease.
        holder: String,
    },
    /// A game ended with a verdict.
    Over {
        game: Game,
        /// The game as archived.
        past: Past,
        /// Standings after this game.
        standings: Box<Standings>,
    },
    /// A game failed.
    Failed {
        game: Game,
        /// Error message.
        why: String,
        /// Whether it is retried in this run.
        again: bool,
    },
    /// A game waits for the user.
    Paused {
        game: Game,
        /// What it waits for.
        why: String,
    },
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No game is left to try.
    Done,
    /// The user stopped it.
    Stopped,
    /// The budget of the tournament is exhausted.
    Spent,
}

/// A game in the queue.
struct Waiting {
    game: Game,
    tried: u8,
}

/// State of a run.
struct Run<'a> {
    desk: &'a App,
    plan: &'a Plan,
    settings: &'a Settings,
    games: Vec<Game>,
    past: BTreeMap<String, Past>,
    /// Error messages of games that could not be opened, by key.
    broken: BTreeMap<String, String>,
    spent: Spend,
    waiting: VecDeque<Waiting>,
    table: Table,
}

/// Plays the remaining games and returns the standings. With `probe`, every model must answer a
/// test request before the first game.
pub async fn play(
    desk: &App,
    plan: &Plan,
    settings: &Settings,
    stop: impl Future<Output = ()>,
    mut tell: impl FnMut(&News),
) -> Result<(Ending, Standings), AppError> {
    let games = schedule(plan);
    let (past, spent) = past::past(desk, plan, &settings.place.root)?;
    let mut waiting = VecDeque::new();
    for game in &games {
        let tried = match past.get(&game.key).map(|it| &it.known) {
            Some(Known::Played) => continue,
            Some(Known::Failed { .. }) => 1,
            _ => 0,
        };
        waiting.push_back(Waiting { game: game.clone(), tried });
    }
    let (table, broken) = (Table::default(), BTreeMap::new());
    let mut run = Run { desk, plan, settings, games, past, broken, spent, waiting, table };
    let mut stop = std::pin::pin!(stop);
    if settings.probe && !run.waiting.is_empty() {
        tokio::select! {
            answered = run.answered() => answered?,
            () = &mut stop => return Ok((Ending::Stopped, run.standings())),
        }
    }
    let (end_all, stopping) = watch::channel(false);
    let (told, mut heard) = mpsc::unbounded_channel();
    let (place, folder) = (&settings.place, settings.folder.as_path());
    let hall = Hall { desk, plan, place, folder, stop: stopping, told };
    let mut playing = FuturesUnordered::new();
    let mut ending = Ending::Done;
    loop {
        while ending != Ending::Stopped
            && let Some((next, budget)) = run.next(&mut ending)
        {
            let hall = hall.clone();
            playing.push(async move {
                let end = hall.one(&next.game, budget).await;
                (next, end)
            });
        }
        if playing.is_empty() {
            break;
        }
        tokio::select! {
            Some((game, end)) = playing.next() => {
                // Deliver the game's queued events before its result.
                while let Ok(news) = heard.try_recv() {
                    tell(&news);
                }
                if let Some(news) = run.ended(game, end, ending)? {
                    tell(&news);
                }
            }
            Some(news) = heard.recv() => tell(&news),
            () = &mut stop, if ending != Ending::Stopped => {
                ending = Ending::Stopped;
                let _ = end_all.send(true);
            }
        }
    }
    Ok((ending, run.standings()))
}

impl Run<'_> {
    /// Sends a test request to every participant. A timeout does not count as a failure.
    async fn answered(&self) -> Result<(), AppError> {
        let entrants = self.plan.entrants.iter().map(|it| &it.voice);
        let all = entrants.chain(&self.plan.judges);
        let all = all.map(|voice| Plan::seated(voice, &self.settings.folder)).collect();
        for ProbeResult { participant: voice, result: came } in
            self.desk.probe(all, Duration::MAX).await
        {
            if let Err(failure) = came
                && failure.trouble != FailureKind::TimedOut
            {
                let (voice, failure) = (voice.to_string(), Box::new(failure));
                return Err(AppError::ProbeFailed { voice, failure, alternatives: vec![] });
            }
        }
        Ok(())
    }

    /// Takes the next game that can start from the queue, with its budget.
    fn next(&mut self, ending: &mut Ending) -> Option<(Waiting, crate::debate::Budget)> {
        let own = |game: &Game| self.past.get(&game.key).map(|it| it.spent).unwrap_or_default();
        let waiting = self.waiting.iter().map(|it| (&it.game, own(&it.game)));
        match self.table.next(waiting, self.plan, self.spent) {
            Next::Wait => None,
            Next::Spent => {
                *ending = Ending::Spent;
                None
            }
            Next::Begin(nth, budget) => {
                let next = self.waiting.remove(nth)?;
                let own = self.past.get(&next.game.key).map(|it| it.spent).unwrap_or_default();
                self.table.begin(next.game.clone(), budget, own);
                Some((next, budget))
            }
        }
    }

    /// Records the end of a game, queues a retry if needed, and returns the event to report.
    fn ended(
        &mut self,
        waiting: Waiting,
        end: End,
        ending: Ending,
    ) -> Result<Option<News>, AppError> {
        let Waiting { game, tried } = waiting;
        self.table.end(&game.key);
        let now = past::now(self.desk, self.plan, &self.settings.place.root, &game.key)?;
        let before =
            self.past.get(&game.key).filter(|it| now.as_ref().is_some_and(|now| now.id == it.id));
        let before = before.map(|it| it.spent).unwrap_or_default();
        if let Some(now) = &now {
            self.spent += Spend {
                cost: now.spent.cost.saturating_sub(before.cost),
                tokens: now.spent.tokens.saturating_sub(before.tokens),
                milliseconds: now.spent.milliseconds.saturating_sub(before.milliseconds),
            };
            self.past.insert(game.key.clone(), now.clone());
        }
        let why = match (end, now) {
            (End::Stopped, _) => return Ok(None),
            (End::Broken(_), _) if ending == Ending::Stopped => return Ok(None),
            (End::Paused(why), _) => return Ok(Some(News::Paused { game, why })),
            (End::Broken(why), _) => {
                self.broken.insert(game.key.clone(), why.clone());
                why
            }
            (End::Over, Some(Past { known: Known::Failed { why, .. }, .. })) => why,
            (End::Over, Some(past)) => {
                let standings = Box::new(self.standings());
                return Ok(Some(News::Over { game, past, standings }));
            }
            (End::Over, None) => "it is no longer in the archive".into(),
        };
        let again = tried + 1 < TRIES && ending == Ending::Done;
        if again {
            self.waiting.push_back(Waiting { game: game.clone(), tried: tried + 1 });
        }
        Ok(Some(News::Failed { game, why, again }))
    }

    fn standings(&self) -> Standings {
        standings(self.plan, &self.games, &self.past, &self.broken, self.spent)
    }
}
