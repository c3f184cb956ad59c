//! Result of `start_debate`, `continue_round` and `verdict`: the debate's status, truncated to the
//! token limit of a result. It depends on the record only, so every client gets the same.
use super::digest::{
    DigestSize, digest_turn, digest_verdict, finding_lines, result_text, truncate_list,
};
use super::due_turn::due_brief;
use super::error::format_call;
use super::next_call::next_call;
use super::results::DebateStatus;
use super::token_limits::{self, estimate_tokens, first_words};
use super::turn_id::turn_id;
use crate::debate::{Cue, Debate, Participant, Reply, Role, Step, TurnFailure, next, status};
use crate::engine::StoredDebate;
use crate::report::verdict::verdict_view;

/// Tried in this order until the status fits into `MAX_RESULT_TOKENS`.
const DIGEST_SIZES: [DigestSize; 4] = [
    DigestSize { words: 120, lines: 8, words_per_line: 40 },
    DigestSize { words: 80, lines: 5, words_per_line: 25 },
    DigestSize { words: 40, lines: 3, words_per_line: 15 },
    DigestSize { words: 15, lines: 1, words_per_line: 10 },
];
/// Tokens that a brief gets at least.
const MIN_BRIEF_TOKENS: usize = 700;
/// Tokens left free when a brief is truncated.
const BRIEF_MARGIN_TOKENS: usize = 20;
/// Notes of the record that are shown even in the smallest digest.
const MIN_NOTES: usize = 3;

/// Builds the status, with smaller digests until it fits. `running` is true if this or another
/// process requests turns. `extra_notes` are notes of this call only.
pub(super) fn build_status(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    extra_notes: &[String],
) -> DebateStatus {
    let mut result = DebateStatus::default();
    for size in DIGEST_SIZES {
        result = build_sized_status(stored, debate, running, size);
        result.notes.extend_from_slice(extra_notes);
        let tokens_left = tokens_left_for_brief(&result);
        let Some(due) = &mut result.due else {
            if tokens_left > 0 {
                break;
            }
            continue;
        };
        if has_room_for_brief(&due.brief, tokens_left) || size.words == DIGEST_SIZES[3].words {
            let show_call = format_call("show_debate", &result.debate_id, "\"part\":\"brief\"");
            let marker = format!("[... this is cut; all of it: {show_call} ...]");
            // In JSON every line break is escaped to two characters.
            due.brief = token_limits::truncate_middle(
                &due.brief,
                tokens_left.saturating_sub(BRIEF_MARGIN_TOKENS) * 9 / 10,
                &marker,
            );
            break;
        }
    }
    result
}

/// Tokens of a result that the status leaves for its brief.
fn tokens_left_for_brief(status: &DebateStatus) -> usize {
    let mut without_brief = status.clone();
    if let Some(due) = &mut without_brief.due {
        due.brief.clear();
    }
    token_limits::MAX_RESULT_TOKENS.saturating_sub(status_tokens(&without_brief))
}

/// Whether the brief fits, or gets at least its minimum when it is truncated.
fn has_room_for_brief(brief: &str, tokens_left: usize) -> bool {
    estimate_tokens(brief) <= tokens_left || tokens_left >= MIN_BRIEF_TOKENS
}

/// Estimated tokens of the status as JSON or as text, whichever is more.
fn status_tokens(status: &DebateStatus) -> usize {
    let json = serde_json::to_string(status).unwrap_or_default();
    estimate_tokens(&json).max(estimate_tokens(&super::text::render_status(status)))
}

fn build_sized_status(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    size: DigestSize,
) -> DebateStatus {
    let step = next(debate);
    let is_over = debate.outcome().is_some();
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
        due: if is_over { None } else { due_brief(debate, &step) },
        verdict,
        findings: if is_over { finding_lines(debate, size) } else { vec![] },
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

fn status_word(debate: &Debate, step: &Step, running: bool) -> &'static str {
    if debate.outcome().is_some() {
        return status::status(debate).as_str();
    }
    match step {
        Step::Hold { .. } => "paused",
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let is_person =
                awaited.first().is_some_and(|cue| debate.seat(*cue).voice == Participant::Human);
            if is_person { "user_turn" } else { "your_turn" }
        }
        _ if running => "running",
        _ => "interrupted",
    }
}

/// The current round, or the last one during a pause.
fn current_round(debate: &Debate, step: &Step) -> u8 {
    let current = step.first_cue().map_or(0, |cue| cue.round);
    let last = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    match step {
        Step::Hold { .. } => last,
        _ => current.max(last),
    }
}

/// Turns of the current round, or of the last one during a pause, and of the ending.
fn turns_to_show<'a>(
    debate: &'a Debate,
    step: &Step,
) -> Vec<(Cue, &'a Result<Reply, TurnFailure>)> {
    let ending_act = debate.setup().ending_act();
    let last = debate
        .turns()
        .map(|(cue, _)| cue.position())
        .filter(|position| position.act < ending_act)
        .max();
    let position = match step {
        Step::Speak { .. } => step
            .first_cue()
            .map(Cue::position)
            .filter(|position| position.act < ending_act)
            .or(last),
        _ => last,
    };
    let is_shown = |cue: &Cue| Some(cue.position()) == position || cue.act == ending_act;
    debate.turns().filter(|(cue, _)| is_shown(cue)).collect()
}

/// A turn's id, role and tool: `0.1.1.1 Challenger (codex)`
fn turn_id_label(debate: &Debate, cue: Cue) -> String {
    format!("{} {} ({})", turn_id(debate, cue), debate.seat(cue).title(), debate.tool_at(cue))
}

/// A note that another process runs the debate, with the call that takes it over.
pub(super) fn remote_holder_note(id: &str, holder: &str) -> String {
    let take_over_call = format_call("continue_round", id, "\"decision\":\"take_over\"");
    format!("{holder} plays it, and this only watches; if the user wants it here, {take_over_call}")
}

fn status_notes(debate: &Debate, size: DigestSize) -> Vec<String> {
    let mut notes = vec![];
    if debate.find_seat(Role::Lead).is_some() {
        notes.push(NO_CHANGES_NOTE.into());
    }
    let is_waiting = matches!(next(debate), Step::Speak { driven, .. } if driven.is_empty());
    let unheard = debate.remarks().iter().filter(|it| is_waiting && !debate.was_heard(it));
    notes.extend(unheard.map(|it| {
        let remark_text = first_words(&it.text, size.words_per_line);
        format!("the user has said since this turn was asked for, so take it up now: {remark_text}")
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
        let line = |prefix: &str, text: &String| {
            format!("{prefix}: {}", first_words(text, size.words_per_line))
        };
        let unsupported = verdict.unsupported.iter().map(|text| line("unsupported", text));
        let wrong = verdict.wrong.iter().map(|text| line("cited, and not there", text));
        notes.extend(truncate_list(
            unsupported.chain(wrong).collect::<Vec<_>>().into_iter(),
            size.lines,
        ));
    }
    if let Some(decision) = debate.decision() {
        notes.push(format!("the user has decided: {}", first_words(decision, size.words_per_line)));
    }
    if let Some(keep) = debate.keep_record() {
        notes.push(if keep { "the record is kept" } else { "the record is discarded" }.into());
    }
    notes.extend(
        status::notices(debate).iter().map(|notice| first_words(notice, size.words_per_line)),
    );
    truncate_list(notes.into_iter(), size.lines.max(MIN_NOTES))
}

/// Rule for the host in a dialectic.
const NO_CHANGES_NOTE: &str = "suggestions are shown to the user, never carried out: change no file \
    without the user's explicit consent; silence is not consent";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::token_limits::MAX_RESULT_TOKENS;

    /// A status with this many tokens.
    fn status_with(tokens: usize) -> DebateStatus {
        let with_note = |chars: usize| DebateStatus {
            notes: vec!["x".repeat(chars)],
            ..DebateStatus::default()
        };
        let status = with_note(4 * (tokens - status_tokens(&with_note(0))));
        assert_eq!(status_tokens(&status), tokens);
        status
    }

    #[test]
    fn status_has_less_than_1900_tokens() {
        assert_eq!(MAX_RESULT_TOKENS, 1_900);
        assert_eq!(tokens_left_for_brief(&status_with(MAX_RESULT_TOKENS - 1)), 1);
        assert_eq!(tokens_left_for_brief(&status_with(MAX_RESULT_TOKENS)), 0);
    }

    #[test]
    fn brief_is_truncated_to_700_tokens_at_least() {
        assert_eq!(MIN_BRIEF_TOKENS, 700);
        let brief = |tokens| "x".repeat(4 * tokens);
        assert!(has_room_for_brief(&brief(2_000), MIN_BRIEF_TOKENS));
        assert!(!has_room_for_brief(&brief(2_000), MIN_BRIEF_TOKENS - 1));
        assert!(has_room_for_brief(&brief(MIN_BRIEF_TOKENS - 1), MIN_BRIEF_TOKENS - 1));
    }
}
