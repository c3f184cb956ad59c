//! The comparison page: setup, verdict, scores, claims, cost and turns of two debates side by side.
//! Entry points: [`render_comparison_page`], and [`render_choice_page`] to choose the two. Called
//! by `web::pages`.
use super::history::{DebateHistory, HistoryItem};
use super::html::{Html, MAX_LISTED_TOPIC_CHARS, MAX_NAME_CHARS, MAX_NOTE_CHARS, html, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::panels;
use super::rendered::RenderContext;
use super::turn::{capitalize, render_turn};
use crate::debate::{Cue, status};
use crate::engine::DebateCard;
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;
use std::collections::BTreeSet;

/// Characters shown of a topic in the list to choose from.
const MAX_OPTION_TOPIC_CHARS: usize = 100;

/// Renders the form that selects two debates to compare.
pub fn render_choice_page(
    chosen: Option<&str>,
    cards: &[DebateCard],
    assets: AssetUrls<'_>,
) -> Html {
    let options = |is_first: bool| -> Html {
        cards
            .iter()
            .map(|card| {
                let topic = truncate(&one_line(&card.topic), MAX_OPTION_TOPIC_CHARS);
                let label = format!("{topic} ({})", card.id);
                let selected = if is_first && chosen == Some(card.id.as_str()) {
                    html!(" selected")
                } else {
                    Html::new()
                };
                html!("<option value=\"{}\"{}>{}</option>", card.id.as_str(), selected, label)
            })
            .collect()
    };
    let main = html!(
        "<h1>Compare two debates</h1><form method=\"get\" action=\"/compare\">\
         <label for=\"a\">The one</label><select id=\"a\" name=\"a\" required>{}</select>\
         <label for=\"b\">The other</label><select id=\"b\" name=\"b\" required>{}</select>\
         <button type=\"submit\">Compare</button></form>",
        options(true),
        options(false)
    );
    let title = "Compare · debate";
    render_page(&PageContent { kind: "compare", title, main_attributes: Html::new(), main }, assets)
}

/// Renders both debates side by side.
pub fn render_comparison_page(
    left: &DebateHistory,
    right: &DebateHistory,
    assets: AssetUrls<'_>,
) -> Html {
    let histories = [left, right];
    let row = |title: &'static str,
               render_cell: &dyn Fn(&DebateHistory, &RenderContext<'_>) -> Html| {
        let cell = |column: usize| {
            html!(
                "<div>{}</div>",
                render_cell(histories[column], &column_context(histories[column], column))
            )
        };
        let cells: Html = [cell(0), cell(1)].into_iter().collect();
        html!(
            "<section class=\"pair\" aria-label=\"{}\"><h2>{}</h2><div class=\"two\">{}</div></section>",
            title,
            title,
            cells
        )
    };
    let mut main = html!("<h1>Two debates</h1>");
    main.push(&row("Questions", &render_setup));
    main.push(&row("Verdicts", &|history, _| {
        or_none(panels::render_verdict_panel(history.debate()))
    }));
    main.push(&row("Scores", &|history, context| {
        or_none(panels::render_scores(history.debate(), context))
    }));
    main.push(&row("Claims", &|history, context| {
        or_none(panels::render_ledger_panel(history.debate(), context))
    }));
    main.push(&row("Cost", &|history, _| or_none(panels::render_cost(history.debate()))));
    main.push(&render_turn_pairs(histories));
    let title = "Two debates · debate";
    render_page(&PageContent { kind: "compare", title, main_attributes: Html::new(), main }, assets)
}

fn or_none(inner: Html) -> Html {
    if inner.is_empty() { html!("<p>None.</p>") } else { inner }
}

fn render_setup(history: &DebateHistory, _: &RenderContext<'_>) -> Html {
    let debate = history.debate();
    let id = debate.setup().id.as_str();
    html!(
        "<p><a href=\"/debates/{}\">{}</a></p>{}",
        id,
        truncate(&one_line(debate.current_topic()), MAX_LISTED_TOPIC_CHARS),
        render_facts(history)
    )
}

fn render_facts(history: &DebateHistory) -> Html {
    let debate = history.debate();
    let setup = debate.setup();
    let seats: Vec<String> = debate
        .seats()
        .iter()
        .map(|seat| format!("{}: {}", one_line(&seat.name), seat.voice))
        .collect();
    let effort = setup.effort.map_or("-", |effort| effort.as_str());
    let rows = [
        ("State", status::status(debate).as_str().replace('-', " ")),
        ("Format", setup.format.name.clone()),
        ("Rounds", debate.rounds().to_string()),
        ("Effort", effort.to_owned()),
        ("Seats", seats.join("; ")),
        ("Rigor", status::rigor(debate)),
    ];
    let rows: Html = rows
        .iter()
        .map(|(name, value)| {
            html!("<dt>{}</dt><dd>{}</dd>", *name, truncate(value, MAX_NOTE_CHARS))
        })
        .collect();
    html!("<dl>{}</dl>", rows)
}

/// Renders the turns in pairs. Turns with the same cue are shown next to each other.
fn render_turn_pairs(histories: [&DebateHistory; 2]) -> Html {
    let position_of = |cue: Cue| (cue.act, cue.round, cue.phase, cue.seat);
    let cues = |history: &DebateHistory| -> Vec<Cue> {
        let turn_cue = |item: &HistoryItem| match item {
            HistoryItem::Turn(cue) => Some(*cue),
            _ => None,
        };
        history.items().iter().filter_map(turn_cue).collect()
    };
    let positions: BTreeSet<_> =
        histories.iter().flat_map(|history| cues(history)).map(position_of).collect();
    let mut rows = Html::new();
    for (act, round, phase, seat) in positions {
        let cue = Cue { act, round, phase, seat };
        let cell = |column: usize| {
            let history = histories[column];
            if cues(history).contains(&cue) {
                render_column_turn(history, cue, column)
            } else {
                html!("<p class=\"absent\">No such turn.</p>")
            }
        };
        let name = histories.iter().find(|history| history.debate().has_cue(cue)).map_or_else(
            String::new,
            |history| {
                let debate = history.debate();
                let round_text = capitalize(&super::timeline::round_label(debate, cue));
                let speaker = one_line(&speaker_title(debate, cue));
                format!("{round_text} · {}", truncate(&speaker, MAX_NAME_CHARS))
            },
        );
        rows.push(&html!(
            "<section class=\"pair\"><h2>{}</h2><div class=\"two\"><div>{}</div><div>{}</div></div>\
             </section>",
            name,
            cell(0),
            cell(1)
        ));
    }
    rows
}

/// Render context of one column. Its id prefix keeps element ids unique on the page.
fn column_context(history: &DebateHistory, column: usize) -> RenderContext<'static> {
    let debate_url = Some(format!("/debates/{}", history.debate().setup().id));
    RenderContext { debate_url, id_prefix: ["a-", "b-"][column.min(1)], ..RenderContext::default() }
}

fn render_column_turn(history: &DebateHistory, cue: Cue, column: usize) -> Html {
    render_turn(history, cue, None, &column_context(history, column))
}
