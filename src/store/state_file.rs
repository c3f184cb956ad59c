//! `last-debate.json`: the fields other tools know, and the signed log, so that the file alone can
//! resume the debate where the archive is not.
use super::sign::Key;
use crate::debate::insights::{self, insights};
use crate::debate::{Cue, Debate, Kind, Section, Setup, nine, standing};
use crate::engine::{Recorded, Stored};
use crate::report::dialogue::{ended, part};
use crate::report::people::{pair, rounds_completed};
use crate::report::research::judgment;
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
    /// `proposer`, `challenger`; elsewhere `main agent`, `sub agent`, or a name.
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
    /// By tool, or by side where both tools are the same; null where nobody wins.
    pub winner: Option<String>,
    /// Why, or what came of it.
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
    /// Whether it could as well have come out otherwise.
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
    let [proposer, challenger] = pair(debate).map(|nth| Some(participant(debate, nth?)));
    StateFile {
        id: setup.id.clone(),
        topic: debate.question().into(),
        proposer,
        challenger,
        effort: setup.effort.map(|effort| effort.word().into()),
        rounds_completed: rounds_completed(debate),
        max_rounds: debate.rounds(),
        status: standing::status(debate).word().into(),
        exchanges: exchanges(debate),
        verdict: ruled(debate),
        timestamp: crate::report::iso(at),
        labels: standing::labels(debate).into_iter().map(Into::into).collect(),
        log,
    }
}

fn participant(debate: &Debate, nth: u8) -> Participant {
    let voice = &debate.seats()[usize::from(nth)].voice;
    let mut own = debate.turns().filter(|(cue, _)| cue.seat == nth);
    let reported = own.find_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.clone());
    Participant {
        tool: voice.tool().into(),
        model: reported.or_else(|| voice.model().map(Into::into)),
    }
}

fn exchanges(debate: &Debate) -> Vec<Exchange> {
    let spoken = debate.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let aloud = spoken.filter(|(_, reply)| reply.body.kind() == Kind::Speech);
    aloud
        .map(|(cue, reply)| Exchange {
            round: cue.round,
            role: role(debate, cue),
            tool: debate.tool(cue).into(),
            response: reply.body.text(),
            duration_ms: reply.envelope.duration_ms,
        })
        .collect()
}

/// `proposer`, `challenger`, `main agent`; where there are several, by name.
fn role(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    seat.word()
}

fn ruled(debate: &Debate) -> Option<Verdict> {
    let Some(ruled) = verdict(debate) else { return learned(debate).or_else(|| judged(debate)) };
    Some(Verdict {
        winner: Some(ruled.winner),
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

/// What a dialogue comes to: nobody wins it.
fn learned(debate: &Debate) -> Option<Verdict> {
    let sections = insights(debate)?;
    Some(Verdict {
        winner: None,
        reasoning: insights::learned(sections).unwrap_or_default().into(),
        agreements: points(part(sections, "Common Ground")),
        disagreements: points(part(sections, "Open Disagreement")),
        recommendation: debate.decision().unwrap_or_default().into(),
        decided: ended(debate).map_or("", insights::End::word).into(),
        contested: false,
    })
}

/// What a research comes to: nobody wins it either.
fn judged(debate: &Debate) -> Option<Verdict> {
    let sections = judgment(debate)?;
    let said = |nth: usize| sections.get(nth).map(|section: &Section| section.text.trim());
    Some(Verdict {
        winner: None,
        reasoning: said(nine::RECOMMENDATION).unwrap_or_default().into(),
        agreements: points(said(nine::RECOMMENDATION - 1)),
        disagreements: points(said(nine::RECOMMENDATION - 2)),
        recommendation: said(nine::SUMMARY).unwrap_or_default().into(),
        decided: String::new(),
        contested: false,
    })
}

/// The lines of a list, or a text that is none as one.
fn points(text: Option<&str>) -> Vec<String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return vec![] };
    let item = |line: &str| {
        let line = line.trim();
        ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned)
    };
    let items: Option<Vec<String>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(item).collect();
    items.unwrap_or_else(|| vec![text.to_owned()])
}
