//! HTTP transport for the providers: sends a request, reads the response as a stream of server-sent
//! events within size limits, and maps failures to [`TransportError`]. The events are parsed in
//! `protocol`.
use super::api_error;
use super::api_spec::{Secret, is_local};
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url, redirect};
use std::error::Error;
use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Limit of a response stream in bytes.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;
/// Limit of one line in bytes. Searching a longer one for its end would take too long.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that are read of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
/// Timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time to wait for the end of the stream after the last event, so that the connection can be
/// reused.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// HTTP clients, built when first needed, because loading the root certificates is slow.
#[derive(Default)]
pub(super) struct HttpClients {
    remote: OnceLock<Result<Client, String>>,
    local: OnceLock<Result<Client, String>>,
}

/// Why a response could not be read to its end. Error responses are `ApiError`.
pub(super) enum TransportError {
    /// No connection, or the request could not be built.
    Unreachable(String),
    ConnectionLost(String),
    /// Larger than [`MAX_RESPONSE_BYTES`], or a line larger than [`MAX_LINE_BYTES`].
    TooLarge,
    /// Not a valid event stream.
    Malformed,
}

impl HttpClients {
    /// The client for a URL. Plain HTTP to this machine uses no proxy and loads no certificates.
    pub(super) fn for_url(&self, url: &Url) -> Result<&Client, String> {
        let is_local_http = is_local(url) && url.scheme() == "http";
        let client = if is_local_http { &self.local } else { &self.remote };
        client.get_or_init(|| build_client(is_local_http)).as_ref().map_err(Clone::clone)
    }
}

fn build_client(is_local_http: bool) -> Result<Client, String> {
    let client = client_builder(is_local_http).build();
    client.map_err(|error| format!("cannot create an HTTP client: {}", root_cause(&error)))
}

fn client_builder(is_local_http: bool) -> ClientBuilder {
    // Fails if a provider is installed already, which is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("debate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would send the API key to another server.
        .redirect(redirect::Policy::none())
        .referer(false);
    if is_local_http { builder.no_proxy().tls_certs_only([]) } else { builder }
}

/// Adds headers and marks them as sensitive, so that they are never logged.
pub(super) fn with_sensitive_headers<'a>(
    mut request: RequestBuilder,
    headers: impl IntoIterator<Item = (&'a str, &'a Secret)>,
) -> RequestBuilder {
    for (name, Secret(value)) in headers {
        request = match reqwest::header::HeaderValue::from_str(value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                request.header(name, value)
            }
            // The builder keeps the invalid header as an error and returns it from `send`.
            Err(_) => request.header(name, value),
        };
    }
    request
}

/// Sends a request and waits for the response headers.
pub(super) async fn send(request: RequestBuilder) -> Result<Response, TransportError> {
    let started = Instant::now();
    let result = request.send().await;
    let elapsed_ms = started.elapsed().as_millis();
    match result {
        Ok(response) => {
            let (host, status) = (response.url().host_str(), response.status().as_u16());
            tracing::debug!(host, status, elapsed_ms, "http response");
            Ok(response)
        }
        Err(error) => {
            let message = root_cause(&error);
            tracing::debug!(error = %message, elapsed_ms, "http request failed");
            Err(if error.is_connect() || error.is_builder() {
                TransportError::Unreachable(message)
            } else {
                TransportError::ConnectionLost(message)
            })
        }
    }
}

/// Parses the body and headers of an error response.
pub(super) async fn read_error(response: Response) -> api_error::ApiError {
    let status = response.status().as_u16();
    let to_text = |value: &reqwest::header::HeaderValue| value.to_str().map(Into::into).ok();
    let headers: Vec<(String, String)> = (response.headers().iter())
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), to_text(value)?)))
        .collect();
    let body = read_body(response, MAX_ERROR_BODY_BYTES).await.unwrap_or_default();
    let mut error = api_error::ApiError::from_body(Some(u64::from(status)), &body);
    error.retry_ms = api_error::parse_retry_headers(&headers).or(error.retry_ms);
    error
}

/// Reads a body as text, up to about `max_bytes` bytes.
pub(super) async fn read_body(
    response: Response,
    max_bytes: usize,
) -> Result<String, TransportError> {
    let mut bytes = vec![];
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(
            &chunk.map_err(|error| TransportError::ConnectionLost(root_cause(&error)))?,
        );
        if bytes.len() > max_bytes {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Passes the data of each server-sent event to the callback until the stream ends, the callback
/// returns true, or a limit is exceeded. Returns the number of events; none if the body was empty.
pub(super) async fn read_events(
    response: Response,
    mut on_event: impl FnMut(&str) -> Result<bool, TransportError> + Send,
) -> Result<Option<usize>, TransportError> {
    let mut has_body = false;
    let mut count = 0;
    let mut events = Box::pin(limit_size(response, &mut has_body).eventsource());
    loop {
        let event = match events.next().await {
            None => break,
            Some(Ok(event)) => event,
            Some(Err(EventStreamError::Transport(error))) => return Err(error),
            Some(Err(_)) => return Err(TransportError::Malformed),
        };
        count += 1;
        if on_event(&event.data)? {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, events.next()).await;
            break;
        }
    }
    drop(events);
    Ok(has_body.then_some(count))
}

/// The body as a stream that ends with [`TransportError::TooLarge`] once a limit is exceeded.
fn limit_size(
    response: Response,
    has_body: &mut bool,
) -> impl Stream<Item = Result<impl AsRef<[u8]> + use<>, TransportError>> {
    let (mut total_bytes, mut line_bytes) = (0, 0);
    response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|error| TransportError::ConnectionLost(root_cause(&error)))?;
        *has_body = true;
        total_bytes += chunk.len();
        line_bytes = match chunk.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => chunk.len() - end,
            None => line_bytes + chunk.len(),
        };
        if total_bytes > MAX_RESPONSE_BYTES || line_bytes > MAX_LINE_BYTES {
            Err(TransportError::TooLarge)
        } else {
            Ok(chunk)
        }
    })
}

/// The innermost cause of an error. Unlike the outer ones it does not contain the URL.
fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportError::Unreachable(message) | TransportError::ConnectionLost(message) => {
                f.write_str(message)
            }
            TransportError::TooLarge => f.write_str("its output is too large"),
            TransportError::Malformed => f.write_str("its output could not be parsed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use reqwest::Body;
    use reqwest::dns::{Addrs, Name, Resolve, Resolving};
    use std::io;

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// Resolver that fails after a delay.
    struct SlowResolver(Duration);

    impl Resolve for SlowResolver {
        fn resolve(&self, _: Name) -> Resolving {
            let delay = self.0;
            Box::pin(async move {
                tokio::time::sleep(delay).await;
                Err::<Addrs, Box<dyn Error + Send + Sync>>("no such host".into())
            })
        }
    }

    /// Tokio time is paused, so it advances only while the test waits.
    #[tokio::test(start_paused = true)]
    async fn connecting_is_given_up_after_10_s() {
        assert_eq!(CONNECT_TIMEOUT.as_secs(), 10);
        let (shorter, longer) =
            (CONNECT_TIMEOUT.checked_sub(MILLISECOND).unwrap(), CONNECT_TIMEOUT + MILLISECOND);
        for (delay, expected) in [(shorter, shorter), (longer, CONNECT_TIMEOUT)] {
            let client = client_builder(true).dns_resolver(SlowResolver(delay)).build().unwrap();
            let started_at = tokio::time::Instant::now();
            let result = send(client.get("http://model.test/")).await;
            assert!(matches!(result, Err(TransportError::Unreachable(_))));
            assert_eq!(started_at.elapsed(), expected);
        }
    }

    /// Whether a body is read to its end.
    async fn is_within_limits(body: Vec<u8>) -> bool {
        let response = Response::from(hyper::Response::new(body));
        let mut has_body = false;
        let chunks = limit_size(response, &mut has_body);
        chunks.all(|chunk| std::future::ready(chunk.is_ok())).await
    }

    #[tokio::test]
    async fn response_over_16_mib_is_too_large() {
        assert_eq!(MAX_RESPONSE_BYTES, 16 * 1024 * 1024);
        assert!(is_within_limits(vec![b'\n'; MAX_RESPONSE_BYTES]).await);
        assert!(!is_within_limits(vec![b'\n'; MAX_RESPONSE_BYTES + 1]).await);
    }

    #[tokio::test]
    async fn line_over_4_mib_is_too_large() {
        assert_eq!(MAX_LINE_BYTES, 4 * 1024 * 1024);
        assert!(is_within_limits(vec![b'x'; MAX_LINE_BYTES]).await);
        assert!(!is_within_limits(vec![b'x'; MAX_LINE_BYTES + 1]).await);
    }

    /// Number of bytes read of an error response that arrives in chunks of these sizes.
    async fn error_body_length(chunk_sizes: &[usize]) -> usize {
        let chunks: Vec<io::Result<Vec<u8>>> =
            chunk_sizes.iter().map(|size| Ok(vec![b'x'; *size])).collect();
        let body = Body::wrap_stream(stream::iter(chunks));
        read_error(Response::from(hyper::Response::new(body))).await.message.len()
    }

    #[tokio::test]
    async fn error_response_is_read_up_to_64_kib() {
        assert_eq!(MAX_ERROR_BODY_BYTES, 64 * 1024);
        let whole = [MAX_ERROR_BODY_BYTES - 1, 1];
        assert_eq!(error_body_length(&whole).await, MAX_ERROR_BODY_BYTES);
        // The chunk that exceeds the limit is the last one read.
        let too_long = [MAX_ERROR_BODY_BYTES, 1, 1];
        assert_eq!(error_body_length(&too_long).await, MAX_ERROR_BODY_BYTES + 1);
    }

    /// Tokio time is paused, so it advances only while the test waits.
    #[tokio::test(start_paused = true)]
    async fn end_of_a_stream_is_awaited_for_100_ms() {
        assert_eq!(DRAIN_TIMEOUT.as_millis(), 100);
        let (shorter, longer) =
            (DRAIN_TIMEOUT.checked_sub(MILLISECOND).unwrap(), DRAIN_TIMEOUT + MILLISECOND);
        for (delay, expected) in [(shorter, shorter), (longer, DRAIN_TIMEOUT)] {
            let event = stream::iter([io::Result::Ok("data: last\n\n")]);
            let end = stream::once(async move {
                tokio::time::sleep(delay).await;
                io::Result::Ok(":\n")
            });
            let body = Body::wrap_stream(event.chain(end));
            let started_at = tokio::time::Instant::now();
            let response = Response::from(hyper::Response::new(body));
            assert!(matches!(read_events(response, |_| Ok(true)).await, Ok(Some(1))));
            assert_eq!(started_at.elapsed(), expected);
        }
    }
}
