//! Renders structured replies as text: marks, petitions, admissions and votes.
use super::sanitize::{demote_headings, escape_table_cell, one_line};
use super::verdict::unmask_sides;
use crate::debate::body::{AdmissionGrounds, Foul, Novelty};
use crate::debate::{Body, Cue, Debate, Side, status};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Renders a structured reply with the real names of the sides. `None` for free text.
pub fn render_structured_reply(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let words = |text: &str| one_line(&unmask_sides(debate, cue, text));
    let name = |side: Side| status::side_name(debate, side);
    Some(match body {
        Body::Score { pro, con, fouls, comment } => {
            let mut text = marks_table(debate, cue, [pro, con], fouls);
            let _ =
                writeln!(text, "\n{}", demote_headings(unmask_sides(debate, cue, comment).trim()));
            text
        }
        Body::Petition { supports: Some(side), claim, novelty, confidence } => {
            let what = match novelty {
                Novelty::New => "something new",
                Novelty::Reinforcement => "a reinforcement",
            };
            let (side, claim) = (name(*side), words(claim));
            format!("Asks to speak for {side}, with {what}, {confidence}% sure: {claim}\n")
        }
        Body::Petition { supports: None, .. } => "Does not ask to speak.\n".into(),
        Body::Ruling { admits: Some(who), grounds, because } => {
            format!(
                "Admits {}: {} ({})\n",
                one_line(who),
                words(because),
                describe_grounds(*grounds)
            )
        }
        Body::Ruling { admits: None, because, .. } => {
            format!("Admits nobody: {}\n", words(because))
        }
        Body::Vote { side, confidence, because } => {
            format!("Votes for {}, {confidence}% sure: {}\n", name(*side), words(because))
        }
        _ => return None,
    })
}

fn describe_grounds(grounds: AdmissionGrounds) -> String {
    let word = |yes: bool| if yes { "yes" } else { "no" };
    format!(
        "new information: {}; no repetition: {}; shifts the balance: {}",
        word(grounds.new_information),
        word(grounds.avoids_repetition),
        word(grounds.shifts_balance)
    )
}

/// Table of both sides' marks, out of ten, and the fouls called against them.
fn marks_table(
    debate: &Debate,
    cue: Cue,
    marks: [&BTreeMap<String, u8>; 2],
    fouls: &[Foul],
) -> String {
    let mut names: Vec<&str> = vec!["logic", "rebuttal", "clarity", "evidence"];
    for name in marks.iter().flat_map(|own| own.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.retain(|name| marks.iter().any(|own| own.contains_key(*name)));
    let heads: Vec<String> = names.iter().map(|name| escape_table_cell(name)).collect();
    let mut text = format!("| Side | {} | Fouls |\n|---|", heads.join(" | "));
    text.push_str(&"---|".repeat(names.len() + 1));
    text.push('\n');
    for (side, own) in [Side::Pro, Side::Con].into_iter().zip(marks) {
        let mark = |name: &&str| {
            own.get(*name).map_or("-".into(), |it| format!("{:.1}", f64::from(*it) / 10.0))
        };
        let given: Vec<String> = names.iter().map(mark).collect();
        let called: Vec<String> = fouls
            .iter()
            .filter(|foul| foul.side == side)
            .map(|foul| match foul.note.trim() {
                "" => foul.kind.clone(),
                note => format!("{}: {}", foul.kind, unmask_sides(debate, cue, note)),
            })
            .collect();
        let called = if called.is_empty() { "none".into() } else { called.join("; ") };
        let side = escape_table_cell(&status::side_name(debate, side));
        let _ =
            writeln!(text, "| {side} | {} | {} |", given.join(" | "), escape_table_cell(&called));
    }
    text
}
