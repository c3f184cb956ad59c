//! Renders the whole debate as one Markdown file, while it runs and after its end. The entry point
//! is [`render_record`]. `store::exports` writes it to the repository. `debate show`,
//! `debate export` and the MCP tool `show_debate` return it.
use super::dialogue;
use super::ledger::{annotate_evidence, citations_for_evidence, claim_rating};
use super::participants::{DebateKind, debate_kind, role_models, seats_with_role, speaker_title};
use super::participation::participation_table;
use super::research::research_judgment;
use super::sanitize::{demote_headings, one_line, strip_control_chars};
use super::structured_reply::{SEALED_PLACEHOLDER, render_structured_reply};
use super::summary::render_summary;
use super::summary_header::demo_notice;
use crate::debate::body::ClaimPurpose;
use crate::debate::ledger::citations_for_claim;
use crate::debate::state::SeatTransfer;
use crate::debate::{
    Body, Claim, Cue, Debate, DebateOutcome, Position, Reply, ReplyKind, Role, Rule, RuleWeight,
    TranscriptScope, TurnFailure, report_sections, status, verdict,
};
use std::fmt::Write;

/// Characters shown of the hash of the pinned tree.
const MAX_HASH_CHARS: usize = 12;

/// Renders the record. The importer parses these headings, so they are part of the file format.
pub fn render_record(debate: &Debate) -> String {
    let mut text = front_matter(debate);
    let kind = debate_kind(debate);
    let ending = debate.setup().ending_act();
    let mut section = None;
    let mut remarks = debate.remarks().iter().peekable();
    // The last act of a dialogue is rendered as its conclusion, not as a round.
    let is_round = |cue: &Cue| kind != DebateKind::Dialogue || cue.act < ending;
    for (cue, turn) in debate.turns().filter(|(cue, _)| is_round(cue)) {
        // A remark stays in the round in which it was made, or in the first round if it is earlier.
        if section.is_none() {
            section = Some(begin_section(&mut text, debate, kind, cue));
        }
        while let Some(remark) = remarks.next_if(|remark| remark.from <= cue) {
            render_user_input(&mut text, &remark.text);
        }
        if section != Some(section_of(kind, cue)) {
            section = Some(begin_section(&mut text, debate, kind, cue));
        }
        render_turn(&mut text, debate, kind, cue, turn);
    }
    for remark in remarks {
        render_user_input(&mut text, &remark.text);
    }
    render_conclusion(&mut text, debate, kind);
    let table = participation_table(debate);
    if !table.is_empty() {
        let _ = write!(text, "\n---\n\n## Participation\n\n{table}");
    }
    strip_control_chars(&text)
}

/// Front matter: topic, id, date, status, participants, outcome, options and labels.
fn front_matter(debate: &Debate) -> String {
    let setup = debate.setup();
    let mut text = format!("# Debate: {}\n\n", one_line(debate.current_topic()));
    let _ = writeln!(text, "**Id**: {}  ", setup.id);
    let _ = writeln!(text, "**Date**: {}  ", &super::iso_timestamp(setup.opened_at)[..10]);
    let _ = writeln!(text, "**Status**: {}  ", status::status(debate).as_str());
    let _ = writeln!(text, "**Participants**: {}  ", participants_text(debate));
    let _ = writeln!(text, "**Outcome**: {}", outcome_text(debate));
    let terms = [
        ("Goal", "goal"),
        ("Audience", "audience"),
        ("Decision type", "decision_type"),
        ("Evidence round", "evidence_round"),
    ];
    for (title, name) in terms {
        let term = debate.terms().get(name).map(|term| one_line(term)).unwrap_or_default();
        if !term.is_empty() {
            let _ = writeln!(text, "\n**{title}**: {term}");
        }
    }
    if !setup.picked.is_empty() {
        let picked: Vec<_> = setup.picked.iter().map(|line| one_line(line)).collect();
        let _ = writeln!(text, "\n**Given**: {}", picked.join("; "));
    }
    if let Some(pin) = &setup.pin {
        let _ = writeln!(text, "\n**Pinned**: tree {}", &pin[..pin.len().min(MAX_HASH_CHARS)]);
    }
    if !setup.chosen.is_empty() {
        let chosen: Vec<_> = setup.chosen.iter().map(|line| one_line(line)).collect();
        let _ = writeln!(text, "\n**Chosen**: {}", chosen.join(", "));
    }
    for transfer in debate.seat_transfers() {
        let _ = writeln!(text, "\n**Handed over**: {}", describe_transfer(debate, transfer));
    }
    let labels = status::labels(debate);
    if !labels.is_empty() {
        let _ = writeln!(text, "\n**Labels**: {}", labels.join(", "));
    }
    let demo = demo_notice(debate).trim_end();
    if !demo.is_empty() {
        let _ = writeln!(text, "\n{demo}");
    }
    text
}

/// For example `proposer, from host to codex, in round 2 (handed over by the user through
/// claude-code, ...)`.
fn describe_transfer(debate: &Debate, transfer: &SeatTransfer) -> String {
    let seat = debate.seats().get(usize::from(transfer.seat));
    let name = seat.map(|seat| one_line(&seat.name)).unwrap_or_default();
    let when = transfer.due_cue.map_or_else(String::new, |cue| match cue.round {
        0 => format!(", in {}", debate.setup().act(cue).name),
        round => format!(", in round {round}"),
    });
    let (from, to) = (one_line(&transfer.from.to_string()), one_line(&transfer.to.to_string()));
    let reason = one_line(&transfer.reason);
    let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
    format!("{name}, from {from} to {to}{when}{reason}")
}

fn render_user_input(text: &mut String, remark: &str) {
    let _ = write!(text, "\n### User Input\n\n{}\n", demote_headings(remark));
}

/// Key of a section with its own heading: a round, or a phase in research debates.
type RecordSection = (Position, Option<u8>);

fn section_of(kind: DebateKind, cue: Cue) -> RecordSection {
    (cue.position(), (kind == DebateKind::Research).then_some(cue.phase))
}

fn begin_section(text: &mut String, debate: &Debate, kind: DebateKind, cue: Cue) -> RecordSection {
    let _ = write!(text, "\n---\n\n## {}\n", section_heading(debate, kind, cue));
    section_of(kind, cue)
}

/// Heading of a section: the round, the act outside of rounds, or the phase in research debates.
fn section_heading(debate: &Debate, kind: DebateKind, cue: Cue) -> String {
    let phase = debate.setup().phase(cue);
    if kind == DebateKind::Research {
        let title = match (phase.reply, phase.hears) {
            (ReplyKind::Speech, TranscriptScope::Nothing) => Some("Investigation"),
            (ReplyKind::Speech, _) => Some("Cross Rebuttal"),
            (ReplyKind::Audit, _) => Some("Evidence Audit"),
            (ReplyKind::Sections, _) => Some("Judgment"),
            _ => None,
        };
        if let Some(title) = title {
            return title.into();
        }
    }
    if cue.round > 0 {
        return format!("Round {}", cue.round);
    }
    let mut chars = debate.setup().act(cue).name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn participants_text(debate: &Debate) -> String {
    let pair = |first_role: Role, second_role: Role| {
        let (first, second) = (role_models(debate, first_role)?, role_models(debate, second_role)?);
        Some(format!("{} {first} <-> {} {second}", first_role.title(), second_role.title()))
    };
    let names = || {
        let seat_names = debate.seats().iter().map(|seat| one_line(&seat.name));
        seat_names.collect::<Vec<_>>().join(", ")
    };
    match debate_kind(debate) {
        DebateKind::Contest => pair(Role::Pro, Role::Con).unwrap_or_else(names),
        DebateKind::Dialogue => {
            let partners = seats_with_role(debate, Role::Partner);
            let tools: Vec<String> = partners
                .map(|seat_index| debate.seats()[usize::from(seat_index)].voice.tool().to_owned())
                .collect();
            let (lead, partner) = (Role::Lead.title(), Role::Partner.title());
            format!("{lead} <-> {partner} ({})", tools.join(", "))
        }
        DebateKind::Research => {
            let seats = seats_with_role(debate, Role::Advocate).map(|seat_index| {
                let seat = &debate.seats()[usize::from(seat_index)];
                format!("{} ({})", one_line(&seat.name), seat.voice.tool())
            });
            seats.collect::<Vec<_>>().join(", ")
        }
    }
}

fn outcome_text(debate: &Debate) -> String {
    match debate_kind(debate) {
        DebateKind::Dialogue => return dialogue::outcome_text(debate).into(),
        DebateKind::Research if debate.outcome() != Some(&DebateOutcome::Cancelled) => {
            let summary = research_judgment(debate)
                .and_then(|sections| sections.get(report_sections::SUMMARY_INDEX));
            if let Some(summary) = summary {
                return one_line(&summary.text);
            }
            let is_open = debate.outcome().is_none();
            return if is_open { "(open)" } else { "no judgment" }.into();
        }
        _ => {}
    }
    let winner = verdict::judgment(debate).map(|judgment| {
        format!("{} had the stronger argument", status::side_name(debate, judgment.winner))
    });
    match debate.outcome() {
        None => "(open)".into(),
        Some(DebateOutcome::Cancelled) => match debate.end_reason() {
            Some(reason) => format!("cancelled: {}", one_line(reason)),
            None => "cancelled".into(),
        },
        Some(DebateOutcome::Uncontested { .. }) => {
            "uncontested: the challenger never answered".into()
        }
        Some(_) => winner.unwrap_or_else(|| "no verdict".into()),
    }
}

fn render_conclusion(text: &mut String, debate: &Debate, kind: DebateKind) {
    let is_over = debate.outcome().is_some();
    if !is_over && debate.decision().is_none() {
        return;
    }
    text.push_str("\n---\n\n## Conclusion\n");
    if kind == DebateKind::Dialogue {
        dialogue::render_conclusion(text, debate);
        return;
    }
    if is_over {
        match research_judgment(debate) {
            // The sections of the report are already rendered above, one for each phase.
            Some(sections) if kind == DebateKind::Research => {
                for (title, index) in [
                    ("Recommendation", report_sections::RECOMMENDATION_INDEX),
                    ("Summary", report_sections::SUMMARY_INDEX),
                ] {
                    let section_text =
                        sections.get(index).map_or("", |section| section.text.trim());
                    let _ = write!(text, "\n### {title}\n\n{}\n", demote_headings(section_text));
                }
            }
            _ => {
                let summary =
                    render_summary(debate).replacen("## Debate Summary", "### Debate Summary", 1);
                let _ = write!(text, "\n{summary}");
            }
        }
    }
    if let Some(decision) = debate.decision() {
        let _ = write!(text, "\n### User's Decision\n\n{}\n", demote_headings(decision));
    }
}

/// Renders one turn below the name of its speaker.
fn render_turn(
    text: &mut String,
    debate: &Debate,
    kind: DebateKind,
    cue: Cue,
    turn: &Result<Reply, TurnFailure>,
) {
    let seat = debate.seat(cue);
    let speaker = one_line(&speaker_title(debate, cue));
    let _ = match kind {
        DebateKind::Dialogue if seats_with_role(debate, seat.role).count() == 1 => {
            write!(text, "\n### {speaker}\n\n")
        }
        DebateKind::Dialogue => {
            write!(text, "\n### {} ({})\n\n", seat.role.title(), one_line(&seat.name))
        }
        _ => write!(text, "\n### {speaker} ({})\n\n", debate.tool_at(cue)),
    };
    match turn {
        Ok(_) if debate.is_sealed(cue) => text.push_str(SEALED_PLACEHOLDER),
        Ok(reply) => match render_structured_reply(debate, cue, &reply.body) {
            Some(rendered) => text.push_str(&rendered),
            None => render_reply(text, reply),
        },
        Err(failure) => {
            let (trouble, note) = (failure.trouble.as_str(), one_line(&failure.note));
            let _ = writeln!(text, "[INCOMPLETE] {trouble}: {note}");
        }
    }
}

fn render_reply(text: &mut String, reply: &Reply) {
    let _ = writeln!(text, "{}", demote_headings(reply.body.to_text().trim()));
    if let Body::Verdict(ruling) = &reply.body {
        let _ = write!(text, "\nRecommends: {}\n", demote_headings(&ruling.recommendation));
    }
    let claims = reply.body.claims();
    if !claims.is_empty() {
        text.push_str("\n**Claims**\n\n");
    }
    for claim in claims {
        let claim_text = one_line(&claim.text);
        let _ = writeln!(
            text,
            "- `{}` {claim_text}{}{}",
            claim.id,
            answers_suffix(claim),
            claim_rating(claim)
        );
        for evidence in &claim.evidence {
            let found =
                citations_for_evidence(evidence, citations_for_claim(&reply.citations, &claim.id));
            let _ = writeln!(text, "  - {}", annotate_evidence(evidence, &found));
        }
        let needs_evidence = claim.part.is_none_or(|part| part == ClaimPurpose::Argument);
        if claim.evidence.is_empty() && needs_evidence {
            text.push_str("  - unsupported\n");
        }
    }
    for concession in reply.body.concessions() {
        let _ = writeln!(
            text,
            "- concedes `{}`: \"{}\"",
            concession.claim,
            one_line(&concession.quote)
        );
    }
    for resolution in reply.body.resolutions() {
        let evidence_list = resolution.evidence.join("; ");
        let _ = writeln!(
            text,
            "- certifies `{}` as resolved: {}",
            resolution.claim,
            one_line(&evidence_list)
        );
    }
    if let Some(help) = reply.body.help_request() {
        let kind = if help.kind.is_empty() { "help" } else { help.kind.as_str() };
        let (from, kind) = (one_line(&help.from), one_line(kind));
        let _ = writeln!(text, "\n> Calls {from} ({kind}): {}", one_line(&help.because));
    }
    let wrong_citations =
        reply.citations.iter().filter(|it| it.claim.is_none() && it.found.is_wrong());
    for citation in wrong_citations {
        let _ = writeln!(text, "\n> Struck out: {}", annotate_evidence(&citation.raw, &[citation]));
    }
    let fouls = reply.findings.iter().filter(|found| found.weight == RuleWeight::Foul);
    for foul in fouls {
        let _ = writeln!(text, "\n> Checked: {}", one_line(&foul.says));
    }
    // Only phases that require a claims block have this rule, so others get no notice.
    if reply.findings.iter().any(|found| found.rule == Rule::Structured) {
        text.push_str("\n> Unstructured: no claims block could be read.\n");
    }
}

fn answers_suffix(claim: &Claim) -> String {
    if claim.answers.is_empty() {
        return String::new();
    }
    format!(" (answers {})", claim.answers.join(", "))
}
