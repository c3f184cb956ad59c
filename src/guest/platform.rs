//! HTTP client for the arena API: join, poll and speech requests. Responses are bounded, redirects
//! are not followed, and the key is redacted from every response.
use super::address::Address;
use super::manners::WAIT;
use super::wire::{self, Pass, Poll, Refusal};
use crate::engine::BoxFuture;
use futures_util::StreamExt;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// Maximum size of a response in bytes.
const MOST: usize = 4 * 1024 * 1024;
/// Timeout of connecting, and of a response.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(20);

/// Error of an API request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection, a lost connection or a timeout. The request may have been processed.
    Silent(String),
    /// The response cannot be parsed.
    Garbage(String),
    /// The server sent an error response.
    Refused(Refusal),
}

/// Parameters of a join request.
#[derive(Clone, Debug)]
pub struct Visitor<'a> {
    /// Display name of the bot.
    pub name: &'a str,
    /// Id of the bot.
    pub uuid: &'a str,
    /// Debate to join. `None` for any debate.
    pub debate: Option<&'a str>,
}

/// API of a remote arena. Tests replace it with a fake.
pub trait Platform: Send + Sync {
    /// Requests a seat.
    fn join<'a>(&'a self, visitor: Visitor<'a>) -> BoxFuture<'a, Result<Pass, Broken>>;

    /// Polls the status. With `wait`, a long poll.
    fn poll<'a>(&'a self, pass: &'a Pass, wait: bool) -> BoxFuture<'a, Result<Poll, Broken>>;

    /// Submits a speech.
    fn speak<'a>(&'a self, pass: &'a Pass, content: &'a str) -> BoxFuture<'a, Result<(), Broken>>;
}

/// The API over HTTP.
pub struct Http {
    address: Address,
    client: Client,
}

impl Http {
    /// Creates a client without sending a request.
    pub fn new(address: Address) -> Result<Http, String> {
        // Another part of the process may have installed the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("debate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // A redirect must not carry the key to another server.
            .redirect(redirect::Policy::none())
            .referer(false);
        // A loopback server needs no proxy and no root certificates.
        let builder = if address.plain() { builder.no_proxy().tls_certs_only([]) } else { builder };
        let client = builder.build();
        let client = client.map_err(|error| format!("no HTTP here: {}", innermost(&error)))?;
        Ok(Http { address, client })
    }

    async fn ask(&self, request: RequestBuilder, pass: Option<&Pass>) -> Result<Value, Broken> {
        let silent = |error: reqwest::Error| Broken::Silent(innermost(&error));
        let response = request.send().await.map_err(silent)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = bounded(response).await?;
        let read = serde_json::from_slice::<Value>(&body);
        let clean = |mut value: Value| {
            if let Some(pass) = pass {
                wire::without(&pass.key, &mut value);
            }
            value
        };
        if status.is_success() {
            let garbage = |_| Broken::Garbage("what it answers is no JSON".into());
            return read.map(clean).map_err(garbage);
        }
        let value = read.map(clean).unwrap_or_default();
        let mut refusal = Refusal::read(status.as_u16(), retry_after(&headers), &value);
        if status.is_redirection() {
            let to = headers.get(LOCATION).and_then(|it| it.to_str().ok()).unwrap_or("elsewhere");
            let to: String = to.chars().take(200).collect();
            refusal.message = format!("it points to {to}, and nobody is followed with a key");
        }
        Err(Broken::Refused(refusal))
    }

    fn signed(request: RequestBuilder, pass: &Pass) -> RequestBuilder {
        let secret = HeaderValue::from_bytes(pass.key.0.as_bytes()).map(|mut value| {
            value.set_sensitive(true);
            value
        });
        let name = HeaderValue::from_bytes(pass.identifier.as_bytes());
        let (Ok(secret), Ok(name)) = (secret, name) else { return request };
        request.header("X-Bot-Identifier", name).header("X-Debate-Key", secret)
    }
}

impl Platform for Http {
    fn join<'a>(&'a self, visitor: Visitor<'a>) -> BoxFuture<'a, Result<Pass, Broken>> {
        Box::pin(async move {
            let url = self.address.to(&["api", "debate", "join"]);
            let body = wire::join(visitor.name, visitor.uuid, visitor.debate).to_string();
            let request = json(self.client.post(url), body).timeout(ANSWER);
            let answer = self.ask(request, None).await?;
            let lacking = || Broken::Garbage("it gives no usable seat".into());
            Pass::read(&answer).ok_or_else(lacking)
        })
    }

    fn poll<'a>(&'a self, pass: &'a Pass, wait: bool) -> BoxFuture<'a, Result<Poll, Broken>> {
        Box::pin(async move {
            let mut url = self.address.to(&["api", "debate", &pass.debate, "poll"]);
            let mut patience = ANSWER;
            if wait {
                url.set_query(Some(&format!("wait={WAIT}")));
                patience += Duration::from_secs(WAIT);
            }
            let request = Http::signed(self.client.get(url), pass).timeout(patience);
            let answer = self.ask(request, Some(pass)).await?;
            let lacking = || Broken::Garbage("it does not say how the debate stands".into());
            Poll::read(&answer, &pass.identifier).ok_or_else(lacking)
        })
    }

    fn speak<'a>(&'a self, pass: &'a Pass, content: &'a str) -> BoxFuture<'a, Result<(), Broken>> {
        Box::pin(async move {
            let url = self.address.to(&["api", "debate", &pass.debate, "speech"]);
            let request = json(self.client.post(url), wire::speech(content).to_string());
            let request = Http::signed(request, pass).timeout(ANSWER);
            self.ask(request, Some(pass)).await.map(drop)
        })
    }
}

fn json(request: RequestBuilder, body: String) -> RequestBuilder {
    request.header("Content-Type", "application/json").body(body)
}

async fn bounded(response: Response) -> Result<Vec<u8>, Broken> {
    let mut bytes = vec![];
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk.map_err(|error| Broken::Silent(innermost(&error)))?);
        if bytes.len() > MOST {
            return Err(Broken::Garbage(format!("it says more than {MOST} bytes")));
        }
    }
    Ok(bytes)
}

/// Parses `Retry-After`, as seconds or as a date. Returns seconds.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    text.parse().ok().or_else(|| {
        let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        let left = at.as_second().saturating_sub(jiff::Timestamp::now().as_second());
        u64::try_from(left).ok()
    })
}

/// Message of the root cause, which contains no URL.
fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "nothing came in time".into();
    }
    let mut inner: &dyn Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}
