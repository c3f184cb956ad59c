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
    listen_with_limit(listener, router, MAX_CONNECTIONS).await;
}

/// Serves so many connections at the same time. Others wait to be accepted.
async fn listen_with_limit(listener: TcpListener, router: Router, max_connections: usize) {
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "server started");
    }
    let router = router.layer(middleware::from_fn(log_request));
    let permits = Arc::new(Semaphore::new(max_connections));
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::ErrorKind;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    /// Starts a server that responds with `ok`.
    async fn start(max_connections: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "ok" }));
        tokio::spawn(listen_with_limit(listener, router, max_connections));
        address
    }

    /// Sends bytes and reads the response, up to its body or the end of the connection.
    async fn exchange(stream: &mut TcpStream, request: &[u8]) -> String {
        stream.write_all(request).await.unwrap();
        let mut response: Vec<u8> = vec![];
        while !response.ends_with(b"\r\n\r\nok") {
            if stream.read_buf(&mut response).await.unwrap_or(0) == 0 {
                break;
            }
        }
        String::from_utf8(response).unwrap()
    }

    #[tokio::test]
    async fn connection_over_the_limit_waits_until_one_is_closed() {
        assert_eq!(MAX_CONNECTIONS, 8_192);
        let address = start(2).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        for stream in [&mut first, &mut second] {
            assert!(exchange(stream, REQUEST).await.starts_with("HTTP/1.1 200"));
        }
        let mut third = TcpStream::connect(address).await.unwrap();
        third.write_all(REQUEST).await.unwrap();
        // The server has time to accept it, and does not.
        for _ in 0..10 {
            assert!(exchange(&mut second, REQUEST).await.starts_with("HTTP/1.1 200"));
        }
        let error = third.try_read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        drop(first);
        assert!(exchange(&mut third, b"").await.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn request_header_has_at_most_64_kib() {
        assert_eq!(MAX_HEADER_BYTES, 65_536);
        let (start_lines, end) = ("GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n");
        let request = |bytes: usize| {
            let value = "x".repeat(bytes - start_lines.len() - end.len());
            format!("{start_lines}{value}{end}").into_bytes()
        };
        let address = start(2).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let response = exchange(&mut stream, &request(MAX_HEADER_BYTES)).await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        // One byte more: the header is refused before its last byte arrives.
        let too_long = request(MAX_HEADER_BYTES + 1);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let response = exchange(&mut stream, &too_long[..MAX_HEADER_BYTES]).await;
        assert!(response.starts_with("HTTP/1.1 431"), "{response}");
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_and_unfinished_header_are_closed_after_75_seconds() {
        let address = start(1).await;
        for unfinished in [&b""[..], &b"GET / HTTP/1.1\r\n"[..]] {
            let started = tokio::time::Instant::now();
            let mut stream = TcpStream::connect(address).await.unwrap();
            assert_eq!(exchange(&mut stream, unfinished).await, "");
            assert_eq!((HEADER_TIMEOUT.as_secs(), started.elapsed().as_secs()), (75, 75));
        }
    }
}
