//! Writes the text of the brief (repository context for the prompts): citation rules, list of
//! picks, changed files, packed pieces, and the list of omissions. The entry point is `compose`,
//! the last step of `build_brief`.
use super::pack::{self, BriefPiece, BriefSection, PieceFit};
use super::{BriefOmission, RepositoryBrief, text_format};
use crate::repo::Pin;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Limit on omissions listed in the text.
const MAX_LISTED_OMISSIONS: usize = 50;
/// Limit on picks listed in the text.
const MAX_LISTED_PICKS: usize = 40;
/// Most tokens of the budget that are reserved for the list of omissions.
const MAX_OMISSION_TOKENS: usize = 1_500;
/// Tokens of the budget that are reserved for the titles of sections.
const TITLE_TOKENS: usize = 80;
/// Tokens for the title and the last line of the list of omissions.
const OMISSION_TITLE_TOKENS: usize = 30;
/// Characters shown of a tree or commit id.
const SHORT_ID_CHARS: usize = 12;

/// Packs the pieces into the token budget and renders the brief.
pub(super) fn compose(
    mut brief: RepositoryBrief,
    pin: Option<&Pin>,
    complete: bool,
    fixed_text: &str,
    pieces: &[BriefPiece],
    budget: usize,
) -> RepositoryBrief {
    if pieces.is_empty() && fixed_text.is_empty() {
        return brief;
    }
    let mut text = render_head(pin, complete, budget);
    for line in brief.picked.iter().take(MAX_LISTED_PICKS) {
        let _ = writeln!(text, "- {}", text_format::truncate_line(line));
    }
    text.push_str(fixed_text);
    // Reserve for titles and the list of omissions.
    let reserved = (budget / 6).min(MAX_OMISSION_TOKENS);
    let room = budget.saturating_sub(text_format::estimate_tokens(&text) + reserved + TITLE_TOKENS);
    let fits = pack::pack(pieces, room);
    for section in BriefSection::ALL {
        let in_section = pieces.iter().zip(&fits).filter(|(piece, _)| piece.section == section);
        let mut shown = in_section.filter_map(|(piece, fit)| match fit {
            PieceFit::Full => Some(piece.text.as_str()),
            PieceFit::Short => piece.short_text.as_deref(),
            PieceFit::Omitted => None,
        });
        if let Some(first) = shown.next() {
            let _ = write!(text, "\n## {}\n{first}", section.title());
            shown.for_each(|shown| text.push_str(shown));
        }
    }
    brief.left_out.extend(list_omissions(pieces, &fits));
    brief.left_out = dedup_in_order(brief.left_out);
    render_omissions(&mut text, &brief.left_out, reserved);
    brief.touched_paths = dedup_in_order(brief.touched_paths);
    brief.tokens = text_format::estimate_tokens(&text);
    brief.text = text;
    brief
}

/// Header: how to cite, and which tree is pinned.
fn render_head(pin: Option<&Pin>, complete: bool, budget: usize) -> String {
    let short_id = |id: &str| id.chars().take(SHORT_ID_CHARS).collect::<String>();
    let pinned = pin.map_or_else(
        || "not pinned: files are as they were when this was written".to_owned(),
        |pin| {
            let commit =
                pin.commit.as_deref().map(|commit| format!(", commit `{}`", short_id(commit)));
            let changed = if pin.dirty { ", with changes that are not committed" } else { "" };
            format!("pinned: tree `{}`{}{changed}", short_id(&pin.tree), commit.unwrap_or_default())
        },
    );
    let incomplete_note = if complete { "" } else { " Not all files could be listed." };
    format!(
        "Cite as `path:line \"words\"`, with the line numbers shown; {pinned}. At most about \
         {budget} tokens (estimated, four bytes each).{incomplete_note}\nChosen:\n"
    )
}

/// Lists the pieces that are omitted or shortened. Hunks are counted per file.
fn list_omissions(pieces: &[BriefPiece], fits: &[PieceFit]) -> Vec<BriefOmission> {
    let mut hunks: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut omissions = vec![];
    for (piece, fit) in pieces.iter().zip(fits) {
        if piece.section == BriefSection::Hunks {
            let counted = hunks.entry(&piece.path).or_default();
            counted.0 += usize::from(*fit != PieceFit::Full);
            counted.1 += 1;
            continue;
        }
        let tokens = text_format::estimate_tokens(&piece.text);
        let reason = match fit {
            PieceFit::Full => continue,
            PieceFit::Short => {
                format!("is shown in short: there is no room for about {tokens} tokens")
            }
            PieceFit::Omitted => {
                format!("does not fit: there is no room for about {tokens} tokens")
            }
        };
        omissions.push(BriefOmission { path: piece.path.clone(), reason });
    }
    let hunks = hunks.into_iter().filter(|(_, (missing, _))| *missing > 0);
    omissions.extend(hunks.map(|(path, (missing, total))| BriefOmission {
        path: path.to_owned(),
        reason: format!(
            "has no room for {missing} of {}",
            text_format::pluralize(total, "hunk", "hunks")
        ),
    }));
    omissions
}

/// Appends the list of omissions, as far as `room` tokens allow.
fn render_omissions(text: &mut String, left_out: &[BriefOmission], room: usize) {
    if left_out.is_empty() {
        return;
    }
    text.push_str("\n## Left out\n");
    let (mut remaining, mut listed) = (room.saturating_sub(OMISSION_TITLE_TOKENS), 0);
    for BriefOmission { path, reason } in left_out.iter().take(MAX_LISTED_OMISSIONS) {
        let row = format!("- `{}` {reason}\n", text_format::sanitize_line(path));
        let cost = text_format::estimate_tokens(&row);
        if cost > remaining {
            break;
        }
        (remaining, listed) = (remaining - cost, listed + 1);
        text.push_str(&row);
    }
    let more = left_out.len() - listed;
    if more > 0 {
        let _ = writeln!(text, "- and {more} more");
    }
}

/// Removes duplicates and keeps the order.
fn dedup_in_order<T: Ord + Clone>(items: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Default budget of explicit items, of which the whole reserve is available for omissions.
    const BUDGET: usize = 24_000;

    fn omissions(count: usize, reason: &str) -> Vec<BriefOmission> {
        let omission = |number: usize| BriefOmission {
            path: format!("{number:04}"),
            reason: reason.to_owned(),
        };
        (0..count).map(omission).collect()
    }

    #[test]
    fn listed_picks_are_limited() {
        assert_eq!(MAX_LISTED_PICKS, 40);
        let listed = |count: usize| {
            let picked = (0..count).map(|number| format!("pick {number}")).collect();
            let brief = RepositoryBrief { picked, ..RepositoryBrief::default() };
            compose(brief, None, true, "fixed", &[], BUDGET).text.matches("- pick ").count()
        };
        assert_eq!(listed(MAX_LISTED_PICKS), MAX_LISTED_PICKS);
        assert_eq!(listed(MAX_LISTED_PICKS + 1), MAX_LISTED_PICKS);
    }

    #[test]
    fn listed_omissions_are_limited() {
        assert_eq!(MAX_LISTED_OMISSIONS, 50);
        let render = |count: usize| {
            let mut text = String::new();
            render_omissions(&mut text, &omissions(count, "is large"), usize::MAX);
            text
        };
        let at_limit = render(MAX_LISTED_OMISSIONS);
        assert_eq!(at_limit.matches("is large").count(), MAX_LISTED_OMISSIONS);
        assert_eq!(render(MAX_LISTED_OMISSIONS + 1), format!("{at_limit}- and 1 more\n"));
    }

    #[test]
    fn tokens_of_listed_omissions_are_limited() {
        assert_eq!(MAX_OMISSION_TOKENS, 1_500);
        // Each row has 120 bytes, which are 30 tokens.
        let reason = "x".repeat(120 - "- `0000` \n".len());
        let max_rows = (MAX_OMISSION_TOKENS - OMISSION_TITLE_TOKENS) / 30;
        let listed = |count: usize| {
            let left_out = omissions(count, &reason);
            let brief = RepositoryBrief { left_out, ..RepositoryBrief::default() };
            compose(brief, None, true, "fixed", &[], BUDGET).text.matches(&reason).count()
        };
        assert_eq!(max_rows, 49);
        assert_eq!((listed(max_rows), listed(max_rows + 1)), (max_rows, max_rows));
    }
}
