//! Renders the standings as text, at most 80 columns wide.
use super::standings::{Cross, Standings};
use crate::rating::text::{clipped, half, judges, ranking, score, unrated};
use std::fmt::Write as _;

/// Limit on entrants in a cross table. With more, pairs are listed.
const ACROSS: usize = 7;
/// Limit on failed games listed.
const FAILED: usize = 10;
/// Width of the name column of the cross table.
const NAME: usize = 22;

/// Renders the standings.
pub fn table(standings: &Standings) -> String {
    let mut text = format!("{}: {}\n\n", standings.tournament, counted(standings));
    text.push_str(&ranking(&standings.board));
    text.push_str(&unrated(&standings.board));
    if standings.board.rated > 0 {
        text.push_str(&cross(&standings.cross));
    }
    if !standings.failed.is_empty() {
        text.push_str("\nFailed:\n");
        for it in standings.failed.iter().take(FAILED) {
            let id = it.id.as_deref().unwrap_or("not opened");
            let _ = writeln!(text, "  {id}: {} against {}", it.proposer, it.challenger);
            let _ = writeln!(text, "    {}", clipped(&it.why.replace('\n', " "), 74));
        }
    }
    if let Some(more @ 1..) = standings.failed.len().checked_sub(FAILED) {
        let _ = writeln!(text, "  and {more} more; `--json` lists all");
    }
    text.push_str(&judges(&standings.board.judges));
    text
}

/// Counts of games by status, in one line.
pub fn counted(standings: &Standings) -> String {
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
pub fn leaders(standings: &Standings) -> String {
    let rows: Vec<String> = standings
        .board
        .groups
        .first()
        .into_iter()
        .flat_map(|group| group.rows.iter().take(3))
        .map(|row| format!("{} {:.0} ({})", row.entrant, row.rating.value, score(row.total)))
        .collect();
    if rows.is_empty() { "nothing rated yet".into() } else { rows.join(", ") }
}

/// Renders the points of each entrant against each other. With many entrants it is a list of pairs.
fn cross(cross: &Cross) -> String {
    let count = cross.entrants.len();
    let mut text = String::from("\nPoints against each other:\n");
    if count > ACROSS {
        for (row, name) in cross.rows.iter().zip(&cross.entrants) {
            for (cell, other) in row.iter().zip(&cross.entrants) {
                if let Some(cell) = cell.filter(|cell| cell.games > 0) {
                    let against = format!("{} - {}", clipped(name, 28), clipped(other, 28));
                    let _ = writeln!(text, "  {against:<60} {}", points(cell));
                }
            }
        }
        return text;
    }
    let _ = write!(text, "  {:<NAME$}", "");
    for nth in 1..=count {
        let _ = write!(text, " {nth:>7}");
    }
    text.push('\n');
    for (nth, (row, name)) in (1..).zip(cross.rows.iter().zip(&cross.entrants)) {
        let name = clipped(&format!("{nth} {name}"), NAME);
        let _ = write!(text, "  {name:<NAME$}");
        for cell in row {
            let cell = cell.map_or("-".into(), points);
            let _ = write!(text, " {cell:>7}");
        }
        text.push('\n');
    }
    text
}

fn points(cell: crate::rating::Tally) -> String {
    format!("{}/{}", half(cell.points()), cell.games)
}
