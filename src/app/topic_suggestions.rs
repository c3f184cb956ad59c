//! Topic suggestions from the changed files of a repository, for a user without a topic.
use crate::engine::ports::FileChange;

/// Where the changes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrigin {
    WorkingTree,
    LastCommit,
}

/// Dependency manifests, by file name.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "Gemfile",
    "composer.json",
];

/// Maximum number of suggested topics.
const MAX_SUGGESTIONS: usize = 3;
/// From more deleted lines on, a topic asks whether the deletion is safe.
const MANY_DELETED_LINES: u64 = 20;

/// Suggests a few topics about the changes, the largest first. Lock files are ignored.
pub fn suggest_topics(changes: &[FileChange], origin: ChangeOrigin) -> Vec<String> {
    let weight = |it: &FileChange| it.added.unwrap_or(0) + it.deleted.unwrap_or(0);
    let mut by_weight: Vec<&FileChange> =
        changes.iter().filter(|it| !is_lock_file(&it.path)).collect();
    by_weight.sort_by_key(|it| (std::cmp::Reverse(weight(it)), it.path.clone()));
    let Some(largest) = by_weight.first() else { return vec![] };
    let (added, deleted) = by_weight.iter().fold((0, 0), |(added, deleted), it| {
        (added + it.added.unwrap_or(0), deleted + it.deleted.unwrap_or(0))
    });
    let others = match by_weight.len() - 1 {
        0 => String::new(),
        1 => " and another file".into(),
        more => format!(" and {more} other files"),
    };
    let subject = format!("`{}`{others} (+{added} -{deleted})", largest.path);
    let mut topics = vec![match origin {
        ChangeOrigin::WorkingTree => {
            format!("Should the change to {subject} be merged as it is designed, or changed first?")
        }
        ChangeOrigin::LastCommit => format!(
            "Was the last commit, to {subject}, the right design, or should it be done otherwise?"
        ),
    }];
    if let Some(manifest) = by_weight.iter().find(|it| MANIFESTS.contains(&file_name(&it.path))) {
        topics.push(format!(
            "Is what has changed in `{}` worth depending on, or can it be done without?",
            manifest.path
        ));
    }
    let shrunk = by_weight
        .iter()
        .find(|it| it.deleted.unwrap_or(0) > MANY_DELETED_LINES && it.deleted > it.added);
    if let Some(shrunk) = shrunk {
        let lines = shrunk.deleted.unwrap_or(0);
        topics.push(format!(
            "Is it safe to take {lines} lines out of `{}`, or does something still need them?",
            shrunk.path
        ));
    }
    if !by_weight.iter().any(|it| it.path.to_lowercase().contains("test")) {
        topics.push(format!(
            "Does the change to `{}` need tests of its own before it is relied on, or is it \
             covered?",
            largest.path
        ));
    }
    let grown = by_weight.iter().filter(|it| it.added > it.deleted);
    topics.extend(grown.map(|it| {
        format!(
            "Is `{}` the right place for what was added there, or does it belong elsewhere?",
            it.path
        )
    }));
    topics.push(format!(
        "Can the change to `{}` be undone easily once it is out, or does it need a switch?",
        largest.path
    ));
    topics.truncate(MAX_SUGGESTIONS);
    topics
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_lock_file(path: &str) -> bool {
    let (stem, ending) = file_name(path).rsplit_once('.').unwrap_or((path, ""));
    ending == "lock" || stem.ends_with("-lock")
}

#[cfg(test)]
mod tests;
