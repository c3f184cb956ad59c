//! Which file a written path means: the one of that path, or the only one whose path ends so.
use crate::repo::{File, View};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// The files of a tree by their last name, in small letters.
pub(super) struct Paths {
    by_name: Vec<(u64, u32)>,
    /// The name of the folder the repository is in, which may stand before a path.
    folder: String,
}

/// What a path means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// One file, by its place in the view.
    File(usize),
    /// One file, if small and capital letters are the same.
    Nearly(usize),
    /// One of several files.
    Several(Vec<usize>),
    /// A folder, as it is written in the tree.
    Folder(String),
    Nothing,
}

impl Paths {
    pub(super) fn new(view: &View, root: &Path) -> Paths {
        let files = view.files().iter().zip(0..);
        let mut by_name: Vec<(u64, u32)> =
            files.map(|(file, nth)| (key(name(&file.path)), nth)).collect();
        by_name.sort_unstable();
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let top = root.ancestors().find(has_git).and_then(Path::file_name);
        let folder = top.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Paths { by_name, folder }
    }

    /// What a written path means in a tree, to somebody in a folder of it, which ends in `/`.
    pub(super) fn meant(&self, view: &View, written: &str, folder: &str) -> Meant {
        let Some((path, absolute)) = normal(written) else { return Meant::Nothing };
        if !folder.is_empty() && !absolute {
            let below = exact(view, &format!("{folder}{path}"));
            if below != Meant::Nothing {
                return below;
            }
        }
        let direct = exact(view, &path);
        if direct != Meant::Nothing {
            return direct;
        }
        let by_end = if path.is_empty() { Meant::Nothing } else { self.by_end(view, &path) };
        if by_end != Meant::Nothing {
            return by_end;
        }
        // What a diff, a mention or the place of a clone puts before a path.
        for prefix in ["a", "b", "@", &self.folder] {
            let rest = match prefix {
                "@" => path.strip_prefix('@'),
                name => path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')),
            };
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let direct = exact(view, rest);
                if direct != Meant::Nothing {
                    return direct;
                }
            }
        }
        // Words before a path may have been taken for a part of it.
        if let Some((_, last)) = path.rsplit_once(' ') {
            return self.meant(view, last, folder);
        }
        // Only below a folder of the repository's name, or in a copy of the tree, is it the same.
        if absolute {
            let here = |before: &str| {
                let last = name(before);
                last == self.folder || last.starts_with(view.tree())
            };
            let ends = path.match_indices('/').filter(|(at, _)| here(&path[..*at]));
            return ends
                .map(|(at, _)| exact(view, &path[at + 1..]))
                .find(|meant| *meant != Meant::Nothing)
                .unwrap_or(Meant::Nothing);
        }
        Meant::Nothing
    }

    /// The files whose path ends so, from a `/` on.
    fn by_end(&self, view: &View, path: &str) -> Meant {
        let key = key(name(path));
        let from = self.by_name.partition_point(|(other, _)| *other < key);
        let same = self.by_name[from..].iter().take_while(|(other, _)| *other == key);
        let (mut exactly, mut nearly) = (vec![], vec![]);
        let lower = path.to_lowercase();
        for nth in same.map(|(_, nth)| *nth as usize) {
            let Some(File { path: whole, .. }) = view.files().get(nth) else { continue };
            if ends(whole, path) {
                exactly.push(nth);
            } else if ends(&whole.to_lowercase(), &lower) {
                nearly.push(nth);
            }
        }
        match (exactly.as_slice(), nearly.as_slice()) {
            ([nth], _) => Meant::File(*nth),
            ([], [nth]) => Meant::Nearly(*nth),
            ([], []) => Meant::Nothing,
            ([], _) => Meant::Several(nearly),
            _ => Meant::Several(exactly),
        }
    }
}

/// The file or folder of exactly this path.
fn exact(view: &View, path: &str) -> Meant {
    let files = view.files();
    match files.binary_search_by(|file| file.path.as_str().cmp(path)) {
        Ok(nth) => Meant::File(nth),
        Err(_) if path.is_empty() => Meant::Nothing,
        Err(_) => {
            let inside = format!("{path}/");
            let nth = files.partition_point(|file| file.path.as_str() < inside.as_str());
            let is_folder = files.get(nth).is_some_and(|file| file.path.starts_with(&inside));
            if is_folder { Meant::Folder(path.to_owned()) } else { Meant::Nothing }
        }
    }
}

fn ends(whole: &str, path: &str) -> bool {
    whole.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Only ever compared within one run.
fn key(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.to_lowercase().hash(&mut hasher);
    hasher.finish()
}

/// A path without `.` and `..`, and whether it was given from the root of the disk. None if nothing
/// is left of it.
fn normal(written: &str) -> Option<(String, bool)> {
    let unix = written.trim().replace('\\', "/");
    let absolute = unix.starts_with(['/', '~']);
    let mut names: Vec<&str> = vec![];
    for name in unix.trim_start_matches('~').split('/') {
        match name {
            "" | "." => {}
            // From a folder nobody knows: what follows still ends the path.
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| (names.join("/"), absolute))
}
