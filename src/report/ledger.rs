//! Renders the ledger as text: each side's claims, their evidence, the result of each citation
//! lookup, and what became of the claim. The ledger itself is built in `crate::debate::ledger`.
use super::participants::{speaker_name, turn_name};
use super::sanitize::one_line;
use crate::debate::flags::{DebateFlag, find_flags};
use crate::debate::ledger::{ClaimStatus, LedgerEntry, LedgerTally, entries, tally};
use crate::debate::{Citation, Claim, Cue, Debate, Side, status};
use std::fmt::Write;

/// Renders the whole ledger as a text list, one block for each side.
pub fn render_ledger(debate: &Debate) -> String {
    let entries = entries(debate, Cue::END);
    if entries.is_empty() {
        return "No claims were listed.\n".into();
    }
    let mut text = String::new();
    for side in [Side::Pro, Side::Con] {
        let name = status::side_name(debate, side);
        let _ =
            writeln!(text, "{}: {}", side_heading(&name, side), tally_line(&tally(debate, side)));
        for entry in entries.iter().filter(|entry| entry.side == side) {
            render_claim(&mut text, entry);
        }
        for line in wrong_citations_outside_claims(debate, side) {
            let _ = writeln!(text, "- said in passing: {line}");
        }
        for flag in find_flags(debate, Cue::END).iter().filter(|flag| flag.side == side) {
            let _ = writeln!(text, "- noticed: {}", describe_flag(debate, flag));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn side_heading(name: &str, side: Side) -> String {
    if name == side.role_name() {
        format!("The {name}")
    } else {
        format!("The {} ({name})", side.role_name())
    }
}

/// One side's tally as a line, for example `4 claims, 6 cited, 4 verified, 1 wrong, 0 unsupported,
/// 1 conceded, 2 unanswered`.
pub fn tally_line(tally: &LedgerTally) -> String {
    format!(
        "{} claims, {} cited, {} verified, {} wrong, {} unsupported, {} conceded, {} unanswered",
        tally.claims,
        tally.citations,
        tally.verified,
        tally.wrong,
        tally.unsupported,
        tally.conceded,
        tally.unanswered
    )
}

fn render_claim(text: &mut String, entry: &LedgerEntry<'_>) {
    let LedgerEntry { cue, claim, evidence, citations, .. } = entry;
    let _ = writeln!(text, "- {} (turn {cue}): {}", claim.id, one_line(&claim.text));
    for item in evidence {
        let item_citations = citations_for_evidence(item, citations.iter().copied());
        let _ = writeln!(text, "  evidence: {}", annotate_evidence(item, &item_citations));
    }
    if entry.is_unsupported() {
        text.push_str("  unsupported\n");
    }
    let _ = writeln!(text, "  {}", describe_fate(entry));
}

fn describe_fate(entry: &LedgerEntry<'_>) -> String {
    match entry.status {
        ClaimStatus::Unanswered => "never answered".into(),
        ClaimStatus::Contested => "contested".into(),
        ClaimStatus::Conceded(quote) => {
            let opponent = entry.side.other().role_name();
            format!("conceded by the {opponent}: \"{}\"", one_line(quote))
        }
        ClaimStatus::Resolved => "taken back as resolved".into(),
        ClaimStatus::Accepted => "accepted: it put a concern of the other side to rest".into(),
    }
}

/// The citations that were parsed from one piece of evidence.
pub fn citations_for_evidence<'a>(
    evidence: &str,
    citations: impl Iterator<Item = &'a Citation>,
) -> Vec<&'a Citation> {
    citations.filter(|citation| evidence.contains(citation.raw.as_str())).collect()
}

/// A piece of evidence with the result of its citation lookup, struck through if the lookup failed.
pub(super) fn annotate_evidence(evidence: &str, citations: &[&Citation]) -> String {
    let line = one_line(evidence);
    let Some(first) = citations.first() else { return line };
    let descriptions: Vec<String> =
        citations.iter().map(|citation| one_line(&citation.describe())).collect();
    let line = if first.found.is_wrong() { format!("~~{line}~~") } else { line };
    format!("{line} ({})", descriptions.join("; "))
}

/// The speaker's own rating of a claim, for example ` | confidence: 0.80 | source: official-docs`.
pub fn claim_rating(claim: &Claim) -> String {
    let mut rating = String::new();
    if let Some(confidence) = claim.confidence {
        let _ = write!(rating, " | confidence: {:.2}", f64::from(confidence) / 100.0);
    }
    if let Some(source) = claim.source {
        let _ = write!(rating, " | source: {}", source.as_str());
    }
    rating
}

/// A side's wrong citations outside of its claims.
fn wrong_citations_outside_claims(debate: &Debate, side: Side) -> Vec<String> {
    let own_turns = debate.turns().filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
    let replies = own_turns.filter_map(|(_, turn)| turn.as_ref().ok());
    let wrong = replies.flat_map(|reply| &reply.citations);
    let wrong = wrong.filter(|citation| citation.claim.is_none() && citation.found.is_wrong());
    wrong.map(|citation| annotate_evidence(&citation.raw, &[citation])).collect()
}

/// Every citation that could not be resolved, with its speaker and claim.
pub fn wrong_citations(debate: &Debate) -> Vec<String> {
    let turns = debate.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let citations = turns.flat_map(|(cue, reply)| reply.citations.iter().map(move |it| (cue, it)));
    let wrong = citations.filter(|(_, citation)| citation.found.is_wrong());
    wrong
        .map(|(cue, citation)| {
            let claim = citation.claim.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
            let annotated = annotate_evidence(&citation.raw, &[citation]);
            format!("{}{claim}: {annotated}", speaker_name(debate, cue))
        })
        .collect()
}

/// Every flag raised by the checks, with the side it counts against.
pub(super) fn flag_lines(debate: &Debate) -> Vec<String> {
    let flags = find_flags(debate, Cue::END);
    let line = |flag: &DebateFlag| {
        format!("{}: {}", status::side_name(debate, flag.side), describe_flag(debate, flag))
    };
    flags.iter().map(line).collect()
}

fn describe_flag(debate: &Debate, flag: &DebateFlag) -> String {
    let turn = turn_name(debate, flag.cue);
    format!("{} ({turn})", flag.message)
}
