//! The use case "review a change": [`App::review`]. Finds the change, carries the findings of the
//! previous review over, and starts, resumes or reuses the debate about it.
use super::change_review::{EarlierReview, SameReview};
use super::change_selector::{default_subject, parse_selector};
use super::plan::StartPlan;
use super::request::{DefaultsPolicy, StartProgress, StartRequest, StartStage};
use super::start::Started;
use super::{App, AppError};
use crate::debate::{KnownFinding, NotedFinding, ReplyKind};
use crate::engine::ports::{
    ArchiveError, ChangeSelector, ChangeSet, ChangeUnderReview, LeaseMode, SkipReason, Workspace,
};
use crate::engine::run::DebateRun;
use crate::review::finding::{Finding, FindingState};
use crate::review::{Review, review_from_debate};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Limit of known findings from an earlier review. Its file is untrusted input, and each finding is
/// looked up again.
const MAX_KNOWN_FINDINGS: usize = 100;
/// Poll interval while another process runs the same review.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A review to start.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing a front end can ask for")]
pub struct ReviewRequest {
    /// Seats, options and policy. Its topic is what the user wants to know about the change: the
    /// question of a review is fixed.
    pub start: StartRequest,
    /// Which change to review. `None`: the `diff` items of the context.
    pub selector: Option<ChangeSelector>,
    /// Changes to these files do not count, because the review writes them.
    pub ignored_files: Vec<PathBuf>,
    /// Title by the author of the change.
    pub title: String,
    /// Description by the author of the change.
    pub body: String,
    /// Key that the reviews of one change share. Default: derived from what is compared.
    pub subject: Option<String>,
    /// An earlier review of the change. Default: the last one in the archive.
    pub earlier: Option<Review>,
    /// Whether to debate again although the same change was reviewed already.
    pub fresh: bool,
    /// Whether to review changes to documents and generated files, too.
    pub force: bool,
    /// Whether the result must contain a verdict, because it decides about the merge.
    pub needs_verdict: bool,
    /// Whether to wait while another process argues the same review.
    pub wait_for_other: bool,
    /// Whether the change comes from a fork, which has no secrets: without an available model it
    /// is then not debated, which is no error.
    pub is_fork: bool,
    /// When to give up waiting and preparing. Default: never.
    pub deadline: Option<Instant>,
    /// Folder of the archive, which must lie outside of the repository.
    pub archive_dir: PathBuf,
}

/// Result of [`App::review`].
pub struct ReviewStarted {
    pub change_set: Arc<ChangeSet>,
    /// Findings of the previous review, looked up again.
    pub known_findings: Vec<KnownFinding>,
    pub state: ReviewState,
}

/// What became of the request.
pub enum ReviewState {
    /// There is nothing to debate.
    Skipped(SkipReason),
    /// A new debate.
    Started(Box<Started>),
    /// The debate was begun earlier and goes on.
    Resumed(Box<DebateRun>),
    /// The change was reviewed already, in this debate.
    Finished(String),
    /// Another process argues it, in this debate.
    Running(String),
    /// The deadline passed before any model was asked.
    TimedOut,
    /// No model is available, and the change comes from a fork.
    NoProvider,
}

impl App {
    /// Reviews a change: reuses a finished review of the same change under the same settings,
    /// resumes an unfinished one, or starts a debate. Of several processes that do so at the same
    /// time, one starts it.
    pub async fn review(
        &self,
        request: ReviewRequest,
        workspace: &Workspace,
        progress: &StartProgress,
    ) -> Result<ReviewStarted, AppError> {
        let mut request = request;
        let root = &workspace.root;
        require_archive_outside_repo(&request.archive_dir, root)?;
        let context = request.start.options.context.take().unwrap_or_default();
        let (selector, context) = match request.selector.take() {
            Some(selector) => (selector, context),
            None => parse_selector(&context),
        };
        request.start.options.context = Some(context);
        if request.start.policy.defaults == DefaultsPolicy::All {
            request.start.policy.defaults = DefaultsPolicy::AllButFormat;
        }
        let mut plan = self.plan_start(&request.start)?;
        if let Some(understood) = plan.understood.clone() {
            progress.report(StartStage::Understood(understood));
        }
        if request.needs_verdict {
            self.require_verdict_format(&plan.spec.format)?;
        }
        add_note(&mut plan);
        progress.report(StartStage::FindingChange);
        let ignored = std::mem::take(&mut request.ignored_files);
        let change_set = self.find_change_set(root, selector.clone(), ignored).await?;
        let change_set = Arc::new(change_set);
        progress.report(StartStage::ChangeFound(change_set.clone()));
        if let Some(reason) = skip_reason(&change_set, request.force) {
            let (known_findings, state) = (vec![], ReviewState::Skipped(reason));
            return Ok(ReviewStarted { change_set, known_findings, state });
        }
        let subject =
            request.subject.take().unwrap_or_else(|| default_subject(&selector, &change_set));
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        loop {
            let attempt = self.argue_change(
                &request,
                plan.clone(),
                (&change_set, &subject),
                workspace,
                progress,
            );
            match attempt.await {
                Err(error) if is_lost_race(&error) => {
                    tracing::info!(reason = %error, "lost a race, looking it up again");
                    // A front end that does not wait attaches to the winner's debate.
                }
                result => {
                    let (known_findings, state) = result?;
                    return Ok(ReviewStarted { change_set, known_findings, state });
                }
            }
        }
    }

    /// Starts, resumes or reuses the debate about a change. Fails with [`ArchiveError::Duplicate`]
    /// or [`ArchiveError::LeaseHeld`] if another process was faster.
    async fn argue_change(
        &self,
        request: &ReviewRequest,
        plan: StartPlan,
        (change_set, subject): (&Arc<ChangeSet>, &str),
        workspace: &Workspace,
        progress: &StartProgress,
    ) -> Result<(Vec<KnownFinding>, ReviewState), AppError> {
        let root = &workspace.root;
        let earlier = if let Some(earlier) = &request.earlier {
            Some(earlier.clone())
        } else {
            let previous = self.find_previous_review(root, subject, change_set).await?;
            previous.and_then(|debate| review_from_debate(&debate, usize::MAX))
        };
        let known = earlier.as_ref().map(carried_findings).unwrap_or_default();
        let known_findings = self.recheck_findings(root, change_set, known).await?;
        let change = ChangeUnderReview {
            change_set: (**change_set).clone(),
            title: request.title.clone(),
            body: request.body.clone(),
            known_findings: known_findings.clone(),
        };
        let (mut spec, seating) = self.build_review(plan.spec, plan.seating, change, subject)?;
        if let Some(reviewed) = &mut spec.reviewed_change {
            reviewed.fresh = request.fresh;
        }
        let mut same = SameReview::default();
        if let (Some(reviewed), false) = (&spec.reviewed_change, request.fresh) {
            same = self.find_same_review(root, reviewed).await?;
            tracing::debug!(
                known_findings = known_findings.len(),
                reviewed_before = same.earlier.is_some(),
                "review prepared"
            );
            if same.earlier.is_none() || request.earlier.is_some() {
                progress.report(StartStage::KnownFindings(known_findings.clone()));
            }
            while let (Some(EarlierReview::Running { id, holder }), true) =
                (&same.earlier, request.wait_for_other)
            {
                if request.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    break;
                }
                let (id, holder) = (id.clone(), holder.clone());
                progress.report(StartStage::Waiting { id, holder });
                tokio::time::sleep(POLL_INTERVAL).await;
                same = self.find_same_review(root, reviewed).await?;
            }
        } else {
            progress.report(StartStage::KnownFindings(known_findings.clone()));
        }
        let state = match same.earlier {
            Some(EarlierReview::Running { id, .. }) => ReviewState::Running(id),
            Some(EarlierReview::Finished(id)) => ReviewState::Finished(id),
            Some(EarlierReview::Unfinished(id)) => {
                progress.report(StartStage::Resuming(id.clone()));
                let commands = self.budget_commands(&id, spec.budget).await?;
                let run = self.resume(&id, workspace, LeaseMode::IfFree, commands).await?;
                ReviewState::Resumed(Box::new(run))
            }
            None => {
                spec.supersedes = same.ids;
                progress.report(StartStage::Preparing);
                let prepared = tokio::select! {
                    prepared = self.prepare(spec, &seating, root) => prepared,
                    () = sleep_until(request.deadline) => {
                        return Ok((known_findings, ReviewState::TimedOut));
                    }
                };
                let (draft, warnings) = match prepared {
                    Err(error) if request.is_fork && error.is_provider_missing() => {
                        return Ok((known_findings, ReviewState::NoProvider));
                    }
                    prepared => prepared?,
                };
                let mut started = self.launch(&draft, warnings, true, workspace).await?;
                started.report.understood = plan.understood;
                ReviewState::Started(Box::new(started))
            }
        };
        Ok((known_findings, state))
    }

    /// Rejects a format without a verdict, because it could never block a merge.
    fn require_verdict_format(&self, format: &str) -> Result<(), AppError> {
        let offer = &self.find_format(format)?.offer;
        let mut phases = offer.format.acts.iter().flat_map(|act| &act.phases);
        if phases.any(|phase| phase.reply == ReplyKind::Verdict) {
            return Ok(());
        }
        Err(AppError::InvalidOption(format!(
            "`{format}` gives no verdict, so nothing could block: leave `--fail-on` out, or take a \
             duel"
        )))
    }
}

/// Whether another process has started or resumed the same review since the archive was read.
fn is_lost_race(error: &AppError) -> bool {
    use ArchiveError::{Duplicate, LeaseHeld};
    matches!(error, AppError::Archive(LeaseHeld { .. } | Duplicate { .. }))
}

/// Sleeps until the deadline, or for ever without one.
async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Why to skip the review of a change. With `force`, only an empty change is skipped.
fn skip_reason(change_set: &ChangeSet, force: bool) -> Option<SkipReason> {
    change_set.skip_reason.filter(|reason| *reason == SkipReason::Empty || !force)
}

/// Moves the user's question into the note of the context, because a review has a fixed topic.
fn add_note(plan: &mut StartPlan) {
    let topic = std::mem::take(&mut plan.spec.topic);
    if topic.trim().is_empty() {
        return;
    }
    let context = &mut plan.seating.context;
    let start =
        if context.contains("note=") { context.clone() } else { format!("{context}\nnote=") };
    format!("{start}\n{topic}").trim().clone_into(context);
}

/// Rejects an archive inside the repository under review: the change could have forged its records.
fn require_archive_outside_repo(archive_dir: &Path, root: &Path) -> Result<(), AppError> {
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

/// Findings that are carried over from an earlier review: those it raised, and those that were
/// still open then and were not raised again.
fn carried_findings(review: &Review) -> Vec<NotedFinding> {
    let open = review.earlier.iter().filter(|it| it.state == FindingState::Open);
    let findings = review.findings.iter().map(Finding::to_noted);
    findings.chain(open.map(|it| it.noted.clone())).take(MAX_KNOWN_FINDINGS).collect()
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
