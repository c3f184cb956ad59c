//! Reads a debate from its rows: id lookup, setup, events, state files and status.
use super::schema::sqlite_error;
use crate::debate::{Event, Setup, Status};
use crate::engine::{ArchiveError, RecordedEvent, StoredDebate, Workspace};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::PathBuf;

/// The row id of a debate.
pub(super) fn find_debate_row(connection: &Connection, id: &str) -> Result<i64, ArchiveError> {
    let row = connection
        .query_row("SELECT id FROM debates WHERE public_id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(sqlite_error)?;
    row.ok_or_else(|| ArchiveError::UnknownDebate(id.into()))
}

/// Adds the workspace's state file to those written for this debate.
pub(super) fn add_state_file(
    transaction: &Connection,
    row: i64,
    workspace: &Workspace,
) -> Result<(), ArchiveError> {
    let Some(path) = &workspace.state_file else { return Ok(()) };
    transaction
        .execute(
            "INSERT INTO state_files (debate_id, path, root) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![row, path.display().to_string(), workspace.root.display().to_string()],
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
    let (events, first_unreadable) = load_events(connection, row, 0)?;
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
        first_unreadable,
        holder: None,
        record_path: record.map(PathBuf::from),
        state_files: paths.into_iter().map(|(path, root)| (path.into(), root.into())).collect(),
    })
}

/// Loads the events with a sequence number above `after`, up to the first that cannot be parsed.
pub(super) fn load_events(
    connection: &Connection,
    row: i64,
    after: u64,
) -> Result<LoadedEvents, ArchiveError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT seq, at, body FROM events WHERE debate_id = ?1 AND seq > ?2 ORDER BY seq",
        )
        .map_err(sqlite_error)?;
    let stored_events = statement
        .query_map(params![row, after.cast_signed()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, String>(2)?))
        })
        .map_err(sqlite_error)?;
    let mut events = vec![];
    for stored_event in stored_events {
        let (seq, at, body) = stored_event.map_err(sqlite_error)?;
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
pub(super) fn parse_status(status: &str) -> Status {
    serde_json::from_value(status.into()).unwrap_or(Status::Failed)
}
