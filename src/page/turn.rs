//! Renders one turn: speaker, time, usage, reply, ruling, claims and rule violations. The entry
//! point is `render_turn`, called by the debate page, its live updates (`rendered`) and the
//! comparison page.
use super::claims::render_claims;
use super::context::RenderContext;
use super::elements::{capitalize, render_time, text_lang};
use super::event_label::round_label;
use super::history::{DebateHistory, TurnTimes};
use super::html::{MAX_NAME_CHARS, MAX_NOTE_CHARS, truncate};
use super::markdown::render_markdown;
use crate::debate::body::{ClaimCheck, RubricMarks};
use crate::debate::{
    Body, Cue, Debate, Envelope, JudgeRuling, Participant, Reply, RuleWeight, Seat, Side,
    TurnFailure, status,
};
use crate::report::participants::{speaker_title, turn_name};
use crate::report::sanitize::one_line;
use crate::report::structured_reply::{SEALED_PLACEHOLDER, render_structured_reply};
use crate::report::unmask::unmask_sides;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Characters shown of a side's name in the marks of a rubric.
const MAX_RUBRIC_NAME_CHARS: usize = 40;

/// Renders a turn. `live` is the streamed text of a pending one.
pub(super) fn render_turn(
    history: &DebateHistory,
    cue: Cue,
    live: Option<&str>,
    context: &RenderContext<'_>,
) -> Markup {
    let debate = history.debate();
    let times = history.turn_times(cue);
    let Some(turn) = debate.turn(cue) else {
        return render_pending_turn(debate, cue, times, live, context);
    };
    let (seq, at) = times.finished.unwrap_or((times.last_seq, times.asked_at));
    let is_sealed = debate.is_sealed(cue);
    let (lang, envelope) = match turn {
        Ok(_) if is_sealed => (None, None),
        Ok(reply) => (text_lang(&reply.body.to_text()), Some(&reply.envelope)),
        Err(failure) => (None, Some(&failure.envelope)),
    };
    html! {
        article #(context.element_id(cue)) data-seq=(seq) data-at=(at)
            data-side=(side_attribute(debate, cue)) lang=[lang] {
            (render_turn_header(debate, cue, Some(at), envelope, context))
            @if let Some(attempt) = debate.rejected_reply(cue).filter(|_| !is_sealed) {
                p.refused { "A first answer was not taken: " (note(&attempt.why)) }
            }
            @match turn {
                Ok(_) if is_sealed => p.sealed { (SEALED_PLACEHOLDER.trim()) },
                Ok(reply) => (render_reply(debate, cue, reply, context)),
                Err(failure) => (render_failure(failure)),
            }
        }
    }
}

/// Renders a pending turn, with an element for the streamed text.
fn render_pending_turn(
    debate: &Debate,
    cue: Cue,
    times: TurnTimes,
    live: Option<&str>,
    context: &RenderContext<'_>,
) -> Markup {
    let is_sealed = debate.is_sealed(cue);
    let status_text = if is_sealed {
        "Answering, sealed until all have answered."
    } else if debate.seat(cue).voice.is_awaited() {
        "Awaited."
    } else {
        "Speaking."
    };
    html! {
        article #(context.element_id(cue)) data-seq=(times.last_seq) data-at=(times.asked_at)
            data-side=(side_attribute(debate, cue)) data-pending="true" {
            (render_turn_header(debate, cue, None, None, context))
            p.waits { (status_text) }
            div.live aria-live="off" { (live.filter(|_| !is_sealed).unwrap_or_default()) }
        }
    }
}

/// Value of `data-side`: `pro`, `con` or `other`.
fn side_attribute(debate: &Debate, cue: Cue) -> &'static str {
    match debate.seat(cue).role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    }
}

fn render_turn_header(
    debate: &Debate,
    cue: Cue,
    at: Option<i64>,
    envelope: Option<&Envelope>,
    context: &RenderContext<'_>,
) -> Markup {
    let seat = debate.seats_at(cue).get(usize::from(cue.seat));
    let is_bot = seat.is_some_and(|seat| seat.voice == Participant::Bot);
    let participant = envelope
        .filter(|_| !is_bot)
        .and_then(tool_and_model)
        .unwrap_or_else(|| seat.map_or_else(String::new, Seat::participant_name));
    html! {
        header {
            h3 {
                (capitalize(&round_label(debate, cue))) " · "
                (truncate(&one_line(&speaker_title(debate, cue)), MAX_NAME_CHARS)) " "
                span.voice { (truncate(&one_line(&participant), MAX_NAME_CHARS)) }
            }
            p.about {
                @if let Some(at) = at { (render_time(at)) }
                @if let Some(usage) = envelope.and_then(usage_text) { " " span.spent { (usage) } }
                @if at.is_some() && context.debate_url.is_some() {
                    " " a.here href={ "#" (context.element_id(cue)) }
                        aria-label={ "Link to " (turn_name(debate, cue)) } { "#" }
                }
            }
        }
    }
}

/// For example `claude:opus`, from the envelope of the turn.
fn tool_and_model(envelope: &Envelope) -> Option<String> {
    let tool = Some(envelope.tool.as_str()).filter(|tool| !tool.is_empty())?;
    let model = envelope.model_reported.as_ref().or(envelope.model_asked.as_ref());
    Some(model.map_or_else(|| tool.to_owned(), |model| format!("{tool}:{model}")))
}

/// For example `1.5 s, 200 tokens`, if anything is known.
fn usage_text(envelope: &Envelope) -> Option<String> {
    let mut parts = vec![];
    if envelope.duration_ms > 0 {
        parts.push(format!("{:.1} s", envelope.duration_ms as f64 / 1000.0));
    }
    let tokens = envelope.spend().tokens;
    if tokens > 0 {
        parts.push(format!("{tokens} tokens"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn note(text: &str) -> String {
    truncate(&one_line(text), MAX_NOTE_CHARS)
}

fn render_reply(debate: &Debate, cue: Cue, reply: &Reply, context: &RenderContext<'_>) -> Markup {
    let structured = render_structured_reply(debate, cue, &reply.body);
    let text = structured.unwrap_or_else(|| unmask_sides(debate, cue, &reply.body.to_text()));
    let fouls = reply.findings.iter().filter(|finding| finding.weight == RuleWeight::Foul);
    html! {
        div.speech { (render_markdown(&text, 3)) }
        @if let Body::Verdict(ruling) = &reply.body { (render_ruling(debate, cue, ruling)) }
        (render_claims(reply, &context.element_id(cue), context))
        @if let Some(help) = reply.body.help_request() {
            p.help {
                "Calls " (truncate(&one_line(&help.from), MAX_NAME_CHARS)) " for help: "
                (note(&help.because))
            }
        }
        @for foul in fouls { p.fault { "Checked: " (note(&foul.says)) } }
    }
}

/// Renders the marks of both sides for each criterion of the rubric.
fn render_rubric(rubric: &RubricMarks, pro: &str, con: &str) -> Markup {
    let [pro, con] = [pro, con].map(|name| truncate(name, MAX_RUBRIC_NAME_CHARS));
    let points = |marks: &BTreeMap<String, u8>, name: &str| marks.get(name).copied().unwrap_or(0);
    html! {
        details.checks {
            summary { "Marks by criterion" }
            ul {
                @for (name, max_points) in RubricMarks::CRITERIA {
                    li {
                        (name.replace('_', " ")) ": " (pro) " " (points(&rubric.pro, name)) ", "
                        (con) " " (points(&rubric.con, name)) ", of " (max_points)
                    }
                }
            }
        }
    }
}

/// Renders scores, rubric, recommendation and claim checks of a ruling.
fn render_ruling(debate: &Debate, cue: Cue, ruling: &JudgeRuling) -> Markup {
    let [pro, con] = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
    html! {
        @if let Some(scores) = ruling.scores {
            p.scores {
                (pro) " " (scores.pro) ", " (con) " " (scores.con) ", " (ruling.confidence) "% sure"
            }
        }
        @if let Some(rubric) = &ruling.rubric { (render_rubric(rubric, &pro, &con)) }
        @if !ruling.recommendation.trim().is_empty() {
            section.recommends {
                h4 { "Recommends" }
                (render_markdown(&unmask_sides(debate, cue, &ruling.recommendation), 4))
            }
        }
        @if !ruling.checks.is_empty() {
            details.checks {
                summary { "Asked about single claims" }
                ul { @for check in &ruling.checks { (render_check(debate, check)) } }
            }
        }
    }
}

fn render_check(debate: &Debate, check: &ClaimCheck) -> Markup {
    let choose =
        |condition: bool, yes: &'static str, no: &'static str| if condition { yes } else { no };
    html! {
        li {
            (status::side_name(debate, check.side)) " "
            code { (truncate(&one_line(&check.claim), MAX_NAME_CHARS)) } ": "
            (choose(check.answered, "answered", "not answered")) ", "
            (choose(check.supported, "supported", "not supported")) ", "
            (choose(check.conceded, "conceded", "not conceded"))
        }
    }
}

fn render_failure(failure: &TurnFailure) -> Markup {
    html! {
        p.lost { "This turn was lost (" (failure.trouble.as_str()) "): " (note(&failure.note)) }
    }
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
