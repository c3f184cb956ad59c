//! Whether there is a commit, by the beginning of its id.
use super::RepoError;
use super::stores::Theirs;
use git2::{ErrorCode, ObjectType, Oid, Repository};
use std::path::Path;

/// What the beginning of an id comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// One commit, by its whole id.
    Known(String),
    /// Several commits begin so.
    Ambiguous,
    /// None does, and all there ever were are there.
    Unknown,
    /// None does, but this clone has not got all of them.
    Shallow,
    /// There is no repository, so nobody can tell.
    NoHistory,
}

/// Looks for a commit in the repository around a folder, in whatever it takes objects from. Between
/// 4 and 40 hexadecimal digits name one.
pub fn commit(root: &Path, prefix: &str) -> Result<Commit, RepoError> {
    let Some(theirs) = Theirs::around(root)? else { return Ok(Commit::NoHistory) };
    let repository = &theirs.repository;
    let digits = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !digits || !(4..=40).contains(&prefix.len()) {
        return Ok(Commit::Unknown);
    }
    let found = match repository.find_object_by_prefix(prefix, None) {
        Ok(object) => commits(repository, &[object.id()]),
        // Of the objects that begin so, one may be a commit and the others files.
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

/// Every object whose id begins so, once.
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
