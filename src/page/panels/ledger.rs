//! Ledger panel: every claim and what became of it.
use crate::debate::ledger::{ClaimStatus, LedgerEntry, entries, tally};
use crate::debate::{Cue, Debate, Side, status};
use crate::page::html::{Html, html, truncate};
use crate::page::rendered::RenderContext;
use crate::report::ledger::tally_line;
use crate::report::sanitize::one_line;

/// Renders the claims of each side.
pub(in crate::page) fn render_ledger_panel(debate: &Debate, setting: &RenderContext<'_>) -> Html {
    let entries = entries(debate, Cue::END);
    if entries.is_empty() {
        return Html::new();
    }
    let mut all = Html::new();
    for side in [Side::Pro, Side::Con] {
        let own: Html = entries
            .iter()
            .filter(|entry| entry.side == side)
            .map(|entry| render_ledger_entry(entry, setting))
            .collect();
        if own.is_empty() {
            continue;
        }
        all.push(&html!(
            "<h3>{}</h3><p class=\"tally\">{}</p><ul>{}</ul>",
            truncate(&status::side_name(debate, side), 80),
            tally_line(&tally(debate, side)),
            own
        ));
    }
    all
}

fn render_ledger_entry(entry: &LedgerEntry<'_>, setting: &RenderContext<'_>) -> Html {
    let (class, word) = match entry.status {
        ClaimStatus::Unanswered => ("open", "not answered"),
        ClaimStatus::Contested => ("answered", "contested"),
        ClaimStatus::Conceded(_) => ("conceded", "conceded"),
        ClaimStatus::Resolved => ("resolved", "taken back as resolved"),
        ClaimStatus::Accepted => ("accepted", "accepted"),
    };
    let quote = match entry.status {
        ClaimStatus::Conceded(quote) => html!(": <q>{}</q>", truncate(&one_line(quote), 500)),
        _ => Html::new(),
    };
    let bare = if entry.is_unsupported() {
        html!(" <span class=\"fate unsupported\">unsupported</span>")
    } else {
        Html::new()
    };
    html!(
        "<li><a href=\"#{}\"><code>{}</code></a> {} <span class=\"fate {}\">{}</span>{}{}</li>",
        setting.element_id(entry.cue),
        truncate(&one_line(&entry.claim.id), 60),
        truncate(&one_line(&entry.claim.text), 600),
        class,
        word,
        quote,
        bare
    )
}
