//! Periodic work of the arena: applies timeouts, evicts finished debates from memory, and retries
//! debates that could not start or resume.
use super::board::Board;
use super::hall::{Hall, internal};
use super::late::{Ending, ending};
use super::refusal::Refusal;
use super::room::{Closed, Room};
use super::table::Table;
use super::terms::millis;
use crate::engine::{AppError, Command, SessionError};
use std::sync::Arc;

/// Time in seconds that the progress of a finished debate stays in memory.
const REMEMBERED: u32 = 600;

impl Hall {
    /// Processes all rooms. The server calls it once per second.
    pub async fn tick(&self) {
        let now = self.desk.now();
        for table in self.tables() {
            let board = table.board();
            if let Some(closed) = &board.room.closed {
                if now.saturating_sub(closed.at) > millis(REMEMBERED) {
                    table.forget();
                }
                continue;
            }
            let since = self.waits_since(&board.room, now);
            let due = ending(&board, &table.seen(), since, now, &self.terms);
            let result = match due {
                None => self.mend(&table, &board).await,
                Some(Ending::Leaves(_) | Ending::Expires(_)) => self.vacate(&table, now).await,
                Some(Ending::Concludes(because)) => {
                    self.end(&table, Command::Conclude { because: Some(because) }).await
                }
                Some(Ending::Cancels(because)) => {
                    self.end(&table, Command::Cancel { because: Some(because) }).await
                }
            };
            if let Err(refusal) = result {
                tracing::warn!("debate `{}`: {}", board.room.id, refusal.told());
            }
        }
    }

    /// Time since which a room waits for bots. A rematch waits since the end of its first debate.
    fn waits_since(&self, room: &Room, now: i64) -> i64 {
        match self.first_leg(room) {
            None => room.created_at,
            Some(first) => first.closed.map_or(now, |closed| closed.at.max(room.created_at)),
        }
    }

    /// Removes an offline bot or closes an expired room. Checks the timeout again under the lock,
    /// because a bot may have joined meanwhile.
    async fn vacate(&self, table: &Arc<Table>, now: i64) -> Result<(), Refusal> {
        let _one_at_a_time = self.seating.lock().await;
        let board = table.board();
        let mut room = board.room.clone();
        let since = self.waits_since(&room, now);
        match ending(&board, &table.seen(), since, now, &self.terms) {
            Some(Ending::Leaves(nth)) => drop(room.guests.remove(nth)),
            Some(Ending::Expires(because)) => {
                room.closed = Some(Closed { at: now, because: Some(because) });
            }
            _ => return Ok(()),
        }
        self.keep(&room)?;
        table.seat(room);
        Ok(())
    }

    /// Starts or resumes a debate that should be running. If its record is invalid, closes the room
    /// with the reason.
    async fn mend(&self, table: &Arc<Table>, board: &Board) -> Result<(), Refusal> {
        if board.over() || !board.room.full() || table.handle().is_some() {
            return Ok(());
        }
        let _one_at_a_time = self.seating.lock().await;
        let board = table.board();
        if board.over() || table.handle().is_some() {
            return Ok(());
        }
        let Some(id) = &board.room.debate else { return self.begin(table) };
        if let Err(AppError::CorruptLog { why, .. }) = self.resume(table, id) {
            let because = format!("its record cannot be gone on with ({why})");
            let closed = Closed { at: self.desk.now(), because: Some(because) };
            let room = Room { closed: Some(closed), ..board.room.clone() };
            self.keep(&room)?;
            table.seat(room);
        }
        Ok(())
    }

    /// Sends a command to the debate: to the local run, or through the command queue to the process
    /// that holds the lease.
    pub(super) async fn wish(&self, table: &Table, command: Command) -> Result<(), SessionError> {
        if let Some(handle) = table.handle() {
            return handle.send(vec![command]).await;
        }
        let Some(id) = table.board().room.debate.clone() else {
            return Err(SessionError::NotRunning);
        };
        match self.desk.send_commands(&id, &self.place, vec![command]).await {
            Ok(_) => Ok(()),
            Err(AppError::Session(error)) => Err(error),
            Err(_) => Err(SessionError::NotRunning),
        }
    }

    async fn end(&self, table: &Table, command: Command) -> Result<(), Refusal> {
        match self.wish(table, command).await {
            // The debate went on or ended meanwhile, so the timeout no longer applies.
            Ok(()) | Err(SessionError::Illegal(_) | SessionError::NotRunning) => Ok(()),
            Err(error) => Err(internal(error)),
        }
    }
}
