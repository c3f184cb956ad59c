//! The stdio transport, with what real clients send: unusual order and ids, malformed and oversized
//! messages, cancellation, signals, and a closed stdin.
use crate::host::{Host, hello, result};
use crate::lab::{Lab, Script, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The `_meta` of a request that needs no `initialize` (protocol 2026-07-28).
fn alone() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Arguments for a scripted debate in which every turn has a delay.
fn slow(lab: &Lab, milliseconds: u64) -> Value {
    let mut script = Script::new();
    for phase in ["propose", "challenge", "defend", "follow_up"] {
        let words =
            crate::lab::speech("Slowly.", if phase == "propose" { "P1" } else { "C1" }, &[]);
        script = script.first(json!({"phase": phase, "text": words, "delay_ms": milliseconds}));
    }
    lab.write(&script);
    json!({"topic": "Slow?", "proposer": lab.seat("pro.json"), "challenger": lab.seat("contra.json"),
        "wait_seconds": 0})
}

/// Newer clients send `server/discover` first, with a string as the request id.
#[test]
fn a_client_may_discover_and_then_initialize() {
    let lab = Lab::new();
    let mut host = lab.stranger(&[]);
    host.line(
        &json!({"jsonrpc": "2.0", "id": "discover-1", "method": "server/discover",
            "params": {"_meta": alone()}})
        .to_string(),
    );
    let found = host.answer("discover-1");
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let answer = host.ask("initialize", hello("claude-code"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(host.alone(json!({}))["status"], "your_turn");
}

/// A malformed `server/discover` gets an error, and `initialize` still works afterwards.
#[test]
fn a_bad_discovery_is_answered_at_once() {
    let lab = Lab::new();
    let mut host = lab.stranger(&[]);
    host.line(r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{}}"#);
    assert!(host.answer("d")["error"]["code"].is_i64());
    host.ask("initialize", hello("copilot-cli"));
    assert_eq!(host.alone(json!({}))["status"], "your_turn");
}

/// In protocol 2026-07-28 every request carries the client's name and version itself.
#[test]
fn a_client_need_not_say_hello() {
    let lab = Lab::new();
    let mut host = lab.stranger(&[]);
    let arguments = json!({"topic": "One file?", "proposer": "host", "challenger": "host"});
    let call = json!({"name": "start_debate", "arguments": arguments, "_meta": alone()});
    let first = result(&host.ask("tools/call", call));
    assert_eq!(first["status"], "your_turn");
    let listed = host.ask("tools/list", json!({"_meta": alone()}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 7);
    host.hang_up();
    assert!(lab.root().join(".codex/debate/last-debate.json").exists());
}

/// Lines that are no valid request are ignored, before and after `initialize`.
#[test]
fn rubbish_is_survived() {
    let lab = Lab::new();
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
    let mut host = lab.stranger(&[]);
    for line in rubbish {
        host.line(line);
    }
    host.ask("initialize", hello("claude-code"));
    for line in rubbish {
        host.line(line);
    }
    host.ask("ping", json!({}));
    assert_eq!(host.alone(json!({}))["status"], "your_turn");
    let said = host.aside.iter().filter(|message| !message["garbage"].is_null()).count();
    assert_eq!(said, 0, "nothing but messages on stdout: {:?}", host.aside);
}

#[test]
fn what_cannot_be_read_is_answered_if_it_has_an_id() {
    let lab = Lab::new();
    let mut host = lab.host();
    for line in [
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"b","method":"tools/call","params":7}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"no/such/method","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":"d","method":"resources/read"}"#,
    ] {
        host.line(line);
    }
    for id in ["a", "b", "c", "d"] {
        assert!(host.answer(id)["error"]["message"].is_string(), "{id}");
    }
}

/// A lone surrogate, deep nesting, batches and wrong parameter types all get a response.
#[test]
fn what_is_hardly_json_is_answered() {
    let lab = Lab::new();
    let mut host = lab.host();
    let cut = r#"{"method":"tools/call","params":{"name":"start_debate","arguments":{"topic":"Is \\u it \ud83d?","proposer":"host","challenger":"host"}},"jsonrpc":"2.0","id":"cut"}"#;
    host.line(cut);
    let stands = result(&host.answer("cut"));
    assert_eq!(stands["status"], "your_turn");
    assert!(stands["due"]["brief"].as_str().unwrap().contains("\\u it \u{fffd}?"), "{stands}");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{}{}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    host.line(&deep);
    assert!(host.answer("deep")["error"]["message"].is_string());
    host.line(r#"[{"jsonrpc":"2.0","id":"x","method":"ping"},{"jsonrpc":"2.0","id":"y","method":"ping"}]"#);
    for id in ["x", "y"] {
        let why = host.answer(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("one message a line"), "{why}");
    }
    host.line(r#"{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"summarize","arguments":[]}}"#);
    assert_eq!(host.answer("z")["error"]["code"], -32602);
}

/// While another process holds the database lock, pings are answered and the client can leave.
#[test]
fn a_locked_archive_holds_up_nobody_else() {
    let lab = Lab::new();
    let mut host = lab.host();
    host.alone(json!({}));
    let locked = lab.database();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting: Vec<u64> = (0..4)
        .map(|_| {
            let arguments = json!({"topic": "Locked?", "proposer": "host", "challenger": "host"});
            host.begin("start_debate", arguments)
        })
        .collect();
    let began = Instant::now();
    host.ask("ping", json!({}));
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    let (took, said) = host.hang_up();
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert!(said.iter().all(|message| waiting.iter().all(|id| message["id"] != *id)));
}

/// Pipes and devices are refused as script files.
#[test]
fn a_script_is_a_file() {
    let lab = Lab::new();
    let mut host = lab.host();
    for path in ["/dev/zero", "/dev/stdin", "/dev"] {
        let seat = format!("script:{path}");
        let arguments = json!({"topic": "Well?", "proposer": seat, "challenger": "host"});
        assert!(host.fails("start_debate", arguments).contains("is no file"), "{path}");
    }
}

/// An oversized message gets an error with its id, wherever the id is in the line.
#[test]
fn floods_are_refused() {
    let lab = Lab::new();
    let mut host = lab.host();
    for (id, megabytes) in [("first", 5), ("last", 17)] {
        let text = "x".repeat(megabytes * 1024 * 1024);
        let params = format!(
            r#""method":"tools/call","params":{{"name":"start_debate","arguments":{{"topic":"{text}"}}}}"#
        );
        host.line(&if id == "first" {
            format!(r#"{{"jsonrpc":"2.0","id":"{id}",{params}}}"#)
        } else {
            format!(r#"{{{params},"jsonrpc":"2.0","id":"{id}"}}"#)
        });
        let why = host.answer(id)["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("at most"), "{why}");
    }
    host.line(&"y".repeat(6 * 1024 * 1024));
    let speech = "long ".repeat(60_000);
    let refused = host.fails("continue_round", json!({"turn": "0.1.0.0", "speech": speech}));
    assert!(refused.contains("no debate") || refused.contains("200000"), "{refused}");
    assert_eq!(host.alone(json!({}))["status"], "your_turn");
}

#[test]
fn a_ping_is_answered_while_others_speak() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut arguments = slow(&lab, 400);
    arguments["wait_seconds"] = json!(20);
    let round = host.begin("start_debate", arguments);
    until("it has begun", || {
        host.call("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let began = Instant::now();
    host.ask("ping", json!({}));
    host.call("summarize", json!({}));
    assert!(began.elapsed() < Duration::from_millis(300), "{:?}", began.elapsed());
    assert_eq!(result(&host.answer(round))["status"], "paused");
    assert!(host.aside.iter().any(|news| news["method"] == "notifications/progress"));
}

/// A cancelled request gets no response, and the round goes on.
#[test]
fn cancelling_stops_the_waiting_and_not_the_work() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut arguments = slow(&lab, 150);
    arguments["wait_seconds"] = json!(20);
    let round = host.begin("start_debate", arguments);
    until("it has begun", || {
        host.call("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    host.notify("notifications/cancelled", json!({"requestId": round, "reason": "enough"}));
    host.notify("notifications/cancelled", json!({"requestId": round}));
    until("the round is over", || host.call("summarize", json!({}))["status"] == "paused");
    assert_eq!(host.answer_within(round, Duration::from_millis(50)), None);
    assert_eq!(lab.turns_taken(&lab.last()).len(), 2);
}

/// The server stops within a second after the client has gone, and releases the lease.
#[test]
fn the_end_of_stdin_ends_the_work() {
    let lab = Lab::new();
    let mut host = lab.host();
    let mut arguments = slow(&lab, 60_000);
    arguments["wait_seconds"] = json!(50);
    let waiting = host.begin("start_debate", arguments);
    until("it has begun", || {
        host.call("list_debates", json!({}))["debates"].as_array().unwrap().len() == 1
    });
    let (took, last) = host.hang_up();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let farewell = last.iter().find(|message| message["id"] == waiting);
    let farewell = result(farewell.expect("whoever still reads is told"));
    let call = format!("continue_round {{\"debate_id\":{}", farewell["debate_id"]);
    assert!(farewell["next"].as_str().unwrap().contains(&call), "{farewell}");
    // The lease is free, so another server continues at once.
    lab.write(&Script::new());
    let mut next = lab.host();
    assert_eq!(next.call("continue_round", json!({}))["status"], "paused");
}

/// SIGTERM stops the server. A client that disconnects without a request is no error.
#[test]
fn a_signal_ends_the_server() {
    let lab = Lab::new();
    let mut host = lab.host();
    host.call("start_debate", slow(&lab, 60_000));
    host.running().signal("TERM");
    until("it is over", || host.running().is_over());
    let silent = lab.stranger(&[]);
    let (took, said) = silent.hang_up();
    assert!(took < Duration::from_secs(1) && said.is_empty(), "{took:?} {said:?}");
}

#[test]
fn a_script_may_pipe_its_requests_in() {
    let lab = Lab::new();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello("sh")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_models"}}),
    ];
    let lines = lines.map(|line| line.to_string() + "\n").concat();
    let done = lab.debate(&["mcp"]).stdin(&lines).success();
    let answers: Vec<Value> = done.lines();
    assert!(answers.iter().any(|answer| answer["id"] == 2 && answer["result"].is_object()));
    assert_eq!(done.err, "");
}

/// The archive is opened lazily, with the first tool call that needs it.
#[test]
fn saying_hello_touches_no_file() {
    let lab = Lab::new();
    let mut host: Host = lab.host();
    host.ask("tools/list", json!({}));
    host.ask("prompts/list", json!({}));
    host.hang_up();
    assert!(!lab.home().exists() && !lab.root().join(".claude").exists());
}
