//! Maintenance of the database: integrity check, and rebuild of the projections from the event log.
use super::archive::{Database, load_debate};
use super::projections;
use super::schema::{self, sqlite_error};
use crate::debate::Debate;
use crate::engine::{ArchiveError, ArchiveHealth, ReindexReport};
use rusqlite::{Connection, TransactionBehavior};

/// Rebuilds the projections of all debates and the full-text index. Returns the row ids by time of
/// update, so that the newest debate is exported last.
pub(super) fn reindex(database: &Database) -> Result<(ReindexReport, Vec<i64>), ArchiveError> {
    let mut done = ReindexReport { debates: 0, events: 0, messages: 0, flawed: vec![] };
    let rows: Vec<i64> = database.with_connection(|connection| {
        let mut statement = connection
            .prepare("SELECT id FROM debates ORDER BY updated_at, id")
            .map_err(sqlite_error)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(sqlite_error)?;
        rows.collect::<Result<_, _>>().map_err(sqlite_error)
    })?;
    // One short transaction per debate, so that running debates are not blocked for long.
    let change = |work: &mut dyn FnMut(&Connection) -> Result<(), ArchiveError>| {
        database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            work(&change)?;
            change.commit().map_err(sqlite_error)
        })
    };
    change(&mut |change| change.execute_batch(schema::DROP_FTS_INDEX).map_err(sqlite_error))?;
    for row in &rows {
        change(&mut |change| rebuild_debate(change, *row, &mut done))?;
    }
    change(&mut |change| {
        schema::rebuild_fts_index(change)?;
        let count = "SELECT count(*) FROM messages";
        let count: i64 = change.query_row(count, [], |row| row.get(0)).map_err(sqlite_error)?;
        done.messages = usize::try_from(count).unwrap_or(0);
        Ok(())
    })?;
    Ok((done, rows))
}

/// Checks the database and replays the log of every debate.
pub(super) fn check_health(database: &Database) -> Result<ArchiveHealth, ArchiveError> {
    database.with_connection(|connection| {
        let mut problems: Vec<String> = vec![];
        let sound: String = connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(sqlite_error)?;
        if sound != "ok" {
            problems.push(sound);
        }
        let application: i64 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(sqlite_error)?;
        if application != schema::APPLICATION_ID {
            problems.push("this file was not made by this program".into());
        }
        let rows = {
            let mut statement =
                connection.prepare("SELECT id FROM debates ORDER BY id").map_err(sqlite_error)?;
            let rows = statement.query_map([], |row| row.get(0)).map_err(sqlite_error)?;
            rows.collect::<Result<Vec<i64>, _>>().map_err(sqlite_error)?
        };
        for row in &rows {
            problems.extend(find_log_problem(connection, *row));
        }
        Ok(ArchiveHealth {
            path: database.path().display().to_string(),
            version: schema::read_version(connection)?,
            debates: rows.len(),
            problems,
        })
    })
}

/// Replays a debate's log and describes the first problem, if there is one.
fn find_log_problem(connection: &Connection, row: i64) -> Option<String> {
    let stored = match load_debate(connection, row) {
        Ok(stored) => stored,
        Err(error) => return Some(format!("debate {row}: {error}")),
    };
    let id = stored.setup.id.clone();
    if let Some((seq, why)) = stored.first_unreadable {
        return Some(format!("{id}: event {seq} {why}"));
    }
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    match Debate::replay_lenient(stored.setup, events) {
        Ok((_, flaw)) => flaw.map(|flaw| format!("{id}: event {}: {}", flaw.seq, flaw.message)),
        Err(unfit) => Some(format!("{id}: {unfit}")),
    }
}

/// Rebuilds the projections of one debate. Problems are added to the report.
fn rebuild_debate(
    change: &Connection,
    row: i64,
    done: &mut ReindexReport,
) -> Result<(), ArchiveError> {
    done.debates += 1;
    let stored = match load_debate(change, row) {
        Ok(stored) => stored,
        Err(error) => {
            done.flawed.push(format!("debate {row}: {error}"));
            return Ok(());
        }
    };
    let (id, count) = (stored.setup.id.clone(), stored.events.len());
    done.events += count;
    if let Some((seq, why)) = &stored.first_unreadable {
        done.flawed.push(format!("{id}: event {seq} {why}"));
    }
    projections::delete_debate_rows(change, row)?;
    let mut debate = match Debate::open(stored.setup) {
        Ok(debate) => debate,
        Err(unfit) => {
            done.flawed.push(format!("{id}: {unfit}"));
            return Ok(());
        }
    };
    projections::upsert_agents(change, row, &debate)?;
    let mut at = debate.setup().opened_at;
    for recorded in stored.events {
        at = recorded.at;
        if let Err(illegal) = debate.apply(recorded.event.clone()) {
            done.flawed.push(format!("{id}: event {}: {illegal}", recorded.seq));
            return Ok(());
        }
        projections::apply_event(change, row, &debate, &recorded.event, at)?;
    }
    projections::update_debate_row(change, row, &debate, at)
}
