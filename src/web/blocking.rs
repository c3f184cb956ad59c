//! Runs blocking work, such as archive queries and rendering, outside of the async threads.
use super::http_error::HttpError;
use axum::http::StatusCode;

/// Runs a future that blocks on a thread of the blocking pool. A panic becomes an error response.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl Future<Output = Result<T, HttpError>> + Send + 'static,
) -> Result<T, HttpError> {
    let runtime = tokio::runtime::Handle::current();
    let result = tokio::task::spawn_blocking(move || runtime.block_on(work)).await;
    result.unwrap_or_else(|_| {
        Err(HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The page could not be rendered.",
            "Try again; `debate doctor` looks for the cause.",
        ))
    })
}
