//! Panels beside the transcript: status, seats, scores, votes, verdict, ledger and cost.
//! Sealed replies never appear in them.
//!
//! | module | content |
//! |---|---|
//! | `status` | status, round and pending turns |
//! | `seats` | table of the seats |
//! | `scores` | round marks, rulings and votes |
//! | `verdict` | the verdict, report or insights |
//! | `ledger` | claims and what became of them |
//! | `cost` | calls, tokens, cost and time of each seat |
mod cost;
mod ledger;
mod scores;
mod seats;
mod status;
mod verdict;

use super::history::DebateHistory;
use super::html::{Html, html, truncate};
use super::rendered::RenderContext;
use super::turn::lang_attribute;
use crate::debate::setup::MAX_TOPIC_CHARS;
use std::collections::BTreeMap;

pub(super) use cost::render_cost;
pub(super) use ledger::render_ledger_panel;
pub(super) use scores::render_scores;
pub(super) use verdict::render_verdict_panel;

/// Renders every panel, by element id.
pub(super) fn render_panels(
    history: &DebateHistory,
    context: &RenderContext<'_>,
) -> BTreeMap<&'static str, Html> {
    let topic_text = history.debate().current_topic();
    let topic = html!(
        "<h1 id=\"topic\"{}>{}</h1>",
        lang_attribute(topic_text),
        truncate(topic_text, MAX_TOPIC_CHARS)
    );
    BTreeMap::from([
        ("topic", topic),
        ("panel-status", render_panel("panel-status", "Status", &status::render_status(history))),
        (
            "panel-sides",
            render_panel("panel-sides", "Who takes part", &seats::render_seats(history.debate())),
        ),
        (
            "panel-scores",
            render_panel("panel-scores", "Scores", &render_scores(history.debate(), context)),
        ),
        (
            "panel-votes",
            render_panel("panel-votes", "Votes", &scores::render_votes(history.debate())),
        ),
        (
            "panel-verdict",
            render_panel("panel-verdict", "Verdict", &render_verdict_panel(history.debate())),
        ),
        (
            "panel-ledger",
            render_panel("panel-ledger", "Claims", &render_ledger_panel(history.debate(), context)),
        ),
        ("panel-cost", render_panel("panel-cost", "Cost", &render_cost(history.debate()))),
    ])
}

/// Renders a panel. An empty one is hidden.
pub(super) fn render_panel(id: &'static str, title: &'static str, inner: &Html) -> Html {
    if inner.is_empty() {
        return html!("<section id=\"{}\" class=\"panel\" hidden></section>", id);
    }
    html!(
        "<section id=\"{}\" class=\"panel\" aria-labelledby=\"{}-title\"><h2 id=\"{}-title\">{}</h2>\
         {}</section>",
        id,
        id,
        id,
        title,
        *inner
    )
}

/// Renders a scrollable table with a caption.
pub(super) fn render_table(caption: &str, headers: &[&str], rows: &[Vec<Html>]) -> Html {
    let headers: Html =
        headers.iter().map(|header| html!("<th scope=\"col\">{}</th>", *header)).collect();
    let rows: Html = rows
        .iter()
        .map(|row| {
            let mut cells = row.iter();
            let first = cells.next().map(|cell| html!("<th scope=\"row\">{}</th>", *cell));
            let rest = cells.map(|cell| html!("<td>{}</td>", *cell));
            let cells: Html = first.into_iter().chain(rest).collect();
            html!("<tr>{}</tr>", cells)
        })
        .collect();
    html!(
        "<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption><thead><tr>{}</tr></thead>\
         <tbody>{}</tbody></table></div>",
        caption,
        headers,
        rows
    )
}
