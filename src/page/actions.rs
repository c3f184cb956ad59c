//! Forms for the signed-in owner: vote, speak, continue, remark, pause and request the verdict.
//! Only actions that are valid in the current state are rendered.
use super::html::{Html, bounded, html};
use super::panels::panel;
use super::shown::{Setting, Viewer};
use super::story::Story;
use super::turn::capital;
use crate::debate::{Cue, Debate, Event, Participant, ReplyKind, Side, Step, next, status};
use crate::report::verdict::turn_name;

/// Maximum length of a remark, in characters.
pub const REMARK: usize = 4_000;

/// Renders the actions panel: the forms, or a hint how to sign in.
pub(super) fn actions(story: &Story, setting: &Setting<'_>, viewer: Viewer) -> Html {
    let debate = story.debate();
    let Some(base) = setting.links.as_deref().filter(|_| !story.over() && story.flaw().is_none())
    else {
        return panel("panel-actions", "Actions", &Html::new());
    };
    let inner = match viewer {
        Viewer::Reader if setting.door.is_empty() => Html::new(),
        Viewer::Reader => html!("<p class=\"door\">Read only. {}</p>", setting.door),
        Viewer::Owner => forms(debate, base, setting.pass),
    };
    panel("panel-actions", "Actions", &inner)
}

fn forms(debate: &Debate, base: &str, pass: &str) -> Html {
    let form = |action: &'static str, class: &'static str, inner: &Html| {
        html!(
            "<form method=\"post\" action=\"{}/actions/{}\" class=\"{}\">\
             <input type=\"hidden\" name=\"csrf\" value=\"{}\">{}</form>",
            base,
            action,
            class,
            pass,
            *inner
        )
    };
    let button = |says: &str| html!("<button type=\"submit\">{}</button>", says);
    let mut all = Html::new();
    for cue in awaited(debate) {
        all.add(&match debate.setup().phase(cue).reply {
            ReplyKind::Vote => form("vote", "vote", &vote(debate, cue)),
            ReplyKind::Speech => form("speak", "speak", &speak(debate, cue)),
            _ => html!(
                "<p>{} is waited for: <code>debate resume {}</code> asks for it.</p>",
                capital(&turn_name(debate, cue)),
                debate.setup().id.as_str()
            ),
        });
    }
    if let Step::Hold { next, .. } = next(debate)
        && debate.validate(&Event::Continued { before: next.position() }).is_ok()
    {
        let before = html!(
            "<input type=\"hidden\" name=\"act\" value=\"{}\">\
             <input type=\"hidden\" name=\"round\" value=\"{}\">",
            next.act,
            next.round
        );
        let inner: Html = [before, button("Go on")].into_iter().collect();
        all.add(&form("continue", "continue", &inner));
    }
    if debate.validate(&Event::Interjected { text: "x".into() }).is_ok() {
        let inner = html!(
            "<label for=\"remark\">A remark for whoever has not been asked yet</label>\
             <textarea id=\"remark\" name=\"text\" required maxlength=\"{}\" rows=\"3\"></textarea>{}",
            REMARK,
            button("Add the remark")
        );
        all.add(&form("remark", "remark", &inner));
    }
    if debate.validate(&Event::Held).is_ok() {
        all.add(&form("pause", "pause", &button("Pause before the next turn")));
    }
    if debate.validate(&Event::Concluded { because: None }).is_ok() {
        all.add(&form("verdict", "verdict", &button("Ask for the ending now")));
    }
    all
}

/// Pending turns of human participants, which can be answered on this page.
pub fn awaited(debate: &Debate) -> Vec<Cue> {
    let Step::Speak { awaited, .. } = next(debate) else { return vec![] };
    let person =
        |cue: &Cue| debate.seat(*cue).voice == Participant::Human && debate.was_asked(*cue);
    awaited.into_iter().filter(person).collect()
}

/// Hidden fields that identify the turn, and the take in which its prompt was sent.
fn which(debate: &Debate, cue: Cue) -> Html {
    html!(
        "<input type=\"hidden\" name=\"turn\" value=\"{}\">\
         <input type=\"hidden\" name=\"take\" value=\"{}\">",
        cue.to_string(),
        debate.take_number()
    )
}

/// Element ids contain the turn, so that several forms can share a page.
fn vote(debate: &Debate, cue: Cue) -> Html {
    let id = super::turn::id_of(cue);
    let side = |side: Side, value: &'static str| {
        html!(
            "<label><input type=\"radio\" name=\"side\" value=\"{}\" required> {} ({})</label>",
            value,
            bounded(&status::side_name(debate, side), 80),
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
        which(debate, cue),
        bounded(&debate.seat(cue).name, 80),
        side(Side::Pro, "pro"),
        side(Side::Con, "con"),
        id,
        id,
        id,
        id,
        REMARK
    )
}

fn speak(debate: &Debate, cue: Cue) -> Html {
    let id = super::turn::id_of(cue);
    html!(
        "{}<label for=\"speech-{}\">Your turn: {}</label>\
         <textarea id=\"speech-{}\" name=\"text\" required rows=\"8\"></textarea>\
         <button type=\"submit\">Speak</button>",
        which(debate, cue),
        id,
        turn_name(debate, cue),
        id
    )
}
