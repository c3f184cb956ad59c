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
    debate_row: i64,
    commands: &[Command],
    now: i64,
) -> Result<QueuedCommandId, ArchiveError> {
    let storage_error = |message: String| ArchiveError::Storage(message);
    let body = serde_json::to_string(commands).map_err(|error| storage_error(error.to_string()))?;
    // Random, because SQLite would reuse a sequential id after its row is deleted.
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| storage_error(error.to_string()))?;
    let id = QueuedCommandId(i64::from_be_bytes(bytes) >> 1);
    connection
        .execute("DELETE FROM wishes WHERE at < ?1", [now.saturating_sub(STALE_ROW_MS)])
        .map_err(sqlite_error)?;
    connection
        .execute(
            "INSERT INTO wishes (id, debate_id, body, at) VALUES (?1, ?2, ?3, ?4)",
            params![id.0, debate_row, body, now],
        )
        .map_err(sqlite_error)?;
    Ok(id)
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
    id: QueuedCommandId,
    answer: &CommandResult,
    now: i64,
) -> Result<bool, ArchiveError> {
    let json =
        serde_json::to_string(answer).map_err(|error| ArchiveError::Storage(error.to_string()))?;
    let updated = connection
        .prepare_cached(
            "UPDATE wishes SET answer = ?2 WHERE id = ?1 AND answer IS NULL AND at >= ?3",
        )
        .and_then(|mut statement| {
            statement.execute(params![id.0, json, now.saturating_sub(COMMAND_TTL_MS)])
        })
        .map_err(sqlite_error)?;
    Ok(updated == 1)
}

/// Reads and deletes the answer to a request; none if there is no answer yet.
pub(super) fn take_answer(
    connection: &Connection,
    id: QueuedCommandId,
) -> Result<Option<CommandResult>, ArchiveError> {
    let json: Option<String> = connection
        .prepare_cached("SELECT answer FROM wishes WHERE id = ?1 AND answer IS NOT NULL")
        .and_then(|mut statement| statement.query_row([id.0], |row| row.get(0)).optional())
        .map_err(sqlite_error)?;
    let Some(json) = json else { return Ok(None) };
    delete(connection, id)?;
    let unreadable = |error| Err(format!("the answer to the command cannot be read: {error}"));
    Ok(Some(serde_json::from_str(&json).unwrap_or_else(unreadable)))
}

/// Deletes a request. Returns its answer if it already has one.
pub(super) fn withdraw(
    connection: &Connection,
    id: QueuedCommandId,
) -> Result<Option<CommandResult>, ArchiveError> {
    let answer = take_answer(connection, id)?;
    delete(connection, id)?;
    Ok(answer)
}

fn delete(connection: &Connection, id: QueuedCommandId) -> Result<(), ArchiveError> {
    connection.execute("DELETE FROM wishes WHERE id = ?1", [id.0]).map(drop).map_err(sqlite_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::database::Database;

    /// Runs a test with an empty queue.
    fn with_queue(test: impl FnOnce(&Connection) -> Result<(), ArchiveError>) {
        let home = tempfile::tempdir().unwrap();
        let database = Database::new(home.path().join("archive.db"));
        let result = database.with_connection(|connection| {
            // The rows refer to a debate that does not exist.
            connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(sqlite_error)?;
            test(connection)
        });
        result.unwrap();
    }

    #[test]
    fn command_is_valid_for_10_s() {
        assert_eq!(COMMAND_TTL_MS, 10_000);
        with_queue(|connection| {
            for (age, is_valid) in [(COMMAND_TTL_MS, true), (COMMAND_TTL_MS + 1, false)] {
                let id = enqueue(connection, 1, &[], 0)?;
                assert_eq!(store_answer(connection, id, &Ok(()), age)?, is_valid, "{age} ms");
            }
            Ok(())
        });
    }

    #[test]
    fn abandoned_row_is_deleted_after_60_s() {
        assert_eq!(STALE_ROW_MS, 60_000);
        with_queue(|connection| {
            let first = enqueue(connection, 1, &[], 0)?;
            let second = enqueue(connection, 1, &[], STALE_ROW_MS)?;
            let pending_ids = || -> Result<Vec<QueuedCommandId>, ArchiveError> {
                Ok(list_pending(connection)?.iter().map(|queued| queued.id).collect())
            };
            assert_eq!(pending_ids()?, [first, second]);
            let third = enqueue(connection, 1, &[], STALE_ROW_MS + 1)?;
            assert_eq!(pending_ids()?, [second, third]);
            Ok(())
        });
    }
}
