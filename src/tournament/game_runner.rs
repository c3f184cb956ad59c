//! Plays one game to its end: opens or resumes its debate, or waits while another process holds the
//! lease.
use super::archived_games::{self, ArchivedGame, GameStatus};
use super::plan::TournamentPlan;
use super::play::TournamentEvent;
use super::schedule::ScheduledGame;
use super::{GAME_TERM, TOURNAMENT_TERM};
use crate::app::format_options::{CastRequest, FormatOptions};
use crate::app::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::app::preflight::SeatingRequest;
use crate::app::{App, AppError, DebateDraft};
use crate::debate::{Amendment, Budget, PauseReason, Step};
use crate::engine::{
    ArchiveError, Command, DebateRun, LeaseMode, LogError, SessionError, Workspace,
};
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
                let (draft, seating) = build_draft(app, plan, game, budget, self.plan_folder)?;
                let mut stop = self.stop.clone();
                let prepared = tokio::select! {
                    prepared = app.prepare(draft, &seating, &workspace.root) => prepared,
                    _ = stop.wait_for(|stop| *stop) => {
                        return Err(AppError::Session(SessionError::NotRunning));
                    }
                };
                let new_draft = DebateDraft { supersedes, ..prepared?.0 };
                Ok(Some(app.open(&new_draft, workspace).await?))
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
        let _ = self.events.send(TournamentEvent::Waiting {
            game: game.clone(),
            id: id.to_owned(),
            holder,
        });
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

/// Builds the draft and the seating request of a game.
pub(super) fn build_draft(
    app: &App,
    plan: &TournamentPlan,
    game: &ScheduledGame,
    budget: Budget,
    folder: &Path,
) -> Result<(DebateDraft, SeatingRequest), AppError> {
    let resolve = |index: usize| {
        TournamentPlan::resolve_participant(&plan.entrants[index].participant, folder)
    };
    let judges: Vec<_> = plan
        .judges
        .iter()
        .map(|judge| TournamentPlan::resolve_participant(judge, folder))
        .collect();
    let (pro, con, judge) = (resolve(game.pro), resolve(game.con), judges[0].clone());
    let requested = RequestedSeats {
        proposer: Some(pro.clone()),
        challenger: Some(con.clone()),
        judge: Some(judge.clone()),
    };
    let terms = [(TOURNAMENT_TERM, &plan.name), (GAME_TERM, &game.key)];
    let draft = DebateDraft {
        format: plan.format.clone(),
        rounds: game.rounds,
        effort: plan.effort,
        budget,
        turn_seconds: plan.turn_seconds,
        terms: terms.into_iter().map(|(name, term)| (name.to_owned(), term.clone())).collect(),
        panel: judges[1..].to_vec(),
        ..DebateDraft::new(&game.motion, pro, con, judge)
    };
    let seating = SeatingRequest {
        fallbacks: FallbackSeats {
            debater: None,
            judge: FallbackJudge::Debater(crate::debate::Participant::Human),
        },
        requested,
        preferences: SeatPreferences::default(),
        cast: CastRequest { panel: judges[1..].to_vec(), ..CastRequest::default() },
        context: plan.context.clone(),
        change: None,
        effort: plan.effort,
        probe_timeout: None,
    };
    app.apply_format_options(FormatOptions::default(), draft, seating, folder)
}
