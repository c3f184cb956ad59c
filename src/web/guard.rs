//! Which requests are looked at at all. A page anywhere can make a browser ask this server for
//! something; what it cannot do is choose the names under which it asks.
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The names this server is known by.
#[derive(Clone, Debug)]
pub struct Guard {
    names: Vec<String>,
    /// Whether any number will do: nobody's DNS can lead here under one.
    numbers: bool,
}

/// Why a request is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It was sent to a name that is not this server's: somebody's DNS led here.
    Host,
    /// It comes from another page.
    Origin,
}

impl Guard {
    /// What is bound at an address is known by it, by the names of this machine if nobody else can
    /// reach it, and by whatever else is said.
    pub fn new(bound: SocketAddr, names: &[String]) -> Guard {
        let mut all: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        if !bound.ip().is_unspecified() {
            all.push(match bound.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        all.extend(names.iter().map(|name| name.trim().to_ascii_lowercase()));
        Guard { names: all, numbers: bound.ip().is_unspecified() }
    }

    /// Whether a request is looked at. Whoever reads needs the right name only; whoever wants
    /// something done must come from a page of this server, or from no page at all.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: header::HeaderName| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(|value| value.to_str().unwrap_or("?"));
            // Two of them are nobody's.
            if all.next().is_some() { Some("?") } else { first }
        };
        let host =
            text(header::HOST).or(uri.authority().map(Authority::as_str)).unwrap_or_default();
        let host = host.to_ascii_lowercase();
        let name = bare(&host);
        let number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if !(self.names.iter().any(|known| known == name) || self.numbers && number) {
            return Err(Refusal::Host);
        }
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        let foreign = text(header::ORIGIN).is_some_and(|origin| {
            let origin = origin.to_ascii_lowercase();
            let there = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            there != Some(host.as_str())
        });
        let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
        let elsewhere = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        if foreign || elsewhere { Err(Refusal::Origin) } else { Ok(()) }
    }
}

/// A host without its port.
fn bare(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

impl Refusal {
    /// As HTTP has it.
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Origin => StatusCode::FORBIDDEN,
        }
    }

    /// In words, with what to do.
    pub fn says(self) -> &'static str {
        match self {
            Refusal::Host => {
                "this server is not known by that name; use the address it printed when it started\n"
            }
            Refusal::Origin => "this was sent from another site, and is not done\n",
        }
    }
}

/// Turns away what is not to be looked at.
pub async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => (refusal.status(), refusal.says()).into_response(),
    }
}
