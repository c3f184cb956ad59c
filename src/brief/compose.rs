//! Writes the text of the brief: citation rules, list of picks, changed files, packed pieces, and
//! the list of omissions.
use super::pack::{self, BriefPiece, BriefSection, PieceFit};
use super::{BriefOmission, RepositoryBrief, text_format};
use crate::repo::Pin;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Limit on omissions listed in the text.
const MAX_LISTED_OMISSIONS: usize = 50;
/// Limit on picks listed in the text.
const MAX_LISTED_PICKS: usize = 40;

/// Packs the pieces into the token budget and renders the brief.
pub(super) fn compose(
    mut told: RepositoryBrief,
    pin: Option<&Pin>,
    whole: bool,
    lists: &str,
    pieces: &[BriefPiece],
    budget: usize,
) -> RepositoryBrief {
    if pieces.is_empty() && lists.is_empty() {
        return told;
    }
    let mut text = render_head(pin, whole, budget);
    for line in told.picked.iter().take(MAX_LISTED_PICKS) {
        let _ = writeln!(text, "- {}", text_format::truncate_line(line));
    }
    text.push_str(lists);
    // Reserve for titles and the list of omissions.
    let kept = (budget / 6).min(1_500);
    let room = budget.saturating_sub(text_format::estimate_tokens(&text) + kept + 80);
    let fits = pack::pack(pieces, room);
    for section in BriefSection::ALL {
        let of_it = pieces.iter().zip(&fits).filter(|(piece, _)| piece.section == section);
        let mut shown = of_it.filter_map(|(piece, fit)| match fit {
            PieceFit::Full => Some(piece.text.as_str()),
            PieceFit::Short => piece.short_text.as_deref(),
            PieceFit::Omitted => None,
        });
        if let Some(first) = shown.next() {
            let _ = write!(text, "\n## {}\n{first}", section.title());
            shown.for_each(|shown| text.push_str(shown));
        }
    }
    told.left_out.extend(list_omissions(pieces, &fits));
    told.left_out = dedup_in_order(told.left_out);
    render_omissions(&mut text, &told.left_out, kept);
    told.touched_paths = dedup_in_order(told.touched_paths);
    told.tokens = text_format::estimate_tokens(&text);
    told.text = text;
    told
}

/// Header: how to cite, and which tree is pinned.
fn render_head(pin: Option<&Pin>, whole: bool, budget: usize) -> String {
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
fn list_omissions(pieces: &[BriefPiece], fits: &[PieceFit]) -> Vec<BriefOmission> {
    let mut hunks: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut left = vec![];
    for (piece, fit) in pieces.iter().zip(fits) {
        if piece.section == BriefSection::Hunks {
            let counted = hunks.entry(&piece.path).or_default();
            counted.0 += usize::from(*fit != PieceFit::Full);
            counted.1 += 1;
            continue;
        }
        let tokens = text_format::estimate_tokens(&piece.text);
        let why = match fit {
            PieceFit::Full => continue,
            PieceFit::Short => {
                format!("is shown in short: there is no room for about {tokens} tokens")
            }
            PieceFit::Omitted => {
                format!("does not fit: there is no room for about {tokens} tokens")
            }
        };
        left.push(BriefOmission { path: piece.path.clone(), reason: why });
    }
    let hunks = hunks.into_iter().filter(|(_, (missing, _))| *missing > 0);
    left.extend(hunks.map(|(path, (missing, all))| BriefOmission {
        path: path.to_owned(),
        reason: format!(
            "has no room for {missing} of {}",
            text_format::pluralize(all, "hunk", "hunks")
        ),
    }));
    left
}

/// Appends the list of omissions, as far as `room` tokens allow.
fn render_omissions(text: &mut String, left_out: &[BriefOmission], room: usize) {
    if left_out.is_empty() {
        return;
    }
    text.push_str("\n## Left out\n");
    let (mut left, mut named) = (room.saturating_sub(30), 0);
    for BriefOmission { path, reason: why } in left_out.iter().take(MAX_LISTED_OMISSIONS) {
        let row = format!("- `{}` {why}\n", text_format::sanitize_line(path));
        let cost = text_format::estimate_tokens(&row);
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
fn dedup_in_order<T: Ord + Clone>(all: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}
