//! A change that came as a patch, as `git diff` or `git format-patch` write them. It is applied in
//! memory: neither the user's repository nor any file of theirs is touched.
use super::RepoError;
use super::patch::Patch;
use super::stores::{Ours, Theirs};
use git2::{ApplyOptions, Delta, Diff, ObjectType, Oid};
use std::path::Path;

/// Bytes of a patch.
const LONGEST: usize = 64 * 1024 * 1024;
/// Comes before every store there is, so that whatever is written is written there.
const FIRST: i32 = 1_000;

/// What a patch makes of a tree, which is called `onto`. What it puts into files is kept among our
/// own objects.
pub(super) fn read(
    root: &Path,
    (onto, tree): (&str, Oid),
    text: &[u8],
    ours: &Ours,
) -> Result<Patch, RepoError> {
    let bad = |says: String| RepoError::Patch { onto: format!("`{onto}`"), says };
    if text.len() > LONGEST {
        return Err(bad(format!("it has more than {} MB", LONGEST / 1024 / 1024)));
    }
    if !text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git ")) {
        return Err(bad("it has no line that begins with `diff --git`".into()));
    }
    // A handle of its own: what is written through it stays in memory and is gone with it.
    let theirs = Theirs::around(root)?.ok_or_else(|| RepoError::no_repository(root))?;
    let failed = |error: git2::Error| bad(error.message().to_owned());
    let odb = theirs.repository.odb().map_err(failed)?;
    let _memory = odb.add_new_mempack_backend(FIRST).map_err(failed)?;
    let diff = Diff::from_buffer(text).map_err(failed)?;
    let base = theirs.repository.find_tree(tree).map_err(failed)?;
    let mut options = ApplyOptions::new();
    let index =
        theirs.repository.apply_to_tree(&base, &diff, Some(&mut options)).map_err(failed)?;
    let mut changes = Patch::default();
    for delta in diff.deltas() {
        let moved =
            delta.status() == Delta::Deleted || delta.old_file().path() != delta.new_file().path();
        if let Some(path) =
            delta.old_file().path_bytes().filter(|_| moved && delta.status() != Delta::Added)
        {
            changes.remove(path);
        }
    }
    for delta in diff.deltas().filter(|delta| delta.status() != Delta::Deleted) {
        let Some(path) = delta.new_file().path() else { continue };
        let entry = index.get_path(path, 0);
        let entry = entry.ok_or_else(|| bad(format!("`{}` is not in it", path.display())))?;
        let mode = i32::try_from(entry.mode).unwrap_or(0o100_644);
        if mode & 0o170_000 != 0o160_000 {
            let blob = theirs.repository.find_blob(entry.id).map_err(failed)?;
            ours.keep(ObjectType::Blob, blob.content())?;
        }
        changes.enter(&entry.path, entry.id, mode);
    }
    Ok(changes)
}
