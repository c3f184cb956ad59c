//! Middleware that checks the `Host` and `Origin` headers, against DNS rebinding and cross-site
//! request forgery.
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Allow-list of host names.
#[derive(Clone, Debug)]
pub struct OriginCheck {
    allowed_hosts: Vec<String>,
    /// Whether any IP address is valid as a host. DNS rebinding needs a name.
    any_ip: bool,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginError {
    /// The `Host` header is not on the allow-list (DNS rebinding).
    Host,
    /// The request comes from another site (CSRF).
    Origin,
}

impl OriginCheck {
    /// Allows the loopback names, the bound address and the configured names.
    pub fn new(bound: SocketAddr, names: &[String]) -> OriginCheck {
        let mut all: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        if !bound.ip().is_unspecified() {
            all.push(match bound.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        all.extend(names.iter().map(|name| name.trim().to_ascii_lowercase()));
        OriginCheck { allowed_hosts: all, any_ip: bound.ip().is_unspecified() }
    }

    /// Checks a request. Reading needs a valid host. Other methods also need the same origin, or
    /// none as in requests from programs.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), OriginError> {
        let text = |name: header::HeaderName| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(|value| value.to_str().unwrap_or("?"));
            // A repeated header is invalid.
            if all.next().is_some() { Some("?") } else { first }
        };
        let host =
            text(header::HOST).or(uri.authority().map(Authority::as_str)).unwrap_or_default();
        let host = host.to_ascii_lowercase();
        let name = strip_port(&host);
        let number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if !(self.allowed_hosts.iter().any(|known| known == name) || self.any_ip && number) {
            return Err(OriginError::Host);
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
        if foreign || elsewhere { Err(OriginError::Origin) } else { Ok(()) }
    }
}

/// Strips the port from a host.
fn strip_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

impl OriginError {
    /// HTTP status code.
    pub fn status(self) -> StatusCode {
        match self {
            OriginError::Host => StatusCode::MISDIRECTED_REQUEST,
            OriginError::Origin => StatusCode::FORBIDDEN,
        }
    }

    /// Error message with a hint.
    pub fn message(self) -> &'static str {
        match self {
            OriginError::Host => {
                "this server is not known by that name; use the address it printed when it started\n"
            }
            OriginError::Origin => "this was sent from another site, and is not done\n",
        }
    }
}

/// Middleware that rejects invalid requests with plain text.
pub async fn check_origin(
    State(guard): State<Arc<OriginCheck>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => (refusal.status(), refusal.message()).into_response(),
    }
}
