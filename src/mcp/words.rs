//! Plain-text rendering of the tool results, for clients that pass only text to the model.
use super::account::Account;
use super::reading::{Listed, Models, Shown};
use super::standing::{Answered, Due, Ruled, Standing};
use crate::debate::prompt::fingerprint;
use std::fmt::Write;

pub(super) fn standing(it: &Standing) -> String {
    let mut text =
        format!("Debate {}: {}, round {} of {}\n", it.debate_id, it.status, it.round, it.rounds);
    list(&mut text, "", &it.notes);
    for turn in &it.answered {
        answered(&mut text, turn);
    }
    list(&mut text, "\nBeing answered:", &it.pending);
    verdict(&mut text, it.verdict.as_ref().map(ruling));
    list(&mut text, "Findings:", &it.findings);
    if let Some(result) = &it.result {
        let _ = write!(text, "\nResult: {result}\n");
    }
    due(&mut text, it.due.as_ref());
    end(&mut text, it.record.as_deref(), &it.next);
    text
}

pub(super) fn account(it: &Account) -> String {
    let mut text = format!(
        "Debate {}: {}, round {} of {}\nTopic: {}\n",
        it.debate_id, it.status, it.round, it.rounds, it.topic
    );
    list(&mut text, "", &it.notes);
    list(&mut text, "\nThe proposer holds:", &it.proposer);
    list(&mut text, "\nThe challenger holds:", &it.challenger);
    list(&mut text, "\nConceded (verbatim, binding):", &it.concessions);
    list(&mut text, "\nStill open:", &it.open);
    verdict(&mut text, it.verdict.clone());
    if let Some(due) = &it.due {
        let _ = write!(text, "\nDue: {due}\n");
    }
    end(&mut text, it.record.as_deref(), &it.next);
    text
}

pub(super) fn shown(it: &Shown) -> String {
    let head = format!("{}, {}, page {} of {}", it.debate_id, it.part, it.page, it.pages);
    // A delimiter derived from the hash of the text, so that the text cannot contain it.
    let mark = format!("--- {}", fingerprint(&it.text));
    format!("{head}\n\n{mark}\n{}\n{mark}\n\nNext: {}\n", it.text.trim_end(), it.next)
}

pub(super) fn listed(it: &Listed) -> String {
    let mut text = String::new();
    for debate in &it.debates {
        let _ = writeln!(
            text,
            "- {} ({}, {}): {}",
            debate.debate_id, debate.status, debate.updated_at, debate.topic
        );
        let _ = write!(text, "  {}", debate.sides);
        if let Some(winner) = &debate.winner {
            let _ = write!(text, "; for {winner}");
        }
        if let Some(excerpt) = &debate.excerpt {
            let _ = write!(text, "; {excerpt}");
        }
        text.push('\n');
    }
    if it.debates.is_empty() {
        text.push_str("No debates.\n");
    }
    end(&mut text, None, &it.next);
    text
}

pub(super) fn models(it: &Models) -> String {
    let mut text = String::new();
    for model in &it.models {
        let can = if model.playable { "can play" } else { "cannot play" };
        let _ = writeln!(text, "- {}: {can}; {}", model.seat, model.note);
    }
    end(&mut text, None, &it.next);
    text
}

fn answered(text: &mut String, turn: &Answered) {
    let _ = write!(text, "\n{} (turn {}): {}\n", turn.role, turn.turn, turn.position);
    list(text, "", &turn.claims);
    for given in &turn.concedes {
        let _ = writeln!(text, "- concedes {given}");
    }
}

/// Renders a verdict in a few lines.
pub(super) fn ruling(ruled: &Ruled) -> String {
    let mut text = format!(
        "{} had the stronger argument because: {}\nDecided: {}.\nRecommendation: {}\n",
        ruled.winner, ruled.reasoning, ruled.decided, ruled.recommendation
    );
    list(&mut text, "Unresolved:", &ruled.unresolved);
    let _ = write!(text, "Rigor: {}", ruled.rigor);
    text
}

fn verdict(text: &mut String, ruled: Option<String>) {
    if let Some(ruled) = ruled {
        let _ = write!(text, "\nVerdict: {ruled}\n");
    }
}

fn due(text: &mut String, due: Option<&Due>) {
    let Some(due) = due else { return };
    let _ = write!(text, "\nDue: turn {}, {}.\n\n{}\n", due.turn, due.role, due.brief.trim_end());
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() && !title.is_empty() {
        let _ = writeln!(text, "{title}");
    }
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}

fn end(text: &mut String, record: Option<&str>, next: &str) {
    if let Some(record) = record {
        let _ = write!(text, "\nRecord: {record}\n");
    }
    let _ = write!(text, "\nNext: {next}\n");
}
