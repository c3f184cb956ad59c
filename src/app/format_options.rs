//! Format options: what a format accepts besides topic and seats, as given by a CLI flag, a file or
//! an MCP argument. [`App::apply_format_options`] validates them and applies them to a draft.
use super::draft::{DebateDraft, with_absolute_script};
use super::evidence_heuristic;
use super::preflight::SeatingRequest;
use super::topic_sides::{self, TopicLine};
use crate::app::{App, AppError};
use crate::debate::language::{self, Language};
use crate::debate::{Participant, Role};
use crate::engine::format_catalog::CatalogEntry;
use serde::Deserialize;
use std::path::Path;

/// Options of a format. All are optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FormatOptions {
    /// Two to four roles of a research debate.
    pub roles: Vec<RoleOption>,
    /// Default model of every seat without one.
    pub model: Option<String>,
    /// Judges, if there are several.
    pub judges: Vec<String>,
    /// Additional partners, who question the lead.
    pub partners: Vec<String>,
    /// Audience members, who vote. Default: one of each type, if the format has an audience by
    /// default.
    pub listeners: Option<Vec<ListenerOption>>,
    /// Stances of the two sides.
    pub stances: PerSide,
    /// Argument styles of the two sides.
    pub styles: PerSide,
    /// The decision behind the topic.
    pub goal: Option<String>,
    /// Readers of the result: `self`, `team` or `public`.
    pub audience: Option<String>,
    /// `personal-choice`, `team-standardization` or `market-analysis`.
    pub decision_type: Option<String>,
    /// Whether claims are audited: `auto`, `true` or `false`.
    pub evidence_round: Option<AuditMode>,
    /// Weight of the judge, 0 to 1.
    pub judge_share: Option<f64>,
    /// Weight of the audience, 0 to 1. One of the two weights is enough. Their sum must be 1.
    pub audience_share: Option<f64>,
    /// Allow a debater to judge although the format forbids it.
    pub same_judge: bool,
    /// Additional path for the finished report.
    pub output_path: Option<String>,
}

/// A role of a research debate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleOption {
    pub name: String,
    /// What it argues for.
    pub stance: String,
    /// Default: chosen automatically.
    #[serde(default)]
    pub model: Option<String>,
}

/// An audience member.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenerOption {
    /// Type, one of those the format has templates for.
    #[serde(rename = "type")]
    pub kind: String,
    /// Default: chosen automatically.
    #[serde(default)]
    pub model: Option<String>,
    /// Weight of its vote. Default: 1.
    #[serde(default)]
    pub weight: Option<u16>,
}

/// A text for each side.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PerSide {
    #[serde(alias = "proposer")]
    pub pro: String,
    #[serde(alias = "challenger")]
    pub con: String,
}

/// Whether factual claims are audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub enum AuditMode {
    On,
    Off,
    /// Only if the topic asks for something measurable (see `evidence_heuristic`).
    Auto,
}

impl TryFrom<serde_json::Value> for AuditMode {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<AuditMode, String> {
        match value {
            serde_json::Value::Bool(true) => Ok(AuditMode::On),
            serde_json::Value::Bool(false) => Ok(AuditMode::Off),
            serde_json::Value::String(word) => word.parse(),
            other => Err(format!("`evidence_round` is {other}; it must be auto, true or false")),
        }
    }
}

impl std::str::FromStr for AuditMode {
    type Err = String;

    fn from_str(word: &str) -> Result<AuditMode, String> {
        match word {
            "true" | "on" | "yes" => Ok(AuditMode::On),
            "false" | "off" | "no" => Ok(AuditMode::Off),
            "auto" => Ok(AuditMode::Auto),
            other => Err(format!("`{other}` is not auto, true or false")),
        }
    }
}

/// The requested seats beyond the main three, some of them still open.
#[derive(Clone, Debug, Default)]
pub struct CastRequest {
    /// Name, stance and participant of each role.
    pub roles: Vec<(String, String, Option<Participant>)>,
    /// Type, vote weight and participant of each audience member.
    pub listeners: Vec<(String, u16, Option<Participant>)>,
    /// Additional judges.
    pub panel: Vec<Participant>,
    /// Additional partners, who question the lead.
    pub partners: Vec<Participant>,
    /// Whether it is a dialogue, whose partner should fit the topic.
    pub is_dialogue: bool,
    /// Whether one model may take several debating seats.
    pub allow_same_model: bool,
}

/// How far the sum of two shares may be from 1, because of rounding.
const SHARE_TOLERANCE: f64 = 0.001;
const AUDIENCES: &[&str] = &["self", "team", "public"];
const DECISION_TYPES: &[&str] = &["personal-choice", "team-standardization", "market-analysis"];

impl App {
    /// Applies format options to a draft and its seating request. An option the format does not
    /// support is an error.
    pub fn apply_format_options(
        &self,
        options: FormatOptions,
        draft: DebateDraft,
        request: SeatingRequest,
        folder: &Path,
    ) -> Result<(DebateDraft, SeatingRequest), AppError> {
        let entry = self.catalog.find(&draft.format)?.clone();
        check_supported(&options, &entry)?;
        let (mut draft, mut request) = (draft, request);
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
            self.apply_roles(&options, &mut draft, &mut request, folder)?;
            draft.terms.insert("goal".into(), options.goal.clone().unwrap_or_default());
            let readers = parse_choice("audience", options.audience.as_deref(), AUDIENCES)?;
            draft.terms.insert("audience".into(), readers);
            let decision =
                parse_choice("decision_type", options.decision_type.as_deref(), DECISION_TYPES)?;
            draft.terms.insert("decision_type".into(), decision);
        }
        if uses_role(Role::Auditor) {
            let (audited, reason) =
                decide_audit(options.evidence_round.unwrap_or(AuditMode::Auto), &draft.topic);
            draft.audited = audited;
            draft.terms.insert("evidence_round".into(), reason);
        }
        if uses_role(Role::Audience) {
            let default_listeners =
                || entry.audience_types().map(|kind| (kind.to_owned(), 1, None)).collect();
            request.cast.listeners = match options.listeners {
                None if entry.offer.default_audience => default_listeners(),
                None => vec![],
                Some(given) => given
                    .into_iter()
                    .map(|listener| {
                        let model = listener.model.as_deref().map(parse_seat).transpose()?;
                        let weight = listener.weight.unwrap_or(1);
                        if weight == 0 {
                            return Err(AppError::InvalidOption(format!(
                                "the listener `{}` has weight 0; leave it out instead",
                                listener.kind
                            )));
                        }
                        Ok((listener.kind, weight, model))
                    })
                    .collect::<Result<_, AppError>>()?,
            };
            draft.judge_share = judge_share_percent(options.judge_share, options.audience_share)?;
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
        draft.stances = [options.stances.pro, options.stances.con];
        draft.styles = [options.styles.pro, options.styles.con];
        draft.same_judge = options.same_judge;
        draft.report_path = options.output_path.filter(|path| !path.trim().is_empty());
        Ok((draft, request))
    }

    /// Sets the roles, from the options or from a topic such as `X vs Y (model-a, model-b)`.
    fn apply_roles(
        &self,
        options: &FormatOptions,
        draft: &mut DebateDraft,
        request: &mut SeatingRequest,
        folder: &Path,
    ) -> Result<(), AppError> {
        let TopicLine { topic, models, sides } = topic_sides::parse(&draft.topic);
        // Parentheses may hold anything, so all entries must be known models.
        let mut topic_models = vec![];
        if !models.is_empty() && models.iter().all(|word| self.is_known_model(word)) {
            let participants = models.iter().map(|word| self.parse_participant(word, folder));
            topic_models = participants.collect::<Result<_, _>>()?;
            draft.topic = topic;
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
            let defaults = default_roles(&draft.topic, sides);
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

/// Checks that the format supports every given option.
fn check_supported(options: &FormatOptions, entry: &CatalogEntry) -> Result<(), AppError> {
    let uses_role = |role: Role| entry.offer.format.uses_role(role);
    let (advocates, listeners) = (uses_role(Role::Advocate), uses_role(Role::Audience));
    let unsupported = [
        ("roles", !options.roles.is_empty() && !advocates),
        ("goal", options.goal.is_some() && !advocates),
        ("audience", options.audience.is_some() && !advocates),
        ("decision_type", options.decision_type.is_some() && !advocates),
        ("output_path", options.output_path.is_some() && !advocates),
        ("evidence_round", options.evidence_round.is_some() && !uses_role(Role::Auditor)),
        ("listeners", options.listeners.is_some() && !listeners),
        ("judge_share", options.judge_share.is_some() && !listeners),
        ("audience_share", options.audience_share.is_some() && !listeners),
        ("partners", !options.partners.is_empty() && !uses_role(Role::Partner)),
        ("judges", !options.judges.is_empty() && !uses_role(Role::Judge)),
    ];
    match unsupported.into_iter().find(|(_, unsupported)| *unsupported) {
        Some((name, _)) => Err(AppError::InvalidOption(format!(
            "the option `{name}` is not available in the format `{}`",
            entry.name()
        ))),
        None => Ok(()),
    }
}

/// Default roles for a topic, in its language.
pub fn default_roles(topic: &str, sides: Option<(String, String)>) -> [(String, String); 2] {
    let chinese = language::detect(topic) == Language::Chinese;
    let (names, stances) = match (sides, chinese) {
        (Some((one, other)), true) => (
            ["支持方", "反对方"],
            [format!("主张{one}，而不是{other}"), format!("主张{other}，而不是{one}")],
        ),
        (None, true) => (["支持方", "反对方"], ["支持该论点".into(), "反对该论点".into()]),
        (Some((one, other)), false) => (
            ["Proponent", "Opponent"],
            [format!("argue for {one} over {other}"), format!("argue for {other} over {one}")],
        ),
        (None, false) => {
            (["Proponent", "Opponent"], ["argue for it".into(), "argue against it".into()])
        }
    };
    let [first, second] = stances;
    [(names[0].into(), first), (names[1].into(), second)]
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
