//! The debate page is a function of the event log: after every event and in every format, a live
//! page that applied all updates equals a freshly loaded page.
use crate::casts::{Tongue, dialectic, research, tribunal};
use crate::lab::{Lab, Script, in_order, speech};
use crate::wellformed::flaw;
use debate_mcp::debate::Setup;
use debate_mcp::engine::{RecordedEvent, StoredDebate};
use debate_mcp::page::debate::{DebatePageInput, render_debate_page};
use debate_mcp::page::export::render_export;
use debate_mcp::page::history::DebateHistory;
use debate_mcp::page::layout::AssetUrls;
use debate_mcp::page::rendered::{PageUpdate, RenderContext, RenderedDebate, Viewer};
use debate_mcp::page::timeline::timeline;
use serde_json::json;
use std::collections::BTreeMap;

const ASSETS: AssetUrls<'static> =
    AssetUrls { script: "/assets/app.js?v=1", style: "/assets/app.css?v=1" };

/// Loads the newest debate of a test environment from its event export.
pub(crate) fn stored(lab: &Lab) -> StoredDebate {
    let out = lab.debate(&["export", "last", "--as", "events"]).success().out;
    let mut lines = out.lines();
    let setup: Setup = serde_json::from_str(lines.next().unwrap()).unwrap();
    let events: Vec<RecordedEvent> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let (unreadable, holder, record, state_files) = (None, None, None, vec![]);
    StoredDebate {
        setup,
        events,
        first_unreadable: unreadable,
        holder,
        record_path: record,
        state_files,
    }
}

fn setting(stored: &StoredDebate) -> RenderContext<'static> {
    let links = Some(format!("/debates/{}", stored.setup.id));
    RenderContext { debate_url: links, csrf_token: "pass", sign_in_hint: "No door.", id_prefix: "" }
}

fn page(stored: &StoredDebate, until: Option<u64>, viewer: Viewer) -> String {
    let story = DebateHistory::from_stored(stored, until).unwrap();
    let last = stored.events.len() as u64;
    let around =
        DebatePageInput { last_seq: last, live_text: BTreeMap::new(), viewer, assets: ASSETS };
    render_debate_page(&story, &setting(stored), &around).into_string()
}

/// State of a browser: every replaceable element, and the transcript items in order.
#[derive(Clone, Default, PartialEq, Debug)]
struct Screen {
    parts: BTreeMap<String, String>,
    turns: Vec<(String, String)>,
}

impl Screen {
    fn of(shown: &RenderedDebate, viewer: Viewer) -> Screen {
        let mut screen = Screen::default();
        for (id, html) in shown.fragments(viewer, 0).html {
            screen.replace(&id, &html);
        }
        screen
    }

    fn replace(&mut self, id: &str, html: &str) {
        assert_eq!(flaw(html), None, "{id}: {html}");
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
                .map(|it| (named(it), it.to_owned()))
                .collect();
            return;
        }
        match self.turns.iter_mut().find(|(known, _)| known == id) {
            Some((_, kept)) => *kept = format!("<li>{html}</li>"),
            None => drop(self.parts.insert(id.to_owned(), html.to_owned())),
        }
    }

    fn apply(&mut self, frame: &PageUpdate) {
        for (id, html) in &frame.replace {
            self.replace(id, html);
        }
        for added in &frame.append {
            assert_eq!(added.parent, "turns");
            assert!(!self.turns.iter().any(|(id, _)| *id == added.id), "{} twice", added.id);
            assert_eq!(named(&added.html), added.id);
            self.turns.push((added.id.clone(), added.html.clone()));
        }
    }
}

/// The id of an item's element.
fn named(html: &str) -> String {
    html.split_once("id=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
}

/// Applies the update of every event and compares the result with a page loaded at that event.
fn follows(stored: &StoredDebate) {
    for viewer in [Viewer::Reader, Viewer::Owner] {
        let setting = setting(stored);
        let mut story = DebateHistory::open(stored.setup.clone()).unwrap();
        let mut shown = RenderedDebate::new(&story, &setting, None);
        let mut screen = Screen::of(&shown, viewer);
        for recorded in &stored.events {
            story.apply(recorded.clone()).unwrap();
            let next = RenderedDebate::new(&story, &setting, Some(&shown));
            let frame = next.update_since(&shown, &story, viewer);
            assert_eq!(frame.seq, recorded.seq);
            assert!(frame.announce.is_some());
            screen.apply(&frame);
            let fresh = DebateHistory::from_stored(stored, Some(recorded.seq)).unwrap();
            let opened = Screen::of(&RenderedDebate::new(&fresh, &setting, None), viewer);
            assert_eq!(screen, opened, "at event {}", recorded.seq);
            shown = next;
        }
        let text = page(stored, None, viewer);
        assert_eq!(flaw(&text), None, "{text}");
        assert_eq!(text.matches("<h1").count(), 1);
        for (_, html) in
            screen.turns.iter().chain(&screen.parts.clone().into_iter().collect::<Vec<_>>())
        {
            assert!(text.contains(html), "{html} is not in {text}");
        }
    }
    let moments = timeline(&DebateHistory::from_stored(stored, None).unwrap());
    assert_eq!(moments.len(), stored.events.len());
}

#[test]
fn a_duel_is_followed_to_what_is_opened() {
    let lab = Lab::new();
    lab.run("One file?", &["--json"]).success();
    let stored = stored(&lab);
    follows(&stored);
    let text = page(&stored, None, Viewer::Reader);
    in_order(
        &text,
        &[
            "<main id=\"debate\"",
            "data-running=\"false\"",
            "<h1 id=\"topic\">One file?</h1>",
            "Completed",
            "had the stronger argument",
            "Use one file and measure the lock.",
            "Rulings, of a hundred points",
            "id=\"panel-ledger\"",
            "id=\"panel-cost\"",
            "<ol id=\"turns\">",
            "id=\"turn-0-1-0-0\"",
            "data-side=\"pro\"",
            "Use one file.",
            "data-side=\"con\"",
        ],
    );
    let early = page(&stored, Some(1), Viewer::Owner);
    in_order(
        &early,
        &[
            "data-seq=\"1\"",
            "data-running=\"false\"",
            "data-pending=\"true\"",
            "class=\"live\" aria-live=\"off\"",
        ],
    );
    assert!(early.contains("name=\"csrf\" value=\"pass\"") && !early.contains("stronger argument"));
    let reader = page(&stored, Some(1), Viewer::Reader);
    assert!(!reader.contains("value=\"pass\"") && reader.contains("Read only. No door."));
}

#[test]
fn a_court_is_followed_to_what_is_opened() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(10));
    let args =
        ["run", "One file?", "--format", "tribunal", "--model", &seat, "--same-judge", "--json"];
    lab.debate(&args).success();
    let stored = stored(&lab);
    follows(&stored);
    let text = page(&stored, None, Viewer::Reader);
    in_order(
        &text,
        &["had the stronger argument", "Marks by round", "Round 1", "Round 10", "Listener"],
    );
}

#[test]
fn a_research_and_a_dialogue_are_followed_to_what_is_opened() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::Chinese));
    let topic = "用 sqlx 还是 rusqlite?";
    lab.debate(&["run", topic, "--format", "research", "--model", &seat, "--yes", "--json"])
        .success();
    let found = stored(&lab);
    follows(&found);
    let text = page(&found, None, Viewer::Reader);
    assert!(text.contains("<h1 id=\"topic\" lang=\"zh\">"), "{text}");
    assert!(text.contains("data-side=\"other\" lang=\"zh\""), "{text}");
    let seat = lab.cast(&dialectic());
    let more = ["--yes", "--rounds", "3", "--json"];
    lab.debate(&[&["run", "Well?", "--format", "dialectic", "--model", &seat], &more[..]].concat())
        .success();
    let talked = stored(&lab);
    follows(&talked);
    assert!(page(&talked, None, Viewer::Reader).contains("Key Insights"));
}

#[test]
fn a_debate_that_is_held_spoken_to_and_reopened_is_followed_to_what_is_opened() {
    let lab = Lab::new();
    lab.run("One file?", &["--pause", "--json"]).ends(2);
    lab.debate(&["resume", "last", "--say", "Mind the **cost**.", "--json"]).ends(2);
    let held = stored(&lab);
    follows(&held);
    let text = page(&held, None, Viewer::Owner);
    assert!(text.contains("Mind the <strong>cost</strong>."), "{text}");
    lab.write(&Script::empty());
    lab.debate(&["resume", "last", "--yes", "--json"]).done();
    lab.write(&Script::new());
    lab.debate(&["resume", "last", "--retry", "--yes", "--json"]).done();
    let again = stored(&lab);
    assert!(again.events.len() > held.events.len());
    follows(&again);
}

#[test]
fn what_is_cited_is_linked_marked_or_struck() {
    let lab = Lab::new();
    lab.file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait();\n}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence": [
        "src/lock.rs:1 \"fn hold_the_lock_for_long()\"", "src/gone.rs:9 \"never_written_anywhere()\"",
        "https://example.org/paper"], "answers": []}], "concedes": [], "resolves": []});
    let said = format!("It is held.\n\n```claims\n{claims}\n```\n");
    lab.write(&Script::new().first(json!({"phase": "propose", "text": said})));
    lab.run("One file?", &["--rounds", "1", "--json"]).success();
    let stored = stored(&lab);
    let text = page(&stored, None, Viewer::Reader);
    let link = format!(
        "<a class=\"cited verified\" href=\"/debates/{}/source?path=src/lock.rs&amp;line=1#L1\">",
        stored.setup.id
    );
    assert!(text.contains(&link), "{text}");
    in_order(
        &text,
        &["<del class=\"cited wrong\">src/gone.rs:9", "(no such path", "class=\"cited unchecked\""],
    );
    follows(&stored);
}

#[test]
fn hostile_words_are_shown_and_do_nothing() {
    let lab = Lab::new();
    let evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))\n\n</article></ol>";
    let said = speech(evil, "P1\"><script>", &[]);
    lab.write(&Script::new().first(json!({"phase": "propose", "text": said})));
    lab.run("<script>alert(1)</script> One file?", &["--rounds", "1", "--json"]).done();
    let stored = stored(&lab);
    follows(&stored);
    let text = page(&stored, None, Viewer::Reader);
    assert_eq!(text.matches("<script").count(), 1, "only ours: {text}");
    assert!(!text.contains("href=\"javascript") && !text.contains("<img"));
}

#[test]
fn an_export_needs_nothing_else() {
    let lab = Lab::new();
    lab.run("One file?", &["--json"]).success();
    let stored = stored(&lab);
    let text = render_export(&DebateHistory::from_stored(&stored, None).unwrap(), "p{color:red}")
        .into_string();
    assert_eq!(flaw(&text), None, "{text}");
    for outside in ["<script", "<link", "src=\"", "href=\"/", "href=\"http", "<form"] {
        assert!(!text.contains(outside), "{outside} in {text}");
    }
    in_order(
        &text,
        &[
            "Content-Security-Policy",
            "<style>p{color:red}</style>",
            "Use one file.",
            "It is not, 2.",
        ],
    );
    let out = lab.debate(&["export", "last", "--as", "html"]).success().out;
    assert_eq!(flaw(&out), None);
    assert!(out.contains("Use one file.") && out.contains("<style>"));
}
