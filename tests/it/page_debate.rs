//! The page of a debate that the program held: its parts, citations, escaping and export.
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
use serde_json::json;
use std::collections::BTreeMap;

const ASSETS: AssetUrls<'static> =
    AssetUrls { script: "/assets/app.js?v=1", style: "/assets/app.css?v=1" };

/// Loads the newest debate of a test environment from its event export.
fn load_last_debate(env: &TestEnv) -> StoredDebate {
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
    let page = render_debate_page(&history, &render_context(stored), &input).into_string();
    assert_eq!(find_html_error(&page), None, "{page}");
    page
}

#[test]
fn duel_page_has_all_parts() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--json"]).expect_success();
    let stored = load_last_debate(&env);
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
fn tribunal_page_has_marks_and_votes() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(10));
    let args =
        ["run", "One file?", "--format", "tribunal", "--model", &seat, "--same-judge", "--json"];
    env.debate(&args).expect_success();
    let stored = load_last_debate(&env);
    let text = render_page(&stored, None, Viewer::Reader);
    assert_contains_in_order(
        &text,
        &["had the stronger argument", "Marks by round", "Round 1", "Round 10", "Listener"],
    );
}

#[test]
fn research_and_dialectic_pages_have_their_results() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::Chinese));
    let topic = "用 sqlx 还是 rusqlite?";
    env.debate(&["run", topic, "--format", "research", "--model", &seat, "--yes", "--json"])
        .expect_success();
    let research_debate = load_last_debate(&env);
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
    assert!(render_page(&dialectic_debate, None, Viewer::Reader).contains("Key Insights"));
}

#[test]
fn remark_of_the_user_is_rendered_as_markdown() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    env.debate(&["resume", "last", "--say", "Mind the **cost**.", "--json"]).expect_exit_code(2);
    let text = render_page(&load_last_debate(&env), None, Viewer::Owner);
    assert!(text.contains("Mind the <strong>cost</strong>."), "{text}");
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
}

#[test]
fn hostile_text_is_escaped() {
    let env = TestEnv::new();
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))\n\n</article></ol>";
    let speech = speech_with_claim(hostile, "P1\"><script>", &[]);
    env.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": speech})));
    env.debate_run("<script>alert(1)</script> One file?", &["--rounds", "1", "--json"]).output();
    let stored = load_last_debate(&env);
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
