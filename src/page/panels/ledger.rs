//! Ledger panel: every claim and what became of it.
use crate::debate::ledger::{ClaimStatus, LedgerEntry, entries, tally};
use crate::debate::{Cue, Debate, Side, status};
use crate::page::context::RenderContext;
use crate::page::html::{MAX_NAME_CHARS, MAX_SHORT_NAME_CHARS, truncate};
use crate::report::ledger::tally_line;
use crate::report::sanitize::one_line;
use maud::{Markup, html};

/// Characters shown of a claim.
const MAX_CLAIM_CHARS: usize = 600;
/// Characters shown of the quote that concedes a claim.
const MAX_QUOTE_CHARS: usize = 500;

/// Renders the claims of each side.
pub(in crate::page) fn render_ledger_panel(debate: &Debate, context: &RenderContext<'_>) -> Markup {
    let entries = entries(debate, Cue::END);
    let entries_of = |side: Side| entries.iter().filter(move |entry| entry.side == side);
    html! {
        @for side in [Side::Pro, Side::Con] {
            @if entries_of(side).next().is_some() {
                h3 { (truncate(&status::side_name(debate, side), MAX_NAME_CHARS)) }
                p.tally { (tally_line(&tally(debate, side))) }
                ul { @for entry in entries_of(side) { (render_ledger_entry(entry, context)) } }
            }
        }
    }
}

fn render_ledger_entry(entry: &LedgerEntry<'_>, context: &RenderContext<'_>) -> Markup {
    let (class, label) = match entry.status {
        ClaimStatus::Unanswered => ("open", "not answered"),
        ClaimStatus::Contested => ("answered", "contested"),
        ClaimStatus::Conceded(_) => ("conceded", "conceded"),
        ClaimStatus::Resolved => ("resolved", "taken back as resolved"),
        ClaimStatus::Accepted => ("accepted", "accepted"),
    };
    html! {
        li {
            a href={ "#" (context.element_id(entry.cue)) } {
                code { (truncate(&one_line(&entry.claim.id), MAX_SHORT_NAME_CHARS)) }
            }
            " " (truncate(&one_line(&entry.claim.text), MAX_CLAIM_CHARS)) " "
            span.fate.(class) { (label) }
            @if let ClaimStatus::Conceded(quote) = entry.status {
                ": " q { (truncate(&one_line(quote), MAX_QUOTE_CHARS)) }
            }
            @if entry.is_unsupported() { " " span.fate.unsupported { "unsupported" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::Claim;

    #[test]
    fn claim_and_quote_on_the_page_are_cut() {
        assert_eq!((MAX_CLAIM_CHARS, MAX_QUOTE_CHARS), (600, 500));
        let render = |extra: usize| {
            let (text, quote) = ("c".repeat(600 + extra), "q".repeat(500 + extra));
            let claim = Claim { id: "P1".into(), text, ..Claim::default() };
            let entry = LedgerEntry {
                cue: Cue::END,
                side: Side::Pro,
                claim: &claim,
                evidence: vec![],
                citations: vec![],
                status: ClaimStatus::Conceded(&quote),
            };
            render_ledger_entry(&entry, &RenderContext::default()).into_string()
        };
        for (extra, mark) in [(0, ""), (1, "…")] {
            let (html, claim, quote) = (render(extra), "c".repeat(600), "q".repeat(500));
            assert!(html.contains(&format!("</a> {claim}{mark} <span")), "{html}");
            assert!(html.contains(&format!("<q>{quote}{mark}</q>")), "{html}");
        }
    }
}
