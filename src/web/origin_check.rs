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
        let mut allowed_hosts: Vec<String> =
            ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        if !bound.ip().is_unspecified() {
            allowed_hosts.push(match bound.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        allowed_hosts.extend(names.iter().map(|name| name.trim().to_ascii_lowercase()));
        OriginCheck { allowed_hosts, any_ip: bound.ip().is_unspecified() }
    }

    /// Checks a request. Reading needs a valid host. Other methods also need the same origin, or
    /// none as in requests from programs.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), OriginError> {
        let single_header = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or("?"));
            // A repeated header is invalid.
            if values.next().is_some() { Some("?") } else { first }
        };
        let host = single_header(header::HOST)
            .or(uri.authority().map(Authority::as_str))
            .unwrap_or_default();
        let host = host.to_ascii_lowercase();
        let name = strip_port(&host);
        let is_ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if !(self.allowed_hosts.iter().any(|known| known == name) || self.any_ip && is_ip) {
            return Err(OriginError::Host);
        }
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        let is_foreign = single_header(header::ORIGIN).is_some_and(|origin| {
            let origin = origin.to_ascii_lowercase();
            let origin_host = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            origin_host != Some(host.as_str())
        });
        let fetch_site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
        let is_cross_site =
            fetch_site.is_some_and(|fetch_site| !matches!(fetch_site, "same-origin" | "none"));
        if is_foreign || is_cross_site { Err(OriginError::Origin) } else { Ok(()) }
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
                "this host name is not allowed; use the address that the server printed\n"
            }
            OriginError::Origin => "this request comes from another site and was refused\n",
        }
    }
}

/// Middleware that rejects invalid requests with plain text.
pub async fn check_origin(
    State(origin_check): State<Arc<OriginCheck>>,
    request: Request,
    next: Next,
) -> Response {
    match origin_check.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => (error.status(), error.message()).into_response(),
    }
}
