//! Renders structured replies as text: marks, petitions, admissions and votes.
use super::sanitize::{demote_headings, escape_table_cell, one_line};
use super::unmask::unmask_sides;
use crate::debate::body::{AdmissionGrounds, Foul, Novelty};
use crate::debate::{Body, Cue, Debate, Side, status};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Placeholder for a reply that is hidden until all seats of its phase have answered.
pub const SEALED_PLACEHOLDER: &str = "(Sealed until all have answered.)\n";

/// Renders a structured reply with the real names of the sides. `None` for free text.
pub fn render_structured_reply(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let unmask = |text: &str| one_line(&unmask_sides(debate, cue, text));
    let name = |side: Side| status::side_name(debate, side);
    Some(match body {
        Body::Score { pro, con, fouls, comment } => {
            let mut text = marks_table(debate, cue, [pro, con], fouls);
            let _ =
                writeln!(text, "\n{}", demote_headings(unmask_sides(debate, cue, comment).trim()));
            text
        }
        Body::Petition { supports: Some(side), claim, novelty, confidence } => {
            let kind = match novelty {
                Novelty::New => "something new",
                Novelty::Reinforcement => "a reinforcement",
            };
            let (side, claim) = (name(*side), unmask(claim));
            format!("Asks to speak for {side}, with {kind}, {confidence}% sure: {claim}\n")
        }
        Body::Petition { supports: None, .. } => "Does not ask to speak.\n".into(),
        Body::Ruling { admits: Some(listener), grounds, because } => {
            format!(
                "Admits {}: {} ({})\n",
                one_line(listener),
                unmask(because),
                describe_grounds(*grounds)
            )
        }
        Body::Ruling { admits: None, because, .. } => {
            format!("Admits nobody: {}\n", unmask(because))
        }
        Body::Vote { side, confidence, because } => {
            format!("Votes for {}, {confidence}% sure: {}\n", name(*side), unmask(because))
        }
        _ => return None,
    })
}

fn describe_grounds(grounds: AdmissionGrounds) -> String {
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
    format!(
        "new information: {}; no repetition: {}; shifts the balance: {}",
        yes_or_no(grounds.new_information),
        yes_or_no(grounds.avoids_repetition),
        yes_or_no(grounds.shifts_balance)
    )
}

/// Table of both sides' marks, out of ten, and the fouls called against them.
fn marks_table(
    debate: &Debate,
    cue: Cue,
    marks: [&BTreeMap<String, u8>; 2],
    fouls: &[Foul],
) -> String {
    let mut criteria: Vec<&str> = vec!["logic", "rebuttal", "clarity", "evidence"];
    for criterion in marks.iter().flat_map(|side_marks| side_marks.keys()) {
        if !criteria.contains(&criterion.as_str()) {
            criteria.push(criterion);
        }
    }
    criteria.retain(|criterion| marks.iter().any(|side_marks| side_marks.contains_key(*criterion)));
    let headers: Vec<String> =
        criteria.iter().map(|criterion| escape_table_cell(criterion)).collect();
    let mut text = format!("| Side | {} | Fouls |\n|---|", headers.join(" | "));
    text.push_str(&"---|".repeat(criteria.len() + 1));
    text.push('\n');
    for (side, side_marks) in [Side::Pro, Side::Con].into_iter().zip(marks) {
        let mark = |criterion: &&str| {
            side_marks
                .get(*criterion)
                .map_or("-".into(), |it| format!("{:.1}", f64::from(*it) / 10.0))
        };
        let cells: Vec<String> = criteria.iter().map(mark).collect();
        let foul_texts: Vec<String> = fouls
            .iter()
            .filter(|foul| foul.side == side)
            .map(|foul| match foul.note.trim() {
                "" => foul.kind.clone(),
                note => format!("{}: {}", foul.kind, unmask_sides(debate, cue, note)),
            })
            .collect();
        let foul_texts = if foul_texts.is_empty() { "none".into() } else { foul_texts.join("; ") };
        let side = escape_table_cell(&status::side_name(debate, side));
        let _ = writeln!(
            text,
            "| {side} | {} | {} |",
            cells.join(" | "),
            escape_table_cell(&foul_texts)
        );
    }
    text
}
