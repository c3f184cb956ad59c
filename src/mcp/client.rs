//! Who is calling, and where that client keeps its state.
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
}

impl Client {
    /// As a request tells it: in the handshake, or with the request itself.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Client {
        let (name, version) =
            context.client_info().map(|info| (info.name, info.version)).unwrap_or_default();
        let tasks = context.client_capabilities().is_some_and(|able| able.supports_tasks());
        let who = format!("{} {}", name.trim(), version.trim());
        let who = if name.trim().is_empty() { "an MCP client".into() } else { who.trim().into() };
        Client { who, folder: folder(&name), tasks }
    }
}

/// The folder a client has in a repository.
fn folder(name: &str) -> &'static str {
    let name = name.to_lowercase();
    if name.contains("opencode") {
        ".opencode"
    } else if name.contains("codex") {
        ".codex"
    } else {
        ".claude"
    }
}
