//! Wishes for a debate, whichever process plays it: a person at a page pauses what runs in a client,
//! adds a remark to what runs at a terminal, or asks for the verdict of what nobody plays. Whoever
//! holds the debate grants them; if nobody does, it is taken up for as long as that needs.
use super::command::{Command, Error};
use super::desk::{Desk, DeskError};
use super::job::Job;
use super::ports::{ArchiveError, Claim, Place, WISH_KEEPS};
use crate::debate::Step;
use std::time::Duration;
use tokio::time::Instant;

/// For how long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How many looks there are between two at whether the holder is still there.
const ALIVE: u32 = 5;

const _: () = assert!(PATIENCE.as_millis() < WISH_KEEPS.unsigned_abs() as u128);

/// That all wishes are on the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wished {
    /// Who plays the debate and has granted them; none, if nobody played it.
    pub holder: Option<String>,
}

/// What became of wishes that were left for a holder.
enum Heard {
    Granted,
    Refused(String),
    /// The holder has gone, and the wishes were withdrawn.
    Alone,
    /// The holder is there and says nothing, and the wishes were withdrawn.
    Nothing,
}

impl Desk {
    /// Has wishes recorded, all of them or none. If nobody plays the debate, it is taken up to
    /// record them, and played on here, in the background, if one of them sets it going, or if there
    /// is none: until it waits for somebody or rests. Then it is given up.
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

    /// Leaves wishes for whoever holds a debate, and waits for what they say.
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

/// Plays a debate until it waits for somebody or rests, and gives it up.
pub async fn play_out(mut job: Job) -> Result<Step, Error> {
    let step = job.idle().await;
    job.stop().await;
    step
}
