//! API protocols without a network: request bodies, schema placement, parsed response streams,
//! error kinds and retry headers.
use super::response::MalformedEvent;
use super::{
    ApiResponse, PromptRequest, Protocol, SchemaMode, adapt_schema, auth_header, build_request,
};
use crate::debate::FailureKind;
use crate::providers::api_error::{ApiError, parse_retry_headers};
use crate::test_support::api_streams::{PROTOCOLS, sse_events};
use serde_json::{Value, json};

fn parse_protocol_name(name: &str) -> Protocol {
    match name {
        "anthropic" => Protocol::Anthropic,
        "responses" => Protocol::Responses,
        "chat" => Protocol::Chat,
        _ => Protocol::Gemini,
    }
}

/// The minimal request, and the header that carries the key.
#[test]
fn request_body_and_key_header_fit_the_protocol() {
    let messages = json!([{"role": "user", "content": "Why?"}]);
    for (name, path, body, key) in [
        (
            "anthropic",
            "v1/messages",
            json!({"model": "m/1", "max_tokens": 16000, "stream": true, "messages": messages}),
            ("x-api-key", "k"),
        ),
        (
            "responses",
            "responses",
            json!({"model": "m/1", "input": "Why?", "stream": true, "store": false}),
            ("authorization", "Bearer k"),
        ),
        (
            "chat",
            "chat/completions",
            json!({"model": "m/1", "messages": messages, "stream": true,
                "stream_options": {"include_usage": true}}),
            ("authorization", "Bearer k"),
        ),
        (
            "gemini",
            "models/m%2F1:streamGenerateContent?alt=sse",
            json!({"contents": [{"role": "user", "parts": [{"text": "Why?"}]}]}),
            ("x-goog-api-key", "k"),
        ),
    ] {
        let request =
            PromptRequest { model: "m/1", prompt: "Why?", schema: None, max_tokens: None };
        let built = build_request(parse_protocol_name(name), &request);
        assert_eq!((built.path.as_str(), &built.body), (path, &body), "{name}");
        assert_eq!(
            auth_header(parse_protocol_name(name), "k"),
            (key.0, key.1.to_owned()),
            "{name}"
        );
        let limited = build_request(
            parse_protocol_name(name),
            &PromptRequest { max_tokens: Some(7), ..request },
        );
        assert!(limited.body.to_string().contains(":7"), "{name}: {}", limited.body);
    }
}

/// The position of the response schema in each protocol's request body.
#[test]
fn schema_is_placed_where_the_protocol_expects_it() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["minimum"],
        "properties": {"minimum": {"type": "number", "minimum": 0},
            "of": {"type": "array", "minItems": 1, "items": {"enum": ["a", null]}}}});
    let loose = json!({"type": "object", "additionalProperties": false, "required": ["minimum"],
        "properties": {"minimum": {"type": "number"},
            "of": {"type": "array", "items": {"enum": ["a", null], "type": ["string", "null"]}}}});
    for (name, schema_pointer, type_pointer) in [
        ("anthropic", "/output_config/format/schema", "/output_config/format/type"),
        ("responses", "/text/format/schema", "/text/format/type"),
        ("chat", "/response_format/json_schema/schema", "/response_format/type"),
        ("gemini", "/generationConfig/responseJsonSchema", "/generationConfig/responseMimeType"),
    ] {
        let build_body = |mode| {
            let schema = Some((mode, &schema));
            let request = PromptRequest { model: "m", prompt: "Why?", schema, max_tokens: None };
            build_request(parse_protocol_name(name), &request).body
        };
        let strict = build_body(SchemaMode::Schema);
        assert_eq!(
            strict.pointer(schema_pointer),
            Some(&adapt_schema(parse_protocol_name(name), &schema)),
            "{name}"
        );
        let type_name = strict.pointer(type_pointer).unwrap();
        assert!(
            type_name == "json_schema" || type_name == "application/json",
            "{name}: {type_name}"
        );
        assert_eq!(build_body(SchemaMode::PromptOnly).pointer(type_pointer), None, "{name}");
        let object = build_body(SchemaMode::AnyObject);
        assert_eq!(object.pointer(schema_pointer), None, "{name}");
        assert_eq!(object.pointer(type_pointer).is_some(), name != "anthropic", "{name}");
        if name == "gemini" {
            let bounded = adapt_schema(parse_protocol_name(name), &schema);
            assert_eq!(bounded["properties"]["minimum"]["minimum"], 0);
        } else {
            assert_eq!(adapt_schema(parse_protocol_name(name), &schema), loose, "{name}");
        }
    }
}

/// Feeds the events of the fake server to the response parser.
fn parse_stream(name: &str, text: &str, end: &str) -> (ApiResponse, String) {
    let (mut response, mut streamed) = (ApiResponse::default(), String::new());
    for event in sse_events(name, "big", text, end) {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        streamed.extend(response.parse_event(parse_protocol_name(name), data).unwrap());
    }
    (response, streamed)
}

/// Every way a response stream can end, for every protocol.
#[test]
fn response_stream_is_parsed_event_by_event() {
    for name in PROTOCOLS {
        let (response, streamed) = parse_stream(name, "one two three", "stop");
        assert_eq!((response.text.as_str(), streamed.as_str()), ("one two three", "one two three"));
        assert_eq!(response.model.as_deref(), Some("big"), "{name}");
        assert_eq!((response.tokens_in, response.tokens_out), (Some(100), Some(20)), "{name}");
        assert!(
            response.completed
                && !response.truncated
                && response.refusal.is_none()
                && response.error.is_none()
        );
        let (response, _) = parse_stream(name, "one", "limit");
        assert!(response.completed && response.truncated && response.refusal.is_none(), "{name}");
        let (response, _) = parse_stream(name, "", "refusal");
        assert!(response.completed && response.refusal.is_some(), "{name}");
        let (response, _) = parse_stream(name, "one", "none");
        assert!(!response.completed && response.text == "one", "{name}");
        let (response, _) = parse_stream(name, "one", "error");
        let api_error = ApiError::from_event(&response.error.unwrap());
        assert_eq!(api_error.message, "Overloaded", "{name}");
        assert!(api_error.is_transient(), "{name}");
        for garbage in ["rubbish", "[1]", "3", "{\"a\":"] {
            assert_eq!(
                ApiResponse::default().parse_event(parse_protocol_name(name), garbage),
                Err(MalformedEvent),
                "{name}"
            );
        }
        for unknown_event in
            ["{}", r#"{"type": 3, "choices": 4, "candidates": {}, "response": []}"#]
        {
            assert_eq!(
                ApiResponse::default().parse_event(parse_protocol_name(name), unknown_event),
                Ok(None),
                "{name}"
            );
        }
    }
}

/// Error responses as real services send them.
#[test]
fn error_responses_are_classified() {
    let error = |code: &str, message: &str| json!({"error": {"code": code, "message": message}});
    for (status, body, kind, is_transient) in [
        (400, error("invalid_request_error", "no such field"), FailureKind::Other, false),
        (400, error("model_not_found", "no"), FailureKind::UnknownModel, false),
        (400, error("", "Model Not Exist"), FailureKind::UnknownModel, false),
        (400, error("", "x/y is not a valid model ID"), FailureKind::UnknownModel, false),
        (400, error("", "API key not valid. Please pass one."), FailureKind::NotLoggedIn, false),
        (401, error("", "no"), FailureKind::NotLoggedIn, false),
        (402, error("", "Insufficient Balance"), FailureKind::Other, false),
        (403, error("", "no"), FailureKind::NotLoggedIn, false),
        (404, json!({"error": "model \"x\" not found"}), FailureKind::UnknownModel, false),
        (404, json!({"detail": "Not Found"}), FailureKind::UnknownModel, false),
        (429, error("rate_limit_exceeded", "slow down"), FailureKind::RateLimited, true),
        (429, error("insufficient_quota", "pay"), FailureKind::RateLimited, false),
        (500, json!("oh"), FailureKind::Other, true),
        (502, json!([{"error": {"message": "oh"}}]), FailureKind::Other, true),
        (503, error("", "busy"), FailureKind::RateLimited, true),
        (529, error("overloaded_error", "busy"), FailureKind::RateLimited, true),
    ] {
        let api_error = ApiError::from_body(Some(status), &body.to_string());
        assert_eq!(
            (api_error.failure_kind(), api_error.is_transient()),
            (kind, is_transient),
            "{status} {body}"
        );
    }
    assert_eq!(ApiError::from_body(Some(502), "<html>no</html>").message, "");
    assert_eq!(ApiError::from_body(Some(502), "upstream").message, "upstream");
    let detail = "type.googleapis.com/google.rpc.RetryInfo";
    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow",
        "details": [{"@type": "other"}, {"@type": detail, "retryDelay": "20.5s"}]}});
    assert_eq!(ApiError::from_event(&body).retry_ms, Some(20_500));
    assert_eq!(ApiError::from_event(&Value::Null), ApiError::default());
}

/// The retry delay, from whichever header a service uses.
#[test]
fn retry_delay_is_read_from_headers() {
    let parse_delay = |headers: &[(&str, &str)]| {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        parse_retry_headers(&headers.iter().map(owned).collect::<Vec<_>>())
    };
    assert_eq!(parse_delay(&[("retry-after", "20")]), Some(20_000));
    assert_eq!(parse_delay(&[("retry-after", "20"), ("retry-after-ms", "1500")]), Some(1500));
    assert_eq!(parse_delay(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(0));
    assert_eq!(parse_delay(&[("x-ratelimit-reset-requests", "6m0.5s")]), Some(360_500));
    let limits = [
        ("x-ratelimit-reset-requests", "1h"),
        ("x-ratelimit-remaining-requests", "9"),
        ("x-ratelimit-reset-tokens", "350ms"),
        ("x-ratelimit-remaining-tokens", "0"),
    ];
    assert_eq!(parse_delay(&limits), Some(350));
    for nonsense in ["", "soon", "-3", "NaN", "1e99", "5x"] {
        assert_eq!(parse_delay(&[("retry-after", nonsense)]), None, "{nonsense}");
        assert_eq!(parse_delay(&[("x-ratelimit-reset-tokens", nonsense)]), None, "{nonsense}");
    }
}
