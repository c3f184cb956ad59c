//! All rooms again, after a restart: who waited still waits, keys still fit, and debates go on where
//! they were, with the time they had.
use super::board::{Board, Followed};
use super::hall::{Hall, internal};
use super::refusal::Refusal;
use super::room::{Closed, Room};
use super::table::Table;
use crate::engine::{ArchiveError, Claim, DeskError, Job, Query};
use std::sync::Arc;

impl Hall {
    /// Takes up every room that was kept. Says how many of them are not over.
    pub async fn restore(&self) -> Result<usize, Refusal> {
        let _one_at_a_time = self.seating.lock().await;
        let mut open = 0;
        for body in self.desk.archive().rooms().map_err(internal)? {
            let room: Room = match serde_json::from_str(&body) {
                Ok(room) => room,
                Err(error) => {
                    tracing::warn!("a room cannot be read: {error}");
                    continue;
                }
            };
            let room = self.found_again(room)?;
            let table = self.put(room.clone());
            // What is over is read when somebody asks.
            if room.closed.is_some() {
                continue;
            }
            open += 1;
            if let Some(id) = &room.debate {
                self.read(&table, id);
                // Somebody else may be playing it; it is tried again with every tick.
                if let Err(error) = self.resume(&table, id) {
                    tracing::warn!("debate `{}`: {error}", room.id);
                }
            }
        }
        Ok(open)
    }

    /// A program that was killed between opening a debate and writing down which one it was.
    fn found_again(&self, mut room: Room) -> Result<Room, Refusal> {
        if !room.full() || room.debate.is_some() || room.closed.is_some() {
            return Ok(room);
        }
        let query = Query { format: Some("arena".into()), ..Query::default() };
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

    /// Shows how a debate stood when it was last written to.
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

    /// How a room stands; what was said in one that is over is read from the archive, if need be.
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

    /// Goes on with a debate. Whoever plays it elsewhere is let do so.
    pub(super) fn resume(&self, table: &Arc<Table>, id: &str) -> Result<(), DeskError> {
        match self.desk.resume(id, &self.place, Claim::Free, vec![]) {
            Ok(job) => self.play(table, job),
            Err(DeskError::Archive(ArchiveError::Busy { .. })) => self.read(table, id),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Follows a debate in the background, and closes its room when it is over.
    pub(super) fn play(&self, table: &Arc<Table>, job: Job) {
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
