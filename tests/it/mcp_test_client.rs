//! MCP test client: speaks JSON-RPC with the real server over stdin and stdout, line by line. It
//! uses no SDK, so that tests can also send malformed requests.
use crate::test_env::{
    DebateCommand, RunningProcess, TestEnv, claim_checks_json, speech_with_claim,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A connected MCP client with its server process.
pub(crate) struct McpTestClient {
    process: RunningProcess,
    stdin: Option<ChildStdin>,
    messages: mpsc::Receiver<Value>,
    /// Messages not yet claimed: notifications, and responses to other requests.
    pub(crate) unclaimed: Vec<Value>,
    last_id: u64,
}

/// Default timeout for a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

impl TestEnv {
    /// An initialized client named `claude-code`.
    pub(crate) fn mcp_client(&self) -> McpTestClient {
        self.mcp_client_named("claude-code")
    }

    /// An initialized client with this name.
    pub(crate) fn mcp_client_named(&self, name: &str) -> McpTestClient {
        let mut host = self.uninitialized_mcp_client(&[]);
        let response = host.request("initialize", initialize_params(name));
        assert_eq!(response["result"]["serverInfo"]["name"], "debate", "{response}");
        host.notify("notifications/initialized", json!({}));
        host
    }

    /// An initialized client whose server runs in another folder.
    pub(crate) fn mcp_client_in(&self, folder: &Path) -> McpTestClient {
        let mut host = spawn_client(self.debate(&["mcp"]).current_dir(folder));
        host.request("initialize", initialize_params("claude-code"));
        host
    }

    /// A client that has not sent `initialize` yet, with extra environment variables.
    pub(crate) fn uninitialized_mcp_client(&self, env: &[(&str, &str)]) -> McpTestClient {
        let server = self.debate(&["mcp"]);
        spawn_client(env.iter().fold(server, |server, (name, value)| server.env(name, value)))
    }
}

fn spawn_client(server: DebateCommand) -> McpTestClient {
    let mut child = server.into_command();
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    McpTestClient::from_process(RunningProcess::new(child.spawn().unwrap()))
}

/// Parameters of the `initialize` request.
pub(crate) fn initialize_params(name: &str) -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}})
}

impl McpTestClient {
    fn from_process(mut process: RunningProcess) -> McpTestClient {
        let (stdin, stdout) = process.take_stdio();
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line);
                let value = value.unwrap_or_else(|_| json!({ "garbage": line }));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        McpTestClient { process, stdin: Some(stdin), messages, unclaimed: vec![], last_id: 0 }
    }

    /// Sends a raw line.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is closed");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request without waiting and returns its id.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_line(&message.to_string());
        id
    }

    /// Waits for the response to a request. Panics after the default timeout.
    #[track_caller]
    pub(crate) fn wait_for_response(&mut self, id: impl Into<Value>) -> Value {
        self.wait_for_response_within(id, RESPONSE_TIMEOUT).expect("no response in time")
    }

    /// Waits for the response to a request. `None` on timeout.
    pub(crate) fn wait_for_response_within(
        &mut self,
        id: impl Into<Value>,
        timeout: Duration,
    ) -> Option<Value> {
        let id = id.into();
        if let Some(index) = self.unclaimed.iter().position(|message| message["id"] == id) {
            return Some(self.unclaimed.remove(index));
        }
        let deadline = Instant::now() + timeout;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(remaining).ok()?;
            if message["id"] == id {
                return Some(message);
            }
            self.unclaimed.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        self.wait_for_response(id)
    }

    /// Sends a `tools/call` request without waiting and returns its id.
    pub(crate) fn start_tool_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send_request(
            "tools/call",
            json!({"name": tool, "arguments": arguments,
            "_meta": {"progressToken": format!("of {tool}")}}),
        )
    }

    /// Calls a tool that must succeed and returns its structured content.
    #[track_caller]
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.start_tool_call(tool, arguments);
        let response = self.wait_for_response(id);
        structured_content(&response)
    }

    /// Calls a tool and kills the server at this instant. `None` if no response came before.
    pub(crate) fn call_tool_or_kill(
        &mut self,
        tool: &str,
        arguments: Value,
        kill_at: Instant,
    ) -> Option<Value> {
        let id = self.start_tool_call(tool, arguments);
        let remaining = kill_at.saturating_duration_since(Instant::now());
        let response = self.wait_for_response_within(id, remaining);
        if response.is_none() {
            self.process.send_signal("KILL");
        }
        response.map(|response| structured_content(&response))
    }

    /// Calls a tool that must fail and returns the error text.
    #[track_caller]
    pub(crate) fn expect_tool_error(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.start_tool_call(tool, arguments);
        let response = self.wait_for_response(id);
        assert_eq!(response["result"]["isError"], true, "{response:#}");
        response["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Starts a debate in which the host plays every seat.
    #[track_caller]
    pub(crate) fn start_solo_debate(&mut self, extra_args: Value) -> Value {
        let mut arguments = json!({"topic": "One file or many?", "proposer": "host",
            "challenger": "host", "judge": "host"});
        arguments.as_object_mut().unwrap().extend(extra_args.as_object().unwrap().clone());
        self.call_tool("start_debate", arguments)
    }

    /// Answers every turn due from the host until none is.
    #[track_caller]
    pub(crate) fn play_to_end(&mut self, mut result: Value) -> Value {
        while let Some((tool, arguments)) = due_tool_call(&result) {
            result = self.call_tool(tool, arguments);
        }
        result
    }

    /// Closes stdin. Returns the time until the server exits, and the unclaimed messages.
    pub(crate) fn disconnect(mut self) -> (Duration, Vec<Value>) {
        let began = Instant::now();
        drop(self.stdin.take());
        while !self.process.has_exited() {
            assert!(began.elapsed() < RESPONSE_TIMEOUT, "the server still runs without a client");
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = began.elapsed();
        self.unclaimed.extend(self.messages.try_iter());
        (took, std::mem::take(&mut self.unclaimed))
    }

    pub(crate) fn process(&mut self) -> &mut RunningProcess {
        &mut self.process
    }
}

/// Structured content of a successful tool response.
#[track_caller]
pub(crate) fn structured_content(response: &Value) -> Value {
    assert_ne!(response["result"]["isError"], true, "{response:#}");
    let data = response["result"]["structuredContent"].clone();
    assert!(data.is_object(), "{response:#}");
    data
}

/// The tool call a result asks the host for. `None` if nothing is due from it.
pub(crate) fn due_tool_call(result: &Value) -> Option<(&'static str, Value)> {
    let due = result.get("due")?;
    let (id, turn) = (&result["debate_id"], &due["turn"]);
    let arguments = json!({"debate_id": id, "turn": turn});
    let with_field = |name: &str, value: Value| {
        let mut call = arguments.clone();
        call[name] = value;
        call
    };
    // A role played by a person has a suffix in brackets.
    Some(match due["role"].as_str()?.split(" (").next()? {
        "user" => ("continue_round", arguments),
        "Judge" => ("verdict", with_field("ruling", host_ruling())),
        "Scribe" => ("continue_round", with_field("speech", scribe_minutes().into())),
        role => {
            ("continue_round", with_field("speech", host_speech(role, &result["round"]).into()))
        }
    })
}

/// A speech that satisfies the rules of any round.
pub(crate) fn host_speech(role: &str, round: &Value) -> String {
    let round = round.as_u64().unwrap();
    match (role, round) {
        ("Proposer", 1) => speech_with_claim("Use one file.", "P1", &[]),
        ("Proposer", n) => speech_with_claim(&format!("The lock is short, {n}."), "P1", &["C1"]),
        (_, n) => speech_with_claim(&format!("One file locks, {n}."), "C1", &["P1"]),
    }
}

/// A ruling that satisfies the judge's schema.
pub(crate) fn host_ruling() -> Value {
    json!({"winner": "A", "confidence": 0.7, "reasoning": "It was shown in T1.", "cites": ["T1"],
        "recommendation": "Use one file and measure the lock.", "checks": claim_checks_json()})
}

fn scribe_minutes() -> &'static str {
    "## Minutes\n\nOpen: P1, C1."
}
