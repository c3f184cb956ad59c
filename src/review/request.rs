//! Prepares a debate about a change for the CLI and the MCP server: parses which change to review,
//! loads the known findings of an earlier review, and detects that the change was reviewed already.
use super::Review;
use super::finding::{Finding, FindingState};
use super::from_debate::review_from_debate;
use super::merge_gate::FailOn;
use crate::debate::ReplyKind;
use crate::engine::change_review::{EarlierReview, SameReview};
use crate::engine::preflight::SeatingRequest;
use crate::engine::{
    App, AppError, ChangeSelector, ChangeSet, ChangeUnderReview, DebateDraft, SkipReason,
};
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

/// Why to skip the review of a change. With `insists`, only an empty change is skipped.
pub fn skip_reason(proposal: &ChangeSet, insists: bool) -> Option<SkipReason> {
    proposal.skip_reason.filter(|idle| *idle == SkipReason::Empty || !insists)
}

/// Rejects an archive inside the repository under review: the change could have forged its records.
pub fn require_archive_outside_repo(home: &Path, root: &Path) -> Result<(), AppError> {
    // A path that does not exist yet is judged by its nearest existing parent.
    let there = home.ancestors().find_map(|folder| dunce::canonicalize(folder).ok());
    let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    if there.is_none_or(|there| !there.starts_with(root)) {
        return Ok(());
    }
    Err(AppError::InvalidOption(format!(
        "the archive `{}` lies in the repository under review: set DEBATE_HOME to a folder outside, \
         where no change can put anything",
        home.display()
    )))
}

/// Rejects `--fail-on` for a format without a verdict, because it could never block.
pub fn require_verdict_format(desk: &App, format: &str, when: FailOn) -> Result<(), AppError> {
    let offer = &desk.catalog().find(format)?.offer;
    let mut phases = offer.format.acts.iter().flat_map(|act| &act.phases);
    if when == FailOn::Never || phases.any(|phase| phase.reply == ReplyKind::Verdict) {
        return Ok(());
    }
    Err(AppError::InvalidOption(format!(
        "`{format}` gives no verdict, so nothing could block: leave `--fail-on` out, or take a duel"
    )))
}

/// Parses the context items into the change selector and the other items. Default: any change of
/// the working tree, the branch or the last commit.
pub fn parse_selector(context: &str) -> (ChangeSelector, String) {
    let (mut meant, mut rest) = (ChangeSelector::Auto, vec![]);
    let (items, note) = match context.find("note=") {
        Some(at) => context.split_at(at),
        None => (context, ""),
    };
    for item in items.split([';', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
        let named =
            item.split_once('=').map_or((item, ""), |(name, value)| (name.trim(), value.trim()));
        match named {
            ("diff", "") => meant = ChangeSelector::Auto,
            ("diff", "worktree") => meant = ChangeSelector::Worktree,
            ("diff", "branch") => meant = ChangeSelector::Branch,
            ("diff", "staged" | "cached" | "index") => meant = ChangeSelector::Staged,
            ("diff", range) if range.contains("..") => {
                meant = ChangeSelector::Range(range.to_owned())
            }
            ("diff", commit) => meant = ChangeSelector::Commit(commit.to_owned()),
            ("auto" | "none", "") => {}
            _ => rest.push(item),
        }
    }
    rest.extend(Some(note).filter(|note| !note.is_empty()));
    (meant, rest.join("\n"))
}

/// The default key that the reviews of one change share: its branch or range. An uncommitted change
/// includes its base, so that it matches only itself.
fn default_subject(meant: &ChangeSelector, proposal: &ChangeSet) -> String {
    let branch = proposal.branch.as_deref().unwrap_or("HEAD");
    let base = proposal.commits.0.as_deref().or(proposal.old_tree.as_deref()).unwrap_or("nothing");
    match meant {
        ChangeSelector::Range(range) => {
            let (base, head) =
                range.split_once("...").or_else(|| range.split_once("..")).unwrap_or((range, ""));
            let head = if matches!(head.trim(), "" | "HEAD") { branch } else { head.trim() };
            format!("{}..{head}", base.trim())
        }
        ChangeSelector::Commit(id) => format!("commit {id}"),
        ChangeSelector::Staged => format!("{branch}, staged since {base}"),
        ChangeSelector::Patch { .. } => format!("a patch to {base}"),
        ChangeSelector::Auto | ChangeSelector::Worktree if proposal.commits.1.is_none() => {
            format!("{branch}, changed since {base}")
        }
        ChangeSelector::Auto | ChangeSelector::Worktree | ChangeSelector::Branch => {
            branch.to_owned()
        }
    }
}

/// Prepares the review: draft, seating request, known findings, and an existing review.
pub async fn prepare_review(
    desk: &App,
    root: &Path,
    proposal: ChangeSet,
    asked: ReviewRequest,
    (draft, wish): (DebateDraft, SeatingRequest),
) -> Result<PreparedReview, AppError> {
    let meant = asked.selector.unwrap_or(ChangeSelector::Auto);
    let subject = asked.subject.unwrap_or_else(|| default_subject(&meant, &proposal));
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let earlier = if asked.earlier.is_some() {
        asked.earlier
    } else {
        let before = desk.find_previous_review(root, &subject, &proposal)?;
        before.and_then(|debate| review_from_debate(&debate, usize::MAX))
    };
    // Findings that were still open then and were not raised again are carried over.
    let known = earlier.map(|review| {
        let open = review.earlier.iter().filter(|it| it.state == FindingState::Open);
        let found = review.findings.iter().map(Finding::to_noted);
        found.chain(open.map(|it| it.noted.clone())).take(MAX_KNOWN_FINDINGS).collect()
    });
    let known = desk.recheck_findings(root, &proposal, known.unwrap_or_default()).await?;
    let ReviewRequest { title, body, fresh, .. } = asked;
    let change = ChangeUnderReview { change_set: proposal, title, body, known_findings: known };
    let (mut draft, wish) = desk.build_review(draft, wish, change, &subject)?;
    if let Some(proposed) = &mut draft.reviewed_change {
        proposed.fresh = fresh;
    }
    let same = match (&draft.reviewed_change, fresh) {
        (Some(proposed), false) => desk.find_same_review(root, proposed)?,
        _ => SameReview::default(),
    };
    let already = same.earlier;
    draft.supersedes = same.ids;
    Ok(PreparedReview { draft, seating: wish, earlier: already })
}
