//! Applies a patch from `git diff` or `git format-patch` to a tree, in memory. Neither the user's
//! repository nor a file of the user is changed.
use super::RepoError;
use super::object_store::{OwnRepo, UserRepo};
use super::tree_edits::TreeEdits;
use git2::{Delta, Diff, ObjectType, Oid};
use std::path::Path;

/// Maximum size of a patch in bytes.
const MAX_PATCH_BYTES: usize = 64 * 1024 * 1024;
/// Priority of the in-memory backend, above all other object backends, so that it receives all
/// writes.
const MEMPACK_PRIORITY: i32 = 1_000;

/// Applies the patch `text` to `tree`, which error messages call `onto`. Returns the resulting
/// edits, and stores new file contents in our own object store.
pub(super) fn apply_to_tree(
    root: &Path,
    (onto, tree): (&str, Oid),
    text: &[u8],
    ours: &OwnRepo,
) -> Result<TreeEdits, RepoError> {
    let bad = |says: String| RepoError::PatchFailed { onto: format!("`{onto}`"), says };
    if text.len() > MAX_PATCH_BYTES {
        return Err(bad(format!("it has more than {} MB", MAX_PATCH_BYTES / 1024 / 1024)));
    }
    if !text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git ")) {
        return Err(bad("it has no line that begins with `diff --git`".into()));
    }
    // A separate handle: objects written through it stay in memory and are dropped with it.
    let theirs = UserRepo::discover(root)?.ok_or_else(|| RepoError::no_repository(root))?;
    let failed = |error: git2::Error| bad(error.message().to_owned());
    let odb = theirs.repository.odb().map_err(failed)?;
    let _memory = odb.add_new_mempack_backend(MEMPACK_PRIORITY).map_err(failed)?;
    let repository = &theirs.repository;
    let (old, mut new) = (tree, tree);
    for one in split_mbox(text) {
        let diff = Diff::from_buffer(one).map_err(failed)?;
        let onto = repository.find_tree(new).map_err(failed)?;
        let mut index = repository.apply_to_tree(&onto, &diff, None).map_err(failed)?;
        new = index.write_tree_to(repository).map_err(failed)?;
    }
    let side = |id: Oid| repository.find_tree(id).map_err(failed);
    let differs = repository.diff_tree_to_tree(Some(&side(old)?), Some(&side(new)?), None);
    let differs = differs.map_err(failed)?;
    let mut changes = TreeEdits::default();
    for delta in differs.deltas().filter(|delta| delta.status() == Delta::Deleted) {
        changes.remove(delta.old_file().path_bytes().unwrap_or_default());
    }
    for delta in differs.deltas().filter(|delta| delta.status() != Delta::Deleted) {
        let file = delta.new_file();
        let mode = i32::try_from(u32::from(file.mode())).unwrap_or(0o100_644);
        if mode & 0o170_000 != 0o160_000 {
            let blob = repository.find_blob(file.id()).map_err(failed)?;
            ours.write_object(ObjectType::Blob, blob.content())?;
        }
        changes.put_entry(file.path_bytes().unwrap_or_default(), file.id(), mode);
    }
    Ok(changes)
}

/// Splits an mbox into its patches, in order of application: one mail per commit.
fn split_mbox(text: &[u8]) -> Vec<&[u8]> {
    let begins = |line: &[u8]| {
        let id = line.strip_prefix(b"From ").and_then(|rest| rest.get(..40));
        id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
    };
    let (mut mails, mut start, mut at) = (vec![], 0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if begins(line) && at > start {
            mails.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    mails.push(&text[start..]);
    let patch = |mail: &&[u8]| {
        mail.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git "))
    };
    mails.into_iter().filter(patch).collect()
}
