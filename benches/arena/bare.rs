//! The same framework with nothing behind it, asked at the same time and pace: what the machine, the
//! network and this client take by themselves.
use super::http::Line;
use super::options::Options;
use super::tally::Tally;
use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A bot of the load in so many is a probe beside it.
const ONE_IN: usize = 5;

/// Serves as much as a poll tells, on a thread of its own.
pub(super) fn serve() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let said = "x".repeat(600);
            let body = json!({"state": "active", "debate_log": [said, said, said]});
            let router = Router::new().route("/poll", get(async move || axum::Json(body)));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, router).await.unwrap();
        });
    });
    port
}

/// Asks it for as long as the run lasts.
pub(super) async fn probe(port: u16, options: Arc<Options>, tally: Arc<Tally>) {
    let probes = (options.bots / ONE_IN).max(1);
    let mut asking = tokio::task::JoinSet::new();
    for nth in 0..probes {
        let (options, tally) = (options.clone(), tally.clone());
        asking.spawn(async move {
            let mut line = Line::to(port);
            tokio::time::sleep(options.every.mul_f64(nth as f64 * 0.618_034 % 1.0)).await;
            loop {
                if options.fresh {
                    line.hang_up();
                }
                let began = Instant::now();
                if line.get("/poll", &[]).await.is_ok() {
                    tally.note(&tally.bare, began.elapsed());
                    // It is not the server's.
                    tally.requests.fetch_sub(1, Ordering::Relaxed);
                }
                tokio::time::sleep(options.every).await;
            }
        });
    }
    while asking.join_next().await.is_some() {}
}
