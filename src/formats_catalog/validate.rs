//! Validates the formats of format files, embedded and user-defined. Errors are messages for the
//! author of the file. Entry points: `validate_name` and `validate`, called by
//! `format_file::parse`.
use crate::debate::format::MAX_OPEN_ROUNDS;
use crate::debate::{Phase, ReplyKind, Role, Rounds, Speakers, template};
use crate::engine::format_catalog::CatalogEntry;

/// Maximum length of a format's name.
const MAX_NAME_CHARS: usize = 40;

/// Validates the name: it must match the file, use a small character set and be new.
pub(super) fn validate_name(
    file: &str,
    declared: Option<&str>,
    known: &[CatalogEntry],
) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if file.is_empty() || file.len() > MAX_NAME_CHARS || !file.chars().all(is_allowed) {
        return Err(format!(
            "`{file}` is not a valid name; use at most {MAX_NAME_CHARS} lowercase letters, digits \
             and `-`"
        ));
    }
    if let Some(declared) = declared.filter(|declared| *declared != file) {
        return Err(format!("its `name` is `{declared}`, but the file is named `{file}`"));
    }
    if known.iter().any(|entry| entry.name() == file) {
        return Err(format!("there is a format `{file}` already; call yours something else"));
    }
    Ok(())
}

/// Validates the rounds, the ending, the prompts, the rules and the seats of a format.
pub(super) fn validate(entry: &CatalogEntry) -> Result<(), String> {
    let (offer, acts) = (&entry.offer, &entry.offer.format.acts);
    let (least, most, usual) = (*offer.rounds.start(), *offer.rounds.end(), offer.default_rounds);
    if least == 0 || most > MAX_OPEN_ROUNDS || !offer.rounds.contains(&usual) {
        return Err(format!(
            "`rounds` has least {least}, usual {usual}, most {most}; they must rise, from 1 to \
             {MAX_OPEN_ROUNDS}"
        ));
    }
    let ending = acts.last().ok_or("it has no acts")?;
    if ending.rounds != Rounds::Once {
        return Err(format!(
            "the last act, `{}`, is the ending, and must have `rounds = \"once\"`",
            ending.name
        ));
    }
    if let Some(act) = acts.iter().find(|act| act.phases.is_empty()) {
        return Err(format!("the act `{}` has no phases", act.name));
    }
    let earlier_acts = acts.iter().zip(offer.format.round_ranges(usual)).take(acts.len() - 1);
    if earlier_acts.filter(|(_, range)| !range.is_empty()).count() == 0 {
        return Err(format!("with {usual} rounds no act is played before the last one"));
    }
    let phases = || acts.iter().flat_map(|act| &act.phases);
    for phase in phases() {
        validate_prompt(entry, phase)?;
        validate_rules(phase)?;
    }
    validate_audience(entry)?;
    validate_sides(phases())?;
    for (name, text) in &entry.prompts {
        template::validate(text).map_err(|error| format!("prompt `{name}`: {error}"))?;
        let prefixed = ["reply.", "act.", "audience."].iter().any(|it| name.starts_with(it));
        // The `answer` prompt belongs to a phase that the engine adds when a debate is opened.
        let fixed = ["focus", "again", "answer", "review"].contains(&name.as_str());
        if !prefixed && !fixed && phases().all(|phase| phase.name != *name) {
            return Err(format!("prompt `{name}` belongs to no phase"));
        }
    }
    Ok(())
}

/// No phase may name a role twice, and a phase that picks a side needs both sides.
fn validate_sides<'a>(phases: impl Iterator<Item = &'a Phase> + Clone) -> Result<(), String> {
    let mut seated: Vec<Role> = vec![];
    for phase in phases.clone() {
        let Speakers::Seated(roles) = &phase.speakers else { continue };
        if roles.is_empty() {
            return Err(format!("phase `{}` has no speakers", phase.name));
        }
        if let Some(duplicate) =
            (1..roles.len()).find(|index| roles[..*index].contains(&roles[*index]))
        {
            let role = serialized_name(&roles[duplicate]);
            return Err(format!("phase `{}` names `{role}` twice", phase.name));
        }
        seated.extend(roles);
    }
    let has_both_sides = [Role::Pro, Role::Con].iter().all(|role| seated.contains(role));
    let picks_side = |phase: &&Phase| {
        matches!(phase.reply, ReplyKind::Score | ReplyKind::Verdict | ReplyKind::Vote)
    };
    let mut phases = phases;
    match phases.find(|phase| picks_side(phase)).filter(|_| !has_both_sides) {
        Some(phase) => Err(format!(
            "phase `{}` chooses between `pro` and `con`, but they do not both speak",
            phase.name
        )),
        None => Ok(()),
    }
}

fn validate_prompt(entry: &CatalogEntry, phase: &Phase) -> Result<(), String> {
    let text = entry.prompts.get(&phase.name);
    let has_text = text.is_some_and(|text| !text.trim().is_empty());
    has_text.then_some(()).ok_or_else(|| format!("phase `{}` has no prompt", phase.name))
}

fn validate_rules(phase: &Phase) -> Result<(), String> {
    let misplaced = phase.rules.iter().find(|(rule, _)| rule.reply_kind() != phase.reply);
    match misplaced {
        Some((rule, _)) => Err(format!(
            "phase `{}`: the rule `{}` is about a {}, and the phase asks for a {}",
            phase.name,
            serialized_name(rule),
            serialized_name(&rule.reply_kind()),
            serialized_name(&phase.reply)
        )),
        None => Ok(()),
    }
}

/// Phases for admitted listeners need an audience, and a phase that admits them.
fn validate_audience(entry: &CatalogEntry) -> Result<(), String> {
    let phases = || entry.offer.format.acts.iter().flat_map(|act| &act.phases);
    let seats_audience = |phase: &Phase| match &phase.speakers {
        Speakers::Seated(roles) => roles.contains(&Role::Audience),
        Speakers::Silent(role) => *role == Role::Audience,
        _ => false,
    };
    let admits = phases().any(|phase| phase.speakers == Speakers::Admitted);
    let prompted = phases().any(|phase| matches!(phase.speakers, Speakers::Prompted(_)));
    if admits && !prompted {
        return Err("listeners are `admitted`, but no phase is `prompted` to admit them".into());
    }
    if (admits || prompted) && !phases().any(seats_audience) {
        return Err("listeners are admitted, but no phase seats an audience".into());
    }
    if phases().any(seats_audience) && entry.audience_types().next().is_none() {
        return Err("there is an audience, but `[audience]` has no type of listener".into());
    }
    Ok(())
}

/// The serialized name of an enum variant.
fn serialized_name(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_name_has_at_most_40_characters() {
        assert_eq!(MAX_NAME_CHARS, 40);
        assert_eq!(validate_name(&"x".repeat(MAX_NAME_CHARS), None, &[]), Ok(()));
        assert!(validate_name(&"x".repeat(MAX_NAME_CHARS + 1), None, &[]).is_err());
    }
}
