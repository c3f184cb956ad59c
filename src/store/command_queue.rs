//! Queue of commands for a debate that another process runs: one row in the table `wishes` per
//! request, until it is answered. The lease holder polls it (see `lease_monitor`). Only the
//! resulting events are part of the debate.
use super::schema::sqlite_error;
use crate::engine::{ArchiveError, COMMAND_TTL_MS, Command, CommandResult, QueuedCommandId};
use rusqlite::{Connection, OptionalExtension, params};

/// Age in milliseconds at which an abandoned row is deleted.
const STALE_ROW_MS: i64 = 60_000;

/// A request without an answer.
pub(super) struct QueuedCommands {
    pub(super) id: QueuedCommandId,
    /// Row id of the debate.
    pub(super) debate_row: i64,
    pub(super) body: String,
}

/// Enqueues commands as one request, and deletes abandoned rows.
pub(super) fn enqueue(
    connection: &Connection,
    debate: i64,
    wishes: &[Command],
    now: i64,
) -> Result<QueuedCommandId, ArchiveError> {
    let wrong = |why: String| ArchiveError::Storage(why);
    let body = serde_json::to_string(wishes).map_err(|error| wrong(error.to_string()))?;
    // Random, because SQLite would reuse a sequential id after its row is deleted.
    let mut chance = [0; 8];
    getrandom::fill(&mut chance).map_err(|error| wrong(error.to_string()))?;
    let wish = QueuedCommandId(i64::from_be_bytes(chance) >> 1);
    connection
        .execute("DELETE FROM wishes WHERE at < ?1", [now.saturating_sub(STALE_ROW_MS)])
        .map_err(sqlite_error)?;
    connection
        .execute(
            "INSERT INTO wishes (id, debate_id, body, at) VALUES (?1, ?2, ?3, ?4)",
            params![wish.0, debate, body, now],
        )
        .map_err(sqlite_error)?;
    Ok(wish)
}

/// All unanswered requests, oldest first.
pub(super) fn list_pending(connection: &Connection) -> Result<Vec<QueuedCommands>, ArchiveError> {
    let mut statement = connection
        .prepare_cached("SELECT id, debate_id, body FROM wishes WHERE answer IS NULL ORDER BY at")
        .map_err(sqlite_error)?;
    let rows = statement
        .query_map([], |row| {
            Ok(QueuedCommands {
                id: QueuedCommandId(row.get(0)?),
                debate_row: row.get(1)?,
                body: row.get(2)?,
            })
        })
        .map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

/// Stores the answer to a request, once. Returns false if the request was withdrawn, is already
/// answered, or is older than [`COMMAND_TTL_MS`].
pub(super) fn store_answer(
    connection: &Connection,
    wish: QueuedCommandId,
    answer: &CommandResult,
    now: i64,
) -> Result<bool, ArchiveError> {
    let json =
        serde_json::to_string(answer).map_err(|error| ArchiveError::Storage(error.to_string()))?;
    let answered = connection
        .prepare_cached(
            "UPDATE wishes SET answer = ?2 WHERE id = ?1 AND answer IS NULL AND at >= ?3",
        )
        .and_then(|mut statement| {
            statement.execute(params![wish.0, json, now.saturating_sub(COMMAND_TTL_MS)])
        })
        .map_err(sqlite_error)?;
    Ok(answered == 1)
}

/// Reads and deletes the answer to a request; none if there is no answer yet.
pub(super) fn take_answer(
    connection: &Connection,
    wish: QueuedCommandId,
) -> Result<Option<CommandResult>, ArchiveError> {
    let json: Option<String> = connection
        .prepare_cached("SELECT answer FROM wishes WHERE id = ?1 AND answer IS NOT NULL")
        .and_then(|mut statement| statement.query_row([wish.0], |row| row.get(0)).optional())
        .map_err(sqlite_error)?;
    let Some(json) = json else { return Ok(None) };
    delete(connection, wish)?;
    let unread = |error| Err(format!("the answer to the wish cannot be read: {error}"));
    Ok(Some(serde_json::from_str(&json).unwrap_or_else(unread)))
}

/// Deletes a request. Returns its answer if it already has one.
pub(super) fn withdraw(
    connection: &Connection,
    wish: QueuedCommandId,
) -> Result<Option<CommandResult>, ArchiveError> {
    let answered = take_answer(connection, wish)?;
    delete(connection, wish)?;
    Ok(answered)
}

fn delete(connection: &Connection, wish: QueuedCommandId) -> Result<(), ArchiveError> {
    connection.execute("DELETE FROM wishes WHERE id = ?1", [wish.0]).map(drop).map_err(sqlite_error)
}
