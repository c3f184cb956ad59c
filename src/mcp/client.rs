//! Who is calling, and where that client keeps its state.
use rmcp::service::{RequestContext, RoleServer};

/// What matters about a client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Its folder in a repository.
    pub(super) folder: &'static str,
    /// Whether it can be handed a task.
    pub(super) tasks: bool,
}

impl Client {
    /// As a request tells it: in the handshake, or with the request itself.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Client {
        let name = context.client_info().map(|info| info.name).unwrap_or_default();
        let tasks = context.client_capabilities().is_some_and(|able| able.supports_tasks());
        Client { folder: folder(&name), tasks }
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
