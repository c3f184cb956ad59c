//! Every page in the browser: without JavaScript, in light and dark mode, search, replay, export,
//! page weight, and hostile model output.
use crate::browser_fake_clis::{install_challenger, install_proposer, release_step, start_debate};
use crate::browser_harness::{BrowserTools, ViewServer, find_browser_tools, run_scenario};
use crate::cli_evidence;
use crate::prerequisites::repo_path;
use crate::scripted_replies::{ReplyLanguage, research, tribunal};
use crate::test_env::{TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

const TRIBUNAL_TOPIC: &str = "Faster with one file or many?";

/// Archive with debates of several formats, and the server that shows it.
struct SampleArchive {
    env: TestEnv,
    demo_id: String,
    chinese_id: String,
    tribunal_id: String,
    server: ViewServer,
    tools: BrowserTools,
}

impl SampleArchive {
    fn new() -> Option<SampleArchive> {
        let tools = find_browser_tools()?;
        let env = cli_evidence::repo_with_source();
        env.debate(&["demo", "--speed", "0"]).expect_success();
        let demo_id = env.latest_debate_id();
        let seat = env.write_replies(&research(ReplyLanguage::Chinese));
        let args = ["run", "用 sqlx 还是 rusqlite?", "--format", "research", "--model", &seat];
        env.debate(&[&args[..], &["--yes", "--output", "r.md"]].concat()).expect_success();
        let chinese_id = env.latest_debate_id();
        let seat = env.write_replies(&tribunal(3));
        let args =
            ["run", TRIBUNAL_TOPIC, "--format", "tribunal", "--model", &seat, "--rounds", "3"];
        env.debate(&[&args[..], &["--same-judge"]].concat()).expect_success();
        let tribunal_id = env.latest_debate_id();
        let server = ViewServer::start(&env, None);
        Some(SampleArchive { env, demo_id, chinese_id, tribunal_id, server, tools })
    }

    /// One page of each kind.
    fn page_paths(&self) -> Value {
        json!({
            "archive": "/",
            "debate": format!("/debates/{}", self.demo_id),
            "court": format!("/debates/{}", self.tribunal_id),
            "chinese": format!("/debates/{}", self.chinese_id),
            "moment": format!("/debates/{}?at=4", self.demo_id),
            "compare": format!("/compare?a={}&b={}", self.demo_id, self.tribunal_id),
            "choose": "/compare",
            "leaderboard": "/leaderboard",
            "source": format!("/debates/{}/source?path=src/store.rs&line=3#L3", self.demo_id),
            "message": "/nowhere",
        })
    }

    #[track_caller]
    fn run_scenario(&self, scenario: &str, mut input: Value) -> Value {
        input["url"] = json!(self.server.url);
        run_scenario(&self.tools, scenario, input, |_| Value::Null)
    }
}

#[test]
fn pages_are_readable_without_javascript() {
    let Some(archive) = SampleArchive::new() else { return };
    let debate = archive.env.debate(&["show", &archive.demo_id, "--json"]).expect_success().json();
    let input = json!({"id": archive.demo_id, "words": "What is missing is a reason.",
        "topic": debate["topic"]});
    archive.run_scenario("plain", input);
}

#[test]
fn search_finds_english_and_chinese_debates() {
    let Some(archive) = SampleArchive::new() else { return };
    let input = json!({
        "ids": [archive.demo_id, archive.chinese_id, archive.tribunal_id],
        "search": {"words": "blame", "id": archive.demo_id},
        "chinese": {"words": "rusqlite", "id": archive.chinese_id},
    });
    archive.run_scenario("archive", input);
}

#[test]
fn replay_works_with_mouse_and_keyboard() {
    let Some(archive) = SampleArchive::new() else { return };
    let seen = archive.run_scenario("replay", json!({"id": archive.demo_id}));
    assert!(seen["turns"].as_u64().unwrap() >= 4, "{seen}");
}

#[test]
fn exported_page_is_self_contained() {
    let Some(archive) = SampleArchive::new() else { return };
    let input = json!({"id": archive.demo_id, "words": "What is missing is a reason."});
    archive.run_scenario("export", input);
}

/// Leaves screenshots in `target/browser`, to be reviewed by eye.
#[test]
fn every_page_is_accessible_in_light_dark_and_mobile() {
    let Some(archive) = SampleArchive::new() else { return };
    archive.run_scenario("looks", json!({"pages": archive.page_paths()}));
}

#[test]
fn reader_preferences_are_respected() {
    let Some(archive) = SampleArchive::new() else { return };
    archive.run_scenario("wishes", json!({"id": archive.demo_id}));
}

/// Writes its measurements to `target/browser/weight.json`.
#[test]
fn pages_meet_size_and_load_time_limits() {
    let Some(archive) = SampleArchive::new() else { return };
    let seen = archive.run_scenario("weight", json!({"pages": archive.page_paths()}));
    std::fs::write(repo_path("target/browser/weight.json"), format!("{seen:#}")).unwrap();
}

/// HTML, Markdown and URL injection as a model might write it.
const HOSTILE: &str = r#"<script>ran = 1; alert(1)</script>
<img src=x onerror="ran = 2; alert(2)">
<svg onload="ran = 3"><a xlink:href="javascript:ran=4">x</a></svg>
<iframe srcdoc="<script>parent.ran = 5</script>"></iframe>
<style>body { display: none }</style><base href="http://evil.example/">
<form action="http://evil.example"><input name=csrf></form>
<details open ontoggle="ran = 6"><summary id="debate">s</summary></details>

[one](javascript:ran=7) [two](JaVaScRiPt:ran=8) [three](data:text/html,<script>ran=9</script>)
[four](vbscript:x) [five](//evil.example/x) [six](http://evil.example/) <javascript:ran=10>
[seven]( javascript:ran=11 "x\" onmouseover=\"ran=12") [eight](java&#115;cript:ran=13)

![a picture](http://evil.example/track.png) ![x](data:image/svg+xml;base64,AAAA)

`</code><script>ran = 14</script>` </article></li></ol></main><script>ran = 15</script>

"#;

#[test]
fn hostile_model_output_is_not_executed() {
    let Some(tools) = find_browser_tools() else { return };
    let env = TestEnv::new();
    let columns = "| wide ".repeat(60);
    let separator = "|---".repeat(60);
    let table = format!("{columns}|\n{separator}|\n{}", format!("{columns}|\n").repeat(400));
    let long_word = "endless".repeat(500);
    let text = format!("{HOSTILE}\n{table}\n\n{long_word}\n\n```\n{long_word}\n```\n");
    // The text is rendered twice: while it is streamed, and as a finished turn.
    install_proposer(&env, &[&text, &speech_with_claim("Done.", "P1", &[])]);
    install_challenger(&env, &speech_with_claim("One file locks.", "C1", &["P1"]));
    let mut debate = start_debate(&env, "Is <script>ran = 16</script> safe?", "1");
    let server = ViewServer::start(&env, None);
    run_scenario(&tools, "hostile", json!({"url": server.url, "id": debate.id}), |_| {
        release_step(&env, "claude", 1);
        release_step(&env, "claude", 2);
        release_step(&env, "codex", 1);
        wait_until("the debate has ended", || debate.process.has_exited());
        Value::Null
    });
}
