//! The whole debate as JSON. The schema only ever gains fields. A breaking change raises `v`. The
//! entry point is [`debate_view`], used for the `--json` output of the CLI, `debate export` and the
//! MCP resources.
use super::court::{VoteView, votes};
use super::dialogue::dialogue_outcome;
use super::participants::rounds_completed;
use super::research::research_report;
use super::verdict::{VerdictView, verdict_view};
use crate::debate::insights::{DialogueOutcome, concluding_sections};
use crate::debate::ledger::{LedgerTally, tally};
use crate::debate::round_marks::{self, RoundMarks};
use crate::debate::state::SeatTransfer;
use crate::debate::{
    Body, Citation, Claim, Concession, Cue, Debate, Effort, Envelope, PauseReason, ReplyKind,
    Resolution, Role, RuleFinding, Section, Side, Spend, Status, Step, TurnFailure,
    VerdictFeedback, next, status,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A debate with all its turns.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DebateView {
    /// Schema version.
    pub v: u8,
    /// Id of the debate.
    pub id: String,
    /// Question of the debate.
    pub topic: String,
    /// Name of the format.
    pub format: String,
    /// Current status.
    pub status: Status,
    /// `success`, `degraded-success`, or the same as `status`.
    pub result: String,
    /// Labels: `demo`, `single-model`, `partial-judge`, `imported`.
    pub labels: Vec<String>,
    /// Time of creation, ISO 8601 in UTC.
    pub created_at: String,
    /// All seats, in speaking order.
    pub seats: Vec<SeatView>,
    /// Seats that were filled automatically, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Seats that were transferred to another participant, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<SeatTransferView>,
    /// Hash of the tree the debate is pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// Reasoning effort requested for every seat.
    pub effort: Option<Effort>,
    /// Number of rounds requested.
    pub rounds: u8,
    /// Number of rounds in which both sides spoke.
    pub rounds_completed: u8,
    /// How strictly claims and citations were checked.
    pub rigor: String,
    /// The verdict, if there is one.
    pub verdict: Option<VerdictView>,
    /// Warnings and errors a reader must know.
    pub notices: Vec<String>,
    /// What the debate is waiting for.
    pub due: DueView,
    /// Tokens, cost and time used so far, including turns discarded by reopening.
    pub spent: Spend,
    /// Tally of each side's claims.
    pub ledger: Vec<SideTallyView>,
    /// All turns, in order.
    pub turns: Vec<TurnView>,
    /// Remarks the user added.
    pub remarks: Vec<String>,
    /// The user's decision.
    pub decision: Option<String>,
    /// Options of the format, such as the goal or the audience.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<String, String>,
    /// Marks of each round, in hundredths of a point, out of ten points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_marked: Vec<RoundMarks>,
    /// All votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteView>,
    /// Outcome of a dialogue, which has no winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<DialogueOutcome>,
    /// Insights of a dialogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insights: Option<Vec<Section>>,
    /// Report of a research debate, as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Whether the verdict proved right afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<LessonView>,
}

/// Whether a verdict proved right, as recorded by the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LearnedView")]
pub struct LessonView {
    /// Whether the verdict was right.
    pub proof: VerdictFeedback,
    /// Confidence of the verdict, in percent, when this was recorded.
    pub confidence: Option<u8>,
    /// What happened.
    pub note: String,
}

/// A seat and the participant that plays it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "same fields as in the setup")]
pub struct SeatView {
    pub name: String,
    pub role: Role,
    pub tool: String,
    pub model: Option<String>,
}

/// Transfer of a seat to another participant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "HandedView")]
pub struct SeatTransferView {
    /// Name of the seat.
    pub seat: String,
    /// Previous participant, as `tool:model`.
    pub from: String,
    /// New participant, as `tool:model`.
    pub to: String,
    /// Turn that was due at the time.
    pub at: Option<String>,
    /// Reason for the transfer, who requested it and when.
    pub because: String,
}

/// What a debate is waiting for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "Due")]
pub enum DueView {
    /// Replies to turns, by turn id.
    Turns {
        /// Turns the server requests from a provider.
        driven: Vec<String>,
        /// Turns a host, human or bot has to send.
        awaited: Vec<String>,
    },
    /// The user's approval to continue.
    User,
    /// A larger budget.
    Budget,
    /// Nothing: the debate is over or about to close.
    Nothing,
}

/// Tally of one side's claims.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub struct SideTallyView {
    /// The side.
    pub side: Side,
    /// Counts of claims and citations.
    #[serde(flatten)]
    pub tally: LedgerTally,
}

/// One turn of a debate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TurnView {
    /// Turn id.
    pub turn: String,
    /// Round number, 0 outside of rounds.
    pub round: u8,
    /// Name of the phase.
    pub phase: String,
    /// Name of the speaker's seat.
    pub seat: String,
    /// Role of the speaker.
    pub role: Role,
    /// Kind of reply the phase requires.
    pub kind: ReplyKind,
    /// The parsed reply, unless it is a speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<Body>,
    /// Tool that produced the reply.
    pub tool: String,
    /// Text without the claims block. Missing if the turn failed.
    pub text: Option<String>,
    /// Claims made in this turn.
    pub claims: Vec<Claim>,
    /// Claims of the other side it concedes.
    pub concedes: Vec<Concession>,
    /// Own claims it withdraws as resolved.
    pub resolves: Vec<Resolution>,
    /// Findings of the rule checks.
    pub findings: Vec<RuleFinding>,
    /// Citations and the result of their lookup.
    pub citations: Vec<Citation>,
    /// Error that made the turn fail.
    pub failure: Option<String>,
    /// Why the first reply was rejected, if there was a retry.
    pub refused: Option<String>,
    /// Metadata of the call: tool, model, tokens, cost and duration.
    pub envelope: Envelope,
}

/// Builds the JSON view of a debate.
pub fn debate_view(debate: &Debate) -> DebateView {
    let setup = debate.setup();
    let status = status::status(debate);
    DebateView {
        v: 1,
        id: setup.id.clone(),
        topic: debate.current_topic().into(),
        format: setup.format.name.clone(),
        status,
        result: status::result_name(debate).into(),
        labels: status::labels(debate).into_iter().map(Into::into).collect(),
        created_at: super::iso_timestamp(setup.opened_at),
        seats: debate
            .seats()
            .iter()
            .map(|seat| SeatView {
                name: seat.name.clone(),
                role: seat.role,
                tool: seat.voice.tool().into(),
                model: seat.voice.model().map(Into::into),
            })
            .collect(),
        chosen: setup.chosen.clone(),
        handed: debate
            .seat_transfers()
            .iter()
            .map(|transfer| seat_transfer_view(debate, transfer))
            .collect(),
        pin: setup.pin.clone(),
        effort: setup.effort,
        rounds: debate.rounds(),
        rounds_completed: rounds_completed(debate),
        rigor: status::rigor(debate),
        verdict: verdict_view(debate),
        notices: status::notices(debate),
        due: due_view(debate),
        spent: debate.spent(),
        ledger: [Side::Pro, Side::Con]
            .map(|side| SideTallyView { side, tally: tally(debate, side) })
            .into(),
        turns: debate.turns().map(|(cue, turn)| turn_view(debate, cue, turn.as_ref())).collect(),
        remarks: debate.remarks().iter().map(|remark| remark.text.clone()).collect(),
        decision: debate.decision().map(Into::into),
        terms: debate.terms().clone(),
        rounds_marked: round_marks::round_marks(debate),
        votes: votes(debate),
        outcome: dialogue_outcome(debate),
        insights: concluding_sections(debate).map(<[Section]>::to_vec),
        report: research_report(debate),
        learned: debate.feedback().map(|lesson| LessonView {
            proof: lesson.proof,
            confidence: lesson.confidence,
            note: lesson.note.clone(),
        }),
    }
}

fn seat_transfer_view(debate: &Debate, transfer: &SeatTransfer) -> SeatTransferView {
    let seat = debate.seats().get(usize::from(transfer.seat));
    SeatTransferView {
        seat: seat.map(|seat| seat.name.clone()).unwrap_or_default(),
        from: transfer.from.to_string(),
        to: transfer.to.to_string(),
        at: transfer.due_cue.map(|cue| cue.to_string()),
        because: transfer.reason.clone(),
    }
}

fn due_view(debate: &Debate) -> DueView {
    let turn_ids = |cues: Vec<Cue>| cues.iter().map(ToString::to_string).collect();
    match next(debate) {
        Step::Speak { driven, awaited } => {
            DueView::Turns { driven: turn_ids(driven), awaited: turn_ids(awaited) }
        }
        Step::Hold { pause: PauseReason::UserHold, .. } => DueView::User,
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => DueView::Budget,
        Step::Close(_) | Step::Done => DueView::Nothing,
    }
}

fn turn_view(
    debate: &Debate,
    cue: Cue,
    turn: Result<&crate::debate::Reply, &TurnFailure>,
) -> TurnView {
    let seat = debate.seat(cue);
    let body = turn.ok().map(|reply| &reply.body);
    TurnView {
        turn: cue.to_string(),
        round: cue.round,
        phase: debate.setup().phase(cue).name.clone(),
        seat: seat.name.clone(),
        role: seat.role,
        kind: debate.setup().phase(cue).reply,
        paper: body.filter(|body| body.kind() != ReplyKind::Speech).cloned(),
        tool: debate.tool_at(cue).into(),
        text: body.map(Body::to_text),
        claims: body.map(|body| body.claims().to_vec()).unwrap_or_default(),
        concedes: body.map(|body| body.concessions().to_vec()).unwrap_or_default(),
        resolves: body.map(|body| body.resolutions().to_vec()).unwrap_or_default(),
        findings: turn.map(|reply| reply.findings.clone()).unwrap_or_default(),
        citations: turn.map(|reply| reply.citations.clone()).unwrap_or_default(),
        failure: turn
            .err()
            .map(|failure| format!("{}: {}", failure.trouble.as_str(), failure.note)),
        refused: debate.rejected_reply(cue).map(|attempt| attempt.why.clone()),
        envelope: turn
            .map_or_else(|failure| failure.envelope.clone(), |reply| reply.envelope.clone()),
    }
}
