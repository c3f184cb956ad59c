//! The state of the server, which all request handlers share. `server` implements the protocol for
//! it; `start_debate`, `continue_round`, `verdict`, `resume`, `read_tools`, `resources` and `prompts`
//! add their handlers as methods.
use super::client::McpClient;
use super::run_registry::RunRegistry;
use crate::app::App;
use crate::config::Config;
use crate::engine::Workspace;
use rmcp::task_manager::TaskManager;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The MCP server. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct McpServer {
    pub(super) registry: Arc<RunRegistry>,
    pub(super) config: Arc<Config>,
    pub(super) tasks: TaskManager,
}

impl McpServer {
    /// Creates the server. Opens nothing, so that the handshake is fast.
    pub fn new(app: App, config: Config) -> McpServer {
        McpServer {
            registry: RunRegistry::new(app),
            config: Arc::new(config),
            tasks: TaskManager::new(),
        }
    }

    /// Token that is cancelled at shutdown, when the client has disconnected.
    pub(super) fn shutdown_token(&self) -> CancellationToken {
        self.registry.shutdown.clone()
    }

    /// Stops all runs and flushes the archive.
    pub(super) async fn shut_down(&self) {
        self.registry.shut_down().await;
    }

    /// The workspace of a client: the repository, and the state file in the client's folder.
    pub(super) fn workspace(&self, client: &McpClient) -> Workspace {
        let state_file = Some(self.config.state_file(client.state_folder));
        Workspace { root: self.config.repo_root.clone(), state_file, write_record: true }
    }
}
