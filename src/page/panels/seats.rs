//! Seats panel: every seat with its role and model.
use super::render_table;
use crate::debate::{Debate, Seat, Side};
use crate::page::html::{
    Html, MAX_HASH_CHARS, MAX_NAME_CHARS, MAX_SHORT_NAME_CHARS, html, truncate,
};
use crate::report::participants::seat_model;
use crate::report::sanitize::one_line;

/// Characters shown of the value of a debate option.
const MAX_TERM_CHARS: usize = 500;
/// Characters shown of a stance.
const MAX_STANCE_CHARS: usize = 300;

/// Renders the seats, the options of the debate, and seat transfers.
pub(super) fn render_seats(debate: &Debate) -> Html {
    let rows: Vec<Vec<Html>> = (0u8..)
        .zip(debate.seats())
        .map(|(seat_index, seat)| seat_row(debate, seat_index, seat))
        .collect();
    let mut out = render_table("Seats", &["Seat", "Role", "Played by", "Argues for"], &rows);
    let setup = debate.setup();
    let format = truncate(&setup.format.name, MAX_SHORT_NAME_CHARS);
    let mut facts = html!("<dt>Format</dt><dd>{}</dd>", format);
    for (name, term) in debate.terms() {
        let (name, term) = (one_line(name).replace('_', " "), one_line(term));
        facts.push(&html!(
            "<dt>{}</dt><dd>{}</dd>",
            truncate(&name, MAX_SHORT_NAME_CHARS),
            truncate(&term, MAX_TERM_CHARS)
        ));
    }
    if let Some(pin) = &setup.pin {
        let pin = truncate(pin, MAX_HASH_CHARS);
        facts.push(&html!("<dt>Pinned tree</dt><dd><code>{}</code></dd>", pin));
    }
    if let Some(commit) = &setup.commit {
        let commit = truncate(commit, MAX_HASH_CHARS);
        facts.push(&html!("<dt>Commit</dt><dd><code>{}</code></dd>", commit));
    }
    out.push(&html!("<dl>{}</dl>", facts));
    for transfer in debate.seat_transfers() {
        let seat = debate.seats().get(usize::from(transfer.seat)).map_or("", |seat| seat.title());
        out.push(&html!(
            "<p class=\"handed\">{} was handed from {} to {}</p>",
            truncate(&one_line(seat), MAX_NAME_CHARS),
            transfer.from.to_string(),
            transfer.to.to_string()
        ));
    }
    out
}

fn seat_row(debate: &Debate, seat_index: u8, seat: &Seat) -> Vec<Html> {
    let side = match seat.role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    };
    let name = truncate(&one_line(&seat.name), MAX_NAME_CHARS);
    let role = match seat.kind.as_str() {
        "" => seat.role.title().to_owned(),
        kind => format!("{}, {}", seat.role.title(), one_line(kind)),
    };
    vec![
        html!("<span class=\"side side-{}\">{}</span>", side, name),
        Html::text(&truncate(&role, MAX_NAME_CHARS)),
        Html::text(&truncate(&one_line(&seat_model(debate, seat_index)), MAX_NAME_CHARS)),
        Html::text(&truncate(&one_line(&seat.stance), MAX_STANCE_CHARS)),
    ]
}
