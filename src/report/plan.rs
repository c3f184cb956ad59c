//! The plan a user confirms before any model is called: seats, rounds, options, an estimate of
//! calls and tokens, and the pauses.
use super::participants::{DebateKind, debate_kind, seats_with_role};
use super::sanitize::{escape_table_cell, one_line};
use crate::debate::estimate::estimate_usage;
use crate::debate::{Debate, HoldPoint, Role, Rounds, Seat, Setup};
use std::fmt::Write;

/// Number of acts up to which the plan does not list them one by one.
const MAX_UNLISTED_ACTS: usize = 3;

/// Renders the plan as text.
pub fn render_plan(debate: &Debate) -> String {
    let setup = debate.setup();
    let topic = one_line(debate.current_topic());
    let mut text = format!("Topic: {topic}\nFormat: {}\n", setup.format.name);
    render_seats(&mut text, debate);
    let _ = writeln!(text, "Rounds: {}", rounds_text(debate));
    let terms = [
        ("Evidence round", "evidence_round"),
        ("Goal", "goal"),
        ("Audience", "audience"),
        ("Decision type", "decision_type"),
    ];
    for (title, name) in terms {
        let term = debate.terms().get(name).map(|term| one_line(term)).unwrap_or_default();
        if !term.is_empty() {
            let _ = writeln!(text, "{title}: {term}");
        } else if name == "goal" && debate.terms().contains_key(name) {
            let _ = writeln!(text, "{title}: the best answer to the topic (none was named)");
        }
    }
    if let Some(effort) = setup.effort {
        let _ = writeln!(text, "Effort: {}", effort.as_str());
    }
    render_estimate(&mut text, debate);
    render_pauses(&mut text, debate);
    if let Some(output) = &setup.output {
        let _ = writeln!(text, "Output: {}", one_line(output));
    }
    text
}

/// Whether a seat has its own row. Mirror judges are counted with the rulings, listeners by type.
fn has_own_row(debate: &Debate, seat: &Seat) -> bool {
    debate.has_active_role(seat.role) && !matches!(seat.role, Role::Mirror | Role::Audience)
}

fn render_seats(text: &mut String, debate: &Debate) {
    text.push_str("\n| Seat | Role | Model | Stance |\n|---|---|---|---|\n");
    for seat in debate.seats().iter().filter(|seat| has_own_row(debate, seat)) {
        let (name, voice) =
            (escape_table_cell(&seat.name), escape_table_cell(&seat.voice.to_string()));
        let stance = escape_table_cell(&seat.stance);
        let _ = writeln!(text, "| {name} | {} | {voice} | {stance} |", seat.role.title());
    }
    text.push('\n');
    if debate.has_active_role(Role::Audience) {
        let _ = writeln!(text, "Listeners: {}", listeners_text(debate));
    }
    if !debate.setup().chosen.is_empty() {
        let chosen: Vec<_> = debate.setup().chosen.iter().map(|line| one_line(line)).collect();
        let _ = writeln!(text, "Chosen: {}", chosen.join(", "));
    }
}

/// For example `5 (rational-logic: claude; risk-averse: codex, gemini)`.
fn listeners_text(debate: &Debate) -> String {
    let mut kinds: Vec<(&str, Vec<String>)> = vec![];
    let seats = debate.seats().iter().filter(|seat| seat.role == Role::Audience);
    let mut count = 0;
    for seat in seats {
        count += 1;
        let kind = if seat.kind.is_empty() { &seat.name } else { &seat.kind };
        let voice = seat.voice.to_string();
        match kinds.iter_mut().find(|(known, _)| known == kind) {
            Some((_, voices)) => voices.push(voice),
            None => kinds.push((kind, vec![voice])),
        }
    }
    let line = |(kind, voices): &(&str, Vec<String>)| format!("{kind}: {}", voices.join(", "));
    let kinds: Vec<String> = kinds.iter().map(line).collect();
    one_line(&format!("{count} ({})", kinds.join("; ")))
}

fn rounds_text(debate: &Debate) -> String {
    let rounds = debate.rounds();
    match debate_kind(debate) {
        DebateKind::Dialogue => format!("about {rounds}; it goes on until you end it"),
        DebateKind::Research => {
            let audit = if debate.has_active_role(Role::Auditor) { ", evidence audit" } else { "" };
            format!("{rounds} (investigation, cross rebuttal{audit}, judgment)")
        }
        DebateKind::Contest => {
            let acts = acts_text(debate, rounds);
            let has_audience = debate.has_active_role(Role::Audience);
            let vote = if has_audience { ", and a vote" } else { "" };
            format!(
                "{rounds} ({}{acts}, then {}{vote})",
                speeches_text(rounds),
                rulings_text(debate)
            )
        }
    }
}

fn speeches_text(rounds: u8) -> String {
    format!("{} speeches", 2 * u32::from(rounds))
}

/// The acts and their rounds. Empty up to `MAX_UNLISTED_ACTS`.
fn acts_text(debate: &Debate, rounds: u8) -> String {
    let format = &debate.setup().format;
    let act_ranges = format.acts.iter().zip(format.round_ranges(rounds));
    let act_ranges =
        act_ranges.filter(|(act, span)| act.rounds != Rounds::Once && !span.is_empty());
    let acts: Vec<String> = act_ranges
        .map(|(act, span)| match (*span.start(), *span.end()) {
            (one, same) if one == same => format!("{} {one}", act.name),
            (first, last) => format!("{} {first}-{last}", act.name),
        })
        .collect();
    if acts.len() <= MAX_UNLISTED_ACTS {
        return String::new();
    }
    format!(" in rounds: {}", acts.join(", "))
}

fn rulings_text(debate: &Debate) -> String {
    let seat_count = |role: Role| {
        if debate.has_active_role(role) { seats_with_role(debate, role).count() } else { 0 }
    };
    match (seat_count(Role::Judge), seat_count(Role::Mirror)) {
        (0, 0) => "no ruling".into(),
        (1, 0) => "1 ruling".into(),
        (1, 1) => "2 rulings, the sides swapped in one".into(),
        (judges, 0) => format!("{judges} rulings"),
        (judges, swapped) => {
            format!("{} rulings, the sides swapped in {swapped}", judges + swapped)
        }
    }
}

/// Estimated number of calls and tokens.
fn render_estimate(text: &mut String, debate: &Debate) {
    let setup = Setup {
        topic: debate.current_topic().into(),
        seats: debate.seats().to_vec(),
        rounds: debate.rounds(),
        ..debate.setup().clone()
    };
    let estimates = estimate_usage(&setup);
    let calls: u32 = estimates.iter().map(|estimate| estimate.calls).sum();
    let tokens_in: u64 = estimates.iter().map(|estimate| estimate.tokens_in).sum();
    let tokens_out: u64 = estimates.iter().map(|estimate| estimate.tokens_out).sum();
    let _ = writeln!(
        text,
        "Calls: about {calls}, reading {} and writing {} tokens (at 4 bytes a token)",
        format_thousands(tokens_in),
        format_thousands(tokens_out)
    );
}

fn format_thousands(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{}k", count.div_ceil(1000)) }
}

/// Points at which the debate pauses: holds the user asked for, and budget limits.
fn render_pauses(text: &mut String, debate: &Debate) {
    let is_open_ended = debate.setup().format.acts.iter().any(|act| act.rounds == Rounds::Open);
    let has_several_rounds = is_open_ended || debate.rounds() > 1;
    for hold in
        debate.holds().iter().filter(|hold| **hold == HoldPoint::Start || has_several_rounds)
    {
        text.push_str(match hold {
            HoldPoint::Start => "Pauses before it starts\n",
            HoldPoint::Rounds => "Pauses after every round\n",
        });
    }
    let budget = debate.budget();
    if let Some(cost) = budget.cost {
        let _ = writeln!(text, "Pauses at a cost of {:.2}", cost as f64 / 1e6);
    }
    if let Some(tokens) = budget.tokens {
        let _ = writeln!(text, "Pauses at {tokens} tokens");
    }
    if let Some(milliseconds) = budget.milliseconds {
        let _ = writeln!(text, "Pauses after {} minutes", milliseconds / 60_000);
    }
}
