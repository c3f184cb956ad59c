//! The parts of a debate's page, and what one event changes in them. Both are functions of the
//! story, so whoever has followed a debate sees what whoever opens it now does.
use super::actions::actions;
use super::html::{Html, bounded, html};
use super::markdown::markdown;
use super::panels;
use super::story::{Item, Story};
use super::timeline::label;
use super::turn::{id_of, lang, time, turn};
use crate::debate::{Cue, Side, standing};
use crate::report::text::one_line;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a debate is shown.
#[derive(Clone, Debug, Default)]
pub struct Setting<'a> {
    /// The address of the debate, where there is a server to lead to.
    pub links: Option<String>,
    /// What forms must carry, for those who have entered.
    pub pass: &'a str,
    /// How others could enter.
    pub door: &'a str,
    /// What ids begin with, where several debates stand on one page.
    pub column: &'static str,
}

impl Setting<'_> {
    /// The id of the element a turn is shown in, here.
    pub fn id(&self, cue: Cue) -> String {
        format!("{}{}", self.column, id_of(cue))
    }
}

/// For whom it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// Who may only read.
    Reader,
    /// Who has entered, and may act.
    Owner,
}

/// A debate as it is shown after an event.
#[derive(Clone, Debug)]
pub struct Shown {
    seq: u64,
    at: i64,
    title: String,
    parts: BTreeMap<&'static str, Html>,
    /// What may be done, for either.
    actions: [Html; 2],
    items: Vec<Placed>,
}

/// Something in the transcript, as it is shown, and what it was made of.
#[derive(Clone, Debug)]
struct Placed {
    id: String,
    made_of: Option<Key>,
    html: Arc<Html>,
}

/// All that the markup of a turn depends on and that can change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    touched: u64,
    taken: bool,
    sealed: bool,
    names: [String; 2],
}

/// All parts, as a program asks for them.
#[derive(Clone, Debug, Serialize)]
pub struct Fragments {
    /// The event shown.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The last event there is.
    pub last: u64,
    /// Of the window.
    pub title: String,
    /// Every part, by id.
    pub html: BTreeMap<String, String>,
}

/// What one event changed.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The event.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// Of the window.
    pub title: String,
    /// What is read aloud to those who do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce: Option<String>,
    /// Elements, by id, each whole.
    pub replace: BTreeMap<String, String>,
    /// What is added.
    pub append: Vec<Added>,
}

/// Something added to an element.
#[derive(Clone, Debug, Serialize)]
pub struct Added {
    /// To which.
    pub parent: &'static str,
    /// The id of what is new.
    pub id: String,
    /// In its own `li`.
    pub html: String,
}

impl Shown {
    /// A story as it is shown. What has not changed since `before` is not made again.
    pub fn new(story: &Story, setting: &Setting<'_>, before: Option<&Shown>) -> Shown {
        let debate = story.debate();
        let names = [Side::Pro, Side::Con].map(|side| standing::name_of(debate, side));
        let known: BTreeMap<&str, &Placed> = before
            .map(|before| before.items.iter().map(|it| (it.id.as_str(), it)).collect())
            .unwrap_or_default();
        let mut items = vec![];
        for item in story.items() {
            let id = item_id(item);
            let made_of = match item {
                Item::Turn(cue) => Some(key(story, *cue, &names)),
                _ => None,
            };
            let same = known.get(id.as_str()).filter(|known| known.made_of == made_of);
            let html = match same {
                Some(known) => known.html.clone(),
                None => Arc::new(shown(story, item, setting)),
            };
            items.push(Placed { id, made_of, html });
        }
        Shown {
            seq: story.seq(),
            at: story.at(),
            title: title(story),
            parts: panels::all(story, setting),
            actions: [Viewer::Reader, Viewer::Owner].map(|viewer| actions(story, setting, viewer)),
            items,
        }
    }

    /// Every part, by id.
    pub fn parts(&self, viewer: Viewer) -> BTreeMap<&'static str, Html> {
        let mut parts = self.parts.clone();
        parts.insert("panel-actions", self.actions[viewer as usize].clone());
        parts.insert("turns", self.turns());
        parts
    }

    /// The transcript, one by one.
    pub fn items(&self) -> impl Iterator<Item = &Html> {
        self.items.iter().map(|item| &*item.html)
    }

    fn turns(&self) -> Html {
        let items: Html = self.items.iter().map(|item| html!("<li>{}</li>", *item.html)).collect();
        html!("<ol id=\"turns\">{}</ol>", items)
    }

    /// All parts, as a program asks for them.
    pub fn fragments(&self, viewer: Viewer, last: u64) -> Fragments {
        let parts = self.parts(viewer).into_iter();
        let html = parts.map(|(id, html)| (id.to_owned(), html.into_string())).collect();
        Fragments { seq: self.seq, at: self.at, last, title: self.title.clone(), html }
    }

    /// Everything anew, for somebody who was away for long.
    pub fn whole(&self, viewer: Viewer) -> Frame {
        let Fragments { seq, at, title, html, .. } = self.fragments(viewer, self.seq);
        Frame { seq, at, title, announce: None, replace: html, append: vec![] }
    }

    /// What has changed since, and is told of it.
    pub fn since(&self, before: &Shown, story: &Story, viewer: Viewer) -> Frame {
        let mut replace = BTreeMap::new();
        for (id, html) in &self.parts {
            if before.parts.get(id) != Some(html) {
                replace.insert((*id).to_owned(), html.as_str().to_owned());
            }
        }
        let (old, new) = (&before.actions[viewer as usize], &self.actions[viewer as usize]);
        if old != new {
            replace.insert("panel-actions".into(), new.as_str().to_owned());
        }
        let mut append = vec![];
        let goes_on = before.items.len() <= self.items.len()
            && before.items.iter().zip(&self.items).all(|(old, new)| old.id == new.id);
        if goes_on {
            for (old, new) in before.items.iter().zip(&self.items) {
                if !Arc::ptr_eq(&old.html, &new.html) && old.html != new.html {
                    replace.insert(new.id.clone(), new.html.as_str().to_owned());
                }
            }
            for new in &self.items[before.items.len()..] {
                let html = html!("<li>{}</li>", *new.html).into_string();
                append.push(Added { parent: "turns", id: new.id.clone(), html });
            }
        } else {
            replace.insert("turns".into(), self.turns().into_string());
        }
        let last = story.events().last().map(|it| label(story.debate(), &it.event));
        let (seq, at, title) = (self.seq, self.at, self.title.clone());
        Frame { seq, at, title, announce: last, replace, append }
    }
}

/// What a window is called.
pub fn title(story: &Story) -> String {
    let status = standing::status(story.debate()).word().replace('-', " ");
    format!("{} ({status}) · debate", bounded(&one_line(story.debate().question()), 120))
}

fn key(story: &Story, cue: Cue, names: &[String; 2]) -> Key {
    let debate = story.debate();
    Key {
        touched: story.times(cue).touched,
        taken: debate.turn(cue).is_some(),
        sealed: debate.sealed(cue),
        names: names.clone(),
    }
}

fn item_id(item: &Item) -> String {
    match item {
        Item::Turn(cue) => id_of(*cue),
        Item::Remark(seq, _) => format!("remark-{seq}"),
        Item::Note(seq, _) => format!("note-{seq}"),
    }
}

fn shown(story: &Story, item: &Item, setting: &Setting<'_>) -> Html {
    match item {
        Item::Turn(cue) => turn(story, *cue, None, setting),
        Item::Remark(seq, text) => html!(
            "<article id=\"remark-{}\" class=\"remark\" data-seq=\"{}\" data-at=\"{}\" \
             data-side=\"other\"{}><header><h3>A remark of the user</h3><p class=\"about\">{}</p>\
             </header><div class=\"speech\">{}</div></article>",
            *seq,
            *seq,
            story.when(*seq),
            lang(text),
            time(story.when(*seq)),
            markdown(text, 3)
        ),
        Item::Note(seq, text) => html!(
            "<p id=\"note-{}\" class=\"note\" data-seq=\"{}\" data-at=\"{}\">{} {}</p>",
            *seq,
            *seq,
            story.when(*seq),
            text,
            time(story.when(*seq))
        ),
    }
}
