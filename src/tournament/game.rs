//! Plays one game to its end: opens or resumes its debate, or waits while another process holds the
//! lease.
use super::file::Plan;
use super::past::{self, Known, Past};
use super::play::News;
use super::schedule::Game;
use super::{GAME, TOURNAMENT};
use crate::debate::{Amendment, Budget, PauseReason, Step};
use crate::engine::format_options::{CastRequest, FormatOptions};
use crate::engine::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::engine::preflight::SeatingRequest;
use crate::engine::{
    App, AppError, ArchiveError, Command, DebateDraft, DebateRun, LeaseMode, LogError,
    SessionError, Workspace,
};
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Poll interval while another process holds the lease.
const GLANCE: Duration = Duration::from_millis(300);

/// Runs games. Cloned for each concurrent game.
#[derive(Clone)]
pub(super) struct Hall<'a> {
    pub(super) desk: &'a App,
    pub(super) plan: &'a Plan,
    pub(super) place: &'a Workspace,
    /// Folder of the tournament file.
    pub(super) folder: &'a Path,
    /// Stop signal for all games.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) told: mpsc::UnboundedSender<News>,
}

/// How a game ended in this run.
#[derive(Debug)]
pub(super) enum End {
    /// The debate is over, with or without a verdict.
    Over,
    /// It waits for the user. Has the reason.
    Paused(String),
    /// The stop signal interrupted it. It can resume.
    Stopped,
    /// It could not be opened or run. Has the error message.
    Broken(String),
}

/// Result of running a debate.
enum Played {
    End(End),
    /// Another process took over the lease.
    Lost(String),
}

impl Hall<'_> {
    /// Plays a game until it ends or cannot continue.
    pub(super) async fn one(&self, game: &Game, budget: Budget) -> End {
        loop {
            match self.begun(game, budget).await {
                Ok(None) => return End::Over,
                Ok(Some(job)) => {
                    let id = job.id().to_owned();
                    let _ = self.told.send(News::Begun { game: game.clone(), id: id.clone() });
                    match self.played(job).await {
                        Played::End(end) => return end,
                        Played::Lost(by) => {
                            if !self.free_again(game, &id, by).await {
                                return End::Stopped;
                            }
                        }
                    }
                }
                Err(AppError::Archive(ArchiveError::LeaseHeld { id, holder })) => {
                    if !self.free_again(game, &id, holder).await {
                        return End::Stopped;
                    }
                }
                // Another process has opened it in the meantime, so read the archive again.
                Err(AppError::Archive(ArchiveError::Duplicate { .. })) => {}
                Err(error) => return End::Broken(error.to_string()),
            }
        }
    }

    /// Opens or resumes the debate of a game. `None` if it has already been played.
    async fn begun(&self, game: &Game, budget: Budget) -> Result<Option<DebateRun>, AppError> {
        let Hall { desk, plan, place, .. } = self;
        let (past, supersedes) = past::attempts(desk, plan, &place.root, &game.key)?;
        match past {
            Some(Past { known: Known::Played, .. }) => Ok(None),
            Some(Past { known: Known::Begun, id, .. }) => {
                let wishes = self.limited(&id, budget, vec![])?;
                Ok(Some(desk.resume(&id, place, LeaseMode::IfFree, wishes)?))
            }
            Some(Past { known: Known::Failed { from: Some(from), .. }, id, .. }) => {
                let wishes = self.limited(&id, budget, vec![Command::Reopen { from }])?;
                Ok(Some(desk.resume(&id, place, LeaseMode::IfFree, wishes)?))
            }
            _ => {
                let (draft, wish) = drafted(desk, plan, game, budget, self.folder)?;
                let mut stop = self.stop.clone();
                let prepared = tokio::select! {
                    prepared = desk.prepare(draft, &wish, &place.root) => prepared,
                    _ = stop.wait_for(|stop| *stop) => {
                        return Err(AppError::Session(SessionError::NotRunning));
                    }
                };
                let opening = DebateDraft { supersedes, ..prepared?.0 };
                Ok(Some(desk.open(&opening, place)?))
            }
        }
    }

    /// Adds a command that sets the budget, if it differs and is not exhausted.
    fn limited(
        &self,
        id: &str,
        budget: Budget,
        mut wishes: Vec<Command>,
    ) -> Result<Vec<Command>, AppError> {
        let (_, debate, _) = self.desk.read(id)?;
        if budget != debate.budget() && !budget.is_exhausted(debate.spent()) {
            let because = String::from("the tournament allows it");
            wishes.push(Command::Amend { change: Amendment::Limit { budget }, because });
        }
        Ok(wishes)
    }

    async fn played(&self, mut job: DebateRun) -> Played {
        let mut stop = self.stop.clone();
        let due = tokio::select! {
            due = job.wait_idle() => due,
            _ = stop.wait_for(|stop| *stop) => {
                job.stop().await;
                return Played::End(End::Stopped);
            }
        };
        let id = job.id().to_owned();
        job.stop().await;
        Played::End(match due {
            Ok(Step::Done | Step::Close(_)) => End::Over,
            Ok(Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. }) => {
                End::Paused("what one game may spend is spent".into())
            }
            Ok(Step::Hold { .. } | Step::Speak { .. }) => {
                End::Paused(format!("it waits for somebody: debate resume {id}"))
            }
            Err(SessionError::Log(LogError::LeaseLost { by })) => return Played::Lost(by),
            Err(error) => End::Broken(error.to_string()),
        })
    }

    /// Waits until no process holds the lease. Returns false on the stop signal.
    async fn free_again(&self, game: &Game, id: &str, holder: String) -> bool {
        let _ = self.told.send(News::Waiting { game: game.clone(), id: id.to_owned(), holder });
        let mut stop = self.stop.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(GLANCE) => {}
                _ = stop.wait_for(|stop| *stop) => return false,
            }
            // Only the holder matters here, so the query skips all events.
            let after = u64::from(u32::MAX);
            match self.desk.archive().news_since(id, after) {
                Ok(news) if news.holder.is_some() => {}
                _ => return true,
            }
        }
    }
}

/// Builds the draft and the seating request of a game.
pub(super) fn drafted(
    desk: &App,
    plan: &Plan,
    game: &Game,
    budget: Budget,
    folder: &Path,
) -> Result<(DebateDraft, SeatingRequest), AppError> {
    let seated = |nth: usize| Plan::seated(&plan.entrants[nth].voice, folder);
    let judges: Vec<_> = plan.judges.iter().map(|judge| Plan::seated(judge, folder)).collect();
    let (pro, con, judge) = (seated(game.pro), seated(game.con), judges[0].clone());
    let named = RequestedSeats {
        proposer: Some(pro.clone()),
        challenger: Some(con.clone()),
        judge: Some(judge.clone()),
    };
    let terms = [(TOURNAMENT, &plan.name), (GAME, &game.key)];
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
    let wish = SeatingRequest {
        fallbacks: FallbackSeats {
            debater: None,
            judge: FallbackJudge::Debater(crate::debate::Participant::Human),
        },
        requested: named,
        preferences: SeatPreferences::default(),
        cast: CastRequest { panel: judges[1..].to_vec(), ..CastRequest::default() },
        context: plan.context.clone(),
        change: None,
        effort: plan.effort,
        probe_timeout: None,
    };
    desk.apply_format_options(FormatOptions::default(), draft, wish, folder)
}
