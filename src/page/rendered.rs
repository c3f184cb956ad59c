//! The rendered parts of a debate page, and the update each event causes. Both depend only on the
//! history, so a page updated over the event stream equals one loaded anew.
use super::actions::render_actions;
use super::context::{RenderContext, Viewer};
use super::elements::{render_time, text_lang, turn_element_id};
use super::event_label::event_label;
use super::history::{DebateHistory, HistoryItem};
use super::html::{Html, truncate};
use super::markdown::render_markdown;
use super::panels;
use super::turn::render_turn;
use crate::debate::{Cue, Side, status};
use crate::report::sanitize::one_line;
use maud::{Markup, html};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Characters of the topic in the document title.
const MAX_TITLE_TOPIC_CHARS: usize = 120;

/// The rendered page of a debate after an event.
#[derive(Clone, Debug)]
pub struct RenderedDebate {
    seq: u64,
    at: i64,
    title: String,
    parts: BTreeMap<&'static str, Html>,
    /// The actions panel for each `Viewer`.
    actions: [Html; 2],
    items: Vec<RenderedItem>,
}

/// A rendered transcript item and the cache key of its markup.
#[derive(Clone, Debug)]
struct RenderedItem {
    id: String,
    cache_key: Option<TurnCacheKey>,
    html: Arc<Html>,
}

/// Cache key of a turn: all mutable state its markup depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TurnCacheKey {
    last_seq: u64,
    finished: bool,
    sealed: bool,
    side_names: [String; 2],
}

/// All parts of a page. Response of the `fragments` endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct PageFragments {
    /// Sequence number of the event shown.
    pub seq: u64,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Sequence number of the last recorded event.
    pub last: u64,
    /// Document title.
    pub title: String,
    /// Markup of every part, by element id.
    pub html: BTreeMap<String, String>,
}

/// Update of the page for one event. Sent as the server-sent event `fragments`.
#[derive(Clone, Debug, Serialize)]
pub struct PageUpdate {
    /// Sequence number of the event.
    pub seq: u64,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Document title.
    pub title: String,
    /// Announcement for screen readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce: Option<String>,
    /// Complete elements to replace, by element id.
    pub replace: BTreeMap<String, String>,
    /// Elements to append.
    pub append: Vec<AppendedElement>,
}

/// An element to append.
#[derive(Clone, Debug, Serialize)]
pub struct AppendedElement {
    /// Element id of the parent.
    pub parent: &'static str,
    /// Element id of the new element.
    pub id: String,
    /// Markup, wrapped in an `li`.
    pub html: String,
}

impl RenderedDebate {
    /// Renders a history. Markup whose cache key is unchanged since `before` is reused.
    pub fn new(
        history: &DebateHistory,
        context: &RenderContext<'_>,
        previous: Option<&RenderedDebate>,
    ) -> RenderedDebate {
        let debate = history.debate();
        let side_names = [Side::Pro, Side::Con].map(|side| status::side_name(debate, side));
        let cached: BTreeMap<&str, &RenderedItem> = previous
            .map(|previous| previous.items.iter().map(|it| (it.id.as_str(), it)).collect())
            .unwrap_or_default();
        let mut items = vec![];
        for item in history.items() {
            let id = item_id(item);
            let cache_key = match item {
                HistoryItem::Turn(cue) => Some(turn_cache_key(history, *cue, &side_names)),
                _ => None,
            };
            let reusable = cached.get(id.as_str()).filter(|cached| cached.cache_key == cache_key);
            let html = match reusable {
                Some(cached) => cached.html.clone(),
                None => Arc::new(Html::from(render_item(history, item, context))),
            };
            items.push(RenderedItem { id, cache_key, html });
        }
        RenderedDebate {
            seq: history.seq(),
            at: history.last_event_time(),
            title: document_title(history),
            parts: panels::render_panels(history, context)
                .into_iter()
                .map(|(id, panel)| (id, Html::from(panel)))
                .collect(),
            actions: [Viewer::Reader, Viewer::Owner]
                .map(|viewer| Html::from(render_actions(history, context, viewer))),
            items,
        }
    }

    /// Every part, by element id.
    pub(super) fn parts(&self, viewer: Viewer) -> BTreeMap<&'static str, Html> {
        let mut parts = self.parts.clone();
        parts.insert("panel-actions", self.actions[viewer as usize].clone());
        parts.insert("turns", self.render_transcript());
        parts
    }

    /// Markup of the transcript items, in order.
    pub(super) fn items(&self) -> impl Iterator<Item = &Html> {
        self.items.iter().map(|item| &*item.html)
    }

    fn render_transcript(&self) -> Html {
        Html::from(html! { ol #turns { @for html in self.items() { li { (html) } } } })
    }

    /// All parts as a JSON response.
    pub fn fragments(&self, viewer: Viewer, last: u64) -> PageFragments {
        let parts = self.parts(viewer).into_iter();
        let html = parts.map(|(id, html)| (id.to_owned(), html.into_string())).collect();
        PageFragments { seq: self.seq, at: self.at, last, title: self.title.clone(), html }
    }

    /// An update that replaces all parts, for clients that are too far behind.
    pub fn full_update(&self, viewer: Viewer) -> PageUpdate {
        let PageFragments { seq, at, title, html, .. } = self.fragments(viewer, self.seq);
        PageUpdate { seq, at, title, announce: None, replace: html, append: vec![] }
    }

    /// The difference to an earlier rendering, with an announcement of the last event.
    pub fn update_since(
        &self,
        previous: &RenderedDebate,
        history: &DebateHistory,
        viewer: Viewer,
    ) -> PageUpdate {
        let mut replace = BTreeMap::new();
        for (id, html) in &self.parts {
            if previous.parts.get(id) != Some(html) {
                replace.insert((*id).to_owned(), html.as_str().to_owned());
            }
        }
        let (old, new) = (&previous.actions[viewer as usize], &self.actions[viewer as usize]);
        if old != new {
            replace.insert("panel-actions".into(), new.as_str().to_owned());
        }
        let mut append = vec![];
        let is_continuation = previous.items.len() <= self.items.len()
            && previous.items.iter().zip(&self.items).all(|(old, new)| old.id == new.id);
        if is_continuation {
            for (old, new) in previous.items.iter().zip(&self.items) {
                if !Arc::ptr_eq(&old.html, &new.html) && old.html != new.html {
                    replace.insert(new.id.clone(), new.html.as_str().to_owned());
                }
            }
            for new in &self.items[previous.items.len()..] {
                let html = html! { li { (new.html) } }.into_string();
                append.push(AppendedElement { parent: "turns", id: new.id.clone(), html });
            }
        } else {
            replace.insert("turns".into(), self.render_transcript().into_string());
        }
        let announce = history.events().last().map(|it| event_label(history.debate(), &it.event));
        let (seq, at, title) = (self.seq, self.at, self.title.clone());
        PageUpdate { seq, at, title, announce, replace, append }
    }
}

/// Document title of a debate page.
pub(super) fn document_title(history: &DebateHistory) -> String {
    let status = status::status(history.debate()).as_str().replace('-', " ");
    let topic = truncate(&one_line(history.debate().current_topic()), MAX_TITLE_TOPIC_CHARS);
    format!("{topic} ({status}) · debate")
}

fn turn_cache_key(history: &DebateHistory, cue: Cue, side_names: &[String; 2]) -> TurnCacheKey {
    let debate = history.debate();
    TurnCacheKey {
        last_seq: history.turn_times(cue).last_seq,
        finished: debate.turn(cue).is_some(),
        sealed: debate.is_sealed(cue),
        side_names: side_names.clone(),
    }
}

fn item_id(item: &HistoryItem) -> String {
    match item {
        HistoryItem::Turn(cue) => turn_element_id(*cue),
        HistoryItem::Remark(seq, _) => format!("remark-{seq}"),
        HistoryItem::Note(seq, _) => format!("note-{seq}"),
    }
}

fn render_item(history: &DebateHistory, item: &HistoryItem, context: &RenderContext<'_>) -> Markup {
    match item {
        HistoryItem::Turn(cue) => render_turn(history, *cue, None, context),
        HistoryItem::Remark(seq, text) => html! {
            article id={ "remark-" (seq) } class="remark" data-seq=(seq)
                data-at=(history.event_time(*seq)) data-side="other" lang=[text_lang(text)] {
                header {
                    h3 { "A remark of the user" }
                    p.about { (render_time(history.event_time(*seq))) }
                }
                div.speech { (render_markdown(text, 3)) }
            }
        },
        HistoryItem::Note(seq, text) => html! {
            p id={ "note-" (seq) } class="note" data-seq=(seq) data-at=(history.event_time(*seq)) {
                (text) " " (render_time(history.event_time(*seq)))
            }
        },
    }
}
