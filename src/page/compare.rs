//! The comparison page: setup, verdict, scores, claims, cost and turns of two debates side by side.
use super::html::{Html, bounded, html};
use super::layout::{Assets, Page, layout};
use super::panels;
use super::shown::Setting;
use super::story::{Item, Story};
use super::turn::{capital, turn};
use crate::debate::{Cue, status};
use crate::engine::DebateCard;
use crate::report::people::title;
use crate::report::text::one_line;
use std::collections::BTreeSet;

/// Renders the form that selects two debates to compare.
pub fn choose(chosen: Option<&str>, cards: &[DebateCard], assets: Assets<'_>) -> Html {
    let options = |mine: bool| -> Html {
        cards
            .iter()
            .map(|card| {
                let says = format!("{} ({})", bounded(&one_line(&card.topic), 100), card.id);
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
    layout(&Page { kind: "compare", title, about: Html::new(), main }, assets)
}

/// Renders both debates side by side.
pub fn compare(one: &Story, other: &Story, assets: Assets<'_>) -> Html {
    let both = [one, other];
    let row = |title: &'static str, of: &dyn Fn(&Story, &Setting<'_>) -> Html| {
        let cell = |nth: usize| html!("<div>{}</div>", of(both[nth], &setting(both[nth], nth)));
        let cells: Html = [cell(0), cell(1)].into_iter().collect();
        html!(
            "<section class=\"pair\" aria-label=\"{}\"><h2>{}</h2><div class=\"two\">{}</div></section>",
            title,
            title,
            cells
        )
    };
    let mut main = html!("<h1>Two debates</h1>");
    main.add(&row("Questions", &setup));
    main.add(&row("Verdicts", &|story, _| or_none(panels::verdict(story.debate()))));
    main.add(&row("Scores", &|story, it| or_none(panels::scores(story.debate(), it))));
    main.add(&row("Claims", &|story, it| or_none(panels::ledger(story.debate(), it))));
    main.add(&row("Cost", &|story, _| or_none(panels::cost(story.debate()))));
    main.add(&turns(both));
    let title = "Two debates · debate";
    layout(&Page { kind: "compare", title, about: Html::new(), main }, assets)
}

fn or_none(inner: Html) -> Html {
    if inner.is_empty() { html!("<p>None.</p>") } else { inner }
}

fn setup(story: &Story, _: &Setting<'_>) -> Html {
    let debate = story.debate();
    let id = debate.setup().id.as_str();
    html!(
        "<p><a href=\"/debates/{}\">{}</a></p>{}",
        id,
        bounded(&one_line(debate.current_topic()), 300),
        facts(story)
    )
}

fn facts(story: &Story) -> Html {
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
        .map(|(name, value)| html!("<dt>{}</dt><dd>{}</dd>", *name, bounded(value, 1_000)))
        .collect();
    html!("<dl>{}</dl>", rows)
}

/// Renders the turns in pairs. Turns with the same cue are shown next to each other.
fn turns(both: [&Story; 2]) -> Html {
    let place = |cue: Cue| (cue.act, cue.round, cue.phase, cue.seat);
    let cues = |story: &Story| -> Vec<Cue> {
        let turn = |item: &Item| match item {
            Item::Turn(cue) => Some(*cue),
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
                taken(story, cue, nth)
            } else {
                html!("<p class=\"absent\">No such turn.</p>")
            }
        };
        let name = both.iter().find(|story| story.debate().has_cue(cue)).map_or_else(
            String::new,
            |story| {
                let debate = story.debate();
                let when = capital(&super::timeline::when(debate, cue));
                format!("{when} · {}", bounded(&one_line(&title(debate, cue)), 80))
            },
        );
        rows.add(&html!(
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
fn setting(story: &Story, column: usize) -> Setting<'static> {
    let links = Some(format!("/debates/{}", story.debate().setup().id));
    Setting { links, column: ["a-", "b-"][column.min(1)], ..Setting::default() }
}

fn taken(story: &Story, cue: Cue, column: usize) -> Html {
    turn(story, cue, None, &setting(story, column))
}
