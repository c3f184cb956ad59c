//! HTTP client for the arena API: join, poll and speech requests. Responses are bounded, redirects
//! are not followed, and the key is redacted from every response.
use super::arena_url::ArenaUrl;
use super::protocol::{self, PollResponse, RemoteError, SeatCredentials};
use super::retry_policy::LONG_POLL_SECONDS;
use crate::engine::BoxFuture;
use futures_util::StreamExt;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::{Duration, Instant};

/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
/// Timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a response, except for long polls.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum length of a redirect target in an error message, in characters.
const MAX_LOCATION_CHARS: usize = 200;

/// Error of an API request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArenaApiError {
    /// No connection, a lost connection or a timeout. The request may have been processed.
    Unreachable(String),
    /// The response cannot be parsed.
    InvalidResponse(String),
    /// The server sent an error response.
    Refused(RemoteError),
}

/// Parameters of a join request.
#[derive(Clone, Debug)]
pub(crate) struct JoinParams<'a> {
    /// Display name of the bot.
    pub name: &'a str,
    /// Id of the bot.
    pub uuid: &'a str,
    /// Debate to join. `None` for any debate.
    pub debate_id: Option<&'a str>,
}

/// API of a remote arena. Tests replace it with a fake.
pub(crate) trait ArenaApi: Send + Sync {
    /// Requests a seat.
    fn join<'a>(
        &'a self,
        visitor: JoinParams<'a>,
    ) -> BoxFuture<'a, Result<SeatCredentials, ArenaApiError>>;

    /// Polls the status. With `wait`, a long poll.
    fn poll<'a>(
        &'a self,
        pass: &'a SeatCredentials,
        wait: bool,
    ) -> BoxFuture<'a, Result<PollResponse, ArenaApiError>>;

    /// Submits a speech.
    fn speak<'a>(
        &'a self,
        pass: &'a SeatCredentials,
        content: &'a str,
    ) -> BoxFuture<'a, Result<(), ArenaApiError>>;
}

/// The API over HTTP.
pub(crate) struct HttpArenaApi {
    base_url: ArenaUrl,
    client: Client,
}

impl HttpArenaApi {
    /// Creates a client without sending a request.
    pub(crate) fn new(base_url: ArenaUrl) -> Result<HttpArenaApi, String> {
        // Another part of the process may have installed the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = client_builder(&base_url)
            .build()
            .map_err(|error| format!("cannot create an HTTP client: {}", root_cause(&error)))?;
        Ok(HttpArenaApi { base_url, client })
    }

    async fn send(
        &self,
        request: RequestBuilder,
        credentials: Option<&SeatCredentials>,
    ) -> Result<Value, ArenaApiError> {
        let unreachable = |error: reqwest::Error| ArenaApiError::Unreachable(root_cause(&error));
        let started = Instant::now();
        let response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        tracing::debug!(
            path = response.url().path(),
            status = status.as_u16(),
            elapsed_ms = started.elapsed().as_millis(),
            "arena response"
        );
        let body = read_bounded(response).await?;
        let parsed = serde_json::from_slice::<Value>(&body);
        let redact = |mut value: Value| {
            if let Some(credentials) = credentials {
                protocol::redact_key(&credentials.key, &mut value);
            }
            value
        };
        if status.is_success() {
            let invalid_json =
                |_| ArenaApiError::InvalidResponse("the response is not JSON".into());
            return parsed.map(redact).map_err(invalid_json);
        }
        let value = parsed.map(redact).unwrap_or_default();
        let mut refusal =
            RemoteError::from_json(status.as_u16(), parse_retry_after(&headers), &value);
        if status.is_redirection() {
            refusal.message = redirect_message(&headers);
        }
        Err(ArenaApiError::Refused(refusal))
    }

    fn add_credentials(request: RequestBuilder, credentials: &SeatCredentials) -> RequestBuilder {
        let secret = HeaderValue::from_bytes(credentials.key.0.as_bytes()).map(|mut value| {
            value.set_sensitive(true);
            value
        });
        let identifier = HeaderValue::from_bytes(credentials.identifier.as_bytes());
        let (Ok(secret), Ok(identifier)) = (secret, identifier) else { return request };
        request.header("X-Bot-Identifier", identifier).header("X-Debate-Key", secret)
    }
}

impl ArenaApi for HttpArenaApi {
    fn join<'a>(
        &'a self,
        params: JoinParams<'a>,
    ) -> BoxFuture<'a, Result<SeatCredentials, ArenaApiError>> {
        Box::pin(async move {
            let url = self.base_url.join_path(&["api", "debate", "join"]);
            let body = protocol::join_body(params.name, params.uuid, params.debate_id).to_string();
            let request = with_json_body(self.client.post(url), body).timeout(RESPONSE_TIMEOUT);
            let response = self.send(request, None).await?;
            let invalid_response =
                || ArenaApiError::InvalidResponse("the response has no valid seat".into());
            SeatCredentials::from_json(&response).ok_or_else(invalid_response)
        })
    }

    fn poll<'a>(
        &'a self,
        credentials: &'a SeatCredentials,
        wait: bool,
    ) -> BoxFuture<'a, Result<PollResponse, ArenaApiError>> {
        Box::pin(async move {
            let mut url =
                self.base_url.join_path(&["api", "debate", &credentials.debate_id, "poll"]);
            let mut timeout = RESPONSE_TIMEOUT;
            if wait {
                url.set_query(Some(&format!("wait={LONG_POLL_SECONDS}")));
                timeout += Duration::from_secs(LONG_POLL_SECONDS);
            }
            let request =
                HttpArenaApi::add_credentials(self.client.get(url), credentials).timeout(timeout);
            let response = self.send(request, Some(credentials)).await?;
            let invalid_response =
                || ArenaApiError::InvalidResponse("the response has no debate state".into());
            PollResponse::from_json(&response, &credentials.identifier).ok_or_else(invalid_response)
        })
    }

    fn speak<'a>(
        &'a self,
        credentials: &'a SeatCredentials,
        content: &'a str,
    ) -> BoxFuture<'a, Result<(), ArenaApiError>> {
        Box::pin(async move {
            let url = self.base_url.join_path(&["api", "debate", &credentials.debate_id, "speech"]);
            let request =
                with_json_body(self.client.post(url), protocol::speech_body(content).to_string());
            let request =
                HttpArenaApi::add_credentials(request, credentials).timeout(RESPONSE_TIMEOUT);
            self.send(request, Some(credentials)).await.map(drop)
        })
    }
}

/// Configures the HTTP client for a server.
fn client_builder(base_url: &ArenaUrl) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("debate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect must not carry the key to another server.
        .redirect(redirect::Policy::none())
        .referer(false);
    // A loopback server needs no proxy and no root certificates.
    if base_url.is_loopback_http() { builder.no_proxy().tls_certs_only([]) } else { builder }
}

/// Error message for a redirect, which names its target.
fn redirect_message(headers: &HeaderMap) -> String {
    let target = headers.get(LOCATION).and_then(|it| it.to_str().ok()).unwrap_or("elsewhere");
    let target: String = target.chars().take(MAX_LOCATION_CHARS).collect();
    format!("redirects to {target} are not followed, to protect the key")
}

fn with_json_body(request: RequestBuilder, body: String) -> RequestBuilder {
    request.header("Content-Type", "application/json").body(body)
}

async fn read_bounded(response: Response) -> Result<Vec<u8>, ArenaApiError> {
    let mut bytes = vec![];
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(
            &chunk.map_err(|error| ArenaApiError::Unreachable(root_cause(&error)))?,
        );
        if bytes.len() > MAX_RESPONSE_BYTES {
            return Err(ArenaApiError::InvalidResponse(format!(
                "the response is larger than {MAX_RESPONSE_BYTES} bytes"
            )));
        }
    }
    Ok(bytes)
}

/// Parses `Retry-After`, as seconds or as a date. Returns seconds.
fn parse_retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    text.parse().ok().or_else(|| {
        let time = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        let seconds = time.as_second().saturating_sub(jiff::Timestamp::now().as_second());
        u64::try_from(seconds).ok()
    })
}

/// Message of the root cause, which contains no URL.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the request timed out".into();
    }
    let mut inner: &dyn Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[tokio::test]
    async fn response_has_at_most_4_mib() {
        assert_eq!(MAX_RESPONSE_BYTES, 4_194_304);
        let read =
            |bytes: usize| read_bounded(Response::from(hyper::Response::new(vec![b' '; bytes])));
        assert_eq!(read(MAX_RESPONSE_BYTES).await.map(|it| it.len()), Ok(MAX_RESPONSE_BYTES));
        let too_large = "the response is larger than 4194304 bytes".into();
        let error = ArenaApiError::InvalidResponse(too_large);
        assert_eq!(read(MAX_RESPONSE_BYTES + 1).await, Err(error));
    }

    /// A server that never responds, on the paused clock.
    #[tokio::test(start_paused = true)]
    async fn request_times_out_after_20_seconds_and_a_long_poll_after_45() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let api = HttpArenaApi::new(ArenaUrl::parse(&url).unwrap()).unwrap();
        let response = serde_json::json!({"debate_id": "d", "bot_identifier": "b",
            "debate_key": "k"});
        let credentials = SeatCredentials::from_json(&response).unwrap();
        let timed_out = ArenaApiError::Unreachable("the request timed out".into());
        let started = tokio::time::Instant::now();
        let params = JoinParams { name: "bot", uuid: "1", debate_id: None };
        assert_eq!(api.join(params).await, Err(timed_out.clone()));
        assert_eq!(started.elapsed().as_secs(), 20);
        for (wait, expected) in [(false, 20), (true, 45)] {
            let started = tokio::time::Instant::now();
            assert_eq!(api.poll(&credentials, wait).await, Err(timed_out.clone()));
            assert_eq!(started.elapsed().as_secs(), expected, "{wait}");
        }
    }

    /// No connection on this machine takes so long, so the test reads the configuration.
    #[test]
    fn connecting_times_out_after_10_seconds() {
        let builder = client_builder(&ArenaUrl::parse("http://localhost").unwrap());
        let builder = format!("{builder:?}");
        assert!(builder.contains("connect_timeout: 10s"), "{builder}");
    }

    #[test]
    fn redirect_target_is_quoted_up_to_200_characters() {
        assert_eq!(MAX_LOCATION_CHARS, 200);
        let target = "x".repeat(MAX_LOCATION_CHARS);
        for location in [target.clone(), format!("{target}x")] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, HeaderValue::try_from(location).unwrap());
            let message = redirect_message(&headers);
            assert!(message.starts_with(&format!("redirects to {target} are not")), "{message}");
        }
    }
}
