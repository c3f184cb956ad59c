//! Imports debates from files. A log signed with this user's key is imported as it is. From any
//! other file only the transcript is used.
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

/// Result of an import.
#[derive(Debug)]
pub struct TakenIn {
    pub id: String,
    pub how: How,
}

/// How a file was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The debate was new.
    New,
    /// The archive already had all of it.
    Known,
    /// This many events were appended to the known debate.
    Extended(usize),
    /// The log differs from the known one, so it was imported as a new debate.
    Diverged,
    /// Only the transcript was imported.
    Transcript {
        /// Number of turns imported.
        taken: usize,
        /// Number of turns in the file.
        turns: usize,
    },
}

/// How an imported log compares with the known log of the same debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// It is a prefix of the known log, or equal to it.
    Within,
    /// The known log is a prefix of it. It has this many more events.
    Longer(usize),
    /// They differ, or the known log is corrupt.
    Apart,
}

/// Compares an imported log with the known one, event by event.
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
    /// Imports a file. Of two signed logs of one debate the longer wins, and logs that differ
    /// become two debates. A transcript is imported with the seats, prompts and limits of the
    /// draft, and the new debate is paused until the user continues it.
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

    /// Imports a transcript as a new, paused debate.
    pub(super) fn take_down(
        &self,
        transcript: &Transcript,
        opening: &Opening,
        place: &Place,
    ) -> Result<TakenIn, DeskError> {
        let mut format = opening.format.clone();
        if transcript.dialogue {
            let talks = |it: &&Offering| it.offer.format.uses_role(Role::Lead);
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
        // The imported file is not overwritten until the user continues the debate.
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

    /// Finds the debate of this repository that was created from the same transcript. Makes the
    /// import idempotent.
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
                    // Lost a race: another process has created it.
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
                // Another process may have appended events since the read.
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

/// Collapses a topic to one line of at most 500 characters, so that an imported topic cannot
/// imitate other parts of a prompt (prompt injection).
fn one_line(topic: &str) -> String {
    topic.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}
