//! HTTP error responses of the live page, as HTML or JSON by the `Accept` header.
use super::assets::asset_urls;
use crate::app::AppError;
use crate::engine::ArchiveError;
use crate::page::message::render_message_page;
use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;

/// An HTTP error with a message and a hint.
#[derive(Debug)]
pub(super) struct HttpError {
    pub(super) status: StatusCode,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl HttpError {
    pub(super) fn new(
        status: StatusCode,
        message: impl Into<String>,
        hint: &'static str,
    ) -> HttpError {
        HttpError { status, message: message.into(), hint }
    }

    /// The debate does not exist or is out of scope. The response does not tell which.
    pub(super) fn debate_not_found() -> HttpError {
        HttpError::new(
            StatusCode::NOT_FOUND,
            "There is no such debate here.",
            "Search the archive for it.",
        )
    }

    /// As an HTML page.
    pub(super) fn to_html_response(&self) -> Response {
        let title = match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "Access denied",
            StatusCode::CONFLICT => "Not possible now",
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => "Invalid request",
            _ => "Something went wrong",
        };
        let page = render_message_page(title, &self.message, self.hint, asset_urls());
        (self.status, Html(page.into_string())).into_response()
    }

    /// As JSON.
    pub(super) fn to_json_response(&self) -> Response {
        let body = json!({"ok": false, "says": self.message, "next": self.hint});
        (self.status, Json(body)).into_response()
    }

    /// As HTML or JSON, by the `Accept` header.
    pub(super) fn to_response(&self, headers: &HeaderMap) -> Response {
        if accepts_json(headers) { self.to_json_response() } else { self.to_html_response() }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        self.to_html_response()
    }
}

/// Whether the client prefers JSON to HTML.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/html")
}

impl From<AppError> for HttpError {
    fn from(error: AppError) -> HttpError {
        match error {
            AppError::Archive(ArchiveError::UnknownDebate(_) | ArchiveError::AmbiguousId(..)) => {
                HttpError::debate_not_found()
            }
            AppError::Context(reason) => HttpError::new(
                StatusCode::NOT_FOUND,
                capitalize_sentence(&reason.to_string()),
                "The page of a debate links the files that it cites.",
            ),
            AppError::Session(error) => HttpError::new(
                StatusCode::CONFLICT,
                capitalize_sentence(&error.to_string()),
                "Reload the page of the debate, and try again.",
            ),
            AppError::CommandRefused(reason) => HttpError::new(
                StatusCode::CONFLICT,
                capitalize_sentence(&reason),
                "Reload the page of the debate, and try again.",
            ),
            AppError::CommandTimedOut { .. } => HttpError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                capitalize_sentence(&error.to_string()),
                "The command was withdrawn; try again.",
            ),
            error => HttpError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                capitalize_sentence(&error.to_string()),
                "Try again; `debate doctor` looks for the cause.",
            ),
        }
    }
}

impl From<ArchiveError> for HttpError {
    fn from(error: ArchiveError) -> HttpError {
        AppError::from(error).into()
    }
}

fn capitalize_sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>());
    let sentence = first.unwrap_or_default() + chars.as_str();
    if sentence.ends_with('.') { sentence } else { sentence + "." }
}
