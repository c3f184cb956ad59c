//! The judge's conclusion of a research debate.
use crate::debate::{Body, Debate, Role, Section};

/// Sections of the judge's reply in the last act.
pub fn research_judgment(debate: &Debate) -> Option<&[Section]> {
    let ending = debate.setup().ending_act();
    debate.replies_in(..).rev().find_map(|(cue, body)| match body {
        Body::Sections { sections }
            if cue.act == ending && debate.seat(cue).role == Role::Judge =>
        {
            Some(sections.as_slice())
        }
        _ => None,
    })
}
