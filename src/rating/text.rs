//! Renders the leaderboard as text, at most 80 columns wide. The entry point is
//! [`render_leaderboard`], called by `debate leaderboard`. `tournament::text` builds its standings
//! from the other functions.
use super::agreement::{AgreementReference, JudgeAgreement};
use super::bradley_terry::RatingEstimate;
use super::leaderboard::{GameTally, Leaderboard, LeaderboardRow};
use std::fmt::Write as _;

/// Width of the name column.
const NAME_WIDTH: usize = 28;
/// Width of the judge columns.
const JUDGE_WIDTH: usize = 21;

/// Renders the whole leaderboard.
pub(crate) fn render_leaderboard(leaderboard: &Leaderboard) -> String {
    let mut text = render_ranking(leaderboard);
    text.push_str(&render_unrated(leaderboard));
    text.push_str(&render_agreement(&leaderboard.judges));
    text
}

/// Renders the ratings by group, and the proposer's advantage.
pub(crate) fn render_ranking(leaderboard: &Leaderboard) -> String {
    let mut text = String::new();
    if leaderboard.rated == 0 {
        return "No debate is rated yet.\n".into();
    }
    let has_several_groups = leaderboard.groups.len() > 1;
    for (index, group) in leaderboard.groups.iter().enumerate() {
        if has_several_groups {
            let _ = writeln!(
                text,
                "{}Group {} of {}:",
                group_separator(index),
                index + 1,
                leaderboard.groups.len()
            );
        }
        let _ = writeln!(
            text,
            "{:>3}  {:<NAME_WIDTH$} {:>6}  {:<13} {:>5}  {:<10} {:>5}",
            "", "entrant", "rating", "95 %", "games", "won-=-lost", "for"
        );
        for row in &group.rows {
            let _ = writeln!(text, "{}", render_row(row));
        }
    }
    if has_several_groups {
        text.push_str("No debate connects these groups: their ratings cannot be compared.\n");
    }
    let _ = writeln!(
        text,
        "\n{} of {} debates are rated. A contested verdict is half a win for each (=).",
        leaderboard.rated, leaderboard.debates
    );
    let sides = &leaderboard.sides;
    if let (Some(share), Some(low), Some(high)) = (sides.share, sides.low, sides.high) {
        let _ = writeln!(
            text,
            "Whoever argued for the motion won {:.0} % of what was decided ({:.0} to {:.0} %).",
            share * 100.0,
            low * 100.0,
            high * 100.0
        );
    }
    if let Some(advantage) = sides.advantage {
        let _ = writeln!(
            text,
            "Arguing for it is worth {:+.0} points ({:+.0} to {:+.0}), taken off the ratings.",
            advantage.value, advantage.low, advantage.high
        );
    }
    if leaderboard.partial > 0 {
        let _ = writeln!(
            text,
            "In {} of them one of the two, or perhaps the same model, also judged.",
            leaderboard.partial
        );
    }
    text
}

/// Renders the reasons for unrated debates with their counts.
pub(crate) fn render_unrated(leaderboard: &Leaderboard) -> String {
    let mut text = String::new();
    if !leaderboard.unrated.is_empty() {
        text.push_str("\nNot rated:\n");
        for entry in &leaderboard.unrated {
            let _ = writeln!(text, "{:>5}  {}", entry.debates, entry.says);
        }
    }
    text
}

/// Renders the agreement of judges.
pub(crate) fn render_agreement(rows: &[JudgeAgreement]) -> String {
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\nHow often judges chose the same side:\n  {:<JUDGE_WIDTH$} {:<JUDGE_WIDTH$} {:>9}  {:<17} {:>5}",
        "judge", "with", "same", "share, 95 %", "kappa"
    );
    for row in rows {
        let reference = match (row.between, &row.other) {
            (AgreementReference::Panel, Some(other)) => truncate_entrant(other),
            (AgreementReference::Panel, None) => "another judge".into(),
            (AgreementReference::Swapped, _) => "itself, sides swapped".into(),
            (AgreementReference::Verdict, _) => "the verdict".into(),
            (AgreementReference::Audience, _) => "the audience".into(),
        };
        let kappa = row.kappa.map_or("-".into(), |kappa| format!("{kappa:.2}"));
        let _ = writeln!(
            text,
            "  {:<JUDGE_WIDTH$} {:<JUDGE_WIDTH$} {:>9}  {:<17} {kappa:>5}",
            truncate_name(&row.judge, JUDGE_WIDTH),
            truncate_name(&reference, JUDGE_WIDTH),
            format!("{}/{}", row.same, row.debates),
            format!(
                "{:.0} %, {:.0} to {:.0}",
                row.share * 100.0,
                row.low * 100.0,
                row.high * 100.0
            ),
        );
    }
    text
}

fn render_row(row: &LeaderboardRow) -> String {
    let RatingEstimate { value, low, high } = row.rating;
    let interval = format!("{low:.0} to {high:.0}");
    format!(
        "{:>3}  {:<NAME_WIDTH$} {:>6.0}  {:<13} {:>5}  {:<10} {:>5}",
        row.rank,
        truncate_entrant(&row.entrant),
        value,
        interval,
        row.total.games,
        format_score(row.total),
        format!("{}/{}", format_points(row.as_proposer.points()), row.as_proposer.games),
    )
}

/// Wins, draws and losses, as in "3-1-2".
pub(crate) fn format_score(tally: GameTally) -> String {
    format!("{}-{}-{}", tally.wins, tally.draws, tally.losses)
}

/// Points without a trailing `.0`.
pub(crate) fn format_points(points: f64) -> String {
    if points.fract() == 0.0 { format!("{points:.0}") } else { format!("{points:.1}") }
}

fn truncate_entrant(name: &str) -> String {
    truncate_name(name, NAME_WIDTH)
}

/// Truncates a name to `max_chars` characters.
pub(crate) fn truncate_name(name: &str, max_chars: usize) -> String {
    if name.chars().count() <= max_chars {
        return name.into();
    }
    name.chars().take(max_chars - 1).chain(['…']).collect()
}

fn group_separator(index: usize) -> &'static str {
    if index == 0 { "" } else { "\n" }
}
