//! Digests of turns, verdicts and findings: the shortened texts of a debate's status. Entry points:
//! `digest_turn`, `digest_verdict`, `finding_lines` and `result_text`. `status` calls them with a
//! `DigestSize`, because every result costs tokens of the client's model.
use super::results::{TurnDigest, VerdictDigest};
use super::token_limits::first_words;
use super::turn_id::turn_id;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{
    Body, Citation, Cue, Debate, Reply, Role, TurnFailure, insights, report_sections, status,
};
use crate::report::sanitize::one_line;
use crate::report::structured_reply::SEALED_PLACEHOLDER;
use crate::report::verdict::VerdictView;
use crate::review::finding::Finding;
use crate::review::{DEFAULT_MAX_FINDINGS, review_from_debate};

/// Words of the reason why a citation is wrong.
const MAX_REASON_WORDS: usize = 12;
/// Words of the rigor of a verdict.
const MAX_RIGOR_WORDS: usize = 60;

/// Limits of a digest: words per text, lines per list, words per line.
#[derive(Clone, Copy)]
pub(super) struct DigestSize {
    pub(super) words: usize,
    pub(super) lines: usize,
    pub(super) words_per_line: usize,
}

pub(super) fn digest_turn(
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
        Err(failure) => {
            let note = first_words(&failure.note, size.words_per_line);
            digest.position = format!("[INCOMPLETE] {}: {note}", failure.trouble.as_str());
        }
        Ok(_) if debate.is_sealed(cue) => {
            SEALED_PLACEHOLDER.trim().clone_into(&mut digest.position);
        }
        Ok(reply) => {
            digest.position = first_words(&reply.body.to_text(), size.words);
            let claims = reply.body.claims().iter().map(|claim| {
                let citations: Vec<_> = citations_for_claim(&reply.citations, &claim.id).collect();
                let all_wrong =
                    !citations.is_empty() && citations.iter().all(|it| it.found.is_wrong());
                let unsupported = claim.evidence.is_empty() || all_wrong;
                let unsupported = if unsupported { " (unsupported)" } else { "" };
                format!(
                    "{}: {}{unsupported}",
                    claim.id,
                    first_words(&claim.text, size.words_per_line)
                )
            });
            digest.claims = truncate_list(claims, size.lines);
            let concessions = reply.body.concessions().iter();
            let concessions = concessions.map(|concession| {
                let quote = first_words(&concession.quote, size.words_per_line);
                format!("{}: \"{quote}\"", concession.claim)
            });
            digest.concedes = truncate_list(concessions, size.lines);
            let wrong: Vec<&Citation> =
                reply.citations.iter().filter(|it| it.found.is_wrong()).collect();
            let wrong = wrong.into_iter().map(|it| {
                let raw = first_words(&one_line(&it.raw), size.words_per_line);
                let reason = first_words(&it.describe(), MAX_REASON_WORDS);
                format!("cites what is not there: {raw} ({reason})")
            });
            digest.claims.extend(truncate_list(wrong, size.lines.div_ceil(2)));
        }
    }
    digest
}

pub(super) fn digest_verdict(
    debate: &Debate,
    view: &VerdictView,
    size: DigestSize,
) -> VerdictDigest {
    let unresolved = view.unresolved.iter().map(|text| first_words(text, size.words_per_line));
    VerdictDigest {
        winner: view.winner.clone(),
        reasoning: first_words(&view.reasoning, size.words),
        decided: decision_text(view),
        contested: view.contested,
        recommendation: first_words(&view.recommendation, size.words),
        unresolved: truncate_list(unresolved, size.lines.div_ceil(2)),
        rigor: first_words(&status::rigor(debate), MAX_RIGOR_WORDS),
    }
}

/// What decided the verdict, its confidence, and why it is contested.
fn decision_text(view: &VerdictView) -> String {
    let mut parts = vec![view.decided.clone()];
    parts.extend(view.confidence.map(|confidence| format!("{confidence}% sure")));
    if view.contested {
        parts.push(format!("contested: {}", view.doubts.join(", ")));
    }
    parts.join("; ")
}

/// Findings of a review, with their location and whether their evidence was verified.
pub(super) fn finding_lines(debate: &Debate, size: DigestSize) -> Vec<String> {
    let Some(review) = review_from_debate(debate, DEFAULT_MAX_FINDINGS) else { return vec![] };
    let render = |it: &Finding, note: &str| {
        let location = it.place.as_ref().map(|location| match location.line {
            Some(line) => format!(" {}:{line}", one_line(&location.file)),
            None => format!(" {}", one_line(&location.file)),
        });
        let conceded = if it.conceded { ", conceded" } else { "" };
        let (location, claim) =
            (location.unwrap_or_default(), first_words(&it.claim, size.words_per_line));
        format!("[{}]{location} {}: {claim} ({note}{conceded})", it.severity.as_str(), it.id)
    };
    let mut lines: Vec<String> = review.findings.iter().map(|it| render(it, "found")).collect();
    lines.extend(review.unverified.iter().map(|it| render(it, "not found")));
    truncate_list(lines.into_iter(), size.lines)
}

/// The result of a format without a winner: insights or a recommendation.
pub(super) fn result_text(debate: &Debate, size: DigestSize) -> Option<String> {
    if let Some(sections) = insights::concluding_sections(debate) {
        let outcome =
            insights::parse_outcome(sections).map_or("open", insights::DialogueOutcome::as_str);
        let insight_text = insights::key_insights(sections).unwrap_or_default();
        return Some(format!(
            "Outcome: {outcome}. Key insights: {}",
            first_words(insight_text, 2 * size.words)
        ));
    }
    let report = debate.replies_in(..).rev().find_map(|(cue, body)| match body {
        Body::Sections { sections } if debate.seat(cue).role == Role::Judge => Some(sections),
        _ => None,
    })?;
    let part =
        |index: usize, max_words| report.get(index).map(|it| first_words(&it.text, max_words));
    let (advice, summary) = (
        part(report_sections::RECOMMENDATION_INDEX, size.words)?,
        part(report_sections::SUMMARY_INDEX, size.words_per_line)?,
    );
    Some(format!("Recommendation: {advice} In one sentence: {summary}"))
}

/// The first lines of a list, and the number of omitted ones.
pub(super) fn truncate_list(
    lines: impl ExactSizeIterator<Item = String>,
    max_lines: usize,
) -> Vec<String> {
    let omitted = lines.len().saturating_sub(max_lines);
    let mut lines: Vec<String> = lines.take(max_lines).collect();
    if omitted > 0 {
        lines.push(format!("and {omitted} more"));
    }
    lines
}
