//! One request and what comes back, as a stream of events: with bounds, and with every way in which it
//! can break told apart. What the events mean is not known here.
use super::rebuff;
use super::service::{Secret, near};
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use std::error::Error;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

/// Bytes of a response that are read.
const MOST: usize = 16 * 1024 * 1024;
/// Bytes of one line of it. Looking for the end of a longer one would take longer than any answer.
const LINE: usize = 4 * 1024 * 1024;
/// Bytes of a complaint that are read.
const COMPLAINT: usize = 64 * 1024;
/// How long finding somebody may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long is waited for the end of a response in which nothing more is said, so that its connection
/// can be used again.
const ECHO: Duration = Duration::from_millis(100);

/// Whoever asks over HTTP, made when first needed: reading whom to trust takes a while.
#[derive(Default)]
pub(super) struct Clients {
    far: OnceLock<Result<Client, String>>,
    near: OnceLock<Result<Client, String>>,
}

/// Why a response could not be read to its end.
pub(super) enum Broken {
    /// Nobody is there.
    Silent(String),
    /// The connection was lost.
    Lost(String),
    /// It is longer than can be read.
    Flood,
    /// It is no text, or not text of this kind.
    Garbage,
}

impl Clients {
    /// For servers on this machine there is no proxy, and no one's word is needed.
    pub(super) fn of(&self, address: &Url) -> Result<&Client, String> {
        let plain = near(address) && address.scheme() == "http";
        let client = if plain { &self.near } else { &self.far };
        client.get_or_init(|| client_for(plain)).as_ref().map_err(Clone::clone)
    }
}

fn client_for(plain: bool) -> Result<Client, String> {
    // Somebody else in this process may have been first, with the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("debate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A key is for the one it was meant for.
        .redirect(redirect::Policy::none())
        .referer(false);
    let builder = if plain { builder.no_proxy().tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| format!("no HTTP here: {}", innermost(&error)))
}

/// Adds headers, none of which is ever shown.
pub(super) fn with_headers<'a>(
    mut request: RequestBuilder,
    headers: impl IntoIterator<Item = (&'a str, &'a Secret)>,
) -> RequestBuilder {
    for (name, Secret(value)) in headers {
        request = match reqwest::header::HeaderValue::from_str(value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                request.header(name, value)
            }
            // The builder keeps the mistake and tells of it when it is sent.
            Err(_) => request.header(name, value),
        };
    }
    request
}

/// Sends a request.
pub(super) async fn send(request: RequestBuilder) -> Result<Response, Broken> {
    request.send().await.map_err(|error| {
        let why = innermost(&error);
        if error.is_connect() || error.is_builder() {
            Broken::Silent(why)
        } else {
            Broken::Lost(why)
        }
    })
}

/// What a response that is no answer says, as far as it can be read.
pub(super) async fn complaint(response: Response) -> rebuff::Complaint {
    let status = response.status().as_u16();
    let text = |value: &reqwest::header::HeaderValue| value.to_str().map(Into::into).ok();
    let headers: Vec<(String, String)> = (response.headers().iter())
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect();
    let body = whole(response, COMPLAINT).await.unwrap_or_default();
    let mut complaint = rebuff::Complaint::of(Some(u64::from(status)), &body);
    complaint.retry_ms = rebuff::retry(&headers).or(complaint.retry_ms);
    complaint
}

/// The beginning of a body, or why there is none.
pub(super) async fn whole(response: Response, most: usize) -> Result<String, Broken> {
    let mut bytes = vec![];
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk.map_err(|error| Broken::Lost(innermost(&error)))?);
        if bytes.len() > most {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Hands on the data of every event until there are no more, too many, or enough. How many there
/// were; none, if the response was empty.
pub(super) async fn events(
    response: Response,
    mut heard: impl FnMut(&str) -> Result<bool, Broken> + Send,
) -> Result<Option<usize>, Broken> {
    let mut said = false;
    let mut count = 0;
    let mut events = Box::pin(bounded(response, &mut said).eventsource());
    loop {
        let event = match events.next().await {
            None => break,
            Some(Ok(event)) => event,
            Some(Err(EventStreamError::Transport(broken))) => return Err(broken),
            Some(Err(_)) => return Err(Broken::Garbage),
        };
        count += 1;
        if heard(&event.data)? {
            let _ = tokio::time::timeout(ECHO, events.next()).await;
            break;
        }
    }
    drop(events);
    Ok(said.then_some(count))
}

/// A body that ends with a complaint where it becomes too long.
fn bounded(
    response: Response,
    said: &mut bool,
) -> impl Stream<Item = Result<impl AsRef<[u8]> + use<>, Broken>> {
    let (mut all, mut line) = (0, 0);
    response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|error| Broken::Lost(innermost(&error)))?;
        *said = true;
        all += chunk.len();
        line = match chunk.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => chunk.len() - end,
            None => line + chunk.len(),
        };
        if all > MOST || line > LINE { Err(Broken::Flood) } else { Ok(chunk) }
    })
}

/// The reason behind the reasons, which names no address.
fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Silent(why) | Broken::Lost(why) => f.write_str(why),
            Broken::Flood => f.write_str("it said more than can be read"),
            Broken::Garbage => f.write_str("nothing it said could be read"),
        }
    }
}
