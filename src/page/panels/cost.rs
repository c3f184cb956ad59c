//! Cost panel: calls, tokens, cost and time of each seat.
use crate::debate::{Debate, Envelope, Spend};
use crate::page::elements::render_table;
use crate::page::html::{MAX_NAME_CHARS, truncate};
use crate::report::sanitize::one_line;
use maud::{Markup, Render, html};

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
pub(in crate::page) fn render_cost(debate: &Debate) -> Markup {
    let mut usages = vec![SeatUsage::default(); debate.seats().len()];
    for (cue, turn) in debate.turns() {
        let envelope =
            turn.as_ref().map_or_else(|failure| &failure.envelope, |reply| &reply.envelope);
        let Some(usage) = usages.get_mut(usize::from(cue.seat)) else { continue };
        usage.add_envelope(envelope);
        if let Some(attempt) = debate.rejected_reply(cue) {
            usage.add_envelope(&attempt.envelope);
        }
    }
    let called_seats = usages.iter().zip(debate.seats()).filter(|(usage, _)| usage.calls > 0);
    let rows: Vec<Vec<Markup>> = called_seats
        .map(|(usage, seat)| {
            let name = truncate(&one_line(&seat.name), MAX_NAME_CHARS);
            usage_row(&name, &usage.calls.to_string(), usage.spend)
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    let calls: u64 = usages.iter().map(|usage| usage.calls).sum();
    let total_row = usage_row("all", &calls.to_string(), debate.spent());
    let headers = ["Seat", "Calls", "Tokens", "Cost", "Seconds"];
    let rows: Vec<Vec<Markup>> = rows.into_iter().chain([total_row]).collect();
    let budget = debate.budget();
    html! {
        (render_table("Used up, as far as the tools say", &headers, &rows))
        @if let Some(limit) = budget.cost { p { "At most " (format_cost(limit)) " may be spent." } }
        @if let Some(limit) = budget.tokens { p { "At most " (limit) " tokens may be used." } }
    }
}

fn usage_row(name: &str, calls: &str, spend: Spend) -> Vec<Markup> {
    let or_dash = |value: u64, shown: String| if value == 0 { "-".to_owned() } else { shown };
    let seconds = format!("{:.1}", spend.milliseconds as f64 / 1000.0);
    let shown = [
        name.to_owned(),
        calls.to_owned(),
        or_dash(spend.tokens, spend.tokens.to_string()),
        or_dash(spend.cost, format_cost(spend.cost)),
        or_dash(spend.milliseconds, seconds),
    ];
    shown.iter().map(Render::render).collect()
}

fn format_cost(millionths: u64) -> String {
    format!("{:.4}", millionths as f64 / 1e6)
}
