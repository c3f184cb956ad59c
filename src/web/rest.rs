//! HTTP handlers of the arena API: rate limiting, authentication, parsing of bodies, error
//! responses. The logic is in `arena::ArenaService`.
use super::entry::{Entry, Pass};
use super::guard::Guard;
use super::openapi;
use super::pace::{Pace, Paces};
use crate::arena::wire::{Create, Join, Problem, Speech};
use crate::arena::{Hall, Refusal};
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
const LONGEST_SPEECH: usize = 128 * 1024;
/// Maximum body size of join and create requests in bytes.
const LONGEST_REQUEST: usize = 32 * 1024;
/// Timeout of reading a request body.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum length of a debate id in bytes.
const LONGEST_ID: usize = 64;
/// Maximum length of a credential header in characters.
const LONGEST_HEADER: usize = 256;

/// Shared state of the handlers.
#[derive(Clone)]
pub(super) struct Rest {
    pub(super) hall: Hall,
    /// Rate limiter per bot.
    pub(super) bots: Arc<Paces>,
    /// Rate limiter per client network.
    pub(super) paces: Arc<Paces>,
    /// Whether a reverse proxy sends `X-Forwarded-For`.
    pub(super) proxied: bool,
    /// Tokens for creating and reading debates.
    pub(super) entry: Arc<Entry>,
    /// Whether creating needs no token, because the server is reachable from this machine only.
    pub(super) open: bool,
}

/// IP address of the TCP peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Builds the router of the API.
pub(super) fn router(rest: Rest, names: Guard) -> Router {
    Router::new()
        .route("/api/debate/join", post(join))
        .route("/api/debate/create", post(create))
        .route("/api/debate/{id}/poll", get(poll))
        .route("/api/debate/{id}/speech", post(speech))
        .route("/api/debate/{id}", get(show))
        .route("/api/debates", get(list))
        .route("/api/openapi.json", get(document))
        .route("/api", any(unknown))
        .route("/api/{*rest}", any(unknown))
        .method_not_allowed_fallback(unfit)
        .layer(middleware::from_fn_with_state(Arc::new(names), guarded))
        .with_state(rest)
}

/// Middleware that rejects invalid requests with a JSON error.
async fn guarded(State(names): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match names.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => {
            let mut response = refuse(&Refusal::Forbidden(why.says().trim().into()), None);
            *response.status_mut() = why.status();
            response
        }
    }
}

async fn join(State(rest): State<Rest>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let mut id: Option<String> = None;
    let answer = async {
        rest.paced(&head)?;
        let wanted: Join = body(sent, LONGEST_REQUEST).await?;
        id.clone_from(&wanted.debate_id);
        rest.hall.join(wanted).await
    };
    let answer = answer.await;
    respond(answer, id.as_deref())
}

async fn create(State(rest): State<Rest>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let answer = async {
        rest.paced(&head)?;
        if !rest.open && rest.entry.of(&head.headers) < Pass::Act {
            return Err(Refusal::Forbidden(
                "creating a debate here needs the token the server has printed, as \
                 `Authorization: Bearer TOKEN`"
                    .into(),
            ));
        }
        let wanted: Create = body(sent, LONGEST_REQUEST).await?;
        rest.hall.create(wanted).await
    };
    match answer.await {
        Ok(created) => (StatusCode::CREATED, axum::Json(created)).into_response(),
        Err(refusal) => refuse(&refusal, None),
    }
}

/// Debate id from the path. Invalid UTF-8 is an error.
type Named = Result<Path<String>, axum::extract::rejection::PathRejection>;

/// An invalid path becomes the empty id, which no debate has.
fn named(id: Named) -> String {
    id.map(|Path(id)| id).unwrap_or_default()
}

#[derive(Deserialize)]
struct Wait {
    #[serde(default)]
    wait: Option<u32>,
}

async fn poll(
    State(rest): State<Rest>,
    id: Named,
    wait: Result<Query<Wait>, axum::extract::rejection::QueryRejection>,
    head: Parts,
) -> Response {
    let id = named(id);
    let answer = async {
        let (who, key) = credentials(&head.headers)?;
        rest.admitted(&head, &id, (&who, &key))?;
        let wait = match wait {
            Ok(Query(Wait { wait })) => wait.unwrap_or(0),
            Err(_) => return Err(Refusal::Malformed("`wait` is a number of seconds".into())),
        };
        rest.hall.poll(&id, (&who, &key), wait).await
    };
    respond(answer.await, Some(&id))
}

async fn speech(State(rest): State<Rest>, id: Named, request: Request) -> Response {
    let id = named(id);
    let (head, sent) = request.into_parts();
    let answer = async {
        let (who, key) = credentials(&head.headers)?;
        rest.admitted(&head, &id, (&who, &key))?;
        let wanted: Speech = body(sent, LONGEST_SPEECH).await?;
        rest.hall.speak(&id, (&who, &key), wanted).await
    };
    respond(answer.await, Some(&id))
}

async fn show(State(rest): State<Rest>, id: Named, head: Parts) -> Response {
    let id = named(id);
    let answer = rest.reads(&head).and_then(|()| rest.hall.show(&id));
    respond(answer, Some(&id))
}

#[derive(Deserialize)]
struct Which {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

async fn list(
    State(rest): State<Rest>,
    which: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
    head: Parts,
) -> Response {
    let answer = rest.reads(&head).and_then(|()| {
        let Ok(Query(Which { status, limit })) = which else {
            return Err(Refusal::Malformed("`limit` is a number".into()));
        };
        let status = status.filter(|it| !it.is_empty());
        if status.as_deref().is_some_and(|it| !["waiting", "active", "ended"].contains(&it)) {
            return Err(Refusal::Malformed("`status` is waiting, active or ended".into()));
        }
        Ok(rest.hall.list(status.as_deref(), limit.unwrap_or(usize::MAX)))
    });
    respond(answer, None)
}

async fn document() -> Response {
    static DOCUMENT: LazyLock<serde_json::Value> = LazyLock::new(openapi::document);
    axum::Json(&*DOCUMENT).into_response()
}

async fn unknown(method: Method) -> Response {
    refuse(&Refusal::Unknown(format!("{method} of this path; see /api/openapi.json")), None)
}

async fn unfit() -> Response {
    let refusal = Refusal::Unknown("such method for this path; see /api/openapi.json".into());
    let mut response = refuse(&refusal, None);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

impl Rest {
    /// Applies the rate limit of the client's network.
    fn paced(&self, head: &Parts) -> Result<(), Refusal> {
        let Some(from) = self.from(head) else { return Ok(()) };
        let too_fast = |seconds| Refusal::TooFast { seconds };
        self.paces.step(&network(from), Pace::ADDRESS).map_err(too_fast)
    }

    /// Authenticates a bot and applies its rate limit. In this order, so that a request with a
    /// wrong key does not use up the bot's limit.
    fn admitted(&self, head: &Parts, id: &str, (who, key): (&str, &str)) -> Result<(), Refusal> {
        self.paced(head)?;
        if id.len() > LONGEST_ID {
            return Err(Refusal::DebateNotFound);
        }
        self.hall.knows(id, (who, key))?;
        let too_fast = |seconds| Refusal::TooFast { seconds };
        self.bots.step(&format!("{id} {who}"), Pace::BOT).map_err(too_fast)
    }

    /// Address of a client on another machine. Behind a proxy, the last `X-Forwarded-For` entry.
    fn from(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<Peer>().map(|peer| peer.0);
        let last =
            |value: &HeaderValue| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok();
        let told = head.headers.get_all("x-forwarded-for").iter().next_back().and_then(last);
        let from = told.filter(|_| self.proxied).or(peer);
        from.filter(|address| self.proxied || !address.is_loopback())
    }

    /// Authorizes reading, which needs a token unless the server is open.
    fn reads(&self, head: &Parts) -> Result<(), Refusal> {
        self.paced(head)?;
        if self.entry.of(&head.headers) >= Pass::Read {
            return Ok(());
        }
        Err(Refusal::Forbidden(
            "reading here needs a viewer's token, as `Authorization: Bearer TOKEN`".into(),
        ))
    }
}

/// Key of the rate limiter: an IPv4 address or an IPv6 /64 network.
fn network(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{:x?}", &address.segments()[..4]),
    }
}

/// Reads the credential headers. Both are required.
fn credentials(headers: &HeaderMap) -> Result<(String, String), Refusal> {
    let read = |name: &str| {
        let value = headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
        value.map(str::trim).filter(|value| !value.is_empty()).map(ToOwned::to_owned)
    };
    let (Some(who), Some(key)) = (read("x-bot-identifier"), read("x-debate-key")) else {
        return Err(Refusal::MissingAuth);
    };
    if who.chars().count() > LONGEST_HEADER || key.len() > LONGEST_HEADER {
        return Err(Refusal::InvalidCredentials);
    }
    Ok((who, key))
}

async fn body<T: DeserializeOwned>(body: Body, most: usize) -> Result<T, Refusal> {
    let bytes: Bytes = tokio::time::timeout(PATIENCE, axum::body::to_bytes(body, most))
        .await
        .map_err(|_| Refusal::Malformed("it did not arrive in time".into()))?
        .map_err(|_| Refusal::TooLarge(most))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let says: String = error.to_string().chars().take(200).collect();
        Refusal::Malformed(says)
    })
}

fn respond<T: Serialize>(answer: Result<T, Refusal>, id: Option<&str>) -> Response {
    match answer {
        Ok(told) => axum::Json(told).into_response(),
        Err(refusal) => refuse(&refusal, id),
    }
}

fn refuse(refusal: &Refusal, id: Option<&str>) -> Response {
    let problem = Problem {
        error_code: refusal.code(),
        message: refusal.says(),
        debate_id: id.map(|id| id.chars().take(LONGEST_HEADER).collect()),
        recoverable: refusal.recoverable(),
        retry_after: refusal.retry_after(),
    };
    if let Refusal::Internal(why) = refusal {
        tracing::error!("{why}");
    }
    let status =
        StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(problem)).into_response();
    if let Some(seconds) = refusal.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
