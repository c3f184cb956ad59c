//! The stdio transport, with what real clients send: unusual order and ids, malformed and oversized
//! messages, cancellation, signals, and a closed stdin.
use crate::mcp_test_client::{McpTestClient, initialize_params, structured_content};
use crate::test_env::{SeatScript, TestEnv, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The `_meta` of a request that needs no `initialize` (protocol 2026-07-28).
fn stateless_request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Arguments for a scripted debate in which every turn has a delay.
fn slow_debate_args(env: &TestEnv, milliseconds: u64) -> Value {
    let mut script = SeatScript::new();
    for phase in ["propose", "challenge", "defend", "follow_up"] {
        let speech = crate::test_env::speech_with_claim(
            "Slowly.",
            if phase == "propose" { "P1" } else { "C1" },
            &[],
        );
        script = script.prepend(json!({"phase": phase, "text": speech, "delay_ms": milliseconds}));
    }
    env.write_script(&script);
    json!({"topic": "Slow?", "proposer": env.script_seat("pro.json"), "challenger": env.script_seat("contra.json"),
        "wait_seconds": 0})
}

/// Newer clients send `server/discover` first, with a string as the request id.
#[test]
fn client_can_discover_then_initialize() {
    let env = TestEnv::new();
    let mut host = env.uninitialized_mcp_client(&[]);
    host.send_line(
        &json!({"jsonrpc": "2.0", "id": "discover-1", "method": "server/discover",
            "params": {"_meta": stateless_request_meta()}})
        .to_string(),
    );
    let discovered = host.wait_for_response("discover-1");
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let response = host.request("initialize", initialize_params("claude-code"));
    assert_eq!(response["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

/// A malformed `server/discover` gets an error, and `initialize` still works afterwards.
#[test]
fn invalid_discovery_gets_an_error() {
    let env = TestEnv::new();
    let mut host = env.uninitialized_mcp_client(&[]);
    host.send_line(r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{}}"#);
    assert!(host.wait_for_response("d")["error"]["code"].is_i64());
    host.request("initialize", initialize_params("copilot-cli"));
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

/// In protocol 2026-07-28 every request carries the client's name and version itself.
#[test]
fn stateless_request_needs_no_initialize() {
    let env = TestEnv::new();
    let mut host = env.uninitialized_mcp_client(&[]);
    let arguments = json!({"topic": "One file?", "proposer": "host", "challenger": "host"});
    let call =
        json!({"name": "start_debate", "arguments": arguments, "_meta": stateless_request_meta()});
    let first = structured_content(&host.request("tools/call", call));
    assert_eq!(first["status"], "your_turn");
    let listed = host.request("tools/list", json!({"_meta": stateless_request_meta()}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 7);
    host.disconnect();
    assert!(env.repo_root().join(".codex/debate/last-debate.json").exists());
}

/// Lines that are no valid request are ignored, before and after `initialize`.
#[test]
fn malformed_messages_do_not_end_the_server() {
    let env = TestEnv::new();
    let malformed_lines = [
        "",
        "   ",
        "hello",
        "{",
        "[]",
        "[1,2]",
        "null",
        "42",
        "\"text\"",
        "{}",
        "\u{feff}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":78,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"1.0","method":"tools/list"}"#,
    ];
    let mut host = env.uninitialized_mcp_client(&[]);
    for line in malformed_lines {
        host.send_line(line);
    }
    host.request("initialize", initialize_params("claude-code"));
    for line in malformed_lines {
        host.send_line(line);
    }
    host.request("ping", json!({}));
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
    let garbage_count =
        host.unclaimed.iter().filter(|message| !message["garbage"].is_null()).count();
    assert_eq!(garbage_count, 0, "nothing but messages on stdout: {:?}", host.unclaimed);
}

#[test]
fn invalid_request_with_an_id_gets_an_error() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    for line in [
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"b","method":"tools/call","params":7}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"no/such/method","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":"d","method":"resources/read"}"#,
    ] {
        host.send_line(line);
    }
    for id in ["a", "b", "c", "d"] {
        assert!(host.wait_for_response(id)["error"]["message"].is_string(), "{id}");
    }
}

/// A lone surrogate, deep nesting, batches and wrong parameter types all get a response.
#[test]
fn borderline_json_gets_a_response() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let lone_surrogate = r#"{"method":"tools/call","params":{"name":"start_debate","arguments":{"topic":"Is \\u it \ud83d?","proposer":"host","challenger":"host"}},"jsonrpc":"2.0","id":"cut"}"#;
    host.send_line(lone_surrogate);
    let result = structured_content(&host.wait_for_response("cut"));
    assert_eq!(result["status"], "your_turn");
    assert!(result["due"]["brief"].as_str().unwrap().contains("\\u it \u{fffd}?"), "{result}");
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{}{}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    host.send_line(&nested);
    assert!(host.wait_for_response("deep")["error"]["message"].is_string());
    host.send_line(r#"[{"jsonrpc":"2.0","id":"x","method":"ping"},{"jsonrpc":"2.0","id":"y","method":"ping"}]"#);
    for id in ["x", "y"] {
        let error = host.wait_for_response(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.contains("one message per line"), "{error}");
    }
    host.send_line(r#"{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"summarize","arguments":[]}}"#);
    assert_eq!(host.wait_for_response("z")["error"]["code"], -32602);
}

/// While another process holds the database lock, pings are answered and the client can leave.
#[test]
fn locked_archive_blocks_no_other_request() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    host.start_solo_debate(json!({}));
    let database = env.open_database();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request_ids: Vec<u64> = (0..4)
        .map(|_| {
            let arguments = json!({"topic": "Locked?", "proposer": "host", "challenger": "host"});
            host.start_tool_call("start_debate", arguments)
        })
        .collect();
    let began = Instant::now();
    host.request("ping", json!({}));
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    let (took, messages) = host.disconnect();
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert!(messages.iter().all(|message| request_ids.iter().all(|id| message["id"] != *id)));
}

/// Pipes and devices are refused as script files.
#[test]
fn script_must_be_a_regular_file() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    for path in ["/dev/zero", "/dev/stdin", "/dev"] {
        let seat = format!("script:{path}");
        let arguments = json!({"topic": "Well?", "proposer": seat, "challenger": "host"});
        assert!(
            host.expect_tool_error("start_debate", arguments).contains("is not a regular file"),
            "{path}"
        );
    }
}

/// An oversized message gets an error with its id, wherever the id is in the line.
#[test]
fn oversized_messages_are_refused() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    for (id, megabytes) in [("first", 5), ("last", 17)] {
        let text = "x".repeat(megabytes * 1024 * 1024);
        let params = format!(
            r#""method":"tools/call","params":{{"name":"start_debate","arguments":{{"topic":"{text}"}}}}"#
        );
        host.send_line(&if id == "first" {
            format!(r#"{{"jsonrpc":"2.0","id":"{id}",{params}}}"#)
        } else {
            format!(r#"{{{params},"jsonrpc":"2.0","id":"{id}"}}"#)
        });
        let error = host.wait_for_response(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.contains("the limit is"), "{error}");
    }
    host.send_line(&"y".repeat(6 * 1024 * 1024));
    let speech = "long ".repeat(60_000);
    let refusal =
        host.expect_tool_error("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert!(refusal.contains("no debate") || refusal.contains("200000"), "{refusal}");
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

#[test]
fn ping_is_answered_during_a_round() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut arguments = slow_debate_args(&env, 400);
    arguments["wait_seconds"] = json!(20);
    let request_id = host.start_tool_call("start_debate", arguments);
    wait_until("the debate has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let began = Instant::now();
    host.request("ping", json!({}));
    host.call_tool("summarize", json!({}));
    assert!(began.elapsed() < Duration::from_millis(300), "{:?}", began.elapsed());
    assert_eq!(structured_content(&host.wait_for_response(request_id))["status"], "paused");
    assert!(host.unclaimed.iter().any(|message| message["method"] == "notifications/progress"));
}

/// A cancelled request gets no response, and the round goes on.
#[test]
fn cancelled_request_leaves_the_debate_running() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut arguments = slow_debate_args(&env, 150);
    arguments["wait_seconds"] = json!(20);
    let request_id = host.start_tool_call("start_debate", arguments);
    wait_until("the debate has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    host.notify("notifications/cancelled", json!({"requestId": request_id, "reason": "enough"}));
    host.notify("notifications/cancelled", json!({"requestId": request_id}));
    wait_until("the round is over", || {
        host.call_tool("summarize", json!({}))["status"] == "paused"
    });
    assert_eq!(host.wait_for_response_within(request_id, Duration::from_millis(50)), None);
    assert_eq!(env.turn_counts(&env.latest_debate_id()).len(), 2);
}

/// The server stops within a second after the client has gone, and releases the lease.
#[test]
fn closed_stdin_stops_the_server() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut arguments = slow_debate_args(&env, 60_000);
    arguments["wait_seconds"] = json!(50);
    let request_id = host.start_tool_call("start_debate", arguments);
    wait_until("the debate has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let (took, messages) = host.disconnect();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let final_result = messages.iter().find(|message| message["id"] == request_id);
    let final_result = structured_content(final_result.expect("the waiting call gets a result"));
    let call = format!("continue_round {{\"debate_id\":{}", final_result["debate_id"]);
    assert!(final_result["next"].as_str().unwrap().contains(&call), "{final_result}");
    // The lease is free, so another server continues at once.
    env.write_script(&SeatScript::new());
    let mut next_client = env.mcp_client();
    assert_eq!(next_client.call_tool("continue_round", json!({}))["status"], "paused");
}

/// SIGTERM stops the server. A client that disconnects without a request is no error.
#[test]
fn signal_stops_the_server() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    host.call_tool("start_debate", slow_debate_args(&env, 60_000));
    host.process().send_signal("TERM");
    wait_until("the server has exited", || host.process().has_exited());
    let client = env.uninitialized_mcp_client(&[]);
    let (took, messages) = client.disconnect();
    assert!(took < Duration::from_secs(1) && messages.is_empty(), "{took:?} {messages:?}");
}

#[test]
fn piped_requests_are_answered_before_exit() {
    let env = TestEnv::new();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("sh")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_models"}}),
    ];
    let lines = lines.map(|line| line.to_string() + "\n").concat();
    let output = env.debate(&["mcp"]).stdin(&lines).expect_success();
    let responses: Vec<Value> = output.json_lines();
    assert!(responses.iter().any(|response| response["id"] == 2 && response["result"].is_object()));
    assert_eq!(output.stderr, "");
}

/// The archive is opened lazily, with the first tool call that needs it.
#[test]
fn initialize_creates_no_files() {
    let env = TestEnv::new();
    let mut host: McpTestClient = env.mcp_client();
    host.request("tools/list", json!({}));
    host.request("prompts/list", json!({}));
    host.disconnect();
    assert!(!env.data_dir().exists() && !env.repo_root().join(".claude").exists());
}
