//! Recovery from state files: imports debates that are in a repository's state files but not, or
//! not completely, in the archive.
//!
//! Logs signed with this user's key are imported automatically, the longest of each debate.
//! Unsigned files are only reported.
use super::cast::Cast;
use super::import::{ImportOutcome, ImportResult, LogComparison, compare_logs};
use super::unsigned_file::UnsignedFile;
use crate::app::{App, AppError};
use crate::debate::Setup;
use crate::engine::ports::{
    ArchiveError, DebateQuery, ForeignDebate, FoundStateFile, RecordedEvent, Workspace,
};
use std::path::{Path, PathBuf};

/// Result of a recovery.
#[derive(Debug, Default)]
pub struct RecoveryReport {
    /// Messages for the user: what was imported, and errors.
    pub messages: Vec<String>,
    /// Files not signed with this user's key.
    pub unsigned_files: Vec<UnsignedFile>,
}

/// State files, sorted by trust.
#[derive(Debug, Default)]
struct SortedStateFiles {
    /// Path and log of each signed debate, the longest log of each, ordered by last event.
    signed_logs: Vec<(PathBuf, Setup, Vec<RecordedEvent>)>,
    unsigned_files: Vec<UnsignedFile>,
    unreadable: Vec<(PathBuf, String)>,
}

fn sort_state_files(files: Vec<FoundStateFile>) -> SortedStateFiles {
    let mut sorted = SortedStateFiles::default();
    for FoundStateFile { path, content } in files {
        match content {
            Ok(ForeignDebate::OwnLog(setup, events)) => {
                let known = sorted
                    .signed_logs
                    .iter_mut()
                    .find(|(_, known_setup, _)| known_setup.id == setup.id);
                match known {
                    Some((_, _, longest)) if longest.len() >= events.len() => {}
                    Some(known) => *known = (path, *setup, events),
                    None => sorted.signed_logs.push((path, *setup, events)),
                }
            }
            Ok(ForeignDebate::Transcript(transcript)) => {
                let is_same = |it: &UnsignedFile| it.transcript == transcript;
                if !sorted.unsigned_files.iter().any(is_same) {
                    sorted.unsigned_files.push(UnsignedFile { path, transcript });
                }
            }
            Err(error) => sorted.unreadable.push((path, error.to_string())),
        }
    }
    sorted.signed_logs.sort_by_key(|(_, _, events)| events.last().map(|recorded| recorded.at));
    sorted
}

impl App {
    /// As [`App::resolve_debate`]. If the debate is unknown, tries a recovery from these state
    /// files first. Also returns messages for the user.
    pub async fn resolve_or_recover(
        &self,
        id: Option<&str>,
        unfinished: bool,
        workspace: &Workspace,
        files: &[PathBuf],
    ) -> Result<(String, Vec<String>), AppError> {
        match self.resolve_debate(id, unfinished, &workspace.root).await {
            Ok(id) => Ok((id, vec![])),
            Err(
                AppError::NoDebateHere { .. } | AppError::Archive(ArchiveError::UnknownDebate(_)),
            ) => {
                let report = self.recover(workspace, files).await?;
                let resolved = self.resolve_debate(id, unfinished, &workspace.root).await;
                let no_debates = self.resolve_debate(None, false, &workspace.root).await.is_err();
                match (resolved, report.unsigned_files.into_iter().next()) {
                    (Ok(id), _) => Ok((id, report.messages)),
                    (Err(AppError::NoDebateHere { .. }), Some(unsigned_file)) if no_debates => {
                        Err(AppError::OnlyUnsignedFile(Box::new(unsigned_file)))
                    }
                    (Err(error), _) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Imports every signed debate of these files that the archive does not have or has only in
    /// part.
    pub async fn recover(
        &self,
        workspace: &Workspace,
        files: &[PathBuf],
    ) -> Result<RecoveryReport, AppError> {
        let state_files =
            sort_state_files(self.archive.files.read_state_files(&workspace.root, files));
        tracing::debug!(
            signed = state_files.signed_logs.len(),
            unsigned = state_files.unsigned_files.len(),
            unreadable = state_files.unreadable.len(),
            "state files read"
        );
        let mut messages = vec![];
        for (path, setup, events) in state_files.signed_logs {
            messages.extend(self.recover_log(&path, setup, &events, workspace).await?);
        }
        for (path, why) in state_files.unreadable {
            messages.push(format!("`{}`: {why}", display_path(&path, workspace)));
        }
        Ok(RecoveryReport { messages, unsigned_files: state_files.unsigned_files })
    }

    /// Appends to one debate the events these files have and the archive lacks. Returns messages
    /// for the user.
    pub async fn recover_debate(
        &self,
        id: &str,
        workspace: &Workspace,
        files: &[PathBuf],
    ) -> Result<Vec<String>, AppError> {
        let state_files =
            sort_state_files(self.archive.files.read_state_files(&workspace.root, files));
        let mut matching =
            state_files.signed_logs.into_iter().filter(|(_, setup, _)| setup.id == id);
        match matching.next() {
            Some((path, setup, events)) => {
                Ok(self.recover_log(&path, setup, &events, workspace).await?.into_iter().collect())
            }
            None => Ok(vec![]),
        }
    }

    async fn recover_log(
        &self,
        path: &Path,
        setup: Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
    ) -> Result<Option<String>, AppError> {
        let file = display_path(path, workspace);
        let known = match self.archive.events.read(&setup.id).await {
            Ok(stored) => Some(stored),
            Err(ArchiveError::UnknownDebate(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let comparison = known.map(|known| compare_logs(&known, &setup, events));
        // Continuing a debate overwrites its state file. A diverged log may exist only in this
        // file, so it does not become the state file.
        let state_file = match comparison {
            Some(LogComparison::Prefix) => return Ok(None),
            Some(LogComparison::Diverged)
                if self.has_diverged_copy(&setup, events, workspace).await? =>
            {
                return Ok(None);
            }
            Some(LogComparison::Diverged) => None,
            _ => Some(path.to_owned()),
        };
        let workspace = Workspace { state_file, ..workspace.clone() };
        let id = setup.id.clone();
        match self.import_log(setup, events, &workspace).await {
            Ok(ImportResult { id: new_id, outcome: ImportOutcome::Diverged }) => Ok(Some(format!(
                "`{file}` has a log of {id} that differs from the archive; it was imported as {new_id}"
            ))),
            Ok(ImportResult { outcome: ImportOutcome::Extended(count), .. }) => {
                Ok(Some(format!("{count} newer events of {id} were imported from `{file}`")))
            }
            Ok(_) => Ok(Some(format!(
                "{id} was not in the archive and was imported from `{file}`, which you have signed"
            ))),
            // The running process has the newer log. An invalid log is reported, but is no error.
            Err(AppError::Archive(ArchiveError::LeaseHeld { holder, .. })) => {
                tracing::debug!(debate = %id, %holder, "log not recovered; the debate is running");
                Ok(None)
            }
            Err(AppError::InvalidImportedLog(why)) => Ok(Some(format!("`{file}`: {why}"))),
            Err(error) => Err(error),
        }
    }

    /// Whether a diverged log was already imported as another debate.
    async fn has_diverged_copy(
        &self,
        setup: &Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
    ) -> Result<bool, AppError> {
        let query = DebateQuery { root: Some(workspace.root.clone()), ..DebateQuery::default() };
        let cards = self.archive.queries.list(&query).await?.into_iter();
        for card in cards.filter(|card| card.id != setup.id && card.created_at == setup.opened_at) {
            let Ok(stored) = self.archive.events.read(&card.id).await else { continue };
            let same_setup = Setup { id: card.id, ..setup.clone() };
            if compare_logs(&stored, &same_setup, events) == LogComparison::Prefix {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Imports the transcript of an unsigned file, once.
    pub async fn import_unsigned(
        &self,
        unsigned_file: &UnsignedFile,
        cast: &Cast,
        workspace: &Workspace,
    ) -> Result<ImportResult, AppError> {
        match self.find_imported_transcript(&unsigned_file.transcript, workspace).await? {
            Some(id) => Ok(ImportResult { id, outcome: ImportOutcome::AlreadyKnown }),
            None => self.import_transcript(&unsigned_file.transcript, cast, workspace).await,
        }
    }
}

/// Path relative to the repository, for messages.
fn display_path(path: &Path, workspace: &Workspace) -> String {
    path.strip_prefix(&workspace.root).unwrap_or(path).display().to_string()
}
