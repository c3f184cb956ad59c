//! Periodic work of the arena: applies timeouts, evicts finished debates from memory, and retries
//! debates that could not start or resume.
use super::deadlines::{TimeoutAction, timeout_action};
use super::error::ArenaError;
use super::limits::to_millis;
use super::live_room::LiveRoom;
use super::room::{Room, RoomClosure};
use super::room_state::RoomState;
use super::service::{ArenaService, internal_error};
use crate::app::AppError;
use crate::engine::{Command, SessionError};
use std::sync::Arc;

/// Time in seconds that the progress of a finished debate stays in memory.
const PROGRESS_TTL_SECONDS: u32 = 600;

impl ArenaService {
    /// Processes all rooms. The server calls it once per second.
    pub async fn tick(&self) {
        let now = self.app.now();
        for live_room in self.live_rooms() {
            let state = live_room.state();
            if let Some(closed) = &state.room.closed {
                if is_progress_expired(closed.at, now) {
                    live_room.evict_progress();
                }
                continue;
            }
            let waiting_since = self.waiting_since(&state.room, now);
            let action =
                timeout_action(&state, &live_room.last_seen(), waiting_since, now, &self.limits);
            let result = match action {
                None => self.ensure_running(&live_room, &state).await,
                Some(TimeoutAction::FreeSeat(_) | TimeoutAction::CloseRoom(_)) => {
                    self.apply_waiting_timeout(&live_room, now).await
                }
                Some(TimeoutAction::Conclude(reason)) => {
                    self.end_debate(&live_room, Command::Conclude { because: Some(reason) }).await
                }
                Some(TimeoutAction::Cancel(reason)) => {
                    self.end_debate(&live_room, Command::Cancel { because: Some(reason) }).await
                }
            };
            if let Err(error) = result {
                tracing::warn!(
                    room = %state.room.id,
                    error = error.log_message(),
                    "timers of the room failed"
                );
            }
        }
    }

    /// Time since which a room waits for bots. A rematch waits since the end of its first debate.
    fn waiting_since(&self, room: &Room, now: i64) -> i64 {
        match self.first_leg_room(room) {
            None => room.created_at,
            Some(first_leg) => {
                first_leg.closed.map_or(now, |closed| closed.at.max(room.created_at))
            }
        }
    }

    /// Removes an offline bot or closes an expired room. Checks the timeout again under the lock,
    /// because a bot may have joined meanwhile.
    async fn apply_waiting_timeout(
        &self,
        live_room: &Arc<LiveRoom>,
        now: i64,
    ) -> Result<(), ArenaError> {
        let _guard = self.seating_lock.lock().await;
        let state = live_room.state();
        let mut room = state.room.clone();
        let waiting_since = self.waiting_since(&room, now);
        match timeout_action(&state, &live_room.last_seen(), waiting_since, now, &self.limits) {
            Some(TimeoutAction::FreeSeat(index)) => {
                let bot = room.guests.remove(index);
                tracing::info!(room = %room.id, bot = %bot.identifier, "bot left");
            }
            Some(TimeoutAction::CloseRoom(reason)) => {
                tracing::info!(room = %room.id, reason = reason, "deadline passed, room closed");
                room.closed = Some(RoomClosure { at: now, because: Some(reason) });
            }
            _ => return Ok(()),
        }
        self.save_room(&room).await?;
        live_room.update_room(room);
        Ok(())
    }

    /// Starts or resumes a debate that should be running. If its record is invalid, closes the room
    /// with the reason.
    async fn ensure_running(
        &self,
        live_room: &Arc<LiveRoom>,
        state: &RoomState,
    ) -> Result<(), ArenaError> {
        if state.is_over() || !state.room.is_full() || live_room.run_handle().is_some() {
            return Ok(());
        }
        let _guard = self.seating_lock.lock().await;
        let state = live_room.state();
        if state.is_over() || live_room.run_handle().is_some() {
            return Ok(());
        }
        let Some(id) = &state.room.debate else { return self.start_debate(live_room).await };
        if let Err(AppError::CorruptLog { why, .. }) = self.resume_debate(live_room, id).await {
            let reason = format!("its record cannot be resumed ({why})");
            tracing::warn!(room = %state.room.id, debate = %id, reason = reason, "room closed");
            let closed = RoomClosure { at: self.app.now(), because: Some(reason) };
            let room = Room { closed: Some(closed), ..state.room.clone() };
            self.save_room(&room).await?;
            live_room.update_room(room);
        }
        Ok(())
    }

    /// Sends a command to the debate: to the local run, or through the command queue to the process
    /// that holds the lease.
    pub(super) async fn send_command(
        &self,
        live_room: &LiveRoom,
        command: Command,
    ) -> Result<(), SessionError> {
        if let Some(handle) = live_room.run_handle() {
            return handle.send(vec![command]).await;
        }
        let Some(id) = live_room.state().room.debate.clone() else {
            return Err(SessionError::NotRunning);
        };
        match self.app.send_commands(&id, &self.workspace, vec![command]).await {
            Ok(_) => Ok(()),
            Err(AppError::Session(error)) => Err(error),
            Err(_) => Err(SessionError::NotRunning),
        }
    }

    async fn end_debate(&self, live_room: &LiveRoom, command: Command) -> Result<(), ArenaError> {
        let reason = match &command {
            Command::Conclude { because } | Command::Cancel { because } => because.clone(),
            _ => None,
        };
        match self.send_command(live_room, command).await {
            Ok(()) => {
                let room = &live_room.state().room;
                tracing::info!(room = %room.id, reason, "deadline passed, debate ended");
                Ok(())
            }
            // The debate went on or ended meanwhile, so the timeout no longer applies.
            Err(SessionError::Illegal(_) | SessionError::NotRunning) => Ok(()),
            Err(error) => Err(internal_error(error)),
        }
    }
}

/// Whether the progress of a debate that was closed at this time is evicted. Times are Unix
/// milliseconds.
fn is_progress_expired(closed_at: i64, now: i64) -> bool {
    now.saturating_sub(closed_at) > to_millis(PROGRESS_TTL_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_a_finished_debate_is_kept_for_10_minutes() {
        assert_eq!(to_millis(PROGRESS_TTL_SECONDS), 600_000);
        assert!(!is_progress_expired(1_000, 601_000));
        assert!(is_progress_expired(1_000, 601_001));
    }
}
