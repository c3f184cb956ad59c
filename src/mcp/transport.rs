//! Transport of line-delimited JSON-RPC messages over stdin and stdout. A malformed or oversized
//! message gets an error response if its id can be found, and is ignored otherwise. Only end of
//! input closes the transport, and it cancels the shutdown token at once.
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

/// Limit of a message. The longest argument is a speech of 200,000 characters.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes kept from both ends of an oversized message, to find its request id.
const KEPT_EDGE_BYTES: usize = 4 * 1024;

/// The transport over a pair of streams.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    /// Buffer of the current line. A field, because `receive` may be cancelled and called again.
    line: Vec<u8>,
    /// For an oversized line: its last bytes, and its length so far.
    oversized: Option<(Vec<u8>, usize)>,
    /// Whether a request was received. Notifications before the first one are ignored.
    got_request: bool,
    shutdown: CancellationToken,
}

/// One line of input.
enum InputLine {
    Complete(Vec<u8>),
    TooLong { start: Vec<u8>, end: Vec<u8>, length: usize },
    Eof,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    /// Creates the transport. The token is cancelled at end of input.
    pub(super) fn new(input: R, output: W, shutdown: CancellationToken) -> LineTransport<R, W> {
        let output = Arc::new(Mutex::new(output));
        let input = BufReader::new(input);
        LineTransport { input, output, line: vec![], oversized: None, got_request: false, shutdown }
    }

    /// Reads the next line. Cancel-safe: no bytes are lost when the future is dropped.
    async fn next_line(&mut self) -> InputLine {
        loop {
            let Ok(chunk) = self.input.fill_buf().await else { return InputLine::Eof };
            if chunk.is_empty() {
                return InputLine::Eof;
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            match &mut self.oversized {
                Some((end, length)) => {
                    *length += part.len();
                    end.extend_from_slice(part);
                    end.drain(..end.len().saturating_sub(KEPT_EDGE_BYTES));
                }
                None if self.line.len() + part.len() > MAX_MESSAGE_BYTES => {
                    let length = self.line.len() + part.len();
                    let tail = part.len().saturating_sub(KEPT_EDGE_BYTES);
                    self.oversized = Some((part[tail..].to_vec(), length));
                    self.line.truncate(KEPT_EDGE_BYTES);
                    self.line.shrink_to_fit();
                }
                None => self.line.extend_from_slice(part),
            }
            let consumed = part.len() + usize::from(newline.is_some());
            self.input.consume(consumed);
            if newline.is_some() {
                let start = std::mem::take(&mut self.line);
                return match self.oversized.take() {
                    Some((end, length)) => InputLine::TooLong { start, end, length },
                    None => InputLine::Complete(start),
                };
            }
        }
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Sends an error response to each of these request ids.
    async fn send_errors(&mut self, ids: impl IntoIterator<Item = RequestId>, reason: String) {
        tracing::debug!(reason = ?reason, "message refused");
        let mut responses = vec![];
        for id in ids {
            let error = ErrorData::invalid_request(reason.clone(), None);
            responses.push(self.send(JsonRpcMessage::error(error, Some(id))));
        }
        // Spawned, because the future of `receive` may be dropped at any time, and no response may
        // be lost or cut in the middle.
        let task = tokio::spawn(async move {
            for response in responses {
                let _ = response.await;
            }
        });
        let _ = task.await;
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
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
                InputLine::Complete(line) if line.trim_ascii().is_empty() => {}
                InputLine::Complete(line) => match parse_message(&line) {
                    // Notifications before the first request have no receiver.
                    Ok(JsonRpcMessage::Request(request)) => {
                        self.got_request = true;
                        return Some(JsonRpcMessage::Request(request));
                    }
                    Ok(message) if self.got_request => return Some(message),
                    Ok(_) => {}
                    Err((ids, reason)) => self.send_errors(ids, reason).await,
                },
                InputLine::TooLong { start, end, length } => {
                    let id = find_request_id(&start, &end);
                    let reason = format!(
                        "this message has {length} bytes; the limit is {MAX_MESSAGE_BYTES}"
                    );
                    self.send_errors(id, reason).await;
                }
                InputLine::Eof => {
                    self.shutdown.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// Parses a message. The error has the request ids to respond to.
fn parse_message(line: &[u8]) -> Result<ClientJsonRpcMessage, (Vec<RequestId>, String)> {
    let line = String::from_utf8_lossy(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line));
    let line = replace_lone_surrogates(&line);
    serde_json::from_str(&line).map_err(|_| match serde_json::from_str::<Value>(&line) {
        Ok(Value::Array(batch)) => {
            let ids = batch.iter().filter_map(|value| parse_request_id(value.get("id"))).collect();
            (ids, "batches are not supported; send one message per line".into())
        }
        Ok(value) => {
            let method = value.get("method").and_then(Value::as_str).unwrap_or("this");
            let ids = parse_request_id(value.get("id")).into_iter().collect();
            (ids, format!("`{method}` is not a message that this server can read"))
        }
        Err(error) => {
            let ids = find_request_id(line.as_bytes(), line.as_bytes()).into_iter().collect();
            (ids, format!("this is not valid JSON: {error}"))
        }
    })
}

/// Replaces lone surrogate escapes (`\ud83d` without its other half) by U+FFFD. Clients send them
/// when they truncate text in the middle of a character, and the JSON parser rejects them.
fn replace_lone_surrogates(line: &str) -> Cow<'_, str> {
    let surrogate = |rest: &str| -> Option<u16> {
        let digits = rest.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..0xE000).contains(unit))
    };
    if !line.contains("\\u") {
        return line.into();
    }
    let mut repaired = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(index) = rest.find('\\') {
        repaired.push_str(&rest[..index]);
        rest = &rest[index..];
        let (length, is_valid) = match surrogate(rest) {
            Some(first)
                if first < 0xDC00 && surrogate(&rest[6..]).is_some_and(|it| it >= 0xDC00) =>
            {
                (12, true)
            }
            Some(_) => (6, false),
            // Skip an escape as a whole, so that `\\u` is not parsed as one.
            None => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), true),
        };
        repaired.push_str(if is_valid { &rest[..length] } else { "\\ufffd" });
        rest = &rest[length..];
    }
    repaired.push_str(rest);
    repaired.into()
}

fn parse_request_id(id: Option<&Value>) -> Option<RequestId> {
    id.and_then(|id| serde_json::from_value(id.clone()).ok())
}

/// Finds the request id near the start or the end of a message, where clients write it.
fn find_request_id(start: &[u8], end: &[u8]) -> Option<RequestId> {
    let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
    let head = start.split("\"params\"").next().unwrap_or_default();
    let id_at = |text: &str, index: usize| {
        let rest = text[index + "\"id\"".len()..].trim_start().strip_prefix(':')?.to_owned();
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Value>();
        parse_request_id(values.next()?.ok().as_ref())
    };
    let first = head.find("\"id\"").and_then(|index| id_at(head, index));
    first.or_else(|| end.rfind("\"id\"").and_then(|index| id_at(&end, index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_line(input: &[u8]) -> InputLine {
        let shutdown = CancellationToken::new();
        LineTransport::new(input, tokio::io::sink(), shutdown).next_line().await
    }

    #[tokio::test]
    async fn message_over_4_mib_is_refused() {
        assert_eq!(MAX_MESSAGE_BYTES, 4_194_304);
        let mut message = vec![b'x'; MAX_MESSAGE_BYTES];
        message.push(b'\n');
        let InputLine::Complete(line) = read_line(&message).await else { panic!("refused") };
        assert_eq!(line.len(), MAX_MESSAGE_BYTES);
        message.insert(0, b'x');
        let InputLine::TooLong { length, .. } = read_line(&message).await else {
            panic!("accepted")
        };
        assert_eq!(length, MAX_MESSAGE_BYTES + 1);
    }

    #[tokio::test]
    async fn request_id_is_searched_in_4_kib_of_an_oversized_message() {
        assert_eq!(KEPT_EDGE_BYTES, 4_096);
        let (id, text) = ("{\"id\":7", "x".repeat(MAX_MESSAGE_BYTES));
        for (excess, is_found) in [(0, true), (1, false)] {
            let indent = " ".repeat(KEPT_EDGE_BYTES - id.len() + excess);
            let message = format!("{indent}{id},\"params\":\"{text}\"}}\n");
            let InputLine::TooLong { start, end, .. } = read_line(message.as_bytes()).await else {
                panic!("accepted")
            };
            assert_eq!(find_request_id(&start, &end).is_some(), is_found);
        }
    }
}
