//! Response streams of the four API protocols, as server-sent events.
use serde_json::{Value, json};

/// Names of the protocols.
pub(crate) const PROTOCOLS: [&str; 4] = ["anthropic", "responses", "chat", "gemini"];

/// A whole reply as SSE events of a protocol. `end` is `stop`, `limit`, `refusal`, `error` or
/// `none`.
pub(crate) fn sse_events(protocol: &str, model: &str, text: &str, end: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let events = match protocol {
        "anthropic" => anthropic_events(model, &words, end),
        "responses" => responses_events(model, &words, end),
        "chat" => chat_events(model, &words, end),
        _ => gemini_events(model, &words, end),
    };
    let event = |value: Value| match (value.as_str(), value["type"].as_str()) {
        (Some(raw), _) => format!("data: {raw}\n\n"),
        (None, Some(kind)) => format!("event: {kind}\ndata: {value}\n\n"),
        (None, None) => format!("data: {value}\n\n"),
    };
    events.into_iter().map(event).collect()
}

fn anthropic_events(model: &str, words: &[&str], end: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1});
    let mut events = vec![
        json!({"type": "message_start", "message": {"model": model, "usage": usage}}),
        json!({"type": "ping"}),
    ];
    events.extend(words.iter().map(|word| {
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}})
    }));
    let reason = match end {
        "none" => return events,
        "error" => {
            let error = json!({"type": "overloaded_error", "message": "Overloaded"});
            events.push(json!({"type": "error", "error": error}));
            return events;
        }
        "limit" => "max_tokens",
        "refusal" => "refusal",
        _ => "end_turn",
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 20}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn responses_events(model: &str, words: &[&str], end: &str) -> Vec<Value> {
    let mut response = json!({"model": model, "output": [],
        "usage": {"input_tokens": 100, "output_tokens": 20}});
    let mut events = vec![json!({"type": "response.created", "response": {"model": model}})];
    events.extend(
        words.iter().map(|word| json!({"type": "response.output_text.delta", "delta": word})),
    );
    let kind = match end {
        "none" => return events,
        "error" => {
            response["error"] = json!({"code": "server_error", "message": "Overloaded"});
            "response.failed"
        }
        "limit" => {
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
            "response.incomplete"
        }
        "refusal" => {
            events.push(json!({"type": "response.refusal.delta", "delta": "I will not."}));
            "response.completed"
        }
        _ => "response.completed",
    };
    events.push(json!({"type": kind, "response": response}));
    events
}

fn chat_events(model: &str, words: &[&str], end: &str) -> Vec<Value> {
    let choice = |delta: Value, reason: Option<&str>| json!({"model": model, "choices": [{"delta": delta, "finish_reason": reason}]});
    let mut events = vec![choice(json!({"role": "assistant", "content": ""}), None)];
    events.extend(words.iter().map(|word| choice(json!({"content": word}), None)));
    let reason = match end {
        "none" => return events,
        "error" => {
            events.push(json!({"error": {"code": 503, "message": "Overloaded"}}));
            return events;
        }
        "limit" => "length",
        "refusal" => "content_filter",
        _ => "stop",
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20});
    events.push(choice(json!({}), Some(reason)));
    events.push(json!({"model": model, "choices": [], "usage": usage}));
    events.push("[DONE]".into());
    events
}

fn gemini_events(model: &str, words: &[&str], end: &str) -> Vec<Value> {
    let part = |parts: Value, reason: Option<&str>| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}});
        if let Some(reason) = reason {
            candidate["finishReason"] = reason.into();
        }
        json!({"candidates": [candidate], "modelVersion": model, "usageMetadata":
            {"promptTokenCount": 100, "candidatesTokenCount": 15, "thoughtsTokenCount": 5}})
    };
    let mut events = vec![part(json!([{"text": "Hm.", "thought": true}]), None)];
    events.extend(words.iter().map(|word| part(json!([{"text": word}]), None)));
    let reason = match end {
        "none" => return events,
        "error" => {
            let error = json!({"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"});
            events.push(json!({"error": error}));
            return events;
        }
        "limit" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        _ => "STOP",
    };
    events.push(part(json!([]), Some(reason)));
    events
}
