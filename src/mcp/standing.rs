//! Result of `start_debate`, `continue_round` and `verdict`: the debate's status, truncated to the
//! token limit of a result. It depends on the record only, so every client gets the same.
use super::bounds::{self, tokens, words};
use super::complaint::{Asked, call};
use super::next::next_call;
use crate::debate::Citation;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{
    Cue, Debate, HoldPoint, Origin, Participant, PauseReason, Reply, ReplyKind, Role, Rounds, Step,
    TurnFailure, insights, next, prompt, report_sections, status,
};
use crate::engine::StoredDebate;
use crate::report::plan::plan;
use crate::report::record::SEALED;
use crate::report::text::one_line;
use crate::report::verdict::{VerdictView, verdict};
use crate::review::finding::Finding;
use crate::review::{USUAL, review};
use schemars::JsonSchema;
use serde::Serialize;

/// Status of a debate.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub(super) struct Standing {
    pub(super) debate_id: String,
    /// `running`, `your_turn`, `user_turn`, `paused`, `interrupted`, or how it ended.
    pub(super) status: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    /// Digests of the turns of this round.
    pub(super) answered: Vec<Answered>,
    /// The turns that are being requested.
    pub(super) pending: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<Due>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<Ruled>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<String>,
    /// Result of a format without a winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    pub(super) next: String,
}

/// Digest of a completed or failed turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answered")]
pub(super) struct Answered {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) position: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) claims: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) concedes: Vec<String>,
}

/// The turn or decision that is due, with its brief.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Due")]
pub(super) struct Due {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) brief: String,
}

/// Digest of the verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ruled")]
pub(super) struct Ruled {
    pub(super) winner: String,
    pub(super) reasoning: String,
    pub(super) decided: String,
    pub(super) contested: bool,
    pub(super) recommendation: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unresolved: Vec<String>,
    pub(super) rigor: String,
}

/// Limits of a digest: words per text, lines per list, words per line.
#[derive(Clone, Copy)]
struct Size {
    words: usize,
    lines: usize,
    line: usize,
}

/// Tried in this order until the status fits into `MAX_RESULT_TOKENS`.
const SIZES: [Size; 4] = [
    Size { words: 120, lines: 8, line: 40 },
    Size { words: 80, lines: 5, line: 25 },
    Size { words: 40, lines: 3, line: 15 },
    Size { words: 15, lines: 1, line: 10 },
];
/// Tokens that a brief gets at least.
const BRIEF: usize = 700;

/// Builds the status, with smaller digests until it fits. `running` is true if this or another
/// process requests turns. `more` are notes of this call only.
pub(super) fn standing(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    more: &[String],
) -> Standing {
    let mut fits = Standing::default();
    for size in SIZES {
        fits = sized(stored, debate, running, size);
        fits.notes.extend_from_slice(more);
        let mut bare = fits.clone();
        if let Some(due) = &mut bare.due {
            due.brief.clear();
        }
        let left = bounds::RESULT.saturating_sub(weight(&bare));
        let Some(due) = &mut fits.due else {
            if left > 0 {
                break;
            }
            continue;
        };
        if tokens(&due.brief) <= left || left >= BRIEF || size.words == SIZES[3].words {
            let rest = call("show_debate", &fits.debate_id, "\"part\":\"brief\"");
            let between = format!("[... this is cut; all of it: {rest} ...]");
            // In JSON every line break is escaped to two characters.
            due.brief = bounds::ends(&due.brief, left.saturating_sub(20) * 9 / 10, &between);
            break;
        }
    }
    fits
}

/// Estimated tokens of the status as JSON or as text, whichever is more.
fn weight(standing: &Standing) -> usize {
    let json = serde_json::to_string(standing).unwrap_or_default();
    tokens(&json).max(tokens(&super::words::standing(standing)))
}

fn sized(stored: &StoredDebate, debate: &Debate, running: bool, size: Size) -> Standing {
    let step = next(debate);
    let over = debate.outcome().is_some();
    let pending = match &step {
        Step::Speak { driven, .. } if running => driven.iter().map(|c| named(debate, *c)).collect(),
        _ => vec![],
    };
    let answered = turns(debate, &step)
        .into_iter()
        .map(|(cue, turn)| answered(debate, cue, turn, size))
        .collect();
    let verdict = verdict(debate).map(|view| ruled(debate, &view, size));
    Standing {
        debate_id: debate.setup().id.clone(),
        status: status(debate, &step, running).into(),
        round: round(debate, &step),
        rounds: debate.rounds(),
        answered,
        pending,
        due: if over { None } else { due(debate, &step) },
        verdict,
        findings: if over { findings(debate, size) } else { vec![] },
        result: result(debate, size),
        notes: notes(debate, size),
        record: stored
            .record_path
            .as_ref()
            .filter(|_| debate.keep_record() != Some(false))
            .map(|path| path.display().to_string()),
        next: next_call(debate, &step, running),
    }
}

/// Findings of a review, with their location and whether their evidence was verified.
fn findings(debate: &Debate, size: Size) -> Vec<String> {
    let Some(review) = review(debate, USUAL) else { return vec![] };
    let told = |it: &Finding, note: &str| {
        let place = it.place.as_ref().map(|place| match place.line {
            Some(line) => format!(" {}:{line}", one_line(&place.file)),
            None => format!(" {}", one_line(&place.file)),
        });
        let conceded = if it.conceded { ", conceded" } else { "" };
        let (place, claim) = (place.unwrap_or_default(), words(&it.claim, size.line));
        format!("[{}]{place} {}: {claim} ({note}{conceded})", it.severity.as_str(), it.id)
    };
    let mut all: Vec<String> = review.findings.iter().map(|it| told(it, "found")).collect();
    all.extend(review.unverified.iter().map(|it| told(it, "not found")));
    few(all.into_iter(), size.lines)
}

fn status(debate: &Debate, step: &Step, running: bool) -> &'static str {
    if debate.outcome().is_some() {
        return status::status(debate).as_str();
    }
    match step {
        Step::Hold { .. } => "paused",
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let person =
                awaited.first().is_some_and(|cue| debate.seat(*cue).voice == Participant::Human);
            if person { "user_turn" } else { "your_turn" }
        }
        _ if running => "running",
        _ => "interrupted",
    }
}

/// The current round, or the last one during a pause.
fn round(debate: &Debate, step: &Step) -> u8 {
    let at = step.first_cue().map_or(0, |cue| cue.round);
    let taken = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    match step {
        Step::Hold { .. } => taken,
        _ => at.max(taken),
    }
}

/// Turns of the current round, or of the last one during a pause, and of the ending.
fn turns<'a>(debate: &'a Debate, step: &Step) -> Vec<(Cue, &'a Result<Reply, TurnFailure>)> {
    let ending = debate.setup().ending_act();
    let last =
        debate.turns().map(|(cue, _)| cue.position()).filter(|stand| stand.act < ending).max();
    let stand = match step {
        Step::Speak { .. } => {
            step.first_cue().map(Cue::position).filter(|stand| stand.act < ending).or(last)
        }
        _ => last,
    };
    let fits = |cue: &Cue| Some(cue.position()) == stand || cue.act == ending;
    debate.turns().filter(|(cue, _)| fits(cue)).collect()
}

/// A turn's id, role and tool: `0.1.1.1 Challenger (codex)`
fn named(debate: &Debate, cue: Cue) -> String {
    format!("{} {} ({})", id_of(debate, cue), debate.seat(cue).title(), debate.tool_at(cue))
}

fn answered(debate: &Debate, cue: Cue, turn: &Result<Reply, TurnFailure>, size: Size) -> Answered {
    let mut digest = Answered {
        turn: id_of(debate, cue),
        role: format!("{} ({})", debate.seat(cue).title(), debate.tool_at(cue)),
        position: String::new(),
        claims: vec![],
        concedes: vec![],
    };
    match turn {
        Err(lost) => {
            let note = words(&lost.note, size.line);
            digest.position = format!("[INCOMPLETE] {}: {note}", lost.trouble.as_str());
        }
        Ok(_) if debate.is_sealed(cue) => SEALED.trim().clone_into(&mut digest.position),
        Ok(reply) => {
            digest.position = words(&reply.body.to_text(), size.words);
            let claims = reply.body.claims().iter().map(|claim| {
                let found: Vec<_> = citations_for_claim(&reply.citations, &claim.id).collect();
                let gone = !found.is_empty() && found.iter().all(|it| it.found.is_wrong());
                let bare = claim.evidence.is_empty() || gone;
                let bare = if bare { " (unsupported)" } else { "" };
                format!("{}: {}{bare}", claim.id, words(&claim.text, size.line))
            });
            digest.claims = few(claims, size.lines);
            let given = reply.body.concessions().iter();
            let given = given
                .map(|given| format!("{}: \"{}\"", given.claim, words(&given.quote, size.line)));
            digest.concedes = few(given, size.lines);
            let wrong: Vec<&Citation> =
                reply.citations.iter().filter(|it| it.found.is_wrong()).collect();
            let wrong = wrong.into_iter().map(|it| {
                let raw = words(&one_line(&it.raw), size.line);
                format!("cites what is not there: {raw} ({})", words(&it.describe(), 12))
            });
            digest.claims.extend(few(wrong, size.lines.div_ceil(2)));
        }
    }
    digest
}

/// The first lines of a list, and the number of omitted ones.
pub(super) fn few(lines: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let mut lines: Vec<String> = lines.take(most).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The result of a format without a winner: insights or a recommendation.
fn result(debate: &Debate, size: Size) -> Option<String> {
    if let Some(sections) = insights::concluding_sections(debate) {
        let end =
            insights::parse_outcome(sections).map_or("open", insights::DialogueOutcome::as_str);
        let learned = insights::key_insights(sections).unwrap_or_default();
        return Some(format!("Outcome: {end}. Key insights: {}", words(learned, 2 * size.words)));
    }
    let judged = debate.replies_in(..).rev().find_map(|(cue, body)| match body {
        crate::debate::Body::Sections { sections } if debate.seat(cue).role == Role::Judge => {
            Some(sections)
        }
        _ => None,
    })?;
    let part = |nth: usize, most| judged.get(nth).map(|it| words(&it.text, most));
    let (advice, summary) = (
        part(report_sections::RECOMMENDATION_INDEX, size.words)?,
        part(report_sections::SUMMARY_INDEX, size.line)?,
    );
    Some(format!("Recommendation: {advice} In one sentence: {summary}"))
}

fn ruled(debate: &Debate, view: &VerdictView, size: Size) -> Ruled {
    let unresolved = view.unresolved.iter().map(|text| words(text, size.line));
    Ruled {
        winner: view.winner.clone(),
        reasoning: words(&view.reasoning, size.words),
        decided: decided(view),
        contested: view.contested,
        recommendation: words(&view.recommendation, size.words),
        unresolved: few(unresolved, size.lines.div_ceil(2)),
        rigor: words(&status::rigor(debate), 60),
    }
}

/// What decided the verdict, its confidence, and why it is contested.
fn decided(view: &VerdictView) -> String {
    let mut parts = vec![view.decided.clone()];
    parts.extend(view.confidence.map(|sure| format!("{sure}% sure")));
    if view.contested {
        parts.push(format!("contested: {}", view.doubts.join(", ")));
    }
    parts.join("; ")
}

/// Brief for the host between the rounds of a dialectic.
const DIALOGUE: &str = "A round is done. Show the user what was said, as suggestions that are never \
    carried out. If the two differ widely or a decision is needed, ask the user, else go on: \
    continue, a remark of theirs, deepen X, steer to another topic, or end.";

/// The turn due from the host or a person, or the decision due from the user.
fn due(debate: &Debate, step: &Step) -> Option<Due> {
    match step {
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = *awaited.first()?;
            let seat = debate.seat(cue);
            let role = match seat.voice {
                Participant::Human => format!("{} (a person: ask the user)", seat.title()),
                _ => seat.title().to_owned(),
            };
            let brief = prompt::render(debate, cue).text;
            Some(Due { turn: id_of(debate, cue), role, brief })
        }
        Step::Hold { next, pause } => {
            let brief = match pause {
                PauseReason::BudgetExhausted { .. } => {
                    "The budget is spent. Ask the user whether more may be spent."
                }
                PauseReason::UserHold
                    if debate.is_held() && debate.setup().origin != Origin::Here =>
                {
                    "This debate was imported. Ask the user whether to go on with it."
                }
                PauseReason::UserHold if is_plan(debate) => {
                    return Some(Due {
                        turn: id_of(debate, *next),
                        role: "user".into(),
                        brief: format!(
                            "Show the user this plan and wait for them.\n\n{}",
                            plan(debate)
                        ),
                    });
                }
                PauseReason::UserHold if debate.setup().act(*next).rounds == Rounds::Open => {
                    DIALOGUE
                }
                PauseReason::UserHold => {
                    "A round is done. Show the user what was said; they may have a remark."
                }
            };
            let (turn, role) = (id_of(debate, *next), "user".to_owned());
            Some(Due { turn, role, brief: brief.into() })
        }
        _ => None,
    }
}

/// A note that another process runs the debate, with the call that takes it over.
pub(super) fn elsewhere(id: &str, who: &str) -> String {
    let over = call("continue_round", id, "\"decision\":\"take_over\"");
    format!("{who} plays it, and this only watches; if the user wants it here, {over}")
}

/// Whether the debate waits for its plan to be confirmed.
pub(super) fn is_plan(debate: &Debate) -> bool {
    debate.holds().contains(&HoldPoint::Start) && debate.turns().next().is_none()
}

fn notes(debate: &Debate, size: Size) -> Vec<String> {
    let mut notes = vec![];
    if debate.find_seat(Role::Lead).is_some() {
        notes.push(ISOLATION.into());
    }
    let waits = matches!(next(debate), Step::Speak { driven, .. } if driven.is_empty());
    let since = debate.remarks().iter().filter(|it| waits && !debate.was_heard(it));
    notes.extend(since.map(|it| {
        let said = words(&it.text, size.line);
        format!("the user has said since this turn was asked for, so take it up now: {said}")
    }));
    // The suggestion comes before the problems, since the list is truncated.
    notes.extend(status::ending_advice(debate));
    for label in status::labels(debate) {
        notes.push(match label {
            "single-model" => {
                "single-model: both sides are played by the same model, so expect less \
                               disagreement, and less rigor, than between different ones; it is \
                               never rated"
                    .into()
            }
            "partial-judge" => {
                "partial-judge: one of those who argue, or what may be the same model, also judges"
                    .into()
            }
            "demo" => "demo: scripted voices, no model was asked; this is not advice".into(),
            "imported" => {
                "imported: the first turns are somebody's text, taken from a file".to_owned()
            }
            other => other.into(),
        });
    }
    if let Some(verdict) = verdict(debate) {
        let line = |what: &str, text: &String| format!("{what}: {}", words(text, size.line));
        let unsupported = verdict.unsupported.iter().map(|text| line("unsupported", text));
        let wrong = verdict.wrong.iter().map(|text| line("cited, and not there", text));
        notes.extend(few(unsupported.chain(wrong).collect::<Vec<_>>().into_iter(), size.lines));
    }
    if let Some(decision) = debate.decision() {
        notes.push(format!("the user has decided: {}", words(decision, size.line)));
    }
    if let Some(keep) = debate.keep_record() {
        notes.push(if keep { "the record is kept" } else { "the record is discarded" }.into());
    }
    notes.extend(status::notices(debate).iter().map(|notice| words(notice, size.line)));
    few(notes.into_iter(), size.lines.max(3))
}

/// Rule for the host in a dialectic.
const ISOLATION: &str = "suggestions are shown to the user, never carried out: change no file \
    without the user's explicit consent; silence is not consent";

/// The turn id for the host: the cue, and the take if the debate was reopened.
pub(super) fn id_of(debate: &Debate, cue: Cue) -> String {
    match debate.take_number() {
        0 => cue.to_string(),
        take => format!("{cue}+{take}"),
    }
}

/// The turn due from the host.
pub(super) fn asked_of_host(debate: &Debate) -> Option<Asked> {
    let step = next(debate);
    let due = due(debate, &step).filter(|due| due.role != "user")?;
    let cue = step.first_cue()?;
    let ruling = debate.setup().phase(cue).reply == ReplyKind::Verdict;
    Some(Asked { turn: due.turn, role: due.role, ruling })
}
