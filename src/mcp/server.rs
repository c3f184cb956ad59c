//! The MCP request handlers: tool dispatch, prompts, resources, completion and tasks. A panic in a
//! handler becomes an error response.
use super::args::{StartDebateArgs, SummarizeArgs};
use super::client::McpClient;
use super::error::ToolError;
use super::run_registry::RunRegistry;
use super::status::{DebateStatus, build_status, remote_holder_note};
use super::wait::{ProgressSink, WaitContext, WaitResult};
use super::{prompts, resources, text, tools, validate};
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
const TASK_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// A client that supports tasks gets a direct response within this time, and a task after it.
const SYNC_LIMIT: Duration = Duration::from_millis(500);

/// The MCP server. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct McpServer {
    pub(super) registry: Arc<RunRegistry>,
    pub(super) config: Arc<Config>,
    tasks: TaskManager,
}

/// The context of a tool call that is the same for every tool.
struct ToolCall {
    workspace: Workspace,
    supports_tasks: bool,
    progress: ProgressSink,
    cancel: CancellationToken,
    /// Whether a task waits for the ruling.
    awaits_ruling: bool,
}

impl McpServer {
    /// Creates the server. Opens nothing, so that the handshake is fast.
    pub fn new(desk: App, config: Config) -> McpServer {
        McpServer {
            registry: RunRegistry::new(desk),
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

    fn workspace(&self, client: &McpClient) -> Workspace {
        let state_file = Some(self.config.state_file(client.state_folder));
        Workspace { root: self.config.repo_root.clone(), state_file, write_record: true }
    }

    async fn dispatch_tool(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        call: ToolCall,
    ) -> Result<CallToolResponse, ToolError> {
        // A client that sets `wait_seconds` wants the intermediate status, not a task that only
        // completes at the end.
        let waits = arguments.as_ref().and_then(|all| all.get("wait_seconds"));
        let call = ToolCall {
            supports_tasks: call.supports_tasks && waits.is_none_or(Value::is_null),
            ..call
        };
        let place = &call.workspace;
        let plain = |result| Ok(CallToolResponse::Complete(result));
        match tool {
            "start_debate" => {
                let args: StartDebateArgs = validate::parse_arguments(tool, arguments)?;
                let patience = validate::wait_timeout(args.wait_seconds);
                let waiting = call.wait_context(patience);
                let (seen, notes) = self.start_debate(&args, place, &waiting).await?;
                Ok(self.status_response(&seen, notes, call, patience))
            }
            "continue_round" => {
                let args: super::args::ContinueRoundArgs =
                    validate::parse_arguments(tool, arguments)?;
                let patience = validate::wait_timeout(args.wait_seconds);
                let (seen, notes) =
                    self.continue_round(&args, place, &call.wait_context(patience)).await?;
                Ok(self.status_response(&seen, notes, call, patience))
            }
            "verdict" => {
                let args: super::args::VerdictArgs = validate::parse_arguments(tool, arguments)?;
                let patience = validate::wait_timeout(args.wait_seconds);
                let (seen, notes) =
                    self.request_verdict(&args, place, &call.wait_context(patience)).await?;
                Ok(self.status_response(
                    &seen,
                    notes,
                    ToolCall { awaits_ruling: true, ..call },
                    patience,
                ))
            }
            "summarize" => {
                let args: SummarizeArgs = validate::parse_arguments(tool, arguments)?;
                let account = self.summarize(&args, place).await?;
                plain(tool_result(&account, text::render_summary(&account)))
            }
            "list_debates" => {
                let listed =
                    self.list_debates(&validate::parse_arguments(tool, arguments)?, place)?;
                plain(tool_result(&listed, text::render_list(&listed)))
            }
            "show_debate" => {
                let shown =
                    self.show_debate(&validate::parse_arguments(tool, arguments)?, place).await?;
                plain(tool_result(&shown, text::render_page(&shown)))
            }
            "list_models" => {
                let args = validate::parse_arguments(tool, arguments)?;
                let waiting = call.wait_context(validate::wait_timeout(None));
                let models = waiting
                    .await_with_progress("asking who answers", self.list_models(&args))
                    .await??;
                plain(tool_result(&models, text::render_models(&models)))
            }
            other => Err(ToolError::UnknownTool(other.chars().take(60).collect())),
        }
    }

    /// Builds the response of a call that runs a debate. If the debate is still running, a client
    /// that supports tasks gets a task to poll.
    fn status_response(
        &self,
        seen: &WaitResult,
        notes: Vec<String>,
        call: ToolCall,
        patience: Duration,
    ) -> CallToolResponse {
        if !(call.supports_tasks && seen.running && patience > SYNC_LIMIT) {
            return CallToolResponse::Complete(status_result(seen, notes));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(u64::try_from(TASK_TTL.as_millis()).unwrap_or(u64::MAX))
            .with_status_message("debating");
        let (server, id) = (self.clone(), seen.debate.setup().id.clone());
        let ToolCall { workspace: place, awaits_ruling: ruling, .. } = call;
        let place = self.workspace_of(&id, &place).unwrap_or(place);
        let task = self.tasks.spawn(options, move |task| {
            Box::pin(async move {
                let gone = CancellationToken::new();
                let waiting = WaitContext {
                    deadline: None,
                    cancel: gone,
                    progress: ProgressSink::Task(task.clone()),
                };
                let attended = AssertUnwindSafe(async {
                    if ruling {
                        server.wait_for_ruling(&id, &place, &waiting).await
                    } else {
                        server.registry.play_and_wait(&id, &place, &waiting).await
                    }
                });
                tokio::select! {
                    // The client cancelled the task. The run goes on.
                    () = task.cancelled() => Err(TaskExit::Cancelled),
                    seen = attended.catch_unwind() => Ok(match seen {
                        Ok(Ok(seen)) => status_result(&seen, notes),
                        Ok(Err(complaint)) => server.error_result(&complaint),
                        Err(panic) => server.error_result(&panic_error(&*panic)),
                    }),
                }
            })
        });
        CreateTaskResult::new(task).into()
    }

    /// The error response, redacted: it may quote text that the client sent.
    fn error_result(&self, complaint: &ToolError) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(
            self.registry.app.redact(&complaint.to_text()),
        )])
    }
}

impl ToolCall {
    fn from_request(server: &McpServer, context: &RequestContext<RoleServer>) -> ToolCall {
        let client = McpClient::from_request(context);
        server.registry.app.set_client_name(&client.display_name);
        let token = context.meta.get_progress_token();
        let progress = token.map_or(ProgressSink::Discard, |token| {
            ProgressSink::Client(context.peer.clone(), token)
        });
        let workspace = server.workspace(&client);
        ToolCall {
            workspace,
            supports_tasks: client.supports_tasks,
            progress,
            cancel: context.ct.clone(),
            awaits_ruling: false,
        }
    }

    /// The wait of this call. A client that supports tasks waits `SYNC_LIMIT` at most.
    fn wait_context(&self, patience: Duration) -> WaitContext {
        let patience = if self.supports_tasks { patience.min(SYNC_LIMIT) } else { patience };
        let ear = match &self.progress {
            ProgressSink::Client(peer, token) => ProgressSink::Client(peer.clone(), token.clone()),
            _ => ProgressSink::Discard,
        };
        WaitContext {
            deadline: Some(Instant::now() + patience),
            cancel: self.cancel.clone(),
            progress: ear,
        }
    }
}

fn status_result(seen: &WaitResult, notes: Vec<String>) -> CallToolResult {
    let mut notes = notes;
    notes.extend(
        seen.remote_holder.as_ref().map(|who| remote_holder_note(&seen.debate.setup().id, who)),
    );
    let stands: DebateStatus = build_status(&seen.stored, &seen.debate, seen.running, &notes);
    let text = text::render_status(&stands);
    tool_result(&stands, text)
}

/// A result as structured content and as text, because some clients pass only one to the model.
fn tool_result(result: &impl Serialize, text: String) -> CallToolResult {
    let mut both = CallToolResult::success(vec![ContentBlock::text(text)]);
    both.structured_content = serde_json::to_value(result).ok();
    both
}

fn panic_error(panic: &(dyn std::any::Any + Send)) -> ToolError {
    let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    ToolError::Panic(said.unwrap_or_else(|| "no reason was given".into()))
}

/// Converts a panic in a handler other than `call_tool` to an internal error.
fn catch_panic<T>(work: impl FnOnce() -> Result<T, ErrorData>) -> Result<T, ErrorData> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(ErrorData::internal_error(panic_error(&*panic).to_text(), None))
    })
}

impl ServerHandler for McpServer {
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
        let call = ToolCall::from_request(self, &context);
        let done = AssertUnwindSafe(self.dispatch_tool(&request.name, request.arguments, call));
        let done = done.catch_unwind().await;
        // Flush, so that a record named in the response can be read.
        let desk = self.registry.app.clone();
        let _ = tokio::task::spawn_blocking(move || desk.archive().flush_exports()).await;
        Ok(match done {
            Ok(Ok(response)) => response,
            Ok(Err(complaint)) => self.error_result(&complaint).into(),
            Err(panic) => self.error_result(&panic_error(&*panic)).into(),
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
        let hidden = McpClient::from_request(&context).hidden_prompts(&self.config);
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
        let Some((text, about)) = prompts::render_prompt(&request.name, &given) else {
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
        let place = self.workspace(&McpClient::from_request(&context));
        catch_panic(|| Ok(ListResourcesResult::with_all_items(self.debate_resources(&place))))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::resource_templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let place = self.workspace(&McpClient::from_request(&context));
        catch_panic(|| match self.find_resource(&request.uri, &place) {
            Ok(Some(found)) => Ok(ReadResourceResult::new(vec![found]).into()),
            Ok(None) => {
                let why = "addresses are debate://last, debate://{id}, debate://{id}/transcript and \
                           debate://formats/{name}";
                Err(ErrorData::resource_not_found(why, None))
            }
            Err(complaint) => Err(ErrorData::resource_not_found(complaint.to_text(), None)),
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let place = self.workspace(&McpClient::from_request(&context));
        let (name, typed) = (&request.argument.name, &request.argument.value);
        catch_panic(|| {
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
