//! Recovery from state files: imports debates that are in a repository's state files but not, or
//! not completely, in the archive.
//!
//! Logs signed with this user's key are imported automatically, the longest of each debate.
//! Unsigned files are only reported.
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::ports::{ArchiveError, Foreign, Left, Place, Query, Recorded, Transcript};
use super::taking_in::{Beside, How, TakenIn, beside};
use crate::debate::Setup;
use std::path::{Path, PathBuf};

/// Result of a recovery.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Messages for the user: what was imported, and errors.
    pub told: Vec<String>,
    /// Files not signed with this user's key.
    pub strangers: Vec<Stranger>,
}

/// A state file from another user, or from a program that does not sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    pub path: PathBuf,
    pub transcript: Transcript,
}

impl Stranger {
    /// Its topic as one short line.
    pub fn topic(&self) -> String {
        short(&self.transcript.topic, 120)
    }

    /// The tools that speak in it, according to the file.
    pub fn by(&self) -> String {
        let mut names: Vec<String> = vec![];
        for turn in &self.transcript.turns {
            let name = short(&turn.tool, 30);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(4);
        if names.is_empty() { "nobody it names".into() } else { names.join(" and ") }
    }
}

/// First `most` characters of a text, on one line and without control characters.
fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(most).collect()
}

/// State files, sorted by trust.
#[derive(Debug, Default)]
struct Sorted {
    /// Path and log of each signed debate, the longest log of each, ordered by last event.
    ours: Vec<(PathBuf, Setup, Vec<Recorded>)>,
    strangers: Vec<Stranger>,
    unreadable: Vec<(PathBuf, String)>,
}

fn sorted(files: Vec<Left>) -> Sorted {
    let mut sorted = Sorted::default();
    for Left { path, holds } in files {
        match holds {
            Ok(Foreign::Ours(setup, events)) => {
                let known = sorted.ours.iter_mut().find(|(_, other, _)| other.id == setup.id);
                match known {
                    Some((_, _, longest)) if longest.len() >= events.len() => {}
                    Some(known) => *known = (path, *setup, events),
                    None => sorted.ours.push((path, *setup, events)),
                }
            }
            Ok(Foreign::Transcript(transcript)) => {
                let same = |it: &Stranger| it.transcript == transcript;
                if !sorted.strangers.iter().any(same) {
                    sorted.strangers.push(Stranger { path, transcript });
                }
            }
            Err(error) => sorted.unreadable.push((path, error.to_string())),
        }
    }
    sorted.ours.sort_by_key(|(_, _, events)| events.last().map(|recorded| recorded.at));
    sorted
}

impl Desk {
    /// As [`App::resolve_debate`]. If the debate is unknown, tries a recovery from these state
    /// files first. Also returns messages for the user.
    pub fn meant_or_left(
        &self,
        id: Option<&str>,
        unfinished: bool,
        place: &Place,
        files: &[PathBuf],
    ) -> Result<(String, Vec<String>), DeskError> {
        match self.meant(id, unfinished, &place.root) {
            Ok(id) => Ok((id, vec![])),
            Err(DeskError::NoneHere { .. } | DeskError::Archive(ArchiveError::Unknown(_))) => {
                let found = self.recover(place, files)?;
                let meant = self.meant(id, unfinished, &place.root);
                let none = self.meant(None, false, &place.root).is_err();
                match (meant, found.strangers.into_iter().next()) {
                    (Ok(id), _) => Ok((id, found.told)),
                    (Err(DeskError::NoneHere { .. }), Some(stranger)) if none => {
                        Err(DeskError::Stranger(Box::new(stranger)))
                    }
                    (Err(error), _) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Imports every signed debate of these files that the archive does not have or has only in
    /// part.
    pub fn recover(&self, place: &Place, files: &[PathBuf]) -> Result<Recovered, DeskError> {
        let found = sorted(self.archive.left_behind(&place.root, files));
        let mut told = vec![];
        for (path, setup, events) in found.ours {
            told.extend(self.bring_back(&path, setup, &events, place)?);
        }
        for (path, why) in found.unreadable {
            told.push(format!("`{}`: {why}", named(&path, place)));
        }
        Ok(Recovered { told, strangers: found.strangers })
    }

    /// Appends to one debate the events these files have and the archive lacks. Returns messages
    /// for the user.
    pub fn catch_up(
        &self,
        id: &str,
        place: &Place,
        files: &[PathBuf],
    ) -> Result<Vec<String>, DeskError> {
        let found = sorted(self.archive.left_behind(&place.root, files));
        let mut own = found.ours.into_iter().filter(|(_, setup, _)| setup.id == id);
        match own.next() {
            Some((path, setup, events)) => {
                Ok(self.bring_back(&path, setup, &events, place)?.into_iter().collect())
            }
            None => Ok(vec![]),
        }
    }

    fn bring_back(
        &self,
        path: &Path,
        setup: Setup,
        events: &[Recorded],
        place: &Place,
    ) -> Result<Option<String>, DeskError> {
        let file = named(path, place);
        let known = match self.archive.read(&setup.id) {
            Ok(stored) => Some(stored),
            Err(ArchiveError::Unknown(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let course = known.map(|known| beside(&known, &setup, events));
        // Continuing a debate overwrites its state file. A diverged log may exist only in this
        // file, so it does not become the state file.
        let own = match course {
            Some(Beside::Within) => return Ok(None),
            Some(Beside::Apart) if self.on_its_own(&setup, events, place)? => return Ok(None),
            Some(Beside::Apart) => None,
            _ => Some(path.to_owned()),
        };
        let place = Place { state_file: own, ..place.clone() };
        let id = setup.id.clone();
        match self.take_up(setup, events, &place) {
            Ok(TakenIn { id: new, how: How::Diverged }) => Ok(Some(format!(
                "`{file}` holds another course of {id} than the archive does; it is {new} now"
            ))),
            Ok(TakenIn { how: How::Extended(by), .. }) => {
                Ok(Some(format!("{id} went on elsewhere by {by} events, as `{file}` has them")))
            }
            Ok(_) => Ok(Some(format!(
                "{id} was not in the archive and is taken up from `{file}`, which you have signed"
            ))),
            // The running process has the newer log. An invalid log is reported, but is no error.
            Err(DeskError::Archive(ArchiveError::Busy { .. })) => Ok(None),
            Err(DeskError::Forged(why)) => Ok(Some(format!("`{file}`: {why}"))),
            Err(error) => Err(error),
        }
    }

    /// Whether a diverged log was already imported as another debate.
    fn on_its_own(
        &self,
        setup: &Setup,
        events: &[Recorded],
        place: &Place,
    ) -> Result<bool, DeskError> {
        let query = Query { root: Some(place.root.clone()), ..Query::default() };
        let cards = self.archive.list(&query)?.into_iter();
        for card in cards.filter(|card| card.id != setup.id && card.created_at == setup.opened_at) {
            let Ok(stored) = self.archive.read(&card.id) else { continue };
            let same = Setup { id: card.id, ..setup.clone() };
            if beside(&stored, &same, events) == Beside::Within {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Imports the transcript of an unsigned file, once.
    pub fn import(
        &self,
        stranger: &Stranger,
        opening: &Opening,
        place: &Place,
    ) -> Result<TakenIn, DeskError> {
        match self.taken_down(&stranger.transcript, place)? {
            Some(id) => Ok(TakenIn { id, how: How::Known }),
            None => self.take_down(&stranger.transcript, opening, place),
        }
    }
}

/// Path relative to the repository, for messages.
fn named(path: &Path, place: &Place) -> String {
    path.strip_prefix(&place.root).unwrap_or(path).display().to_string()
}
