//! MCP test client: speaks JSON-RPC with the real server over stdin and stdout, line by line. It
//! uses no SDK, so that tests can also send malformed requests.
use crate::lab::{Call, Lab, Running, checks, speech};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A connected MCP client with its server process.
pub(crate) struct Host {
    running: Running,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    /// Messages not yet claimed: notifications, and responses to other requests.
    pub(crate) aside: Vec<Value>,
    last: u64,
}

/// Default timeout for a response.
const PATIENCE: Duration = Duration::from_secs(20);

impl Lab {
    /// An initialized client named `claude-code`.
    pub(crate) fn host(&self) -> Host {
        self.host_called("claude-code")
    }

    /// An initialized client with this name.
    pub(crate) fn host_called(&self, name: &str) -> Host {
        let mut host = self.stranger(&[]);
        let answer = host.ask("initialize", hello(name));
        assert_eq!(answer["result"]["serverInfo"]["name"], "debate", "{answer}");
        host.notify("notifications/initialized", json!({}));
        host
    }

    /// An initialized client whose server runs in another folder.
    pub(crate) fn host_in(&self, folder: &Path) -> Host {
        let mut host = connect(self.debate(&["mcp"]).folder(folder));
        host.ask("initialize", hello("claude-code"));
        host
    }

    /// A client that has not sent `initialize` yet, with extra environment variables.
    pub(crate) fn stranger(&self, env: &[(&str, &str)]) -> Host {
        let server = self.debate(&["mcp"]);
        connect(env.iter().fold(server, |server, (name, value)| server.env(name, value)))
    }
}

fn connect(server: Call) -> Host {
    let mut child = server.command();
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Host::of(Running::new(child.spawn().unwrap()))
}

/// Parameters of the `initialize` request.
pub(crate) fn hello(name: &str) -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}})
}

impl Host {
    fn of(mut running: Running) -> Host {
        let (stdin, stdout) = running.streams();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line);
                let value = value.unwrap_or_else(|_| json!({ "garbage": line }));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        Host { running, stdin: Some(stdin), lines, aside: vec![], last: 0 }
    }

    /// Sends a raw line.
    pub(crate) fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it was hung up");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request without waiting and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.line(&message.to_string());
        id
    }

    /// Waits for the response to a request. Panics after the default timeout.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        self.answer_within(id, PATIENCE).expect("no answer came in time")
    }

    /// Waits for the response to a request. `None` on timeout.
    pub(crate) fn answer_within(&mut self, id: impl Into<Value>, time: Duration) -> Option<Value> {
        let id = id.into();
        if let Some(at) = self.aside.iter().position(|message| message["id"] == id) {
            return Some(self.aside.remove(at));
        }
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).ok()?;
            if message["id"] == id {
                return Some(message);
            }
            self.aside.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Sends a `tools/call` request without waiting and returns its id.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send(
            "tools/call",
            json!({"name": tool, "arguments": arguments,
            "_meta": {"progressToken": format!("of {tool}")}}),
        )
    }

    /// Calls a tool that must succeed and returns its structured content.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        result(&answer)
    }

    /// Calls a tool and kills the server at this instant. `None` if no response came before.
    pub(crate) fn call_until(
        &mut self,
        tool: &str,
        arguments: Value,
        dies: Instant,
    ) -> Option<Value> {
        let id = self.begin(tool, arguments);
        let left = dies.saturating_duration_since(Instant::now());
        let answer = self.answer_within(id, left);
        if answer.is_none() {
            self.running.signal("KILL");
        }
        answer.map(|answer| result(&answer))
    }

    /// Calls a tool that must fail and returns the error text.
    #[track_caller]
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Starts a debate in which the host plays every seat.
    #[track_caller]
    pub(crate) fn alone(&mut self, more: Value) -> Value {
        let mut arguments = json!({"topic": "One file or many?", "proposer": "host",
            "challenger": "host", "judge": "host"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("start_debate", arguments)
    }

    /// Answers every turn due from the host until none is.
    #[track_caller]
    pub(crate) fn play_on(&mut self, mut stands: Value) -> Value {
        while let Some((tool, arguments)) = due(&stands) {
            stands = self.call(tool, arguments);
        }
        stands
    }

    /// Closes stdin. Returns the time until the server exits, and the unclaimed messages.
    pub(crate) fn hang_up(mut self) -> (Duration, Vec<Value>) {
        let began = Instant::now();
        drop(self.stdin.take());
        while !self.running.is_over() {
            assert!(began.elapsed() < PATIENCE, "the server goes on without a client");
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = began.elapsed();
        self.aside.extend(self.lines.try_iter());
        (took, std::mem::take(&mut self.aside))
    }

    pub(crate) fn running(&mut self) -> &mut Running {
        &mut self.running
    }
}

/// Structured content of a successful tool response.
#[track_caller]
pub(crate) fn result(answer: &Value) -> Value {
    assert_ne!(answer["result"]["isError"], true, "{answer:#}");
    let data = answer["result"]["structuredContent"].clone();
    assert!(data.is_object(), "{answer:#}");
    data
}

/// The tool call a result asks the host for. `None` if nothing is due from it.
pub(crate) fn due(stands: &Value) -> Option<(&'static str, Value)> {
    let due = stands.get("due")?;
    let (id, turn) = (&stands["debate_id"], &due["turn"]);
    let own = json!({"debate_id": id, "turn": turn});
    let with = |name: &str, value: Value| {
        let mut call = own.clone();
        call[name] = value;
        call
    };
    // A role played by a person has a suffix in brackets.
    Some(match due["role"].as_str()?.split(" (").next()? {
        "user" => ("continue_round", own),
        "Judge" => ("verdict", with("ruling", ruling())),
        "Scribe" => ("continue_round", with("speech", minutes().into())),
        role => ("continue_round", with("speech", said(role, &stands["round"]).into())),
    })
}

/// A speech that satisfies the rules of any round.
pub(crate) fn said(role: &str, round: &Value) -> String {
    let round = round.as_u64().unwrap();
    match (role, round) {
        ("Proposer", 1) => speech("Use one file.", "P1", &[]),
        ("Proposer", n) => speech(&format!("The lock is short, {n}."), "P1", &["C1"]),
        (_, n) => speech(&format!("One file locks, {n}."), "C1", &["P1"]),
    }
}

/// A ruling that satisfies the judge's schema.
pub(crate) fn ruling() -> Value {
    json!({"winner": "A", "confidence": 0.7, "reasoning": "It was shown in T1.", "cites": ["T1"],
        "recommendation": "Use one file and measure the lock.", "checks": checks()})
}

fn minutes() -> &'static str {
    "## Minutes\n\nOpen: P1, C1."
}
