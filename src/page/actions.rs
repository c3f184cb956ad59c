//! Forms for the signed-in owner: vote, speak, continue, remark, pause and request the verdict.
//! Only actions that are valid in the current state are rendered.
use super::history::DebateHistory;
use super::html::{Html, MAX_NAME_CHARS, html, truncate};
use super::panels::render_panel;
use super::rendered::{RenderContext, Viewer};
use super::turn::capitalize;
use crate::debate::{Cue, Debate, Event, Participant, ReplyKind, Side, Step, next, status};
use crate::report::verdict::turn_name;

/// Maximum length of a remark, in characters.
pub const MAX_REMARK_CHARS: usize = 4_000;

/// Renders the actions panel: the forms, or a hint how to sign in.
pub(super) fn render_actions(
    history: &DebateHistory,
    context: &RenderContext<'_>,
    viewer: Viewer,
) -> Html {
    let debate = history.debate();
    let Some(base_url) = context
        .debate_url
        .as_deref()
        .filter(|_| !history.is_over() && history.first_invalid_seq().is_none())
    else {
        return render_panel("panel-actions", "Actions", &Html::new());
    };
    let inner = match viewer {
        Viewer::Reader if context.sign_in_hint.is_empty() => Html::new(),
        Viewer::Reader => html!("<p class=\"door\">Read only. {}</p>", context.sign_in_hint),
        Viewer::Owner => render_forms(debate, base_url, context.csrf_token),
    };
    render_panel("panel-actions", "Actions", &inner)
}

fn render_forms(debate: &Debate, base_url: &str, csrf_token: &str) -> Html {
    let form = |action: &'static str, class: &'static str, inner: &Html| {
        html!(
            "<form method=\"post\" action=\"{}/actions/{}\" class=\"{}\">\
             <input type=\"hidden\" name=\"csrf\" value=\"{}\">{}</form>",
            base_url,
            action,
            class,
            csrf_token,
            *inner
        )
    };
    let button = |label: &str| html!("<button type=\"submit\">{}</button>", label);
    let mut forms = Html::new();
    for cue in awaited_human_turns(debate) {
        forms.push(&match debate.setup().phase(cue).reply {
            ReplyKind::Vote => form("vote", "vote", &render_vote_form(debate, cue)),
            ReplyKind::Speech => form("speak", "speak", &render_speech_form(debate, cue)),
            _ => html!(
                "<p>{} is waited for: <code>debate resume {}</code> asks for it.</p>",
                capitalize(&turn_name(debate, cue)),
                debate.setup().id.as_str()
            ),
        });
    }
    if let Step::Hold { next, .. } = next(debate)
        && debate.validate(&Event::Continued { before: next.position() }).is_ok()
    {
        let position_fields = html!(
            "<input type=\"hidden\" name=\"act\" value=\"{}\">\
             <input type=\"hidden\" name=\"round\" value=\"{}\">",
            next.act,
            next.round
        );
        let inner: Html = [position_fields, button("Go on")].into_iter().collect();
        forms.push(&form("continue", "continue", &inner));
    }
    if debate.validate(&Event::Interjected { text: "x".into() }).is_ok() {
        let inner = html!(
            "<label for=\"remark\">A remark for whoever has not been asked yet</label>\
             <textarea id=\"remark\" name=\"text\" required maxlength=\"{}\" rows=\"3\"></textarea>{}",
            MAX_REMARK_CHARS,
            button("Add the remark")
        );
        forms.push(&form("remark", "remark", &inner));
    }
    if debate.validate(&Event::Held).is_ok() {
        forms.push(&form("pause", "pause", &button("Pause before the next turn")));
    }
    if debate.validate(&Event::Concluded { because: None }).is_ok() {
        forms.push(&form("verdict", "verdict", &button("Ask for the ending now")));
    }
    forms
}

/// Pending turns of human participants, which can be answered on this page.
pub fn awaited_human_turns(debate: &Debate) -> Vec<Cue> {
    let Step::Speak { awaited, .. } = next(debate) else { return vec![] };
    let is_human =
        |cue: &Cue| debate.seat(*cue).voice == Participant::Human && debate.was_asked(*cue);
    awaited.into_iter().filter(is_human).collect()
}

/// Hidden fields that identify the turn, and the take in which its prompt was sent.
fn turn_fields(debate: &Debate, cue: Cue) -> Html {
    html!(
        "<input type=\"hidden\" name=\"turn\" value=\"{}\">\
         <input type=\"hidden\" name=\"take\" value=\"{}\">",
        cue.to_string(),
        debate.take_number()
    )
}

/// Element ids contain the turn, so that several forms can share a page.
fn render_vote_form(debate: &Debate, cue: Cue) -> Html {
    let id = super::turn::turn_element_id(cue);
    let side = |side: Side, value: &'static str| {
        html!(
            "<label><input type=\"radio\" name=\"side\" value=\"{}\" required> {} ({})</label>",
            value,
            truncate(&status::side_name(debate, side), MAX_NAME_CHARS),
            side.role_name()
        )
    };
    html!(
        "{}<fieldset><legend>Your vote as {}</legend>{}{}</fieldset>\
         <label for=\"sure-{}\">How sure you are, in percent</label>\
         <input id=\"sure-{}\" type=\"number\" name=\"confidence\" min=\"0\" max=\"100\" value=\"70\" required>\
         <label for=\"why-{}\">Why</label>\
         <textarea id=\"why-{}\" name=\"reason\" required maxlength=\"{}\" rows=\"3\"></textarea>\
         <button type=\"submit\">Vote</button>",
        turn_fields(debate, cue),
        truncate(&debate.seat(cue).name, MAX_NAME_CHARS),
        side(Side::Pro, "pro"),
        side(Side::Con, "con"),
        id,
        id,
        id,
        id,
        MAX_REMARK_CHARS
    )
}

fn render_speech_form(debate: &Debate, cue: Cue) -> Html {
    let id = super::turn::turn_element_id(cue);
    html!(
        "{}<label for=\"speech-{}\">Your turn: {}</label>\
         <textarea id=\"speech-{}\" name=\"text\" required rows=\"8\"></textarea>\
         <button type=\"submit\">Speak</button>",
        turn_fields(debate, cue),
        id,
        turn_name(debate, cue),
        id
    )
}
