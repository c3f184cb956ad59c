//! The main door: an MCP server on stdio.
//!
//! Work is owned by the hub, not by the request: a call starts or re-attaches to a debate, waits a
//! little, and says how it stands. Calling again never spends again.
//!
//! | file        | concept                                                                        |
//! |-------------|--------------------------------------------------------------------------------|
//! | `wire`      | lines on stdin become messages; rubbish, floods and the end of it              |
//! | `server`    | what a client may ask for, and that a panic is an answer                       |
//! | `tools`     | the seven tools as clients see them, and the manifest                          |
//! | `args`      | what a tool is called with                                                     |
//! | `check`     | what may stand in an argument                                                  |
//! | `complaint` | why a call was not done, and which call to make next                           |
//! | `hub`       | the debates being played by this process                                       |
//! | `attend`    | waiting for a debate, with progress                                            |
//! | `opening`   | `start_debate`                                                                 |
//! | `round`     | `continue_round`                                                               |
//! | `ruling`    | `verdict`, and of which debate a turn is                                       |
//! | `coming_back` | which debate is meant, what has happened since, whose it was                 |
//! | `change`    | what a user may change about a debate that is open                             |
//! | `reading`   | `summarize`, `list_debates`, `show_debate`, `list_models`                       |
//! | `standing`  | how a debate stands, for a model to read                                       |
//! | `next`      | the call that goes on from here                                                |
//! | `tail`      | what is being said right now, a line at a time                                 |
//! | `account`   | what both sides hold, conceded and left open, for a model to read              |
//! | `words`     | the same results as text                                                       |
//! | `bounds`    | no result is longer than a model should read                                   |
//! | `resources` | debates and formats by address                                                 |
//! | `prompts`   | what a user can pick from a menu, and completion                               |
//! | `client`    | who is calling, and where that client keeps its state                          |
mod account;
pub mod args;
mod attend;
pub mod bounds;
mod change;
mod check;
mod client;
mod coming_back;
pub mod complaint;
mod hub;
mod next;
mod opening;
mod prompts;
mod reading;
mod resources;
mod round;
mod ruling;
mod server;
mod standing;
mod tail;
mod tools;
mod wire;
mod words;

pub use server::Server;
pub use tools::manifest;

use crate::config::Config;
use crate::engine::Desk;
use crate::engine::signals::stopped;
use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// How long a client that has gone is given to read what was still to be said.
const FAREWELL: Duration = Duration::from_millis(400);

/// Serves one client on stdin and stdout until it goes away.
pub async fn serve(config: &Config, desk: Desk) -> ExitCode {
    let server = Server::new(desk, config.clone());
    let (input, output) = stdio_pipes();
    let done = tokio::select! {
        done = serve_on(server.clone(), input, output) => done,
        () = stopped() => Ok(()),
    };
    // A disk that does not answer must not keep a server alive whose client has gone.
    let _ = tokio::time::timeout(FAREWELL, server.close()).await;
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            tracing::error!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Serves one client on any pair of streams. When the stream ends, so does the work.
pub async fn serve_on(
    server: Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let closing = server.closing();
    let wire = wire::Wire::new(input, output, closing.clone());
    let running = match server.serve(wire).await {
        Ok(running) => running,
        // A client that leaves before it has said anything is nobody's error.
        Err(_) if closing.is_cancelled() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let late = async {
        closing.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        quit = running.waiting() => quit.map(drop).map_err(|error| error.to_string()),
        () = late => Ok(()),
    }
}
