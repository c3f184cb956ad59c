//! Parser of the `change` decision: `name=value` pairs that amend an open debate. The entry point
//! is `parse_changes`, called by `continue_round`, which sends the resulting commands to the
//! session.
use super::error::ToolError;
use super::validate;
use crate::app::App;
use crate::app::cast::with_absolute_script;
use crate::app::default_roles;
use crate::app::plan::{decide_audit, parse_term};
use crate::app::topic_sides;
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Amendment, Budget, Debate, HoldPoint, Participant, Role, Seat, to_millionths};
use crate::engine::Command;
use crate::options::AuditMode;
use std::collections::BTreeMap;
use std::path::Path;

/// Characters of an invalid pair that its error quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// The valid keys. Names of seats are valid, too.
const SETTING_KEYS: &[&str] = &[
    "rounds",
    "topic",
    "proposer",
    "challenger",
    "judge",
    "pause",
    "max_cost",
    "max_tokens",
    "max_minutes",
    "goal",
    "audience",
    "decision_type",
    "evidence_round",
];

/// Parses the pairs into amend commands, in their order.
pub(super) fn parse_changes(
    text: &str,
    debate: &Debate,
    app: &App,
    folder: &Path,
) -> Result<Vec<Command>, ToolError> {
    let mut commands = vec![];
    let (mut budget, spent) = (debate.budget(), debate.spent());
    let mut transfers: Vec<(String, Participant)> = vec![];
    let mut terms = debate.terms().clone();
    for (key, value) in parse_pairs(text, debate)? {
        let invalid =
            |reason: &str| ToolError::InvalidChange { why: format!("`{key}={value}`: {reason}") };
        let change = match key.as_str() {
            "rounds" => {
                let rounds = value.parse().map_err(|_| invalid("a number is needed"))?;
                let rounds = app.check_rounds(&debate.setup().format.name, rounds)?;
                Amendment::Plan { rounds: Some(rounds), seats: None, holds: None }
            }
            "topic" => {
                let topic = value.split_whitespace().collect::<Vec<_>>().join(" ");
                validate::validate_text("topic", &topic, MAX_TOPIC_CHARS)?;
                if debate.turns().next().is_none() {
                    commands.extend(
                        changes_for_new_topic(debate, &topic, &mut terms)
                            .into_iter()
                            .map(amend_command),
                    );
                }
                Amendment::Topic { topic }
            }
            "pause" => {
                let is_on = match value.as_str() {
                    "on" => true,
                    "off" => false,
                    _ => return Err(invalid("it is on or off")),
                };
                let mut holds: Vec<HoldPoint> = debate.holds().to_vec();
                holds.retain(|hold| *hold != HoldPoint::Rounds);
                holds.extend(is_on.then_some(HoldPoint::Rounds));
                Amendment::Plan { rounds: None, seats: None, holds: Some(holds) }
            }
            "max_cost" => {
                let cost = value.parse().ok().and_then(to_millionths);
                let cost = cost.ok_or_else(|| invalid("an amount is needed"))?;
                if cost <= spent.cost {
                    return Err(invalid(&format!(
                        "{:.2} is spent already",
                        spent.cost as f64 / 1e6
                    )));
                }
                budget.cost = Some(cost);
                Amendment::Limit { budget }
            }
            "max_tokens" => {
                let tokens = value.parse().map_err(|_| invalid("a number is needed"))?;
                if tokens <= spent.tokens {
                    return Err(invalid(&format!("{} tokens are spent already", spent.tokens)));
                }
                budget = Budget { tokens: Some(tokens), ..budget };
                Amendment::Limit { budget }
            }
            "max_minutes" => {
                let minutes: u64 = value.parse().map_err(|_| invalid("a number is needed"))?;
                let milliseconds = minutes.saturating_mul(60_000);
                if milliseconds <= spent.milliseconds {
                    let elapsed_minutes = spent.milliseconds as f64 / 6e4;
                    return Err(invalid(&format!(
                        "{elapsed_minutes:.1} minutes are spent already"
                    )));
                }
                budget = Budget { milliseconds: Some(milliseconds), ..budget };
                Amendment::Limit { budget }
            }
            "goal" | "audience" | "decision_type" => {
                if !terms.contains_key(&key) {
                    return Err(invalid("it means nothing in this format"));
                }
                let text = parse_term(&key, &value).map_err(|error| invalid(&error.to_string()))?;
                terms.insert(key.clone(), text);
                Amendment::Terms { terms: terms.clone() }
            }
            "evidence_round" => {
                let flag: AuditMode = value.parse().map_err(|reason: String| invalid(&reason))?;
                let (is_on, reason) = decide_audit(flag, debate.current_topic());
                let seats = seats_with_auditor(debate, is_on)
                    .ok_or_else(|| invalid("there is nothing to audit"))?;
                terms.insert(key.clone(), reason);
                commands.push(amend_command(Amendment::Terms { terms: terms.clone() }));
                if seats == debate.seats() {
                    continue;
                }
                Amendment::Plan { rounds: None, seats: Some(seats), holds: None }
            }
            seat => {
                let participant = value.parse::<Participant>();
                let participant = participant.map_err(|error| invalid(&error.to_string()))?;
                transfers.push((seat.to_owned(), with_absolute_script(participant, folder)));
                continue;
            }
        };
        commands.push(amend_command(change));
    }
    commands.extend(transfer_commands(app, debate, &transfers)?);
    Ok(commands)
}

/// Checks seat transfers and turns them into commands.
fn transfer_commands(
    app: &App,
    debate: &Debate,
    transfers: &[(String, Participant)],
) -> Result<Vec<Command>, ToolError> {
    if transfers.is_empty() {
        return Ok(vec![]);
    }
    let (commands, seats) = app.transfer_seats(debate, transfers)?;
    app.check_seats(&seats)?;
    Ok(commands)
}

/// Changes that follow from a new topic before the first turn: default stances, and whether claims
/// are audited where that was `auto`.
fn changes_for_new_topic(
    debate: &Debate,
    topic: &str,
    terms: &mut BTreeMap<String, String>,
) -> Vec<Amendment> {
    let roles_for = |topic: &str| default_roles(topic, topic_sides::parse(topic).sides);
    let (before, after) = (roles_for(debate.current_topic()), roles_for(topic));
    let mut seats = debate.seats().to_vec();
    for seat in seats.iter_mut().filter(|seat| seat.role == Role::Advocate) {
        let default_index =
            before.iter().position(|(name, it)| (name, it) == (&seat.name, &seat.stance));
        if let Some(index) = default_index {
            (seat.name, seat.stance) = after[index].clone();
        }
    }
    let mut changes = vec![];
    let (was_on, auto_reason) = decide_audit(AuditMode::Auto, debate.current_topic());
    if terms.get("evidence_round") == Some(&auto_reason) {
        let (is_on, reason) = decide_audit(AuditMode::Auto, topic);
        terms.insert("evidence_round".into(), reason);
        changes.push(Amendment::Terms { terms: terms.clone() });
        let judge = seats.iter().find(|seat| seat.role == Role::Judge).cloned();
        if let (true, false, Some(judge)) = (is_on, was_on, judge) {
            seats.push(Seat { name: "auditor".into(), role: Role::Auditor, ..judge });
        }
        seats.retain(|seat| is_on || seat.role != Role::Auditor);
    }
    if seats != debate.seats() {
        changes.push(Amendment::Plan { rounds: None, seats: Some(seats), holds: None });
    }
    changes
}

/// The seats with or without an auditor. None if the format has no auditor.
fn seats_with_auditor(debate: &Debate, is_on: bool) -> Option<Vec<Seat>> {
    if !debate.setup().format.uses_role(Role::Auditor) {
        return None;
    }
    let mut seats = debate.seats().to_vec();
    let has_auditor = seats.iter().any(|seat| seat.role == Role::Auditor);
    if is_on && !has_auditor {
        let judge = seats.iter().find(|seat| seat.role == Role::Judge)?.clone();
        seats.push(Seat { name: "auditor".into(), role: Role::Auditor, ..judge });
    }
    if !is_on {
        seats.retain(|seat| seat.role != Role::Auditor);
    }
    Some(seats)
}

fn amend_command(change: Amendment) -> Command {
    Command::Amend { change, because: "the user asked for it".into() }
}

/// Parses `rounds=3, topic=One, or the other?`. A part without a known key belongs to the value
/// before it.
fn parse_pairs(text: &str, debate: &Debate) -> Result<Vec<(String, String)>, ToolError> {
    let is_known = |name: &str| {
        let is_seat = || debate.seats().iter().any(|seat| seat.name.to_lowercase() == name);
        SETTING_KEYS.contains(&name) || is_seat()
    };
    let mut pairs: Vec<(String, String)> = vec![];
    for part in text.split_inclusive([',', ';', '\n']) {
        let pair = part.split_once('=').map(|(name, value)| (name.trim().to_lowercase(), value));
        match (pair.filter(|(name, _)| is_known(name)), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name, value.to_owned())),
            (None, Some((_, last_value))) => last_value.push_str(part),
            (None, None) => {
                let text: String = part.trim().chars().take(MAX_QUOTED_CHARS).collect();
                return Err(ToolError::InvalidChange {
                    why: match text.split_once('=') {
                        Some((name, _)) => format!("`{}` cannot be changed", name.trim()),
                        None => format!("`{text}` is no name=value"),
                    },
                });
            }
        }
    }
    for (_, value) in &mut pairs {
        *value = value.trim().trim_end_matches([',', ';']).trim().to_owned();
    }
    if pairs.is_empty() {
        return Err(ToolError::InvalidChange { why: "it is empty".into() });
    }
    Ok(pairs)
}
