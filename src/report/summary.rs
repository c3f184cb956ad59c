//! Renders the result of a debate as Markdown, verdict first. `render_summary` is the entry point.
//! The CLI prints it at the end of a debate. The MCP tool `show_debate` and the record (`record`)
//! use it too.
use super::court_summary::{render_court, render_round_marks};
use super::dialogue::dialogue_summary;
use super::ledger::wrong_citations;
use super::participants::{DebateKind, debate_kind, turn_name};
use super::research::{research_report, summary_without_judgment};
use super::sanitize::{demote_headings, escape_table_cell, one_line};
use super::summary_header::summary_header;
use super::verdict::{RulingView, VerdictView, unsupported_claims, verdict_view};
use crate::debate::body::BlindSpot;
use crate::debate::{Body, Cue, Debate, DebateOutcome, ReplyKind, Role, Side, status};
use std::fmt::Write;

/// Renders the summary. The layout depends on the record and the roles, not on the format's name.
pub fn render_summary(debate: &Debate) -> String {
    match (verdict_view(debate), debate_kind(debate)) {
        (Some(verdict), _) => contest_summary(debate, Some(&verdict)),
        (None, DebateKind::Contest) => contest_summary(debate, None),
        (None, DebateKind::Dialogue) => dialogue_summary(debate),
        (None, DebateKind::Research) => {
            research_report(debate).unwrap_or_else(|| summary_without_judgment(debate))
        }
    }
}

fn contest_summary(debate: &Debate, verdict: Option<&VerdictView>) -> String {
    let mut text = summary_header(debate, &[Role::Pro, Role::Con, Role::Judge], &[]);
    match verdict {
        Some(verdict) => render_verdict(&mut text, debate, verdict),
        None => render_no_verdict(&mut text, debate),
    }
    text
}

fn render_verdict(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    let winner = &verdict.winner;
    let _ = write!(
        text,
        "\n### Verdict\n\n{winner} had the stronger argument because: {}\n\n",
        demote_headings(verdict.reasoning.trim())
    );
    if !verdict.cites.is_empty() {
        let _ = writeln!(text, "Rests on: {}.  ", verdict.cites.join("; "));
    }
    let _ = writeln!(text, "Decided: {}.", verdict.decided);
    render_confidence(text, debate, verdict);
    let turning_round = verdict.court.as_ref().and_then(|court| court.turning_round);
    if let Some(round) = turning_round {
        let _ = write!(text, "\nKey turning round: {round}\n");
    }
    if let Some(decisive) = &verdict.decisive {
        let owner = decisive.side.map(|side| format!(" ({})", status::side_name(debate, side)));
        let _ = write!(
            text,
            "\nDecisive argument: `{}`{}: {}\n",
            one_line(&decisive.claim),
            owner.unwrap_or_default(),
            one_line(decisive.text.as_deref().unwrap_or("not on the record under this id"))
        );
    }
    let spot =
        |spot: &BlindSpot| format!("{}: {}", status::side_name(debate, spot.side), spot.text);
    let spots: Vec<String> = verdict.blind_spots.iter().map(spot).collect();
    render_list(text, "\nBlind spots:\n", &spots);
    render_claim_checks(text, debate, verdict);
    if !verdict.unmasked.is_empty() {
        let names = verdict.unmasked.join(", ");
        let _ =
            writeln!(text, "\nNot hidden from the judge, because the topic names them: {names}.");
    }
    render_list(text, "\nUnsupported claims:\n", &verdict.unsupported);
    render_list(text, "\nCitations that do not resolve:\n", &verdict.wrong);
    render_list(text, "\nNoticed:\n", &verdict.noticed);
    if let Some(changed) = &verdict.changed {
        let verb = if changed.decision { "changed" } else { "did not change" };
        let because = one_line(&changed.because);
        let _ = write!(
            text,
            "\nThe debate {verb} the decision of the sealed answers: {because}  \nVerified evidence \
             brought after them: {}.\n",
            status::count_new_evidence(debate)
        );
    }
    render_court(text, debate, verdict);
    render_judge_assessment(text, debate, verdict);
}

/// Renders the confidence, and every ruling if there are several judges or the verdict is
/// contested.
fn render_confidence(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    if let Some(confidence) = verdict.confidence {
        let stated = verdict.stated.map(|stated| format!("; the judge itself says {stated}%"));
        let _ = write!(
            text,
            "\nConfidence: {confidence}% (from the margin and the agreement of the rulings{})\n",
            stated.unwrap_or_default()
        );
    }
    if status::labels(debate).contains(&"partial-judge") {
        text.push_str(
            "\nPartial judge: a judge is, or may be, the same model as one of those who argued, so do not take \
             its ruling for an independent one.\n",
        );
    }
    let rulings = |swapped: bool| verdict.rulings.iter().filter(move |it| it.swapped == swapped);
    let is_panel = rulings(false).count() > 1;
    if is_panel {
        let agreement = |swapped: bool| {
            let agreeing =
                rulings(swapped).filter(|ruling| ruling.winner == verdict.winner).count();
            format!("{agreeing} of {}", rulings(swapped).count())
        };
        let mut panel_text = format!("{} judges are for {}", agreement(false), verdict.winner);
        if rulings(true).count() > 0 {
            let _ = write!(panel_text, "; with the sides swapped, {}", agreement(true));
        }
        let _ = write!(text, "\nPanel: {panel_text}.\n");
    }
    if verdict.contested {
        let _ = write!(text, "\nContested: {}.\n", verdict.doubts.join("; "));
    }
    if !is_panel && !verdict.contested {
        return;
    }
    for ruling in &verdict.rulings {
        let order = if ruling.swapped { "sides swapped" } else { "sides as seated" };
        let seat = if is_panel { format!("{}, ", one_line(&ruling.seat)) } else { String::new() };
        let _ = writeln!(
            text,
            "- {seat}{order}: for {}{}. {}",
            ruling.winner,
            score_suffix(ruling),
            one_line(&ruling.reasoning)
        );
    }
}

/// Score of a ruling, for example ` (70 to 55, margin 15)`. Empty if the judge gave no scores.
fn score_suffix(ruling: &RulingView) -> String {
    match (ruling.pro_score, ruling.con_score, ruling.margin) {
        (Some(pro), Some(con), Some(margin)) => format!(" ({pro} to {con}, margin {margin})"),
        _ => String::new(),
    }
}

/// Renders the judge's answers to the narrow questions about single claims.
fn render_claim_checks(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    if verdict.checks.is_empty() {
        return;
    }
    text.push_str("\n| Claim | answered | supported | conceded |\n|---|---|---|---|\n");
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
    for check in &verdict.checks {
        let _ = writeln!(
            text,
            "| {} ({}) | {} | {} | {} |",
            escape_table_cell(&check.claim),
            escape_table_cell(&status::side_name(debate, check.side)),
            yes_or_no(check.answered),
            yes_or_no(check.supported),
            yes_or_no(check.conceded)
        );
    }
    if !verdict.despite.trim().is_empty() {
        let despite = one_line(&verdict.despite);
        let _ = write!(text, "\nRuled otherwise than these answers say, because: {despite}\n");
    }
}

fn render_judge_assessment(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    let quality = verdict.quality.map(|quality| {
        vec![
            format!("Genuine disagreement: {}", quality.disagreement.as_str()),
            format!("Evidence quality: {}", quality.evidence.as_str()),
            format!("Challenge depth: {}", quality.depth.as_str()),
        ]
    });
    render_section(
        text,
        "Debate Quality",
        &quality.unwrap_or_else(|| vec!["not rated by the judge".into()]),
    );
    let agreements: Vec<String> = verdict
        .agreements
        .iter()
        .map(|agreement| match agreement.evidence.trim() {
            "" => format!("{} (evidence: none given)", agreement.point),
            evidence => format!("{} (evidence: {evidence})", agreement.point),
        })
        .collect();
    render_section(text, "Key Agreements", &agreements);
    let (pro, con) = (status::side_name(debate, Side::Pro), status::side_name(debate, Side::Con));
    let disagreements: Vec<String> = verdict
        .disagreements
        .iter()
        .map(|disagreement| {
            format!(
                "{}: {pro} argues {}, {con} argues {}",
                disagreement.point, disagreement.pro, disagreement.con
            )
        })
        .collect();
    render_section(text, "Key Disagreements", &disagreements);
    render_section(text, "Unresolved Questions", &verdict.unresolved);
    let _ = write!(
        text,
        "\n### Recommendation\n\n{}\n",
        demote_headings(verdict.recommendation.trim())
    );
}

fn render_section(text: &mut String, title: &str, lines: &[String]) {
    let _ = write!(text, "\n### {title}\n\n");
    if lines.is_empty() {
        text.push_str("- none\n");
    }
    render_list(text, "", lines);
}

fn render_list(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.push_str(title);
    }
    for line in lines {
        let _ = writeln!(text, "- {}", one_line(line));
    }
}

/// Renders a debate without a verdict: the opening positions and the problems that were found.
fn render_no_verdict(text: &mut String, debate: &Debate) {
    let _ = match debate.outcome() {
        None => write!(text, "\nNo verdict yet.\n"),
        Some(DebateOutcome::Cancelled) => write!(text, "\nCancelled before a verdict.\n"),
        Some(_) => {
            let is_opening =
                |cue: Cue, body: &Body| cue.round == 1 && body.kind() == ReplyKind::Speech;
            for (cue, body) in debate.replies_in(..).filter(|(cue, body)| is_opening(*cue, body)) {
                let _ = write!(text, "\n### Position ({})\n\n", turn_name(debate, cue));
                let _ = writeln!(text, "{}", demote_headings(body.to_text().trim()));
            }
            write!(text, "\nNo verdict was given, and nobody has won.\n")
        }
    };
    render_round_marks(text, debate);
    render_list(text, "\nUnsupported claims:\n", &unsupported_claims(debate));
    render_list(text, "\nCitations that do not resolve:\n", &wrong_citations(debate));
}
