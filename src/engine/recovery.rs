//! What state files hold that the archive does not: this user's own debates come back by themselves,
//! the longest log of each; what anybody else wrote is only told of.
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::ports::{ArchiveError, Foreign, Left, Place, Query, Recorded, Transcript};
use super::taking_in::{Beside, How, TakenIn, beside};
use crate::debate::Setup;
use std::path::{Path, PathBuf};

/// What was found in state files.
#[derive(Debug, Default)]
pub struct Recovered {
    /// What was taken up, and what should be said of the rest, a line each.
    pub told: Vec<String>,
    /// What this user's key has not signed.
    pub strangers: Vec<Stranger>,
}

/// A file somebody else wrote, or a program that does not sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Where it lies.
    pub path: PathBuf,
    /// What was said.
    pub transcript: Transcript,
}

impl Stranger {
    /// What it says it is about, on a line.
    pub fn topic(&self) -> String {
        short(&self.transcript.topic, 120)
    }

    /// By whom it says it was said.
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

/// A line of somebody's text.
fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(most).collect()
}

/// What state files hold, sorted.
#[derive(Debug, Default)]
struct Sorted {
    /// The longest log of each debate, and where it lies; the one touched last is the last.
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
    /// The debate that is meant, as [`Desk::meant`] has it. Where none is known, or not that one,
    /// state files are looked at first. Says what came back.
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

    /// Takes up whatever these files hold of this user's own that the archive does not know, or
    /// knows less of.
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

    /// Takes up what these files hold of one debate that goes on where the archive's log of it
    /// stops. Says so, if one does.
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
        // Going on writes the file anew, and what went another way may be in no other place.
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
            // Whoever plays it knows more of it, and what nobody could have written is no log.
            Err(DeskError::Archive(ArchiveError::Busy { .. })) => Ok(None),
            Err(DeskError::Forged(why)) => Ok(Some(format!("`{file}`: {why}"))),
            Err(error) => Err(error),
        }
    }

    /// Whether a course of a debate that went another way is a debate of its own already.
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

    /// Puts what a stranger's file says was said on a record of its own, once.
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

/// A path as a user of this repository would type it.
fn named(path: &Path, place: &Place) -> String {
    path.strip_prefix(&place.root).unwrap_or(path).display().to_string()
}
