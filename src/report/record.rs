//! Renders the whole debate as one Markdown file, while it runs and after its end.
use super::dialogue;
use super::ledger::{of_evidence, rating, struck};
use super::papers::paper;
use super::participation::participation;
use super::people::{Course, course, having, title, who};
use super::research::judgment;
use super::summary::{demo, summary};
use super::text::{demoted, one_line, printable};
use crate::debate::body::ClaimPurpose;
use crate::debate::ledger::citations_for_claim;
use crate::debate::state::SeatTransfer;
use crate::debate::{
    Body, Claim, Cue, Debate, DebateOutcome, Position, Reply, ReplyKind, Role, Rule, RuleWeight,
    TranscriptScope, TurnFailure, report_sections, status, verdict,
};
use std::fmt::Write;

/// Renders the record. The importer parses these headings, so they are part of the file format.
pub fn record(debate: &Debate) -> String {
    let mut text = front(debate);
    let course = course(debate);
    let ending = debate.setup().ending_act();
    let mut part = None;
    let mut remarks = debate.remarks().iter().peekable();
    // The last act of a dialogue is rendered as its conclusion, not as a round.
    let rounds = |cue: &Cue| course != Course::Dialogue || cue.act < ending;
    for (cue, turn) in debate.turns().filter(|(cue, _)| rounds(cue)) {
        // A remark stays in the round in which it was made, or in the first round if it is earlier.
        if part.is_none() {
            part = Some(begin(&mut text, debate, course, cue));
        }
        while let Some(remark) = remarks.next_if(|remark| remark.from <= cue) {
            input(&mut text, &remark.text);
        }
        if part != Some(part_of(course, cue)) {
            part = Some(begin(&mut text, debate, course, cue));
        }
        taken(&mut text, debate, course, cue, turn);
    }
    for remark in remarks {
        input(&mut text, &remark.text);
    }
    conclusion(&mut text, debate, course);
    let proof = participation(debate);
    if !proof.is_empty() {
        let _ = write!(text, "\n---\n\n## Participation\n\n{proof}");
    }
    printable(&text)
}

/// Front matter: topic, id, date, status, participants, outcome, options and labels.
fn front(debate: &Debate) -> String {
    let setup = debate.setup();
    let mut text = format!("# Debate: {}\n\n", one_line(debate.current_topic()));
    let _ = writeln!(text, "**Id**: {}  ", setup.id);
    let _ = writeln!(text, "**Date**: {}  ", &super::iso(setup.opened_at)[..10]);
    let _ = writeln!(text, "**Status**: {}  ", status::status(debate).as_str());
    let _ = writeln!(text, "**Participants**: {}  ", participants(debate));
    let _ = writeln!(text, "**Outcome**: {}", outcome(debate));
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
        let _ = writeln!(text, "\n**Pinned**: tree {}", &pin[..pin.len().min(12)]);
    }
    if !setup.chosen.is_empty() {
        let chosen: Vec<_> = setup.chosen.iter().map(|line| one_line(line)).collect();
        let _ = writeln!(text, "\n**Chosen**: {}", chosen.join(", "));
    }
    for handed in debate.seat_transfers() {
        let _ = writeln!(text, "\n**Handed over**: {}", handed_over(debate, handed));
    }
    let labels = status::labels(debate);
    if !labels.is_empty() {
        let _ = writeln!(text, "\n**Labels**: {}", labels.join(", "));
    }
    let demo = demo(debate).trim_end();
    if !demo.is_empty() {
        let _ = writeln!(text, "\n{demo}");
    }
    text
}

/// For example `proposer, from host to codex, in round 2 (handed over by the user through
/// claude-code, ...)`.
fn handed_over(debate: &Debate, handed: &SeatTransfer) -> String {
    let seat = debate.seats().get(usize::from(handed.seat));
    let name = seat.map(|seat| one_line(&seat.name)).unwrap_or_default();
    let when = handed.due_cue.map_or_else(String::new, |cue| match cue.round {
        0 => format!(", in {}", debate.setup().act(cue).name),
        round => format!(", in round {round}"),
    });
    let (from, to) = (one_line(&handed.from.to_string()), one_line(&handed.to.to_string()));
    let because = one_line(&handed.reason);
    let because = if because.is_empty() { because } else { format!(" ({because})") };
    format!("{name}, from {from} to {to}{when}{because}")
}

fn input(text: &mut String, remark: &str) {
    let _ = write!(text, "\n### User Input\n\n{}\n", demoted(remark));
}

/// Key of a section with its own heading: a round, or a phase in research debates.
type PartOf = (Position, Option<u8>);

fn part_of(course: Course, cue: Cue) -> PartOf {
    (cue.position(), (course == Course::Research).then_some(cue.phase))
}

fn begin(text: &mut String, debate: &Debate, course: Course, cue: Cue) -> PartOf {
    let _ = write!(text, "\n---\n\n## {}\n", heading(debate, course, cue));
    part_of(course, cue)
}

/// Heading of a section: the round, the act outside of rounds, or the phase in research debates.
fn heading(debate: &Debate, course: Course, cue: Cue) -> String {
    let phase = debate.setup().phase(cue);
    if course == Course::Research {
        let known = match (phase.reply, phase.hears) {
            (ReplyKind::Speech, TranscriptScope::Nothing) => Some("Investigation"),
            (ReplyKind::Speech, _) => Some("Cross Rebuttal"),
            (ReplyKind::Audit, _) => Some("Evidence Audit"),
            (ReplyKind::Sections, _) => Some("Judgment"),
            _ => None,
        };
        if let Some(known) = known {
            return known.into();
        }
    }
    if cue.round > 0 {
        return format!("Round {}", cue.round);
    }
    let mut letters = debate.setup().act(cue).name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn participants(debate: &Debate) -> String {
    let pair = |one: Role, other: Role| {
        let (first, second) = (who(debate, one)?, who(debate, other)?);
        Some(format!("{} {first} <-> {} {second}", one.title(), other.title()))
    };
    let names = || {
        let named = debate.seats().iter().map(|seat| one_line(&seat.name));
        named.collect::<Vec<_>>().join(", ")
    };
    match course(debate) {
        Course::Contest => pair(Role::Pro, Role::Con).unwrap_or_else(names),
        Course::Dialogue => {
            let partners = having(debate, Role::Partner);
            let tools: Vec<String> = partners
                .map(|nth| debate.seats()[usize::from(nth)].voice.tool().to_owned())
                .collect();
            let (lead, partner) = (Role::Lead.title(), Role::Partner.title());
            format!("{lead} <-> {partner} ({})", tools.join(", "))
        }
        Course::Research => {
            let seats = having(debate, Role::Advocate).map(|nth| {
                let seat = &debate.seats()[usize::from(nth)];
                format!("{} ({})", one_line(&seat.name), seat.voice.tool())
            });
            seats.collect::<Vec<_>>().join(", ")
        }
    }
}

fn outcome(debate: &Debate) -> String {
    match course(debate) {
        Course::Dialogue => return dialogue::outcome(debate).into(),
        Course::Research if debate.outcome() != Some(&DebateOutcome::Cancelled) => {
            let summary =
                judgment(debate).and_then(|sections| sections.get(report_sections::SUMMARY_INDEX));
            if let Some(summary) = summary {
                return one_line(&summary.text);
            }
            let open = debate.outcome().is_none();
            return if open { "(open)" } else { "no judgment" }.into();
        }
        _ => {}
    }
    let winner = verdict::judgment(debate).map(|judgment| {
        format!("{} had the stronger argument", status::side_name(debate, judgment.winner))
    });
    match debate.outcome() {
        None => "(open)".into(),
        Some(DebateOutcome::Cancelled) => match debate.end_reason() {
            Some(because) => format!("cancelled: {}", one_line(because)),
            None => "cancelled".into(),
        },
        Some(DebateOutcome::Uncontested { .. }) => {
            "uncontested: the challenger never answered".into()
        }
        Some(_) => winner.unwrap_or_else(|| "no verdict".into()),
    }
}

fn conclusion(text: &mut String, debate: &Debate, course: Course) {
    let over = debate.outcome().is_some();
    if !over && debate.decision().is_none() {
        return;
    }
    text.push_str("\n---\n\n## Conclusion\n");
    if course == Course::Dialogue {
        dialogue::conclusion(text, debate);
        return;
    }
    if over {
        match judgment(debate) {
            // The sections of the report are already rendered above, one for each phase.
            Some(sections) if course == Course::Research => {
                for (title, nth) in [
                    ("Recommendation", report_sections::RECOMMENDATION_INDEX),
                    ("Summary", report_sections::SUMMARY_INDEX),
                ] {
                    let said = sections.get(nth).map_or("", |section| section.text.trim());
                    let _ = write!(text, "\n### {title}\n\n{}\n", demoted(said));
                }
            }
            _ => {
                let summary =
                    summary(debate).replacen("## Debate Summary", "### Debate Summary", 1);
                let _ = write!(text, "\n{summary}");
            }
        }
    }
    if let Some(decision) = debate.decision() {
        let _ = write!(text, "\n### User's Decision\n\n{}\n", demoted(decision));
    }
}

/// Placeholder for a reply that is hidden until all seats of its phase have answered.
pub const SEALED: &str = "(Sealed until all have answered.)\n";

/// Renders one turn below the name of its speaker.
fn taken(
    text: &mut String,
    debate: &Debate,
    course: Course,
    cue: Cue,
    turn: &Result<Reply, TurnFailure>,
) {
    let seat = debate.seat(cue);
    let who = one_line(&title(debate, cue));
    let _ = match course {
        Course::Dialogue if having(debate, seat.role).count() == 1 => {
            write!(text, "\n### {who}\n\n")
        }
        Course::Dialogue => {
            write!(text, "\n### {} ({})\n\n", seat.role.title(), one_line(&seat.name))
        }
        _ => write!(text, "\n### {who} ({})\n\n", debate.tool_at(cue)),
    };
    match turn {
        Ok(_) if debate.is_sealed(cue) => text.push_str(SEALED),
        Ok(reply) => match paper(debate, cue, &reply.body) {
            Some(paper) => text.push_str(&paper),
            None => said(text, reply),
        },
        Err(failure) => {
            let (trouble, note) = (failure.trouble.as_str(), one_line(&failure.note));
            let _ = writeln!(text, "[INCOMPLETE] {trouble}: {note}");
        }
    }
}

fn said(text: &mut String, reply: &Reply) {
    let _ = writeln!(text, "{}", demoted(reply.body.to_text().trim()));
    if let Body::Verdict(ruling) = &reply.body {
        let _ = write!(text, "\nRecommends: {}\n", demoted(&ruling.recommendation));
    }
    let claims = reply.body.claims();
    if !claims.is_empty() {
        text.push_str("\n**Claims**\n\n");
    }
    for claim in claims {
        let text_of = one_line(&claim.text);
        let _ = writeln!(text, "- `{}` {text_of}{}{}", claim.id, answers(claim), rating(claim));
        for evidence in &claim.evidence {
            let found = of_evidence(evidence, citations_for_claim(&reply.citations, &claim.id));
            let _ = writeln!(text, "  - {}", struck(evidence, &found));
        }
        let rests = claim.part.is_none_or(|part| part == ClaimPurpose::Argument);
        if claim.evidence.is_empty() && rests {
            text.push_str("  - unsupported\n");
        }
    }
    for given in reply.body.concessions() {
        let _ = writeln!(text, "- concedes `{}`: \"{}\"", given.claim, one_line(&given.quote));
    }
    for resolved in reply.body.resolutions() {
        let by = resolved.evidence.join("; ");
        let _ = writeln!(text, "- certifies `{}` as resolved: {}", resolved.claim, one_line(&by));
    }
    if let Some(help) = reply.body.help_request() {
        let kind = if help.kind.is_empty() { "help" } else { help.kind.as_str() };
        let (from, kind) = (one_line(&help.from), one_line(kind));
        let _ = writeln!(text, "\n> Calls {from} ({kind}): {}", one_line(&help.because));
    }
    let passing = reply.citations.iter().filter(|it| it.claim.is_none() && it.found.is_wrong());
    for wrong in passing {
        let _ = writeln!(text, "\n> Struck out: {}", struck(&wrong.raw, &[wrong]));
    }
    let faults = reply.findings.iter().filter(|found| found.weight == RuleWeight::Foul);
    for fault in faults {
        let _ = writeln!(text, "\n> Checked: {}", one_line(&fault.says));
    }
    // Only phases that require a claims block have this rule, so others get no notice.
    if reply.findings.iter().any(|found| found.rule == Rule::Structured) {
        text.push_str("\n> Unstructured: no claims block could be read.\n");
    }
}

fn answers(claim: &Claim) -> String {
    if claim.answers.is_empty() {
        return String::new();
    }
    format!(" (answers {})", claim.answers.join(", "))
}
