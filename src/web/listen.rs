//! Accepts TCP connections and serves HTTP/1.1, with limits on connections, header size and idle
//! time.
use super::arena_api::PeerAddress;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 8_192;
/// Timeout of reading a request header. It also closes idle keep-alive connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Maximum size of a request header in bytes.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Serves connections until the future is dropped. No graceful shutdown is needed, because every
/// response is sent after its change is stored.
pub async fn listen(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually too many open files. The error passes.
                tracing::warn!("a connection was not taken: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone().layer(Extension(PeerAddress(from.ip())));
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .max_buf_size(MAX_HEADER_BYTES)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            if let Err(error) = served.await {
                tracing::debug!("a connection broke: {error}");
            }
            drop(place);
        });
    }
}
