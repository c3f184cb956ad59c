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

use super::context::RenderContext;
use super::elements::{render_panel, text_lang};
use super::history::DebateHistory;
use super::html::truncate;
use crate::debate::setup::MAX_TOPIC_CHARS;
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) use cost::render_cost;
pub(super) use ledger::render_ledger_panel;
pub(super) use scores::render_scores;
pub(super) use verdict::render_verdict_panel;

/// Renders every panel, by element id.
pub(super) fn render_panels(
    history: &DebateHistory,
    context: &RenderContext<'_>,
) -> BTreeMap<&'static str, Markup> {
    let debate = history.debate();
    let topic = debate.current_topic();
    let topic = html! {
        h1 #topic lang=[text_lang(topic)] { (truncate(topic, MAX_TOPIC_CHARS)) }
    };
    let panels = [
        ("panel-status", "Status", status::render_status(history)),
        ("panel-sides", "Who takes part", seats::render_seats(debate)),
        ("panel-scores", "Scores", render_scores(debate, context)),
        ("panel-votes", "Votes", scores::render_votes(debate)),
        ("panel-verdict", "Verdict", render_verdict_panel(debate)),
        ("panel-ledger", "Claims", render_ledger_panel(debate, context)),
        ("panel-cost", "Cost", render_cost(debate)),
    ];
    let panels = panels.into_iter().map(|(id, title, inner)| (id, render_panel(id, title, &inner)));
    panels.chain([("topic", topic)]).collect()
}
