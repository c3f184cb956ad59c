//! The calling MCP client: its name, its state folder and its capabilities.
use crate::clients::{self, ClientPaths};
use crate::config::Config;
use rmcp::service::{RequestContext, RoleServer};

/// The client that sent a request.
#[derive(Clone, Debug)]
pub(super) struct McpClient {
    /// Name and version from the handshake.
    pub(super) display_name: String,
    /// Folder in a repository where it keeps its state file.
    pub(super) state_folder: &'static str,
    /// Whether it supports MCP tasks (polling).
    pub(super) supports_tasks: bool,
    /// Its entry in the table of known clients.
    known_client: Option<&'static clients::ClientSpec>,
}

impl McpClient {
    /// Reads the client info of the handshake or of the request itself.
    pub(super) fn from_request(context: &RequestContext<RoleServer>) -> McpClient {
        let (name, version) =
            context.client_info().map(|info| (info.name, info.version)).unwrap_or_default();
        let supports_tasks =
            context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        let full_name = format!("{} {}", name.trim(), version.trim());
        let display_name =
            if name.trim().is_empty() { "an MCP client".into() } else { full_name.trim().into() };
        let known_client = clients::find_by_handshake_name(&name);
        McpClient {
            display_name,
            state_folder: known_client.map_or(".claude", |spec| &spec.state_folder),
            supports_tasks,
            known_client,
        }
    }

    /// Prompts hidden from this client, because its installed commands have the same names.
    pub(super) fn hidden_prompts(&self, config: &Config) -> Vec<&'static str> {
        self.known_client
            .map(|spec| clients::hidden_prompts(spec, &ClientPaths::from_config(config)))
            .unwrap_or_default()
    }
}
