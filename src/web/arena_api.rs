//! HTTP handlers of the arena API: rate limiting, authentication, parsing of bodies, error
//! responses. The logic is in `arena::ArenaService`.
use super::auth::{AccessLevel, AuthTokens};
use super::openapi;
use super::origin_check::OriginCheck;
use super::rate_limit::{RateLimit, RateLimiter};
use crate::arena::protocol::{CreateRoomRequest, ErrorResponse, JoinRequest, SpeechRequest};
use crate::arena::{ArenaError, ArenaService};
use crate::debate::setup::MAX_TOPIC_CHARS;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Maximum body size of a speech request in bytes. Far above the length limit, so that a long
/// speech gets the proper error.
const MAX_SPEECH_BODY_BYTES: usize = 128 * 1024;
/// Maximum body size of join and create requests in bytes.
const MAX_REQUEST_BODY_BYTES: usize = 32 * 1024;
// A topic of the maximum length must fit, also if every character is a six-byte JSON escape.
const _: () = assert!(MAX_REQUEST_BODY_BYTES > 6 * MAX_TOPIC_CHARS);
/// Timeout of reading a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum length of a debate id in bytes.
const MAX_ID_BYTES: usize = 64;
/// Maximum length of a credential header in characters.
const MAX_CREDENTIAL_CHARS: usize = 256;
/// Maximum length of a JSON error in the response, in characters.
const MAX_JSON_ERROR_CHARS: usize = 200;

/// Shared state of the handlers.
#[derive(Clone)]
pub(super) struct ArenaApiState {
    pub(super) arena: ArenaService,
    /// Rate limiter per bot.
    pub(super) bot_limiter: Arc<RateLimiter>,
    /// Rate limiter per client network.
    pub(super) network_limiter: Arc<RateLimiter>,
    /// Whether a reverse proxy sends `X-Forwarded-For`.
    pub(super) behind_proxy: bool,
    /// Tokens for creating and reading debates.
    pub(super) auth: Arc<AuthTokens>,
    /// Whether creating needs no token, because the server is reachable from this machine only.
    pub(super) public_create: bool,
}

/// IP address of the TCP peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) IpAddr);

/// Builds the router of the API.
pub(super) fn router(state: ArenaApiState, origin_check: OriginCheck) -> Router {
    Router::new()
        .route("/api/debate/join", post(join))
        .route("/api/debate/create", post(create))
        .route("/api/debate/{id}/poll", get(poll))
        .route("/api/debate/{id}/speech", post(speech))
        .route("/api/debate/{id}", get(show))
        .route("/api/debates", get(list))
        .route("/api/openapi.json", get(openapi_document))
        .route("/api", any(unknown_route))
        .route("/api/{*rest}", any(unknown_route))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(Arc::new(origin_check), check_origin))
        .with_state(state)
}

/// Middleware that rejects invalid requests with a JSON error.
async fn check_origin(
    State(origin_check): State<Arc<OriginCheck>>,
    request: Request,
    next: Next,
) -> Response {
    match origin_check.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            let mut response =
                error_response(&ArenaError::Forbidden(error.message().trim().into()), None);
            *response.status_mut() = error.status();
            response
        }
    }
}

async fn join(State(state): State<ArenaApiState>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let mut id: Option<String> = None;
    let result = async {
        state.check_network_rate(&parts)?;
        let join_request: JoinRequest = read_json_body(body, MAX_REQUEST_BODY_BYTES).await?;
        id.clone_from(&join_request.debate_id);
        state.arena.join(join_request).await
    };
    let result = result.await;
    respond(result, id.as_deref())
}

async fn create(State(state): State<ArenaApiState>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let result = async {
        state.check_network_rate(&parts)?;
        if !state.public_create && state.auth.level_of_request(&parts.headers) < AccessLevel::Act {
            return Err(ArenaError::Forbidden(
                "creating a debate here needs the token the server has printed, as \
                 `Authorization: Bearer TOKEN`"
                    .into(),
            ));
        }
        let create_request: CreateRoomRequest =
            read_json_body(body, MAX_REQUEST_BODY_BYTES).await?;
        state.arena.create_room(create_request).await
    };
    match result.await {
        Ok(created) => (StatusCode::CREATED, axum::Json(created)).into_response(),
        Err(error) => error_response(&error, None),
    }
}

/// Debate id from the path. Invalid UTF-8 is an error.
type PathDebateId = Result<Path<String>, axum::extract::rejection::PathRejection>;

/// An invalid path becomes the empty id, which no debate has.
fn path_debate_id(id: PathDebateId) -> String {
    id.map(|Path(id)| id).unwrap_or_default()
}

#[derive(Deserialize)]
struct PollQuery {
    #[serde(default)]
    wait: Option<u32>,
}

async fn poll(
    State(state): State<ArenaApiState>,
    id: PathDebateId,
    wait: Result<Query<PollQuery>, axum::extract::rejection::QueryRejection>,
    parts: Parts,
) -> Response {
    let id = path_debate_id(id);
    let result = async {
        let (identifier, key) = read_credentials(&parts.headers)?;
        state.authenticate_bot(&parts, &id, (&identifier, &key)).await?;
        let wait = match wait {
            Ok(Query(PollQuery { wait })) => wait.unwrap_or(0),
            Err(_) => {
                return Err(ArenaError::MalformedBody("`wait` must be a number of seconds".into()));
            }
        };
        state.arena.poll(&id, (&identifier, &key), wait).await
    };
    respond(result.await, Some(&id))
}

async fn speech(
    State(state): State<ArenaApiState>,
    id: PathDebateId,
    request: Request,
) -> Response {
    let id = path_debate_id(id);
    let (parts, body) = request.into_parts();
    let result = async {
        let (identifier, key) = read_credentials(&parts.headers)?;
        state.authenticate_bot(&parts, &id, (&identifier, &key)).await?;
        let speech_request: SpeechRequest = read_json_body(body, MAX_SPEECH_BODY_BYTES).await?;
        state.arena.speak(&id, (&identifier, &key), speech_request).await
    };
    respond(result.await, Some(&id))
}

async fn show(State(state): State<ArenaApiState>, id: PathDebateId, parts: Parts) -> Response {
    let id = path_debate_id(id);
    let result = async {
        state.authorize_read(&parts)?;
        state.arena.public_status(&id).await
    };
    respond(result.await, Some(&id))
}

#[derive(Deserialize)]
struct ListQuery {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

async fn list(
    State(state): State<ArenaApiState>,
    query: Result<Query<ListQuery>, axum::extract::rejection::QueryRejection>,
    parts: Parts,
) -> Response {
    let result = async {
        state.authorize_read(&parts)?;
        let Ok(Query(ListQuery { status, limit })) = query else {
            return Err(ArenaError::MalformedBody("`limit` must be a number".into()));
        };
        let status = status.filter(|it| !it.is_empty());
        if status.as_deref().is_some_and(|it| !["waiting", "active", "ended"].contains(&it)) {
            return Err(ArenaError::MalformedBody(
                "`status` must be waiting, active or ended".into(),
            ));
        }
        Ok(state.arena.list_debates(status.as_deref(), limit.unwrap_or(usize::MAX)).await)
    };
    respond(result.await, None)
}

async fn openapi_document() -> Response {
    static DOCUMENT: LazyLock<serde_json::Value> = LazyLock::new(openapi::document);
    axum::Json(&*DOCUMENT).into_response()
}

async fn unknown_route(method: Method) -> Response {
    error_response(
        &ArenaError::UnknownRoute(format!("{method} endpoint at this path; see /api/openapi.json")),
        None,
    )
}

async fn method_not_allowed() -> Response {
    let error = ArenaError::UnknownRoute(
        "endpoint for this method at this path; see /api/openapi.json".into(),
    );
    let mut response = error_response(&error, None);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

impl ArenaApiState {
    /// Applies the rate limit of the client's network.
    fn check_network_rate(&self, parts: &Parts) -> Result<(), ArenaError> {
        let Some(address) = self.client_address(parts) else { return Ok(()) };
        check_address_rate(&self.network_limiter, address)
    }

    /// Authenticates a bot and applies its rate limit. In this order, so that a request with a
    /// wrong key does not use up the bot's limit.
    async fn authenticate_bot(
        &self,
        parts: &Parts,
        id: &str,
        (identifier, key): (&str, &str),
    ) -> Result<(), ArenaError> {
        self.check_network_rate(parts)?;
        check_id_length(id)?;
        self.arena.verify_credentials(id, (identifier, key)).await?;
        check_bot_rate(&self.bot_limiter, id, identifier)
    }

    /// Address of a client on another machine. Behind a proxy, the last `X-Forwarded-For` entry.
    fn client_address(&self, parts: &Parts) -> Option<IpAddr> {
        let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0);
        let parse_last =
            |value: &HeaderValue| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok();
        let forwarded =
            parts.headers.get_all("x-forwarded-for").iter().next_back().and_then(parse_last);
        let client = forwarded.filter(|_| self.behind_proxy).or(peer);
        client.filter(|address| self.behind_proxy || !address.is_loopback())
    }

    /// Authorizes reading, which needs a token unless the server is open.
    fn authorize_read(&self, parts: &Parts) -> Result<(), ArenaError> {
        self.check_network_rate(parts)?;
        if self.auth.level_of_request(&parts.headers) >= AccessLevel::Read {
            return Ok(());
        }
        Err(ArenaError::Forbidden(
            "reading here needs a viewer's token, as `Authorization: Bearer TOKEN`".into(),
        ))
    }
}

/// Applies the rate limit of a network to a request from this address.
fn check_address_rate(limiter: &RateLimiter, address: IpAddr) -> Result<(), ArenaError> {
    let network = network_key(address);
    limiter.check(&network, RateLimit::NETWORK).map_err(|seconds| {
        tracing::info!(network, retry_after = seconds, "rate limited");
        ArenaError::RateLimited { seconds }
    })
}

/// Applies the rate limit of a bot in a debate.
fn check_bot_rate(limiter: &RateLimiter, id: &str, identifier: &str) -> Result<(), ArenaError> {
    limiter.check(&format!("{id} {identifier}"), RateLimit::BOT).map_err(|seconds| {
        tracing::info!(room = id, bot = identifier, retry_after = seconds, "rate limited");
        ArenaError::RateLimited { seconds }
    })
}

/// No debate has an id above the maximum length.
fn check_id_length(id: &str) -> Result<(), ArenaError> {
    if id.len() > MAX_ID_BYTES { Err(ArenaError::DebateNotFound) } else { Ok(()) }
}

/// Key of the rate limiter: an IPv4 address or an IPv6 /64 network.
fn network_key(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{:x?}", &address.segments()[..4]),
    }
}

/// Reads the credential headers. Both are required.
fn read_credentials(headers: &HeaderMap) -> Result<(String, String), ArenaError> {
    let read_header = |name: &str| {
        let value = headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
        value.map(str::trim).filter(|value| !value.is_empty()).map(ToOwned::to_owned)
    };
    let (Some(identifier), Some(key)) =
        (read_header("x-bot-identifier"), read_header("x-debate-key"))
    else {
        return Err(ArenaError::MissingAuth);
    };
    if identifier.chars().count() > MAX_CREDENTIAL_CHARS || key.len() > MAX_CREDENTIAL_CHARS {
        return Err(ArenaError::InvalidCredentials);
    }
    Ok((identifier, key))
}

async fn read_json_body<T: DeserializeOwned>(
    body: Body,
    max_bytes: usize,
) -> Result<T, ArenaError> {
    let bytes: Bytes = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, max_bytes))
        .await
        .map_err(|_| ArenaError::MalformedBody("it did not arrive in time".into()))?
        .map_err(|_| ArenaError::BodyTooLarge(max_bytes))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message: String = error.to_string().chars().take(MAX_JSON_ERROR_CHARS).collect();
        ArenaError::MalformedBody(message)
    })
}

fn respond<T: Serialize>(result: Result<T, ArenaError>, id: Option<&str>) -> Response {
    match result {
        Ok(body) => axum::Json(body).into_response(),
        Err(error) => error_response(&error, id),
    }
}

fn error_response(error: &ArenaError, id: Option<&str>) -> Response {
    let body = ErrorResponse {
        error_code: error.code(),
        message: error.message(),
        debate_id: id.map(|id| id.chars().take(MAX_CREDENTIAL_CHARS).collect()),
        recoverable: error.is_recoverable(),
        retry_after: error.retry_after(),
    };
    if let ArenaError::Internal(cause) = error {
        tracing::error!(error = cause, "arena request failed");
    }
    let status =
        StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(body)).into_response();
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep};

    #[tokio::test(start_paused = true)]
    async fn bot_over_its_rate_limit_gets_429_with_retry_after() {
        let limiter = RateLimiter::default();
        let send = |id: &str, identifier: &str| {
            let response = respond(check_bot_rate(&limiter, id, identifier), Some(id));
            let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
            (response.status().as_u16(), retry_after)
        };
        let refused = (429, Some(HeaderValue::from_static("1")));
        for _ in 0..50 {
            assert_eq!(send("room", "bot"), (200, None));
        }
        assert_eq!(send("room", "bot"), refused);
        advance(Duration::from_millis(40)).await;
        assert_eq!(send("room", "bot"), (200, None));
        assert_eq!(send("room", "bot"), refused);
        // The limit is per bot and debate.
        assert_eq!(send("room", "other bot"), (200, None));
        assert_eq!(send("other room", "bot"), (200, None));
    }

    #[tokio::test(start_paused = true)]
    async fn ipv6_network_shares_one_rate_limit() {
        let limiter = RateLimiter::default();
        let send = |address: &str| check_address_rate(&limiter, address.parse().unwrap());
        for _ in 0..400 {
            assert_eq!(send("2001:db8:0:1::1"), Ok(()));
        }
        let refused = Err(ArenaError::RateLimited { seconds: 1 });
        assert_eq!(send("2001:db8:0:1:ffff::2"), refused, "the same /64");
        assert_eq!(send("2001:db8:0:2::1"), Ok(()), "the next /64");
    }

    #[tokio::test(start_paused = true)]
    async fn body_must_arrive_within_15_seconds() {
        assert_eq!(BODY_TIMEOUT, Duration::from_secs(15));
        let read_after = |delay: Duration| {
            let chunk = async move {
                sleep(delay).await;
                Ok::<_, std::convert::Infallible>("7")
            };
            read_json_body::<u8>(Body::from_stream(futures_util::stream::once(chunk)), 1)
        };
        let tick = Duration::from_millis(1);
        assert_eq!(read_after(BODY_TIMEOUT.checked_sub(tick).unwrap()).await, Ok(7));
        let late = ArenaError::MalformedBody("it did not arrive in time".into());
        assert_eq!(read_after(BODY_TIMEOUT + tick).await, Err(late));
    }

    #[tokio::test]
    async fn json_error_is_cut_to_200_characters() {
        let body = |length: usize| format!("\"{}\"", "x".repeat(length));
        let full_error =
            |length: usize| serde_json::from_str::<u8>(&body(length)).unwrap_err().to_string();
        let frame = full_error(100).chars().count() - 100;
        let fitting = MAX_JSON_ERROR_CHARS - frame;
        assert_eq!((MAX_JSON_ERROR_CHARS, full_error(fitting).chars().count()), (200, 200));
        for length in [fitting, fitting + 1] {
            let cut_error: String = full_error(length).chars().take(200).collect();
            assert_eq!(
                read_json_body::<u8>(Body::from(body(length)), 1_000).await,
                Err(ArenaError::MalformedBody(cut_error))
            );
        }
    }

    #[test]
    fn debate_id_and_credentials_have_a_maximum_length() {
        assert_eq!((MAX_ID_BYTES, MAX_CREDENTIAL_CHARS), (64, 256));
        assert_eq!(check_id_length(&"i".repeat(MAX_ID_BYTES)), Ok(()));
        let too_long = "i".repeat(MAX_ID_BYTES + 1);
        assert_eq!(check_id_length(&too_long), Err(ArenaError::DebateNotFound));
        let read = |identifier_chars: usize, key_chars: usize| {
            let mut headers = HeaderMap::new();
            let value = |chars: usize| HeaderValue::try_from("x".repeat(chars)).unwrap();
            headers.insert("x-bot-identifier", value(identifier_chars));
            headers.insert("x-debate-key", value(key_chars));
            read_credentials(&headers)
        };
        let max = MAX_CREDENTIAL_CHARS;
        assert_eq!(read(max, max), Ok(("x".repeat(max), "x".repeat(max))));
        assert_eq!(read(max + 1, max), Err(ArenaError::InvalidCredentials));
        assert_eq!(read(max, max + 1), Err(ArenaError::InvalidCredentials));
    }
}
