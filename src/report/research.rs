//! Renders the report of a research debate: findings and rebuttals of each side, evidence audit and
//! the judge's neutral conclusion. Headings are localized (English and Chinese).
//!
//! | module | content |
//! |---|---|
//! | `labels` | localized labels of the report |
//! | `judgment` | the judge's sections in the record |
//! | `audit` | evidence audit: the auditor's tags and the result of the citation lookup |
mod audit;
mod judgment;
mod labels;

pub use judgment::research_judgment;

use super::ledger::{annotate_evidence, citations_for_evidence, claim_rating};
use super::participants::{advocate_seats, seat_with_model, seats_with_role};
use super::sanitize::{demote_headings, one_line};
use super::structured_reply::SEALED_PLACEHOLDER;
use super::summary_header::{demo_notice, summary_header};
use crate::debate::RuleWeight;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{
    Claim, Cue, Debate, DebateOutcome, Reply, ReplyKind, Role, Section, Status, TranscriptScope,
    TurnFailure, report_sections, status,
};
use labels::ReportLabels;
use std::fmt::Write;

/// Renders the report once the debate is judged. `None` if it was aborted, cancelled or failed.
pub fn research_report(debate: &Debate) -> Option<String> {
    let sections = research_judgment(debate)?;
    let status = status::status(debate);
    if matches!(status, Status::Aborted | Status::Cancelled | Status::Failed) {
        return None;
    }
    let labels = labels::labels_for(debate.current_topic());
    let mut text = report_header(debate, labels);
    render_arguments(&mut text, debate, labels);
    render_judgment(&mut text, sections, labels);
    Some(text)
}

/// Summary of a research debate without a judgment: progress so far, or the findings.
pub(super) fn summary_without_judgment(debate: &Debate) -> String {
    let mut text = summary_header(debate, &[Role::Advocate, Role::Auditor, Role::Judge], &[]);
    let has_replies = debate.replies_in(..).next().is_some();
    match debate.outcome() {
        None => {
            let finished_count = |stage: ResearchStage| {
                let last_turns = advocate_seats(debate)
                    .filter_map(|seat_index| last_turn(debate, seat_index, stage));
                last_turns.filter(|(_, turn)| turn.is_ok()).count()
            };
            let _ = write!(
                text,
                "\nNo judgment yet: {} of {all} sides have investigated, {} have answered the \
                 others.\n",
                finished_count(ResearchStage::Investigation),
                finished_count(ResearchStage::Rebuttal),
                all = advocate_seats(debate).count()
            );
        }
        Some(DebateOutcome::Cancelled) => {
            text.push_str("\nCancelled before a judgment: no report.\n");
        }
        Some(_) if !has_replies => text.push_str("\nNothing was found: no report.\n"),
        Some(_) => {
            text.push_str("\nNobody has judged it: no report. What the sides found is below.\n");
            render_arguments(&mut text, debate, labels::labels_for(debate.current_topic()));
        }
    }
    text
}

fn report_header(debate: &Debate, labels: &ReportLabels) -> String {
    let setup = debate.setup();
    let colon = labels.colon;
    let mut text = format!("# {}{colon}{}\n\n", one_line(debate.current_topic()), labels.title);
    text.push_str(demo_notice(debate));
    let term = |name: &str| debate.terms().get(name).map_or("-", |term| term.as_str());
    let active_roles = [Role::Advocate, Role::Auditor, Role::Judge].into_iter();
    let active_roles = active_roles.filter(|role| debate.has_active_role(*role));
    let roles: Vec<String> = active_roles
        .flat_map(|role| seats_with_role(debate, role))
        .map(|seat_index| seat_with_model(debate, seat_index))
        .collect();
    let missing = missing_turns(debate, labels);
    let is_degraded = !missing.is_empty() || status::status(debate) == Status::Degraded;
    let completion = if is_degraded { Status::Degraded } else { Status::Completed };
    let lines = [
        (labels.date, super::iso_timestamp(setup.opened_at)[..10].to_owned()),
        (labels.method, labels.method_text.to_owned()),
        (labels.roles, roles.join(" | ")),
        (
            labels.audience,
            format!(
                "{} | {}{colon}{}",
                one_line(term("audience")),
                labels.decision_type,
                one_line(term("decision_type"))
            ),
        ),
        (labels.completion, completion.as_result_str().to_owned()),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name}{colon}{value}  ");
    }
    if !missing.is_empty() {
        let _ = write!(text, "\n> {}{}\n", labels.missing_prefix, one_line(&missing.join(", ")));
    }
    let notices: Vec<String> =
        status::notices(debate).iter().map(|notice| one_line(notice)).collect();
    if !notices.is_empty() {
        let _ = write!(text, "\n{}\n", notices.join("  \n"));
    }
    text
}

/// Turns marked `[INCOMPLETE]` in the report: failed turns, and turns never requested because the
/// user asked for the judgment first.
fn missing_turns(debate: &Debate, labels: &ReportLabels) -> Vec<String> {
    let name = |seat_index: u8| debate.seats()[usize::from(seat_index)].name.clone();
    let failed = debate
        .failed_turns()
        .map(|(cue, _)| format!("{} (`{}`)", name(cue.seat), debate.setup().phase(cue).name));
    let unasked = advocate_seats(debate).filter(|seat_index| {
        [ResearchStage::Investigation, ResearchStage::Rebuttal]
            .iter()
            .any(|stage| last_turn(debate, *seat_index, *stage).is_none())
    });
    let auditors = seats_with_role(debate, Role::Auditor).filter(|seat_index| {
        debate.has_active_role(Role::Auditor)
            && !debate.turns().any(|(cue, _)| cue.seat == *seat_index)
    });
    let unasked = unasked
        .chain(auditors)
        .map(|seat_index| format!("{} ({})", name(seat_index), labels.never_asked));
    failed.chain(unasked).collect()
}

/// Stage of an advocate's work, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResearchStage {
    /// First speech, written before hearing the others.
    Investigation,
    /// Reply to the other advocates.
    Rebuttal,
}

/// The last turn of a seat in this stage.
fn last_turn(
    debate: &Debate,
    seat_index: u8,
    stage: ResearchStage,
) -> Option<(Cue, &Result<Reply, TurnFailure>)> {
    debate.turns().filter(|(cue, _)| cue.seat == seat_index).rfind(|(cue, _)| {
        let phase = debate.setup().phase(*cue);
        let is_investigation = phase.hears == TranscriptScope::Nothing;
        phase.reply == ReplyKind::Speech
            && is_investigation == (stage == ResearchStage::Investigation)
    })
}

/// Renders arguments, rebuttals and the evidence audit.
fn render_arguments(text: &mut String, debate: &Debate, labels: &ReportLabels) {
    let _ = write!(text, "\n## {}\n", labels.arguments);
    for seat_index in advocate_seats(debate) {
        let _ = write!(text, "\n### {}\n\n", seat_with_model(debate, seat_index));
        let stance = &debate.seats()[usize::from(seat_index)].stance;
        if !stance.trim().is_empty() {
            let _ = write!(text, "{}{}{}\n\n", labels.stance, labels.colon, one_line(stance));
        }
        render_speech(
            text,
            debate,
            last_turn(debate, seat_index, ResearchStage::Investigation),
            labels,
        );
    }
    let _ = write!(text, "\n## {}\n", labels.rebuttals);
    for seat_index in advocate_seats(debate) {
        let _ = write!(text, "\n### {}\n\n", seat_with_model(debate, seat_index));
        render_speech(text, debate, last_turn(debate, seat_index, ResearchStage::Rebuttal), labels);
    }
    let _ = write!(text, "\n## {}\n", labels.audit);
    audit::render_audit(text, debate, labels);
}

fn render_speech(
    text: &mut String,
    debate: &Debate,
    turn: Option<(Cue, &Result<Reply, TurnFailure>)>,
    labels: &ReportLabels,
) {
    let reply = match turn {
        Some((cue, Ok(_))) if debate.is_sealed(cue) => {
            text.push_str(SEALED_PLACEHOLDER);
            return;
        }
        Some((_, Ok(reply))) => reply,
        Some((_, Err(failure))) => {
            let (trouble, note) = (failure.trouble.as_str(), one_line(&failure.note));
            let _ = writeln!(text, "[INCOMPLETE] {trouble}: {note}");
            return;
        }
        None => {
            let _ = writeln!(text, "[INCOMPLETE] {}", labels.never_asked);
            return;
        }
    };
    let _ = writeln!(text, "{}", demote_headings(reply.body.to_text().trim()));
    let claims: Vec<&Claim> = reply.body.claims().iter().collect();
    if !claims.is_empty() {
        let _ = write!(text, "\n{}{}\n\n", labels.self_rated_claims, labels.colon.trim_end());
    }
    for claim in claims {
        let (id, claim_text) = (one_line(&claim.id), one_line(&claim.text));
        let answers = if claim.answers.is_empty() {
            String::new()
        } else {
            format!(" (-> {})", one_line(&claim.answers.join(", ")))
        };
        let _ = writeln!(text, "- `{id}` {claim_text}{answers}{}", claim_rating(claim));
        for evidence in &claim.evidence {
            let found =
                citations_for_evidence(evidence, citations_for_claim(&reply.citations, &claim.id));
            let _ = writeln!(text, "  - {}", annotate_evidence(evidence, &found));
        }
    }
    for foul in reply.findings.iter().filter(|found| found.weight == RuleWeight::Foul) {
        let _ = writeln!(text, "\n> {}{}{}", labels.finding, labels.colon, one_line(&foul.says));
    }
}

/// Renders the judge's sections, each below its own heading.
fn render_judgment(text: &mut String, sections: &[Section], labels: &ReportLabels) {
    let section_text = |index: usize| {
        let content = sections.get(index).map(|section| demote_headings(section.text.trim()));
        content.unwrap_or_else(|| "[INCOMPLETE]".into())
    };
    let _ = write!(text, "\n## {}\n", labels.judgment);
    for (index, section) in sections.iter().take(report_sections::RECOMMENDATION_INDEX).enumerate()
    {
        let title = one_line(section.title.trim_start_matches('#'));
        let _ = write!(
            text,
            "\n### {}. {}\n\n{}\n",
            index + 1,
            strip_number(&title),
            section_text(index)
        );
    }
    let parts = [
        (labels.recommendation, report_sections::RECOMMENDATION_INDEX),
        (labels.open_questions, report_sections::RECOMMENDATION_INDEX + 1),
        (labels.scenario_matrix, report_sections::SCENARIO_MATRIX_INDEX),
    ];
    for (title, index) in parts {
        let _ = write!(text, "\n## {title}\n\n{}\n", section_text(index));
    }
    let summary =
        sections.get(report_sections::SUMMARY_INDEX).map(|section| one_line(&section.text));
    let summary = summary.unwrap_or_else(|| "[INCOMPLETE]".into());
    let _ = write!(text, "\n---\n\n> {}{}{summary}\n", labels.summary, labels.colon);
}

/// Strips a leading number from a heading.
fn strip_number(title: &str) -> &str {
    let is_number_char = |c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace();
    Some(title.trim_start_matches(is_number_char)).filter(|rest| !rest.is_empty()).unwrap_or(title)
}
