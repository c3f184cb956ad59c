//! Result of the `summarize` tool: positions, concessions and open claims of a debate, truncated to
//! the token limit of a result.
use super::digest::truncate_list;
use super::error::format_call;
use super::results::DebateSummary;
use super::token_limits::{self, estimate_tokens, first_words};
use crate::debate::ledger::{ClaimStatus, entries};
use crate::debate::{Cue, Debate, ReplyKind, Role, Side};
use crate::engine::StoredDebate;

/// Words of the topic in a summary.
const MAX_TOPIC_WORDS: usize = 60;
/// Lines per list and words per line, tried in this order until the summary fits.
const SUMMARY_SIZES: [(usize, usize); 4] = [(10, 40), (6, 25), (3, 15), (1, 8)];

/// Builds the summary, with shorter lists and lines until it fits into `MAX_RESULT_TOKENS`.
pub(super) fn build_summary(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    extra_notes: &[String],
) -> DebateSummary {
    let status = super::status::build_status(stored, debate, running, extra_notes);
    let mut summary = DebateSummary::default();
    for (max_lines, max_line_words) in SUMMARY_SIZES {
        let quotes = concession_quotes(debate);
        summary = DebateSummary {
            debate_id: status.debate_id.clone(),
            status: status.status.clone(),
            topic: first_words(debate.current_topic(), MAX_TOPIC_WORDS),
            round: status.round,
            rounds: status.rounds,
            proposer: side_position(debate, Side::Pro, max_lines, max_line_words),
            challenger: side_position(debate, Side::Con, max_lines, max_line_words),
            concessions: truncate_list(quotes.into_iter(), max_lines),
            open: open_claims(debate, max_lines, max_line_words),
            verdict: status.verdict.as_ref().map(super::text::render_ruling),
            due: status.due.as_ref().map(|due| format!("turn {}, {}", due.turn, due.role)),
            notes: status.notes.clone(),
            record: status.record.clone(),
            next: status.next.clone(),
        };
        if fits_into_result(&summary) {
            return summary;
        }
    }
    // A concession is quoted in full or not at all: a truncated quote would concede something else.
    if !fits_into_result(&summary) {
        let show_call = format_call("show_debate", &summary.debate_id, "\"part\":\"ledger\"");
        summary.concessions = vec![format!("too long to be quoted here: {show_call}")];
    }
    summary
}

fn fits_into_result(summary: &DebateSummary) -> bool {
    summary_tokens(summary) <= token_limits::MAX_RESULT_TOKENS
}

fn summary_tokens(summary: &DebateSummary) -> usize {
    estimate_tokens(&serde_json::to_string(summary).unwrap_or_default())
}

/// A side's claims, latest first. Without claims, the beginning of its last speech.
fn side_position(
    debate: &Debate,
    side: Side,
    max_lines: usize,
    max_line_words: usize,
) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let own_entries: Vec<_> = entries.iter().rev().filter(|entry| entry.side == side).collect();
    if own_entries.is_empty() {
        // In a dialectic the lead and the partner have no side: use their last speech.
        let role = match (debate.find_seat(Role::Lead), side) {
            (None, side) => side.role(),
            (Some(_), Side::Pro) => Role::Lead,
            (Some(_), Side::Con) => Role::Partner,
        };
        let mut speeches = debate.replies_in(..).filter(|(cue, body)| {
            debate.seat(*cue).role == role && body.kind() == ReplyKind::Speech
        });
        let last = speeches.next_back();
        return last
            .map(|(_, body)| first_words(&body.to_text(), 2 * max_line_words))
            .into_iter()
            .collect();
    }
    let claims = own_entries.iter().map(|entry| {
        let unsupported = if entry.is_unsupported() { " (unsupported)" } else { "" };
        let state = match entry.status {
            ClaimStatus::Unanswered => "",
            ClaimStatus::Contested => " [contested]",
            ClaimStatus::Conceded(_) => " [conceded by the other side]",
            ClaimStatus::Resolved => " [taken back as resolved]",
            ClaimStatus::Accepted => " [accepted]",
        };
        format!(
            "{}: {}{unsupported}{state}",
            entry.claim.id,
            first_words(&entry.claim.text, max_line_words)
        )
    });
    truncate_list(claims, max_lines)
}

/// Every concession, quoted verbatim.
fn concession_quotes(debate: &Debate) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let quotes = entries.iter().filter_map(|entry| match entry.status {
        ClaimStatus::Conceded(quote) => {
            let role = entry.side.other().role_name();
            Some(format!("the {role} conceded {}: \"{quote}\"", entry.claim.id))
        }
        _ => None,
    });
    quotes.collect()
}

fn open_claims(debate: &Debate, max_lines: usize, max_line_words: usize) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let open: Vec<_> = entries.iter().filter(|entry| entry.is_open()).collect();
    let claims = open.iter().map(|entry| {
        format!("{}: {}", entry.claim.id, first_words(&entry.claim.text, max_line_words))
    });
    truncate_list(claims, max_lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::token_limits::MAX_RESULT_TOKENS;

    #[test]
    fn summary_has_at_most_1900_tokens() {
        assert_eq!(MAX_RESULT_TOKENS, 1_900);
        let with_note = |chars: usize| DebateSummary {
            notes: vec!["x".repeat(chars)],
            ..DebateSummary::default()
        };
        let note_chars = 4 * (MAX_RESULT_TOKENS - summary_tokens(&with_note(0)));
        assert!(fits_into_result(&with_note(note_chars)));
        assert!(!fits_into_result(&with_note(note_chars + 4)));
    }
}
