//! Validates the summary of earlier rounds against the ledger, and builds a mechanical one from the
//! record if no seat has written one.
use crate::debate::claims::ledger::{self, ClaimStatus, LedgerEntry};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;
use std::fmt::Write;

/// Returns a cue after the last turn of this round, for use as an exclusive upper bound.
fn end_of_round(debate: &Debate, round: u8) -> Cue {
    let cues = debate.turns().map(|(cue, _)| cue).filter(|cue| cue.round <= round);
    let last = cues.filter(|cue| cue.round > 0).max();
    last.map_or(Cue { act: 0, round: 0, phase: 0, seat: 0 }, |cue| Cue {
        phase: u8::MAX,
        seat: u8::MAX,
        ..cue
    })
}

/// Lists what a summary leaves out: each concession that is not quoted verbatim and each open claim
/// whose id is missing. Covers the rounds before the previous one. Claim statuses are those the
/// scribe sees at `cue`.
pub(in crate::debate) fn find_omissions(debate: &Debate, cue: Cue, summary: &str) -> Vec<String> {
    let through = cue.round.saturating_sub(2);
    let mut entries = ledger::entries(debate, debate.wave_start(cue));
    entries.retain(|entry| entry.cue.round <= through);
    let strip_whitespace = |text: &str| -> String { text.split_whitespace().collect() };
    let stripped_summary = strip_whitespace(summary);
    let omission = |entry: &LedgerEntry<'_>| match entry.status {
        ClaimStatus::Conceded(quote) if !stripped_summary.contains(&strip_whitespace(quote)) => {
            Some(format!("the concession of `{}` is not quoted word for word", entry.claim.id))
        }
        _ if entry.is_open() && !contains_id(summary, &entry.claim.id) => {
            Some(format!("the open disagreement about `{}` is not named", entry.claim.id))
        }
        _ => None,
    };
    entries.iter().filter_map(omission).collect()
}

/// Builds a summary of the rounds up to `through` from recorded claims and concessions. Its first
/// line labels it as mechanical.
pub fn mechanical_digest(debate: &Debate, through: u8) -> String {
    let end = end_of_round(debate, through);
    let entries = ledger::entries(debate, end);
    let mut text = String::from(
        "(Mechanical summary: built from the claims and concessions on the record, because no \
         written one was available.)\n",
    );
    for side in [Side::Pro, Side::Con] {
        let side_entries: Vec<_> = entries.iter().filter(|entry| entry.side == side).collect();
        let _ = write!(text, "\nPosition of the {}:\n", side.role_name());
        for entry in &side_entries {
            let _ = writeln!(
                text,
                "- {}: {}{}",
                entry.claim.id,
                entry.claim.text,
                evidence_note(entry)
            );
        }
        if side_entries.is_empty() {
            let replies = debate
                .replies_in(..end)
                .filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
            for (cue, body) in replies {
                let _ = writeln!(text, "- (round {}) {}", cue.round, first_words(&body.to_text()));
            }
        }
    }
    let conceded = entries.iter().filter_map(|entry| match entry.status {
        ClaimStatus::Conceded(quote) => Some(format!(
            "- the {} conceded `{}`: \"{quote}\"{}\n",
            entry.side.other().role_name(),
            entry.claim.id,
            evidence_note(entry)
        )),
        _ => None,
    });
    push_section(&mut text, "Concessions (verbatim, binding)", conceded);
    let resolved = entries.iter().filter(|entry| entry.status == ClaimStatus::Resolved);
    let resolved = resolved.map(|e| format!("- {}: {}\n", e.claim.id, e.claim.text));
    push_section(&mut text, "Concerns put to rest", resolved);
    let open = entries.iter().filter(|entry| entry.is_open());
    let open = open.map(|e| format!("- {}: {}\n", e.claim.id, e.claim.text));
    push_section(&mut text, "Open disagreements", open);
    let walk_back = ledger::walk_backs(debate, end).into_iter().map(|walk_back| {
        let (before, after) = (walk_back.conceded_at.round, walk_back.denied_at.round);
        format!(
            "- conceded in round {before}: \"{}\"; denied in round {after} by `{}`: {}\n",
            walk_back.quote, walk_back.denial.id, walk_back.denial.text
        )
    });
    push_section(&mut text, "Contradictions", walk_back);
    text
}

fn push_section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    if !lines.is_empty() {
        let _ = write!(text, "\n{title}:\n{lines}");
    }
}

fn evidence_note(entry: &LedgerEntry<'_>) -> String {
    if entry.is_unsupported() {
        return " (unsupported)".into();
    }
    format!(" (evidence: {})", entry.evidence.join("; "))
}

/// Words quoted of a speech without claims.
const MAX_QUOTED_WORDS: usize = 80;

/// Returns the first `MAX_QUOTED_WORDS` words of a text.
fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MAX_QUOTED_WORDS).collect();
    let is_truncated = text.split_whitespace().nth(MAX_QUOTED_WORDS).is_some();
    words.join(" ") + if is_truncated { " …" } else { "" }
}

/// Whether a text contains an id as a separate token.
fn contains_id(text: &str, id: &str) -> bool {
    // Token characters are ASCII only: Chinese and Japanese put no space around an id.
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(id).any(|(start, matched)| {
        !text[..start].ends_with(is_id_char)
            && !text[start + matched.len()..].starts_with(is_id_char)
    })
}

#[cfg(test)]
mod tests;
