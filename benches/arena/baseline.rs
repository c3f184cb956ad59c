//! Baseline: an endpoint of the same HTTP framework without any logic, polled at the same rate. It
//! shows the latency of machine, network stack and load generator alone.
use super::http::HttpConnection;
use super::options::LoadOptions;
use super::tally::Tally;
use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Bots of the load per probe of the baseline.
const BOTS_PER_PROBE: usize = 5;

/// Serves responses of the size of a poll, on a separate thread. Returns the port.
pub(super) fn serve() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let speech = "x".repeat(600);
            let body = json!({"state": "active", "debate_log": [speech, speech, speech]});
            let router = Router::new().route("/poll", get(async move || axum::Json(body)));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, router).await.unwrap();
        });
    });
    port
}

/// Polls the baseline until the run ends.
pub(super) async fn probe(port: u16, options: Arc<LoadOptions>, tally: Arc<Tally>) {
    let probes = (options.bots / BOTS_PER_PROBE).max(1);
    let mut tasks = tokio::task::JoinSet::new();
    for nth in 0..probes {
        let (options, tally) = (options.clone(), tally.clone());
        tasks.spawn(async move {
            let mut connection = HttpConnection::new(port);
            tokio::time::sleep(options.poll_interval.mul_f64(nth as f64 * 0.618_034 % 1.0)).await;
            loop {
                if options.new_connections {
                    connection.disconnect();
                }
                let started = Instant::now();
                if connection.get("/poll", &[]).await.is_ok() {
                    tally.record(&tally.baseline_times, started.elapsed());
                    // The total counts only requests to the real server.
                    tally.requests.fetch_sub(1, Ordering::Relaxed);
                }
                tokio::time::sleep(options.poll_interval).await;
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}
