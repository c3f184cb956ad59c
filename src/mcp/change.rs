//! What a user may change about a debate that is open: `name=value`, as many as they like.
use super::check;
use super::complaint::Complaint;
use crate::debate::setup::LONGEST_TOPIC;
use crate::debate::{Budget, Change, Debate, Hold, Role, Seat, Voice, millionths};
use crate::engine::opening::found_again;
use crate::engine::{Command, Desk};
use std::path::Path;

/// What can be changed.
pub(super) const KEYS: &str = "rounds, topic, proposer, challenger, judge, pause (on or off), max_cost, max_tokens, \
     max_minutes";

/// The commands that change what was asked for, in the order it was.
pub(super) fn changes(
    said: &str,
    debate: &Debate,
    desk: &Desk,
    folder: &Path,
) -> Result<Vec<Command>, Complaint> {
    let mut commands = vec![];
    let (mut budget, spent) = (debate.budget(), debate.spent());
    let mut handed: Vec<(String, Voice)> = vec![];
    for (key, value) in pairs(said)? {
        let bad = |why: &str| Complaint::Change { why: format!("`{key}={value}`: {why}") };
        let change = match key.as_str() {
            "rounds" => {
                let rounds = value.parse().map_err(|_| bad("a number is needed"))?;
                let rounds = desk.fits(&debate.setup().format.name, rounds)?;
                Change::Plan { rounds: Some(rounds), seats: None, holds: None }
            }
            "topic" => {
                let topic = value.split_whitespace().collect::<Vec<_>>().join(" ");
                check::text("topic", &topic, LONGEST_TOPIC)?;
                Change::Topic { topic }
            }
            "pause" => {
                let on = match value.as_str() {
                    "on" => true,
                    "off" => false,
                    _ => return Err(bad("it is on or off")),
                };
                let mut holds: Vec<Hold> = debate.holds().to_vec();
                holds.retain(|hold| *hold != Hold::Rounds);
                holds.extend(on.then_some(Hold::Rounds));
                Change::Plan { rounds: None, seats: None, holds: Some(holds) }
            }
            "max_cost" => {
                let cost = value.parse().ok().and_then(millionths);
                let cost = cost.ok_or_else(|| bad("an amount is needed"))?;
                if cost <= spent.cost {
                    return Err(bad(&format!("{:.2} is spent already", spent.cost as f64 / 1e6)));
                }
                budget.cost = Some(cost);
                Change::Limit { budget }
            }
            "max_tokens" => {
                let tokens = value.parse().map_err(|_| bad("a number is needed"))?;
                if tokens <= spent.tokens {
                    return Err(bad(&format!("{} are spent already", spent.tokens)));
                }
                budget = Budget { tokens: Some(tokens), ..budget };
                Change::Limit { budget }
            }
            "max_minutes" => {
                let minutes: u64 = value.parse().map_err(|_| bad("a number is needed"))?;
                let milliseconds = minutes.saturating_mul(60_000);
                if milliseconds <= spent.milliseconds {
                    let gone = spent.milliseconds as f64 / 6e4;
                    return Err(bad(&format!("{gone:.1} are gone already")));
                }
                budget = Budget { milliseconds: Some(milliseconds), ..budget };
                Change::Limit { budget }
            }
            seat => {
                let voice = value.parse::<Voice>();
                let voice = voice.map_err(|error| bad(&error.to_string()))?;
                handed.push((seat.to_owned(), found_again(voice, folder)));
                continue;
            }
        };
        commands.push(amend(change));
    }
    commands.extend(handovers(debate, &handed, desk)?);
    Ok(commands)
}

/// Seats that change hands. Whoever judges also judges with the sides swapped, and sums up.
fn handovers(
    debate: &Debate,
    handed: &[(String, Voice)],
    desk: &Desk,
) -> Result<Vec<Command>, Complaint> {
    let fits = |name: &str, seat: &Seat| match name {
        "proposer" => seat.role == Role::Pro,
        "challenger" => seat.role == Role::Con,
        _ => matches!(seat.role, Role::Judge | Role::Mirror | Role::Scribe),
    };
    let mut commands = vec![];
    let mut after: Vec<Seat> = debate.seats().to_vec();
    for (name, voice) in handed {
        for (nth, seat) in (0u8..).zip(&mut after).filter(|(_, seat)| fits(name, seat)) {
            if seat.voice != *voice {
                seat.voice = voice.clone();
                commands.push(amend(Change::Seat { seat: nth, voice: voice.clone() }));
            }
        }
    }
    if !handed.is_empty() {
        desk.sits_well(&after)?;
    }
    Ok(commands)
}

fn amend(change: Change) -> Command {
    Command::Amend { change, because: "the user asked for it".into() }
}

/// `rounds=3, topic=One, or the other?`: what is no name belongs to the value before it.
fn pairs(said: &str) -> Result<Vec<(String, String)>, Complaint> {
    let known = |name: &str| {
        KEYS.split(", ").filter_map(|key| key.split_whitespace().next()).any(|key| key == name)
    };
    let mut pairs: Vec<(String, String)> = vec![];
    for part in said.split_inclusive([',', ';', '\n']) {
        let pair = part.split_once('=').map(|(name, value)| (name.trim().to_lowercase(), value));
        match (pair.filter(|(name, _)| known(name)), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name, value.to_owned())),
            (None, Some((_, before))) => before.push_str(part),
            (None, None) => {
                let said: String = part.trim().chars().take(60).collect();
                return Err(Complaint::Change {
                    why: match said.split_once('=') {
                        Some((name, _)) => format!("`{}` cannot be changed", name.trim()),
                        None => format!("`{said}` is no name=value"),
                    },
                });
            }
        }
    }
    for (_, value) in &mut pairs {
        *value = value.trim().trim_end_matches([',', ';']).trim().to_owned();
    }
    if pairs.is_empty() {
        return Err(Complaint::Change { why: "it is empty".into() });
    }
    Ok(pairs)
}
