//! Handler of `start_debate`: parses the arguments into a draft and a seating request, opens the
//! debate and waits for its first round. A review of a change is prepared by `review::request`.
use super::args::{COMMON_OPTIONS, StartDebateArgs, StartOptions};
use super::error::{ToolError, format_call};
use super::server::McpServer;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Effort, HoldPoint, Participant, to_millionths};
use crate::engine::change_review::EarlierReview;
use crate::engine::draft::with_absolute_script;
use crate::engine::format_options::{CastRequest, FormatOptions};
use crate::engine::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use crate::engine::preflight::SeatingRequest;
use crate::engine::{AppError, ArchiveError, DebateDraft, DebateQuery, Workspace};
use crate::review::request;
use serde_json::{Map, Value};
use std::path::{Component, Path};
use std::time::Duration;

/// Limit of the `context` argument, notes included.
const MAX_CONTEXT_CHARS: usize = 20_000;

impl McpServer {
    /// Opens a debate, runs its first round and waits for it. The notes say which models were
    /// chosen, what it may cost, and whether the topic has an unfinished debate already.
    pub(super) async fn start_debate(
        &self,
        args: &StartDebateArgs,
        place: &Workspace,
        waiting: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let (args, understood) = self.apply_topic_options(args, place)?;
        let asked = Box::pin(self.prepare_start(&args, place, waiting.time_left()));
        let (draft, wish) =
            match waiting.await_with_progress("looking at the change", asked).await?? {
                StartPlan::New(draft, wish) => (*draft, *wish),
                StartPlan::Existing(id) => {
                    return self.wait_for_same_review(&id, place, waiting).await;
                }
            };
        let ready = self.registry.app.prepare(draft, &wish, &place.root);
        let (opening, warnings) =
            waiting.await_with_progress("asking who answers", ready).await??;
        let given = (!opening.picked.is_empty())
            .then(|| format!("the debaters are given: {}", opening.picked.join("; ")));
        let chosen = (!opening.seat_choices.is_empty())
            .then(|| format!("chosen: {}", opening.seat_choices.join(", ")));
        let mut notes: Vec<String> = understood.into_iter().collect();
        notes.extend(chosen.into_iter().chain(given).chain(warnings));
        if let Some(estimate) = self.registry.app.estimate_cost(&opening)? {
            notes.push(format!("estimate: {}", estimate.summary));
            notes.extend(estimate.budget_warning);
        }
        notes.extend(self.unfinished_note(&opening.topic, place));
        let job = match self.registry.app.open(&opening, place) {
            // Another process opened the same review after the archive was queried.
            Err(AppError::Archive(
                ArchiveError::Duplicate { id } | ArchiveError::LeaseHeld { id, .. },
            )) => return self.wait_for_same_review(&id, place, waiting).await,
            opened => opened?,
        };
        let id = job.id().to_owned();
        self.registry.mark_seen(&id);
        self.registry.spawn_run(job);
        let notes = notes.iter().map(|note| self.registry.app.redact(note)).collect();
        Ok((self.registry.play_and_wait(&id, place, waiting).await?, notes))
    }

    /// Waits for an existing debate about the same change instead of opening a second one.
    async fn wait_for_same_review(
        &self,
        id: &str,
        place: &Workspace,
        waiting: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let note = "the same was argued already: this is how it stands".to_owned();
        Ok((self.registry.play_and_wait(id, place, waiting).await?, vec![note]))
    }

    /// Fills absent arguments with options that the topic states in plain words: format, seats,
    /// rounds, effort. Also returns a note that lists them.
    fn apply_topic_options(
        &self,
        args: &StartDebateArgs,
        place: &Workspace,
    ) -> Result<(StartDebateArgs, Option<String>), ToolError> {
        let topic = args.topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if topic.is_empty() {
            return Err(ToolError::MissingTopic(self.registry.app.suggest_topics(&place.root)));
        }
        validate::validate_text("topic", &topic, MAX_TOPIC_CHARS)?;
        let spoken = self.registry.app.parse_topic_options(&topic);
        let understood = spoken.describe();
        let understood = understood.map(|said| format!("understood from the topic: {said}"));
        let or = |given: &Option<String>, said: Option<String>| given.clone().or(said);
        let args = StartDebateArgs {
            format: or(&args.format, spoken.format),
            proposer: or(&args.proposer, spoken.proposer),
            challenger: or(&args.challenger, spoken.challenger),
            judge: or(&args.judge, spoken.judge),
            rounds: args.rounds.or(spoken.rounds.map(Into::into)),
            effort: or(&args.effort, spoken.effort.map(|effort| effort.as_str().into())),
            topic: spoken.topic,
            ..args.clone()
        };
        Ok((args, understood))
    }

    /// Builds the draft. For a review, looks up an earlier debate about the same change first.
    async fn prepare_start(
        &self,
        args: &StartDebateArgs,
        place: &Workspace,
        left: Duration,
    ) -> Result<StartPlan, ToolError> {
        let (draft, mut wish) = self.build_draft(args, place, left)?;
        if !parse_options(args, &draft.format)?.0.review {
            return Ok(StartPlan::New(Box::new(draft), Box::new(wish)));
        }
        let desk = &self.registry.app;
        request::require_archive_outside_repo(&self.config.data_dir, &place.root)?;
        let (meant, rest) = request::parse_selector(&wish.context);
        let proposal = desk.find_change_set(&place.root, meant.clone(), vec![]).await?;
        if let Some(idle) = request::skip_reason(&proposal, false) {
            return Err(ToolError::NothingToReview(idle));
        }
        // A review has a fixed question, so the user's topic goes into the note of the context.
        let before = if rest.contains("note=") { rest } else { format!("{rest}\nnote=") };
        format!("{before}\n{}", draft.topic).trim().clone_into(&mut wish.context);
        let asked =
            request::ReviewRequest { selector: Some(meant), ..request::ReviewRequest::default() };
        let posed =
            request::prepare_review(desk, &place.root, proposal, asked, (draft, wish)).await?;
        Ok(match posed.earlier {
            Some(
                EarlierReview::Finished(id)
                | EarlierReview::Unfinished(id)
                | EarlierReview::Running { id, .. },
            ) => StartPlan::Existing(id),
            None => StartPlan::New(Box::new(posed.draft), Box::new(posed.seating)),
        })
    }

    /// Builds the draft and the seating request from the arguments, before any model is chosen.
    fn build_draft(
        &self,
        args: &StartDebateArgs,
        place: &Workspace,
        left: Duration,
    ) -> Result<(DebateDraft, SeatingRequest), ToolError> {
        let topic = &args.topic;
        let format = validate::validate_line("format", args.format.as_deref())?.unwrap_or("duel");
        let (options, particulars) = parse_options(args, format)?;
        let wish = self.build_seating_request(args, &options, left)?;
        let offer = &self.registry.app.catalog().find(format)?.offer;
        let mut holds = vec![];
        holds
            .extend(options.confirm_plan.unwrap_or(offer.confirm_plan).then_some(HoldPoint::Start));
        holds.extend(options.pause.unwrap_or(true).then_some(HoldPoint::Rounds));
        let cost = |amount| {
            let why = format!("max_cost is {amount}; it is an amount such as 0.50");
            to_millionths(amount).ok_or(ToolError::InvalidOptions { why, format: format.into() })
        };
        let usual = self.config.settings.limits;
        let minutes = options.max_minutes.or(usual.max_minutes);
        let draft = DebateDraft {
            format: format.into(),
            rounds: args
                .rounds
                .map(|rounds| self.registry.app.check_rounds(format, rounds))
                .transpose()?,
            effort: wish.effort,
            budget: Budget {
                cost: options.max_cost.or(usual.max_cost).map(cost).transpose()?,
                tokens: options.max_tokens.or(usual.max_tokens),
                milliseconds: minutes.map(|minutes| minutes.saturating_mul(60_000)),
            },
            turn_seconds: options.turn_seconds.or(usual.turn_seconds),
            await_seconds: options.await_seconds,
            sealed: options.sealed,
            stop_when_settled: options.stop_when_settled,
            holds,
            ..DebateDraft::new(topic, Participant::Host, Participant::Host, Participant::Host)
        };
        let desk = &self.registry.app;
        let (draft, mut wish) =
            desk.apply_format_options(particulars, draft, wish, &self.config.current_dir)?;
        // The host leads a dialectic by default.
        if wish.cast.is_dialogue {
            wish.requested.proposer.get_or_insert(Participant::Host);
        }
        if let Some(output) = &draft.report_path {
            validate_output_path(&place.root, output)
                .map_err(|why| ToolError::InvalidOptions { why, format: format.into() })?;
        }
        Ok((draft, wish))
    }

    /// Builds the seating request. A seat without an argument gets an available model, or the host
    /// if there is none.
    fn build_seating_request(
        &self,
        args: &StartDebateArgs,
        options: &StartOptions,
        left: Duration,
    ) -> Result<SeatingRequest, ToolError> {
        let own = &self.config.settings.seats;
        let preferred = SeatPreferences::parse(&own.pairings, &own.judges).map_err(|bad| {
            let why = bad.to_string();
            ToolError::InvalidSeat { name: "seats".into(), said: "your configuration".into(), why }
        })?;
        let probe = options.probe.or(own.probe).unwrap_or(true);
        Ok(SeatingRequest {
            requested: RequestedSeats {
                proposer: self.parse_seat("proposer", args.proposer.as_deref())?,
                challenger: self.parse_seat("challenger", args.challenger.as_deref())?,
                judge: self.parse_seat("judge", args.judge.as_deref())?,
            },
            preferences: preferred,
            cast: CastRequest::default(),
            fallbacks: FallbackSeats {
                debater: Some(Participant::Host),
                judge: FallbackJudge::Other(Participant::Host),
            },
            context: parse_context(args.context.as_deref())?,
            change: None,
            effort: parse_effort(args.effort.as_deref())?,
            // Half of the timeout at most, so that the first round gets the rest.
            probe_timeout: probe.then_some(left / 2),
        })
    }

    fn parse_seat(&self, name: &str, said: Option<&str>) -> Result<Option<Participant>, ToolError> {
        let Some(said) = validate::validate_line(name, said)? else { return Ok(None) };
        let voice = said.parse::<Participant>().map_err(|error| ToolError::InvalidSeat {
            name: name.into(),
            said: said.into(),
            why: error.to_string(),
        })?;
        Ok(Some(with_absolute_script(voice, &self.config.current_dir)))
    }

    /// A note about an unfinished debate with the same topic.
    fn unfinished_note(&self, topic: &str, place: &Workspace) -> Option<String> {
        let root = Some(place.root.clone());
        let query =
            DebateQuery { root, unfinished: true, limit: Some(20), ..DebateQuery::default() };
        let cards = self.registry.app.archive().list(&query).unwrap_or_default();
        let same = cards.into_iter().find(|card| card.topic == topic)?;
        let on = format_call("continue_round", &same.id, "");
        Some(format!("there is an unfinished debate about this already: {on} goes on with it"))
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
    let bad = |why: String| ToolError::InvalidOptions { why, format: format.into() };
    let object = match &args.options {
        None => return Ok((StartOptions::default(), FormatOptions::default())),
        // Some models send the object as a JSON string.
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?
        }
        Some(value) => value.clone(),
    };
    let Value::Object(all) = object else {
        return Err(bad("an object is needed, such as {\"confirm_plan\": true}".into()));
    };
    let (common, own): (Map<String, Value>, Map<String, Value>) =
        all.into_iter().partition(|(name, _)| COMMON_OPTIONS.contains(&name.as_str()));
    let options = serde_json::from_value(common.into()).map_err(|error| bad(error.to_string()))?;
    let own = serde_json::from_value(own.into()).map_err(|error| bad(error.to_string()))?;
    Ok((options, own))
}

/// Validates the path of a report: a new Markdown file inside the repository, not hidden.
fn validate_output_path(root: &Path, output: &str) -> Result<(), String> {
    let path = Path::new(output);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let hidden = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    if !plain || hidden || path.extension().is_none_or(|ending| ending != "md") {
        return Err("`output_path` is a path inside the repository, such as docs/report.md".into());
    }
    let whole = root.join(path);
    if whole.symlink_metadata().is_ok() {
        return Err(format!("there is a file `{output}` already; name another"));
    }
    let folder = whole.parent().and_then(|folder| dunce::canonicalize(folder).ok());
    let inside =
        folder.zip(dunce::canonicalize(root).ok()).is_some_and(|(it, root)| it.starts_with(root));
    inside.then_some(()).ok_or_else(|| format!("there is no folder for `{output}` here"))
}

/// Validates the context items. Default: `auto`.
fn parse_context(said: Option<&str>) -> Result<String, ToolError> {
    let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) else {
        return Ok("auto".into());
    };
    validate::validate_text("context", said, MAX_CONTEXT_CHARS)?;
    Ok(said.to_owned())
}

fn parse_effort(said: Option<&str>) -> Result<Option<Effort>, ToolError> {
    let Some(said) = validate::validate_line("effort", said)? else { return Ok(None) };
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    let named = all.into_iter().find(|effort| effort.as_str() == said.to_lowercase());
    named.map(Some).ok_or_else(|| ToolError::UnknownValue {
        name: "effort".into(),
        said: said.into(),
        allowed: all.map(Effort::as_str).join(", "),
    })
}
