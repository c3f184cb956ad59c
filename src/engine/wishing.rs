//! Remote commands: sends commands to a debate, whichever process runs it.
//!
//! For example, the web page pauses a debate that runs in an MCP client. If another process holds
//! the lease, the commands go through the archive's queue and the result is polled. If none does,
//! this process takes the lease, executes them and, if they make turns due, runs the debate in the
//! background.
use super::command::{Command, Error};
use super::desk::{Desk, DeskError};
use super::job::Job;
use super::ports::{ArchiveError, Claim, Place, WISH_KEEPS};
use crate::debate::Step;
use std::time::Duration;
use tokio::time::Instant;

/// Timeout for the holder's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the queue is polled.
const LOOK: Duration = Duration::from_millis(50);
/// Number of polls between two checks whether the lease is still held.
const ALIVE: u32 = 5;

const _: () = assert!(PATIENCE.as_millis() < WISH_KEEPS.unsigned_abs() as u128);

/// Success: all commands are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wished {
    /// Name of the process that executed them, `None` if it was this one.
    pub holder: Option<String>,
}

/// Result of commands queued for a lease holder.
enum Heard {
    Granted,
    Refused(String),
    /// The lease is free, and the commands were withdrawn.
    Alone,
    /// The holder did not answer in time, and the commands were withdrawn.
    Nothing,
}

impl Desk {
    /// Records commands, all of them or none, here or in the process that holds the lease. If the
    /// lease is free and one of them makes turns due, or there are none, the debate also runs here
    /// in the background until it is idle. Then the lease is released.
    pub async fn wish(
        &self,
        id: &str,
        place: &Place,
        wishes: Vec<Command>,
    ) -> Result<Wished, DeskError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let holder = match self.grant_here(id, place, wishes.clone()) {
                Err(DeskError::Archive(ArchiveError::Busy { holder, .. })) => holder,
                done => return done.map(|()| Wished { holder: None }),
            };
            match self.ask_holder(id, &wishes, until).await? {
                Heard::Granted => return Ok(Wished { holder: Some(holder) }),
                Heard::Refused(why) => return Err(DeskError::Refused(why)),
                Heard::Nothing => return Err(DeskError::Unanswered { holder }),
                Heard::Alone => {}
            }
        }
    }

    fn grant_here(&self, id: &str, place: &Place, wishes: Vec<Command>) -> Result<(), DeskError> {
        if !wishes.is_empty() && !wishes.iter().any(Command::sets_going) {
            return self.note(id, place, wishes);
        }
        let job = self.resume(id, place, Claim::Free, wishes)?;
        tokio::spawn(play_out(job));
        Ok(())
    }

    /// Queues commands for the lease holder and polls for the result.
    async fn ask_holder(
        &self,
        id: &str,
        wishes: &[Command],
        until: Instant,
    ) -> Result<Heard, DeskError> {
        let archive = &self.archive;
        let wish = archive.wish(id, wishes)?;
        let mut alone = false;
        for look in 1u32.. {
            let late = Instant::now() >= until;
            let answered =
                if late || alone { archive.withdraw(wish)? } else { archive.answered(wish)? };
            match answered {
                Some(Ok(())) => return Ok(Heard::Granted),
                Some(Err(why)) => return Ok(Heard::Refused(why)),
                None if alone => return Ok(Heard::Alone),
                None if late => return Ok(Heard::Nothing),
                None => tokio::time::sleep(LOOK).await,
            }
            alone = look % ALIVE == 0 && archive.news(id, u64::MAX >> 1)?.holder.is_none();
        }
        Ok(Heard::Nothing)
    }
}

/// Runs a debate until it waits for the user or is closed, then releases the lease.
pub async fn play_out(mut job: Job) -> Result<Step, Error> {
    let step = job.idle().await;
    job.stop().await;
    step
}
