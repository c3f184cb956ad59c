//! The MCP request handlers: tool dispatch, prompts, resources, completion and tasks. A panic in a
//! handler becomes an error response.
use super::args::{StartDebateArgs, SummarizeArgs};
use super::client::McpClient;
use super::error::ToolError;
use super::mcp_server::McpServer;
use super::results::DebateStatus;
use super::status::{build_status, remote_holder_note};
use super::wait::{ProgressSink, WaitContext, WaitResult};
use super::{prompts, resources, text, tools, validate};
use crate::engine::Workspace;
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
use rmcp::task_manager::{TaskExit, TaskOptions};
use serde::Serialize;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time to live of a task. Its result stays in the archive.
const TASK_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// A client that supports tasks gets a direct response within this time, and a task after it.
const SYNC_LIMIT: Duration = Duration::from_millis(500);

/// Characters of an unknown tool's name that its error quotes.
const MAX_QUOTED_CHARS: usize = 60;

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
    async fn dispatch_tool(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        call: ToolCall,
    ) -> Result<CallToolResponse, ToolError> {
        // A client that sets `wait_seconds` wants the intermediate status, not a task that only
        // completes at the end.
        let wait_seconds = arguments.as_ref().and_then(|all| all.get("wait_seconds"));
        let call = ToolCall {
            supports_tasks: call.supports_tasks && wait_seconds.is_none_or(Value::is_null),
            ..call
        };
        let workspace = &call.workspace;
        let complete = |result| Ok(CallToolResponse::Complete(result));
        match tool {
            "start_debate" => {
                let args: StartDebateArgs = validate::parse_arguments(tool, arguments)?;
                let timeout = validate::wait_timeout(args.wait_seconds);
                let wait = call.wait_context(timeout);
                let (wait_result, notes) = self.start_debate(&args, workspace, &wait).await?;
                Ok(self.status_response(&wait_result, notes, call, timeout).await)
            }
            "continue_round" => {
                let args: super::args::ContinueRoundArgs =
                    validate::parse_arguments(tool, arguments)?;
                let timeout = validate::wait_timeout(args.wait_seconds);
                let (wait_result, notes) =
                    self.continue_round(&args, workspace, &call.wait_context(timeout)).await?;
                Ok(self.status_response(&wait_result, notes, call, timeout).await)
            }
            "verdict" => {
                let args: super::args::VerdictArgs = validate::parse_arguments(tool, arguments)?;
                let timeout = validate::wait_timeout(args.wait_seconds);
                let (wait_result, notes) =
                    self.request_verdict(&args, workspace, &call.wait_context(timeout)).await?;
                Ok(self
                    .status_response(
                        &wait_result,
                        notes,
                        ToolCall { awaits_ruling: true, ..call },
                        timeout,
                    )
                    .await)
            }
            "summarize" => {
                let args: SummarizeArgs = validate::parse_arguments(tool, arguments)?;
                let summary = self.summarize(&args, workspace).await?;
                complete(tool_result(&summary, text::render_summary(&summary)))
            }
            "list_debates" => {
                let list = self
                    .list_debates(&validate::parse_arguments(tool, arguments)?, workspace)
                    .await?;
                complete(tool_result(&list, text::render_list(&list)))
            }
            "show_debate" => {
                let page = self
                    .show_debate(&validate::parse_arguments(tool, arguments)?, workspace)
                    .await?;
                complete(tool_result(&page, text::render_page(&page)))
            }
            "list_models" => {
                let args = validate::parse_arguments(tool, arguments)?;
                let wait = call.wait_context(validate::wait_timeout(None));
                let models = wait
                    .await_with_progress("asking who answers", self.list_models(&args))
                    .await??;
                complete(tool_result(&models, text::render_models(&models)))
            }
            other => {
                let quoted = other.chars().take(MAX_QUOTED_CHARS).collect();
                Err(ToolError::UnknownTool(quoted))
            }
        }
    }

    /// Builds the response of a call that runs a debate. If the debate is still running, a client
    /// that supports tasks gets a task to poll.
    async fn status_response(
        &self,
        wait_result: &WaitResult,
        notes: Vec<String>,
        call: ToolCall,
        timeout: Duration,
    ) -> CallToolResponse {
        if !(call.supports_tasks && wait_result.running && timeout > SYNC_LIMIT) {
            return CallToolResponse::Complete(status_result(wait_result, notes));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(u64::try_from(TASK_TTL.as_millis()).unwrap_or(u64::MAX))
            .with_status_message("debating");
        let (server, id) = (self.clone(), wait_result.debate.setup().id.clone());
        let ToolCall { workspace, awaits_ruling, .. } = call;
        let workspace = self.workspace_of(&id, &workspace).await.unwrap_or(workspace);
        let task = self.tasks.spawn(options, move |task| {
            Box::pin(async move {
                let cancel = CancellationToken::new();
                let wait = WaitContext {
                    deadline: None,
                    cancel,
                    progress: ProgressSink::Task(task.clone()),
                };
                let wait_future = AssertUnwindSafe(async {
                    if awaits_ruling {
                        server.wait_for_ruling(&id, &workspace, &wait).await
                    } else {
                        server.registry.play_and_wait(&id, &workspace, &wait).await
                    }
                });
                tokio::select! {
                    // The client cancelled the task. The run goes on.
                    () = task.cancelled() => Err(TaskExit::Cancelled),
                    wait_result = wait_future.catch_unwind() => Ok(match wait_result {
                        Ok(Ok(wait_result)) => status_result(&wait_result, notes),
                        Ok(Err(error)) => server.error_result(&error),
                        Err(panic) => server.error_result(&panic_error(&*panic)),
                    }),
                }
            })
        });
        CreateTaskResult::new(task).into()
    }

    /// The error response, redacted: it may quote text that the client sent.
    fn error_result(&self, error: &ToolError) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.registry.app.redact(&error.to_text()))])
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
    fn wait_context(&self, timeout: Duration) -> WaitContext {
        let timeout = if self.supports_tasks { timeout.min(SYNC_LIMIT) } else { timeout };
        let progress = match &self.progress {
            ProgressSink::Client(peer, token) => ProgressSink::Client(peer.clone(), token.clone()),
            _ => ProgressSink::Discard,
        };
        WaitContext {
            deadline: Some(Instant::now() + timeout),
            cancel: self.cancel.clone(),
            progress,
        }
    }
}

fn status_result(wait_result: &WaitResult, notes: Vec<String>) -> CallToolResult {
    let mut notes = notes;
    notes.extend(
        wait_result
            .remote_holder
            .as_ref()
            .map(|holder| remote_holder_note(&wait_result.debate.setup().id, holder)),
    );
    let status: DebateStatus =
        build_status(&wait_result.stored, &wait_result.debate, wait_result.running, &notes);
    let text = text::render_status(&status);
    tool_result(&status, text)
}

/// A result as structured content and as text, because some clients pass only one to the model.
fn tool_result(result: &impl Serialize, text: String) -> CallToolResult {
    let mut response = CallToolResult::success(vec![ContentBlock::text(text)]);
    response.structured_content = serde_json::to_value(result).ok();
    response
}

fn panic_error(panic: &(dyn std::any::Any + Send)) -> ToolError {
    let message = panic.downcast_ref::<&str>().map(|message| (*message).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    ToolError::Panic(message.unwrap_or_else(|| "no reason was given".into()))
}

/// Converts a panic in a handler other than `call_tool` to an internal error.
async fn catch_panic<T>(work: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
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
        let implementation =
            Implementation::new("debate", env!("CARGO_PKG_VERSION")).with_title("debate");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let started_at = Instant::now();
        let call = ToolCall::from_request(self, &context);
        let result = Box::pin(self.dispatch_tool(&request.name, request.arguments, call));
        let result = AssertUnwindSafe(result).catch_unwind().await;
        // Flush, so that a record named in the response can be read.
        let app = self.registry.app.clone();
        let _ = tokio::task::spawn_blocking(move || app.archive().files.flush_exports()).await;
        tracing::debug!(
            tool = ?request.name,
            elapsed_ms = started_at.elapsed().as_millis(),
            success = matches!(result, Ok(Ok(_))),
            "tool call answered"
        );
        Ok(match result {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => self.error_result(&error).into(),
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
        let mut visible = prompts::prompts();
        visible.retain(|prompt| !hidden.contains(&prompt.name.as_str()));
        Ok(ListPromptsResult::with_all_items(visible))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let Some((text, description)) = prompts::render_prompt(&request.name, &arguments) else {
            let known: Vec<_> = prompts::prompts().into_iter().map(|prompt| prompt.name).collect();
            let message =
                format!("there is no prompt `{}`; known: {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages).with_description(description).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let workspace = self.workspace(&McpClient::from_request(&context));
        catch_panic(async {
            Ok(ListResourcesResult::with_all_items(self.debate_resources(&workspace).await))
        })
        .await
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
        let workspace = self.workspace(&McpClient::from_request(&context));
        catch_panic(async {
            match Box::pin(self.find_resource(&request.uri, &workspace)).await {
                Ok(Some(contents)) => Ok(ReadResourceResult::new(vec![contents]).into()),
                Ok(None) => {
                    let message = "unknown resource; there are debate://last, debate://{id}, \
                                   debate://{id}/transcript and debate://formats/{name}";
                    Err(ErrorData::resource_not_found(message, None))
                }
                Err(error) => Err(ErrorData::resource_not_found(error.to_text(), None)),
            }
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let workspace = self.workspace(&McpClient::from_request(&context));
        let (name, prefix) = (&request.argument.name, &request.argument.value);
        catch_panic(async {
            let values = self.completions(name, prefix, &workspace).await;
            let info = CompletionInfo::with_all_values(values)
                .map_err(|error| ErrorData::internal_error(error, None))?;
            Ok(CompleteResult::new(info))
        })
        .await
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
            let message = format!("the params of `{method}` cannot be read");
            return Err(ErrorData::invalid_params(message, None));
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
