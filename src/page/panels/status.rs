//! Status panel: status, round, pending turns and notices.
use crate::debate::{Cue, Debate, PauseReason, Rounds, Step, next, status};
use crate::page::html::{Html, bounded, html};
use crate::page::story::Story;
use crate::page::timeline::when;
use crate::page::turn::{capital, id_of, time};
use crate::report::people::title;
use crate::report::text::one_line;

/// Renders the status panel.
pub(super) fn status(story: &Story) -> Html {
    let debate = story.debate();
    let status = status::status(debate);
    let mut rows = html!(
        "<dt>State</dt><dd><span class=\"state state-{}\">{}</span></dd>",
        status.as_str(),
        capital(&status.as_str().replace('-', " "))
    );
    rows.add(&html!("<dt>Round</dt><dd>{}</dd>", round(debate)));
    rows.add(&due(story));
    rows.add(&html!("<dt>Opened</dt><dd>{}</dd>", time(debate.setup().opened_at)));
    rows.add(&html!("<dt>Last event</dt><dd>{}</dd>", time(story.at())));
    let labels = status::labels(debate);
    if !labels.is_empty() {
        rows.add(&html!("<dt>Labels</dt><dd>{}</dd>", labels.join(", ")));
    }
    let mut all = html!("<dl>{}</dl>", rows);
    let notices: Html = status::notices(debate)
        .iter()
        .map(|notice| html!("<li>{}</li>", bounded(&one_line(notice), 1_000)))
        .collect();
    if !notices.is_empty() {
        all.add(&html!("<ul class=\"notices\">{}</ul>", notices));
    }
    if let Some(says) = status::ending_advice(debate) {
        all.add(&html!("<p class=\"suggests\">{}</p>", capital(&one_line(&says))));
    }
    if let Some(seq) = story.flaw() {
        all.add(&html!(
            "<p class=\"flaw\">From event {} on this log is not one this program could have \
             written: it can be read, and not continued.</p>",
            seq
        ));
    }
    all
}

/// For example `2 of 3`.
fn round(debate: &Debate) -> String {
    let at = next(debate).first_cue().map(|cue| cue.round);
    let reached = at.into_iter().chain(debate.turns().map(|(cue, _)| cue.round)).max().unwrap_or(0);
    let open = debate.setup().format.acts.iter().any(|act| act.rounds == Rounds::Open);
    match (reached, open) {
        (0, _) => format!("none yet, {} planned", debate.rounds()),
        (round, true) => format!("{round}, open-ended"),
        (round, false) => format!("{round} of {}", debate.rounds()),
    }
}

fn due(story: &Story) -> Html {
    let debate = story.debate();
    let row = |says: &Html| html!("<dt>Due</dt><dd>{}</dd>", *says);
    match next(debate) {
        Step::Speak { driven, awaited } => {
            let items: Html =
                driven.iter().chain(&awaited).map(|cue| waited(story, *cue)).collect();
            row(&html!("<ul>{}</ul>", items))
        }
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            row(&Html::text("more to spend"))
        }
        Step::Hold { next, .. } => {
            row(&Html::text(&format!("the user's word, before {}", when(debate, next))))
        }
        Step::Close(_) => row(&Html::text("nothing but its end")),
        Step::Done => Html::new(),
    }
}

fn waited(story: &Story, cue: Cue) -> Html {
    let debate = story.debate();
    let name = format!("{} ({})", one_line(&title(debate, cue)), debate.seat(cue).voice);
    let mut says = if debate.was_asked(cue) {
        html!("<a href=\"#{}\">{}</a>", id_of(cue), bounded(&name, 120))
    } else {
        Html::text(&bounded(&name, 120))
    };
    if debate.was_asked(cue) {
        says.add(&html!(", since {}", time(story.times(cue).asked)));
    }
    if let Some(deadline) = debate.deadline(cue) {
        says.add(&html!(", until <span class=\"deadline\">{}</span>", time(deadline)));
    }
    html!("<li>{}</li>", says)
}
