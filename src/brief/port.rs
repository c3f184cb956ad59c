//! Implements the engine's ports `BriefSource` and `SnapshotProvider` on top of the repository.
//! Secrets in briefs (repository context for the prompts) and commit subjects are redacted here.
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

/// Excluded paths that are named per reason.
const MAX_NAMED_PATHS: usize = 3;
/// Characters shown of a commit id.
const SHORT_COMMIT_CHARS: usize = 7;

/// Gives the engine access to repositories: briefs, pins, changes and snapshots.
pub struct RepositorySource {
    /// Current folder, which relative paths of the user start from.
    pub current_folder: PathBuf,
    /// Pins trees and reads their objects.
    pub tree_store: TreeStore,
}

impl BriefSource for RepositorySource {
    fn gather(&self, context: &BriefRequest<'_>) -> Result<GatheredBrief, ContextError> {
        let selection = BriefSelection::parse(context.selection)
            .map_err(|syntax_error| ContextError(syntax_error.to_string()))?;
        let selection = match context.change {
            Some(change) => selection.with_change(to_change_context(change)),
            None => selection,
        };
        let pin = context.pinned.map(|pinned| Pin {
            tree: pinned.tree.clone(),
            commit: pinned.commit.clone(),
            dirty: pinned.dirty,
            left_out: vec![],
        });
        let detail = match context.readers {
            BriefReaders::ReadFiles => BriefDetail::Paths,
            BriefReaders::BriefOnly => BriefDetail::Contents,
        };
        let (root, topic) = (context.root, context.topic);
        let brief = build_brief(
            &self.tree_store,
            root,
            &self.current_folder,
            pin.as_ref(),
            topic,
            &selection,
            detail,
        );
        let brief = brief.map_err(|error: BriefError| ContextError(error.to_string()))?;
        let redactor =
            self.tree_store.redactor(pin.as_ref().map_or(UNPINNED_SCOPE, |pin| &pin.tree));
        let text = redactor
            .map_or(brief.text.clone(), |redactor| redactor.redact(&brief.text).text.into_owned());
        let to_omitted_file =
            |it: super::BriefOmission| OmittedFile { path: it.path, why: it.reason };
        tracing::debug!(
            files = brief.touched_paths.len(),
            left_out = brief.left_out.len(),
            bytes = text.len(),
            tokens = brief.tokens,
            "brief built"
        );
        Ok(GatheredBrief {
            redacted: redact::count_placeholders(&text).to_string(),
            text,
            picked: brief.picked,
            left_out: brief.left_out.into_iter().map(to_omitted_file).collect(),
            touched_paths: brief.touched_paths,
            changed_files: brief.changed_files.into_iter().map(to_file_change).collect(),
            tokens: brief.tokens,
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
        selector: &ChangeSelector,
        excluded: &[PathBuf],
    ) -> Result<ChangeSet, ContextError> {
        let to_error = |error: RepoError| to_context_error(&error);
        repo::toplevel(root).map_err(to_error)?;
        let pin = self.tree_store.pin_without(root, excluded).map_err(to_error)?;
        let no_repository = || to_error(RepoError::NoRepository { path: root.to_owned() });
        let pin = pin.ok_or_else(no_repository)?;
        let change = self
            .tree_store
            .pin_change(root, &pin, &to_change_source(selector)?)
            .map_err(to_error)?;
        tracing::debug!(files = change.diff.files.len(), "change pinned");
        Ok(ChangeSet {
            skip_reason: file_kind::skip_reason(
                change
                    .diff
                    .files
                    .iter()
                    .flat_map(|file| [Some(&file.path), file.old_path.as_ref()])
                    .flatten(),
            ),
            base_tree: BaseTree {
                folder: change.base_folder,
                renamed: renamed_paths(&change.diff.files),
            },
            pinned: to_pinned_tree(change.pin),
            description: change.diff.description,
            old_tree: change.old_tree,
            new_tree: change.new_tree,
            commits: change.commits,
            files: change.diff.files.into_iter().map(to_file_change).collect(),
            messages: change.messages,
            branch: change.branch,
            checked_out: change.checked_out,
        })
    }

    fn changes_since(
        &self,
        root: &Path,
        query: &ChangesSinceQuery<'_>,
    ) -> Result<ChangesSince, ContextError> {
        let to_error = |error: RepoError| to_context_error(&error);
        let Some(current_pin) = self.tree_store.pin(root).map_err(to_error)? else {
            return Ok(ChangesSince::default());
        };
        let earlier = EarlierState {
            commit: query.commit,
            tree: query.tree,
            time: query.opened_at.div_euclid(1000),
        };
        let changes = self
            .tree_store
            .changes_since(root, &current_pin, &earlier, query.paths)
            .map_err(to_error)?;
        let redactor = self.tree_store.redactor(&current_pin.tree);
        // A commit subject is free text and may hold secrets.
        let redact_text = |text: String| match &redactor {
            Some(redactor) => redactor.redact(&text).text.into_owned(),
            None => text,
        };
        let to_related_commit = |(commit, paths): (CommitSummary, Vec<String>)| RelatedCommit {
            id: commit.id.chars().take(SHORT_COMMIT_CHARS).collect(),
            subject: redact_text(commit.subject),
            paths,
        };
        Ok(ChangesSince {
            commits: changes.commits.into_iter().map(to_related_commit).collect(),
            truncated: changes.truncated,
            uncommitted: changes.uncommitted,
            changed: changes.changed,
        })
    }
}

impl SnapshotProvider for RepositorySource {
    fn snapshot(&self, root: &Path, pin: &str) -> Result<SnapshotHandle, ContextError> {
        let snapshot =
            self.tree_store.snapshot(root, pin).map_err(|error| to_context_error(&error))?;
        let (folder, left_out) =
            (snapshot.folder.clone(), summarize_exclusions(&snapshot.left_out));
        tracing::debug!(tree = pin, "snapshot opened");
        Ok(SnapshotHandle { folder, left_out, guard: Box::new(snapshot) })
    }
}

/// Old and new paths of renamed files.
fn renamed_paths(files: &[ChangedFile]) -> Vec<(String, String)> {
    let pair = |file: &ChangedFile| Some((file.old_path.clone()?, file.path.clone()));
    files.iter().filter_map(pair).collect()
}

/// Converts the engine's selector of a change to one of the repository.
fn to_change_source(selector: &ChangeSelector) -> Result<ChangeSource, ContextError> {
    Ok(match selector {
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
    let ChangeSet { description, old_tree, new_tree, messages, .. } = &change.change_set;
    let findings = change.known_findings.iter().map(|finding| {
        let (finding, is_gone) = (&finding.noted, finding.gone);
        let location = finding.place.as_ref().map(|location| format!("{}: ", location.file));
        let state = if is_gone { "what it rested on is not there any more" } else { "still there" };
        let (severity, location) = (finding.severity.as_str(), location.unwrap_or_default());
        format!(
            "[{severity}] {location}{} ({state})",
            finding.claim.split_whitespace().collect::<Vec<_>>().join(" ")
        )
    });
    ChangeContext {
        range: DiffRange::Trees {
            description: description.clone(),
            old: old_tree.clone(),
            new: new_tree.clone(),
        },
        base_folder: change.change_set.base_tree.folder.clone(),
        title: change.title.clone(),
        body: change.body.clone(),
        messages: messages.clone(),
        earlier_findings: findings.collect(),
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

/// Counts exclusions by reason, with the first [`MAX_NAMED_PATHS`] each. The manifest of the
/// snapshot lists all.
fn summarize_exclusions(left_out: &[ExcludedPath]) -> String {
    let mut by_reason: BTreeMap<ExclusionReason, Vec<&str>> = BTreeMap::new();
    for ExcludedPath { path, why: reason } in left_out {
        by_reason.entry(*reason).or_default().push(path);
    }
    let parts = by_reason.iter().map(|(reason, paths)| {
        let more = paths.len().saturating_sub(MAX_NAMED_PATHS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<&str> = paths.iter().take(MAX_NAMED_PATHS).copied().collect();
        format!("{} ({}{more})", reason.describe_count(paths.len()), named.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_exclusions_are_limited() {
        assert_eq!(MAX_NAMED_PATHS, 3);
        let summarize = |count: usize| {
            let excluded = |number: usize| ExcludedPath {
                path: format!("link{number}"),
                why: ExclusionReason::Link,
            };
            summarize_exclusions(&(1..=count).map(excluded).collect::<Vec<_>>())
        };
        assert_eq!(summarize(MAX_NAMED_PATHS), "3 are links (link1, link2, link3)");
        assert_eq!(summarize(MAX_NAMED_PATHS + 1), "4 are links (link1, link2, link3 and 1 more)");
    }
}
