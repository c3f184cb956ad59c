//! Lines on stdin become messages. What is no message is answered if it can be, ignored if not, and
//! never the end of the server; the end of the stream is, and everybody is told at once.
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Bytes of a message. The longest argument is a speech of 200,000 characters.
const LONGEST: usize = 4 * 1024 * 1024;
/// Bytes at either end of a message that is too long, where its id may stand.
const ENDS: usize = 4 * 1024;

/// The two streams, line by line.
pub(super) struct Wire<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    /// The line so far. Kept here, because a read may be given up and taken up again.
    line: Vec<u8>,
    /// The end of a line that is too long to be kept, and how long it is.
    flood: Option<(Vec<u8>, usize)>,
    /// Whether the client has asked for anything yet.
    asked: bool,
    closing: CancellationToken,
}

/// What a line turned out to be.
enum Line {
    Whole(Vec<u8>),
    TooLong { start: Vec<u8>, end: Vec<u8>, length: usize },
    End,
}

impl<R: AsyncRead + Unpin, W> Wire<R, W> {
    /// Closing is announced when the input ends.
    pub(super) fn new(input: R, output: W, closing: CancellationToken) -> Wire<R, W> {
        let output = Arc::new(Mutex::new(output));
        let input = BufReader::new(input);
        Wire { input, output, line: vec![], flood: None, asked: false, closing }
    }

    /// The next line. May be dropped and called again: nothing that was read is lost.
    async fn next_line(&mut self) -> Line {
        loop {
            let Ok(read) = self.input.fill_buf().await else { return Line::End };
            if read.is_empty() {
                return Line::End;
            }
            let ends = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..ends.unwrap_or(read.len())];
            match &mut self.flood {
                Some((end, length)) => {
                    *length += part.len();
                    end.extend_from_slice(part);
                    end.drain(..end.len().saturating_sub(ENDS));
                }
                None if self.line.len() + part.len() > LONGEST => {
                    let length = self.line.len() + part.len();
                    let tail = part.len().saturating_sub(ENDS);
                    self.flood = Some((part[tail..].to_vec(), length));
                    self.line.truncate(ENDS);
                    self.line.shrink_to_fit();
                }
                None => self.line.extend_from_slice(part),
            }
            let taken = part.len() + usize::from(ends.is_some());
            self.input.consume(taken);
            if ends.is_some() {
                let start = std::mem::take(&mut self.line);
                return match self.flood.take() {
                    Some((end, length)) => Line::TooLong { start, end, length },
                    None => Line::Whole(start),
                };
            }
        }
    }
}

impl<R, W> Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// What is wrong with a line goes back to whoever is waiting for an answer to it.
    async fn refuse(&mut self, ids: impl IntoIterator<Item = RequestId>, why: String) {
        tracing::debug!("{why}");
        let mut answers = vec![];
        for id in ids {
            let error = ErrorData::invalid_request(why.clone(), None);
            answers.push(self.send(JsonRpcMessage::error(error, Some(id))));
        }
        // Whoever waits for the next message may stop waiting at any moment, and must not take these
        // answers, or half of one, with him.
        let sent = tokio::spawn(async move {
            for answer in answers {
                let _ = answer.await;
            }
        });
        let _ = sent.await;
    }
}

impl<R, W> Transport<RoleServer> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.next_line().await {
                Line::Whole(line) if line.trim_ascii().is_empty() => {}
                Line::Whole(line) => match read(&line) {
                    // Before anything was asked for there is nothing to be notified about.
                    Ok(JsonRpcMessage::Request(request)) => {
                        self.asked = true;
                        return Some(JsonRpcMessage::Request(request));
                    }
                    Ok(message) if self.asked => return Some(message),
                    Ok(_) => {}
                    Err((ids, why)) => self.refuse(ids, why).await,
                },
                Line::TooLong { start, end, length } => {
                    let id = id_in(&start, &end);
                    let why =
                        format!("this message has {length} bytes; at most {LONGEST} are read");
                    self.refuse(id, why).await;
                }
                Line::End => {
                    self.closing.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// A message, or what is wrong with it and whom to tell.
fn read(line: &[u8]) -> Result<ClientJsonRpcMessage, (Vec<RequestId>, String)> {
    let line = String::from_utf8_lossy(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line));
    let line = paired(&line);
    serde_json::from_str(&line).map_err(|_| match serde_json::from_str::<Value>(&line) {
        Ok(Value::Array(batch)) => {
            let ids = batch.iter().filter_map(|value| id_of(value.get("id"))).collect();
            (ids, "batches are not read; send one message a line".into())
        }
        Ok(value) => {
            let method = value.get("method").and_then(Value::as_str).unwrap_or("this");
            let ids = id_of(value.get("id")).into_iter().collect();
            (ids, format!("`{method}` is no request this server can read"))
        }
        Err(error) => {
            let ids = id_in(line.as_bytes(), line.as_bytes()).into_iter().collect();
            (ids, format!("this is no JSON: {error}"))
        }
    })
}

/// Text that was cut in the middle of a character is sent with half of it escaped. Such a half
/// becomes the sign for what could not be read.
fn paired(line: &str) -> Cow<'_, str> {
    let half = |rest: &str| -> Option<u16> {
        let digits = rest.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..0xE000).contains(unit))
    };
    if !line.contains("\\u") {
        return line.into();
    }
    let mut mended = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, whole) = match half(rest) {
            Some(first) if first < 0xDC00 && half(&rest[6..]).is_some_and(|it| it >= 0xDC00) => {
                (12, true)
            }
            Some(_) => (6, false),
            // Whatever is escaped, both characters belong together.
            None => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), true),
        };
        mended.push_str(if whole { &rest[..taken] } else { "\\ufffd" });
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended.into()
}

fn id_of(id: Option<&Value>) -> Option<RequestId> {
    id.and_then(|id| serde_json::from_value(id.clone()).ok())
}

/// The id of a message of which only the ends are known: clients write it first or last.
fn id_in(start: &[u8], end: &[u8]) -> Option<RequestId> {
    let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
    let head = start.split("\"params\"").next().unwrap_or_default();
    let after = |text: &str, at: usize| {
        let rest = text[at + "\"id\"".len()..].trim_start().strip_prefix(':')?.to_owned();
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Value>();
        id_of(values.next()?.ok().as_ref())
    };
    let first = head.find("\"id\"").and_then(|at| after(head, at));
    first.or_else(|| end.rfind("\"id\"").and_then(|at| after(&end, at)))
}
