//! Recovery from state files: imports debates that are in a repository's state files but not, or
//! not completely, in the archive.
//!
//! Logs signed with this user's key are imported automatically, the longest of each debate.
//! Unsigned files are only reported.
use super::app::{App, AppError};
use super::draft::DebateDraft;
use super::import::{ImportOutcome, ImportResult, LogComparison, compare_logs};
use super::ports::{
    ArchiveError, DebateQuery, ForeignDebate, FoundStateFile, RecordedEvent, Transcript, Workspace,
};
use crate::debate::Setup;
use std::path::{Path, PathBuf};

/// Result of a recovery.
#[derive(Debug, Default)]
pub struct RecoveryReport {
    /// Messages for the user: what was imported, and errors.
    pub messages: Vec<String>,
    /// Files not signed with this user's key.
    pub unsigned_files: Vec<UnsignedFile>,
}

/// A state file from another user, or from a program that does not sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsignedFile {
    pub path: PathBuf,
    pub transcript: Transcript,
}

impl UnsignedFile {
    /// Its topic as one short line.
    pub fn topic(&self) -> String {
        truncate_line(&self.transcript.topic, 120)
    }

    /// The tools that speak in it, according to the file.
    pub fn speakers(&self) -> String {
        let mut names: Vec<String> = vec![];
        for turn in &self.transcript.turns {
            let name = truncate_line(&turn.tool, 30);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(4);
        if names.is_empty() { "nobody it names".into() } else { names.join(" and ") }
    }
}

/// First `most` characters of a text, on one line and without control characters.
fn truncate_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(most).collect()
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
    for FoundStateFile { path, content: holds } in files {
        match holds {
            Ok(ForeignDebate::OwnLog(setup, events)) => {
                let known =
                    sorted.signed_logs.iter_mut().find(|(_, other, _)| other.id == setup.id);
                match known {
                    Some((_, _, longest)) if longest.len() >= events.len() => {}
                    Some(known) => *known = (path, *setup, events),
                    None => sorted.signed_logs.push((path, *setup, events)),
                }
            }
            Ok(ForeignDebate::Transcript(transcript)) => {
                let same = |it: &UnsignedFile| it.transcript == transcript;
                if !sorted.unsigned_files.iter().any(same) {
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
    pub fn resolve_or_recover(
        &self,
        id: Option<&str>,
        unfinished: bool,
        place: &Workspace,
        files: &[PathBuf],
    ) -> Result<(String, Vec<String>), AppError> {
        match self.resolve_debate(id, unfinished, &place.root) {
            Ok(id) => Ok((id, vec![])),
            Err(
                AppError::NoDebateHere { .. } | AppError::Archive(ArchiveError::UnknownDebate(_)),
            ) => {
                let found = self.recover(place, files)?;
                let meant = self.resolve_debate(id, unfinished, &place.root);
                let none = self.resolve_debate(None, false, &place.root).is_err();
                match (meant, found.unsigned_files.into_iter().next()) {
                    (Ok(id), _) => Ok((id, found.messages)),
                    (Err(AppError::NoDebateHere { .. }), Some(stranger)) if none => {
                        Err(AppError::OnlyUnsignedFile(Box::new(stranger)))
                    }
                    (Err(error), _) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Imports every signed debate of these files that the archive does not have or has only in
    /// part.
    pub fn recover(
        &self,
        place: &Workspace,
        files: &[PathBuf],
    ) -> Result<RecoveryReport, AppError> {
        let found = sort_state_files(self.archive.read_state_files(&place.root, files));
        let mut told = vec![];
        for (path, setup, events) in found.signed_logs {
            told.extend(self.recover_log(&path, setup, &events, place)?);
        }
        for (path, why) in found.unreadable {
            told.push(format!("`{}`: {why}", display_path(&path, place)));
        }
        Ok(RecoveryReport { messages: told, unsigned_files: found.unsigned_files })
    }

    /// Appends to one debate the events these files have and the archive lacks. Returns messages
    /// for the user.
    pub fn recover_debate(
        &self,
        id: &str,
        place: &Workspace,
        files: &[PathBuf],
    ) -> Result<Vec<String>, AppError> {
        let found = sort_state_files(self.archive.read_state_files(&place.root, files));
        let mut own = found.signed_logs.into_iter().filter(|(_, setup, _)| setup.id == id);
        match own.next() {
            Some((path, setup, events)) => {
                Ok(self.recover_log(&path, setup, &events, place)?.into_iter().collect())
            }
            None => Ok(vec![]),
        }
    }

    fn recover_log(
        &self,
        path: &Path,
        setup: Setup,
        events: &[RecordedEvent],
        place: &Workspace,
    ) -> Result<Option<String>, AppError> {
        let file = display_path(path, place);
        let known = match self.archive.read(&setup.id) {
            Ok(stored) => Some(stored),
            Err(ArchiveError::UnknownDebate(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let course = known.map(|known| compare_logs(&known, &setup, events));
        // Continuing a debate overwrites its state file. A diverged log may exist only in this
        // file, so it does not become the state file.
        let own = match course {
            Some(LogComparison::Prefix) => return Ok(None),
            Some(LogComparison::Diverged) if self.has_diverged_copy(&setup, events, place)? => {
                return Ok(None);
            }
            Some(LogComparison::Diverged) => None,
            _ => Some(path.to_owned()),
        };
        let place = Workspace { state_file: own, ..place.clone() };
        let id = setup.id.clone();
        match self.import_log(setup, events, &place) {
            Ok(ImportResult { id: new, outcome: ImportOutcome::Diverged }) => Ok(Some(format!(
                "`{file}` holds another course of {id} than the archive does; it is {new} now"
            ))),
            Ok(ImportResult { outcome: ImportOutcome::Extended(by), .. }) => {
                Ok(Some(format!("{id} went on elsewhere by {by} events, as `{file}` has them")))
            }
            Ok(_) => Ok(Some(format!(
                "{id} was not in the archive and is taken up from `{file}`, which you have signed"
            ))),
            // The running process has the newer log. An invalid log is reported, but is no error.
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => Ok(None),
            Err(AppError::InvalidImportedLog(why)) => Ok(Some(format!("`{file}`: {why}"))),
            Err(error) => Err(error),
        }
    }

    /// Whether a diverged log was already imported as another debate.
    fn has_diverged_copy(
        &self,
        setup: &Setup,
        events: &[RecordedEvent],
        place: &Workspace,
    ) -> Result<bool, AppError> {
        let query = DebateQuery { root: Some(place.root.clone()), ..DebateQuery::default() };
        let cards = self.archive.list(&query)?.into_iter();
        for card in cards.filter(|card| card.id != setup.id && card.created_at == setup.opened_at) {
            let Ok(stored) = self.archive.read(&card.id) else { continue };
            let same = Setup { id: card.id, ..setup.clone() };
            if compare_logs(&stored, &same, events) == LogComparison::Prefix {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Imports the transcript of an unsigned file, once.
    pub fn import_unsigned(
        &self,
        stranger: &UnsignedFile,
        opening: &DebateDraft,
        place: &Workspace,
    ) -> Result<ImportResult, AppError> {
        match self.find_imported_transcript(&stranger.transcript, place)? {
            Some(id) => Ok(ImportResult { id, outcome: ImportOutcome::AlreadyKnown }),
            None => self.import_transcript(&stranger.transcript, opening, place),
        }
    }
}

/// Path relative to the repository, for messages.
fn display_path(path: &Path, place: &Workspace) -> String {
    path.strip_prefix(&place.root).unwrap_or(path).display().to_string()
}
