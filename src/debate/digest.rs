//! Validates the summary of earlier rounds against the ledger, and builds a mechanical one from the
//! record if no seat has written one.
use super::event::Cue;
use super::format::Side;
use super::ledger::{self, ClaimStatus, LedgerEntry};
use super::state::Debate;
use std::fmt::Write;

/// Returns a cue after the last turn of this round, for use as an exclusive upper bound.
fn end_of_round(debate: &Debate, round: u8) -> Cue {
    let past = debate.turns().map(|(cue, _)| cue).filter(|cue| cue.round <= round);
    let last = past.filter(|cue| cue.round > 0).max();
    last.map_or(Cue { act: 0, round: 0, phase: 0, seat: 0 }, |cue| Cue {
        phase: u8::MAX,
        seat: u8::MAX,
        ..cue
    })
}

/// Lists what a summary leaves out: each concession that is not quoted verbatim and each open claim
/// whose id is missing. Covers the rounds before the previous one. Claim statuses are those the
/// scribe sees at `cue`.
pub fn find_omissions(debate: &Debate, cue: Cue, summary: &str) -> Vec<String> {
    let through = cue.round.saturating_sub(2);
    let mut entries = ledger::entries(debate, debate.wave_start(cue));
    entries.retain(|entry| entry.cue.round <= through);
    let bare = |text: &str| -> String { text.split_whitespace().collect() };
    let flat = bare(summary);
    let lost = |entry: &LedgerEntry<'_>| match entry.status {
        ClaimStatus::Conceded(quote) if !flat.contains(&bare(quote)) => {
            Some(format!("the concession of `{}` is not quoted word for word", entry.claim.id))
        }
        _ if entry.is_open() && !contains_id(summary, &entry.claim.id) => {
            Some(format!("the open disagreement about `{}` is not named", entry.claim.id))
        }
        _ => None,
    };
    entries.iter().filter_map(lost).collect()
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
        let own: Vec<_> = entries.iter().filter(|entry| entry.side == side).collect();
        let _ = write!(text, "\nPosition of the {}:\n", side.role_name());
        for entry in &own {
            let _ = writeln!(
                text,
                "- {}: {}{}",
                entry.claim.id,
                entry.claim.text,
                evidence_note(entry)
            );
        }
        if own.is_empty() {
            let words = debate
                .replies_in(..end)
                .filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
            for (cue, body) in words {
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
    let back = ledger::walk_backs(debate, end).into_iter().map(|back| {
        let (before, after) = (back.conceded_at.round, back.denied_at.round);
        format!(
            "- conceded in round {before}: \"{}\"; denied in round {after} by `{}`: {}\n",
            back.quote, back.denial.id, back.denial.text
        )
    });
    push_section(&mut text, "Contradictions", back);
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

/// Returns the first 80 words of a text.
pub fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(80).collect();
    let cut = text.split_whitespace().nth(80).is_some();
    words.join(" ") + if cut { " …" } else { "" }
}

/// Replaces each run of whitespace by one space, so that texts compare equal however they are
/// wrapped.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text contains an id as a separate token.
fn contains_id(text: &str, id: &str) -> bool {
    // Token characters are ASCII only: Chinese and Japanese put no space around an id.
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(id).any(|(at, found)| {
        !text[..at].ends_with(part) && !text[at + found.len()..].starts_with(part)
    })
}
