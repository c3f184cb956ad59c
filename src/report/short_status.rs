//! Status of a debate in five lines: topic, the position of each side, concessions, and what is
//! open or due next. Shown when a user or client returns to a debate.
use super::participants::{DebateKind, debate_kind, seats_with_role};
use super::sanitize::one_line;
use super::structured_reply::SEALED_PLACEHOLDER;
use super::verdict::verdict_view;
use crate::debate::ledger::{ClaimStatus, LedgerEntry, entries};
use crate::debate::{
    Body, Cue, Debate, DebateOutcome, Origin, PauseReason, ReplyKind, Role, Side, Step, next,
    status,
};

/// The five lines, each about `width` characters at most. Sealed replies are left out, and a
/// concession that does not fit is counted instead of quoted.
pub fn short_status(debate: &Debate, width: usize) -> Vec<String> {
    let [first_position, second_position] = position_lines(debate, width);
    vec![
        topic_line(debate, width),
        first_position,
        second_position,
        concessions_line(debate, width),
        open_claims_line(debate, width),
    ]
}

fn topic_line(debate: &Debate, width: usize) -> String {
    let round = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    let status = status::status(debate).as_str().replace('-', " ");
    let details = match round {
        0 => format!("{}, {status}", debate.setup().format.name),
        round => {
            format!(
                "{}, {status}, round {round} of {}",
                debate.setup().format.name,
                debate.rounds()
            )
        }
    };
    format!(
        "{} ({details})",
        truncate_at_word(&one_line(debate.current_topic()), width.saturating_sub(details.len()))
    )
}

/// Lines for both positions: the two sides, the lead and its partners, or the first stance and the
/// other stances.
fn position_lines(debate: &Debate, width: usize) -> [String; 2] {
    match debate_kind(debate) {
        DebateKind::Contest => [Side::Pro, Side::Con].map(|side| claims_line(debate, side, width)),
        DebateKind::Dialogue => {
            let lead: Vec<u8> = seats_with_role(debate, Role::Lead).collect();
            let partners: Vec<u8> = seats_with_role(debate, Role::Partner).collect();
            [last_speeches_line(debate, &lead, width), last_speeches_line(debate, &partners, width)]
        }
        DebateKind::Research => {
            let stances: Vec<u8> = seats_with_role(debate, Role::Advocate).collect();
            let (first, others) = stances.split_at(1.min(stances.len()));
            [last_speeches_line(debate, first, width), last_speeches_line(debate, others, width)]
        }
    }
}

/// A side's claims, latest first, without the withdrawn ones. A side without claims is shown by the
/// start of its last speech.
fn claims_line(debate: &Debate, side: Side, width: usize) -> String {
    let entries = entries(debate, Cue::END);
    let claims =
        entries.iter().rev().filter(|it| it.side == side && it.status != ClaimStatus::Resolved);
    let claims: Vec<String> = claims.map(|it| claim_text(it, width / 2)).collect();
    let seats: Vec<u8> = seats_with_role(debate, side.role()).collect();
    if claims.is_empty() {
        return last_speeches_line(debate, &seats, width);
    }
    let label = seat_label(debate, seats.first().copied());
    format!("{label}: {}", join_fitting(claims, width.saturating_sub(label.len())))
}

fn claim_text(entry: &LedgerEntry<'_>, width: usize) -> String {
    let suffix = if entry.is_unsupported() { " (unsupported)" } else { "" };
    format!(
        "{}: {}{suffix}",
        one_line(&entry.claim.id),
        truncate_at_word(&one_line(&entry.claim.text), width)
    )
}

/// The start of the last speech of each seat.
fn last_speeches_line(debate: &Debate, seats: &[u8], width: usize) -> String {
    let seat_width = width / seats.len().max(1);
    let speech_line = |seat_index: &u8| {
        let is_own_speech = |(cue, body): &(Cue, &Body)| {
            cue.seat == *seat_index && body.kind() == ReplyKind::Speech
        };
        let last_speech = debate.replies_in(..).rfind(is_own_speech);
        let speech_text = match last_speech {
            None => "has not spoken yet".into(),
            Some((cue, _)) if debate.is_sealed(cue) => SEALED_PLACEHOLDER.trim().to_owned(),
            Some((_, body)) => truncate_at_word(&one_line(&body.to_text()), seat_width),
        };
        format!("{}: {speech_text}", seat_label(debate, Some(*seat_index)))
    };
    seats.iter().map(speech_line).collect::<Vec<_>>().join(" | ")
}

/// For example `Proposer (claude)`.
fn seat_label(debate: &Debate, seat_index: Option<u8>) -> String {
    let seat = seat_index.and_then(|seat_index| debate.seats().get(usize::from(seat_index)));
    seat.map_or_else(
        || "Nobody".into(),
        |seat| format!("{} ({})", one_line(seat.title()), seat.voice.tool()),
    )
}

/// Every concession with its quote.
fn concessions_line(debate: &Debate, width: usize) -> String {
    let concessions: Vec<String> = match debate_kind(debate) {
        DebateKind::Contest => entries(debate, Cue::END)
            .iter()
            .filter_map(|entry| match entry.status {
                ClaimStatus::Conceded(quote) => {
                    let (speaker, id) = (entry.side.other().role_name(), one_line(&entry.claim.id));
                    Some(format!("the {speaker} conceded {id}: \"{}\"", one_line(quote)))
                }
                _ => None,
            })
            .collect(),
        DebateKind::Dialogue | DebateKind::Research => debate
            .replies_in(..)
            .filter(|(cue, _)| !debate.is_sealed(*cue))
            .flat_map(|(cue, body)| {
                body.concessions().iter().map(move |concession| (cue, concession))
            })
            .map(|(cue, concession)| {
                let (speaker, id) =
                    (one_line(&debate.seat(cue).title_in_sentence()), one_line(&concession.claim));
                format!("{speaker} conceded {id}: \"{}\"", one_line(&concession.quote))
            })
            .collect(),
    };
    match concessions.len() {
        0 => "Conceded: nothing".into(),
        count => {
            let quotes = join_fitting(concessions, width);
            if quotes.is_empty() {
                return format!("Conceded: {count}, too long to be quoted in a line");
            }
            format!("Conceded: {quotes}")
        }
    }
}

/// Open claims, then the next step.
fn open_claims_line(debate: &Debate, width: usize) -> String {
    let due = due_line(debate, width);
    let entries = entries(debate, Cue::END);
    let open: Vec<String> = entries
        .iter()
        .filter(|entry| entry.is_open())
        .map(|it| claim_text(it, width / 3))
        .collect();
    if open.is_empty() || debate.outcome().is_some() {
        return due;
    }
    let open = join_fitting(open, width.saturating_sub(due.len()));
    format!("Open: {}. {due}", open.trim_end_matches('.'))
}

fn due_line(debate: &Debate, width: usize) -> String {
    let round_label = |cue: Cue| match cue.round {
        0 => debate.setup().act(cue).name.clone(),
        round => format!("round {round}"),
    };
    match next(debate) {
        Step::Speak { driven, awaited } => {
            let speakers: Vec<String> = driven
                .iter()
                .chain(&awaited)
                .map(|cue| seat_label(debate, Some(cue.seat)))
                .collect();
            let due_round =
                driven.first().or(awaited.first()).map(|cue| round_label(*cue)).unwrap_or_default();
            format!("Due: {due_round}, {}", join_fitting(speakers, width / 2))
        }
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            "Due: more to spend".into()
        }
        Step::Hold { .. } if debate.is_held() && debate.setup().origin != Origin::Here => {
            "Due: your word to go on with what was imported".into()
        }
        Step::Hold { next, .. } => format!("Due: your word, before {}", round_label(next)),
        Step::Close(_) => "Due: nothing but its end".into(),
        Step::Done => end_line(debate, width),
    }
}

fn end_line(debate: &Debate, width: usize) -> String {
    if debate.outcome() == Some(&DebateOutcome::Cancelled) {
        let reason = debate
            .end_reason()
            .map(|text| format!(" ({})", truncate_at_word(&one_line(text), width)));
        return format!("Ended: cancelled{}", reason.unwrap_or_default());
    }
    match verdict_view(debate) {
        Some(verdict) => format!(
            "Ruled: for {}. {}",
            one_line(&verdict.winner),
            truncate_at_word(&one_line(&verdict.recommendation), width)
        ),
        None => format!("Ended: {}", status::result_name(debate)),
    }
}

/// Joins the items that fit into `width`, none truncated, and counts the rest.
fn join_fitting(items: Vec<String>, width: usize) -> String {
    let (mut line, mut remaining) = (String::new(), items.len());
    for item in items {
        let room = width.saturating_sub(line.chars().count());
        if item.chars().count() + 2 > room {
            break;
        }
        if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(&item);
        remaining -= 1;
    }
    match remaining {
        0 => line,
        _ if line.is_empty() => line,
        count => format!("{line}; and {count} more"),
    }
}

/// Truncates a text at a word boundary.
fn truncate_at_word(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let short: String = text.chars().take(max_chars).collect();
    let truncated = short.rsplit_once(' ').map_or(short.as_str(), |(truncated, _)| truncated);
    // Scripts without spaces are truncated between characters.
    let truncated = if truncated.len() * 2 < short.len() { short.as_str() } else { truncated };
    format!("{truncated} …")
}

#[cfg(test)]
mod tests;
