//! Plays one game to its end: opens or resumes its debate, or waits while another process holds the
//! lease.
use super::archived_games::{self, ArchivedGame, GameStatus};
use super::event::TournamentEvent;
use super::plan::TournamentPlan;
use super::schedule::ScheduledGame;
use super::{GAME_TERM, TOURNAMENT_TERM};
use crate::app::{App, AppError, StartPolicy, StartProgress, StartRequest};
use crate::debate::{Amendment, Budget, PauseReason, Step};
use crate::engine::{
    ArchiveError, Command, DebateRun, LeaseMode, LogError, SessionError, Workspace,
};
use crate::options::DebateOptions;
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Poll interval while another process holds the lease.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Runs games. Cloned for each concurrent game.
#[derive(Clone)]
pub(super) struct GameRunner<'a> {
    pub(super) app: &'a App,
    pub(super) plan: &'a TournamentPlan,
    pub(super) workspace: &'a Workspace,
    /// Folder of the tournament file.
    pub(super) plan_folder: &'a Path,
    /// Stop signal for all games.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) events: mpsc::UnboundedSender<TournamentEvent>,
}

/// How a game ended in this run.
#[derive(Debug)]
pub(super) enum GameEnd {
    /// The debate is over, with or without a verdict.
    Over,
    /// It waits for the user. Has the reason.
    Paused(String),
    /// The stop signal interrupted it. It can resume.
    Stopped,
    /// It could not be opened or run. Has the error message.
    Failed(String),
}

/// Result of running a debate.
enum GameRunResult {
    Ended(GameEnd),
    /// Another process took over the lease.
    LeaseLost(String),
}

impl GameRunner<'_> {
    /// Plays a game until it ends or cannot continue.
    pub(super) async fn run_game(&self, game: &ScheduledGame, budget: Budget) -> GameEnd {
        loop {
            match self.open_or_resume(game, budget).await {
                Ok(None) => return GameEnd::Over,
                Ok(Some(run)) => {
                    let id = run.id().to_owned();
                    tracing::info!(game = %game.key, debate = %id, "game started");
                    let _ = self
                        .events
                        .send(TournamentEvent::Started { game: game.clone(), id: id.clone() });
                    match self.run_until_idle(run).await {
                        GameRunResult::Ended(end) => return end,
                        GameRunResult::LeaseLost(by) => {
                            if !self.wait_until_free(game, &id, by).await {
                                return GameEnd::Stopped;
                            }
                        }
                    }
                }
                Err(AppError::Archive(ArchiveError::LeaseHeld { id, holder })) => {
                    if !self.wait_until_free(game, &id, holder).await {
                        return GameEnd::Stopped;
                    }
                }
                // Another process has opened it in the meantime, so read the archive again.
                Err(AppError::Archive(ArchiveError::Duplicate { .. })) => {}
                Err(error) => return GameEnd::Failed(error.to_string()),
            }
        }
    }

    /// Opens or resumes the debate of a game. `None` if it has already been played.
    async fn open_or_resume(
        &self,
        game: &ScheduledGame,
        budget: Budget,
    ) -> Result<Option<DebateRun>, AppError> {
        let GameRunner { app, plan, workspace, .. } = self;
        let (archived, supersedes) =
            archived_games::load_attempts(app, plan, &workspace.root, &game.key).await?;
        match archived {
            Some(ArchivedGame { status: GameStatus::Played, .. }) => Ok(None),
            Some(ArchivedGame { status: GameStatus::Started, id, .. }) => {
                let commands = self.with_budget_command(&id, budget, vec![]).await?;
                Ok(Some(app.resume(&id, workspace, LeaseMode::IfFree, commands).await?))
            }
            Some(ArchivedGame {
                status: GameStatus::Failed { reopen_from: Some(from), .. },
                id,
                ..
            }) => {
                let commands =
                    self.with_budget_command(&id, budget, vec![Command::Reopen { from }]).await?;
                Ok(Some(app.resume(&id, workspace, LeaseMode::IfFree, commands).await?))
            }
            _ => {
                let request = StartRequest {
                    supersedes,
                    ..game_request(plan, game, budget, self.plan_folder)
                };
                let (mut stop, progress) = (self.stop.clone(), StartProgress::discard());
                let started = tokio::select! {
                    started = app.start(request, workspace, &progress) => started,
                    _ = stop.wait_for(|stop| *stop) => {
                        return Err(AppError::Session(SessionError::NotRunning));
                    }
                };
                Ok(Some(started?.run))
            }
        }
    }

    /// Adds a command that sets the budget, if it differs and is not exhausted.
    async fn with_budget_command(
        &self,
        id: &str,
        budget: Budget,
        mut commands: Vec<Command>,
    ) -> Result<Vec<Command>, AppError> {
        let (_, debate, _) = self.app.read(id).await?;
        if budget != debate.budget() && !budget.is_exhausted(debate.spent()) {
            let because = String::from("the tournament allows it");
            commands.push(Command::Amend { change: Amendment::Limit { budget }, because });
        }
        Ok(commands)
    }

    async fn run_until_idle(&self, mut run: DebateRun) -> GameRunResult {
        let mut stop = self.stop.clone();
        let next_step = tokio::select! {
            next_step = run.wait_idle() => next_step,
            _ = stop.wait_for(|stop| *stop) => {
                run.stop().await;
                return GameRunResult::Ended(GameEnd::Stopped);
            }
        };
        let id = run.id().to_owned();
        run.stop().await;
        GameRunResult::Ended(match next_step {
            Ok(Step::Done | Step::Close(_)) => GameEnd::Over,
            Ok(Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. }) => {
                GameEnd::Paused("the budget of the game is spent".into())
            }
            Ok(Step::Hold { .. } | Step::Speak { .. }) => {
                GameEnd::Paused(format!("it waits for input: debate resume {id}"))
            }
            Err(SessionError::Log(LogError::LeaseLost { by })) => {
                return GameRunResult::LeaseLost(by);
            }
            Err(error) => GameEnd::Failed(error.to_string()),
        })
    }

    /// Waits until no process holds the lease. Returns false on the stop signal.
    async fn wait_until_free(&self, game: &ScheduledGame, id: &str, holder: String) -> bool {
        tracing::info!(game = %game.key, debate = %id, %holder, "another process plays the game");
        let _ = self.events.send(TournamentEvent::Waiting { id: id.to_owned(), holder });
        let mut stop = self.stop.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                _ = stop.wait_for(|stop| *stop) => return false,
            }
            // Only the holder matters here, so the query skips all events.
            let after = u64::from(u32::MAX);
            match self.app.archive().events.news_since(id, after).await {
                Ok(changes) if changes.holder.is_some() => {}
                _ => return true,
            }
        }
    }
}

/// The request that starts a game. All seats are named, so nothing is chosen or probed.
pub(super) fn game_request(
    plan: &TournamentPlan,
    game: &ScheduledGame,
    budget: Budget,
    folder: &Path,
) -> StartRequest {
    let entrant = |index: usize| Some(plan.entrants[index].participant.to_string());
    let terms = [(TOURNAMENT_TERM, &plan.name), (GAME_TERM, &game.key)];
    let options = DebateOptions {
        format: Some(plan.format.clone()),
        proposer: entrant(game.pro),
        challenger: entrant(game.con),
        judges: plan.judges.iter().map(ToString::to_string).collect(),
        rounds: game.rounds.map(Into::into),
        effort: plan.effort,
        turn_seconds: plan.turn_seconds,
        context: Some(plan.context.clone()),
        probe: Some(false),
        ..DebateOptions::default()
    };
    StartRequest {
        budget: Some(budget),
        terms: terms.into_iter().map(|(name, term)| (name.to_owned(), term.clone())).collect(),
        ..StartRequest::new(&game.motion, options, StartPolicy::unattended(), folder.to_owned())
    }
}
