//! Which change a review is about: parsed from context items, and the key that the reviews of one
//! change share.
use crate::engine::ports::{ChangeSelector, ChangeSet};

/// Parses the context items into the change selector and the other items. Default: any change of
/// the working tree, the branch or the last commit.
pub(super) fn parse_selector(context: &str) -> (ChangeSelector, String) {
    let (mut selector, mut rest) = (ChangeSelector::Auto, vec![]);
    let (items, note) = match context.find("note=") {
        Some(index) => context.split_at(index),
        None => (context, ""),
    };
    for item in items.split([';', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
        let pair =
            item.split_once('=').map_or((item, ""), |(name, value)| (name.trim(), value.trim()));
        match pair {
            ("diff", "") => selector = ChangeSelector::Auto,
            ("diff", "worktree") => selector = ChangeSelector::Worktree,
            ("diff", "branch") => selector = ChangeSelector::Branch,
            ("diff", "staged" | "cached" | "index") => selector = ChangeSelector::Staged,
            ("diff", range) if range.contains("..") => {
                selector = ChangeSelector::Range(range.to_owned());
            }
            ("diff", commit) => selector = ChangeSelector::Commit(commit.to_owned()),
            ("auto" | "none", "") => {}
            _ => rest.push(item),
        }
    }
    rest.extend(Some(note).filter(|note| !note.is_empty()));
    (selector, rest.join("\n"))
}

/// The default key that the reviews of one change share: its branch or range. An uncommitted change
/// includes its base, so that it matches only itself.
pub(super) fn default_subject(selector: &ChangeSelector, change_set: &ChangeSet) -> String {
    let branch = change_set.branch.as_deref().unwrap_or("HEAD");
    let base =
        change_set.commits.0.as_deref().or(change_set.old_tree.as_deref()).unwrap_or("nothing");
    match selector {
        ChangeSelector::Range(range) => {
            let (base, head) =
                range.split_once("...").or_else(|| range.split_once("..")).unwrap_or((range, ""));
            let head = if matches!(head.trim(), "" | "HEAD") { branch } else { head.trim() };
            format!("{}..{head}", base.trim())
        }
        ChangeSelector::Commit(id) => format!("commit {id}"),
        ChangeSelector::Staged => format!("{branch}, staged since {base}"),
        ChangeSelector::Patch { .. } => format!("a patch to {base}"),
        ChangeSelector::Auto | ChangeSelector::Worktree if change_set.commits.1.is_none() => {
            format!("{branch}, changed since {base}")
        }
        ChangeSelector::Auto | ChangeSelector::Worktree | ChangeSelector::Branch => {
            branch.to_owned()
        }
    }
}
