//! The comparison page: setup, verdict, scores, claims, cost and turns of two debates side by side.
//! Entry points: [`render_comparison_page`], and [`render_choice_page`] to choose the two. Called
//! by `web::pages`.
use super::context::RenderContext;
use super::elements::capitalize;
use super::event_label::round_label;
use super::history::{DebateHistory, HistoryItem};
use super::html::{Html, MAX_LISTED_TOPIC_CHARS, MAX_NAME_CHARS, MAX_NOTE_CHARS, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::panels;
use super::turn::render_turn;
use crate::debate::{Cue, status};
use crate::engine::DebateCard;
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Characters shown of a topic in the list to choose from.
const MAX_OPTION_TOPIC_CHARS: usize = 100;

/// Renders the form that selects two debates to compare.
pub fn render_choice_page(
    chosen: Option<&str>,
    cards: &[DebateCard],
    assets: AssetUrls<'_>,
) -> Html {
    let options = |chosen: Option<&str>| {
        html! {
            @for card in cards {
                option value=(card.id) selected[chosen == Some(card.id.as_str())] {
                    (truncate(&one_line(&card.topic), MAX_OPTION_TOPIC_CHARS)) " (" (card.id) ")"
                }
            }
        }
    };
    let main = html! {
        main #compare tabindex="-1" {
            h1 { "Compare two debates" }
            form method="get" action="/compare" {
                label for="a" { "The one" }
                select #a name="a" required { (options(chosen)) }
                label for="b" { "The other" }
                select #b name="b" required { (options(None)) }
                button type="submit" { "Compare" }
            }
        }
    };
    render_page(PageContent { kind: "compare", title: "Compare · debate", main }, assets)
}

/// Renders both debates side by side.
pub fn render_comparison_page(
    left: &DebateHistory,
    right: &DebateHistory,
    assets: AssetUrls<'_>,
) -> Html {
    let histories = [left, right];
    let row = |title: &'static str,
               render_cell: &dyn Fn(&DebateHistory, &RenderContext<'_>) -> Markup| {
        html! {
            section.pair aria-label=(title) {
                h2 { (title) }
                div.two {
                    @for (column, history) in histories.iter().enumerate() {
                        div { (render_cell(history, &column_context(history, column))) }
                    }
                }
            }
        }
    };
    let main = html! {
        main #compare tabindex="-1" {
            h1 { "Two debates" }
            (row("Questions", &render_setup))
            (row("Verdicts", &|history, _| {
                or_none(panels::render_verdict_panel(history.debate()))
            }))
            (row("Scores", &|history, context| {
                or_none(panels::render_scores(history.debate(), context))
            }))
            (row("Claims", &|history, context| {
                or_none(panels::render_ledger_panel(history.debate(), context))
            }))
            (row("Cost", &|history, _| or_none(panels::render_cost(history.debate()))))
            (render_turn_pairs(histories))
        }
    };
    render_page(PageContent { kind: "compare", title: "Two debates · debate", main }, assets)
}

fn or_none(inner: Markup) -> Markup {
    if inner.0.is_empty() {
        html! { p { "None." } }
    } else {
        inner
    }
}

fn render_setup(history: &DebateHistory, _: &RenderContext<'_>) -> Markup {
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
    html! {
        p {
            a href={ "/debates/" (setup.id) } {
                (truncate(&one_line(debate.current_topic()), MAX_LISTED_TOPIC_CHARS))
            }
        }
        dl {
            @for (name, value) in &rows {
                dt { (name) }
                dd { (truncate(value, MAX_NOTE_CHARS)) }
            }
        }
    }
}

/// Renders the turns in pairs. Turns with the same cue are shown next to each other.
fn render_turn_pairs(histories: [&DebateHistory; 2]) -> Markup {
    let cues = histories.map(|history| {
        let turn_cue = |item: &HistoryItem| match item {
            HistoryItem::Turn(cue) => Some(*cue),
            _ => None,
        };
        history.items().iter().filter_map(turn_cue).collect::<Vec<Cue>>()
    });
    let name = |cue: Cue| {
        let history = histories.iter().find(|history| history.debate().has_cue(cue));
        history.map_or_else(String::new, |history| {
            let debate = history.debate();
            let round_text = capitalize(&round_label(debate, cue));
            let speaker = one_line(&speaker_title(debate, cue));
            format!("{round_text} · {}", truncate(&speaker, MAX_NAME_CHARS))
        })
    };
    html! {
        @for cue in cues.iter().flatten().copied().collect::<BTreeSet<Cue>>() {
            section.pair {
                h2 { (name(cue)) }
                div.two {
                    @for (column, history) in histories.iter().enumerate() {
                        div {
                            @if cues[column].contains(&cue) {
                                (render_turn(history, cue, None, &column_context(history, column)))
                            } @else {
                                p.absent { "No such turn." }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Render context of one column. Its id prefix keeps element ids unique on the page.
fn column_context(history: &DebateHistory, column: usize) -> RenderContext<'static> {
    let debate_url = Some(format!("/debates/{}", history.debate().setup().id));
    RenderContext { debate_url, id_prefix: ["a-", "b-"][column.min(1)], ..RenderContext::default() }
}
