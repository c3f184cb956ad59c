//! Imports debates from files. A log signed with this user's key is imported as it is. From any
//! other file only the transcript is used.
use super::cast::Cast;
use super::create::new_debate_id;
use super::draft::DebateDraft;
use super::spec::{DebateContext, DebateSpec};
use super::transcript::build_events;
use crate::app::{App, AppError};
use crate::debate::replay::ReplayError;
use crate::debate::{Debate, Event, Origin, Role, Setup};
use crate::engine::SessionError;
use crate::engine::format_catalog::CatalogEntry;
use crate::engine::ports::{
    ArchiveError, DebateQuery, DuplicatePolicy, ForeignDebate, LeaseMode, RecordedEvent,
    StoredDebate, Transcript, Workspace,
};
use crate::engine::redaction_gate::RedactionGate;

/// Maximum characters of an imported topic.
const MAX_IMPORTED_TOPIC_CHARS: usize = 500;

/// Result of an import.
#[derive(Debug)]
pub struct ImportResult {
    pub id: String,
    pub outcome: ImportOutcome,
}

/// How a file was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The debate was new.
    New,
    /// The archive already had all of it.
    AlreadyKnown,
    /// This many events were appended to the known debate.
    Extended(usize),
    /// The log differs from the known one, so it was imported as a new debate.
    Diverged,
    /// Only the transcript was imported.
    Transcript {
        /// Number of turns imported.
        imported: usize,
        /// Number of turns in the file.
        turns: usize,
    },
}

/// How an imported log compares with the known log of the same debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogComparison {
    /// It is a prefix of the known log, or equal to it.
    Prefix,
    /// The known log is a prefix of it. It has this many more events.
    Extension(usize),
    /// They differ, or the known log is corrupt.
    Diverged,
}

/// Compares an imported log with the known one, event by event.
pub(super) fn compare_logs(
    known: &StoredDebate,
    setup: &Setup,
    imported: &[RecordedEvent],
) -> LogComparison {
    let known_events = || known.events.iter().map(|recorded| &recorded.event);
    let same_prefix =
        known_events().zip(imported.iter().map(|recorded| &recorded.event)).all(|(a, b)| a == b);
    if known.first_unreadable.is_some() || known.setup != *setup || !same_prefix {
        return LogComparison::Diverged;
    }
    match imported.len().checked_sub(known.events.len()).filter(|more| *more > 0) {
        Some(more) => LogComparison::Extension(more),
        None => LogComparison::Prefix,
    }
}

impl App {
    /// Imports a file. Of two signed logs of one debate the longer wins, and logs that differ
    /// become two debates. A transcript is imported with the seats, prompts and limits of a
    /// new debate with this cast, and the new debate is paused until the user continues it.
    pub async fn import_file(
        &self,
        text: &str,
        cast: &Cast,
        workspace: &Workspace,
    ) -> Result<ImportResult, AppError> {
        match self.archive.files.parse_foreign(text)? {
            ForeignDebate::OwnLog(setup, events) => {
                self.import_log(*setup, &events, workspace).await
            }
            ForeignDebate::Transcript(transcript) => {
                self.import_transcript(&transcript, cast, workspace).await
            }
        }
    }

    /// Imports a transcript as a new, paused debate.
    pub(super) async fn import_transcript(
        &self,
        transcript: &Transcript,
        cast: &Cast,
        workspace: &Workspace,
    ) -> Result<ImportResult, AppError> {
        let mut spec = DebateSpec::duel(&one_line(&transcript.topic));
        if transcript.is_dialogue {
            let uses_lead = |it: &&CatalogEntry| it.offer.format.uses_role(Role::Lead);
            let found = self.catalog.entries.iter().find(uses_lead);
            spec.format = found.map_or(spec.format, |it| it.name().to_owned());
        }
        spec.rounds = transcript.rounds.map(|rounds| spec.clamp_rounds(rounds, &self.catalog));
        spec.origin = Origin::Transcript { id: transcript.id.clone() };
        let draft = DebateDraft { spec, cast: cast.clone(), context: DebateContext::default() };
        let mut imported = 0;
        // The imported file is not overwritten until the user continues the debate.
        let workspace = &Workspace { state_file: None, ..workspace.clone() };
        let (debate, ..) = self
            .create_debate(&draft, workspace, |debate| {
                let (events, turns) = build_events(debate.clone(), transcript);
                imported = turns;
                events
            })
            .await?;
        let turns = transcript.turns.len();
        let id = debate.setup().id.clone();
        tracing::info!(debate = %id, imported = imported, turns, "transcript imported");
        Ok(ImportResult { id, outcome: ImportOutcome::Transcript { imported, turns } })
    }

    /// Finds the debate of this repository that was created from the same transcript. Makes the
    /// import idempotent.
    pub(super) async fn find_imported_transcript(
        &self,
        transcript: &Transcript,
        workspace: &Workspace,
    ) -> Result<Option<String>, AppError> {
        let query = DebateQuery { root: Some(workspace.root.clone()), ..DebateQuery::default() };
        let cards = self.archive.queries.list(&query).await?.into_iter();
        for card in cards.filter(|card| card.labels.iter().any(|label| label == "imported")) {
            let Ok(stored) = self.archive.events.read(&card.id).await else { continue };
            let Origin::Transcript { id } = &stored.setup.origin else { continue };
            let Ok(debate) = Debate::open(stored.setup.clone()) else { continue };
            let rebuilt = build_events(debate, transcript).0;
            let rebuilt = RedactionGate::for_debate(&self.secrets, &stored.setup)
                .redact_value(rebuilt)
                .map_err(SessionError::from)?;
            let prefix = stored.events.iter().map(|recorded| &recorded.event).take(rebuilt.len());
            if *id == transcript.id && prefix.eq(&rebuilt) {
                return Ok(Some(card.id));
            }
        }
        Ok(None)
    }

    /// Imports a signed log: as a new debate, as an extension of the known one, or, if they
    /// differ, under a new id.
    pub(super) async fn import_log(
        &self,
        setup: Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
    ) -> Result<ImportResult, AppError> {
        let result = self.merge_log(setup, events, workspace).await?;
        tracing::info!(debate = %result.id, outcome = ?result.outcome, "log imported");
        Ok(result)
    }

    async fn merge_log(
        &self,
        setup: Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
    ) -> Result<ImportResult, AppError> {
        let imported_events: Vec<Event> =
            events.iter().map(|recorded| recorded.event.clone()).collect();
        Debate::replay(setup.clone(), imported_events.clone())
            .map_err(|error: ReplayError| AppError::InvalidImportedLog(error.to_string()))?;
        let id = setup.id.clone();
        let known = match self.archive.events.read(&id).await {
            Ok(stored) => stored,
            Err(ArchiveError::UnknownDebate(_)) => {
                match self
                    .archive
                    .events
                    .create(&setup, events, workspace, DuplicatePolicy::Allow)
                    .await
                {
                    Ok(_) => return Ok(ImportResult { id, outcome: ImportOutcome::New }),
                    // Lost a race: another process has created it.
                    Err(ArchiveError::IdTaken(_)) => self.archive.events.read(&id).await?,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        match compare_logs(&known, &setup, events) {
            LogComparison::Prefix => Ok(ImportResult { id, outcome: ImportOutcome::AlreadyKnown }),
            LogComparison::Extension(more) => {
                let mut opened =
                    self.archive.events.open(&id, workspace, LeaseMode::IfFree).await?;
                // Another process may have appended events since the read.
                if compare_logs(&opened.stored, &setup, events) != LogComparison::Extension(more) {
                    return Err(AppError::Archive(ArchiveError::LeaseHeld {
                        id,
                        holder: "another process".into(),
                    }));
                }
                opened
                    .log
                    .append(&imported_events[imported_events.len() - more..])
                    .await
                    .map_err(SessionError::from)?;
                Ok(ImportResult { id, outcome: ImportOutcome::Extended(more) })
            }
            LogComparison::Diverged => {
                let setup = Setup { id: new_debate_id(self.clock.now())?, ..setup };
                self.archive
                    .events
                    .create(&setup, events, workspace, DuplicatePolicy::Allow)
                    .await?;
                Ok(ImportResult { id: setup.id, outcome: ImportOutcome::Diverged })
            }
        }
    }
}

/// Collapses a topic to one line of limited length, so that an imported topic cannot imitate other
/// parts of a prompt (prompt injection).
fn one_line(topic: &str) -> String {
    let line = topic.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_IMPORTED_TOPIC_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_topic_is_cut_after_500_characters() {
        assert_eq!(MAX_IMPORTED_TOPIC_CHARS, 500);
        let longest = "é".repeat(MAX_IMPORTED_TOPIC_CHARS);
        assert_eq!(one_line(&longest), longest);
        assert_eq!(one_line(&format!("{longest}é")), longest);
    }
}
