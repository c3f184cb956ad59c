//! What fits: pieces compete for room by what they are worth a token. What does not fit whole may
//! fit in short, and what does not fit at all is named.
use super::page;

/// Something that may stand in a brief.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) section: Section,
    /// What it is about.
    pub(super) path: String,
    pub(super) value: u64,
    pub(super) text: String,
    /// The same in short.
    pub(super) short: Option<String>,
}

/// Where it stands. What is asked for first is served first.
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

/// What became of a piece.
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

    /// Who is served at the same time.
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

/// What became of each piece, in the same order.
pub(super) fn pack(pieces: &[Piece], room: usize) -> Vec<Fit> {
    let costs: Vec<usize> = pieces.iter().map(|piece| page::tokens(&piece.text) + 1).collect();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    // Worth a token; of what is worth the same, the small first. Whole tokens are too coarse.
    let worth = |at: &usize| (pieces[*at].value * 1_000) / (costs[*at] as u64 + 20);
    order.sort_by_key(|at| (pieces[*at].section.tier(), u64::MAX - worth(at), costs[*at], *at));
    let mut fits = vec![Fit::Not; pieces.len()];
    let mut left = room;
    let tiers =
        order.chunk_by(|one, other| pieces[*one].section.tier() == pieces[*other].section.tier());
    for tier in tiers {
        // Some of it is kept for what will have to be said in short.
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
