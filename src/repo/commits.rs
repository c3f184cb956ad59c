//! Resolves a commit by a prefix of its id.
use super::RepoError;
use super::stores::Theirs;
use git2::{ErrorCode, ObjectType, Oid, Repository};
use std::path::Path;

/// Result of looking up a commit id prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
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
pub fn commit(root: &Path, prefix: &str) -> Result<Commit, RepoError> {
    let Some(theirs) = Theirs::around(root)? else { return Ok(Commit::NoHistory) };
    let repository = &theirs.repository;
    let digits = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !digits || !(4..=40).contains(&prefix.len()) {
        return Ok(Commit::Unknown);
    }
    let found = match repository.find_object_by_prefix(prefix, None) {
        Ok(object) => commits(repository, &[object.id()]),
        // An ambiguous prefix can still match only one commit, if the other objects are files.
        Err(error) if error.code() == ErrorCode::Ambiguous => {
            let all = beginning(repository, &prefix.to_ascii_lowercase());
            commits(repository, &all.map_err(|error| RepoError::broken(&theirs.top, &error))?)
        }
        Err(_) => vec![],
    };
    Ok(match found.as_slice() {
        [] if repository.is_shallow() => Commit::Shallow,
        [] => Commit::Unknown,
        [one] => Commit::Known(one.to_string()),
        _ => Commit::Ambiguous,
    })
}

fn commits(repository: &Repository, ids: &[Oid]) -> Vec<Oid> {
    let is_commit = |id: &&Oid| {
        let kind = repository.odb().and_then(|odb| odb.read_header(**id)).map(|(_, kind)| kind);
        kind.is_ok_and(|kind| kind == ObjectType::Commit)
    };
    ids.iter().filter(is_commit).copied().collect()
}

/// Ids of all objects with the prefix, without duplicates.
fn beginning(repository: &Repository, prefix: &str) -> Result<Vec<Oid>, git2::Error> {
    let mut ids = vec![];
    repository.odb()?.foreach(|id| {
        if id.to_string().starts_with(prefix) && !ids.contains(id) {
            ids.push(*id);
        }
        true
    })?;
    Ok(ids)
}
