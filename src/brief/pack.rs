//! Greedy packing of pieces into the token budget, by value per token. A piece that does not fit in
//! full may fit in its short form.
use super::page;

/// A piece of text that may go into the brief.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) section: Section,
    /// Path it is about.
    pub(super) path: String,
    pub(super) value: u64,
    pub(super) text: String,
    /// Shorter form, used if the full text does not fit.
    pub(super) short: Option<String>,
}

/// Section of the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Notes,
    Named,
    Snippets,
    Hunks,
    Designs,
    Tree,
    Manifests,
    Below,
    History,
}

/// How much of a piece fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Whole,
    Short,
    Not,
}

impl Section {
    pub(super) const ALL: [Section; 9] = [
        Section::Notes,
        Section::Named,
        Section::Snippets,
        Section::Hunks,
        Section::Designs,
        Section::Tree,
        Section::Manifests,
        Section::Below,
        Section::History,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Section::Notes => "Notes of the user",
            Section::Named => "Files",
            Section::Snippets => "Where it is defined or used",
            Section::Hunks => "Changes (line before, line now)",
            Section::Designs => "Documents about the design",
            Section::Tree => "Tree",
            Section::Manifests => "Manifests",
            Section::Below => "Files found",
            Section::History => "History",
        }
    }

    /// Priority: all pieces of a lower tier are packed before the next tier.
    fn tier(self) -> u8 {
        match self {
            Section::Notes => 0,
            Section::Named => 1,
            Section::Snippets | Section::Tree => 2,
            Section::Hunks | Section::Designs | Section::Manifests => 3,
            Section::Below | Section::History => 4,
        }
    }
}

/// Decides for each piece how much of it fits into `room` tokens. The result has the order of
/// `pieces`.
pub(super) fn pack(pieces: &[Piece], room: usize) -> Vec<Fit> {
    let costs: Vec<usize> = pieces.iter().map(|piece| page::tokens(&piece.text) + 1).collect();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    // Value per token in thousandths, because integers are too coarse. Of equal pieces, the smaller
    // comes first.
    let worth = |at: &usize| (pieces[*at].value * 1_000) / (costs[*at] as u64 + 20);
    order.sort_by_key(|at| (pieces[*at].section.tier(), u64::MAX - worth(at), costs[*at], *at));
    let mut fits = vec![Fit::Not; pieces.len()];
    let mut left = room;
    let tiers =
        order.chunk_by(|one, other| pieces[*one].section.tier() == pieces[*other].section.tier());
    for tier in tiers {
        // If the tier does not fit, reserve an eighth of the budget for short forms.
        let all: usize = tier.iter().map(|at| costs[*at]).sum();
        let kept = if all > left { left / 8 } else { 0 };
        for at in tier {
            if costs[*at] + kept <= left {
                (fits[*at], left) = (Fit::Whole, left - costs[*at]);
            }
        }
        for at in tier.iter().filter(|at| pieces[**at].short.is_some()) {
            let cost = pieces[*at].short.as_deref().map_or(0, page::tokens) + 1;
            if fits[*at] == Fit::Not && cost <= left {
                (fits[*at], left) = (Fit::Short, left - cost);
            }
        }
    }
    fits
}
