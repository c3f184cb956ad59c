//! Accepts TCP connections and serves HTTP/1.1, with limits on connections, header size and idle
//! time.
use super::arena_api::PeerAddress;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 8_192;
/// Timeout of reading a request header. It also closes idle keep-alive connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Maximum size of a request header in bytes.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// Delay after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Serves connections until the future is dropped. No graceful shutdown is needed, because every
/// response is sent after its change is stored.
pub async fn listen(listener: TcpListener, router: Router) {
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "server started");
    }
    let router = router.layer(middleware::from_fn(log_request));
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually too many open files. The error passes.
                tracing::warn!(%error, "connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone().layer(Extension(PeerAddress(peer.ip())));
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .max_buf_size(MAX_HEADER_BYTES)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection closed with an error");
            }
            drop(permit);
        });
    }
}

/// Middleware that logs every request, without its query.
async fn log_request(request: Request, next: Next) -> Response {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return next.run(request).await;
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let response = next.run(request).await;
    tracing::debug!(
        %method,
        path,
        status = response.status().as_u16(),
        elapsed_ms = started.elapsed().as_millis(),
        "page request"
    );
    response
}
