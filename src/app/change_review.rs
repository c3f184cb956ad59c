//! Debates that review a change: turns a plan into a review, finds an earlier review of the same
//! change by its key, and checks the findings of the previous one again. The output of a review is
//! made by the `review` module.
use super::pairing::RequestedSeats;
use super::seating::SeatingRequest;
use super::spec::DebateSpec;
use crate::app::{App, AppError};
use crate::debate::content_hash::content_hash;
use crate::debate::setup::WORDING_VERSION;
use crate::debate::status::status;
use crate::debate::{
    Amendment, Body, Budget, ChangeSummary, Citation, Claim, Cue, Debate, HoldPoint, KnownFinding,
    NotedFinding, PauseReason, ReviewedChange, Role, Status, Step, next,
};
use crate::engine::command::Command;
use crate::engine::format_catalog::CatalogEntry;
use crate::engine::ports::{
    ChangeSelector, ChangeSet, ChangeUnderReview, CitationContext, ContextError, DebateQuery,
    FileChange, StoredDebate,
};
use std::path::{Path, PathBuf};

/// Stances for and against a change.
const SIDE_STANCES: [&str; 2] = [
    "the change should be merged as it is designed",
    "the design of the change should be changed first, before it is merged",
];
/// Names of the two roles, in formats that name them.
const SIDE_NAMES: [&str; 2] = ["Merge as designed", "Change first"];
/// Characters of a commit or tree id in a topic.
const SHORT_ID_CHARS: usize = 12;
/// Maximum reviews of a branch or pull request searched for the previous one.
const MAX_EARLIER_REVIEWS: usize = 20;

/// An earlier review of the same change under the same settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EarlierReview {
    /// Finished, with the id of the debate.
    Finished(String),
    /// Not finished, and no process runs it.
    Unfinished(String),
    /// Running now.
    Running {
        id: String,
        /// Name of the process that runs it.
        holder: String,
    },
}

/// The debates of a repository that share a review key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SameReview {
    /// The one to reuse instead of arguing again.
    pub earlier: Option<EarlierReview>,
    /// The ids of all of them.
    pub ids: Vec<String>,
}

impl App {
    /// Finds the selected change, on a blocking thread. Changes to the files in `ignored` do not
    /// count.
    pub(super) async fn find_change_set(
        &self,
        root: &Path,
        selector: ChangeSelector,
        ignored: Vec<PathBuf>,
    ) -> Result<ChangeSet, AppError> {
        let (briefs, root) = (self.briefs.clone(), root.to_owned());
        let task =
            tokio::task::spawn_blocking(move || briefs.find_change_set(&root, &selector, &ignored));
        let change = task.await.map_err(|error| ContextError(error.to_string()))??;
        tracing::debug!(
            files = change.files.len(),
            commits = change.messages.len(),
            skip = ?change.skip_reason,
            "change found"
        );
        Ok(change)
    }

    /// Checks for each finding of an earlier review whether its evidence is still there.
    pub(super) async fn recheck_findings(
        &self,
        root: &Path,
        change_set: &ChangeSet,
        findings: Vec<NotedFinding>,
    ) -> Result<Vec<KnownFinding>, AppError> {
        let (evidence, root, change_set) =
            (self.evidence.clone(), root.to_owned(), change_set.clone());
        let task = tokio::task::spawn_blocking(move || {
            let touched: Vec<String> = change_set.files.into_iter().map(|file| file.path).collect();
            let context = CitationContext {
                root: &root,
                pin: &change_set.pinned.tree,
                preferred_paths: &touched,
                base_folder: "",
                excluded_path: None,
                base_tree: Some(&change_set.base_tree),
            };
            // Looked up like the evidence of a claim: an exact quote.
            let find_citation = |entry: String| {
                let claim = Claim { evidence: vec![entry], ..Claim::default() };
                evidence.check_citations(&Body::from_claim(claim), &context).into_iter().next()
            };
            findings.into_iter().map(|it| recheck_finding(it, &touched, &find_citation)).collect()
        });
        let known: Vec<KnownFinding> =
            task.await.map_err(|error| ContextError(error.to_string()))?;
        let gone = known.iter().filter(|finding| finding.gone).count();
        tracing::debug!(count = known.len(), gone, "earlier findings checked");
        Ok(known)
    }

    /// The latest finished review of this branch or pull request that was about another version and
    /// in which the opposing side spoke.
    pub async fn find_previous_review(
        &self,
        root: &Path,
        subject: &str,
        change_set: &ChangeSet,
    ) -> Result<Option<Debate>, AppError> {
        if subject.is_empty() {
            return Ok(None);
        }
        let subject = Some(subject.to_owned());
        let (root, limit) = (Some(root.to_owned()), Some(MAX_EARLIER_REVIEWS));
        let query = DebateQuery { root, review_subject: subject, limit, ..DebateQuery::default() };
        for card in self.archive.queries.list(&query).await? {
            let (StoredDebate { setup, .. }, debate, _) = self.read(&card.id).await?;
            let is_other_version = setup.pin.as_deref() != Some(&change_set.pinned.tree);
            let is_finished = matches!(status(&debate), Status::Completed | Status::Degraded);
            if is_other_version && is_finished && was_challenged(&debate) {
                return Ok(Some(debate));
            }
        }
        Ok(None)
    }

    /// Finds reviews with the same key. A review that is incomplete, or was concluded early, is not
    /// reused.
    pub(super) async fn find_same_review(
        &self,
        root: &Path,
        change: &ReviewedChange,
    ) -> Result<SameReview, AppError> {
        let (root, review_key) = (Some(root.to_owned()), Some(change.key.clone()));
        let cards = self
            .archive
            .queries
            .list(&DebateQuery { root, review_key, ..DebateQuery::default() })
            .await?;
        let (mut finished, mut unfinished) = (None, None);
        for card in &cards {
            // The status comes from the log, because the list may be stale.
            let (StoredDebate { holder, .. }, debate, _) = self.read(&card.id).await?;
            let (id, status) = (card.id.clone(), status(&debate));
            if status == Status::Completed && !debate.is_concluded() {
                finished.get_or_insert(EarlierReview::Finished(id));
            } else if !status.is_over() {
                unfinished.get_or_insert(match holder {
                    Some(holder) => EarlierReview::Running { id, holder },
                    None => EarlierReview::Unfinished(id),
                });
            }
        }
        let ids: Vec<String> = cards.into_iter().map(|card| card.id).collect();
        let earlier = finished.or(unfinished);
        tracing::debug!(count = ids.len(), reusable = earlier.is_some(), "same reviews found");
        Ok(SameReview { earlier, ids })
    }

    /// Commands that raise the budget of an unfinished review, if it waits for that.
    pub(super) async fn budget_commands(
        &self,
        id: &str,
        budget: Budget,
    ) -> Result<Vec<Command>, AppError> {
        let (_, debate, _) = self.read(id).await?;
        let waits_for_budget =
            matches!(next(&debate), Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. });
        let because = "the review was asked for again".to_owned();
        let amend = Command::Amend { change: Amendment::Limit { budget }, because };
        Ok(if waits_for_budget && !budget.is_exhausted(debate.spent()) {
            vec![amend]
        } else {
            vec![]
        })
    }

    /// Turns a spec and its seating request into a review: topic, stances, roles and review key.
    pub(super) fn build_review(
        &self,
        spec: DebateSpec,
        request: SeatingRequest,
        change: ChangeUnderReview,
        subject: &str,
    ) -> Result<(DebateSpec, SeatingRequest), AppError> {
        let entry = self.catalog.find(&spec.format)?;
        let uses_role = |role: Role| entry.offer.format.uses_role(role);
        if !uses_role(Role::Pro) && !uses_role(Role::Advocate) {
            return Err(AppError::InvalidOption(format!(
                "`{}` has no sides that could argue for and against a change; duel, tribunal and \
                 research have",
                spec.format
            )));
        }
        let RequestedSeats { proposer, challenger, judge } = &request.requested;
        if [proposer, challenger, judge].into_iter().flatten().any(|it| it.tool() == "demo") {
            let message = "`demo` has nothing to say about a change; name other seats";
            return Err(AppError::InvalidOption(message.into()));
        }
        let (mut spec, mut request) = (spec, request);
        for (stance, default_stance) in spec.stances.iter_mut().zip(SIDE_STANCES) {
            if stance.trim().is_empty() {
                default_stance.clone_into(stance);
            }
        }
        if uses_role(Role::Advocate) {
            // One role for each side, played by the participant named for it.
            let named = [request.requested.proposer.clone(), request.requested.challenger.clone()];
            let sides = SIDE_NAMES.iter().zip(SIDE_STANCES).zip(named);
            let role = |((name, stance), participant): ((&&str, &str), _)| {
                ((*name).to_owned(), format!("argue that {stance}"), participant)
            };
            request.cast.roles = sides.map(role).collect();
        }
        spec.topic = review_topic(&change.change_set, subject);
        // A review has no user who could confirm the start.
        spec.holds.retain(|hold| *hold != HoldPoint::Start);
        spec.reviewed_change = Some(ReviewedChange {
            subject: subject.to_owned(),
            key: review_key(&spec, &request, &change, entry),
            known: change.known_findings.clone(),
            ..summarize_change(&change.change_set, &change.title)
        });
        request.change = Some(change);
        Ok((spec, request))
    }
}

/// Maximum files searched for a quote whose file is gone.
const MAX_SEARCHED_FILES: usize = 200;

/// Checks one earlier finding again. It counts as gone only if its evidence is clearly not there.
/// Evidence that moved, is ambiguous or cannot be checked does not count as gone.
fn recheck_finding(
    finding: NotedFinding,
    touched: &[String],
    find_citation: &impl Fn(String) -> Option<Citation>,
) -> KnownFinding {
    let removed = finding.place.as_ref().is_some_and(|place| place.removed);
    let mut current = find_citation(finding.rests_on.clone());
    let is_lost =
        |it: &Option<Citation>| it.as_ref().is_some_and(|it| it.found.is_wrong()) && !removed;
    let quote = finding.rests_on.find(" \"").map(|at| &finding.rests_on[at..]);
    if let (true, Some(quote)) = (is_lost(&current), quote) {
        let moved = touched
            .iter()
            .take(MAX_SEARCHED_FILES)
            .filter_map(|file| find_citation(format!("{file}{quote}")));
        current = moved.into_iter().find(|it| it.found.is_verified()).or(current);
    }
    // A finding about removed lines is gone once they are back.
    let is_back = current.as_ref().is_some_and(|it| it.found.is_verified() && it.removed.is_none());
    let gone = if removed { is_back } else { is_lost(&current) };
    let found = current.filter(|it| it.found.is_verified() && it.removed.is_some() == removed);
    let place = found.and_then(|it| it.location()).or(finding.place.clone());
    KnownFinding { noted: NotedFinding { place, ..finding }, gone }
}

/// Summary of a change for the setup, without subject, key and earlier findings.
pub fn summarize_change(change_set: &ChangeSet, title: &str) -> ReviewedChange {
    let sum = |lines: &dyn Fn(&FileChange) -> Option<u64>| {
        let total: u64 = change_set.files.iter().filter_map(lines).sum();
        usize::try_from(total).unwrap_or(usize::MAX)
    };
    ReviewedChange {
        title: title.trim().to_owned(),
        compared: ChangeSummary {
            says: change_set.description.clone(),
            base: change_set.commits.0.clone().or(change_set.old_tree.clone()),
            head: change_set.commits.1.clone().or(Some(change_set.new_tree.clone())),
            files: change_set.files.len(),
            added: sum(&|file| file.added),
            deleted: sum(&|file| file.deleted),
        },
        was: change_set.base_tree.clone(),
        ..ReviewedChange::default()
    }
}

/// The topic of a review. It has no text of the author, because a topic is not quoted in prompts
/// (prompt injection).
fn review_topic(change_set: &ChangeSet, subject: &str) -> String {
    let number = subject.strip_prefix('#').filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let id = change_set.commits.1.as_ref().unwrap_or(&change_set.new_tree);
    let id: String = id.chars().take(SHORT_ID_CHARS).collect();
    let which =
        number.map_or(format!("the change {id}"), |number| format!("change #{number} ({id})"));
    format!("Should {which} be merged as it is designed, or should its design be changed first?")
}

/// Whether the opposing side has spoken.
fn was_challenged(debate: &Debate) -> bool {
    let against = |cue: Cue| matches!(debate.seat(cue).role, Role::Con | Role::Advocate);
    debate.replies_in(..).any(|(cue, _)| against(cue))
}

/// The review key: a hash of the change, the format with its prompts, the settings and the named
/// seats. Seats chosen automatically and earlier findings are left out, so that a repeated request
/// finds the same debate.
fn review_key(
    spec: &DebateSpec,
    request: &SeatingRequest,
    change: &ChangeUnderReview,
    entry: &CatalogEntry,
) -> String {
    let (requested, change_set) = (&request.requested, &change.change_set);
    let parts = serde_json::json!([
        (
            WORDING_VERSION,
            &change_set.old_tree,
            &change_set.new_tree,
            &change.title,
            &change.body,
            &change_set.messages
        ),
        (&spec.format, spec.rounds, spec.effort, spec.sealed, spec.stop_when_settled),
        (&spec.stances, &spec.styles, &spec.terms, spec.audited, spec.judge_share),
        (
            &requested.proposer,
            &requested.challenger,
            &requested.judge,
            &request.context,
            spec.same_judge
        ),
        (&request.cast.roles, &request.cast.listeners, &request.cast.panel),
        (&entry.prompts, &entry.offer.format),
    ]);
    content_hash(&[&parts.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::{CitationStatus, Severity};

    /// Result of a lookup.
    fn lookup_result(entry: &str, is_there: bool) -> Citation {
        Citation {
            raw: entry.to_owned(),
            claim: None,
            path: None,
            line: None,
            end_line: None,
            quote: None,
            found: if is_there { CitationStatus::Exact } else { CitationStatus::NotFound },
            found_at: None,
            note: None,
            removed: None,
        }
    }

    #[test]
    fn files_searched_for_a_moved_quote_are_limited() {
        assert_eq!(MAX_SEARCHED_FILES, 200);
        // The quote has moved to the last of the touched files.
        let is_gone = |files: usize| {
            let touched: Vec<String> = (1..=files).map(|number| format!("{number}.rs")).collect();
            let new_path = format!("{files}.rs ");
            let find_citation =
                |entry: String| Some(lookup_result(&entry, entry.starts_with(&new_path)));
            let finding = NotedFinding {
                fingerprint: String::new(),
                claim: "It grows.".into(),
                severity: Severity::High,
                place: None,
                rests_on: "old.rs \"let a = 1;\"".into(),
            };
            recheck_finding(finding, &touched, &find_citation).gone
        };
        assert!(!is_gone(MAX_SEARCHED_FILES));
        assert!(is_gone(MAX_SEARCHED_FILES + 1));
    }
}
