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
    own_repo: &OwnRepo,
) -> Result<TreeEdits, RepoError> {
    let patch_error = |says: String| RepoError::PatchFailed { onto: format!("`{onto}`"), says };
    if text.len() > MAX_PATCH_BYTES {
        return Err(patch_error(format!("it is larger than {} MB", MAX_PATCH_BYTES / 1024 / 1024)));
    }
    if !text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git ")) {
        return Err(patch_error("it has no line that begins with `diff --git`".into()));
    }
    // A separate handle: objects written through it stay in memory and are dropped with it.
    let user_repo = UserRepo::discover(root)?.ok_or_else(|| RepoError::no_repository(root))?;
    let git_error = |error: git2::Error| patch_error(error.message().to_owned());
    let odb = user_repo.repository.odb().map_err(git_error)?;
    let _memory = odb.add_new_mempack_backend(MEMPACK_PRIORITY).map_err(git_error)?;
    let repository = &user_repo.repository;
    let (old, mut new) = (tree, tree);
    for mail in split_mbox(text) {
        let diff = Diff::from_buffer(mail).map_err(git_error)?;
        let onto = repository.find_tree(new).map_err(git_error)?;
        let mut index = repository.apply_to_tree(&onto, &diff, None).map_err(git_error)?;
        new = index.write_tree_to(repository).map_err(git_error)?;
    }
    let tree_by_id = |id: Oid| repository.find_tree(id).map_err(git_error);
    let total_diff =
        repository.diff_tree_to_tree(Some(&tree_by_id(old)?), Some(&tree_by_id(new)?), None);
    let total_diff = total_diff.map_err(git_error)?;
    let mut edits = TreeEdits::default();
    for delta in total_diff.deltas().filter(|delta| delta.status() == Delta::Deleted) {
        edits.remove(delta.old_file().path_bytes().unwrap_or_default());
    }
    for delta in total_diff.deltas().filter(|delta| delta.status() != Delta::Deleted) {
        let file = delta.new_file();
        let mode = i32::try_from(u32::from(file.mode())).unwrap_or(0o100_644);
        if mode & 0o170_000 != 0o160_000 {
            let blob = repository.find_blob(file.id()).map_err(git_error)?;
            own_repo.write_object(ObjectType::Blob, blob.content())?;
        }
        edits.put_entry(file.path_bytes().unwrap_or_default(), file.id(), mode);
    }
    Ok(edits)
}

/// Splits an mbox into its patches, in order of application: one mail per commit.
fn split_mbox(text: &[u8]) -> Vec<&[u8]> {
    let is_mail_start = |line: &[u8]| {
        let id = line.strip_prefix(b"From ").and_then(|rest| rest.get(..40));
        id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
    };
    let (mut mails, mut start, mut offset) = (vec![], 0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if is_mail_start(line) && offset > start {
            mails.push(&text[start..offset]);
            start = offset;
        }
        offset += line.len();
    }
    mails.push(&text[start..]);
    let has_patch = |mail: &&[u8]| {
        mail.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git "))
    };
    mails.into_iter().filter(has_patch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_over_64_mib_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let own_repo = OwnRepo::open_or_create(folder.path()).unwrap();
        let tree = Oid::hash_object(ObjectType::Tree, &[]).unwrap();
        let error_message = |size: usize| {
            let text = vec![b' '; size];
            let applied = apply_to_tree(folder.path(), ("main", tree), &text, &own_repo);
            applied.err().unwrap().to_string()
        };
        let accepted_size = error_message(MAX_PATCH_BYTES);
        assert!(accepted_size.contains("no line that begins with"), "{accepted_size}");
        let refused_size = error_message(MAX_PATCH_BYTES + 1);
        assert!(refused_size.contains("it is larger than 64 MB"), "{refused_size}");
    }
}
