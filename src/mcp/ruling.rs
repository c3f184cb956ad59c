//! Handler of `verdict`: requests a ruling, records the host's ruling, or returns the existing one.
use super::args::Verdict;
use super::attend::{Seen, Waiting};
use super::check;
use super::coming_back::Meant;
use super::complaint::Complaint;
use super::server::Server;
use super::standing::asked_of_host;
use crate::debate::{Cue, Origin, PauseReason, Step, next};
use crate::engine::app::home_workspace;
use crate::engine::{AppError, ArchiveError, Command, DebateQuery, SessionError, Workspace};
use serde_json::Value;

impl Server {
    /// Records the host's ruling or requests one, and waits for it. An existing ruling is returned.
    pub(super) async fn rule(
        &self,
        args: &Verdict,
        place: &Workspace,
        waiting: &Waiting,
    ) -> Result<(Seen, Vec<String>), Complaint> {
        let turn = check::short("turn", args.turn.as_deref())?;
        let text = args.ruling.as_ref().map(|ruling| match ruling {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        if let Some(text) = &text {
            check::text("ruling", text, check::SPEECH)?;
        }
        let Meant { id, told } = self.meant_by(args.debate_id.as_deref(), turn, place)?;
        let notes = self.taken_up(&id, place, told).await?;
        let place = &self.place_of(&id, place)?;
        if let Some(text) = &text {
            let _recording = self.hub.recording(&id).await;
            self.reply(&id, place, turn, text, "verdict").await?;
        }
        self.ask_no_more(&id, place).await?;
        Ok((self.rule_on(&id, place, waiting).await?, notes))
    }

    /// Holds the debate after the running turns. These finish because they are paid for, but no
    /// further turn is requested before the ruling.
    async fn ask_no_more(&self, id: &str, place: &Workspace) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        let rounds = |cue: &Cue| cue.act < debate.setup().ending_act();
        let speaking = match next(&debate) {
            Step::Speak { driven, .. } => driven.iter().any(rounds),
            _ => false,
        };
        if !speaking || debate.is_held() || debate.is_concluded() {
            return Ok(());
        }
        match self.command(id, place, vec![Command::Hold]).await {
            // It moved on meanwhile, or another process holds the lease: wait for that.
            Ok(())
            | Err(
                AppError::Session(SessionError::Illegal(_))
                | AppError::Archive(ArchiveError::LeaseHeld { .. }),
            ) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the running turns, concludes the rounds, and waits for the ruling.
    pub(super) async fn rule_on(
        &self,
        id: &str,
        place: &Workspace,
        waiting: &Waiting,
    ) -> Result<Seen, Complaint> {
        loop {
            let seen = self.hub.attend(id, place, waiting).await?;
            let ending = seen.debate.setup().ending_act();
            let imported = seen.debate.setup().origin != Origin::Here && seen.debate.is_held();
            match next(&seen.debate) {
                Step::Hold { .. } if imported => return Ok(seen),
                // Paused for the user, who asks for a ruling.
                Step::Hold { next, .. } if next.act < ending => {
                    let _recording = self.hub.recording(id).await;
                    self.conclude(id, place).await?;
                }
                Step::Hold { pause: PauseReason::UserHold, .. } => {
                    self.let_go(id, place, &seen.debate, None).await?;
                }
                Step::Speak { driven, awaited } if driven.is_empty() => {
                    return match awaited.first() {
                        Some(cue) if cue.act < ending => {
                            let due = asked_of_host(&seen.debate);
                            Err(Complaint::Unspoken { due, id: id.into() })
                        }
                        _ => Ok(seen),
                    };
                }
                _ => return Ok(seen),
            }
        }
    }

    /// Resolves the debate of a turn. Turn ids are the same in every debate, so a turn without a
    /// debate id is an error if several debates are open.
    pub(super) fn meant_by(
        &self,
        id: Option<&str>,
        turn: Option<&str>,
        place: &Workspace,
    ) -> Result<Meant, Complaint> {
        let meant = self.meant(id, place)?;
        if id.is_none() && turn.is_some() {
            let root = Some(place.root.clone());
            let query =
                DebateQuery { root, unfinished: true, limit: Some(2), ..DebateQuery::default() };
            let open = self.hub.desk.archive().list(&query).map_err(AppError::from)?;
            if open.len() > 1 {
                return Err(Complaint::Which { id: meant.id });
            }
        }
        Ok(meant)
    }

    /// The workspace of a debate: one of another repository keeps its own.
    pub(super) fn place_of(&self, id: &str, place: &Workspace) -> Result<Workspace, Complaint> {
        let (stored, ..) = self.hub.desk.read(id)?;
        Ok(home_workspace(&stored, place))
    }
}
