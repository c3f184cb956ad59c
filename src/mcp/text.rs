//! Plain-text rendering of the tool results, for clients that pass only text to the model.
use super::read_tools::{DebateList, DebatePage, ModelList};
use super::status::{DebateStatus, DueBrief, TurnDigest, VerdictDigest};
use super::summary::DebateSummary;
use crate::debate::prompt::fingerprint;
use std::fmt::Write;

pub(super) fn render_status(it: &DebateStatus) -> String {
    let mut text =
        format!("Debate {}: {}, round {} of {}\n", it.debate_id, it.status, it.round, it.rounds);
    append_list(&mut text, "", &it.notes);
    for turn in &it.answered {
        append_turn(&mut text, turn);
    }
    append_list(&mut text, "\nBeing answered:", &it.pending);
    append_verdict(&mut text, it.verdict.as_ref().map(render_ruling));
    append_list(&mut text, "Findings:", &it.findings);
    if let Some(result) = &it.result {
        let _ = write!(text, "\nResult: {result}\n");
    }
    append_due(&mut text, it.due.as_ref());
    append_footer(&mut text, it.record.as_deref(), &it.next);
    text
}

pub(super) fn render_summary(it: &DebateSummary) -> String {
    let mut text = format!(
        "Debate {}: {}, round {} of {}\nTopic: {}\n",
        it.debate_id, it.status, it.round, it.rounds, it.topic
    );
    append_list(&mut text, "", &it.notes);
    append_list(&mut text, "\nThe proposer holds:", &it.proposer);
    append_list(&mut text, "\nThe challenger holds:", &it.challenger);
    append_list(&mut text, "\nConceded (verbatim, binding):", &it.concessions);
    append_list(&mut text, "\nStill open:", &it.open);
    append_verdict(&mut text, it.verdict.clone());
    if let Some(due) = &it.due {
        let _ = write!(text, "\nDue: {due}\n");
    }
    append_footer(&mut text, it.record.as_deref(), &it.next);
    text
}

pub(super) fn render_page(it: &DebatePage) -> String {
    let head = format!("{}, {}, page {} of {}", it.debate_id, it.part, it.page, it.pages);
    // A delimiter derived from the hash of the text, so that the text cannot contain it.
    let mark = format!("--- {}", fingerprint(&it.text));
    format!("{head}\n\n{mark}\n{}\n{mark}\n\nNext: {}\n", it.text.trim_end(), it.next)
}

pub(super) fn render_list(it: &DebateList) -> String {
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
    append_footer(&mut text, None, &it.next);
    text
}

pub(super) fn render_models(it: &ModelList) -> String {
    let mut text = String::new();
    for model in &it.models {
        let can = if model.playable { "can play" } else { "cannot play" };
        let _ = writeln!(text, "- {}: {can}; {}", model.seat, model.note);
    }
    append_footer(&mut text, None, &it.next);
    text
}

fn append_turn(text: &mut String, turn: &TurnDigest) {
    let _ = write!(text, "\n{} (turn {}): {}\n", turn.role, turn.turn, turn.position);
    append_list(text, "", &turn.claims);
    for given in &turn.concedes {
        let _ = writeln!(text, "- concedes {given}");
    }
}

/// Renders a verdict in a few lines.
pub(super) fn render_ruling(ruled: &VerdictDigest) -> String {
    let mut text = format!(
        "{} had the stronger argument because: {}\nDecided: {}.\nRecommendation: {}\n",
        ruled.winner, ruled.reasoning, ruled.decided, ruled.recommendation
    );
    append_list(&mut text, "Unresolved:", &ruled.unresolved);
    let _ = write!(text, "Rigor: {}", ruled.rigor);
    text
}

fn append_verdict(text: &mut String, ruled: Option<String>) {
    if let Some(ruled) = ruled {
        let _ = write!(text, "\nVerdict: {ruled}\n");
    }
}

fn append_due(text: &mut String, due: Option<&DueBrief>) {
    let Some(due) = due else { return };
    let _ = write!(text, "\nDue: turn {}, {}.\n\n{}\n", due.turn, due.role, due.brief.trim_end());
}

fn append_list(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() && !title.is_empty() {
        let _ = writeln!(text, "{title}");
    }
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}

fn append_footer(text: &mut String, record: Option<&str>, next: &str) {
    if let Some(record) = record {
        let _ = write!(text, "\nRecord: {record}\n");
    }
    let _ = write!(text, "\nNext: {next}\n");
}
