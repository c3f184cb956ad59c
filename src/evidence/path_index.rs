//! Resolves a written path to a file of the tree: an exact path, or the only path with that suffix.
//! The entry point is `PathIndex::resolve`, called by `lookup`, so that a shortened path is found
//! too. `checker` builds one index per tree.
use crate::repo::{TreeFile, TreeView};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// Index of a tree's files by the hash of their lower-case file name.
pub(super) struct PathIndex {
    by_name: Vec<(u64, u32)>,
    /// Name of the repository folder, which may precede a path.
    repo_folder: String,
}

/// Result of resolving a path. Files are indexes into the view.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResolvedPath {
    /// Exactly one file.
    File(usize),
    /// One file, if case is ignored.
    CaseInsensitive(usize),
    /// Several files have this suffix.
    Ambiguous(Vec<usize>),
    /// A folder of the tree.
    Folder(String),
    NotFound,
}

impl PathIndex {
    pub(super) fn new(view: &TreeView, root: &Path) -> PathIndex {
        let files = view.files().iter().zip(0..);
        let mut by_name: Vec<(u64, u32)> =
            files.map(|(file, index)| (name_hash(file_name(&file.path)), index)).collect();
        by_name.sort_unstable();
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let folder_name = root.ancestors().find(has_git).and_then(Path::file_name);
        let repo_folder =
            folder_name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        PathIndex { by_name, repo_folder }
    }

    /// Resolves a written path. `folder` is where relative paths start, and ends in `/` unless
    /// empty.
    pub(super) fn resolve(&self, view: &TreeView, written: &str, folder: &str) -> ResolvedPath {
        let Some((path, absolute)) = normalize(written) else { return ResolvedPath::NotFound };
        if !folder.is_empty() && !absolute {
            let in_folder = find_exact(view, &format!("{folder}{path}"));
            if in_folder != ResolvedPath::NotFound {
                return in_folder;
            }
        }
        let exact = find_exact(view, &path);
        if exact != ResolvedPath::NotFound {
            return exact;
        }
        let by_suffix =
            if path.is_empty() { ResolvedPath::NotFound } else { self.resolve_suffix(view, &path) };
        if by_suffix != ResolvedPath::NotFound {
            return by_suffix;
        }
        // Prefixes of diffs (`a/`, `b/`), mentions (`@`) and the repository folder.
        for prefix in ["a", "b", "@", &self.repo_folder] {
            let rest = match prefix {
                "@" => path.strip_prefix('@'),
                name => path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')),
            };
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let exact = find_exact(view, rest);
                if exact != ResolvedPath::NotFound {
                    return exact;
                }
            }
        }
        // The path may have been parsed with words before it, so retry with the last one.
        if let Some((_, last)) = path.rsplit_once(' ') {
            return self.resolve(view, last, folder);
        }
        // An absolute path is valid only below a folder named like the repository, or in a
        // snapshot.
        if absolute {
            let is_repo_folder = |parent: &str| {
                let last = file_name(parent);
                last == self.repo_folder || last.starts_with(view.tree())
            };
            let slashes =
                path.match_indices('/').filter(|(slash, _)| is_repo_folder(&path[..*slash]));
            return slashes
                .map(|(slash, _)| find_exact(view, &path[slash + 1..]))
                .find(|resolved| *resolved != ResolvedPath::NotFound)
                .unwrap_or(ResolvedPath::NotFound);
        }
        ResolvedPath::NotFound
    }

    /// Finds files whose path ends in these components.
    fn resolve_suffix(&self, view: &TreeView, path: &str) -> ResolvedPath {
        let key = name_hash(file_name(path));
        let start = self.by_name.partition_point(|(hash, _)| *hash < key);
        let namesakes = self.by_name[start..].iter().take_while(|(hash, _)| *hash == key);
        let (mut exact, mut case_insensitive) = (vec![], vec![]);
        let lower = path.to_lowercase();
        for index in namesakes.map(|(_, index)| *index as usize) {
            let Some(TreeFile { path: full_path, .. }) = view.files().get(index) else { continue };
            if ends_with_path(full_path, path) {
                exact.push(index);
            } else if ends_with_path(&full_path.to_lowercase(), &lower) {
                case_insensitive.push(index);
            }
        }
        match (exact.as_slice(), case_insensitive.as_slice()) {
            ([index], _) => ResolvedPath::File(*index),
            ([], [index]) => ResolvedPath::CaseInsensitive(*index),
            ([], []) => ResolvedPath::NotFound,
            ([], _) => ResolvedPath::Ambiguous(case_insensitive),
            _ => ResolvedPath::Ambiguous(exact),
        }
    }
}

/// Finds the file or folder with exactly this path.
fn find_exact(view: &TreeView, path: &str) -> ResolvedPath {
    let files = view.files();
    match files.binary_search_by(|file| file.path.as_str().cmp(path)) {
        Ok(index) => ResolvedPath::File(index),
        Err(_) if path.is_empty() => ResolvedPath::NotFound,
        Err(_) => {
            let prefix = format!("{path}/");
            let index = files.partition_point(|file| file.path.as_str() < prefix.as_str());
            let is_folder = files.get(index).is_some_and(|file| file.path.starts_with(&prefix));
            if is_folder { ResolvedPath::Folder(path.to_owned()) } else { ResolvedPath::NotFound }
        }
    }
}

fn ends_with_path(full_path: &str, path: &str) -> bool {
    full_path.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Hash of a file name. Not stable across processes.
fn name_hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.to_lowercase().hash(&mut hasher);
    hasher.finish()
}

/// Normalizes a path: resolves `.` and `..`. The flag tells whether it was absolute. None if
/// nothing remains.
fn normalize(written: &str) -> Option<(String, bool)> {
    let unix = written.trim().replace('\\', "/");
    let absolute = unix.starts_with(['/', '~']);
    let mut names: Vec<&str> = vec![];
    for name in unix.trim_start_matches('~').split('/') {
        match name {
            "" | "." => {}
            // The starting folder is unknown, but the rest is still a valid suffix.
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| (names.join("/"), absolute))
}
