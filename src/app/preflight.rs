//! Preflight: everything checked before a debate is created.
//!
//! `App::prepare` pins the repository, gathers the brief (repository context for the prompts),
//! validates the draft, fills the open seats and sends each distinct model a probe request. If a
//! model the user named does not answer, that is an error. One that was chosen automatically is
//! replaced, with a warning.
use super::draft::DebateDraft;
use super::pairing::{Candidate, MainSeats, SeatAssignment, choose_seats};
use super::plan::AUTO_CONTEXT;
use super::probe::{PROBE_TIMEOUT, ProbeResult};
use super::seating::{SeatingPlan, SeatingRequest, sort_readers_first};
use super::spec::{DebateContext, DebateSpec};
use super::{App, AppError};
use crate::debate::{Effort, FailureKind, Participant, ReviewedChange};
use crate::engine::ports::{
    BriefReaders, BriefRequest, ChangeUnderReview, ContextError, GatheredBrief, PinnedTree,
};
use std::collections::BTreeSet;
use std::path::Path;
use tokio::time::Instant;

/// Files left out of the brief that a warning names. The rest are counted.
const MAX_NAMED_FILES: usize = 3;

/// The pinned tree and the brief of a debate.
#[derive(Clone, Debug)]
pub struct RepositoryContext {
    /// `None` if there is no repository or it could not be read.
    pub pinned: Option<PinnedTree>,
    /// Why the repository could not be read, if so.
    pub unreadable_reason: Option<String>,
    pub brief: GatheredBrief,
}

/// Converts the error of a cancelled or panicked blocking task.
#[expect(clippy::needless_pass_by_value, reason = "the signature `map_err` needs")]
fn join_error(error: tokio::task::JoinError) -> ContextError {
    ContextError(error.to_string())
}

/// Warnings about a brief: redacted secrets and files left out.
fn brief_warnings(brief: &GatheredBrief) -> Vec<String> {
    let mut warnings = vec![];
    if !brief.redacted.is_empty() {
        warnings
            .push(format!("secrets taken out of what the debaters are given: {}", brief.redacted));
    }
    let unseen = describe_left_out(brief);
    if !unseen.is_empty() {
        warnings.push(format!("not in what the debaters are given: {unseen}"));
    }
    warnings
}

/// Files left out, the first few by name, without duplicates.
fn describe_left_out(brief: &GatheredBrief) -> String {
    let mut seen = BTreeSet::new();
    let omitted: Vec<_> = brief.left_out.iter().filter(|it| seen.insert(&it.path)).collect();
    let names: Vec<_> = omitted
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|it| format!("{} ({})", it.path, it.why))
        .collect();
    let more = omitted.len().saturating_sub(MAX_NAMED_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// Adds to a reviewed change which files the debaters do not see, and which they see besides it.
fn with_unseen_files(change: ReviewedChange, brief: &GatheredBrief) -> ReviewedChange {
    let unseen = describe_left_out(brief);
    let changed: BTreeSet<&String> = brief
        .changed_files
        .iter()
        .flat_map(|it| [Some(&it.path), it.from.as_ref()])
        .flatten()
        .collect();
    let beside =
        brief.touched_paths.iter().filter(|path| !changed.contains(path)).cloned().collect();
    ReviewedChange { unseen, beside, ..change }
}

impl App {
    /// Runs the preflight for a plan: context, seats and probes. Returns the draft with warnings
    /// for the user. No model gets a request before everything else is validated.
    pub(super) async fn prepare(
        &self,
        spec: DebateSpec,
        request: &SeatingRequest,
        root: &Path,
    ) -> Result<(DebateDraft, Vec<String>), AppError> {
        let context = self.read_request_context(root, &spec.topic, request).await?;
        self.check_plan(&spec, request, &context.brief.text)?;
        let about_files = !context.brief.text.is_empty();
        let (plan, mut warnings) = self.fill_seats(request, about_files).await?;
        // If every participant reads files itself, a brief with references is enough.
        let RepositoryContext { pinned, unreadable_reason, mut brief } = context;
        if !brief.text.is_empty()
            && plan.assignments().iter().all(|it| self.providers.can_read_files(&it.participant))
        {
            let inputs = (spec.topic.as_str(), request.context.as_str(), request.change.as_ref());
            brief =
                self.gather_brief(root, pinned.clone(), inputs, BriefReaders::ReadFiles).await?;
        }
        // An empty selection needs no report.
        if brief.text.is_empty() {
            brief.picked.clear();
        }
        warnings.extend(
            unreadable_reason.iter().map(|why| format!("no tool can read this repository: {why}")),
        );
        let left_out = pinned.as_ref().map(|pin| &pin.left_out).filter(|it| !it.is_empty());
        warnings.extend(left_out.map(|it| format!("left out of what tools can read: {it}")));
        warnings.extend(brief_warnings(&brief));
        let reviewed_change =
            spec.reviewed_change.clone().map(|change| with_unseen_files(change, &brief));
        let context = DebateContext {
            brief: brief.text,
            touched_paths: brief.touched_paths,
            picked: brief.picked,
            commit: pinned.as_ref().and_then(|pin| pin.commit.clone()),
            pin: pinned.map(|pin| pin.tree),
            unreadable_reason,
        };
        let spec = DebateSpec { reviewed_change, ..spec };
        Ok((DebateDraft { spec, cast: plan.into_cast(&request.cast), context }, warnings))
    }

    /// Pins the repository and gathers a brief from it. An unreadable repository is not an error,
    /// but is reported in the result.
    pub async fn read_context(
        &self,
        root: &Path,
        topic: &str,
        selection: &str,
        readers: BriefReaders,
    ) -> Result<RepositoryContext, AppError> {
        let (briefs, repo_root) = (self.briefs.clone(), root.to_owned());
        let task = tokio::task::spawn_blocking(move || briefs.pin_files(&repo_root));
        let (pinned, unreadable_reason) = match task.await.map_err(join_error)? {
            Ok(pinned) => (pinned, None),
            Err(ContextError(why)) => (None, Some(why)),
        };
        let tree = pinned.as_ref().map(|pin| pin.tree.as_str());
        tracing::debug!(tree, unreadable = unreadable_reason.is_some(), "repository read");
        let brief =
            self.gather_brief(root, pinned.clone(), (topic, selection, None), readers).await?;
        Ok(RepositoryContext { pinned, unreadable_reason, brief })
    }

    /// As [`App::read_context`], with the tree of the change if one is reviewed.
    async fn read_request_context(
        &self,
        root: &Path,
        topic: &str,
        request: &SeatingRequest,
    ) -> Result<RepositoryContext, AppError> {
        let (selection, readers) = (request.context.as_str(), BriefReaders::BriefOnly);
        let Some(change) = &request.change else {
            return self.read_context(root, topic, selection, readers).await;
        };
        let pinned = Some(change.change_set.pinned.clone());
        let inputs = (topic, selection, Some(change));
        let brief = self.gather_brief(root, pinned.clone(), inputs, readers).await?;
        Ok(RepositoryContext { pinned, unreadable_reason: None, brief })
    }

    /// Gathers the brief on a blocking thread, from the topic, the requested context and the
    /// change.
    async fn gather_brief(
        &self,
        root: &Path,
        pinned: Option<PinnedTree>,
        (topic, selection, change): (&str, &str, Option<&ChangeUnderReview>),
        readers: BriefReaders,
    ) -> Result<GatheredBrief, AppError> {
        let briefs = self.briefs.clone();
        let (root, topic, selection) = (root.to_owned(), topic.to_owned(), selection.to_owned());
        let change = change.cloned();
        let task = tokio::task::spawn_blocking(move || {
            let (root, pinned) = (root.as_path(), pinned.as_ref());
            let (topic, selection, change) = (topic.as_str(), selection.as_str(), change.as_ref());
            let request = BriefRequest { root, pinned, topic, selection, readers, change };
            match briefs.gather(&request) {
                // With automatic context a failure means an empty brief.
                Err(_) if selection.trim() == AUTO_CONTEXT => Ok(GatheredBrief::default()),
                gathered => gathered,
            }
        });
        Ok(task.await.map_err(join_error)??)
    }

    /// Validates the plan with placeholder participants, before any request is sent.
    fn check_plan(
        &self,
        spec: &DebateSpec,
        request: &SeatingRequest,
        brief: &str,
    ) -> Result<(), AppError> {
        let cast = request.placeholder_cast();
        let context = DebateContext { brief: brief.to_owned(), ..DebateContext::default() };
        let trial = DebateDraft { spec: spec.clone(), cast, context };
        Ok(trial.build_setup(&self.catalog, String::new(), String::new(), 0)?.validate()?)
    }

    /// Fills the open seats and probes each distinct model once, through the same port as its
    /// turns. If a chosen model fails, it is excluded and the seats are filled again. Returns
    /// warnings for the user.
    async fn fill_seats(
        &self,
        request: &SeatingRequest,
        about_files: bool,
    ) -> Result<(SeatingPlan, Vec<String>), AppError> {
        self.providers.check_config().map_err(AppError::InvalidConfig)?;
        let (mut excluded, mut timed_out): (Vec<Participant>, Vec<Participant>) = (vec![], vec![]);
        let mut without_model: Vec<String> = vec![];
        let mut warnings = vec![];
        // One deadline for all probes, including those of replacements.
        let deadline =
            request.probe_timeout.map(|timeout| Instant::now() + timeout.min(PROBE_TIMEOUT));
        loop {
            // Candidates are only listed if a seat is open.
            let has_open_seats = !request.requested.is_complete() || request.cast.has_open_seat();
            let mut candidates = if has_open_seats { self.candidates(&excluded) } else { vec![] };
            if request.cast.is_dialogue {
                candidates = sort_readers_first(candidates, about_files);
            }
            let mut fallbacks = request.fallbacks.clone();
            if request.cast.allow_same_model {
                // Without two sides, one model may take several seats.
                let first = candidates.first().map(|it| it.participant.clone());
                fallbacks.debater =
                    first.or(fallbacks.debater).or(request.requested.proposer.clone());
            }
            let paired =
                choose_seats(&request.requested, &candidates, &request.preferences, &fallbacks);
            let main_seats = paired.map_err(|vacant| {
                if warnings.is_empty() {
                    AppError::VacantSeat(vacant)
                } else {
                    AppError::NoCandidateLeft(vacant, warnings.join("; "))
                }
            })?;
            let with_default = |seat: SeatAssignment| {
                self.with_default_model(seat, request.effort, &without_model)
            };
            let (plan, defaulted) =
                SeatingPlan::new(main_seats, &request.cast, &candidates, about_files, with_default);
            let MainSeats { proposer, challenger, judge } = &plan.main_seats;
            if let Some(why) =
                self.providers.side_conflict(&proposer.participant, &challenger.participant)
                && !request.cast.allow_same_model
            {
                return Err(AppError::SideConflict(why));
            }
            let assignments = plan.assignments();
            tracing::debug!(
                proposer = %proposer.participant,
                challenger = %challenger.participant,
                judge = %judge.participant,
                seats = assignments.len(),
                "seats chosen"
            );
            for assignment in &assignments {
                self.providers.check_available(&assignment.participant)?;
            }
            let Some(deadline) = deadline else { return Ok((plan, warnings)) };
            let timeout = deadline.saturating_duration_since(Instant::now());
            let to_probe = assignments.iter().map(|it| it.participant.clone());
            let to_probe: Vec<Participant> =
                to_probe.filter(|participant| !timed_out.contains(participant)).collect();
            let mut retry = false;
            for ProbeResult { participant, result } in self.probe(to_probe, timeout).await {
                let Err(failure) = result else { continue };
                if failure.trouble == FailureKind::TimedOut {
                    warnings
                        .push(format!("`{participant}` has not answered yet: {}", failure.note));
                    timed_out.push(participant);
                    continue;
                }
                let message = format!("`{participant}` does not answer: {}", failure.note);
                let was_chosen = assignments
                    .iter()
                    .all(|it| it.participant != participant || it.reason.is_some());
                if defaulted.contains(&participant) && failure.trouble == FailureKind::UnknownModel
                {
                    warnings.push(format!("{message}; it is asked without naming a model"));
                    without_model.push(participant.tool().to_owned());
                } else if was_chosen {
                    warnings.push(format!("{message}; somebody else is seated"));
                    excluded.push(participant);
                } else {
                    return Err(AppError::ProbeFailed {
                        voice: participant.to_string(),
                        failure: Box::new(failure),
                        alternatives: self.alternatives(&participant, &excluded),
                    });
                }
                retry = true;
            }
            if !retry {
                return Ok((plan, warnings));
            }
        }
    }

    /// Available models that may be seated without being named, except tools that failed.
    fn candidates(&self, excluded: &[Participant]) -> Vec<Candidate> {
        let listed =
            self.providers.list_providers().into_iter().filter(|it| it.model && it.playable);
        let models = listed.filter_map(|it| {
            let participant: Participant = it.seat.parse().ok()?;
            let reads_files = self.providers.can_read_files(&participant);
            Some(Candidate { participant, family: it.family, reads_files })
        });
        models
            .filter(|candidate| excluded.iter().all(|it| it.tool() != candidate.participant.tool()))
            .collect()
    }

    fn alternatives(&self, participant: &Participant, excluded: &[Participant]) -> Vec<String> {
        let without_model = Participant::Model { tool: participant.tool().into(), model: None };
        let bare_tool =
            participant.model().filter(|_| self.providers.check_available(&without_model).is_ok());
        let bare_tool = bare_tool.map(|_| participant.tool().to_owned());
        let others = self.candidates(excluded).into_iter();
        let others = others.filter(|it| it.participant.tool() != participant.tool());
        bare_tool.into_iter().chain(others.map(|it| it.participant.to_string())).collect()
    }

    /// Adds the configured default model of the tool, if no model is named.
    fn with_default_model(
        &self,
        assignment: SeatAssignment,
        effort: Option<Effort>,
        without_model: &[String],
    ) -> SeatAssignment {
        if without_model.iter().any(|tool| tool == assignment.participant.tool()) {
            return assignment;
        }
        let with_model = self.default_participant(&assignment.participant, effort);
        SeatAssignment {
            participant: with_model.unwrap_or_else(|| assignment.participant.clone()),
            ..assignment
        }
    }

    /// The participant with the configured default model of its tool. `None` if a model is named.
    pub(super) fn default_participant(
        &self,
        participant: &Participant,
        effort: Option<Effort>,
    ) -> Option<Participant> {
        let Participant::Model { tool, model: None } = participant else { return None };
        let model = self.providers.default_model(tool, effort)?;
        let participant = Participant::Model { tool: tool.clone(), model: Some(model) };
        Some(participant).filter(|participant| participant.validate().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ports::OmittedFile;

    #[test]
    fn warning_names_three_files_left_out() {
        assert_eq!(MAX_NAMED_FILES, 3);
        let describe = |count: usize| {
            let file =
                |index: usize| OmittedFile { path: format!("{index}.rs"), why: "large".into() };
            let left_out = (0..count).map(file).collect();
            describe_left_out(&GatheredBrief { left_out, ..GatheredBrief::default() })
        };
        let named = "0.rs (large), 1.rs (large), 2.rs (large)";
        assert_eq!(describe(MAX_NAMED_FILES), named);
        assert_eq!(describe(MAX_NAMED_FILES + 1), format!("{named} and 1 more"));
    }
}
