//! Files from outside become debates: this user's own log as it is, anything else as what was said.
use super::catalogue::Offering;
use super::command::Error;
use super::desk::{Desk, DeskError, new_id};
use super::gate::Gate;
use super::opening::Opening;
use super::ports::{
    ArchiveError, Claim, Duplicates, Foreign, Place, Query, Recorded, Stored, Transcript,
};
use super::transcript::adopt;
use crate::debate::state::ReplayError;
use crate::debate::{Debate, Event, Origin, Role, Setup};

/// What became of a file from outside.
#[derive(Debug)]
pub struct TakenIn {
    /// The debate it is now.
    pub id: String,
    /// How it became that.
    pub how: How,
}

/// How a file from outside was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was not known yet.
    New,
    /// All of it was known.
    Known,
    /// It went on where the known one stopped, by this many events.
    Extended(usize),
    /// It and the known one went different ways: it is a debate of its own now.
    Diverged,
    /// Only what was said was taken.
    Transcript {
        /// Turns taken.
        taken: usize,
        /// Turns there were.
        turns: usize,
    },
}

/// How a log from outside lies beside the one that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// The known one begins with all of it.
    Within,
    /// It begins with all of the known one, and has this many events more.
    Longer(usize),
    /// They went different ways, or the known one can no longer be read to its end.
    Apart,
}

/// Compares a log from outside with the one that is known.
pub(super) fn beside(known: &Stored, setup: &Setup, theirs: &[Recorded]) -> Beside {
    let ours = || known.events.iter().map(|recorded| &recorded.event);
    let alike = ours().zip(theirs.iter().map(|recorded| &recorded.event)).all(|(a, b)| a == b);
    if known.unreadable.is_some() || known.setup != *setup || !alike {
        return Beside::Apart;
    }
    match theirs.len().checked_sub(known.events.len()).filter(|more| *more > 0) {
        Some(more) => Beside::Longer(more),
        None => Beside::Within,
    }
}

impl Desk {
    /// Takes in a file from outside. This user's own log is taken up as it is: the longer of two
    /// logs of one debate wins, and logs that went different ways become two debates. Of anything
    /// else only what was said is taken, under the seats, prompts and limits of `opening`, and
    /// nothing runs until the user lets it.
    pub fn take_in(
        &self,
        text: &str,
        opening: &Opening,
        place: &Place,
    ) -> Result<TakenIn, DeskError> {
        match self.archive.read_foreign(text)? {
            Foreign::Ours(setup, events) => self.take_up(*setup, &events, place),
            Foreign::Transcript(transcript) => self.take_down(&transcript, opening, place),
        }
    }

    /// Puts what was said elsewhere on a record of its own.
    pub(super) fn take_down(
        &self,
        transcript: &Transcript,
        opening: &Opening,
        place: &Place,
    ) -> Result<TakenIn, DeskError> {
        let mut format = opening.format.clone();
        if transcript.dialogue {
            let talks = |it: &&Offering| it.offer.format.seats(Role::Lead);
            let found = self.catalogue.offerings.iter().find(talks);
            format = found.map_or(format, |it| it.name().to_owned());
        }
        let opening = Opening { format, ..opening.clone() };
        let opening = Opening {
            topic: one_line(&transcript.topic),
            rounds: transcript.rounds.map(|rounds| opening.nearest(rounds, &self.catalogue)),
            origin: Origin::Transcript { id: transcript.id.clone() },
            ..opening
        };
        let mut taken = 0;
        // The file it came from is left as it is until the user goes on with it.
        let place = &Place { state_file: None, ..place.clone() };
        let (debate, ..) = self.create(&opening, place, |debate| {
            let (events, turns) = adopt(debate.clone(), transcript);
            taken = turns;
            events
        })?;
        let turns = transcript.turns.len();
        let id = debate.setup().id.clone();
        Ok(TakenIn { id, how: How::Transcript { taken, turns } })
    }

    /// The debate of this repository a transcript was put on the record of before, if it was: a
    /// confirmation that comes twice is one.
    pub(super) fn taken_down(
        &self,
        transcript: &Transcript,
        place: &Place,
    ) -> Result<Option<String>, DeskError> {
        let query = Query { root: Some(place.root.clone()), ..Query::default() };
        let cards = self.archive.list(&query)?.into_iter();
        for card in cards.filter(|card| card.labels.iter().any(|label| label == "imported")) {
            let Ok(stored) = self.archive.read(&card.id) else { continue };
            let Origin::Transcript { id } = &stored.setup.origin else { continue };
            let Ok(debate) = Debate::open(stored.setup.clone()) else { continue };
            let again = adopt(debate, transcript).0;
            let again = Gate::of(&self.secrets, &stored.setup).all(again).map_err(Error::from)?;
            let begins = stored.events.iter().map(|recorded| &recorded.event).take(again.len());
            if *id == transcript.id && begins.eq(&again) {
                return Ok(Some(card.id));
            }
        }
        Ok(None)
    }

    pub(super) fn take_up(
        &self,
        setup: Setup,
        events: &[Recorded],
        place: &Place,
    ) -> Result<TakenIn, DeskError> {
        let theirs: Vec<Event> = events.iter().map(|recorded| recorded.event.clone()).collect();
        Debate::replay(setup.clone(), theirs.clone())
            .map_err(|error: ReplayError| DeskError::Forged(error.to_string()))?;
        let id = setup.id.clone();
        let known = match self.archive.read(&id) {
            Ok(stored) => stored,
            Err(ArchiveError::Unknown(_)) => {
                match self.archive.create(&setup, events, place, Duplicates::Allowed) {
                    Ok(_) => return Ok(TakenIn { id, how: How::New }),
                    // Another process was faster.
                    Err(ArchiveError::Taken(_)) => self.archive.read(&id)?,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        match beside(&known, &setup, events) {
            Beside::Within => Ok(TakenIn { id, how: How::Known }),
            Beside::Longer(more) => {
                let mut opened = self.archive.open(&id, place, Claim::Free)?;
                // Somebody may have gone on with it since it was read.
                if beside(&opened.stored, &setup, events) != Beside::Longer(more) {
                    return Err(DeskError::Archive(ArchiveError::Busy {
                        id,
                        holder: "another process".into(),
                    }));
                }
                opened.log.append(&theirs[theirs.len() - more..]).map_err(Error::from)?;
                Ok(TakenIn { id, how: How::Extended(more) })
            }
            Beside::Apart => {
                let setup = Setup { id: new_id(self.clock.now())?, ..setup };
                self.archive.create(&setup, events, place, Duplicates::Allowed)?;
                Ok(TakenIn { id: setup.id, how: How::Diverged })
            }
        }
    }
}

/// A topic from outside stays on its line, so that it cannot pass for anything else in a prompt.
fn one_line(topic: &str) -> String {
    topic.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}
