//! Format of the state file `last-debate.json`: the fields other tools read, and the signed event
//! log, so that the debate can be resumed from the file alone on a machine without the archive.
use super::sign::SigningKey;
use crate::debate::insights::{self, concluding_sections};
use crate::debate::{Cue, Debate, ReplyKind, Section, Setup, report_sections, status};
use crate::engine::{RecordedEvent, StoredDebate};
use crate::report::dialogue::{dialogue_outcome, find_section};
use crate::report::participants::{main_pair, rounds_completed};
use crate::report::research::research_judgment;
use crate::report::verdict::verdict_view;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contents of a state file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StateFile {
    /// Debate id: `debate-{ISO time}-{four hex digits}`.
    pub id: String,
    /// Question of the debate.
    pub topic: String,
    /// The side that argues for the topic.
    pub proposer: Option<StateFileParticipant>,
    /// The side that argues against the topic.
    pub challenger: Option<StateFileParticipant>,
    /// Effort of all seats.
    pub effort: Option<String>,
    /// Number of rounds in which both sides spoke.
    pub rounds_completed: u8,
    /// Number of rounds requested.
    pub max_rounds: u8,
    /// in-progress, paused, completed, degraded, aborted, failed or cancelled.
    pub status: String,
    /// Speeches in order.
    pub exchanges: Vec<StateFileExchange>,
    /// Null until there is a verdict.
    pub verdict: Option<StateFileVerdict>,
    /// Time of the last change, ISO 8601.
    pub timestamp: String,
    /// Labels of the debate: `demo`, `single-model`, `imported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Complete event log with its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<serde_json::Value>,
}

/// Tool and model of one side.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Participant")]
pub struct StateFileParticipant {
    /// Name of the tool.
    pub tool: String,
    /// Model reported by the tool, else the model requested.
    #[serde(default)]
    pub model: Option<String>,
}

/// One speech of the debate.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Exchange")]
pub struct StateFileExchange {
    /// Round number, from 1.
    pub round: u8,
    /// `proposer` or `challenger`; in other formats `main agent`, `sub agent` or a seat name.
    pub role: String,
    /// Name of the tool that spoke.
    #[serde(default)]
    pub tool: String,
    /// Full text.
    pub response: String,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
}

/// Verdict of the debate.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Verdict")]
pub struct StateFileVerdict {
    /// Tool that won, or the side if both tools are the same; null if the format has no winner.
    pub winner: Option<String>,
    /// Reasons for the verdict, or the result of a format without a winner.
    pub reasoning: String,
    /// Points both sides accept.
    pub agreements: Vec<String>,
    /// Points that remain disputed.
    pub disagreements: Vec<String>,
    /// Recommended action.
    pub recommendation: String,
    /// What decided the verdict.
    #[serde(default)]
    pub decided: String,
    /// Whether the verdict was too close to be certain.
    #[serde(default)]
    pub contested: bool,
}

/// The event log inside the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SignedLog {
    pub(super) setup: Setup,
    pub(super) events: Vec<RecordedEvent>,
}

/// Serializes the state file of a debate, with its log signed.
pub(super) fn render(debate: &Debate, stored: &StoredDebate, key: &SigningKey) -> String {
    let log = SignedLog { setup: stored.setup.clone(), events: stored.events.clone() };
    let mut log = serde_json::to_value(log).unwrap_or_default();
    let signature = key.sign(&log);
    log["signature"] = signature.into();
    let updated_at = stored.events.last().map_or(stored.setup.opened_at, |recorded| recorded.at);
    let file = build_state_file(debate, updated_at, Some(log));
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

fn build_state_file(debate: &Debate, updated_at: i64, log: Option<serde_json::Value>) -> StateFile {
    let setup = debate.setup();
    let [proposer, challenger] = main_pair(debate).map(|seat| Some(participant(debate, seat?)));
    StateFile {
        id: setup.id.clone(),
        topic: debate.current_topic().into(),
        proposer,
        challenger,
        effort: setup.effort.map(|effort| effort.as_str().into()),
        rounds_completed: rounds_completed(debate),
        max_rounds: debate.rounds(),
        status: status::status(debate).as_str().into(),
        exchanges: exchanges(debate),
        verdict: build_verdict(debate),
        timestamp: crate::report::iso_timestamp(updated_at),
        labels: status::labels(debate).into_iter().map(Into::into).collect(),
        log,
    }
}

fn participant(debate: &Debate, seat: u8) -> StateFileParticipant {
    let participant = &debate.seats()[usize::from(seat)].voice;
    let mut turns = debate.turns().filter(|(cue, _)| cue.seat == seat);
    let reported = turns.find_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.clone());
    StateFileParticipant {
        tool: participant.tool().into(),
        model: reported.or_else(|| participant.model().map(Into::into)),
    }
}

fn exchanges(debate: &Debate) -> Vec<StateFileExchange> {
    let replies = debate.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let speeches = replies.filter(|(_, reply)| reply.body.kind() == ReplyKind::Speech);
    speeches
        .map(|(cue, reply)| StateFileExchange {
            round: cue.round,
            role: role_name(debate, cue),
            tool: debate.tool_at(cue).into(),
            response: reply.body.to_text(),
            duration_ms: reply.envelope.duration_ms,
        })
        .collect()
}

/// Role name of a turn's seat, or the seat's name if several seats share the role.
fn role_name(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    seat.title_in_sentence()
}

fn build_verdict(debate: &Debate) -> Option<StateFileVerdict> {
    let Some(verdict) = verdict_view(debate) else {
        return dialogue_verdict(debate).or_else(|| research_verdict(debate));
    };
    Some(StateFileVerdict {
        winner: Some(verdict.winner),
        reasoning: verdict.reasoning,
        agreements: verdict.agreements.into_iter().map(|agreement| agreement.point).collect(),
        disagreements: verdict
            .disagreements
            .into_iter()
            .map(|disagreement| {
                format!("{}: {} / {}", disagreement.point, disagreement.pro, disagreement.con)
            })
            .collect(),
        recommendation: verdict.recommendation,
        decided: verdict.decided,
        contested: verdict.contested,
    })
}

/// Result of a dialogue, which has no winner.
fn dialogue_verdict(debate: &Debate) -> Option<StateFileVerdict> {
    let sections = concluding_sections(debate)?;
    Some(StateFileVerdict {
        winner: None,
        reasoning: insights::key_insights(sections).unwrap_or_default().into(),
        agreements: list_items(find_section(sections, "Common Ground")),
        disagreements: list_items(find_section(sections, "Open Disagreement")),
        recommendation: debate.decision().unwrap_or_default().into(),
        decided: dialogue_outcome(debate).map_or("", insights::DialogueOutcome::as_str).into(),
        contested: false,
    })
}

/// Result of a research debate, which has no winner.
fn research_verdict(debate: &Debate) -> Option<StateFileVerdict> {
    let sections = research_judgment(debate)?;
    let section_text =
        |index: usize| sections.get(index).map(|section: &Section| section.text.trim());
    Some(StateFileVerdict {
        winner: None,
        reasoning: section_text(report_sections::RECOMMENDATION_INDEX).unwrap_or_default().into(),
        agreements: list_items(section_text(report_sections::RECOMMENDATION_INDEX - 1)),
        disagreements: list_items(section_text(report_sections::RECOMMENDATION_INDEX - 2)),
        recommendation: section_text(report_sections::SUMMARY_INDEX).unwrap_or_default().into(),
        decided: String::new(),
        contested: false,
    })
}

/// Splits a Markdown list into its items; any other text is one item.
fn list_items(text: Option<&str>) -> Vec<String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return vec![] };
    let item = |line: &str| {
        let line = line.trim();
        ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned)
    };
    let items: Option<Vec<String>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(item).collect();
    items.unwrap_or_else(|| vec![text.to_owned()])
}
