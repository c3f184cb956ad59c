//! The use case "record an outcome": [`App::record_outcome`]. Records what the user decided, and
//! whether the verdict turned out right.
use super::error::OutcomeError;
use super::{App, AppError};
use crate::debate::verdict::judgment;
use crate::debate::{Debate, VerdictFeedback};
use crate::engine::command::Command;
use crate::engine::ports::{LeaseMode, Workspace};

/// What became of a debate. Every field is optional.
#[derive(Clone, Debug, Default)]
pub struct OutcomeRequest {
    /// What the user decided, in their own words.
    pub decision: Option<String>,
    /// Whether the verdict was right, with a note.
    pub proof: Option<(VerdictFeedback, String)>,
    /// Whether the record is kept or discarded.
    pub keep: Option<bool>,
}

impl OutcomeRequest {
    /// The commands that record it, after a check against the debate.
    fn commands(&self, debate: &Debate) -> Result<Vec<Command>, OutcomeError> {
        if (self.proof.is_some() || self.keep.is_some()) && debate.outcome().is_none() {
            return Err(OutcomeError::NotEnded { id: debate.setup().id.clone() });
        }
        let mut commands = vec![];
        if let Some(text) = &self.decision {
            if text.trim().is_empty() {
                return Err(OutcomeError::EmptyDecision);
            }
            commands.push(Command::Decide { text: text.clone() });
        }
        if let Some((proof, note)) = &self.proof {
            let judgment = judgment(debate).ok_or(OutcomeError::NoVerdict)?;
            let (confidence, note) = (judgment.confidence, note.clone());
            commands.push(Command::Learn { proof: *proof, confidence, note });
        }
        commands.extend(self.keep.map(|keep| Command::Keep { keep }));
        Ok(commands)
    }
}

impl App {
    /// Records the outcome of a debate and returns the debate. An empty request only reads it.
    pub async fn record_outcome(
        &self,
        id: &str,
        request: &OutcomeRequest,
        workspace: &Workspace,
    ) -> Result<Debate, AppError> {
        let (_, debate, _) = self.read(id).await?;
        let commands = request.commands(&debate)?;
        if commands.is_empty() {
            return Ok(debate);
        }
        let run = self.resume(id, workspace, LeaseMode::IfFree, commands).await?;
        run.stop().await;
        Ok(self.read(id).await?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::formats;
    use crate::test_support::debate_fixture::{debate_setup, open_debate};

    #[test]
    fn outcome_of_a_debate_that_goes_on_is_refused() {
        let debate = open_debate(debate_setup(formats::duel(), 2));
        let id = debate.setup().id.clone();
        let proof = Some((VerdictFeedback::Right, String::new()));
        let request = OutcomeRequest { proof, ..OutcomeRequest::default() };
        assert_eq!(request.commands(&debate).unwrap_err(), OutcomeError::NotEnded { id });
        let decide = |text: &str| {
            let decision = Some(text.to_owned());
            OutcomeRequest { decision, ..OutcomeRequest::default() }.commands(&debate)
        };
        assert_eq!(decide(" ").unwrap_err(), OutcomeError::EmptyDecision);
        assert_eq!(decide("One file.").unwrap().len(), 1);
    }
}
