//! The page of a debate, at its last event or at any before it.
use super::html::{Html, html};
use super::layout::{Assets, Page, layout};
use super::shown::{Setting, Shown, Viewer, title};
use super::story::{Item, Story};
use super::turn::{id_of, turn};
use std::collections::BTreeMap;

/// What there is to know of a debate besides its story.
pub struct Around<'a> {
    /// The last event there is.
    pub last: u64,
    /// What is being said right now, by the id of its element.
    pub live: BTreeMap<String, String>,
    /// Who looks at it.
    pub viewer: Viewer,
    /// Where the assets are.
    pub assets: Assets<'a>,
}

/// The page of a debate.
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

/// The parts in their places.
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

/// The transcript with what is being said right now.
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

/// To other moments of the debate, without the script.
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
