//! Resolves a commit by a prefix of its id.
use super::RepoError;
use super::object_store::UserRepo;
use git2::{ErrorCode, ObjectType, Oid, Repository};
use std::path::Path;

/// Length of a full commit id in hexadecimal digits.
const ID_DIGITS: usize = 40;
/// Minimum length of a commit id prefix in hexadecimal digits.
const MIN_PREFIX_DIGITS: usize = 4;

/// Result of looking up a commit id prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitLookup {
    /// Exactly one commit matches. Holds the full id.
    Known(String),
    /// Several commits match.
    Ambiguous,
    /// No commit matches, and the history is complete.
    Unknown,
    /// No commit matches, but the clone is shallow and lacks part of the history.
    Shallow,
    /// There is no git repository.
    NoHistory,
}

/// Looks up a commit in the repository around `root`, including its alternate object stores. A
/// valid prefix has 4 to 40 hexadecimal digits.
pub fn find_commit(root: &Path, prefix: &str) -> Result<CommitLookup, RepoError> {
    let Some(user_repo) = UserRepo::discover(root)? else { return Ok(CommitLookup::NoHistory) };
    let repository = &user_repo.repository;
    let is_hex = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(MIN_PREFIX_DIGITS..=ID_DIGITS).contains(&prefix.len()) {
        return Ok(CommitLookup::Unknown);
    }
    let commits = match repository.find_object_by_prefix(prefix, None) {
        Ok(object) => filter_commits(repository, &[object.id()]),
        // An ambiguous prefix can still match only one commit, if the other objects are files.
        Err(error) if error.code() == ErrorCode::Ambiguous => {
            let ids = objects_with_prefix(repository, &prefix.to_ascii_lowercase());
            filter_commits(
                repository,
                &ids.map_err(|error| RepoError::from_git(&user_repo.top, &error))?,
            )
        }
        Err(_) => vec![],
    };
    Ok(match commits.as_slice() {
        [] if repository.is_shallow() => CommitLookup::Shallow,
        [] => CommitLookup::Unknown,
        [id] => CommitLookup::Known(id.to_string()),
        _ => CommitLookup::Ambiguous,
    })
}

fn filter_commits(repository: &Repository, ids: &[Oid]) -> Vec<Oid> {
    let is_commit = |id: &&Oid| {
        let kind = repository.odb().and_then(|odb| odb.read_header(**id)).map(|(_, kind)| kind);
        kind.is_ok_and(|kind| kind == ObjectType::Commit)
    };
    ids.iter().filter(is_commit).copied().collect()
}

/// Ids of all objects with the prefix, without duplicates.
fn objects_with_prefix(repository: &Repository, prefix: &str) -> Result<Vec<Oid>, git2::Error> {
    let mut ids = vec![];
    repository.odb()?.foreach(|id| {
        if id.to_string().starts_with(prefix) && !ids.contains(id) {
            ids.push(*id);
        }
        true
    })?;
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};

    #[test]
    fn commit_id_prefix_has_4_to_40_digits() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let id = repo.commit_chain([tree])[0].to_string();
        let known = CommitLookup::Known(id.clone());
        let find = |prefix: &str| find_commit(&repo.root(), prefix).unwrap();
        assert_eq!(find(&id[..MIN_PREFIX_DIGITS]), known);
        assert_eq!(find(&id[..MIN_PREFIX_DIGITS - 1]), CommitLookup::Unknown);
        assert_eq!(find(&id[..ID_DIGITS]), known);
        assert_eq!(find(&format!("{id}0")), CommitLookup::Unknown);
        assert_eq!((MIN_PREFIX_DIGITS, ID_DIGITS), (4, 40));
    }
}
