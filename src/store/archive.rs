//! The archive: one SQLite database in the user's data directory. [`SqliteArchive`] implements the
//! engine's ports for event logs, queries, maintenance, commands and rooms, and delegates to the
//! other modules.
use super::database::Database;
use super::debate_rows::{add_state_file, find_debate_row, load_debate, load_events};
use super::exports::ExportWriter;
use super::lease::{self, Lease, PresenceLock};
use super::lease_monitor::LeaseMonitor;
use super::live_text;
use super::log::{self, SqliteLog};
use super::schema::sqlite_error;
use super::sign::KeyFile;
use super::{command_queue, files, maintenance, projections, search};
use crate::debate::{Debate, Setup};
use crate::engine::{
    ArchiveError, ArchiveHealth, ArchiveMaintenance, ArchivePorts, BoxFuture, Clock, Command,
    CommandQueue, CommandResult, DebateCard, DebateNews, DebateQueries, DebateQuery,
    DuplicatePolicy, EventStore, ExportingStore, LeaseMode, LiveText, Log, OpenedDebate,
    QueuedCommandId, RecordedEvent, ReindexReport, RoomStore, SearchHit, StoredDebate, Update,
    Workspace,
};
use crate::report::iso_timestamp;
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// The archive on SQLite. Connections and threads are started when first needed.
pub struct SqliteArchive {
    home: PathBuf,
    clock: Arc<dyn Clock>,
    database: Arc<Database>,
    /// Connections for queries, so that readers and the writer do not block each other.
    readers: [Database; 2],
    presence: Mutex<Option<Arc<PresenceLock>>>,
    /// Name of this process, shown to others that find a debate held by it.
    process_name: Mutex<String>,
    /// Monitors the leases this process holds.
    lease_monitor: Arc<LeaseMonitor>,
}

impl SqliteArchive {
    /// Creates the archive for a data directory, without opening the database.
    pub fn new(home: &Path, clock: Arc<dyn Clock>) -> SqliteArchive {
        let path = home.join("archive.db");
        SqliteArchive {
            home: home.into(),
            database: Arc::new(Database::new(path.clone())),
            readers: [Database::new(path.clone()), Database::new(path)],
            clock,
            presence: Mutex::new(None),
            process_name: Mutex::default(),
            lease_monitor: Arc::default(),
        }
    }

    /// The ports of this archive. After each change the debate is exported to its files.
    pub fn into_ports(self) -> ArchivePorts {
        let path = self.home.join("archive.db");
        let files = Arc::new(ExportWriter::new(self.home.clone(), path));
        let key = Arc::new(KeyFile::new(self.home.clone()));
        let archive = Arc::new(self);
        ArchivePorts {
            events: Arc::new(ExportingStore::new(archive.clone(), files.clone())),
            queries: archive.clone(),
            maintenance: archive.clone(),
            commands: archive.clone(),
            rooms: archive,
            files,
            key,
        }
    }

    /// The presence lock of this process. The first call creates it and starts the lease monitor.
    fn ensure_presence(&self) -> Result<Arc<PresenceLock>, ArchiveError> {
        let mut slot = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(presence) = &*slot {
            return Ok(presence.clone());
        }
        let presence = PresenceLock::new(&self.home).map_err(|error| {
            ArchiveError::Storage(format!("`{}`: {error}", self.home.display()))
        })?;
        let presence = slot.insert(Arc::new(presence)).clone();
        let process_name = self.process_name.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = presence.announce(&process_name);
        let name = presence.name().to_owned();
        self.lease_monitor.start(self.database.clone(), self.clock.clone(), name);
        Ok(presence)
    }

    /// Runs a query on a read connection that is free.
    fn with_reader<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let [first, second] = &self.readers;
        let reader = if first.is_free() || !second.is_free() { first } else { second };
        reader.with_connection(work)
    }

    fn open_log(&self, row: i64, epoch: i64, seq: u64, debate: Debate) -> Box<dyn Log> {
        let (database, clock) = (self.database.clone(), self.clock.clone());
        let lease = Lease { database, home: self.home.clone(), clock, debate_row: row, epoch };
        let lease_monitor = self.lease_monitor.clone();
        let subscription = lease_monitor.subscribe(lease.clone());
        Box::new(SqliteLog { lease, lease_monitor, subscription, seq, debate })
    }
}

impl SqliteArchive {
    /// Inserts a debate with its first events and acquires its lease, in one transaction.
    fn create_debate(
        &self,
        setup: &Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
        duplicates: DuplicatePolicy<'_>,
    ) -> Result<Box<dyn Log>, ArchiveError> {
        let presence = self.ensure_presence()?;
        let debate = Debate::open(setup.clone())
            .map_err(|setup_error| ArchiveError::Storage(setup_error.to_string()))?;
        let json = serde_json::to_string(setup)
            .map_err(|error| ArchiveError::Storage(error.to_string()))?;
        let name = files::slug(&iso_timestamp(setup.opened_at)[..10], &setup.topic);
        let (row, epoch, debate) = self.database.with_connection(|connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let is_taken = |path: &Path| {
                let existing = "SELECT count(*) FROM debates WHERE record = ?1";
                let name = path.display().to_string();
                let existing = transaction.query_row(existing, [&name], |row| row.get::<_, i64>(0));
                existing.is_ok_and(|count| count > 0)
                    || (path.exists() && !files::is_record_of(path, &setup.id))
            };
            let record = workspace
                .write_record
                .then(|| files::record_path(&workspace.root, &name, is_taken));
            if let DuplicatePolicy::RefuseExcept(known_ids) = duplicates {
                for (id, row) in search::find_duplicates(&transaction, setup, &workspace.root)? {
                    let holder =
                        lease::find_holder(&transaction, &self.home, row, self.clock.now())?;
                    if let Some(holder) = holder {
                        return Err(ArchiveError::LeaseHeld { id, holder });
                    }
                    if !known_ids.contains(&id) {
                        return Err(ArchiveError::Duplicate { id });
                    }
                }
            }
            let inserted = transaction
                .execute(
                    "INSERT INTO debates (public_id, topic, created_at, setup, root, record,
                         format, updated_at, status, labels)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'in-progress', '')
                     ON CONFLICT (public_id) DO NOTHING",
                    params![
                        setup.id,
                        setup.topic,
                        iso_timestamp(setup.opened_at),
                        json,
                        workspace.root.display().to_string(),
                        record.map(|path| path.display().to_string()),
                        setup.format.name,
                        self.clock.now(),
                    ],
                )
                .map_err(sqlite_error)?;
            if inserted == 0 {
                return Err(ArchiveError::IdTaken(setup.id.clone()));
            }
            let row = transaction.last_insert_rowid();
            add_state_file(&transaction, row, workspace)?;
            projections::upsert_agents(&transaction, row, &debate)?;
            let debate = log::insert_events(&transaction, row, debate, events, self.clock.now())?;
            let key = (row, setup.id.as_str());
            let now = self.clock.now();
            let epoch =
                lease::acquire(&transaction, &self.home, &presence, key, now, LeaseMode::IfFree)?;
            transaction.commit().map_err(sqlite_error)?;
            Ok((row, epoch, debate))
        })?;
        tracing::info!(debate = %setup.id, debate_row = row, epoch, "lease acquired");
        let seq = events.last().map_or(0, |recorded| recorded.seq);
        Ok(self.open_log(row, epoch, seq, debate))
    }

    /// Acquires the lease of a debate and loads it.
    fn open_debate(
        &self,
        id: &str,
        workspace: &Workspace,
        mode: LeaseMode,
    ) -> Result<OpenedDebate, ArchiveError> {
        let presence = self.ensure_presence()?;
        let (row, epoch) = self.database.with_connection(|connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let row = find_debate_row(&transaction, id)?;
            let now = self.clock.now();
            let epoch = lease::acquire(&transaction, &self.home, &presence, (row, id), now, mode)?;
            add_state_file(&transaction, row, workspace)?;
            transaction.commit().map_err(sqlite_error)?;
            Ok((row, epoch))
        })?;
        if mode == LeaseMode::TakeOver {
            tracing::info!(debate = %id, debate_row = row, epoch, "lease taken over");
            // The previous holder may be in this process.
            self.lease_monitor.wake();
        } else {
            tracing::info!(debate = %id, debate_row = row, epoch, "lease acquired");
        }
        let stored = self.load(id)?;
        let events = stored.events.iter().map(|recorded| recorded.event.clone());
        let (debate, _) = Debate::replay_lenient(stored.setup.clone(), events)
            .map_err(|setup_error| ArchiveError::Storage(setup_error.to_string()))?;
        let seq = stored.events.last().map_or(0, |recorded| recorded.seq);
        Ok(OpenedDebate { log: self.open_log(row, epoch, seq, debate), stored })
    }

    /// Loads a debate and its lease holder.
    fn load(&self, id: &str) -> Result<StoredDebate, ArchiveError> {
        let (home, now) = (&self.home, self.clock.now());
        self.with_reader(|connection| {
            let row = find_debate_row(connection, id)?;
            // The holder is read first, so that events written before it released the lease are
            // seen.
            let holder = lease::find_holder(connection, home, row, now)?;
            Ok(StoredDebate { holder, ..load_debate(connection, row)? })
        })
    }
}

impl EventStore for SqliteArchive {
    fn create<'a>(
        &'a self,
        setup: &'a Setup,
        events: &'a [RecordedEvent],
        workspace: &'a Workspace,
        duplicates: DuplicatePolicy<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Log>, ArchiveError>> {
        Box::pin(async move { self.create_debate(setup, events, workspace, duplicates) })
    }

    fn open<'a>(
        &'a self,
        id: &'a str,
        workspace: &'a Workspace,
        lease_mode: LeaseMode,
    ) -> BoxFuture<'a, Result<OpenedDebate, ArchiveError>> {
        Box::pin(async move { self.open_debate(id, workspace, lease_mode) })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<StoredDebate, ArchiveError>> {
        Box::pin(async move { self.load(id) })
    }

    fn news_since<'a>(
        &'a self,
        id: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<DebateNews, ArchiveError>> {
        Box::pin(async move {
            let now = self.clock.now();
            self.with_reader(|connection| {
                let row = find_debate_row(connection, id)?;
                // The holder is read first, so that events written before it released the lease are
                // seen.
                let holder = lease::find_holder(connection, &self.home, row, now)?;
                let live_texts = live_text::read(connection, row)?;
                let (events, _) = load_events(connection, row, after)?;
                Ok(DebateNews { events, holder, live_texts })
            })
        })
    }

    fn set_holder_name(&self, name: &str) {
        let name = lease::sanitize_name(name);
        // Same lock order as in `ensure_presence`, which reads this name.
        let presence = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = self.process_name.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != name {
            if let Some(presence) = &*presence {
                let _ = presence.announce(&name);
            }
            *current = name;
        }
    }

    fn publish_live_text(&self, id: &str, updates: broadcast::Receiver<Arc<Update>>) {
        let row = self.database.with_connection(|connection| find_debate_row(connection, id));
        if let Ok(row) = row {
            live_text::spawn_writer(self.database.clone(), self.clock.clone(), row, updates);
        }
    }
}

impl DebateQueries for SqliteArchive {
    fn resolve_id<'a>(
        &'a self,
        abbreviation: &'a str,
    ) -> BoxFuture<'a, Result<String, ArchiveError>> {
        Box::pin(async move {
            self.with_reader(|connection| search::resolve_id(connection, abbreviation))
        })
    }

    fn list<'a>(
        &'a self,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<DebateCard>, ArchiveError>> {
        Box::pin(async move { self.with_reader(|connection| search::list(connection, query)) })
    }

    fn search<'a>(
        &'a self,
        words: &'a str,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ArchiveError>> {
        Box::pin(
            async move { self.with_reader(|connection| search::search(connection, words, query)) },
        )
    }

    fn live_texts<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LiveText>, ArchiveError>> {
        Box::pin(async move {
            self.with_reader(|connection| {
                let row = find_debate_row(connection, id)?;
                live_text::read(connection, row)
            })
        })
    }
}

impl ArchiveMaintenance for SqliteArchive {
    fn reindex(&self) -> BoxFuture<'_, Result<ReindexReport, ArchiveError>> {
        Box::pin(async move { maintenance::reindex(&self.database) })
    }

    fn health(&self) -> BoxFuture<'_, Result<ArchiveHealth, ArchiveError>> {
        Box::pin(async move { maintenance::check_health(&self.database) })
    }
}

impl CommandQueue for SqliteArchive {
    fn enqueue<'a>(
        &'a self,
        id: &'a str,
        commands: &'a [Command],
    ) -> BoxFuture<'a, Result<QueuedCommandId, ArchiveError>> {
        Box::pin(async move {
            let command_id = self.database.with_connection(|connection| {
                let transaction = connection
                    .transaction_with_behavior(TransactionBehavior::Immediate)
                    .map_err(sqlite_error)?;
                let row = find_debate_row(&transaction, id)?;
                let command_id =
                    command_queue::enqueue(&transaction, row, commands, self.clock.now())?;
                transaction.commit().map_err(sqlite_error)?;
                Ok(command_id)
            })?;
            tracing::debug!(debate = %id, command = command_id.0, "command enqueued");
            self.lease_monitor.wake();
            Ok(command_id)
        })
    }

    fn take_result(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>> {
        Box::pin(async move {
            self.with_reader(|connection| command_queue::take_answer(connection, command_id))
        })
    }

    fn withdraw(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>> {
        Box::pin(async move {
            self.database.with_connection(|connection| {
                let transaction = connection
                    .transaction_with_behavior(TransactionBehavior::Immediate)
                    .map_err(sqlite_error)?;
                let result = command_queue::withdraw(&transaction, command_id)?;
                transaction.commit().map_err(sqlite_error)?;
                let too_late = result.is_some();
                tracing::debug!(command = command_id.0, too_late, "command withdrawn");
                Ok(result)
            })
        })
    }
}

impl RoomStore for SqliteArchive {
    fn list_rooms(&self) -> BoxFuture<'_, Result<Vec<String>, ArchiveError>> {
        Box::pin(async move {
            self.with_reader(|connection| {
                let mut statement = connection
                    .prepare_cached("SELECT body FROM rooms ORDER BY rowid")
                    .map_err(sqlite_error)?;
                let rows = statement.query_map([], |row| row.get(0)).map_err(sqlite_error)?;
                rows.collect::<Result<_, _>>().map_err(sqlite_error)
            })
        })
    }

    fn save_room<'a>(
        &'a self,
        id: &'a str,
        body: &'a str,
    ) -> BoxFuture<'a, Result<(), ArchiveError>> {
        Box::pin(async move {
            self.database.with_connection(|connection| {
                connection
                    .prepare_cached(
                        "INSERT INTO rooms (id, body, updated_at) VALUES (?1, ?2, ?3)
                         ON CONFLICT (id) DO UPDATE SET body = ?2, updated_at = ?3",
                    )
                    .and_then(|mut statement| {
                        statement.execute(params![id, body, self.clock.now()])
                    })
                    .map(drop)
                    .map_err(sqlite_error)
            })
        })
    }
}
