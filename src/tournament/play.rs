//! Runs all games: starts what the limits allow, retries failed games once, and stops on a signal.
//! A later run continues from the archive.
use super::archived_games::{self, ArchivedGame, GameStatus};
use super::event::TournamentEvent;
use super::game_runner::{GameEnd, GameRunner};
use super::plan::TournamentPlan;
use super::running_games::{RunningGames, StartDecision};
use super::schedule::{ScheduledGame, build_schedule};
use super::standings::{Standings, compute_standings};
use crate::app::probe::ProbeResult;
use crate::app::{App, AppError};
use crate::debate::{FailureKind, Spend};
use crate::engine::Workspace;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Attempts per game in one run. A failure in an earlier run counts as the first.
const MAX_ATTEMPTS: u8 = 2;

/// Where and how a tournament is played.
#[derive(Clone, Debug)]
pub(crate) struct TournamentSettings {
    /// Repository the games belong to.
    pub workspace: Workspace,
    /// Folder of the tournament file.
    pub plan_folder: PathBuf,
    /// Whether to probe every model before the first game.
    pub probe: bool,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TournamentEnd {
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
pub(crate) async fn play(
    app: &App,
    plan: &TournamentPlan,
    settings: &TournamentSettings,
    stop: impl Future<Output = ()>,
    mut report: impl FnMut(&TournamentEvent),
) -> Result<(TournamentEnd, Standings), AppError> {
    let games = build_schedule(plan);
    let (archived, spent) = archived_games::load_games(app, plan, &settings.workspace.root).await?;
    let mut queue = VecDeque::new();
    for game in &games {
        let attempts = match archived.get(&game.key).map(|it| &it.status) {
            Some(GameStatus::Played) => continue,
            Some(GameStatus::Failed { .. }) => 1,
            _ => 0,
        };
        queue.push_back(QueuedGame { game: game.clone(), attempts });
    }
    let (running, open_errors) = (RunningGames::default(), BTreeMap::new());
    let mut run =
        TournamentRun { app, plan, settings, games, archived, open_errors, spent, queue, running };
    tracing::info!(tournament = %plan.name, games = run.queue.len(), "tournament started");
    let mut stop = std::pin::pin!(stop);
    if settings.probe && !run.queue.is_empty() {
        tokio::select! {
            probed = run.probe_participants() => probed?,
            () = &mut stop => return Ok((TournamentEnd::Stopped, run.standings())),
        }
    }
    let (stop_sender, stop_receiver) = watch::channel(false);
    let (events, mut event_receiver) = mpsc::unbounded_channel();
    let (workspace, plan_folder) = (&settings.workspace, settings.plan_folder.as_path());
    let runner = GameRunner { app, plan, workspace, plan_folder, stop: stop_receiver, events };
    let mut active = FuturesUnordered::new();
    let mut tournament_end = TournamentEnd::Completed;
    loop {
        while tournament_end != TournamentEnd::Stopped
            && let Some((next, budget)) = run.next_game(&mut tournament_end)
        {
            let runner = runner.clone();
            active.push(async move {
                let end = runner.run_game(&next.game, budget).await;
                (next, end)
            });
        }
        if active.is_empty() {
            break;
        }
        tokio::select! {
            Some((game, end)) = active.next() => {
                // Deliver the game's queued events before its result.
                while let Ok(event) = event_receiver.try_recv() {
                    report(&event);
                }
                if let Some(event) = run.record_end(game, end, tournament_end).await? {
                    report(&event);
                }
            }
            Some(event) = event_receiver.recv() => report(&event),
            () = &mut stop, if tournament_end != TournamentEnd::Stopped => {
                tournament_end = TournamentEnd::Stopped;
                let _ = stop_sender.send(true);
            }
        }
    }
    tracing::info!(tournament = %plan.name, end = ?tournament_end, "tournament ended");
    Ok((tournament_end, run.standings()))
}

impl TournamentRun<'_> {
    /// Sends a test request to every participant. A timeout does not count as a failure.
    async fn probe_participants(&self) -> Result<(), AppError> {
        let entrants = self.plan.entrants.iter().map(|it| &it.participant);
        let participants = entrants.chain(&self.plan.judges);
        let participants = participants
            .map(|participant| {
                TournamentPlan::resolve_participant(participant, &self.settings.plan_folder)
            })
            .collect();
        for ProbeResult { participant, result } in self.app.probe(participants, Duration::MAX).await
        {
            if let Err(failure) = result
                && failure.trouble != FailureKind::TimedOut
            {
                let (participant, failure) = (participant.to_string(), Box::new(failure));
                return Err(AppError::ProbeFailed {
                    voice: participant,
                    failure,
                    alternatives: vec![],
                });
            }
        }
        Ok(())
    }

    /// Takes the next game that can start from the queue, with its budget.
    fn next_game(
        &mut self,
        tournament_end: &mut TournamentEnd,
    ) -> Option<(QueuedGame, crate::debate::Budget)> {
        let game_spent = |game: &ScheduledGame| {
            self.archived.get(&game.key).map(|it| it.spent).unwrap_or_default()
        };
        let candidates = self.queue.iter().map(|it| (&it.game, game_spent(&it.game)));
        match self.running.choose_next(candidates, self.plan, self.spent) {
            StartDecision::Wait => None,
            StartDecision::BudgetExhausted => {
                *tournament_end = TournamentEnd::BudgetExhausted;
                None
            }
            StartDecision::Start(index, budget) => {
                let next = self.queue.remove(index)?;
                let game_spent =
                    self.archived.get(&next.game.key).map(|it| it.spent).unwrap_or_default();
                self.running.add(next.game.clone(), budget, game_spent);
                Some((next, budget))
            }
        }
    }

    /// Records the end of a game, queues a retry if needed, and returns the event to report.
    async fn record_end(
        &mut self,
        queued: QueuedGame,
        end: GameEnd,
        tournament_end: TournamentEnd,
    ) -> Result<Option<TournamentEvent>, AppError> {
        let QueuedGame { game, attempts } = queued;
        self.running.remove(&game.key);
        let current = archived_games::load_game(
            self.app,
            self.plan,
            &self.settings.workspace.root,
            &game.key,
        )
        .await?;
        let previous = self
            .archived
            .get(&game.key)
            .filter(|it| current.as_ref().is_some_and(|current| current.id == it.id));
        let previous = previous.map(|it| it.spent).unwrap_or_default();
        if let Some(current) = &current {
            self.spent += Spend {
                cost: current.spent.cost.saturating_sub(previous.cost),
                tokens: current.spent.tokens.saturating_sub(previous.tokens),
                milliseconds: current.spent.milliseconds.saturating_sub(previous.milliseconds),
            };
            self.archived.insert(game.key.clone(), current.clone());
        }
        let reason = match (end, current) {
            (GameEnd::Stopped, _) => return Ok(None),
            (GameEnd::Failed(_), _) if tournament_end == TournamentEnd::Stopped => return Ok(None),
            (GameEnd::Paused(reason), _) => {
                tracing::info!(game = %game.key, reason = %reason, "game paused");
                return Ok(Some(TournamentEvent::Paused { game, why: reason }));
            }
            (GameEnd::Failed(reason), _) => {
                self.open_errors.insert(game.key.clone(), reason.clone());
                reason
            }
            (
                GameEnd::Over,
                Some(ArchivedGame { status: GameStatus::Failed { reason, .. }, .. }),
            ) => reason,
            (GameEnd::Over, Some(archived)) => {
                tracing::info!(game = %game.key, debate = %archived.id, "game finished");
                let standings = Box::new(self.standings());
                return Ok(Some(TournamentEvent::Finished { game, archived, standings }));
            }
            (GameEnd::Over, None) => "it is no longer in the archive".into(),
        };
        let will_retry = attempts + 1 < MAX_ATTEMPTS && tournament_end == TournamentEnd::Completed;
        tracing::info!(game = %game.key, attempt = attempts + 1, will_retry = will_retry, "game failed");
        if will_retry {
            self.queue.push_back(QueuedGame { game: game.clone(), attempts: attempts + 1 });
        }
        Ok(Some(TournamentEvent::Failed { game, reason, will_retry }))
    }

    fn standings(&self) -> Standings {
        compute_standings(self.plan, &self.games, &self.archived, &self.open_errors, self.spent)
    }
}
