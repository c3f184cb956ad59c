//! Score panels: round marks, rulings and votes, as soon as they are unsealed.
use crate::debate::round_marks::{self, SideMark};
use crate::debate::verdict::rulings;
use crate::debate::{Debate, ReplyKind, Role, Side, status};
use crate::page::context::RenderContext;
use crate::page::elements::render_table;
use crate::page::html::{MAX_NAME_CHARS, MAX_NOTE_CHARS, truncate};
use crate::report::court;
use crate::report::sanitize::one_line;
use maud::{Markup, Render, html};

/// Renders the round marks and the rulings.
pub(in crate::page) fn render_scores(debate: &Debate, context: &RenderContext<'_>) -> Markup {
    html! {
        @if !has_sealed(debate, ReplyKind::Score) { (render_round_marks(debate)) }
        @if !has_sealed(debate, ReplyKind::Verdict) { (render_rulings(debate, context)) }
    }
}

/// Whether any reply of this kind is still sealed.
fn has_sealed(debate: &Debate, kind: ReplyKind) -> bool {
    debate.replies_in(..).any(|(cue, body)| body.kind() == kind && debate.is_sealed(cue))
}

fn render_round_marks(debate: &Debate) -> Markup {
    let rounds = round_marks::round_marks(debate);
    if rounds.is_empty() {
        return Markup::default();
    }
    let names = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
    let headers: Vec<&str> =
        ["Round"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let cell = |mark: SideMark| {
        let deducted = mark.fouls + mark.reliance;
        html! {
            b { (format_hundredths(mark.counts)) }
            @if deducted > 0 {
                " " span.taken {
                    "(" (format_hundredths(mark.given)) " given, " (format_hundredths(deducted))
                    " taken off)"
                }
            }
        }
    };
    let row = |round: &round_marks::RoundMarks| {
        vec![html! { "Round " (round.round) }, cell(round.pro), cell(round.con)]
    };
    let rows: Vec<Vec<Markup>> = rounds.iter().map(row).collect();
    render_table("Marks by round, of ten points", &headers, &rows)
}

fn format_hundredths(points: u32) -> String {
    format!("{}.{:02}", points / 100, points % 100)
}

fn render_rulings(debate: &Debate, context: &RenderContext<'_>) -> Markup {
    let names = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
    let rows: Vec<Vec<Markup>> = rulings(debate)
        .map(|(cue, side, ruling)| {
            let seat = debate.seat(cue);
            let name = truncate(&one_line(&seat.name), MAX_NAME_CHARS);
            let swapped = if seat.role == Role::Mirror { ", sides swapped" } else { "" };
            let points =
                |points: Option<u8>| points.map_or_else(|| "-".render(), |points| points.render());
            vec![
                html! { a href={ "#" (context.element_id(cue)) } { (name) } (swapped) },
                points(ruling.scores.map(|scores| scores.pro)),
                points(ruling.scores.map(|scores| scores.con)),
                status::side_name(debate, side).render(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    render_table("Rulings, of a hundred points", &["Judge", &names[0], &names[1], "For"], &rows)
}

/// Renders the votes of the listeners.
pub(super) fn render_votes(debate: &Debate) -> Markup {
    let votes = court::votes(debate);
    if votes.is_empty() || has_sealed(debate, ReplyKind::Vote) {
        return Markup::default();
    }
    let rows: Vec<Vec<Markup>> = votes
        .iter()
        .map(|vote| {
            vec![
                truncate(&one_line(&vote.seat), MAX_NAME_CHARS).render(),
                status::side_name(debate, vote.vote).render(),
                html! { (vote.confidence) "%" },
                vote.weight.render(),
                truncate(&one_line(&vote.reason), MAX_NOTE_CHARS).render(),
            ]
        })
        .collect();
    let count = |side: Side| {
        let votes = votes.iter().filter(|vote| vote.vote == side).count();
        html! { (votes) " for " (status::side_name(debate, side)) }
    };
    html! {
        p { (count(Side::Pro)) ", " (count(Side::Con)) }
        (render_table("Votes", &["Listener", "For", "Sure", "Weight", "Why"], &rows))
    }
}
