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
mod sides;
mod status;
mod verdict;

use super::html::{Html, bounded, html};
use super::shown::Setting;
use super::story::Story;
use super::turn::lang;
use std::collections::BTreeMap;

pub(super) use cost::cost;
pub(super) use ledger::ledger;
pub(super) use scores::scores;
pub(super) use verdict::verdict;

/// Renders every panel, by element id.
pub(super) fn all(story: &Story, setting: &Setting<'_>) -> BTreeMap<&'static str, Html> {
    let question = story.debate().current_topic();
    let topic = html!("<h1 id=\"topic\"{}>{}</h1>", lang(question), bounded(question, 4_000));
    BTreeMap::from([
        ("topic", topic),
        ("panel-status", panel("panel-status", "Status", &status::status(story))),
        ("panel-sides", panel("panel-sides", "Who takes part", &sides::sides(story.debate()))),
        ("panel-scores", panel("panel-scores", "Scores", &scores(story.debate(), setting))),
        ("panel-votes", panel("panel-votes", "Votes", &scores::votes(story.debate()))),
        ("panel-verdict", panel("panel-verdict", "Verdict", &verdict(story.debate()))),
        ("panel-ledger", panel("panel-ledger", "Claims", &ledger(story.debate(), setting))),
        ("panel-cost", panel("panel-cost", "Cost", &cost(story.debate()))),
    ])
}

/// Renders a panel. An empty one is hidden.
pub(super) fn panel(id: &'static str, title: &'static str, inner: &Html) -> Html {
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
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Html>]) -> Html {
    let heads: Html = heads.iter().map(|head| html!("<th scope=\"col\">{}</th>", *head)).collect();
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
        heads,
        rows
    )
}
