//! Fake HTTP API of a model provider: a local server that speaks all four protocols, streams
//! configurable replies (SSE), and records the requests it receives.
use crate::api_streams::sse_events;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How the fake API responds to a request.
#[derive(Clone)]
pub(crate) enum FakeReply {
    /// Streams this text, word by word.
    Text(String),
    /// Responds with a status code, headers and a body.
    Status(u16, Vec<(&'static str, &'static str)>, String),
    /// Never responds.
    Hang,
    /// Streams this text and then closes the connection in the middle.
    CutOff(String),
    /// Ends the stream without any text.
    Empty,
    /// Streams a raw body with this content type.
    Raw(&'static str, String),
    /// Streams SSE comments without end.
    Flood,
    /// Ends with the protocol's refusal.
    Refusal,
    /// Streams this text and reports that the token limit was reached.
    LengthLimit(String),
    /// Streams this text and then an error event.
    StreamError(String),
}

/// A request that the fake API received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl ReceivedRequest {
    /// The whole prompt, from where the protocol puts it.
    pub(crate) fn prompt(&self) -> String {
        let body = &self.body;
        let fields = [
            &body["messages"][0]["content"],
            &body["input"],
            &body["contents"][0]["parts"][0]["text"],
        ];
        fields.iter().find_map(|field| field.as_str()).unwrap_or_default().into()
    }
}

/// A fake API server, running on a thread for as long as the test.
pub(crate) struct FakeApi {
    port: u16,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl FakeApi {
    /// Starts a server whose replies depend on the request and on its number.
    pub(crate) fn new(
        handler: impl Fn(&ReceivedRequest, usize) -> FakeReply + Send + Sync + 'static,
    ) -> FakeApi {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let (received, handler) = (requests.clone(), Arc::new(handler));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (received, handler) = (received.clone(), handler.clone());
                thread::spawn(move || serve_connection(&stream, &received, &*handler));
            }
        });
        FakeApi { port, requests }
    }

    /// Starts a server that replies in the same way to every request.
    pub(crate) fn always(reply: FakeReply) -> FakeApi {
        FakeApi::new(move |_, _| reply.clone())
    }

    /// Base URL of the API.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Requests received so far, without those for `/models`.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        let received = self.requests.lock().unwrap().clone();
        received.into_iter().filter(|request| !request.path.ends_with("/models")).collect()
    }
}

/// A URL on a port where no server listens.
pub(crate) fn unreachable_url() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}/v1")
}

/// Handles requests on one connection until it is closed.
fn serve_connection(
    stream: &TcpStream,
    received: &Mutex<Vec<ReceivedRequest>>,
    handler: &dyn Fn(&ReceivedRequest, usize) -> FakeReply,
) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let number = {
            let mut received = received.lock().unwrap();
            received.push(request.clone());
            received.iter().filter(|request| !request.path.ends_with("/models")).count()
        };
        let written = if request.path.ends_with("/models") {
            let models = json!({"data": [{"id": "text-embed"}, {"id": "local-big"}]});
            write_response(
                stream,
                200,
                &[("content-type", "application/json")],
                &models.to_string(),
            )
        } else {
            send_reply(stream, &request, handler(&request, number))
        };
        if written.is_none() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<ReceivedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(ReceivedRequest { path, headers, body })
}

/// Sends the response; `None` if the connection is to be closed.
fn send_reply(stream: &TcpStream, request: &ReceivedRequest, reply: FakeReply) -> Option<()> {
    let protocol = protocol_name(request);
    let model = request.body["model"].as_str().unwrap_or("big").to_owned();
    let events = |text: &str, end: &str| sse_events(protocol, &model, text, end);
    match reply {
        FakeReply::Text(text) => {
            write_stream(stream, "text/event-stream", &events(&text, "stop"), true)
        }
        FakeReply::Empty => write_stream(stream, "text/event-stream", &events("", "stop"), true),
        FakeReply::LengthLimit(text) => {
            write_stream(stream, "text/event-stream", &events(&text, "limit"), true)
        }
        FakeReply::Refusal => {
            write_stream(stream, "text/event-stream", &events("", "refusal"), true)
        }
        FakeReply::StreamError(text) => {
            write_stream(stream, "text/event-stream", &events(&text, "error"), true)
        }
        FakeReply::CutOff(text) => {
            write_stream(stream, "text/event-stream", &events(&text, "none"), false)
        }
        FakeReply::Raw(kind, text) => write_stream(stream, kind, &[text], true),
        FakeReply::Status(code, headers, body) => write_response(stream, code, &headers, &body),
        FakeReply::Hang => {
            // Blocks until the client disconnects.
            let _ = { stream }.read(&mut [0]);
            None
        }
        FakeReply::Flood => {
            write_head(stream, 200, &[("content-type", "text/event-stream")], "")?;
            let noise = format!(": {}\n", "x".repeat(1000)).repeat(64);
            loop {
                write_chunk(stream, &noise)?;
            }
        }
    }
}

fn protocol_name(request: &ReceivedRequest) -> &'static str {
    match request.path.as_str() {
        path if path.ends_with("/messages") => "anthropic",
        path if path.ends_with("/responses") => "responses",
        path if path.ends_with("/chat/completions") => "chat",
        _ => "gemini",
    }
}

fn write_head(
    mut stream: &TcpStream,
    code: u16,
    headers: &[(&str, &str)],
    length: &str,
) -> Option<()> {
    let length = match length {
        "" => "transfer-encoding: chunked".to_owned(),
        length => format!("content-length: {length}"),
    };
    write!(stream, "HTTP/1.1 {code} So\r\n").ok()?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n").ok()?;
    }
    write!(stream, "{length}\r\n\r\n").ok()
}

fn write_chunk(mut stream: &TcpStream, text: &str) -> Option<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len()).ok()
}

fn write_stream(
    mut stream: &TcpStream,
    kind: &str,
    events: &[String],
    complete: bool,
) -> Option<()> {
    write_head(stream, 200, &[("content-type", kind)], "")?;
    for event in events {
        write_chunk(stream, event)?;
    }
    if !complete {
        return None;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

fn write_response(
    mut stream: &TcpStream,
    code: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<()> {
    write_head(stream, code, headers, &body.len().to_string())?;
    stream.write_all(body.as_bytes()).ok()
}
