//! Benchmark: startup of the MCP server as its host sees it. Measures the time from spawning
//! `debate mcp` to the responses to `initialize` and `tools/list`, the size of the tool list and
//! the idle memory, compared with a peer server.
//!
//! `DEBATE_PEER=COMMAND cargo bench --bench start`
//!
//! Separate several commands as in `PATH`, for example the script of a package and its binary.
//! Memory is that of the spawned process, so a script must `exec` the server.
#![allow(clippy::print_stdout)]
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const RUNS: usize = 20;
const IDLE_WAIT: Duration = Duration::from_millis(300);
const NO_PEER: &str = "
DEBATE_PEER is not set, so there is nothing to compare with. To install the peer:
  npm install --prefix DIR consult-llm-mcp@2.13.4
  DEBATE_PEER=DIR/node_modules/.bin/consult-llm-mcp cargo bench --bench start";

struct ServerCommand {
    name: String,
    command: PathBuf,
    arguments: &'static [&'static str],
}

/// Measurements of one start of one server.
struct StartSample {
    initialize: Duration,
    tools: Duration,
    bytes: usize,
    count: usize,
    kib: Option<f64>,
}

/// A row of the printed table.
struct TableRow {
    label: &'static str,
    decimals: usize,
    value: fn(&StartSample) -> Option<f64>,
}

const TABLE_ROWS: [TableRow; 5] = [
    TableRow {
        label: "spawn to initialize (ms)",
        decimals: 2,
        value: |sample| Some(sample.initialize.as_secs_f64() * 1000.0),
    },
    TableRow {
        label: "spawn to tools/list (ms)",
        decimals: 2,
        value: |sample| Some(sample.tools.as_secs_f64() * 1000.0),
    },
    TableRow {
        label: "tools/list answer (bytes)",
        decimals: 0,
        value: |sample| Some(sample.bytes as f64),
    },
    TableRow { label: "tools in it", decimals: 0, value: |sample| Some(sample.count as f64) },
    TableRow { label: "idle memory, VmRSS (KiB)", decimals: 0, value: |sample| sample.kib },
];

fn main() -> Result<(), String> {
    let home = create_home().map_err(|error| format!("cannot create the home folder: {error}"))?;
    let servers = list_servers()?;
    let mut samples: Vec<Vec<StartSample>> = servers.iter().map(|_| vec![]).collect();
    for _ in 0..RUNS {
        for (server, samples) in servers.iter().zip(&mut samples) {
            let sample = measure_start(server, &home)
                .map_err(|error| format!("{}: {error}", server.name))?;
            samples.push(sample);
        }
    }
    print_table(&servers, &samples);
    if servers.len() == 1 {
        println!("{NO_PEER}");
    }
    Ok(())
}

/// Creates an empty home folder, so that no user config is read and no user file is changed.
fn create_home() -> io::Result<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("start");
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    fs::create_dir_all(&home)?;
    Ok(home)
}

/// This project's server first, then the peers.
fn list_servers() -> Result<Vec<ServerCommand>, String> {
    let ours = ServerCommand {
        name: "debate mcp".into(),
        command: env!("CARGO_BIN_EXE_debate").into(),
        arguments: &["mcp"],
    };
    let mut servers = vec![ours];
    let peers = env::var_os("DEBATE_PEER").unwrap_or_default();
    for path in env::split_paths(&peers).filter(|path| !path.as_os_str().is_empty()) {
        // Servers run in another folder, so the path must be absolute.
        let command = std::path::absolute(&path)
            .map_err(|error| format!("DEBATE_PEER, {}: {error}", path.display()))?;
        servers.push(ServerCommand { name: server_name(&command), command, arguments: &[] });
    }
    Ok(servers)
}

/// Display name: file and folder, since a script and its binary may share a file name.
fn server_name(command: &Path) -> String {
    let parts: Vec<_> = command.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

fn measure_start(server: &ServerCommand, home: &Path) -> Result<StartSample, String> {
    let started = Instant::now();
    let mut child = Command::new(&server.command)
        .args(server.arguments)
        .current_dir(home)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("DEBATE_HOME", home.join("debate"))
        // The peer does not start without an API key, but never uses it.
        .env("OPENAI_API_KEY", "none")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("does not start: {error}"))?;
    let sample = handshake(&mut child, started);
    child.kill().map_err(|error| format!("cannot be killed: {error}"))?;
    child.wait().map_err(|error| format!("does not end: {error}"))?;
    sample
}

/// The MCP handshake: sends `initialize` and `tools/list` and measures the responses.
fn handshake(child: &mut Child, started: Instant) -> Result<StartSample, String> {
    let mut input = child.stdin.take().ok_or("has no stdin")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("has no stdout")?);
    let client_info = json!({"name": "bench", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info});
    send_message(
        &mut input,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
    )?;
    read_response(&mut output, 1)?;
    let initialize = started.elapsed();
    send_message(&mut input, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    send_message(&mut input, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))?;
    let (line, list) = read_response(&mut output, 2)?;
    let tools = started.elapsed();
    thread::sleep(IDLE_WAIT);
    let count = list["result"]["tools"].as_array().ok_or("lists no tools")?.len();
    Ok(StartSample {
        initialize,
        tools,
        bytes: line.len(),
        count,
        kib: resident_memory(child.id()),
    })
}

fn send_message(input: &mut impl Write, message: &Value) -> Result<(), String> {
    // One write, as a host sends a request.
    let line = format!("{message}\n");
    input.write_all(line.as_bytes()).map_err(|error| format!("cannot write to stdin: {error}"))
}

/// Reads up to the response to a request. Returns the line, raw and parsed.
fn read_response(output: &mut impl BufRead, id: u64) -> Result<(String, Value), String> {
    loop {
        let mut line = String::new();
        let read =
            output.read_line(&mut line).map_err(|error| format!("cannot read stdout: {error}"))?;
        if read == 0 {
            return Err(format!("ended before it answered request {id}"));
        }
        let message: Value = serde_json::from_str(&line)
            .map_err(|error| format!("sent no JSON: {error}: {line}"))?;
        if message["id"] == id {
            return Ok((line, message));
        }
    }
}

/// Resident memory of a process in KiB, from `/proc` (Linux only).
fn resident_memory(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Prints one column per server. Peers also show the ratio of our value to theirs.
fn print_table(servers: &[ServerCommand], samples: &[Vec<StartSample>]) {
    print!("{:<26}", format!("median of {RUNS} starts each"));
    for server in servers {
        print!("  {:>width$}", server.name, width = column_width(server));
    }
    println!();
    for row in TABLE_ROWS {
        print!("{:<26}", row.label);
        let ours = median(&samples[0], row.value);
        for (index, (server, samples)) in servers.iter().zip(samples).enumerate() {
            let value = median(samples, row.value);
            let ratio = value.zip(ours).filter(|_| index > 0).map(|(peer, ours)| ours / peer);
            print!(
                "  {:>width$}",
                format_cell(value, row.decimals, ratio),
                width = column_width(server)
            );
        }
        println!();
    }
}

fn column_width(server: &ServerCommand) -> usize {
    server.name.len().max(18)
}

fn format_cell(value: Option<f64>, decimals: usize, ratio: Option<f64>) -> String {
    let value = value.map_or("n/a".into(), |value| format!("{value:.decimals$}"));
    ratio.map_or(value.clone(), |ratio| format!("{value} ({ratio:.2}x)"))
}

fn median(samples: &[StartSample], value: fn(&StartSample) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = samples.iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
