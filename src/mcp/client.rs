//! The calling MCP client: its name, its state folder and its capabilities.
use crate::clients::{self, Ground};
use crate::config::Config;
use rmcp::service::{RequestContext, RoleServer};

/// The client that sent a request.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Name and version from the handshake.
    pub(super) who: String,
    /// Folder in a repository where it keeps its state file.
    pub(super) folder: &'static str,
    /// Whether it supports MCP tasks (polling).
    pub(super) tasks: bool,
    /// Its entry in the table of known clients.
    row: Option<&'static clients::Client>,
}

impl Client {
    /// Reads the client info of the handshake or of the request itself.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Client {
        let (name, version) =
            context.client_info().map(|info| (info.name, info.version)).unwrap_or_default();
        let tasks = context.client_capabilities().is_some_and(|able| able.supports_tasks());
        let who = format!("{} {}", name.trim(), version.trim());
        let who = if name.trim().is_empty() { "an MCP client".into() } else { who.trim().into() };
        let row = clients::calling_itself(&name);
        Client { who, folder: row.map_or(".claude", |row| &row.state), tasks, row }
    }

    /// Prompts hidden from this client, because its installed commands have the same names.
    pub(super) fn hidden(&self, config: &Config) -> Vec<&'static str> {
        self.row.map(|row| clients::hidden(row, &Ground::of(config))).unwrap_or_default()
    }
}
