//! Score panels: round marks, rulings and votes, as soon as they are unsealed.
use super::render_table;
use crate::debate::round_marks::{self, SideMark};
use crate::debate::verdict::rulings;
use crate::debate::{Debate, ReplyKind, Role, Side, status};
use crate::page::html::{Html, MAX_NAME_CHARS, MAX_NOTE_CHARS, html, truncate};
use crate::page::rendered::RenderContext;
use crate::report::court;
use crate::report::sanitize::one_line;

/// Renders the round marks and the rulings.
pub(in crate::page) fn render_scores(debate: &Debate, context: &RenderContext<'_>) -> Html {
    let mut out = Html::new();
    if !has_sealed(debate, ReplyKind::Score) {
        out.push(&render_round_marks(debate));
    }
    if !has_sealed(debate, ReplyKind::Verdict) {
        out.push(&render_rulings(debate, context));
    }
    out
}

/// Whether any reply of this kind is still sealed.
fn has_sealed(debate: &Debate, kind: ReplyKind) -> bool {
    debate.replies_in(..).any(|(cue, body)| body.kind() == kind && debate.is_sealed(cue))
}

fn render_round_marks(debate: &Debate) -> Html {
    let rounds = round_marks::round_marks(debate);
    if rounds.is_empty() {
        return Html::new();
    }
    let names = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
    let headers: Vec<&str> =
        ["Round"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let cell = |mark: SideMark| {
        let mut cell_html = html!("<b>{}</b>", format_hundredths(mark.counts));
        let deducted = mark.fouls + mark.reliance;
        if deducted > 0 {
            cell_html.push(&html!(
                " <span class=\"taken\">({} given, {} taken off)</span>",
                format_hundredths(mark.given),
                format_hundredths(deducted)
            ));
        }
        cell_html
    };
    let row = |round: &round_marks::RoundMarks| {
        let label = format!("Round {}", round.round);
        vec![Html::text(&label), cell(round.pro), cell(round.con)]
    };
    let rows: Vec<Vec<Html>> = rounds.iter().map(row).collect();
    render_table("Marks by round, of ten points", &headers, &rows)
}

fn format_hundredths(points: u32) -> String {
    format!("{}.{:02}", points / 100, points % 100)
}

fn render_rulings(debate: &Debate, context: &RenderContext<'_>) -> Html {
    let names = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
    let rows: Vec<Vec<Html>> = rulings(debate)
        .map(|(cue, side, ruling)| {
            let seat = debate.seat(cue);
            let name = truncate(&one_line(&seat.name), MAX_NAME_CHARS);
            let swapped = if seat.role == Role::Mirror { ", sides swapped" } else { "" };
            let points = |points: Option<u8>| {
                Html::text(&points.map_or_else(|| "-".into(), |points| points.to_string()))
            };
            vec![
                html!("<a href=\"#{}\">{}</a>{}", context.element_id(cue), name, swapped),
                points(ruling.scores.map(|scores| scores.pro)),
                points(ruling.scores.map(|scores| scores.con)),
                Html::text(&status::side_name(debate, side)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Html::new();
    }
    render_table("Rulings, of a hundred points", &["Judge", &names[0], &names[1], "For"], &rows)
}

/// Renders the votes of the listeners.
pub(super) fn render_votes(debate: &Debate) -> Html {
    let votes = court::votes(debate);
    if votes.is_empty() || has_sealed(debate, ReplyKind::Vote) {
        return Html::new();
    }
    let rows: Vec<Vec<Html>> = votes
        .iter()
        .map(|vote| {
            vec![
                Html::text(&truncate(&one_line(&vote.seat), MAX_NAME_CHARS)),
                Html::text(&status::side_name(debate, vote.vote)),
                Html::text(&format!("{}%", vote.confidence)),
                Html::text(&vote.weight.to_string()),
                Html::text(&truncate(&one_line(&vote.reason), MAX_NOTE_CHARS)),
            ]
        })
        .collect();
    let count = |side: Side| votes.iter().filter(|vote| vote.vote == side).count();
    let mut out = html!(
        "<p>{} for {}, {} for {}</p>",
        count(Side::Pro),
        status::side_name(debate, Side::Pro),
        count(Side::Con),
        status::side_name(debate, Side::Con)
    );
    out.push(&render_table("Votes", &["Listener", "For", "Sure", "Weight", "Why"], &rows));
    out
}
