//! Cost panel: calls, tokens, cost and time of each seat.
use super::render_table;
use crate::debate::{Debate, Envelope, Spend};
use crate::page::html::{Html, html, truncate};
use crate::report::sanitize::one_line;

#[derive(Clone, Copy, Default)]
struct SeatUsage {
    calls: u64,
    spend: Spend,
}

impl SeatUsage {
    fn add_envelope(&mut self, envelope: &Envelope) {
        self.calls += envelope.attempts.map_or(1, u64::from);
        self.spend += envelope.spend();
    }
}

/// Renders the usage of each seat on the record. The total row includes discarded takes.
pub(in crate::page) fn render_cost(debate: &Debate) -> Html {
    let mut accounts = vec![SeatUsage::default(); debate.seats().len()];
    for (cue, turn) in debate.turns() {
        let envelope = turn.as_ref().map_or_else(|lost| &lost.envelope, |said| &said.envelope);
        let Some(account) = accounts.get_mut(usize::from(cue.seat)) else { continue };
        account.add_envelope(envelope);
        if let Some(attempt) = debate.rejected_reply(cue) {
            account.add_envelope(&attempt.envelope);
        }
    }
    let called = accounts.iter().zip(debate.seats()).filter(|(account, _)| account.calls > 0);
    let rows: Vec<Vec<Html>> = called
        .map(|(account, seat)| {
            let name = truncate(&one_line(&seat.name), 80);
            usage_row(&name, &account.calls.to_string(), account.spend)
        })
        .collect();
    if rows.is_empty() {
        return Html::new();
    }
    let calls: u64 = accounts.iter().map(|account| account.calls).sum();
    let all = usage_row("all", &calls.to_string(), debate.spent());
    let heads = ["Seat", "Calls", "Tokens", "Cost", "Seconds"];
    let rows: Vec<Vec<Html>> = rows.into_iter().chain([all]).collect();
    let mut shown = render_table("Used up, as far as the tools say", &heads, &rows);
    let budget = debate.budget();
    if let Some(most) = budget.cost {
        shown.push(&html!("<p>At most {} may be spent.</p>", format_cost(most)));
    }
    if let Some(most) = budget.tokens {
        shown.push(&html!("<p>At most {} tokens may be used.</p>", most));
    }
    shown
}

fn usage_row(name: &str, calls: &str, spend: Spend) -> Vec<Html> {
    let known = |value: u64, shown: String| if value == 0 { "-".to_owned() } else { shown };
    let seconds = format!("{:.1}", spend.milliseconds as f64 / 1000.0);
    let shown = [
        name.to_owned(),
        calls.to_owned(),
        known(spend.tokens, spend.tokens.to_string()),
        known(spend.cost, format_cost(spend.cost)),
        known(spend.milliseconds, seconds),
    ];
    shown.iter().map(|text| Html::text(text)).collect()
}

fn format_cost(millionths: u64) -> String {
    format!("{:.4}", millionths as f64 / 1e6)
}
