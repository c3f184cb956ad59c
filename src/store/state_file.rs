//! `last-debate.json`: the fields other tools know, and the signed log, so that the file alone can
//! resume the debate where the archive is not.
use super::sign::Key;
use crate::debate::{Debate, Kind, Setup, Side, standing};
use crate::engine::{Recorded, Stored};
use crate::report::verdict::verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StateFile {
    /// `debate-{ISO time}-{four hex digits}`.
    pub id: String,
    /// The question.
    pub topic: String,
    /// Argues for.
    pub proposer: Option<Participant>,
    /// Argues against.
    pub challenger: Option<Participant>,
    /// For every seat.
    pub effort: Option<String>,
    /// In which both sides spoke.
    pub rounds_completed: u8,
    /// Asked for.
    pub max_rounds: u8,
    /// in-progress, paused, completed, degraded, aborted, failed or cancelled.
    pub status: String,
    /// What was said aloud, in order.
    pub exchanges: Vec<Exchange>,
    /// Null until it is ruled.
    pub verdict: Option<Verdict>,
    /// When it last changed.
    pub timestamp: String,
    /// `demo`, `single-model`, `imported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// All of it, signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<serde_json::Value>,
}

/// One of the sides.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// By name.
    pub tool: String,
    /// As reported, or as asked for.
    #[serde(default)]
    pub model: Option<String>,
}

/// One speech.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// Counted from 1.
    pub round: u8,
    /// `proposer`, `challenger`.
    pub role: String,
    /// By which tool.
    #[serde(default)]
    pub tool: String,
    /// All of it.
    pub response: String,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
}

/// What was ruled.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// By tool, or by side where both tools are the same.
    pub winner: String,
    /// Why.
    pub reasoning: String,
    /// What both accept.
    pub agreements: Vec<String>,
    /// Where they differ.
    pub disagreements: Vec<String>,
    /// What to do.
    pub recommendation: String,
    /// What decided it.
    #[serde(default)]
    pub decided: String,
    /// Whether it depends on the order in which the sides were shown.
    #[serde(default)]
    pub contested: bool,
}

/// The log inside the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SignedLog {
    pub(super) setup: Setup,
    pub(super) events: Vec<Recorded>,
}

/// The file for a debate, as text.
pub(super) fn text(debate: &Debate, stored: &Stored, key: &Key) -> String {
    let log = SignedLog { setup: stored.setup.clone(), events: stored.events.clone() };
    let mut log = serde_json::to_value(log).unwrap_or_default();
    let signature = key.sign(&log);
    log["signature"] = signature.into();
    let at = stored.events.last().map_or(stored.setup.opened_at, |recorded| recorded.at);
    let file = state_file(debate, at, Some(log));
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

fn state_file(debate: &Debate, at: i64, log: Option<serde_json::Value>) -> StateFile {
    let setup = debate.setup();
    StateFile {
        id: setup.id.clone(),
        topic: setup.topic.clone(),
        proposer: participant(debate, Side::Pro),
        challenger: participant(debate, Side::Con),
        effort: setup.effort.map(|effort| effort.word().into()),
        rounds_completed: standing::rounds_completed(debate),
        max_rounds: debate.rounds(),
        status: standing::status(debate).word().into(),
        exchanges: exchanges(debate),
        verdict: ruled(debate),
        timestamp: crate::report::iso(at),
        labels: standing::labels(debate).into_iter().map(Into::into).collect(),
        log,
    }
}

fn participant(debate: &Debate, side: Side) -> Option<Participant> {
    let seat = debate.seated(side.role())?;
    let mut own = debate.turns().filter(|(cue, _)| debate.seat(*cue).role == side.role());
    let reported = own.find_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.clone());
    Some(Participant {
        tool: seat.voice.tool().into(),
        model: reported.or_else(|| seat.voice.model().map(Into::into)),
    })
}

fn exchanges(debate: &Debate) -> Vec<Exchange> {
    let spoken = debate.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let aloud = spoken.filter(|(_, reply)| reply.body.kind() == Kind::Speech);
    aloud
        .map(|(cue, reply)| Exchange {
            round: cue.round,
            role: debate.seat(cue).role.title().to_lowercase(),
            tool: debate.tool(cue).into(),
            response: reply.body.text(),
            duration_ms: reply.envelope.duration_ms,
        })
        .collect()
}

fn ruled(debate: &Debate) -> Option<Verdict> {
    let ruled = verdict(debate)?;
    Some(Verdict {
        winner: ruled.winner,
        reasoning: ruled.reasoning,
        agreements: ruled.agreements.into_iter().map(|agreed| agreed.point).collect(),
        disagreements: ruled
            .disagreements
            .into_iter()
            .map(|said| format!("{}: {} / {}", said.point, said.pro, said.con))
            .collect(),
        recommendation: ruled.recommendation,
        decided: ruled.decided,
        contested: ruled.contested,
    })
}
