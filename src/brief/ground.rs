//! Where the contents of a brief come from: the pinned tree, and the disk only for what the tree has
//! not got and somebody has named.
use crate::repo::{self, File, Pin, Reader, RepoError, Trees, View, Why, absent};
use std::path::{Path, PathBuf};

/// Files of a folder without a pin that are looked at.
const MOST_ON_DISK: usize = 5_000;

/// What can be read.
pub(super) struct Ground {
    trees: Trees,
    /// What paths are relative to.
    top: PathBuf,
    /// Where the user is, below that; empty or ending in `/`.
    folder: String,
    pinned: Option<(View, Reader)>,
    /// What lies in a folder that is not pinned, with sizes.
    listed: Vec<(String, u64)>,
    /// Whether all there is can be seen.
    pub(super) whole: bool,
    /// A folder that is not told of; empty, or ending in `/`.
    hidden: String,
}

/// Which files a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    File(String),
    /// Ending in `/`.
    Folder(String),
    /// It could be any of so many.
    Several(usize),
    Nothing,
}

impl Ground {
    pub(super) fn open(
        trees: &Trees,
        root: &Path,
        folder: &Path,
        pin: Option<&Pin>,
    ) -> Result<Ground, RepoError> {
        let top = repo::top(root)?;
        let folder = dunce::canonicalize(folder).ok();
        let below = folder.as_deref().and_then(|folder| folder.strip_prefix(&top).ok());
        let below = below.map(|below| below.to_string_lossy().replace('\\', "/"));
        let folder = below.filter(|below| !below.is_empty()).map(|below| below + "/");
        let mut ground = Ground {
            trees: trees.clone(),
            top,
            folder: folder.unwrap_or_default(),
            pinned: None,
            listed: vec![],
            whole: true,
            hidden: String::new(),
        };
        if let Some(pin) = pin {
            let view = trees.view(root, &pin.tree)?;
            let reader = view.reader()?;
            ground.whole = view.whole();
            ground.pinned = Some((view, reader));
        } else {
            let listed = repo::list(&ground.top, MOST_ON_DISK);
            (ground.listed, ground.whole) = (listed.files, listed.whole);
        }
        Ok(ground)
    }

    /// A folder that holds what is there no more.
    pub(super) fn hide(&mut self, folder: &str) {
        self.hidden = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    }

    pub(super) fn reader(&self) -> Option<&Reader> {
        self.pinned.as_ref().map(|(_, reader)| reader)
    }

    /// One more, for somebody else to read with.
    pub(super) fn another_reader(&self) -> Option<Reader> {
        self.pinned.as_ref().and_then(|(view, _)| view.reader().ok())
    }

    /// Every path, sorted; not what a change under review touches, as it was before.
    pub(super) fn paths(&self) -> Vec<&str> {
        match &self.pinned {
            Some((view, _)) => self.told(view).map(|file| file.path.as_str()).collect(),
            None => self.listed.iter().map(|(path, _)| path.as_str()).collect(),
        }
    }

    /// Every path with its size; links and other repositories have none.
    pub(super) fn sizes(&self) -> Vec<(&str, Option<u64>)> {
        match &self.pinned {
            Some((view, reader)) => {
                let sized = |file| reader.size(file);
                self.told(view).map(|file| (file.path.as_str(), sized(file))).collect()
            }
            None => self.listed.iter().map(|(path, size)| (path.as_str(), Some(*size))).collect(),
        }
    }

    fn told<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a File> {
        let hidden =
            |file: &&File| !self.hidden.is_empty() && file.path.starts_with(self.hidden.as_str());
        view.files().iter().filter(move |file| !hidden(file))
    }

    /// What stands in a file of the tree, or in one on disk where there is no tree.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, Why> {
        match &self.pinned {
            Some((view, reader)) => {
                view.find(path).ok_or(Why::Unreadable).and_then(|file| reader.bytes(file))
            }
            None => self.on_disk(path),
        }
    }

    /// What stands in a file somebody has named: it may be one the tree has not got.
    pub(super) fn read_named(&self, path: &str) -> Result<Vec<u8>, Why> {
        match &self.pinned {
            Some((view, _)) if view.find(path).is_some() => self.read(path),
            _ => self.on_disk(path),
        }
    }

    fn on_disk(&self, path: &str) -> Result<Vec<u8>, Why> {
        let tree = self.pinned.as_ref().map(|(view, _)| view.tree());
        self.trees.on_disk(&self.top, path, tree)
    }

    /// What a path means: below the folder the user is in, or else below the root.
    pub(super) fn find(&self, path: &str) -> Meant {
        self.places(path).into_iter().find_map(|place| self.at(&place)).unwrap_or(Meant::Nothing)
    }

    /// The same for what may also lie on disk only.
    pub(super) fn find_named(&self, path: &str) -> Meant {
        match self.find(path) {
            Meant::Nothing => {
                let places = self.places(path).into_iter();
                let there = |place: &String| {
                    !place.is_empty()
                        && !matches!(absent(place.as_bytes()), Some(Why::Unreadable))
                        && self
                            .top
                            .join(place)
                            .symlink_metadata()
                            .is_ok_and(|found| !found.is_dir())
                };
                places.into_iter().find(there).map_or(Meant::Nothing, Meant::File)
            }
            found => found,
        }
    }

    /// What a name in a text means: a path, or the end of the only one there is.
    pub(super) fn guess(&self, name: &str) -> Meant {
        let found = self.find(name);
        if found != Meant::Nothing {
            return found;
        }
        let ending = format!("/{}", name.trim_start_matches("./"));
        let fits: Vec<&str> =
            self.paths().into_iter().filter(|path| path.ends_with(&ending)).collect();
        match fits[..] {
            [] => Meant::Nothing,
            [one] => Meant::File(one.to_owned()),
            _ => Meant::Several(fits.len()),
        }
    }

    /// Every file below a folder, which ends in `/` or is empty.
    pub(super) fn below(&self, folder: &str) -> Vec<String> {
        let inside = self.paths().into_iter().filter(|path| path.starts_with(folder));
        inside.map(str::to_owned).collect()
    }

    /// Every file whose path is like a pattern.
    pub(super) fn like(&self, pattern: &str) -> Vec<String> {
        let patterns = self.places(pattern);
        let anywhere = !pattern.contains('/');
        let fits = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let here = path.starts_with(&self.folder);
            (anywhere && here && like(pattern.as_bytes(), name.as_bytes()))
                || patterns.iter().any(|pattern| like(pattern.as_bytes(), path.as_bytes()))
        };
        self.paths().into_iter().filter(|path| fits(path)).map(str::to_owned).collect()
    }

    fn at(&self, place: &str) -> Option<Meant> {
        let paths = self.paths();
        if paths.binary_search(&place).is_ok() {
            return Some(Meant::File(place.to_owned()));
        }
        let folder = if place.is_empty() { String::new() } else { format!("{place}/") };
        let next = paths.partition_point(|path| *path < folder.as_str());
        let inside = paths.get(next).is_some_and(|path| path.starts_with(&folder));
        inside.then_some(Meant::Folder(folder))
    }

    /// Where a path may be, from the top.
    fn places(&self, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let whole = Path::new(path);
        if let Some(below) = whole.strip_prefix(&self.top).ok().filter(|_| whole.is_absolute()) {
            // As git writes paths, whatever stands between their parts here.
            let parts = below.components().map(|part| part.as_os_str().to_string_lossy());
            return vec![parts.collect::<Vec<_>>().join("/")];
        }
        let path = path.trim_start_matches("./");
        if path.is_empty() || path == "." {
            return vec![self.folder.trim_end_matches('/').to_owned()];
        }
        let mut places = vec![format!("{}{path}", self.folder), path.to_owned()];
        places.dedup();
        places
    }
}

/// Whether a path is like a pattern: `?` is a character of a name, `*` any of them, and `**` also
/// any folders. Every place a part may end at is kept, so that no pattern takes long.
fn like(pattern: &[u8], path: &[u8]) -> bool {
    let mut ends = vec![false; path.len() + 1];
    ends[0] = true;
    let mut rest = pattern;
    while let [first, after @ ..] = rest {
        let mut next = vec![false; path.len() + 1];
        let folders = rest.starts_with(b"**/");
        let (anything, name) = (rest.starts_with(b"**"), *first == b'*');
        let mut before = false;
        for at in 0..=path.len() {
            let last = at.checked_sub(1).map(|at| path[at]);
            next[at] = if folders {
                ends[at] || (before && last == Some(b'/'))
            } else if anything {
                ends[at] || before
            } else if name {
                ends[at] || (at > 0 && next[at - 1] && last != Some(b'/'))
            } else {
                let fits =
                    last == Some(*first) || (*first == b'?' && last.is_some_and(|c| c != b'/'));
                at > 0 && ends[at - 1] && fits
            };
            before |= ends[at];
        }
        ends = next;
        rest = if folders {
            &rest[3..]
        } else if anything {
            &rest[2..]
        } else {
            after
        };
    }
    ends.last() == Some(&true)
}
