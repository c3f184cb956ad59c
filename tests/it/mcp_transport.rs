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
fn slow_debate_args(lab: &TestEnv, milliseconds: u64) -> Value {
    let mut script = SeatScript::new();
    for phase in ["propose", "challenge", "defend", "follow_up"] {
        let words = crate::test_env::speech_with_claim(
            "Slowly.",
            if phase == "propose" { "P1" } else { "C1" },
            &[],
        );
        script = script.prepend(json!({"phase": phase, "text": words, "delay_ms": milliseconds}));
    }
    lab.write_script(&script);
    json!({"topic": "Slow?", "proposer": lab.script_seat("pro.json"), "challenger": lab.script_seat("contra.json"),
        "wait_seconds": 0})
}

/// Newer clients send `server/discover` first, with a string as the request id.
#[test]
fn client_can_discover_then_initialize() {
    let lab = TestEnv::new();
    let mut host = lab.uninitialized_mcp_client(&[]);
    host.send_line(
        &json!({"jsonrpc": "2.0", "id": "discover-1", "method": "server/discover",
            "params": {"_meta": stateless_request_meta()}})
        .to_string(),
    );
    let found = host.wait_for_response("discover-1");
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let answer = host.request("initialize", initialize_params("claude-code"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

/// A malformed `server/discover` gets an error, and `initialize` still works afterwards.
#[test]
fn invalid_discovery_gets_an_error() {
    let lab = TestEnv::new();
    let mut host = lab.uninitialized_mcp_client(&[]);
    host.send_line(r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{}}"#);
    assert!(host.wait_for_response("d")["error"]["code"].is_i64());
    host.request("initialize", initialize_params("copilot-cli"));
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

/// In protocol 2026-07-28 every request carries the client's name and version itself.
#[test]
fn stateless_request_needs_no_initialize() {
    let lab = TestEnv::new();
    let mut host = lab.uninitialized_mcp_client(&[]);
    let arguments = json!({"topic": "One file?", "proposer": "host", "challenger": "host"});
    let call =
        json!({"name": "start_debate", "arguments": arguments, "_meta": stateless_request_meta()});
    let first = structured_content(&host.request("tools/call", call));
    assert_eq!(first["status"], "your_turn");
    let listed = host.request("tools/list", json!({"_meta": stateless_request_meta()}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 7);
    host.disconnect();
    assert!(lab.repo_root().join(".codex/debate/last-debate.json").exists());
}

/// Lines that are no valid request are ignored, before and after `initialize`.
#[test]
fn malformed_messages_do_not_end_the_server() {
    let lab = TestEnv::new();
    let rubbish = [
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
    let mut host = lab.uninitialized_mcp_client(&[]);
    for line in rubbish {
        host.send_line(line);
    }
    host.request("initialize", initialize_params("claude-code"));
    for line in rubbish {
        host.send_line(line);
    }
    host.request("ping", json!({}));
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
    let said = host.unclaimed.iter().filter(|message| !message["garbage"].is_null()).count();
    assert_eq!(said, 0, "nothing but messages on stdout: {:?}", host.unclaimed);
}

#[test]
fn invalid_request_with_an_id_gets_an_error() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
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
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let cut = r#"{"method":"tools/call","params":{"name":"start_debate","arguments":{"topic":"Is \\u it \ud83d?","proposer":"host","challenger":"host"}},"jsonrpc":"2.0","id":"cut"}"#;
    host.send_line(cut);
    let stands = structured_content(&host.wait_for_response("cut"));
    assert_eq!(stands["status"], "your_turn");
    assert!(stands["due"]["brief"].as_str().unwrap().contains("\\u it \u{fffd}?"), "{stands}");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{}{}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    host.send_line(&deep);
    assert!(host.wait_for_response("deep")["error"]["message"].is_string());
    host.send_line(r#"[{"jsonrpc":"2.0","id":"x","method":"ping"},{"jsonrpc":"2.0","id":"y","method":"ping"}]"#);
    for id in ["x", "y"] {
        let why = host.wait_for_response(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("one message a line"), "{why}");
    }
    host.send_line(r#"{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"summarize","arguments":[]}}"#);
    assert_eq!(host.wait_for_response("z")["error"]["code"], -32602);
}

/// While another process holds the database lock, pings are answered and the client can leave.
#[test]
fn locked_archive_blocks_no_other_request() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    host.start_solo_debate(json!({}));
    let locked = lab.open_database();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting: Vec<u64> = (0..4)
        .map(|_| {
            let arguments = json!({"topic": "Locked?", "proposer": "host", "challenger": "host"});
            host.start_tool_call("start_debate", arguments)
        })
        .collect();
    let began = Instant::now();
    host.request("ping", json!({}));
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    let (took, said) = host.disconnect();
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert!(said.iter().all(|message| waiting.iter().all(|id| message["id"] != *id)));
}

/// Pipes and devices are refused as script files.
#[test]
fn script_must_be_a_regular_file() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    for path in ["/dev/zero", "/dev/stdin", "/dev"] {
        let seat = format!("script:{path}");
        let arguments = json!({"topic": "Well?", "proposer": seat, "challenger": "host"});
        assert!(host.expect_tool_error("start_debate", arguments).contains("is no file"), "{path}");
    }
}

/// An oversized message gets an error with its id, wherever the id is in the line.
#[test]
fn oversized_messages_are_refused() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
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
        let why = host.wait_for_response(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("at most"), "{why}");
    }
    host.send_line(&"y".repeat(6 * 1024 * 1024));
    let speech = "long ".repeat(60_000);
    let refused =
        host.expect_tool_error("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert!(refused.contains("no debate") || refused.contains("200000"), "{refused}");
    assert_eq!(host.start_solo_debate(json!({}))["status"], "your_turn");
}

#[test]
fn ping_is_answered_during_a_round() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut arguments = slow_debate_args(&lab, 400);
    arguments["wait_seconds"] = json!(20);
    let round = host.start_tool_call("start_debate", arguments);
    wait_until("it has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let began = Instant::now();
    host.request("ping", json!({}));
    host.call_tool("summarize", json!({}));
    assert!(began.elapsed() < Duration::from_millis(300), "{:?}", began.elapsed());
    assert_eq!(structured_content(&host.wait_for_response(round))["status"], "paused");
    assert!(host.unclaimed.iter().any(|news| news["method"] == "notifications/progress"));
}

/// A cancelled request gets no response, and the round goes on.
#[test]
fn cancelled_request_leaves_the_debate_running() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut arguments = slow_debate_args(&lab, 150);
    arguments["wait_seconds"] = json!(20);
    let round = host.start_tool_call("start_debate", arguments);
    wait_until("it has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    host.notify("notifications/cancelled", json!({"requestId": round, "reason": "enough"}));
    host.notify("notifications/cancelled", json!({"requestId": round}));
    wait_until("the round is over", || {
        host.call_tool("summarize", json!({}))["status"] == "paused"
    });
    assert_eq!(host.wait_for_response_within(round, Duration::from_millis(50)), None);
    assert_eq!(lab.turn_counts(&lab.latest_debate_id()).len(), 2);
}

/// The server stops within a second after the client has gone, and releases the lease.
#[test]
fn closed_stdin_stops_the_server() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    let mut arguments = slow_debate_args(&lab, 60_000);
    arguments["wait_seconds"] = json!(50);
    let waiting = host.start_tool_call("start_debate", arguments);
    wait_until("it has begun", || {
        host.call_tool("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let (took, last) = host.disconnect();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let farewell = last.iter().find(|message| message["id"] == waiting);
    let farewell = structured_content(farewell.expect("whoever still reads is told"));
    let call = format!("continue_round {{\"debate_id\":{}", farewell["debate_id"]);
    assert!(farewell["next"].as_str().unwrap().contains(&call), "{farewell}");
    // The lease is free, so another server continues at once.
    lab.write_script(&SeatScript::new());
    let mut next = lab.mcp_client();
    assert_eq!(next.call_tool("continue_round", json!({}))["status"], "paused");
}

/// SIGTERM stops the server. A client that disconnects without a request is no error.
#[test]
fn signal_stops_the_server() {
    let lab = TestEnv::new();
    let mut host = lab.mcp_client();
    host.call_tool("start_debate", slow_debate_args(&lab, 60_000));
    host.process().send_signal("TERM");
    wait_until("it is over", || host.process().has_exited());
    let silent = lab.uninitialized_mcp_client(&[]);
    let (took, said) = silent.disconnect();
    assert!(took < Duration::from_secs(1) && said.is_empty(), "{took:?} {said:?}");
}

#[test]
fn piped_requests_are_answered_before_exit() {
    let lab = TestEnv::new();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("sh")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_models"}}),
    ];
    let lines = lines.map(|line| line.to_string() + "\n").concat();
    let done = lab.debate(&["mcp"]).stdin(&lines).expect_success();
    let answers: Vec<Value> = done.json_lines();
    assert!(answers.iter().any(|answer| answer["id"] == 2 && answer["result"].is_object()));
    assert_eq!(done.stderr, "");
}

/// The archive is opened lazily, with the first tool call that needs it.
#[test]
fn initialize_creates_no_files() {
    let lab = TestEnv::new();
    let mut host: McpTestClient = lab.mcp_client();
    host.request("tools/list", json!({}));
    host.request("prompts/list", json!({}));
    host.disconnect();
    assert!(!lab.data_dir().exists() && !lab.repo_root().join(".claude").exists());
}
