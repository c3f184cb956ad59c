//! Forms for the signed-in owner: vote, speak, continue, remark, pause and request the verdict.
//! Only actions that are valid in the current state are rendered.
use super::context::{RenderContext, Viewer};
use super::elements::{capitalize, render_panel, turn_element_id};
use super::history::DebateHistory;
use super::html::{MAX_NAME_CHARS, truncate};
use crate::debate::{Cue, Debate, Event, Participant, ReplyKind, Side, Step, next, status};
use crate::report::participants::turn_name;
use maud::{Markup, html};

/// Maximum length of a remark, in characters.
pub const MAX_REMARK_CHARS: usize = 4_000;

/// Renders the actions panel: the forms, or a hint how to sign in.
pub(super) fn render_actions(
    history: &DebateHistory,
    context: &RenderContext<'_>,
    viewer: Viewer,
) -> Markup {
    let debate = history.debate();
    let Some(base_url) = context
        .debate_url
        .as_deref()
        .filter(|_| !history.is_over() && history.first_invalid_seq().is_none())
    else {
        return render_panel("panel-actions", "Actions", &Markup::default());
    };
    let inner = html! {
        @match viewer {
            Viewer::Reader if context.sign_in_hint.is_empty() => {},
            Viewer::Reader => p.door { "Read only. " (context.sign_in_hint) },
            Viewer::Owner => (render_forms(debate, base_url, context.csrf_token)),
        }
    };
    render_panel("panel-actions", "Actions", &inner)
}

fn render_forms(debate: &Debate, base_url: &str, csrf_token: &str) -> Markup {
    let form = |action: &'static str, inner: &Markup| {
        html! {
            form method="post" action={ (base_url) "/actions/" (action) } class=(action) {
                input type="hidden" name="csrf" value=(csrf_token);
                (inner)
            }
        }
    };
    let button = |label: &str| html! { button type="submit" { (label) } };
    html! {
        @for cue in awaited_human_turns(debate) {
            @match debate.setup().phase(cue).reply {
                ReplyKind::Vote => (form("vote", &render_vote_form(debate, cue))),
                ReplyKind::Speech => (form("speak", &render_speech_form(debate, cue))),
                _ => p {
                    (capitalize(&turn_name(debate, cue))) " is waited for: "
                    code { "debate resume " (debate.setup().id) } " asks for it."
                },
            }
        }
        @if let Step::Hold { next, .. } = next(debate)
            && debate.validate(&Event::Continued { before: next.position() }).is_ok() {
            (form("continue", &html! {
                input type="hidden" name="act" value=(next.act);
                input type="hidden" name="round" value=(next.round);
                (button("Go on"))
            }))
        }
        @if debate.validate(&Event::Interjected { text: "x".into() }).is_ok() {
            (form("remark", &html! {
                label for="remark" { "A remark for whoever has not been asked yet" }
                textarea #remark name="text" required maxlength=(MAX_REMARK_CHARS) rows="3" {}
                (button("Add the remark"))
            }))
        }
        @if debate.validate(&Event::Held).is_ok() {
            (form("pause", &button("Pause before the next turn")))
        }
        @if debate.validate(&Event::Concluded { because: None }).is_ok() {
            (form("verdict", &button("Ask for the ending now")))
        }
    }
}

/// Pending turns of human participants, which can be answered on this page.
pub fn awaited_human_turns(debate: &Debate) -> Vec<Cue> {
    let Step::Speak { awaited, .. } = next(debate) else { return vec![] };
    let is_human =
        |cue: &Cue| debate.seat(*cue).voice == Participant::Human && debate.was_asked(*cue);
    awaited.into_iter().filter(is_human).collect()
}

/// Hidden fields that identify the turn, and the take in which its prompt was sent.
fn turn_fields(debate: &Debate, cue: Cue) -> Markup {
    html! {
        input type="hidden" name="turn" value=(cue.to_string());
        input type="hidden" name="take" value=(debate.take_number());
    }
}

/// Element ids contain the turn, so that several forms can share a page.
fn render_vote_form(debate: &Debate, cue: Cue) -> Markup {
    let id = turn_element_id(cue);
    html! {
        (turn_fields(debate, cue))
        fieldset {
            legend { "Your vote as " (truncate(&debate.seat(cue).name, MAX_NAME_CHARS)) }
            @for (side, value) in [(Side::Pro, "pro"), (Side::Con, "con")] {
                label {
                    input type="radio" name="side" value=(value) required;
                    " " (truncate(&status::side_name(debate, side), MAX_NAME_CHARS))
                    " (" (side.role_name()) ")"
                }
            }
        }
        label for={ "sure-" (id) } { "How sure you are, in percent" }
        input #{ "sure-" (id) } type="number" name="confidence" min="0" max="100" value="70"
            required;
        label for={ "why-" (id) } { "Why" }
        textarea #{ "why-" (id) } name="reason" required maxlength=(MAX_REMARK_CHARS) rows="3" {}
        button type="submit" { "Vote" }
    }
}

fn render_speech_form(debate: &Debate, cue: Cue) -> Markup {
    let id = turn_element_id(cue);
    html! {
        (turn_fields(debate, cue))
        label for={ "speech-" (id) } { "Your turn: " (turn_name(debate, cue)) }
        textarea #{ "speech-" (id) } name="text" required rows="8" {}
        button type="submit" { "Speak" }
    }
}
