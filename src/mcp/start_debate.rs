//! Handler of `start_debate`: parses the arguments into a draft and a seating request, opens the
//! debate and waits for its first round. A review of a change is prepared by `review::request`.
use super::args::{COMMON_OPTIONS, StartDebateArgs, StartOptions};
use super::error::{ToolError, format_call};
use super::server::McpServer;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::app::change_review::EarlierReview;
use crate::app::draft::with_absolute_script;
use crate::app::format_options::{CastRequest, FormatOptions};
use crate::app::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::app::preflight::SeatingRequest;
use crate::app::{AppError, DebateDraft};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Effort, HoldPoint, Participant, to_millionths};
use crate::engine::{ArchiveError, DebateQuery, Workspace};
use crate::review::request;
use serde_json::{Map, Value};
use std::path::{Component, Path};
use std::time::Duration;

/// Limit of the `context` argument, notes included.
const MAX_CONTEXT_CHARS: usize = 20_000;
/// Unfinished debates that are compared with the topic of a new one.
const MAX_COMPARED_DEBATES: usize = 20;

impl McpServer {
    /// Opens a debate, runs its first round and waits for it. The notes say which models were
    /// chosen, what it may cost, and whether the topic has an unfinished debate already.
    pub(super) async fn start_debate(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let (args, topic_note) = self.apply_topic_options(args, workspace)?;
        let planning = Box::pin(self.prepare_start(&args, workspace, wait.time_left()));
        let (draft, seating) =
            match wait.await_with_progress("looking at the change", planning).await?? {
                StartPlan::New(draft, seating) => (*draft, *seating),
                StartPlan::Existing(id) => {
                    return self.wait_for_same_review(&id, workspace, wait).await;
                }
            };
        let preparation = self.registry.app.prepare(draft, &seating, &workspace.root);
        let (prepared, warnings) =
            wait.await_with_progress("asking who answers", preparation).await??;
        let context_note = (!prepared.picked.is_empty())
            .then(|| format!("the debaters are given: {}", prepared.picked.join("; ")));
        let seats_note = (!prepared.seat_choices.is_empty())
            .then(|| format!("chosen: {}", prepared.seat_choices.join(", ")));
        let mut notes: Vec<String> = topic_note.into_iter().collect();
        notes.extend(seats_note.into_iter().chain(context_note).chain(warnings));
        if let Some(estimate) = self.registry.app.estimate_cost(&prepared)? {
            notes.push(format!("estimate: {}", estimate.summary));
            notes.extend(estimate.budget_warning);
        }
        notes.extend(self.unfinished_note(&prepared.topic, workspace).await);
        let run = match self.registry.app.open(&prepared, workspace).await {
            // Another process opened the same review after the archive was queried.
            Err(AppError::Archive(
                ArchiveError::Duplicate { id } | ArchiveError::LeaseHeld { id, .. },
            )) => return self.wait_for_same_review(&id, workspace, wait).await,
            opened => opened?,
        };
        let id = run.id().to_owned();
        self.registry.mark_seen(&id);
        self.registry.spawn_run(run);
        let notes = notes.iter().map(|note| self.registry.app.redact(note)).collect();
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

    /// Fills absent arguments with options that the topic states in plain words: format, seats,
    /// rounds, effort. Also returns a note that lists them.
    fn apply_topic_options(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
    ) -> Result<(StartDebateArgs, Option<String>), ToolError> {
        let topic = args.topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if topic.is_empty() {
            return Err(ToolError::MissingTopic(self.registry.app.suggest_topics(&workspace.root)));
        }
        validate::validate_text("topic", &topic, MAX_TOPIC_CHARS)?;
        let topic_options = self.registry.app.parse_topic_options(&topic);
        let note = topic_options.describe();
        let note = note.map(|stated| format!("understood from the topic: {stated}"));
        let or_stated =
            |argument: &Option<String>, stated: Option<String>| argument.clone().or(stated);
        let args = StartDebateArgs {
            format: or_stated(&args.format, topic_options.format),
            proposer: or_stated(&args.proposer, topic_options.proposer),
            challenger: or_stated(&args.challenger, topic_options.challenger),
            judge: or_stated(&args.judge, topic_options.judge),
            rounds: args.rounds.or(topic_options.rounds.map(Into::into)),
            effort: or_stated(
                &args.effort,
                topic_options.effort.map(|effort| effort.as_str().into()),
            ),
            topic: topic_options.topic,
            ..args.clone()
        };
        Ok((args, note))
    }

    /// Builds the draft. For a review, looks up an earlier debate about the same change first.
    async fn prepare_start(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
        time_left: Duration,
    ) -> Result<StartPlan, ToolError> {
        let (draft, mut seating) = self.build_draft(args, workspace, time_left)?;
        if !parse_options(args, &draft.format)?.0.review {
            return Ok(StartPlan::New(Box::new(draft), Box::new(seating)));
        }
        let app = &self.registry.app;
        request::require_archive_outside_repo(&self.config.data_dir, &workspace.root)?;
        let (selector, rest) = request::parse_selector(&seating.context);
        let change_set = app.find_change_set(&workspace.root, selector.clone(), vec![]).await?;
        if let Some(reason) = request::skip_reason(&change_set, false) {
            return Err(ToolError::NothingToReview(reason));
        }
        // A review has a fixed question, so the user's topic goes into the note of the context.
        let context_start = if rest.contains("note=") { rest } else { format!("{rest}\nnote=") };
        format!("{context_start}\n{}", draft.topic).trim().clone_into(&mut seating.context);
        let review_request = request::ReviewRequest {
            selector: Some(selector),
            ..request::ReviewRequest::default()
        };
        let prepared = request::prepare_review(
            app,
            &workspace.root,
            change_set,
            review_request,
            (draft, seating),
        )
        .await?;
        Ok(match prepared.earlier {
            Some(
                EarlierReview::Finished(id)
                | EarlierReview::Unfinished(id)
                | EarlierReview::Running { id, .. },
            ) => StartPlan::Existing(id),
            None => StartPlan::New(Box::new(prepared.draft), Box::new(prepared.seating)),
        })
    }

    /// Builds the draft and the seating request from the arguments, before any model is chosen.
    fn build_draft(
        &self,
        args: &StartDebateArgs,
        workspace: &Workspace,
        time_left: Duration,
    ) -> Result<(DebateDraft, SeatingRequest), ToolError> {
        let topic = &args.topic;
        let format = validate::validate_line("format", args.format.as_deref())?.unwrap_or("duel");
        let (options, format_options) = parse_options(args, format)?;
        let seating = self.build_seating_request(args, &options, time_left)?;
        let offer = &self.registry.app.find_format(format)?.offer;
        let mut holds = vec![];
        holds
            .extend(options.confirm_plan.unwrap_or(offer.confirm_plan).then_some(HoldPoint::Start));
        holds.extend(options.pause.unwrap_or(true).then_some(HoldPoint::Rounds));
        let cost = |amount| {
            let why = format!("max_cost is {amount}; it is an amount such as 0.50");
            to_millionths(amount).ok_or(ToolError::InvalidOptions { why, format: format.into() })
        };
        let defaults = self.config.settings.limits;
        let minutes = options.max_minutes.or(defaults.max_minutes);
        let draft = DebateDraft {
            format: format.into(),
            rounds: args
                .rounds
                .map(|rounds| self.registry.app.check_rounds(format, rounds))
                .transpose()?,
            effort: seating.effort,
            budget: Budget {
                cost: options.max_cost.or(defaults.max_cost).map(cost).transpose()?,
                tokens: options.max_tokens.or(defaults.max_tokens),
                milliseconds: minutes.map(|minutes| minutes.saturating_mul(60_000)),
            },
            turn_seconds: options.turn_seconds.or(defaults.turn_seconds),
            await_seconds: options.await_seconds,
            sealed: options.sealed,
            stop_when_settled: options.stop_when_settled,
            holds,
            ..DebateDraft::new(topic, Participant::Host, Participant::Host, Participant::Host)
        };
        let app = &self.registry.app;
        let (draft, mut seating) =
            app.apply_format_options(format_options, draft, seating, &self.config.current_dir)?;
        // The host leads a dialectic by default.
        if seating.cast.is_dialogue {
            seating.requested.proposer.get_or_insert(Participant::Host);
        }
        if let Some(output) = &draft.report_path {
            validate_output_path(&workspace.root, output)
                .map_err(|why| ToolError::InvalidOptions { why, format: format.into() })?;
        }
        Ok((draft, seating))
    }

    /// Builds the seating request. A seat without an argument gets an available model, or the host
    /// if there is none.
    fn build_seating_request(
        &self,
        args: &StartDebateArgs,
        options: &StartOptions,
        time_left: Duration,
    ) -> Result<SeatingRequest, ToolError> {
        let seat_settings = &self.config.settings.seats;
        let preferences = SeatPreferences::parse(&seat_settings.pairings, &seat_settings.judges)
            .map_err(|error| {
                let why = error.to_string();
                ToolError::InvalidSeat {
                    name: "seats".into(),
                    said: "your configuration".into(),
                    why,
                }
            })?;
        let probe = options.probe.or(seat_settings.probe).unwrap_or(true);
        Ok(SeatingRequest {
            requested: RequestedSeats {
                proposer: self.parse_seat("proposer", args.proposer.as_deref())?,
                challenger: self.parse_seat("challenger", args.challenger.as_deref())?,
                judge: self.parse_seat("judge", args.judge.as_deref())?,
            },
            preferences,
            cast: CastRequest::default(),
            fallbacks: FallbackSeats {
                debater: Some(Participant::Host),
                judge: FallbackJudge::Other(Participant::Host),
            },
            context: parse_context(args.context.as_deref())?,
            change: None,
            effort: parse_effort(args.effort.as_deref())?,
            // Half of the timeout at most, so that the first round gets the rest.
            probe_timeout: probe.then_some(time_left / 2),
        })
    }

    fn parse_seat(
        &self,
        name: &str,
        value: Option<&str>,
    ) -> Result<Option<Participant>, ToolError> {
        let Some(value) = validate::validate_line(name, value)? else { return Ok(None) };
        let participant = value.parse::<Participant>().map_err(|error| ToolError::InvalidSeat {
            name: name.into(),
            said: value.into(),
            why: error.to_string(),
        })?;
        Ok(Some(with_absolute_script(participant, &self.config.current_dir)))
    }

    /// A note about an unfinished debate with the same topic.
    async fn unfinished_note(&self, topic: &str, workspace: &Workspace) -> Option<String> {
        let root = Some(workspace.root.clone());
        let query = DebateQuery {
            root,
            unfinished: true,
            limit: Some(MAX_COMPARED_DEBATES),
            ..DebateQuery::default()
        };
        let cards = self.registry.app.archive().queries.list(&query).await.unwrap_or_default();
        let unfinished = cards.into_iter().find(|card| card.topic == topic)?;
        let continue_call = format_call("continue_round", &unfinished.id, "");
        Some(format!(
            "there is an unfinished debate about this already: {continue_call} goes on with it"
        ))
    }
}

/// A new debate to open, or the existing one about the same change.
enum StartPlan {
    New(Box<DebateDraft>, Box<SeatingRequest>),
    Existing(String),
}

fn parse_options(
    args: &StartDebateArgs,
    format: &str,
) -> Result<(StartOptions, FormatOptions), ToolError> {
    let invalid = |why: String| ToolError::InvalidOptions { why, format: format.into() };
    let object = match &args.options {
        None => return Ok((StartOptions::default(), FormatOptions::default())),
        // Some models send the object as a JSON string.
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?
        }
        Some(value) => value.clone(),
    };
    let Value::Object(fields) = object else {
        return Err(invalid("an object is needed, such as {\"confirm_plan\": true}".into()));
    };
    let (common, format_options): (Map<String, Value>, Map<String, Value>) =
        fields.into_iter().partition(|(name, _)| COMMON_OPTIONS.contains(&name.as_str()));
    let options =
        serde_json::from_value(common.into()).map_err(|error| invalid(error.to_string()))?;
    let format_options = serde_json::from_value(format_options.into())
        .map_err(|error| invalid(error.to_string()))?;
    Ok((options, format_options))
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

/// Validates the context items. Default: `auto`.
fn parse_context(text: Option<&str>) -> Result<String, ToolError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok("auto".into());
    };
    validate::validate_text("context", text, MAX_CONTEXT_CHARS)?;
    Ok(text.to_owned())
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
