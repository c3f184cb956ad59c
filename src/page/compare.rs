//! The comparison page: setup, verdict, scores, claims, cost and turns of two debates side by side.
use super::history::{DebateHistory, HistoryItem};
use super::html::{Html, html, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::panels;
use super::rendered::RenderContext;
use super::turn::{capitalize, render_turn};
use crate::debate::{Cue, status};
use crate::engine::DebateCard;
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;
use std::collections::BTreeSet;

/// Renders the form that selects two debates to compare.
pub fn render_choice_page(
    chosen: Option<&str>,
    cards: &[DebateCard],
    assets: AssetUrls<'_>,
) -> Html {
    let options = |mine: bool| -> Html {
        cards
            .iter()
            .map(|card| {
                let says = format!("{} ({})", truncate(&one_line(&card.topic), 100), card.id);
                let mark = if mine && chosen == Some(card.id.as_str()) {
                    html!(" selected")
                } else {
                    Html::new()
                };
                html!("<option value=\"{}\"{}>{}</option>", card.id.as_str(), mark, says)
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
    one: &DebateHistory,
    other: &DebateHistory,
    assets: AssetUrls<'_>,
) -> Html {
    let both = [one, other];
    let row = |title: &'static str, of: &dyn Fn(&DebateHistory, &RenderContext<'_>) -> Html| {
        let cell =
            |nth: usize| html!("<div>{}</div>", of(both[nth], &column_context(both[nth], nth)));
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
    main.push(&row("Verdicts", &|story, _| or_none(panels::render_verdict_panel(story.debate()))));
    main.push(&row("Scores", &|story, it| or_none(panels::render_scores(story.debate(), it))));
    main.push(&row("Claims", &|story, it| {
        or_none(panels::render_ledger_panel(story.debate(), it))
    }));
    main.push(&row("Cost", &|story, _| or_none(panels::render_cost(story.debate()))));
    main.push(&render_turn_pairs(both));
    let title = "Two debates · debate";
    render_page(&PageContent { kind: "compare", title, main_attributes: Html::new(), main }, assets)
}

fn or_none(inner: Html) -> Html {
    if inner.is_empty() { html!("<p>None.</p>") } else { inner }
}

fn render_setup(story: &DebateHistory, _: &RenderContext<'_>) -> Html {
    let debate = story.debate();
    let id = debate.setup().id.as_str();
    html!(
        "<p><a href=\"/debates/{}\">{}</a></p>{}",
        id,
        truncate(&one_line(debate.current_topic()), 300),
        render_facts(story)
    )
}

fn render_facts(story: &DebateHistory) -> Html {
    let debate = story.debate();
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
        .map(|(name, value)| html!("<dt>{}</dt><dd>{}</dd>", *name, truncate(value, 1_000)))
        .collect();
    html!("<dl>{}</dl>", rows)
}

/// Renders the turns in pairs. Turns with the same cue are shown next to each other.
fn render_turn_pairs(both: [&DebateHistory; 2]) -> Html {
    let place = |cue: Cue| (cue.act, cue.round, cue.phase, cue.seat);
    let cues = |story: &DebateHistory| -> Vec<Cue> {
        let turn = |item: &HistoryItem| match item {
            HistoryItem::Turn(cue) => Some(*cue),
            _ => None,
        };
        story.items().iter().filter_map(turn).collect()
    };
    let all: BTreeSet<_> = both.iter().flat_map(|story| cues(story)).map(place).collect();
    let mut rows = Html::new();
    for (act, round, phase, seat) in all {
        let cue = Cue { act, round, phase, seat };
        let cell = |nth: usize| {
            let story = both[nth];
            if cues(story).contains(&cue) {
                render_column_turn(story, cue, nth)
            } else {
                html!("<p class=\"absent\">No such turn.</p>")
            }
        };
        let name = both.iter().find(|story| story.debate().has_cue(cue)).map_or_else(
            String::new,
            |story| {
                let debate = story.debate();
                let when = capitalize(&super::timeline::round_label(debate, cue));
                format!("{when} · {}", truncate(&one_line(&speaker_title(debate, cue)), 80))
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
fn column_context(story: &DebateHistory, column: usize) -> RenderContext<'static> {
    let links = Some(format!("/debates/{}", story.debate().setup().id));
    RenderContext {
        debate_url: links,
        id_prefix: ["a-", "b-"][column.min(1)],
        ..RenderContext::default()
    }
}

fn render_column_turn(story: &DebateHistory, cue: Cue, column: usize) -> Html {
    render_turn(story, cue, None, &column_context(story, column))
}
