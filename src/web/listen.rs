//! Connections: how many there may be, how long they may keep us waiting, how large a head may be.
use super::rest::Peer;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at a time.
const MOST: usize = 8_192;
/// How long a head may take to arrive, and how long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(75);
/// Bytes of a head.
const LONGEST_HEAD: usize = 64 * 1024;

/// Answers whoever connects, for as long as it is not dropped. Whatever was answered has been kept,
/// so there is nothing to bring to an end.
pub async fn listen(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too many open files, as a rule: it passes.
                tracing::warn!("a connection was not taken: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone().layer(Extension(Peer(from.ip())));
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            if let Err(error) = served.await {
                tracing::debug!("a connection broke: {error}");
            }
            drop(place);
        });
    }
}
