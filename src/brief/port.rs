//! Implements the engine's ports `BriefSource` and `SnapshotProvider` on top of the repository.
//! Secrets in briefs and commit subjects are redacted here.
use super::{BriefDetail, BriefError, BriefSelection, ChangeContext, build_brief, file_kind};
use crate::engine::ports::FileChange;
use crate::engine::{
    BaseTree, BriefReaders, BriefRequest, BriefSource, ChangeSelector, ChangeSet,
    ChangeUnderReview, ChangesSince, ChangesSinceQuery, ContextError, GatheredBrief, OmittedFile,
    PinnedTree, RelatedCommit, SnapshotHandle, SnapshotProvider,
};
use crate::redact::{self, UNPINNED_SCOPE};
use crate::repo::{
    self, ChangeSource, ChangedFile, CommitSummary, DiffRange, EarlierState, ExcludedPath,
    ExclusionReason, LineCounts, Pin, RepoError, TreeStore,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Gives the engine access to repositories: briefs, pins, changes and snapshots.
pub struct RepositorySource {
    /// Current folder, which relative paths of the user start from.
    pub current_folder: PathBuf,
    /// Pins trees and reads their objects.
    pub tree_store: TreeStore,
}

impl BriefSource for RepositorySource {
    fn gather(&self, context: &BriefRequest<'_>) -> Result<GatheredBrief, ContextError> {
        let wanted = BriefSelection::parse(context.selection)
            .map_err(|bad| ContextError(bad.to_string()))?;
        let wanted = match context.change {
            Some(change) => wanted.with_change(to_change_context(change)),
            None => wanted,
        };
        let pin = context.pinned.map(|pinned| Pin {
            tree: pinned.tree.clone(),
            commit: pinned.commit.clone(),
            dirty: pinned.dirty,
            left_out: vec![],
        });
        let given = match context.readers {
            BriefReaders::ReadFiles => BriefDetail::Paths,
            BriefReaders::BriefOnly => BriefDetail::Contents,
        };
        let (root, topic) = (context.root, context.topic);
        let done = build_brief(
            &self.tree_store,
            root,
            &self.current_folder,
            pin.as_ref(),
            topic,
            &wanted,
            given,
        );
        let done = done.map_err(|error: BriefError| ContextError(error.to_string()))?;
        let gate = self.tree_store.redactor(pin.as_ref().map_or(UNPINNED_SCOPE, |pin| &pin.tree));
        let text = gate.map_or(done.text.clone(), |gate| gate.redact(&done.text).text.into_owned());
        let omitted = |it: super::BriefOmission| OmittedFile { path: it.path, why: it.reason };
        Ok(GatheredBrief {
            redacted: redact::count_placeholders(&text).to_string(),
            text,
            picked: done.picked,
            left_out: done.left_out.into_iter().map(omitted).collect(),
            touched_paths: done.touched_paths,
            changed_files: done.changed_files.into_iter().map(to_file_change).collect(),
            tokens: done.tokens,
        })
    }

    fn pin_commit(&self, root: &Path, commit: &str) -> Result<PinnedTree, ContextError> {
        let pin =
            self.tree_store.pin_commit(root, commit).map_err(|error| to_context_error(&error))?;
        Ok(to_pinned_tree(pin))
    }

    fn pin_files(&self, root: &Path) -> Result<Option<PinnedTree>, ContextError> {
        let pin = self.tree_store.pin(root).map_err(|error| to_context_error(&error))?;
        Ok(pin.map(to_pinned_tree))
    }

    fn find_change_set(
        &self,
        root: &Path,
        meant: &ChangeSelector,
        without: &[PathBuf],
    ) -> Result<ChangeSet, ContextError> {
        let bad = |error: RepoError| to_context_error(&error);
        repo::toplevel(root).map_err(bad)?;
        let pin = self.tree_store.pin_without(root, without).map_err(bad)?;
        let none = || bad(RepoError::NoRepository { path: root.to_owned() });
        let pin = pin.ok_or_else(none)?;
        let found =
            self.tree_store.pin_change(root, &pin, &to_change_source(meant)?).map_err(bad)?;
        Ok(ChangeSet {
            skip_reason: file_kind::skip_reason(
                found
                    .diff
                    .files
                    .iter()
                    .flat_map(|file| [Some(&file.path), file.old_path.as_ref()])
                    .flatten(),
            ),
            base_tree: BaseTree {
                folder: found.base_folder,
                renamed: renamed_paths(&found.diff.files),
            },
            pinned: to_pinned_tree(found.pin),
            description: found.diff.description,
            old_tree: found.old_tree,
            new_tree: found.new_tree,
            commits: found.commits,
            files: found.diff.files.into_iter().map(to_file_change).collect(),
            messages: found.messages,
            branch: found.branch,
            checked_out: found.checked_out,
        })
    }

    fn changes_since(
        &self,
        root: &Path,
        asked: &ChangesSinceQuery<'_>,
    ) -> Result<ChangesSince, ContextError> {
        let bad = |error: RepoError| to_context_error(&error);
        let Some(now) = self.tree_store.pin(root).map_err(bad)? else {
            return Ok(ChangesSince::default());
        };
        let earlier = EarlierState {
            commit: asked.commit,
            tree: asked.tree,
            time: asked.opened_at.div_euclid(1000),
        };
        let later =
            self.tree_store.changes_since(root, &now, &earlier, asked.paths).map_err(bad)?;
        let gate = self.tree_store.redactor(&now.tree);
        // A commit subject is free text and may hold secrets.
        let clean = |text: String| match &gate {
            Some(gate) => gate.redact(&text).text.into_owned(),
            None => text,
        };
        let touching = |(commit, paths): (CommitSummary, Vec<String>)| RelatedCommit {
            id: commit.id.chars().take(7).collect(),
            subject: clean(commit.subject),
            paths,
        };
        Ok(ChangesSince {
            commits: later.commits.into_iter().map(touching).collect(),
            truncated: later.truncated,
            uncommitted: later.uncommitted,
            changed: later.changed,
        })
    }
}

impl SnapshotProvider for RepositorySource {
    fn snapshot(&self, root: &Path, pin: &str) -> Result<SnapshotHandle, ContextError> {
        let copy = self.tree_store.snapshot(root, pin).map_err(|error| to_context_error(&error))?;
        let (folder, left_out) = (copy.folder.clone(), summarize_exclusions(&copy.left_out));
        Ok(SnapshotHandle { folder, left_out, guard: Box::new(copy) })
    }
}

/// Old and new paths of renamed files.
fn renamed_paths(files: &[ChangedFile]) -> Vec<(String, String)> {
    let pair = |file: &ChangedFile| Some((file.old_path.clone()?, file.path.clone()));
    files.iter().filter_map(pair).collect()
}

/// Converts the engine's selector of a change to one of the repository.
fn to_change_source(meant: &ChangeSelector) -> Result<ChangeSource, ContextError> {
    Ok(match meant {
        ChangeSelector::Auto => ChangeSource::Range(DiffRange::Auto),
        ChangeSelector::Worktree => ChangeSource::Range(DiffRange::Worktree),
        ChangeSelector::Branch => ChangeSource::Range(DiffRange::Branch),
        ChangeSelector::Staged => ChangeSource::Range(DiffRange::Staged),
        ChangeSelector::Commit(id) => ChangeSource::Range(DiffRange::Commit(id.clone())),
        ChangeSelector::Patch { text, base } => {
            ChangeSource::Patch { text: text.clone(), base: base.clone() }
        }
        ChangeSelector::Range(text) => {
            let sides = text.split_once("...").or_else(|| text.split_once(".."));
            let (base, head) =
                sides.filter(|(base, _)| !base.trim().is_empty()).ok_or_else(|| {
                    ContextError(format!(
                        "`{text}` is no range: write `BASE..HEAD`, as in `main..HEAD`"
                    ))
                })?;
            let (base, head) = (base.trim().to_owned(), head.trim().to_owned());
            ChangeSource::Range(DiffRange::MergeBaseOrBetween { base, head })
        }
    })
}

/// Converts a change under review to the context that goes into its brief.
fn to_change_context(change: &ChangeUnderReview) -> ChangeContext {
    let ChangeSet { description: says, old_tree: old, new_tree: new, messages, .. } =
        &change.change_set;
    let known = change.known_findings.iter().map(|it| {
        let (it, gone) = (&it.noted, it.gone);
        let place = it.place.as_ref().map(|place| format!("{}: ", place.file));
        let now = if gone { "what it rested on is not there any more" } else { "still there" };
        let (severity, place) = (it.severity.as_str(), place.unwrap_or_default());
        format!(
            "[{severity}] {place}{} ({now})",
            it.claim.split_whitespace().collect::<Vec<_>>().join(" ")
        )
    });
    ChangeContext {
        range: DiffRange::Trees { description: says.clone(), old: old.clone(), new: new.clone() },
        base_folder: change.change_set.base_tree.folder.clone(),
        title: change.title.clone(),
        body: change.body.clone(),
        messages: messages.clone(),
        earlier_findings: known.collect(),
    }
}

fn to_file_change(file: ChangedFile) -> FileChange {
    let (added, deleted) = match file.lines {
        LineCounts::Counted { added, deleted } => (Some(added as u64), Some(deleted as u64)),
        LineCounts::Binary | LineCounts::Unknown(_) => (None, None),
    };
    FileChange { path: file.path, from: file.old_path, added, deleted }
}

fn to_pinned_tree(pin: Pin) -> PinnedTree {
    let left_out = summarize_exclusions(&pin.left_out);
    PinnedTree { tree: pin.tree, commit: pin.commit, dirty: pin.dirty, left_out }
}

fn to_context_error(error: &RepoError) -> ContextError {
    ContextError(error.to_string())
}

/// Counts exclusions by reason, with the first three paths each. The manifest of the snapshot lists
/// all.
fn summarize_exclusions(left_out: &[ExcludedPath]) -> String {
    const NAMED: usize = 3;
    let mut by_reason: BTreeMap<ExclusionReason, Vec<&str>> = BTreeMap::new();
    for ExcludedPath { path, why } in left_out {
        by_reason.entry(*why).or_default().push(path);
    }
    let counted = by_reason.iter().map(|(why, paths)| {
        let more = paths.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<&str> = paths.iter().take(NAMED).copied().collect();
        format!("{} ({}{more})", why.describe_count(paths.len()), named.join(", "))
    });
    counted.collect::<Vec<_>>().join("; ")
}
