//! Turns a [`StartRequest`] into a `StartPlan`: parses options in the topic, fills in the user's
//! defaults, and validates every option against the format. Reads no files and asks no model.
#[cfg(test)]
mod tests;

use super::cast::with_absolute_script;
use super::casting::default_roles;
use super::pairing::{RequestedSeats, SeatPreferences};
use super::request::{DefaultsPolicy, HoldPolicy, StartRequest};
use super::seating::{CastRequest, SeatingRequest};
use super::spec::{DEFAULT_FORMAT, DebateSpec};
use super::topic_options::TopicOptions;
use super::topic_sides::{self, TopicLine};
use super::{App, AppError, evidence_heuristic};
use crate::debate::{Budget, HoldPoint, Participant, Role, Rounds, to_millionths};
use crate::engine::format_catalog::CatalogEntry;
use crate::options::{AuditMode, DebateOptions};
use serde_json::Value;
use std::path::Path;

/// Default context: chosen from the topic.
pub const AUTO_CONTEXT: &str = "auto";
/// How far the sum of two shares may be from 1, because of rounding.
const SHARE_TOLERANCE: f64 = 0.001;
const AUDIENCES: &[&str] = &["self", "team", "public"];
const DECISION_TYPES: &[&str] = &["personal-choice", "team-standardization", "market-analysis"];

/// Options that only formats with a certain role take.
const ROLE_OPTIONS: &[(&str, Role)] = &[
    ("roles", Role::Advocate),
    ("goal", Role::Advocate),
    ("audience", Role::Advocate),
    ("decision_type", Role::Advocate),
    ("output_path", Role::Advocate),
    ("evidence_round", Role::Auditor),
    ("listeners", Role::Audience),
    ("judge_share", Role::Audience),
    ("audience_share", Role::Audience),
    ("partners", Role::Partner),
    ("judges", Role::Judge),
];
/// Options that need two sides. The setup checks them, so a request with one fails there.
const SIDE_OPTIONS: &[&str] = &["sealed", "stop_when_settled"];

/// What to debate, and which seats are still open.
#[derive(Clone, Debug)]
pub(super) struct StartPlan {
    pub(super) spec: DebateSpec,
    pub(super) seating: SeatingRequest,
    /// Options that were parsed from the topic, as one line.
    pub(super) understood: Option<String>,
}

impl App {
    /// Validates a request and resolves everything that needs no file and no model.
    pub(super) fn plan_start(&self, request: &StartRequest) -> Result<StartPlan, AppError> {
        let policy = &request.policy;
        let TopicRequest { topic, options, understood } = self.read_topic(request);
        let default_format = self.defaults.options.format.clone();
        let default_format = default_format.filter(|_| policy.defaults == DefaultsPolicy::All);
        let format = options.format.clone().or(default_format);
        let format = format.unwrap_or_else(|| DEFAULT_FORMAT.into());
        let entry = self.catalog.find(&format)?.clone();
        check_supported(&options, &entry)?;
        let options = match policy.defaults {
            DefaultsPolicy::None => options,
            _ => options.or(&supported_part(&self.defaults.options, &entry)),
        };
        let mut spec = DebateSpec {
            topic,
            format,
            rounds: options
                .rounds
                .map(|rounds| self.check_rounds(entry.name(), rounds))
                .transpose()?,
            effort: options.effort,
            budget: match request.budget {
                Some(budget) => budget,
                None => budget_from(&options)?,
            },
            turn_seconds: options.turn_seconds,
            await_seconds: options.await_seconds,
            sealed: options.sealed.unwrap_or(false),
            stop_when_settled: options.stop_when_settled.unwrap_or(false),
            holds: hold_points(policy.holds, &options, &entry),
            terms: request.terms.clone(),
            supersedes: request.supersedes.clone(),
            ..DebateSpec::default()
        };
        let mut seating = self.seating_request(request, &options)?;
        self.apply_format_options(&options, &mut spec, &mut seating, &entry, &request.folder)?;
        if seating.cast.is_dialogue && seating.requested.proposer.is_none() {
            seating.requested.proposer.clone_from(&policy.lead);
        }
        Ok(StartPlan { spec, seating, understood })
    }

    /// Parses options in the topic. An explicit option overrides one in the topic.
    fn read_topic(&self, request: &StartRequest) -> TopicRequest {
        let options = request.options.clone();
        if !request.policy.parse_topic {
            return TopicRequest { topic: request.topic.clone(), options, understood: None };
        }
        let parsed = self.parse_topic_options(&request.topic);
        let names_judge = options.judge.is_some() || !options.judges.is_empty();
        let applied = TopicOptions {
            format: parsed.format.filter(|_| options.format.is_none()),
            proposer: parsed.proposer.filter(|_| options.proposer.is_none()),
            challenger: parsed.challenger.filter(|_| options.challenger.is_none()),
            judge: parsed.judge.filter(|_| !names_judge),
            rounds: parsed.rounds.filter(|_| options.rounds.is_none()),
            effort: parsed.effort.filter(|_| options.effort.is_none()),
            topic: parsed.topic,
        };
        let understood = applied.describe();
        let options = DebateOptions {
            format: options.format.or(applied.format),
            proposer: options.proposer.or(applied.proposer),
            challenger: options.challenger.or(applied.challenger),
            judge: options.judge.or(applied.judge),
            rounds: options.rounds.or(applied.rounds.map(Into::into)),
            effort: options.effort.or(applied.effort),
            ..options
        };
        TopicRequest { topic: applied.topic, options, understood }
    }

    /// The seats that are named, and how the others are filled.
    fn seating_request(
        &self,
        request: &StartRequest,
        options: &DebateOptions,
    ) -> Result<SeatingRequest, AppError> {
        let policy = &request.policy;
        let seat = |name: &str, word: &Option<String>| {
            let parse = |word: &String| {
                let parsed = word.parse::<Participant>().map_err(|error| {
                    AppError::InvalidOption(format!("the {name} is `{word}`: {error}"))
                })?;
                Ok::<_, AppError>(with_absolute_script(parsed, &request.folder))
            };
            word.as_ref().map(parse).transpose()
        };
        let preferences = match policy.defaults {
            DefaultsPolicy::None => SeatPreferences::default(),
            _ => SeatPreferences::parse(&self.defaults.pairings, &self.defaults.judges)
                .map_err(|error| AppError::InvalidConfig(format!("`seats`: {error}")))?,
        };
        Ok(SeatingRequest {
            requested: RequestedSeats {
                proposer: seat("proposer", &options.proposer)?,
                challenger: seat("challenger", &options.challenger)?,
                judge: seat("judge", &options.judge)?,
            },
            preferences,
            fallbacks: policy.fallbacks.clone(),
            cast: CastRequest::default(),
            context: options.context.clone().unwrap_or_else(|| AUTO_CONTEXT.into()),
            change: None,
            effort: options.effort,
            probe_timeout: options.probe.unwrap_or(true).then_some(policy.probe_timeout),
        })
    }

    /// Applies the options that depend on the roles of the format.
    fn apply_format_options(
        &self,
        options: &DebateOptions,
        spec: &mut DebateSpec,
        request: &mut SeatingRequest,
        entry: &CatalogEntry,
        folder: &Path,
    ) -> Result<(), AppError> {
        let parse_seat = |word: &str| self.parse_participant(word, folder);
        let uses_role = |role: Role| entry.offer.format.uses_role(role);
        if let Some(model) = options.model.as_deref() {
            let model = parse_seat(model)?;
            let requested = &mut request.requested;
            for seat in [&mut requested.proposer, &mut requested.challenger, &mut requested.judge] {
                seat.get_or_insert_with(|| model.clone());
            }
        }
        let mut judges = options.judges.iter().map(|word| parse_seat(word));
        if let Some(first) = judges.next() {
            request.requested.judge = Some(first?);
            request.cast.panel = judges.collect::<Result<_, _>>()?;
        }
        request.cast.partners =
            options.partners.iter().map(|word| parse_seat(word)).collect::<Result<_, _>>()?;
        request.cast.is_dialogue = uses_role(Role::Partner);
        request.cast.allow_same_model = !uses_role(Role::Pro);
        if uses_role(Role::Advocate) {
            self.apply_roles(options, spec, request, folder)?;
            spec.terms.insert("goal".into(), options.goal.clone().unwrap_or_default());
            let readers = parse_choice("audience", options.audience.as_deref(), AUDIENCES)?;
            spec.terms.insert("audience".into(), readers);
            let decision =
                parse_choice("decision_type", options.decision_type.as_deref(), DECISION_TYPES)?;
            spec.terms.insert("decision_type".into(), decision);
        }
        if uses_role(Role::Auditor) {
            let (audited, reason) =
                decide_audit(options.evidence_round.unwrap_or(AuditMode::Auto), &spec.topic);
            spec.audited = audited;
            spec.terms.insert("evidence_round".into(), reason);
        }
        if uses_role(Role::Audience) {
            let default_listeners =
                || entry.audience_types().map(|kind| (kind.to_owned(), 1, None)).collect();
            request.cast.listeners = match &options.listeners {
                None if entry.offer.default_audience => default_listeners(),
                None => vec![],
                Some(given) => given
                    .iter()
                    .map(|listener| {
                        let model = listener.model.as_deref().map(parse_seat).transpose()?;
                        let weight = listener.weight.unwrap_or(1);
                        if weight == 0 {
                            return Err(AppError::InvalidOption(format!(
                                "the listener `{}` has weight 0; leave it out instead",
                                listener.kind
                            )));
                        }
                        Ok((listener.kind.clone(), weight, model))
                    })
                    .collect::<Result<_, AppError>>()?,
            };
            spec.judge_share = judge_share_percent(options.judge_share, options.audience_share)?;
        }
        if let Some(model) = options.model.as_deref() {
            let model = parse_seat(model)?;
            let roles = request.cast.roles.iter_mut().map(|role| &mut role.2);
            for seat in
                roles.chain(request.cast.listeners.iter_mut().map(|listener| &mut listener.2))
            {
                seat.get_or_insert_with(|| model.clone());
            }
        }
        spec.stances = [options.stances.pro.clone(), options.stances.con.clone()];
        spec.styles = [options.styles.pro.clone(), options.styles.con.clone()];
        spec.same_judge = options.same_judge.unwrap_or(false);
        spec.report_path = options.output_path.clone().filter(|path| !path.trim().is_empty());
        Ok(())
    }

    /// Sets the roles, from the options or from a topic such as `X vs Y (model-a, model-b)`.
    fn apply_roles(
        &self,
        options: &DebateOptions,
        spec: &mut DebateSpec,
        request: &mut SeatingRequest,
        folder: &Path,
    ) -> Result<(), AppError> {
        let TopicLine { topic, models, sides } = topic_sides::parse(&spec.topic);
        // Parentheses may hold anything, so all entries must be known models.
        let mut topic_models = vec![];
        if !models.is_empty() && models.iter().all(|word| self.is_known_model(word)) {
            let participants = models.iter().map(|word| self.parse_participant(word, folder));
            topic_models = participants.collect::<Result<_, _>>()?;
            spec.topic = topic;
        }
        let mut roles: Vec<(String, String, Option<Participant>)> = vec![];
        for role in &options.roles {
            let model = role
                .model
                .as_deref()
                .map(|word| self.parse_participant(word, folder))
                .transpose()?;
            if role.name.trim().is_empty() || role.stance.trim().is_empty() {
                return Err(AppError::InvalidOption("a role needs a `name` and a `stance`".into()));
            }
            roles.push((role.name.trim().into(), role.stance.clone(), model));
        }
        if roles.is_empty() {
            let defaults = default_roles(&spec.topic, sides);
            roles.extend(defaults.map(|(name, stance)| (name, stance, None)));
        }
        for (role, participant) in roles.iter_mut().zip(topic_models) {
            role.2.get_or_insert(participant);
        }
        // The first two roles are also proposer and challenger.
        let requested = &mut request.requested;
        for (seat, role) in
            [&mut requested.proposer, &mut requested.challenger].into_iter().zip(&roles)
        {
            if role.2.is_some() {
                seat.clone_from(&role.2);
            }
        }
        request.cast.roles = roles;
        Ok(())
    }

    /// Whether a word is a known seat, or a model of a known vendor.
    fn is_known_model(&self, word: &str) -> bool {
        topic_sides::tool_for_model(word).is_some()
            || self.providers.list_providers().iter().any(|it| is_same_tool(word, &it.seat))
    }

    /// Parses a participant as the user writes it: a seat, or a bare model name whose vendor is
    /// known. Falls back to the vendor's API if its CLI is not available.
    pub fn parse_participant(&self, word: &str, folder: &Path) -> Result<Participant, AppError> {
        let invalid = |message: String| AppError::InvalidOption(format!("`{word}`: {message}"));
        let listed = self.providers.list_providers();
        let bare_tool = topic_sides::tool_for_model(word)
            .filter(|_| !listed.iter().any(|it| is_same_tool(word, &it.seat)));
        let seat = match bare_tool {
            Some(tool) => {
                let is_playable =
                    |tool: &str| listed.iter().any(|it| it.playable && it.seat == tool);
                let service = match tool {
                    "claude" => "anthropic",
                    "codex" => "openai",
                    "gemini" => "google",
                    other => other,
                };
                let tool = if is_playable(tool) || !is_playable(service) { tool } else { service };
                format!("{tool}:{word}")
            }
            None => word.to_owned(),
        };
        let participant: Participant = seat
            .parse()
            .map_err(|error: crate::debate::seat::ParticipantError| invalid(error.to_string()))?;
        Ok(with_absolute_script(participant, folder))
    }
}

/// Whether two seat names have the same tool.
fn is_same_tool(word: &str, seat: &str) -> bool {
    let tool = |text: &str| text.split(':').next().map(str::to_owned);
    tool(word) == tool(seat)
}

/// The topic without options, and all options of the request.
struct TopicRequest {
    topic: String,
    options: DebateOptions,
    understood: Option<String>,
}

/// Options that are set but that the format does not take.
fn unsupported_options<'a>(
    options: &Value,
    entry: &'a CatalogEntry,
) -> impl Iterator<Item = &'static str> + use<'a> {
    let is_set = {
        let (options, unset) = (options.clone(), to_json(&DebateOptions::default()));
        move |name: &str| options.get(name) != unset.get(name)
    };
    let unsupported = |(_, role): &&(&str, Role)| !entry.offer.format.uses_role(*role);
    ROLE_OPTIONS.iter().filter(unsupported).map(|(name, _)| *name).filter(move |name| is_set(name))
}

/// Checks that the format takes every given option.
fn check_supported(options: &DebateOptions, entry: &CatalogEntry) -> Result<(), AppError> {
    match unsupported_options(&to_json(options), entry).next() {
        Some(name) => Err(AppError::InvalidOption(format!(
            "the option `{name}` is not available in the format `{}`",
            entry.name()
        ))),
        None => Ok(()),
    }
}

/// The user's defaults that the format takes.
fn supported_part(defaults: &DebateOptions, entry: &CatalogEntry) -> DebateOptions {
    let mut options = to_json(defaults);
    let mut unsupported: Vec<&str> = unsupported_options(&options, entry).collect();
    if !entry.offer.format.uses_role(Role::Pro) {
        unsupported.extend(SIDE_OPTIONS);
    }
    let rounds = defaults.rounds.and_then(|rounds| u8::try_from(rounds).ok());
    if !rounds.is_some_and(|rounds| entry.offer.rounds.contains(&rounds)) {
        unsupported.push("rounds");
    }
    if let Value::Object(fields) = &mut options {
        fields.retain(|name, _| !unsupported.contains(&name.as_str()));
    }
    serde_json::from_value(options).unwrap_or_default()
}

fn to_json(options: &DebateOptions) -> Value {
    serde_json::to_value(options).unwrap_or_default()
}

/// Where the debate waits for the user.
fn hold_points(
    policy: HoldPolicy,
    options: &DebateOptions,
    entry: &CatalogEntry,
) -> Vec<HoldPoint> {
    let offer = &entry.offer;
    // Acts without a fixed number of rounds need the user to end them.
    let is_open_ended = offer.format.acts.iter().any(|act| act.rounds == Rounds::Open);
    let (confirm_plan, pause) = match policy {
        HoldPolicy::EveryRound => (offer.confirm_plan, options.pause.unwrap_or(true)),
        HoldPolicy::OpenEnded => {
            (offer.confirm_plan, options.pause.unwrap_or(false) || is_open_ended)
        }
        HoldPolicy::Never => (false, options.pause.unwrap_or(false)),
    };
    let start = options.confirm_plan.unwrap_or(confirm_plan).then_some(HoldPoint::Start);
    start.into_iter().chain(pause.then_some(HoldPoint::Rounds)).collect()
}

/// The spending limits in the options.
fn budget_from(options: &DebateOptions) -> Result<Budget, AppError> {
    let cost = |amount| {
        to_millionths(amount).ok_or_else(|| {
            AppError::InvalidOption(format!("max_cost is {amount}; it is an amount such as 0.50"))
        })
    };
    Ok(Budget {
        cost: options.max_cost.map(cost).transpose()?,
        tokens: options.max_tokens,
        milliseconds: options.max_minutes.map(|minutes| minutes.saturating_mul(60_000)),
    })
}

/// Validates a format-specific option.
pub fn parse_term(name: &str, value: &str) -> Result<String, AppError> {
    match name {
        "audience" => parse_choice(name, Some(value), AUDIENCES),
        "decision_type" => parse_choice(name, Some(value), DECISION_TYPES),
        _ => Ok(value.into()),
    }
}

fn parse_choice(name: &str, value: Option<&str>, known: &[&str]) -> Result<String, AppError> {
    let value = value.unwrap_or(known[0]);
    if known.contains(&value) {
        return Ok(value.into());
    }
    let known = known.join(", ");
    Err(AppError::InvalidOption(format!("`{name}` is `{value}`; it must be one of {known}")))
}

/// Whether claims are audited, with the reason.
pub fn decide_audit(mode: AuditMode, topic: &str) -> (bool, String) {
    match (mode, evidence_heuristic::measurable_subject(topic)) {
        (AuditMode::On, _) => (true, "on, as asked for".into()),
        (AuditMode::Off, _) => (false, "off, as asked for".into()),
        (AuditMode::Auto, Some(subject)) => (true, format!("on: the topic asks about {subject}")),
        (AuditMode::Auto, None) => {
            (false, "off: nothing in the topic asks for what can be measured".into())
        }
    }
}

/// Weight of the judge in percent. Validates that both weights add up to 1.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn judge_share_percent(judge: Option<f64>, audience: Option<f64>) -> Result<Option<u8>, AppError> {
    let (Some(judge), Some(audience)) =
        (judge.or(audience.map(|it| 1.0 - it)), audience.or(judge.map(|it| 1.0 - it)))
    else {
        return Ok(None);
    };
    let invalid = |message: String| Err(AppError::InvalidOption(message));
    if !(0.0..=1.0).contains(&judge) || !(0.0..=1.0).contains(&audience) {
        return invalid(format!(
            "the shares are {judge} and {audience}; each must be between 0 and 1"
        ));
    }
    if (judge + audience - 1.0).abs() > SHARE_TOLERANCE {
        return invalid(format!(
            "the shares {judge} and {audience} add up to {}, not to 1",
            judge + audience
        ));
    }
    Ok(Some((judge * 100.0).round() as u8))
}
