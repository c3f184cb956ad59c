//! Renders the standings as text, at most 80 columns wide.
use super::standings::{CrossTable, Standings};
use crate::rating::text::{
    format_points, format_score, render_agreement, render_ranking, render_unrated, truncate_name,
};
use std::fmt::Write as _;

/// Limit on entrants in a cross table. With more, pairs are listed.
const MAX_TABLE_ENTRANTS: usize = 7;
/// Limit on failed games listed.
const MAX_LISTED_FAILURES: usize = 10;
/// Width of the name column of the cross table.
const NAME_WIDTH: usize = 22;
/// Columns of a name in the list of pairs.
const PAIR_NAME_WIDTH: usize = 28;
/// Columns of a pair in the list of pairs.
const PAIR_WIDTH: usize = 60;
/// Columns of the reason why a game failed.
const REASON_WIDTH: usize = 74;
/// Entrants in the line of the leaders.
const MAX_LEADERS: usize = 3;

/// Renders the standings.
pub(crate) fn render_standings(standings: &Standings) -> String {
    let mut text = format!("{}: {}\n\n", standings.tournament, render_counts(standings));
    text.push_str(&render_ranking(&standings.board));
    text.push_str(&render_unrated(&standings.board));
    if standings.board.rated > 0 {
        text.push_str(&render_cross_table(&standings.cross));
    }
    if !standings.failed.is_empty() {
        text.push_str("\nFailed:\n");
        for failure in standings.failed.iter().take(MAX_LISTED_FAILURES) {
            let id = failure.id.as_deref().unwrap_or("not opened");
            let _ = writeln!(text, "  {id}: {} against {}", failure.proposer, failure.challenger);
            let why = failure.why.replace('\n', " ");
            let _ = writeln!(text, "    {}", truncate_name(&why, REASON_WIDTH));
        }
    }
    if let Some(more @ 1..) = standings.failed.len().checked_sub(MAX_LISTED_FAILURES) {
        let _ = writeln!(text, "  and {more} more; `--json` lists all");
    }
    text.push_str(&render_agreement(&standings.board.judges));
    text
}

/// Counts of games by status, in one line.
pub(crate) fn render_counts(standings: &Standings) -> String {
    let mut text = format!("{} of {} games played", standings.played, standings.games);
    for (count, word) in [
        (standings.begun, "not over"),
        (standings.failed.len(), "failed"),
        (standings.left, "not begun"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    text
}

/// The three leading entrants, in one line.
pub(crate) fn render_leaders(standings: &Standings) -> String {
    let rows: Vec<String> = standings
        .board
        .groups
        .first()
        .into_iter()
        .flat_map(|group| group.rows.iter().take(MAX_LEADERS))
        .map(|row| format!("{} {:.0} ({})", row.entrant, row.rating.value, format_score(row.total)))
        .collect();
    if rows.is_empty() { "nothing rated yet".into() } else { rows.join(", ") }
}

/// Renders the points of each entrant against each other. With many entrants it is a list of pairs.
fn render_cross_table(cross: &CrossTable) -> String {
    let count = cross.entrants.len();
    let mut text = String::from("\nPoints against each other:\n");
    if count > MAX_TABLE_ENTRANTS {
        for (row, name) in cross.rows.iter().zip(&cross.entrants) {
            for (cell, opponent) in row.iter().zip(&cross.entrants) {
                if let Some(cell) = cell.filter(|cell| cell.games > 0) {
                    let name = truncate_name(name, PAIR_NAME_WIDTH);
                    let pair = format!("{name} - {}", truncate_name(opponent, PAIR_NAME_WIDTH));
                    let _ = writeln!(text, "  {pair:<PAIR_WIDTH$} {}", format_cell(cell));
                }
            }
        }
        return text;
    }
    let _ = write!(text, "  {:<NAME_WIDTH$}", "");
    for number in 1..=count {
        let _ = write!(text, " {number:>7}");
    }
    text.push('\n');
    for (number, (row, name)) in (1..).zip(cross.rows.iter().zip(&cross.entrants)) {
        let name = truncate_name(&format!("{number} {name}"), NAME_WIDTH);
        let _ = write!(text, "  {name:<NAME_WIDTH$}");
        for cell in row {
            let cell = cell.map_or("-".into(), format_cell);
            let _ = write!(text, " {cell:>7}");
        }
        text.push('\n');
    }
    text
}

fn format_cell(cell: crate::rating::GameTally) -> String {
    format!("{}/{}", format_points(cell.points()), cell.games)
}
