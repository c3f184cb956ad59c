//! The arena's wire: who asks for what, and what is answered. Whether it is done is the hall's to say.
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
use std::sync::Arc;

/// Bytes of a body: far more than the longest speech, so that one that is too long is told so.
const LONGEST_BODY: usize = 256 * 1024;
/// Characters of a header that says who somebody is.
const LONGEST_HEADER: usize = 256;

/// What the routes need.
#[derive(Clone)]
pub(super) struct Rest {
    /// Does what is asked.
    pub(super) hall: Hall,
    /// How fast each may ask.
    pub(super) paces: Arc<Paces>,
    /// Who may create debates and read without being a bot in them.
    pub(super) entry: Arc<Entry>,
    /// Whether whoever comes may create debates: only this machine can reach us.
    pub(super) open: bool,
}

/// From which address somebody asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Every path of the wire.
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

/// Turns away what is not to be looked at, in the words of this wire.
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
    let answer = async {
        rest.paced(&head, None)?;
        let wanted: Join = body(sent).await?;
        rest.hall.join(wanted).await
    };
    respond(answer.await, None)
}

async fn create(State(rest): State<Rest>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let answer = async {
        rest.paced(&head, None)?;
        if !rest.open && rest.entry.of(&head.headers) < Pass::Act {
            return Err(Refusal::Forbidden(
                "creating a debate here needs the token the server has printed, as \
                 `Authorization: Bearer TOKEN`"
                    .into(),
            ));
        }
        let wanted: Create = body(sent).await?;
        rest.hall.create(wanted).await
    };
    match answer.await {
        Ok(created) => (StatusCode::CREATED, axum::Json(created)).into_response(),
        Err(refusal) => refuse(&refusal, None),
    }
}

#[derive(Deserialize)]
struct Wait {
    #[serde(default)]
    wait: Option<u32>,
}

async fn poll(
    State(rest): State<Rest>,
    Path(id): Path<String>,
    wait: Result<Query<Wait>, axum::extract::rejection::QueryRejection>,
    head: Parts,
) -> Response {
    let answer = async {
        let (who, key) = credentials(&head.headers)?;
        rest.paced(&head, Some((&id, &who)))?;
        let wait = match wait {
            Ok(Query(Wait { wait })) => wait.unwrap_or(0),
            Err(_) => return Err(Refusal::Malformed("`wait` is a number of seconds".into())),
        };
        rest.hall.poll(&id, (&who, &key), wait).await
    };
    respond(answer.await, Some(&id))
}

async fn speech(State(rest): State<Rest>, Path(id): Path<String>, request: Request) -> Response {
    let (head, sent) = request.into_parts();
    let answer = async {
        let (who, key) = credentials(&head.headers)?;
        rest.paced(&head, Some((&id, &who)))?;
        rest.hall.knows(&id, (&who, &key))?;
        let wanted: Speech = body(sent).await?;
        rest.hall.speak(&id, (&who, &key), wanted).await
    };
    respond(answer.await, Some(&id))
}

async fn show(State(rest): State<Rest>, Path(id): Path<String>, head: Parts) -> Response {
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
    axum::Json(openapi::document()).into_response()
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
    /// Whoever asks too fast is told when to come back: a bot by its name and its debate's, others by
    /// where they come from.
    fn paced(&self, head: &Parts, bot: Option<(&str, &str)>) -> Result<(), Refusal> {
        let from = head.extensions.get::<Peer>().map(|peer| peer.0);
        let far = from.is_some_and(|address| !address.is_loopback());
        let bot = bot.map(|(debate, name)| format!("{debate} {name}"));
        let paces = [
            bot.map(|bot| (bot, Pace::BOT)),
            from.filter(|_| far).map(|address| (address.to_string(), Pace::ADDRESS)),
        ];
        for (who, pace) in paces.into_iter().flatten() {
            self.paces.step(&who, pace).map_err(|seconds| Refusal::TooFast { seconds })?;
        }
        Ok(())
    }

    /// Anybody on this machine may read; from elsewhere whoever has a token for it.
    fn reads(&self, head: &Parts) -> Result<(), Refusal> {
        self.paced(head, None)?;
        if self.entry.of(&head.headers) >= Pass::Read {
            return Ok(());
        }
        Err(Refusal::Forbidden(
            "reading here needs a viewer's token, as `Authorization: Bearer TOKEN`".into(),
        ))
    }
}

/// Both headers, or nothing else is looked at.
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

async fn body<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let bytes: Bytes = axum::body::to_bytes(body, LONGEST_BODY)
        .await
        .map_err(|_| Refusal::TooLarge(LONGEST_BODY))?;
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
