//! Seats panel: every seat with its role and model.
use super::render_table;
use crate::debate::{Debate, Seat, Side};
use crate::page::html::{Html, html, truncate};
use crate::report::participants::seat_model;
use crate::report::sanitize::one_line;

/// Renders the seats, the options of the debate, and seat transfers.
pub(super) fn render_seats(debate: &Debate) -> Html {
    let rows: Vec<Vec<Html>> =
        (0u8..).zip(debate.seats()).map(|(nth, seat)| seat_row(debate, nth, seat)).collect();
    let mut all = render_table("Seats", &["Seat", "Role", "Played by", "Argues for"], &rows);
    let setup = debate.setup();
    let mut facts = html!("<dt>Format</dt><dd>{}</dd>", truncate(&setup.format.name, 60));
    for (name, term) in debate.terms() {
        let (name, term) = (one_line(name).replace('_', " "), one_line(term));
        facts.push(&html!("<dt>{}</dt><dd>{}</dd>", truncate(&name, 60), truncate(&term, 500)));
    }
    if let Some(pin) = &setup.pin {
        let pin = truncate(pin, 12);
        facts.push(&html!("<dt>Pinned tree</dt><dd><code>{}</code></dd>", pin));
    }
    if let Some(commit) = &setup.commit {
        let commit = truncate(commit, 12);
        facts.push(&html!("<dt>Commit</dt><dd><code>{}</code></dd>", commit));
    }
    all.push(&html!("<dl>{}</dl>", facts));
    for handed in debate.seat_transfers() {
        let seat = debate.seats().get(usize::from(handed.seat)).map_or("", |seat| seat.title());
        all.push(&html!(
            "<p class=\"handed\">{} was handed from {} to {}</p>",
            truncate(&one_line(seat), 80),
            handed.from.to_string(),
            handed.to.to_string()
        ));
    }
    all
}

fn seat_row(debate: &Debate, nth: u8, seat: &Seat) -> Vec<Html> {
    let side = match seat.role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    };
    let name = truncate(&one_line(&seat.name), 80);
    let role = match seat.kind.as_str() {
        "" => seat.role.title().to_owned(),
        kind => format!("{}, {}", seat.role.title(), one_line(kind)),
    };
    vec![
        html!("<span class=\"side side-{}\">{}</span>", side, name),
        Html::text(&truncate(&role, 80)),
        Html::text(&truncate(&one_line(&seat_model(debate, nth)), 80)),
        Html::text(&truncate(&one_line(&seat.stance), 300)),
    ]
}
