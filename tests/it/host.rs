//! A client of the real server: it speaks JSON-RPC on the server's stdin and stdout, line by line,
//! as plainly as the protocol allows, so that it can also misbehave.
use crate::lab::{Call, Lab, Running, checks, speech};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A connected client.
pub(crate) struct Host {
    running: Running,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    /// What came that nobody was waiting for: notifications, and answers to others.
    pub(crate) aside: Vec<Value>,
    last: u64,
}

/// No answer takes longer than this, unless it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

impl Lab {
    /// A client that has introduced itself as Claude Code.
    pub(crate) fn host(&self) -> Host {
        self.host_called("claude-code")
    }

    /// A client that has introduced itself.
    pub(crate) fn host_called(&self, name: &str) -> Host {
        let mut host = self.stranger(&[]);
        let answer = host.ask("initialize", hello(name));
        assert_eq!(answer["result"]["serverInfo"]["name"], "debate", "{answer}");
        host.notify("notifications/initialized", json!({}));
        host
    }

    /// A client that works in another folder.
    pub(crate) fn host_in(&self, folder: &Path) -> Host {
        let mut host = connect(self.debate(&["mcp"]).folder(folder));
        host.ask("initialize", hello("claude-code"));
        host
    }

    /// A client that has said nothing yet.
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

/// What a client says first.
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

    /// A line, as it is.
    pub(crate) fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it was hung up");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and does not wait; its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.line(&message.to_string());
        id
    }

    /// The answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        self.answer_within(id, PATIENCE).expect("no answer came in time")
    }

    /// The answer to a request, if it comes in time.
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

    /// Calls a tool and does not wait.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send(
            "tools/call",
            json!({"name": tool, "arguments": arguments,
            "_meta": {"progressToken": format!("of {tool}")}}),
        )
    }

    /// Calls a tool that does as it is asked; what it answers, as data.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        result(&answer)
    }

    /// Calls a tool of a server that is killed at this instant; nothing, if that came first.
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

    /// Calls a tool that does not; what a model reads of that.
    #[track_caller]
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// A debate in which the host plays everybody.
    #[track_caller]
    pub(crate) fn alone(&mut self, more: Value) -> Value {
        let mut arguments = json!({"topic": "One file or many?", "proposer": "host",
            "challenger": "host", "judge": "host"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("start_debate", arguments)
    }

    /// Does what is due, as whoever is asked, until nothing is.
    #[track_caller]
    pub(crate) fn play_on(&mut self, mut stands: Value) -> Value {
        while let Some((tool, arguments)) = due(&stands) {
            stands = self.call(tool, arguments);
        }
        stands
    }

    /// The client goes away; how long the server outlives it.
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

/// The data of an answer that is no error.
#[track_caller]
pub(crate) fn result(answer: &Value) -> Value {
    assert_ne!(answer["result"]["isError"], true, "{answer:#}");
    let data = answer["result"]["structuredContent"].clone();
    assert!(data.is_object(), "{answer:#}");
    data
}

/// The call that a result asks a host for; none, if it is over or others are at work.
pub(crate) fn due(stands: &Value) -> Option<(&'static str, Value)> {
    let due = stands.get("due")?;
    let (id, turn) = (&stands["debate_id"], &due["turn"]);
    let own = json!({"debate_id": id, "turn": turn});
    let with = |name: &str, value: Value| {
        let mut call = own.clone();
        call[name] = value;
        call
    };
    // A person is asked in brackets.
    Some(match due["role"].as_str()?.split(" (").next()? {
        "user" => ("continue_round", own),
        "Judge" => ("verdict", with("ruling", ruling())),
        "Scribe" => ("continue_round", with("speech", minutes().into())),
        role => ("continue_round", with("speech", said(role, &stands["round"]).into())),
    })
}

/// A speech that fulfils the rules in any round.
pub(crate) fn said(role: &str, round: &Value) -> String {
    let round = round.as_u64().unwrap();
    match (role, round) {
        ("Proposer", 1) => speech("Use one file.", "P1", &[]),
        ("Proposer", n) => speech(&format!("The lock is short, {n}."), "P1", &["C1"]),
        (_, n) => speech(&format!("One file locks, {n}."), "C1", &["P1"]),
    }
}

/// A ruling as its brief asks for.
pub(crate) fn ruling() -> Value {
    json!({"winner": "A", "confidence": 0.7, "reasoning": "It was shown in T1.", "cites": ["T1"],
        "recommendation": "Use one file and measure the lock.", "checks": checks()})
}

fn minutes() -> &'static str {
    "## Minutes\n\nOpen: P1, C1."
}
