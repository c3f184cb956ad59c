//! Routes and handlers of the live page, with its security headers and access control. The content
//! comes from `pages`, the event stream from `event_stream`.
use super::actions::act;
use super::assets;
use super::entry::{Entry, Pass};
use super::follow::Watchers;
use super::guard::{Guard, guard};
use super::pages;
use super::sorry::Sorry;
use super::stream::{Seats, stream};
use crate::arena::Hall;
use crate::engine::{App, DebateCard, DebateQuery as Asked, StoredDebate, Workspace};
use crate::page::message::render_message_page;
use crate::page::query::ArchivePageQuery;
use crate::page::rendered::Viewer;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State as Shared};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Maximum size of a form in bytes.
const FORM: usize = 1_000_000;

/// Config of the site.
pub struct Site {
    /// Application that reads debates and runs commands.
    pub desk: App,
    /// Workspace of this process.
    pub place: Workspace,
    /// Which debates are visible.
    pub scope: Scope,
    /// Tokens and cookies.
    pub entry: Entry,
    /// Check of the `Host` and `Origin` headers.
    pub guard: Guard,
    /// Sign-in hint for viewers that may only read.
    pub door: String,
    /// The arena, if the site belongs to one.
    pub hall: Option<Hall>,
}

/// Which debates are visible. All others respond with 404.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All debates. Only for a server on this machine.
    All,
    /// Debates of one format.
    Format(String),
}

/// Shared state of the handlers.
#[derive(Clone)]
pub(super) struct State {
    pub(super) desk: App,
    pub(super) place: Workspace,
    pub(super) scope: Scope,
    pub(super) entry: Arc<Entry>,
    pub(super) watchers: Arc<Watchers>,
    pub(super) hall: Option<Hall>,
    seats: Seats,
    /// Cached leaderboard page. Building it reads all debates.
    pub(super) board: Arc<Mutex<Option<(Instant, crate::page::html::Html)>>>,
}

impl State {
    /// Loads a debate. A debate out of scope is not found.
    pub(super) async fn stored(&self, id: &str) -> Result<StoredDebate, Sorry> {
        let (state, id) = (self.clone(), id.to_owned());
        pages::apart(move || {
            let stored = state.desk.archive().read(&id)?;
            let shown = match &state.scope {
                Scope::All => true,
                Scope::Format(format) => stored.setup.format.name == *format,
            };
            shown.then_some(stored).ok_or_else(Sorry::unknown)
        })
        .await
    }

    /// Lists the visible debates, last changed first.
    pub(super) fn visible(&self, most: usize) -> Result<Vec<DebateCard>, Sorry> {
        let format = match &self.scope {
            Scope::All => None,
            Scope::Format(format) => Some(format.clone()),
        };
        let query = Asked { format, limit: Some(most), ..Asked::default() };
        Ok(self.desk.archive().list(&query)?)
    }

    fn viewer(&self, headers: &HeaderMap) -> Viewer {
        if self.entry.of(headers) == Pass::Act { Viewer::Owner } else { Viewer::Reader }
    }
}

/// Builds the router of the site.
pub fn router(site: Site) -> Router {
    let Site { desk, place, scope, entry, guard: names, door, hall } = site;
    let entry = Arc::new(entry);
    let watchers = Arc::new(Watchers::new(desk.clone(), entry.clone(), door));
    let state = State {
        desk,
        place,
        scope,
        entry,
        watchers,
        hall,
        seats: Seats::default(),
        board: Arc::default(),
    };
    let shown = Router::new()
        .route("/", get(of_archive))
        .route("/compare", get(of_two))
        .route("/leaderboard", get(of_board))
        .route("/debates/{id}", get(of_debate))
        .route("/debates/{id}/fragments", get(fragments))
        .route("/debates/{id}/timeline", get(moments))
        .route("/debates/{id}/events", get(events))
        .route("/debates/{id}/export", get(exported))
        .route("/debates/{id}/source", get(of_source))
        .route("/debates/{id}/actions/{action}", post(act))
        .layer(DefaultBodyLimit::max(FORM))
        .layer(middleware::from_fn_with_state(state.clone(), readers));
    Router::new()
        .merge(shown)
        .route("/enter", get(enter))
        .route("/assets/app.js", get(assets::script))
        .route("/assets/app.css", get(assets::style))
        .route("/favicon.svg", get(assets::picture))
        .fallback(nothing)
        .layer(middleware::from_fn(careful))
        .layer(middleware::from_fn_with_state(Arc::new(names), guard))
        .with_state(state)
}

/// Content Security Policy: only the site's own assets.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types debate";

/// Middleware that adds security headers to every response.
async fn careful(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let beware = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in beware {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Middleware that requires read access.
async fn readers(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    if state.entry.of(request.headers()) >= Pass::Read {
        return next.run(request).await;
    }
    let sorry = Sorry::new(
        StatusCode::UNAUTHORIZED,
        "This is shown only to those who were given an address with a token.",
        "Ask whoever runs this server for it.",
    );
    sorry.to(request.headers())
}

async fn nothing() -> Sorry {
    Sorry::new(StatusCode::NOT_FOUND, "There is nothing at this address.", "Begin at the archive.")
}

fn shown(page: crate::page::html::Html) -> Response {
    Html(page.into_string()).into_response()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    at: Option<u64>,
    after: Option<u64>,
    token: String,
    path: String,
    line: Option<usize>,
    next: String,
}

/// Handler of `/enter`: exchanges a token for a cookie and redirects, so that the token leaves the
/// URL.
async fn enter(
    Shared(state): Shared<State>,
    Query(at): Query<Given>,
    headers: HeaderMap,
) -> Response {
    let pass = state.entry.of_token(&at.token);
    let Some(cookie) = state.entry.cookie(pass, &headers) else {
        let sorry = Sorry::new(
            StatusCode::FORBIDDEN,
            "This token is not, or no longer, good.",
            "Use the address that was printed when this server started.",
        );
        return sorry.to(&headers);
    };
    // Redirect only to a debate on this site (no open redirect).
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let known = !at.next.is_empty() && at.next.chars().all(plain);
    let to = if known { format!("/debates/{}", at.next) } else { "/".into() };
    // A browser omits a `SameSite=Strict` cookie on a redirect that another site started, such as
    // the page that `view --open` opens. A refresh from our own page sends it.
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let mut response = if matches!(site, Some("none" | "same-origin")) {
        Redirect::to(&to).into_response()
    } else {
        let page = render_message_page(
            "You are in",
            "The page you asked for is next.",
            "",
            assets::assets(),
        );
        ([(header::REFRESH, format!("0; url={to}"))], shown(page)).into_response()
    };
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

async fn of_archive(
    Shared(state): Shared<State>,
    Query(wanted): Query<ArchivePageQuery>,
) -> Result<Response, Sorry> {
    Ok(shown(pages::of_archive(state, wanted).await?))
}

/// Compares the debates of the query parameters `a` and `b`, or the first two checked ones.
async fn of_two(
    Shared(state): Shared<State>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Sorry> {
    let named = |wanted: &str| {
        let mut fits = pairs.iter().filter(|(name, id)| name == wanted && !id.is_empty());
        fits.next().map(|(_, id)| id.clone())
    };
    let mut ticked = pairs.iter().filter(|(name, _)| name == "id").map(|(_, id)| id.clone());
    let one = named("a").or_else(|| ticked.next());
    let other = named("b").or_else(|| ticked.next());
    Ok(shown(pages::of_two(state, one, other).await?))
}

async fn of_board(Shared(state): Shared<State>) -> Result<Response, Sorry> {
    Ok(shown(pages::of_board(state).await?))
}

async fn of_debate(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    Query(at): Query<Given>,
    headers: HeaderMap,
) -> Result<Response, Sorry> {
    let viewer = state.viewer(&headers);
    Ok(shown(pages::of_debate(state, id, at.at, viewer).await?))
}

async fn fragments(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    Query(at): Query<Given>,
    headers: HeaderMap,
) -> Response {
    let viewer = state.viewer(&headers);
    match pages::fragments(state, id, at.at, viewer).await {
        Ok(fragments) => Json(fragments).into_response(),
        Err(sorry) => sorry.data(),
    }
}

async fn moments(Shared(state): Shared<State>, Path(id): Path<String>) -> Response {
    match pages::moments(state, id).await {
        Ok(moments) => Json(moments).into_response(),
        Err(sorry) => sorry.data(),
    }
}

async fn events(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    Query(at): Query<Given>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let (after, viewer) = (last.or(at.after), state.viewer(&headers));
    match followed(state, id, after, viewer).await {
        Ok(stream) => stream,
        Err(sorry) => sorry.data(),
    }
}

async fn followed(
    state: State,
    id: String,
    after: Option<u64>,
    viewer: Viewer,
) -> Result<Response, Sorry> {
    state.stored(&id).await?;
    let seat = state.seats.take().ok_or_else(|| {
        Sorry::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many are watching.",
            "Load the page again in a while; it shows everything without watching.",
        )
    })?;
    pages::apart(move || {
        let watched = state.watchers.watch(&id)?;
        Ok(stream(state.watchers.clone(), watched, after, viewer, seat)?)
    })
    .await
}

async fn exported(Shared(state): Shared<State>, Path(id): Path<String>) -> Result<Response, Sorry> {
    let name: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let page = pages::exported(state, id).await?;
    let headers = [(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.html\""))];
    Ok((headers, shown(page)).into_response())
}

async fn of_source(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    Query(at): Query<Given>,
    headers: HeaderMap,
) -> Result<Response, Sorry> {
    let pass = state.entry.of(&headers);
    Ok(shown(pages::of_source(state, id, at.path, at.line, pass).await?))
}
