//! Parsing and validation of participants: `tool`, `tool:model`, `host`, `human`, `bot`.
use crate::debate::seat::ParticipantError::{
    self, Empty, InvalidModel, InvalidTool, UnexpectedModel,
};
use crate::debate::{Effort, Participant};

fn model_participant(tool: &str, model: &str) -> Participant {
    Participant::Model { tool: tool.into(), model: (!model.is_empty()).then(|| model.into()) }
}

#[track_caller]
fn assert_parses(text: &str, expected: &Result<Participant, ParticipantError>) {
    assert_eq!(text.parse::<Participant>(), *expected, "{text:?}");
}

#[test]
fn participant_is_a_tool_with_an_optional_model() {
    for (text, expected) in [
        ("claude", model_participant("claude", "")),
        (" claude ", model_participant("claude", "")),
        ("claude:opus", model_participant("claude", "opus")),
        ("claude: opus", model_participant("claude", "opus")),
        ("openai:gpt-5.5", model_participant("openai", "gpt-5.5")),
        // Split at the first colon only: model names may contain colons and slashes.
        ("ollama:qwen3:8b", model_participant("ollama", "qwen3:8b")),
        ("openrouter:meta/llama-3@latest", model_participant("openrouter", "meta/llama-3@latest")),
        ("claude:", model_participant("claude", "")),
        ("claude:auto", model_participant("claude", "")),
        ("claude:omit", model_participant("claude", "")),
        ("claude:automatic", model_participant("claude", "automatic")),
        ("my_tool.v2", model_participant("my_tool.v2", "")),
        ("script:/tmp/a b/turns.json", model_participant("script", "/tmp/a b/turns.json")),
        ("host", Participant::Host),
        ("human", Participant::Human),
        ("bot", Participant::Bot),
        ("host:auto", Participant::Host),
    ] {
        assert_parses(text, &Ok(expected.clone()));
        // Display and parse are inverse.
        assert_eq!(expected.to_string().parse(), Ok(expected));
    }
}

#[test]
fn unsafe_participant_names_are_refused() {
    let cases: [(&str, ParticipantError); 18] = [
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
    for (text, error) in cases {
        assert_parses(text, &Err(error));
    }
    assert_parses("human:me", &Err(UnexpectedModel));
    assert_parses("bot:1", &Err(UnexpectedModel));
}

#[test]
fn stored_participants_are_validated_again() {
    for (json, expected) in [
        (r#"{"model":{"tool":"claude","model":"opus"}}"#, Ok(())),
        (r#"{"model":{"tool":"claude"}}"#, Ok(())),
        (r#""host""#, Ok(())),
        (r#"{"model":{"tool":"--help"}}"#, Err(InvalidTool)),
        (r#"{"model":{"tool":""}}"#, Err(InvalidTool)),
        (r#"{"model":{"tool":"claude","model":"--yolo"}}"#, Err(InvalidModel)),
    ] {
        let participant: Participant = serde_json::from_str(json).unwrap();
        assert_eq!(participant.validate(), expected, "{json}");
    }
}

#[test]
fn awaited_participants_have_no_model() {
    for (text, tool, model, awaited) in [
        ("claude:opus", "claude", Some("opus"), false),
        ("codex", "codex", None, false),
        ("host", "host", None, true),
        ("human", "human", None, true),
        ("bot", "bot", None, true),
    ] {
        let participant: Participant = text.parse().unwrap();
        assert_eq!(
            (participant.tool(), participant.model(), participant.is_awaited()),
            (tool, model, awaited)
        );
    }
    let efforts = [Effort::Low, Effort::Medium, Effort::High, Effort::Max].map(Effort::as_str);
    assert_eq!(efforts, ["low", "medium", "high", "max"]);
}
