//! Background thread that writes a debate's files after each turn: state files, Markdown record and
//! final report. It reads from the database, so nothing waits for it and files are never ahead of
//! the log. [`ExportWriter`] implements the engine's `DebateFiles` port, which reads files, too.
use super::database::Database;
use super::debate_rows::{find_debate_row, load_debate};
use super::schema::sqlite_error;
use super::sign::KeyFile;
use super::{files, foreign, state_file, state_file_scan};
use crate::debate::Debate;
use crate::debate::prompt::fingerprint;
use crate::engine::{ArchiveError, DebateFiles, ForeignDebate, FoundStateFile, StoredDebate};
use crate::report::record::render_record;
use crate::report::research::research_report;
use crate::secure_fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Handle of the export thread, which is started with the first job.
pub(super) struct ExportWriter {
    key: KeyFile,
    archive: PathBuf,
    thread: Mutex<Option<(mpsc::Sender<ExportJob>, JoinHandle<()>)>>,
}

/// Debounce time for changes, so that exports do not compete with the log for the disk.
const DEBOUNCE: Duration = Duration::from_millis(10);

enum ExportJob {
    /// Export the debate with this id.
    Write(String),
    /// Send a message once all earlier jobs are done.
    Flush(mpsc::Sender<()>),
}

impl ExportWriter {
    pub(super) fn new(home: PathBuf, archive: PathBuf) -> ExportWriter {
        ExportWriter { key: KeyFile::new(home), archive, thread: Mutex::new(None) }
    }
}

impl DebateFiles for ExportWriter {
    fn schedule_export(&self, id: &str) {
        let mut slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let (jobs, _) = slot.get_or_insert_with(|| {
            let (sender, jobs) = mpsc::channel();
            let (key, archive) = (self.key.clone(), self.archive.clone());
            (sender, std::thread::spawn(move || run_writer(&key, archive, &jobs)))
        });
        let _ = jobs.send(ExportJob::Write(id.into()));
    }

    fn flush_exports(&self) {
        let slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((jobs, _)) = &*slot {
            let (done_sender, done_receiver) = mpsc::channel();
            if jobs.send(ExportJob::Flush(done_sender)).is_ok() {
                let _ = done_receiver.recv();
            }
        }
    }

    fn read_state_files(&self, root: &Path, files: &[PathBuf]) -> Vec<FoundStateFile> {
        state_file_scan::scan(root, files, |text| self.parse_foreign(text))
    }

    fn parse_foreign(&self, text: &str) -> Result<ForeignDebate, ArchiveError> {
        foreign::parse(text, &self.key.load()?)
    }
}

impl Drop for ExportWriter {
    fn drop(&mut self) {
        let slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((jobs, thread)) = slot {
            drop(jobs);
            let _ = thread.join();
        }
    }
}

/// Loop of the export thread. Queued changes of one debate are written once.
fn run_writer(key: &KeyFile, archive: PathBuf, jobs: &mpsc::Receiver<ExportJob>) {
    let database = Database::new(archive);
    while let Ok(first) = jobs.recv() {
        let (mut ids, mut flush_waiters): (Vec<String>, _) = (vec![], vec![]);
        let deadline = Instant::now() + DEBOUNCE;
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                ExportJob::Write(id) => {
                    // The last changed debate is written last: debates of a repository share the
                    // state file.
                    ids.retain(|other| *other != id);
                    ids.push(id);
                }
                ExportJob::Flush(waiter) => flush_waiters.push(waiter),
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            let timeout = if flush_waiters.is_empty() { remaining } else { Duration::ZERO };
            next = jobs.recv_timeout(timeout).ok();
        }
        for id in ids {
            if let Err(error) = export_debate(key, &database, &id) {
                tracing::warn!(debate = %id, %error, "debate not exported");
            }
        }
        for waiter in flush_waiters {
            let _ = waiter.send(());
        }
    }
}

/// SQL: whether a debate has no files to write, so that it need not be loaded.
const NO_FILES_SQL: &str = "SELECT record IS NULL AND setup ->> '$.output' IS NULL
    AND NOT EXISTS (SELECT 1 FROM state_files WHERE debate_id = id) FROM debates WHERE id = ?1";

fn export_debate(key: &KeyFile, database: &Database, id: &str) -> Result<(), ArchiveError> {
    let (row, has_no_files): (i64, bool) = database.with_connection(|connection| {
        let row = find_debate_row(connection, id)?;
        let mut query = connection.prepare_cached(NO_FILES_SQL).map_err(sqlite_error)?;
        let has_no_files = query.query_row([row], |row| row.get(0)).map_err(sqlite_error)?;
        Ok((row, has_no_files))
    })?;
    if has_no_files {
        return Ok(());
    }
    let (stored, root, reported): (StoredDebate, String, Option<String>) = database
        .with_connection(|connection| {
            let sql = "SELECT root, reported FROM debates WHERE id = ?1";
            let (root, reported) = connection
                .query_row(sql, [row], |row| Ok((row.get(0)?, row.get(1)?)))
                .map_err(sqlite_error)?;
            Ok((load_debate(connection, row)?, root, reported))
        })?;
    let events = stored.events.iter().map(|recorded| recorded.event.clone());
    let (debate, flaw) = Debate::replay_lenient(stored.setup.clone(), events)
        .map_err(|setup_error| ArchiveError::Storage(setup_error.to_string()))?;
    // If the log is damaged, the existing files may be its last complete copy.
    if flaw.is_some() || stored.first_unreadable.is_some() {
        return Ok(());
    }
    let state = state_file::render(&debate, &stored, &key.load()?);
    let root = Path::new(&root);
    let mut results: Vec<(&Path, io::Result<()>)> = vec![];
    for (path, root) in &stored.state_files {
        results.push((path, write_in_repository(root, path, "*\n", &state)));
    }
    if let Some(path) = &stored.record_path {
        let result = if debate.keep_record() == Some(false) {
            remove_record(root, path)
        } else {
            write_in_repository(root, path, "*\n!.gitignore\n", &render_record(&debate))
        };
        results.push((path, result));
    }
    for (path, result) in results {
        if let Err(error) = result {
            tracing::warn!(path = %path.display(), %error, "export not written");
        }
    }
    let Some((path, text)) = final_report(root, &debate) else { return Ok(()) };
    let text_hash = fingerprint(&text);
    if reported.as_deref() == Some(text_hash.as_str()) {
        return Ok(());
    }
    if let Err(error) = files::write_user_file(root, &path, &text) {
        tracing::warn!(path = %path.display(), %error, "export not written");
        return Ok(());
    }
    tracing::debug!(path = %path.display(), bytes = text.len(), "export written");
    database.with_connection(|connection| {
        let statement = "UPDATE debates SET reported = ?2 WHERE id = ?1";
        connection
            .execute(statement, rusqlite::params![row, text_hash])
            .map(drop)
            .map_err(sqlite_error)
    })
}

/// Path and text of the final report, if the debate has ended and the user has set an output path.
/// The caller writes it once, and again only if its text changes, so that the user's edits are
/// kept.
fn final_report(root: &Path, debate: &Debate) -> Option<(PathBuf, String)> {
    let output = debate.setup().output.as_deref().map(str::trim).filter(|it| !it.is_empty())?;
    debate.outcome()?;
    Some((files::normalize_path(&root.join(output)), research_report(debate)?))
}

/// Deletes the record, unless its folder leads out of the repository through a symlink.
fn remove_record(root: &Path, path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| folder.is_dir()) else { return Ok(()) };
    secure_fs::check_within(root, folder)?;
    std::fs::remove_file(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Writes a file and the `.gitignore` beside it, unless the repository no longer exists.
fn write_in_repository(root: &Path, path: &Path, ignore: &str, text: &str) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|_| root.is_dir()) else { return Ok(()) };
    files::create_dir_in_repository(root, folder, ignore)?;
    files::write_atomic(path, text)?;
    tracing::debug!(path = %path.display(), bytes = text.len(), "export written");
    Ok(())
}
