//! Partial text of running turns, for other processes: one row in the table `live` per turn,
//! written at most once per [`WRITE_INTERVAL`]. Not part of the event log.
use super::database::Database;
use super::schema::sqlite_error;
use crate::debate::{Cue, Event};
use crate::engine::{ArchiveError, Clock, LiveText, Update};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{self, error::RecvError};

/// Minimum time between two writes.
const WRITE_INTERVAL: Duration = Duration::from_millis(250);

/// Spawns a task that writes the deltas of a debate to the table until its update channel closes.
pub(super) fn spawn_writer(
    database: Arc<Database>,
    clock: Arc<dyn Clock>,
    row: i64,
    mut updates: broadcast::Receiver<Arc<Update>>,
) {
    tokio::spawn(async move {
        let mut texts: BTreeMap<Cue, String> = BTreeMap::new();
        let mut written: BTreeSet<Cue> = BTreeSet::new();
        let mut dirty = false;
        // A turn that ends before the first tick is never written.
        let first = tokio::time::Instant::now() + WRITE_INTERVAL;
        let mut tick = tokio::time::interval_at(first, WRITE_INTERVAL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                update = updates.recv() => match update.as_deref() {
                    Ok(Update::Speaking { cue, .. }) => {
                        texts.insert(*cue, String::new());
                        tick.reset();
                    }
                    Ok(Update::Delta { cue, text }) => {
                        texts.entry(*cue).or_default().push_str(text);
                        dirty = true;
                    }
                    Ok(Update::Fact { event, .. }) => {
                        if let Event::Spoke { cue, .. } | Event::Failed { cue, .. } = event
                            && texts.remove(cue).is_some()
                            && written.remove(cue)
                        {
                            delete(&database, row, *cue);
                        }
                    }
                    Ok(Update::Slow { .. }) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                _ = tick.tick(), if dirty => {
                    dirty = false;
                    written.extend(texts.keys());
                    write(&database, row, clock.now(), &texts);
                }
            }
        }
    });
}

fn write(database: &Database, row: i64, now: i64, texts: &BTreeMap<Cue, String>) {
    let _ = database.with_connection(|connection| {
        for (cue, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            connection
                .execute(
                    "INSERT INTO live (debate_id, turn, text, at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (debate_id, turn) DO UPDATE SET text = ?3, at = ?4",
                    params![row, cue.to_string(), text, now],
                )
                .map_err(sqlite_error)?;
        }
        Ok(())
    });
}

fn delete(database: &Database, row: i64, cue: Cue) {
    let _ = database.with_connection(|connection| {
        let key = params![row, cue.to_string()];
        connection
            .execute("DELETE FROM live WHERE debate_id = ?1 AND turn = ?2", key)
            .map_err(sqlite_error)
    });
}

/// Reads the partial texts of a debate.
pub(super) fn read(connection: &Connection, row: i64) -> Result<Vec<LiveText>, ArchiveError> {
    let mut statement = connection
        .prepare_cached("SELECT turn, text, at FROM live WHERE debate_id = ?1 ORDER BY turn")
        .map_err(sqlite_error)?;
    let rows = statement
        .query_map([row], |row| {
            Ok(LiveText { turn: row.get(0)?, text: row.get(1)?, at: row.get(2)? })
        })
        .map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}
