//! Database schema and migrations. The table `events` is the source of truth; the tables from
//! `agents` on are projections that can be dropped and rebuilt. The entry point is
//! [`configure_and_migrate`].
use crate::engine::ArchiveError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::time::{Duration, Instant};

/// SQLite `application_id`: "DEBA" in ASCII, by which `file` and other programs identify the
/// format.
pub(super) const APPLICATION_ID: i64 = 0x4445_4241;

/// One migration per schema version. A released migration is never changed.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE debates (
    id INTEGER PRIMARY KEY,
    public_id TEXT NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    setup TEXT NOT NULL,
    root TEXT NOT NULL,
    record TEXT,
    format TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    winner TEXT,
    proposer TEXT,
    challenger TEXT,
    labels TEXT NOT NULL
);
CREATE INDEX debates_by_root ON debates (root);

CREATE TABLE events (
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (debate_id, seq)
);

CREATE TABLE leases (
    debate_id INTEGER PRIMARY KEY REFERENCES debates (id),
    epoch INTEGER NOT NULL,
    holder TEXT,
    beat_at INTEGER NOT NULL
);

CREATE TABLE state_files (
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    path TEXT NOT NULL,
    root TEXT NOT NULL,
    PRIMARY KEY (debate_id, path)
);

CREATE TABLE live (
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    turn TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (debate_id, turn)
);

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    model_provider TEXT NOT NULL,
    model_name TEXT,
    stance TEXT,
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    name TEXT NOT NULL,
    weight REAL NOT NULL
);
CREATE INDEX agents_by_debate ON agents (debate_id);

CREATE TABLE rounds (
    id INTEGER PRIMARY KEY,
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    round_type TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    act INTEGER NOT NULL,
    round INTEGER NOT NULL,
    UNIQUE (debate_id, act, round)
);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    content TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    turn TEXT NOT NULL,
    kind TEXT NOT NULL,
    claims TEXT NOT NULL,
    UNIQUE (debate_id, turn)
);

CREATE TABLE scores (
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    logic REAL,
    rebuttal REAL,
    clarity REAL,
    evidence REAL,
    UNIQUE (round_id, agent_id)
);

CREATE TABLE votes (
    audience_id TEXT NOT NULL REFERENCES agents (id),
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    vote TEXT NOT NULL,
    weight REAL NOT NULL,
    confidence REAL NOT NULL,
    reason TEXT NOT NULL,
    UNIQUE (audience_id, debate_id)
);

",
    "
ALTER TABLE scores ADD COLUMN fouls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scores ADD COLUMN reliance REAL NOT NULL DEFAULT 0;
ALTER TABLE debates ADD COLUMN confidence INTEGER;
ALTER TABLE debates ADD COLUMN proof TEXT;
ALTER TABLE debates ADD COLUMN reported TEXT;

CREATE TABLE petitions (
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    intent TEXT NOT NULL,
    claim TEXT NOT NULL,
    novelty TEXT NOT NULL,
    confidence REAL NOT NULL,
    admitted INTEGER NOT NULL DEFAULT 0,
    UNIQUE (round_id, agent_id)
);
",
    // `rooms` holds arena rooms, `wishes` the queue of commands for debates that another process
    // runs. Neither is a projection, so a rebuild does not restore them.
    "
CREATE TABLE rooms (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE wishes (
    id INTEGER PRIMARY KEY,
    debate_id INTEGER NOT NULL REFERENCES debates (id),
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer TEXT
);
CREATE INDEX wishes_by_debate ON wishes (debate_id);
",
];

/// The full-text index over messages, with its triggers. Rebuilt when it is damaged.
const CREATE_FTS_INDEX: &str = "-- Three characters at a time, so that scripts without spaces are found, too. It only has to say
-- which messages to look into, so no positions are kept: they would double what a turn writes.
CREATE VIRTUAL TABLE messages_fts USING fts5 (
    content, claims, content = 'messages', content_rowid = 'id', tokenize = 'trigram', detail = 'none'
);
CREATE TRIGGER messages_told AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts (rowid, content, claims)
    VALUES (new.id, new.content, new.claims);
END;
CREATE TRIGGER messages_forgotten AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, content, claims)
    VALUES ('delete', old.id, old.content, old.claims);
END;
";

/// Drops the full-text index, even if it is incomplete.
pub(super) const DROP_FTS_INDEX: &str = "
DROP TRIGGER IF EXISTS messages_told;
DROP TRIGGER IF EXISTS messages_forgotten;
DROP TABLE IF EXISTS messages_fts;
";

/// The schema version this program writes.
pub(super) const SCHEMA_VERSION: i64 = 3;
const _: () = assert!(MIGRATIONS.len() == 3, "a migration was added: raise SCHEMA_VERSION");

/// Configures a connection (busy timeout, WAL, full sync, foreign keys) and runs missing
/// migrations.
pub(super) fn configure_and_migrate(connection: &mut Connection) -> Result<(), ArchiveError> {
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite_error)?;
    enable_wal(connection)?;
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        .map_err(sqlite_error)?;
    let version = read_version(connection)?;
    if version > SCHEMA_VERSION {
        return Err(ArchiveError::SchemaTooNew(version));
    }
    let index_count = "SELECT count(*) FROM sqlite_master WHERE name = 'messages_fts'";
    let index_count: i64 =
        connection.query_row(index_count, [], |row| row.get(0)).map_err(sqlite_error)?;
    if version == SCHEMA_VERSION && index_count == 1 {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite_error)?;
    // Another process may have migrated in the meantime.
    let version = self::read_version(&transaction)?;
    let applied = usize::try_from(version).unwrap_or(0);
    for (migration, version) in MIGRATIONS.iter().zip(1..=SCHEMA_VERSION).skip(applied) {
        transaction.execute_batch(migration).map_err(sqlite_error)?;
        tracing::debug!(version, "migration applied");
    }
    rebuild_fts_index(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(sqlite_error)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(sqlite_error)?;
    transaction.commit().map_err(sqlite_error)
}

/// Drops the full-text index and rebuilds it from the messages.
pub(super) fn rebuild_fts_index(transaction: &Connection) -> Result<(), ArchiveError> {
    transaction.execute_batch(DROP_FTS_INDEX).map_err(sqlite_error)?;
    transaction.execute_batch(CREATE_FTS_INDEX).map_err(sqlite_error)?;
    transaction
        .execute("INSERT INTO messages_fts (messages_fts) VALUES ('rebuild')", [])
        .map_err(sqlite_error)?;
    tracing::debug!("full-text index rebuilt");
    Ok(())
}

/// Timeout for locks held by another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two attempts to switch to write-ahead logging.
const WAL_RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Switches to write-ahead logging. SQLite's busy timeout does not apply here, so the change is
/// retried until this or another process has made it, or [`BUSY_TIMEOUT`] is over.
fn enable_wal(connection: &Connection) -> Result<(), ArchiveError> {
    let started = Instant::now();
    let deadline = started + BUSY_TIMEOUT;
    let mut retries = 0_u32;
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode == "wal" => {
                if retries > 0 {
                    let waited_ms = started.elapsed().as_millis();
                    tracing::debug!(retries, waited_ms, "waited for the database lock");
                }
                return Ok(());
            }
            Ok(mode) => {
                let message = format!("the database uses the journal mode `{mode}`, not `wal`");
                return Err(ArchiveError::Storage(message));
            }
            Err(error) if Instant::now() > deadline => return Err(sqlite_error(error)),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    retries += 1;
                    std::thread::sleep(WAL_RETRY_INTERVAL);
                }
                _ => return Err(sqlite_error(error)),
            },
        }
    }
}

/// The schema version of a database.
pub(super) fn read_version(connection: &Connection) -> Result<i64, ArchiveError> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(sqlite_error)
}

/// Converts a SQLite error to an `ArchiveError`.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn sqlite_error(error: rusqlite::Error) -> ArchiveError {
    ArchiveError::Storage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_of_another_process_is_awaited_for_10_s() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path().join("archive.db")).unwrap();
        configure_and_migrate(&mut connection).unwrap();
        let timeout_ms: u32 =
            connection.pragma_query_value(None, "busy_timeout", |row| row.get(0)).unwrap();
        assert_eq!(u128::from(timeout_ms), BUSY_TIMEOUT.as_millis());
        assert_eq!(timeout_ms, 10_000);
    }
}
