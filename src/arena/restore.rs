//! Restores all rooms after a restart. Waiting rooms and keys stay valid, and running debates
//! resume with their remaining time.
use super::error::ArenaError;
use super::live_room::LiveRoom;
use super::room::{Room, RoomClosure};
use super::room_state::{RoomState, TrackedDebate};
use super::service::{ArenaService, internal_error};
use crate::app::AppError;
use crate::engine::{ArchiveError, DebateQuery, DebateRun, LeaseMode};
use std::sync::Arc;

impl ArenaService {
    /// Loads all stored rooms and resumes their debates. Returns the number of open rooms.
    pub async fn restore_rooms(&self) -> Result<usize, ArenaError> {
        let _guard = self.seating_lock.lock().await;
        let mut open_count = 0;
        for body in self.app.archive().rooms.list_rooms().await.map_err(internal_error)? {
            let room: Room = match serde_json::from_str(&body) {
                Ok(room) => room,
                Err(error) => {
                    tracing::warn!(%error, "stored room cannot be parsed");
                    continue;
                }
            };
            let room = self.relink_debate(room).await?;
            let live_room = self.insert_room(room.clone());
            // Closed rooms are loaded on request.
            if room.closed.is_some() {
                continue;
            }
            open_count += 1;
            if let Some(id) = &room.debate {
                self.load_progress(&live_room, id).await;
                // Another process may hold the lease. `tick` retries.
                if let Err(error) = self.resume_debate(&live_room, id).await {
                    let room = &room.id;
                    tracing::warn!(%room, debate = %id, %error, "debate cannot be resumed");
                }
            }
        }
        tracing::info!(open_rooms = open_count, "rooms restored");
        Ok(open_count)
    }

    /// Finds the debate of a full room in the archive, if the process was killed between opening
    /// the debate and saving its id in the room.
    async fn relink_debate(&self, mut room: Room) -> Result<Room, ArenaError> {
        if !room.is_full() || room.debate.is_some() || room.closed.is_some() {
            return Ok(room);
        }
        let query = DebateQuery { format: Some("arena".into()), ..DebateQuery::default() };
        for card in self.app.archive().queries.list(&query).await.map_err(internal_error)? {
            let is_newer = card.created_at >= room.created_at;
            if is_newer
                && self
                    .app
                    .archive()
                    .events
                    .read(&card.id)
                    .await
                    .is_ok_and(|stored| stored.setup.terms.get("arena") == Some(&room.id))
            {
                room.debate = Some(card.id);
                self.save_room(&room).await?;
                break;
            }
        }
        Ok(room)
    }

    /// Loads a debate from the archive and publishes its progress.
    async fn load_progress(&self, live_room: &LiveRoom, id: &str) {
        match self.app.archive().events.read(id).await {
            Ok(stored) => {
                if let Some(mut tracked) = TrackedDebate::open(&stored.setup) {
                    tracked.apply_events(stored.events);
                    live_room.publish(&tracked);
                }
            }
            Err(error) => tracing::warn!(debate = id, %error, "debate cannot be read"),
        }
    }

    /// Returns the state of a room. If it is closed and evicted, its progress is loaded again.
    pub(super) async fn load_state(&self, live_room: &LiveRoom) -> Arc<RoomState> {
        let state = live_room.state();
        if let (Some(id), None, true) =
            (&state.room.debate, &state.progress, state.room.closed.is_some())
        {
            self.load_progress(live_room, id).await;
            return live_room.state();
        }
        state
    }

    /// Resumes a debate. If another process holds its lease, only the progress is loaded.
    pub(super) async fn resume_debate(
        &self,
        live_room: &Arc<LiveRoom>,
        id: &str,
    ) -> Result<(), AppError> {
        match self.app.resume(id, &self.workspace, LeaseMode::IfFree, vec![]).await {
            Ok(run) => {
                tracing::info!(debate = id, "arena debate resumed");
                self.spawn_follower(live_room, run).await;
            }
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => {
                self.load_progress(live_room, id).await;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Spawns a task that follows a debate and closes the room at its end.
    pub(super) async fn spawn_follower(&self, live_room: &Arc<LiveRoom>, run: DebateRun) {
        let (service, live_room) = (self.clone(), live_room.clone());
        let Some(tracked) = live_room.attach_run(&run, &self.app).await else { return };
        tokio::spawn(async move {
            live_room.follow_run(run, tracked, &service.app).await;
            if live_room.state().is_over() {
                let _guard = service.seating_lock.lock().await;
                let mut room = live_room.state().room.clone();
                room.closed.get_or_insert(RoomClosure { at: service.app.now(), because: None });
                if let Err(error) = service.save_room(&room).await {
                    tracing::warn!(
                        room = %room.id,
                        error = error.log_message(),
                        "room cannot be saved"
                    );
                }
                tracing::info!(room = %room.id, "arena debate finished");
                live_room.update_room(room);
            }
        });
    }
}
