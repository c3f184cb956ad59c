//! One game: opened, taken up where it was left, or waited for while somebody else plays it, and
//! played to its end.
use super::file::Plan;
use super::past::{self, Known, Past};
use super::play::News;
use super::schedule::Game;
use super::{GAME, TOURNAMENT};
use crate::debate::{Budget, Change, Pause, Step};
use crate::engine::pairing::{Judge, Named, Preferred, There};
use crate::engine::particulars::{Particulars, WantedCast};
use crate::engine::preflight::Wish;
use crate::engine::{
    ArchiveError, Claim, Command, Desk, DeskError, Error, Job, LogError, Opening, Place,
};
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How often a debate somebody else plays is looked at.
const GLANCE: Duration = Duration::from_millis(300);

/// Where games are played.
#[derive(Clone)]
pub(super) struct Hall<'a> {
    pub(super) desk: &'a Desk,
    pub(super) plan: &'a Plan,
    pub(super) place: &'a Place,
    /// Where the file lies.
    pub(super) folder: &'a Path,
    /// Whether everybody is to stop.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) told: mpsc::UnboundedSender<News>,
}

/// How a game ended for now.
#[derive(Debug)]
pub(super) enum End {
    /// It is over, well or not.
    Over,
    /// It waits for something only the user can give.
    Paused(String),
    /// It was stopped, and can be gone on with.
    Stopped,
    /// It could not be played.
    Broken(String),
}

/// What became of playing.
enum Played {
    End(End),
    /// Somebody else has it now.
    Lost(String),
}

impl Hall<'_> {
    /// Plays a game to its end, or to where it cannot go on.
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
                Err(DeskError::Archive(ArchiveError::Busy { id, holder })) => {
                    if !self.free_again(game, &id, holder).await {
                        return End::Stopped;
                    }
                }
                // Another process has opened it since the archive was read: read it again.
                Err(DeskError::Archive(ArchiveError::Duplicate { .. })) => {}
                Err(error) => return End::Broken(error.to_string()),
            }
        }
    }

    /// The game being played; nothing, if it was played meanwhile.
    async fn begun(&self, game: &Game, budget: Budget) -> Result<Option<Job>, DeskError> {
        let Hall { desk, plan, place, .. } = self;
        let (past, supersedes) = past::attempts(desk, plan, &place.root, &game.key)?;
        match past {
            Some(Past { known: Known::Played, .. }) => Ok(None),
            Some(Past { known: Known::Begun, id, .. }) => {
                let wishes = self.limited(&id, budget, vec![])?;
                Ok(Some(desk.resume(&id, place, Claim::Free, wishes)?))
            }
            Some(Past { known: Known::Failed { from: Some(from), .. }, id, .. }) => {
                let wishes = self.limited(&id, budget, vec![Command::Reopen { from }])?;
                Ok(Some(desk.resume(&id, place, Claim::Free, wishes)?))
            }
            _ => {
                let (draft, wish) = drafted(desk, plan, game, budget, self.folder)?;
                let mut stop = self.stop.clone();
                let prepared = tokio::select! {
                    prepared = desk.prepare(draft, &wish, &place.root) => prepared,
                    _ = stop.wait_for(|stop| *stop) => {
                        return Err(DeskError::Session(Error::Gone));
                    }
                };
                let opening = Opening { supersedes, ..prepared?.0 };
                Ok(Some(desk.open(&opening, place)?))
            }
        }
    }

    /// What is wished for first, and that the game may come to so much.
    fn limited(
        &self,
        id: &str,
        budget: Budget,
        mut wishes: Vec<Command>,
    ) -> Result<Vec<Command>, DeskError> {
        let (_, debate, _) = self.desk.read(id)?;
        if budget != debate.budget() && !budget.exhausted(debate.spent()) {
            let because = String::from("the tournament allows it");
            wishes.push(Command::Amend { change: Change::Limit { budget }, because });
        }
        Ok(wishes)
    }

    async fn played(&self, mut job: Job) -> Played {
        let mut stop = self.stop.clone();
        let due = tokio::select! {
            due = job.idle() => due,
            _ = stop.wait_for(|stop| *stop) => {
                job.stop().await;
                return Played::End(End::Stopped);
            }
        };
        let id = job.id().to_owned();
        job.stop().await;
        Played::End(match due {
            Ok(Step::Rest | Step::Close(_)) => End::Over,
            Ok(Step::Hold { pause: Pause::Spent { .. }, .. }) => {
                End::Paused("what one game may spend is spent".into())
            }
            Ok(Step::Hold { .. } | Step::Speak { .. }) => {
                End::Paused(format!("it waits for somebody: debate resume {id}"))
            }
            Err(Error::Log(LogError::Lost { by })) => return Played::Lost(by),
            Err(error) => End::Broken(error.to_string()),
        })
    }

    /// Waits until nobody holds a debate any more; not, if all is to stop.
    async fn free_again(&self, game: &Game, id: &str, holder: String) -> bool {
        let _ = self.told.send(News::Waiting { game: game.clone(), id: id.to_owned(), holder });
        let mut stop = self.stop.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(GLANCE) => {}
                _ = stop.wait_for(|stop| *stop) => return false,
            }
            // Only who holds it is asked for, so no event is new enough.
            let after = u64::from(u32::MAX);
            match self.desk.archive().news(id, after) {
                Ok(news) if news.holder.is_some() => {}
                _ => return true,
            }
        }
    }
}

/// A game as it is opened, and whom it seats.
pub(super) fn drafted(
    desk: &Desk,
    plan: &Plan,
    game: &Game,
    budget: Budget,
    folder: &Path,
) -> Result<(Opening, Wish), DeskError> {
    let seated = |nth: usize| Plan::seated(&plan.entrants[nth].voice, folder);
    let judges: Vec<_> = plan.judges.iter().map(|judge| Plan::seated(judge, folder)).collect();
    let (pro, con, judge) = (seated(game.pro), seated(game.con), judges[0].clone());
    let named = Named {
        proposer: Some(pro.clone()),
        challenger: Some(con.clone()),
        judge: Some(judge.clone()),
    };
    let terms = [(TOURNAMENT, &plan.name), (GAME, &game.key)];
    let draft = Opening {
        format: plan.format.clone(),
        rounds: game.rounds,
        effort: plan.effort,
        budget,
        turn_seconds: plan.turn_seconds,
        terms: terms.into_iter().map(|(name, term)| (name.to_owned(), term.clone())).collect(),
        panel: judges[1..].to_vec(),
        ..Opening::new(&game.motion, pro, con, judge)
    };
    let wish = Wish {
        there: There { side: None, judge: Judge::Debater(crate::debate::Voice::Human) },
        named,
        preferred: Preferred::default(),
        cast: WantedCast { panel: judges[1..].to_vec(), ..WantedCast::default() },
        context: plan.context.clone(),
        change: None,
        effort: plan.effort,
        probe: None,
    };
    desk.particulars(Particulars::default(), draft, wish, folder)
}
