//! Waiting for slow turns, in virtual time: the timeout of a call, progress notifications, tasks
//! for clients that poll, and panics. The server runs in this process.
use crate::fake_providers::NoEvidence;
use crate::memory_archive::MemoryArchive;
use crate::test_env::{speech_with_claim, verdict_json};
use debate_mcp::app::{App, AppParts, StartDefaults};
use debate_mcp::brief::RepositorySource;
use debate_mcp::config::{Config, Environment, UserSettings};
use debate_mcp::debate::{Envelope, Participant, ReplyKind, TurnFailure};
use debate_mcp::engine::{
    BoxFuture, Clock, ProviderInfo, ProviderReply, ProviderUnavailable, Providers, ReplyStream,
    TurnRequest,
};
use debate_mcp::formats_catalog;
use debate_mcp::mcp::{McpServer, serve_on};
use debate_mcp::redact::Secrets;
use debate_mcp::repo::TreeStore;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout};

/// Providers that take as many seconds per turn as the model name says, or panic if it is `panic`.
#[derive(Default)]
pub(crate) struct SlowProviders {
    call_count: AtomicUsize,
}

impl Providers for SlowProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        self.call_count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let seconds = request.participant.model().unwrap_or("0");
            assert_ne!(seconds, "panic", "a provider that panics");
            tokio::time::sleep(Duration::from_secs(seconds.parse().unwrap())).await;
            let (n, previous_round) = (request.round, request.round.saturating_sub(1));
            let text = match (request.reply_kind, request.seat.as_str()) {
                (ReplyKind::Verdict, _) => verdict_json("pro").to_string(),
                (_, "proposer") => {
                    speech_with_claim("So.", &format!("P{n}"), &[&format!("C{previous_round}")])
                }
                _ => speech_with_claim("No.", &format!("C{n}"), &[&format!("P{n}")]),
            };
            Ok(ProviderReply { text, envelope: Envelope::default() })
        })
    }
    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }
    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
    fn list_providers(&self) -> Vec<ProviderInfo> {
        panic!("a list that panics")
    }
}

/// A clock that follows tokio's paused time.
struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}

/// An MCP client in the same process, over a duplex stream.
pub(crate) struct InProcessClient {
    input: WriteHalf<DuplexStream>,
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    last_id: u64,
    /// Time and value of each progress notification since the last request.
    pub(crate) progress: Vec<(Instant, f64)>,
}

impl InProcessClient {
    /// Starts a server in this folder with an empty archive and connects to it.
    pub(crate) async fn connect(
        folder: &Path,
        providers: Arc<SlowProviders>,
        capabilities: Value,
    ) -> InProcessClient {
        let archive = MemoryArchive::new(Arc::new(VirtualClock(Instant::now())));
        InProcessClient::connect_to(folder, &archive, providers, capabilities).await
    }

    /// Starts a server in this folder with this archive and connects to it.
    pub(crate) async fn connect_to(
        folder: &Path,
        archive: &MemoryArchive,
        providers: Arc<SlowProviders>,
        capabilities: Value,
    ) -> InProcessClient {
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock(Instant::now()));
        let archive = archive.new_process(clock.clone()).into_ports();
        let briefs =
            RepositorySource { current_folder: folder.into(), tree_store: TreeStore::new(folder) };
        let app = App::new(AppParts {
            archive,
            providers,
            briefs: Arc::new(briefs),
            evidence: Arc::new(NoEvidence),
            secrets: Secrets::new(Vec::new, []),
            clock,
            catalog: formats_catalog::load(folder, folder),
            defaults: StartDefaults::default(),
        });
        let config = Config {
            program: "debate".into(),
            data_dir: folder.join("home"),
            prompts_dir: folder.join("prompts"),
            formats_dir: folder.join("formats"),
            current_dir: folder.into(),
            repo_root: folder.into(),
            state_dir: None,
            search_path: vec![],
            editor: None,
            log_level: None,
            user_dirs: (folder.into(), folder.into()),
            environment: Environment::default(),
            settings: UserSettings::default(),
        };
        let (client_end, server_end) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(server_end);
        tokio::spawn(serve_on(McpServer::new(app, config), read, write));
        let (read, input) = tokio::io::split(client_end);
        let lines = BufReader::new(read).lines();
        let mut client = InProcessClient { input, lines, last_id: 0, progress: vec![] };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        client.request("initialize", params).await;
        client
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.progress.clear();
        loop {
            let line = self.lines.next_line().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
            let progress = message["params"]["progress"].as_f64().unwrap();
            self.progress.push((Instant::now(), progress));
        }
    }

    pub(crate) async fn call_tool(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}});
        self.request("tools/call", params).await["result"].clone()
    }
}

pub(crate) fn slow_debate_args(seconds: &str) -> Value {
    json!({"topic": "Slow?", "proposer": format!("one:{seconds}"),
        "challenger": format!("two:{seconds}"), "judge": "three:1"})
}

/// A round of 150 seconds: no call takes longer than 46 s, progress is reported at least every 5 s
/// and only increases, and every turn is requested once.
#[tokio::test(start_paused = true)]
async fn slow_round_is_awaited_in_short_calls() {
    let folder = TempDir::new().unwrap();
    let providers = Arc::new(SlowProviders::default());
    let mut client = InProcessClient::connect(folder.path(), providers.clone(), json!({})).await;
    let began = Instant::now();
    let mut call = ("start_debate", slow_debate_args("75"));
    let mut calls = 0;
    loop {
        let call_start = Instant::now();
        let response = client.call_tool(call.0, call.1).await;
        calls += 1;
        assert!(call_start.elapsed() <= Duration::from_secs(46), "{:?}", call_start.elapsed());
        let mut notifications = vec![(call_start, -1.0)];
        notifications.append(&mut client.progress);
        for pair in notifications.windows(2) {
            assert!(pair[1].0 - pair[0].0 <= Duration::from_secs(5), "silence");
            assert!(pair[1].1 > pair[0].1, "progress only grows");
        }
        assert!(notifications.last().unwrap().0.elapsed() <= Duration::from_secs(5));
        let result = &response["structuredContent"];
        if result["status"] != "running" {
            assert_eq!(result["status"], "paused", "{result}");
            break;
        }
        assert_eq!(result["pending"].as_array().unwrap().len(), 1);
        let turn = result["pending"][0].as_str().unwrap().split(' ').next().unwrap().to_owned();
        call = ("continue_round", json!({"debate_id": result["debate_id"], "turn": turn}));
    }
    let took = began.elapsed().as_secs();
    assert!((150..=152).contains(&took), "{took}");
    assert_eq!((calls, providers.call_count.load(Ordering::SeqCst)), (4, 2));
}

/// `wait_seconds` is honoured up to a maximum of 55 seconds.
#[tokio::test(start_paused = true)]
async fn wait_seconds_is_capped() {
    let folder = TempDir::new().unwrap();
    let mut client = InProcessClient::connect(folder.path(), Arc::default(), json!({})).await;
    let mut arguments = slow_debate_args("500");
    for (requested, expected_seconds) in
        [(json!(1_000_000), 55), (json!(3), 3), (json!(0), 0), (json!("7"), 7)]
    {
        arguments["wait_seconds"] = requested;
        let began = Instant::now();
        let response = client.call_tool("start_debate", arguments.clone()).await;
        assert_eq!(response["structuredContent"]["status"], "running");
        assert_eq!(began.elapsed().as_secs(), expected_seconds);
    }
}

/// A client that declares the tasks extension gets a task for a long call and polls its result.
#[tokio::test(start_paused = true)]
async fn client_with_tasks_support_gets_a_task() {
    let folder = TempDir::new().unwrap();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = InProcessClient::connect(folder.path(), Arc::default(), tasks).await;
    let began = Instant::now();
    let task = client.call_tool("start_debate", slow_debate_args("100")).await;
    assert_eq!(task["resultType"], "task", "{task}");
    assert!(began.elapsed() < Duration::from_secs(1));
    let id = json!({"taskId": task["taskId"]});
    let mut status_messages = vec![];
    let finished = loop {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let task_status = client.request("tasks/get", id.clone()).await["result"].clone();
        status_messages.push(task_status["statusMessage"].as_str().unwrap_or_default().to_owned());
        if task_status["status"] != "working" {
            break task_status;
        }
    };
    assert_eq!(finished["status"], "completed", "{finished}");
    assert_eq!(finished["result"]["structuredContent"]["status"], "paused");
    assert!(
        status_messages.iter().any(|message| message.contains("Challenger")),
        "{status_messages:?}"
    );
    // A call that needs no waiting gets its result at once.
    let host_only =
        json!({"topic": "Mine?", "proposer": "host", "challenger": "host", "judge": "host"});
    let response = client.call_tool("start_debate", host_only).await;
    assert_eq!(response["structuredContent"]["status"], "your_turn");
    // An explicit `wait_seconds` disables the task.
    let mut with_wait = slow_debate_args("20");
    with_wait["wait_seconds"] = 5.into();
    let response = client.call_tool("start_debate", with_wait).await;
    assert_eq!(response["structuredContent"]["status"], "running", "{response}");
    // Cancelling a task stops the wait, not the debate.
    let task = client.call_tool("start_debate", slow_debate_args("20")).await;
    let id = json!({"taskId": task["taskId"]});
    client.request("tasks/cancel", id.clone()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(client.request("tasks/get", id).await["result"]["status"], "cancelled");
    let result = client.call_tool("summarize", json!({})).await;
    assert_eq!(result["structuredContent"]["status"], "paused");
}

/// A panic in a tool handler or provider becomes an error result, and the server keeps running.
#[tokio::test(start_paused = true)]
async fn panic_becomes_an_error_result() {
    let folder = TempDir::new().unwrap();
    let mut client = InProcessClient::connect(folder.path(), Arc::default(), json!({})).await;
    let text = |response: &Value| response["content"][0]["text"].as_str().unwrap().to_owned();
    let response = client.call_tool("list_models", json!({})).await;
    assert_eq!(response["isError"], true);
    assert!(text(&response).contains("a list that panics"), "{response}");
    // A provider that panics stops the run, and the waiting call gets the error.
    let arguments = json!({"topic": "Panic?", "proposer": "one:panic", "challenger": "two:0",
        "judge": "three:0"});
    let response = client.call_tool("start_debate", arguments).await;
    assert_eq!(response["isError"], true, "{response}");
    let error = text(&response);
    assert!(error.contains("stopped") && error.contains("Next: continue_round"), "{error}");
    let pinged = timeout(Duration::from_secs(5), client.request("ping", json!({}))).await;
    assert!(pinged.is_ok());
}
