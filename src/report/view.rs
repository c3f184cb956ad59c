//! The whole debate as JSON, for programs. Fields are only ever added; `v` says when they are not.
use super::court::{VoteView, votes};
use super::dialogue::ended;
use super::people::rounds_completed;
use super::research::research;
use super::verdict::{VerdictView, verdict};
use crate::debate::insights::{End, insights};
use crate::debate::ledger::{Tally, tally};
use crate::debate::points::{self, RoundMarks};
use crate::debate::state::Handed;
use crate::debate::{
    Body, Citation, Claim, Concession, Cue, Debate, Effort, Envelope, Failure, Finding, Kind,
    Pause, Proof, Resolution, Role, Section, Side, Spend, Status, Step, next, standing,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A debate, all of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DebateView {
    /// Of this layout.
    pub v: u8,
    /// The debate's name.
    pub id: String,
    /// The question.
    pub topic: String,
    /// The table it is played by.
    pub format: String,
    /// How it stands.
    pub status: Status,
    /// `success`, `degraded-success`, or as `status`.
    pub result: String,
    /// `demo`, `single-model`, `imported`.
    pub labels: Vec<String>,
    /// When it was opened.
    pub created_at: String,
    /// Everyone who is seated.
    pub seats: Vec<SeatView>,
    /// Who was seated without being named, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Seats that changed hands since, in the order they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<HandedView>,
    /// The tree it was opened on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// For every seat.
    pub effort: Option<Effort>,
    /// Asked for.
    pub rounds: u8,
    /// In which both sides spoke.
    pub rounds_completed: u8,
    /// How far it can be trusted.
    pub rigor: String,
    /// What was ruled, if anything was.
    pub verdict: Option<VerdictView>,
    /// What a reader must be told besides.
    pub notices: Vec<String>,
    /// What is due now.
    pub due: Due,
    /// By every take.
    pub spent: Spend,
    /// Each side's account.
    pub ledger: Vec<Account>,
    /// What was said, in order.
    pub turns: Vec<TurnView>,
    /// What the user said.
    pub remarks: Vec<String>,
    /// What the user made of it.
    pub decision: Option<String>,
    /// What the format was told besides: the goal, who reads the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<String, String>,
    /// Every round that was marked, in hundredths of a point of ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_marked: Vec<RoundMarks>,
    /// Every vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteView>,
    /// How far those who talked agree in the end, where nobody wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<End>,
    /// What they have learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insights: Option<Vec<Section>>,
    /// The report of a research, as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// What became of the verdict in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedView>,
}

/// What became of a verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LearnedView {
    /// Whether it was right.
    pub proof: Proof,
    /// How sure it was thought to be, in hundredths.
    pub confidence: Option<u8>,
    /// What happened.
    pub note: String,
}

/// A seat.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "as in the setup")]
pub struct SeatView {
    pub name: String,
    pub role: Role,
    pub tool: String,
    pub model: Option<String>,
}

/// A seat that changed hands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HandedView {
    /// By name.
    pub seat: String,
    /// Who had it, as seats are written.
    pub from: String,
    /// Who has it since.
    pub to: String,
    /// The turn that was due then.
    pub at: Option<String>,
    /// Why, by whom and when.
    pub because: String,
}

/// What a debate waits for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Due {
    /// Turns, by name.
    Turns {
        /// That are fetched.
        driven: Vec<String>,
        /// That are waited for.
        awaited: Vec<String>,
    },
    /// The user.
    User,
    /// More to spend.
    Budget,
    /// Nothing: it is over, or about to be.
    Nothing,
}

/// A side's account.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Account {
    /// Whose.
    pub side: Side,
    /// In numbers.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TurnView {
    /// Its name.
    pub turn: String,
    /// 0 outside the count.
    pub round: u8,
    /// The row it was asked under.
    pub phase: String,
    /// Who spoke.
    pub seat: String,
    /// As what.
    pub role: Role,
    /// What was asked for.
    pub kind: Kind,
    /// What was answered, where that is not a speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<Body>,
    /// By which tool.
    pub tool: String,
    /// What, without the claims block; none if the turn was lost.
    pub text: Option<String>,
    /// What it asserts.
    pub claims: Vec<Claim>,
    /// What it accepts.
    pub concedes: Vec<Concession>,
    /// What it takes back.
    pub resolves: Vec<Resolution>,
    /// What the rules had to say.
    pub findings: Vec<Finding>,
    /// What looking up its citations came to.
    pub citations: Vec<Citation>,
    /// Why it was lost.
    pub failure: Option<String>,
    /// Why a first answer was not taken.
    pub refused: Option<String>,
    /// How it came to be.
    pub envelope: Envelope,
}

/// A debate as JSON has it.
pub fn view(debate: &Debate) -> DebateView {
    let setup = debate.setup();
    let status = standing::status(debate);
    DebateView {
        v: 1,
        id: setup.id.clone(),
        topic: debate.question().into(),
        format: setup.format.name.clone(),
        status,
        result: standing::told(debate).into(),
        labels: standing::labels(debate).into_iter().map(Into::into).collect(),
        created_at: super::iso(setup.opened_at),
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
        handed: debate.handed().iter().map(|handed| handed_view(debate, handed)).collect(),
        pin: setup.pin.clone(),
        effort: setup.effort,
        rounds: debate.rounds(),
        rounds_completed: rounds_completed(debate),
        rigor: standing::rigor(debate),
        verdict: verdict(debate),
        notices: standing::notices(debate),
        due: due(debate),
        spent: debate.spent(),
        ledger: [Side::Pro, Side::Con]
            .map(|side| Account { side, tally: tally(debate, side) })
            .into(),
        turns: debate.turns().map(|(cue, turn)| turn_view(debate, cue, turn.as_ref())).collect(),
        remarks: debate.remarks().iter().map(|remark| remark.text.clone()).collect(),
        decision: debate.decision().map(Into::into),
        terms: debate.terms().clone(),
        rounds_marked: points::rounds(debate),
        votes: votes(debate),
        outcome: ended(debate),
        insights: insights(debate).map(<[Section]>::to_vec),
        report: research(debate),
        learned: debate.learned().map(|lesson| LearnedView {
            proof: lesson.proof,
            confidence: lesson.confidence,
            note: lesson.note.clone(),
        }),
    }
}

fn handed_view(debate: &Debate, handed: &Handed) -> HandedView {
    let seat = debate.seats().get(usize::from(handed.seat));
    HandedView {
        seat: seat.map(|seat| seat.name.clone()).unwrap_or_default(),
        from: handed.from.to_string(),
        to: handed.to.to_string(),
        at: handed.at.map(|cue| cue.to_string()),
        because: handed.because.clone(),
    }
}

fn due(debate: &Debate) -> Due {
    let names = |cues: Vec<Cue>| cues.iter().map(ToString::to_string).collect();
    match next(debate) {
        Step::Speak { driven, awaited } => {
            Due::Turns { driven: names(driven), awaited: names(awaited) }
        }
        Step::Hold { pause: Pause::Asked, .. } => Due::User,
        Step::Hold { pause: Pause::Spent { .. }, .. } => Due::Budget,
        Step::Close(_) | Step::Rest => Due::Nothing,
    }
}

fn turn_view(debate: &Debate, cue: Cue, turn: Result<&crate::debate::Reply, &Failure>) -> TurnView {
    let seat = debate.seat(cue);
    let body = turn.ok().map(|reply| &reply.body);
    TurnView {
        turn: cue.to_string(),
        round: cue.round,
        phase: debate.setup().phase(cue).name.clone(),
        seat: seat.name.clone(),
        role: seat.role,
        kind: debate.setup().phase(cue).reply,
        paper: body.filter(|body| body.kind() != Kind::Speech).cloned(),
        tool: debate.tool(cue).into(),
        text: body.map(Body::text),
        claims: body.map(|body| body.claims().to_vec()).unwrap_or_default(),
        concedes: body.map(|body| body.concedes().to_vec()).unwrap_or_default(),
        resolves: body.map(|body| body.resolves().to_vec()).unwrap_or_default(),
        findings: turn.map(|reply| reply.findings.clone()).unwrap_or_default(),
        citations: turn.map(|reply| reply.citations.clone()).unwrap_or_default(),
        failure: turn.err().map(|lost| format!("{}: {}", lost.trouble.word(), lost.note)),
        refused: debate.refused(cue).map(|attempt| attempt.why.clone()),
        envelope: turn.map_or_else(|lost| lost.envelope.clone(), |reply| reply.envelope.clone()),
    }
}
