//! Background thread that writes a debate's files after each turn: state files, Markdown record and
//! final report. It reads from the database, so nothing waits for it and files are never ahead of
//! the log.
use super::archive::{Database, stored};
use super::schema::broken;
use super::sign::Key;
use super::{files, state_file};
use crate::debate::Debate;
use crate::debate::prompt::fingerprint;
use crate::engine::{ArchiveError, StoredDebate};
use crate::private;
use crate::report::record::render_record;
use crate::report::research::research_report;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Handle of the export thread, which is started with the first job.
pub(super) struct Exports {
    home: PathBuf,
    archive: PathBuf,
    thread: Mutex<Option<(mpsc::Sender<Errand>, JoinHandle<()>)>>,
}

/// Debounce time for changes, so that exports do not compete with the log for the disk.
const BREATH: Duration = Duration::from_millis(10);

enum Errand {
    /// Export the debate with this row id.
    Write(i64),
    /// Send a message once all earlier jobs are done.
    Tell(mpsc::Sender<()>),
}

impl Exports {
    pub(super) fn new(home: PathBuf, archive: PathBuf) -> Exports {
        Exports { home, archive, thread: Mutex::new(None) }
    }

    /// Schedules the export of a debate.
    pub(super) fn changed(&self, row: i64) {
        let mut slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let (errands, _) = slot.get_or_insert_with(|| {
            let (sender, errands) = mpsc::channel();
            let (home, archive) = (self.home.clone(), self.archive.clone());
            (sender, std::thread::spawn(move || work(&home, archive, &errands)))
        });
        let _ = errands.send(Errand::Write(row));
    }

    /// Blocks until all scheduled exports are written.
    pub(super) fn flush(&self) {
        let slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((errands, _)) = &*slot {
            let (done, told) = mpsc::channel();
            if errands.send(Errand::Tell(done)).is_ok() {
                let _ = told.recv();
            }
        }
    }
}

impl Drop for Exports {
    fn drop(&mut self) {
        let slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((errands, thread)) = slot {
            drop(errands);
            let _ = thread.join();
        }
    }
}

/// Loop of the export thread. Queued changes of one debate are written once.
fn work(home: &Path, archive: PathBuf, errands: &mpsc::Receiver<Errand>) {
    let database = Database::at(archive);
    while let Ok(first) = errands.recv() {
        let (mut rows, mut waiting): (Vec<i64>, _) = (vec![], vec![]);
        let until = Instant::now() + BREATH;
        let mut next = Some(first);
        while let Some(errand) = next {
            match errand {
                Errand::Write(row) => {
                    // The last changed debate is written last: debates of a repository share the
                    // state file.
                    rows.retain(|other| *other != row);
                    rows.push(row);
                }
                Errand::Tell(done) => waiting.push(done),
            }
            let left = until.saturating_duration_since(Instant::now());
            let patience = if waiting.is_empty() { left } else { Duration::ZERO };
            next = errands.recv_timeout(patience).ok();
        }
        for row in rows {
            if let Err(error) = write(home, &database, row) {
                tracing::warn!("a debate could not be written out: {error}");
            }
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// SQL: whether a debate has no files to write, so that it need not be loaded.
const NOWHERE: &str = "SELECT record IS NULL AND setup ->> '$.output' IS NULL
    AND NOT EXISTS (SELECT 1 FROM state_files WHERE debate_id = id) FROM debates WHERE id = ?1";

fn write(home: &Path, database: &Database, row: i64) -> Result<(), ArchiveError> {
    let nowhere: bool = database.with(|connection| {
        let mut asked = connection.prepare_cached(NOWHERE).map_err(broken)?;
        asked.query_row([row], |row| row.get(0)).map_err(broken)
    })?;
    if nowhere {
        return Ok(());
    }
    let (stored, root, reported): (StoredDebate, String, Option<String>) =
        database.with(|connection| {
            let of_row = "SELECT root, reported FROM debates WHERE id = ?1";
            let (root, reported) = connection
                .query_row(of_row, [row], |row| Ok((row.get(0)?, row.get(1)?)))
                .map_err(broken)?;
            Ok((stored(connection, row)?, root, reported))
        })?;
    let events = stored.events.iter().map(|recorded| recorded.event.clone());
    let (debate, flaw) = Debate::replay_lenient(stored.setup.clone(), events)
        .map_err(|unfit| ArchiveError::Storage(unfit.to_string()))?;
    // If the log is damaged, the existing files may be its last complete copy.
    if flaw.is_some() || stored.first_unreadable.is_some() {
        return Ok(());
    }
    let key = Key::of(home).map_err(|error| ArchiveError::Storage(error.to_string()))?;
    let state = state_file::text(&debate, &stored, &key);
    let root = Path::new(&root);
    let mut tries: Vec<(&Path, io::Result<()>)> = vec![];
    for (path, root) in &stored.state_files {
        tries.push((path, write_beside(root, path, "*\n", &state)));
    }
    if let Some(path) = &stored.record_path {
        let done = if debate.keep_record() == Some(false) {
            remove(root, path)
        } else {
            write_beside(root, path, "*\n!.gitignore\n", &render_record(&debate))
        };
        tries.push((path, done));
    }
    for (path, done) in tries {
        if let Err(error) = done {
            tracing::warn!("`{}` could not be written: {error}", path.display());
        }
    }
    let Some((path, text)) = finished(root, &debate) else { return Ok(()) };
    let print = fingerprint(&text);
    if reported.as_deref() == Some(print.as_str()) {
        return Ok(());
    }
    if let Err(error) = files::write_for_user(root, &path, &text) {
        tracing::warn!("`{}` could not be written: {error}", path.display());
        return Ok(());
    }
    database.with(|connection| {
        let done = "UPDATE debates SET reported = ?2 WHERE id = ?1";
        connection.execute(done, rusqlite::params![row, print]).map(drop).map_err(broken)
    })
}

/// Path and text of the final report, if the debate has ended and the user has set an output path.
/// The caller writes it once, and again only if its text changes, so that the user's edits are
/// kept.
fn finished(root: &Path, debate: &Debate) -> Option<(PathBuf, String)> {
    let output = debate.setup().output.as_deref().map(str::trim).filter(|it| !it.is_empty())?;
    debate.outcome()?;
    Some((files::plain(&root.join(output)), research_report(debate)?))
}

/// Deletes the record, unless its folder leads out of the repository through a symlink.
fn remove(root: &Path, path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| folder.is_dir()) else { return Ok(()) };
    private::within(root, folder)?;
    std::fs::remove_file(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Writes a file and the `.gitignore` beside it, unless the repository no longer exists.
fn write_beside(root: &Path, path: &Path, ignore: &str, text: &str) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|_| root.is_dir()) else { return Ok(()) };
    files::folder_within(root, folder, ignore)?;
    files::write(path, text)
}
