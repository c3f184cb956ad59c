//! Restores all rooms after a restart. Waiting rooms and keys stay valid, and running debates
//! resume with their remaining time.
use super::board::{Board, Followed};
use super::hall::{Hall, internal};
use super::refusal::Refusal;
use super::room::{Closed, Room};
use super::table::Table;
use crate::engine::{AppError, ArchiveError, DebateQuery, DebateRun, LeaseMode};
use std::sync::Arc;

impl Hall {
    /// Loads all stored rooms and resumes their debates. Returns the number of open rooms.
    pub async fn restore(&self) -> Result<usize, Refusal> {
        let _one_at_a_time = self.seating.lock().await;
        let mut open = 0;
        for body in self.desk.archive().list_rooms().map_err(internal)? {
            let room: Room = match serde_json::from_str(&body) {
                Ok(room) => room,
                Err(error) => {
                    tracing::warn!("a room cannot be read: {error}");
                    continue;
                }
            };
            let room = self.found_again(room)?;
            let table = self.put(room.clone());
            // Closed rooms are loaded on request.
            if room.closed.is_some() {
                continue;
            }
            open += 1;
            if let Some(id) = &room.debate {
                self.read(&table, id);
                // Another process may hold the lease. `tick` retries.
                if let Err(error) = self.resume(&table, id) {
                    tracing::warn!("debate `{}`: {error}", room.id);
                }
            }
        }
        Ok(open)
    }

    /// Finds the debate of a full room in the archive, if the process was killed between opening
    /// the debate and saving its id in the room.
    fn found_again(&self, mut room: Room) -> Result<Room, Refusal> {
        if !room.full() || room.debate.is_some() || room.closed.is_some() {
            return Ok(room);
        }
        let query = DebateQuery { format: Some("arena".into()), ..DebateQuery::default() };
        for card in self.desk.archive().list(&query).map_err(internal)? {
            let late = card.created_at >= room.created_at;
            if late
                && self
                    .desk
                    .archive()
                    .read(&card.id)
                    .is_ok_and(|stored| stored.setup.terms.get("arena") == Some(&room.id))
            {
                room.debate = Some(card.id);
                self.keep(&room)?;
                break;
            }
        }
        Ok(room)
    }

    /// Loads a debate from the archive and publishes its progress.
    fn read(&self, table: &Table, id: &str) {
        match self.desk.archive().read(id) {
            Ok(stored) => {
                if let Some(mut followed) = Followed::opened(&stored.setup) {
                    followed.follow(stored.events);
                    table.show(&followed);
                }
            }
            Err(error) => tracing::warn!("`{id}`: {error}"),
        }
    }

    /// Returns the state of a room. If it is closed and evicted, its progress is loaded again.
    pub(super) fn read_again(&self, table: &Table) -> Arc<Board> {
        let board = table.board();
        if let (Some(id), None, true) =
            (&board.room.debate, &board.course, board.room.closed.is_some())
        {
            self.read(table, id);
            return table.board();
        }
        board
    }

    /// Resumes a debate. If another process holds its lease, only the progress is loaded.
    pub(super) fn resume(&self, table: &Arc<Table>, id: &str) -> Result<(), AppError> {
        match self.desk.resume(id, &self.place, LeaseMode::IfFree, vec![]) {
            Ok(job) => self.play(table, job),
            Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) => self.read(table, id),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Spawns a task that follows a debate and closes the room at its end.
    pub(super) fn play(&self, table: &Arc<Table>, job: DebateRun) {
        let (hall, table) = (self.clone(), table.clone());
        let Some(followed) = table.start(&job, &self.desk) else { return };
        tokio::spawn(async move {
            table.play(job, followed, &hall.desk).await;
            if table.board().over() {
                let _one_at_a_time = hall.seating.lock().await;
                let mut room = table.board().room.clone();
                room.closed.get_or_insert(Closed { at: hall.desk.now(), because: None });
                if let Err(refusal) = hall.keep(&room) {
                    tracing::warn!("debate `{}`: {}", room.id, refusal.told());
                }
                table.seat(room);
            }
        });
    }
}
