//! Runs all games: starts what the limits allow, retries failed games once, and stops on a signal.
//! A later run continues from the archive.
use super::archived_games::{self, ArchivedGame, GameStatus};
use super::game_runner::{GameEnd, GameRunner};
use super::plan::TournamentPlan;
use super::running_games::{RunningGames, StartDecision};
use super::schedule::{ScheduledGame, build_schedule};
use super::standings::{Standings, compute_standings};
use crate::debate::{FailureKind, Spend};
use crate::engine::preflight::ProbeResult;
use crate::engine::{App, AppError, Workspace};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Attempts per game in one run. A failure in an earlier run counts as the first.
const MAX_ATTEMPTS: u8 = 2;

/// Where and how a tournament is played.
#[derive(Clone, Debug)]
pub struct TournamentSettings {
    /// Repository the games belong to.
    pub workspace: Workspace,
    /// Folder of the tournament file.
    pub plan_folder: PathBuf,
    /// Whether to probe every model before the first game.
    pub probe: bool,
}

/// Progress event for the caller.
#[derive(Clone, Debug)]
pub enum TournamentEvent {
    /// A game started or resumed.
    Started {
        game: ScheduledGame,
        /// Id of the debate.
        id: String,
    },
    /// Another process plays the game.
    Waiting {
        game: ScheduledGame,
        /// Id of the debate.
        id: String,
        /// Process that holds the lease.
        holder: String,
    },
    /// A game ended with a verdict.
    Finished {
        game: ScheduledGame,
        /// The game as archived.
        archived: ArchivedGame,
        /// Standings after this game.
        standings: Box<Standings>,
    },
    /// A game failed.
    Failed {
        game: ScheduledGame,
        /// Error message.
        reason: String,
        /// Whether it is retried in this run.
        will_retry: bool,
    },
    /// A game waits for the user.
    Paused {
        game: ScheduledGame,
        /// What it waits for.
        why: String,
    },
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentEnd {
    /// No game is left to try.
    Completed,
    /// The user stopped it.
    Stopped,
    /// The budget of the tournament is exhausted.
    BudgetExhausted,
}

/// A game in the queue.
struct QueuedGame {
    game: ScheduledGame,
    attempts: u8,
}

/// State of a run.
struct TournamentRun<'a> {
    app: &'a App,
    plan: &'a TournamentPlan,
    settings: &'a TournamentSettings,
    games: Vec<ScheduledGame>,
    archived: BTreeMap<String, ArchivedGame>,
    /// Error messages of games that could not be opened, by key.
    open_errors: BTreeMap<String, String>,
    spent: Spend,
    queue: VecDeque<QueuedGame>,
    running: RunningGames,
}

/// Plays the remaining games and returns the standings. With `probe`, every model must answer a
/// test request before the first game.
pub async fn play(
    desk: &App,
    plan: &TournamentPlan,
    settings: &TournamentSettings,
    stop: impl Future<Output = ()>,
    mut tell: impl FnMut(&TournamentEvent),
) -> Result<(TournamentEnd, Standings), AppError> {
    let games = build_schedule(plan);
    let (past, spent) = archived_games::load_games(desk, plan, &settings.workspace.root)?;
    let mut waiting = VecDeque::new();
    for game in &games {
        let tried = match past.get(&game.key).map(|it| &it.status) {
            Some(GameStatus::Played) => continue,
            Some(GameStatus::Failed { .. }) => 1,
            _ => 0,
        };
        waiting.push_back(QueuedGame { game: game.clone(), attempts: tried });
    }
    let (table, broken) = (RunningGames::default(), BTreeMap::new());
    let mut run = TournamentRun {
        app: desk,
        plan,
        settings,
        games,
        archived: past,
        open_errors: broken,
        spent,
        queue: waiting,
        running: table,
    };
    let mut stop = std::pin::pin!(stop);
    if settings.probe && !run.queue.is_empty() {
        tokio::select! {
            answered = run.probe_participants() => answered?,
            () = &mut stop => return Ok((TournamentEnd::Stopped, run.standings())),
        }
    }
    let (end_all, stopping) = watch::channel(false);
    let (told, mut heard) = mpsc::unbounded_channel();
    let (place, folder) = (&settings.workspace, settings.plan_folder.as_path());
    let hall = GameRunner {
        app: desk,
        plan,
        workspace: place,
        plan_folder: folder,
        stop: stopping,
        events: told,
    };
    let mut playing = FuturesUnordered::new();
    let mut ending = TournamentEnd::Completed;
    loop {
        while ending != TournamentEnd::Stopped
            && let Some((next, budget)) = run.next_game(&mut ending)
        {
            let hall = hall.clone();
            playing.push(async move {
                let end = hall.run_game(&next.game, budget).await;
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
                if let Some(news) = run.record_end(game, end, ending)? {
                    tell(&news);
                }
            }
            Some(news) = heard.recv() => tell(&news),
            () = &mut stop, if ending != TournamentEnd::Stopped => {
                ending = TournamentEnd::Stopped;
                let _ = end_all.send(true);
            }
        }
    }
    Ok((ending, run.standings()))
}

impl TournamentRun<'_> {
    /// Sends a test request to every participant. A timeout does not count as a failure.
    async fn probe_participants(&self) -> Result<(), AppError> {
        let entrants = self.plan.entrants.iter().map(|it| &it.participant);
        let all = entrants.chain(&self.plan.judges);
        let all = all
            .map(|voice| TournamentPlan::resolve_participant(voice, &self.settings.plan_folder))
            .collect();
        for ProbeResult { participant: voice, result: came } in
            self.app.probe(all, Duration::MAX).await
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
    fn next_game(
        &mut self,
        ending: &mut TournamentEnd,
    ) -> Option<(QueuedGame, crate::debate::Budget)> {
        let own = |game: &ScheduledGame| {
            self.archived.get(&game.key).map(|it| it.spent).unwrap_or_default()
        };
        let waiting = self.queue.iter().map(|it| (&it.game, own(&it.game)));
        match self.running.choose_next(waiting, self.plan, self.spent) {
            StartDecision::Wait => None,
            StartDecision::BudgetExhausted => {
                *ending = TournamentEnd::BudgetExhausted;
                None
            }
            StartDecision::Start(nth, budget) => {
                let next = self.queue.remove(nth)?;
                let own = self.archived.get(&next.game.key).map(|it| it.spent).unwrap_or_default();
                self.running.add(next.game.clone(), budget, own);
                Some((next, budget))
            }
        }
    }

    /// Records the end of a game, queues a retry if needed, and returns the event to report.
    fn record_end(
        &mut self,
        waiting: QueuedGame,
        end: GameEnd,
        ending: TournamentEnd,
    ) -> Result<Option<TournamentEvent>, AppError> {
        let QueuedGame { game, attempts: tried } = waiting;
        self.running.remove(&game.key);
        let now = archived_games::load_game(
            self.app,
            self.plan,
            &self.settings.workspace.root,
            &game.key,
        )?;
        let before = self
            .archived
            .get(&game.key)
            .filter(|it| now.as_ref().is_some_and(|now| now.id == it.id));
        let before = before.map(|it| it.spent).unwrap_or_default();
        if let Some(now) = &now {
            self.spent += Spend {
                cost: now.spent.cost.saturating_sub(before.cost),
                tokens: now.spent.tokens.saturating_sub(before.tokens),
                milliseconds: now.spent.milliseconds.saturating_sub(before.milliseconds),
            };
            self.archived.insert(game.key.clone(), now.clone());
        }
        let why = match (end, now) {
            (GameEnd::Stopped, _) => return Ok(None),
            (GameEnd::Failed(_), _) if ending == TournamentEnd::Stopped => return Ok(None),
            (GameEnd::Paused(why), _) => return Ok(Some(TournamentEvent::Paused { game, why })),
            (GameEnd::Failed(why), _) => {
                self.open_errors.insert(game.key.clone(), why.clone());
                why
            }
            (
                GameEnd::Over,
                Some(ArchivedGame { status: GameStatus::Failed { reason: why, .. }, .. }),
            ) => why,
            (GameEnd::Over, Some(past)) => {
                let standings = Box::new(self.standings());
                return Ok(Some(TournamentEvent::Finished { game, archived: past, standings }));
            }
            (GameEnd::Over, None) => "it is no longer in the archive".into(),
        };
        let again = tried + 1 < MAX_ATTEMPTS && ending == TournamentEnd::Completed;
        if again {
            self.queue.push_back(QueuedGame { game: game.clone(), attempts: tried + 1 });
        }
        Ok(Some(TournamentEvent::Failed { game, reason: why, will_retry: again }))
    }

    fn standings(&self) -> Standings {
        compute_standings(self.plan, &self.games, &self.archived, &self.open_errors, self.spent)
    }
}
