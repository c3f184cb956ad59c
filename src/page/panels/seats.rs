//! Seats panel: every seat with its role and model.
use crate::debate::{Debate, Seat, Side};
use crate::page::elements::render_table;
use crate::page::html::{MAX_HASH_CHARS, MAX_NAME_CHARS, MAX_SHORT_NAME_CHARS, truncate};
use crate::report::participants::seat_model;
use crate::report::sanitize::one_line;
use maud::{Markup, Render, html};

/// Characters shown of the value of a debate option.
const MAX_TERM_CHARS: usize = 500;
/// Characters shown of a stance.
const MAX_STANCE_CHARS: usize = 300;

/// Renders the seats, the options of the debate, and seat transfers.
pub(super) fn render_seats(debate: &Debate) -> Markup {
    let rows: Vec<Vec<Markup>> = (0u8..)
        .zip(debate.seats())
        .map(|(seat_index, seat)| seat_row(debate, seat_index, seat))
        .collect();
    let setup = debate.setup();
    let fact = |name: &str, value: &Markup| {
        html! {
            dt { (name) }
            dd { (value) }
        }
    };
    let hash = |hash: &str| html! { code { (truncate(hash, MAX_HASH_CHARS)) } };
    let title = |index: u8| debate.seats().get(usize::from(index)).map_or("", |seat| seat.title());
    html! {
        (render_table("Seats", &["Seat", "Role", "Played by", "Argues for"], &rows))
        dl {
            (fact("Format", &truncate(&setup.format.name, MAX_SHORT_NAME_CHARS).render()))
            @for (name, term) in debate.terms() {
                (fact(
                    &truncate(&one_line(name).replace('_', " "), MAX_SHORT_NAME_CHARS),
                    &truncate(&one_line(term), MAX_TERM_CHARS).render(),
                ))
            }
            @if let Some(pin) = &setup.pin { (fact("Pinned tree", &hash(pin))) }
            @if let Some(commit) = &setup.commit { (fact("Commit", &hash(commit))) }
        }
        @for transfer in debate.seat_transfers() {
            p.handed {
                (truncate(&one_line(title(transfer.seat)), MAX_NAME_CHARS)) " was handed from "
                (transfer.from.to_string()) " to " (transfer.to.to_string())
            }
        }
    }
}

fn seat_row(debate: &Debate, seat_index: u8, seat: &Seat) -> Vec<Markup> {
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
        html! { span.side.{ "side-" (side) } { (name) } },
        truncate(&role, MAX_NAME_CHARS).render(),
        truncate(&one_line(&seat_model(debate, seat_index)), MAX_NAME_CHARS).render(),
        truncate(&one_line(&seat.stance), MAX_STANCE_CHARS).render(),
    ]
}
