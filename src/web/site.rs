//! Routes and handlers of the live page, with its security headers and access control. The content
//! comes from `pages`, the event stream from `event_stream`.
use super::actions::handle_action;
use super::assets;
use super::auth::{AccessLevel, AuthTokens};
use super::blocking::run_blocking;
use super::event_stream::{ViewerSlots, sse_response};
use super::http_error::HttpError;
use super::live_feed::LiveFeeds;
use super::origin_check::{OriginCheck, check_origin};
use super::pages;
use super::site_state::{SiteScope, SiteState};
use crate::app::App;
use crate::arena::ArenaService;
use crate::engine::Workspace;
use crate::page::context::Viewer;
use crate::page::message::render_message_page;
use crate::page::query::ArchivePageQuery;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use std::sync::Arc;

/// Maximum size of a form in bytes.
const MAX_FORM_BYTES: usize = 1_000_000;

/// Config of the site.
pub struct SiteConfig {
    /// Application that reads debates and runs commands.
    pub app: App,
    /// Workspace of this process.
    pub workspace: Workspace,
    /// Which debates are visible.
    pub scope: SiteScope,
    /// Tokens and cookies.
    pub auth: AuthTokens,
    /// Check of the `Host` and `Origin` headers.
    pub origin_check: OriginCheck,
    /// Sign-in hint for viewers that may only read.
    pub sign_in_hint: String,
    /// The arena, if the site belongs to one.
    pub arena: Option<ArenaService>,
}

/// Builds the router of the site.
pub fn router(config: SiteConfig) -> Router {
    let SiteConfig { app, workspace, scope, auth, origin_check, sign_in_hint, arena } = config;
    let auth = Arc::new(auth);
    let feeds = Arc::new(LiveFeeds::new(app.clone(), auth.clone(), sign_in_hint));
    let state = SiteState {
        app,
        workspace,
        scope,
        auth,
        feeds,
        arena,
        viewer_slots: ViewerSlots::default(),
        leaderboard_cache: Arc::default(),
    };
    let protected = Router::new()
        .route("/", get(archive_page))
        .route("/compare", get(comparison_page))
        .route("/leaderboard", get(leaderboard_page))
        .route("/debates/{id}", get(debate_page))
        .route("/debates/{id}/fragments", get(debate_fragments))
        .route("/debates/{id}/timeline", get(debate_timeline))
        .route("/debates/{id}/events", get(debate_events))
        .route("/debates/{id}/export", get(export_debate))
        .route("/debates/{id}/source", get(source_page))
        .route("/debates/{id}/actions/{action}", post(handle_action))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(middleware::from_fn_with_state(state.clone(), require_read_access));
    Router::new()
        .merge(protected)
        .route("/enter", get(sign_in))
        .route("/assets/app.js", get(assets::script))
        .route("/assets/app.css", get(assets::style))
        .route("/favicon.svg", get(assets::favicon))
        .fallback(not_found)
        .layer(middleware::from_fn(add_security_headers))
        .layer(middleware::from_fn_with_state(Arc::new(origin_check), check_origin))
        .with_state(state)
}

/// Content Security Policy: only the site's own assets.
const CONTENT_SECURITY_POLICY: &str = concat!(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; ",
    "connect-src 'self'; form-action 'self'; base-uri 'none'; ",
    "frame-ancestors 'none'; require-trusted-types-for 'script'; ",
    "trusted-types debate",
);

/// Middleware that adds security headers to every response.
async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let security_headers = [
        ("content-security-policy", CONTENT_SECURITY_POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in security_headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Middleware that requires read access.
async fn require_read_access(
    State(state): State<SiteState>,
    request: Request,
    next: Next,
) -> Response {
    if state.auth.level_of_request(request.headers()) >= AccessLevel::Read {
        return next.run(request).await;
    }
    let error = HttpError::new(
        StatusCode::UNAUTHORIZED,
        "Reading this page requires an address with a token.",
        "Ask the operator of this server for the address.",
    );
    error.to_response(request.headers())
}

async fn not_found() -> HttpError {
    HttpError::new(
        StatusCode::NOT_FOUND,
        "There is nothing at this address.",
        "Start at the archive.",
    )
}

fn html_response(page: crate::page::html::Html) -> Response {
    Html(page.into_string()).into_response()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SiteQuery {
    at: Option<u64>,
    after: Option<u64>,
    token: String,
    path: String,
    line: Option<usize>,
    next: String,
}

/// Handler of `/enter`: exchanges a token for a cookie and redirects, so that the token leaves the
/// URL.
async fn sign_in(
    State(state): State<SiteState>,
    Query(query): Query<SiteQuery>,
    headers: HeaderMap,
) -> Response {
    let level = state.auth.level_of_token(&query.token);
    let Some(cookie) = state.auth.set_cookie_header(level, &headers) else {
        tracing::info!("sign-in refused");
        let error = HttpError::new(
            StatusCode::FORBIDDEN,
            "This token is invalid.",
            "Use the address that this server printed when it started.",
        );
        return error.to_response(&headers);
    };
    // Redirect only to a debate on this site (no open redirect).
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let is_valid_id = !query.next.is_empty() && query.next.chars().all(is_plain);
    let target = if is_valid_id { format!("/debates/{}", query.next) } else { "/".into() };
    // A browser omits a `SameSite=Strict` cookie on a redirect that another site started, such as
    // the page that `view --open` opens. A refresh from our own page sends it.
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let mut response = if matches!(site, Some("none" | "same-origin")) {
        Redirect::to(&target).into_response()
    } else {
        let page = render_message_page(
            "Signed in",
            "The page you asked for opens next.",
            "",
            assets::asset_urls(),
        );
        ([(header::REFRESH, format!("0; url={target}"))], html_response(page)).into_response()
    };
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    tracing::info!(access = ?level, "signed in");
    response
}

async fn archive_page(
    State(state): State<SiteState>,
    Query(query): Query<ArchivePageQuery>,
) -> Result<Response, HttpError> {
    Ok(html_response(pages::archive_page(state, query).await?))
}

/// Compares the debates of the query parameters `a` and `b`, or the first two checked ones.
async fn comparison_page(
    State(state): State<SiteState>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, HttpError> {
    let id_of = |parameter: &str| {
        let mut values = pairs.iter().filter(|(name, id)| name == parameter && !id.is_empty());
        values.next().map(|(_, id)| id.clone())
    };
    let mut checked = pairs.iter().filter(|(name, _)| name == "id").map(|(_, id)| id.clone());
    let first = id_of("a").or_else(|| checked.next());
    let second = id_of("b").or_else(|| checked.next());
    Ok(html_response(pages::comparison_page(state, first, second).await?))
}

async fn leaderboard_page(State(state): State<SiteState>) -> Result<Response, HttpError> {
    Ok(html_response(pages::leaderboard_page(state).await?))
}

async fn debate_page(
    State(state): State<SiteState>,
    Path(id): Path<String>,
    Query(query): Query<SiteQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let viewer = state.viewer_of(&headers);
    Ok(html_response(pages::debate_page(state, id, query.at, viewer).await?))
}

async fn debate_fragments(
    State(state): State<SiteState>,
    Path(id): Path<String>,
    Query(query): Query<SiteQuery>,
    headers: HeaderMap,
) -> Response {
    let viewer = state.viewer_of(&headers);
    match pages::debate_fragments(state, id, query.at, viewer).await {
        Ok(fragments) => Json(fragments).into_response(),
        Err(error) => error.to_json_response(),
    }
}

async fn debate_timeline(State(state): State<SiteState>, Path(id): Path<String>) -> Response {
    match pages::debate_timeline(state, id).await {
        Ok(timeline) => Json(timeline).into_response(),
        Err(error) => error.to_json_response(),
    }
}

async fn debate_events(
    State(state): State<SiteState>,
    Path(id): Path<String>,
    Query(query): Query<SiteQuery>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let (after, viewer) = (last.or(query.after), state.viewer_of(&headers));
    match open_event_stream(state, id, after, viewer).await {
        Ok(stream) => stream,
        Err(error) => error.to_json_response(),
    }
}

async fn open_event_stream(
    state: SiteState,
    id: String,
    after: Option<u64>,
    viewer: Viewer,
) -> Result<Response, HttpError> {
    state.load_debate(&id).await?;
    let slot = state.viewer_slots.acquire().ok_or_else(|| {
        HttpError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many viewers are connected.",
            "Reload the page later; it also works without live updates.",
        )
    })?;
    run_blocking(async move {
        let feed = state.feeds.open_feed(&id).await?;
        Ok(sse_response(state.feeds.clone(), feed, after, viewer, slot)?)
    })
    .await
}

async fn export_debate(
    State(state): State<SiteState>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    let name: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let page = pages::export_page(state, id).await?;
    let headers = [(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.html\""))];
    Ok((headers, html_response(page)).into_response())
}

async fn source_page(
    State(state): State<SiteState>,
    Path(id): Path<String>,
    Query(query): Query<SiteQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let level = state.auth.level_of_request(&headers);
    Ok(html_response(pages::source_page(state, id, query.path, query.line, level).await?))
}
