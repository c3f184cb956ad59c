//! Minimal HTTP/1.1 client with keep-alive. It shares the machine with the server, so it must cost
//! as little CPU as possible.
use serde_json::Value;
use std::fmt::Write;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection to the server, opened lazily.
pub(super) struct HttpConnection {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl HttpConnection {
    pub(super) fn new(port: u16) -> HttpConnection {
        HttpConnection { port, stream: None }
    }

    pub(super) fn disconnect(&mut self) {
        self.stream = None;
    }

    pub(super) async fn get(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<HttpResponse> {
        self.send("GET", path, headers, None).await
    }

    pub(super) async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> io::Result<HttpResponse> {
        self.send("POST", path, headers, Some(body.to_string())).await
    }

    /// Sends one request and reads the response. After an I/O error, the next request opens a new
    /// connection.
    async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> io::Result<HttpResponse> {
        let text = format_request(self.port, method, path, headers, body.as_deref());
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(self.port).await?,
        };
        stream.write_all(text.as_bytes()).await?;
        let (status, length, close) = read_head(&mut stream).await?;
        let mut bytes = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut bytes).await?;
        if !close {
            self.stream = Some(stream);
        }
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(HttpResponse { status, body })
    }
}

/// Formats a request.
pub(super) fn format_request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if let Some(body) = body {
        let length = body.len();
        let _ = write!(
            text,
            "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
    } else {
        text.push_str("\r\n");
    }
    text
}

pub(super) async fn connect(port: u16) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

/// Reads a response head. Returns status, `Content-Length` and whether the server closes the
/// connection.
pub(super) async fn read_head(
    stream: &mut BufReader<TcpStream>,
) -> io::Result<(u16, Option<usize>, bool)> {
    let (mut status, mut length, mut close, mut line) = (0, None, false, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = line.trim_end().to_ascii_lowercase();
        if text.is_empty() {
            return Ok((status, length, close));
        } else if let Some(rest) = text.strip_prefix("http/1.1 ") {
            status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
        } else if let Some(value) = text.strip_prefix("content-length:") {
            length = value.trim().parse().ok();
        } else if let Some(value) = text.strip_prefix("connection:") {
            close = value.trim() == "close";
        }
    }
}
