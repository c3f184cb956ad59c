//! Greedy packing of pieces into the token budget, by value per token. A piece that does not fit in
//! full may fit in its short form.
use super::text_format;

/// A piece of text that may go into the brief.
#[derive(Debug, Clone)]
pub(super) struct BriefPiece {
    pub(super) section: BriefSection,
    /// Path it is about.
    pub(super) path: String,
    pub(super) value: u64,
    pub(super) text: String,
    /// Shorter form, used if the full text does not fit.
    pub(super) short_text: Option<String>,
}

/// Section of the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BriefSection {
    Notes,
    NamedFiles,
    Snippets,
    Hunks,
    Designs,
    Tree,
    Manifests,
    FolderFiles,
    History,
}

/// How much of a piece fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceFit {
    Full,
    Short,
    Omitted,
}

impl BriefSection {
    pub(super) const ALL: [BriefSection; 9] = [
        BriefSection::Notes,
        BriefSection::NamedFiles,
        BriefSection::Snippets,
        BriefSection::Hunks,
        BriefSection::Designs,
        BriefSection::Tree,
        BriefSection::Manifests,
        BriefSection::FolderFiles,
        BriefSection::History,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            BriefSection::Notes => "Notes of the user",
            BriefSection::NamedFiles => "Files",
            BriefSection::Snippets => "Where it is defined or used",
            BriefSection::Hunks => "Changes (line before, line now)",
            BriefSection::Designs => "Documents about the design",
            BriefSection::Tree => "Tree",
            BriefSection::Manifests => "Manifests",
            BriefSection::FolderFiles => "Files found",
            BriefSection::History => "History",
        }
    }

    /// Priority: all pieces of a lower tier are packed before the next tier.
    fn tier(self) -> u8 {
        match self {
            BriefSection::Notes => 0,
            BriefSection::NamedFiles => 1,
            BriefSection::Snippets | BriefSection::Tree => 2,
            BriefSection::Hunks | BriefSection::Designs | BriefSection::Manifests => 3,
            BriefSection::FolderFiles | BriefSection::History => 4,
        }
    }
}

/// Decides for each piece how much of it fits into `room` tokens. The result has the order of
/// `pieces`.
pub(super) fn pack(pieces: &[BriefPiece], room: usize) -> Vec<PieceFit> {
    let costs: Vec<usize> =
        pieces.iter().map(|piece| text_format::estimate_tokens(&piece.text) + 1).collect();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    // Value per token in thousandths, because integers are too coarse. Of equal pieces, the smaller
    // comes first.
    let value_per_token =
        |index: &usize| (pieces[*index].value * 1_000) / (costs[*index] as u64 + 20);
    order.sort_by_key(|index| {
        (pieces[*index].section.tier(), u64::MAX - value_per_token(index), costs[*index], *index)
    });
    let mut fits = vec![PieceFit::Omitted; pieces.len()];
    let mut remaining = room;
    let tiers =
        order.chunk_by(|one, other| pieces[*one].section.tier() == pieces[*other].section.tier());
    for tier in tiers {
        // If the tier does not fit, reserve an eighth of the budget for short forms.
        let tier_cost: usize = tier.iter().map(|index| costs[*index]).sum();
        let reserved = if tier_cost > remaining { remaining / 8 } else { 0 };
        for index in tier {
            if costs[*index] + reserved <= remaining {
                (fits[*index], remaining) = (PieceFit::Full, remaining - costs[*index]);
            }
        }
        for index in tier.iter().filter(|index| pieces[**index].short_text.is_some()) {
            let cost =
                pieces[*index].short_text.as_deref().map_or(0, text_format::estimate_tokens) + 1;
            if fits[*index] == PieceFit::Omitted && cost <= remaining {
                (fits[*index], remaining) = (PieceFit::Short, remaining - cost);
            }
        }
    }
    fits
}
