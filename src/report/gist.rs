//! Status of a debate in five lines: topic, the position of each side, concessions, and what is
//! open or due next. Shown when a user or client returns to a debate.
use super::people::{Course, course, having};
use super::record::SEALED;
use super::text::one_line;
use super::verdict::verdict;
use crate::debate::ledger::{ClaimStatus, LedgerEntry, entries};
use crate::debate::{
    Body, Cue, Debate, DebateOutcome, Origin, PauseReason, ReplyKind, Role, Side, Step, next,
    status,
};

/// The five lines, each about `width` characters at most. Sealed replies are left out, and a
/// concession that does not fit is counted instead of quoted.
pub fn gist(debate: &Debate, width: usize) -> Vec<String> {
    let [one, other] = positions(debate, width);
    vec![topic(debate, width), one, other, conceded(debate, width), open(debate, width)]
}

fn topic(debate: &Debate, width: usize) -> String {
    let round = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    let status = status::status(debate).as_str().replace('-', " ");
    let how = match round {
        0 => format!("{}, {status}", debate.setup().format.name),
        round => {
            format!(
                "{}, {status}, round {round} of {}",
                debate.setup().format.name,
                debate.rounds()
            )
        }
    };
    format!("{} ({how})", cut(&one_line(debate.current_topic()), width.saturating_sub(how.len())))
}

/// Lines for both positions: the two sides, the lead and its partners, or the first stance and the
/// other stances.
fn positions(debate: &Debate, width: usize) -> [String; 2] {
    match course(debate) {
        Course::Contest => [Side::Pro, Side::Con].map(|side| claimed(debate, side, width)),
        Course::Dialogue => {
            let lead: Vec<u8> = having(debate, Role::Lead).collect();
            let partners: Vec<u8> = having(debate, Role::Partner).collect();
            [said(debate, &lead, width), said(debate, &partners, width)]
        }
        Course::Research => {
            let stances: Vec<u8> = having(debate, Role::Advocate).collect();
            let (first, others) = stances.split_at(1.min(stances.len()));
            [said(debate, first, width), said(debate, others, width)]
        }
    }
}

/// A side's claims, latest first, without the withdrawn ones. A side without claims is shown by the
/// start of its last speech.
fn claimed(debate: &Debate, side: Side, width: usize) -> String {
    let entries = entries(debate, Cue::END);
    let own =
        entries.iter().rev().filter(|it| it.side == side && it.status != ClaimStatus::Resolved);
    let own: Vec<String> = own.map(|it| claim(it, width / 2)).collect();
    let seats: Vec<u8> = having(debate, side.role()).collect();
    if own.is_empty() {
        return said(debate, &seats, width);
    }
    let who = named(debate, seats.first().copied());
    format!("{who}: {}", few(own, width.saturating_sub(who.len())))
}

fn claim(entry: &LedgerEntry<'_>, width: usize) -> String {
    let bare = if entry.is_unsupported() { " (unsupported)" } else { "" };
    format!("{}: {}{bare}", one_line(&entry.claim.id), cut(&one_line(&entry.claim.text), width))
}

/// The start of the last speech of each seat.
fn said(debate: &Debate, seats: &[u8], width: usize) -> String {
    let share = width / seats.len().max(1);
    let one = |nth: &u8| {
        let own = |(cue, body): &(Cue, &Body)| cue.seat == *nth && body.kind() == ReplyKind::Speech;
        let last = debate.replies_in(..).rfind(own);
        let words = match last {
            None => "has not spoken yet".into(),
            Some((cue, _)) if debate.is_sealed(cue) => SEALED.trim().to_owned(),
            Some((_, body)) => cut(&one_line(&body.to_text()), share),
        };
        format!("{}: {words}", named(debate, Some(*nth)))
    };
    seats.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// For example `Proposer (claude)`.
fn named(debate: &Debate, nth: Option<u8>) -> String {
    let seat = nth.and_then(|nth| debate.seats().get(usize::from(nth)));
    seat.map_or_else(
        || "Nobody".into(),
        |seat| format!("{} ({})", one_line(seat.title()), seat.voice.tool()),
    )
}

/// Every concession with its quote.
fn conceded(debate: &Debate, width: usize) -> String {
    let all: Vec<String> = match course(debate) {
        Course::Contest => entries(debate, Cue::END)
            .iter()
            .filter_map(|entry| match entry.status {
                ClaimStatus::Conceded(quote) => {
                    let (by, id) = (entry.side.other().role_name(), one_line(&entry.claim.id));
                    Some(format!("the {by} conceded {id}: \"{}\"", one_line(quote)))
                }
                _ => None,
            })
            .collect(),
        Course::Dialogue | Course::Research => debate
            .replies_in(..)
            .filter(|(cue, _)| !debate.is_sealed(*cue))
            .flat_map(|(cue, body)| body.concessions().iter().map(move |given| (cue, given)))
            .map(|(cue, given)| {
                let (by, id) =
                    (one_line(&debate.seat(cue).title_in_sentence()), one_line(&given.claim));
                format!("{by} conceded {id}: \"{}\"", one_line(&given.quote))
            })
            .collect(),
    };
    match all.len() {
        0 => "Conceded: nothing".into(),
        many => {
            let fits = few(all, width);
            if fits.is_empty() {
                return format!("Conceded: {many}, too long to be quoted in a line");
            }
            format!("Conceded: {fits}")
        }
    }
}

/// Open claims, then the next step.
fn open(debate: &Debate, width: usize) -> String {
    let due = due(debate, width);
    let entries = entries(debate, Cue::END);
    let open: Vec<String> =
        entries.iter().filter(|entry| entry.is_open()).map(|it| claim(it, width / 3)).collect();
    if open.is_empty() || debate.outcome().is_some() {
        return due;
    }
    let open = few(open, width.saturating_sub(due.len()));
    format!("Open: {}. {due}", open.trim_end_matches('.'))
}

fn due(debate: &Debate, width: usize) -> String {
    let when = |cue: Cue| match cue.round {
        0 => debate.setup().act(cue).name.clone(),
        round => format!("round {round}"),
    };
    match next(debate) {
        Step::Speak { driven, awaited } => {
            let who: Vec<String> =
                driven.iter().chain(&awaited).map(|cue| named(debate, Some(cue.seat))).collect();
            let at = driven.first().or(awaited.first()).map(|cue| when(*cue)).unwrap_or_default();
            format!("Due: {at}, {}", few(who, width / 2))
        }
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            "Due: more to spend".into()
        }
        Step::Hold { .. } if debate.is_held() && debate.setup().origin != Origin::Here => {
            "Due: your word to go on with what was imported".into()
        }
        Step::Hold { next, .. } => format!("Due: your word, before {}", when(next)),
        Step::Close(_) => "Due: nothing but its end".into(),
        Step::Done => ended(debate, width),
    }
}

fn ended(debate: &Debate, width: usize) -> String {
    if debate.outcome() == Some(&DebateOutcome::Cancelled) {
        let because = debate.end_reason().map(|why| format!(" ({})", cut(&one_line(why), width)));
        return format!("Ended: cancelled{}", because.unwrap_or_default());
    }
    match verdict(debate) {
        Some(ruled) => format!(
            "Ruled: for {}. {}",
            one_line(&ruled.winner),
            cut(&one_line(&ruled.recommendation), width)
        ),
        None => format!("Ended: {}", status::result_name(debate)),
    }
}

/// Joins the items that fit into `width`, none truncated, and counts the rest.
fn few(items: Vec<String>, width: usize) -> String {
    let (mut line, mut left) = (String::new(), items.len());
    for item in items {
        let room = width.saturating_sub(line.chars().count());
        if item.chars().count() + 2 > room {
            break;
        }
        if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(&item);
        left -= 1;
    }
    match left {
        0 => line,
        _ if line.is_empty() => line,
        more => format!("{line}; and {more} more"),
    }
}

/// Truncates a text at a word boundary.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most).collect();
    let whole = short.rsplit_once(' ').map_or(short.as_str(), |(whole, _)| whole);
    // Scripts without spaces are truncated between characters.
    let whole = if whole.len() * 2 < short.len() { short.as_str() } else { whole };
    format!("{whole} …")
}
