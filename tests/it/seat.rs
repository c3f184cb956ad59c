//! Parsing and validation of participants: `tool`, `tool:model`, `host`, `human`, `bot`.
use debate_mcp::debate::seat::BadSeat::{self, Empty, Model, NoModel, Tool};
use debate_mcp::debate::{Effort, Voice};

fn model(tool: &str, model: &str) -> Voice {
    Voice::Model { tool: tool.into(), model: (!model.is_empty()).then(|| model.into()) }
}

#[track_caller]
fn check(text: &str, expected: &Result<Voice, BadSeat>) {
    assert_eq!(text.parse::<Voice>(), *expected, "{text:?}");
}

#[test]
fn a_seat_is_a_tool_and_perhaps_a_model() {
    for (text, expected) in [
        ("claude", model("claude", "")),
        (" claude ", model("claude", "")),
        ("claude:opus", model("claude", "opus")),
        ("claude: opus", model("claude", "opus")),
        ("openai:gpt-5.5", model("openai", "gpt-5.5")),
        // Split at the first colon only: model names may contain colons and slashes.
        ("ollama:qwen3:8b", model("ollama", "qwen3:8b")),
        ("openrouter:meta/llama-3@latest", model("openrouter", "meta/llama-3@latest")),
        ("claude:", model("claude", "")),
        ("claude:auto", model("claude", "")),
        ("claude:omit", model("claude", "")),
        ("claude:automatic", model("claude", "automatic")),
        ("my_tool.v2", model("my_tool.v2", "")),
        ("script:/tmp/a b/turns.json", model("script", "/tmp/a b/turns.json")),
        ("host", Voice::Host),
        ("human", Voice::Human),
        ("bot", Voice::Bot),
        ("host:auto", Voice::Host),
    ] {
        check(text, &Ok(expected.clone()));
        // Display and parse are inverse.
        assert_eq!(expected.to_string().parse(), Ok(expected));
    }
}

#[test]
fn what_could_be_taken_for_something_else_is_no_seat() {
    let table: [(&str, BadSeat); 18] = [
        ("", Empty),
        ("  ", Empty),
        (":opus", Empty),
        ("-p", Tool),
        ("--help", Tool),
        ("claude --yolo", Tool),
        ("claude :opus", Tool),
        ("cla/ude", Tool),
        ("../claude", Tool),
        ("claude;rm", Tool),
        ("clàude", Tool),
        ("claude:-p", Model),
        ("claude:--dangerously-skip", Model),
        ("claude:opus --yolo", Model),
        ("claude:$(id)", Model),
        ("claude:op\nus", Model),
        ("script:a\u{7}b", Model),
        ("host:opus", NoModel),
    ];
    for (text, bad) in table {
        check(text, &Err(bad));
    }
    check("human:me", &Err(NoModel));
    check("bot:1", &Err(NoModel));
}

#[test]
fn what_is_read_back_is_checked_again() {
    for (json, expected) in [
        (r#"{"model":{"tool":"claude","model":"opus"}}"#, Ok(())),
        (r#"{"model":{"tool":"claude"}}"#, Ok(())),
        (r#""host""#, Ok(())),
        (r#"{"model":{"tool":"--help"}}"#, Err(Tool)),
        (r#"{"model":{"tool":""}}"#, Err(Tool)),
        (r#"{"model":{"tool":"claude","model":"--yolo"}}"#, Err(Model)),
    ] {
        let voice: Voice = serde_json::from_str(json).unwrap();
        assert_eq!(voice.check(), expected, "{json}");
    }
}

#[test]
fn who_is_waited_for_has_no_model() {
    for (text, tool, asked_for, awaited) in [
        ("claude:opus", "claude", Some("opus"), false),
        ("codex", "codex", None, false),
        ("host", "host", None, true),
        ("human", "human", None, true),
        ("bot", "bot", None, true),
    ] {
        let voice: Voice = text.parse().unwrap();
        assert_eq!((voice.tool(), voice.model(), voice.awaited()), (tool, asked_for, awaited));
    }
    let efforts = [Effort::Low, Effort::Medium, Effort::High, Effort::Max].map(Effort::word);
    assert_eq!(efforts, ["low", "medium", "high", "max"]);
}
