//! Checks cited files again: what happened to them since a debate was opened
//! ([`App::changes_since`]), and whether its citations still hold ([`App::recheck`]).
//!
//! The results are not recorded. The record says what was found when the turn was taken.
use super::resume::home_workspace;
use super::text_check::describe_tree;
use super::{App, AppError};
use crate::debate::{Citation, CitationStatus, Cue, Debate, RecheckStatus};
use crate::engine::ports::{
    ChangesSince, ChangesSinceQuery, CitationContext, ContextError, RelatedCommit, StoredDebate,
    Workspace,
};
use std::path::PathBuf;

/// Maximum commits listed.
const MAX_COMMITS: usize = 3;
/// Maximum files listed, per commit or in total.
const MAX_PATHS: usize = 3;
/// Maximum characters of a commit's subject line.
const MAX_SUBJECT_CHARS: usize = 60;

/// Result of checking citations again.
#[derive(Clone, Debug)]
pub struct RecheckReport {
    /// Description of the tree they were checked against.
    pub against: String,
    /// The citations that were valid when made, in the order of the debate.
    pub citations: Vec<CitationRecheck>,
}

/// One citation with its old and its new lookup result.
#[derive(Clone, Debug)]
pub struct CitationRecheck {
    pub cue: Cue,
    pub before: Citation,
    /// `None` if the reply is parsed differently now.
    pub now: Option<Citation>,
    /// Whether it still holds.
    pub validity: RecheckStatus,
    pub note: Option<String>,
}

impl CitationRecheck {
    /// One line, as in `was exact, now not found`.
    pub fn describe(&self) -> String {
        let now = self.now.as_ref().map_or_else(|| "unread".into(), Citation::describe);
        let note = self.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        let was = self.before.found.as_str().replace('_', " ");
        format!("was {was}, now {now}{note}")
    }
}

/// Whether a citation was found when it was made.
fn was_found(citation: &Citation) -> bool {
    citation.found.is_verified() || citation.found == CitationStatus::Located
}

/// The cited files that were found, without duplicates. Sealed turns are skipped.
pub fn cited_files(debate: &Debate) -> Vec<String> {
    let mut paths: Vec<String> = vec![];
    let unsealed = debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue));
    let replies = unsealed.filter_map(|(_, turn)| turn.as_ref().ok());
    let found = replies.flat_map(|reply| &reply.citations).filter(|it| was_found(it));
    for path in found.filter_map(|it| it.path.as_ref()) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

impl ChangesSince {
    /// Whether nothing has changed.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.uncommitted.is_empty() && self.changed.is_empty()
    }

    /// One line for users, `None` if nothing has changed.
    pub fn describe(&self) -> Option<String> {
        let mut parts = vec![];
        if !self.commits.is_empty() {
            let many = self.commits.len();
            let at_least = if self.truncated { "at least " } else { "" };
            let (noun, verb) = if many == 1 { ("commit", "touches") } else { ("commits", "touch") };
            let named: Vec<String> =
                self.commits.iter().take(MAX_COMMITS).map(RelatedCommit::describe).collect();
            let rest = many.saturating_sub(MAX_COMMITS);
            let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
            parts.push(format!(
                "{at_least}{many} {noun} since {verb} files cited here: {}{rest}",
                named.join(", ")
            ));
        }
        if !self.uncommitted.is_empty() {
            parts.push(format!("uncommitted changes touch {}", join_paths(&self.uncommitted)));
        }
        if parts.is_empty() && !self.changed.is_empty() {
            parts.push(format!(
                "files cited here are not what they were: {}",
                join_paths(&self.changed)
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl RelatedCommit {
    fn describe(&self) -> String {
        let subject = self.subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = subject.chars().take(MAX_SUBJECT_CHARS).collect();
        if short.len() < subject.len() {
            short.push('…');
        }
        format!("{} {short} ({})", self.id, join_paths(&self.paths))
    }
}

fn join_paths(paths: &[String]) -> String {
    let named: Vec<&str> = paths.iter().take(MAX_PATHS).map(String::as_str).collect();
    let rest = paths.len().saturating_sub(MAX_PATHS);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

impl App {
    /// Finds changes to the cited files since the debate was opened. An error counts as no changes,
    /// because this is only a hint.
    pub async fn changes_since(
        &self,
        stored: &StoredDebate,
        debate: &Debate,
        workspace: &Workspace,
    ) -> ChangesSince {
        let paths = cited_files(debate);
        if paths.is_empty() {
            return ChangesSince::default();
        }
        let (app, root, setup) =
            (self.clone(), home_workspace(stored, workspace).root, debate.setup().clone());
        let task = tokio::task::spawn_blocking(move || {
            let query = ChangesSinceQuery {
                opened_at: setup.opened_at,
                commit: setup.commit.as_deref(),
                tree: setup.pin.as_deref(),
                paths: &paths,
            };
            app.briefs.changes_since(&root, &query)
        });
        task.await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Looks up every citation that was valid again, in the current files.
    pub fn recheck(
        &self,
        stored: &StoredDebate,
        debate: &Debate,
        workspace: &Workspace,
    ) -> Result<RecheckReport, AppError> {
        let root: PathBuf = home_workspace(stored, workspace).root;
        let pinned = self.briefs.pin_files(&root)?.ok_or_else(|| {
            let root = root.display();
            ContextError(format!("there are no files to check citations in: `{root}` is empty"))
        })?;
        let setup = debate.setup();
        let paths = cited_files(debate);
        let query = ChangesSinceQuery {
            opened_at: setup.opened_at,
            commit: setup.commit.as_deref(),
            tree: setup.pin.as_deref(),
            paths: &paths,
        };
        let changed = self.briefs.changes_since(&root, &query).unwrap_or_default().changed;
        let context = CitationContext {
            root: &root,
            pin: &pinned.tree,
            preferred_paths: &setup.touched,
            base_folder: "",
            excluded_path: None,
            base_tree: None,
        };
        let mut citations = vec![];
        for (cue, turn) in debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue)) {
            let Ok(reply) = turn else { continue };
            let before: Vec<&Citation> =
                reply.citations.iter().filter(|it| was_found(it)).collect();
            if before.is_empty() {
                continue;
            }
            let mut rechecked = self.evidence.check_citations(&reply.body, &context);
            for citation in before {
                let same = |it: &Citation| it.raw == citation.raw && it.claim == citation.claim;
                let position = rechecked.iter().position(same);
                let now = position.map(|at| rechecked.remove(at));
                let (validity, note) = citation.recheck_status(now.as_ref(), &changed);
                citations.push(CitationRecheck {
                    cue,
                    before: citation.clone(),
                    now,
                    validity,
                    note,
                });
            }
        }
        tracing::debug!(debate = %setup.id, count = citations.len(), "citations checked again");
        Ok(RecheckReport { against: describe_tree(&pinned), citations })
    }
}
