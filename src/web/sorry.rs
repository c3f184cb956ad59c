//! HTTP error responses of the live page, as HTML or JSON by the `Accept` header.
use super::assets::assets;
use crate::engine::{AppError, ArchiveError};
use crate::page::message::render_message_page;
use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;

/// An HTTP error with a message and a hint.
#[derive(Debug)]
pub(super) struct Sorry {
    pub(super) status: StatusCode,
    pub(super) says: String,
    pub(super) next: &'static str,
}

impl Sorry {
    pub(super) fn new(status: StatusCode, says: impl Into<String>, next: &'static str) -> Sorry {
        Sorry { status, says: says.into(), next }
    }

    /// The debate does not exist or is out of scope. The response does not tell which.
    pub(super) fn unknown() -> Sorry {
        Sorry::new(
            StatusCode::NOT_FOUND,
            "There is no such debate here.",
            "Look for it in the archive, by what was said in it.",
        )
    }

    /// As an HTML page.
    pub(super) fn page(&self) -> Response {
        let title = match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "Not for everybody",
            StatusCode::CONFLICT => "Not now",
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => "Not understood",
            _ => "Something went wrong",
        };
        let page = render_message_page(title, &self.says, self.next, assets());
        (self.status, Html(page.into_string())).into_response()
    }

    /// As JSON.
    pub(super) fn data(&self) -> Response {
        let says = json!({"ok": false, "says": self.says, "next": self.next});
        (self.status, Json(says)).into_response()
    }

    /// As HTML or JSON, by the `Accept` header.
    pub(super) fn to(&self, headers: &HeaderMap) -> Response {
        if wants_data(headers) { self.data() } else { self.page() }
    }
}

impl IntoResponse for Sorry {
    fn into_response(self) -> Response {
        self.page()
    }
}

/// Whether the client prefers JSON to HTML.
pub(super) fn wants_data(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/html")
}

impl From<AppError> for Sorry {
    fn from(error: AppError) -> Sorry {
        match error {
            AppError::Archive(ArchiveError::UnknownDebate(_) | ArchiveError::AmbiguousId(..)) => {
                Sorry::unknown()
            }
            AppError::Context(why) => Sorry::new(
                StatusCode::NOT_FOUND,
                capital(&why.to_string()),
                "What a debate cites is linked from its page.",
            ),
            AppError::Session(error) => Sorry::new(
                StatusCode::CONFLICT,
                capital(&error.to_string()),
                "Look at how the debate stands now, and try again.",
            ),
            AppError::CommandRefused(why) => Sorry::new(
                StatusCode::CONFLICT,
                capital(&why),
                "Look at how the debate stands now, and try again.",
            ),
            AppError::CommandTimedOut { .. } => Sorry::new(
                StatusCode::SERVICE_UNAVAILABLE,
                capital(&error.to_string()),
                "What you wished for was withdrawn; try again.",
            ),
            error => Sorry::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                capital(&error.to_string()),
                "Try again; `debate doctor` looks for what is wrong.",
            ),
        }
    }
}

impl From<ArchiveError> for Sorry {
    fn from(error: ArchiveError) -> Sorry {
        AppError::from(error).into()
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    let all = first.unwrap_or_default() + letters.as_str();
    if all.ends_with('.') { all } else { all + "." }
}
