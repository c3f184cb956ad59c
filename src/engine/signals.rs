//! Stop requests to this process: SIGTERM, or Ctrl-C (SIGINT).
use std::future::Future;
use std::sync::OnceLock;
use tokio::sync::watch;

/// Set to true by the first signal, for the rest of the process's life.
static STOP: OnceLock<watch::Receiver<bool>> = OnceLock::new();

/// Waits for SIGTERM or Ctrl-C. The first call installs the handlers before it returns; the request
/// is latched, so a signal that arrives between two calls ends the second one at once.
pub fn wait_for_shutdown() -> impl Future<Output = ()> {
    let mut stop = STOP.get_or_init(listen).clone();
    async move {
        if stop.wait_for(|stop| *stop).await.is_err() {
            // No handler could be installed: the signal's default action ends the process.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
fn listen() -> watch::Receiver<bool> {
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, receiver) = watch::channel(false);
    let signals = signal(SignalKind::terminate())
        .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)));
    if let Ok((mut terminate, mut interrupt)) = signals {
        tokio::spawn(async move {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            tracing::info!(signal = name, "stop requested");
            let _ = sender.send(true);
        });
    }
    receiver
}

#[cfg(not(unix))]
fn listen() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            tracing::info!(signal = "Ctrl-C", "stop requested");
            let _ = sender.send(true);
        }
    });
    receiver
}
