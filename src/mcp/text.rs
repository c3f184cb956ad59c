//! Plain-text rendering of the tool results, for clients that pass only text to the model. One
//! `render_…` function per result type, called by `server` next to the structured result.
use super::results::{
    DebateList, DebatePage, DebateStatus, DebateSummary, DueBrief, ModelList, TurnDigest,
    VerdictDigest,
};
use crate::debate::prompt::fingerprint;
use std::fmt::Write;

pub(super) fn render_status(status: &DebateStatus) -> String {
    let mut text = format!(
        "Debate {}: {}, round {} of {}\n",
        status.debate_id, status.status, status.round, status.rounds
    );
    append_list(&mut text, "", &status.notes);
    for turn in &status.answered {
        append_turn(&mut text, turn);
    }
    append_list(&mut text, "\nBeing answered:", &status.pending);
    append_verdict(&mut text, status.verdict.as_ref().map(render_ruling));
    append_list(&mut text, "Findings:", &status.findings);
    if let Some(result) = &status.result {
        let _ = write!(text, "\nResult: {result}\n");
    }
    append_due(&mut text, status.due.as_ref());
    append_footer(&mut text, status.record.as_deref(), &status.next);
    text
}

pub(super) fn render_summary(summary: &DebateSummary) -> String {
    let mut text = format!(
        "Debate {}: {}, round {} of {}\nTopic: {}\n",
        summary.debate_id, summary.status, summary.round, summary.rounds, summary.topic
    );
    append_list(&mut text, "", &summary.notes);
    append_list(&mut text, "\nThe proposer holds:", &summary.proposer);
    append_list(&mut text, "\nThe challenger holds:", &summary.challenger);
    append_list(&mut text, "\nConceded (verbatim, binding):", &summary.concessions);
    append_list(&mut text, "\nStill open:", &summary.open);
    append_verdict(&mut text, summary.verdict.clone());
    if let Some(due) = &summary.due {
        let _ = write!(text, "\nDue: {due}\n");
    }
    append_footer(&mut text, summary.record.as_deref(), &summary.next);
    text
}

pub(super) fn render_page(page: &DebatePage) -> String {
    let header = format!("{}, {}, page {} of {}", page.debate_id, page.part, page.page, page.pages);
    // A delimiter derived from the hash of the text, so that the text cannot contain it.
    let delimiter = format!("--- {}", fingerprint(&page.text));
    format!(
        "{header}\n\n{delimiter}\n{}\n{delimiter}\n\nNext: {}\n",
        page.text.trim_end(),
        page.next
    )
}

pub(super) fn render_list(list: &DebateList) -> String {
    let mut text = String::new();
    for debate in &list.debates {
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
    if list.debates.is_empty() {
        text.push_str("No debates.\n");
    }
    append_footer(&mut text, None, &list.next);
    text
}

pub(super) fn render_models(list: &ModelList) -> String {
    let mut text = String::new();
    for model in &list.models {
        let availability = if model.playable { "can play" } else { "cannot play" };
        let _ = writeln!(text, "- {}: {availability}; {}", model.seat, model.note);
    }
    append_footer(&mut text, None, &list.next);
    text
}

fn append_turn(text: &mut String, turn: &TurnDigest) {
    let _ = write!(text, "\n{} (turn {}): {}\n", turn.role, turn.turn, turn.position);
    append_list(text, "", &turn.claims);
    for concession in &turn.concedes {
        let _ = writeln!(text, "- concedes {concession}");
    }
}

/// Renders a verdict in a few lines.
pub(super) fn render_ruling(verdict: &VerdictDigest) -> String {
    let mut text = format!(
        "{} had the stronger argument because: {}\nDecided: {}.\nRecommendation: {}\n",
        verdict.winner, verdict.reasoning, verdict.decided, verdict.recommendation
    );
    append_list(&mut text, "Unresolved:", &verdict.unresolved);
    let _ = write!(text, "Rigor: {}", verdict.rigor);
    text
}

fn append_verdict(text: &mut String, verdict: Option<String>) {
    if let Some(verdict) = verdict {
        let _ = write!(text, "\nVerdict: {verdict}\n");
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
