//! What one process wishes of a debate another one plays: a row for each, until it is answered. They
//! are no part of a debate; what comes of them is.
use super::schema::broken;
use crate::engine::{Answered, ArchiveError, Command, WISH_KEEPS, WishId};
use rusqlite::{Connection, OptionalExtension, params};

/// How long a row stays that nobody asks for any more, in milliseconds.
const FORGOTTEN: i64 = 60_000;

/// A wish nobody has answered.
pub(super) struct Left {
    pub(super) wish: WishId,
    /// The row of the debate.
    pub(super) debate: i64,
    pub(super) body: String,
}

/// Leaves a wish, and forgets those that nobody asks for any more.
pub(super) fn leave(
    connection: &Connection,
    debate: i64,
    wishes: &[Command],
    now: i64,
) -> Result<WishId, ArchiveError> {
    let wrong = |why: String| ArchiveError::Broken(why);
    let body = serde_json::to_string(wishes).map_err(|error| wrong(error.to_string()))?;
    // By chance: a number that is counted would be used again once its row is gone.
    let mut chance = [0; 8];
    getrandom::fill(&mut chance).map_err(|error| wrong(error.to_string()))?;
    let wish = WishId(i64::from_be_bytes(chance) >> 1);
    connection
        .execute("DELETE FROM wishes WHERE at < ?1", [now.saturating_sub(FORGOTTEN)])
        .map_err(broken)?;
    connection
        .execute(
            "INSERT INTO wishes (id, debate_id, body, at) VALUES (?1, ?2, ?3, ?4)",
            params![wish.0, debate, body, now],
        )
        .map_err(broken)?;
    Ok(wish)
}

/// All that were not answered, in the order they were left.
pub(super) fn left(connection: &Connection) -> Result<Vec<Left>, ArchiveError> {
    let mut statement = connection
        .prepare_cached("SELECT id, debate_id, body FROM wishes WHERE answer IS NULL ORDER BY at")
        .map_err(broken)?;
    let rows = statement
        .query_map([], |row| {
            Ok(Left { wish: WishId(row.get(0)?), debate: row.get(1)?, body: row.get(2)? })
        })
        .map_err(broken)?;
    rows.collect::<Result<_, _>>().map_err(broken)
}

/// Answers a wish, once. Returns whether there was anything to answer: it may have been withdrawn,
/// or left by somebody who has not waited until now.
pub(super) fn answer(
    connection: &Connection,
    wish: WishId,
    answer: &Answered,
    now: i64,
) -> Result<bool, ArchiveError> {
    let json =
        serde_json::to_string(answer).map_err(|error| ArchiveError::Broken(error.to_string()))?;
    let answered = connection
        .prepare_cached(
            "UPDATE wishes SET answer = ?2 WHERE id = ?1 AND answer IS NULL AND at >= ?3",
        )
        .and_then(|mut statement| {
            statement.execute(params![wish.0, json, now.saturating_sub(WISH_KEEPS)])
        })
        .map_err(broken)?;
    Ok(answered == 1)
}

/// What was answered, if anything was. It is not kept any longer.
pub(super) fn answered(
    connection: &Connection,
    wish: WishId,
) -> Result<Option<Answered>, ArchiveError> {
    let json: Option<String> = connection
        .prepare_cached("SELECT answer FROM wishes WHERE id = ?1 AND answer IS NOT NULL")
        .and_then(|mut statement| statement.query_row([wish.0], |row| row.get(0)).optional())
        .map_err(broken)?;
    let Some(json) = json else { return Ok(None) };
    forget(connection, wish)?;
    let unread = |error| Err(format!("the answer to the wish cannot be read: {error}"));
    Ok(Some(serde_json::from_str(&json).unwrap_or_else(unread)))
}

/// Takes a wish back, unless it was answered: then that is returned.
pub(super) fn withdraw(
    connection: &Connection,
    wish: WishId,
) -> Result<Option<Answered>, ArchiveError> {
    let answered = answered(connection, wish)?;
    forget(connection, wish)?;
    Ok(answered)
}

fn forget(connection: &Connection, wish: WishId) -> Result<(), ArchiveError> {
    connection.execute("DELETE FROM wishes WHERE id = ?1", [wish.0]).map(drop).map_err(broken)
}
