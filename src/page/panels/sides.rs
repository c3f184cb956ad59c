//! Seats panel: every seat with its role and model.
use super::table;
use crate::debate::{Debate, Seat, Side};
use crate::page::html::{Html, bounded, html};
use crate::report::people::model_of;
use crate::report::text::one_line;

/// Renders the seats, the options of the debate, and seat transfers.
pub(super) fn sides(debate: &Debate) -> Html {
    let rows: Vec<Vec<Html>> =
        (0u8..).zip(debate.seats()).map(|(nth, seat)| row(debate, nth, seat)).collect();
    let mut all = table("Seats", &["Seat", "Role", "Played by", "Argues for"], &rows);
    let setup = debate.setup();
    let mut facts = html!("<dt>Format</dt><dd>{}</dd>", bounded(&setup.format.name, 60));
    for (name, term) in debate.terms() {
        let (name, term) = (one_line(name).replace('_', " "), one_line(term));
        facts.add(&html!("<dt>{}</dt><dd>{}</dd>", bounded(&name, 60), bounded(&term, 500)));
    }
    if let Some(pin) = &setup.pin {
        let pin = bounded(pin, 12);
        facts.add(&html!("<dt>Pinned tree</dt><dd><code>{}</code></dd>", pin));
    }
    if let Some(commit) = &setup.commit {
        let commit = bounded(commit, 12);
        facts.add(&html!("<dt>Commit</dt><dd><code>{}</code></dd>", commit));
    }
    all.add(&html!("<dl>{}</dl>", facts));
    for handed in debate.seat_transfers() {
        let seat = debate.seats().get(usize::from(handed.seat)).map_or("", |seat| seat.title());
        all.add(&html!(
            "<p class=\"handed\">{} was handed from {} to {}</p>",
            bounded(&one_line(seat), 80),
            handed.from.to_string(),
            handed.to.to_string()
        ));
    }
    all
}

fn row(debate: &Debate, nth: u8, seat: &Seat) -> Vec<Html> {
    let side = match seat.role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    };
    let name = bounded(&one_line(&seat.name), 80);
    let role = match seat.kind.as_str() {
        "" => seat.role.title().to_owned(),
        kind => format!("{}, {}", seat.role.title(), one_line(kind)),
    };
    vec![
        html!("<span class=\"side side-{}\">{}</span>", side, name),
        Html::text(&bounded(&role, 80)),
        Html::text(&bounded(&one_line(&model_of(debate, nth)), 80)),
        Html::text(&bounded(&one_line(&seat.stance), 300)),
    ]
}
