//! Restores all rooms after a restart. Waiting rooms and keys stay valid, and running debates
//! resume with their remaining time.
use super::error::ArenaError;
use super::live_room::LiveRoom;
use super::room::{Room, RoomClosure};
use super::room_state::{RoomState, TrackedDebate};
use super::service::{ArenaService, internal_error};
use crate::engine::{AppError, ArchiveError, DebateQuery, DebateRun, LeaseMode};
use std::sync::Arc;

impl ArenaService {
    /// Loads all stored rooms and resumes their debates. Returns the number of open rooms.
    pub async fn restore_rooms(&self) -> Result<usize, ArenaError> {
        let _one_at_a_time = self.seating_lock.lock().await;
        let mut open = 0;
        for body in self.app.archive().list_rooms().map_err(internal_error)? {
            let room: Room = match serde_json::from_str(&body) {
                Ok(room) => room,
                Err(error) => {
                    tracing::warn!("a room cannot be read: {error}");
                    continue;
                }
            };
            let room = self.relink_debate(room)?;
            let table = self.insert_room(room.clone());
            // Closed rooms are loaded on request.
            if room.closed.is_some() {
                continue;
            }
            open += 1;
            if let Some(id) = &room.debate {
                self.load_progress(&table, id);
                // Another process may hold the lease. `tick` retries.
                if let Err(error) = self.resume_debate(&table, id) {
                    tracing::warn!("debate `{}`: {error}", room.id);
                }
            }
        }
        Ok(open)
    }

    /// Finds the debate of a full room in the archive, if the process was killed between opening
    /// the debate and saving its id in the room.
    fn relink_debate(&self, mut room: Room) -> Result<Room, ArenaError> {
        if !room.is_full() || room.debate.is_some() || room.closed.is_some() {
            return Ok(room);
        }
        let query = DebateQuery { format: Some("arena".into()), ..DebateQuery::default() };
        for card in self.app.archive().list(&query).map_err(internal_error)? {
            let late = card.created_at >= room.created_at;
            if late
                && self
                    .app
                    .archive()
                    .read(&card.id)
                    .is_ok_and(|stored| stored.setup.terms.get("arena") == Some(&room.id))
            {
                room.debate = Some(card.id);
                self.save_room(&room)?;
                break;
            }
        }
        Ok(room)
    }

    /// Loads a debate from the archive and publishes its progress.
    fn load_progress(&self, table: &LiveRoom, id: &str) {
        match self.app.archive().read(id) {
            Ok(stored) => {
                if let Some(mut followed) = TrackedDebate::open(&stored.setup) {
                    followed.apply_events(stored.events);
                    table.publish(&followed);
                }
            }
            Err(error) => tracing::warn!("`{id}`: {error}"),
        }
    }

    /// Returns the state of a room. If it is closed and evicted, its progress is loaded again.
    pub(super) fn load_state(&self, table: &LiveRoom) -> Arc<RoomState> {
        let board = table.state();
        if let (Some(id), None, true) =
            (&board.room.debate, &board.progress, board.room.closed.is_some())
        {
            self.load_progress(table, id);
            return table.state();
        }
        board
    }

    /// Resumes a debate. If another process holds its lease, only the progress is loaded.
    pub(super) fn resume_debate(&self, table: &Arc<LiveRoom>, id: &str) -> Result<(), AppError> {
        match self.app.resume(id, &self.workspace, LeaseMode::IfFree, vec![]) {
            Ok(job) => self.spawn_follower(table, job),
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => self.load_progress(table, id),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Spawns a task that follows a debate and closes the room at its end.
    pub(super) fn spawn_follower(&self, table: &Arc<LiveRoom>, job: DebateRun) {
        let (hall, table) = (self.clone(), table.clone());
        let Some(followed) = table.attach_run(&job, &self.app) else { return };
        tokio::spawn(async move {
            table.follow_run(job, followed, &hall.app).await;
            if table.state().is_over() {
                let _one_at_a_time = hall.seating_lock.lock().await;
                let mut room = table.state().room.clone();
                room.closed.get_or_insert(RoomClosure { at: hall.app.now(), because: None });
                if let Err(refusal) = hall.save_room(&room) {
                    tracing::warn!("debate `{}`: {}", room.id, refusal.log_message());
                }
                table.update_room(room);
            }
        });
    }
}
