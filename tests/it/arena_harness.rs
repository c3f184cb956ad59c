//! Arena test harness: runs `debate serve` as a process (`ArenaProcess`) and sends raw HTTP/1.1
//! requests to it, as bots do.
use crate::test_env::{RunningProcess, SeatScript, TestEnv};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Running `debate serve` process.
pub(crate) struct ArenaProcess {
    pub(crate) address: String,
    pub(crate) startup_json: Value,
    process: Option<RunningProcess>,
}

/// HTTP response. Headers are in lower case, and the body is parsed if it is JSON.
#[derive(Clone, Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// Bot that has joined a debate, with its credentials.
#[derive(Clone, Debug)]
pub(crate) struct ArenaBot {
    pub(crate) debate_id: String,
    pub(crate) identifier: String,
    pub(crate) key: String,
}

/// Speech with this text, above the minimum length.
pub(crate) fn long_speech(text: &str) -> String {
    format!(
        "**{text}**\n\nHonourable judge: first, second, and finally, this is long enough. {text}."
    )
}

/// Judge reply with rubric scores for the five criteria.
pub(crate) fn judge_reply(winner: &str) -> Value {
    let criteria = |points: [u8; 5]| {
        json!({"argument_quality": points[0], "evidence": points[1], "rebuttal": points[2],
            "expression": points[3], "overall_logic": points[4]})
    };
    let (winner_rubric, loser_rubric) =
        (criteria([26, 20, 16, 12, 8]), criteria([20, 15, 12, 10, 7]));
    let (pro, con, scores) = match winner {
        "con" => (loser_rubric, winner_rubric, json!({"pro": 64, "con": 82})),
        _ => (winner_rubric, loser_rubric, json!({"pro": 82, "con": 64})),
    };
    json!({"winner": winner, "confidence": 0.8, "scores": scores,
        "rubric": {"pro": pro, "con": con}, "reasoning": "Side A has shown it in T1.",
        "cites": ["T1"], "recommendation": "Use spaces.", "checks": []})
}

impl ArenaProcess {
    /// Starts the server on a free loopback port, with extra flags.
    pub(crate) fn start(env: &TestEnv, extra_args: &[&str]) -> ArenaProcess {
        ArenaProcess::start_at(env, "127.0.0.1:0", extra_args)
    }

    /// Starts the server on this bind address.
    pub(crate) fn start_at(env: &TestEnv, bind: &str, extra_args: &[&str]) -> ArenaProcess {
        let mut args = vec!["serve", "--json", "--bind", bind];
        args.extend(extra_args);
        let mut process = env.debate(&args).spawn();
        let (_, stdout) = process.take_stdio();
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let startup_json: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("no startup JSON: {line}"));
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        let address =
            startup_json["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        ArenaProcess { address, startup_json, process: Some(process) }
    }

    /// Starts the server with a scripted judge that rules for `winner`, also with the sides
    /// swapped.
    pub(crate) fn start_with_judge(
        env: &TestEnv,
        winner: &str,
        extra_args: &[&str],
    ) -> ArenaProcess {
        env.write_script(
            &SeatScript::empty().prepend(json!({"phase": "judge", "json": judge_reply(winner)})),
        );
        let judge = env.script_seat("pro.json");
        let mut args = vec!["--judge", &judge];
        args.extend(extra_args);
        ArenaProcess::start(env, &args)
    }

    /// Kills the process with SIGKILL, as a crash would.
    pub(crate) fn kill(&mut self) {
        let process = self.process.take().unwrap();
        process.send_signal("KILL");
        process.wait();
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpResponse {
        send(&self.address, method, path, headers, body)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> HttpResponse {
        self.send("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    pub(crate) fn get(&self, path: &str) -> HttpResponse {
        self.send("GET", path, &[], "")
    }

    /// Creates a waiting room and returns its id.
    pub(crate) fn create(&self, topic: &str, rounds: u8) -> String {
        let created =
            self.post("/api/debate/create", json!({"topic": topic, "total_rounds": rounds}));
        assert_eq!(created.status, 201, "{created:?}");
        created.body["debate_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn join(&self, name: &str, debate_id: &str) -> ArenaBot {
        let body =
            json!({"bot_name": name, "bot_uuid": format!("uuid-{name}"), "debate_id": debate_id});
        ArenaBot::from_join(&self.post("/api/debate/join", body))
    }

    /// Two bots in a new debate, the supporting one first.
    pub(crate) fn join_pair(&self, topic: &str, rounds: u8) -> (ArenaBot, ArenaBot) {
        let id = self.create(topic, rounds);
        let (first, second) = (self.join("one", &id), self.join("other", &id));
        let side = self.poll(&first).body["your_side"].clone();
        if side == "supporting" { (first, second) } else { (second, first) }
    }

    pub(crate) fn poll(&self, bot: &ArenaBot) -> HttpResponse {
        let path = format!("/api/debate/{}/poll", bot.debate_id);
        self.send("GET", &path, &bot.headers(), "")
    }

    pub(crate) fn speak(&self, bot: &ArenaBot, content: &str) -> HttpResponse {
        let body = json!({"message": {"format": "markdown", "content": content}});
        self.post_speech(bot, &body)
    }

    pub(crate) fn post_speech(&self, bot: &ArenaBot, body: &Value) -> HttpResponse {
        let path = format!("/api/debate/{}/speech", bot.debate_id);
        self.send("POST", &path, &bot.headers(), &body.to_string())
    }

    /// Polls until the bot's debate is in this state. Panics after 20 s.
    #[track_caller]
    pub(crate) fn wait_for_state(&self, bot: &ArenaBot, state: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let body = self.poll(bot).body;
            if body["state"] == state {
                return body;
            }
            assert!(Instant::now() < deadline, "not {state} in time: {body}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl ArenaBot {
    #[track_caller]
    pub(crate) fn from_join(response: &HttpResponse) -> ArenaBot {
        assert_eq!(response.status, 200, "{response:?}");
        let text = |name: &str| response.body[name].as_str().unwrap().to_owned();
        ArenaBot {
            debate_id: text("debate_id"),
            identifier: text("bot_identifier"),
            key: text("debate_key"),
        }
    }

    pub(crate) fn headers(&self) -> [(&'static str, &str); 2] {
        [("X-Bot-Identifier", &self.identifier), ("X-Debate-Key", &self.key)]
    }
}

/// Sends one request on its own connection and reads the whole response.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> HttpResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Connection: close".to_owned()];
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        lines.push(format!("Host: {address}"));
    }
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    lines.push(format!("Content-Length: {}\r\n\r\n", body.len()));
    stream.write_all(lines.join("\r\n").as_bytes()).unwrap();
    // The server may reject a request before it has read the body, so write errors are ignored.
    let _ = stream.write_all(body.as_bytes());
    let mut bytes = vec![];
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let headers = head.to_lowercase();
    let body = if headers.contains("transfer-encoding: chunked") {
        decode_chunked(body)
    } else {
        body.to_owned()
    };
    let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
    HttpResponse { status, headers, body }
}

fn decode_chunked(body: &str) -> String {
    let (mut rest, mut decoded) = (body.as_bytes(), vec![]);
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).unwrap_or("0");
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        decoded.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
