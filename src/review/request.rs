//! Prepares a debate about a change for the CLI and the MCP server: parses which change to review,
//! loads the known findings of an earlier review, and detects that the change was reviewed already.
use super::Review;
use super::finding::{Finding, FindingState};
use super::from_debate::review_from_debate;
use super::merge_gate::FailOn;
use crate::app::change_review::{EarlierReview, SameReview};
use crate::app::preflight::SeatingRequest;
use crate::app::{App, AppError, DebateDraft};
use crate::debate::{NotedFinding, ReplyKind};
use crate::engine::{ChangeSelector, ChangeSet, ChangeUnderReview, SkipReason};
use std::path::Path;

/// Limit of known findings from an earlier review. Its file is untrusted input, and each finding is
/// looked up again.
const MAX_KNOWN_FINDINGS: usize = 100;

/// Request for a review.
#[derive(Clone, Debug, Default)]
pub struct ReviewRequest {
    /// Title by the author of the change.
    pub title: String,
    /// Description by the author of the change.
    pub body: String,
    /// Which change to review.
    pub selector: Option<ChangeSelector>,
    /// Key that the reviews of one change share. Default: derived from what is compared.
    pub subject: Option<String>,
    /// An earlier review of the change. Default: the last one in the archive.
    pub earlier: Option<Review>,
    /// Whether to debate again although the same change was reviewed already.
    pub fresh: bool,
}

/// A review that is ready to open.
#[derive(Clone, Debug)]
pub struct PreparedReview {
    /// The debate to open.
    pub draft: DebateDraft,
    /// The participants the user asked for.
    pub seating: SeatingRequest,
    /// The existing review of the same change, if there is one.
    pub earlier: Option<EarlierReview>,
}

/// Why to skip the review of a change. With `force`, only an empty change is skipped.
pub fn skip_reason(change_set: &ChangeSet, force: bool) -> Option<SkipReason> {
    change_set.skip_reason.filter(|reason| *reason == SkipReason::Empty || !force)
}

/// Rejects an archive inside the repository under review: the change could have forged its records.
pub fn require_archive_outside_repo(archive_dir: &Path, root: &Path) -> Result<(), AppError> {
    // A path that does not exist yet is judged by its nearest existing parent.
    let existing = archive_dir.ancestors().find_map(|folder| dunce::canonicalize(folder).ok());
    let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    if existing.is_none_or(|existing| !existing.starts_with(root)) {
        return Ok(());
    }
    Err(AppError::InvalidOption(format!(
        "the archive `{}` lies in the repository under review: set DEBATE_HOME to a folder outside, \
         where no change can put anything",
        archive_dir.display()
    )))
}

/// Rejects `--fail-on` for a format without a verdict, because it could never block.
pub fn require_verdict_format(app: &App, format: &str, fail_on: FailOn) -> Result<(), AppError> {
    let offer = &app.find_format(format)?.offer;
    let mut phases = offer.format.acts.iter().flat_map(|act| &act.phases);
    if fail_on == FailOn::Never || phases.any(|phase| phase.reply == ReplyKind::Verdict) {
        return Ok(());
    }
    Err(AppError::InvalidOption(format!(
        "`{format}` gives no verdict, so nothing could block: leave `--fail-on` out, or take a duel"
    )))
}

/// Parses the context items into the change selector and the other items. Default: any change of
/// the working tree, the branch or the last commit.
pub fn parse_selector(context: &str) -> (ChangeSelector, String) {
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
fn default_subject(selector: &ChangeSelector, change_set: &ChangeSet) -> String {
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

/// Findings that are carried over from an earlier review: those it raised, and those that were
/// still open then and were not raised again.
fn carried_findings(review: &Review) -> Vec<NotedFinding> {
    let open = review.earlier.iter().filter(|it| it.state == FindingState::Open);
    let findings = review.findings.iter().map(Finding::to_noted);
    findings.chain(open.map(|it| it.noted.clone())).take(MAX_KNOWN_FINDINGS).collect()
}

/// Prepares the review: draft, seating request, known findings, and an existing review.
pub async fn prepare_review(
    app: &App,
    root: &Path,
    change_set: ChangeSet,
    request: ReviewRequest,
    (draft, seating): (DebateDraft, SeatingRequest),
) -> Result<PreparedReview, AppError> {
    let selector = request.selector.unwrap_or(ChangeSelector::Auto);
    let subject = request.subject.unwrap_or_else(|| default_subject(&selector, &change_set));
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let earlier = if request.earlier.is_some() {
        request.earlier
    } else {
        let previous = app.find_previous_review(root, &subject, &change_set).await?;
        previous.and_then(|debate| review_from_debate(&debate, usize::MAX))
    };
    let known = earlier.as_ref().map(carried_findings);
    let known = app.recheck_findings(root, &change_set, known.unwrap_or_default()).await?;
    let ReviewRequest { title, body, fresh, .. } = request;
    let change = ChangeUnderReview { change_set, title, body, known_findings: known };
    let (mut draft, seating) = app.build_review(draft, seating, change, &subject)?;
    if let Some(proposed) = &mut draft.reviewed_change {
        proposed.fresh = fresh;
    }
    let same_review = match (&draft.reviewed_change, fresh) {
        (Some(proposed), false) => app.find_same_review(root, proposed).await?,
        _ => SameReview::default(),
    };
    tracing::debug!(
        known_findings = draft.reviewed_change.as_ref().map_or(0, |change| change.known.len()),
        reviewed_before = same_review.earlier.is_some(),
        "review prepared"
    );
    let existing = same_review.earlier;
    draft.supersedes = same_review.ids;
    Ok(PreparedReview { draft, seating, earlier: existing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::{earlier_with_claim, finding_with_claim};

    #[test]
    fn carried_findings_are_limited() {
        assert_eq!(MAX_KNOWN_FINDINGS, 100);
        let count_carried = |count: usize| {
            let findings = vec![finding_with_claim("It grows."); count / 2];
            let earlier = vec![earlier_with_claim("It leaks."); count - count / 2];
            carried_findings(&Review { findings, earlier, ..Review::default() }).len()
        };
        assert_eq!(count_carried(MAX_KNOWN_FINDINGS), MAX_KNOWN_FINDINGS);
        assert_eq!(count_carried(MAX_KNOWN_FINDINGS + 1), MAX_KNOWN_FINDINGS);
    }
}
