//! Status panel: status, round, pending turns and notices.
use crate::debate::{Cue, Debate, PauseReason, Rounds, Step, next, status};
use crate::page::history::DebateHistory;
use crate::page::html::{Html, MAX_NOTE_CHARS, html, truncate};
use crate::page::timeline::round_label;
use crate::page::turn::{capitalize, render_time, turn_element_id};
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;

/// Characters shown of a pending speaker and its model.
const MAX_SPEAKER_CHARS: usize = 120;

/// Renders the status panel.
pub(super) fn render_status(history: &DebateHistory) -> Html {
    let debate = history.debate();
    let status = status::status(debate);
    let mut rows = html!(
        "<dt>State</dt><dd><span class=\"state state-{}\">{}</span></dd>",
        status.as_str(),
        capitalize(&status.as_str().replace('-', " "))
    );
    rows.push(&html!("<dt>Round</dt><dd>{}</dd>", round_text(debate)));
    rows.push(&render_due(history));
    rows.push(&html!("<dt>Opened</dt><dd>{}</dd>", render_time(debate.setup().opened_at)));
    rows.push(&html!("<dt>Last event</dt><dd>{}</dd>", render_time(history.last_event_time())));
    let labels = status::labels(debate);
    if !labels.is_empty() {
        rows.push(&html!("<dt>Labels</dt><dd>{}</dd>", labels.join(", ")));
    }
    let mut out = html!("<dl>{}</dl>", rows);
    let notices: Html = status::notices(debate)
        .iter()
        .map(|notice| html!("<li>{}</li>", truncate(&one_line(notice), MAX_NOTE_CHARS)))
        .collect();
    if !notices.is_empty() {
        out.push(&html!("<ul class=\"notices\">{}</ul>", notices));
    }
    if let Some(advice) = status::ending_advice(debate) {
        out.push(&html!("<p class=\"suggests\">{}</p>", capitalize(&one_line(&advice))));
    }
    if let Some(seq) = history.first_invalid_seq() {
        out.push(&html!(
            "<p class=\"flaw\">From event {} on this log is not one this program could have \
             written: it can be read, and not continued.</p>",
            seq
        ));
    }
    out
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

fn render_due(history: &DebateHistory) -> Html {
    let debate = history.debate();
    let row = |content: &Html| html!("<dt>Due</dt><dd>{}</dd>", *content);
    match next(debate) {
        Step::Speak { driven, awaited } => {
            let items: Html =
                driven.iter().chain(&awaited).map(|cue| render_due_turn(history, *cue)).collect();
            row(&html!("<ul>{}</ul>", items))
        }
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            row(&Html::text("more to spend"))
        }
        Step::Hold { next, .. } => {
            row(&Html::text(&format!("the user's word, before {}", round_label(debate, next))))
        }
        Step::Close(_) => row(&Html::text("nothing but its end")),
        Step::Done => Html::new(),
    }
}

fn render_due_turn(history: &DebateHistory, cue: Cue) -> Html {
    let debate = history.debate();
    let name = format!("{} ({})", one_line(&speaker_title(debate, cue)), debate.seat(cue).voice);
    let mut out = if debate.was_asked(cue) {
        html!("<a href=\"#{}\">{}</a>", turn_element_id(cue), truncate(&name, MAX_SPEAKER_CHARS))
    } else {
        Html::text(&truncate(&name, MAX_SPEAKER_CHARS))
    };
    if debate.was_asked(cue) {
        out.push(&html!(", since {}", render_time(history.turn_times(cue).asked_at)));
    }
    if let Some(deadline) = debate.deadline(cue) {
        out.push(&html!(", until <span class=\"deadline\">{}</span>", render_time(deadline)));
    }
    html!("<li>{}</li>", out)
}
