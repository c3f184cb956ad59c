//! The archive: one SQLite database in the user's data directory. [`SqliteArchive`] implements the
//! engine's `Archive` port and delegates to the other modules.
use super::exports::ExportWriter;
use super::foreign;
use super::lease::{self, Lease, PresenceLock};
use super::lease_monitor::LeaseMonitor;
use super::live_text;
use super::log::{self, SqliteLog};
use super::schema::{self, sqlite_error};
use super::sign::SigningKey;
use super::{command_queue, files, maintenance, projections, search, state_file_scan};
use crate::debate::{Debate, Event, Setup, Status};
use crate::engine::{
    Archive, ArchiveError, ArchiveHealth, Clock, Command, CommandResult, DebateCard, DebateNews,
    DebateQuery, DuplicatePolicy, ForeignDebate, FoundStateFile, LeaseMode, LiveText, Log,
    OpenedDebate, QueuedCommandId, RecordedEvent, ReindexReport, SearchHit, StoredDebate, Update,
    Workspace,
};
use crate::report::iso_timestamp;
use crate::secure_fs;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// The archive on SQLite. Connections and threads are started when first needed.
pub struct SqliteArchive {
    home: PathBuf,
    clock: Arc<dyn Clock>,
    database: Arc<Database>,
    /// Read connections, so that readers and the writer do not block each other.
    readers: [Database; 2],
    exports: Arc<ExportWriter>,
    presence: Mutex<Option<Arc<PresenceLock>>>,
    /// Name of this process, shown to others that find a debate held by it.
    process_name: Mutex<String>,
    /// Monitors the leases this process holds.
    lease_monitor: Arc<LeaseMonitor>,
}

/// A database connection behind a mutex, opened when first needed.
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
            // A poisoned mutex is safe to use: a panic rolls the open transaction back.
            let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = match slot.take() {
                Some(connection) => slot.insert(connection),
                None => slot.insert(self.connect()?),
            };
            work(connection)
        })
    }

    /// Whether the connection is not locked at the moment.
    fn is_free(&self) -> bool {
        self.connection.try_lock().is_ok()
    }

    fn connect(&self) -> Result<Connection, ArchiveError> {
        let at = |error: std::io::Error| {
            ArchiveError::Storage(format!("`{}`: {error}", self.path.display()))
        };
        if let Some(folder) = self.path.parent() {
            secure_fs::create_private_dir(folder).map_err(at)?;
        }
        // Created here with mode 0600; SQLite gives its WAL and shared-memory files the same mode.
        files::create_private_file(&self.path).map_err(at)?;
        let mut connection = Connection::open(&self.path).map_err(sqlite_error)?;
        schema::configure_and_migrate(&mut connection)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }
}

/// Runs blocking work without stalling the other tasks of a multi-thread tokio runtime.
fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let threads = Handle::try_current().map(|handle| handle.runtime_flavor());
    match threads {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl SqliteArchive {
    /// Creates the archive for a data directory, without opening the database.
    pub fn new(home: &Path, clock: Arc<dyn Clock>) -> SqliteArchive {
        let path = home.join("archive.db");
        SqliteArchive {
            home: home.into(),
            database: Arc::new(Database::new(path.clone())),
            readers: [Database::new(path.clone()), Database::new(path.clone())],
            exports: Arc::new(ExportWriter::new(home.into(), path)),
            clock,
            presence: Mutex::new(None),
            process_name: Mutex::default(),
            lease_monitor: Arc::default(),
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
        let who = self.process_name.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = presence.announce(&who);
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
        let chosen = if first.is_free() || !second.is_free() { first } else { second };
        chosen.with_connection(work)
    }

    fn open_log(&self, row: i64, epoch: i64, seq: u64, debate: Debate) -> Box<dyn Log> {
        let (database, clock) = (self.database.clone(), self.clock.clone());
        let lease = Lease { database, home: self.home.clone(), clock, debate_row: row, epoch };
        let (lookout, exports) = (self.lease_monitor.clone(), self.exports.clone());
        let ear = lookout.subscribe(lease.clone());
        Box::new(SqliteLog {
            lease,
            lease_monitor: lookout,
            subscription: ear,
            exports,
            seq,
            debate,
        })
    }
}

impl Archive for SqliteArchive {
    fn create(
        &self,
        setup: &Setup,
        events: &[RecordedEvent],
        place: &Workspace,
        duplicates: DuplicatePolicy<'_>,
    ) -> Result<Box<dyn Log>, ArchiveError> {
        let presence = self.ensure_presence()?;
        let debate = Debate::open(setup.clone())
            .map_err(|unfit| ArchiveError::Storage(unfit.to_string()))?;
        let json = serde_json::to_string(setup)
            .map_err(|error| ArchiveError::Storage(error.to_string()))?;
        let name = files::slug(&iso_timestamp(setup.opened_at)[..10], &setup.topic);
        let (row, epoch, debate) = self.database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let taken = |path: &Path| {
                let known = "SELECT count(*) FROM debates WHERE record = ?1";
                let name = path.display().to_string();
                let known = change.query_row(known, [&name], |row| row.get::<_, i64>(0));
                known.is_ok_and(|count| count > 0)
                    || (path.exists() && !files::is_record_of(path, &setup.id))
            };
            let record = place.write_record.then(|| files::record_path(&place.root, &name, taken));
            if let DuplicatePolicy::RefuseExcept(seen) = duplicates {
                for (id, row) in search::find_duplicates(&change, setup, &place.root)? {
                    let holder = lease::find_holder(&change, &self.home, row, self.clock.now())?;
                    if let Some(holder) = holder {
                        return Err(ArchiveError::LeaseHeld { id, holder });
                    }
                    if !seen.contains(&id) {
                        return Err(ArchiveError::Duplicate { id });
                    }
                }
            }
            let added = change
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
                        place.root.display().to_string(),
                        record.map(|path| path.display().to_string()),
                        setup.format.name,
                        self.clock.now(),
                    ],
                )
                .map_err(sqlite_error)?;
            if added == 0 {
                return Err(ArchiveError::IdTaken(setup.id.clone()));
            }
            let row = change.last_insert_rowid();
            add_state_file(&change, row, place)?;
            projections::upsert_agents(&change, row, &debate)?;
            let debate = log::insert_events(&change, row, debate, events, self.clock.now())?;
            let key = (row, setup.id.as_str());
            let now = self.clock.now();
            let epoch =
                lease::acquire(&change, &self.home, &presence, key, now, LeaseMode::IfFree)?;
            change.commit().map_err(sqlite_error)?;
            Ok((row, epoch, debate))
        })?;
        self.exports.schedule(row);
        let seq = events.last().map_or(0, |recorded| recorded.seq);
        Ok(self.open_log(row, epoch, seq, debate))
    }

    fn set_holder_name(&self, who: &str) {
        let who = lease::sanitize_name(who);
        // Same lock order as in `ensure_presence`, which reads this name.
        let presence = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.process_name.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != who {
            if let Some(presence) = &*presence {
                let _ = presence.announce(&who);
            }
            *known = who;
        }
    }

    fn open(
        &self,
        id: &str,
        place: &Workspace,
        claim: LeaseMode,
    ) -> Result<OpenedDebate, ArchiveError> {
        let presence = self.ensure_presence()?;
        let (row, epoch) = self.database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let row = find_debate_row(&change, id)?;
            let now = self.clock.now();
            let epoch = lease::acquire(&change, &self.home, &presence, (row, id), now, claim)?;
            add_state_file(&change, row, place)?;
            change.commit().map_err(sqlite_error)?;
            Ok((row, epoch))
        })?;
        if claim == LeaseMode::TakeOver {
            // The previous holder may be in this process.
            self.lease_monitor.wake();
        }
        let stored = self.read(id)?;
        let events = stored.events.iter().map(|recorded| recorded.event.clone());
        let (debate, _) = Debate::replay_lenient(stored.setup.clone(), events)
            .map_err(|unfit| ArchiveError::Storage(unfit.to_string()))?;
        let seq = stored.events.last().map_or(0, |recorded| recorded.seq);
        self.exports.schedule(row);
        Ok(OpenedDebate { log: self.open_log(row, epoch, seq, debate), stored })
    }

    fn read(&self, id: &str) -> Result<StoredDebate, ArchiveError> {
        let (home, now) = (&self.home, self.clock.now());
        self.with_reader(|connection| {
            let row = find_debate_row(connection, id)?;
            // The holder is read first: if it has released its lease, its last events are read, too.
            let holder = lease::find_holder(connection, home, row, now)?;
            Ok(StoredDebate { holder, ..load_debate(connection, row)? })
        })
    }

    fn news_since(&self, id: &str, after: u64) -> Result<DebateNews, ArchiveError> {
        let now = self.clock.now();
        self.with_reader(|connection| {
            let row = find_debate_row(connection, id)?;
            // The holder is read first, so that events written before it released the lease are
            // seen.
            let holder = lease::find_holder(connection, &self.home, row, now)?;
            let live = live_text::read(connection, row)?;
            let (events, _) = load_events(connection, row, after)?;
            Ok(DebateNews { events, holder, live_texts: live })
        })
    }

    fn resolve_id(&self, abbreviation: &str) -> Result<String, ArchiveError> {
        self.with_reader(|connection| search::resolve_id(connection, abbreviation))
    }

    fn list(&self, query: &DebateQuery) -> Result<Vec<DebateCard>, ArchiveError> {
        self.with_reader(|connection| search::list(connection, query))
    }

    fn search(&self, words: &str, query: &DebateQuery) -> Result<Vec<SearchHit>, ArchiveError> {
        self.with_reader(|connection| search::search(connection, words, query))
    }

    fn live_texts(&self, id: &str) -> Result<Vec<LiveText>, ArchiveError> {
        self.with_reader(|connection| {
            let row = find_debate_row(connection, id)?;
            live_text::read(connection, row)
        })
    }

    fn read_state_files(&self, root: &Path, files: &[PathBuf]) -> Vec<FoundStateFile> {
        state_file_scan::scan(root, files, |text| self.parse_foreign(text))
    }

    fn publish_live_text(&self, id: &str, updates: broadcast::Receiver<Arc<Update>>) {
        let row = self.database.with_connection(|connection| find_debate_row(connection, id));
        if let Ok(row) = row {
            live_text::spawn_writer(self.database.clone(), self.clock.clone(), row, updates);
        }
    }

    fn enqueue_commands(
        &self,
        id: &str,
        wishes: &[Command],
    ) -> Result<QueuedCommandId, ArchiveError> {
        let wish = self.database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let row = find_debate_row(&change, id)?;
            let wish = command_queue::enqueue(&change, row, wishes, self.clock.now())?;
            change.commit().map_err(sqlite_error)?;
            Ok(wish)
        })?;
        self.lease_monitor.wake();
        Ok(wish)
    }

    fn command_result(&self, wish: QueuedCommandId) -> Result<Option<CommandResult>, ArchiveError> {
        self.with_reader(|connection| command_queue::take_answer(connection, wish))
    }

    fn withdraw_commands(
        &self,
        wish: QueuedCommandId,
    ) -> Result<Option<CommandResult>, ArchiveError> {
        self.database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            let answered = command_queue::withdraw(&change, wish)?;
            change.commit().map_err(sqlite_error)?;
            Ok(answered)
        })
    }

    fn parse_foreign(&self, text: &str) -> Result<ForeignDebate, ArchiveError> {
        let key = SigningKey::load_or_create(&self.home).map_err(|error| {
            ArchiveError::Storage(format!("`{}`: {error}", self.home.display()))
        })?;
        foreign::parse(text, &key)
    }

    fn reindex(&self) -> Result<ReindexReport, ArchiveError> {
        let (done, rows) = maintenance::reindex(&self.database)?;
        for row in rows {
            self.exports.schedule(row);
        }
        Ok(done)
    }

    fn health(&self) -> Result<ArchiveHealth, ArchiveError> {
        maintenance::check_health(&self.database)
    }

    fn write_exports(&self, id: &str) -> Result<(), ArchiveError> {
        let row = self.database.with_connection(|connection| find_debate_row(connection, id))?;
        self.exports.schedule(row);
        Ok(())
    }

    fn list_rooms(&self) -> Result<Vec<String>, ArchiveError> {
        self.with_reader(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT body FROM rooms ORDER BY rowid")
                .map_err(sqlite_error)?;
            let rows = statement.query_map([], |row| row.get(0)).map_err(sqlite_error)?;
            rows.collect::<Result<_, _>>().map_err(sqlite_error)
        })
    }

    fn save_room(&self, id: &str, body: &str) -> Result<(), ArchiveError> {
        self.database.with_connection(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO rooms (id, body, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE SET body = ?2, updated_at = ?3",
                )
                .and_then(|mut statement| statement.execute(params![id, body, self.clock.now()]))
                .map(drop)
                .map_err(sqlite_error)
        })
    }

    fn flush_exports(&self) {
        self.exports.flush();
    }

    fn derive_token(&self, purpose: &str) -> Result<String, ArchiveError> {
        let key = SigningKey::load_or_create(&self.home).map_err(|error| {
            ArchiveError::Storage(format!("`{}`: {error}", self.home.display()))
        })?;
        // Domain separation: signed logs are JSON objects, never strings.
        Ok(key.sign(&format!("password: {purpose}").into())[..40].to_owned())
    }
}

/// The row id of a debate.
fn find_debate_row(connection: &Connection, id: &str) -> Result<i64, ArchiveError> {
    let row = connection
        .query_row("SELECT id FROM debates WHERE public_id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(sqlite_error)?;
    row.ok_or_else(|| ArchiveError::UnknownDebate(id.into()))
}

/// Adds the workspace's state file to those written for this debate.
fn add_state_file(change: &Connection, row: i64, place: &Workspace) -> Result<(), ArchiveError> {
    let Some(path) = &place.state_file else { return Ok(()) };
    change
        .execute(
            "INSERT INTO state_files (debate_id, path, root) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![row, path.display().to_string(), place.root.display().to_string()],
        )
        .map(drop)
        .map_err(sqlite_error)
}

/// Loads a debate from its rows. The lease holder is not filled in.
pub(super) fn load_debate(connection: &Connection, row: i64) -> Result<StoredDebate, ArchiveError> {
    let (setup, record): (String, Option<String>) = connection
        .query_row("SELECT setup, record FROM debates WHERE id = ?1", [row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(sqlite_error)?;
    let setup: Setup = serde_json::from_str(&setup)
        .map_err(|error| ArchiveError::Storage(format!("a debate's setup: {error}")))?;
    let (events, unreadable) = load_events(connection, row, 0)?;
    let mut statement = connection
        .prepare_cached("SELECT path, root FROM state_files WHERE debate_id = ?1 ORDER BY rowid")
        .map_err(sqlite_error)?;
    let paths = statement
        .query_map([row], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .map_err(sqlite_error)?;
    let paths: Vec<(String, String)> = paths.collect::<Result<_, _>>().map_err(sqlite_error)?;
    Ok(StoredDebate {
        setup,
        events,
        first_unreadable: unreadable,
        holder: None,
        record_path: record.map(PathBuf::from),
        state_files: paths.into_iter().map(|(path, root)| (path.into(), root.into())).collect(),
    })
}

/// Loads the events with a sequence number above `after`, up to the first that cannot be parsed.
fn load_events(
    connection: &Connection,
    row: i64,
    after: u64,
) -> Result<LoadedEvents, ArchiveError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT seq, at, body FROM events WHERE debate_id = ?1 AND seq > ?2 ORDER BY seq",
        )
        .map_err(sqlite_error)?;
    let lines = statement
        .query_map(params![row, after.cast_signed()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, String>(2)?))
        })
        .map_err(sqlite_error)?;
    let mut events = vec![];
    for line in lines {
        let (seq, at, body) = line.map_err(sqlite_error)?;
        let seq = seq.unsigned_abs();
        match serde_json::from_str::<Event>(&body) {
            Ok(event) => events.push(RecordedEvent { seq, at, event }),
            Err(error) => return Ok((events, Some((seq, format!("cannot be read: {error}"))))),
        }
    }
    Ok((events, None))
}

/// Parsed events, and the sequence number and error of the first that cannot be parsed.
type LoadedEvents = (Vec<RecordedEvent>, Option<(u64, String)>);

/// Parses the status column.
pub(super) fn parse_status(word: &str) -> Status {
    serde_json::from_value(word.into()).unwrap_or(Status::Failed)
}
