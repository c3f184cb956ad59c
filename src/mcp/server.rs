//! The MCP request handlers: tool dispatch, prompts, resources, completion and tasks. A panic in a
//! handler becomes an error response.
use super::args::{StartDebate, Summarize};
use super::attend::{Ear, Seen, Waiting};
use super::client::Client;
use super::complaint::Complaint;
use super::hub::Hub;
use super::standing::{Standing, elsewhere, standing};
use super::{check, prompts, resources, tools, words};
use crate::config::Config;
use crate::engine::{App, Workspace};
use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, CreateTaskResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, GetTaskParams, GetTaskResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskExit, TaskManager, TaskOptions};
use serde::Serialize;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time to live of a task. Its result stays in the archive.
const TASK: Duration = Duration::from_secs(24 * 60 * 60);
/// A client that supports tasks gets a direct response within this time, and a task after it.
const SOON: Duration = Duration::from_millis(500);

/// The MCP server. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct Server {
    pub(super) hub: Arc<Hub>,
    pub(super) config: Arc<Config>,
    tasks: TaskManager,
}

/// The context of a tool call that is the same for every tool.
struct Call {
    place: Workspace,
    tasks: bool,
    ear: Ear,
    gone: CancellationToken,
    /// Whether a task waits for the ruling.
    ruling: bool,
}

impl Server {
    /// Creates the server. Opens nothing, so that the handshake is fast.
    pub fn new(desk: App, config: Config) -> Server {
        Server { hub: Hub::new(desk), config: Arc::new(config), tasks: TaskManager::new() }
    }

    /// Token that is cancelled at shutdown, when the client has disconnected.
    pub(super) fn closing(&self) -> CancellationToken {
        self.hub.closing.clone()
    }

    /// Stops all runs and flushes the archive.
    pub(super) async fn close(&self) {
        self.hub.close().await;
    }

    fn place(&self, client: &Client) -> Workspace {
        let state_file = Some(self.config.state_file(client.folder));
        Workspace { root: self.config.repo_root.clone(), state_file, write_record: true }
    }

    async fn call(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        call: Call,
    ) -> Result<CallToolResponse, Complaint> {
        // A client that sets `wait_seconds` wants the intermediate status, not a task that only
        // completes at the end.
        let waits = arguments.as_ref().and_then(|all| all.get("wait_seconds"));
        let call = Call { tasks: call.tasks && waits.is_none_or(Value::is_null), ..call };
        let place = &call.place;
        let plain = |result| Ok(CallToolResponse::Complete(result));
        match tool {
            "start_debate" => {
                let args: StartDebate = check::arguments(tool, arguments)?;
                let patience = check::patience(args.wait_seconds);
                let waiting = call.waiting(patience);
                let (seen, notes) = self.start(&args, place, &waiting).await?;
                Ok(self.stands(&seen, notes, call, patience))
            }
            "continue_round" => {
                let args: super::args::ContinueRound = check::arguments(tool, arguments)?;
                let patience = check::patience(args.wait_seconds);
                let (seen, notes) = self.go_on(&args, place, &call.waiting(patience)).await?;
                Ok(self.stands(&seen, notes, call, patience))
            }
            "verdict" => {
                let args: super::args::Verdict = check::arguments(tool, arguments)?;
                let patience = check::patience(args.wait_seconds);
                let (seen, notes) = self.rule(&args, place, &call.waiting(patience)).await?;
                Ok(self.stands(&seen, notes, Call { ruling: true, ..call }, patience))
            }
            "summarize" => {
                let args: Summarize = check::arguments(tool, arguments)?;
                let account = self.summarize(&args, place).await?;
                plain(both(&account, words::account(&account)))
            }
            "list_debates" => {
                let listed = self.list(&check::arguments(tool, arguments)?, place)?;
                plain(both(&listed, words::listed(&listed)))
            }
            "show_debate" => {
                let shown = self.show(&check::arguments(tool, arguments)?, place).await?;
                plain(both(&shown, words::shown(&shown)))
            }
            "list_models" => {
                let args = check::arguments(tool, arguments)?;
                let waiting = call.waiting(check::patience(None));
                let models = waiting.patiently("asking who answers", self.models(&args)).await??;
                plain(both(&models, words::models(&models)))
            }
            other => Err(Complaint::Tool(other.chars().take(60).collect())),
        }
    }

    /// Builds the response of a call that runs a debate. If the debate is still running, a client
    /// that supports tasks gets a task to poll.
    fn stands(
        &self,
        seen: &Seen,
        notes: Vec<String>,
        call: Call,
        patience: Duration,
    ) -> CallToolResponse {
        if !(call.tasks && seen.running && patience > SOON) {
            return CallToolResponse::Complete(answer(seen, notes));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(u64::try_from(TASK.as_millis()).unwrap_or(u64::MAX))
            .with_status_message("debating");
        let (server, id) = (self.clone(), seen.debate.setup().id.clone());
        let Call { place, ruling, .. } = call;
        let place = self.place_of(&id, &place).unwrap_or(place);
        let task = self.tasks.spawn(options, move |task| {
            Box::pin(async move {
                let gone = CancellationToken::new();
                let waiting = Waiting { until: None, gone, ear: Ear::Task(task.clone()) };
                let attended = AssertUnwindSafe(async {
                    if ruling {
                        server.rule_on(&id, &place, &waiting).await
                    } else {
                        server.hub.attend(&id, &place, &waiting).await
                    }
                });
                tokio::select! {
                    // The client cancelled the task. The run goes on.
                    () = task.cancelled() => Err(TaskExit::Cancelled),
                    seen = attended.catch_unwind() => Ok(match seen {
                        Ok(Ok(seen)) => answer(&seen, notes),
                        Ok(Err(complaint)) => server.refusal(&complaint),
                        Err(panic) => server.refusal(&panicked(&*panic)),
                    }),
                }
            })
        });
        CreateTaskResult::new(task).into()
    }

    /// The error response, redacted: it may quote text that the client sent.
    fn refusal(&self, complaint: &Complaint) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.hub.desk.redact(&complaint.text()))])
    }
}

impl Call {
    fn of(server: &Server, context: &RequestContext<RoleServer>) -> Call {
        let client = Client::of(context);
        server.hub.desk.set_client_name(&client.who);
        let token = context.meta.get_progress_token();
        let ear = token.map_or(Ear::Nobody, |token| Ear::Client(context.peer.clone(), token));
        let place = server.place(&client);
        Call { place, tasks: client.tasks, ear, gone: context.ct.clone(), ruling: false }
    }

    /// The wait of this call. A client that supports tasks waits `SYNC_LIMIT` at most.
    fn waiting(&self, patience: Duration) -> Waiting {
        let patience = if self.tasks { patience.min(SOON) } else { patience };
        let ear = match &self.ear {
            Ear::Client(peer, token) => Ear::Client(peer.clone(), token.clone()),
            _ => Ear::Nobody,
        };
        Waiting { until: Some(Instant::now() + patience), gone: self.gone.clone(), ear }
    }
}

fn answer(seen: &Seen, notes: Vec<String>) -> CallToolResult {
    let mut notes = notes;
    notes.extend(seen.elsewhere.as_ref().map(|who| elsewhere(&seen.debate.setup().id, who)));
    let stands: Standing = standing(&seen.stored, &seen.debate, seen.running, &notes);
    let text = words::standing(&stands);
    both(&stands, text)
}

/// A result as structured content and as text, because some clients pass only one to the model.
fn both(result: &impl Serialize, text: String) -> CallToolResult {
    let mut both = CallToolResult::success(vec![ContentBlock::text(text)]);
    both.structured_content = serde_json::to_value(result).ok();
    both
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Complaint {
    let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    Complaint::Panic(said.unwrap_or_else(|| "no reason was given".into()))
}

/// Converts a panic in a handler other than `call_tool` to an internal error.
fn contained<T>(work: impl FnOnce() -> Result<T, ErrorData>) -> Result<T, ErrorData> {
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(ErrorData::internal_error(panicked(&*panic).text(), None)))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .enable_tasks()
            .build();
        let ours = Implementation::new("debate", env!("CARGO_PKG_VERSION")).with_title("debate");
        ServerConfig::new(capabilities)
            .with_server_info(ours)
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::of(self, &context);
        let done = AssertUnwindSafe(self.call(&request.name, request.arguments, call));
        let done = done.catch_unwind().await;
        // Flush, so that a record named in the response can be read.
        let desk = self.hub.desk.clone();
        let _ = tokio::task::spawn_blocking(move || desk.archive().flush_exports()).await;
        Ok(match done {
            Ok(Ok(response)) => response,
            Ok(Err(complaint)) => self.refusal(&complaint).into(),
            Err(panic) => self.refusal(&panicked(&*panic)).into(),
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::tools().to_vec()))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let hidden = Client::of(&context).hidden(&self.config);
        let mut offered = prompts::prompts();
        offered.retain(|prompt| !hidden.contains(&prompt.name.as_str()));
        Ok(ListPromptsResult::with_all_items(offered))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let Some((text, about)) = prompts::filled(&request.name, &given) else {
            let known: Vec<_> = prompts::prompts().into_iter().map(|prompt| prompt.name).collect();
            let why = format!("there is no prompt `{}`; known: {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        };
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages).with_description(about).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let place = self.place(&Client::of(&context));
        contained(|| Ok(ListResourcesResult::with_all_items(self.resources(&place))))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let place = self.place(&Client::of(&context));
        contained(|| match self.resource(&request.uri, &place) {
            Ok(Some(found)) => Ok(ReadResourceResult::new(vec![found]).into()),
            Ok(None) => {
                let why = "addresses are debate://last, debate://{id}, debate://{id}/transcript and \
                           debate://formats/{name}";
                Err(ErrorData::resource_not_found(why, None))
            }
            Err(complaint) => Err(ErrorData::resource_not_found(complaint.text(), None)),
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let place = self.place(&Client::of(&context));
        let (name, typed) = (&request.argument.name, &request.argument.value);
        contained(|| {
            let values = self.completions(name, typed, &place);
            let info = CompletionInfo::with_all_values(values)
                .map_err(|error| ErrorData::internal_error(error, None))?;
            Ok(CompleteResult::new(info))
        })
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let known = ["tools/", "prompts/", "resources/", "completion/", "initialize"];
        if known.iter().any(|known| method.starts_with(known)) {
            // rmcp passes a known method here if its params cannot be deserialized.
            let why = format!("the params of `{method}` cannot be read");
            return Err(ErrorData::invalid_params(why, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
