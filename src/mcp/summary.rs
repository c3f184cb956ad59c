//! Result of the `summarize` tool: positions, concessions and open claims of a debate, truncated to
//! the token limit of a result.
use super::error::format_call;
use super::status::truncate_list;
use super::token_limits::{self, estimate_tokens, first_words};
use crate::debate::ledger::{ClaimStatus, entries};
use crate::debate::{Cue, Debate, ReplyKind, Role, Side};
use crate::engine::StoredDebate;
use schemars::JsonSchema;
use serde::Serialize;

/// Result of `summarize`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(super) struct DebateSummary {
    pub(super) debate_id: String,
    pub(super) status: String,
    pub(super) topic: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    pub(super) proposer: Vec<String>,
    pub(super) challenger: Vec<String>,
    /// Verbatim quotes.
    pub(super) concessions: Vec<String>,
    pub(super) open: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<String>,
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    pub(super) next: String,
}

/// Builds the summary, with shorter lists and lines until it fits into `MAX_RESULT_TOKENS`.
pub(super) fn build_summary(
    stored: &StoredDebate,
    debate: &Debate,
    running: bool,
    more: &[String],
) -> DebateSummary {
    let stands = super::status::build_status(stored, debate, running, more);
    let mut account = DebateSummary::default();
    for (lines, line) in [(10, 40), (6, 25), (3, 15), (1, 8)] {
        let verbatim = concession_quotes(debate);
        account = DebateSummary {
            debate_id: stands.debate_id.clone(),
            status: stands.status.clone(),
            topic: first_words(debate.current_topic(), 60),
            round: stands.round,
            rounds: stands.rounds,
            proposer: side_position(debate, Side::Pro, lines, line),
            challenger: side_position(debate, Side::Con, lines, line),
            concessions: truncate_list(verbatim.into_iter(), lines),
            open: open_claims(debate, lines, line),
            verdict: stands.verdict.as_ref().map(super::text::render_ruling),
            due: stands.due.as_ref().map(|due| format!("turn {}, {}", due.turn, due.role)),
            notes: stands.notes.clone(),
            record: stands.record.clone(),
            next: stands.next.clone(),
        };
        if summary_tokens(&account) <= token_limits::MAX_RESULT_TOKENS {
            return account;
        }
    }
    // A concession is quoted in full or not at all: a truncated quote would concede something else.
    if summary_tokens(&account) > token_limits::MAX_RESULT_TOKENS {
        let all = format_call("show_debate", &account.debate_id, "\"part\":\"ledger\"");
        account.concessions = vec![format!("too long to be quoted here: {all}")];
    }
    account
}

fn summary_tokens(account: &DebateSummary) -> usize {
    estimate_tokens(&serde_json::to_string(account).unwrap_or_default())
}

/// A side's claims, latest first. Without claims, the beginning of its last speech.
fn side_position(debate: &Debate, side: Side, lines: usize, line: usize) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let own: Vec<_> = entries.iter().rev().filter(|entry| entry.side == side).collect();
    if own.is_empty() {
        // In a dialectic the lead and the partner have no side: use their last speech.
        let role = match (debate.find_seat(Role::Lead), side) {
            (None, side) => side.role(),
            (Some(_), Side::Pro) => Role::Lead,
            (Some(_), Side::Con) => Role::Partner,
        };
        let mut said = debate.replies_in(..).filter(|(cue, body)| {
            debate.seat(*cue).role == role && body.kind() == ReplyKind::Speech
        });
        let last = said.next_back();
        return last.map(|(_, body)| first_words(&body.to_text(), 2 * line)).into_iter().collect();
    }
    let claims = own.iter().map(|entry| {
        let bare = if entry.is_unsupported() { " (unsupported)" } else { "" };
        let fate = match entry.status {
            ClaimStatus::Unanswered => "",
            ClaimStatus::Contested => " [contested]",
            ClaimStatus::Conceded(_) => " [conceded by the other side]",
            ClaimStatus::Resolved => " [taken back as resolved]",
            ClaimStatus::Accepted => " [accepted]",
        };
        format!("{}: {}{bare}{fate}", entry.claim.id, first_words(&entry.claim.text, line))
    });
    truncate_list(claims, lines)
}

/// Every concession, quoted verbatim.
fn concession_quotes(debate: &Debate) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let given = entries.iter().filter_map(|entry| match entry.status {
        ClaimStatus::Conceded(quote) => {
            let by = entry.side.other().role_name();
            Some(format!("the {by} conceded {}: \"{quote}\"", entry.claim.id))
        }
        _ => None,
    });
    given.collect()
}

fn open_claims(debate: &Debate, lines: usize, line: usize) -> Vec<String> {
    let entries = entries(debate, Cue::END);
    let open: Vec<_> = entries.iter().filter(|entry| entry.is_open()).collect();
    let told = open
        .iter()
        .map(|entry| format!("{}: {}", entry.claim.id, first_words(&entry.claim.text, line)));
    truncate_list(told, lines)
}
