//! The three requests a guest makes, over HTTP, and every way in which they can go wrong.
use super::address::Address;
use super::manners::WAIT;
use super::wire::{self, Pass, Poll, Refusal};
use crate::engine::Boxed;
use futures_util::StreamExt;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// Bytes of an answer that are read.
const MOST: usize = 4 * 1024 * 1024;
/// How long finding somebody may take, and an answer.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(20);

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Nobody is there, or the connection was lost: nobody knows what has arrived.
    Silent(String),
    /// It answered, and nothing can be made of it.
    Garbage(String),
    /// It said no.
    Refused(Refusal),
}

/// Whoever asks for a seat.
#[derive(Clone, Debug)]
pub struct Visitor<'a> {
    /// What it wants to be called.
    pub name: &'a str,
    /// What it is known by.
    pub uuid: &'a str,
    /// Which debate; any, if none is named.
    pub debate: Option<&'a str>,
}

/// A platform, as far as a guest needs it.
pub trait Platform: Send + Sync {
    /// Asks for a seat.
    fn join<'a>(&'a self, visitor: Visitor<'a>) -> Boxed<'a, Result<Pass, Broken>>;

    /// Asks how the debate stands; if it may wait, until something has changed.
    fn poll<'a>(&'a self, pass: &'a Pass, wait: bool) -> Boxed<'a, Result<Poll, Broken>>;

    /// Speaks.
    fn speak<'a>(&'a self, pass: &'a Pass, content: &'a str) -> Boxed<'a, Result<(), Broken>>;
}

/// One that is reached over the network.
pub struct Http {
    address: Address,
    client: Client,
}

impl Http {
    /// At this address. Nothing is asked yet.
    pub fn new(address: Address) -> Result<Http, String> {
        // Somebody else in this process may have been first, with the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("debate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // A key is for the one it came from.
            .redirect(redirect::Policy::none())
            .referer(false);
        // On this machine there is no proxy, and no one's word is needed.
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
    fn join<'a>(&'a self, visitor: Visitor<'a>) -> Boxed<'a, Result<Pass, Broken>> {
        Box::pin(async move {
            let url = self.address.to(&["api", "debate", "join"]);
            let body = wire::join(visitor.name, visitor.uuid, visitor.debate).to_string();
            let request = json(self.client.post(url), body).timeout(ANSWER);
            let answer = self.ask(request, None).await?;
            let lacking = || Broken::Garbage("it gives no usable seat".into());
            Pass::read(&answer).ok_or_else(lacking)
        })
    }

    fn poll<'a>(&'a self, pass: &'a Pass, wait: bool) -> Boxed<'a, Result<Poll, Broken>> {
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

    fn speak<'a>(&'a self, pass: &'a Pass, content: &'a str) -> Boxed<'a, Result<(), Broken>> {
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

/// In seconds, from either form of the header.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    text.parse().ok().or_else(|| {
        let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        let left = at.as_second().saturating_sub(jiff::Timestamp::now().as_second());
        u64::try_from(left).ok()
    })
}

/// The reason behind the reasons, which names no address.
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
