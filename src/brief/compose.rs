//! Writes the text of the brief: citation rules, list of picks, changed files, packed pieces, and
//! the list of omissions.
use super::pack::{self, Fit, Piece, Section};
use super::{Gathered, Omitted, page};
use crate::repo::Pin;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Limit on omissions listed in the text.
const MOST_NAMED: usize = 50;
/// Limit on picks listed in the text.
const MOST_PICKED: usize = 40;

/// Packs the pieces into the token budget and renders the brief.
pub(super) fn compose(
    mut told: Gathered,
    pin: Option<&Pin>,
    whole: bool,
    lists: &str,
    pieces: &[Piece],
    budget: usize,
) -> Gathered {
    if pieces.is_empty() && lists.is_empty() {
        return told;
    }
    let mut text = head(pin, whole, budget);
    for line in told.picked.iter().take(MOST_PICKED) {
        let _ = writeln!(text, "- {}", page::cut(line));
    }
    text.push_str(lists);
    // Reserve for titles and the list of omissions.
    let kept = (budget / 6).min(1_500);
    let room = budget.saturating_sub(page::tokens(&text) + kept + 80);
    let fits = pack::pack(pieces, room);
    for section in Section::ALL {
        let of_it = pieces.iter().zip(&fits).filter(|(piece, _)| piece.section == section);
        let mut shown = of_it.filter_map(|(piece, fit)| match fit {
            Fit::Whole => Some(piece.text.as_str()),
            Fit::Short => piece.short.as_deref(),
            Fit::Not => None,
        });
        if let Some(first) = shown.next() {
            let _ = write!(text, "\n## {}\n{first}", section.title());
            shown.for_each(|shown| text.push_str(shown));
        }
    }
    told.left_out.extend(unfit(pieces, &fits));
    told.left_out = once(told.left_out);
    omissions(&mut text, &told.left_out, kept);
    told.touched = once(told.touched);
    told.tokens = page::tokens(&text);
    told.text = text;
    told
}

/// Header: how to cite, and which tree is pinned.
fn head(pin: Option<&Pin>, whole: bool, budget: usize) -> String {
    let short = |id: &str| id.chars().take(12).collect::<String>();
    let pinned = pin.map_or_else(
        || "not pinned: files are as they were when this was written".to_owned(),
        |pin| {
            let commit =
                pin.commit.as_deref().map(|commit| format!(", commit `{}`", short(commit)));
            let changed = if pin.dirty { ", with changes that are not committed" } else { "" };
            format!("pinned: tree `{}`{}{changed}", short(&pin.tree), commit.unwrap_or_default())
        },
    );
    let lacks = if whole { "" } else { " Not all files could be listed." };
    format!(
        "Cite as `path:line \"words\"`, with the line numbers shown; {pinned}. At most about {budget} \
         tokens (estimated, four bytes each).{lacks}\nChosen:\n"
    )
}

/// Lists the pieces that are omitted or shortened. Hunks are counted per file.
fn unfit(pieces: &[Piece], fits: &[Fit]) -> Vec<Omitted> {
    let mut hunks: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut left = vec![];
    for (piece, fit) in pieces.iter().zip(fits) {
        if piece.section == Section::Hunks {
            let counted = hunks.entry(&piece.path).or_default();
            counted.0 += usize::from(*fit != Fit::Whole);
            counted.1 += 1;
            continue;
        }
        let tokens = page::tokens(&piece.text);
        let why = match fit {
            Fit::Whole => continue,
            Fit::Short => format!("is shown in short: there is no room for about {tokens} tokens"),
            Fit::Not => format!("does not fit: there is no room for about {tokens} tokens"),
        };
        left.push(Omitted { path: piece.path.clone(), why });
    }
    let hunks = hunks.into_iter().filter(|(_, (missing, _))| *missing > 0);
    left.extend(hunks.map(|(path, (missing, all))| Omitted {
        path: path.to_owned(),
        why: format!("has no room for {missing} of {}", page::many(all, "hunk", "hunks")),
    }));
    left
}

/// Appends the list of omissions, as far as `room` tokens allow.
fn omissions(text: &mut String, left_out: &[Omitted], room: usize) {
    if left_out.is_empty() {
        return;
    }
    text.push_str("\n## Left out\n");
    let (mut left, mut named) = (room.saturating_sub(30), 0);
    for Omitted { path, why } in left_out.iter().take(MOST_NAMED) {
        let row = format!("- `{}` {why}\n", page::plain(path));
        let cost = page::tokens(&row);
        if cost > left {
            break;
        }
        (left, named) = (left - cost, named + 1);
        text.push_str(&row);
    }
    let more = left_out.len() - named;
    if more > 0 {
        let _ = writeln!(text, "- and {more} more");
    }
}

/// Removes duplicates and keeps the order.
fn once<T: Ord + Clone>(all: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}
