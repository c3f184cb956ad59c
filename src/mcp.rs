//! MCP server on stdio: the tools, prompts and resources that AI clients call.
//!
//! The run registry owns the run of a debate, not the request. A tool call starts a run or attaches
//! to it, waits up to a timeout and returns the debate's status. Retrying a call never requests the
//! same turn twice. Entry points: [`serve`] and `McpServer`.
//!
//! | file             | content                                                                   |
//! |------------------|---------------------------------------------------------------------------|
//! | `transport`      | line-delimited JSON-RPC transport; malformed and oversized messages, EOF  |
//! | `server`         | request handlers of rmcp, tool dispatch, panic handling                   |
//! | `mcp_server`     | `McpServer`: the state that all handlers share                            |
//! | `tools`          | tool definitions, their JSON schemas, and the manifest                    |
//! | `args`           | argument types of the tools                                               |
//! | `validate`       | parsing and validation of arguments                                       |
//! | `error`          | every tool error, with the call to make next                              |
//! | `run_registry`   | the debates this process is running                                       |
//! | `wait`           | waiting for a debate with progress notifications                          |
//! | `start_debate`   | handler of `start_debate`                                                 |
//! | `continue_round` | handler of `continue_round`                                               |
//! | `verdict`        | handler of `verdict`                                                      |
//! | `resume`         | resolving, recovering, taking over and importing a debate                 |
//! | `amend`          | parser of the settings that a user changes in an open debate              |
//! | `read_tools`     | handlers of `summarize`, `list_debates`, `show_debate`, `list_models`     |
//! | `results`        | result types of the tools                                                 |
//! | `status`         | the status of a debate as a bounded result                                |
//! | `digest`         | shortened turns, verdicts and findings of a status                        |
//! | `due_turn`       | the turn or decision that is due, with its brief                          |
//! | `turn_id`        | the id of a turn, as the host reads and sends it                          |
//! | `next_call`      | the next call that every result suggests                                  |
//! | `progress`       | throttled preview of the turn that is being streamed                      |
//! | `summary`        | the result of `summarize`: positions, concessions, open claims            |
//! | `text`           | plain-text rendering of the results                                       |
//! | `token_limits`   | token estimates, truncation and pagination                                |
//! | `resources`      | `debate://` resources                                                     |
//! | `prompts`        | prompts (slash commands) and argument completion                          |
//! | `client`         | the calling client and its state folder                                   |
mod amend;
pub mod args;
mod client;
mod continue_round;
mod digest;
mod due_turn;
mod error;
mod mcp_server;
mod next_call;
mod progress;
mod prompts;
mod read_tools;
mod resources;
mod results;
mod resume;
mod run_registry;
mod server;
mod start_debate;
mod status;
mod summary;
mod text;
pub mod token_limits;
mod tools;
mod transport;
mod turn_id;
mod validate;
mod verdict;
mod wait;

pub use mcp_server::McpServer;
pub use tools::manifest;

use crate::app::App;
use crate::config::Config;
use crate::engine::signals::wait_for_shutdown;
use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Grace period to flush pending responses after the client has disconnected.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(400);

/// Serves one client on stdin and stdout until it disconnects or the process gets a stop signal.
pub async fn serve(config: &Config, app: App) -> ExitCode {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "mcp server started");
    let server = McpServer::new(app, config.clone());
    let (input, output) = stdio_pipes();
    let result = tokio::select! {
        result = serve_on(server.clone(), input, output) => result,
        () = wait_for_shutdown() => Ok(()),
    };
    tracing::info!("mcp server stopping");
    // A blocked disk must not keep the process alive after its client has disconnected.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, server.shut_down()).await;
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %error, "mcp server failed");
            ExitCode::FAILURE
        }
    }
}

/// Serves one client on any pair of streams. Returns, and stops all runs, at end of input.
pub async fn serve_on(
    server: McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let shutdown = server.shutdown_token();
    let line_transport = transport::LineTransport::new(input, output, shutdown.clone());
    let service = match server.serve(line_transport).await {
        Ok(service) => service,
        // A client that disconnects before the handshake is not an error.
        Err(_) if shutdown.is_cancelled() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    tracing::debug!("mcp handshake completed");
    let service =
        async move { service.waiting().await.map(drop).map_err(|error| error.to_string()) };
    wait_with_grace_period(service, &shutdown).await
}

/// Awaits the service. After shutdown, it is dropped at the end of the grace period.
async fn wait_with_grace_period(
    service: impl Future<Output = Result<(), String>>,
    shutdown: &CancellationToken,
) -> Result<(), String> {
    let grace_period = async {
        shutdown.cancelled().await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    };
    tokio::select! {
        result = service => result,
        () = grace_period => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn service_ends_400_ms_after_shutdown() {
        assert_eq!(SHUTDOWN_GRACE, Duration::from_millis(400));
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        for (milliseconds, expected) in [(399, Err("flushed".to_owned())), (401, Ok(()))] {
            let service = async {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                Err::<(), String>("flushed".into())
            };
            assert_eq!(wait_with_grace_period(service, &shutdown).await, expected);
        }
    }
}
