//! Who is calling, and where that client keeps its state.
use crate::clients::{self, Ground};
use crate::config::Config;
use rmcp::service::{RequestContext, RoleServer};

/// What matters about a client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// What it calls itself.
    pub(super) who: String,
    /// Its folder in a repository.
    pub(super) folder: &'static str,
    /// Whether it can be handed a task.
    pub(super) tasks: bool,
    /// Its row, if there is one.
    row: Option<&'static clients::Client>,
}

impl Client {
    /// As a request tells it: in the handshake, or with the request itself.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Client {
        let (name, version) =
            context.client_info().map(|info| (info.name, info.version)).unwrap_or_default();
        let tasks = context.client_capabilities().is_some_and(|able| able.supports_tasks());
        let who = format!("{} {}", name.trim(), version.trim());
        let who = if name.trim().is_empty() { "an MCP client".into() } else { who.trim().into() };
        let row = clients::calling_itself(&name);
        Client { who, folder: row.map_or(".claude", |row| &row.state), tasks, row }
    }

    /// Prompts it is not offered, because commands of its own have their names.
    pub(super) fn hidden(&self, config: &Config) -> Vec<&'static str> {
        self.row.map(|row| clients::hidden(row, &Ground::of(config))).unwrap_or_default()
    }
}
