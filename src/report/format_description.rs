//! Describes a debate format as Markdown: its purpose, number of rounds, acts and phases.
use crate::debate::formats::FormatOffer;
use crate::debate::{Act, Phase, Rounds, Speakers};
use std::fmt::Write;

/// Describes a format as Markdown, with the default number of rounds.
pub fn describe_format(offer: &FormatOffer) -> String {
    let mut text =
        format!("# Format `{}`\n\n{}.\n\n", offer.format.name, capitalize_sentence(&offer.about));
    let (min_rounds, max_rounds) = (offer.rounds.start(), offer.rounds.end());
    if min_rounds == max_rounds {
        let _ = write!(text, "Rounds: {min_rounds}.\n\n");
    } else {
        let _ = write!(
            text,
            "Rounds: {min_rounds} to {max_rounds}, usually {}.\n\n",
            offer.default_rounds
        );
    }
    for (act, round_range) in
        offer.format.acts.iter().zip(offer.format.round_ranges(offer.default_rounds))
    {
        let rounds_text = match act.rounds {
            Rounds::Once => String::new(),
            Rounds::Open => {
                format!(" (from round {}, until somebody ends it)", round_range.start())
            }
            _ if round_range.start() == round_range.end() => {
                format!(" (round {})", round_range.start())
            }
            _ if round_range.is_empty() => " (in longer debates)".into(),
            _ => format!(" (rounds {}-{})", round_range.start(), round_range.end()),
        };
        let _ = writeln!(text, "- {}{rounds_text}: {}", act.name, phases_text(act));
    }
    text
}

fn capitalize_sentence(about: &str) -> String {
    let about = about.trim().trim_end_matches('.');
    let mut chars = about.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn phases_text(act: &Act) -> String {
    act.phases
        .iter()
        .map(|phase| format!("{} ({})", phase.name, speakers_text(phase)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn speakers_text(phase: &Phase) -> String {
    let title = |role: &crate::debate::Role| role.title().to_lowercase();
    match &phase.speakers {
        Speakers::Seated(roles) => roles.iter().map(title).collect::<Vec<_>>().join(", "),
        Speakers::Prompted(role) => format!("{}, if somebody asks to be let in", title(role)),
        Speakers::Silent(role) => format!("{} who have not spoken", title(role)),
        Speakers::Admitted => "whoever was let in".into(),
    }
}
