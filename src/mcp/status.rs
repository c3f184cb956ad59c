//! Result of `start_debate`, `continue_round` and `verdict`: the debate's status, truncated to the
//! token limit of a result. It depends on the record only, so every client gets the same.
use super::error::{DueTurn, format_call};
use super::next_call::next_call;
use super::token_limits::{self, estimate_tokens, first_words};
use crate::debate::Citation;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{
    Cue, Debate, HoldPoint, Origin, Participant, PauseReason, Reply, ReplyKind, Role, Rounds, Step,
    TurnFailure, insights, next, prompt, report_sections, status,
};
use crate::engine::StoredDebate;
use crate::report::plan::render_plan;
use crate::report::record::SEALED_PLACEHOLDER;
use crate::report::sanitize::one_line;
use crate::report::verdict::{VerdictView, verdict_view};
use crate::review::finding::Finding;
use crate::review::{DEFAULT_MAX_FINDINGS, review_from_debate};
use schemars::JsonSchema;
use serde::Serialize;

/// Status of a debate.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub(super) struct DebateStatus {
    pub(super) debate_id: String,
    /// `running`, `your_turn`, `user_turn`, `paused`, `interrupted`, or how it ended.
    pub(super) status: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    /// Digests of the turns of this round.
    pub(super) answered: Vec<TurnDigest>,
    /// The turns that are being requested.
    pub(super) pending: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<DueBrief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<VerdictDigest>,
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
pub(super) struct TurnDigest {
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
pub(super) struct DueBrief {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) brief: String,
}

/// Digest of the verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ruled")]
pub(super) struct VerdictDigest {
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
struct DigestSize {
    max_words: usize,
    max_lines: usize,
    max_line_words: usize,
}

/// Tried in this order until the status fits into `MAX_RESULT_TOKENS`.
const DIGEST_SIZES: [DigestSize; 4] = [
    DigestSize { max_words: 120, max_lines: 8, max_line_words: 40 },
    DigestSize { max_words: 80, max_lines: 5, max_line_words: 25 },
    DigestSize { max_words: 40, max_lines: 3, max_line_words: 15 },
    DigestSize { max_words: 15, max_lines: 1, max_line_words: 10 },
];
/// Tokens that a brief gets at least.
const MIN_BRIEF_TOKENS: usize = 700;

/// Builds the status, with smaller digests until it fits. `running` is true if this or another
/// process requests turns. `more` are notes of this call only.
pub(super) fn build_status(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    more: &[String],
) -> DebateStatus {
    let mut fits = DebateStatus::default();
    for size in DIGEST_SIZES {
        fits = build_sized_status(stored, debate, running, size);
        fits.notes.extend_from_slice(more);
        let mut bare = fits.clone();
        if let Some(due) = &mut bare.due {
            due.brief.clear();
        }
        let left = token_limits::MAX_RESULT_TOKENS.saturating_sub(status_tokens(&bare));
        let Some(due) = &mut fits.due else {
            if left > 0 {
                break;
            }
            continue;
        };
        if estimate_tokens(&due.brief) <= left
            || left >= MIN_BRIEF_TOKENS
            || size.max_words == DIGEST_SIZES[3].max_words
        {
            let rest = format_call("show_debate", &fits.debate_id, "\"part\":\"brief\"");
            let between = format!("[... this is cut; all of it: {rest} ...]");
            // In JSON every line break is escaped to two characters.
            due.brief = token_limits::truncate_middle(
                &due.brief,
                left.saturating_sub(20) * 9 / 10,
                &between,
            );
            break;
        }
    }
    fits
}

/// Estimated tokens of the status as JSON or as text, whichever is more.
fn status_tokens(standing: &DebateStatus) -> usize {
    let json = serde_json::to_string(standing).unwrap_or_default();
    estimate_tokens(&json).max(estimate_tokens(&super::text::render_status(standing)))
}

fn build_sized_status(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    size: DigestSize,
) -> DebateStatus {
    let step = next(debate);
    let over = debate.outcome().is_some();
    let pending = match &step {
        Step::Speak { driven, .. } if running => {
            driven.iter().map(|c| turn_id_label(debate, *c)).collect()
        }
        _ => vec![],
    };
    let answered = turns_to_show(debate, &step)
        .into_iter()
        .map(|(cue, turn)| digest_turn(debate, cue, turn, size))
        .collect();
    let verdict = verdict_view(debate).map(|view| digest_verdict(debate, &view, size));
    DebateStatus {
        debate_id: debate.setup().id.clone(),
        status: status_word(debate, &step, running).into(),
        round: current_round(debate, &step),
        rounds: debate.rounds(),
        answered,
        pending,
        due: if over { None } else { due_brief(debate, &step) },
        verdict,
        findings: if over { finding_lines(debate, size) } else { vec![] },
        result: result_text(debate, size),
        notes: status_notes(debate, size),
        record: stored
            .record_path
            .as_ref()
            .filter(|_| debate.keep_record() != Some(false))
            .map(|path| path.display().to_string()),
        next: next_call(debate, &step, running),
    }
}

/// Findings of a review, with their location and whether their evidence was verified.
fn finding_lines(debate: &Debate, size: DigestSize) -> Vec<String> {
    let Some(review) = review_from_debate(debate, DEFAULT_MAX_FINDINGS) else { return vec![] };
    let told = |it: &Finding, note: &str| {
        let place = it.place.as_ref().map(|place| match place.line {
            Some(line) => format!(" {}:{line}", one_line(&place.file)),
            None => format!(" {}", one_line(&place.file)),
        });
        let conceded = if it.conceded { ", conceded" } else { "" };
        let (place, claim) =
            (place.unwrap_or_default(), first_words(&it.claim, size.max_line_words));
        format!("[{}]{place} {}: {claim} ({note}{conceded})", it.severity.as_str(), it.id)
    };
    let mut all: Vec<String> = review.findings.iter().map(|it| told(it, "found")).collect();
    all.extend(review.unverified.iter().map(|it| told(it, "not found")));
    truncate_list(all.into_iter(), size.max_lines)
}

fn status_word(debate: &Debate, step: &Step, running: bool) -> &'static str {
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
fn current_round(debate: &Debate, step: &Step) -> u8 {
    let at = step.first_cue().map_or(0, |cue| cue.round);
    let taken = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    match step {
        Step::Hold { .. } => taken,
        _ => at.max(taken),
    }
}

/// Turns of the current round, or of the last one during a pause, and of the ending.
fn turns_to_show<'a>(
    debate: &'a Debate,
    step: &Step,
) -> Vec<(Cue, &'a Result<Reply, TurnFailure>)> {
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
fn turn_id_label(debate: &Debate, cue: Cue) -> String {
    format!("{} {} ({})", turn_id(debate, cue), debate.seat(cue).title(), debate.tool_at(cue))
}

fn digest_turn(
    debate: &Debate,
    cue: Cue,
    turn: &Result<Reply, TurnFailure>,
    size: DigestSize,
) -> TurnDigest {
    let mut digest = TurnDigest {
        turn: turn_id(debate, cue),
        role: format!("{} ({})", debate.seat(cue).title(), debate.tool_at(cue)),
        position: String::new(),
        claims: vec![],
        concedes: vec![],
    };
    match turn {
        Err(lost) => {
            let note = first_words(&lost.note, size.max_line_words);
            digest.position = format!("[INCOMPLETE] {}: {note}", lost.trouble.as_str());
        }
        Ok(_) if debate.is_sealed(cue) => {
            SEALED_PLACEHOLDER.trim().clone_into(&mut digest.position)
        }
        Ok(reply) => {
            digest.position = first_words(&reply.body.to_text(), size.max_words);
            let claims = reply.body.claims().iter().map(|claim| {
                let found: Vec<_> = citations_for_claim(&reply.citations, &claim.id).collect();
                let gone = !found.is_empty() && found.iter().all(|it| it.found.is_wrong());
                let bare = claim.evidence.is_empty() || gone;
                let bare = if bare { " (unsupported)" } else { "" };
                format!("{}: {}{bare}", claim.id, first_words(&claim.text, size.max_line_words))
            });
            digest.claims = truncate_list(claims, size.max_lines);
            let given = reply.body.concessions().iter();
            let given = given.map(|given| {
                format!("{}: \"{}\"", given.claim, first_words(&given.quote, size.max_line_words))
            });
            digest.concedes = truncate_list(given, size.max_lines);
            let wrong: Vec<&Citation> =
                reply.citations.iter().filter(|it| it.found.is_wrong()).collect();
            let wrong = wrong.into_iter().map(|it| {
                let raw = first_words(&one_line(&it.raw), size.max_line_words);
                format!("cites what is not there: {raw} ({})", first_words(&it.describe(), 12))
            });
            digest.claims.extend(truncate_list(wrong, size.max_lines.div_ceil(2)));
        }
    }
    digest
}

/// The first lines of a list, and the number of omitted ones.
pub(super) fn truncate_list(
    lines: impl ExactSizeIterator<Item = String>,
    most: usize,
) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let mut lines: Vec<String> = lines.take(most).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The result of a format without a winner: insights or a recommendation.
fn result_text(debate: &Debate, size: DigestSize) -> Option<String> {
    if let Some(sections) = insights::concluding_sections(debate) {
        let end =
            insights::parse_outcome(sections).map_or("open", insights::DialogueOutcome::as_str);
        let learned = insights::key_insights(sections).unwrap_or_default();
        return Some(format!(
            "Outcome: {end}. Key insights: {}",
            first_words(learned, 2 * size.max_words)
        ));
    }
    let judged = debate.replies_in(..).rev().find_map(|(cue, body)| match body {
        crate::debate::Body::Sections { sections } if debate.seat(cue).role == Role::Judge => {
            Some(sections)
        }
        _ => None,
    })?;
    let part = |nth: usize, most| judged.get(nth).map(|it| first_words(&it.text, most));
    let (advice, summary) = (
        part(report_sections::RECOMMENDATION_INDEX, size.max_words)?,
        part(report_sections::SUMMARY_INDEX, size.max_line_words)?,
    );
    Some(format!("Recommendation: {advice} In one sentence: {summary}"))
}

fn digest_verdict(debate: &Debate, view: &VerdictView, size: DigestSize) -> VerdictDigest {
    let unresolved = view.unresolved.iter().map(|text| first_words(text, size.max_line_words));
    VerdictDigest {
        winner: view.winner.clone(),
        reasoning: first_words(&view.reasoning, size.max_words),
        decided: decision_text(view),
        contested: view.contested,
        recommendation: first_words(&view.recommendation, size.max_words),
        unresolved: truncate_list(unresolved, size.max_lines.div_ceil(2)),
        rigor: first_words(&status::rigor(debate), 60),
    }
}

/// What decided the verdict, its confidence, and why it is contested.
fn decision_text(view: &VerdictView) -> String {
    let mut parts = vec![view.decided.clone()];
    parts.extend(view.confidence.map(|sure| format!("{sure}% sure")));
    if view.contested {
        parts.push(format!("contested: {}", view.doubts.join(", ")));
    }
    parts.join("; ")
}

/// Brief for the host between the rounds of a dialectic.
const DIALOGUE_BRIEF: &str = "A round is done. Show the user what was said, as suggestions that are never \
    carried out. If the two differ widely or a decision is needed, ask the user, else go on: \
    continue, a remark of theirs, deepen X, steer to another topic, or end.";

/// The turn due from the host or a person, or the decision due from the user.
fn due_brief(debate: &Debate, step: &Step) -> Option<DueBrief> {
    match step {
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = *awaited.first()?;
            let seat = debate.seat(cue);
            let role = match seat.voice {
                Participant::Human => format!("{} (a person: ask the user)", seat.title()),
                _ => seat.title().to_owned(),
            };
            let brief = prompt::render(debate, cue).text;
            Some(DueBrief { turn: turn_id(debate, cue), role, brief })
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
                PauseReason::UserHold if awaits_plan_confirmation(debate) => {
                    return Some(DueBrief {
                        turn: turn_id(debate, *next),
                        role: "user".into(),
                        brief: format!(
                            "Show the user this plan and wait for them.\n\n{}",
                            render_plan(debate)
                        ),
                    });
                }
                PauseReason::UserHold if debate.setup().act(*next).rounds == Rounds::Open => {
                    DIALOGUE_BRIEF
                }
                PauseReason::UserHold => {
                    "A round is done. Show the user what was said; they may have a remark."
                }
            };
            let (turn, role) = (turn_id(debate, *next), "user".to_owned());
            Some(DueBrief { turn, role, brief: brief.into() })
        }
        _ => None,
    }
}

/// A note that another process runs the debate, with the call that takes it over.
pub(super) fn remote_holder_note(id: &str, who: &str) -> String {
    let over = format_call("continue_round", id, "\"decision\":\"take_over\"");
    format!("{who} plays it, and this only watches; if the user wants it here, {over}")
}

/// Whether the debate waits for its plan to be confirmed.
pub(super) fn awaits_plan_confirmation(debate: &Debate) -> bool {
    debate.holds().contains(&HoldPoint::Start) && debate.turns().next().is_none()
}

fn status_notes(debate: &Debate, size: DigestSize) -> Vec<String> {
    let mut notes = vec![];
    if debate.find_seat(Role::Lead).is_some() {
        notes.push(NO_CHANGES_NOTE.into());
    }
    let waits = matches!(next(debate), Step::Speak { driven, .. } if driven.is_empty());
    let since = debate.remarks().iter().filter(|it| waits && !debate.was_heard(it));
    notes.extend(since.map(|it| {
        let said = first_words(&it.text, size.max_line_words);
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
    if let Some(verdict) = verdict_view(debate) {
        let line = |what: &str, text: &String| {
            format!("{what}: {}", first_words(text, size.max_line_words))
        };
        let unsupported = verdict.unsupported.iter().map(|text| line("unsupported", text));
        let wrong = verdict.wrong.iter().map(|text| line("cited, and not there", text));
        notes.extend(truncate_list(
            unsupported.chain(wrong).collect::<Vec<_>>().into_iter(),
            size.max_lines,
        ));
    }
    if let Some(decision) = debate.decision() {
        notes.push(format!("the user has decided: {}", first_words(decision, size.max_line_words)));
    }
    if let Some(keep) = debate.keep_record() {
        notes.push(if keep { "the record is kept" } else { "the record is discarded" }.into());
    }
    notes.extend(
        status::notices(debate).iter().map(|notice| first_words(notice, size.max_line_words)),
    );
    truncate_list(notes.into_iter(), size.max_lines.max(3))
}

/// Rule for the host in a dialectic.
const NO_CHANGES_NOTE: &str = "suggestions are shown to the user, never carried out: change no file \
    without the user's explicit consent; silence is not consent";

/// The turn id for the host: the cue, and the take if the debate was reopened.
pub(super) fn turn_id(debate: &Debate, cue: Cue) -> String {
    match debate.take_number() {
        0 => cue.to_string(),
        take => format!("{cue}+{take}"),
    }
}

/// The turn due from the host.
pub(super) fn due_turn(debate: &Debate) -> Option<DueTurn> {
    let step = next(debate);
    let due = due_brief(debate, &step).filter(|due| due.role != "user")?;
    let cue = step.first_cue()?;
    let ruling = debate.setup().phase(cue).reply == ReplyKind::Verdict;
    Some(DueTurn { turn: due.turn, role: due.role, ruling })
}
