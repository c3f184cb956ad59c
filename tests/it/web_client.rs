//! HTTP client for the web pages: starts `debate view`, sends requests over a plain TCP socket, and
//! reads server-sent events.
use crate::test_env::{RunningProcess, TestEnv};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A running web server: `debate view` in a child process, or a site in this process.
pub(crate) struct WebServer {
    running: Option<RunningProcess>,
    pub(crate) port: u16,
    /// Path and token of the login link.
    pub(crate) login_path: String,
}

/// A parsed HTTP response. The header is in lower case.
#[derive(Debug)]
pub(crate) struct WebResponse {
    pub(crate) status: u16,
    pub(crate) header: String,
    pub(crate) body: String,
}

/// A stream of server-sent events.
pub(crate) struct EventStream(BufReader<TcpStream>);

/// One server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerSentEvent {
    pub(crate) kind: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

impl WebServer {
    /// Starts `debate view` for this archive. Port 0 means any free port.
    pub(crate) fn start(env: &TestEnv, port: u16) -> WebServer {
        let bind = port.to_string();
        let mut process = env.debate(&["view", "--json", "--bind", &bind]).spawn();
        let (_, stdout) = process.take_stdio();
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let info: Value = serde_json::from_str(&line).unwrap();
        crate::cli_json::assert_matches_schema("view", &info);
        let url = info["url"].as_str().unwrap();
        let port = url.trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        let login_path = info["enter"].as_str().unwrap().split_once(&format!(":{port}")).unwrap().1;
        WebServer { running: Some(process), port, login_path: login_path.to_owned() }
    }

    /// A client for a site that runs in this process.
    pub(crate) fn in_process(port: u16, token: &str) -> WebServer {
        WebServer { running: None, port, login_path: format!("/enter?token={token}") }
    }

    /// Kills the server process and returns its port.
    pub(crate) fn kill(self) -> u16 {
        self.running.unwrap().send_signal("KILL");
        self.port
    }

    fn open_request(&self, method: &str, path: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let has_host = headers.iter().any(|line| line.starts_with("Host:"));
        let mut lines = vec![format!("{method} {path} HTTP/1.0")];
        lines.extend((!has_host).then_some(host));
        lines.extend(headers.iter().map(|line| (*line).to_owned()));
        if !body.is_empty() {
            lines.push("Content-Type: application/x-www-form-urlencoded".into());
            lines.push(format!("Content-Length: {}", body.len()));
        }
        write!(stream, "{}\r\n\r\n{body}", lines.join("\r\n")).unwrap();
        stream
    }

    fn request(&self, method: &str, path: &str, headers: &[&str], body: &str) -> WebResponse {
        let mut text = vec![];
        self.open_request(method, path, headers, body).read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        WebResponse { status, header: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> WebResponse {
        self.request("GET", path, &[], "")
    }

    pub(crate) fn get_with_headers(&self, path: &str, headers: &[&str]) -> WebResponse {
        self.request("GET", path, headers, "")
    }

    pub(crate) fn post(&self, path: &str, headers: &[&str], body: &str) -> WebResponse {
        self.request("POST", path, headers, body)
    }

    /// Opens the event stream of a debate, with an optional `after` query and `Last-Event-ID`.
    pub(crate) fn open_events(
        &self,
        id: &str,
        after: Option<u64>,
        last_event_id: Option<u64>,
    ) -> EventStream {
        let path = match after {
            Some(after) => format!("/debates/{id}/events?after={after}"),
            None => format!("/debates/{id}/events"),
        };
        let last_event_id =
            last_event_id.map(|last_event_id| format!("Last-Event-ID: {last_event_id}"));
        let headers: Vec<&str> = last_event_id.as_deref().into_iter().collect();
        let mut reader = BufReader::new(self.open_request("GET", &path, &headers, ""));
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "no stream");
        }
        EventStream(reader)
    }

    /// Logs in and returns the session cookie as a request header.
    pub(crate) fn login_cookie(&self) -> String {
        let response = self.get_with_headers(&self.login_path, &["Sec-Fetch-Site: none"]);
        assert_eq!(response.status, 303, "{response:?}");
        let cookie_line =
            response.header.lines().find(|line| line.starts_with("set-cookie:")).unwrap();
        let value = cookie_line.split_once(':').unwrap().1.split(';').next().unwrap().trim();
        format!("Cookie: {value}")
    }
}

impl WebResponse {
    #[track_caller]
    pub(crate) fn expect_ok(self) -> WebResponse {
        assert_eq!(self.status, 200, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Returns `None` at the end of the stream or after a read error.
impl Iterator for EventStream {
    type Item = ServerSentEvent;
    fn next(&mut self) -> Option<ServerSentEvent> {
        let mut event = ServerSentEvent { kind: String::new(), id: None, data: Value::Null };
        let mut has_kind = false;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("event", kind)) => (event.kind, has_kind) = (kind.into(), true),
                Some(("id", id)) => event.id = Some(id.parse().unwrap()),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                None if line.trim().is_empty() && has_kind => return Some(event),
                _ => {}
            }
        }
    }
}
