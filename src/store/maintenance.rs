//! Maintenance of the database: integrity check, and rebuild of the projections from the event log.
//! Entry points: `check_health` and `reindex`, which `SqliteArchive` offers to `debate doctor` and
//! `debate reindex`.
use super::database::Database;
use super::debate_rows::load_debate;
use super::projections;
use super::schema::{self, sqlite_error};
use crate::debate::Debate;
use crate::engine::{ArchiveError, ArchiveHealth, ReindexReport};
use rusqlite::{Connection, TransactionBehavior};

/// Rebuilds the projections of all debates and the full-text index.
pub(super) fn reindex(database: &Database) -> Result<ReindexReport, ArchiveError> {
    let debates: Vec<(i64, String)> = database.with_connection(|connection| {
        let mut statement = connection
            .prepare("SELECT id, public_id FROM debates ORDER BY updated_at, id")
            .map_err(sqlite_error)?;
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(sqlite_error)?;
        rows.collect::<Result<_, _>>().map_err(sqlite_error)
    })?;
    let (rows, ids): (Vec<i64>, Vec<String>) = debates.into_iter().unzip();
    let mut report = ReindexReport { debates: 0, events: 0, messages: 0, flawed: vec![], ids };
    // One short transaction per debate, so that running debates are not blocked for long.
    let transaction = |work: &mut dyn FnMut(&Connection) -> Result<(), ArchiveError>| {
        database.with_connection(|connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            work(&transaction)?;
            transaction.commit().map_err(sqlite_error)
        })
    };
    transaction(&mut |transaction| {
        transaction.execute_batch(schema::DROP_FTS_INDEX).map_err(sqlite_error)
    })?;
    for row in &rows {
        transaction(&mut |transaction| rebuild_debate(transaction, *row, &mut report))?;
    }
    transaction(&mut |transaction| {
        schema::rebuild_fts_index(transaction)?;
        let count = "SELECT count(*) FROM messages";
        let count: i64 =
            transaction.query_row(count, [], |row| row.get(0)).map_err(sqlite_error)?;
        report.messages = usize::try_from(count).unwrap_or(0);
        Ok(())
    })?;
    let ReindexReport { debates, events, messages, .. } = report;
    tracing::debug!(debates, events, messages, "projections rebuilt");
    Ok(report)
}

/// Checks the database and replays the log of every debate.
pub(super) fn check_health(database: &Database) -> Result<ArchiveHealth, ArchiveError> {
    database.with_connection(|connection| {
        let mut problems: Vec<String> = vec![];
        let integrity: String = connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(sqlite_error)?;
        if integrity != "ok" {
            problems.push(integrity);
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
    if let Some((seq, reason)) = stored.first_unreadable {
        return Some(format!("{id}: event {seq} {reason}"));
    }
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    match Debate::replay_lenient(stored.setup, events) {
        Ok((_, flaw)) => flaw.map(|flaw| format!("{id}: event {}: {}", flaw.seq, flaw.message)),
        Err(setup_error) => Some(format!("{id}: {setup_error}")),
    }
}

/// Rebuilds the projections of one debate. Problems are added to the report.
fn rebuild_debate(
    transaction: &Connection,
    row: i64,
    report: &mut ReindexReport,
) -> Result<(), ArchiveError> {
    report.debates += 1;
    let stored = match load_debate(transaction, row) {
        Ok(stored) => stored,
        Err(error) => {
            report.flawed.push(format!("debate {row}: {error}"));
            return Ok(());
        }
    };
    let (id, count) = (stored.setup.id.clone(), stored.events.len());
    report.events += count;
    if let Some((seq, reason)) = &stored.first_unreadable {
        report.flawed.push(format!("{id}: event {seq} {reason}"));
    }
    projections::delete_debate_rows(transaction, row)?;
    let mut debate = match Debate::open(stored.setup) {
        Ok(debate) => debate,
        Err(setup_error) => {
            report.flawed.push(format!("{id}: {setup_error}"));
            return Ok(());
        }
    };
    projections::upsert_agents(transaction, row, &debate)?;
    let mut at = debate.setup().opened_at;
    for recorded in stored.events {
        at = recorded.at;
        if let Err(illegal) = debate.apply(recorded.event.clone()) {
            report.flawed.push(format!("{id}: event {}: {illegal}", recorded.seq));
            return Ok(());
        }
        projections::apply_event(transaction, row, &debate, &recorded.event, at)?;
    }
    projections::update_debate_row(transaction, row, &debate, at)
}
