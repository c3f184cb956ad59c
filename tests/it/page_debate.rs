//! The debate page is a function of the event log: after every event and in every format, a live
//! page that applied all updates equals a freshly loaded page.
use crate::html_checker::find_html_error;
use crate::scripted_replies::{ReplyLanguage, dialectic, research, tribunal};
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, speech_with_claim};
use debate_mcp::debate::Setup;
use debate_mcp::engine::{RecordedEvent, StoredDebate};
use debate_mcp::page::context::{RenderContext, Viewer};
use debate_mcp::page::debate::{DebatePageInput, render_debate_page};
use debate_mcp::page::export::render_export;
use debate_mcp::page::history::DebateHistory;
use debate_mcp::page::layout::AssetUrls;
use debate_mcp::page::rendered::{PageUpdate, RenderedDebate};
use debate_mcp::page::timeline::timeline;
use serde_json::json;
use std::collections::BTreeMap;

const ASSETS: AssetUrls<'static> =
    AssetUrls { script: "/assets/app.js?v=1", style: "/assets/app.css?v=1" };

/// Loads the newest debate of a test environment from its event export.
pub(crate) fn load_last_debate(env: &TestEnv) -> StoredDebate {
    let exported = env.debate(&["export", "last", "--as", "events"]).expect_success().stdout;
    let mut lines = exported.lines();
    let setup: Setup = serde_json::from_str(lines.next().unwrap()).unwrap();
    let events: Vec<RecordedEvent> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let (first_unreadable, holder, record_path, state_files) = (None, None, None, vec![]);
    StoredDebate { setup, events, first_unreadable, holder, record_path, state_files }
}

fn render_context(stored: &StoredDebate) -> RenderContext<'static> {
    let debate_url = Some(format!("/debates/{}", stored.setup.id));
    RenderContext { debate_url, csrf_token: "pass", sign_in_hint: "No door.", id_prefix: "" }
}

fn render_page(stored: &StoredDebate, until: Option<u64>, viewer: Viewer) -> String {
    let history = DebateHistory::from_stored(stored, until).unwrap();
    let last_seq = stored.events.len() as u64;
    let input = DebatePageInput { last_seq, live_text: BTreeMap::new(), viewer, assets: ASSETS };
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
        let text = render_page(stored, None, viewer);
        assert_eq!(find_html_error(&text), None, "{text}");
        assert_eq!(text.matches("<h1").count(), 1);
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
fn live_duel_page_matches_a_fresh_page() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--json"]).expect_success();
    let stored = load_last_debate(&env);
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
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(10));
    let args =
        ["run", "One file?", "--format", "tribunal", "--model", &seat, "--same-judge", "--json"];
    env.debate(&args).expect_success();
    let stored = load_last_debate(&env);
    assert_live_page_matches_reload(&stored);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_contains_in_order(
        &text,
        &["had the stronger argument", "Marks by round", "Round 1", "Round 10", "Listener"],
    );
}

#[test]
fn live_research_and_dialectic_pages_match_fresh_pages() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::Chinese));
    let topic = "用 sqlx 还是 rusqlite?";
    env.debate(&["run", topic, "--format", "research", "--model", &seat, "--yes", "--json"])
        .expect_success();
    let research_debate = load_last_debate(&env);
    assert_live_page_matches_reload(&research_debate);
    let text = render_page(&research_debate, None, Viewer::Reader);
    assert!(text.contains("<h1 id=\"topic\" lang=\"zh\">"), "{text}");
    assert!(text.contains("data-side=\"other\" lang=\"zh\""), "{text}");
    let seat = env.write_replies(&dialectic());
    let extra_args = ["--yes", "--rounds", "3", "--json"];
    env.debate(
        &[&["run", "Well?", "--format", "dialectic", "--model", &seat], &extra_args[..]].concat(),
    )
    .expect_success();
    let dialectic_debate = load_last_debate(&env);
    assert_live_page_matches_reload(&dialectic_debate);
    assert!(render_page(&dialectic_debate, None, Viewer::Reader).contains("Key Insights"));
}

#[test]
fn live_page_matches_after_pause_remark_and_retry() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    env.debate(&["resume", "last", "--say", "Mind the **cost**.", "--json"]).expect_exit_code(2);
    let paused = load_last_debate(&env);
    assert_live_page_matches_reload(&paused);
    let text = render_page(&paused, None, Viewer::Owner);
    assert!(text.contains("Mind the <strong>cost</strong>."), "{text}");
    env.write_script(&SeatScript::empty());
    env.debate(&["resume", "last", "--yes", "--json"]).output();
    env.write_script(&SeatScript::new());
    env.debate(&["resume", "last", "--retry", "--yes", "--json"]).output();
    let retried = load_last_debate(&env);
    assert!(retried.events.len() > paused.events.len());
    assert_live_page_matches_reload(&retried);
}

#[test]
fn citations_are_linked_marked_or_struck_out() {
    let env = TestEnv::new();
    env.write_repo_file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait();\n}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence": [
        "src/lock.rs:1 \"fn hold_the_lock_for_long()\"", "src/gone.rs:9 \"never_written_anywhere()\"",
        "https://example.org/paper"], "answers": []}], "concedes": [], "resolves": []});
    let speech = format!("It is held.\n\n```claims\n{claims}\n```\n");
    env.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": speech})));
    env.debate_run("One file?", &["--rounds", "1", "--json"]).expect_success();
    let stored = load_last_debate(&env);
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
    let env = TestEnv::new();
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))\n\n</article></ol>";
    let speech = speech_with_claim(hostile, "P1\"><script>", &[]);
    env.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": speech})));
    env.debate_run("<script>alert(1)</script> One file?", &["--rounds", "1", "--json"]).output();
    let stored = load_last_debate(&env);
    assert_live_page_matches_reload(&stored);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_eq!(text.matches("<script").count(), 1, "only the page's own script: {text}");
    assert!(!text.contains("href=\"javascript") && !text.contains("<img"));
}

#[test]
fn html_export_is_self_contained() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--json"]).expect_success();
    let stored = load_last_debate(&env);
    let text = render_export(&DebateHistory::from_stored(&stored, None).unwrap(), "p{color:red}")
        .into_string();
    assert_eq!(find_html_error(&text), None, "{text}");
    for reference in ["<script", "<link", "src=\"", "href=\"/", "href=\"http", "<form"] {
        assert!(!text.contains(reference), "{reference} in {text}");
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
    let exported = env.debate(&["export", "last", "--as", "html"]).expect_success().stdout;
    assert_eq!(find_html_error(&exported), None);
    assert!(exported.contains("Use one file.") && exported.contains("<style>"));
}
