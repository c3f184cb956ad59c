//! The whole debate as one Markdown file, readable while it is being played and after.
use super::ledger::{of_evidence, struck};
use super::participation::participation;
use super::summary::{summary, who};
use super::text::{demoted, one_line, printable};
use crate::debate::ledger::of_claim;
use crate::debate::{Body, Claim, Cue, Debate, Kind, Outcome, Reply, Role, Weight, standing};
use std::fmt::Write;

/// The record. The headings are what a debate is recognised by when it is read back in.
pub fn record(debate: &Debate) -> String {
    let setup = debate.setup();
    let mut text = format!("# Debate: {}\n\n", one_line(debate.question()));
    let _ = writeln!(text, "**Id**: {}  ", setup.id);
    let _ = writeln!(text, "**Date**: {}  ", &super::iso(setup.opened_at)[..10]);
    let _ = writeln!(text, "**Status**: {}  ", standing::status(debate).word());
    let _ = writeln!(text, "**Participants**: {}  ", participants(debate));
    let _ = writeln!(text, "**Outcome**: {}", outcome(debate));
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
    let labels = standing::labels(debate);
    if !labels.is_empty() {
        let _ = writeln!(text, "\n**Labels**: {}", labels.join(", "));
    }
    if labels.contains(&"demo") {
        text.push_str("\n> DEMO: scripted voices, no model was asked. This is not advice.\n");
    }
    let mut round = None;
    let mut remarks = debate.remarks().iter().peekable();
    for (cue, turn) in debate.turns() {
        while let Some(remark) = remarks.next_if(|remark| remark.from <= cue) {
            let _ = write!(text, "\n### User Input\n\n{}\n", demoted(&remark.text));
        }
        if round != Some(cue.stand()) {
            round = Some(cue.stand());
            let _ = write!(text, "\n---\n\n## {}\n", heading(debate, cue));
        }
        let seat = debate.seat(cue);
        let _ = write!(text, "\n### {} ({})\n\n", seat.role.title(), debate.tool(cue));
        match turn {
            Ok(_) if debate.sealed(cue) => text.push_str(SEALED),
            Ok(reply) => said(&mut text, reply),
            Err(failure) => {
                let _ = writeln!(
                    text,
                    "[INCOMPLETE] {}: {}",
                    failure.trouble.word(),
                    one_line(&failure.note)
                );
            }
        }
    }
    for remark in remarks {
        let _ = write!(text, "\n### User Input\n\n{}\n", demoted(&remark.text));
    }
    let over = debate.outcome().is_some();
    if over || debate.decision().is_some() {
        text.push_str("\n---\n\n## Conclusion\n\n");
    }
    if over {
        text.push_str(&summary(debate).replacen("## Debate Summary", "### Debate Summary", 1));
    }
    if let Some(decision) = debate.decision() {
        let _ = write!(text, "\n### User's Decision\n\n{}\n", demoted(decision));
    }
    let proof = participation(debate);
    if !proof.is_empty() {
        let _ = write!(text, "\n---\n\n## Participation\n\n{proof}");
    }
    printable(&text)
}

/// What stands in place of an answer nobody may see yet.
pub const SEALED: &str = "(Sealed until all have answered.)\n";

/// A round of the count, or the act if it stands outside.
fn heading(debate: &Debate, cue: Cue) -> String {
    let act = &debate.setup().act(cue).name;
    if cue.round > 0 {
        return format!("Round {}", cue.round);
    }
    let mut letters = act.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn participants(debate: &Debate) -> String {
    let pair = |one: Role, other: Role| Some((one, who(debate, one)?, other, who(debate, other)?));
    let sides = pair(Role::Pro, Role::Con).or_else(|| pair(Role::Lead, Role::Partner));
    let pairing = |(one, first, other, second): (Role, String, Role, String)| {
        format!("{} {first} <-> {} {second}", one.title(), other.title())
    };
    let names: Vec<_> = debate.seats().iter().map(|seat| seat.name.as_str()).collect();
    sides.map_or_else(|| names.join(", "), pairing)
}

fn outcome(debate: &Debate) -> String {
    let winner = crate::debate::verdict::judgment(debate).map(|judgment| {
        format!("{} had the stronger argument", standing::name_of(debate, judgment.winner))
    });
    match debate.outcome() {
        None => "(open)".into(),
        Some(Outcome::Cancelled) => "cancelled".into(),
        Some(Outcome::Uncontested { .. }) => "uncontested: the challenger never answered".into(),
        Some(_) => winner.unwrap_or_else(|| "no verdict".into()),
    }
}

fn said(text: &mut String, reply: &Reply) {
    let _ = writeln!(text, "{}", demoted(reply.body.text().trim()));
    if let Body::Verdict(ruling) = &reply.body {
        let _ = write!(text, "\nRecommends: {}\n", demoted(&ruling.recommendation));
    }
    let claims = reply.body.claims();
    if !claims.is_empty() {
        text.push_str("\n**Claims**\n\n");
    }
    for claim in claims {
        let _ = writeln!(text, "- `{}` {}{}", claim.id, one_line(&claim.text), answers(claim));
        for evidence in &claim.evidence {
            let found = of_evidence(evidence, of_claim(&reply.citations, &claim.id));
            let _ = writeln!(text, "  - {}", struck(evidence, &found));
        }
        if claim.evidence.is_empty() {
            text.push_str("  - unsupported\n");
        }
    }
    for given in reply.body.concedes() {
        let _ = writeln!(text, "- concedes `{}`: \"{}\"", given.claim, one_line(&given.quote));
    }
    for resolved in reply.body.resolves() {
        let by = resolved.evidence.join("; ");
        let _ = writeln!(text, "- certifies `{}` as resolved: {}", resolved.claim, one_line(&by));
    }
    let passing = reply.citations.iter().filter(|it| it.claim.is_none() && it.found.wrong());
    for wrong in passing {
        let _ = writeln!(text, "\n> Struck out: {}", struck(&wrong.raw, &[wrong]));
    }
    let faults = reply.findings.iter().filter(|found| found.weight == Weight::Foul);
    for fault in faults {
        let _ = writeln!(text, "\n> Checked: {}", one_line(&fault.says));
    }
    if reply.body.kind() == Kind::Speech && !reply.body.structured() {
        text.push_str("\n> Unstructured: no claims block could be read.\n");
    }
}

fn answers(claim: &Claim) -> String {
    if claim.answers.is_empty() {
        return String::new();
    }
    format!(" (answers {})", claim.answers.join(", "))
}
