//! The debate page is a function of the event log: after every event and in every format, a live
//! page that applied all updates equals a freshly loaded page.
use crate::debate::{Debate, Format, formats};
use crate::engine::{RecordedEvent, StoredDebate};
use crate::page::context::{RenderContext, Viewer};
use crate::page::debate::{DebatePageInput, render_debate_page};
use crate::page::history::DebateHistory;
use crate::page::layout::AssetUrls;
use crate::page::rendered::{PageUpdate, RenderedDebate};
use crate::page::timeline::timeline;
use crate::test_support::chaos::ChaosRun;
use crate::test_support::html_checker::find_html_error;
use crate::test_support::simulated_players::random_setup;
use std::collections::BTreeMap;

/// Text that would break out of an element or an attribute, or hide something.
const HOSTILE: &str = "\"></h1><script>alert(1)</script> 'x' & \u{202e}txt\u{200b}";

/// A debate with random pauses, remarks, retries and failures.
fn stored_debate(format: Format, seed: u64) -> Option<StoredDebate> {
    let mut setup = random_setup(format, seed);
    if seed % 2 == 1 {
        setup.topic = format!("{HOSTILE} One file?");
        setup.seats[0].stance = HOSTILE.into();
    }
    Debate::open(setup.clone()).ok()?;
    let (_, run) = ChaosRun::play(&setup, seed);
    let recorded = |((seq, second), event): ((u64, i64), _)| {
        let at = setup.opened_at + second * 1_000;
        RecordedEvent { seq, at, event }
    };
    let events = (1..).zip(1..).zip(run.log).map(recorded).collect();
    let (first_unreadable, holder, record_path, state_files) = (None, None, None, vec![]);
    Some(StoredDebate { setup, events, first_unreadable, holder, record_path, state_files })
}

fn render_context(stored: &StoredDebate) -> RenderContext<'static> {
    let debate_url = Some(format!("/debates/{}", stored.setup.id));
    RenderContext { debate_url, csrf_token: "pass", sign_in_hint: "No door.", id_prefix: "" }
}

fn render_page(stored: &StoredDebate, viewer: Viewer) -> String {
    let history = DebateHistory::from_stored(stored, None).unwrap();
    let assets = AssetUrls { script: "/assets/app.js?v=1", style: "/assets/app.css?v=1" };
    let last_seq = stored.events.len() as u64;
    let input = DebatePageInput { last_seq, live_text: BTreeMap::new(), viewer, assets };
    render_debate_page(&history, &render_context(stored), &input).into_string()
}

/// State of a browser: every replaceable element, and the transcript items in order.
#[derive(Clone, Default, PartialEq, Debug)]
struct BrowserState {
    parts: BTreeMap<String, String>,
    turns: Vec<(String, String)>,
}

impl BrowserState {
    fn from_rendered(rendered: &RenderedDebate, viewer: Viewer) -> BrowserState {
        let mut state = BrowserState::default();
        for (id, html) in rendered.fragments(viewer, 0).html {
            state.replace(&id, &html);
        }
        state
    }

    fn replace(&mut self, id: &str, html: &str) {
        assert_eq!(find_html_error(html), None, "{id}: {html}");
        if id == "turns" {
            let inner = html.strip_prefix("<ol id=\"turns\">").unwrap().strip_suffix("</ol>");
            let items = inner
                .unwrap()
                .split("<li><article id=")
                .collect::<Vec<_>>()
                .join("\u{0}<li><article id=");
            let items = items.split("<li><p id=").collect::<Vec<_>>().join("\u{0}<li><p id=");
            self.turns = items
                .split('\u{0}')
                .filter(|it| !it.is_empty())
                .map(|it| (element_id(it), it.to_owned()))
                .collect();
            return;
        }
        match self.turns.iter_mut().find(|(turn_id, _)| turn_id == id) {
            Some((_, item)) => *item = format!("<li>{html}</li>"),
            None => drop(self.parts.insert(id.to_owned(), html.to_owned())),
        }
    }

    fn apply(&mut self, update: &PageUpdate) {
        for (id, html) in &update.replace {
            self.replace(id, html);
        }
        for item in &update.append {
            assert_eq!(item.parent, "turns");
            assert!(!self.turns.iter().any(|(id, _)| *id == item.id), "{} twice", item.id);
            assert_eq!(element_id(&item.html), item.id);
            self.turns.push((item.id.clone(), item.html.clone()));
        }
    }
}

/// The id of an item's element.
fn element_id(html: &str) -> String {
    html.split_once("id=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
}

/// Applies the update of every event and compares the result with a page loaded at that event.
fn assert_live_page_matches_reload(stored: &StoredDebate) {
    for viewer in [Viewer::Reader, Viewer::Owner] {
        let context = render_context(stored);
        let mut history = DebateHistory::open(stored.setup.clone()).unwrap();
        let mut rendered = RenderedDebate::new(&history, &context, None);
        let mut browser = BrowserState::from_rendered(&rendered, viewer);
        for recorded in &stored.events {
            history.apply(recorded.clone()).unwrap();
            let next = RenderedDebate::new(&history, &context, Some(&rendered));
            let update = next.update_since(&rendered, &history, viewer);
            assert_eq!(update.seq, recorded.seq);
            assert!(update.announce.is_some());
            browser.apply(&update);
            let fresh = DebateHistory::from_stored(stored, Some(recorded.seq)).unwrap();
            let reloaded =
                BrowserState::from_rendered(&RenderedDebate::new(&fresh, &context, None), viewer);
            assert_eq!(browser, reloaded, "at event {}", recorded.seq);
            rendered = next;
        }
        let text = render_page(stored, viewer);
        assert_eq!(find_html_error(&text), None, "{text}");
        assert_eq!(text.matches("<h1").count(), 1);
        assert_eq!(text.matches("<script").count(), 1, "only the page's own script: {text}");
        for (_, html) in
            browser.turns.iter().chain(&browser.parts.clone().into_iter().collect::<Vec<_>>())
        {
            assert!(text.contains(html), "{html} is not in {text}");
        }
    }
    let moments = timeline(&DebateHistory::from_stored(stored, None).unwrap());
    assert_eq!(moments.len(), stored.events.len());
}

#[test]
fn live_page_matches_a_fresh_page() {
    for format in formats::built_in_formats() {
        let debates: Vec<_> =
            (0..2).filter_map(|seed| stored_debate(format.clone(), seed)).collect();
        assert!(!debates.is_empty(), "{}", format.name);
        debates.iter().for_each(assert_live_page_matches_reload);
    }
}
