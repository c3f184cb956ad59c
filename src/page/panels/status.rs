//! Status panel: status, round, pending turns and notices.
use crate::debate::{Cue, Debate, PauseReason, Rounds, Step, next, status};
use crate::page::elements::{capitalize, render_state, render_time, turn_element_id};
use crate::page::event_label::round_label;
use crate::page::history::DebateHistory;
use crate::page::html::{MAX_NOTE_CHARS, truncate};
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;
use maud::{Markup, Render, html};

/// Characters shown of a pending speaker and its model.
const MAX_SPEAKER_CHARS: usize = 120;

/// Renders the status panel.
pub(super) fn render_status(history: &DebateHistory) -> Markup {
    let debate = history.debate();
    let (labels, notices) = (status::labels(debate), status::notices(debate));
    html! {
        dl {
            dt { "State" }
            dd { (render_state(status::status(debate))) }
            dt { "Round" }
            dd { (round_text(debate)) }
            (render_due(history))
            dt { "Opened" }
            dd { (render_time(debate.setup().opened_at)) }
            dt { "Last event" }
            dd { (render_time(history.last_event_time())) }
            @if !labels.is_empty() {
                dt { "Labels" }
                dd { (labels.join(", ")) }
            }
        }
        @if !notices.is_empty() {
            ul.notices {
                @for notice in &notices { li { (truncate(&one_line(notice), MAX_NOTE_CHARS)) } }
            }
        }
        @if let Some(advice) = status::ending_advice(debate) {
            p.suggests { (capitalize(&one_line(&advice))) }
        }
        @if let Some(seq) = history.first_invalid_seq() {
            p.flaw {
                "From event " (seq) " on this log is not one this program could have written: it "
                "can be read, and not continued."
            }
        }
    }
}

/// For example `2 of 3`.
fn round_text(debate: &Debate) -> String {
    let next_round = next(debate).first_cue().map(|cue| cue.round);
    let reached =
        next_round.into_iter().chain(debate.turns().map(|(cue, _)| cue.round)).max().unwrap_or(0);
    let is_open_ended = debate.setup().format.acts.iter().any(|act| act.rounds == Rounds::Open);
    match (reached, is_open_ended) {
        (0, _) => format!("none yet, {} planned", debate.rounds()),
        (round, true) => format!("{round}, open-ended"),
        (round, false) => format!("{round} of {}", debate.rounds()),
    }
}

fn render_due(history: &DebateHistory) -> Markup {
    let debate = history.debate();
    let content = match next(debate) {
        Step::Speak { driven, awaited } => html! {
            ul { @for cue in driven.iter().chain(&awaited) { (render_due_turn(history, *cue)) } }
        },
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => "more to spend".render(),
        Step::Hold { next, .. } => {
            html! { "the user's word, before " (round_label(debate, next)) }
        }
        Step::Close(_) => "nothing but its end".render(),
        Step::Done => return Markup::default(),
    };
    html! {
        dt { "Due" }
        dd { (content) }
    }
}

fn render_due_turn(history: &DebateHistory, cue: Cue) -> Markup {
    let debate = history.debate();
    let name = format!("{} ({})", one_line(&speaker_title(debate, cue)), debate.seat(cue).voice);
    let name = truncate(&name, MAX_SPEAKER_CHARS);
    html! {
        li {
            @if debate.was_asked(cue) {
                a href={ "#" (turn_element_id(cue)) } { (name) }
                ", since " (render_time(history.turn_times(cue).asked_at))
            } @else {
                (name)
            }
            @if let Some(deadline) = debate.deadline(cue) {
                ", until " span.deadline { (render_time(deadline)) }
            }
        }
    }
}
