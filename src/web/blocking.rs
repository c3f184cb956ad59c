//! Runs blocking work, such as archive queries and rendering, outside of the async threads.
use super::http_error::HttpError;
use axum::http::StatusCode;

/// Runs blocking work on the thread pool. A panic becomes an error response.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|_| {
        Err(HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The page could not be rendered.",
            "Try again; `debate doctor` looks for the cause.",
        ))
    })
}
