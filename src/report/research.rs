//! Renders the report of a research debate: findings and rebuttals of each side, evidence audit and
//! the judge's neutral conclusion. Headings are localized (English and Chinese).
//!
//! | module | content |
//! |---|---|
//! | `labels` | localized labels of the report |
//! | `audit` | evidence audit: the auditor's tags and the result of the citation lookup |
mod audit;
mod words;

use super::ledger::{of_evidence, rating, struck};
use super::people::{having, model_of};
use super::summary::{demo, header};
use super::text::{demoted, one_line};
use crate::debate::RuleWeight;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{
    Body, Claim, Cue, Debate, DebateOutcome, Reply, ReplyKind, Role, Section, Status,
    TranscriptScope, TurnFailure, report_sections, status,
};
use std::fmt::Write;
use words::Words;

/// Renders the report once the debate is judged. `None` if it was aborted, cancelled or failed.
pub fn research(debate: &Debate) -> Option<String> {
    let sections = judgment(debate)?;
    let status = status::status(debate);
    if matches!(status, Status::Aborted | Status::Cancelled | Status::Failed) {
        return None;
    }
    let words = words::of(debate.current_topic());
    let mut text = top(debate, words);
    body(&mut text, debate, words);
    judged(&mut text, sections, words);
    Some(text)
}

/// Sections of the judge's reply in the last act.
pub fn judgment(debate: &Debate) -> Option<&[Section]> {
    let ending = debate.setup().ending_act();
    debate.replies_in(..).rev().find_map(|(cue, said)| match said {
        Body::Sections { sections }
            if cue.act == ending && debate.seat(cue).role == Role::Judge =>
        {
            Some(sections.as_slice())
        }
        _ => None,
    })
}

/// Summary of a research debate without a judgment: progress so far, or the findings.
pub(super) fn so_far(debate: &Debate) -> String {
    let mut text = header(debate, &[Role::Advocate, Role::Auditor, Role::Judge], &[]);
    let said = debate.replies_in(..).next().is_some();
    match debate.outcome() {
        None => {
            let taken = |stage: Stage| {
                let own = advocates(debate).filter_map(|nth| turn(debate, nth, stage));
                own.filter(|(_, turn)| turn.is_ok()).count()
            };
            let _ = write!(
                text,
                "\nNo judgment yet: {} of {all} sides have investigated, {} have answered the \
                 others.\n",
                taken(Stage::Investigation),
                taken(Stage::Rebuttal),
                all = advocates(debate).count()
            );
        }
        Some(DebateOutcome::Cancelled) => {
            text.push_str("\nCancelled before a judgment: no report.\n")
        }
        Some(_) if !said => text.push_str("\nNothing was found: no report.\n"),
        Some(_) => {
            text.push_str("\nNobody has judged it: no report. What the sides found is below.\n");
            body(&mut text, debate, words::of(debate.current_topic()));
        }
    }
    text
}

fn top(debate: &Debate, words: &Words) -> String {
    let setup = debate.setup();
    let colon = words.colon;
    let mut text = format!("# {}{colon}{}\n\n", one_line(debate.current_topic()), words.title);
    text.push_str(demo(debate));
    let term = |name: &str| debate.terms().get(name).map_or("-", |term| term.as_str());
    let seats = [Role::Advocate, Role::Auditor, Role::Judge].into_iter();
    let seats = seats.filter(|role| debate.has_active_role(*role));
    let roles: Vec<String> =
        seats.flat_map(|role| having(debate, role)).map(|nth| role(debate, nth)).collect();
    let lost = lost(debate, words);
    let degraded = !lost.is_empty() || status::status(debate) == Status::Degraded;
    let completion = if degraded { Status::Degraded } else { Status::Completed };
    let lines = [
        (words.date, super::iso(setup.opened_at)[..10].to_owned()),
        (words.method, words.debate.to_owned()),
        (words.roles, roles.join(" | ")),
        (
            words.audience,
            format!(
                "{} | {}{colon}{}",
                one_line(term("audience")),
                words.decision,
                one_line(term("decision_type"))
            ),
        ),
        (words.completion, completion.as_result_str().to_owned()),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name}{colon}{value}  ");
    }
    if !lost.is_empty() {
        let _ = write!(text, "\n> {}{}\n", words.degraded, one_line(&lost.join(", ")));
    }
    let told: Vec<String> = status::notices(debate).iter().map(|notice| one_line(notice)).collect();
    if !told.is_empty() {
        let _ = write!(text, "\n{}\n", told.join("  \n"));
    }
    text
}

/// Turns marked `[INCOMPLETE]` in the report: failed turns, and turns never requested because the
/// user asked for the judgment first.
fn lost(debate: &Debate, words: &Words) -> Vec<String> {
    let name = |nth: u8| debate.seats()[usize::from(nth)].name.clone();
    let failed = debate
        .failed_turns()
        .map(|(cue, _)| format!("{} (`{}`)", name(cue.seat), debate.setup().phase(cue).name));
    let unasked = advocates(debate).filter(|nth| {
        [Stage::Investigation, Stage::Rebuttal].iter().any(|it| turn(debate, *nth, *it).is_none())
    });
    let auditors = having(debate, Role::Auditor).filter(|nth| {
        debate.has_active_role(Role::Auditor) && !debate.turns().any(|(cue, _)| cue.seat == *nth)
    });
    let unasked = unasked.chain(auditors).map(|nth| format!("{} ({})", name(nth), words.unasked));
    failed.chain(unasked).collect()
}

/// For example `Proponent (claude:opus)`.
fn role(debate: &Debate, nth: u8) -> String {
    let seat = &debate.seats()[usize::from(nth)];
    let name = seat.title();
    one_line(&format!("{name} ({})", model_of(debate, nth)))
}

/// Stage of an advocate's work, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// First speech, written before hearing the others.
    Investigation,
    /// Reply to the other advocates.
    Rebuttal,
}

fn advocates(debate: &Debate) -> impl Iterator<Item = u8> {
    having(debate, Role::Advocate)
}

/// The last turn of a seat in this stage.
fn turn(debate: &Debate, nth: u8, stage: Stage) -> Option<(Cue, &Result<Reply, TurnFailure>)> {
    debate.turns().filter(|(cue, _)| cue.seat == nth).rfind(|(cue, _)| {
        let phase = debate.setup().phase(*cue);
        let first = phase.hears == TranscriptScope::Nothing;
        phase.reply == ReplyKind::Speech && first == (stage == Stage::Investigation)
    })
}

/// Renders arguments, rebuttals and the evidence audit.
fn body(text: &mut String, debate: &Debate, words: &Words) {
    let _ = write!(text, "\n## {}\n", words.arguments);
    for nth in advocates(debate) {
        let _ = write!(text, "\n### {}\n\n", role(debate, nth));
        let stance = &debate.seats()[usize::from(nth)].stance;
        if !stance.trim().is_empty() {
            let _ = write!(text, "{}{}{}\n\n", words.stance, words.colon, one_line(stance));
        }
        said(text, debate, turn(debate, nth, Stage::Investigation), words);
    }
    let _ = write!(text, "\n## {}\n", words.rebuttals);
    for nth in advocates(debate) {
        let _ = write!(text, "\n### {}\n\n", role(debate, nth));
        said(text, debate, turn(debate, nth, Stage::Rebuttal), words);
    }
    let _ = write!(text, "\n## {}\n", words.audit);
    audit::audit(text, debate, words);
}

fn said(
    text: &mut String,
    debate: &Debate,
    turn: Option<(Cue, &Result<Reply, TurnFailure>)>,
    words: &Words,
) {
    let reply = match turn {
        Some((cue, Ok(_))) if debate.is_sealed(cue) => {
            text.push_str(super::record::SEALED);
            return;
        }
        Some((_, Ok(reply))) => reply,
        Some((_, Err(lost))) => {
            let (trouble, note) = (lost.trouble.as_str(), one_line(&lost.note));
            let _ = writeln!(text, "[INCOMPLETE] {trouble}: {note}");
            return;
        }
        None => {
            let _ = writeln!(text, "[INCOMPLETE] {}", words.unasked);
            return;
        }
    };
    let _ = writeln!(text, "{}", demoted(reply.body.to_text().trim()));
    let claims: Vec<&Claim> = reply.body.claims().iter().collect();
    if !claims.is_empty() {
        let _ = write!(text, "\n{}{}\n\n", words.claims, words.colon.trim_end());
    }
    for claim in claims {
        let (id, says) = (one_line(&claim.id), one_line(&claim.text));
        let answers = if claim.answers.is_empty() {
            String::new()
        } else {
            format!(" (-> {})", one_line(&claim.answers.join(", ")))
        };
        let _ = writeln!(text, "- `{id}` {says}{answers}{}", rating(claim));
        for evidence in &claim.evidence {
            let found = of_evidence(evidence, citations_for_claim(&reply.citations, &claim.id));
            let _ = writeln!(text, "  - {}", struck(evidence, &found));
        }
    }
    for fault in reply.findings.iter().filter(|found| found.weight == RuleWeight::Foul) {
        let _ = writeln!(text, "\n> {}{}{}", words.fault, words.colon, one_line(&fault.says));
    }
}

/// Renders the judge's sections, each below its own heading.
fn judged(text: &mut String, sections: &[Section], words: &Words) {
    let part = |nth: usize| {
        let said = sections.get(nth).map(|section| demoted(section.text.trim()));
        said.unwrap_or_else(|| "[INCOMPLETE]".into())
    };
    let _ = write!(text, "\n## {}\n", words.judgment);
    for (nth, section) in sections.iter().take(report_sections::RECOMMENDATION_INDEX).enumerate() {
        let title = one_line(section.title.trim_start_matches('#'));
        let _ = write!(text, "\n### {}. {}\n\n{}\n", nth + 1, bare(&title), part(nth));
    }
    let parts = [
        (words.recommendation, report_sections::RECOMMENDATION_INDEX),
        (words.questions, report_sections::RECOMMENDATION_INDEX + 1),
        (words.matrix, report_sections::SCENARIO_MATRIX_INDEX),
    ];
    for (title, nth) in parts {
        let _ = write!(text, "\n## {title}\n\n{}\n", part(nth));
    }
    let summary =
        sections.get(report_sections::SUMMARY_INDEX).map(|section| one_line(&section.text));
    let summary = summary.unwrap_or_else(|| "[INCOMPLETE]".into());
    let _ = write!(text, "\n---\n\n> {}{}{summary}\n", words.summary, words.colon);
}

/// Strips a leading number from a heading.
fn bare(title: &str) -> &str {
    let number = |c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace();
    Some(title.trim_start_matches(number)).filter(|rest| !rest.is_empty()).unwrap_or(title)
}
