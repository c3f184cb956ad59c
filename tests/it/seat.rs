//! Parsing and validation of participants: `tool`, `tool:model`, `host`, `human`, `bot`.
use debate_mcp::debate::seat::ParticipantError::{
    self, Empty, InvalidModel, InvalidTool, UnexpectedModel,
};
use debate_mcp::debate::{Effort, Participant};

fn model(tool: &str, model: &str) -> Participant {
    Participant::Model { tool: tool.into(), model: (!model.is_empty()).then(|| model.into()) }
}

#[track_caller]
fn check(text: &str, expected: &Result<Participant, ParticipantError>) {
    assert_eq!(text.parse::<Participant>(), *expected, "{text:?}");
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
        ("host", Participant::Host),
        ("human", Participant::Human),
        ("bot", Participant::Bot),
        ("host:auto", Participant::Host),
    ] {
        check(text, &Ok(expected.clone()));
        // Display and parse are inverse.
        assert_eq!(expected.to_string().parse(), Ok(expected));
    }
}

#[test]
fn what_could_be_taken_for_something_else_is_no_seat() {
    let table: [(&str, ParticipantError); 18] = [
        ("", Empty),
        ("  ", Empty),
        (":opus", Empty),
        ("-p", InvalidTool),
        ("--help", InvalidTool),
        ("claude --yolo", InvalidTool),
        ("claude :opus", InvalidTool),
        ("cla/ude", InvalidTool),
        ("../claude", InvalidTool),
        ("claude;rm", InvalidTool),
        ("clàude", InvalidTool),
        ("claude:-p", InvalidModel),
        ("claude:--dangerously-skip", InvalidModel),
        ("claude:opus --yolo", InvalidModel),
        ("claude:$(id)", InvalidModel),
        ("claude:op\nus", InvalidModel),
        ("script:a\u{7}b", InvalidModel),
        ("host:opus", UnexpectedModel),
    ];
    for (text, bad) in table {
        check(text, &Err(bad));
    }
    check("human:me", &Err(UnexpectedModel));
    check("bot:1", &Err(UnexpectedModel));
}

#[test]
fn what_is_read_back_is_checked_again() {
    for (json, expected) in [
        (r#"{"model":{"tool":"claude","model":"opus"}}"#, Ok(())),
        (r#"{"model":{"tool":"claude"}}"#, Ok(())),
        (r#""host""#, Ok(())),
        (r#"{"model":{"tool":"--help"}}"#, Err(InvalidTool)),
        (r#"{"model":{"tool":""}}"#, Err(InvalidTool)),
        (r#"{"model":{"tool":"claude","model":"--yolo"}}"#, Err(InvalidModel)),
    ] {
        let voice: Participant = serde_json::from_str(json).unwrap();
        assert_eq!(voice.validate(), expected, "{json}");
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
        let voice: Participant = text.parse().unwrap();
        assert_eq!((voice.tool(), voice.model(), voice.is_awaited()), (tool, asked_for, awaited));
    }
    let efforts = [Effort::Low, Effort::Medium, Effort::High, Effort::Max].map(Effort::as_str);
    assert_eq!(efforts, ["low", "medium", "high", "max"]);
}
