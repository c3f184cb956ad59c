//! HTTP handlers of the arena API: rate limiting, authentication, parsing of bodies, error
//! responses. The logic is in `arena::ArenaService`.
use super::auth::{AccessLevel, AuthTokens};
use super::openapi;
use super::origin_check::OriginCheck;
use super::rate_limit::{RateLimit, RateLimiter};
use crate::arena::protocol::{CreateRoomRequest, ErrorResponse, JoinRequest, SpeechRequest};
use crate::arena::{ArenaError, ArenaService};
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
/// Timeout of reading a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum length of a debate id in bytes.
const MAX_ID_BYTES: usize = 64;
/// Maximum length of a credential header in characters.
const MAX_CREDENTIAL_CHARS: usize = 256;

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
pub(super) fn router(rest: ArenaApiState, names: OriginCheck) -> Router {
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
        .layer(middleware::from_fn_with_state(Arc::new(names), check_origin))
        .with_state(rest)
}

/// Middleware that rejects invalid requests with a JSON error.
async fn check_origin(
    State(names): State<Arc<OriginCheck>>,
    request: Request,
    next: Next,
) -> Response {
    match names.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => {
            let mut response =
                error_response(&ArenaError::Forbidden(why.message().trim().into()), None);
            *response.status_mut() = why.status();
            response
        }
    }
}

async fn join(State(rest): State<ArenaApiState>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let mut id: Option<String> = None;
    let answer = async {
        rest.check_network_rate(&head)?;
        let wanted: JoinRequest = read_json_body(sent, MAX_REQUEST_BODY_BYTES).await?;
        id.clone_from(&wanted.debate_id);
        rest.arena.join(wanted).await
    };
    let answer = answer.await;
    respond(answer, id.as_deref())
}

async fn create(State(rest): State<ArenaApiState>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let answer = async {
        rest.check_network_rate(&head)?;
        if !rest.public_create && rest.auth.level_of_request(&head.headers) < AccessLevel::Act {
            return Err(ArenaError::Forbidden(
                "creating a debate here needs the token the server has printed, as \
                 `Authorization: Bearer TOKEN`"
                    .into(),
            ));
        }
        let wanted: CreateRoomRequest = read_json_body(sent, MAX_REQUEST_BODY_BYTES).await?;
        rest.arena.create_room(wanted).await
    };
    match answer.await {
        Ok(created) => (StatusCode::CREATED, axum::Json(created)).into_response(),
        Err(refusal) => error_response(&refusal, None),
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
    State(rest): State<ArenaApiState>,
    id: PathDebateId,
    wait: Result<Query<PollQuery>, axum::extract::rejection::QueryRejection>,
    head: Parts,
) -> Response {
    let id = path_debate_id(id);
    let answer = async {
        let (who, key) = read_credentials(&head.headers)?;
        rest.authenticate_bot(&head, &id, (&who, &key))?;
        let wait = match wait {
            Ok(Query(PollQuery { wait })) => wait.unwrap_or(0),
            Err(_) => {
                return Err(ArenaError::MalformedBody("`wait` is a number of seconds".into()));
            }
        };
        rest.arena.poll(&id, (&who, &key), wait).await
    };
    respond(answer.await, Some(&id))
}

async fn speech(State(rest): State<ArenaApiState>, id: PathDebateId, request: Request) -> Response {
    let id = path_debate_id(id);
    let (head, sent) = request.into_parts();
    let answer = async {
        let (who, key) = read_credentials(&head.headers)?;
        rest.authenticate_bot(&head, &id, (&who, &key))?;
        let wanted: SpeechRequest = read_json_body(sent, MAX_SPEECH_BODY_BYTES).await?;
        rest.arena.speak(&id, (&who, &key), wanted).await
    };
    respond(answer.await, Some(&id))
}

async fn show(State(rest): State<ArenaApiState>, id: PathDebateId, head: Parts) -> Response {
    let id = path_debate_id(id);
    let answer = rest.authorize_read(&head).and_then(|()| rest.arena.public_status(&id));
    respond(answer, Some(&id))
}

#[derive(Deserialize)]
struct ListQuery {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

async fn list(
    State(rest): State<ArenaApiState>,
    which: Result<Query<ListQuery>, axum::extract::rejection::QueryRejection>,
    head: Parts,
) -> Response {
    let answer = rest.authorize_read(&head).and_then(|()| {
        let Ok(Query(ListQuery { status, limit })) = which else {
            return Err(ArenaError::MalformedBody("`limit` is a number".into()));
        };
        let status = status.filter(|it| !it.is_empty());
        if status.as_deref().is_some_and(|it| !["waiting", "active", "ended"].contains(&it)) {
            return Err(ArenaError::MalformedBody("`status` is waiting, active or ended".into()));
        }
        Ok(rest.arena.list_debates(status.as_deref(), limit.unwrap_or(usize::MAX)))
    });
    respond(answer, None)
}

async fn openapi_document() -> Response {
    static DOCUMENT: LazyLock<serde_json::Value> = LazyLock::new(openapi::document);
    axum::Json(&*DOCUMENT).into_response()
}

async fn unknown_route(method: Method) -> Response {
    error_response(
        &ArenaError::UnknownRoute(format!("{method} of this path; see /api/openapi.json")),
        None,
    )
}

async fn method_not_allowed() -> Response {
    let refusal =
        ArenaError::UnknownRoute("such method for this path; see /api/openapi.json".into());
    let mut response = error_response(&refusal, None);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

impl ArenaApiState {
    /// Applies the rate limit of the client's network.
    fn check_network_rate(&self, head: &Parts) -> Result<(), ArenaError> {
        let Some(from) = self.client_address(head) else { return Ok(()) };
        let too_fast = |seconds| ArenaError::RateLimited { seconds };
        self.network_limiter.check(&network_key(from), RateLimit::NETWORK).map_err(too_fast)
    }

    /// Authenticates a bot and applies its rate limit. In this order, so that a request with a
    /// wrong key does not use up the bot's limit.
    fn authenticate_bot(
        &self,
        head: &Parts,
        id: &str,
        (who, key): (&str, &str),
    ) -> Result<(), ArenaError> {
        self.check_network_rate(head)?;
        if id.len() > MAX_ID_BYTES {
            return Err(ArenaError::DebateNotFound);
        }
        self.arena.verify_credentials(id, (who, key))?;
        let too_fast = |seconds| ArenaError::RateLimited { seconds };
        self.bot_limiter.check(&format!("{id} {who}"), RateLimit::BOT).map_err(too_fast)
    }

    /// Address of a client on another machine. Behind a proxy, the last `X-Forwarded-For` entry.
    fn client_address(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<PeerAddress>().map(|peer| peer.0);
        let last =
            |value: &HeaderValue| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok();
        let told = head.headers.get_all("x-forwarded-for").iter().next_back().and_then(last);
        let from = told.filter(|_| self.behind_proxy).or(peer);
        from.filter(|address| self.behind_proxy || !address.is_loopback())
    }

    /// Authorizes reading, which needs a token unless the server is open.
    fn authorize_read(&self, head: &Parts) -> Result<(), ArenaError> {
        self.check_network_rate(head)?;
        if self.auth.level_of_request(&head.headers) >= AccessLevel::Read {
            return Ok(());
        }
        Err(ArenaError::Forbidden(
            "reading here needs a viewer's token, as `Authorization: Bearer TOKEN`".into(),
        ))
    }
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
    let read = |name: &str| {
        let value = headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
        value.map(str::trim).filter(|value| !value.is_empty()).map(ToOwned::to_owned)
    };
    let (Some(who), Some(key)) = (read("x-bot-identifier"), read("x-debate-key")) else {
        return Err(ArenaError::MissingAuth);
    };
    if who.chars().count() > MAX_CREDENTIAL_CHARS || key.len() > MAX_CREDENTIAL_CHARS {
        return Err(ArenaError::InvalidCredentials);
    }
    Ok((who, key))
}

async fn read_json_body<T: DeserializeOwned>(body: Body, most: usize) -> Result<T, ArenaError> {
    let bytes: Bytes = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, most))
        .await
        .map_err(|_| ArenaError::MalformedBody("it did not arrive in time".into()))?
        .map_err(|_| ArenaError::BodyTooLarge(most))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let says: String = error.to_string().chars().take(200).collect();
        ArenaError::MalformedBody(says)
    })
}

fn respond<T: Serialize>(answer: Result<T, ArenaError>, id: Option<&str>) -> Response {
    match answer {
        Ok(told) => axum::Json(told).into_response(),
        Err(refusal) => error_response(&refusal, id),
    }
}

fn error_response(refusal: &ArenaError, id: Option<&str>) -> Response {
    let problem = ErrorResponse {
        error_code: refusal.code(),
        message: refusal.message(),
        debate_id: id.map(|id| id.chars().take(MAX_CREDENTIAL_CHARS).collect()),
        recoverable: refusal.is_recoverable(),
        retry_after: refusal.retry_after(),
    };
    if let ArenaError::Internal(why) = refusal {
        tracing::error!("{why}");
    }
    let status =
        StatusCode::from_u16(refusal.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(problem)).into_response();
    if let Some(seconds) = refusal.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
