//! The debate page is a function of the event log: after every event and in every format, a live
//! page that applied all updates equals a freshly loaded page.
use crate::html_checker::find_html_error;
use crate::scripted_replies::{ReplyLanguage, dialectic, research, tribunal};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
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
pub(crate) fn load_last_debate(lab: &TestEnv) -> StoredDebate {
    let out = lab.debate(&["export", "last", "--as", "events"]).expect_success().stdout;
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

fn render_context(stored: &StoredDebate) -> RenderContext<'static> {
    let links = Some(format!("/debates/{}", stored.setup.id));
    RenderContext { debate_url: links, csrf_token: "pass", sign_in_hint: "No door.", id_prefix: "" }
}

fn render_page(stored: &StoredDebate, until: Option<u64>, viewer: Viewer) -> String {
    let story = DebateHistory::from_stored(stored, until).unwrap();
    let last = stored.events.len() as u64;
    let around =
        DebatePageInput { last_seq: last, live_text: BTreeMap::new(), viewer, assets: ASSETS };
    render_debate_page(&story, &render_context(stored), &around).into_string()
}

/// State of a browser: every replaceable element, and the transcript items in order.
#[derive(Clone, Default, PartialEq, Debug)]
struct BrowserState {
    parts: BTreeMap<String, String>,
    turns: Vec<(String, String)>,
}

impl BrowserState {
    fn from_rendered(shown: &RenderedDebate, viewer: Viewer) -> BrowserState {
        let mut screen = BrowserState::default();
        for (id, html) in shown.fragments(viewer, 0).html {
            screen.replace(&id, &html);
        }
        screen
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
            assert_eq!(element_id(&added.html), added.id);
            self.turns.push((added.id.clone(), added.html.clone()));
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
        let setting = render_context(stored);
        let mut story = DebateHistory::open(stored.setup.clone()).unwrap();
        let mut shown = RenderedDebate::new(&story, &setting, None);
        let mut screen = BrowserState::from_rendered(&shown, viewer);
        for recorded in &stored.events {
            story.apply(recorded.clone()).unwrap();
            let next = RenderedDebate::new(&story, &setting, Some(&shown));
            let frame = next.update_since(&shown, &story, viewer);
            assert_eq!(frame.seq, recorded.seq);
            assert!(frame.announce.is_some());
            screen.apply(&frame);
            let fresh = DebateHistory::from_stored(stored, Some(recorded.seq)).unwrap();
            let opened =
                BrowserState::from_rendered(&RenderedDebate::new(&fresh, &setting, None), viewer);
            assert_eq!(screen, opened, "at event {}", recorded.seq);
            shown = next;
        }
        let text = render_page(stored, None, viewer);
        assert_eq!(find_html_error(&text), None, "{text}");
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
fn live_duel_page_matches_a_fresh_page() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--json"]).expect_success();
    let stored = load_last_debate(&lab);
    assert_live_page_matches_reload(&stored);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_contains_in_order(
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
    let early = render_page(&stored, Some(1), Viewer::Owner);
    assert_contains_in_order(
        &early,
        &[
            "data-seq=\"1\"",
            "data-running=\"false\"",
            "data-pending=\"true\"",
            "class=\"live\" aria-live=\"off\"",
        ],
    );
    assert!(early.contains("name=\"csrf\" value=\"pass\"") && !early.contains("stronger argument"));
    let reader = render_page(&stored, Some(1), Viewer::Reader);
    assert!(!reader.contains("value=\"pass\"") && reader.contains("Read only. No door."));
}

#[test]
fn live_tribunal_page_matches_a_fresh_page() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(10));
    let args =
        ["run", "One file?", "--format", "tribunal", "--model", &seat, "--same-judge", "--json"];
    lab.debate(&args).expect_success();
    let stored = load_last_debate(&lab);
    assert_live_page_matches_reload(&stored);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_contains_in_order(
        &text,
        &["had the stronger argument", "Marks by round", "Round 1", "Round 10", "Listener"],
    );
}

#[test]
fn live_research_and_dialectic_pages_match_fresh_pages() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::Chinese));
    let topic = "用 sqlx 还是 rusqlite?";
    lab.debate(&["run", topic, "--format", "research", "--model", &seat, "--yes", "--json"])
        .expect_success();
    let found = load_last_debate(&lab);
    assert_live_page_matches_reload(&found);
    let text = render_page(&found, None, Viewer::Reader);
    assert!(text.contains("<h1 id=\"topic\" lang=\"zh\">"), "{text}");
    assert!(text.contains("data-side=\"other\" lang=\"zh\""), "{text}");
    let seat = lab.write_replies(&dialectic());
    let more = ["--yes", "--rounds", "3", "--json"];
    lab.debate(&[&["run", "Well?", "--format", "dialectic", "--model", &seat], &more[..]].concat())
        .expect_success();
    let talked = load_last_debate(&lab);
    assert_live_page_matches_reload(&talked);
    assert!(render_page(&talked, None, Viewer::Reader).contains("Key Insights"));
}

#[test]
fn live_page_matches_after_pause_remark_and_retry() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    lab.debate(&["resume", "last", "--say", "Mind the **cost**.", "--json"]).expect_exit_code(2);
    let held = load_last_debate(&lab);
    assert_live_page_matches_reload(&held);
    let text = render_page(&held, None, Viewer::Owner);
    assert!(text.contains("Mind the <strong>cost</strong>."), "{text}");
    lab.write_script(&SeatScript::empty());
    lab.debate(&["resume", "last", "--yes", "--json"]).output();
    lab.write_script(&SeatScript::new());
    lab.debate(&["resume", "last", "--retry", "--yes", "--json"]).output();
    let again = load_last_debate(&lab);
    assert!(again.events.len() > held.events.len());
    assert_live_page_matches_reload(&again);
}

#[test]
fn citations_are_linked_marked_or_struck_out() {
    let lab = TestEnv::new();
    lab.write_repo_file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait();\n}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence": [
        "src/lock.rs:1 \"fn hold_the_lock_for_long()\"", "src/gone.rs:9 \"never_written_anywhere()\"",
        "https://example.org/paper"], "answers": []}], "concedes": [], "resolves": []});
    let said = format!("It is held.\n\n```claims\n{claims}\n```\n");
    lab.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": said})));
    lab.debate_run("One file?", &["--rounds", "1", "--json"]).expect_success();
    let stored = load_last_debate(&lab);
    let text = render_page(&stored, None, Viewer::Reader);
    let link = format!(
        "<a class=\"cited verified\" href=\"/debates/{}/source?path=src/lock.rs&amp;line=1#L1\">",
        stored.setup.id
    );
    assert!(text.contains(&link), "{text}");
    assert_contains_in_order(
        &text,
        &["<del class=\"cited wrong\">src/gone.rs:9", "(no such path", "class=\"cited unchecked\""],
    );
    assert_live_page_matches_reload(&stored);
}

#[test]
fn hostile_text_is_escaped() {
    let lab = TestEnv::new();
    let evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))\n\n</article></ol>";
    let said = speech_with_claim(evil, "P1\"><script>", &[]);
    lab.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": said})));
    lab.debate_run("<script>alert(1)</script> One file?", &["--rounds", "1", "--json"]).output();
    let stored = load_last_debate(&lab);
    assert_live_page_matches_reload(&stored);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_eq!(text.matches("<script").count(), 1, "only ours: {text}");
    assert!(!text.contains("href=\"javascript") && !text.contains("<img"));
}

#[test]
fn html_export_is_self_contained() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--json"]).expect_success();
    let stored = load_last_debate(&lab);
    let text = render_export(&DebateHistory::from_stored(&stored, None).unwrap(), "p{color:red}")
        .into_string();
    assert_eq!(find_html_error(&text), None, "{text}");
    for outside in ["<script", "<link", "src=\"", "href=\"/", "href=\"http", "<form"] {
        assert!(!text.contains(outside), "{outside} in {text}");
    }
    assert_contains_in_order(
        &text,
        &[
            "Content-Security-Policy",
            "<style>p{color:red}</style>",
            "Use one file.",
            "It is not, 2.",
        ],
    );
    let out = lab.debate(&["export", "last", "--as", "html"]).expect_success().stdout;
    assert_eq!(find_html_error(&out), None);
    assert!(out.contains("Use one file.") && out.contains("<style>"));
}
