//! The page of one debate, at its last event or replayed up to an earlier one.
use super::html::{Html, html};
use super::layout::{Assets, Page, layout};
use super::shown::{Setting, Shown, Viewer, title};
use super::story::{Item, Story};
use super::turn::{id_of, turn};
use std::collections::BTreeMap;

/// Request-dependent input of the debate page, in addition to its history.
pub struct Around<'a> {
    /// Sequence number of the last recorded event.
    pub last: u64,
    /// Text of the replies being streamed, by element id.
    pub live: BTreeMap<String, String>,
    /// Access level of the viewer, which decides whether forms are shown.
    pub viewer: Viewer,
    /// URLs of the script and the style sheet.
    pub assets: Assets<'a>,
}

/// Renders the page of a debate.
pub fn debate(story: &Story, setting: &Setting<'_>, around: &Around<'_>) -> Html {
    let shown = Shown::new(story, setting, None);
    let mut parts = shown.parts(around.viewer);
    if !around.live.is_empty() {
        parts.insert("turns", speaking(story, &shown, setting, &around.live));
    }
    let (id, seq, last) = (story.debate().setup().id.as_str(), story.seq(), around.last);
    let base = setting.links.clone().unwrap_or_default();
    let about = html!(
        " data-debate=\"{}\" data-seq=\"{}\" data-last=\"{}\" data-running=\"{}\" \
         data-events=\"{}/events\" data-at-url=\"{}/fragments\" data-timeline=\"{}/timeline\"",
        id,
        seq,
        last,
        !story.over() && seq == last,
        base,
        base,
        base
    );
    let title = title(story);
    let main = body(&parts, &replay(&base, seq, last), &links(&base, id));
    layout(&Page { kind: "debate", title: &title, about, main }, around.assets)
}

/// Arranges the parts in columns.
pub(super) fn body(parts: &BTreeMap<&'static str, Html>, replay: &Html, links: &Html) -> Html {
    let none = Html::new();
    let part = |id: &str| parts.get(id).unwrap_or(&none);
    let panels = |ids: &[&str]| ids.iter().map(|id| part(id).clone()).collect::<Html>();
    html!(
        "{}{}<p id=\"announce\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></p>\
         <div class=\"columns\"><div class=\"beside\">{}</div><div class=\"middle\">{}\
         <section class=\"transcript\" aria-labelledby=\"turns-title\">\
         <h2 id=\"turns-title\">Transcript</h2>{}</section></div></div>",
        *part("topic"),
        *links,
        panels(&[
            "panel-status",
            "panel-actions",
            "panel-verdict",
            "panel-scores",
            "panel-votes",
            "panel-sides",
            "panel-ledger",
            "panel-cost",
        ]),
        *replay,
        *part("turns")
    )
}

/// Renders the transcript with the text of the replies being streamed.
fn speaking(
    story: &Story,
    shown: &Shown,
    setting: &Setting<'_>,
    live: &BTreeMap<String, String>,
) -> Html {
    let mut items = Html::new();
    for (item, html) in story.items().iter().zip(shown.items()) {
        let words = match item {
            Item::Turn(cue) => live.get(&id_of(*cue)).map(|words| (*cue, words)),
            _ => None,
        };
        match words {
            Some((cue, words)) => {
                items.add(&html!("<li>{}</li>", turn(story, cue, Some(words), setting)));
            }
            None => items.add(&html!("<li>{}</li>", *html)),
        }
    }
    html!("<ol id=\"turns\">{}</ol>", items)
}

/// Renders links to other events of the debate, for browsers without the script.
fn replay(base: &str, seq: u64, last: u64) -> Html {
    let step = |to: u64, says: &str| {
        if to == seq {
            html!("<li><span>{}</span></li>", says)
        } else {
            html!("<li><a href=\"{}?at={}\">{}</a></li>", base, to, says)
        }
    };
    html!(
        "<nav id=\"replay\" aria-label=\"Replay\"><p>Event {} of {}</p><ul>{}{}{}{}</ul></nav>",
        seq,
        last,
        step(0, "First"),
        step(seq.saturating_sub(1), "Previous"),
        step((seq + 1).min(last), "Next"),
        if seq == last {
            html!("<li><span>Last</span></li>")
        } else {
            html!("<li><a href=\"{}\">Last</a></li>", base)
        }
    )
}

fn links(base: &str, id: &str) -> Html {
    html!(
        "<p class=\"links\"><a href=\"{}/export\" download>Export as one file</a> \
         <a href=\"/compare?a={}\">Compare</a></p>",
        base,
        id
    )
}
