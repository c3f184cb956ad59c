//! Renders one turn: speaker, time, usage, reply, ruling, claims and rule violations. The entry
//! point is `render_turn`, called by the debate page, its live updates (`rendered`) and the
//! comparison page.
use super::claims::render_claims;
use super::history::{DebateHistory, TurnTimes};
use super::html::{Html, MAX_NAME_CHARS, MAX_NOTE_CHARS, html, truncate};
use super::markdown::render_markdown;
use super::rendered::RenderContext;
use super::timeline::round_label;
use crate::debate::body::{ClaimCheck, RubricMarks};
use crate::debate::language::{self, Language};
use crate::debate::{
    Body, Cue, Debate, Envelope, JudgeRuling, Participant, Reply, RuleWeight, Seat, Side,
    TurnFailure, status,
};
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;
use crate::report::structured_reply::render_structured_reply;
use crate::report::verdict::{turn_name, unmask_sides};
use crate::report::{iso_timestamp, record};
use std::collections::BTreeMap;

/// Characters shown of a side's name in the marks of a rubric.
const MAX_RUBRIC_NAME_CHARS: usize = 40;
/// Characters read at most to detect the language of a text.
const MAX_DETECTED_CHARS: usize = 4_000;

/// Element id of a turn.
pub(super) fn turn_element_id(cue: Cue) -> String {
    let Cue { act, round, phase, seat } = cue;
    format!("turn-{act}-{round}-{phase}-{seat}")
}

/// Renders a turn. `live` is the streamed text of a pending one.
pub(super) fn render_turn(
    history: &DebateHistory,
    cue: Cue,
    live: Option<&str>,
    context: &RenderContext<'_>,
) -> Html {
    let debate = history.debate();
    let times = history.turn_times(cue);
    let Some(turn) = debate.turn(cue) else {
        return render_pending_turn(debate, cue, times, live, context);
    };
    let (seq, at) = times.finished.unwrap_or((times.last_seq, times.asked_at));
    let is_sealed = debate.is_sealed(cue);
    let (inner, lang, envelope) = match turn {
        Ok(_) if is_sealed => (
            html!("<p class=\"sealed\">{}</p>", record::SEALED_PLACEHOLDER.trim()),
            Html::new(),
            None,
        ),
        Ok(reply) => {
            let lang = lang_attribute(&reply.body.to_text());
            (render_reply(debate, cue, reply, context), lang, Some(&reply.envelope))
        }
        Err(failure) => (render_failure(failure), Html::new(), Some(&failure.envelope)),
    };
    let rejection =
        debate.rejected_reply(cue).filter(|_| !is_sealed).map_or_else(Html::new, |attempt| {
            html!(
                "<p class=\"refused\">A first answer was not taken: {}</p>",
                truncate(&one_line(&attempt.why), MAX_NOTE_CHARS)
            )
        });
    html!(
        "<article id=\"{}\" data-seq=\"{}\" data-at=\"{}\" data-side=\"{}\"{}>{}{}{}</article>",
        context.element_id(cue),
        seq,
        at,
        side_attribute(debate, cue),
        lang,
        render_turn_header(debate, cue, Some(at), envelope, context),
        rejection,
        inner
    )
}

/// Renders a pending turn, with an element for the streamed text.
fn render_pending_turn(
    debate: &Debate,
    cue: Cue,
    times: TurnTimes,
    live: Option<&str>,
    context: &RenderContext<'_>,
) -> Html {
    let is_sealed = debate.is_sealed(cue);
    let status_text = if is_sealed {
        "Answering, sealed until all have answered."
    } else if debate.seat(cue).voice.is_awaited() {
        "Awaited."
    } else {
        "Speaking."
    };
    html!(
        "<article id=\"{}\" data-seq=\"{}\" data-at=\"{}\" data-side=\"{}\" data-pending=\"true\">\
         {}<p class=\"waits\">{}</p><div class=\"live\" aria-live=\"off\">{}</div></article>",
        context.element_id(cue),
        times.last_seq,
        times.asked_at,
        side_attribute(debate, cue),
        render_turn_header(debate, cue, None, None, context),
        status_text,
        live.filter(|_| !is_sealed).unwrap_or_default()
    )
}

/// Value of `data-side`: `pro`, `con` or `other`.
fn side_attribute(debate: &Debate, cue: Cue) -> &'static str {
    match debate.seat(cue).role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    }
}

/// The attribute ` lang="zh"` for Chinese text, otherwise empty.
pub(super) fn lang_attribute(text: &str) -> Html {
    let start: String = text.chars().take(MAX_DETECTED_CHARS).collect();
    if language::detect(&start) == Language::Chinese { html!(" lang=\"zh\"") } else { Html::new() }
}

fn render_turn_header(
    debate: &Debate,
    cue: Cue,
    at: Option<i64>,
    envelope: Option<&Envelope>,
    context: &RenderContext<'_>,
) -> Html {
    let seat = debate.seats_at(cue).get(usize::from(cue.seat));
    let is_bot = seat.is_some_and(|seat| seat.voice == Participant::Bot);
    let participant = envelope
        .filter(|_| !is_bot)
        .and_then(tool_and_model)
        .unwrap_or_else(|| seat.map_or_else(String::new, Seat::participant_name));
    let mut details = Html::new();
    if let Some(at) = at {
        details.push(&render_time(at));
    }
    if let Some(envelope) = envelope {
        details.push(&render_usage(envelope));
    }
    if at.is_some() && context.debate_url.is_some() {
        details.push(&html!(
            " <a class=\"here\" href=\"#{}\" aria-label=\"Link to {}\">#</a>",
            context.element_id(cue),
            turn_name(debate, cue)
        ));
    }
    html!(
        "<header><h3>{} · {} <span class=\"voice\">{}</span></h3><p class=\"about\">{}</p></header>",
        capitalize(&round_label(debate, cue)),
        truncate(&one_line(&speaker_title(debate, cue)), MAX_NAME_CHARS),
        truncate(&one_line(&participant), MAX_NAME_CHARS),
        details
    )
}

/// For example `claude:opus`, from the envelope of the turn.
fn tool_and_model(envelope: &Envelope) -> Option<String> {
    let tool = Some(envelope.tool.as_str()).filter(|tool| !tool.is_empty())?;
    let model = envelope.model_reported.as_ref().or(envelope.model_asked.as_ref());
    Some(model.map_or_else(|| tool.to_owned(), |model| format!("{tool}:{model}")))
}

fn render_usage(envelope: &Envelope) -> Html {
    let mut parts = vec![];
    if envelope.duration_ms > 0 {
        parts.push(format!("{:.1} s", envelope.duration_ms as f64 / 1000.0));
    }
    let tokens = envelope.spend().tokens;
    if tokens > 0 {
        parts.push(format!("{tokens} tokens"));
    }
    if parts.is_empty() {
        return Html::new();
    }
    html!(" <span class=\"spent\">{}</span>", parts.join(", "))
}

/// Renders a timestamp as a `time` element, in UTC.
pub(super) fn render_time(millis: i64) -> Html {
    let iso = iso_timestamp(millis);
    let readable = iso.get(..19).unwrap_or(&iso).replace('T', " ");
    html!("<time datetime=\"{}\">{} UTC</time>", iso, readable)
}

fn render_reply(debate: &Debate, cue: Cue, reply: &Reply, context: &RenderContext<'_>) -> Html {
    let mut out = Html::new();
    let structured = render_structured_reply(debate, cue, &reply.body);
    let text = structured.unwrap_or_else(|| unmask_sides(debate, cue, &reply.body.to_text()));
    out.push(&html!("<div class=\"speech\">{}</div>", render_markdown(&text, 3)));
    if let Body::Verdict(ruling) = &reply.body {
        out.push(&render_ruling(debate, cue, ruling));
    }
    out.push(&render_claims(reply, &context.element_id(cue), context));
    if let Some(help) = reply.body.help_request() {
        out.push(&html!(
            "<p class=\"help\">Calls {} for help: {}</p>",
            truncate(&one_line(&help.from), MAX_NAME_CHARS),
            truncate(&one_line(&help.because), MAX_NOTE_CHARS)
        ));
    }
    for foul in reply.findings.iter().filter(|finding| finding.weight == RuleWeight::Foul) {
        out.push(&html!(
            "<p class=\"fault\">Checked: {}</p>",
            truncate(&one_line(&foul.says), MAX_NOTE_CHARS)
        ));
    }
    out
}

/// Renders the marks of both sides for each criterion of the rubric.
fn render_rubric(rubric: &RubricMarks, pro: &str, con: &str) -> Html {
    let rows = RubricMarks::CRITERIA.iter().map(|(name, max_points)| {
        let points = |marks: &BTreeMap<String, u8>| marks.get(*name).copied().unwrap_or(0);
        html!(
            "<li>{}: {} {}, {} {}, of {}</li>",
            name.replace('_', " "),
            truncate(pro, MAX_RUBRIC_NAME_CHARS),
            points(&rubric.pro),
            truncate(con, MAX_RUBRIC_NAME_CHARS),
            points(&rubric.con),
            *max_points
        )
    });
    let rows: Html = rows.collect();
    html!(
        "<details class=\"checks\"><summary>Marks by criterion</summary><ul>{}</ul></details>",
        rows
    )
}

/// Renders scores, rubric, recommendation and claim checks of a ruling.
fn render_ruling(debate: &Debate, cue: Cue, ruling: &JudgeRuling) -> Html {
    let mut out = Html::new();
    let (pro, con) = (status::side_name(debate, Side::Pro), status::side_name(debate, Side::Con));
    if let Some(scores) = ruling.scores {
        out.push(&html!(
            "<p class=\"scores\">{} {}, {} {}, {}% sure</p>",
            pro,
            scores.pro,
            con,
            scores.con,
            ruling.confidence
        ));
    }
    if let Some(rubric) = &ruling.rubric {
        out.push(&render_rubric(rubric, &pro, &con));
    }
    if !ruling.recommendation.trim().is_empty() {
        let text = unmask_sides(debate, cue, &ruling.recommendation);
        out.push(&html!(
            "<section class=\"recommends\"><h4>Recommends</h4>{}</section>",
            render_markdown(&text, 4)
        ));
    }
    if !ruling.checks.is_empty() {
        let rows: Html = ruling.checks.iter().map(|check| render_check(debate, check)).collect();
        out.push(&html!(
            "<details class=\"checks\"><summary>Asked about single claims</summary><ul>{}</ul>\
             </details>",
            rows
        ));
    }
    out
}

fn render_check(debate: &Debate, check: &ClaimCheck) -> Html {
    let choose =
        |condition: bool, yes: &'static str, no: &'static str| if condition { yes } else { no };
    html!(
        "<li>{} <code>{}</code>: {}, {}, {}</li>",
        status::side_name(debate, check.side),
        truncate(&one_line(&check.claim), MAX_NAME_CHARS),
        choose(check.answered, "answered", "not answered"),
        choose(check.supported, "supported", "not supported"),
        choose(check.conceded, "conceded", "not conceded")
    )
}

fn render_failure(failure: &TurnFailure) -> Html {
    html!(
        "<p class=\"lost\">This turn was lost ({}): {}</p>",
        failure.trouble.as_str(),
        truncate(&one_line(&failure.note), MAX_NOTE_CHARS)
    )
}

/// Capitalizes the first letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::FailureKind;

    #[test]
    fn note_on_the_page_has_at_most_1_000_characters() {
        assert_eq!(MAX_NOTE_CHARS, 1_000);
        let note = "x".repeat(MAX_NOTE_CHARS);
        let render =
            |note: &str| render_failure(&TurnFailure::new(FailureKind::Other, note)).into_string();
        assert!(render(&note).ends_with(&format!(": {note}</p>")));
        assert!(render(&format!("{note}x")).ends_with(&format!(": {note}…</p>")));
    }
}
