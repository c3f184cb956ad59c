//! Handler of `start_debate`: parses the arguments into a request, starts the debate or the review
//! of a change, and waits for its first round.
use super::args::StartDebateArgs;
use super::error::{ToolError, format_call};
use super::mcp_server::McpServer;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::app::{
    AppError, ReviewRequest, ReviewState, StartPolicy, StartProgress, StartReport, StartRequest,
    StartStage, Started,
};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Effort, Participant};
use crate::engine::{ArchiveError, Workspace};
use crate::options::DebateOptions;
use serde_json::Value;
use std::path::{Component, Path};

/// Limit of the `context` argument, notes included.
const MAX_CONTEXT_CHARS: usize = 20_000;

impl McpServer {
    /// Starts a debate and waits for its first round. The notes say which models were chosen, what
    /// it may cost, and whether the topic has an unfinished debate already.
    pub(super) async fn start_debate(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let (request, is_review) = self.parse_request(args, workspace, wait)?;
        let (progress, stages) = StartProgress::channel();
        let app = &self.registry.app;
        let started = if is_review {
            let request = self.review_request(request);
            let review = Box::pin(app.review(request, workspace, &progress));
            match wait.await_stages(stages, stage_message, review).await??.state {
                ReviewState::Skipped(reason) => return Err(ToolError::NothingToReview(reason)),
                ReviewState::TimedOut | ReviewState::NoProvider => {
                    return Err(ToolError::CallCancelled);
                }
                ReviewState::Finished(id) | ReviewState::Running(id) => {
                    return self.wait_for_same_review(&id, workspace, wait).await;
                }
                ReviewState::Resumed(run) => {
                    let id = run.id().to_owned();
                    self.registry.spawn_run(*run);
                    return self.wait_for_same_review(&id, workspace, wait).await;
                }
                ReviewState::Started(started) => *started,
            }
        } else {
            let start = Box::pin(app.start(request, workspace, &progress));
            match wait.await_stages(stages, stage_message, start).await? {
                // Another process opened the same game after the archive was queried.
                Err(AppError::Archive(
                    ArchiveError::Duplicate { id } | ArchiveError::LeaseHeld { id, .. },
                )) => return self.wait_for_same_review(&id, workspace, wait).await,
                started => started?,
            }
        };
        let Started { run, report } = started;
        let id = run.id().to_owned();
        self.registry.mark_seen(&id);
        self.registry.spawn_run(run);
        let notes = start_notes(report).iter().map(|note| app.redact(note)).collect();
        Ok((self.registry.play_and_wait(&id, workspace, wait).await?, notes))
    }

    /// Waits for an existing debate about the same change instead of opening a second one.
    async fn wait_for_same_review(
        &self,
        id: &str,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let note = "the same was argued already: this is how it stands".to_owned();
        Ok((self.registry.play_and_wait(id, workspace, wait).await?, vec![note]))
    }

    /// Parses the arguments. Also returns whether a change is to be reviewed.
    fn parse_request(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(StartRequest, bool), ToolError> {
        let topic = args.topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if topic.is_empty() {
            return Err(ToolError::MissingTopic(self.registry.app.suggest_topics(&workspace.root)));
        }
        validate::validate_text("topic", &topic, MAX_TOPIC_CHARS)?;
        let format = validate::validate_line("format", args.format.as_deref())?;
        let (options, is_review) = parse_options(args, format.unwrap_or("duel"))?;
        let invalid = |why: String| ToolError::InvalidOptions {
            why,
            format: format.unwrap_or("duel").into(),
        };
        if let Some(output) = options.output_path.as_ref().filter(|path| !path.trim().is_empty()) {
            validate_output_path(&workspace.root, output).map_err(invalid)?;
        }
        let seat = |name: &str, value: Option<&str>, option: Option<String>| {
            Ok::<_, ToolError>(parse_seat(name, value)?.or(option))
        };
        let options = DebateOptions {
            format: format.map(Into::into).or(options.format),
            proposer: seat("proposer", args.proposer.as_deref(), options.proposer)?,
            challenger: seat("challenger", args.challenger.as_deref(), options.challenger)?,
            judge: seat("judge", args.judge.as_deref(), options.judge)?,
            rounds: args.rounds.or(options.rounds),
            effort: parse_effort(args.effort.as_deref())?.or(options.effort),
            context: parse_context(args.context.as_deref())?.or(options.context),
            ..options
        };
        // Half of the timeout at most, so that the first round gets the rest.
        let policy = StartPolicy::host(wait.time_left() / 2);
        let folder = self.config.current_dir.clone();
        Ok((StartRequest::new(&topic, options, policy, folder), is_review))
    }

    fn review_request(&self, start: StartRequest) -> ReviewRequest {
        ReviewRequest {
            start,
            selector: None,
            ignored_files: vec![],
            title: String::new(),
            body: String::new(),
            subject: None,
            earlier: None,
            fresh: false,
            force: false,
            needs_verdict: false,
            wait_for_other: false,
            is_fork: false,
            deadline: None,
            archive_dir: self.config.data_dir.clone(),
        }
    }
}

/// Progress message of a stage, if the client should see it.
fn stage_message(stage: &StartStage) -> Option<&'static str> {
    match stage {
        StartStage::FindingChange => Some("looking at the change"),
        StartStage::Preparing => Some("asking who answers"),
        _ => None,
    }
}

/// The notes about a debate that was started.
fn start_notes(report: StartReport) -> Vec<String> {
    let StartReport { understood, given, chosen, warnings, estimate, unfinished } = report;
    let mut notes = vec![];
    notes.extend(understood.map(|stated| format!("understood from the topic: {stated}")));
    notes.extend((!chosen.is_empty()).then(|| format!("chosen: {}", chosen.join(", "))));
    let given =
        (!given.is_empty()).then(|| format!("the debaters are given: {}", given.join("; ")));
    notes.extend(given);
    notes.extend(warnings);
    if let Some(estimate) = estimate {
        notes.push(format!("estimate: {}", estimate.summary));
        notes.extend(estimate.budget_warning);
    }
    notes.extend(unfinished.map(|id| {
        let continue_call = format_call("continue_round", &id, "");
        format!("there is an unfinished debate about this already: {continue_call} goes on with it")
    }));
    notes
}

/// Validates the name of a seat.
fn parse_seat(name: &str, value: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(value) = validate::validate_line(name, value)? else { return Ok(None) };
    value.parse::<Participant>().map_err(|error| ToolError::InvalidSeat {
        name: name.into(),
        said: value.into(),
        why: error.to_string(),
    })?;
    Ok(Some(value.to_owned()))
}

/// Parses `options`. Also returns whether a change is to be reviewed.
fn parse_options(args: &StartDebateArgs, format: &str) -> Result<(DebateOptions, bool), ToolError> {
    let invalid = |why: String| ToolError::InvalidOptions { why, format: format.into() };
    let object = match &args.options {
        None => return Ok((DebateOptions::default(), false)),
        // Some models send the object as a JSON string.
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?
        }
        Some(value) => value.clone(),
    };
    let Value::Object(mut fields) = object else {
        return Err(invalid("an object is needed, such as {\"confirm_plan\": true}".into()));
    };
    let is_review = match fields.remove("review") {
        None => false,
        Some(Value::Bool(review)) => review,
        Some(other) => return Err(invalid(format!("`review` is {other}; it is true or false"))),
    };
    let options =
        serde_json::from_value(fields.into()).map_err(|error| invalid(error.to_string()))?;
    Ok((options, is_review))
}

/// Validates the path of a report: a new Markdown file inside the repository, not hidden.
fn validate_output_path(root: &Path, output: &str) -> Result<(), String> {
    let path = Path::new(output);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_hidden =
        path.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    if !is_plain || is_hidden || path.extension().is_none_or(|ending| ending != "md") {
        return Err("`output_path` is a path inside the repository, such as docs/report.md".into());
    }
    let full_path = root.join(path);
    if full_path.symlink_metadata().is_ok() {
        return Err(format!("there is a file `{output}` already; name another"));
    }
    let folder = full_path.parent().and_then(|folder| dunce::canonicalize(folder).ok());
    let is_inside =
        folder.zip(dunce::canonicalize(root).ok()).is_some_and(|(it, root)| it.starts_with(root));
    is_inside.then_some(()).ok_or_else(|| {
        format!("`{output}` is in no folder of this repository; create the folder first")
    })
}

/// Validates the context items. `None` if there are none.
fn parse_context(text: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    validate::validate_text("context", text, MAX_CONTEXT_CHARS)?;
    Ok(Some(text.to_owned()))
}

fn parse_effort(value: Option<&str>) -> Result<Option<Effort>, ToolError> {
    let Some(value) = validate::validate_line("effort", value)? else { return Ok(None) };
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    let parsed = all.into_iter().find(|effort| effort.as_str() == value.to_lowercase());
    parsed.map(Some).ok_or_else(|| ToolError::UnknownValue {
        name: "effort".into(),
        said: value.into(),
        allowed: all.map(Effort::as_str).join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_has_at_most_20000_characters() {
        assert_eq!(MAX_CONTEXT_CHARS, 20_000);
        assert!(parse_context(Some(&"é".repeat(MAX_CONTEXT_CHARS))).is_ok());
        let error = parse_context(Some(&"é".repeat(MAX_CONTEXT_CHARS + 1)));
        assert!(matches!(error, Err(ToolError::TooLong { most: 20_000, .. })));
    }
}
