//! Benchmark: latency that a provider adds to the model. Compares an HTTP turn with the bare
//! request, and a CLI turn with the bare process. Run with `cargo bench --bench providers`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use debate_mcp::debate::{Cue, Participant, ReplyKind, Role};
use debate_mcp::engine::{Providers, ReplyStream, TurnRequest};
use debate_mcp::providers::{ProviderConfig, ProviderRegistry, SystemEnvironment};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const RUNS: usize = 60;
/// Response time of the fake model.
const THINK_TIME: Duration = Duration::from_millis(20);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let (port, output_path) = (start_fake_api(), folder.path().join("answer"));
    std::fs::write(&output_path, fake_cli_output()).unwrap();
    let program = write_fake_cli(folder.path(), &output_path);
    let registry = build_registry(port, &program);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let speak = |seat: &str| {
        let request = build_turn_request(seat);
        let stream = ReplyStream::discard(request.cue);
        let reply = runtime.block_on(registry.request_reply(&request, stream)).unwrap();
        assert!(reply.text.contains("forty-two"), "{}", reply.text);
    };
    compare("HTTP turn", &|| send_request(port), &|| speak("local:fake"));
    compare("CLI turn", &|| run_fake_cli(&program), &|| speak("claude"));
}

/// Times both in turn, so that other processes on the machine slow down both alike.
fn compare(label: &str, bare: &dyn Fn(), provider: &dyn Fn()) {
    for _ in 0..5 {
        bare();
        provider();
    }
    let (mut bare_time, mut provider_time) = (vec![], vec![]);
    for _ in 0..RUNS {
        bare_time.push(measure(bare));
        provider_time.push(measure(provider));
    }
    let (bare_time, provider_time) = (median(bare_time), median(provider_time));
    let added = provider_time.saturating_sub(bare_time);
    println!(
        "{label}: {:.2} ms, by hand {:.2} ms: {:.2} ms added, {:.2}x (median of {RUNS})",
        provider_time.as_secs_f64() * 1e3,
        bare_time.as_secs_f64() * 1e3,
        added.as_secs_f64() * 1e3,
        provider_time.as_secs_f64() / bare_time.as_secs_f64(),
    );
}

fn measure(work: &dyn Fn()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn build_registry(port: u16, program: &Path) -> ProviderRegistry {
    let apis = format!("[local]\nurl = \"http://127.0.0.1:{port}/v1\"\nwire = \"chat\"\n");
    let tools = format!("[claude]\nprogram = \"{}\"\n", program.display());
    let environment = SystemEnvironment {
        search_path: vec![PathBuf::from("/bin")],
        ..SystemEnvironment::default()
    };
    let (tools, apis) = (tools.parse().unwrap(), apis.parse().unwrap());
    ProviderRegistry::new(ProviderConfig { tools, apis, environment, ..ProviderConfig::default() })
}

fn build_turn_request(seat: &str) -> TurnRequest {
    TurnRequest {
        debate_id: String::new(),
        cue: Cue { act: 0, round: 1, phase: 0, seat: 0 },
        seat: "proposer".into(),
        role: Role::Pro,
        phase: "propose".into(),
        round: 1,
        reply_kind: ReplyKind::Speech,
        participant: seat.parse::<Participant>().unwrap(),
        effort: None,
        prompt: "What is the answer? ".repeat(500),
        timeout_secs: 60,
        schema: None,
        web_allowed: false,
        root: PathBuf::new(),
        pin: None,
        attempt: 1,
    }
}

/// Starts a fake model API that waits, then streams its response in many small events.
fn start_fake_api() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || drop(handle_connection(&stream.unwrap())));
        }
    });
    port
}

fn handle_connection(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line)? > 2 {
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        if line.is_empty() {
            return Ok(());
        }
        reader.read_exact(&mut vec![0; length])?;
        thread::sleep(THINK_TIME);
        let chunk = |text: &str| {
            format!(
                "data: {{\"model\":\"fake\",\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
            )
        };
        let mut body: String = std::iter::repeat_n(chunk("forty-two "), 40).collect();
        body.push_str("data: {\"model\":\"fake\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
        body.push_str("data: [DONE]\n\n");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        write!(&*stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
    }
}

/// Sends the same request directly, on a new connection.
fn send_request(port: u16) {
    let body = "x".repeat(10_000);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: local\r\nconnection: close\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("[DONE]") {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
}

/// Output in the stream format of the real CLI.
fn fake_cli_output() -> String {
    let event = |text: &str| {
        format!(
            "{{\"type\":\"stream_event\",\"event\":{{\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}}}\n"
        )
    };
    let mut lines = String::from(
        "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"claude_code_version\":\"2.1.325\"}\n",
    );
    lines.extend(std::iter::repeat_n(event("forty-two "), 40));
    lines.push_str("{\"type\":\"result\",\"is_error\":false,\"result\":\"forty-two\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n");
    lines
}

/// Writes a fake CLI, a shell script that waits and prints that output.
fn write_fake_cli(folder: &Path, output_path: &Path) -> PathBuf {
    let path = folder.join("claude");
    let seconds = THINK_TIME.as_secs_f64();
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 2.1.325; exit; fi\n/bin/cat >/dev/null\n\
         /bin/sleep {seconds}\n/bin/cat '{}'\n",
        output_path.display()
    );
    std::fs::write(&path, text).unwrap();
    #[cfg(unix)]
    {
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(&path, permissions).unwrap();
    }
    path
}

fn run_fake_cli(program: &Path) {
    let child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let prompt = build_turn_request("claude").prompt;
    child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}
