//! One SQLite file in the user's home: what the engine asks of an archive.
use super::exports::Exports;
use super::foreign;
use super::lease::{self, Presence};
use super::live_text;
use super::log::{self, SqliteLog};
use super::schema::{self, broken};
use super::sign::Key;
use super::{files, project, search};
use crate::debate::{Debate, Event, Setup, Status};
use crate::engine::{
    Archive, ArchiveError, Card, Clock, Foreign, Health, Hit, LiveText, Log, Opened, Place, Query,
    Recorded, Reindexed, Stored, Update,
};
use crate::private;
use crate::report::iso;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::broadcast;

/// The archive. Nothing is opened until something is asked of it.
pub struct SqliteArchive {
    home: PathBuf,
    clock: Arc<dyn Clock>,
    database: Arc<Database>,
    exports: Arc<Exports>,
    presence: Mutex<Option<Arc<Presence>>>,
    /// Dropping it stops the heart.
    heart: Mutex<Option<mpsc::Sender<()>>>,
}

/// A connection that is opened when it is first needed.
pub(super) struct Database {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Database {
    pub(super) fn at(path: PathBuf) -> Database {
        Database { path, connection: Mutex::new(None) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with the connection, one at a time.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        patiently(|| {
            // A panic elsewhere leaves a transaction that was never committed, so nothing is half
            // done.
            let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = match slot.take() {
                Some(connection) => slot.insert(connection),
                None => slot.insert(self.connect()?),
            };
            work(connection)
        })
    }

    fn connect(&self) -> Result<Connection, ArchiveError> {
        let at = |error: std::io::Error| {
            ArchiveError::Broken(format!("`{}`: {error}", self.path.display()))
        };
        if let Some(folder) = self.path.parent() {
            private::folder(folder).map_err(at)?;
        }
        // Made by us, so that it is private from its first byte; what SQLite puts beside it follows.
        files::private_file(&self.path).map_err(at)?;
        let mut connection = Connection::open(&self.path).map_err(broken)?;
        schema::prepare(&mut connection)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }
}

/// Waits for a disk, or for another process, without holding up whatever else this thread would do.
fn patiently<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let threads = Handle::try_current().map(|handle| handle.runtime_flavor());
    match threads {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl SqliteArchive {
    /// The archive in this home.
    pub fn at(home: &Path, clock: Arc<dyn Clock>) -> SqliteArchive {
        let path = home.join("archive.db");
        SqliteArchive {
            home: home.into(),
            database: Arc::new(Database::at(path.clone())),
            exports: Arc::new(Exports::new(home.into(), path)),
            clock,
            presence: Mutex::new(None),
            heart: Mutex::new(None),
        }
    }

    /// This process, as others can see that it lives. Its heart starts to beat here.
    fn presence(&self) -> Result<Arc<Presence>, ArchiveError> {
        let mut slot = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(presence) = &*slot {
            return Ok(presence.clone());
        }
        let presence = Presence::new(&self.home)
            .map_err(|error| ArchiveError::Broken(format!("`{}`: {error}", self.home.display())))?;
        let presence = slot.insert(Arc::new(presence)).clone();
        let (stop, stopped) = mpsc::channel();
        let (database, clock) = (self.database.clone(), self.clock.clone());
        let name = presence.name().to_owned();
        std::thread::spawn(move || {
            while stopped.recv_timeout(lease::BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = database.with(|connection| {
                    let beat = params![name, clock.now()];
                    let statement = "UPDATE leases SET beat_at = ?2 WHERE holder = ?1";
                    connection.execute(statement, beat).map_err(broken)
                });
            }
        });
        *self.heart.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        Ok(presence)
    }

    fn log(&self, row: i64, epoch: i64, seq: u64, debate: Debate) -> Box<dyn Log> {
        Box::new(SqliteLog {
            database: self.database.clone(),
            exports: self.exports.clone(),
            clock: self.clock.clone(),
            row,
            epoch,
            seq,
            debate,
        })
    }
}

impl Archive for SqliteArchive {
    fn create(
        &self,
        setup: &Setup,
        events: &[Recorded],
        place: &Place,
    ) -> Result<Box<dyn Log>, ArchiveError> {
        let presence = self.presence()?;
        let debate =
            Debate::open(setup.clone()).map_err(|unfit| ArchiveError::Broken(unfit.to_string()))?;
        let json = serde_json::to_string(setup)
            .map_err(|error| ArchiveError::Broken(error.to_string()))?;
        let name = files::slug(&iso(setup.opened_at)[..10], &setup.topic);
        let (row, epoch, debate) = self.database.with(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(broken)?;
            let taken = |path: &Path| {
                let path = path.display().to_string();
                let known = "SELECT count(*) FROM debates WHERE record = ?1";
                let known = change.query_row(known, [&path], |row| row.get::<_, i64>(0));
                known.is_ok_and(|count| count > 0) || Path::new(&path).exists()
            };
            let record = files::record_path(&place.root, &name, taken);
            let added = change
                .execute(
                    "INSERT INTO debates (public_id, topic, created_at, setup, root, record,
                         format, updated_at, status, labels)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'in-progress', '')
                     ON CONFLICT (public_id) DO NOTHING",
                    params![
                        setup.id,
                        setup.topic,
                        iso(setup.opened_at),
                        json,
                        place.root.display().to_string(),
                        record.display().to_string(),
                        setup.format.name,
                        self.clock.now(),
                    ],
                )
                .map_err(broken)?;
            if added == 0 {
                return Err(ArchiveError::Taken(setup.id.clone()));
            }
            let row = change.last_insert_rowid();
            written_at(&change, row, place)?;
            project::agents(&change, row, &debate)?;
            let debate = log::insert(&change, row, debate, events, self.clock.now())?;
            let key = (row, setup.id.as_str());
            let epoch = lease::take(&change, &self.home, &presence, key, self.clock.now())?;
            change.commit().map_err(broken)?;
            Ok((row, epoch, debate))
        })?;
        self.exports.changed(row);
        let seq = events.last().map_or(0, |recorded| recorded.seq);
        Ok(self.log(row, epoch, seq, debate))
    }

    fn open(&self, id: &str, place: &Place) -> Result<Opened, ArchiveError> {
        let presence = self.presence()?;
        let (row, epoch) = self.database.with(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(broken)?;
            let row = row_of(&change, id)?;
            let epoch = lease::take(&change, &self.home, &presence, (row, id), self.clock.now())?;
            written_at(&change, row, place)?;
            change.commit().map_err(broken)?;
            Ok((row, epoch))
        })?;
        let stored = self.read(id)?;
        let events = stored.events.iter().map(|recorded| recorded.event.clone());
        let (debate, _) = Debate::salvage(stored.setup.clone(), events)
            .map_err(|unfit| ArchiveError::Broken(unfit.to_string()))?;
        let seq = stored.events.last().map_or(0, |recorded| recorded.seq);
        self.exports.changed(row);
        Ok(Opened { log: self.log(row, epoch, seq, debate), stored })
    }

    fn read(&self, id: &str) -> Result<Stored, ArchiveError> {
        let (home, now) = (&self.home, self.clock.now());
        self.database.with(|connection| {
            let row = row_of(connection, id)?;
            let mut stored = stored(connection, row)?;
            let lease: Option<(Option<String>, i64)> = connection
                .query_row(
                    "SELECT holder, beat_at FROM leases WHERE debate_id = ?1",
                    [row],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()
                .map_err(broken)?;
            stored.holder = lease.and_then(|(name, beat)| lease::holder_of(home, name, beat, now));
            Ok(stored)
        })
    }

    fn find(&self, abbreviation: &str) -> Result<String, ArchiveError> {
        self.database.with(|connection| search::find(connection, abbreviation))
    }

    fn list(&self, query: &Query) -> Result<Vec<Card>, ArchiveError> {
        self.database.with(|connection| search::list(connection, query))
    }

    fn search(&self, words: &str, query: &Query) -> Result<Vec<Hit>, ArchiveError> {
        self.database.with(|connection| search::search(connection, words, query))
    }

    fn live(&self, id: &str) -> Result<Vec<LiveText>, ArchiveError> {
        self.database.with(|connection| {
            let row = row_of(connection, id)?;
            live_text::read(connection, row)
        })
    }

    fn watch(&self, id: &str, updates: broadcast::Receiver<Arc<Update>>) {
        let row = self.database.with(|connection| row_of(connection, id));
        if let Ok(row) = row {
            live_text::keep(self.database.clone(), self.clock.clone(), row, updates);
        }
    }

    fn read_foreign(&self, text: &str) -> Result<Foreign, ArchiveError> {
        let key = Key::of(&self.home)
            .map_err(|error| ArchiveError::Broken(format!("`{}`: {error}", self.home.display())))?;
        foreign::read(text, &key)
    }

    fn reindex(&self) -> Result<Reindexed, ArchiveError> {
        let mut done = Reindexed { debates: 0, events: 0, messages: 0, flawed: vec![] };
        // In the order they were touched, so that the last one is the last to be written out.
        let rows: Vec<i64> = self.database.with(|connection| {
            let mut statement = connection
                .prepare("SELECT id FROM debates ORDER BY updated_at, id")
                .map_err(broken)?;
            let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
            rows.collect::<Result<_, _>>().map_err(broken)
        })?;
        // One short transaction after another: whoever is playing a debate must not wait for all.
        let change = |work: &mut dyn FnMut(&Connection) -> Result<(), ArchiveError>| {
            self.database.with(|connection| {
                let change = connection
                    .transaction_with_behavior(TransactionBehavior::Immediate)
                    .map_err(broken)?;
                work(&change)?;
                change.commit().map_err(broken)
            })
        };
        change(&mut |change| change.execute_batch(schema::NO_INDEX).map_err(broken))?;
        for row in &rows {
            change(&mut |change| rebuild(change, *row, &mut done))?;
        }
        change(&mut |change| {
            schema::index(change)?;
            let count = "SELECT count(*) FROM messages";
            let count: i64 = change.query_row(count, [], |row| row.get(0)).map_err(broken)?;
            done.messages = usize::try_from(count).unwrap_or(0);
            Ok(())
        })?;
        for row in rows {
            self.exports.changed(row);
        }
        Ok(done)
    }

    fn health(&self) -> Result<Health, ArchiveError> {
        self.database.with(|connection| {
            let mut problems: Vec<String> = vec![];
            let sound: String = connection
                .pragma_query_value(None, "quick_check", |row| row.get(0))
                .map_err(broken)?;
            if sound != "ok" {
                problems.push(sound);
            }
            let application: i64 = connection
                .pragma_query_value(None, "application_id", |row| row.get(0))
                .map_err(broken)?;
            if application != schema::APPLICATION {
                problems.push("this file was not made by this program".into());
            }
            let rows = {
                let mut statement =
                    connection.prepare("SELECT id FROM debates ORDER BY id").map_err(broken)?;
                let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
                rows.collect::<Result<Vec<i64>, _>>().map_err(broken)?
            };
            for row in &rows {
                problems.extend(unsound(connection, *row));
            }
            Ok(Health {
                path: self.database.path().display().to_string(),
                version: schema::version(connection)?,
                debates: rows.len(),
                problems,
            })
        })
    }

    fn write_out(&self, id: &str) -> Result<(), ArchiveError> {
        let row = self.database.with(|connection| row_of(connection, id))?;
        self.exports.changed(row);
        Ok(())
    }

    fn flush(&self) {
        self.exports.flush();
    }
}

/// The row of a debate.
fn row_of(connection: &Connection, id: &str) -> Result<i64, ArchiveError> {
    let row = connection
        .query_row("SELECT id FROM debates WHERE public_id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(broken)?;
    row.ok_or_else(|| ArchiveError::Unknown(id.into()))
}

/// A debate is written out wherever it was ever taken up.
fn written_at(change: &Connection, row: i64, place: &Place) -> Result<(), ArchiveError> {
    let Some(path) = &place.state_file else { return Ok(()) };
    change
        .execute(
            "INSERT INTO state_files (debate_id, path, root) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![row, path.display().to_string(), place.root.display().to_string()],
        )
        .map(drop)
        .map_err(broken)
}

/// A debate as its rows have it. Who holds it is not asked here.
pub(super) fn stored(connection: &Connection, row: i64) -> Result<Stored, ArchiveError> {
    let (setup, record): (String, Option<String>) = connection
        .query_row("SELECT setup, record FROM debates WHERE id = ?1", [row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(broken)?;
    let setup: Setup = serde_json::from_str(&setup)
        .map_err(|error| ArchiveError::Broken(format!("a debate's setup: {error}")))?;
    let mut statement = connection
        .prepare_cached("SELECT seq, at, body FROM events WHERE debate_id = ?1 ORDER BY seq")
        .map_err(broken)?;
    let lines = statement
        .query_map([row], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, String>(2)?)))
        .map_err(broken)?;
    let (mut events, mut unreadable) = (vec![], None);
    for line in lines {
        let (seq, at, body) = line.map_err(broken)?;
        let seq = seq.unsigned_abs();
        match serde_json::from_str::<Event>(&body) {
            Ok(event) => events.push(Recorded { seq, at, event }),
            Err(error) => {
                unreadable = Some((seq, format!("cannot be read: {error}")));
                break;
            }
        }
    }
    let mut statement = connection
        .prepare_cached("SELECT path, root FROM state_files WHERE debate_id = ?1 ORDER BY rowid")
        .map_err(broken)?;
    let paths = statement
        .query_map([row], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .map_err(broken)?;
    let paths: Vec<(String, String)> = paths.collect::<Result<_, _>>().map_err(broken)?;
    Ok(Stored {
        setup,
        events,
        unreadable,
        holder: None,
        record: record.map(PathBuf::from),
        state_files: paths.into_iter().map(|(path, root)| (path.into(), root.into())).collect(),
    })
}

/// What is wrong with a debate's log, if anything is.
fn unsound(connection: &Connection, row: i64) -> Option<String> {
    let stored = match stored(connection, row) {
        Ok(stored) => stored,
        Err(error) => return Some(format!("debate {row}: {error}")),
    };
    let id = stored.setup.id.clone();
    if let Some((seq, why)) = stored.unreadable {
        return Some(format!("{id}: event {seq} {why}"));
    }
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    match Debate::salvage(stored.setup, events) {
        Ok((_, flaw)) => flaw.map(|flaw| format!("{id}: event {}: {}", flaw.seq, flaw.why)),
        Err(unfit) => Some(format!("{id}: {unfit}")),
    }
}

/// Writes a debate's tables anew.
fn rebuild(change: &Connection, row: i64, done: &mut Reindexed) -> Result<(), ArchiveError> {
    done.debates += 1;
    let stored = match stored(change, row) {
        Ok(stored) => stored,
        Err(error) => {
            done.flawed.push(format!("debate {row}: {error}"));
            return Ok(());
        }
    };
    let (id, count) = (stored.setup.id.clone(), stored.events.len());
    done.events += count;
    if let Some((seq, why)) = &stored.unreadable {
        done.flawed.push(format!("{id}: event {seq} {why}"));
    }
    project::clear(change, row)?;
    let mut debate = match Debate::open(stored.setup) {
        Ok(debate) => debate,
        Err(unfit) => {
            done.flawed.push(format!("{id}: {unfit}"));
            return Ok(());
        }
    };
    project::agents(change, row, &debate)?;
    let mut at = debate.setup().opened_at;
    for recorded in stored.events {
        at = recorded.at;
        if let Err(illegal) = debate.apply(recorded.event.clone()) {
            done.flawed.push(format!("{id}: event {}: {illegal}", recorded.seq));
            return Ok(());
        }
        project::project(change, row, &debate, &recorded.event, at)?;
    }
    project::card(change, row, &debate, at)
}

/// A status as it stands in a column.
pub(super) fn status(word: &str) -> Status {
    serde_json::from_value(word.into()).unwrap_or(Status::Failed)
}
