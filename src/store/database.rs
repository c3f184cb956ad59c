//! SQLite connections. A [`Database`] is one connection, opened on first use, behind a mutex.
//! Waiting for it does not block the other tasks of a multi-thread runtime. The entry point is
//! `Database::with_connection`. `SqliteArchive` has one main and two read connections, and the
//! thread that writes exported files has its own.
use super::files;
use super::schema::{self, sqlite_error};
use crate::engine::ArchiveError;
use crate::secure_fs;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prepared statements that are cached per connection.
const STATEMENT_CACHE_SIZE: usize = 64;
/// A wait for the connection is logged if it takes at least this long.
const LOGGED_LOCK_WAIT: Duration = Duration::from_millis(100);

/// One database connection behind a mutex, opened on first use.
pub(super) struct Database {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Database {
    pub(super) fn new(path: PathBuf) -> Database {
        Database { path, connection: Mutex::new(None) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the connection and runs `work` with it.
    pub(super) fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        run_blocking(|| {
            let started = Instant::now();
            // A poisoned mutex is safe to use: a panic rolls the open transaction back.
            let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = started.elapsed();
            if waited >= LOGGED_LOCK_WAIT {
                tracing::debug!(waited_ms = waited.as_millis(), "waited for the connection");
            }
            let connection = match slot.take() {
                Some(connection) => slot.insert(connection),
                None => slot.insert(self.connect()?),
            };
            work(connection)
        })
    }

    /// Whether the connection is unlocked at the moment, so that the archive can choose a free one.
    pub(super) fn is_free(&self) -> bool {
        self.connection.try_lock().is_ok()
    }

    fn connect(&self) -> Result<Connection, ArchiveError> {
        let storage_error = |error: std::io::Error| {
            ArchiveError::Storage(format!("`{}`: {error}", self.path.display()))
        };
        if let Some(folder) = self.path.parent() {
            secure_fs::create_private_dir(folder).map_err(storage_error)?;
        }
        // Created here with mode 0600; SQLite gives its WAL and shared-memory files the same mode.
        files::create_private_file(&self.path).map_err(storage_error)?;
        let mut connection = Connection::open(&self.path).map_err(sqlite_error)?;
        schema::configure_and_migrate(&mut connection)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
        Ok(connection)
    }
}

/// Runs blocking work without stalling the other tasks of a multi-thread tokio runtime. Elsewhere
/// it blocks the thread.
fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
