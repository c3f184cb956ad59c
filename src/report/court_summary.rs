//! Renders the court part of a verdict as Markdown: votes, round marks, fouls, admissions, and how
//! all of these were weighed.
use super::court::{CourtView, votes};
use super::sanitize::{escape_table_cell, one_line};
use super::verdict::VerdictView;
use crate::debate::round_marks::{self, RoundMarks};
use crate::debate::verdict::{VerdictBasis, WeightedScore};
use crate::debate::{Debate, Side, status};
use std::fmt::Write;

/// Renders the court sections of a summary, below the verdict.
pub(super) fn render_court(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    let Some(court) = &verdict.court else { return };
    let name = |side: Side| status::side_name(debate, side);
    render_audience_votes(text, debate, court);
    render_round_marks(text, debate);
    if let Some(score) = verdict.weighed {
        render_weighted_result(text, debate, score, verdict.basis);
    }
    let _ = write!(text, "\n### Conduct\n\n");
    for foul in &court.fouls {
        let _ = writeln!(
            text,
            "- Foul in round {}: {}, {}: {} ({})",
            foul.round,
            name(foul.side),
            one_line(&foul.kind),
            one_line(&foul.note),
            foul.by
        );
    }
    if court.fouls.is_empty() {
        text.push_str("- No foul was called.\n");
    }
    for (side, help) in [(Side::Pro, court.pro_help), (Side::Con, court.con_help)] {
        let (side_name, asked_times, granted_times) =
            (name(side), count_in_words(help.asked), count_in_words(help.granted));
        let _ = match help.asked {
            0 => writeln!(text, "- Help: {side_name} never asked."),
            _ => writeln!(
                text,
                "- Help: {side_name} asked {asked_times} and was granted {granted_times}."
            ),
        };
    }
    for admission in &court.admitted {
        let side =
            admission.supports.map(|side| format!(", for {}", name(side))).unwrap_or_default();
        let _ = writeln!(
            text,
            "- Let in, in round {}: {}{side}. {}",
            admission.round,
            one_line(&admission.seat),
            one_line(&admission.because)
        );
    }
    if court.admitted.is_empty() {
        text.push_str("- No listener was let in.\n");
    }
}

fn count_in_words(count: u32) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        n => format!("{n} times"),
    }
}

/// Renders the votes, grouped by listener type, so that splits between the types are visible.
fn render_audience_votes(text: &mut String, debate: &Debate, court: &CourtView) {
    let votes = votes(debate);
    if votes.is_empty() && court.abstained.is_empty() {
        return;
    }
    let (pro, con) = (status::side_name(debate, Side::Pro), status::side_name(debate, Side::Con));
    let _ = write!(
        text,
        "\n### Audience\n\n| Listeners | for {0} | for {1} |\n|---|---|---|\n",
        escape_table_cell(&pro),
        escape_table_cell(&con)
    );
    let mut kinds: Vec<&str> = vec![];
    for vote in &votes {
        if !kinds.contains(&vote.kind.as_str()) {
            kinds.push(&vote.kind);
        }
    }
    for kind in kinds {
        let tally_text = |side: Side| {
            let matching = votes.iter().filter(|vote| vote.kind == kind && vote.vote == side);
            let (votes, weight) = matching
                .fold((0, 0), |(votes, sum), vote| (votes + 1, sum + u32::from(vote.weight)));
            format!("{votes} (weight {weight})")
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            escape_table_cell(kind),
            tally_text(Side::Pro),
            tally_text(Side::Con)
        );
    }
    text.push('\n');
    for vote in &votes {
        let _ = writeln!(
            text,
            "- {} (weight {}) votes for {}, {}% sure: {}",
            one_line(&vote.seat),
            vote.weight,
            status::side_name(debate, vote.vote),
            vote.confidence,
            one_line(&vote.reason)
        );
    }
    for name in &court.abstained {
        let _ = writeln!(text, "- Abstained: {}", one_line(name));
    }
}

/// Renders the marks of every round, out of ten points.
pub(super) fn render_round_marks(text: &mut String, debate: &Debate) {
    let rounds = round_marks::round_marks(debate);
    if rounds.is_empty() {
        return;
    }
    text.push_str("\n### Rounds\n\n| Round |");
    let mut separator = String::from("|---|");
    for side in [Side::Pro, Side::Con] {
        let name = escape_table_cell(&status::side_name(debate, side));
        let _ = write!(text, " {name}: given | fouls | reliance | counts |");
        separator.push_str("---|---|---|---|");
    }
    let _ = write!(text, "\n{separator}\n");
    for round in &rounds {
        let _ = writeln!(text, "| {} |{}", round.round, round_marks_row(round));
    }
}

fn round_marks_row(round: &RoundMarks) -> String {
    let mut row = String::new();
    for side in [Side::Pro, Side::Con] {
        let mark = round.for_side(side);
        let _ = write!(
            row,
            " {} | {} | {} | {} |",
            format_hundredths(mark.given),
            format_deduction(mark.fouls),
            format_deduction(mark.reliance),
            format_hundredths(mark.counts)
        );
    }
    row
}

fn format_hundredths(points: u32) -> String {
    format!("{}.{:02}", points / 100, points % 100)
}

fn format_deduction(points: u32) -> String {
    if points == 0 { "0".into() } else { format!("-{}", format_hundredths(points)) }
}

/// Renders the weighted components of the result and the share of each.
fn render_weighted_result(
    text: &mut String,
    debate: &Debate,
    score: WeightedScore,
    basis: VerdictBasis,
) {
    let (pro, con) = (status::side_name(debate, Side::Pro), status::side_name(debate, Side::Con));
    let _ = write!(
        text,
        "\n### Weighed Result\n\n| Part | {} | {} | Counts |\n|---|---|---|---|\n",
        escape_table_cell(&pro),
        escape_table_cell(&con)
    );
    let (judge_percent, audience_percent) = match (score.judge, score.audience) {
        (Some(_), Some(_)) => (score.judge_share, score.audience_share),
        (Some(_), None) => (100, 0),
        _ => (0, 100),
    };
    let judge_share_text = |other_part: Option<u32>| {
        if other_part.is_some() { "half of the judge" } else { "the judge" }
    };
    let parts = [
        (
            "Rounds, after fouls and reliance",
            score.rounds,
            judge_share_text(score.rulings).to_owned(),
        ),
        ("Final rulings", score.rulings, judge_share_text(score.rounds).to_owned()),
        ("Judge", score.judge, format!("{judge_percent}%")),
        ("Audience", score.audience, format!("{audience_percent}%")),
        ("Total", Some(score.total), "100%".into()),
    ];
    for (name, part, share) in parts {
        if let Some(part) = part {
            let (pro, con) =
                (format_hundredths(part), format_hundredths(10_000 - part.min(10_000)));
            let _ = writeln!(text, "| {name} | {pro}% | {con}% | {share} |");
        }
    }
    if basis != VerdictBasis::Weighed {
        let _ = write!(text, "\nThe total is even. Decided by a {}.\n", basis.describe());
    }
}
