//! Periodic work of the arena: applies timeouts, evicts finished debates from memory, and retries
//! debates that could not start or resume.
use super::deadlines::{TimeoutAction, timeout_action};
use super::error::ArenaError;
use super::limits::to_millis;
use super::live_room::LiveRoom;
use super::room::{Room, RoomClosure};
use super::room_state::RoomState;
use super::service::{ArenaService, internal_error};
use crate::engine::{AppError, Command, SessionError};
use std::sync::Arc;

/// Time in seconds that the progress of a finished debate stays in memory.
const PROGRESS_TTL_SECONDS: u32 = 600;

impl ArenaService {
    /// Processes all rooms. The server calls it once per second.
    pub async fn tick(&self) {
        let now = self.app.now();
        for table in self.live_rooms() {
            let board = table.state();
            if let Some(closed) = &board.room.closed {
                if now.saturating_sub(closed.at) > to_millis(PROGRESS_TTL_SECONDS) {
                    table.evict_progress();
                }
                continue;
            }
            let since = self.waiting_since(&board.room, now);
            let due = timeout_action(&board, &table.last_seen(), since, now, &self.limits);
            let result = match due {
                None => self.ensure_running(&table, &board).await,
                Some(TimeoutAction::FreeSeat(_) | TimeoutAction::CloseRoom(_)) => {
                    self.apply_waiting_timeout(&table, now).await
                }
                Some(TimeoutAction::Conclude(because)) => {
                    self.end_debate(&table, Command::Conclude { because: Some(because) }).await
                }
                Some(TimeoutAction::Cancel(because)) => {
                    self.end_debate(&table, Command::Cancel { because: Some(because) }).await
                }
            };
            if let Err(refusal) = result {
                tracing::warn!("debate `{}`: {}", board.room.id, refusal.log_message());
            }
        }
    }

    /// Time since which a room waits for bots. A rematch waits since the end of its first debate.
    fn waiting_since(&self, room: &Room, now: i64) -> i64 {
        match self.first_leg_room(room) {
            None => room.created_at,
            Some(first) => first.closed.map_or(now, |closed| closed.at.max(room.created_at)),
        }
    }

    /// Removes an offline bot or closes an expired room. Checks the timeout again under the lock,
    /// because a bot may have joined meanwhile.
    async fn apply_waiting_timeout(
        &self,
        table: &Arc<LiveRoom>,
        now: i64,
    ) -> Result<(), ArenaError> {
        let _one_at_a_time = self.seating_lock.lock().await;
        let board = table.state();
        let mut room = board.room.clone();
        let since = self.waiting_since(&room, now);
        match timeout_action(&board, &table.last_seen(), since, now, &self.limits) {
            Some(TimeoutAction::FreeSeat(nth)) => drop(room.guests.remove(nth)),
            Some(TimeoutAction::CloseRoom(because)) => {
                room.closed = Some(RoomClosure { at: now, because: Some(because) });
            }
            _ => return Ok(()),
        }
        self.save_room(&room)?;
        table.update_room(room);
        Ok(())
    }

    /// Starts or resumes a debate that should be running. If its record is invalid, closes the room
    /// with the reason.
    async fn ensure_running(
        &self,
        table: &Arc<LiveRoom>,
        board: &RoomState,
    ) -> Result<(), ArenaError> {
        if board.is_over() || !board.room.is_full() || table.run_handle().is_some() {
            return Ok(());
        }
        let _one_at_a_time = self.seating_lock.lock().await;
        let board = table.state();
        if board.is_over() || table.run_handle().is_some() {
            return Ok(());
        }
        let Some(id) = &board.room.debate else { return self.start_debate(table) };
        if let Err(AppError::CorruptLog { why, .. }) = self.resume_debate(table, id) {
            let because = format!("its record cannot be gone on with ({why})");
            let closed = RoomClosure { at: self.app.now(), because: Some(because) };
            let room = Room { closed: Some(closed), ..board.room.clone() };
            self.save_room(&room)?;
            table.update_room(room);
        }
        Ok(())
    }

    /// Sends a command to the debate: to the local run, or through the command queue to the process
    /// that holds the lease.
    pub(super) async fn send_command(
        &self,
        table: &LiveRoom,
        command: Command,
    ) -> Result<(), SessionError> {
        if let Some(handle) = table.run_handle() {
            return handle.send(vec![command]).await;
        }
        let Some(id) = table.state().room.debate.clone() else {
            return Err(SessionError::NotRunning);
        };
        match self.app.send_commands(&id, &self.workspace, vec![command]).await {
            Ok(_) => Ok(()),
            Err(AppError::Session(error)) => Err(error),
            Err(_) => Err(SessionError::NotRunning),
        }
    }

    async fn end_debate(&self, table: &LiveRoom, command: Command) -> Result<(), ArenaError> {
        match self.send_command(table, command).await {
            // The debate went on or ended meanwhile, so the timeout no longer applies.
            Ok(()) | Err(SessionError::Illegal(_) | SessionError::NotRunning) => Ok(()),
            Err(error) => Err(internal_error(error)),
        }
    }
}
