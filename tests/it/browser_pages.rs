//! Every page in the browser: without JavaScript, in light and dark mode, search, replay, export,
//! page weight, and hostile model output.
use crate::browser::{Tools, View, chromium, play};
use crate::browser_stage::{begin, challenger, let_on, proposer};
use crate::casts::{Tongue, research, tribunal};
use crate::cli_evidence;
use crate::lab::{Lab, speech, until};
use crate::needs::here;
use serde_json::{Value, json};

const COURT: &str = "Faster with one file or many?";

/// Archive with debates of several formats, and the server that shows it.
struct Archive {
    lab: Lab,
    demo: String,
    chinese: String,
    court: String,
    view: View,
    tools: Tools,
}

impl Archive {
    fn new() -> Option<Archive> {
        let tools = chromium()?;
        let lab = cli_evidence::lab();
        lab.debate(&["demo", "--speed", "0"]).success();
        let demo = lab.last();
        let seat = lab.cast(&research(Tongue::Chinese));
        let args = ["run", "用 sqlx 还是 rusqlite?", "--format", "research", "--model", &seat];
        lab.debate(&[&args[..], &["--yes", "--output", "r.md"]].concat()).success();
        let chinese = lab.last();
        let seat = lab.cast(&tribunal(3));
        let args = ["run", COURT, "--format", "tribunal", "--model", &seat, "--rounds", "3"];
        lab.debate(&[&args[..], &["--same-judge"]].concat()).success();
        let court = lab.last();
        let view = View::at(&lab, None);
        Some(Archive { lab, demo, chinese, court, view, tools })
    }

    /// One page of each kind.
    fn pages(&self) -> Value {
        json!({
            "archive": "/",
            "debate": format!("/debates/{}", self.demo),
            "court": format!("/debates/{}", self.court),
            "chinese": format!("/debates/{}", self.chinese),
            "moment": format!("/debates/{}?at=4", self.demo),
            "compare": format!("/compare?a={}&b={}", self.demo, self.court),
            "choose": "/compare",
            "leaderboard": "/leaderboard",
            "source": format!("/debates/{}/source?path=src/store.rs&line=3#L3", self.demo),
            "message": "/nowhere",
        })
    }

    #[track_caller]
    fn play(&self, scenario: &str, mut stage: Value) -> Value {
        stage["url"] = json!(self.view.url);
        play(&self.tools, scenario, stage, |_| Value::Null)
    }
}

#[test]
fn without_scripts_everything_can_be_read() {
    let Some(archive) = Archive::new() else { return };
    let topic = archive.lab.debate(&["show", &archive.demo, "--json"]).success().json();
    let stage = json!({"id": archive.demo, "words": "What is missing is a reason.",
        "topic": topic["topic"]});
    archive.play("plain", stage);
}

#[test]
fn every_debate_is_found_by_its_words() {
    let Some(archive) = Archive::new() else { return };
    let stage = json!({
        "ids": [archive.demo, archive.chinese, archive.court],
        "search": {"words": "blame", "id": archive.demo},
        "chinese": {"words": "rusqlite", "id": archive.chinese},
    });
    archive.play("archive", stage);
}

#[test]
fn a_debate_is_played_again_with_mouse_and_keys() {
    let Some(archive) = Archive::new() else { return };
    let seen = archive.play("replay", json!({"id": archive.demo}));
    assert!(seen["turns"].as_u64().unwrap() >= 4, "{seen}");
}

#[test]
fn an_export_needs_nothing_but_itself() {
    let Some(archive) = Archive::new() else { return };
    let stage = json!({"id": archive.demo, "words": "What is missing is a reason."});
    archive.play("export", stage);
}

/// Leaves screenshots in `target/browser`, to be reviewed by eye.
#[test]
fn every_page_is_accessible_by_day_by_night_and_on_a_phone() {
    let Some(archive) = Archive::new() else { return };
    archive.play("looks", json!({"pages": archive.pages()}));
}

#[test]
fn what_a_reader_wishes_is_done() {
    let Some(archive) = Archive::new() else { return };
    archive.play("wishes", json!({"id": archive.demo}));
}

/// Writes its measurements to `target/browser/weight.json`.
#[test]
fn pages_are_light_and_soon_there() {
    let Some(archive) = Archive::new() else { return };
    let seen = archive.play("weight", json!({"pages": archive.pages()}));
    std::fs::write(here("target/browser/weight.json"), format!("{seen:#}")).unwrap();
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
fn hostile_words_are_only_words() {
    let Some(tools) = chromium() else { return };
    let lab = Lab::new();
    let columns = "| wide ".repeat(60);
    let rule = "|---".repeat(60);
    let table = format!("{columns}|\n{rule}|\n{}", format!("{columns}|\n").repeat(400));
    let endless = "endless".repeat(500);
    let text = format!("{HOSTILE}\n{table}\n\n{endless}\n\n```\n{endless}\n```\n");
    // The text is rendered twice: while it is streamed, and as a finished turn.
    proposer(&lab, &[&text, &speech("Done.", "P1", &[])]);
    challenger(&lab, &speech("One file locks.", "C1", &["P1"]));
    let mut played = begin(&lab, "Is <script>ran = 16</script> safe?", "1");
    let view = View::at(&lab, None);
    play(&tools, "hostile", json!({"url": view.url, "id": played.id}), |_| {
        let_on(&lab, "claude", 1);
        let_on(&lab, "claude", 2);
        let_on(&lab, "codex", 1);
        until("it was said", || played.running.is_over());
        Value::Null
    });
}
