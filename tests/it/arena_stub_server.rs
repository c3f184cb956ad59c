//! Stub arena server for the client tests, written from the published HTTP protocol alone: it
//! shares no type with the crate. One thread and one request per connection.
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// One parsed HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// A response sent as is: status, headers, body.
pub(crate) type RawResponse = (u16, Vec<(&'static str, String)>, String);

/// Limits and deviations of the stub server.
#[derive(Clone)]
pub(crate) struct StubRules {
    pub(crate) topic: String,
    pub(crate) rounds: usize,
    pub(crate) min_length: usize,
    pub(crate) max_length: usize,
    /// Leaves out all optional response fields.
    pub(crate) minimal_fields: bool,
    /// Announces long polling.
    pub(crate) long_poll: bool,
    /// Counts bytes instead of characters for the length limits.
    pub(crate) counts_bytes: bool,
    /// Hook that can answer a request before the normal handler does.
    pub(crate) fault_hook: Option<FaultHook>,
}

pub(crate) type FaultHook =
    Arc<dyn Fn(&RecordedRequest, usize) -> Option<RawResponse> + Send + Sync>;

impl Default for StubRules {
    fn default() -> StubRules {
        StubRules {
            topic: "人工智能是否会取代人类工作".into(),
            rounds: 3,
            min_length: 50,
            max_length: 2000,
            minimal_fields: false,
            long_poll: false,
            counts_bytes: false,
            fault_hook: None,
        }
    }
}

#[derive(Default)]
struct StubRoom {
    /// Identifier and key of each bot, supporting side first.
    bots: Vec<(String, String)>,
    log: Vec<Value>,
    requests: Vec<RecordedRequest>,
}

/// A server with one debate, `abc123`, that runs until the test ends.
pub(crate) struct StubArena {
    port: u16,
    rules: Arc<StubRules>,
    room: Arc<Mutex<StubRoom>>,
    listening: Arc<AtomicBool>,
}

pub(crate) const DEBATE_ID: &str = "abc123";

impl StubArena {
    pub(crate) fn new(rules: StubRules) -> StubArena {
        let mut arena = StubArena {
            port: 0,
            rules: Arc::new(rules),
            room: Arc::default(),
            listening: Arc::default(),
        };
        arena.start();
        arena
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts to listen, on the same port after a restart.
    pub(crate) fn start(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        self.port = listener.local_addr().unwrap().port();
        self.listening = Arc::new(AtomicBool::new(true));
        let (rules, room, listening) =
            (self.rules.clone(), self.room.clone(), self.listening.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if !listening.load(Ordering::SeqCst) {
                    return;
                }
                let (rules, room) = (rules.clone(), room.clone());
                thread::spawn(move || handle_connection(&stream, &rules, &room));
            }
        });
    }

    /// Stops listening. The room state is kept for the next `start`.
    pub(crate) fn stop(&mut self) {
        self.listening.store(false, Ordering::SeqCst);
        // Unblocks `accept`, so that the listener thread sees the flag and exits.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            thread::yield_now();
        }
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        self.room.lock().unwrap().log.clone()
    }

    pub(crate) fn seat_keys(&self) -> Vec<String> {
        self.room.lock().unwrap().bots.iter().map(|(_, key)| key.clone()).collect()
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.room.lock().unwrap().requests.clone()
    }

    /// Speaker and content of every accepted speech.
    pub(crate) fn speeches(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let log = self.log();
        log.iter()
            .map(|entry| (text(&entry["speaker"]), text(&entry["message"]["content"])))
            .collect()
    }
}

fn handle_connection(stream: &TcpStream, rules: &StubRules, room: &Mutex<StubRoom>) {
    let Some(request) = read_request(stream) else { return };
    let request_number = {
        let mut room = room.lock().unwrap();
        room.requests.push(request.clone());
        room.requests.len()
    };
    if let Some(response) =
        rules.fault_hook.as_ref().and_then(|fault| fault(&request, request_number))
    {
        return write_response(stream, &response);
    }
    let (status, body) = route_request(&request, rules, &mut room.lock().unwrap());
    write_response(stream, &(status, vec![], body.to_string()));
}

fn read_request(stream: &TcpStream) -> Option<RecordedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_whitespace().map(str::to_owned);
    let (method, target) = (parts.next()?, parts.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    Some(RecordedRequest {
        method,
        path,
        query,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn write_response(mut stream: &TcpStream, (status, headers, body): &RawResponse) {
    let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"].map(str::to_owned));
    }
    head += "Content-Type: application/json\r\nConnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

fn error_response(status: u16, code: &str, message: &str) -> (u16, Value) {
    let body = json!({"error_code": code, "message": message, "debate_id": DEBATE_ID,
        "recoverable": false});
    (status, body)
}

fn route_request(
    request: &RecordedRequest,
    rules: &StubRules,
    room: &mut StubRoom,
) -> (u16, Value) {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/api/debate/join") => handle_join(&request.body, rules, room),
        ("GET", "/api/debate/abc123/poll") => match authenticate(request, room) {
            Ok(bot) => (200, poll_response(&bot, rules, room)),
            Err(error) => error,
        },
        ("POST", "/api/debate/abc123/speech") => match authenticate(request, room) {
            Ok(bot) => handle_speech(&bot, &request.body, rules, room),
            Err(error) => error_response(error.0, "INVALID_CREDENTIALS", "unknown bot or key"),
        },
        _ => error_response(404, "DEBATE_NOT_FOUND", "no such debate"),
    }
}

fn authenticate(request: &RecordedRequest, room: &StubRoom) -> Result<String, (u16, Value)> {
    let header = |name: &str| request.headers.get(name).cloned();
    let (Some(bot), Some(key)) = (header("x-bot-identifier"), header("x-debate-key")) else {
        return Err(error_response(401, "MISSING_AUTH", "two headers are needed"));
    };
    if room.bots.contains(&(bot.clone(), key.clone())) {
        return Ok(bot);
    }
    // Echoes the key in the error on purpose, as a careless server may.
    Err(error_response(401, "INVALID_CREDENTIALS", &format!("`{key}` is no key of `{bot}`")))
}

fn handle_join(body: &Value, rules: &StubRules, room: &mut StubRoom) -> (u16, Value) {
    let requested_id = body["debate_id"].as_str();
    if requested_id.is_some_and(|id| id != DEBATE_ID) {
        return error_response(404, "DEBATE_NOT_FOUND", "no such debate");
    }
    if room.bots.len() == 2 {
        return match requested_id {
            Some(_) => error_response(409, "debate_full", "the debate is full"),
            None => error_response(404, "no_available_debate", "no debate has a free seat"),
        };
    }
    assert!(body["bot_uuid"].as_str().is_some_and(|uuid| !uuid.is_empty()), "{body}");
    let bot = format!("{}_{DEBATE_ID}", body["bot_name"].as_str().unwrap());
    let key = format!("k-{}-{}", room.bots.len(), "q7Zr".repeat(5));
    room.bots.push((bot.clone(), key.clone()));
    let joined: Vec<&String> = room.bots.iter().map(|(bot, _)| bot).collect();
    let full_response = json!({"status": "login_confirmed", "message": "Successfully joined debate",
        "debate_id": DEBATE_ID, "debate_key": key, "bot_identifier": bot, "topic": rules.topic,
        "joined_bots": joined, "long_poll": rules.long_poll});
    let minimal_response =
        json!({"debate_id": DEBATE_ID, "debate_key": key, "bot_identifier": bot});
    (200, if rules.minimal_fields { minimal_response } else { full_response })
}

fn next_speaker(room: &StubRoom) -> String {
    room.bots[room.log.len() % 2].0.clone()
}

fn poll_response(bot: &str, rules: &StubRules, room: &StubRoom) -> Value {
    let common = json!({"debate_id": DEBATE_ID, "topic": rules.topic, "total_rounds": rules.rounds,
        "your_identifier": bot, "long_poll": rules.long_poll});
    let mut response = if rules.minimal_fields { json!({"topic": rules.topic}) } else { common };
    let mut add = |fields: Value| {
        response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    };
    if room.bots.len() < 2 {
        let joined: Vec<&String> = room.bots.iter().map(|(bot, _)| bot).collect();
        add(json!({"state": "waiting", "joined_bots": joined}));
    } else if room.log.len() >= rules.rounds * 2 {
        add(json!({"state": "ended"}));
        if !rules.minimal_fields {
            add(json!({"status": "completed", "debate_log": room.log, "debate_result": {
                "winner": room.bots[0].0, "supporting_score": 85, "opposing_score": 72,
                "summary": "The first was clearer."}}));
        }
    } else if rules.minimal_fields {
        add(json!({"state": "active", "next_speaker": next_speaker(room)}));
    } else {
        let side = if room.bots[0].0 == bot { "supporting" } else { "opposing" };
        add(json!({"state": "active", "supporting_side": room.bots[0].0,
            "opposing_side": room.bots[1].0, "current_round": room.log.len() / 2 + 1,
            "your_side": side, "next_speaker": next_speaker(room), "timeout_seconds": 120,
            "min_content_length": rules.min_length, "max_content_length": rules.max_length,
            "debate_log": room.log}));
    }
    response
}

fn handle_speech(bot: &str, body: &Value, rules: &StubRules, room: &mut StubRoom) -> (u16, Value) {
    let is_inactive = room.bots.len() < 2 || room.log.len() >= rules.rounds * 2;
    if is_inactive || next_speaker(room) != bot {
        return error_response(409, "NOT_YOUR_TURN", "It is not your turn to speak");
    }
    assert_eq!(body["message"]["format"], "markdown", "{body}");
    let content = body["message"]["content"].as_str().unwrap();
    let length = if rules.counts_bytes { content.len() } else { content.chars().count() };
    if length > rules.max_length {
        return error_response(422, "CONTENT_TOO_LONG", "too long");
    }
    if length < rules.min_length {
        return error_response(422, "CONTENT_TOO_SHORT", "too short");
    }
    let (round, side) = (room.log.len() / 2 + 1, ["supporting", "opposing"][room.log.len() % 2]);
    room.log.push(json!({"round": round, "speaker": bot, "side": side,
        "timestamp": "2026-02-16T10:30:00Z",
        "message": {"format": "markdown", "content": content}}));
    let next = next_speaker(room);
    (
        200,
        json!({"status": "speech_accepted", "debate_id": DEBATE_ID, "round": round,
        "next_speaker": next}),
    )
}
