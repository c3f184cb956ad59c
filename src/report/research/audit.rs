//! Evidence audit of a research report: the claims as tagged by the auditor, grouped by side, and
//! the counts of the program's own citation lookup.
use super::labels::ReportLabels;
use crate::debate::body::AuditedFact;
use crate::debate::{Body, CitationStatus, Debate, ReplyKind, Role};
use crate::report::ledger::wrong_citations;
use crate::report::participants::{advocate_seats, seat_with_model};
use crate::report::sanitize::one_line;
use std::fmt::Write;

/// Renders the auditor's list, then the result of the citation lookup.
pub(super) fn render_audit(text: &mut String, debate: &Debate, labels: &ReportLabels) {
    if debate.has_active_role(Role::Auditor) {
        render_tagged_facts(text, debate, labels);
    } else {
        let _ = write!(text, "\n{}\n", labels.no_audit);
    }
    render_citation_counts(text, debate, labels);
}

fn render_tagged_facts(text: &mut String, debate: &Debate, labels: &ReportLabels) {
    let mut turns =
        debate.turns().filter(|(cue, _)| debate.setup().phase(*cue).reply == ReplyKind::Audit);
    let facts = match turns.next_back() {
        Some((_, Ok(reply))) => match &reply.body {
            Body::Audit { facts } => facts.as_slice(),
            _ => &[],
        },
        Some((_, Err(failure))) => {
            let (trouble, note) = (failure.trouble.as_str(), one_line(&failure.note));
            let _ = write!(text, "\n[INCOMPLETE] {trouble}: {note}\n");
            return;
        }
        None => {
            let _ = write!(text, "\n[INCOMPLETE] {}\n", labels.never_asked);
            return;
        }
    };
    let groups = advocate_seats(debate).map(Some).chain([None]);
    for group in groups {
        let group_facts: Vec<&AuditedFact> =
            facts.iter().filter(|fact| fact_owner(debate, fact) == group).collect();
        if group_facts.is_empty() {
            continue;
        }
        let title = group.map_or_else(
            || labels.unknown_side.to_owned(),
            |seat_index| seat_with_model(debate, seat_index),
        );
        let _ = write!(text, "\n### {title}\n\n");
        for fact in group_facts {
            let id = match one_line(&fact.id) {
                id if id.is_empty() => String::new(),
                id => format!("`{id}` "),
            };
            let (tag, claim) = (one_line(&fact.tag), one_line(&fact.claim));
            let _ = writeln!(text, "- [{tag}] {id}{claim}");
        }
    }
}

/// Seat that owns a claim: the one that made a claim with this id, otherwise the one the auditor
/// names.
fn fact_owner(debate: &Debate, fact: &AuditedFact) -> Option<u8> {
    let name = |seat_index: u8| debate.seats()[usize::from(seat_index)].name.trim().to_lowercase();
    let author = fact.by.trim().to_lowercase();
    let named_seat =
        advocate_seats(debate).find(|seat_index| !author.is_empty() && name(*seat_index) == author);
    let made_claim = |seat_index: u8| {
        let mut replies = debate.replies_in(..).filter(|(cue, _)| cue.seat == seat_index);
        replies.any(|(_, body)| body.claims().iter().any(|claim| claim.id == fact.id))
    };
    advocate_seats(debate)
        .find(|seat_index| !fact.id.is_empty() && made_claim(*seat_index))
        .or(named_seat)
}

/// Renders the counts of the citation lookup and lists the wrong citations, struck through.
fn render_citation_counts(text: &mut String, debate: &Debate, labels: &ReportLabels) {
    let count = |predicate: fn(CitationStatus) -> bool| {
        let replies = debate.turns().filter_map(|(_, turn)| turn.as_ref().ok());
        replies
            .flat_map(|reply| &reply.citations)
            .filter(|citation| predicate(citation.found))
            .count()
    };
    // Citations that cannot be checked were never looked up.
    let looked_up =
        count(|status| !matches!(status, CitationStatus::Unchecked | CitationStatus::NotSearched));
    let counts = [looked_up, count(CitationStatus::is_verified), count(CitationStatus::is_wrong)];
    let figures: Vec<String> = counts
        .iter()
        .zip(labels.citation_units)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    let _ = write!(text, "\n{}{}{}\n", labels.citation_lookup, labels.colon, figures.join(", "));
    let wrong = wrong_citations(debate);
    if !wrong.is_empty() {
        text.push('\n');
    }
    for line in wrong {
        let _ = writeln!(text, "- {}", one_line(&line));
    }
}
