//! Rules for advocates who research a stance, and for the audit of their arguments.
//! `Rule::find_violation` in `rules` calls one function per rule, which returns the error message
//! if the reply breaks it.
use crate::debate::record::body::{Body, Claim, ClaimPurpose};
use crate::debate::record::stances::{max_words, stance_letter};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::text::word_count;
use crate::debate::text::words::in_backticks;
use std::ops::RangeInclusive;

/// Number of arguments in an investigation.
const ARGUMENT_COUNT: RangeInclusive<usize> = 3..=5;
/// Number of weaknesses of other stances in an investigation.
const WEAKNESS_COUNT: RangeInclusive<usize> = 2..=3;
/// Number of counter-attacks in an investigation.
const COUNTER_COUNT: RangeInclusive<usize> = 1..=2;
/// Number of attacks on the weakest premise in a rebuttal.
const PREMISE_ATTACK_COUNT: usize = 1;
/// Number of new attacks in a rebuttal.
const NEW_ATTACK_COUNT: usize = 2;

fn claims_with_part(body: &Body, part: ClaimPurpose) -> impl Iterator<Item = &Claim> {
    body.claims().iter().filter(move |claim| claim.part == Some(part))
}

/// Three to five arguments, two or three weaknesses of other stances, one or two counter-attacks.
pub(super) fn investigates(body: &Body) -> Option<String> {
    if !body.is_structured() {
        return None;
    }
    let required = [
        (ClaimPurpose::Argument, "argument", ARGUMENT_COUNT),
        (ClaimPurpose::Weakness, "weakness", WEAKNESS_COUNT),
        (ClaimPurpose::Counter, "counter", COUNTER_COUNT),
    ];
    required.into_iter().find_map(|(part, word, range)| {
        let count = claims_with_part(body, part).count();
        let (min, max) = (*range.start(), *range.end());
        (!range.contains(&count))
            .then(|| format!("{count} claims with part `{word}`; there must be {min} to {max}"))
    })
}

/// Every argument has a confidence and a source.
pub(super) fn rates_arguments(body: &Body) -> Option<String> {
    let is_rated = |claim: &&Claim| claim.confidence.is_some() && claim.source.is_some();
    let unrated = claims_with_part(body, ClaimPurpose::Argument).find(|claim| !is_rated(claim))?;
    Some(format!("argument {} has no `confidence` or no `source`", in_backticks(&unrated.id)))
}

/// Rebuttals answer every argument of the other stances, each with a confidence. There is one
/// attack on the weakest premise, and there are two new attacks.
pub(super) fn rebuts(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    if !body.is_structured() {
        return None;
    }
    let answers: Vec<&str> = claims_with_part(body, ClaimPurpose::Rebuttal)
        .flat_map(|claim| &claim.answers)
        .map(String::as_str)
        .collect();
    let unanswered =
        opposing_arguments(debate, cue).find(|claim| !answers.contains(&claim.id.as_str()));
    if let Some(claim) = unanswered {
        return Some(format!("no rebuttal answers argument {}", in_backticks(&claim.id)));
    }
    if let Some(unrated) =
        claims_with_part(body, ClaimPurpose::Rebuttal).find(|claim| claim.confidence.is_none())
    {
        return Some(format!("rebuttal {} has no `confidence`", in_backticks(&unrated.id)));
    }
    match (
        claims_with_part(body, ClaimPurpose::Premise).count(),
        claims_with_part(body, ClaimPurpose::Attack).count(),
    ) {
        (PREMISE_ATTACK_COUNT, NEW_ATTACK_COUNT) => None,
        (PREMISE_ATTACK_COUNT, attacks) => {
            Some(format!("{attacks} new attacks; there must be two"))
        }
        (premises, _) => {
            Some(format!("{premises} attacks on the weakest premise; there must be one"))
        }
    }
}

/// Arguments of all other stances before this turn.
fn opposing_arguments(debate: &Debate, cue: Cue) -> impl Iterator<Item = &Claim> {
    let other_replies = debate.replies_before(cue).filter(move |(past, _)| past.seat != cue.seat);
    other_replies.flat_map(|(_, body)| claims_with_part(body, ClaimPurpose::Argument))
}

/// The rebuttal is within its word limit.
pub(super) fn within_words(debate: &Debate, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let (count, max) = (word_count::count_words(text), max_words(debate));
    (count > max).then(|| format!("{count} words; at most {max} are allowed"))
}

/// The audit tags every argument and attributes each claim to the seat that made it.
pub(super) fn audits_arguments(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Audit { facts } = body else { return None };
    let claims = || {
        debate.replies_before(cue).flat_map(|(past, body)| {
            body.claims().iter().map(move |claim| (debate.seat(past).name.as_str(), claim))
        })
    };
    let misattributed = facts.iter().find_map(|fact| {
        let (author, _) = claims().find(|(_, claim)| !fact.id.is_empty() && claim.id == fact.id)?;
        (!fact.by.is_empty() && author != fact.by)
            .then(|| format!("{} is a claim of {author}", in_backticks(&fact.id)))
    });
    if misattributed.is_some() {
        return misattributed;
    }
    let mut arguments = claims().filter(|(_, claim)| claim.part == Some(ClaimPurpose::Argument));
    match arguments.find(|(_, claim)| facts.iter().all(|fact| fact.id != claim.id)) {
        Some((_, claim)) => Some(format!("argument {} was not tagged", in_backticks(&claim.id))),
        None if facts.is_empty() => Some("no factual claim was found".into()),
        None => None,
    }
}

/// Claim ids start with the letter of their own stance, so that answers are unambiguous.
pub(super) fn own_ids(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let letter = stance_letter(debate, cue);
    let foreign = body.claims().iter().find(|claim| !claim.id.starts_with(letter))?;
    Some(format!("id {} does not begin with `{letter}`", in_backticks(&foreign.id)))
}

#[cfg(test)]
mod tests;
